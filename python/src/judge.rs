//! What results of folds say: measures, intervals, tests, stability.

use fewest::validation::{Metrics, ShareLaw, corrected_t_test, measure_summary, stability as stability_of};
use fewest_data::{Target, stratified_halves};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Map, json};

use crate::enter::sheltered;
use crate::numbers;

/// Agreement of predicted classes and decision values (sample after sample, one for each pair of
/// classes, positive for the second; none: no `auc`) with the truth, by name; None where a measure
/// has no meaning.
///
/// # Errors
/// `ValueError` for lengths that do not fit, or a class that there is not.
#[pyfunction]
pub(crate) fn measures<'py>(
    py: Python<'py>,
    truth: PyReadonlyArray1<'py, u32>,
    predicted: PyReadonlyArray1<'py, u32>,
    decisions: PyReadonlyArray1<'py, f64>,
    n_classes: usize,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (truth, predicted, decisions) = (numbers(&truth)?, numbers(&predicted)?, numbers(&decisions)?);
        let pairs = n_classes * n_classes.saturating_sub(1) / 2;
        let known = |codes: &[u32]| codes.iter().all(|&code| (code as usize) < n_classes);
        let fit = truth.len() == predicted.len() && (decisions.is_empty() || decisions.len() == truth.len() * pairs);
        if truth.is_empty() || !fit || !known(truth) || !known(predicted) {
            return Err(PyValueError::new_err(format!(
                "{} classes, {} predictions and {} decision values do not fit together",
                truth.len(),
                predicted.len(),
                decisions.len()
            )));
        }
        let named = Metrics::new(truth, predicted, decisions, n_classes).named();
        let value: Map<_, _> = named.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        Ok(pythonize(py, &value)?)
    })
}

/// F1 of a selected set against the true one, both indices of features.
#[pyfunction]
pub(crate) fn set_f1(selected: Vec<usize>, truth: Vec<usize>) -> f64 {
    fewest::validation::set_f1(&selected, &truth)
}

/// Mean of a measure's values over folds, `se` and `ci95`; `test_share` is the size of the test part
/// over that of the training part, `judged` how many samples of each class were held out, each
/// counted once (empty: not known, for a measure that does not ask).
///
/// # Errors
/// `ValueError` without a value.
#[pyfunction]
pub(crate) fn summary<'py>(
    py: Python<'py>,
    measure: &str,
    values: PyReadonlyArray1<'py, f64>,
    test_share: f64,
    judged: Vec<f64>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let values = numbers(&values)?;
        if values.is_empty() {
            return Err(PyValueError::new_err("no value to summarise"));
        }
        Ok(pythonize(py, &measure_summary(measure, values, test_share, &judged))?)
    })
}

/// How alike subsets of `p` features are: `index` and `ci95`; None where that has no meaning.
///
/// # Errors
/// `ValueError` for a feature that there is not.
#[pyfunction]
pub(crate) fn stability(py: Python<'_>, subsets: Vec<Vec<usize>>, p: usize) -> PyResult<Bound<'_, PyAny>> {
    sheltered(|| {
        if let Some(j) = subsets.iter().flatten().find(|&&j| j >= p) {
            return Err(PyValueError::new_err(format!("feature {j} of {p}, counted from 0")));
        }
        Ok(pythonize(py, &stability_of(&subsets, p))?)
    })
}

/// One-sided test that the mean of differences by fold is above 0, corrected for training samples
/// that folds share (`test_share` as in [`summary`]): `t`, degrees of freedom and `p`; None where
/// all are the same.
#[pyfunction]
pub(crate) fn t_test<'py>(
    py: Python<'py>,
    differences: PyReadonlyArray1<'py, f64>,
    test_share: f64,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| Ok(pythonize(py, &corrected_t_test(numbers(&differences)?, test_share))?))
}

/// Pairs of halves of the samples, each stratified: pairs x 2 x half of the samples, ascending.
///
/// # Errors
/// `ValueError` for a class that there is not.
#[pyfunction]
pub(crate) fn halves(
    codes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    pairs: usize,
    seed: u64,
) -> PyResult<Vec<[Vec<usize>; 2]>> {
    sheltered(|| {
        let codes = numbers(&codes)?.to_vec();
        if codes.iter().any(|&code| code as usize >= n_classes) {
            return Err(PyValueError::new_err(format!("a class is not below {n_classes}")));
        }
        let target = Target { column: String::new(), classes: vec![String::new(); n_classes], codes };
        Ok(stratified_halves(&target, pairs, seed))
    })
}

/// The expected number of false features that at least `halves` of the 2 `pairs` halves select, at
/// most; a half selects `q` of `p`.
///
/// # Errors
/// `ValueError` for an unknown law.
#[pyfunction]
pub(crate) fn false_selections(law: &str, q: f64, p: usize, halves: usize, pairs: usize) -> PyResult<f64> {
    sheltered(|| Ok(share_law(law)?.false_selections(q, p, halves, pairs)))
}

/// The fewest of the 2 `pairs` halves that keep [`false_selections`] at or below `most`.
///
/// # Errors
/// `ValueError` for an unknown law.
#[pyfunction]
pub(crate) fn fewest_halves(law: &str, q: f64, p: usize, pairs: usize, most: f64) -> PyResult<Option<usize>> {
    sheltered(|| Ok(share_law(law)?.fewest_halves(q, p, pairs, most)))
}

fn share_law(name: &str) -> PyResult<ShareLaw> {
    let law = ShareLaw::ALL.into_iter().find(|law| law.name() == name);
    law.ok_or_else(|| PyValueError::new_err(format!("{name} is no law of shares")))
}
