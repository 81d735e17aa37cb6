//! How good each size is on samples that took no part: the path again on the training part of each
//! fold, and the classifier of each size judged on the samples held out.

use std::time::Duration;

use fewest::validation::{FoldMetrics, Metrics, SizeRule, Summary, choose_size, summaries};

use crate::auto_cost;
use crate::classifier::FoldModel;
use crate::error::EvalError;
use crate::folds::{Fold, test_share};
use crate::jobs;
use crate::selector::{PartSelector, Scene};
use crate::time::FoldTimes;

/// What a fold says of every size.
#[derive(Debug, Clone)]
struct FoldScores {
    repeat: usize,
    /// Metrics and confusion matrix of each size.
    sizes: Vec<(Metrics, Vec<Vec<u64>>)>,
    /// Whether a limit stopped a selection.
    stopped: bool,
}

/// Shares of the samples of the second of two classes and of the first that are to be classified
/// right, above 0 and up to 1; none: any.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reach {
    /// Least share of the second class.
    pub sensitivity: Option<f64>,
    /// Least share of the first.
    pub specificity: Option<f64>,
}

impl Reach {
    /// The measures and what they are to reach.
    fn each(self) -> impl Iterator<Item = (&'static str, f64)> {
        let both = [("sensitivity", self.sensitivity), ("specificity", self.specificity)];
        both.into_iter().filter_map(|(name, least)| Some((name, least?)))
    }
}

/// How good each size is.
#[derive(Debug, Clone)]
pub struct SizeScores {
    sizes: Vec<usize>,
    /// The scores of the folds that are done.
    folds: Vec<FoldScores>,
    /// Folds that the limit or the user left out.
    pub missing: usize,
    test_share: f64,
}

/// Judges every size, ascending, on every fold, in `time`; what that does not allow is left out.
/// The rules of the selector have the largest size.
///
/// # Errors
/// Samples that the method cannot learn from, with the fold.
pub fn judge_sizes(
    scene: &Scene<'_>,
    folds: &[Fold],
    selector: &dyn PartSelector,
    sizes: &[usize],
    time: Option<Duration>,
) -> Result<SizeScores, EvalError> {
    let times = FoldTimes::new(time, None, folds.len());
    let job = |at: usize| -> Result<Option<FoldScores>, EvalError> {
        if scene.cancel.is_cancelled() || times.is_over() {
            return Ok(None);
        }
        fold_scores(scene, &folds[at], selector, sizes, &times).map_err(|error| error.within(&folds[at].name))
    };
    let done = jobs::each((0..folds.len()).map(|_| None).collect(), &job, &|_, _| Ok(()))?;
    let missing = done.iter().filter(|fold| fold.is_none()).count();
    let test_share = test_share(folds, scene.data.n());
    Ok(SizeScores { sizes: sizes.to_vec(), folds: done.into_iter().flatten().collect(), missing, test_share })
}

/// The path on the samples outside a fold, judged on those inside; nothing when cancelled.
fn fold_scores(
    scene: &Scene<'_>,
    fold: &Fold,
    selector: &dyn PartSelector,
    sizes: &[usize],
    times: &FoldTimes,
) -> Result<Option<FoldScores>, EvalError> {
    let train = fold.train(scene.data.n());
    // The choice of the cost has half of the time.
    let mut time = times.next(if selector.chooses_cost() { 2 } else { 1 });
    let chosen = auto_cost::chosen(scene, &train, selector, &mut time)?;
    let selector = chosen.as_deref().unwrap_or(selector);
    let part = scene.part(&train)?;
    let found = selector.ask(&part)?.path(scene, &part, sizes, &mut time)?;
    let (held, classes) = (scene.hold_out(&part, &fold.test)?, scene.data.target.classes.len());
    let mut scores = Vec::new();
    for selected in &found {
        let learned = FoldModel::train(scene, &part, selected, selector.fit_cost())?;
        let judged = learned.predict(&part, &held)?;
        scores.push((judged.metrics(classes), judged.confusion(classes)));
    }
    let whole = scores.len() == sizes.len() && !scene.cancel.is_cancelled() && !time.is_cut();
    Ok(whole.then(|| FoldScores { repeat: fold.repeat, sizes: scores, stopped: time.cut_short() }))
}

impl SizeScores {
    /// Folds that are done.
    pub fn done(&self) -> usize {
        self.folds.len()
    }

    /// Whether a limit left anything out or cut a selection short.
    pub fn stopped(&self) -> bool {
        self.missing > 0 || self.folds.iter().any(|fold| fold.stopped)
    }

    /// The size of the best mean accuracy, and the smallest within one standard error of it; none
    /// where no fold is done.
    pub fn chosen(&self) -> Option<(usize, usize)> {
        let of = |at: usize| self.folds.iter().map(|fold| fold.sizes[at].0.accuracy).collect::<Vec<f64>>();
        let scores: Vec<Vec<f64>> = (0..self.sizes.len()).map(of).collect();
        let size = |rule| choose_size(&scores, rule).ok().map(|at| self.sizes[at]);
        size(SizeRule::Best).zip(size(SizeRule::OneSe))
    }

    /// The smallest size whose mean shares reach these, and the smallest whose 95 % intervals lie above
    /// them; none where no size does.
    pub fn reaching(&self, reach: Reach) -> [Option<usize>; 2] {
        let reaches = |at: usize, value: fn(&Summary) -> Option<f64>| {
            let found = self.summaries(at);
            let of = |name| found.iter().find(|(known, _)| *known == name).and_then(|(_, summary)| value(summary));
            reach.each().all(|(name, least)| of(name).is_some_and(|value| value >= least))
        };
        let smallest = |value| (0..self.sizes.len()).find(|&at| reaches(at, value)).map(|at| self.sizes[at]);
        [smallest(|summary| Some(summary.mean)), smallest(|summary| summary.ci95.map(|ends| ends[0]))]
    }

    /// Measures of the size in this place of the list, with mean, standard error and interval.
    pub fn summaries(&self, at: usize) -> Vec<(&'static str, Summary)> {
        let judged = self.folds.iter().map(|fold| {
            let (metrics, confusion) = &fold.sizes[at];
            FoldMetrics { repeat: fold.repeat, metrics, confusion }
        });
        summaries(&judged.collect::<Vec<_>>(), self.test_share)
    }

    /// A measure of the size in this place; none where no fold is done.
    pub fn measure(&self, at: usize, name: &str) -> Option<Summary> {
        self.summaries(at).into_iter().find(|(known, _)| *known == name).map(|(_, summary)| summary)
    }
}
