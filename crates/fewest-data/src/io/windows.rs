//! Text of which nothing says how its letters are written: UTF-8, or Windows-1252.
//!
//! Spreadsheets save "CSV" in Windows-1252 in most of Europe and America. ASCII is the same in both,
//! and other text of Windows-1252 is hardly ever UTF-8, so that the first other bytes tell. Each byte
//! is one letter: none is lost, and no two become one. What is neither is refused.

use std::io;
use std::sync::OnceLock;

use memchr::memchr_iter;

use crate::{DataError, Place};

/// Characters of the bytes from 0x80 to 0x9f; a zero where there is none.
const HIGH: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// Words that say whether a text is Windows-1252.
const WORDS: u64 = 100;

/// The character of a byte; none where Windows-1252 has none.
fn character(byte: u8) -> Option<char> {
    match byte {
        0x80..=0x9f => Some(HIGH[usize::from(byte - 0x80)]).filter(|&c| c != '\0'),
        _ => Some(char::from(byte)),
    }
}

/// A text in UTF-8, else in Windows-1252, and whether it was the latter. A byte that is no character
/// of it stays the control character of its number.
pub(crate) fn text_of(bytes: &[u8]) -> (String, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (bytes.iter().map(|&byte| character(byte).unwrap_or(char::from(byte))).collect(), true),
    }
}

/// A change of the bytes of a text, some at a time.
pub(crate) trait Change {
    /// Appends the changed bytes of `from` to `to`; `last`: nothing follows.
    ///
    /// # Errors
    /// [`NotText`].
    fn change(&mut self, from: &[u8], last: bool, to: &mut Vec<u8>) -> io::Result<()>;
}

/// What a text turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// ASCII so far.
    Ascii,
    Utf8,
    Windows,
}

/// The change of text in UTF-8 or Windows-1252 to UTF-8.
pub(crate) struct Bytes<'a> {
    kind: Kind,
    /// The beginning of a character.
    begun: Vec<u8>,
    /// The line, from 1.
    line: u64,
    words: Words,
    /// The first line of text in Windows-1252.
    told: &'a OnceLock<u64>,
}

impl<'a> Bytes<'a> {
    pub(crate) fn new(told: &'a OnceLock<u64>) -> Self {
        Self { kind: Kind::Ascii, begun: Vec::new(), line: 1, words: Words::default(), told }
    }

    /// Takes what is UTF-8 from the start of the bytes, and returns the rest.
    fn utf8<'b>(&mut self, bytes: &'b [u8], to: &mut Vec<u8>) -> &'b [u8] {
        let valid = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        let (valid, rest) = bytes.split_at(valid);
        if self.kind == Kind::Ascii && !valid.is_ascii() {
            self.kind = Kind::Utf8;
        }
        self.line += memchr_iter(b'\n', valid).count() as u64;
        to.extend_from_slice(valid);
        rest
    }

    fn windows(&mut self, bytes: &[u8], to: &mut Vec<u8>) -> io::Result<()> {
        for &byte in bytes {
            self.words.take(byte, self.line)?;
            if byte.is_ascii() {
                self.line += u64::from(byte == b'\n');
                to.push(byte);
            } else {
                let c = character(byte).ok_or_else(|| neither(byte, self.line))?;
                to.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        Ok(())
    }
}

impl Change for Bytes<'_> {
    fn change(&mut self, from: &[u8], last: bool, to: &mut Vec<u8>) -> io::Result<()> {
        let joined;
        let mut rest = from;
        if !self.begun.is_empty() {
            joined = [&std::mem::take(&mut self.begun), from].concat();
            rest = &joined;
        }
        if self.kind != Kind::Windows {
            rest = self.utf8(rest, to);
            let cut = |error: std::str::Utf8Error| error.error_len().is_none();
            if !last && std::str::from_utf8(rest).is_err_and(cut) {
                self.begun = rest.to_vec();
                return Ok(());
            }
            let Some(&byte) = rest.first() else { return Ok(()) };
            if self.kind == Kind::Utf8 {
                return Err(NotText::at(self.line, format!("the byte 0x{byte:02X} is no UTF-8, as text above it is")));
            }
            self.kind = Kind::Windows;
            let _ = self.told.set(self.line);
        }
        self.windows(rest, to)?;
        if last && self.kind == Kind::Windows { self.words.end() } else { Ok(()) }
    }
}

/// The words with letters that are not ASCII. In the languages of Windows-1252 these stand among
/// letters of ASCII, hardly ever beside each other; in other encodings words are made of them.
#[derive(Default)]
struct Words {
    ascii: u64,
    others: u64,
    /// The byte before is no ASCII.
    before: bool,
    /// Two of them stand beside each other.
    pair: bool,
    /// The first one of the text that does so, and its line.
    first: Option<(u8, u64)>,
    count: u64,
    strange: u64,
}

impl Words {
    fn take(&mut self, byte: u8, line: u64) -> io::Result<()> {
        match byte {
            0x80.. => {
                self.others += 1;
                self.pair |= self.before;
                self.first = self.first.or(Some((byte, line)));
            }
            _ if byte.is_ascii_alphabetic() => self.ascii += 1,
            _ if self.others > 0 => self.end_word()?,
            _ => self.ascii = 0,
        }
        self.before = !byte.is_ascii();
        Ok(())
    }

    fn end_word(&mut self) -> io::Result<()> {
        self.strange += u64::from(self.pair && self.others > self.ascii);
        self.count += 1;
        (self.ascii, self.others, self.pair) = (0, 0, false);
        if self.count == WORDS { self.judge() } else { Ok(()) }
    }

    /// The end of the text.
    fn end(&mut self) -> io::Result<()> {
        if self.others > 0 {
            self.end_word()?;
        }
        if self.count < WORDS { self.judge() } else { Ok(()) }
    }

    fn judge(&self) -> io::Result<()> {
        match self.first {
            Some((byte, line)) if 2 * self.strange > self.count => Err(neither(byte, line)),
            _ => Ok(()),
        }
    }
}

fn neither(byte: u8, line: u64) -> io::Error {
    NotText::at(line, format!("the byte 0x{byte:02X} is no UTF-8, and the text does not look like Windows-1252"))
}

/// Bytes that cannot be read as text.
#[derive(Debug)]
pub(crate) struct NotText {
    line: u64,
    found: String,
}

impl NotText {
    pub(crate) fn at(line: u64, found: String) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, Self { line, found })
    }

    /// The error of a file; none where a read failed for another reason.
    pub(crate) fn of(file: &str, error: &io::Error) -> Option<DataError> {
        let Self { line, found } = error.get_ref()?.downcast_ref()?;
        let remedy = "save the file as UTF-8 (in Excel: CSV UTF-8), or convert it, such as with iconv -f GB18030 -t UTF-8 for Chinese text";
        Some(crate::error::malformed(Place::line(file, *line), found, remedy))
    }
}

impl std::fmt::Display for NotText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.found)
    }
}

impl std::error::Error for NotText {}
