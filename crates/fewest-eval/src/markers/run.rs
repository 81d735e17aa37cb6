//! Markers, from beginning to end.

use fewest::model::FitSettings;
use fewest::validation::{macro_f1, measure_summary};
use fewest::{AllOrFirst as _, Clock, Error, Event, Limits, Observer, Silent, Status, SvmSettings};
use rayon::prelude::*;

use super::apart::apart;
use super::judged::JudgedFolds;
use super::report::{Lost, MarkerPanel, MarkersEffort, MarkersReport};
use super::select::MarkerPart;
use super::settings::MarkersSettings;
use super::stable::Standing;
use crate::classifier::{FoldModel, Training};
use crate::error::EvalError;
use crate::evaluate::FoldResult;
use crate::folds::{Fold, stratified, test_share};
use crate::part::{Data, HeldOut};
use crate::time::{Deadline, ended};

/// Share of the time for the folds, where there is a limit.
const FOLDS: f64 = 0.6;
/// Share of the time of the panel of all samples for its elimination; in a fold both steps have what
/// they need, or the fold is cut.
const ELIMINATION: f64 = 0.3;
/// Share of what is left then for its halves,
const HALVES: f64 = 0.4;
/// and of what is left then for the search; exchanges have the rest.
const SEARCH: f64 = 0.8;
/// Steps after the folds: elimination, halves and search on all samples.
const AFTER_FOLDS: usize = 3;
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
    if observer.proof().is_some() {
        let range = "0 where a proof is written, which is of the best panel";
        for (name, value) in [("slack", settings.slack), ("robust", settings.robust as f64)] {
            if value > 0.0 {
                return Err(Error::setting(name, value, range).into());
            }
        }
        if !settings.hierarchy.is_empty() {
            let range = "left out where a proof is written, whose pairs of classes weigh the same";
            return Err(Error::setting("hierarchy", settings.hierarchy.len(), range).into());
        }
    }
    let run = Run { data, settings, names, limits, deadline: Deadline::new(limits, None) };
    let rows = fewest_data::sampled(&data.strata(), settings.sample, settings.seed);
    let (folds, test_share) = run.folds(&rows)?;
    let judged = run.judge_all(&folds, observer)?;
    let effort = MarkersEffort { folds_left: (folds.len() - judged.len()) as u64 };
    let mut cut = effort != MarkersEffort::default();
    // Where some folds are done, there is a panel, too: one round of the search, however late it is.
    let none = judged.is_empty() && run.deadline.stop().is_some();
    let panel = if none { None } else { run.panel(folds.len(), &mut cut, observer)? };
    let searched = panel.as_ref().map(|panel| panel.outcome.status).filter(|status| status.is_limit());
    let status = match ended(limits.cancel.is_cancelled(), cut) {
        Status::Completed => searched.unwrap_or(Status::Completed),
        ended => ended,
    };
    let lost = lost(&judged, test_share);
    let (folds, required): (Vec<FoldResult>, Vec<Option<FoldResult>>) =
        judged.into_iter().map(|fold| (fold.panel, fold.required)).unzip();
    let required: Vec<FoldResult> = required.into_iter().flatten().collect();
    Ok(MarkersReport {
        status,
        effort,
        lost,
        required: (!required.is_empty()).then(|| run.together(required, test_share)),
        judged: run.together(folds, test_share),
        sampled: rows.len(),
        panel,
    })
}

/// A fold judged.
struct Judged {
    panel: FoldResult,
    required: Option<FoldResult>,
    /// Macro F1 without each marker in turn, where markers may be lost.
    without: Vec<f64>,
}

/// What is left in the folds without one marker.
fn lost(judged: &[Judged], test_share: f64) -> Option<Lost> {
    let some: Vec<&Vec<f64>> = judged.iter().map(|fold| &fold.without).filter(|of| !of.is_empty()).collect();
    let worst: Vec<f64> = some.iter().map(|of| of.iter().copied().fold(f64::INFINITY, f64::min)).collect();
    let mean: Vec<f64> = some.iter().map(|of| of.iter().sum::<f64>() / of.len() as f64).collect();
    let summary = |values: &[f64]| measure_summary("f1", values, test_share, &[]);
    (!some.is_empty()).then(|| Lost { worst: summary(&worst), mean: summary(&mean) })
}

/// What all steps share.
pub(super) struct Run<'a> {
    pub(super) data: &'a Data<'a>,
    pub(super) settings: &'a MarkersSettings,
    pub(super) names: &'a [String],
    pub(super) limits: &'a Limits,
    pub(super) deadline: Deadline,
}

impl Run<'_> {
    /// Folds of these samples, by rows of all; and the samples held out over those learned from.
    pub(super) fn folds(&self, rows: &[usize]) -> Result<(Vec<Fold>, f64), EvalError> {
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

    /// What folds say together; `share` is held out over learned from.
    pub(super) fn together(&self, folds: Vec<FoldResult>, share: f64) -> JudgedFolds {
        let (p, n_classes) = (self.data.features.n_features(), self.data.target.classes.len());
        JudgedFolds { folds, test_share: share, p, n_classes }
    }

    /// Step 1: the folds that time allows. A fold that time cut is none: what it would have found is not
    /// known.
    fn judge_all(&self, folds: &[Fold], observer: &mut dyn Observer) -> Result<Vec<Judged>, EvalError> {
        let mut rows: Vec<usize> = folds.iter().flat_map(|fold| fold.test.iter().copied()).collect();
        rows.sort_unstable();
        let large = self.data.features.bytes() as f64 * rows.len() as f64 > AT_ONCE * self.data.n() as f64;
        let at_once = if large { 1 } else { rayon::current_num_threads().max(1) };
        let (all, mut judged) = (self.deadline.share(FOLDS), Vec::new());
        self.tell(0, folds.len(), observer);
        for (at, some) in folds.chunks(at_once).enumerate() {
            let left = folds.len().div_ceil(at_once) - at;
            let share = all.share(1.0 / left as f64);
            let one = |fold: &Fold| {
                if share.stop().is_some() {
                    return Ok(None);
                }
                self.judge(fold, &fold.train_of(&rows), &share)
            };
            judged.extend(some.par_iter().map(one).all_or_first::<Vec<_>>()?.into_iter().flatten());
            self.tell(at * at_once + some.len(), folds.len(), observer);
        }
        Ok(judged)
    }

    /// Says how many steps are done: the folds, then the elimination and the halves of all samples.
    fn tell(&self, done: usize, folds: usize, observer: &mut dyn Observer) {
        let (done, total) = (done as u64, Some((folds + AFTER_FOLDS) as u64));
        if observer.on(&Event::Progress { done, total, elapsed: self.deadline.elapsed() }).is_break() {
            self.limits.cancel.cancel();
        }
    }

    /// One fold, and the required features alone where some are required; nothing where it was cut.
    fn judge(&self, fold: &Fold, train: &[usize], share: &Deadline) -> Result<Option<Judged>, EvalError> {
        let memory = &self.limits.memory;
        let inside = MarkerPart::new(self.data, train, self.settings, self.names, memory)?;
        let held = inside.part.hold_out(self.data, &fold.test, memory)?;
        let svm = inside.svm();
        let begun = inside.eliminate(&svm, share.limits(1.0))?;
        if is_cut(begun.status) {
            return Ok(None);
        }
        let found = inside.search(begun.subset, &svm, share, None, &mut Silent)?;
        let mut recurs = None;
        if self.settles() {
            recurs = inside.recurs(self.data, train, self.names, share)?;
            if recurs.is_none() {
                return Ok(None);
            }
        }
        let settled = inside.settle(found, recurs.as_deref(), &svm, share)?;
        if share.stop().is_some() || is_cut(settled.status) {
            return Ok(None);
        }
        let panel = FoldResult {
            seconds: settled.elapsed.as_secs_f64(),
            status: settled.status.name().to_owned(),
            max_features: self.settings.rules.max_features,
            ..self.on(&inside, (fold, &held), settled.features(), &svm)?
        };
        let mut required = self.settings.rules.require.clone();
        required.sort_unstable();
        required.dedup();
        let alone = !required.is_empty();
        let required = alone.then(|| self.on(&inside, (fold, &held), required, &svm)).transpose()?;
        let mut without = Vec::new();
        if self.settings.robust > 0 && panel.selected.len() > 1 {
            let f1 = |&lost: &usize| {
                let left = panel.selected.iter().copied().filter(|&j| j != lost).collect();
                self.on(&inside, (fold, &held), left, &svm).map(|of| macro_f1(&of.confusion))
            };
            without = panel.selected.par_iter().map(f1).all_or_first()?;
        }
        Ok(Some(Judged { panel, required, without }))
    }

    /// Whether features that come back take the place of those that do not.
    fn settles(&self) -> bool {
        self.settings.halves > 1 && self.settings.slack > 0.0
    }

    /// The samples held out, judged by the classifier on these features.
    pub(super) fn on(
        &self,
        inside: &MarkerPart<'_>,
        (fold, held): (&Fold, &HeldOut),
        features: Vec<usize>,
        svm: &SvmSettings,
    ) -> Result<FoldResult, EvalError> {
        let settings = FitSettings { svm: svm.clone(), ..FitSettings::default() };
        let clock = Clock::of(self.limits.cancel.clone(), None);
        let model = match features.as_slice() {
            [] => FoldModel::None,
            some => FoldModel::One(Training::of(&inside.part, &self.limits.memory).train(some, &settings, &clock)?),
        };
        let judged = model.predict(&inside.part, held)?;
        let status = Status::Completed.name().to_owned();
        let classes = self.data.target.classes.len();
        Ok(FoldResult { status, cost: svm.cost, ..FoldResult::new(fold, features, judged, classes) })
    }

    /// Steps 2 and 3: the panel of all samples. `cut` tells whether a limit ended the elimination, which comes after this number of `folds`.
    fn panel(
        &self,
        folds: usize,
        cut: &mut bool,
        observer: &mut dyn Observer,
    ) -> Result<Option<MarkerPanel>, EvalError> {
        let all: Vec<usize> = (0..self.data.n()).collect();
        let memory = &self.limits.memory;
        let part = MarkerPart::new(self.data, &all, self.settings, self.names, memory)?;
        let svm = part.svm();
        let begun = part.eliminate(&svm, self.deadline.limits(ELIMINATION))?;
        self.tell(folds + 1, folds, observer);
        let mut recurs = None;
        if self.settings.halves > 1 {
            recurs = part.recurs(self.data, &all, self.names, &self.deadline.share(HALVES))?;
            *cut |= recurs.is_none() && self.deadline.left().is_some();
        }
        self.tell(folds + 2, folds, observer);
        let mut outcome = part.search(begun.subset, &svm, &self.deadline.share(SEARCH), Some(self.limits), observer)?;
        let exchanges = recurs.as_deref().filter(|_| self.settles());
        outcome = part.settle(outcome, exchanges, &svm, &self.deadline.share(0.5))?;
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
        let stand_ins = match outcome.objective.zip(outcome.yardstick) {
            Some((objective, yardstick)) => part.stand_ins((&features, objective, yardstick), &svm, &self.deadline)?,
            None => vec![Vec::new(); features.len()],
        };
        let scale = |j: &usize| part.part.learnt.scaling.scale.get(*j).copied().unwrap_or(1.0);
        let of_model = apart(&model, &table, &features.iter().map(scale).collect::<Vec<f64>>());
        let place = |j: &usize| features.binary_search(j).expect("the order is one of the panel");
        Ok(Some(MarkerPanel {
            table: ordered.iter().map(|j| table[place(j)].clone()).collect(),
            apart: ordered.iter().map(|j| of_model[place(j)].clone()).collect(),
            standing: ordered
                .iter()
                .map(|j| Standing {
                    recurs: recurs.as_ref().filter(|of| of.iter().any(|share| *share > 0.0)).map(|of| of[*j]),
                    replaceable_by: stand_ins[place(j)].clone(),
                })
                .collect(),
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
