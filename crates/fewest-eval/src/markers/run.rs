//! Markers, from beginning to end.

use fewest::model::FitSettings;
use fewest::validation::macro_f1;
use fewest::{Clock, Event, Limits, Observer, Silent, Status, SvmSettings};
use rayon::prelude::*;

use super::apart::apart;
use super::report::{MarkerPanel, MarkersReport, TriedCost};
use super::select::MarkerPart;
use super::settings::MarkersSettings;
use crate::classifier::{FoldModel, Training};
use crate::error::EvalError;
use crate::evaluate::FoldResult;
use crate::folds::{Fold, stratified, test_share};
use crate::part::Data;
use crate::time::{Deadline, ended};

/// Share of the time for the folds, where there is a limit.
const FOLDS: f64 = 0.4;
/// Share of the time of a panel for its elimination.
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
    let judged = run.judge_all(&folds, &costs, observer)?;
    let mean = |cost: usize| judged.iter().map(|fold| macro_f1(&fold.by_cost[cost].confusion)).sum::<f64>();
    let chosen = (1..costs.len()).fold(0, |best, cost| if mean(cost) > mean(best) + 1e-12 { cost } else { best });
    let tried = costs.iter().enumerate().map(|(at, &class_cost)| TriedCost {
        class_cost,
        f1: judged.iter().map(|fold| macro_f1(&fold.by_cost[at].confusion)).collect(),
    });
    let tried: Vec<TriedCost> = tried.collect();
    let mut cut = judged.len() < folds.len() || judged.iter().any(|fold| fold.by_cost[chosen].stopped);
    // Where some folds are done, there is a panel, too: one round of the search, however late it is.
    let none = judged.is_empty() && run.deadline.stop().is_some();
    let panel = if none { None } else { run.panel(costs[chosen].unwrap_or(1.0), &mut cut, observer)? };
    let required = judged.iter().map(|fold| fold.required.clone()).collect::<Option<Vec<FoldResult>>>();
    let searched = panel.as_ref().map(|panel| panel.outcome.status).filter(|status| status.is_limit());
    let status = match ended(limits.cancel.is_cancelled(), cut) {
        Status::Completed => searched.unwrap_or(Status::Completed),
        ended => ended,
    };
    Ok(MarkersReport {
        status,
        tried,
        chosen,
        folds: judged.into_iter().map(|mut fold| fold.by_cost.swap_remove(chosen)).collect(),
        required: required.filter(|folds| !folds.is_empty()),
        sampled: rows.len(),
        test_share: share,
        p: data.features.n_features(),
        n_classes: data.target.classes.len(),
        panel,
    })
}

/// A fold that was judged.
struct Judged {
    by_cost: Vec<FoldResult>,
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

    /// Step 1: every fold that time allows, at every cost.
    fn judge_all(
        &self,
        folds: &[Fold],
        costs: &[Option<f64>],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Judged>, EvalError> {
        let rows: Vec<usize> = {
            let mut rows: Vec<usize> = folds.iter().flat_map(|fold| fold.test.iter().copied()).collect();
            rows.sort_unstable();
            rows
        };
        let share = self.deadline.share(FOLDS);
        let fold = |fold: &Fold| -> Result<Option<Judged>, EvalError> {
            if share.stop().is_some() {
                return Ok(None);
            }
            let train: Vec<usize> = rows.iter().copied().filter(|i| fold.test.binary_search(i).is_err()).collect();
            self.judge(fold, &train, costs, &share)
        };
        let large = self.data.features.bytes() as f64 * rows.len() as f64 > AT_ONCE * self.data.n() as f64;
        let at_once = if large { 1 } else { rayon::current_num_threads().max(1) };
        let mut judged = Vec::new();
        for some in folds.chunks(at_once) {
            judged.extend(some.par_iter().map(fold).collect::<Result<Vec<_>, _>>()?);
            let (done, total) = (judged.len() as u64, Some(folds.len() as u64));
            if observer.on(&Event::Progress { done, total, elapsed: self.deadline.elapsed() }).is_break() {
                self.limits.cancel.cancel();
            }
        }
        Ok(judged.into_iter().flatten().collect())
    }

    /// One fold; nothing when cancelled, or where time allowed no panel.
    fn judge(
        &self,
        fold: &Fold,
        train: &[usize],
        costs: &[Option<f64>],
        share: &Deadline,
    ) -> Result<Option<Judged>, EvalError> {
        let memory = &self.limits.memory;
        let inside = MarkerPart::new(self.data, train, self.settings, self.names, memory)?;
        let held = inside.part.hold_out(self.data, &fold.test, memory)?;
        let clock = Clock::of(self.limits.cancel.clone(), None);
        let training = Training::of(&inside.part, memory);
        let classes = self.data.target.classes.len();
        let result = |features: Vec<usize>, svm: &SvmSettings, status: Status, seconds: f64| {
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
                stopped: is_cut(status),
                cost: svm.cost,
                max_features: self.settings.rules.max_features,
                ..FoldResult::new(fold, features, judged, classes)
            })
        };
        let mut by_cost = Vec::new();
        for (at, cost) in costs.iter().enumerate() {
            let svm = inside.svm(cost.unwrap_or(1.0));
            let share = share.share(1.0 / (costs.len() - at) as f64);
            let begun = inside.eliminate(&svm, share.limits(ELIMINATION))?;
            let found = inside.search(begun.subset, &svm, &share, None, &mut Silent)?;
            if share.cancelled() || (found.subset.is_none() && is_cut(found.status)) {
                return Ok(None);
            }
            by_cost.push(result(found.features(), &svm, found.status, found.elapsed.as_secs_f64())?);
        }
        let mut required = self.settings.rules.require.clone();
        required.sort_unstable();
        required.dedup();
        let svm = inside.svm(costs[costs.len() / 2].unwrap_or(1.0));
        let alone = (!required.is_empty()).then(|| result(required, &svm, Status::Completed, 0.0)).transpose()?;
        Ok(Some(Judged { by_cost, required: alone }))
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
