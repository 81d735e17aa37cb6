//! The declarations before the data.

use std::io::{BufRead as _, BufReader, Read as _};

use memchr::memchr;

use super::cells::{each_cell, quoted_end, unquoted};
use crate::error::malformed;
use crate::formats::table::Declaration;
use crate::io::source::Source;
use crate::io::waves::shown;
use crate::{DataError, Place, ReadOptions};

/// What comes before the data.
pub(super) struct Preamble {
    pub(super) names: Vec<String>,
    pub(super) declared: Vec<Declaration>,
    /// The line of `@data`.
    pub(super) last_line: u64,
    /// The first row is sparse.
    pub(super) sparse: bool,
}

impl Preamble {
    pub(super) fn read(source: &Source, options: &ReadOptions) -> Result<Self, DataError> {
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
                    crate::io::memory::check_memory(&source.name, "a single line", longest * 4 + 1, longest * 4)?;
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
                self.declared.push(declaration(kind, place)?);
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
        quoted_end(text, 0).map_err(|quote| quote.error(place.clone()))?
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
fn declaration(kind: &[u8], place: &Place) -> Result<Declaration, DataError> {
    if let Some(list) = kind.strip_prefix(b"{") {
        let Some(list) = list.trim_ascii_end().strip_suffix(b"}") else {
            return Err(malformed(place.clone(), "a list of values without `}`", "close the list"));
        };
        let mut values: Vec<String> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        let split = each_cell(list, |cell| {
            let value = String::from_utf8_lossy(&cell).into_owned();
            if seen.insert(value.clone()) {
                values.push(value);
            }
        });
        split.map_err(|quote| quote.error(place.clone()))?;
        return Ok(Declaration::Values(values));
    }
    match word(kind).0.to_ascii_lowercase().as_slice() {
        b"numeric" | b"real" | b"integer" => Ok(Declaration::Number),
        b"string" | b"date" => Ok(Declaration::Nothing),
        _ => Err(malformed(
            place.clone(),
            format!("the attribute type `{}`", shown(kind)),
            "use numeric, real, integer, string, date or a list {a,b}",
        )),
    }
}
