//! Lists of features side by side, on the same samples held out.
//!
//! Given    lists of features, samples of two classes or more, [`MarkersSettings`] without rules.
//! Returns  for each list macro F1 and each class on samples held out, its differences from the first
//!          list fold by fold, clusters on it alone, and how far its objective is from the best of its
//!          size ([`CompareReport`]).
//! Steps    1. in each fold the classifier on each list  2. on all samples: the objective of each list,
//!          and the bound of the best of its size  3. clusters of the samples by each list
//! Fails    never on limits: the status says so. Errors: settings out of range, a class in one fold only.

use fewest::{AllOrFirst as _, Error, Event, Limits, Observer, Outcome, RuleList, Silent, Status, Subset, SvmSettings};
use rayon::prelude::*;

use super::clusters::{Clusters, clusters};
use super::judged::JudgedFolds;
use super::run::Run;
use super::select::MarkerPart;
use super::settings::MarkersSettings;
use crate::error::EvalError;
use crate::evaluate::FoldResult;
use crate::folds::Fold;
use crate::part::Data;
use crate::time::{Deadline, ended};

/// A class of a smaller share of the samples is rare.
pub const RARE: f64 = 0.05;
/// Share of the time for the folds.
const FOLDS: f64 = 0.4;

/// Lists side by side.
#[derive(Debug)]
pub struct CompareReport {
    /// The status at the end.
    pub status: Status,
    /// Each list, in the order given.
    pub lists: Vec<ComparedList>,
    /// The settings of the SVM.
    pub svm: SvmSettings,
    /// Classes that are rare, ascending.
    pub rare: Vec<usize>,
    /// Samples that the folds are made of.
    pub sampled: usize,
}

/// A list.
#[derive(Debug)]
pub struct ComparedList {
    /// Features, ascending.
    pub features: Vec<usize>,
    /// The classifier on it, in folds.
    pub judged: JudgedFolds,
    /// Objective on all samples; none where time did not allow it.
    pub objective: Option<f64>,
    /// The best subset of its size that is known, with the bound of all of them; none where time did
    /// not allow it.
    pub best: Option<Outcome>,
    /// Clusters of the samples by it alone.
    pub clusters: Option<Clusters>,
}

impl ComparedList {
    /// The share of what features can gain that the list leaves open at most; none without a bound.
    pub fn gap(&self) -> Option<f64> {
        let best = self.best.as_ref()?;
        Some(best.yardstick?.gap(self.objective?, best.bound?))
    }
}

/// Compares lists, two or more. `names` are those of the features, for messages.
///
/// # Errors
/// Settings out of range; fewer lists than two, an empty one; folds that leave a class out.
pub fn compare(
    data: &Data<'_>,
    lists: &[Vec<usize>],
    settings: &MarkersSettings,
    names: &[String],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<CompareReport, EvalError> {
    if lists.len() < 2 || lists.iter().any(Vec::is_empty) {
        let given = format!("{} of {:?} features", lists.len(), lists.iter().map(Vec::len).collect::<Vec<usize>>());
        return Err(Error::setting("lists", given, "two or more, each of a feature or more").into());
    }
    let longest = lists.iter().map(Vec::len).max();
    let settings =
        &MarkersSettings { rules: RuleList { max_features: longest, ..settings.rules.clone() }, ..settings.clone() };
    settings.check(data.target.classes.len())?;
    let run = Run { data, settings, names, limits, deadline: Deadline::new(limits, None) };
    let rows = fewest_data::sampled(&data.strata(), settings.sample, settings.seed);
    let (folds, test_share) = run.folds(&rows)?;
    let share = run.deadline.share(FOLDS);
    let mut judged: Vec<Vec<FoldResult>> = Vec::new();
    for (at, fold) in folds.iter().enumerate() {
        let event =
            Event::Progress { done: at as u64, total: Some(folds.len() as u64), elapsed: run.deadline.elapsed() };
        if observer.on(&event).is_break() {
            limits.cancel.cancel();
        }
        if share.stop().is_some() {
            break;
        }
        judged.push(judge(&run, fold, &rows, lists)?);
    }
    let mut cut = judged.len() < folds.len();
    let all: Vec<usize> = (0..data.n()).collect();
    let mut part = MarkerPart::new(data, &all, settings, names, &limits.memory)?;
    let svm = part.svm();
    let mut found = Vec::new();
    for (at, list) in lists.iter().enumerate() {
        let share = run.deadline.share(1.0 / (lists.len() - at) as f64);
        let in_time = share.stop().is_none();
        let objective = in_time.then(|| part.objective(list, &svm, &share)).transpose()?;
        let best =
            objective.map(|objective| best_of(&run, &mut part, (list, objective), &found, &share)).transpose()?;
        cut |= best.as_ref().is_none_or(|best: &Outcome| best.bound.is_none());
        found.push(ComparedList {
            features: list.clone(),
            judged: run.together(judged.iter().map(|fold| fold[at].clone()).collect(), test_share),
            objective,
            best,
            clusters: in_time.then(|| clusters(&part.part, list, settings.seed)).flatten(),
        });
    }
    let totals = data.target.counts();
    let rare = (0..totals.len()).filter(|&class| (totals[class] as f64) < RARE * data.n() as f64).collect();
    let status = ended(limits.cancel.is_cancelled(), cut);
    Ok(CompareReport { status, lists: found, svm, rare, sampled: rows.len() })
}

/// A fold: each list.
fn judge(run: &Run<'_>, fold: &Fold, rows: &[usize], lists: &[Vec<usize>]) -> Result<Vec<FoldResult>, EvalError> {
    let inside = MarkerPart::new(run.data, &fold.train_of(rows), run.settings, run.names, &run.limits.memory)?;
    let held = inside.part.hold_out(run.data, &fold.test, &run.limits.memory)?;
    let svm = inside.svm();
    lists.par_iter().map(|list| run.on(&inside, (fold, &held), list.clone(), &svm)).all_or_first()
}

/// The best of as many features as a list has that is known, and the bound; taken over from a list of
/// the same size where this one is no better.
fn best_of(
    run: &Run<'_>,
    part: &mut MarkerPart<'_>,
    (list, objective): (&[usize], f64),
    known: &[ComparedList],
    share: &Deadline,
) -> Result<Outcome, EvalError> {
    let same = known.iter().filter(|other| other.features.len() == list.len()).find_map(|other| other.best.as_ref());
    if let Some(same) = same.filter(|same| same.bound.is_some() && same.objective.is_some_and(|best| best <= objective))
    {
        return Ok(same.clone());
    }
    part.resize(list.len(), run.names)?;
    let svm = part.svm();
    let begun = part.eliminate(&svm, share.limits(0.5))?;
    let mut found = part.search(begun.subset, &svm, share, None, &mut Silent)?;
    if found.objective.is_none_or(|best| objective < best) {
        let subset = Subset::from_indices(run.data.features.n_features(), list.iter().copied());
        (found.objective, found.subset) = (Some(objective), Some(subset));
    }
    Ok(found)
}
