//! Markers of Python's data, and lists side by side: the library's, as one dictionary.

use std::time::Instant;

use fewest::Limits;
use fewest_data::Features;
use fewest_eval::markers::{MarkersSettings, compare as compare_of, markers as markers_of};
use fewest_eval::{Data, EvalError, scale_kind};
use fewest_result::{Asked, ComparisonContext, Document, Kind, MarkersContext};
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
        let asked = Given::new(x, &codes, &weights, classes, caller, groups.as_ref())?;
        let (found, course) = enter(py, &limits, listener, |limits, observer| {
            markers_of(&asked.data(), &wanted, &asked.names, &limits, observer).map_err(plain)
        })?;
        let context = MarkersContext {
            data: asked.caller.named(),
            settings: &wanted,
            gap: gap(&limits),
            node_limit: limits.nodes(),
        };
        let took = (asked.caller.command.as_str(), begun.elapsed().as_secs_f64());
        let said = context.markers(&found, asked.caller.about(&[]), context.asked(asked.asked(&wanted)), took);
        Ok((pythonize(py, &Document::new(Kind::Markers, said).value())?, course.interrupted))
    })
}

/// Lists of features side by side: names and, for each, its features, and the names that X does not have. The rest, and what is returned, is
/// as for [`markers`].
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, lists, given, caller, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    lists: (Vec<String>, Vec<Vec<usize>>, Vec<Vec<String>>),
    given: &Bound<'py, PyAny>,
    caller: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<(Bound<'py, PyAny>, bool)> {
    sheltered(|| {
        let begun = Instant::now();
        let (wanted, limits): (MarkersSettings, CallLimits) = (settings(given)?, settings(limits)?);
        let asked = Given::new(x, &codes, &weights, classes, caller, groups.as_ref())?;
        let (found, course) = enter(py, &limits, listener, |limits, observer| {
            compare_of(&asked.data(), &lists.1, &wanted, &asked.names, &limits, observer).map_err(plain)
        })?;
        let context = ComparisonContext {
            data: asked.caller.named(),
            lists: &lists.0,
            missing: &lists.2,
            settings: &wanted,
            gap: gap(&limits),
        };
        let took = (asked.caller.command.as_str(), begun.elapsed().as_secs_f64());
        let said = context.comparison(&found, asked.caller.about(&[]), context.asked(asked.asked(&wanted)), took);
        Ok((pythonize(py, &Document::new(Kind::Comparison, said).value())?, course.interrupted))
    })
}

/// Samples, and the caller.
struct Given<'a> {
    features: Features,
    caller: Caller,
    names: Vec<String>,
    weights: &'a [f64],
    groups: Option<&'a [u32]>,
}

impl<'a> Given<'a> {
    fn new(
        x: Columns<'_>,
        codes: &PyReadonlyArray1<'_, u32>,
        weights: &'a PyReadonlyArray1<'_, f64>,
        classes: Vec<String>,
        caller: &Bound<'_, PyAny>,
        groups: Option<&'a PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<Self> {
        let caller = Caller::new(caller, classes, numbers(codes)?)?;
        let names = caller.names.iter().map(Into::into).collect();
        let features = owned(&*x.design()?).map_err(raised)?;
        Ok(Self { features, caller, names, weights: numbers(weights)?, groups: groups.map(numbers).transpose()? })
    }

    fn data(&self) -> Data<'_> {
        Data { groups: self.groups, ..Data::new(&self.features, &self.caller.target, self.weights) }
    }

    fn asked(&self, wanted: &MarkersSettings) -> Asked {
        self.caller.asked(
            wanted.preparation.missing,
            scale_kind(wanted.preparation.scale, &self.features, wanted.preparation.centred),
        )
    }
}

fn gap(limits: &CallLimits) -> f64 {
    limits.gap().unwrap_or(Limits::default().gap_rel)
}

fn plain(error: EvalError) -> fewest::Error {
    match error {
        EvalError::Method(error) => error,
        other => fewest::Error::Data(other.to_string()),
    }
}
