//! Text columns as columns of 0 and 1.

use std::collections::HashMap;

use crate::header::Header;
use crate::{DataError, Note, ReadOptions};

/// Most values of a text column that the caller did not ask for by name.
const MOST_VALUES: usize = 100;

/// How the cells of a text column become features.
///
/// A cell is first given a code: the position of its value in `values`, or `values.len()` for a
/// value not known.
#[derive(Debug, Clone)]
pub(crate) struct Categories {
    find: HashMap<String, u32>,
    /// Code that makes each dummy column 1, and the column's name.
    dummies: Vec<(u32, String)>,
    /// A code beyond the known ones is worth a note.
    closed: bool,
}

impl Categories {
    /// For the values found (any order, all different): one column `name=second` for two values,
    /// else one for each.
    ///
    /// # Errors
    /// [`DataError::Identifier`] when there are more than 100 values, or all of more than 20 rows
    /// differ, and the column was not named in [`ReadOptions::text`].
    pub(crate) fn new(
        header: &Header,
        column: usize,
        mut values: Vec<String>,
        rows: usize,
        options: &ReadOptions,
    ) -> Result<Self, DataError> {
        let name = &header.names[column];
        values.sort_unstable();
        if let Some(wanted) = &options.features {
            return Ok(Self::wanted(name, wanted));
        }
        let distinct = values.len();
        let many = distinct > MOST_VALUES || (distinct > 20 && distinct == rows);
        if many && !options.text.contains(name) {
            let example = crate::waves::shown(values[0].as_bytes());
            return Err(DataError::Identifier {
                file: header.file.clone(),
                column: name.clone(),
                distinct,
                rows,
                example,
            });
        }
        let first = usize::from(distinct == 2);
        let dummies = (first..distinct).map(|at| (at as u32, format!("{name}={}", values[at]))).collect();
        let find = values.into_iter().enumerate().map(|(at, value)| (value, at as u32)).collect();
        Ok(Self { find, dummies, closed: true })
    }

    /// For the dummy columns of a model: those of `wanted` that begin with `name=`.
    fn wanted(name: &str, wanted: &[String]) -> Self {
        let values: Vec<&str> =
            wanted.iter().filter_map(|w| w.strip_prefix(name).and_then(|rest| rest.strip_prefix('='))).collect();
        Self {
            find: values.iter().enumerate().map(|(at, value)| ((*value).to_owned(), at as u32)).collect(),
            dummies: values.iter().enumerate().map(|(at, value)| (at as u32, format!("{name}={value}"))).collect(),
            // One dummy stands for a column of two values, the other of which is not in its name.
            closed: values.len() > 1,
        }
    }

    /// Code of a value.
    pub(crate) fn code(&self, value: &str) -> u32 {
        self.find.get(value).copied().unwrap_or(self.find.len() as u32)
    }

    /// Whether a code means a value that should have been known.
    pub(crate) fn unseen(&self, code: u32) -> bool {
        self.closed && code as usize >= self.find.len()
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
        Note::Dummies { column: column.to_owned(), made: self.names().cloned().collect() }
    }
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
