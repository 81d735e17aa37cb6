//! What results of folds say: measures, intervals, tests, stability.

use fewest::RuleList;
use fewest::validation::{
    FoldMetrics, Metrics, ShareLaw, corrected_t_test, measure_summary, recalls_of, stability as stability_of,
    summaries_of,
};
use fewest_data::Target;
use fewest_eval::folds::{halves as halves_of, strata, stratified};
use fewest_eval::stability::{Candidates, StabilityReport, StabilitySettings};
use fewest_eval::study::Probabilities;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Map, json};

use crate::enter::sheltered;
use crate::{numbers, raised, settings};

/// Probability of each class, sample after sample, from decision values (one for each pair of
/// classes, positive for the second) and a calibration as a model file has it.
///
/// # Errors
/// `ValueError` for what is no calibration, or values that do not fit it.
#[pyfunction]
pub(crate) fn class_probabilities<'py>(
    py: Python<'py>,
    calibration: &Bound<'py, PyAny>,
    decisions: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    sheltered(|| {
        let known: Probabilities = pythonize::depythonize(calibration)?;
        let decisions = numbers(&decisions)?;
        if known.pairs() == 0 || !decisions.len().is_multiple_of(known.pairs()) {
            let text = format!("{} decision values do not fit {} pairs of classes", decisions.len(), known.pairs());
            return Err(PyValueError::new_err(text));
        }
        Ok(known.of_each(decisions).concat().into_pyarray(py))
    })
}

/// Agreement of predicted classes and decision values (sample after sample, one for each pair of
/// classes, positive for the second; none: no `auc`) with the truth, by name; None where a measure
/// has no meaning.
///
/// # Errors
/// `ValueError` for lengths that do not fit, or an unknown class.
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

/// Mean of a measure's values over folds, `se` and `ci95`; `test_share` is the size of the test
/// part over that of the training part, `judged` how many samples of each class were held out, each
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

/// Mean of each measure over splits, `se` and `ci95` by name (`summary`), and of the share of each
/// class that is classified right (`recall`): from the measures of each split, its samples by true
/// (rows) and predicted class, and how often a sample was held out on average.
///
/// # Errors
/// `ValueError` for measures and counts that do not fit together.
#[pyfunction]
pub(crate) fn summaries<'py>(
    py: Python<'py>,
    measures: &Bound<'py, PyAny>,
    confusions: Vec<Vec<Vec<u64>>>,
    times: f64,
    test_share: f64,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let measures: Vec<Metrics> = pythonize::depythonize(measures)?;
        let classes = confusions.first().map_or(0, Vec::len);
        let square = |of: &Vec<Vec<u64>>| of.len() == classes && of.iter().all(|row| row.len() == classes);
        if measures.is_empty() || measures.len() != confusions.len() || !confusions.iter().all(square) {
            let text = format!("measures of {} splits and counts of {} do not fit", measures.len(), confusions.len());
            return Err(PyValueError::new_err(text));
        }
        let fold = |(metrics, confusion)| FoldMetrics { repeat: 0, metrics, confusion };
        let folds: Vec<FoldMetrics<'_>> = measures.iter().zip(confusions.iter().map(Vec::as_slice)).map(fold).collect();
        let summary: Map<_, _> = summaries_of(&folds, times, test_share)
            .into_iter()
            .map(|(name, of)| (name.to_owned(), json!(of)))
            .collect();
        Ok(pythonize(py, &json!({ "summary": summary, "recall": recalls_of(&folds, times, test_share) }))?)
    })
}

/// How alike subsets of `p` features are: `index` and `ci95`; None where that has no meaning.
///
/// # Errors
/// `ValueError` for an unknown feature.
#[pyfunction]
pub(crate) fn subset_stability(py: Python<'_>, subsets: Vec<Vec<usize>>, p: usize) -> PyResult<Bound<'_, PyAny>> {
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

/// Classes by number, as folds and halves are dealt by them.
///
/// # Errors
/// `ValueError` for an unknown class.
fn target(codes: &PyReadonlyArray1<'_, u32>, n_classes: usize) -> PyResult<Target> {
    let codes = numbers(codes)?.to_vec();
    if codes.iter().any(|&code| code as usize >= n_classes) {
        return Err(PyValueError::new_err(format!("a class is not below {n_classes}")));
    }
    Ok(Target { column: String::new(), classes: vec![String::new(); n_classes], codes })
}

/// `count` stratified folds, dealt `repeats` times: of each the samples held out, ascending. With
/// tasks each task is dealt on its own; samples whose `groups` are the same are in one fold.
///
/// # Errors
/// `ValueError` for an unknown class, more folds than samples or groups.
#[pyfunction]
#[pyo3(signature = (codes, n_classes, count, repeats, seed, tasks=None, groups=None))]
pub(crate) fn folds(
    codes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    count: usize,
    repeats: usize,
    seed: u64,
    tasks: Option<Vec<String>>,
    groups: Option<PyReadonlyArray1<'_, u32>>,
) -> PyResult<Vec<Vec<usize>>> {
    sheltered(|| {
        let (target, groups) = (target(&codes, n_classes)?, of_each(groups.as_ref(), &codes)?);
        let folds = stratified(&strata(&target, tasks.as_deref()), groups, count, repeats, seed);
        let folds = folds.map_err(|error| raised(error.into()))?;
        Ok(folds.into_iter().map(|fold| fold.test).collect())
    })
}

/// The groups, one for each sample.
///
/// # Errors
/// `ValueError` for another number of them.
fn of_each<'a>(
    groups: Option<&'a PyReadonlyArray1<'_, u32>>,
    codes: &PyReadonlyArray1<'_, u32>,
) -> PyResult<Option<&'a [u32]>> {
    let groups = groups.map(numbers).transpose()?;
    match groups {
        Some(groups) if groups.len() != numbers(codes)?.len() => {
            Err(PyValueError::new_err(format!("{} groups; give one for each sample", groups.len())))
        }
        groups => Ok(groups),
    }
}

/// Pairs of halves of the samples, each stratified: pairs x 2 x half of the samples, ascending.
/// Samples whose `groups` are the same are in one half.
///
/// # Errors
/// `ValueError` for an unknown class, groups that leave a half without a class.
#[pyfunction]
#[pyo3(signature = (codes, n_classes, pairs, seed, groups=None))]
pub(crate) fn halves(
    codes: PyReadonlyArray1<'_, u32>,
    n_classes: usize,
    pairs: usize,
    seed: u64,
    groups: Option<PyReadonlyArray1<'_, u32>>,
) -> PyResult<Vec<[Vec<usize>; 2]>> {
    sheltered(|| {
        let (target, groups) = (target(&codes, n_classes)?, of_each(groups.as_ref(), &codes)?);
        halves_of(&target, groups, pairs, seed).map_err(|error| raised(error.into()))
    })
}

/// Candidates under rules on `p` features: how many can be selected where these have one value
/// only, and the most that the rules allow, none where they are not `sized`.
///
/// # Errors
/// `ValueError` for rules that contradict each other.
#[pyfunction]
pub(crate) fn candidates(
    rules: &Bound<'_, PyAny>,
    p: usize,
    constant: Vec<usize>,
    sized: bool,
) -> PyResult<(usize, Option<usize>)> {
    sheltered(|| {
        let mut list: RuleList = settings(rules)?;
        list.forbid.extend(constant);
        let found = Candidates::new(p, list, &[], sized).map_err(raised)?;
        Ok((found.count, found.most))
    })
}

/// What both halves of each pair select of `p` features, `count` of which can be selected, at most
/// `most` by a half (none: they say it themselves): `selected`, `frequency`, `both_halves`,
/// `threshold`, `false_selections` by law, `chance`, `stability`. `threshold`: the share of the
/// halves that makes a feature stable; none: the smallest that keeps `max_false` under the law
/// `assume`.
///
/// # Errors
/// `ValueError` for an unknown law or feature.
#[pyfunction]
pub(crate) fn stability_selection<'py>(
    py: Python<'py>,
    pairs: Vec<[Vec<usize>; 2]>,
    p: usize,
    candidates: (usize, Option<usize>),
    threshold: Option<f64>,
    max_false: f64,
    assume: &str,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        if let Some(j) = pairs.iter().flatten().flatten().find(|&&j| j >= p) {
            return Err(PyValueError::new_err(format!("feature {j} of {p}, counted from 0")));
        }
        let (count, most) = candidates;
        let law = ShareLaw::ALL.into_iter().find(|law| law.name() == assume);
        let assume = law.ok_or_else(|| PyValueError::new_err(format!("{assume} is no law of shares")))?;
        let settings = StabilitySettings { threshold, max_false, assume, ..StabilitySettings::default() };
        let halves: Vec<&[Vec<usize>; 2]> = pairs.iter().collect();
        let found = StabilityReport::new(&halves, p, Candidates { count, most }, &settings, (false, false));
        let (mut frequency, mut both) = (vec![0.0; p], vec![0.0; p]);
        for counted in &found.counts {
            frequency[counted.feature] = found.share(counted.halves);
            both[counted.feature] = counted.both as f64 / found.pairs as f64;
        }
        let bound = |law: &ShareLaw| Some((law.name().to_owned(), json!(found.false_selections(*law)?)));
        let value = json!({
            "selected": found.stable(), "frequency": frequency, "both_halves": both,
            "threshold": found.threshold.map(|halves| found.share(halves)),
            "false_selections": ShareLaw::ALL.iter().filter_map(bound).collect::<Map<_, _>>(),
            "chance": found.chance(), "stability": found.stability,
        });
        Ok(pythonize(py, &value)?)
    })
}
