//! GBD: the allowed subset with the best SVM, proven, by Generalized Benders Decomposition.
//!
//! Solves   min_z v(z) + sum_j lambda_j z_j  s.t. rules, v(z) the optimum of the linear SVM (hinge
//!          or squared hinge, any bias) on the features of z. GBD-M is a size limit in the rules
//!          and no lambda; GBD-lambda is a lambda.
//! Paper    Aytug, Feature selection for support vector machines using Generalized Benders
//!          Decomposition, EJOR 244 (2015): FSP-M, FSP-lambda, GBD-M (Table 1), GBD-lambda;
//!          eqs. (5)-(15).
//! Given    Problem (n samples, p features), Rules, [`GbdSettings`].
//! Returns  subset, objective, proven bound, status; every subset trained on, with its objective
//!          and validation error.
//! Steps    1. SUB: train the SVM on a subset; its objective is an upper value
//!          2. cut: `eta >= constant - sum_j z_j c_j^2 / 2` over all p features ([`crate::saddle`])
//!          3. RMP: the subset of least value by the cuts, a mixed-integer program
//!             (`master/cuts.rs`); its bound is proven
//!          4. until the gap is met, or a limit, the cap on cuts, or the validation rule says stop
//! Rules    rows of the master; no feasibility cuts are needed, since every subset has an SVM.
//! Cost     per cut: a training and n p; the masters take most of the time, and more with every
//!          cut; memory: cuts times p.
//! Differs  from the paper: written as a minimisation, so its UB is our bound and its LB our
//!          objective. The first subset, which the paper leaves open, is the first features by
//!          index that the rules allow. [`GbdSettings::plain`] differs in nothing else; by default
//!          there are improvements, each with its setting:
//!          - `warm_start`: a training starts from the last beta, a master from the best subset
//!            (the paper's own suggestion);
//!          - `root_cuts`: before step 3 the master with fractional z is solved, by cuts at
//!            fractional points (the SVM on columns `sqrt(z_j) x_j`), each halfway between the best
//!            fractional point known and the relaxation's optimum (in-out separation: Ben-Ameur,
//!            Neto, Networks 49 (2007)), from the middle of what the rules allow. The best
//!            fractional point is rounded to a subset whenever that gives a new one;
//!          - `core_cuts`: each round adds a second cut, at the core point, a moving average of the
//!            subsets the masters gave; it has all its z_j above 0 at first, so the cut is
//!            Pareto-optimal (Magnanti, Wong 1981; Papadakos 2008);
//!          - `cutoff`: a master only looks for subsets better than the best known by more than the
//!            gap allowed, and takes one as soon as its own gap is as small as the run's. When
//!            there is none, the proof is complete.
//! Bound    is as exact as HiGHS's tolerances: 1e-6 of the objective. Gaps below that end as
//!          `stalled`.
//! Fails    never on limits: the best subset so far is returned. Errors: settings out of range, a
//!          failure of HiGHS.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{ALL_RULES, Classes, Info, Method, Report, check_penalty};
use crate::master::cuts::{CutMaster, Found, indicator};
use crate::saddle::{AlphaHalf, Value};
use crate::{
    Design, DualSolution, Error, Event, Kernel, Limits, Master, Next, Observer, Oracle, Problem, Rules, Run, Samples,
    Selection, Sense, Status, Subset, SvmSettings, drive,
};

/// What a training may still take after a limit was reached, so that there is a subset with an
/// objective that means something.
const WIND_UP: Duration = Duration::from_secs(1);
/// Step 3 starts when the relaxation is solved to this gap.
const ROOT_GAP: f64 = 0.02;
/// Where root cuts are made between the best fractional point (0) and the relaxation's optimum (1).
const IN_OUT: f64 = 0.5;
/// Weight of the newest subset in the core point.
const NEWEST: f64 = 0.6;
/// The largest gap a master may be solved to.
const LOOSEST: f64 = 0.1;
/// The smallest one: HiGHS's tolerances allow no smaller.
const TIGHTEST: f64 = 1e-6;
/// Share of the gap asked for that the cutoff leaves out of sight; the rest is room for rounding.
const OUT_OF_SIGHT: f64 = 0.9;

/// Data to judge classifiers by that they were not trained on.
#[derive(Clone)]
pub struct Validation {
    /// Samples with the same p features, prepared in the same way.
    pub design: Arc<dyn Design>,
    /// Their labels, -1 or +1.
    pub labels: Vec<f64>,
    /// Stop, with status `completed`, after this many subsets in a row without a smaller error; at
    /// least 1. None: never.
    pub patience: Option<u64>,
}

impl std::fmt::Debug for Validation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Validation({} samples, patience {:?})", self.labels.len(), self.patience)
    }
}

/// Settings of [`gbd`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "four improvements, each on or off whatever the others are")]
pub struct GbdSettings {
    /// The SVM of v. Its tolerance should be well below the gap asked for. Default as
    /// [`SvmSettings`].
    pub svm: SvmSettings,
    /// lambda_j, the price of each feature, length p, each finite and 0 or more; empty for none.
    /// Default empty.
    pub penalty: Vec<f64>,
    /// Stop after this many cuts, which is as many trainings; at least 1. The master is solved once
    /// more after the last. Default 250, the paper's.
    pub max_cuts: u64,
    /// Judge every classifier on these data. Default none.
    #[serde(skip)]
    pub validation: Option<Validation>,
    /// Start each training and each master from the last. Default yes.
    pub warm_start: bool,
    /// Solve the relaxation of the master first, by cuts at fractional points. Default yes.
    pub root_cuts: bool,
    /// A second cut per round, at the core point. Default yes.
    pub core_cuts: bool,
    /// Let a master look only for subsets that improve on the best, and end early. Default yes.
    pub cutoff: bool,
}

impl Default for GbdSettings {
    fn default() -> Self {
        Self { warm_start: true, root_cuts: true, core_cuts: true, cutoff: true, ..Self::plain() }
    }
}

impl GbdSettings {
    /// The paper's text: no improvement.
    pub fn plain() -> Self {
        Self {
            svm: SvmSettings::default(),
            penalty: Vec::new(),
            max_cuts: 250,
            validation: None,
            warm_start: false,
            root_cuts: false,
            core_cuts: false,
            cutoff: false,
        }
    }
}

impl Method for GbdSettings {
    const INFO: Info = Info {
        name: "gbd",
        title: "Generalized Benders Decomposition, as published",
        solves: "Trains the SVM on a subset, turns the training into a cut over all features, and asks a mixed-integer program (HiGHS) for the next subset, until bound and best subset meet. `exact` proves the same values, mostly sooner.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, by cuts eta >= sum_i alpha_i - 1/2 sum_j z_j c_j^2 + sum_j lambda_j z_j",
        proves: "the best subset, within --gap",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: ALL_RULES,
        cost: "one training and one mixed-integer program per round; slow where --max-features is near half the features",
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015.",
    };

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        if self.max_cuts == 0 {
            return Err(Error::setting("max_cuts", 0, "at least 1"));
        }
        check_penalty(&self.penalty, p)?;
        let Some(validation) = &self.validation else { return Ok(()) };
        let (n, q) = (validation.design.n_samples(), validation.design.n_features());
        if q != p || n == 0 || validation.labels.len() != n {
            let labels = validation.labels.len();
            return Err(Error::Data(format!(
                "the validation data have {n} samples, {labels} labels and {q} features; {p} features and a label for each of one or more samples are needed"
            )));
        }
        if let Some(y) = validation.labels.iter().find(|y| y.abs() != 1.0) {
            return Err(Error::Data(format!("a validation label is {y}, but must be -1 or 1")));
        }
        if validation.patience == Some(0) {
            return Err(Error::setting("patience", 0, "at least 1"));
        }
        Ok(())
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let report = gbd(&samples.problem()?, rules, self, limits, observer)?;
        let validated = report.validated();
        let out = Report::new(report.selection, Kernel::Linear);
        Ok(match validated {
            Some(validated) => out.detail("validated", validated),
            None => out,
        })
    }

    fn finds_size(&self) -> bool {
        !self.penalty.is_empty()
    }

    fn penalty(&self) -> &[f64] {
        &self.penalty
    }
}

/// One subset that was trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// Masters solved before: the paper's iteration; 0 for the first subset.
    pub round: u64,
    /// The subset.
    pub subset: Subset,
    /// Its objective, price included.
    pub objective: f64,
    /// The best objective so far.
    pub upper: f64,
    /// The bound proven so far.
    pub bound: Option<f64>,
    /// Share of the validation samples that its classifier gets wrong.
    pub validation_error: Option<f64>,
}

/// Result of [`gbd`].
#[derive(Debug, Clone)]
pub struct GbdReport {
    /// The subset of best objective, bound, status.
    pub selection: Selection,
    /// Every subset trained on, in order.
    pub trained: Vec<Trained>,
    /// Which of them has the smallest validation error, ties to the better objective.
    pub best_validated: Option<usize>,
}

impl GbdReport {
    /// What is to be told of the subset of smallest validation error, where there is one.
    fn validated(&self) -> Option<serde_json::Value> {
        let best = &self.trained[self.best_validated?];
        let of_best = self.selection.outcome.subset.as_ref();
        let of_best = self.trained.iter().find(|t| Some(&t.subset) == of_best).and_then(|t| t.validation_error);
        Some(serde_json::json!({
            "selected_indices": best.subset.iter().collect::<Vec<_>>(),
            "objective": best.objective,
            "error": best.validation_error,
            "error_of_best": of_best,
            "judged": self.trained.len(),
        }))
    }
}

/// Generalized Benders Decomposition; see the head of this file.
///
/// ```
/// use fewest::method::gbd::{GbdSettings, gbd};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent, Status};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let report = gbd(&problem, &rules, &GbdSettings::default(), Limits::default(), &mut Silent)?;
/// let outcome = report.selection.outcome;
/// assert_eq!(outcome.status, Status::Optimal);
/// assert!(outcome.subset.unwrap().contains(0));
/// assert!((outcome.objective.unwrap() - 0.5).abs() < 1e-6); // w = 1, no slack
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; a failure of HiGHS.
pub fn gbd(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &GbdSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<GbdReport, Error> {
    let p = problem.n_features();
    settings.check(p)?;
    rules.check_features(p)?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let mut oracle = Trainer { half: AlphaHalf::new(problem, &settings.svm, settings.warm_start)? };
    let mut master = Benders {
        rules,
        settings,
        cuts: CutMaster::new(rules, &settings.penalty)?,
        queue: VecDeque::new(),
        begun: false,
        at_root: settings.root_cuts,
        core: vec![1.0; p],
        core_value: f64::INFINITY,
        round: 0,
        nothing_new: false,
        cutoff: settings.cutoff,
        asked: HashSet::new(),
        trained: Vec::new(),
    };
    let status = drive(&mut oracle, &mut master, &mut run)?;
    let (best_validated, trained) = (least_error(&master.trained, true), master.trained);
    let selection = Selection { ranking: Vec::new(), solutions: Vec::new(), outcome: run.finish(status) };
    Ok(GbdReport { selection, trained, best_validated })
}

/// Where the SVM is trained.
#[derive(Debug)]
enum Point {
    /// On a subset: an upper value and a cut.
    Subset(Subset),
    /// On a mixture of features, z_j in [0, 1]: a cut.
    Mixture(Vec<f64>),
}

/// SUB-M and SUB-lambda, (5) and (12).
struct Trainer<'a> {
    half: AlphaHalf<'a>,
}

impl Oracle for Trainer<'_> {
    type Query = Point;
    type Answer = Value;

    fn ask(&mut self, point: &Point, run: &mut Run<'_>) -> Result<Value, Error> {
        let over = run.elapsed() + if run.stop().is_some() { WIND_UP } else { Duration::ZERO };
        let mut stop = || run.stop().filter(|_| run.elapsed() >= over);
        let value = match point {
            Point::Subset(subset) => self.half.at(subset, &mut stop),
            Point::Mixture(z) => self.half.at_weights(z, &mut stop),
        };
        run.counts.solver_iterations += value.solution.iterations;
        Ok(value)
    }
}

/// The master: cuts, and where to train next.
#[expect(clippy::struct_excessive_bools, reason = "four things that have happened or not, in any combination")]
struct Benders<'a> {
    rules: &'a Rules,
    settings: &'a GbdSettings,
    cuts: CutMaster<'a>,
    /// Where to train before the master is solved again.
    queue: VecDeque<Point>,
    /// Whether the first point was asked for.
    begun: bool,
    /// Whether the relaxation is still being solved.
    at_root: bool,
    /// At the root the best fractional point, later the core point; before there is one, all
    /// features. Length p.
    core: Vec<f64>,
    /// Its upper value, at the root.
    core_value: f64,
    /// Masters solved.
    round: u64,
    /// Whether the last master gave a subset already trained on.
    nothing_new: bool,
    /// Whether masters look only for subsets that improve on the best.
    cutoff: bool,
    asked: HashSet<Subset>,
    trained: Vec<Trained>,
}

impl<'a> Master<Trainer<'a>> for Benders<'a> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Point>, Error> {
        loop {
            if run.closed() {
                return Ok(Next::Done(Status::Optimal));
            }
            if self.out_of_patience() {
                return Ok(Next::Done(Status::Completed));
            }
            let left = self.settings.max_cuts.saturating_sub(run.counts.cuts);
            if left == 1 && run.incumbent().is_none() {
                return Ok(Next::Ask(Point::Subset(self.rounded(run))));
            }
            if left > 0
                && let Some(point) = self.queue.pop_front()
            {
                return Ok(Next::Ask(point));
            }
            let ended = if !self.begun {
                self.begin(run)?
            } else if self.at_root && left > 0 {
                self.relax(run)?
            } else {
                self.solve(run)?.or((left == 0 && !run.closed()).then_some(Status::CallLimit))
            };
            if let Some(status) = ended {
                // A run that is stopped before there is a subset still trains on one.
                let last = if run.stop().is_some() { self.wind_up(run) } else { None };
                return Ok(last.map_or(Next::Done(status), Next::Ask));
            }
        }
    }

    fn learn(&mut self, point: Point, value: Value, run: &mut Run<'_>) -> Result<(), Error> {
        run.counts.cuts += 1;
        let objective = value.solution.primal + self.cuts.price(&point.z());
        // Step 2.
        self.cuts.learn(&value.cut, objective)?;
        match point {
            Point::Mixture(z) => {
                if self.at_root && objective < self.core_value {
                    (self.core, self.core_value) = (z, objective);
                }
            }
            Point::Subset(subset) => {
                run.offer(&subset, objective);
                self.asked.insert(subset.clone());
                self.trained.push(Trained {
                    round: self.round,
                    objective,
                    upper: run.incumbent().map_or(objective, |i| i.1),
                    bound: run.bound(),
                    validation_error: self.settings.validation.as_ref().map(|v| v.error(&subset, &value.solution)),
                    subset,
                });
            }
        }
        run.tell(&Event::Progress { done: run.counts.cuts, total: None, elapsed: run.elapsed() });
        Ok(())
    }

    fn wind_up(&mut self, run: &mut Run<'_>) -> Option<Point> {
        run.incumbent().is_none().then(|| Point::Subset(self.rounded(run)))
    }
}

impl Benders<'_> {
    /// The first point: a subset, or the middle of what the rules allow. A status when the run was
    /// stopped.
    fn begin(&mut self, run: &Run<'_>) -> Result<Option<Status>, Error> {
        self.begun = true;
        if self.at_root {
            let Some(centre) = self.cuts.centre(run)? else { return Ok(Some(stopped(run))) };
            self.queue.push_back(Point::Mixture(centre));
        } else {
            let first = self.rounded(run);
            self.core = indicator(&first);
            self.queue.push_back(Point::Subset(first));
        }
        Ok(None)
    }

    /// The allowed subset nearest to the core point; before there is one, the first features by
    /// index that the rules allow.
    fn rounded(&self, run: &Run<'_>) -> Subset {
        // A price makes small subsets worth while, so that half a feature must be there; otherwise
        // there is no reason to leave room unused.
        let least = if self.settings.penalty.is_empty() { -1e-6 } else { 0.5 };
        let gains: Vec<f64> = self.core.iter().map(|z| z - least).collect();
        self.rules.best_subset_until(&gains, 1e-12, &mut || run.stop().is_some()).subset
    }

    /// The relaxation: another cut or the end of the root, and a rounding. A status when the run
    /// was stopped.
    fn relax(&mut self, run: &mut Run<'_>) -> Result<Option<Status>, Error> {
        let Some((bound, optimum)) = self.cuts.relaxation(run)? else { return Ok(Some(stopped(run))) };
        run.raise_bound(bound);
        let half = 2 * run.counts.cuts >= self.settings.max_cuts;
        if half || self.core_value - bound <= ROOT_GAP * self.core_value.abs() {
            self.at_root = false;
        } else {
            self.queue.push_back(Point::Mixture(mixed(&self.core, &optimum, IN_OUT)));
        }
        let rounded = self.rounded(run);
        if !self.asked.contains(&rounded) {
            self.queue.push_back(Point::Subset(rounded));
        }
        Ok(None)
    }

    /// Step 3. A status when the run is over, but for a gap that was closed.
    fn solve(&mut self, run: &mut Run<'_>) -> Result<Option<Status>, Error> {
        self.round += 1;
        let settings = self.settings;
        let (gap_rel, gap_abs) = run.gaps();
        let best = run.incumbent().map(|(subset, value)| (subset.clone(), value));
        let room = |value: f64| (OUT_OF_SIGHT * gap_abs.max(gap_rel * value.abs())).max(TIGHTEST * value.abs());
        let cutoff = best.as_ref().filter(|_| self.cutoff).map(|&(_, value)| value - room(value));
        let tight = (0.1 * gap_rel).clamp(TIGHTEST, LOOSEST);
        let gap = if self.cutoff && !self.nothing_new { run.gap().clamp(tight, LOOSEST) } else { tight };
        let start = best.as_ref().filter(|_| settings.warm_start).map(|(subset, value)| (subset, *value));
        match self.cuts.solve(gap, cutoff, start, run)? {
            Found::Nothing => {
                run.raise_bound(cutoff.expect("only a cutoff leaves nothing"));
                Ok(if run.closed() { None } else { self.stall() })
            }
            Found::Stopped(bound) => {
                if bound.is_finite() {
                    run.raise_bound(bound);
                }
                Ok(Some(stopped(run)))
            }
            Found::Subset(subset, bound) => {
                run.raise_bound(bound);
                let known = self.asked.contains(&subset);
                if known && gap <= tight && !run.closed() {
                    return Ok(self.stall());
                }
                self.nothing_new = known;
                if settings.core_cuts {
                    self.core = mixed(&self.core, &indicator(&subset), NEWEST);
                    self.queue.push_back(Point::Mixture(self.core.clone()));
                }
                if !known {
                    self.queue.push_front(Point::Subset(subset));
                }
                Ok(None)
            }
        }
    }

    /// A master said nothing new at its tightest: a cutoff may be too close to the best for HiGHS's
    /// tolerances, so that the master is solved without one from here on; when it was already, the
    /// run is over.
    fn stall(&mut self) -> Option<Status> {
        if std::mem::take(&mut self.cutoff) { None } else { Some(Status::Stalled) }
    }

    /// Whether the last subsets, as many as the patience, brought no smaller validation error.
    fn out_of_patience(&self) -> bool {
        let patience = self.settings.validation.as_ref().and_then(|v| v.patience);
        let best = least_error(&self.trained, false);
        matches!((patience, best), (Some(patience), Some(best)) if (self.trained.len() - 1 - best) as u64 >= patience)
    }
}

impl Point {
    fn z(&self) -> Vec<f64> {
        match self {
            Point::Subset(subset) => indicator(subset),
            Point::Mixture(z) => z.clone(),
        }
    }
}

impl Validation {
    /// Share of the samples that the machine trained on `subset` gets wrong.
    fn error(&self, subset: &Subset, machine: &DualSolution) -> f64 {
        let mut decision = vec![machine.bias; self.labels.len()];
        for (j, &w) in subset.iter().zip(&machine.weights) {
            self.design.add_column(j, w, &mut decision);
        }
        let wrong = decision.iter().zip(&self.labels).filter(|(f, y)| (**f >= 0.0) != (**y > 0.0)).count();
        wrong as f64 / self.labels.len() as f64
    }
}

/// The first of the trained subsets whose (validation error, objective) is smallest; by the error
/// alone unless `ties`.
fn least_error(trained: &[Trained], ties: bool) -> Option<usize> {
    let key = |t: &Trained| t.validation_error.map(|e| (e, if ties { t.objective } else { 0.0 }));
    let judged = trained.iter().enumerate().filter_map(|(at, t)| Some((at, key(t)?)));
    judged.min_by(|a, b| a.1.partial_cmp(&b.1).expect("errors and objectives are numbers")).map(|best| best.0)
}

/// The status of a run that a solver left early.
fn stopped(run: &Run<'_>) -> Status {
    run.stop().unwrap_or(Status::TimeLimit)
}

/// `(1 - share) a + share b`
fn mixed(a: &[f64], b: &[f64], share: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (1.0 - share) * a + share * b).collect()
}
