//! `mbp`: the L1-SVM with a price per feature as a mixed binary program.
//!
//! Solves   min |w|_1 + sum_i C_i xi_i + sum_j D_j y_j  s.t. s_i (w.x_i + b) + xi_i >= 1,
//!          xi >= 0, |w_j| <= u_j y_j, w_j within the bounds of the rules, y binary and every rule
//!          on y (s_i are the labels, y_j whether feature j is chosen)
//! Paper    Gaudioso, Gorgone, Labbe, Rodriguez-Chia, COR 2017, (2.1)-(2.8); u as in its section 4.
//! Given    Problem (n samples, p features), Rules, [`MbpSettings`].
//! Returns  the subset, its objective with the best w and b on it, a bound, u, how many features
//!          were removed, the classifier.
//! Steps    1. u by a rule (`weight_bounds.rs`); never more than the rules' bounds allow
//!          2. bound: the linear relaxation; step 4 for a first time, by the subset it points to
//!          3. subsets by reweighting (`reweight.rs`) and local search (`exchange.rs`)
//!          4. smaller u, and features that no better subset holds, by reduced costs (`reduce.rs`)
//!          5. branch and bound on the features left (`tree.rs`); HiGHS where they are few beside
//!             the samples, and where rules relate them to each other, which the tree's relaxation
//!             does not know; where several subsets are wanted, always the tree
//!          `plain`: step 1, with the paper's rule unless another is asked for, then the program to
//!          HiGHS; the two rows of (2.4) are one
//! Cost     steps 1 to 4 some hundred linear programs of milliseconds; step 5 is exponential in the
//!          worst case.
//! Differs  from the paper: steps 2 to 5; D by feature, any rules, sample weights, a penalised
//!          bias.
//! Proof    what step 4 cuts off and the tree of step 5, which then takes every program
//!          (`record.rs`); none where rules relate features to each other, and none with `plain`.
//! Fails    never on limits. Errors: settings, more memory than allowed, a failure of HiGHS.

mod best_classifier;
mod exchange;
mod model;
mod record;
mod reduce;
mod restricted;
mod reweight;
mod state;
mod tree;
mod weight_bounds;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Classes, Info, Method, PROOF_CONDITION, RULES_AND_BOUNDS, Report};
use crate::Lp;
use crate::backend::highs::Effort;
use crate::l1_oracle::{L1Oracle, L1Point};
use crate::master::program;
use crate::method::check_penalty;
use crate::method::l1_svm::linear_model;
use crate::method::path::{SizeReport, each};
use crate::model::Model as Classifier;
use crate::search::{NearBest, Pool, Wanted};
use crate::{
    Bias, Clock, DualSolution, Error, Kernel, Limits, Memory, Observer, Problem, Rules, Run, Samples, Selection, Sense,
    Shape, Status, Subset, SvmSettings, Yardstick,
};

pub(crate) use best_classifier::BestClassifier;
pub(crate) use model::LISTS;
pub use model::Model;
use record::Record;
use reduce::Reduced;
pub(crate) use restricted::solve_restricted;
pub(crate) use reweight::reweight;
use state::{SavedState, put_reduced};
pub use weight_bounds::{WeightRule, weight_bounds};

/// Relative gap to which linear programs are solved.
pub(crate) const TIGHT: f64 = 1e-9;

/// The tree is faster than HiGHS from this many features on,
const TREE: usize = 200;
/// and with fewer where there are at most this many samples for each: its linear programs are small
/// then, and HiGHS's cuts save it no time.
const SAMPLES: usize = 5;

/// Linear programs of step 3 for each feature: with few features the search alone is sooner done.
const PROGRAMS: u64 = 4;

/// Name of the method, on the command line and in its states.
const NAME: &str = "mbp";

crate::settings! {
    /// Settings of [`mbp`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct MbpSettings {
        /// Slack cost C > 0.
        pub cost: f64 = 1.0 => "a finite number above 0",
        /// Bias: free (the paper's), penalised as |b / s|, or none.
        pub bias: Bias = Bias::Free,
        /// D: price of each feature (length p, each 0 or more), or empty for none.
        pub penalty: Vec<f64> = Vec::new() => "one number for each feature, 0 or more, or none",
        /// u: a number, the same for every feature, or how it is found. None: `auto`, and the paper's
        /// rule with `plain`.
        pub weight_bound: Option<WeightRule> = None => "a number above 0, auto, auto:K with K above 0, none or paper",
        /// How many best subsets to prove and return, at least 1; with `within` at most this many.
        pub solutions: usize = 1 => "at least 1",
        /// E, 0 or more: all subsets whose objective is at most (1 + E) times the best one are wanted,
        /// those with features of weight 0 among them.
        pub within: Option<f64> = None => "0 or more",
        /// The program as printed, the two rows of (2.4) as one, given to HiGHS.
        pub plain: bool = false,
        /// How HiGHS solves linear programs of its tree.
        pub lp: Lp = Lp::Simplex,
        /// Bytes that HiGHS may take, by estimate, or the open nodes of our own tree, which then goes
        /// deep.
        pub memory: u64 = 1 << 33,
    }
}

impl Method for MbpSettings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: NAME,
        title: "L1-SVM with a price per feature, to a proof",
        solves: "Finds the allowed subset of the least L1-SVM objective and prices: bound from the linear relaxation, subsets by reweighting, features removed by reduced costs, then branch and bound. With `plain` the paper's mixed binary program goes to HiGHS. The classifier is the program's own.",
        formula: "min |w|_1 + C sum_i xi_i + sum_j D_j y_j, s_i (w.x_i + b) >= 1 - xi_i, |w_j| <= u_j y_j, y_j in {0, 1}, rules on y",
        proves: "the best subset, within `gap`",
        bounds: true,
        searches: true,
        kernels: "linear",
        classes: Classes::Two,
        rules: RULES_AND_BOUNDS,
        cost: "exponential in the worst case; with the paper's u milliseconds",
        paper: "M. Gaudioso, E. Gorgone, M. Labbe, A. M. Rodriguez-Chia: Lagrangian relaxation for SVM feature selection. Computers and Operations Research 87 (2017), 137-145.",
    };

    fn absorbs_constants(&self) -> bool {
        self.bias == Bias::Free
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        SvmSettings { cost: self.cost, bias: self.bias, ..SvmSettings::default() }.check()?;
        self.weight_rule().check()?;
        self.wanted().check()?;
        if self.plain && self.several().is_some() {
            let must = "left out where several subsets are wanted: HiGHS finds one";
            return Err(Error::setting("plain", "set", must));
        }
        check_penalty(&self.penalty, p)
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let report = mbp(&samples.problem()?, rules, self, limits, observer)?;
        Ok(report.into_report(self.weight_rule()))
    }

    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        self.wanted().check_path()?;
        each(self, samples, rules, sizes, limits, observer)
    }

    fn write_program(&self, samples: &Samples<'_>, rules: &Rules, path: &Path) -> Result<(), Error> {
        write_model(&samples.problem()?, rules, self, path)
    }

    fn finds_size(&self) -> bool {
        !self.penalty.is_empty()
    }

    fn penalty(&self) -> &[f64] {
        &self.penalty
    }
}

impl MbpSettings {
    fn wanted(&self) -> Wanted {
        Wanted { most: self.solutions, within: self.within }
    }

    /// What is wanted where that is more than the best subset.
    pub(crate) fn several(&self) -> Option<Wanted> {
        Some(self.wanted()).filter(|wanted| wanted.most > 1 || wanted.within.is_some())
    }

    /// How u is found.
    pub fn weight_rule(&self) -> WeightRule {
        self.weight_bound.unwrap_or(if self.plain { WeightRule::Paper } else { WeightRule::default() })
    }
}

/// Result of [`mbp`] and [`crate::method::lagrangian::lagrangian`].
#[derive(Debug, Clone)]
pub struct MbpReport {
    /// Subset, objective, bound, status; the best subsets where several were wanted.
    pub selection: Selection,
    /// Findings about the subsets within a share of the best, where these were wanted.
    pub near: Option<NearBest>,
    /// The classifier's solution, weights of the subset's features, ascending; none without a
    /// subset. Its objectives are without D.
    pub solution: Option<DualSolution>,
    /// u (length p); 0 removes a feature.
    pub weight_bounds: Vec<f64>,
    /// Value of the linear relaxation, where it was solved.
    pub relaxation: Option<f64>,
    /// Features that step 4 removed: no better subset holds them.
    pub removed: usize,
    /// Linear programs solved before HiGHS's tree.
    pub programs: u64,
}

impl MbpReport {
    /// Features that u leaves out from the start.
    fn left_out(&self) -> usize {
        self.weight_bounds.iter().filter(|u| **u == 0.0).count() - self.removed
    }

    /// The report of a method whose u was found by this rule.
    pub(crate) fn into_report(self, rule: WeightRule) -> Report {
        let (left_out, model) = (self.left_out(), self.model());
        let report = Report::new(self.selection, Kernel::Linear).with_model(model).with_near(self.near);
        let report = match rule.condition(left_out) {
            Some(condition) => report.detail(PROOF_CONDITION, condition),
            None => report,
        };
        report
            .detail("relaxation", self.relaxation)
            .detail("features_without_bound", left_out)
            .detail("features_removed", self.removed)
            .detail("linear_programs", self.programs)
    }

    /// The classifier `f(x) = sum_j w_j x_j + b` on the subset, if there is one.
    pub fn model(&self) -> Option<Classifier> {
        Some(linear_model(self.selection.outcome.subset.as_ref()?, self.solution.as_ref()?))
    }
}

/// `mbp`; see the head of this file.
///
/// # Errors
/// Settings out of range, a program larger than the memory allowed, a failure of HiGHS.
///
/// # Examples
/// ```
/// use fewest::method::mbp::{MbpSettings, WeightRule, mbp};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let penalty = vec![0.1, 0.1];
/// let settings = MbpSettings { penalty, weight_bound: Some(WeightRule::Number(10.0)), ..MbpSettings::default() };
/// let report = mbp(&problem, &Rules::none(2), &settings, Limits::default(), &mut Silent)?;
/// assert_eq!(report.model().unwrap().features, [0]);
/// // w = 1 for feature 0 alone: |w| + D
/// assert!((report.selection.outcome.objective.unwrap() - 1.1).abs() < 1e-6);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn mbp(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &MbpSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<MbpReport, Error> {
    let mut run = Run::bounded(rules, limits, Sense::Min, observer)?;
    Record::check(settings, &mut run)?;
    let from = run.resume(NAME)?.map(|state| state::take(state, rules)).transpose()?;
    let _lists = run.memory().lists(NAME, LISTS, problem.n_features())?;
    // Step 1.
    let mut model = match &from {
        Some(from) => from.reduced.model(problem, rules, settings)?,
        None => Model::new(problem, rules, settings, run.memory(), &run.counted_clock())?,
    };
    run.measure_by(Yardstick::new(model.without_features(), &settings.penalty));
    let mut found = BestClassifier::new(&model, run.memory())?;
    found.pool = settings.several().map(|wanted| Pool::new(&run, wanted, 0));
    found.recall(&model, &mut run)?;
    if settings.plain {
        let reduced = Reduced { bound: model.bound.clone(), relaxation: None, removed: 0 };
        let status = solve_program(&model, settings, None, &reduced, &mut run)?;
        return found.report(&model, run, status, None, 0, None);
    }
    let mut oracle = model.oracle(run.memory())?;
    let (mut proof, reduced, tree) = if let Some(SavedState { reduced, proof, tree }) = from {
        (Record::resume(proof, &model, settings, &mut run)?, reduced, tree)
    } else {
        let mut proof = Record::begin(&model, settings, &mut run);
        let reduced = reduce_model(&mut model, &mut oracle, &mut found, &mut proof, &mut run)?;
        (proof, reduced, None)
    };
    // Step 5.
    let several = found.pool.is_some();
    let status = if tree.is_none() && run.closed() && !several {
        Status::Optimal
    } else if let Some(status) = run.stop().filter(|_| tree.is_none()) {
        status
    } else if several
        || rules_without_rows(rules) && (proof.is_some() || suits_tree(problem.n_samples(), model.features().len()))
    {
        tree::search(&model, &mut oracle, &mut found, (&reduced, tree), settings.memory, &mut proof, &mut run)?
    } else {
        solve_program(&model, settings, Some(&found), &reduced, &mut run)?
    };
    if let Some(proof) = &mut proof {
        proof.close_root(&mut run);
    }
    found.programs += oracle.solves;
    found.report(&model, run, status, reduced.relaxation, reduced.removed, proof)
}

/// Steps 2 to 4.
fn reduce_model<'a>(
    model: &mut Model<'a>,
    oracle: &mut L1Oracle<'a>,
    found: &mut BestClassifier<'a>,
    proof: &mut Option<Record<'_>>,
    run: &mut Run<'_>,
) -> Result<Reduced, Error> {
    // Step 2.
    let mut point = oracle.solve(TIGHT, &run.counted_clock())?;
    let relaxation = point.dual;
    run.raise_bound(relaxation);
    found.offer(model, &point.weights, run)?;
    let weighted = model.weighted();
    point = lower_bounds(point, model, oracle, found, proof, run)?;
    // Step 3.
    let most = PROGRAMS * weighted as u64;
    reweight(model, oracle, &point, found, most, run)?;
    // Step 4.
    let point = lower_bounds(point, model, oracle, found, proof, run)?;
    if let Some(proof) = proof {
        proof.open_root(&point);
    }
    let removed = weighted - model.weighted();
    Ok(Reduced { bound: model.bound.clone(), relaxation: Some(relaxation), removed })
}

/// Lowers u by the best subset so far, and the relaxation's point with it, until that is of little
/// use. Returns the last point.
pub(crate) fn lower_bounds<'a>(
    mut point: L1Point,
    model: &mut Model<'a>,
    oracle: &mut L1Oracle<'a>,
    found: &mut BestClassifier<'a>,
    proof: &mut Option<Record<'_>>,
    run: &mut Run<'_>,
) -> Result<L1Point, Error> {
    let nothing = L1Point::nothing(model.cost.len(), model.bound.len());
    while let Some((_, best)) = run.incumbent()
        && run.stop().is_none()
    {
        // Where several subsets are wanted, none of them is above their cutoff.
        let best = found.pool.as_ref().map_or(best, Pool::cutoff);
        let first = model.bound.clone();
        for point in [&nothing, &point] {
            let before = model.bound.clone();
            reduce::reduce(model, oracle, point, best);
            if let Some(proof) = proof {
                proof.tighten(point, &before, &model.bound, best, run);
            }
        }
        if let Some(pool) = &mut found.pool {
            pool.leave_out(best);
        }
        model.relax(oracle)?;
        if !reduce::fell(&first, &model.bound) {
            break;
        }
        point = oracle.solve(TIGHT, &run.counted_clock())?;
        run.raise_bound(found.pool.as_ref().map_or(point.dual, |pool| pool.bound(point.dual)));
        found.offer(model, &point.weights, run)?;
    }
    Ok(point)
}

/// Solves the program by HiGHS, from the best point found.
fn solve_program(
    model: &Model<'_>,
    settings: &MbpSettings,
    found: Option<&BestClassifier<'_>>,
    reduced: &Reduced,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let features = model.features();
    let _taken = model.reserve(&features, settings.memory, run.memory())?;
    run.keep(NAME, false, |out| put_reduced(reduced, out));
    let mut program = model.program(&features, false)?;
    if let Some(start) = found.and_then(|found| found.start(model, &features)) {
        program.set_start(&start)?;
    }
    let effort = Effort { lp: settings.lp, ..Effort::default() };
    let value = |subset: &Subset, point: &[f64]| model.value(&features, subset, point);
    let one = model.units.cost(1.0);
    let status = program::solve(&mut program, &features, &effort, one, Sense::Min, &value, run)?;
    if let Some(best) = run.incumbent().map(|b| b.1).filter(|_| status == Status::Infeasible) {
        // Nothing better than the incumbent was left.
        run.raise_bound(best);
    }
    run.keep(NAME, true, |out| put_reduced(reduced, out));
    Ok(status)
}

/// Whether the tree is the faster one for these numbers of samples and features.
fn suits_tree(samples: usize, features: usize) -> bool {
    features >= TREE || samples <= SAMPLES * features
}

/// Whether the rules only say what is in and what is out: the relaxation knows all of them.
fn rules_without_rows(rules: &Rules) -> bool {
    rules.shape() == Shape::Free
}

/// Writes the program that plain `mbp` solves to a file for other solvers, .mps or .lp. Columns
/// are y1, y2, ..., then wp1, wm1, wp2, ... (the positive and the negative part of w), b, then
/// xi1, xi2, ...
///
/// # Errors
/// As [`mbp`]; a file that cannot be written.
pub fn write_model(problem: &Problem<'_>, rules: &Rules, settings: &MbpSettings, path: &Path) -> Result<(), Error> {
    let model = Model::new(problem, rules, settings, &Memory::unlimited(), &Clock::unlimited())?;
    model.program(&model.features(), true)?.write_model(path)
}
