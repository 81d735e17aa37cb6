//! Bit-Flip and Attribute-Flip: the neighbours of a subset, judged by cross-validation.
//!
//! Solves   nothing exactly: a local search on cross-validated accuracy.
//! Paper    Samb, Camara, Ndiaye, Slimani, Esseghir 2012, as described by Krupka 2016, section 2.8.
//! Given    [`Samples`], Rules, a subset to start from, [`FlipSettings`].      Returns  the best
//!          subset seen, its accuracy and cost.
//! Steps    1. neighbours: Bit-Flip, the subset with one unit more or less; Attribute-Flip, one
//!          unit swapped for another
//!          2. every allowed neighbour is cross-validated for every cost (the number of trainings
//!             is reported first)
//!          3. the best one takes the subset's place if its accuracy is larger, or as large with
//!             fewer features
//!          4. again, as long as that happened and passes are left
//! Cost     Bit-Flip: p subsets per pass; Attribute-Flip: k (p - k). Each is folds x costs x pairs
//!          trainings and n^2.
//! Differs  the subset, too, is judged by cross-validation, and neighbours that the rules forbid
//!          are left out.
//! Fails    never on limits: the best subset so far and a status; before anything was judged, the
//!          start without an accuracy.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::json;

use fewest::internals::kernel_setup::{begin, check_start, without_gamma};
use fewest::kernel::KernelRule;
use fewest::kernel_oracle::{Change, Criterion, KernelOracle};
use fewest::method::rfe::{RfeSettings, Step, rfe_classes};
use fewest::method::{Method, Report};
use fewest::validation::{CrossValidation, Folds, ROUNDING, SamplesByClass, check_costs};
use fewest::{
    Choice, Error, Event, Limits, Observer, Outcome, Rules, Run, Samples, Selection, Sense, Status, Subset, SvmSettings,
};

/// Neighbours judged between two checks of the limits.
const BATCH: usize = 64;

/// Neighbours of a subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flip {
    /// One unit more or less.
    Bit,
    /// One unit for another.
    Attribute,
}

/// Settings of [`flip`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlipSettings {
    /// Neighbours of a subset.
    pub flip: Flip,
    /// The SVM trained; its cost is not used.
    pub svm: SvmSettings,
    /// The kernel of the SVM.
    pub kernel: KernelRule,
    /// Costs to choose from, ascending; in a tie the smaller one is taken.
    pub costs: Vec<f64>,
    /// Folds of the samples.
    pub folds: Folds,
    /// Most passes, at least 1; none: until nothing improves.
    pub passes: Option<u64>,
}

impl FlipSettings {
    /// Checks every number against its range.
    pub fn check(&self) -> Result<(), Error> {
        self.svm.check()?;
        self.kernel.check()?;
        check_costs(&self.costs)?;
        if self.passes == Some(0) {
            return Err(Error::setting("passes", 0, "at least 1"));
        }
        Ok(())
    }
}

impl Default for FlipStart {
    fn default() -> Self {
        Self::Rfe { step: Step::Count(1), criterion: Criterion::Weights }
    }
}

/// Start of a flip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlipStart {
    /// From what SVM-RFE ends with, the paper's choice.
    Rfe {
        /// How many features leave in one step.
        step: Step,
        /// Criterion that ranks features.
        criterion: Criterion,
    },
    /// From these features, ascending.
    Features(Vec<usize>),
}

fewest::settings! {
    /// Settings of `bit-flip` and `attribute-flip`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FlipSearch {
        /// The SVM trained. Its cost is that of SVM-RFE; the search has `costs`.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// The kernel of the SVM.
        pub kernel: KernelRule = KernelRule::default(),
        /// Costs to choose from, ascending; in a tie the smaller one is taken.
        pub costs: Vec<f64> = vec![SvmSettings::default().cost] => "ascending numbers above 0",
        /// Folds of the samples.
        pub folds: Folds = Folds::default(),
        /// Most passes, at least 1; none: until nothing improves.
        pub passes: Option<u64> = Some(1) => "at least 1",
        /// Start of the search.
        pub start: FlipStart = FlipStart::default(),
    }
}

impl FlipSearch {
    fn rfe(&self, step: Step, criterion: Criterion) -> RfeSettings {
        RfeSettings { svm: self.svm.clone(), kernel: self.kernel, criterion, step, ..RfeSettings::default() }
    }

    fn flip(&self, flip: Flip) -> FlipSettings {
        let Self { svm, kernel, costs, folds, passes, .. } = self.clone();
        FlipSettings { flip, svm, kernel, costs, folds, passes }
    }

    /// Checks every number against its range, for p features.
    pub(super) fn check(&self, p: usize) -> Result<(), Error> {
        self.flip(Flip::Bit).check()?;
        match &self.start {
            FlipStart::Rfe { step, criterion } => self.rfe(*step, *criterion).check(p),
            FlipStart::Features(features) => check_start(Some(features), p),
        }
    }

    /// Finds the start, then searches around it.
    pub(super) fn run(
        &self,
        kind: Flip,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        self.check(rules.p())?;
        let begun = Instant::now();
        let size = rules.most_features();
        let (kernel, limits) = match begin(&self.kernel, samples, rules, size, limits, Sense::Max, observer)? {
            Ok(begun) => begun,
            Err(stopped) => return Ok(without_gamma(*stopped, &self.kernel)),
        };
        let searched = Instant::now();
        let resolved = Self { kernel, ..self.clone() };
        let start = match &self.start {
            FlipStart::Features(features) => Subset::from_indices(rules.p(), features.iter().copied()),
            FlipStart::Rfe { step, criterion } => {
                let rfe = resolved.rfe(*step, *criterion);
                let found = rfe_classes(samples, rules, &rfe, limits.clone(), observer)?.selection;
                match found.outcome.subset.clone() {
                    Some(subset) => subset,
                    None => return Ok(Report::of_rule(found, &kernel)),
                }
            }
        };
        let limits = limits.after(searched);
        let mut report = flip(samples, rules, &start, &resolved.flip(kind), limits, observer)?;
        report.selection.outcome.elapsed = begun.elapsed();
        let accuracy = report.selection.outcome.objective;
        let from = json!({"selected_indices": start.iter().collect::<Vec<_>>(), "accuracy": report.start});
        let out = Report::of_rule(report.selection, &kernel)
            .detail("accuracy", accuracy)
            .detail("cost", report.cost)
            .detail("start", from)
            .detail("passes", report.passes)
            .detail("trainings", report.trainings);
        Ok(match report.cost {
            Some(cost) => out.with_cost(cost),
            None => out,
        })
    }
}

/// Result of [`flip`].
#[derive(Debug, Clone)]
pub struct FlipReport {
    /// The best subset seen; its objective is its accuracy.
    pub selection: Selection,
    /// The slack cost that was chosen; none where a limit came before anything was judged: then the
    /// subset is the one it started from.
    pub cost: Option<f64>,
    /// Accuracy of the subset it started from, where it was judged.
    pub start: Option<f64>,
    /// Accuracy after each pass.
    pub passes: Vec<f64>,
    /// Trainings done.
    pub trainings: u64,
}

/// Searches around `start`, a subset that the rules allow. Where that is the empty one, it starts
/// at the first feature that may be chosen, and what that implies.
///
/// # Errors
/// Settings out of range, more memory needed than allowed, or a start that the rules forbid.
pub fn flip(
    data: &Samples<'_>,
    rules: &Rules,
    start: &Subset,
    settings: &FlipSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FlipReport, Error> {
    settings.check()?;
    let nothing = start.p() == rules.p() && start.is_empty() && rules.allows(start);
    let first = if nothing { smallest_allowed(rules) } else { None };
    let start = first.as_ref().unwrap_or(start);
    let kernel = settings.kernel.resolve(data.design(), rules.most_features())?;
    let settings = &FlipSettings { kernel, ..settings.clone() };
    if start.p() != rules.p() || !rules.allows(start) {
        let size = start.len();
        return Err(Error::Rules(format!(
            "the subset to start from ({size} features) breaks the rules; start from another"
        )));
    }
    let mut run = Run::new(rules, limits, Sense::Max, observer)?;
    let grouped = SamplesByClass::new(data, &settings.svm, run.memory())?;
    let validation = CrossValidation::new(&grouped, &settings.folds, &settings.costs, &settings.svm)?;
    let place = |subset: &Subset| KernelOracle::new(&grouped, rules, subset.clone(), settings.kernel, &settings.svm);
    let mut oracle = place(start)?;
    let Some(first) = oracle.cross_validate(&validation, &run.clock()) else {
        let status = run.stop().unwrap_or(Status::Cancelled);
        let outcome = Outcome { subset: Some(start.clone()), ..run.finish(status) };
        let selection = Selection { outcome, ranking: Vec::new(), solutions: Vec::new() };
        return Ok(FlipReport { selection, cost: None, start: None, passes: Vec::new(), trainings: 0 });
    };
    let (at, mut accuracy) = first.best();
    let (mut cost, mut trainings) = (validation.costs()[at], first.trainings);
    run.counts.solver_iterations += first.iterations;
    run.offer(start, accuracy);
    let mut report = Vec::new();
    let begun = accuracy;
    let status = 'passes: loop {
        if settings.passes.is_some_and(|most| report.len() as u64 >= most) {
            break Status::Completed;
        }
        let neighbours = neighbours(rules, oracle.subset(), settings.flip);
        let subsets = neighbours.len() as u64;
        run.tell(&Event::Plan { subsets, trainings: subsets * validation.trainings() });
        let mut best: Option<(Subset, f64, f64)> = None;
        for (number, batch) in neighbours.chunks(BATCH).enumerate() {
            let done = (number * BATCH) as u64;
            run.tell(&Event::Progress { done, total: Some(subsets), elapsed: run.elapsed() });
            let changes: Vec<Change> = batch.iter().map(|n| n.1.clone()).collect();
            let scored = match run.stop() {
                None => oracle.cross_validate_changes(&changes, &validation, &run.clock()),
                Some(_) => None,
            };
            let Some(scored) = scored else { break 'passes run.stop().unwrap_or(Status::Cancelled) };
            for ((subset, _), scored) in batch.iter().zip(scored) {
                let (at, found) = scored.best();
                trainings += scored.trainings;
                run.counts.solver_iterations += scored.iterations;
                let better = |(known, than, _): &(Subset, f64, f64)| {
                    found > than + ROUNDING || (found >= than - ROUNDING && subset.len() < known.len())
                };
                if best.as_ref().is_none_or(better) {
                    best = Some((subset.clone(), found, validation.costs()[at]));
                }
            }
        }
        run.counts.oracle_calls += subsets;
        let improves = |(subset, found, _): &(Subset, f64, f64)| {
            let fewer = subset.len() < oracle.subset().len();
            *found > accuracy + ROUNDING || (*found >= accuracy - ROUNDING && fewer)
        };
        let Some((subset, found, at)) = best.filter(improves) else {
            report.push(accuracy);
            break Status::Completed;
        };
        (accuracy, cost) = (accuracy.max(found), at);
        run.offer(&subset, accuracy);
        oracle = place(&subset)?;
        report.push(accuracy);
        // What the next pass starts from; where time is up, its first check of the limits ends it.
        oracle.cross_validate(&validation, &run.clock());
    };
    let selection = Selection { outcome: run.finish(status), ranking: Vec::new(), solutions: Vec::new() };
    Ok(FlipReport { selection, cost: Some(cost), start: Some(begun), passes: report, trainings })
}

/// The allowed subset around the first feature that may be chosen; none where the rules allow no
/// feature at all.
fn smallest_allowed(rules: &Rules) -> Option<Subset> {
    let p = rules.p();
    (0..p).filter(|&j| rules.root()[rules.unit_of(j)] != Choice::Out).find_map(|j| {
        let mut gains = vec![-1.0; p];
        gains[j] = 2.0 * p as f64;
        rules.best_subset(&gains).map(|best| best.0).filter(|subset| subset.contains(j))
    })
}

/// Allowed neighbours of a subset, and what changes to get there.
fn neighbours(rules: &Rules, subset: &Subset, flip: Flip) -> Vec<(Subset, Change)> {
    let free = (0..rules.n_units()).filter(|&u| rules.root()[u] == Choice::Free);
    let (inside, outside): (Vec<usize>, Vec<usize>) = free.partition(|&u| subset.contains(rules.unit(u)[0]));
    let changed = |leaving: Option<usize>, coming: Option<usize>| {
        let (mut other, mut change) = (subset.clone(), Change::new());
        for &j in leaving.iter().flat_map(|&u| rules.unit(u)) {
            other.remove(j);
            change.push((j, -1.0));
        }
        for &j in coming.iter().flat_map(|&u| rules.unit(u)) {
            other.insert(j);
            change.push((j, 1.0));
        }
        (!other.is_empty() && rules.allows(&other)).then_some((other, change))
    };
    match flip {
        Flip::Bit => {
            let fewer = inside.iter().map(|&u| (Some(u), None));
            fewer.chain(outside.iter().map(|&u| (None, Some(u)))).filter_map(|(l, c)| changed(l, c)).collect()
        }
        Flip::Attribute => inside
            .iter()
            .flat_map(|&l| outside.iter().map(move |&c| (l, c)))
            .filter_map(|(l, c)| changed(Some(l), Some(c)))
            .collect(),
    }
}
