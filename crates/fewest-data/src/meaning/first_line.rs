//! The first line of a csv file: names of the columns, or data?
//!
//! Signs of names: a quoted number above numbers without quotes, text above numbers, a cell
//! that is not among the values below it where these repeat. Signs of data: text that is one of
//! the values below it. Without signs, mostly numbers are data, but for 0, 1, 2, ..., the
//! names that pandas gives.

use std::collections::HashSet;

use crate::error::malformed;
use crate::io::waves::shown;
use crate::meaning::target::class_name;
use crate::{DataError, Note, Place, ReadOptions, meaning::cells, number};

/// A cell of the first rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) quoted: bool,
}

impl Cell {
    fn is_number(&self) -> bool {
        number::parse(self.text.as_bytes()).is_some() || cells::in_any_style(&self.text).is_some()
    }

    /// Neither a number nor a word for a missing value.
    fn is_text(&self) -> bool {
        !self.is_number() && !cells::is_word_for_missing(self.text.as_bytes())
    }
}

/// What the rows below say of the first line.
#[derive(Debug, Default)]
struct Signs {
    /// The first cell that can only be a name, and why.
    name: Option<String>,
    /// Columns that speak for names.
    names: usize,
    /// Columns that speak for data, and the first cell of these.
    data: usize,
    value: Option<String>,
}

impl Signs {
    fn of(first: &[Cell], rows: &[Vec<Cell>]) -> Self {
        let mut signs = Signs::default();
        for (c, cell) in first.iter().enumerate() {
            let below: Vec<&Cell> =
                rows.iter().filter_map(|row| row.get(c)).filter(|cell| !cell.text.is_empty()).collect();
            if !cell.text.is_empty() && !below.is_empty() {
                signs.read(cell, &below, c + 1 == first.len());
            }
            if signs.name.is_some() {
                break;
            }
        }
        signs
    }

    /// What a column says, given the cell in the first line and those below it.
    fn read(&mut self, cell: &Cell, below: &[&Cell], last: bool) {
        let text = below.iter().any(|cell| cell.is_text());
        let quoted = cell.quoted && cell.is_number() && below.iter().all(|cell| !cell.quoted);
        if !text && (cell.is_text() || quoted) {
            let why = format!("`{}` stands above numbers", shown(cell.text.as_bytes()));
            self.name.get_or_insert(why);
            return;
        }
        let values: HashSet<String> = below.iter().map(|cell| class_name(&cell.text)).collect();
        if values.contains(&class_name(&cell.text)) {
            if cell.is_text() {
                self.data += 1;
                self.value.get_or_insert_with(|| shown(cell.text.as_bytes()));
            }
            return;
        }
        // Of numbers, classes alone: few values that come again and again.
        let times = if text { 2 } else { 4 };
        if (text || last) && below.len() > 2 && values.len() * times <= below.len() {
            self.names += 1;
        }
    }

    /// Whether more speaks for names than for data.
    fn is_header(&self) -> bool {
        self.name.is_some() || self.names > self.data
    }
}

/// Whether a column shows beyond doubt that the first line is a header.
pub(crate) fn is_header(first: &[Cell], rows: &[Vec<Cell>]) -> bool {
    Signs::of(first, rows).name.is_some()
}

/// Names of columns, and what to tell of them.
type NamedColumns = (Vec<String>, Option<Note>);

/// Column names from the first line, none where it is data, and what to tell of them. `rows` are
/// some of those below.
///
/// # Errors
/// A line that may be either, or that is not what the caller says; names that are empty.
pub(crate) fn names(
    file: &str,
    line: u64,
    first: &[Cell],
    rows: &[Vec<Cell>],
    options: &ReadOptions,
) -> Result<Option<NamedColumns>, DataError> {
    let place = || Place::line(file, line);
    let signs = Signs::of(first, rows);
    if options.no_header {
        if !signs.is_header() {
            return Ok(None);
        }
        let last = first.last().map_or(String::new(), |cell| shown(cell.text.as_bytes()));
        let found = signs.name.unwrap_or_else(|| format!("`{last}` is none of the values below it"));
        return Err(DataError::NamesAsData { place: place(), found });
    }
    let numbers: Vec<f64> = first.iter().filter_map(|cell| number::parse(cell.text.as_bytes())).collect();
    if !options.header {
        let counted =
            numbers.windows(2).all(|w| w[1] == w[0] + 1.0) && numbers.first().is_none_or(|x| *x == 0.0 || *x == 1.0);
        let mostly_numbers = numbers.len() * 2 > first.len() && !(counted && numbers.len() > 1);
        if !signs.is_header() && (mostly_numbers || signs.data > 0) {
            let found = first.iter().take(5).map(|cell| shown(cell.text.as_bytes())).collect::<Vec<_>>().join(", ");
            return Err(DataError::NoHeader { place: place(), found, repeated: signs.value });
        }
    }
    let names: Vec<String> = first.iter().map(|cell| cell.text.clone()).collect();
    // The first column may hold the names of the samples, and a blank one nothing.
    let blank = |c: usize| rows.iter().all(|row| row.get(c).is_none_or(|cell| cell.text.is_empty()));
    let unnamed = (1..names.len()).find(|&c| names[c].is_empty() && !blank(c));
    if let Some(at) = unnamed {
        let found = format!("column {} has no name", at + 1);
        return Err(malformed(place(), found, "name every column in the header line"));
    }
    if let [name] = &names[..]
        && let Some(delimiter) = name.chars().find(|c| [';', '\t', '|'].contains(c))
        && !options.features.as_ref().is_some_and(|wanted| wanted.contains(name))
    {
        return Err(DataError::Delimiter { place: place(), found: shown(name.as_bytes()), delimiter });
    }
    let of_numbers: Vec<String> =
        names.iter().filter(|name| number::parse(name.as_bytes()).is_some()).take(10).cloned().collect();
    let told = !of_numbers.is_empty() && !options.header;
    Ok(Some((names, told.then_some(Note::NumberNames { names: of_numbers }))))
}
