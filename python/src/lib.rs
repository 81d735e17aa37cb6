//! `fewest._core`: the library behind the Python package. Thin: arrays and settings in, a
//! dictionary out. What an estimator is, names of features and labels of classes are Python's
//! business (`python/fewest`).

#![expect(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

mod answer;
mod caller;
mod certify;
mod copy;
mod cost;
mod dump;
mod enter;
mod file;
mod generate;
mod judge;
mod knockoffs;
mod markers;
mod matrix;
mod path;
mod prepare;
mod proof;
mod read;
mod shard;
mod study;
mod table;
mod verify;

use std::ffi::OsString;
use std::sync::Arc;

use fewest::kernel::Distances;
use fewest::method::rfe::splits::{SplitParts, rfe_paths_of};
use fewest::model::{self, FitSettings};
use fewest::validation::Split;
use fewest::{
    Clock, Design, Error, Gamma, Kernel, KernelRule, RowMatrix, RuleList, Rules, Run, Samples, Sense, SvmSettings,
};
use fewest_data::{DataError, Told as _};
use fewest_papers::AnyMethod;
use fewest_papers::gbd::Validation;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pythonize::depythonize;

use enter::{CallLimits, Files, enter, enter_keeping, sheltered};
use matrix::Columns;
use prepare::Preparation;

/// A message of the library, whose settings are parameters here.
fn in_python(text: &str) -> String {
    fewest::in_words(text, |name| {
        let parameter = match name {
            "memory" => "fewest.set_memory",
            "max_cuts" => "max_iter",
            "max_features" => "n_features_to_select",
            "validation" => "X_val and validation_fraction",
            "forbid" => "Rules(forbid=)",
            "signs" => "Rules(signs=)",
            "weight_bounds" => "Rules(bounds=)",
            other => other,
        };
        parameter.to_owned()
    })
}

/// A message about a file, or data in place of one, that says by what more memory is allowed.
fn of_data(error: &DataError, allow: &str) -> String {
    match error {
        DataError::Memory { file, what, needed, allowed, .. } => {
            format!("{file}: {what} needs {needed} bytes, but only {allowed} are allowed; allow more with {allow}")
        }
        DataError::Design(error) => in_python(&error.to_string()),
        other => other.in_words(read::parameter),
    }
}

/// An error of the library as Python's.
fn raised(error: Error) -> PyErr {
    let text = match &error {
        // Its parameter has another name here.
        Error::Setting { name: "penalty", value, range } => format!("feature_penalty is {value}, but must be {range}"),
        Error::Setting { name: "max_features", value, range } => {
            format!("`max_features` is {value}, but must be {range}")
        }
        other => other.to_string(),
    };
    let text = in_python(&text);
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

/// Samples, of tasks where there are.
fn samples_of<'a>(
    design: &'a dyn Design,
    codes: &[u32],
    weights: &[f64],
    tasks: Option<&[u32]>,
) -> Result<Samples<'a>, Error> {
    let samples = Samples::new(design, codes, Some(weights))?;
    match tasks {
        None => Ok(samples),
        Some(tasks) => samples.with_tasks(tasks),
    }
}

/// Samples that classifiers are judged by and not trained on: matrix, classes, and after how many
/// subsets in a row without a smaller error the search ends.
type HeldOut<'py> = (Columns<'py>, PyReadonlyArray1<'py, u32>, Option<u64>);

/// Selects features. `x`: array, n x p, (n, indptr, indices, data) of a CSC matrix, or a column
/// file; `codes`: class of each sample (0, 1, ...); `weights`: length n; `rules`, `method` (its
/// name and settings), `limits`: dictionaries with the fields of [`RuleList`], [`AnyMethod`],
/// [`CallLimits`]; `listener`: called with each event, returns whether to stop; `proof`: where the
/// run's proof goes (`path`) and what it says of the run (`made`); `held_out`: of gbd; `tasks`: the
/// task of each sample (0, 1, ...).
///
/// # Errors
/// `ValueError` for bad input, `MemoryError`, `RuntimeError` for a broken part, `OSError` for a
/// proof that cannot be written, and what `listener` raises.
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, method, limits, listener, proof=None, held_out=None, tasks=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
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
    held_out: Option<HeldOut<'py>>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let (rules, mut method, limits): (RuleList, AnyMethod, CallLimits) =
            (settings(rules)?, settings(method)?, settings(limits)?);
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let tasks = tasks.as_ref().map(numbers).transpose()?;
        judged_by(&mut method, held_out)?;
        let proof = proof::asked(proof.as_ref())?;
        let resume = limits.resume(|| path::description(&method, &rules, &limits, (design, codes, weights, tasks)))?;
        let files = Files::new(resume, proof);
        let (report, course) = enter_keeping(py, &limits, listener, files, |limits, observer| {
            let rules = Rules::new(design.n_features(), rules, &[])?;
            let samples = samples_of(design, codes, weights, tasks)?;
            method.select(&samples, &rules, limits, observer)
        })?;
        let written = proof::written(&course)?;
        let answer = answer::selected(py, &report, &course)?;
        answer.set_item("proof", written)?;
        Ok(answer)
    })
}

/// Gives gbd the samples that it judges its classifiers by.
fn judged_by(method: &mut AnyMethod, held_out: Option<HeldOut<'_>>) -> PyResult<()> {
    let Some((matrix, codes, patience)) = held_out else { return Ok(()) };
    let AnyMethod::Gbd(gbd) = method else {
        let text = format!("samples to judge by are for gbd, not for {}", method.info().name);
        return Err(PyValueError::new_err(text));
    };
    let design = Arc::from(matrix::owned(&*matrix.design()?).map_err(raised)?.into_design());
    gbd.validation = Some(Validation { design, labels: labels(numbers(&codes)?), patience });
    Ok(())
}

/// gamma by a rule of [`Gamma`] for a kernel (a dictionary with the fields of [`KernelRule`]) of at
/// most `most` features, of which some are categorical, sample i counting as `counts[i]` samples.
///
/// # Errors
/// As [`select`]; `RuntimeError` when the time limit came first.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn gamma<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    counts: PyReadonlyArray1<'py, f64>,
    rule: &Bound<'py, PyAny>,
    most: usize,
    kernel: &Bound<'py, PyAny>,
    categorical: Vec<usize>,
    limits: &Bound<'py, PyAny>,
) -> PyResult<f64> {
    sheltered(|| {
        let (rule, limits): (Gamma, CallLimits) = (settings(rule)?, settings(limits)?);
        let (design, counts) = (&*x.design()?, numbers(&counts)?);
        let distances = Distances::new(settings::<KernelRule>(kernel)?.kernel(), &categorical);
        let (found, _) = enter(py, &limits, None, |limits, _| {
            rule.number_within(design, Some(counts), most, &distances, &Clock::new(&limits))
        })?;
        found.ok_or_else(|| PyRuntimeError::new_err("gamma was not found in time; raise time_limit, or give a number"))
    })
}

/// Raises what is wrong with rules, by the names of the features.
///
/// # Errors
/// `ValueError`.
#[pyfunction]
fn check_rules(rules: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<()> {
    sheltered(|| {
        let rules: RuleList = settings(rules)?;
        Rules::new(names.len(), rules, &names).map(drop).map_err(raised)
    })
}

/// Trains a classifier on all columns of `x`: one machine for two classes, one for each pair for
/// more. `bounds`: a list of dictionaries with the fields of [`fewest::WeightBound`]. `kernel`: a
/// dictionary with the fields of [`KernelRule`], or "precomputed" where `x` holds the kernel's
/// values, n x n. `categorical`: the columns that hold categories.
///
/// # Errors
/// As [`select`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn train<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    kernel: &Bound<'py, PyAny>,
    svm: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    bounds: &Bound<'py, PyAny>,
    categorical: Vec<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let (svm, limits): (SvmSettings, CallLimits) = (settings(svm)?, settings(limits)?);
        let bounds = RuleList { weights: settings(bounds)?, ..RuleList::default() };
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let kernel = trained_kernel(kernel, design.n_features())?;
        let (model, course) = enter(py, &limits, None, |limits, observer| {
            svm.check()?;
            let features: Vec<usize> = (0..design.n_features()).collect();
            let rules = Rules::new(features.len(), bounds, &[])?;
            let settings = FitSettings { svm, kernel, categorical, weight_bounds: rules.weight_bounds().clone() };
            let run = Run::bounded(&rules, limits, Sense::Min, observer)?;
            let what = || format!("training on {} samples and {} features", codes.len(), features.len());
            let bytes = RowMatrix::bytes(design, features.len());
            let _rows = run.memory().reserve(bytes, what, "use fewer features")?;
            model::fit(design, &features, codes, weights, &settings, &run.counted_clock())
        })?;
        answer::trained(py, &model, codes, weights, &course)
    })
}

/// A kernel of `p` features, or "precomputed" in place of a dictionary.
fn trained_kernel(kernel: &Bound<'_, PyAny>, p: usize) -> PyResult<Kernel> {
    match kernel.cast::<PyString>() {
        Ok(name) if name == "precomputed" => Ok(Kernel::Precomputed),
        _ => Ok(settings::<KernelRule>(kernel)?.at(p)),
    }
}

/// SVM-RFE on the training part of each split, judging its held-out samples at every size: a
/// dictionary for each split with `sizes`, `decisions` (sizes x held-out samples x machines,
/// positive for the second class of the pair) and what [`select`] tells of rankings.
/// `split_weights`: the weight of each sample in the training part of each split; none for
/// `weights`. `raw`: samples, how many each counts as, and how they are prepared in each split, by its training part; none:
/// `x` is what is trained on.
///
/// # Errors
/// As [`select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, method, splits, split_weights, limits, listener, raw=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
fn rfe_paths<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    splits: Vec<(Vec<usize>, Vec<usize>)>,
    split_weights: Option<Vec<PyReadonlyArray1<'py, f64>>>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    raw: Option<(Columns<'py>, PyReadonlyArray1<'py, f64>, Bound<'py, PyAny>)>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    sheltered(|| {
        let (rules, method, limits): (RuleList, AnyMethod, CallLimits) =
            (settings(rules)?, settings(method)?, settings(limits)?);
        let raw: Option<(_, _, Preparation)> = raw
            .as_ref()
            .map(|(x, weights, how)| PyResult::Ok((x.design()?, numbers(weights)?, crate::settings(how)?)))
            .transpose()?;
        let AnyMethod::Rfe(settings) = method else {
            return Err(PyValueError::new_err(format!("paths are for rfe, not for {}", method.info().name)));
        };
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let splits: Vec<Split> = splits.into_iter().map(|(training, held_out)| Split { training, held_out }).collect();
        let of_splits: Vec<&[f64]> = match &split_weights {
            None => vec![weights; splits.len()],
            Some(each) => each.iter().map(numbers).collect::<PyResult<_>>()?,
        };
        let (paths, course) = enter(py, &limits, listener, |limits, observer| {
            let rules = Rules::new(design.n_features(), rules, &[])?;
            let data = Samples::new(design, codes, Some(weights))?;
            let parts = raw.as_ref().map(|(design, weights, how)| {
                |training: &[usize], held_out: &[usize]| how.parts(&**design, weights, training, held_out)
            });
            let parts = SplitParts { splits: &splits, weights: &of_splits, parts: parts.as_ref().map(|p| p as _) };
            rfe_paths_of(&data, &rules, &settings, parts, limits, observer)
        })?;
        paths.iter().map(|path| answer::path(py, path, &course)).collect()
    })
}

/// Runs the command `fewest`; returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    sheltered(|| Ok(py.detach(|| fewest_cli::run_with(arguments))))
}

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(select, module)?)?;
    module.add_function(wrap_pyfunction!(gamma, module)?)?;
    module.add_function(wrap_pyfunction!(train, module)?)?;
    module.add_function(wrap_pyfunction!(check_rules, module)?)?;
    module.add_function(wrap_pyfunction!(certify::certify, module)?)?;
    module.add_function(wrap_pyfunction!(certify::certify_list, module)?)?;
    module.add_function(wrap_pyfunction!(certify::broken_rules, module)?)?;
    module.add_function(wrap_pyfunction!(cost::choose_cost, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    module.add_function(wrap_pyfunction!(markers::markers, module)?)?;
    module.add_function(wrap_pyfunction!(markers::compare, module)?)?;
    module.add_function(wrap_pyfunction!(table::table, module)?)?;
    module.add_function(wrap_pyfunction!(table::page, module)?)?;
    module.add_function(wrap_pyfunction!(table::panel_table, module)?)?;
    module.add_function(wrap_pyfunction!(verify::verify, module)?)?;
    module.add_function(wrap_pyfunction!(shard::select_from, module)?)?;
    module.add_class::<shard::Shard>()?;
    module.add_function(wrap_pyfunction!(file::column_outline, module)?)?;
    module.add_function(wrap_pyfunction!(file::joined_sums, module)?)?;
    module.add_function(wrap_pyfunction!(read::read_table, module)?)?;
    module.add_class::<file::ColumnFile>()?;
    module.add_function(wrap_pyfunction!(dump::write_columns, module)?)?;
    module.add_function(wrap_pyfunction!(generate::generate, module)?)?;
    module.add_function(wrap_pyfunction!(judge::class_probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(judge::measures, module)?)?;
    module.add_function(wrap_pyfunction!(judge::set_f1, module)?)?;
    module.add_function(wrap_pyfunction!(judge::summaries, module)?)?;
    module.add_function(wrap_pyfunction!(judge::summary, module)?)?;
    module.add_function(wrap_pyfunction!(judge::subset_stability, module)?)?;
    module.add_function(wrap_pyfunction!(judge::t_test, module)?)?;
    module.add_function(wrap_pyfunction!(judge::folds, module)?)?;
    module.add_function(wrap_pyfunction!(judge::halves, module)?)?;
    module.add_function(wrap_pyfunction!(judge::candidates, module)?)?;
    module.add_function(wrap_pyfunction!(read::matching, module)?)?;
    module.add_function(wrap_pyfunction!(judge::stability_selection, module)?)?;
    module.add_class::<knockoffs::Knockoffs>()?;
    module.add_function(wrap_pyfunction!(knockoffs::knockoff_selection, module)?)?;
    module.add_function(wrap_pyfunction!(path::path, module)?)?;
    module.add_function(wrap_pyfunction!(path::write_program, module)?)?;
    module.add_function(wrap_pyfunction!(rfe_paths, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::preparation, module)?)?;
    module.add_function(wrap_pyfunction!(prepare::range_scaling, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)
}
