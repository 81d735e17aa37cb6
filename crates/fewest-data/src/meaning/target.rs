//! The target column: class names and the class of each row.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::note::TargetRule;
use crate::{DataError, Note, ReadOptions};
use crate::{meaning::cells, number};

/// Classes of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Name of the column in the file (`y` for formats that do not name it).
    pub column: String,
    /// Class names, sorted: by value if all are numbers, else as text; of two the one that is to be
    /// positive is the second ([`ReadOptions::positive`]). A number is written in its shortest form,
    /// so that `+1`, `1` and `1.0` are one class in every format.
    pub classes: Vec<String>,
    /// For each row the position of its class in `classes`.
    pub codes: Vec<u32>,
}

impl Target {
    /// Labels of a two-class problem: -1 for the first class, +1 for the second.
    ///
    /// With more classes it is one against the rest: +1 for the last class.
    pub fn signs(&self) -> Vec<f64> {
        let positive = (self.classes.len().max(2) - 1) as u32;
        self.codes.iter().map(|&code| if code == positive { 1.0 } else { -1.0 }).collect()
    }

    /// Class names of -1 and +1, for printing; `None` unless there are two classes.
    pub fn mapping(&self) -> Option<[(&'static str, &str); 2]> {
        match &self.classes[..] {
            [first, second] => Some([("-1", first), ("+1", second)]),
            _ => None,
        }
    }

    /// The class that is +1 of two.
    pub fn positive(&self) -> Option<&str> {
        self.mapping().map(|mapping| mapping[1].1)
    }

    /// Rows of each class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.codes.iter().for_each(|&code| counts[code as usize] += 1);
        counts
    }

    /// Sum of the weights of each class.
    pub fn totals(&self, weights: &[f64]) -> Vec<f64> {
        let mut totals = vec![0.0; self.classes.len()];
        self.codes.iter().zip(weights).for_each(|(&code, weight)| totals[code as usize] += weight);
        totals
    }

    /// Leaves out the classes that have no row.
    #[must_use]
    pub(crate) fn without_empty(mut self) -> Self {
        let counts = self.counts();
        let mut place = Vec::new();
        let mut kept = 0;
        for count in &counts {
            place.push(kept);
            kept += u32::from(*count > 0);
        }
        self.codes.iter_mut().for_each(|code| *code = place[*code as usize]);
        let mut there = counts.into_iter().map(|count| count > 0);
        self.classes.retain(|_| there.next() == Some(true));
        self
    }

    /// The classes as numbers of double precision; none where these are not all of them.
    pub(crate) fn numbers(&self) -> Option<Vec<f64>> {
        let number = |class: &String| {
            number::parse(class.as_bytes()).filter(|&value| class_name(&number::text(value)) == *class)
        };
        self.classes.iter().map(number).collect()
    }

    /// Codes with respect to another list of classes (a model's), see [`class_position`]; `None` for
    /// rows of a class not in it.
    pub fn codes_in(&self, classes: &[String]) -> Vec<Option<u32>> {
        let map: Vec<Option<u32>> =
            self.classes.iter().map(|c| class_position(classes, c).map(|at| at as u32)).collect();
        self.codes.iter().map(|&code| map[code as usize]).collect()
    }

    /// Refuses one class only, and values that cannot be classes: numbers with fractions where they
    /// are more than 20 or more than half as many as rows, and anything that is both.
    pub(crate) fn check(&self, file: &str) -> Result<(), DataError> {
        let classes = self.classes.len();
        if let Some(example) =
            self.fraction().filter(|_| classes > 2 && (classes > 20 || classes * 2 > self.codes.len()))
        {
            return Err(DataError::Continuous {
                file: file.into(),
                column: self.column.clone(),
                classes,
                rows: self.codes.len(),
                example: example.clone(),
            });
        }
        if classes < 2 {
            return Err(DataError::OneClass {
                file: file.into(),
                column: self.column.clone(),
                class: self.classes.first().cloned().unwrap_or_default(),
            });
        }
        if classes > 20 && classes * 2 > self.codes.len() {
            return Err(DataError::TooManyClasses {
                file: file.into(),
                column: self.column.clone(),
                classes,
                rows: self.codes.len(),
            });
        }
        Ok(())
    }
}

impl Target {
    /// One of the classes that is a number with a fraction, where all are numbers.
    fn fraction(&self) -> Option<&String> {
        let value = |class: &String| number::parse(class.as_bytes()).or_else(|| cells::in_any_style(class));
        let values: Option<Vec<f64>> = self.classes.iter().map(value).collect();
        let at = values?.iter().position(|x| x.fract() != 0.0)?;
        Some(&self.classes[at])
    }

    /// What to tell of it, as the target of a format that has one place for it.
    pub(crate) fn notes(&self, rule: TargetRule, options: &ReadOptions) -> Vec<Note> {
        let told = Note::TargetColumn { name: self.column.clone(), rule };
        std::iter::once(told).chain(self.note().filter(|_| !options.target_optional)).collect()
    }

    /// The note on a second class of two that is named as what is searched for seldom is, where the
    /// first is not; without such names, on one that is much more frequent.
    pub(crate) fn note_on_positive(&self) -> Option<Note> {
        let [(_, first), (_, second)] = self.mapping()?;
        let (counts, named) = (self.counts(), [first, second].map(is_negative_name));
        let frequent = named == [false; 2] && counts[1] > FREQUENT * counts[0];
        let told = named == [false, true] || frequent;
        told.then(|| Note::PositiveClass { positive: second.to_owned(), other: first.to_owned() })
    }

    /// The note on classes that differ in the case of letters or in blanks alone.
    pub(crate) fn note_on_alike(&self) -> Option<Note> {
        let mut known: HashMap<String, &String> = HashMap::new();
        let spoken = |class: &String| class.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let (second, first) =
            self.classes.iter().find_map(|class| Some((class, known.insert(spoken(class), class)?)))?;
        Some(Note::AlikeClasses { column: self.column.clone(), first: first.clone(), second: second.clone() })
    }

    /// The note on a target of numbers that may be a quantity: classes with fractions, or more than
    /// 20 of them.
    pub(crate) fn note(&self) -> Option<Note> {
        let classes = self.classes.len();
        let numbers = || self.classes.iter().all(|class| number::parse(class.as_bytes()).is_some());
        let fraction = classes > 2 && self.fraction().is_some();
        let told = fraction || classes > 20 && numbers();
        told.then(|| Note::NumberClasses { column: self.column.clone(), classes, fraction })
    }
}

/// A class of two this many times as frequent as the other is seldom the one that is searched for.
const FREQUENT: usize = 2;

/// Names of classes that stand for what is not there, not searched for, or compared with, in several
/// languages.
const NEGATIVE_NAMES: [&str; 50] = [
    "-1",
    "0",
    "absent",
    "benign",
    "benigno",
    "bénin",
    "control",
    "controle",
    "controls",
    "contrôle",
    "ctrl",
    "ei",
    "falsch",
    "false",
    "falskt",
    "falso",
    "faux",
    "frisk",
    "gesund",
    "gezond",
    "gutartig",
    "healthy",
    "kontrolle",
    "nao",
    "ne",
    "nee",
    "neg",
    "negatief",
    "negativ",
    "negative",
    "negativo",
    "nein",
    "nej",
    "nie",
    "no",
    "non",
    "none",
    "normal",
    "não",
    "négatif",
    "onwaar",
    "reference",
    "sain",
    "sano",
    "saudável",
    "témoin",
    "unaffected",
    "wildtype",
    "нет",
    "否",
];

/// Whether a class has one of these names.
fn is_negative_name(class: &str) -> bool {
    NEGATIVE_NAMES.contains(&class.trim().to_lowercase().as_str())
}

/// The key of a class in results, of k: -1 and +1 of two, 0, 1, ... of more.
pub fn key_of_class(at: usize, k: usize) -> String {
    match (k, at) {
        (2, 0) => "-1".to_owned(),
        (2, _) => "+1".to_owned(),
        _ => at.to_string(),
    }
}

/// Where a class is in a list of classes: the one of that name, else the one that says the same.
/// Numbers say the same where they are equal (`1`, `1.0`, `+1`), text does without blanks around it,
/// and a truth value however it is written (`True`, `TRUE`, `1`).
pub fn class_position(classes: &[String], class: &str) -> Option<usize> {
    let same = |known: &String| class_key(known) == class_key(class);
    classes.iter().position(|known| known == class).or_else(|| classes.iter().position(same))
}

/// What a class says, in one form.
fn class_key(class: &str) -> String {
    let name = class_name(class);
    match name.to_ascii_lowercase().as_str() {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        _ => name,
    }
}

/// Collects class labels row by row, then sorts the classes.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    classes: Vec<String>,
    find: HashMap<String, u32>,
    codes: Vec<u32>,
}

impl Labels {
    /// The code of a class name, new or known. Codes are in order of appearance until
    /// [`Labels::finish`].
    pub(crate) fn code(&mut self, name: &str) -> u32 {
        if let Some(&code) = self.find.get(name) {
            return code;
        }
        let code = self.classes.len() as u32;
        self.classes.push(name.to_owned());
        self.find.insert(name.to_owned(), code);
        code
    }

    /// Adds a row.
    pub(crate) fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// Rows so far.
    pub(crate) fn len(&self) -> usize {
        self.codes.len()
    }

    /// The target, classes sorted.
    pub(crate) fn finish(mut self, column: String) -> Target {
        let mut order: Vec<usize> = (0..self.classes.len()).collect();
        let values: Vec<Option<f64>> = self.classes.iter().map(|c| number::parse(c.as_bytes())).collect();
        let numeric = values.iter().all(Option::is_some);
        order.sort_by(|&a, &b| match (numeric, values[a], values[b]) {
            (true, Some(x), Some(y)) => {
                let equal = || integer(&self.classes[a]).cmp(&integer(&self.classes[b]));
                x.partial_cmp(&y).unwrap_or(Ordering::Equal).then_with(equal)
            }
            _ => self.classes[a].cmp(&self.classes[b]),
        });
        let mut rank = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(at, &code)| rank[code] = at as u32);
        self.codes.iter_mut().for_each(|code| *code = rank[*code as usize]);
        let classes = order.into_iter().map(|code| std::mem::take(&mut self.classes[code])).collect();
        Target { column, classes, codes: self.codes }
    }
}

/// The name of a class: numbers in shortest form (`+1` and `1.0` are `1`, `-0` is `0`), integers with all
/// their digits, text trimmed.
pub(crate) fn class_name(cell: &str) -> String {
    let cell = cell.trim();
    match number::parse(cell.as_bytes()) {
        Some(value) if (EXACT..LARGEST_INTEGER).contains(&value.abs()) => {
            integer(cell).map_or_else(|| format!("{value}"), |exact| exact.to_string())
        }
        // The sum makes -0 a 0.
        Some(value) if value.is_finite() => number::text(value + 0.0),
        _ => cell.to_owned(),
    }
}

/// Integers up to here are numbers of double precision, each of them.
const EXACT: f64 = (1u64 << 53) as f64;

/// Beyond here no identifier is an integer.
const LARGEST_INTEGER: f64 = 1e30;

/// The value of a text of digits.
fn integer(text: &str) -> Option<i128> {
    text.parse().ok()
}
