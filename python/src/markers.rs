//! Markers of Python's data: the library's, as one dictionary.

use fewest::WeightBounds;
use fewest_data::{Names, Target};
use fewest_eval::EvalError;
use fewest_eval::markers::{MarkersSettings, markers as markers_of};
use fewest_result::RulesAsked;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Value, json};

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings};

/// The few features that tell all classes apart. `weights`: that of each sample, without class
/// weights; `classes`, `names`: of the classes and the features; `given`: the fields of
/// [`MarkersSettings`]; `groups`: that of each sample, where some stay together in folds. Returns what
/// `fewest markers --json` writes of the result, `rules` as its settings have them, and `interrupted`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, names, given, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn markers<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    names: Vec<String>,
    given: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (wanted, limits): (MarkersSettings, CallLimits) = (settings(given)?, settings(limits)?);
        let target = Target { column: "y".to_owned(), classes, codes: numbers(&codes)?.to_vec() };
        let features = owned(&*x.design()?).map_err(raised)?;
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data = fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &target, numbers(&weights)?) };
        let (report, course) = enter(py, &limits, listener, |limits, observer| {
            markers_of(&data, &wanted, &names, &limits, observer).map_err(|error| match error {
                EvalError::Method(error) => error,
                other => fewest::Error::Data(other.to_string()),
            })
        })?;
        let mut value = report.value(&wanted, &names, &target.classes);
        value.insert("interrupted".to_owned(), json!(course.interrupted));
        let rules = RulesAsked::new(&wanted.rules, &WeightBounds::default(), &Names::Listed(names));
        value.insert("rules".to_owned(), json!(rules));
        Ok(pythonize(py, &Value::Object(value))?)
    })
}
