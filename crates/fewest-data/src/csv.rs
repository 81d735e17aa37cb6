//! Comma- and tab-separated text with a header line, quoted cells by RFC 4180.
//!
//! A cell that begins with `"` ends at the next `"` that is not doubled, and may hold delimiters
//! and line ends. Quotes elsewhere are ordinary characters. Blank lines are passed over.

use std::borrow::Cow;
use std::io::{self, Read as _};

use fewest::design::Row;
use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::columns::Sorted;
use crate::first_line::{self, Cell};
use crate::header::Header;
use crate::source::Source;
use crate::table::{self, Rows, TakeRow};
use crate::waves::{Piece, Records, malformed, shown};
use crate::{DataError, Dataset, Format, Place, ReadOptions, number};

/// Reads a csv or tsv file.
pub(crate) fn read(source: &Source, format: Format, options: &ReadOptions) -> Result<Dataset, DataError> {
    let (syntax, header) = open(source, format, options)?;
    table::read(source, &syntax, &header, &[], format, options)
}

/// Reads what a column file at `out` is to hold.
pub(crate) fn sorted(source: &Source, format: Format, options: &ReadOptions, out: &str) -> Result<Sorted, DataError> {
    let (syntax, header) = open(source, format, options)?;
    table::sorted(source, &syntax, &header, &[], options, out)
}

/// How the file is split, and its columns.
fn open<'a>(source: &'a Source, format: Format, options: &ReadOptions) -> Result<(Syntax<'a>, Header), DataError> {
    let delimiter = delimiter(format);
    let mut head = Head::read(source, delimiter, FEW_BYTES, options)?;
    if !head.whole && !first_line::is_header(&head.first, &head.rows) {
        // Cells take much more than their text.
        let bytes = MORE_BYTES.min(options.memory() as usize / 64).max(FEW_BYTES);
        head = Head::read(source, delimiter, bytes, options)?;
    }
    let names = first_line::names(&source.name, head.line, &head.first, &head.rows, options);
    let (skip_first, names, note) = match names? {
        Some((names, note)) => (true, names, note),
        None => (false, numbered_names(head.first.len()), None),
    };
    let mut header = Header::new(&source.name, names, options)?;
    header.notes.extend(note);
    Ok((Syntax { file: &source.name, delimiter, skip_first }, header))
}

fn delimiter(format: Format) -> u8 {
    if format == Format::Tsv { b'\t' } else { b',' }
}

/// `x1` to `x(p-1)` and `y`.
fn numbered_names(columns: usize) -> Vec<String> {
    (1..columns).map(|j| format!("x{j}")).chain([crate::svmlight::TARGET.to_owned()]).collect()
}

/// Bytes in which the first rows of most files are.
const FEW_BYTES: usize = 1 << 16;

/// Bytes that are looked at where these do not tell.
const MORE_BYTES: usize = 1 << 22;

/// Rows that are looked at, at most.
const MOST_ROWS: usize = 400;

/// The first rows.
struct Head {
    /// The line of the first one, from 1.
    line: u64,
    first: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    /// These are all rows of the file, or as many as are looked at.
    whole: bool,
}

impl Head {
    /// Reads about so many bytes, the first line that is not blank and the one below it at least.
    fn read(source: &Source, delimiter: u8, bytes: usize, options: &ReadOptions) -> Result<Self, DataError> {
        let syntax = Syntax { file: &source.name, delimiter, skip_first: false };
        let mut reader = source.reader()?;
        let (mut text, mut want) = (Vec::new(), bytes);
        loop {
            let missing = (want - text.len()) as u64;
            let got = (&mut reader).take(missing).read_to_end(&mut text).map_err(|e| source.read_error(e))? as u64;
            let (all, start) = (got < missing, blank_prefix(&text));
            if all && start == text.len() {
                return Err(DataError::Empty { file: source.name.clone() });
            }
            let first = syntax.record_end(&text, start);
            if all || first < text.len() && syntax.record_end(&text, first) < text.len() {
                let line = 1 + memchr_iter(b'\n', &text[..start]).count() as u64;
                syntax.check_quotes(line, &text[start..first])?;
                let (rows, whole) = syntax.some_rows(&text[first..], all);
                return Ok(Self { line, first: syntax.cells(&text[start..first]), rows, whole });
            }
            want *= 2;
            let what = if first < text.len() { "a single line" } else { "the header line" };
            crate::options::check_memory(&source.name, what, 16 * want as u64, options.memory())?;
        }
    }
}

/// Bytes of the blank lines at the start.
fn blank_prefix(text: &[u8]) -> usize {
    text.iter().take_while(|&&b| b == b'\n' || b == b'\r').count()
}

/// How the text is split.
struct Syntax<'a> {
    file: &'a str,
    delimiter: u8,
    /// The first record is the header.
    skip_first: bool,
}

impl Syntax<'_> {
    /// End of the record that begins at `start`, its line end included.
    fn record_end(&self, text: &[u8], start: usize) -> usize {
        let line_end = memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
        if memchr(b'"', &text[start..line_end]).is_none() {
            return line_end;
        }
        let mut at = start;
        loop {
            at = cell_end(text, at, self.delimiter);
            match text.get(at) {
                None => return text.len(),
                Some(b'\n') => return at + 1,
                Some(_) => at += 1,
            }
        }
    }

    /// The cells of a record, blanks around them left out.
    fn cells(&self, record: &[u8]) -> Vec<Cell> {
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        let (mut cells, mut at) = (Vec::new(), 0);
        loop {
            let end = cell_end(record, at, self.delimiter);
            let cell = &record[at..end];
            let text = String::from_utf8_lossy(unquoted(cell).trim_ascii()).into_owned();
            cells.push(Cell { text, quoted: cell.starts_with(b"\"") });
            if end >= record.len() {
                return cells;
            }
            at = end + 1;
        }
    }

    /// The first rows of a text, and whether they are all, or as many as are looked at; the last one
    /// is whole only where the text is that of the file.
    fn some_rows(&self, text: &[u8], whole: bool) -> (Vec<Vec<Cell>>, bool) {
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < text.len() && rows.len() < MOST_ROWS {
            let end = self.record_end(text, at);
            if end == text.len() && !whole {
                return (rows, false);
            }
            if !text[at..end].iter().all(|b| matches!(b, b'\n' | b'\r')) {
                rows.push(self.cells(&text[at..end]));
            }
            at = end;
        }
        (rows, true)
    }

    /// Splits a record, without its line end, into cells.
    fn split<'t>(&self, record: &'t [u8], cells: &mut Vec<Cow<'t, [u8]>>) {
        cells.clear();
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        let mut at = 0;
        loop {
            let end = cell_end(record, at, self.delimiter);
            cells.push(unquoted(&record[at..end]));
            if end >= record.len() {
                return;
            }
            at = end + 1;
        }
    }
}

/// Position of the delimiter or line end after the cell that begins at `start`; the length of
/// `text` if there is none.
fn cell_end(text: &[u8], start: usize, delimiter: u8) -> usize {
    let mut at = start;
    if text.get(at) == Some(&b'"') {
        match quoted_end(text, at) {
            Some(end) => at = end,
            None => return text.len(),
        }
    }
    plain_end(text, at, delimiter)
}

/// Position after the quote that closes the one at `start`.
fn quoted_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr(b'"', &text[at..])? + 1;
        if text.get(at) != Some(&b'"') {
            return Some(at);
        }
        at += 1;
    }
}

fn plain_end(text: &[u8], at: usize, delimiter: u8) -> usize {
    // Cells are short: a plain loop finds the end before a vector search has started.
    for (i, &b) in text[at..].iter().take(16).enumerate() {
        if b == delimiter || b == b'\n' {
            return at + i;
        }
    }
    memchr2(delimiter, b'\n', &text[at..]).map_or(text.len(), |i| at + i)
}

/// The text of a cell, quotes taken off.
fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
    let Some(inner) = cell.strip_prefix(b"\"") else { return Cow::Borrowed(cell) };
    let (mut out, mut rest) = (Vec::with_capacity(inner.len()), inner);
    while let Some(quote) = memchr(b'"', rest) {
        out.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        match rest.strip_prefix(b"\"") {
            Some(after) => {
                out.push(b'"');
                rest = after;
            }
            None => break,
        }
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

impl Records for Syntax<'_> {
    fn whole(&self, text: &[u8]) -> usize {
        if memchr(b'"', text).is_none() {
            return memrchr(b'\n', text).map_or(0, |at| at + 1);
        }
        let (mut whole, mut at) = (0, 0);
        while at < text.len() {
            at = self.record_end(text, at);
            if at < text.len() || text.ends_with(b"\n") && self.closed(&text[whole..at]) {
                whole = at;
            }
        }
        whole
    }

    fn next_end(&self, text: &[u8], start: usize, from: usize) -> usize {
        if memchr(b'"', &text[start..from]).is_none() {
            // No quote so far: the record at `from` began on the last line.
            let begin = memrchr(b'\n', &text[start..from]).map_or(start, |at| start + at + 1);
            return self.record_end(text, begin);
        }
        let mut at = start;
        while at < from {
            at = self.record_end(text, at);
        }
        at
    }
}

impl Syntax<'_> {
    /// Whether a record that reaches the end of the text ends there, and not inside a quoted cell.
    fn closed(&self, record: &[u8]) -> bool {
        let mut at = 0;
        loop {
            at = cell_end(record, at, self.delimiter);
            match record.get(at) {
                None => return false,
                Some(b'\n') => return true,
                Some(_) => at += 1,
            }
        }
    }
}

impl Syntax<'_> {
    /// Refuses a quote that swallows lines: it is never closed, or what closes it is the first
    /// quote of a later cell.
    fn check_quotes(&self, line: u64, record: &[u8]) -> Result<(), DataError> {
        if memchr(b'"', record).is_none() {
            return Ok(());
        }
        let mut at = 0;
        while at < record.len() {
            let end = cell_end(record, at, self.delimiter);
            if record[at] == b'"' {
                self.check_quote(line, record, at, end)?;
            }
            at = end + 1;
        }
        Ok(())
    }

    /// Checks the quoted cell from `start` to `end`.
    fn check_quote(&self, line: u64, record: &[u8], start: usize, end: usize) -> Result<(), DataError> {
        let newlines = |text: &[u8]| memchr_iter(b'\n', text).count() as u64;
        let opened = line + newlines(&record[..start]);
        let lines = newlines(&record[start..end]);
        let found = match quoted_end(record, start) {
            None => "a quote is opened in this line and never closed".to_owned(),
            Some(close) if lines > 0 && !record[close..end].trim_ascii().is_empty() => {
                let after = shown(&record[close..end]);
                format!("a quote is opened in this line and closed in line {}, before `{after}`", opened + lines)
            }
            Some(_) => return Ok(()),
        };
        let remedy = "close it in its cell, or double it if the cell holds a quote";
        Err(malformed(Place::line(self.file, opened), found, remedy))
    }
}

impl Rows for Syntax<'_> {
    fn each_row(&self, piece: Piece<'_>, row: &mut TakeRow<'_>) -> Result<(), DataError> {
        let (mut at, mut line) = (0, piece.line);
        let mut cells = Vec::new();
        let first_piece = piece.line == 1;
        let mut skip = self.skip_first && first_piece;
        if first_piece {
            at = blank_prefix(piece.text);
            line += memchr_iter(b'\n', &piece.text[..at]).count() as u64;
        }
        while at < piece.text.len() {
            let end = self.record_end(piece.text, at);
            let record = &piece.text[at..end];
            let lines = 1 + if memchr(b'"', record).is_some() {
                memchr_iter(b'\n', &record[..record.len() - 1]).count() as u64
            } else {
                0
            };
            let blank = record.iter().all(|b| *b == b'\n' || *b == b'\r');
            self.check_quotes(line, record)?;
            if !blank && !std::mem::take(&mut skip) {
                self.split(record, &mut cells);
                row(line, &cells)?;
            }
            at = end;
            line += lines;
        }
        Ok(())
    }
}

/// Writes names, rows and, last, the target.
pub(crate) fn write(data: &Dataset, format: Format, out: &mut dyn io::Write) -> io::Result<()> {
    let delimiter = delimiter(format);
    let mut text = Vec::new();
    let target = data.target.as_ref();
    let names = data.names.iter().chain(target.map(|t| t.column.as_str().into()));
    for (at, name) in names.enumerate() {
        if at > 0 {
            text.push(delimiter);
        }
        write_cell(&mut text, &name, delimiter);
    }
    text.push(b'\n');
    let (n, p) = (data.features.n_samples(), data.names.len());
    let all: Vec<usize> = (0..p).collect();
    let rows = data.features.as_design().rows(&all);
    for i in 0..n {
        match rows.row(i) {
            Row::Dense(values) => values.iter().for_each(|&x| {
                number::write(&mut text, x);
                text.push(delimiter);
            }),
            Row::Sparse(columns, values) => {
                let mut next = columns.iter().zip(values).peekable();
                for j in 0..p {
                    match next.next_if(|(column, _)| **column as usize == j) {
                        Some((_, &x)) => number::write(&mut text, x),
                        None => text.push(b'0'),
                    }
                    text.push(delimiter);
                }
            }
        }
        match target {
            Some(target) => write_cell(&mut text, &target.classes[target.codes[i] as usize], delimiter),
            None => {
                text.pop();
            }
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// A cell, quoted where it must be.
fn write_cell(text: &mut Vec<u8>, cell: &str, delimiter: u8) {
    let special = |b: u8| b == delimiter || matches!(b, b'"' | b'\n' | b'\r');
    if !cell.bytes().any(special) {
        text.extend_from_slice(cell.as_bytes());
        return;
    }
    text.push(b'"');
    text.extend_from_slice(cell.replace('"', "\"\"").as_bytes());
    text.push(b'"');
}
