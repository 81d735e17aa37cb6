//! Markers of Python's data: the library's, as one dictionary.

use std::time::Instant;

use fewest::Limits;
use fewest_eval::markers::{MarkersSettings, markers as markers_of};
use fewest_eval::{EvalError, scale_kind};
use fewest_result::{Document, Kind, MarkersContext};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::caller::Caller;
use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings};

/// The few features that tell all classes apart. `weights`: that of each sample, without class
/// weights; `classes`: their names; `given`: the fields of [`MarkersSettings`]; `caller`: what [`Caller`]
/// is made of; `groups`: that of each sample, where some stay together in folds. Returns what
/// `fewest markers --json` writes, and whether the run was interrupted.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, given, caller, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn markers<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    given: &Bound<'py, PyAny>,
    caller: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    sheltered(|| {
        let begun = Instant::now();
        let (wanted, limits): (MarkersSettings, CallLimits) = (settings(given)?, settings(limits)?);
        let caller = Caller::new(caller, classes, numbers(&codes)?)?;
        let names: Vec<String> = caller.names.iter().map(Into::into).collect();
        let features = owned(&*x.design()?).map_err(raised)?;
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data =
            fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &caller.target, numbers(&weights)?) };
        let (found, course) = enter(py, &limits, listener, |limits, observer| {
            markers_of(&data, &wanted, &names, &limits, observer).map_err(|error| match error {
                EvalError::Method(error) => error,
                other => fewest::Error::Data(other.to_string()),
            })
        })?;
        let (gap, node_limit) = (limits.gap().unwrap_or(Limits::default().gap_rel), limits.nodes());
        let asked = caller.asked(wanted.preparation.missing, scale_kind(wanted.preparation.scale, &features));
        let context = MarkersContext { data: caller.named(), settings: &wanted, gap, node_limit };
        let took = (caller.command.as_str(), begun.elapsed().as_secs_f64());
        let said = Document::new(Kind::Markers, context.markers(&found, caller.about(&[]), context.asked(asked), took));
        Ok((pythonize(py, &said.value())?, course.interrupted))
    })
}
