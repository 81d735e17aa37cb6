//! WEKA's attribute-relation file format, dense and sparse rows, read and written.
//!
//! Numeric attributes are numbers; nominal attributes become columns of 0 and 1 like text columns of csv, except that two
//! values that are numbers stay one numeric column. A nominal target keeps the classes that occur.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Read as _};

use fewest::design::Row;
use memchr::memchr;

use crate::header::Header;
use crate::source::Source;
use crate::table::{self, Declared, Rows, TakeRow};
use crate::waves::{Lines, Piece, Records, malformed, shown};
use crate::{DataError, Dataset, Format, Place, ReadOptions, number};

/// Reads an arff file.
pub(crate) fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, DataError> {
    let preamble = Preamble::read(source, options)?;
    let header = Header::new(&source.name, preamble.names, options)?;
    if preamble.sparse {
        return crate::arff_sparse::read(source, &header, &preamble.declared, preamble.last_line, options);
    }
    let declared: Vec<Declared> = preamble.declared.into_iter().map(two_numbers).collect();
    let rows = DenseRows { last_line: preamble.last_line };
    table::read(source, &rows, header, &declared, Format::Arff, options)
}

/// A nominal attribute with two numbers, such as {0, 1}, is as good as numeric.
pub(crate) fn two_numbers(declared: Declared) -> Declared {
    match declared {
        Declared::Values(values)
            if values.len() == 2 && values.iter().all(|v| number::parse(v.as_bytes()).is_some_and(f64::is_finite)) =>
        {
            Declared::Number
        }
        other => other,
    }
}

/// What comes before the data.
struct Preamble {
    names: Vec<String>,
    declared: Vec<Declared>,
    /// The line of `@data`.
    last_line: u64,
    /// The first row is sparse.
    sparse: bool,
}

impl Preamble {
    fn read(source: &Source, options: &ReadOptions) -> Result<Self, DataError> {
        let mut reader = BufReader::new(source.reader()?);
        let mut preamble = Preamble { names: Vec::new(), declared: Vec::new(), last_line: 0, sparse: false };
        let (mut line, mut text, mut in_data) = (0, Vec::new(), false);
        let longest = options.memory() / 4;
        loop {
            text.clear();
            let got = (&mut reader).take(longest).read_until(b'\n', &mut text).map_err(|e| source.read_error(e))?;
            line += 1;
            let content = text.trim_ascii();
            match content.first() {
                _ if got as u64 >= longest => {
                    crate::options::check_memory(&source.name, "a single line", longest * 4 + 1, longest * 4)?;
                }
                None if got == 0 && !in_data => return Err(no_data(&source.name, line)),
                None if got == 0 => return Ok(preamble),
                None | Some(b'%') => {}
                Some(first) if in_data => {
                    preamble.sparse = *first == b'{';
                    return Ok(preamble);
                }
                Some(_) => {
                    let place = Place::line(&source.name, line);
                    in_data = preamble.declaration(content, &place)?;
                    preamble.last_line = line;
                }
            }
        }
    }

    /// Reads one declaration; true for `@data`.
    fn declaration(&mut self, text: &[u8], place: &Place) -> Result<bool, DataError> {
        let (keyword, rest) = word(text);
        match keyword.to_ascii_lowercase().as_slice() {
            b"@relation" => Ok(false),
            b"@data" if self.names.is_empty() => {
                Err(malformed(place.clone(), "@data comes without any @attribute", "declare the columns first"))
            }
            b"@data" => Ok(true),
            b"@attribute" => {
                let (name, kind) = name_and_kind(rest, place)?;
                self.declared.push(declared(kind, place)?);
                self.names.push(name);
                Ok(false)
            }
            _ => Err(malformed(
                place.clone(),
                format!("`{}` is not a declaration", shown(keyword)),
                "use @relation, @attribute and @data, or begin comments with %",
            )),
        }
    }
}

fn no_data(file: &str, line: u64) -> DataError {
    if line == 1 {
        return DataError::Empty { file: file.into() };
    }
    malformed(Place::line(file, line), "the file ends without @data", "add @data and the rows after it")
}

/// Up to the first blank, and the rest without leading blanks.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_ascii_start())
}

/// Name and type of an attribute; the name may be quoted.
fn name_and_kind<'t>(text: &'t [u8], place: &Place) -> Result<(String, &'t [u8]), DataError> {
    let quoted = text.first().is_some_and(|b| matches!(b, b'\'' | b'"'));
    let end = if quoted {
        quoted_end(text, 0)
    } else {
        let brace = memchr(b'{', text).unwrap_or(text.len());
        text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len()).min(brace)
    };
    let name = String::from_utf8_lossy(&unquoted(&text[..end])).into_owned();
    if name.is_empty() {
        return Err(malformed(place.clone(), "an attribute without a name", "write @attribute NAME numeric"));
    }
    Ok((name, text[end..].trim_ascii()))
}

/// What the type of an attribute declares.
fn declared(kind: &[u8], place: &Place) -> Result<Declared, DataError> {
    if let Some(list) = kind.strip_prefix(b"{") {
        let Some(list) = list.trim_ascii_end().strip_suffix(b"}") else {
            return Err(malformed(place.clone(), "a list of values without `}`", "close the list"));
        };
        let mut values: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        each_cell(list, |cell| {
            let value = String::from_utf8_lossy(&cell).into_owned();
            if seen.insert(value.clone()) {
                values.push(value);
            }
        });
        return Ok(Declared::Values(values));
    }
    match word(kind).0.to_ascii_lowercase().as_slice() {
        b"numeric" | b"real" | b"integer" => Ok(Declared::Number),
        b"string" | b"date" => Ok(Declared::Nothing),
        _ => Err(malformed(
            place.clone(),
            format!("the attribute type `{}`", shown(kind)),
            "use numeric, real, integer, string, date or a list {a,b}",
        )),
    }
}

/// Position after the quoted text that begins at `start`.
fn quoted_end(text: &[u8], start: usize) -> usize {
    let quote = text[start];
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b if b == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Text without its quotes and with its backslashes resolved.
pub(crate) fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
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

/// Calls `cell` for each comma-separated cell. A quote begins where a cell or a blank before it does.
pub(crate) fn each_cell<'t>(text: &'t [u8], mut cell: impl FnMut(Cow<'t, [u8]>)) {
    let (mut start, mut at, mut opens) = (0, 0, true);
    while at < text.len() {
        match text[at] {
            b',' => {
                cell(unquoted(&text[start..at]));
                start = at + 1;
                opens = true;
            }
            b'\'' | b'"' if opens => {
                at = quoted_end(text, at).min(text.len());
                opens = false;
                continue;
            }
            b => opens = b.is_ascii_whitespace(),
        }
        at += 1;
    }
    cell(unquoted(&text[start.min(text.len())..]));
}

/// Rows of comma-separated cells after line `last_line`.
struct DenseRows {
    last_line: u64,
}

impl Records for DenseRows {
    fn whole(&self, text: &[u8]) -> usize {
        Lines.whole(text)
    }
    fn next_end(&self, text: &[u8], start: usize, from: usize) -> usize {
        Lines.next_end(text, start, from)
    }
}

impl Rows for DenseRows {
    fn each_row(&self, piece: Piece<'_>, row: &mut TakeRow<'_>) -> Result<(), DataError> {
        let mut cells = Vec::new();
        for (line, text) in piece.lines() {
            let text = text.trim_ascii();
            if line <= self.last_line || text.is_empty() || text.starts_with(b"%") {
                continue;
            }
            cells.clear();
            each_cell(text, |cell| cells.push(cell));
            row(line, &cells)?;
        }
        Ok(())
    }
}

/// Writes attributes and rows, sparse rows for sparse data; the target comes last.
pub(crate) fn write(data: &Dataset, out: &mut dyn io::Write) -> io::Result<()> {
    let target = data.target.as_ref();
    let mut text = b"@relation fewest\n\n".to_vec();
    for name in data.names.iter() {
        text.extend_from_slice(b"@attribute ");
        write_quoted(&mut text, &name);
        text.extend_from_slice(b" numeric\n");
    }
    if let Some(target) = target {
        text.extend_from_slice(b"@attribute ");
        write_quoted(&mut text, &target.column);
        text.extend_from_slice(b" {");
        for (at, class) in target.classes.iter().enumerate() {
            if at > 0 {
                text.push(b',');
            }
            write_quoted(&mut text, class);
        }
        text.extend_from_slice(b"}\n");
    }
    text.extend_from_slice(b"\n@data\n");
    let p = data.names.len();
    let all: Vec<usize> = (0..p).collect();
    let rows = data.features.as_design().rows(&all);
    let sparse = data.features.as_design().is_sparse();
    for i in 0..data.features.n_samples() {
        if sparse {
            text.push(b'{');
        }
        let mut first = true;
        let mut comma = |text: &mut Vec<u8>| {
            if !std::mem::take(&mut first) {
                text.push(b',');
            }
        };
        match rows.row(i) {
            Row::Dense(values) => values.iter().for_each(|&x| {
                comma(&mut text);
                number::write(&mut text, x);
            }),
            Row::Sparse(columns, values) => columns.iter().zip(values).for_each(|(&j, &x)| {
                comma(&mut text);
                text.extend_from_slice(format!("{j} ").as_bytes());
                number::write(&mut text, x);
            }),
        }
        if let Some(target) = target {
            comma(&mut text);
            if sparse {
                text.extend_from_slice(format!("{p} ").as_bytes());
            }
            write_quoted(&mut text, &target.classes[target.codes[i] as usize]);
        }
        if sparse {
            text.push(b'}');
        }
        text.push(b'\n');
        if text.len() > 1 << 16 {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

/// A name or value, quoted where it must be.
fn write_quoted(text: &mut Vec<u8>, value: &str) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+' | b'.') || b >= 0x80;
    if !value.is_empty() && value.bytes().all(plain) {
        text.extend_from_slice(value.as_bytes());
        return;
    }
    text.push(b'\'');
    for b in value.bytes() {
        match b {
            b'\'' | b'\\' => text.extend_from_slice(&[b'\\', b]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            _ => text.push(b),
        }
    }
    text.push(b'\'');
}
