//! Any text with features in rows, as the caller says.

use super::Frame;
use crate::formats::csv::Head;
use crate::io::source::Source;
use crate::{DataError, Dataset, Format, Note, ReadOptions, meaning::cells, number};

/// Reads a text with the names of samples in its first line and those of features in its first
/// column.
pub(super) fn read(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    let head = Head::of(source, format, options)?;
    let skip = describing(&head);
    let samples: Vec<String> = head.first[skip..].iter().map(|cell| cell.text.clone()).collect();
    let mut notes: Vec<Note> = head.note.clone().into_iter().collect();
    if skip > 1 {
        let columns = head.first[1..skip].iter().map(|cell| cell.text.clone()).collect();
        notes.push(Note::FeatureColumns { columns });
    }
    let understood = head.options(options);
    let frame = Frame {
        syntax: head.syntax(source, head.next_line, options),
        format: head.format(),
        skip,
        samples,
        columns: Vec::new(),
        notes,
    };
    frame.read(source, &understood)
}

/// Columns before those of the samples: the names of the features, and those that hold text where
/// the last column holds numbers.
fn describing(head: &Head) -> usize {
    let is_number = |text: &str| number::parse(text.as_bytes()).is_some() || cells::in_any_style(text).is_some();
    let columns = head.first.len();
    // Rows that describe the samples hold text everywhere.
    let rows: Vec<_> = head.rows.iter().filter(|row| row.last().is_some_and(|cell| is_number(&cell.text))).collect();
    let text = |c: &usize| {
        let cells = || rows.iter().filter_map(|row| row.get(*c)).filter(|cell| !cell.text.is_empty());
        let texts = cells().filter(|cell| !is_number(&cell.text)).count();
        2 * texts > cells().count()
    };
    1 + (1..columns.saturating_sub(1)).take_while(text).count()
}
