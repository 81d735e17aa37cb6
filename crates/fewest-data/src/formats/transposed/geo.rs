//! The series matrix of GEO: lines `!Sample_...` that describe the samples, and a table with probes
//! in rows between two marks.
//!
//! `!Sample_characteristics_ch1` lines have cells `key: value`; the key is the name of the column.

use super::{Frame, each_line};
use crate::error::malformed;
use crate::formats::csv::Syntax;
use crate::io::source::Source;
use crate::{DataError, Format, Place, TextColumn, names};

/// What stands above the rows of probes.
pub(super) fn frame(source: &Source, memory: u64) -> Result<Frame<'_>, DataError> {
    let file = &source.name;
    // The mark at the end of the table begins as the lines above it do.
    let syntax = Syntax { file, delimiter: b'\t', first_line: 1, comment: Some(b'!'), skip_blank: true };
    let (mut described, mut samples) = (Vec::new(), Vec::new());
    let mut begun = false;
    let first_line = each_line(source, &syntax, memory, |_, mut cells| {
        let key = cells.remove(0);
        if begun {
            samples = cells;
            return Ok(false);
        }
        begun = key.eq_ignore_ascii_case("!series_matrix_table_begin");
        if let Some(name) = key.strip_prefix("!Sample_") {
            described.push(column(name, cells));
        }
        Ok(true)
    })?;
    if samples.is_empty() {
        let remedy = "get the file `..._series_matrix.txt.gz` of the series";
        return Err(malformed(
            Place { file: file.clone(), ..Place::default() },
            "there is no table behind a line `!series_matrix_table_begin`",
            remedy,
        ));
    }
    let n = samples.len();
    let fitting: Vec<TextColumn> = described.into_iter().filter(|column| column.values.len() == n).collect();
    let unique = names::unique(fitting.iter().map(|column| column.name.clone()).collect());
    let columns = fitting.into_iter().zip(unique).map(|(column, name)| TextColumn { name, ..column }).collect();
    Ok(Frame {
        syntax: Syntax { first_line, ..syntax },
        format: Format::SeriesMatrix,
        skip: 1,
        samples,
        columns,
        notes: Vec::new(),
    })
}

/// A column of the samples; the key of all its `key: value` cells is its name.
fn column(name: &str, cells: Vec<String>) -> TextColumn {
    let key = cells.iter().find(|cell| !cell.is_empty()).and_then(|cell| cell.split_once(": ")).map(|(key, _)| key);
    let name_of = |key: &str| {
        let value = |cell: &String| cell.is_empty() || cell.split_once(':').is_some_and(|(other, _)| other == key);
        (name.starts_with("characteristics") && cells.iter().all(value)).then(|| key.to_owned())
    };
    let Some(key) = key.and_then(name_of) else { return TextColumn { name: name.to_owned(), values: cells } };
    let value = |cell: String| cell.split_once(':').map_or(String::new(), |(_, value)| value.trim().to_owned());
    TextColumn { name: key, values: cells.into_iter().map(value).collect() }
}
