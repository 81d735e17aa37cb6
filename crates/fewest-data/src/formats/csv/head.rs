//! The first rows of a text, and how it is split.

use std::borrow::Cow;
use std::io::Read as _;

use memchr::memchr_iter;

use super::own_delimiter;
use super::sniff::{self, Split};
use super::syntax::Syntax;
use crate::Delimiter;
use crate::io::source::Source;
use crate::meaning::first_line::{self, Cell};
use crate::{DataError, Format, Note, ReadOptions};

/// Bytes in which the first rows of most files are.
const FEW_BYTES: usize = 1 << 16;

/// Bytes that are read where these do not tell.
const MORE_BYTES: usize = 1 << 22;

/// Rows that are read, at most.
const MOST_ROWS: usize = 400;

/// The first rows.
pub(crate) struct Head {
    /// The line of the first one, from 1.
    pub(crate) line: u64,
    /// The line of the one below it.
    pub(crate) next_line: u64,
    /// The first one, usually the header.
    pub(crate) first: Vec<Cell>,
    /// The rows below the header.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// What to tell of the form of the text.
    pub(crate) note: Option<Note>,
    delimiter: u8,
    /// Decimal sign and sign between thousands, where the rows show others than asked for.
    style: Option<(char, Option<char>)>,
    /// These are all rows of the file, or as many as are read.
    whole: bool,
}

/// Some text from the start of a file.
struct Start {
    text: Vec<u8>,
    /// It is all of the file.
    whole: bool,
}

impl Head {
    /// Reads the first rows and finds out how they are written. Blanks between cells become tabs in
    /// `source` from now on.
    ///
    /// # Errors
    /// A file without a row; a quote that is never closed; a line longer than the memory allows.
    pub(crate) fn of(source: &mut Source, format: Format, options: &ReadOptions) -> Result<Self, DataError> {
        let head = Self::read(source, format, FEW_BYTES, options)?;
        if head.whole || first_line::is_header(&head.first, &head.rows) {
            return Ok(head);
        }
        // Cells take much more than their text.
        let bytes = MORE_BYTES.min(options.memory() as usize / 64).max(FEW_BYTES);
        Self::read(source, format, bytes, options)
    }

    /// Reads about this many bytes, the header and the row below it at least.
    fn read(source: &mut Source, format: Format, bytes: usize, options: &ReadOptions) -> Result<Self, DataError> {
        let own = own_delimiter(format);
        source.text.blanks = options.delimiter == Some(Delimiter::Blanks);
        let asked = options.delimiter.map(Delimiter::byte);
        let mut want = bytes;
        loop {
            let mut start = Start::read(source, want)?;
            let syntax = Self::plain(&source.name, own, options);
            let mut split = sniff::split(&start.text, start.whole, &syntax, asked, own);
            if split.blanks {
                start.text = sniff::tabbed(&start.text);
            }
            split.blanks |= source.text.blanks;
            let syntax = Syntax { delimiter: split.delimiter, ..syntax };
            let (text, all) = (&start.text, start.whole);
            if all && (0..text.len()).all(|at| text[at].is_ascii_whitespace()) {
                return Err(DataError::Empty { file: source.name.clone() });
            }
            let first = syntax.record_end(text, split.start);
            if all || first < text.len() && syntax.record_end(text, first) < text.len() {
                let head = Self::made(&syntax, &start, &split, own, options)?;
                source.text.blanks = split.blanks;
                return Ok(head);
            }
            want *= 2;
            let what = if first < text.len() { "a single line" } else { "the header line" };
            crate::io::memory::check_memory(&source.name, what, 16 * want as u64, options.memory())?;
        }
    }

    fn made(
        syntax: &Syntax<'_>,
        start: &Start,
        split: &Split,
        own: u8,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let text = &start.text;
        let begin = skip_empty(syntax, text, split.start);
        let end = syntax.record_end(text, begin);
        let lines = |bytes: &[u8]| memchr_iter(b'\n', bytes).count() as u64;
        let line = 1 + lines(&text[..begin]);
        syntax.check_quotes(line, &text[begin..end])?;
        let mut first = syntax.cells(&text[begin..end]);
        let unnamed = || Cell { text: String::new(), quoted: false };
        if split.short {
            first.insert(0, unnamed());
        } else if split.trailing {
            first.push(unnamed());
        }
        let (rows, whole) = some_rows(syntax, &text[end..], start.whole);
        let asked = options.decimal.is_some() || options.thousands.is_some();
        let style = if split.delimiter == b';' && !asked { sniff::comma_style(&rows) } else { None };
        let note = sniff::note(split, own, options.delimiter.is_some(), style);
        // The last line may lack its end.
        let next_line = line + lines(&text[begin..end]).max(1);
        Ok(Self { line, next_line, first, rows, note, delimiter: split.delimiter, style, whole })
    }

    /// How rows are split where nothing is known but the delimiter.
    fn plain<'a>(file: &'a str, delimiter: u8, options: &ReadOptions) -> Syntax<'a> {
        let comment = options.comment.map(|sign| sign as u8);
        Syntax { file, delimiter, first_line: 1, comment, skip_blank: true }
    }

    /// How the rows from line `first_line` on are split.
    pub(crate) fn syntax<'a>(&self, source: &'a Source, first_line: u64, options: &ReadOptions) -> Syntax<'a> {
        Syntax { first_line, ..Self::plain(&source.name, self.delimiter, options) }
    }

    /// The options, with the style of numbers that the rows show.
    pub(crate) fn options<'o>(&self, options: &'o ReadOptions) -> Cow<'o, ReadOptions> {
        match self.style {
            None => Cow::Borrowed(options),
            Some((decimal, thousands)) => {
                Cow::Owned(ReadOptions { decimal: Some(decimal), thousands, ..options.clone() })
            }
        }
    }

    /// The format by its delimiter.
    pub(crate) fn format(&self) -> Format {
        if self.delimiter == b'\t' { Format::Tsv } else { Format::Csv }
    }
}

impl Start {
    fn read(source: &Source, bytes: usize) -> Result<Self, DataError> {
        let mut text = Vec::new();
        let got = source.reader()?.take(bytes as u64).read_to_end(&mut text).map_err(|e| source.read_error(e))?;
        Ok(Self { text, whole: got < bytes })
    }
}

/// The first record from `at` on that holds anything.
fn skip_empty(syntax: &Syntax<'_>, text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        let end = syntax.record_end(text, at);
        if !syntax.is_empty(&text[at..end]) {
            break;
        }
        at = end;
    }
    at
}

/// The first rows of a text, and whether they are all, or as many as are read; the last one is
/// whole only where the text is that of the file.
fn some_rows(syntax: &Syntax<'_>, text: &[u8], whole: bool) -> (Vec<Vec<Cell>>, bool) {
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < text.len() && rows.len() < MOST_ROWS {
        let end = syntax.record_end(text, at);
        if end == text.len() && !whole {
            return (rows, false);
        }
        if !syntax.is_empty(&text[at..end]) {
            rows.push(syntax.cells(&text[at..end]));
        }
        at = end;
    }
    (rows, true)
}
