//! Text as the readers take it: UTF-8, lines that end in a newline, one tab for blanks between
//! cells.

use std::io::{self, Read};

/// Bytes that are taken from the input at once.
const CHUNK: usize = 1 << 16;

/// The encoding of a text file, and what stands between its lines and cells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TextForm {
    /// The text is UTF-16, and this its order of bytes.
    pub(crate) utf16: Option<ByteOrder>,
    /// Lines end in a carriage return alone, as old Macintoshes wrote them.
    pub(crate) carriage_returns: bool,
    /// Blanks and tabs, one or more, stand between the cells.
    pub(crate) blanks: bool,
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
    /// A reader of the text in the form that the readers take.
    pub(crate) fn reader<'r>(self, input: Box<dyn Read + Send + 'r>) -> Box<dyn Read + Send + 'r> {
        let mut reader = input;
        if let Some(order) = self.utf16 {
            reader = Box::new(Changed::new(reader, Utf16 { order, odd: None, high: None }));
        }
        if self.carriage_returns {
            reader = Box::new(Changed::new(reader, CarriageReturns));
        }
        if self.blanks {
            reader = Box::new(Changed::new(reader, Blanks::default()));
        }
        reader
    }
}

/// A change of the bytes of a text, some at a time.
trait Change {
    /// Appends the changed bytes of `from` to `to`; `last`: nothing follows.
    fn change(&mut self, from: &[u8], last: bool, to: &mut Vec<u8>);
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
            self.change.change(&self.from[..got], self.ended, &mut self.ready);
        }
        let count = out.len().min(self.ready.len() - self.at);
        out[..count].copy_from_slice(&self.ready[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// UTF-16 to UTF-8; pairs that are no character are replaced, and a byte order mark is left out.
struct Utf16 {
    order: ByteOrder,
    /// The first byte of a pair.
    odd: Option<u8>,
    /// The first half of a character of two pairs.
    high: Option<u16>,
}

impl Change for Utf16 {
    fn change(&mut self, from: &[u8], last: bool, to: &mut Vec<u8>) {
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
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        let mut buffer = [0; 4];
        text.filter(|&c| c != '\u{feff}').for_each(|c| to.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes()));
        if last && self.odd.is_some() {
            to.extend_from_slice(char::REPLACEMENT_CHARACTER.encode_utf8(&mut buffer).as_bytes());
        }
    }
}

/// Carriage returns to newlines.
struct CarriageReturns;

impl Change for CarriageReturns {
    fn change(&mut self, from: &[u8], _: bool, to: &mut Vec<u8>) {
        to.extend(from.iter().map(|&b| if b == b'\r' { b'\n' } else { b }));
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
    fn change(&mut self, from: &[u8], _: bool, to: &mut Vec<u8>) {
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text as it is read, some bytes at a time.
    fn read(form: TextForm, bytes: &[u8], at_once: usize) -> String {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                let count = self.1.min(self.0.len()).min(out.len());
                out[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let mut text = String::new();
        form.reader(Box::new(Slow(bytes, at_once))).read_to_string(&mut text).expect("UTF-8");
        text
    }

    #[test]
    fn utf16_is_read_in_both_orders_and_by_any_chunks() {
        let text = "naïve;π;𝒳\r\n";
        for at_once in [1, 2, 3, 7, 100] {
            let little: Vec<u8> =
                "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            let form = |order| TextForm { utf16: Some(order), ..TextForm::default() };
            assert_eq!(read(form(ByteOrder::Little), &little, at_once), text);
            assert_eq!(read(form(ByteOrder::Big), &big, at_once), text);
            let cut = [&big[..], &[0]].concat();
            assert_eq!(read(form(ByteOrder::Big), &cut, at_once), format!("{text}\u{fffd}"));
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
}
