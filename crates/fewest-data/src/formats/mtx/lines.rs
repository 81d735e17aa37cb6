//! The lines of a Matrix Market file: a header, the sides, and an entry in each line after them.

use std::io::{BufRead, BufReader, Read};

use crate::error::malformed;
use crate::io::source::Source;
use crate::io::waves::shown;
use crate::{DataError, Place, number};

/// Most bytes of a line.
const LONGEST: u64 = 1 << 16;

/// What the header says.
pub(super) struct Coordinates<'a> {
    source: &'a Source,
    pub(super) rows: u64,
    pub(super) columns: u64,
    entries: u64,
    /// Entries have no value, which is 1.
    pattern: bool,
}

/// Reads lines, and counts them.
struct Lines<'a> {
    source: &'a Source,
    input: BufReader<Box<dyn Read + Send + 'a>>,
    line: Vec<u8>,
    at: u64,
}

impl<'a> Lines<'a> {
    fn open(source: &'a Source) -> Result<Self, DataError> {
        let input = BufReader::with_capacity(1 << 17, source.reader()?);
        Ok(Self { source, input, line: Vec::new(), at: 0 })
    }

    /// The next line that is not blank; none at the end.
    fn next(&mut self) -> Result<Option<&[u8]>, DataError> {
        loop {
            self.line.clear();
            let mut limited = self.input.by_ref().take(LONGEST);
            let read = limited.read_until(b'\n', &mut self.line).map_err(|e| self.source.read_error(e))?;
            if read == 0 {
                return Ok(None);
            }
            self.at += 1;
            if read as u64 == LONGEST {
                return Err(self.malformed("the line is longer than 64 KiB", "save the matrix with scipy.io.mmwrite"));
            }
            if !self.line.trim_ascii().is_empty() {
                return Ok(Some(self.line.trim_ascii()));
            }
        }
    }

    /// The next line that is no comment.
    fn next_data(&mut self) -> Result<Option<&[u8]>, DataError> {
        loop {
            match self.next()? {
                Some([b'%', ..]) => {}
                Some(_) => return Ok(Some(self.line.trim_ascii())),
                None => return Ok(None),
            }
        }
    }

    fn malformed(&self, found: impl Into<String>, remedy: &str) -> DataError {
        malformed(Place::line(&self.source.name, self.at), found, remedy)
    }
}

impl<'a> Coordinates<'a> {
    pub(super) fn open(source: &'a Source) -> Result<Self, DataError> {
        let mut lines = Lines::open(source)?;
        let first = lines.next()?.unwrap_or_default();
        let header = String::from_utf8_lossy(first).to_ascii_lowercase();
        let words: Vec<&str> = header.split_ascii_whitespace().collect();
        let pattern = match words[..] {
            ["%%matrixmarket", "matrix", "coordinate", "pattern", "general"] => true,
            ["%%matrixmarket", "matrix", "coordinate", "real" | "integer" | "double", "general"] => false,
            ["%%matrixmarket", ..] => {
                let found = format!("the header says `{}`", words[1..].join(" "));
                return Err(lines.malformed(found, "write it as `matrix coordinate real general`, which is sparse"));
            }
            _ => {
                let found = format!("`{}` is not the header of Matrix Market", shown(first));
                return Err(lines.malformed(found, "begin with %%MatrixMarket matrix coordinate real general"));
            }
        };
        let sides = lines.next_data()?.unwrap_or_default();
        let mut numbers = sides.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty()).map(whole);
        let four = [numbers.next(), numbers.next(), numbers.next(), numbers.next()];
        let [Some(Some(rows)), Some(Some(columns)), Some(Some(entries)), None] = four else {
            let found = format!("`{}` is not three whole numbers", shown(sides));
            return Err(lines.malformed(found, "write the numbers of rows, columns and entries"));
        };
        Ok(Self { source, rows, columns, entries, pattern })
    }

    /// The file, for messages.
    pub(super) fn file(&self) -> &'a str {
        &self.source.name
    }

    /// Runs `take(row, column, x)` on the entries; rows and columns count from 0.
    pub(super) fn each(
        &self,
        mut take: impl FnMut(usize, usize, f64) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let mut lines = Lines::open(self.source)?;
        lines.next_data()?;
        let mut entries = 0u64;
        while let Some(line) = lines.next()? {
            let Some((row, column, x)) = self.entry(line) else {
                if line.starts_with(b"%") {
                    continue;
                }
                let found = format!("`{}` is not an entry of a {} x {} matrix", shown(line), self.rows, self.columns);
                return Err(lines.malformed(found, "write row, column and value, which count from 1"));
            };
            entries += 1;
            take(row, column, x)?;
        }
        if entries == self.entries {
            return Ok(());
        }
        let what = format!("{entries} entries, but the header says {}", self.entries);
        Err(DataError::Damaged { file: self.source.name.clone(), what })
    }

    /// Row, column and value of a line.
    fn entry(&self, line: &[u8]) -> Option<(usize, usize, f64)> {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let mut side = |most: u64| whole(words.next()?).filter(|&at| 1 <= at && at <= most).map(|at| (at - 1) as usize);
        let (row, column) = (side(self.rows)?, side(self.columns)?);
        let x = if self.pattern { 1.0 } else { number::parse(words.next()?)? };
        words.next().is_none().then_some((row, column, x))
    }
}

/// A whole number.
fn whole(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 18 || !word.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(word.iter().fold(0, |all, digit| all * 10 + u64::from(digit - b'0')))
}
