//! Text with a delimiter between cells and a header line: comma- and tab-separated values, and what
//! R, pandas and spreadsheets make of them.
//!
//! A cell that begins with `"` ends at the next `"` that is not doubled, and may hold delimiters
//! and line ends. Quotes elsewhere are ordinary characters. Blank lines are passed over.

mod head;
mod sniff;
mod syntax;
mod write;

use std::borrow::Cow;

use crate::formats::columns::Sorted;
use crate::io::source::Source;
use crate::meaning::first_line;
use crate::meaning::header::Header;
use crate::{DataError, Dataset, Format, ReadOptions, formats::table};
pub(crate) use head::Head;
pub(crate) use syntax::Syntax;
pub(crate) use write::write;

/// Reads a csv or tsv file.
pub(crate) fn read(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    let head = Head::of(source, format, options)?;
    let (syntax, header, options) = open(source, &head, options)?;
    table::read(source, &syntax, &header, &[], head.format(), &options)
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(
    source: &mut Source,
    format: Format,
    options: &ReadOptions,
    out: &str,
) -> Result<Sorted, DataError> {
    let head = Head::of(source, format, options)?;
    let (syntax, header, options) = open(source, &head, options)?;
    table::sorted(source, &syntax, &header, &[], &options, out)
}

/// How the file is split, its columns, and how its numbers are written.
fn open<'a>(
    source: &'a Source,
    head: &Head,
    options: &'a ReadOptions,
) -> Result<(Syntax<'a>, Header, Cow<'a, ReadOptions>), DataError> {
    let names = first_line::names(&source.name, head.line, &head.first, &head.rows, options);
    let (first_line, names, note) = match names? {
        Some((names, note)) => (head.next_line, names, note),
        None => (head.line, numbered_names(head.first.len()), None),
    };
    let mut header = Header::new(&source.name, names, options)?;
    header.notes.extend(head.note.clone());
    header.notes.extend(note);
    Ok((head.syntax(source, first_line, options), header, head.options(options)))
}

/// The delimiter of a format.
pub(crate) fn own_delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// `x1` to `x(p-1)` and `y`.
fn numbered_names(columns: usize) -> Vec<String> {
    (1..columns).map(|j| format!("x{j}")).chain([crate::formats::svmlight::TARGET.to_owned()]).collect()
}
