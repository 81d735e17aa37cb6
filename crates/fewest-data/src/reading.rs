//! How a file is read: what a user says of it, the same value in the command, in Python, in results,
//! models and proofs.

use std::fmt;
use std::path::Path;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::{Format, Normalization};

/// The most names that a list takes from a file of results.
const MOST_NAMES: usize = 1 << 20;

/// How a file is read. `ReadOptions::default()` reads a training file.
///
/// What a user says is a record: by serde it is written whole and read back, under the names that
/// the settings have in every door (`--missing-codes` of the command and `missing_codes` of Python
/// are `missing_codes`). What the calling program wants for itself is no part of the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ReadOptions {
    /// Format; default by the ending of the name, or by the first bytes for standard input.
    #[serde(deserialize_with = "format")]
    pub format: Option<Format>,
    /// Target column; default the column `y`, `label`, `class` or `target` (any case), else the
    /// last one.
    pub target: Option<String>,
    /// Columns to drop; each a name or a pattern, see [`crate::matching`].
    #[serde(deserialize_with = "few")]
    pub drop: Vec<String>,
    /// The only columns to make features of; each a name or a pattern. Default all.
    #[serde(deserialize_with = "few")]
    pub only: Vec<String>,
    /// Columns to read as categories even where they hold numbers.
    #[serde(deserialize_with = "few")]
    pub text: Vec<String>,
    /// Codes of a missing value besides empty cells, `?`, `NA` and the like: texts, and numbers
    /// however they are written.
    #[serde(deserialize_with = "few")]
    pub missing_codes: Vec<String>,
    /// Keep the rows of these classes only.
    #[serde(deserialize_with = "few")]
    pub classes: Vec<String>,
    /// The class of two that is +1; default the later one, see [`crate::Target::classes`]. A file for
    /// prediction has its classes from the model, and does not need it.
    pub positive: Option<String>,
    /// The csv file has no header: features are named x1, x2, ..., the last column is `y`.
    pub no_header: bool,
    /// The first line of the csv file is a header, whatever it looks like.
    pub header: bool,
    /// Leave out rows without a class, which are an error otherwise.
    pub drop_unlabelled: bool,
    /// The decimal sign of numbers in text; default a point.
    #[serde(deserialize_with = "decimal")]
    pub decimal: Option<char>,
    /// The sign between the thousands of numbers in text; default none.
    #[serde(deserialize_with = "thousands")]
    pub thousands: Option<char>,
    /// The sign between the cells of csv and tsv; default what the first rows show.
    #[serde(deserialize_with = "delimiter")]
    pub delimiter: Option<Delimiter>,
    /// Lines of csv and tsv that begin with this ASCII character hold no data; default none, but
    /// for titles above the header.
    #[serde(deserialize_with = "comment")]
    pub comment: Option<char>,
    /// Features are in the rows of csv and tsv, samples in the columns.
    pub transpose: bool,
    /// A second file with the classes, or other columns of the samples.
    pub labels: Option<Labels>,
    /// The column of that file with the names of the samples; default the first where that has no
    /// name, else the one that holds most of them.
    pub by: Option<String>,
    /// Column with the names of the samples, see [`crate::Dataset::samples`]; default the names
    /// that the file has.
    #[serde(rename = "id")]
    pub samples: Option<String>,
    /// Make equal names of columns different: `TP53`, `TP53.1`. Otherwise they are an error.
    pub unique_names: bool,
    /// Feature numbers of svmlight begin at 0, as scikit-learn writes them by default.
    pub zero_based: bool,
    /// The matrix to read of a file that holds several: `X`, `raw`, or the name of a layer; default
    /// `X`.
    pub layer: Option<String>,
    /// Largest svmlight (or sparse arff) feature number; default 4 Mi plus the bytes of the file.
    pub index_limit: Option<u64>,
    /// Columns to sum up counts by: samples that agree in them and in their class become one. They are
    /// set apart.
    #[serde(deserialize_with = "few")]
    pub sum_by: Vec<String>,
    /// The normalization of each sample, or sum of samples, before any feature is left out.
    #[serde(flatten)]
    pub normalize: Normalization,

    /// Read a file for prediction: the target column may be missing, the last column is then a
    /// feature, and one class only is allowed.
    #[serde(skip)]
    pub target_optional: bool,
    /// The column [`ReadOptions::samples`] may be missing.
    #[serde(skip)]
    pub samples_optional: bool,
    /// Most bytes that the reader may take; default three quarters of the physical memory.
    #[serde(skip)]
    pub memory_limit: Option<u64>,
    /// Columns to set apart as text (fold numbers, identifiers), see [`crate::Dataset::apart`].
    #[serde(skip)]
    pub apart: Vec<String>,
    /// Keep exactly these features, in this order (a model's). Dummy columns are made to fit, other
    /// columns are ignored and may hold anything.
    #[serde(skip)]
    pub features: Option<Vec<String>>,
    /// The values of text columns that a model has seen, beside those that its features name.
    #[serde(skip)]
    pub levels: Vec<(String, Vec<String>)>,
    /// Let missing values of features through, as NaN. Otherwise they are an error. Infinities
    /// always are.
    #[serde(skip)]
    pub missing: bool,
}

impl ReadOptions {
    /// What a user says, but for defaults, by name: the record of results, models and proofs.
    pub fn said(&self) -> Map<String, Value> {
        let (mut said, none) = (self.record(), Self::default().record());
        said.retain(|name, value| *value != none[name]);
        said
    }

    /// The names of what a user may say, in the order of the record.
    pub fn names() -> impl Iterator<Item = String> {
        Self::default().record().into_iter().map(|(name, _)| name)
    }

    fn record(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(entries)) => entries,
            other => unreachable!("a record is an object: {other:?}"),
        }
    }

    /// Bytes allowed in effect: the limit, or three quarters of the machine's memory.
    pub fn memory(&self) -> u64 {
        self.memory_limit.unwrap_or_else(default_memory)
    }

    /// Largest feature number allowed for a file of that many (uncompressed) bytes.
    pub(crate) fn largest_index(&self, bytes: u64) -> u64 {
        self.index_limit.unwrap_or((4 << 20) + bytes).min(u64::from(u32::MAX))
    }

    /// Reads another file of the same kind, `path`, as this one was read before: with the same meaning
    /// of cells and names of features, but for what is set already.
    pub fn as_read_before(&mut self, before: &ReadOptions, path: &Path) {
        let named = || path.to_str().and_then(Format::of_path);
        let folder = || path.is_dir().then_some(Format::Mtx);
        let has = |what: fn(Format) -> bool| self.format.or_else(named).or_else(folder).is_none_or(what);
        let (table, sparse, layers) =
            (has(Format::is_table), has(|format| format == Format::Svmlight), has(Format::has_layers));
        if self.missing_codes.is_empty() {
            self.missing_codes.clone_from(&before.missing_codes);
        }
        if table && self.decimal.is_none() && self.thousands.is_none() {
            (self.decimal, self.thousands) = (before.decimal, before.thousands);
        }
        self.zero_based |= sparse && before.zero_based;
        if layers && self.layer.is_none() {
            self.layer.clone_from(&before.layer);
        }
        if self.samples.is_none() {
            self.samples.clone_from(&before.samples);
            self.samples_optional = true;
        }
    }
}

/// Three quarters of physical memory, 8 GiB where that is unknown, half of what 32 bits reach.
fn default_memory() -> u64 {
    if cfg!(target_pointer_width = "32") {
        return 2 << 30;
    }
    let known = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
        line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
    });
    known.map_or(8 << 30, |kib| kib * 1024 / 4 * 3)
}

/// A second file with columns of the samples, as text `FILE` or `FILE:COLUMN`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// The file: a table in text, parquet or a spreadsheet, or a class file (.cls).
    pub file: String,
    /// The column with the classes; default [`ReadOptions::target`], else one of a usual name, else
    /// the only one besides the names of the samples.
    pub column: Option<String>,
}

impl From<&str> for Labels {
    /// A colon that is no part of a file's name is before a column.
    fn from(text: &str) -> Self {
        let (file, column) = match text.rsplit_once(':') {
            Some((file, column)) if !Path::new(text).exists() => (file, Some(column.to_owned())),
            _ => (text, None),
        };
        Self { file: file.to_owned(), column }
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.column.as_ref().map_or(Ok(()), |column| write!(f, ":{column}"))
    }
}

impl Serialize for Labels {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Labels {
    /// A text, or a file and its column.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form {
            Text(String),
            Parts(String, Option<String>),
        }
        Ok(match Form::deserialize(from)? {
            Form::Text(text) => Self::from(text.as_str()),
            Form::Parts(file, column) => Self { file, column },
        })
    }
}

/// Sign between the cells of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// An ASCII character.
    Sign(u8),
    /// Blanks or tabs, one or more.
    Blanks,
}

impl Delimiter {
    /// The name that [`delimiter_of`] knows.
    pub fn name(self) -> String {
        match self {
            Delimiter::Sign(b'\t') => "tab".to_owned(),
            Delimiter::Sign(sign) => char::from(sign).to_string(),
            Delimiter::Blanks => "blanks".to_owned(),
        }
    }

    /// The byte between cells in the text as it is read.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Delimiter::Sign(sign) => sign,
            Delimiter::Blanks => b'\t',
        }
    }
}

impl Serialize for Delimiter {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.name())
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// A delimiter by name: one ASCII character that is no letter, digit or quote, or `tab`, `comma`,
/// `semicolon`, `pipe`, `blanks`.
///
/// # Errors
/// What it must be.
pub fn delimiter_of(name: &str) -> Result<Delimiter, String> {
    match name {
        "tab" | "\\t" => Ok(Delimiter::Sign(b'\t')),
        "comma" => Ok(Delimiter::Sign(b',')),
        "semicolon" => Ok(Delimiter::Sign(b';')),
        "pipe" => Ok(Delimiter::Sign(b'|')),
        "blanks" | " " => Ok(Delimiter::Blanks),
        _ => match name.as_bytes() {
            [sign] if sign.is_ascii_punctuation() && *sign != b'"' || *sign == b'\t' => Ok(Delimiter::Sign(*sign)),
            _ => Err("must be a sign such as , ; or |, or tab or blanks".to_owned()),
        },
    }
}

/// A format by name, see [`Format::by_name`].
///
/// # Errors
/// What it must be.
pub fn format_of(name: &str) -> Result<Format, String> {
    Format::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        format!("must be one of {}", known.join(", "))
    })
}

/// The sign at the beginning of comments.
///
/// # Errors
/// What it must be.
pub fn comment_of(text: &str) -> Result<char, String> {
    sign(text, |sign| sign.is_ascii_punctuation() && sign != '"', "one sign, such as #")
}

/// A decimal sign.
///
/// # Errors
/// What it must be.
pub fn decimal_of(text: &str) -> Result<char, String> {
    sign(text, |sign| ",.".contains(sign), ". or ,")
}

/// A sign between thousands.
///
/// # Errors
/// What it must be.
pub fn thousands_of(text: &str) -> Result<char, String> {
    sign(text, |sign| ",. '_\u{a0}\u{202f}’".contains(sign), "one of , . ' _ or a blank")
}

fn sign(text: &str, fits: impl Fn(char) -> bool, must: &str) -> Result<char, String> {
    let mut signs = text.chars();
    let one = signs.next().filter(|sign| signs.next().is_none() && fits(*sign));
    one.ok_or_else(|| format!("must be {must}"))
}

/// A setting that is text, if it is there.
fn named<'de, D: Deserializer<'de>, T>(
    from: D,
    name: &str,
    of: fn(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let wrong = |text: &str, must| D::Error::custom(format!("{name} is {text:?}, but {must}"));
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| of(&text).map_err(|must| wrong(&text, must))).transpose()
}

fn format<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Format>, D::Error> {
    named(from, "format", format_of)
}

fn delimiter<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Delimiter>, D::Error> {
    named(from, "delimiter", delimiter_of)
}

fn comment<'de, D: Deserializer<'de>>(from: D) -> Result<Option<char>, D::Error> {
    named(from, "comment", comment_of)
}

fn decimal<'de, D: Deserializer<'de>>(from: D) -> Result<Option<char>, D::Error> {
    named(from, "decimal", decimal_of)
}

fn thousands<'de, D: Deserializer<'de>>(from: D) -> Result<Option<char>, D::Error> {
    named(from, "thousands", thousands_of)
}

/// A list that is refused before it takes much memory.
fn few<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    struct Few;
    impl<'de> Visitor<'de> for Few {
        type Value = Vec<String>;

        fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
            to.write_str("a list of names")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut out = Vec::new();
            while let Some(name) = list.next_element()? {
                if out.len() == MOST_NAMES {
                    return Err(A::Error::custom("too many names"));
                }
                out.push(name);
            }
            Ok(out)
        }
    }
    from.deserialize_seq(Few)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_says_is_read_back_as_written() {
        let options = ReadOptions {
            format: Some(Format::H5),
            delimiter: Some(Delimiter::Blanks),
            decimal: Some(','),
            labels: Some(Labels { file: "no such file".into(), column: Some("y:1".into()) }),
            samples: Some("patient".into()),
            normalize: Normalization { total: Some(1e4), log1p: true, uncounted: Vec::new() },
            ..ReadOptions::default()
        };
        let text = serde_json::to_value(&options).expect("JSON");
        assert_eq!(text["id"], "patient");
        assert_eq!((&text["normalize_total"], &text["delimiter"]), (&1e4.into(), &"blanks".into()));
        assert!(text.get("missing").is_none() && text.get("apart").is_none());
        assert_eq!(
            options.said().keys().collect::<Vec<_>>(),
            ["format", "decimal", "delimiter", "labels", "id", "normalize_total", "log1p"]
        );
        let back: ReadOptions = serde_json::from_value(Value::Object(options.said())).expect("read back");
        // A colon in a column's name is taken for the one before it.
        assert_eq!(back.labels.as_ref().map(ToString::to_string), options.labels.as_ref().map(ToString::to_string));
        assert_eq!(ReadOptions { labels: options.labels.clone(), ..back }, options);
        assert_eq!(serde_json::from_str::<ReadOptions>("{}").expect("nothing said"), ReadOptions::default());
    }

    #[test]
    fn a_wrong_sign_is_told_by_name() {
        let error = serde_json::from_str::<ReadOptions>(r#"{"decimal": ";"}"#).expect_err("no decimal sign");
        assert!(error.to_string().starts_with("decimal is \";\", but must be . or ,"), "{error}");
    }
}
