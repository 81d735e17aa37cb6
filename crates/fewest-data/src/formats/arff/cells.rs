//! Cells and quotes of arff.

use std::borrow::Cow;

use memchr::memchr;

use crate::error::malformed;
use crate::io::waves::shown;
use crate::{DataError, Place};

/// A quote that is not closed on its line.
pub(super) struct OpenQuote<'t> {
    /// The text from the quote on.
    text: &'t [u8],
}

impl OpenQuote<'_> {
    pub(super) fn error(self, place: Place) -> DataError {
        let found = format!("the quote of `{}` is not closed on its line", shown(self.text));
        malformed(place, found, "close it, or write a quote inside a value as \\' or \\\"")
    }
}

/// Position after the quoted text that begins at `start`.
pub(super) fn quoted_end(text: &[u8], start: usize) -> Result<usize, OpenQuote<'_>> {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b if b == quote => return Ok(at + 1),
            _ => at += 1,
        }
    }
    Err(OpenQuote { text: &text[start..] })
}

/// Text without its quotes and with its backslashes resolved.
pub(super) fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
    let cell = cell.trim_ascii();
    let Some(quote) = cell.first().copied().filter(|b| matches!(b, b'\'' | b'"')) else {
        return Cow::Borrowed(cell);
    };
    let inner = &cell[1..];
    let inner = inner.strip_suffix(&[quote]).unwrap_or(inner);
    if memchr(b'\\', inner).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter();
    while let Some(&b) = bytes.next() {
        match b {
            b'\\' => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(b'r') => out.push(b'\r'),
                Some(&other) => out.push(other),
                None => {}
            },
            _ => out.push(b),
        }
    }
    Cow::Owned(out)
}

/// Calls `cell` for each comma-separated cell. A quote begins where a cell or a blank before it
/// does.
pub(super) fn each_cell<'t>(text: &'t [u8], mut cell: impl FnMut(Cow<'t, [u8]>)) -> Result<(), OpenQuote<'t>> {
    let (mut start, mut at, mut opens) = (0, 0, true);
    while at < text.len() {
        match text[at] {
            b',' => {
                cell(unquoted(&text[start..at]));
                start = at + 1;
                opens = true;
            }
            b'\'' | b'"' if opens => {
                at = quoted_end(text, at)?;
                opens = false;
                continue;
            }
            b => opens = b.is_ascii_whitespace(),
        }
        at += 1;
    }
    cell(unquoted(&text[start..]));
    Ok(())
}
