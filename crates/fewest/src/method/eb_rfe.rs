//! EB-RFE: evaluation-based elimination. At each step the candidate whose removal cross-validates
//! best leaves.
//!
//! Solves   nothing exactly: a greedy descent guided by cross-validated accuracy.
//! Paper    Krupka 2016, Algorithm 3; section 3.5 for the number of candidates that adapts.
//! Given    [`Samples`], Rules, [`EbRfeSettings`].
//! Returns  the best subset found, or the smallest that is nearly as accurate, its accuracy and
//!          cost, the whole curve.
//! Steps    1. every candidate set (the survivors without one unit) is cross-validated for every
//!          cost
//!          2. the one of largest accuracy survives, ties to the unit of smaller criterion; it is
//!             offered as the best subset (ties to the smaller set)
//!          3. train on the survivors with their best cost and rank the units by the criterion
//!          4. the K units of smallest criterion that may leave by the rules are the next
//!             candidates; until none may go
//! Cost     per step K kernel matrices by one update each (n^2), K x folds x costs x pairs
//!          trainings from the solutions of the survivors, and one ranking. Work is shared out by
//!          candidates and folds; the result is the same for any number of threads.
//! Differs  from the text: the first step judges the full set once, not K times. K = 1 is SVM-RFE
//!          with its cost tuned at every step. Subsets that the rules forbid (too large, say) are
//!          passed through, not offered.
//! Fails    never on limits: with no allowed subset so far, the last ranking decides, and the
//!          status says so.

use serde::{Deserialize, Serialize};

use super::kernel_setup::{begin, check_start, within, without_gamma};
use super::rfe::master::RemovalRules;
use super::rfe::{best_of, check_criterion, permitted};
use super::{ALL_RULES, Classes, Info, Method, Report};
use crate::kernel::KernelRule;
use crate::kernel_oracle::{Change, Criterion, KernelOracle};
use crate::run::state::stranger;
use crate::validation::{CrossValidation, CvScore, Folds, ROUNDING, SamplesByClass, Summary, check_costs};
use crate::{
    Clock, Error, Event, Limits, Observer, Outcome, Ranked, Rules, Run, Samples, Selection, Sense, Status, Subset,
    SvmSettings,
};

/// Name of the method, on the command line and in its states.
const NAME: &str = "eb-rfe";

crate::settings! {
    /// Settings of [`eb_rfe`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct EbRfeSettings {
        /// The SVM trained; its cost is not used.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// The kernel of the SVM.
        pub kernel: KernelRule = KernelRule::default(),
        /// Criterion that ranks features.
        pub criterion: Criterion = Criterion::Weights,
        /// K, candidates per step, at least 1.
        pub candidates: usize = 3 => [at least 1],
        /// With a ratio r, at least 1: only units whose criterion exceeds the smallest by at most (r -
        /// 1) times its size are candidates: many where the smallest are close, one where they are not.
        pub adaptive: Option<f64> = None => "at least 1",
        /// The smallest subset is returned whose accuracy is at most this below the best one's; a share
        /// of the samples, at least 0 and below 1 (thesis, section 3.3). None: one standard error of
        /// the best one's accuracy over the folds.
        pub accuracy_loss: Option<f64> = Some(0.0) => "at least 0 and below 1",
        /// Costs to choose from, ascending; in a tie the smaller one is taken.
        pub costs: Vec<f64> = vec![0.0625, 0.25, 1.0, 4.0, 16.0, 64.0] => "ascending numbers above 0",
        /// Folds of the samples.
        pub folds: Folds = Folds::default(),
        /// The features that it begins with, in any order; the others never enter.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub start: Option<Vec<usize>> = None,
    }
}

impl Method for EbRfeSettings {
    const INFO: Info = Info {
        name: NAME,
        title: "evaluation-based elimination: cross-validation picks among the smallest",
        solves: "At each step cross-validates the K subsets that lack one of the K features of smallest criterion, for every cost, keeps the best, and goes on until one feature is left. Returns the best subset seen, ties to the smaller one, or with `accuracy_loss` the smallest that is nearly as good, and the curve of all steps. `candidates` 1 is SVM-RFE with its cost tuned at every step.",
        formula: "criterion as for rfe; next set = argmax of the mean accuracy over the folds, over K candidates and all costs",
        proves: "nothing: a heuristic; its objective is the accuracy it chose by, which is optimistic (see fewest evaluate)",
        bounds: false,
        searches: false,
        kernels: "linear, rbf, laplace, poly, sigmoid",
        classes: Classes::Any,
        rules: ALL_RULES,
        cost: "per step K x folds x costs x pairs of classes warm-started trainings on one n x n matrix",
        paper: "T. Krupka: SVM classifiers and heuristics for feature selection. 2016, Algorithm 3.",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias.absorbs_constants(self.kernel.kernel())
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        check_start(self.start.as_deref(), p)?;
        self.kernel.check()?;
        check_criterion(self.criterion, &self.kernel)?;
        check_costs(&self.costs)?;
        crate::Settings::in_range(self)?;
        if let Some(loss) = self.accuracy_loss.filter(|loss| !(0.0..1.0).contains(loss)) {
            return Err(Error::setting("accuracy_loss", loss, "at least 0 and below 1"));
        }
        match self.adaptive {
            Some(ratio) if !(ratio >= 1.0 && ratio.is_finite()) => {
                Err(Error::setting("adaptive", ratio, "a finite number, 1 or more"))
            }
            _ => Ok(()),
        }
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let (kernel, limits) =
            match begin(&self.kernel, samples, rules, rules.most_features(), limits, Sense::Max, observer)? {
                Ok(begun) => begun,
                Err(stopped) => return Ok(without_gamma(*stopped, &self.kernel)),
            };
        let settings = Self { kernel, ..self.clone() };
        let report = eb_rfe(samples, rules, &settings, limits, observer)?;
        let accuracy = report.selection.outcome.objective;
        Ok(Report::of_rule(report.selection, &kernel)
            .with_cost(report.cost)
            .detail("accuracy", accuracy)
            .detail("cost", report.cost)
            .detail("trainings", report.trainings)
            .detail("curve", report.curve))
    }
}

/// One step of the curve.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EbStep {
    /// Surviving features.
    pub n_features: usize,
    /// Mean accuracy over the folds of the surviving set, at its best cost.
    pub accuracy: f64,
    /// That cost.
    pub cost: f64,
    /// Accuracy of every candidate, in the order of their criteria.
    pub candidates: Vec<f64>,
    /// Accuracy of each fold.
    pub folds: Vec<f64>,
    /// Features that left to get here, with the criterion of their unit; empty for the full set.
    pub left: Vec<(usize, f64)>,
}

/// The progress of a run: all that [`eb_rfe`] needs to go on, with the same result as without an
/// interruption.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
struct EbRfeState {
    /// The steps done.
    curve: Vec<EbStep>,
    /// The last answer, from which the next cross-validations start.
    scored: Option<CvScore>,
    /// Trainings done.
    trainings: u64,
}

/// Result of [`eb_rfe`].
#[derive(Debug, Clone)]
pub struct EbRfeReport {
    /// The best allowed subset found; its objective is its accuracy.
    pub selection: Selection,
    /// The slack cost that was chosen.
    pub cost: f64,
    /// All steps.
    pub curve: Vec<EbStep>,
    /// Trainings done.
    pub trainings: u64,
}

/// EB-RFE. The observer receives the state after every step, as [`Event::Checkpoint`], and a run
/// resumes from the state it has, with the same result as without an interruption.
///
/// # Errors
/// Settings out of range, more memory needed than allowed, or a state of another problem.
pub fn eb_rfe(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &EbRfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<EbRfeReport, Error> {
    settings.check(rules.p())?;
    let rules = &*within(rules, settings.start.as_deref())?;
    let kernel = settings.kernel.resolve(data.design(), rules.most_features())?;
    let settings = &EbRfeSettings { kernel, ..settings.clone() };
    let mut run = Run::new(rules, limits, Sense::Max, observer)?;
    let grouped = SamplesByClass::new(data, &settings.svm, run.memory())?;
    let validation = CrossValidation::new(&grouped, &settings.folds, &settings.costs, &settings.svm)?;
    let state = run.resume(NAME)?.map(|mut state| state.take()).transpose()?;
    let mut steps = Steps::new(&grouped, rules, settings, state.unwrap_or_default(), &mut run)?;
    let status = loop {
        if let Some(status) = run.stop() {
            break status;
        }
        let (done, total) = (steps.state.curve.len() as u64, rules.p() as u64);
        run.tell(&Event::Progress { done, total: Some(total), elapsed: run.elapsed() });
        // Step 4, from the ranking of the step before.
        let Some(candidates) = steps.candidates(&mut run) else { break Status::Completed };
        if candidates.is_empty() {
            continue;
        }
        // Step 1.
        let Some(scored) = steps.judge(&candidates, &validation, &run.clock()) else { continue };
        // Steps 2 and 3.
        steps.advance(&candidates, scored, &validation, &mut run);
        run.keep(NAME, false, |out| out.put(&steps.state));
    };
    run.keep(NAME, true, |out| out.put(&steps.state));
    let last = if run.incumbent().is_none() { Some(steps.wind_up(&validation, &mut run)) } else { None };
    let ranking = steps.ranking();
    run.counts.oracle_calls = steps.state.curve.len() as u64;
    let outcome = run.finish(status);
    let mut outcome = Outcome { subset: outcome.subset.clone().or(last), ..outcome };
    let mut cost = steps.best_cost;
    if let Some((subset, step)) = outcome.objective.and_then(|best| steps.smallest(best - steps.loss(best))) {
        (outcome.subset, outcome.objective, cost) = (Some(subset), Some(step.accuracy), step.cost);
    }
    let EbRfeState { curve, trainings, .. } = steps.state;
    let selection = Selection { outcome, ranking, solutions: Vec::new() };
    Ok(EbRfeReport { selection, cost, curve, trainings })
}

/// A unit that may go, with its criterion; none stands for the full set.
type Candidate = Option<(usize, f64)>;

struct Steps<'a> {
    oracle: KernelOracle<'a>,
    removal: RemovalRules<'a>,
    rules: &'a Rules,
    settings: &'a EbRfeSettings,
    state: EbRfeState,
    /// Criteria of the survivors, smallest first; empty until they are trained on.
    ranking: Vec<(usize, f64)>,
    best_cost: f64,
}

impl<'a> Steps<'a> {
    /// At the start, or where a state left off: features leave in the same order, so that every
    /// number is the same again.
    fn new(
        grouped: &'a SamplesByClass<'a>,
        rules: &'a Rules,
        settings: &'a EbRfeSettings,
        state: EbRfeState,
        run: &mut Run<'_>,
    ) -> Result<Self, Error> {
        let survivors = permitted(rules);
        let removal = RemovalRules::new(rules, &survivors);
        let mut oracle = KernelOracle::new(grouped, rules, survivors, settings.kernel, &settings.svm)?;
        let mut best_cost = settings.costs[0];
        for step in &state.curve {
            let leaving: Vec<usize> = step.left.iter().map(|l| l.0).collect();
            if leaving.iter().any(|&j| j >= rules.p() || !oracle.subset().contains(j)) {
                return Err(stranger("it drops features that this run does not have"));
            }
            oracle.remove_again(&leaving);
            oracle.set_cost(step.cost);
            run.offer(oracle.subset(), step.accuracy);
            if run.incumbent() == Some((oracle.subset(), step.accuracy)) {
                best_cost = step.cost;
            }
        }
        if let Some(scored) = &state.scored {
            oracle.start_from(scored.clone());
        }
        Ok(Self { oracle, removal, rules, settings, state, ranking: Vec::new(), best_cost })
    }

    /// Step 4; none when no unit may go, an empty list when the run was stopped.
    fn candidates(&mut self, run: &mut Run<'_>) -> Option<Vec<Candidate>> {
        if self.state.curve.is_empty() {
            return Some(vec![None]);
        }
        // Step 3.
        if self.ranking.is_empty() {
            let machines = self.oracle.train_afresh(&run.counted_clock());
            run.counts.solver_iterations += machines.iter().map(|m| m.iterations).sum::<u64>();
            let ranking =
                if run.stop().is_none() { self.oracle.ranking(self.settings.criterion, &run.clock()) } else { None };
            let Some(ranking) = ranking else { return Some(Vec::new()) };
            self.ranking = ranking;
        }
        let mut found: Vec<Candidate> = Vec::new();
        let mut limit = f64::INFINITY;
        for &(unit, criterion) in &self.ranking {
            let last = self.oracle.subset().len() == self.rules.unit(unit).len();
            if found.len() == self.settings.candidates || criterion > limit || last {
                break;
            }
            if self.removal.may_leave(unit, self.oracle.subset()) {
                if let (Some(ratio), true) = (self.settings.adaptive, found.is_empty()) {
                    limit = criterion + (ratio - 1.0) * criterion.abs();
                }
                found.push(Some((unit, criterion)));
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Step 1.
    fn judge(
        &mut self,
        candidates: &[Candidate],
        validation: &CrossValidation<'_>,
        clock: &Clock,
    ) -> Option<Vec<CvScore>> {
        self.oracle.prepare(clock).ok()?;
        let change = |c: &Candidate| -> Change {
            c.iter().flat_map(|&(unit, _)| self.rules.unit(unit).iter().map(|&j| (j, -1.0))).collect()
        };
        let changes: Vec<Change> = candidates.iter().map(change).collect();
        self.oracle.cross_validate_changes(&changes, validation, clock)
    }

    /// Step 2.
    fn advance(
        &mut self,
        candidates: &[Candidate],
        mut scored: Vec<CvScore>,
        validation: &CrossValidation<'_>,
        run: &mut Run<'_>,
    ) {
        let accuracies: Vec<f64> = scored.iter().map(|s| s.best().1).collect();
        let mut best = 0;
        for at in 1..accuracies.len() {
            if accuracies[at] > accuracies[best] + ROUNDING {
                best = at;
            }
        }
        run.counts.solver_iterations += scored.iter().map(|s| s.iterations).sum::<u64>();
        self.state.trainings += scored.iter().map(|s| s.trainings).sum::<u64>();
        let chosen = scored.swap_remove(best);
        let (at, accuracy) = chosen.best();
        // Means that differ by rounding alone are one value, so that the smaller of two sets wins.
        let accuracy = (accuracy / ROUNDING).round() * ROUNDING;
        let cost = validation.costs()[at];
        let left: Vec<(usize, f64)> = candidates[best]
            .iter()
            .flat_map(|&(unit, criterion)| self.rules.unit(unit).iter().map(move |&j| (j, criterion)))
            .collect();
        let number = self.state.curve.len() as u64;
        for &(feature, criterion) in &left {
            run.tell(&Event::Eliminated { step: number, feature, criterion });
        }
        self.oracle.remove(&left.iter().map(|l| l.0).collect::<Vec<_>>());
        self.oracle.set_cost(cost);
        if run.offer(self.oracle.subset(), accuracy) {
            self.best_cost = cost;
        }
        self.state.curve.push(EbStep {
            n_features: self.oracle.subset().len(),
            accuracy,
            cost,
            candidates: accuracies,
            folds: chosen.of(at).to_vec(),
            left,
        });
        self.oracle.start_from(chosen.clone());
        self.state.scored = Some(chosen);
        self.ranking = Vec::new();
    }

    /// The loss of accuracy that is allowed below the best one.
    fn loss(&self, best: f64) -> f64 {
        let error = || {
            let (_, step) = self.smallest(best)?;
            Summary::new(&step.folds, 0.0).se
        };
        self.settings.accuracy_loss.or_else(error).unwrap_or(0.0)
    }

    /// The smallest allowed subset seen whose accuracy is at least this, with its step.
    fn smallest(&self, accuracy: f64) -> Option<(Subset, &EbStep)> {
        let mut survivors = permitted(self.rules);
        let mut found = None;
        for step in &self.state.curve {
            for &(feature, _) in &step.left {
                survivors.remove(feature);
            }
            if step.accuracy >= accuracy - ROUNDING && self.rules.allows(&survivors) {
                found = Some((survivors.clone(), step));
            }
        }
        found
    }

    /// A limit came before any allowed subset: the last ranking decides, or one by a training that
    /// is cut short. Returns the subset; it is offered where there is time to judge it.
    fn wind_up(&mut self, validation: &CrossValidation<'_>, run: &mut Run<'_>) -> Subset {
        let clock = run.wind_up(1.0);
        if self.ranking.is_empty() {
            let half = run.wind_up(0.5);
            self.oracle.train_afresh(&half);
            let known = self.oracle.ranking(self.settings.criterion, &half);
            self.ranking = known.unwrap_or_else(|| self.oracle.ranking_by_weights());
        }
        let lowest = self.ranking.first().map_or(0.0, |r| r.1);
        let range = self.ranking.last().map_or(0.0, |r| r.1 - lowest);
        let little = 1e-9 * if range > 0.0 { range } else { 1.0 };
        let mut gains = vec![-1e100; self.rules.p()];
        for &(unit, criterion) in &self.ranking {
            for &j in self.rules.unit(unit) {
                gains[j] = (criterion - lowest + little) / self.rules.unit(unit).len() as f64;
            }
        }
        let subset = best_of(self.rules, &gains, self.oracle.subset(), &clock);
        let leaving: Vec<usize> = self.oracle.subset().difference(&subset).collect();
        self.oracle.remove(&leaving);
        if let Some(scored) = self.oracle.cross_validate(validation, &clock) {
            let (at, accuracy) = scored.best();
            self.best_cost = validation.costs()[at];
            run.offer(&subset, accuracy);
        }
        subset
    }

    /// All features, best first: survivors by their last criterion, then those that left, last ones
    /// first.
    fn ranking(&self) -> Vec<Ranked> {
        let mut all: Vec<Ranked> = Vec::new();
        let mut rank = |feature: usize, step: Option<u64>, criterion: f64| {
            all.push(Ranked { feature, rank: all.len() + 1, step, criterion });
        };
        let mut listed = Subset::empty(self.rules.p());
        let gone: Vec<(usize, u64, f64)> = (self.state.curve.iter().enumerate())
            .flat_map(|(step, s)| s.left.iter().map(move |&(j, criterion)| (j, step as u64, criterion)))
            .collect();
        for &(feature, ..) in &gone {
            listed.insert(feature);
        }
        for &(unit, criterion) in self.ranking.iter().rev() {
            for &feature in self.rules.unit(unit).iter().filter(|&&j| listed.insert(j)) {
                rank(feature, None, criterion);
            }
        }
        let start = permitted(self.rules);
        for feature in start.iter().filter(|&j| listed.insert(j)) {
            rank(feature, None, 0.0);
        }
        for &(feature, step, criterion) in gone.iter().rev() {
            rank(feature, Some(step), criterion);
        }
        for feature in (0..self.rules.p()).filter(|&j| !start.contains(j)) {
            rank(feature, Some(0), 0.0);
        }
        all
    }
}
