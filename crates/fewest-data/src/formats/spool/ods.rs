//! Workbooks of OpenDocument (.ods): the cells of one sheet, from `content.xml`.
//!
//! `table:table`, in it `table:table-row`, in it `table:table-cell`; rows and cells have a count of
//! repeats. Blank ones at the end are repeated to the edge of the sheet and left out.

use std::fs::File;
use std::io::{BufReader, Read, Seek as _};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::writer::TextWriter;
use super::{Text, check_archive, sheet};
use crate::io::source::Source;
use crate::{DataError, ReadOptions};

/// The most columns of a sheet.
const MOST_COLUMNS: usize = 16_384;

/// The most rows of a sheet.
const MOST_ROWS: usize = 1 << 20;

/// A cell that holds something.
#[derive(Clone)]
enum Cell {
    Blank,
    Plain(String),
    Text(String),
}

/// What is done with the sheets of a workbook and their rows.
trait TakeRows {
    /// A sheet begins.
    fn sheet(&mut self, name: &str);

    /// Takes a row of it, and how many times it comes.
    fn row(&mut self, cells: &[Cell], times: usize) -> Result<(), DataError>;
}

/// The names of the sheets, and the number of cells of the widest row of each.
#[derive(Default)]
struct Sheets {
    names: Vec<String>,
    widths: Vec<usize>,
}

impl TakeRows for Sheets {
    fn sheet(&mut self, name: &str) {
        self.names.push(name.to_owned());
        self.widths.push(0);
    }

    fn row(&mut self, cells: &[Cell], _: usize) -> Result<(), DataError> {
        if let Some(width) = self.widths.last_mut() {
            *width = cells.len().max(*width);
        }
        Ok(())
    }
}

/// The rows of one sheet as text; blank ones only before others.
struct Rows<'a> {
    out: TextWriter<'a>,
    wanted: &'a str,
    /// The sheet is the one that is wanted.
    on: bool,
    columns: usize,
    blank: usize,
}

impl TakeRows for Rows<'_> {
    fn sheet(&mut self, name: &str) {
        self.on = name == self.wanted;
    }

    fn row(&mut self, cells: &[Cell], times: usize) -> Result<(), DataError> {
        if !self.on {
            return Ok(());
        }
        if cells.is_empty() {
            self.blank += times;
            return Ok(());
        }
        for _ in 0..std::mem::take(&mut self.blank) {
            self.out.end_row(self.columns)?;
        }
        for _ in 0..times {
            for cell in cells {
                match cell {
                    Cell::Blank => self.out.plain("")?,
                    Cell::Plain(text) => self.out.plain(text)?,
                    Cell::Text(text) => self.out.text(text)?,
                }
            }
            self.out.end_row(self.columns)?;
        }
        Ok(())
    }
}

/// The sheet as text.
pub(super) fn text(source: &Source, options: &ReadOptions) -> Result<Text, DataError> {
    let mut input = source.seekable()?;
    let bytes = check_archive(source, &input, options.memory())?;
    let document = Document { source, memory: options.memory() };
    let mut sheets = Sheets::default();
    document.each_row(&mut input, &mut sheets)?;
    let (wanted, shown) = sheet(&source.name, &sheets.names, options)?;
    let columns =
        sheets.names.iter().zip(&sheets.widths).find(|(name, _)| *name == wanted).map_or(0, |(_, width)| *width);
    if columns == 0 {
        return Err(DataError::Empty { file: shown });
    }
    let mut rows = Rows { out: TextWriter::new(&source.name, bytes)?, wanted, on: false, columns, blank: 0 };
    document.each_row(&mut input, &mut rows)?;
    Ok(Text { name: shown, file: rows.out.finish()? })
}

/// The XML of a workbook.
struct Document<'a> {
    source: &'a Source,
    memory: u64,
}

impl Document<'_> {
    #[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
    fn damaged(&self, what: impl ToString) -> DataError {
        DataError::Damaged { file: self.source.name.clone(), what: what.to_string() }
    }

    /// Hands the sheets and their rows to `take`.
    fn each_row(&self, input: &mut File, take: &mut dyn TakeRows) -> Result<(), DataError> {
        input.rewind().map_err(|e| self.source.read_error(e))?;
        let mut zip = zip::ZipArchive::new(BufReader::new(input)).map_err(|e| self.damaged(e))?;
        let entry = zip.by_name("content.xml").map_err(|e| self.damaged(e))?;
        // No event is larger than the text of it.
        let mut reader = Reader::from_reader(BufReader::new(entry.take(self.memory)));
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|e| self.damaged(e))? {
                Event::Start(start) if start.name().as_ref() == "table:table" => {
                    take.sheet(&self.attribute(&start, "table:name")?.unwrap_or_default());
                    self.rows(&mut reader, take)?;
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    /// Hands the rows of a sheet on.
    fn rows<R: std::io::BufRead>(&self, reader: &mut Reader<R>, take: &mut dyn TakeRows) -> Result<(), DataError> {
        let (mut buffer, mut cells, mut count) = (Vec::new(), Vec::new(), 0usize);
        let (mut times, mut blank) = (1, 0);
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|e| self.damaged(e))? {
                Event::Start(start) if start.name().as_ref() == "table:table-row" => {
                    times = self.repeats(&start, "table:number-rows-repeated")?;
                    cells.clear();
                    blank = 0;
                }
                Event::Empty(start) if start.name().as_ref() == "table:table-row" => {
                    let times = self.repeats(&start, "table:number-rows-repeated")?;
                    count = count.saturating_add(times);
                    take.row(&[], times)?;
                }
                Event::End(end) if end.name().as_ref() == "table:table-row" => {
                    count = count.saturating_add(times);
                    if count > MOST_ROWS && !cells.is_empty() {
                        return Err(self.damaged("the sheet has more than 1048576 rows"));
                    }
                    take.row(&cells, times)?;
                }
                Event::Empty(start) if is_cell(&start) => {
                    let times = self.repeats(&start, "table:number-columns-repeated")?;
                    match self.value(&start)? {
                        Some(cell) => self.put(&mut cells, &mut blank, &cell, times)?,
                        None => blank += times,
                    }
                }
                Event::Start(start) if is_cell(&start) => {
                    let times = self.repeats(&start, "table:number-columns-repeated")?;
                    let value = self.value(&start)?;
                    let text = self.text(reader)?;
                    let cell = value.or_else(|| (!text.is_empty()).then_some(Cell::Text(text)));
                    match cell {
                        Some(cell) => self.put(&mut cells, &mut blank, &cell, times)?,
                        None => blank += times,
                    }
                }
                Event::End(end) if end.name().as_ref() == "table:table" => return Ok(()),
                Event::Eof => return Err(self.damaged("it ends within a sheet")),
                _ => {}
            }
        }
    }

    /// Adds a cell `times` times, and the blank ones before it.
    fn put(&self, cells: &mut Vec<Cell>, blank: &mut usize, cell: &Cell, times: usize) -> Result<(), DataError> {
        if cells.len() + *blank + times > MOST_COLUMNS {
            return Err(self.damaged("a row has more than 16384 cells"));
        }
        cells.extend(std::iter::repeat_n(Cell::Blank, std::mem::take(blank)));
        cells.extend(std::iter::repeat_n(cell.clone(), times));
        Ok(())
    }

    /// The number, date or truth value of a cell; text is inside of it.
    fn value(&self, start: &BytesStart<'_>) -> Result<Option<Cell>, DataError> {
        let kind = self.attribute(start, "office:value-type")?;
        Ok(match kind.as_deref() {
            Some("float" | "percentage" | "currency") => {
                let value = self.attribute(start, "office:value")?;
                value.and_then(|text| text.parse::<f64>().ok()).map(|x| Cell::Plain(crate::number::text(x)))
            }
            Some("boolean") => self
                .attribute(start, "office:boolean-value")?
                .map(|text| Cell::Plain(if text == "true" { "TRUE" } else { "FALSE" }.to_owned())),
            Some("date") => self.attribute(start, "office:date-value")?.map(Cell::Text),
            Some("time") => self.attribute(start, "office:time-value")?.map(Cell::Text),
            _ => None,
        })
    }

    /// The text inside of a cell up to its end; paragraphs are lines.
    fn text<R: std::io::BufRead>(&self, reader: &mut Reader<R>) -> Result<String, DataError> {
        let (mut buffer, mut text, mut depth) = (Vec::new(), String::new(), 0usize);
        // Notes and drawings are no text of the cell.
        let mut aside = 0usize;
        loop {
            buffer.clear();
            match reader.read_event_into(&mut buffer).map_err(|e| self.damaged(e))? {
                Event::Start(start) => {
                    depth += 1;
                    let start = start.name();
                    let is_aside = start.as_ref() == "office:annotation" || start.as_ref() == "draw:frame";
                    if is_aside || aside > 0 {
                        aside += 1;
                    } else if start.as_ref() == "text:p" && !text.is_empty() {
                        text.push('\n');
                    }
                }
                Event::End(_) if depth == 0 => return Ok(text),
                Event::End(_) => {
                    depth -= 1;
                    aside = aside.saturating_sub(1);
                }
                Event::Empty(empty) if empty.name().as_ref() == "text:s" && aside == 0 => text.push(' '),
                Event::Text(part) if aside == 0 => {
                    text.push_str(&part);
                }
                Event::GeneralRef(reference) if aside == 0 => {
                    let of_number = reference.resolve_char_ref().map_err(|e| self.damaged(e))?;
                    let named = quick_xml::escape::resolve_predefined_entity(&reference);
                    match (of_number, named) {
                        (Some(c), _) => text.push(c),
                        (None, Some(known)) => text.push_str(known),
                        (None, None) => {}
                    }
                }
                Event::Eof => return Err(self.damaged("it ends within a cell")),
                _ => {}
            }
        }
    }

    fn repeats(&self, start: &BytesStart<'_>, name: &str) -> Result<usize, DataError> {
        let count = self.attribute(start, name)?;
        Ok(count.and_then(|text| text.parse::<usize>().ok()).unwrap_or(1).clamp(1, MOST_ROWS))
    }

    fn attribute(&self, start: &BytesStart<'_>, name: &str) -> Result<Option<String>, DataError> {
        let found = start.try_get_attribute(name).map_err(|e| self.damaged(e))?;
        match found {
            None => Ok(None),
            Some(attribute) => {
                Ok(Some(quick_xml::escape::unescape(&attribute.value).map_err(|e| self.damaged(e))?.into_owned()))
            }
        }
    }
}

fn is_cell(start: &BytesStart<'_>) -> bool {
    ["table:table-cell", "table:covered-table-cell"].contains(&start.name().as_ref())
}
