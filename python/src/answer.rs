//! What Python gets: dictionaries of numbers and arrays.

use fewest::method::rfe::splits::SplitPath;
use fewest::model::Model;
use fewest::{Kernel, KernelRule, Ranked, Report};
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use pythonize::pythonize;

use crate::enter::{Course, TraceRow};

/// What a method found: `support` (features chosen, ascending; none without a subset), `ranked`
/// (features, best first, of the methods that rank) with their `steps` and `criteria`, `objective`,
/// `bound`, `gap`, `status`, `elapsed`, `counts`, `solutions`, `model` (the method's own: `weights`
/// of the features chosen and `bias`), `kernel` and `cost` of the SVM on the subset, `penalty` of
/// each feature where it was to be found, `details`, `trace`, `interrupted`.
pub(crate) fn selected<'py>(py: Python<'py>, report: &Report, course: &Course) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let (outcome, ranking) = (&report.selection.outcome, &report.selection.ranking);
    let support = outcome.subset.as_ref().map(|subset| subset.iter().collect::<Vec<usize>>().into_pyarray(py));
    dict.set_item("support", support)?;
    let of = |f: &dyn Fn(&Ranked) -> i64| ranking.iter().map(f).collect::<Vec<i64>>().into_pyarray(py);
    dict.set_item("ranked", of(&|r| r.feature as i64))?;
    // -1: it is in the subset, or the method has no steps.
    dict.set_item("steps", of(&|r| r.step.map_or(-1, |step| step as i64)))?;
    dict.set_item("criteria", ranking.iter().map(|r| r.criterion).collect::<Vec<f64>>().into_pyarray(py))?;
    dict.set_item("objective", outcome.objective)?;
    dict.set_item("bound", outcome.bound)?;
    dict.set_item("baseline", outcome.yardstick.map(|yardstick| yardstick.baseline))?;
    dict.set_item("gap", outcome.gap())?;
    dict.set_item("objective_gap", outcome.objective_gap())?;
    dict.set_item("status", outcome.status.name())?;
    dict.set_item("elapsed", outcome.elapsed.as_secs_f64())?;
    dict.set_item("counts", pythonize(py, &outcome.counts)?)?;
    let solutions = report.selection.solutions.iter().map(|s| (s.subset.iter().collect(), s.objective));
    dict.set_item("solutions", solutions.collect::<Vec<(Vec<usize>, f64)>>())?;
    let own = report.model.as_ref().filter(|model| model.n_classes == 2);
    dict.set_item("model", own.map(|model| own_machine(py, model)).transpose()?)?;
    dict.set_item("kernel", pythonize(py, &KernelRule::from(report.kernel))?)?;
    dict.set_item("cost", report.cost)?;
    dict.set_item("penalty", report.penalty)?;
    dict.set_item("details", pythonize(py, &report.details)?)?;
    add_course(&dict, course)?;
    Ok(dict)
}

/// The method's own machine, for two classes.
fn own_machine<'py>(py: Python<'py>, model: &Model) -> PyResult<Bound<'py, PyDict>> {
    let (dict, machine) = (PyDict::new(py), &model.machines[0]);
    dict.set_item("weights", machine.weights.clone().into_pyarray(py))?;
    dict.set_item("bias", machine.bias)?;
    Ok(dict)
}

/// One split's elimination.
pub(crate) fn path<'py>(py: Python<'py>, path: &SplitPath, course: &Course) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let machines = (path.n_classes * (path.n_classes - 1) / 2) as usize;
    let held_out = path.decisions.len() / (path.sizes.len() * machines).max(1);
    let decisions = path.decisions.clone().into_pyarray(py);
    dict.set_item("decisions", decisions.reshape([path.sizes.len(), held_out, machines])?)?;
    dict.set_item("sizes", path.sizes.clone().into_pyarray(py))?;
    let ranked: Vec<usize> = path.selection.ranking.iter().map(|r| r.feature).collect();
    dict.set_item("ranked", ranked.into_pyarray(py))?;
    dict.set_item("status", path.selection.outcome.status.name())?;
    dict.set_item("interrupted", course.interrupted)?;
    Ok(dict)
}

/// `trace` and `interrupted`.
fn add_course(dict: &Bound<'_, PyDict>, course: &Course) -> PyResult<()> {
    let py = dict.py();
    let trace = PyDict::new(py);
    let numbers = |f: &dyn Fn(&TraceRow) -> f64| course.trace.iter().map(f).collect::<Vec<f64>>().into_pyarray(py);
    trace.set_item("time", numbers(&|row| row.seconds))?;
    trace.set_item("objective", numbers(&|row| row.objective.unwrap_or(f64::NAN)))?;
    trace.set_item("n_features", numbers(&|row| row.n_features.map_or(f64::NAN, |size| size as f64)))?;
    trace.set_item("bound", numbers(&|row| row.bound.unwrap_or(f64::NAN)))?;
    dict.set_item("trace", trace)?;
    dict.set_item("interrupted", course.interrupted)
}

/// A trained classifier: `coef` (machines x p; none for a kernel), `dual_coef` (machines x support
/// vectors, signed), `support` (their samples), `intercept`, and how the trainings ended.
pub(crate) fn trained<'py>(
    py: Python<'py>,
    model: &Model,
    codes: &[u32],
    weights: &[f64],
    course: &Course,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let machines = &model.machines;
    // beta by sample of the data, for each machine.
    let beta: Vec<Vec<(usize, f64)>> = machines
        .iter()
        .map(|machine| {
            let pair = |i: &usize| [machine.negative, machine.positive].contains(&codes[*i]) && weights[*i] > 0.0;
            let samples = (0..codes.len()).filter(pair);
            samples.zip(machine.solution.beta.iter().copied()).filter(|(_, b)| *b != 0.0).collect()
        })
        .collect();
    let mut support: Vec<usize> = beta.iter().flatten().map(|(i, _)| *i).collect();
    support.sort_unstable();
    support.dedup();
    let rows = beta.iter().map(|betas| {
        let mut row = vec![0.0; support.len()];
        for (i, b) in betas {
            row[support.binary_search(i).expect("listed above")] = *b;
        }
        row
    });
    dict.set_item("dual_coef", PyArray2::from_vec2(py, &rows.collect::<Vec<_>>())?)?;
    dict.set_item("support", support.into_pyarray(py))?;
    if model.kernel == Kernel::Linear {
        let coef: Vec<Vec<f64>> = machines.iter().map(|machine| machine.weights.clone()).collect();
        dict.set_item("coef", PyArray2::from_vec2(py, &coef)?)?;
    } else {
        dict.set_item("coef", py.None())?;
    }
    dict.set_item("intercept", machines.iter().map(|m| m.bias).collect::<Vec<f64>>().into_pyarray(py))?;
    dict.set_item("objective", machines.iter().map(|m| m.solution.primal).sum::<f64>())?;
    dict.set_item("gap", machines.iter().map(|m| m.solution.gap()).fold(0.0, f64::max))?;
    let iterations: Vec<i64> = machines.iter().map(|machine| machine.solution.iterations as i64).collect();
    dict.set_item("iterations", iterations.into_pyarray(py))?;
    dict.set_item("kernel", pythonize(py, &KernelRule::from(model.kernel))?)?;
    // Passes run out (Stalled) as well as limits: what the worst machine says.
    let status = machines.iter().map(|m| m.solution.status).find(|s| *s != fewest::Status::Optimal);
    dict.set_item("status", status.unwrap_or(fewest::Status::Optimal).name())?;
    add_course(&dict, course)?;
    Ok(dict)
}
