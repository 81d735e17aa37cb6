//! `fewest._core`: the library behind the Python package. Thin: arrays and settings in, a
//! dictionary out. What an estimator is, names of features and labels of classes are Python's
//! business (`python/fewest`).

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

mod answer;
mod cost;
mod enter;
mod matrix;
mod proof;
mod shard;
mod study;
mod verify;

use std::ffi::OsString;

use fewest::method::certificate;
use fewest::method::exact::ExactSettings;
use fewest::method::rfe::splits::rfe_paths as rfe_paths_of;
use fewest::model::{self, FitSettings};
use fewest::validation::Split;
use fewest::{
    AnyMethod, Clock, Error, Gamma, KernelRule, Problem, RuleList, Rules, Run, Samples, Sense, Subset, SvmSettings,
};
use fewest_cli::resume::{DATA, fingerprint};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::depythonize;

use enter::{CallLimits, Files, enter, enter_keeping};
use matrix::Columns;

/// An error of the library as Python's.
fn raised(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Data(_) | Error::Rules(_) | Error::Setting { .. } => PyValueError::new_err(text),
        Error::Memory { .. } => PyMemoryError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// A dictionary of Python as settings.
fn settings<T: serde::de::DeserializeOwned>(dictionary: &Bound<'_, PyAny>) -> PyResult<T> {
    depythonize(dictionary).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// A length-n array of the caller.
fn numbers<'a, T: numpy::Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| PyValueError::new_err("an array is not contiguous"))
}

/// Labels -1 and +1 for classes 0 and 1.
fn labels(codes: &[u32]) -> Vec<f64> {
    codes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect()
}

/// Selects features. `x`: array, n x p, or (n, indptr, indices, data) of a CSC matrix; `codes`:
/// class of each sample (0, 1, ...); `weights`: length n; `rules`, `method` (its name and
/// settings), `limits`: dictionaries with the fields of [`RuleList`], [`AnyMethod`],
/// [`CallLimits`]; `listener`: called with each event, returns whether to stop; `proof`: where the
/// run's proof goes (`path`) and what it says of the run (`made`).
///
/// # Errors
/// `ValueError` for bad input, `MemoryError`, `RuntimeError` for a broken part, `OSError` for a
/// proof that cannot be written, and what `listener` raises.
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, method, limits, listener, proof=None))]
fn select<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    proof: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
        (settings(rules)?, settings(method)?, settings(limits)?);
    let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
    let proof = proof::asked(proof.as_ref())?;
    let resume = limits.resume(|| {
        let words = codes.iter().map(|&code| u64::from(code)).chain(weights.iter().map(|weight| weight.to_bits()));
        let mut run = serde_json::to_value(&method).expect("settings are numbers, lists and names");
        // How far a run may go changes nothing of what it finds.
        run.as_object_mut().map(|run| (run.remove("max_cuts"), run.remove("memory")));
        run["rules"] = serde_json::to_value(&rules).expect("rules are numbers and lists");
        run["gap"] = limits.gap().into();
        run[DATA] = fingerprint(design, words).into();
        run
    })?;
    let files = Files::new(method.info().name, resume, proof)?;
    let (report, course) = enter_keeping(py, &limits, listener, files, |limits, observer| {
        let rules = Rules::new(design.n_features(), rules, &[])?;
        method.select(&Samples::new(design, codes, Some(weights))?, &rules, limits, observer)
    })?;
    let written = proof::written(&course)?;
    let answer = answer::selected(py, &report, &course)?;
    answer.set_item("proof", written)?;
    Ok(answer)
}

/// gamma by a rule of [`Gamma`] for kernels of at most `most` features, sample i counting as
/// `counts[i]` samples.
///
/// # Errors
/// As [`select`]; `RuntimeError` when the time limit came first.
#[pyfunction]
fn gamma<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    rule: &Bound<'py, PyAny>,
    most: usize,
    limits: &Bound<'py, PyAny>,
) -> PyResult<f64> {
    let (rule, limits): (Gamma, CallLimits) = (settings(rule)?, settings(limits)?);
    let (design, counts) = (&*x.design()?, numbers(&counts)?);
    let (found, _) =
        enter(py, &limits, None, |limits, _| rule.number_within(design, Some(counts), most, &Clock::new(&limits)))?;
    found.ok_or_else(|| PyRuntimeError::new_err("gamma was not found in time; raise time_limit, or give a number"))
}

/// Raises what is wrong with rules, by the names of the features.
///
/// # Errors
/// `ValueError`.
#[pyfunction]
fn check_rules(rules: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<()> {
    let rules: RuleList = settings(rules)?;
    Rules::new(names.len(), rules, &names).map(drop).map_err(raised)
}

/// Trains a classifier on all columns of `x`: one machine for two classes, one for each pair for
/// more.
///
/// # Errors
/// As [`select`].
#[pyfunction]
fn train<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    kernel: &Bound<'py, PyAny>,
    svm: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let (kernel, svm, limits): (KernelRule, SvmSettings, CallLimits) =
        (settings(kernel)?, settings(svm)?, settings(limits)?);
    let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
    let (model, course) = enter(py, &limits, None, |limits, observer| {
        svm.check()?;
        let settings = FitSettings { svm, kernel: kernel.at(design.n_features()) };
        let features: Vec<usize> = (0..design.n_features()).collect();
        let rules = Rules::none(features.len());
        let run = Run::new(&rules, limits, Sense::Min, observer)?;
        model::fit(design, &features, codes, weights, &settings, &mut || run.stop())
    })?;
    answer::trained(py, &model, codes, weights, &course)
}

/// How far a subset is from the best of its size: `objective`, `bound`, `gap`, `best`, `status`;
/// `proof` as in [`select`].
///
/// # Errors
/// As [`select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, subset, svm, limits, proof=None))]
fn certify<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    subset: Vec<usize>,
    svm: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    proof: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let proof = proof::asked(proof.as_ref())?;
    let (rules, svm, limits): (RuleList, SvmSettings, CallLimits) =
        (settings(rules)?, settings(svm)?, settings(limits)?);
    let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
    let files = Files { resume: None, proof };
    let (certificate, course) = enter_keeping(py, &limits, None, files, |limits, observer| {
        let rules = Rules::new(design.n_features(), rules, &[])?;
        let problem = Problem::new(design, &labels(codes), Some(weights))?;
        let settings = ExactSettings { svm, ..ExactSettings::default() };
        let subset = Subset::from_indices(rules.p(), subset);
        certificate::certify(&problem, &rules, &subset, &settings, limits, observer)
    })?;
    let written = proof::written(&course)?;
    let dict = PyDict::new(py);
    dict.set_item("objective", certificate.objective)?;
    dict.set_item("bound", certificate.bound)?;
    dict.set_item("gap", certificate.gap())?;
    dict.set_item("best_objective", certificate.best.objective)?;
    dict.set_item("best", certificate.best.subset.iter().collect::<Vec<usize>>())?;
    dict.set_item("status", certificate.status.name())?;
    dict.set_item("elapsed", certificate.elapsed.as_secs_f64())?;
    dict.set_item("interrupted", course.interrupted)?;
    dict.set_item("proof", written)?;
    Ok(dict)
}

/// SVM-RFE on the training part of each split, judging its held-out samples at every size: a
/// dictionary for each split with `sizes`, `decisions` (sizes x held-out samples x machines,
/// positive for the second class of the pair) and what [`select`] tells of rankings.
///
/// # Errors
/// As [`select`].
#[pyfunction]
fn rfe_paths<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
        (settings(rules)?, settings(method)?, settings(limits)?);
    let AnyMethod::Rfe(settings) = method else {
        return Err(PyValueError::new_err(format!("paths are for rfe, not for {}", method.info().name)));
    };
    let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
    let splits: Vec<Split> = splits.into_iter().map(|(training, held_out)| Split { training, held_out }).collect();
    let (paths, course) = enter(py, &limits, listener, |limits, observer| {
        let rules = Rules::new(design.n_features(), rules, &[])?;
        let data = Samples::new(design, codes, Some(weights))?;
        rfe_paths_of(&data, &rules, &settings, &splits, limits, observer)
    })?;
    paths.iter().map(|path| answer::path(py, path, &course)).collect()
}

/// Runs the command `fewest`; returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| fewest_cli::run_with(arguments))
}

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(select, module)?)?;
    module.add_function(wrap_pyfunction!(gamma, module)?)?;
    module.add_function(wrap_pyfunction!(train, module)?)?;
    module.add_function(wrap_pyfunction!(check_rules, module)?)?;
    module.add_function(wrap_pyfunction!(certify, module)?)?;
    module.add_function(wrap_pyfunction!(cost::costs, module)?)?;
    module.add_function(wrap_pyfunction!(cost::choose_cost, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    module.add_function(wrap_pyfunction!(shard::select_from, module)?)?;
    module.add_class::<shard::Shard>()?;
    module.add_function(wrap_pyfunction!(rfe_paths, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)
}
