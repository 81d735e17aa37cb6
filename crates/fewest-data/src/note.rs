//! Things a user should be told about a file, which are no errors.

use std::fmt;

use fewest::FeatureSet;

use crate::Names;

/// How the target column was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetRule {
    /// The caller named it.
    Asked,
    /// It has one of the usual names: y, label, class, target.
    UsualName,
    /// It is the last column.
    Last,
    /// The format has one place for it.
    Format,
}

/// Something to tell the user. `Display` gives one sentence.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// Which column is the target.
    TargetColumn {
        /// Its name.
        name: String,
        /// Why it.
        rule: TargetRule,
    },
    /// A text column was replaced by 0/1 columns.
    Dummies {
        /// The text column.
        column: String,
        /// The columns made of it.
        made: Vec<String>,
    },
    /// Features with one value only; they can never be selected.
    Constant {
        /// How many.
        count: usize,
        /// Positions of all of them, ascending.
        features: FeatureSet,
        /// Names of the first ten.
        names: Vec<String>,
    },
    /// Values are missing.
    Missing {
        /// How many.
        values: usize,
        /// Columns that lack any.
        columns: usize,
        /// The first ten of those, and how many values each of them lacks.
        names: Vec<(String, usize)>,
    },
    /// `qid:` entries of svmlight were passed over.
    QueryIds {
        /// On how many lines.
        lines: u64,
    },
    /// Text values that the model has not seen; their dummy columns are all 0.
    Unseen {
        /// The text column.
        column: String,
        /// The first such value.
        value: String,
        /// How many rows.
        rows: u64,
    },
    /// Features the model knows and a sparse file does not mention: zero.
    Padded {
        /// How many.
        count: usize,
    },
    /// Features of the file that were not asked for.
    Ignored {
        /// How many.
        count: usize,
    },
    /// The format of standard input was guessed.
    Guessed {
        /// The name of the format.
        format: &'static str,
    },
    /// Class names that the output format cannot hold.
    ClassesRenamed {
        /// Pairs of old and new name.
        renamed: Vec<(String, String)>,
    },
    /// Feature names that the output format cannot hold.
    NamesDropped,
}

impl Note {
    /// The note on constant features, if there are any.
    pub(crate) fn constant(features: &FeatureSet, names: &Names) -> Option<Note> {
        if features.is_empty() {
            return None;
        }
        let first = features.iter().take(10).map(|j| names.get(j).into_owned()).collect();
        Some(Note::Constant { count: features.len(), features: features.clone(), names: first })
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", fewest_text::Display(Sentence(self)))
    }
}

/// The sentence of a note, before characters that act are made visible.
struct Sentence<'a>(&'a Note);

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Note::TargetColumn { name, rule } => {
                let why = match rule {
                    TargetRule::Asked => "as asked",
                    TargetRule::UsualName => "by its name",
                    TargetRule::Last => "the last column, as none is named y, label, class or target",
                    TargetRule::Format => "as the format has it",
                };
                write!(f, "the target is `{name}` ({why})")
            }
            Note::Dummies { column, made } => {
                write!(f, "text column `{column}` became {} column(s) of 0 and 1: ", made.len())?;
                list(f, made, made.len())
            }
            Note::Constant { count, names, .. } => {
                write!(f, "{count} feature(s) have one value only and are never selected: ")?;
                list(f, names, *count)
            }
            Note::Missing { values, columns, names } => {
                write!(f, "{values} value(s) are missing in {columns} column(s): ")?;
                let texts: Vec<String> = names.iter().map(|(name, count)| format!("{name} ({count})")).collect();
                list(f, &texts, *columns)
            }
            Note::QueryIds { lines } => write!(f, "`qid` entries on {lines} line(s) were passed over"),
            Note::Unseen { column, value, rows } => write!(
                f,
                "column `{column}` has values the model has not seen on {rows} row(s), the first is `{value}`; they count as none of the known values"
            ),
            Note::Padded { count } => write!(f, "{count} feature(s) are not in the file and count as zero"),
            Note::Ignored { count } => write!(f, "{count} column(s) of the file were not asked for and are ignored"),
            Note::Guessed { format } => write!(f, "the input looks like {format} and was read so"),
            Note::ClassesRenamed { renamed } => {
                f.write_str("class names became numbers, which is all the format holds:")?;
                renamed.iter().try_for_each(|(from, to)| write!(f, " {from} is {to}"))
            }
            Note::NamesDropped => f.write_str("feature names were dropped, which the format cannot hold"),
        }
    }
}

/// At most ten names, then dots.
fn list(f: &mut fmt::Formatter<'_>, names: &[String], count: usize) -> fmt::Result {
    for (at, name) in names.iter().take(10).enumerate() {
        write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
    }
    if count > 10 { f.write_str(", ...") } else { Ok(()) }
}
