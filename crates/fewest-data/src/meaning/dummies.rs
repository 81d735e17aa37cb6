//! Text columns as columns of 0 and 1.

use std::collections::HashMap;

use crate::meaning::cells::Cells;
use crate::meaning::dates::is_date;
use crate::meaning::header::Header;
use crate::{DataError, Note, Place, ReadOptions};

/// Most values of a text column that the caller did not ask for by name.
const MOST_VALUES: usize = 100;

/// Most values where half of the cells or more differ.
const MOST_DIFFERENT: usize = 20;

/// Most values of such columns without a note.
const FEW: usize = 5;

/// What becomes of a text column.
pub(crate) enum TextColumnUse {
    /// Columns of 0 and 1, and what to tell of it.
    Categories(Categories, Option<Note>),
    /// Nothing, and why.
    LeftOut(Note),
}

/// Decides what becomes of text column `column`, given the distinct values found in its `present`
/// cells, and those declared, if any.
///
/// # Errors
/// [`DataError::NumberStyle`] where the values are numbers written in another way,
/// [`DataError::Identifier`] where they are more than 100, or more than 20 and half of the cells
/// differ; neither if the column was named in [`ReadOptions::text`].
pub(crate) fn text_column(
    header: &Header,
    column: usize,
    (values, declared): (Vec<String>, Option<Vec<String>>),
    present: usize,
    cells: &Cells,
    options: &ReadOptions,
) -> Result<TextColumnUse, DataError> {
    let name = &header.names[column];
    if let Some(wanted) = &options.features {
        return Ok(TextColumnUse::Categories(Categories::wanted(name, wanted, options), None));
    }
    let made = |note| {
        Ok(TextColumnUse::Categories(Categories::of(name, declared.clone().unwrap_or_else(|| values.clone())), note))
    };
    if options.text.contains(name) {
        return made(None);
    }
    // The smallest, so that a message does not depend on the order of a hash set.
    let example = || crate::io::waves::shown(values.iter().min().map_or(&[][..], |value| value.as_bytes()));
    let place = || Place { file: header.file.clone(), ..Place::default() }.column(name);
    if declared.is_none() {
        if let Some(other) = cells.other_style(values.iter().map(String::as_str)) {
            return Err(DataError::NumberStyle { place: place(), cell: example(), other: Box::new(other) });
        }
        let dates = values.iter().filter(|value| is_date(value)).count();
        if dates > 0 && dates * 10 >= values.len() * 9 {
            return Ok(TextColumnUse::LeftOut(Note::Dates { column: name.clone(), example: example() }));
        }
    }
    let distinct = values.len();
    let many = distinct * 2 >= present;
    if distinct > MOST_VALUES || many && distinct > MOST_DIFFERENT {
        let file = header.file.clone();
        let (example, unit, first) = (example(), unit(&values), column == 0 && distinct == present);
        return Err(DataError::Identifier { file, column: name.clone(), distinct, present, example, unit, first });
    }
    let note = Note::ManyValues { column: name.clone(), distinct, present };
    made((many && distinct > FEW).then_some(note))
}

/// What all values have behind a number, such as `mg`.
fn unit(values: &[String]) -> Option<String> {
    let behind = |value: &String| {
        let end = value.rfind(|c: char| c.is_ascii_digit())? + 1;
        let (number, unit) = value.split_at(end);
        (!unit.is_empty() && crate::meaning::cells::in_any_style(number).is_some()).then(|| unit.trim().to_owned())
    };
    let first = behind(values.first()?)?;
    values.iter().all(|value| behind(value).as_ref() == Some(&first)).then_some(first)
}

/// How the cells of a text column become features.
///
/// A cell is first given a code: the position of its value in `values`, or `values.len()` for a
/// value not known.
#[derive(Debug, Clone)]
pub(crate) struct Categories {
    values: Vec<String>,
    find: HashMap<String, u32>,
    /// Code that makes each dummy column 1, and the column's name.
    dummies: Vec<(u32, String)>,
    /// A code beyond the known ones is worth a note.
    closed: bool,
}

impl Categories {
    /// For these values (any order, all different): one column `name=second` for two values, else
    /// one for each.
    pub(crate) fn of(name: &str, mut values: Vec<String>) -> Self {
        values.sort_unstable();
        let distinct = values.len();
        let first = usize::from(distinct == 2);
        let dummies = (first..distinct).map(|at| (at as u32, format!("{name}={}", values[at]))).collect();
        Self { find: codes(&values), values, dummies, closed: true }
    }

    /// For the dummy columns of a model: those of `wanted` that begin with `name=`. The values that
    /// it has seen are those of [`ReadOptions::levels`] too.
    fn wanted(name: &str, wanted: &[String], options: &ReadOptions) -> Self {
        let levels = options.levels.iter().find(|(column, _)| column == name).map(|(_, levels)| levels);
        let named = wanted.iter().filter_map(|w| w.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')));
        let mut values: Vec<String> = named.map(str::to_owned).collect();
        let dummies: Vec<(u32, String)> =
            values.iter().enumerate().map(|(at, value)| (at as u32, format!("{name}={value}"))).collect();
        let more = levels.into_iter().flatten().filter(|level| !values.contains(level));
        values.extend(more.cloned().collect::<Vec<_>>());
        // One dummy stands for a column of two values, the other of which is not in its name.
        let closed = levels.is_some() || values.len() > 1;
        Self { find: codes(&values), values, dummies, closed }
    }

    /// Code of a value.
    pub(crate) fn code(&self, value: &str) -> u32 {
        self.find.get(value).copied().unwrap_or(self.values.len() as u32)
    }

    /// Whether a code means a value that should have been known.
    pub(crate) fn unseen(&self, code: u32) -> bool {
        self.closed && code as usize >= self.values.len()
    }

    /// Number of dummy columns.
    pub(crate) fn width(&self) -> usize {
        self.dummies.len()
    }

    /// Names of the dummy columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.dummies.iter().map(|(_, name)| name)
    }

    /// Value of dummy column `at` for a code.
    pub(crate) fn value(&self, at: usize, code: u32) -> f64 {
        f64::from(u8::from(self.dummies[at].0 == code))
    }

    /// The note on what was made of the column.
    pub(crate) fn note(&self, column: &str) -> Note {
        let made = self.names().cloned().collect();
        Note::Dummies { column: column.to_owned(), made, values: self.values.clone() }
    }
}

/// Truth values as Python, R with spreadsheets, and databases write them.
const TRUTH: [[&str; 3]; 2] = [["True", "TRUE", "true"], ["False", "FALSE", "false"]];

/// The code of each value; a truth value has that of its other spellings, which are no values of the
/// column.
fn codes(values: &[String]) -> HashMap<String, u32> {
    let mut codes: HashMap<String, u32> =
        values.iter().enumerate().map(|(at, value)| (value.clone(), at as u32)).collect();
    for spellings in TRUTH {
        let known = spellings.iter().find_map(|spelling| codes.get(*spelling).copied());
        for spelling in spellings {
            if let Some(code) = known {
                codes.entry(spelling.to_owned()).or_insert(code);
            }
        }
    }
    codes
}

/// Whether a model's features want this column as text (`Some(true)`), as numbers (`Some(false)`),
/// or nothing is known.
pub(crate) fn wanted_as_text(name: &str, options: &ReadOptions) -> Option<bool> {
    if options.text.iter().any(|t| t == name) {
        return Some(true);
    }
    let wanted = options.features.as_ref()?;
    Some(!wanted.iter().any(|w| w == name))
}
