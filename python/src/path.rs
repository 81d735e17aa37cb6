//! A method's results for several sizes, and its program as a file.

use std::path::PathBuf;

use fewest::{Design, RuleList, Rules, Samples};
use fewest_cli::resume::{DATA, fingerprint};
use fewest_papers::AnyMethod;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::enter::{CallLimits, Files, enter, enter_keeping, sheltered};
use crate::matrix::Columns;
use crate::{answer, numbers, samples_of, settings};

/// What a run is, by which the file of its states is known again.
pub(crate) fn description(
    method: &AnyMethod,
    rules: &RuleList,
    limits: &CallLimits,
    (design, codes, weights, tasks): (&dyn Design, &[u32], &[f64], Option<&[u32]>),
) -> serde_json::Value {
    let codes = codes.iter().chain(tasks.into_iter().flatten()).map(|&code| u64::from(code));
    let words = codes.chain(weights.iter().map(|weight| weight.to_bits()));
    let mut run = serde_json::to_value(method).expect("settings are numbers, lists and names");
    // How far a run may go changes nothing of what it finds.
    run.as_object_mut().map(|run| (run.remove("max_cuts"), run.remove("memory")));
    run["rules"] = serde_json::to_value(rules).expect("rules are numbers and lists");
    run["gap"] = limits.gap().into();
    run[DATA] = fingerprint(design, words).into();
    run
}

/// As [`crate::select`] for each of several sizes, ascending: a dictionary for each, with the size
/// as `max_features`. The time is for all of them. `tasks` as there.
///
/// # Errors
/// As [`crate::select`], and sizes that do not ascend from 1 to p.
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, method, sizes, limits, listener, tasks=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn path<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    sizes: Vec<usize>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    sheltered(|| {
        let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
            (settings(rules)?, settings(method)?, settings(limits)?);
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let tasks = tasks.as_ref().map(numbers).transpose()?;
        let resume = limits.resume(|| {
            let mut run = description(&method, &rules, &limits, (design, codes, weights, tasks));
            run["sizes"] = sizes.clone().into();
            run
        })?;
        let (reports, course) =
            enter_keeping(py, &limits, listener, Files { resume, proof: None }, |limits, observer| {
                let rules = Rules::new(design.n_features(), rules, &[])?;
                method.path(&samples_of(design, codes, weights, tasks)?, &rules, &sizes, &limits, observer)
            })?;
        let answer = |found: &fewest::method::path::SizeReport| {
            let dict = answer::selected(py, &found.report, &course)?;
            dict.set_item("max_features", found.max_features)?;
            Ok(dict)
        };
        reports.iter().map(answer).collect()
    })
}

/// Writes the mixed-integer program of a method to a file that ends in .mps or .lp.
///
/// # Errors
/// As [`crate::select`], and a method that is no mixed-integer program.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn write_program<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    path: PathBuf,
    limits: &Bound<'py, PyAny>,
) -> PyResult<()> {
    sheltered(|| {
        let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
            (settings(rules)?, settings(method)?, settings(limits)?);
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        enter(py, &limits, None, |_, _| {
            let rules = Rules::new(design.n_features(), rules, &[])?;
            method.write_program(&Samples::new(design, codes, Some(weights))?, &rules, &path)
        })?;
        Ok(())
    })
}
