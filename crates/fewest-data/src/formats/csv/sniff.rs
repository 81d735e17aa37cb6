//! What stands between cells, and where the table begins: seen from the first rows.
//!
//! Each delimiter splits the rows; the one by which most of them have the same number of cells is
//! taken, that of the format where several are as good. Lines above the header that do not fit are
//! titles. A header that is one short has no name for the first column, as R writes it.

use super::syntax::Syntax;
use crate::io::encoding::TextForm;
use crate::meaning::first_line::{self, Cell};
use crate::{Note, meaning::cells};

/// Delimiters that are tried, besides blanks.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Rows that are split.
const ROWS: usize = 100;

/// Most lines above the header.
const MOST_TITLES: usize = 50;

/// How a text is split, and where its table begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) delimiter: u8,
    /// Blanks are between the cells; in the text as it is read these are tabs.
    pub(super) blanks: bool,
    /// Where the header begins.
    pub(super) start: usize,
    /// Lines above it.
    pub(super) titles: usize,
    /// The header has no name for the first column.
    pub(super) short: bool,
    /// Rows end in a delimiter, which the header does not.
    pub(super) trailing: bool,
}

/// A record of the first rows.
struct Record {
    start: usize,
    cells: Vec<Cell>,
}

impl Record {
    /// Cells that are not blank.
    fn filled(&self) -> usize {
        self.cells.iter().filter(|cell| !cell.text.is_empty()).count()
    }

    /// Whether it begins as comments do.
    fn is_comment(&self) -> bool {
        let text = &self.cells[0].text;
        ["#", "%", "!", "//"].iter().any(|sign| text.starts_with(sign))
    }
}

/// What a delimiter makes of the first rows.
struct Shape {
    split: Split,
    /// Cells of most rows.
    columns: usize,
    /// The share of the rows that have as many.
    share: f64,
}

/// How the first rows are split: by `asked` if given, else as they tell, `own` being the delimiter
/// of the format. `whole`: the text is all of the file.
pub(super) fn split(text: &[u8], whole: bool, syntax: &Syntax<'_>, asked: Option<u8>, own: u8) -> Split {
    let (said, start) = said(text);
    let at = |delimiter| shape(text, start, whole, &Syntax { delimiter, ..*syntax });
    if let Some(delimiter) = asked.or(said) {
        return at(delimiter).split;
    }
    let others = DELIMITERS.into_iter().filter(|&other| other != own);
    let mut best = at(own);
    for shape in others.map(at) {
        let better = (shape.share, shape.columns) > (best.share, best.columns);
        if shape.columns > 1 && (best.columns < 2 || better) {
            best = shape;
        }
    }
    if best.columns > 1 && 2.0 * best.share >= 1.0 {
        return best.split;
    }
    let tabs = tabbed(&text[start..]);
    let blanks = shape(&tabs, 0, whole, &Syntax { delimiter: b'\t', ..*syntax });
    if blanks.columns > 1 && blanks.share >= 0.9 && (best.columns < 2 || blanks.share > best.share) {
        return Split { blanks: true, ..blanks.split };
    }
    at(own).split
}

/// The text with one tab for blanks.
pub(super) fn tabbed(text: &[u8]) -> Vec<u8> {
    let form = TextForm { blanks: true, ..TextForm::default() };
    let mut out = Vec::new();
    let told = std::sync::OnceLock::new();
    let mut reader = form.reader(Box::new(std::io::Cursor::new(text.to_vec())), &told);
    let read = std::io::Read::read_to_end(&mut reader, &mut out);
    read.expect("reading from memory");
    out
}

/// The delimiter that a first line `sep=;` names, and where the next line begins.
fn said(text: &[u8]) -> (Option<u8>, usize) {
    let end = text.iter().position(|&b| b == b'\n').map_or(text.len(), |at| at + 1);
    let line = text[..end].trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', sign] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") && end > 5 => (Some(*sign), end),
        [s, e, p, b'='] if [*s, *e, *p].eq_ignore_ascii_case(b"sep") && text.get(4) == Some(&b'\t') => {
            (Some(b'\t'), end)
        }
        _ => (None, 0),
    }
}

/// What the delimiter of `syntax` makes of the rows that begin at `start`.
fn shape(text: &[u8], start: usize, whole: bool, syntax: &Syntax<'_>) -> Shape {
    let records = records(text, start, whole, syntax);
    let columns = columns(&records);
    let (titles, short) = titles(&records, columns);
    let table = &records[titles..];
    let rows = table.get(1..).unwrap_or(&[]);
    let trailing = short && rows.iter().all(|row| row.cells.last().is_some_and(|cell| cell.text.is_empty()));
    let as_many = table.iter().filter(|record| record.cells.len() == columns).count();
    let share = as_many as f64 / records.len().max(1) as f64;
    let start = table.first().map_or(start, |header| header.start);
    let split =
        Split { delimiter: syntax.delimiter, blanks: false, start, titles, short: short && !trailing, trailing };
    Shape { split, columns, share }
}

/// The first records that hold anything; the last of a text that goes on only where it is the only
/// one.
fn records(text: &[u8], start: usize, whole: bool, syntax: &Syntax<'_>) -> Vec<Record> {
    let (mut records, mut at) = (Vec::new(), start);
    while at < text.len() && records.len() < ROWS {
        let end = syntax.record_end(text, at);
        if end == text.len() && !whole && !records.is_empty() {
            break;
        }
        if !syntax.is_empty(&text[at..end]) {
            records.push(Record { start: at, cells: syntax.cells(&text[at..end]) });
        }
        at = end;
    }
    records
}

/// The number of cells that most rows have; of equally frequent ones the largest.
fn columns(records: &[Record]) -> usize {
    let counts: Vec<usize> = records.iter().map(|record| record.cells.len()).collect();
    let times = |count: usize| counts.iter().filter(|&&other| other == count).count();
    counts.iter().copied().max_by_key(|&count| (times(count), count)).unwrap_or(0)
}

/// How many records stand above the header, and whether that is one short.
fn titles(records: &[Record], columns: usize) -> (usize, bool) {
    let short = |at: usize| {
        records[at].cells.len() + 1 == columns
            && records.len() > at + 2
            && records[at + 1..].iter().all(|row| row.cells.len() == columns)
    };
    let is_title = |at: usize| {
        let record = &records[at];
        let fits = record.cells.len() == columns;
        if record.filled() <= 1 && columns > 2 || record.is_comment() && !fits {
            return true;
        }
        if short(at) {
            // Above a header of its own it is a title.
            let below: Vec<Vec<Cell>> = records[at + 2..].iter().map(|row| row.cells.clone()).collect();
            return record.filled() <= 1 && first_line::is_header(&records[at + 1].cells, &below);
        }
        record.cells.len() + 1 < columns && columns > 2
    };
    let most = MOST_TITLES.min(records.len().saturating_sub(1));
    let titles = (0..most).find(|&at| !is_title(at)).unwrap_or(0);
    (titles, records.len() > titles && short(titles))
}

/// The decimal sign and the sign between thousands of rows between whose cells semicolons stand,
/// where these show others than a point and none.
pub(super) fn comma_style(rows: &[Vec<Cell>]) -> Option<(char, Option<char>)> {
    let texts: Vec<&str> = rows.iter().flatten().map(|cell| cell.text.as_str()).collect();
    cells::comma_style(&texts)
}

/// What to tell of a text that is not written as the format has it.
pub(super) fn note(split: &Split, own: u8, asked: bool, style: Option<(char, Option<char>)>) -> Option<Note> {
    let mut told = Vec::new();
    if (split.delimiter != own || split.blanks) && !asked {
        let name = match split.delimiter {
            _ if split.blanks => "blanks".to_owned(),
            b',' => "commas".to_owned(),
            b';' => "semicolons".to_owned(),
            b'\t' => "tabs".to_owned(),
            sign => format!("`{}`", char::from(sign)),
        };
        told.push(format!("with {name} between the cells"));
    }
    match style {
        Some((_, None)) => told.push("with decimal commas".to_owned()),
        Some((_, Some(sign))) => told.push(format!("with decimal commas and `{sign}` between thousands")),
        None => {}
    }
    if split.titles > 0 {
        told.push(format!("without the {} line(s) above the header", split.titles));
    }
    if split.short {
        told.push("with the first column, for which the header has no name, as the names of the samples".to_owned());
    }
    (!told.is_empty()).then_some(Note::TextForm { told })
}
