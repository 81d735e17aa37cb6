//! `fewest.read_table`: the command's readers, and their texts in the words of Python.

use fewest_data::{DataError, Dataset, Note, ReadOptions, Remedy, Takes, Told as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copy::copied;
use crate::enter::{pool, sheltered};
use crate::file::{classes, raised};
use crate::settings;

/// What a caller wants besides what a user says of the file.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    /// Columns to set apart as text.
    columns: Vec<String>,
    memory: Option<u64>,
    target_optional: bool,
    /// Exactly these features, of text columns that have these values.
    features: Option<Vec<String>>,
    levels: Vec<(String, Vec<String>)>,
}

/// Reads a file: `reading` are settings of [`ReadOptions`], `wanted` those of [`Wanted`]; of a `frame`
/// in a file, remedies are those of pandas. A dictionary with `x` (as the engine takes it; NaN
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
    reading: &Bound<'py, PyAny>,
    wanted: &Bound<'py, PyAny>,
    frame: bool,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let Wanted { columns, memory, target_optional, features, levels } = settings(wanted)?;
        let options = ReadOptions {
            target_optional: target_optional || features.is_some(),
            memory_limit: memory,
            apart: columns,
            features,
            levels,
            missing: true,
            ..settings(reading)?
        };
        let word = if frame { in_pandas } else { parameter };
        let threads = pool(None)?;
        let data = py
            .detach(|| threads.install(|| read(&path, options)))
            .map_err(|error| if frame { PyValueError::new_err(error.in_words(word)) } else { raised(&error) })?;
        let dict = PyDict::new(py);
        let design = data.features.as_design();
        dict.set_item("x", copied(py, design, &(0..design.n_features()).collect::<Vec<usize>>())?)?;
        dict.set_item("names", data.names.iter().map(std::borrow::Cow::into_owned).collect::<Vec<String>>())?;
        dict.set_item("target", data.target.as_ref().map(|target| classes(py, target)))?;
        dict.set_item("samples", data.samples.as_ref().map(|samples| &samples.values))?;
        let columns: Vec<(&String, &Vec<String>)> =
            data.apart.iter().map(|column| (&column.name, &column.values)).collect();
        dict.set_item("columns", columns)?;
        let notes = data.notes.iter().map(|note| (note.in_words(word), is_warning(note)));
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

/// A setting as a parameter, with the value that is to be given: `drop=["a b"]`.
pub(crate) fn parameter(said: Remedy<'_>) -> String {
    let (name, value) = match said.setting {
        "header" => return "header=True".to_owned(),
        "no_header" => return "header=False".to_owned(),
        "memory" => ("max_memory", said.value),
        name => (name, said.value),
    };
    match (value, said.takes) {
        (_, Takes::Nothing) => format!("{name}=True"),
        (None, _) => name.to_owned(),
        (Some(value), Takes::Number) => format!("{name}={value}"),
        (Some(value), Takes::Text) => format!("{name}={value:?}"),
        (Some(value), Takes::Names) => format!("{name}=[{value:?}]"),
    }
}

/// A setting of a file as what pandas does to a frame X.
fn in_pandas(said: Remedy<'_>) -> String {
    match (said.setting, said.value) {
        ("drop", Some(column)) => format!("X.drop(columns=[{column:?}])"),
        ("text", Some(column)) => format!("X[{column:?}].astype(\"category\")"),
        ("missing_codes", Some(code)) => format!("X.replace({code:?}, float(\"nan\"))"),
        _ => parameter(said),
    }
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
