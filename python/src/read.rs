//! `fewest.read_table`: the command's readers, and their texts in the words of Python.

use fewest_data::{DataError, Dataset, Delimiter, Format, Labels, Normalization, Note, ReadOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copy::copied;
use crate::enter::{pool, sheltered};
use crate::file::{classes, raised};
use crate::settings;

/// What the reader is asked; the names are those of the command's options.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
struct Asked {
    format: Option<String>,
    target: Option<String>,
    /// A second file, and its column with the classes.
    labels: Option<(String, Option<String>)>,
    by: Option<String>,
    id: Option<String>,
    columns: Vec<String>,
    drop: Vec<String>,
    only: Vec<String>,
    text: Vec<String>,
    transpose: bool,
    /// The first line is a header, or is none; none: what it looks like.
    header: Option<bool>,
    delimiter: Option<String>,
    comment: Option<String>,
    decimal: Option<String>,
    thousands: Option<String>,
    missing_codes: Vec<String>,
    classes: Vec<String>,
    drop_unlabelled: bool,
    unique_names: bool,
    zero_based: bool,
    layer: Option<String>,
    index_limit: Option<u64>,
    normalize_total: Option<f64>,
    log1p: bool,
    memory: Option<u64>,
    target_optional: bool,
    /// Exactly these features, of text columns that have these values.
    features: Option<Vec<String>>,
    levels: Vec<(String, Vec<String>)>,
}

impl Asked {
    /// # Errors
    /// `ValueError` for an unknown sign or format.
    fn options(self) -> PyResult<ReadOptions> {
        let wrong = |name: &str, found: &str, must: &str| {
            PyValueError::new_err(format!("{name} is {found:?}, but must be {must}"))
        };
        let format = self.format.map(|name| {
            Format::by_name(&name).ok_or_else(|| {
                let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                wrong("format", &name, &format!("one of {}", known.join(", ")))
            })
        });
        let delimiter = self.delimiter.map(|name| {
            let must = "a sign such as , ; or |, or tab or blanks";
            Delimiter::by_name(&name).ok_or_else(|| wrong("delimiter", &name, must))
        });
        let sign = |name: &str, given: Option<String>, fits: fn(char) -> bool, must: &str| {
            let one = |text: String| {
                let mut signs = text.chars();
                let one = signs.next().filter(|sign| signs.next().is_none() && fits(*sign));
                one.ok_or_else(|| wrong(name, &text, must))
            };
            given.map(one).transpose()
        };
        let decimal = sign("decimal", self.decimal, |sign| ",.".contains(sign), "\".\" or \",\"")?;
        let thousands = |sign: char| ",. '_\u{a0}\u{202f}’".contains(sign);
        let thousands = sign("thousands", self.thousands, thousands, "one of , . ' _ or a blank")?;
        if thousands.is_some_and(|sign| sign == decimal.unwrap_or('.')) {
            return Err(PyValueError::new_err("thousands is the decimal sign; give another decimal, too"));
        }
        let comment = |sign: char| sign.is_ascii_punctuation() && sign != '"';
        Ok(ReadOptions {
            target: self.target,
            target_optional: self.target_optional || self.features.is_some(),
            format: format.transpose()?,
            memory_limit: self.memory,
            apart: self.columns,
            drop: self.drop,
            only: self.only,
            text: self.text,
            features: self.features,
            levels: self.levels,
            no_header: self.header == Some(false),
            header: self.header == Some(true),
            delimiter: delimiter.transpose()?,
            comment: sign("comment", self.comment, comment, "one sign, such as #")?,
            transpose: self.transpose,
            decimal,
            thousands,
            missing_codes: self.missing_codes,
            missing: true,
            drop_unlabelled: self.drop_unlabelled,
            classes: self.classes,
            positive: None,
            normalize: Normalization { total: self.normalize_total, log1p: self.log1p, uncounted: Vec::new() },
            layer: self.layer,
            labels: self.labels.map(|(file, column)| Labels { file, column, by: self.by }),
            samples: self.id,
            samples_optional: false,
            unique_names: self.unique_names,
            zero_based: self.zero_based,
            index_limit: self.index_limit,
        })
    }
}

/// Reads a file by the options of the command. A dictionary with `x` (as the engine takes it; NaN
/// for missing values), `names` of the features, `target` (its name, the classes, the class of each
/// sample; or None), `samples` (their names, or None), `columns` (pairs of a name and the texts),
/// `notes` (pairs of a sentence, and whether it is a warning), `texts` (of each text column its
/// name, its features and its values).
///
/// # Errors
/// `FileNotFoundError`, `OSError`, and `ValueError` for all that is wrong with a file.
#[pyfunction]
pub(crate) fn read_table<'py>(
    py: Python<'py>,
    path: String,
    asked: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let options = settings::<Asked>(asked)?.options()?;
        let threads = pool(None)?;
        let data = py.detach(|| threads.install(|| read(&path, options))).map_err(|error| raised(&error))?;
        let dict = PyDict::new(py);
        let design = data.features.as_design();
        dict.set_item("x", copied(py, design, &(0..design.n_features()).collect::<Vec<usize>>())?)?;
        dict.set_item("names", data.names.iter().map(std::borrow::Cow::into_owned).collect::<Vec<String>>())?;
        dict.set_item("target", data.target.as_ref().map(|target| classes(py, target)))?;
        dict.set_item("samples", data.samples.as_ref().map(|samples| &samples.values))?;
        let columns: Vec<(&String, &Vec<String>)> =
            data.apart.iter().map(|column| (&column.name, &column.values)).collect();
        dict.set_item("columns", columns)?;
        let notes = data.notes.iter().map(|note| (in_options(&note.to_string()), is_warning(note)));
        dict.set_item("notes", notes.collect::<Vec<(String, bool)>>())?;
        let made = |note: &Note| match note {
            Note::Dummies { column, made, values } => Some((column.clone(), made.clone(), values.clone())),
            _ => None,
        };
        dict.set_item("texts", data.notes.iter().filter_map(made).collect::<Vec<_>>())?;
        Ok(dict)
    })
}

/// The data set, with hints where it has classes to learn from. A matrix whose file says nothing of
/// classes has no target, if none was asked for.
fn read(path: &str, options: ReadOptions) -> Result<Dataset, DataError> {
    let asks = options.target.is_some() || options.labels.is_some() || !options.classes.is_empty();
    let mut data = match fewest_data::read(path, &options) {
        Err(error @ (DataError::Unsupported { .. } | DataError::UnknownColumn { .. }))
            if !asks && !options.target_optional =>
        {
            let other = fewest_data::read(path, &ReadOptions { target_optional: true, ..options.clone() });
            other
                .ok()
                .filter(|data| data.target.is_none() && (options.transpose || !data.format.is_table()))
                .ok_or(error)?
        }
        found => found?,
    };
    // Labels go to the caller, who says which is positive where that matters.
    data.notes.retain(|note| !matches!(note, Note::PositiveClass { .. }));
    if data.target.is_some() && !options.target_optional {
        data.notes.extend(fewest_data::hints(&data));
    }
    Ok(data)
}

/// Whether a column of text is not what its user may think.
fn is_warning(note: &Note) -> bool {
    matches!(note, Note::Dates { .. } | Note::ManyValues { .. } | Note::Unseen { known: true, .. })
}

/// What an option of the command is in Python, and what it takes.
enum Parameter {
    Is(&'static str),
    Text(&'static str),
    Number(&'static str),
    List(&'static str),
}

fn parameter(option: &str) -> Option<Parameter> {
    use Parameter::{Is, List, Number, Text};
    Some(match option {
        "transpose" => Is("transpose=True"),
        "drop-unlabelled" => Is("drop_unlabelled=True"),
        "unique-names" => Is("unique_names=True"),
        "zero-based" => Is("zero_based=True"),
        "log1p" => Is("log1p=True"),
        "normalize-total" => Number("normalize_total"),
        "header" => Is("header=True"),
        "no-header" => Is("header=False"),
        "target" => Text("target"),
        "labels" => Text("labels"),
        "by" => Text("by"),
        "id" => Text("id"),
        "format" => Text("format"),
        "delimiter" => Text("delimiter"),
        "comment" => Text("comment"),
        "decimal" => Text("decimal"),
        "thousands" => Text("thousands"),
        "layer" => Text("layer"),
        "index-limit" => Text("index_limit"),
        "memory" => Text("max_memory"),
        "drop" => List("drop"),
        "only" => List("only"),
        "text" => List("text"),
        "classes" => List("classes"),
        "missing-codes" => List("missing_codes"),
        _ => return None,
    })
}

/// A message of the readers, whose remedies are options of the command, with parameters in place of
/// these: `--drop 'a b'` is `drop=["a b"]`.
pub(crate) fn in_options(text: &str) -> String {
    let text = &text.replace(" (with --missing)", "");
    let (mut out, mut rest) = (String::new(), text.as_str());
    while let Some(at) = rest.find("--") {
        let name = &rest[at + 2..];
        let end =
            name.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')).unwrap_or(name.len());
        let begins = rest[..at].chars().next_back().is_none_or(|c| " (".contains(c));
        let Some(known) = parameter(&name[..end]).filter(|_| begins) else {
            out.push_str(&rest[..at + 2]);
            rest = name;
            continue;
        };
        out.push_str(&rest[..at]);
        rest = &name[end..];
        match known {
            Parameter::Is(said) => out.push_str(said),
            Parameter::Text(said) | Parameter::Number(said) | Parameter::List(said) => {
                out.push_str(said);
                if let Some((value, behind)) = value(rest) {
                    let list = matches!(known, Parameter::List(_));
                    let (open, close) = if list { ("[", "]") } else { ("", "") };
                    let number = matches!(known, Parameter::Number(_));
                    let value = if number { value } else { format!("{value:?}") };
                    out.extend(["=", open, &value, close]);
                    rest = behind;
                }
            }
        }
    }
    out + rest
}

/// The value that stands behind an option, as [`fewest_text::typed`] writes it, and what follows;
/// none where the sentence goes on.
fn value(rest: &str) -> Option<(String, &str)> {
    const WORDS: [&str; 10] = ["if", "or", "to", "is", "and", "with", "where", "FILE", "as", "else"];
    let rest = rest.strip_prefix(' ')?;
    if let Some(mut quoted) = rest.strip_prefix('\'') {
        let mut value = String::new();
        loop {
            let (part, behind) = quoted.split_once('\'')?;
            value.push_str(part);
            let Some(more) = behind.strip_prefix("\\''") else {
                // A name with a comma has quotes of its own.
                let inner = value.strip_prefix('"').and_then(|inner| inner.strip_suffix('"'));
                return Some((inner.map_or(value.clone(), str::to_owned), behind));
            };
            value.push('\'');
            quoted = more;
        }
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        let (value, behind) = quoted.split_once('"')?;
        return Some((value.to_owned(), behind));
    }
    let end = rest.find(|c: char| c.is_whitespace() || ",;)(:".contains(c)).unwrap_or(rest.len());
    let (value, behind) = rest.split_at(end);
    (!value.is_empty() && !WORDS.contains(&value)).then(|| (value.to_owned(), behind))
}

/// Positions of the names that a pattern means, as the command's rules have it; none where it is no pattern.
///
/// # Errors
/// `ValueError` for what is no regular expression.
#[pyfunction]
pub(crate) fn matching(names: Vec<String>, text: &str) -> PyResult<Option<Vec<usize>>> {
    fewest_data::matching(&fewest_data::Names::Listed(names), text)
        .map_err(|why| PyValueError::new_err(format!("{why}; correct the regular expression between the slashes")))
}
