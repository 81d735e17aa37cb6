//! `C="auto"`: the library's choice of a cost, on splits that Python deals.

use fewest::method::auto_cost::{Candidate, CostChoice, CostScores, FitCosts, SplitParts, cost_grid, judge, l1_costs};
use fewest::{Error, Limits, RuleList, Rules, Samples, SvmSettings};
use fewest_eval::FoldTimes;
use fewest_papers::AnyMethod;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pythonize::pythonize;
use rayon::prelude::*;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::Columns;
use crate::{numbers, raised, settings};

/// Training and held-out samples of a split.
type SplitRows = (Vec<usize>, Vec<usize>);

/// Costs of selecting and of the classifier to choose from, ascending, for samples that count as
/// these and at most `max_features` features.
///
/// # Errors
/// `ValueError` where all values are zero.
#[pyfunction]
pub(crate) fn costs(
    x: Columns<'_>,
    weights: PyReadonlyArray1<'_, f64>,
    max_features: Option<usize>,
) -> PyResult<(Vec<f64>, Vec<f64>)> {
    sheltered(|| {
        let grid = cost_grid(&*x.design()?, numbers(&weights)?, max_features).map_err(raised)?;
        Ok((grid.selecting, grid.fitting))
    })
}

/// Costs of an L1-SVM to choose from, ascending, for samples of these classes that count as these.
///
/// # Errors
/// `ValueError` where no feature differs between the classes.
#[pyfunction]
#[pyo3(name = "l1_costs")]
pub(crate) fn costs_of_l1(
    x: Columns<'_>,
    codes: PyReadonlyArray1<'_, u32>,
    weights: PyReadonlyArray1<'_, f64>,
) -> PyResult<Vec<f64>> {
    sheltered(|| l1_costs(&*x.design()?, numbers(&codes)?, numbers(&weights)?).map_err(raised))
}

/// Chooses the cost of a method, and of the classifier out of `fit_costs` unless `fit_cost` gives
/// it. `methods`: the cost, the method and the SVM at that cost, ascending; `splits`: training and
/// held-out samples; `split_weights`: the weight of each sample in the training part of each.
/// Returns the fields of [`CostChoice`].
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn choose_cost<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    methods: Vec<(f64, Bound<'py, PyAny>, Bound<'py, PyAny>)>,
    splits: Vec<SplitRows>,
    split_weights: Vec<PyReadonlyArray1<'py, f64>>,
    fit_costs: Vec<f64>,
    fit_cost: Option<f64>,
    limits: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (rules, limits): (RuleList, CallLimits) = (settings(rules)?, settings(limits)?);
        let read = |(cost, method, svm): &(f64, Bound<'_, PyAny>, Bound<'_, PyAny>)| -> PyResult<Candidate<AnyMethod>> {
            let (method, svm): (AnyMethod, SvmSettings) = (settings(method)?, settings(svm)?);
            Ok(Candidate { cost: *cost, method, svm })
        };
        let candidates: Vec<Candidate<AnyMethod>> = methods.iter().map(read).collect::<PyResult<_>>()?;
        let costs: Vec<f64> = candidates.iter().map(|candidate| candidate.cost).collect();
        let fit = fit_cost.map_or_else(|| FitCosts::Among(fit_costs), FitCosts::Fixed);
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let split_weights: Vec<&[f64]> = split_weights.iter().map(numbers).collect::<PyResult<_>>()?;
        if split_weights.len() != splits.len() || split_weights.iter().any(|own| own.len() != weights.len()) {
            return Err(PyValueError::new_err("a split needs a weight for each sample"));
        }
        let (choice, _) = enter(py, &limits, None, |limits, _| {
            let times = FoldTimes::new(limits.time, None, splits.len());
            let judged = |at: usize| -> Result<Option<Vec<CostScores>>, Error> {
                // Once the time is over, the splits that were judged stand for all; one always is.
                if at > 0 && (times.is_over() || limits.cancel.is_cancelled()) {
                    return Ok(None);
                }
                let ((training, held_out), own) = (&splits[at], split_weights[at]);
                let mut share = times.next(candidates.len());
                let classes_of = |rows: &[usize]| rows.iter().map(|&i| codes[i]).collect::<Vec<u32>>();
                let (classes, held_classes) = (classes_of(training), classes_of(held_out));
                let weights: Vec<f64> = training.iter().map(|&i| own[i]).collect();
                let (learned, judged) = (design.select_samples(training), design.select_samples(held_out));
                let parts = SplitParts {
                    training: Samples::new(&*learned, &classes, Some(&weights))?,
                    rules: Rules::new(design.n_features(), rules.clone(), &[])?,
                    held_out: &*judged,
                    classes: &held_classes,
                };
                let clock = share.clock(&limits.cancel);
                let mut next = || Limits { time: share.next_limit(), ..limits.clone() };
                judge(&parts, &candidates, &fit, &clock, &mut next).map(Some)
            };
            let scores: Vec<Vec<CostScores>> = (0..splits.len())
                .into_par_iter()
                .map(judged)
                .filter_map(Result::transpose)
                .collect::<Result<_, _>>()?;
            CostChoice::of(&costs, &scores, &fit)
        })?;
        Ok(pythonize(py, &choice)?)
    })
}
