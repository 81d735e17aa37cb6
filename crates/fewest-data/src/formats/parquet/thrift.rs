//! Thrift's compact protocol, as far as needed to walk a value without trust in its lengths.

use std::io::Read;

/// Types.
pub(crate) const BOOL: u8 = 1;
pub(crate) const I32: u8 = 5;
pub(crate) const STRUCT: u8 = 12;

/// Structs and lists within each other that are followed.
const DEPTH: usize = 12;

/// A value in a known number of bytes.
pub(crate) struct Compact<R> {
    pub(crate) input: R,
    pub(crate) left: u64,
}

impl<R: Read> Compact<R> {
    fn byte(&mut self) -> Result<u8, String> {
        let mut byte = [0];
        self.left = self.left.checked_sub(1).ok_or("ends too early")?;
        self.input.read_exact(&mut byte).map_err(text)?;
        Ok(byte[0])
    }

    pub(crate) fn varint(&mut self) -> Result<u64, String> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("has a number without end".into())
    }

    pub(crate) fn zigzag(&mut self) -> Result<i64, String> {
        let coded = self.varint()?;
        Ok((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    /// Number and type of the next field of a struct, after the field `last`.
    pub(crate) fn field(&mut self, last: i64) -> Result<Option<(i64, u8)>, String> {
        let byte = self.byte()?;
        let (step, kind) = (byte >> 4, byte & 0xf);
        if kind == 0 {
            return Ok(None);
        }
        let id = if step == 0 { self.zigzag()? } else { last.saturating_add(i64::from(step)) };
        Ok(Some((id, kind)))
    }

    /// A length or count, each unit of which takes at least a byte.
    fn fitting(&self, count: u64) -> Result<u64, String> {
        if count <= self.left {
            Ok(count)
        } else {
            Err(format!("says a length of {count}, but {} bytes are left", self.left))
        }
    }

    /// Passes over a value.
    pub(crate) fn skip(&mut self, kind: u8) -> Result<(), String> {
        self.skip_within(kind, DEPTH)
    }

    fn skip_within(&mut self, kind: u8, depth: usize) -> Result<(), String> {
        let depth = depth.checked_sub(1).ok_or("is nested too deep")?;
        match kind {
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 | 8 => {
                let length = if kind == 7 { 8 } else { self.varint()? };
                let length = self.fitting(length)?;
                std::io::copy(&mut self.input.by_ref().take(length), &mut std::io::sink()).map_err(text)?;
                self.left -= length;
            }
            9 | 10 => {
                let byte = self.byte()?;
                let count = if byte >> 4 == 15 { self.varint()? } else { u64::from(byte >> 4) };
                // A truth value takes a byte here.
                let kind = if matches!(byte & 0xf, 1 | 2) { 3 } else { byte & 0xf };
                (0..self.fitting(count)?).try_for_each(|_| self.skip_within(kind, depth))?;
            }
            STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    last = id;
                    self.skip_within(kind, depth)?;
                }
            }
            _ => return Err(format!("has a value of the unknown type {kind}")),
        }
        Ok(())
    }
}

pub(crate) fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
