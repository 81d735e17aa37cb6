//! WEKA's attribute-relation file format, dense and sparse rows, read and written.
//!
//! Numeric attributes are numbers; nominal attributes become columns of 0 and 1 like text columns
//! of csv, except that two values that are numbers stay one numeric column. A nominal target keeps
//! the classes that occur.

mod cells;
mod preamble;
mod sparse;
mod write;

use crate::formats::columns::Sorted;
use crate::formats::table::{self, Rows, TakeRow};
use crate::io::source::Source;
use crate::io::waves::{Lines, Piece, Records};
use crate::meaning::header::Header;
use crate::{DataError, Dataset, Format, Place, ReadOptions};
use preamble::Preamble;

pub(crate) use write::write;

/// Reads an arff file.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let preamble = Preamble::read(source, options)?;
    let header = Header::new(&source.name, preamble.names, options)?;
    if preamble.sparse {
        return sparse::read(source, &header, &preamble.declared, preamble.last_line, options);
    }
    let rows = DenseRows { file: &source.name, last_line: preamble.last_line };
    table::read(source, &rows, &header, &preamble.declared, Format::Arff, options)
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(source: &Source, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    let preamble = Preamble::read(source, options)?;
    let header = Header::new(&source.name, preamble.names, options)?;
    if preamble.sparse {
        return sparse::sorted(source, &header, &preamble.declared, preamble.last_line, options, out);
    }
    let rows = DenseRows { file: &source.name, last_line: preamble.last_line };
    table::sorted(source, &rows, &header, &preamble.declared, options, out)
}

/// Rows of comma-separated cells after line `last_line`.
struct DenseRows<'a> {
    file: &'a str,
    last_line: u64,
}

impl Records for DenseRows<'_> {
    fn whole(&self, text: &[u8]) -> usize {
        Lines.whole(text)
    }
    fn next_end(&self, text: &[u8], start: usize, from: usize) -> usize {
        Lines.next_end(text, start, from)
    }
}

impl Rows for DenseRows<'_> {
    fn each_row(&self, piece: Piece<'_>, row: &mut TakeRow<'_>) -> Result<(), DataError> {
        let mut cells = Vec::new();
        for (line, text) in piece.lines() {
            let text = text.trim_ascii();
            if line <= self.last_line || text.is_empty() || text.starts_with(b"%") {
                continue;
            }
            cells.clear();
            let split = cells::each_cell(text, |cell| cells.push(cell));
            split.map_err(|quote| quote.error(Place::line(self.file, line)))?;
            row(line, &cells)?;
        }
        Ok(())
    }
}
