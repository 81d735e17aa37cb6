//! The numbers of an array, some at a time.

use std::io::{BufReader, Read};

use super::damaged;
use super::npy::Array;
use crate::{DataError, formats::compressed};

/// Numbers read at once.
const AT_ONCE: usize = 1 << 13;

/// The numbers of an array, in the order of the file.
pub(super) struct Numbers<'a> {
    file: &'a str,
    key: &'a str,
    array: &'a Array,
    input: BufReader<&'a mut dyn Read>,
    bytes: Vec<u8>,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(file: &'a str, key: &'a str, array: &'a Array, input: &'a mut dyn Read) -> Self {
        Self { file, key, array, input: BufReader::with_capacity(1 << 16, input), bytes: Vec::new() }
    }

    /// Runs `number(at, x)` on all of them.
    pub(super) fn each(
        &mut self,
        mut number: impl FnMut(usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let (count, mut at, mut part) = (compressed::Numbers::count(self), 0, Vec::new());
        while at < count {
            part.clear();
            compressed::Numbers::take(self, AT_ONCE.min(count - at), &mut part)?;
            for &x in &part {
                number(at, x)?;
                at += 1;
            }
        }
        Ok(())
    }
}

impl compressed::Numbers for Numbers<'_> {
    fn count(&self) -> usize {
        self.array.count().unwrap_or(0)
    }

    fn take(&mut self, count: usize, to: &mut Vec<f64>) -> Result<(), DataError> {
        self.bytes.resize(count * self.array.item.width, 0);
        let read = self.input.read_exact(&mut self.bytes);
        read.map_err(|e| damaged(self.file, &format!("array {}: {e}", self.key)))?;
        to.extend(self.bytes.chunks_exact(self.array.item.width).map(|bytes| self.array.item.number(bytes)));
        Ok(())
    }
}
