//! Markers, from beginning to end.

use fewest::model::FitSettings;
use fewest::validation::macro_f1;
use fewest::{AllOrFirst as _, Clock, Event, Limits, Observer, Silent, Status};
use rayon::prelude::*;

use super::apart::apart;
use super::report::{MarkerPanel, MarkersEffort, MarkersReport, TriedCost};
use super::select::MarkerPart;
use super::settings::MarkersSettings;
use crate::classifier::{FoldModel, Training};
use crate::error::EvalError;
use crate::evaluate::FoldResult;
use crate::folds::{Fold, stratified, test_share};
use crate::part::Data;
use crate::time::{Deadline, ended};

/// Share of the time for the folds, where there is a limit.
const FOLDS: f64 = 0.6;
/// Share of the time of the panel of all samples for its elimination; in a fold both steps have what
/// they need, or the fold is cut.
const ELIMINATION: f64 = 0.3;
/// Bytes of data above which one fold is worked on at a time.
const AT_ONCE: f64 = (256 << 20) as f64;

/// Markers of all classes. `names` are those of the features, for messages. The answer depends on
/// the seed, not on the number of threads, as long as no limit is reached.
///
/// # Errors
/// Settings out of range; rules that contradict each other or what the samples say; folds that leave
/// a class out.
pub fn markers(
    data: &Data<'_>,
    settings: &MarkersSettings,
    names: &[String],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<MarkersReport, EvalError> {
    settings.check(data.target.classes.len())?;
    let run = Run { data, settings, names, limits, deadline: Deadline::new(limits, None) };
    let costs: Vec<Option<f64>> = match settings.cost {
        Some(_) => vec![None],
        None => settings.class_costs.iter().copied().map(Some).collect(),
    };
    let rows = fewest_data::sampled(&data.strata(), settings.sample, settings.seed);
    let (folds, share) = run.folds(&rows)?;
    let (mut judged, required) = run.judge_all(&folds, &costs, observer)?;
    let f1 = |of: &[FoldResult]| of.iter().map(|fold| macro_f1(&fold.confusion)).collect::<Vec<f64>>();
    let tried = costs.iter().zip(&judged).map(|(&class_cost, of)| TriedCost { class_cost, f1: f1(of) });
    let tried: Vec<TriedCost> = tried.collect();
    let chosen = best_cost(&tried);
    let effort = MarkersEffort {
        folds_left: (folds.len() - judged[chosen].len()) as u64,
        costs_left: tried.iter().filter(|cost| cost.f1.len() < judged[chosen].len().max(1)).count() as u64,
    };
    let mut cut = effort != MarkersEffort::default();
    // Where some folds are done, there is a panel, too: one round of the search, however late it is.
    let none = judged[chosen].is_empty() && run.deadline.stop().is_some();
    let panel = if none { None } else { run.panel(costs[chosen].unwrap_or(1.0), &mut cut, observer)? };
    let searched = panel.as_ref().map(|panel| panel.outcome.status).filter(|status| status.is_limit());
    let status = match ended(limits.cancel.is_cancelled(), cut) {
        Status::Completed => searched.unwrap_or(Status::Completed),
        ended => ended,
    };
    Ok(MarkersReport {
        status,
        tried,
        chosen,
        effort,
        folds: judged.swap_remove(chosen),
        required: Some(required).filter(|folds| !folds.is_empty()),
        sampled: rows.len(),
        test_share: share,
        p: data.features.n_features(),
        n_classes: data.target.classes.len(),
        panel,
    })
}

/// The cost tried first: the middle one.
fn first(costs: usize) -> usize {
    costs / 2
}

/// The cost of largest mean macro F1 among those judged in as many folds as the first; of equal ones
/// the smallest.
fn best_cost(tried: &[TriedCost]) -> usize {
    let first = first(tried.len());
    let whole = |cost: &usize| tried[*cost].f1.len() == tried[first].f1.len();
    let mean = |cost: usize| tried[cost].mean().unwrap_or(0.0);
    let all: Vec<usize> = (0..tried.len()).filter(whole).collect();
    let better = |best, cost| if mean(cost) > mean(best) + 1e-12 { cost } else { best };
    match all.as_slice() {
        _ if tried[first].f1.is_empty() => first,
        [least, rest @ ..] => rest.iter().copied().fold(*least, better),
        [] => first,
    }
}

/// A fold judged at one cost.
struct Judged {
    at_cost: FoldResult,
    required: Option<FoldResult>,
}

/// What all steps share.
struct Run<'a> {
    data: &'a Data<'a>,
    settings: &'a MarkersSettings,
    names: &'a [String],
    limits: &'a Limits,
    deadline: Deadline,
}

impl Run<'_> {
    /// Folds of these samples, by rows of all; and the samples held out over those learned from.
    fn folds(&self, rows: &[usize]) -> Result<(Vec<Fold>, f64), EvalError> {
        let target = self.data.strata().rows(rows);
        let groups = self.data.groups_of(rows);
        let counts = target.counts();
        if let Some(alone) = counts.iter().position(|count| *count < 2) {
            return Err(EvalError::OneSample { class: target.classes[alone].clone() });
        }
        let few = counts.into_iter().min().unwrap_or(0);
        let count = if groups.is_none() { self.settings.folds.min(few) } else { self.settings.folds };
        let folds = stratified(&target, groups.as_deref(), count, 1, self.settings.seed)?;
        let share = test_share(&folds, rows.len());
        let of_all = |fold: Fold| Fold { test: fold.test.iter().map(|&at| rows[at]).collect(), ..fold };
        Ok((folds.into_iter().map(of_all).collect(), share))
    }

    /// Step 1: the folds that time allows at the first cost, then these at each other cost while it
    /// lasts. A fold that time cut is none: what it would have found is not known. Returns the folds by
    /// cost, and those of the required features alone.
    fn judge_all(
        &self,
        folds: &[Fold],
        costs: &[Option<f64>],
        observer: &mut dyn Observer,
    ) -> Result<(Vec<Vec<FoldResult>>, Vec<FoldResult>), EvalError> {
        let rows: Vec<usize> = {
            let mut rows: Vec<usize> = folds.iter().flat_map(|fold| fold.test.iter().copied()).collect();
            rows.sort_unstable();
            rows
        };
        let large = self.data.features.bytes() as f64 * rows.len() as f64 > AT_ONCE * self.data.n() as f64;
        let at_once = if large { 1 } else { rayon::current_num_threads().max(1) };
        let (all, total) = (self.deadline.share(FOLDS), (folds.len() * costs.len()) as u64);
        let (mut judged, mut required) = (vec![Vec::new(); costs.len()], Vec::new());
        let mut whole: Vec<&Fold> = folds.iter().collect();
        let first = first(costs.len());
        let order = std::iter::once(first).chain((0..costs.len()).filter(|&cost| cost != first));
        for (turn, cost) in order.enumerate() {
            let mut done = Vec::new();
            for (at, some) in whole.chunks(at_once).enumerate() {
                let left = whole.len().div_ceil(at_once) - at;
                let share = all.share(1.0 / left as f64);
                let one = |fold: &Fold| {
                    if share.stop().is_some() {
                        return Ok(None);
                    }
                    let train: Vec<usize> =
                        rows.iter().copied().filter(|i| fold.test.binary_search(i).is_err()).collect();
                    self.judge(fold, &train, costs[cost], turn == 0, &share)
                };
                let found = some.par_iter().map(|fold| one(fold)).all_or_first::<Vec<_>>()?;
                done.extend(some.iter().copied().zip(found).filter_map(|(fold, found)| Some((fold, found?))));
                let told = (turn * folds.len() + at * at_once + some.len()) as u64;
                let event =
                    Event::Progress { done: told.min(total), total: Some(total), elapsed: self.deadline.elapsed() };
                if observer.on(&event).is_break() {
                    self.limits.cancel.cancel();
                }
            }
            let known: Vec<&Fold> = done.iter().map(|of| of.0).collect();
            required.extend(done.iter().filter_map(|of| of.1.required.clone()));
            judged[cost] = done.into_iter().map(|of| of.1.at_cost).collect();
            if turn == 0 {
                whole = known;
            }
        }
        Ok((judged, required))
    }

    /// One fold at one cost, and the required features alone where that is asked for; nothing where it
    /// was cut.
    fn judge(
        &self,
        fold: &Fold,
        train: &[usize],
        cost: Option<f64>,
        alone: bool,
        share: &Deadline,
    ) -> Result<Option<Judged>, EvalError> {
        let memory = &self.limits.memory;
        let inside = MarkerPart::new(self.data, train, self.settings, self.names, memory)?;
        let held = inside.part.hold_out(self.data, &fold.test, memory)?;
        let clock = Clock::of(self.limits.cancel.clone(), None);
        let training = Training::of(&inside.part, memory);
        let classes = self.data.target.classes.len();
        let svm = inside.svm(cost.unwrap_or(1.0));
        let result = |features: Vec<usize>, status: Status, seconds: f64| {
            let settings = FitSettings { svm: svm.clone(), ..FitSettings::default() };
            let model = if features.is_empty() {
                FoldModel::None
            } else {
                FoldModel::One(training.train(&features, &settings, &clock)?)
            };
            let judged = model.predict(&inside.part, &held)?;
            Ok::<FoldResult, EvalError>(FoldResult {
                seconds,
                status: status.name().to_owned(),
                cost: svm.cost,
                max_features: self.settings.rules.max_features,
                ..FoldResult::new(fold, features, judged, classes)
            })
        };
        let begun = inside.eliminate(&svm, share.limits(1.0))?;
        if is_cut(begun.status) {
            return Ok(None);
        }
        let found = inside.search(begun.subset, &svm, share, None, &mut Silent)?;
        if share.cancelled() || is_cut(found.status) {
            return Ok(None);
        }
        let at_cost = result(found.features(), found.status, found.elapsed.as_secs_f64())?;
        let mut required = self.settings.rules.require.clone();
        required.sort_unstable();
        required.dedup();
        let alone = alone && !required.is_empty();
        let required = alone.then(|| result(required, Status::Completed, 0.0)).transpose()?;
        Ok(Some(Judged { at_cost, required }))
    }

    /// Steps 3 and 4: the panel of all samples. `cut` tells whether a limit ended the elimination.
    fn panel(
        &self,
        class_cost: f64,
        cut: &mut bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<MarkerPanel>, EvalError> {
        let all: Vec<usize> = (0..self.data.n()).collect();
        let memory = &self.limits.memory;
        let part = MarkerPart::new(self.data, &all, self.settings, self.names, memory)?;
        let svm = part.svm(class_cost);
        let begun = part.eliminate(&svm, self.deadline.limits(ELIMINATION))?;
        let outcome = part.search(begun.subset, &svm, &self.deadline, Some(self.limits), observer)?;
        *cut |= is_cut(outcome.status);
        let features = outcome.features();
        if features.is_empty() {
            return Ok(None);
        }
        let settings = FitSettings { svm: svm.clone(), ..FitSettings::default() };
        let clock = Clock::of(self.limits.cancel.clone(), None);
        let model = Training::of(&part.part, memory).train(&features, &settings, &clock)?;
        let late = Limits { memory: memory.clone(), ..Limits::default() };
        let ordered = part.order(&features, &svm, late)?;
        let design = self.data.features.as_design();
        let table = part.by_class.expressions(design, &features);
        let scale = |j: &usize| part.part.learnt.scaling.scale.get(*j).copied().unwrap_or(1.0);
        let of_model = apart(&model, &table, &features.iter().map(scale).collect::<Vec<f64>>());
        let place = |j: &usize| features.binary_search(j).expect("the order is one of the panel");
        Ok(Some(MarkerPanel {
            table: ordered.iter().map(|j| table[place(j)].clone()).collect(),
            apart: ordered.iter().map(|j| of_model[place(j)].clone()).collect(),
            features: ordered,
            outcome,
            svm,
            learnt: part.part.learnt.clone(),
            model,
        }))
    }
}

/// Whether time or the user ended a search; the nodes of the folds are few by intent.
fn is_cut(status: Status) -> bool {
    matches!(status, Status::TimeLimit | Status::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::{TriedCost, best_cost};

    #[test]
    fn a_cost_is_chosen_among_those_judged_in_all_folds() {
        let tried = |f1: [&[f64]; 3]| f1.map(|f1| TriedCost { class_cost: None, f1: f1.to_vec() });
        assert_eq!(best_cost(&tried([&[0.9, 0.8], &[0.7, 0.7], &[0.95, 0.9]])), 2);
        // Of one that time cut in a fold the mean says nothing.
        assert_eq!(best_cost(&tried([&[0.99], &[0.7, 0.7], &[0.6, 0.9]])), 2);
        assert_eq!(best_cost(&tried([&[0.99], &[0.7, 0.7], &[]])), 1);
        assert_eq!(best_cost(&tried([&[0.8, 0.8], &[0.8, 0.8], &[0.8, 0.8]])), 0);
        assert_eq!(best_cost(&tried([&[], &[], &[]])), 1);
    }
}
