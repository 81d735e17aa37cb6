//! Rows of cells as text in a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::DataError;

/// Bytes of text for each byte of a file (when uncompressed): what lies between cells that are far
/// apart is blank, and takes as many commas.
const MOST_TEXT: u64 = 64;

/// Bytes of text that any file may take.
const ANY_TEXT: u64 = 64 << 20;

/// Writes rows of cells as text.
pub(super) struct TextWriter<'a> {
    file: &'a str,
    out: BufWriter<File>,
    written: u64,
    most: u64,
    /// Cells of the row so far.
    pub(super) cells: usize,
}

impl<'a> TextWriter<'a> {
    /// For a file of `bytes` (uncompressed) bytes.
    pub(super) fn new(file: &'a str, bytes: u64) -> Result<Self, DataError> {
        let out = tempfile::tempfile().map_err(|error| failed(file, error))?;
        let most = bytes.saturating_mul(MOST_TEXT).max(ANY_TEXT);
        Ok(Self { file, out: BufWriter::with_capacity(1 << 16, out), written: 0, most, cells: 0 })
    }

    /// A cell of text; quoted, as it may hold anything.
    pub(super) fn text(&mut self, text: &str) -> Result<(), DataError> {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        self.plain(if text.is_empty() { "" } else { &quoted })
    }

    /// A cell that holds no comma, quote or line end.
    pub(super) fn plain(&mut self, text: &str) -> Result<(), DataError> {
        if self.cells > 0 {
            self.put(b",")?;
        }
        self.cells += 1;
        self.put(text.as_bytes())
    }

    /// A number.
    pub(super) fn number(&mut self, value: f64) -> Result<(), DataError> {
        self.plain(&crate::number::text(value))
    }

    /// Blank cells up to column `column`, and the end of the row.
    pub(super) fn end_row(&mut self, columns: usize) -> Result<(), DataError> {
        while self.cells < columns {
            self.plain("")?;
        }
        self.cells = 0;
        self.put(b"\n")
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), DataError> {
        self.written += bytes.len() as u64;
        if self.written > self.most {
            return Err(DataError::Damaged {
                file: self.file.to_owned(),
                what: "nearly all of its cells are blank, and far apart".into(),
            });
        }
        self.out.write_all(bytes).map_err(|error| failed(self.file, error))
    }

    pub(super) fn finish(self) -> Result<File, DataError> {
        self.out.into_inner().map_err(|error| failed(self.file, error.into_error()))
    }
}

/// The error of a temporary file.
fn failed(file: &str, source: io::Error) -> DataError {
    DataError::Io { file: file.into(), action: "make a temporary file for", source }
}
