//! What a format declares about a column (attributes of arff), and the check of cells against it.

use std::collections::HashSet;

use super::rows::trimmed;
use crate::error::malformed;
use crate::io::waves::shown;
use crate::meaning::header::{Header, Role};
use crate::meaning::target::class_name;
use crate::{DataError, Place, number};

/// What a format declares about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Declaration {
    /// Nothing: the cells tell.
    Nothing,
    /// Numbers.
    Number,
    /// One of these values.
    Values(Vec<String>),
}

impl Declaration {
    /// Whether the column holds numbers. Two values that are numbers, such as {0, 1}, are as good
    /// as numeric.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Declaration::Nothing => false,
            Declaration::Number => true,
            Declaration::Values(values) => {
                values.len() == 2 && values.iter().all(|v| number::parse(v.as_bytes()).is_some_and(f64::is_finite))
            }
        }
    }
}

/// The declared values of a column.
pub(crate) struct ValueList {
    values: HashSet<String>,
    /// A number may be written in another way than in the declaration, as `1.0` for `1`.
    by_value: bool,
}

impl ValueList {
    /// The list of each column that has one.
    pub(crate) fn of_columns(header: &Header, declared: &[Declaration]) -> Vec<Option<ValueList>> {
        let list = |(declared, role): (&Declaration, &Role)| {
            let Declaration::Values(values) = declared else { return None };
            let by_value = *role == Role::Target || declared.is_number();
            let name = |value: &String| if by_value { class_name(value) } else { value.clone() };
            (!matches!(role, Role::Ignored | Role::Counted))
                .then(|| ValueList { values: values.iter().map(name).collect(), by_value })
        };
        declared.iter().zip(&header.roles).map(list).collect()
    }

    /// Refuses a cell that is not in the list; a missing value is left to others.
    ///
    /// # Errors
    /// [`DataError::Malformed`] at `place()`.
    pub(crate) fn check(&self, cell: &[u8], place: impl FnOnce() -> Place) -> Result<(), DataError> {
        let text = trimmed(cell);
        if self.values.contains(&*text)
            || number::is_missing(cell)
            || self.by_value && self.values.contains(&class_name(&text))
        {
            return Ok(());
        }
        let found = format!("`{}` is not among the declared values", shown(cell));
        Err(malformed(place(), found, "add it to the @attribute line, or correct it"))
    }
}
