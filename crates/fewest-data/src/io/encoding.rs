//! Text as the readers take it: UTF-8, lines that end in a newline, one tab for blanks between
//! cells.

use std::io::{self, Read};
use std::sync::OnceLock;

use crate::io::windows::{Bytes, Change, NotText};

/// Bytes that are taken from the input at once.
const CHUNK: usize = 1 << 16;

/// The encoding of a text file, and what stands between its lines and cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextForm {
    /// How its characters are written.
    pub(crate) encoding: Encoding,
    /// Lines end in a carriage return alone, as old Macintoshes wrote them.
    pub(crate) carriage_returns: bool,
    /// Blanks and tabs, one or more, stand between the cells.
    pub(crate) blanks: bool,
}

/// How characters are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As they are read: UTF-8, or no text.
    #[default]
    Plain,
    /// UTF-8, or Windows-1252.
    Bytes,
    /// UTF-16.
    Utf16(ByteOrder),
}

/// Which byte of a pair comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    /// The lower one.
    Little,
    /// The upper one.
    Big,
}

impl TextForm {
    /// A reader of the text in the form that the readers take; the first line of text in Windows-1252
    /// goes to `told`.
    pub(crate) fn reader<'r>(
        self,
        input: Box<dyn Read + Send + 'r>,
        told: &'r OnceLock<u64>,
    ) -> Box<dyn Read + Send + 'r> {
        let mut reader = match self.encoding {
            Encoding::Plain => input,
            Encoding::Bytes => Box::new(Changed::new(input, Bytes::new(told))),
            Encoding::Utf16(order) => Box::new(Changed::new(input, Utf16 { order, odd: None, high: None, line: 1 })),
        };
        if self.carriage_returns {
            reader = Box::new(Changed::new(reader, CarriageReturns));
        }
        if self.blanks {
            reader = Box::new(Changed::new(reader, Blanks::default()));
        }
        reader
    }
}

/// A reader of changed bytes.
struct Changed<R, C> {
    input: R,
    change: C,
    from: Vec<u8>,
    ready: Vec<u8>,
    at: usize,
    ended: bool,
}

impl<R: Read, C: Change> Changed<R, C> {
    fn new(input: R, change: C) -> Self {
        Self { input, change, from: vec![0; CHUNK], ready: Vec::new(), at: 0, ended: false }
    }
}

impl<R: Read, C: Change> Read for Changed<R, C> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.ready.len() && !self.ended {
            let got = match self.input.read(&mut self.from) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            self.ended = got == 0;
            self.ready.clear();
            self.at = 0;
            self.change.change(&self.from[..got], self.ended, &mut self.ready)?;
        }
        let count = out.len().min(self.ready.len() - self.at);
        out[..count].copy_from_slice(&self.ready[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// UTF-16 to UTF-8; a byte order mark is left out.
struct Utf16 {
    order: ByteOrder,
    /// The first byte of a pair.
    odd: Option<u8>,
    /// The first half of a character of two pairs.
    high: Option<u16>,
    /// The line, from 1.
    line: u64,
}

impl Change for Utf16 {
    fn change(&mut self, from: &[u8], last: bool, to: &mut Vec<u8>) -> io::Result<()> {
        let bytes = self.odd.take().into_iter().chain(from.iter().copied()).collect::<Vec<u8>>();
        let pairs = bytes.chunks_exact(2);
        self.odd = pairs.remainder().first().copied();
        let unit = |pair: &[u8]| match self.order {
            ByteOrder::Little => u16::from_le_bytes([pair[0], pair[1]]),
            ByteOrder::Big => u16::from_be_bytes([pair[0], pair[1]]),
        };
        let mut units: Vec<u16> = self.high.take().into_iter().chain(pairs.map(unit)).collect();
        if !last && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        let mut buffer = [0; 4];
        for c in char::decode_utf16(units) {
            match c {
                Ok('\u{feff}') => {}
                Ok(c) => {
                    self.line += u64::from(c == '\n');
                    to.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                }
                Err(half) => {
                    let found = format!("0x{:04X} is half a character of UTF-16", half.unpaired_surrogate());
                    return Err(NotText::at(self.line, found));
                }
            }
        }
        if last && self.odd.is_some() {
            return Err(NotText::at(self.line, "the text is UTF-16, but ends in half a character".to_owned()));
        }
        Ok(())
    }
}

/// Carriage returns to newlines.
struct CarriageReturns;

impl Change for CarriageReturns {
    fn change(&mut self, from: &[u8], _: bool, to: &mut Vec<u8>) -> io::Result<()> {
        to.extend(from.iter().map(|&b| if b == b'\r' { b'\n' } else { b }));
        Ok(())
    }
}

/// One tab for blanks and tabs between cells, none at the ends of a line. Cells in quotes stay as
/// they are.
#[derive(Default)]
struct Blanks {
    /// A cell of the line was written.
    cell: bool,
    /// Blanks follow it.
    blank: bool,
    quoted: bool,
}

impl Change for Blanks {
    fn change(&mut self, from: &[u8], _: bool, to: &mut Vec<u8>) -> io::Result<()> {
        for &b in from {
            match b {
                b' ' | b'\t' if !self.quoted => self.blank = true,
                b'\n' if !self.quoted => {
                    to.push(b);
                    *self = Self::default();
                }
                // The one before a newline.
                b'\r' if !self.quoted => {}
                _ => {
                    if self.blank && self.cell {
                        to.push(b'\t');
                    }
                    // A quote opens at the start of a cell only.
                    if b == b'"' && (self.quoted || self.blank || !self.cell) {
                        self.quoted = !self.quoted;
                    }
                    (self.cell, self.blank) = (true, false);
                    to.push(b);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as it is read, some bytes at a time.
    fn read(form: TextForm, bytes: &[u8], at_once: usize) -> String {
        try_read(form, bytes, at_once).expect("text").0
    }

    /// The text, and the first line in Windows-1252.
    fn try_read(form: TextForm, bytes: &[u8], at_once: usize) -> io::Result<(String, Option<u64>)> {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let count = self.1.min(self.0.len()).min(out.len());
                out[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let (mut text, told) = (String::new(), OnceLock::new());
        form.reader(Box::new(Slow(bytes, at_once)), &told).read_to_string(&mut text)?;
        Ok((text, told.get().copied()))
    }

    #[test]
    fn utf16_is_read_in_both_orders_and_by_any_chunks() {
        let text = "naïve;π;𝒳\r\n";
        for at_once in [1, 2, 3, 7, 100] {
            let little: Vec<u8> =
                "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let form = |order| TextForm { encoding: Encoding::Utf16(order), ..TextForm::default() };
            assert_eq!(read(form(ByteOrder::Little), &little, at_once), text);
            assert_eq!(read(form(ByteOrder::Big), &big, at_once), text);
            let cut = [&big[..], &[0]].concat();
            let error = try_read(form(ByteOrder::Big), &cut, at_once).expect_err("cut").to_string();
            assert!(error.contains("half a character"), "{error}");
        }
    }

    #[test]
    fn blanks_become_one_tab_outside_of_quotes() {
        let form = TextForm { blanks: true, ..TextForm::default() };
        for at_once in [1, 2, 5, 100] {
            let text = read(form, b"  a   b\tc \r\n\n\"x  y\" 1  \"\"\n 5\" 2\n", at_once);
            assert_eq!(text, "a\tb\tc\n\n\"x  y\"\t1\t\"\"\n5\"\t2\n");
        }
    }

    #[test]
    fn carriage_returns_end_lines() {
        let form = TextForm { carriage_returns: true, ..TextForm::default() };
        assert_eq!(read(form, b"a,y\r1,0\r", 3), "a,y\n1,0\n");
    }

    #[test]
    fn text_of_bytes_is_utf8_or_windows_1252_by_any_chunks() {
        let form = TextForm { encoding: Encoding::Bytes, ..TextForm::default() };
        let windows = |text: &str| -> Vec<u8> {
            let byte = |c| {
                (0..=255).find(|&b| c == crate::io::windows::text_of(&[b'a', b, b'\xff']).0.chars().nth(1).unwrap())
            };
            text.chars().map(|c| byte(c).expect("a character of Windows-1252")).collect()
        };
        for at_once in [1, 2, 3, 5, 100] {
            let read = |bytes: &[u8]| try_read(form, bytes, at_once).map_err(|error| error.to_string());
            let text = "a;Größe (€)\nÄ;Übermaß\nÖ;–\n";
            assert_eq!(read(text.as_bytes()), Ok((text.to_owned(), None)));
            assert_eq!(read(&windows(text)), Ok((text.to_owned(), Some(1))));
            // GBK, KOI8-R, bytes of nothing, and two encodings in one text.
            for bytes in [
                &b"y\n\xc4\xd0\n\xc5\xae\n"[..],
                b"y\n\xc5\xae\n\xc4\xd0\n",
                b"y\n\xe4\xc1\n\xce\xc5\xd4\n",
                b"y\na\x81\n",
                "y\nä\n\u{fc}".as_bytes().split_last().expect("some").1,
            ] {
                let error = read(bytes).expect_err("no text");
                assert!(error.contains("no UTF-8"), "{error}");
            }
        }
    }
}
