//! GCT of the Broad Institute, versions 1.2 and 1.3.
//!
//! Line 1   `#1.2` or `#1.3`
//! Line 2   rows and columns of the matrix; in 1.3 also the columns that describe features and the
//!          rows that describe samples. These two are taken at their word, the others are not needed.
//! Line 3   the names: `Name`, `Description` (1.3: `id`, the describing columns), the samples
//! Then     1.3: the rows that describe samples, `-666` for a missing value; the rows of features

use super::{Frame, each_line};
use crate::error::malformed;
use crate::formats::csv::Syntax;
use crate::io::source::Source;
use crate::{DataError, Format, Place, TextColumn};

/// Most columns that describe features, or rows that describe samples.
const MOST: usize = 10_000;

/// What stands above the rows of features.
pub(super) fn frame(source: &Source, memory: u64) -> Result<Frame<'_>, DataError> {
    let file = &source.name;
    let syntax = Syntax { file, delimiter: b'\t', first_line: 1, comment: None, skip_blank: true };
    let (mut skip, mut describing) = (2, 0);
    let (mut samples, mut columns) = (Vec::new(), Vec::new());
    let wrong = |line: u64, found: String| {
        malformed(Place::line(file, line), found, "see docs/formats/features-in-rows.md for the form of GCT")
    };
    let mut version = String::new();
    let first_line = each_line(source, &syntax, memory, |line, mut cells| {
        match line {
            1 if ["#1.2", "#1.3"].contains(&cells[0].as_str()) => version.clone_from(&cells[0]),
            1 => return Err(wrong(1, format!("the first line is `{}`, not #1.2 or #1.3", cells[0]))),
            2 if version == "#1.3" => {
                let count = |at: usize| cells.get(at).and_then(|cell| cell.parse::<usize>().ok()).filter(|c| *c < MOST);
                let (Some(columns), Some(rows)) = (count(2), count(3)) else {
                    return Err(wrong(2, "the line must hold four counts".to_owned()));
                };
                (skip, describing) = (1 + columns, rows);
            }
            2 => {}
            3 => {
                while cells.last().is_some_and(String::is_empty) {
                    cells.pop();
                }
                if cells.len() <= skip {
                    return Err(wrong(3, "the line names no sample".to_owned()));
                }
                samples = cells.split_off(skip);
            }
            _ => {
                let width = skip + samples.len();
                if cells.len() < width {
                    let place = Place::line(file, line);
                    return Err(DataError::Ragged { place, found: cells.len(), expected: width, comment: None });
                }
                let value = |cell: String| if cell == "-666" { String::new() } else { cell };
                let name = cells[0].clone();
                columns.push(TextColumn { name, values: cells.drain(skip..width).map(value).collect() });
            }
        }
        Ok(line < 3 || columns.len() < describing)
    })?;
    if samples.is_empty() || columns.len() < describing {
        return Err(wrong(first_line, "the file ends above the rows of features".to_owned()));
    }
    Ok(Frame {
        syntax: Syntax { first_line, ..syntax },
        format: Format::Gct,
        skip,
        samples,
        columns,
        notes: Vec::new(),
    })
}
