//! What a format gives: rows of cells.

use std::borrow::Cow;

use crate::DataError;
use crate::io::waves::{Piece, Records};

/// Takes a row: its line, from 1, and its cells.
pub(crate) type TakeRow<'a> = dyn FnMut(u64, &[Cow<'_, [u8]>]) -> Result<(), DataError> + 'a;

/// Splits a piece of text into rows of cells.
pub(crate) trait Rows: Records {
    /// Calls `row(line, cells)` for each row of data in the piece, its line from 1.
    ///
    /// # Errors
    /// Text that makes no row, and what `row` returns.
    fn each_row(&self, piece: Piece<'_>, row: &mut TakeRow<'_>) -> Result<(), DataError>;
}

/// A cell as text without surrounding blanks; bytes that are no UTF-8 are replaced.
pub(super) fn trimmed(cell: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(cell.trim_ascii())
}
