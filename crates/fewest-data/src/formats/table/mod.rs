//! Tables in text (csv, tsv, dense arff) in two parallel passes.
//!
//! Pass 1 reads every cell and finds out what each column holds; pass 2 puts the values into a
//! dense matrix of the exact size, or hands them to the sorter of a column file. Peak memory: the
//! matrix, or what the sorter may take, and a few waves of text.

mod content;
mod declaration;
mod layout;
mod rows;

use crate::formats::columns::Sorted;
use crate::io::source::Source;
use crate::meaning::header::Header;
use crate::{DataError, Dataset, Format, Place, ReadOptions};
use content::Profile;
use layout::Layout;

pub(crate) use declaration::{Declaration, ValueList};
pub(crate) use rows::{Rows, TakeRow};

/// Reads a table whose columns are known.
pub(crate) fn read(
    source: &Source,
    rows: &dyn Rows,
    header: &Header,
    declared: &[Declaration],
    format: Format,
    options: &ReadOptions,
) -> Result<Dataset, DataError> {
    layout(source, rows, header, declared, options)?.fill(source, rows, format, options)
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(
    source: &Source,
    rows: &dyn Rows,
    header: &Header,
    declared: &[Declaration],
    options: &ReadOptions,
    out: &str,
) -> Result<Sorted, DataError> {
    layout(source, rows, header, declared, options)?.sorted(source, rows, options, out)
}

/// Pass 1, and what follows from it.
fn layout<'a>(
    source: &Source,
    rows: &dyn Rows,
    header: &'a Header,
    declared: &[Declaration],
    options: &ReadOptions,
) -> Result<Layout<'a>, DataError> {
    let mut profile = Profile::new(header, declared, options);
    let mut found = profile.scan(source, rows, options)?;
    if profile.text_with_numbers(&found)? {
        // A text column also has cells that look like numbers: a second pass, to know them as text.
        found = profile.scan(source, rows, options)?;
    }
    if found.rows == 0 {
        let file = header.file.clone();
        return Err(match header.target().filter(|_| found.left_out > 0) {
            Some(column) => DataError::BlankTarget { place: Place { file, ..Place::default() }.column(column) },
            None => DataError::NoRows { file },
        });
    }
    profile.check(&mut found)?;
    Layout::new(profile, found, declared, options)
}
