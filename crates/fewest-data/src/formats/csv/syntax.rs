//! Text split into records and cells, quoted cells by RFC 4180.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::DataError;
use crate::Place;
use crate::error::malformed;
use crate::formats::table::{Rows, TakeRow};
use crate::io::waves::{Piece, Records, shown};
use crate::meaning::first_line::Cell;

/// How the text is split.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax<'a> {
    pub(crate) file: &'a str,
    pub(crate) delimiter: u8,
    /// Lines before this one, from 1, hold no data: titles and the header.
    pub(crate) first_line: u64,
    /// Lines that begin so hold none.
    pub(crate) comment: Option<u8>,
    /// Rows of blank cells hold none.
    pub(crate) skip_blank: bool,
}

impl Syntax<'_> {
    /// End of the record that begins at `start`, its line end included.
    pub(crate) fn record_end(&self, text: &[u8], start: usize) -> usize {
        let line_end = memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at + 1);
        if memchr(b'"', &text[start..line_end]).is_none() || self.is_comment(&text[start..line_end]) {
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

    /// Whether a record is a comment.
    fn is_comment(&self, record: &[u8]) -> bool {
        self.comment.is_some() && record.first() == self.comment.as_ref()
    }

    /// Whether a record holds no data: a blank line, a comment, blank cells.
    pub(crate) fn is_empty(&self, record: &[u8]) -> bool {
        let blank = |b: &u8| match *b {
            b'\n' | b'\r' => true,
            b' ' | b'\t' => self.skip_blank,
            b => self.skip_blank && b == self.delimiter,
        };
        // Most records are known by their first byte.
        record.first().is_none_or(blank) && record.iter().all(blank) || self.is_comment(record)
    }

    /// The cells of a record, blanks around them left out.
    pub(crate) fn cells(&self, record: &[u8]) -> Vec<Cell> {
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
    pub(crate) fn check_quotes(&self, line: u64, record: &[u8]) -> Result<(), DataError> {
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
        while at < piece.text.len() {
            let end = self.record_end(piece.text, at);
            let record = &piece.text[at..end];
            let lines = 1 + if memchr(b'"', record).is_some() {
                memchr_iter(b'\n', &record[..record.len() - 1]).count() as u64
            } else {
                0
            };
            if line >= self.first_line && !self.is_empty(record) {
                self.check_quotes(line, record)?;
                self.split(record, &mut cells);
                row(line, &cells)?;
            }
            at = end;
            line += lines;
        }
        Ok(())
    }
}
