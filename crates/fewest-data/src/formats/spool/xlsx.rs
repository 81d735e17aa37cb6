//! Workbooks of Excel (.xlsx, .xlsm): the cells of one sheet. Dates become text, as ISO 8601 has
//! them.

use std::io::{BufReader, Seek as _};

use calamine::{DataRef, ExcelDateTime, Reader as _, Xlsx};

use super::writer::TextWriter;
use super::{Text, check_archive, sheet};
use crate::io::source::Source;
use crate::{DataError, ReadOptions};

/// The most columns of a sheet.
const MOST_COLUMNS: usize = 16_384;

/// The sheet as text.
pub(super) fn text(source: &Source, options: &ReadOptions) -> Result<Text, DataError> {
    let file = &source.name;
    let damaged = |error: calamine::XlsxError| DataError::Damaged { file: file.clone(), what: error.to_string() };
    let mut input = source.seekable()?;
    let bytes = check_archive(source, &input, options.memory())?;
    input.rewind().map_err(|e| source.read_error(e))?;
    let mut book: Xlsx<_> = Xlsx::new(BufReader::new(input)).map_err(damaged)?;
    let names = book.sheet_names();
    let (name, shown) = sheet(file, &names, options)?;
    // A row ends where the widest one does: a first pass finds that out.
    let mut columns = 0;
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        if *cell.get_value() != DataRef::Empty {
            columns = columns.max(cell.get_position().1 as usize + 1);
        }
    }
    drop(cells);
    if columns == 0 {
        return Err(DataError::Empty { file: shown });
    }
    let mut out = TextWriter::new(file, bytes)?;
    let mut cells = book.worksheet_cells_reader(name).map_err(damaged)?;
    let mut row = 0;
    while let Some(cell) = cells.next_cell().map_err(damaged)? {
        let ((r, c), value) = (cell.get_position(), cell.get_value());
        let (r, c) = (r as usize, c as usize);
        if *value == DataRef::Empty {
            continue;
        }
        let ordered = r > row || r == row && c >= out.cells;
        if !ordered || c >= MOST_COLUMNS {
            let what = format!("the cell of row {} and column {} is out of place", r + 1, c + 1);
            return Err(DataError::Damaged { file: file.clone(), what });
        }
        while row < r {
            out.end_row(columns)?;
            row += 1;
        }
        while out.cells < c {
            out.plain("")?;
        }
        put(&mut out, value)?;
    }
    out.end_row(columns)?;
    Ok(Text { name: shown, file: out.finish()? })
}

/// Writes a cell.
fn put(out: &mut TextWriter<'_>, value: &DataRef<'_>) -> Result<(), DataError> {
    match value {
        DataRef::Int(value) => out.plain(&value.to_string()),
        DataRef::Float(value) => out.number(*value),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => out.text(text),
        DataRef::SharedString(text) => out.text(text),
        DataRef::Bool(value) => out.plain(if *value { "TRUE" } else { "FALSE" }),
        DataRef::DateTime(date) => out.plain(&date_text(date)),
        DataRef::Error(_) => out.plain("#N/A"),
        DataRef::Empty => out.plain(""),
    }
}

/// A date or time as text; a duration as its number of days.
fn date_text(date: &ExcelDateTime) -> String {
    if date.is_duration() {
        return crate::number::text(date.as_f64());
    }
    let (year, month, day, hour, minute, second, _) = date.to_ymd_hms_milli();
    let time = format!("{hour:02}:{minute:02}:{second:02}");
    match date.as_f64() {
        value if value < 1.0 => time,
        value if value.fract() == 0.0 => format!("{year:04}-{month:02}-{day:02}"),
        _ => format!("{year:04}-{month:02}-{day:02}T{time}"),
    }
}
