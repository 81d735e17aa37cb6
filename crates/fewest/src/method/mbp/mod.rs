//! `mbp`: the L1-SVM with a price per feature as a mixed binary program.
//!
//! Solves   min |w|_1 + sum_i C_i xi_i + sum_j D_j y_j  s.t. s_i (w.x_i + b) + xi_i >= 1,
//!          xi >= 0, |w_j| <= u_j y_j, y binary and every rule on y (s_i are the labels, y_j
//!          whether feature j is chosen)
//! Paper    Gaudioso, Gorgone, Labbe, Rodriguez-Chia, COR 2017, (2.1)-(2.8); u as in its section 4.
//! Given    Problem (n samples, p features), Rules, [`MbpSettings`].
//! Returns  the subset, its objective with the best w and b on it, a bound, u, how many features
//!          were removed, the classifier.
//! Steps    1. u, where it is not given: the largest |w_j| of the linear relaxation without u over
//!             a grid of C (`weight_bounds.rs`)
//!          2. bound: the linear relaxation
//!          3. subsets by reweighting (`reweight.rs`) and local search (`exchange.rs`)
//!          4. smaller u, and features that no better subset holds, by reduced costs (`reduce.rs`)
//!          5. branch and bound on the features left (`tree.rs`); HiGHS where they are few beside
//!             the samples, and where rules relate them to each other, which the tree's relaxation
//!             does not know
//!          `plain`: step 1, then the program to HiGHS, untouched
//! Cost     steps 1 to 4 some hundred linear programs of milliseconds; step 5 is exponential in the
//!          worst case.
//! Differs  from the paper: steps 2 to 5; D by feature, any rules, sample weights, a penalised
//!          bias.
//! Fails    never on limits. Errors: settings, more memory than allowed, a failure of HiGHS.

mod exchange;
mod reduce;
mod reweight;
mod tree;
mod weight_bounds;

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{ALL_RULES, Classes, Info, Method, Report};
use crate::backend::highs::{Column, Effort, Program, Rows, SMALLEST};
use crate::l1_oracle::{L1Oracle, L1Point, bias_price};
use crate::master::program;
use crate::method::check_penalty;
use crate::method::l1_svm::{linear_model, nearest_allowed, not_forbidden};
use crate::model::Model as Classifier;
use crate::{
    Bias, DualSolution, Error, Kernel, Limits, Observer, Problem, Rules, Run, Samples, Selection, Sense, Shape, Status,
    Subset, SvmSettings,
};

pub(crate) use reweight::reweight;
pub use weight_bounds::weight_bounds;

/// Relative gap to which linear programs are solved.
pub(crate) const TIGHT: f64 = 1e-9;

/// The tree is faster than HiGHS from this many features on,
const TREE: usize = 200;
/// and with fewer where there are at most so many samples for each: its linear programs are small
/// then, and HiGHS's cuts save it no time.
const SAMPLES: usize = 5;

/// Linear programs of step 3 for each feature: few features are sooner searched whole.
const PROGRAMS: u64 = 4;

/// Settings of [`mbp`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MbpSettings {
    /// Slack cost C > 0. Default 1.
    pub cost: f64,
    /// Bias: free (the paper's), penalised as |b / s|, or none.
    pub bias: Bias,
    /// D: price of each feature (length p, each 0 or more), or empty for none.
    pub penalty: Vec<f64>,
    /// u, the same for every feature; none: found as the paper does.
    pub weight_bound: Option<f64>,
    /// The program as printed, given to HiGHS untouched. Default no.
    pub plain: bool,
    /// HiGHS solves linear programs of its tree by an interior-point method, not by simplex.
    /// Default no.
    pub interior: bool,
    /// Bytes that HiGHS may take, by estimate. Default 8 GiB.
    pub memory: u64,
}

impl Default for MbpSettings {
    fn default() -> Self {
        let (penalty, memory) = (Vec::new(), 1 << 33);
        Self { cost: 1.0, bias: Bias::Free, penalty, weight_bound: None, plain: false, interior: false, memory }
    }
}

impl Method for MbpSettings {
    const INFO: Info = Info {
        name: "mbp",
        title: "L1-SVM with a price per feature, to a proof",
        solves: "Finds the allowed subset of the least L1-SVM objective and prices: bound from the linear relaxation, subsets by reweighting, features removed by reduced costs, then branch and bound. With --plain the paper's mixed binary program goes to HiGHS untouched. The classifier is the program's own.",
        formula: "min |w|_1 + C sum_i xi_i + sum_j D_j y_j, s_i (w.x_i + b) >= 1 - xi_i, |w_j| <= u_j y_j, y_j in {0, 1}, rules on y",
        proves: "the best subset, within --gap",
        bounds: true,
        searches: true,
        kernels: "linear",
        classes: Classes::Two,
        rules: ALL_RULES,
        cost: "exponential in the worst case; with the paper's u milliseconds",
        paper: "M. Gaudioso, E. Gorgone, M. Labbe, A. M. Rodriguez-Chia: Lagrangian relaxation for SVM feature selection. Computers and Operations Research 87 (2017), 137-145.",
    };

    fn check(&self, p: usize) -> Result<(), Error> {
        SvmSettings { cost: self.cost, bias: self.bias, ..SvmSettings::default() }.check()?;
        if let Some(u) = self.weight_bound.filter(|u| !(*u > 0.0 && u.is_finite())) {
            return Err(Error::setting("weight_bound", u, "a finite number above 0"));
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
        Ok(mbp(&samples.problem()?, rules, self, limits, observer)?.into())
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

/// Result of [`mbp`] and [`crate::method::lagrangian::lagrangian`].
#[derive(Debug, Clone)]
pub struct MbpReport {
    /// Subset, objective, bound, status.
    pub selection: Selection,
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
    /// The classifier `f(x) = sum_j w_j x_j + b` on the subset, if there is one.
    pub fn model(&self) -> Option<Classifier> {
        Some(linear_model(self.selection.outcome.subset.as_ref()?, self.solution.as_ref()?))
    }
}

impl From<MbpReport> for Report {
    fn from(report: MbpReport) -> Self {
        let left_out = report.weight_bounds.iter().filter(|u| **u == 0.0).count();
        let model = report.model();
        Report::new(report.selection, Kernel::Linear)
            .with_model(model)
            .detail("relaxation", report.relaxation)
            .detail("features_without_bound", left_out - report.removed)
            .detail("features_removed", report.removed)
            .detail("linear_programs", report.programs)
    }
}

/// `mbp`; see the head of this file.
///
/// # Errors
/// Settings out of range, a program larger than the memory allowed, a failure of HiGHS.
///
/// # Examples
/// ```
/// use fewest::method::mbp::{MbpSettings, mbp};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let penalty = vec![0.1, 0.1];
/// let settings = MbpSettings { penalty, weight_bound: Some(10.0), ..MbpSettings::default() };
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
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    // Step 1.
    let mut model = Model::new(problem, rules, settings, &mut || run.stop())?;
    let mut found = Found::new(&model)?;
    let features = model.features();
    if settings.plain {
        let status = whole(&model, settings, None, &mut run)?;
        return found.report(&model, run, status, None, 0);
    }
    // Step 2.
    let mut oracle = model.oracle()?;
    let mut point = oracle.solve(TIGHT, &mut || run.stop())?;
    let relaxation = point.dual;
    run.raise_bound(relaxation);
    // Step 3.
    let most = PROGRAMS * features.len() as u64;
    reweight(&model, &mut oracle, &point, &mut found, most, &mut run)?;
    // Step 4.
    while let Some((_, best)) = run.incumbent()
        && run.stop().is_none()
        && reduce::reduce(&mut model, &oracle, &point, best)
    {
        model.relax(&mut oracle)?;
        point = oracle.solve(TIGHT, &mut || run.stop())?;
        run.raise_bound(point.dual);
        found.offer(&model, &point.weights, &mut run)?;
    }
    let removed = features.len() - model.features().len();
    // Step 5.
    let status = if run.closed() {
        Status::Optimal
    } else if let Some(status) = run.stop() {
        status
    } else if rules_without_rows(rules) && suits_tree(problem.n_samples(), model.features().len()) {
        tree::search(&model, &mut oracle, &mut found, &mut run)?
    } else {
        whole(&model, settings, Some(&found), &mut run)?
    };
    found.programs += oracle.solves;
    found.report(&model, run, status, Some(relaxation), removed)
}

/// The program to HiGHS, from the best point found.
fn whole(
    model: &Model<'_>,
    settings: &MbpSettings,
    found: Option<&Found<'_>>,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let features = model.features();
    model.check_memory(&features, settings.memory)?;
    let mut program = model.program(&features, false)?;
    if let Some(start) = found.and_then(|found| found.start(model, &features)) {
        program.set_start(&start)?;
    }
    let effort = Effort { gap: run.gaps().0, interior: settings.interior, ..Effort::default() };
    let value = |subset: &Subset, point: &[f64]| model.value(&features, subset, point);
    let status = program::solve(&mut program, &features, &effort, Sense::Min, &value, run)?;
    if let Some(best) = run.incumbent().map(|b| b.1).filter(|_| status == Status::Infeasible) {
        // Nothing better than the incumbent was left.
        run.raise_bound(best);
    }
    Ok(status)
}

/// Whether the tree is the faster one for so many samples and features.
fn suits_tree(samples: usize, features: usize) -> bool {
    features >= TREE || samples <= SAMPLES * features
}

/// Whether the rules only say what is in and what is out: the relaxation knows all of them.
fn rules_without_rows(rules: &Rules) -> bool {
    rules.shape() == Shape::Free
}

/// Writes the program that `mbp --plain` solves to a file for other solvers, .mps or .lp. Columns
/// are y1, y2, ..., then wp1, wm1, wp2, ... (the positive and the negative part of w), b, then
/// xi1, xi2, ...
///
/// # Errors
/// As [`mbp`]; a file that cannot be written.
pub fn write_model(problem: &Problem<'_>, rules: &Rules, settings: &MbpSettings, path: &Path) -> Result<(), Error> {
    let model = Model::new(problem, rules, settings, &mut || None)?;
    model.program(&model.features(), true)?.write_model(path)
}

/// The numbers of the program.
#[derive(Clone)]
pub struct Model<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) rules: &'a Rules,
    /// C_i
    pub(crate) cost: Vec<f64>,
    pub(crate) bias: Bias,
    /// D
    pub(crate) penalty: Vec<f64>,
    /// u; 0 for features that are forbidden, too.
    pub(crate) bound: Vec<f64>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &MbpSettings,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Self, Error> {
        let p = problem.n_features();
        settings.check(p)?;
        rules.check_features(p)?;
        let found = match settings.weight_bound {
            Some(u) => vec![u; p],
            None => weight_bounds(problem, settings.bias, stop)?,
        };
        let mut bound = vec![0.0; p];
        for j in not_forbidden(rules) {
            bound[j] = found[j];
        }
        let penalty = if settings.penalty.is_empty() { vec![0.0; p] } else { settings.penalty.clone() };
        let cost = problem.weights().iter().map(|weight| weight * settings.cost).collect();
        Ok(Self { problem, rules, cost, bias: settings.bias, penalty, bound })
    }

    /// The features with u > 0, and those that the rules require.
    pub(crate) fn features(&self) -> Vec<usize> {
        let required = &self.rules.list().require;
        (0..self.bound.len()).filter(|&j| self.bound[j] > 0.0 || required.contains(&j)).collect()
    }

    /// `1 + D_j / u_j`: what a weight costs per unit in the linear relaxation, where
    /// `y_j = |w_j| / u_j`.
    pub(crate) fn relaxed_prices(&self) -> Vec<f64> {
        let price = |(d, u): (&f64, &f64)| if *u > 0.0 { 1.0 + d / u } else { 1.0 };
        self.penalty.iter().zip(&self.bound).map(price).collect()
    }

    /// The linear relaxation.
    pub(crate) fn oracle(&self) -> Result<L1Oracle<'a>, Error> {
        let mut oracle = L1Oracle::new(self.problem, self.cost.clone(), self.bias, self.bound.clone())?;
        self.relax(&mut oracle)?;
        Ok(oracle)
    }

    /// Gives an oracle the bounds and prices of the linear relaxation.
    pub(crate) fn relax(&self, oracle: &mut L1Oracle<'_>) -> Result<(), Error> {
        let prices = self.relaxed_prices();
        oracle.set_bounds(&self.bound)?;
        oracle.set_prices(&prices, &prices)
    }

    /// What the bias costs.
    pub(crate) fn bias_price(&self, bias: f64) -> f64 {
        bias_price(self.bias, bias)
    }

    /// Sum of D over a subset.
    pub(crate) fn price(&self, subset: &Subset) -> f64 {
        subset.iter().map(|j| self.penalty[j]).sum()
    }

    pub(crate) fn check_memory(&self, features: &[usize], allowed: u64) -> Result<(), Error> {
        let design = self.problem.design();
        let mut entries = (2 * self.cost.len() + 3 * features.len()) as u64;
        for &j in features {
            design.each_in_column(j, &mut |_, x| entries += 2 * u64::from(x != 0.0));
        }
        let what = format!("the mixed binary program of {} samples and {} features", self.cost.len(), features.len());
        program::check_memory(what, entries, allowed, "allow more memory, or select among fewer features")
    }

    /// (2.1)-(2.8) on these features; `y_j` of the others is 0.
    pub(crate) fn program(&self, features: &[usize], named: bool) -> Result<Program, Error> {
        let (n, q, none) = (self.cost.len(), features.len(), f64::INFINITY);
        let labels = self.problem.labels();
        let mut program = Program::new()?;
        let binary = |&j: &usize| Column { cost: self.penalty[j], lower: 0.0, upper: 1.0, integer: true };
        program.add_columns(&features.iter().map(binary).collect::<Vec<_>>())?;
        let part = |&j: &usize| [Column { cost: 1.0, lower: 0.0, upper: self.bound[j], integer: false }; 2];
        program.add_columns(&features.iter().flat_map(part).collect::<Vec<_>>())?;
        let (bias_cost, bias_lower) = match self.bias {
            Bias::Free => (0.0, -none),
            Bias::Penalised(s) => (1.0 / s, 0.0),
            Bias::None => (0.0, 0.0),
        };
        let limit = if self.bias == Bias::None { 0.0 } else { none };
        let bias = program.add_column(Column { cost: bias_cost, lower: bias_lower, upper: limit, integer: false })?;
        let other = if bias_cost > 0.0 {
            Some(program.add_column(Column { cost: bias_cost, lower: 0.0, upper: none, integer: false })?)
        } else {
            None
        };
        let slack = |cost: &f64| Column { cost: *cost, lower: 0.0, upper: none, integer: false };
        let slacks = program.add_columns(&self.cost.iter().map(slack).collect::<Vec<_>>())?;
        let column = |j: usize| features.binary_search(&j).ok();
        program::add_rules(&mut program, self.rules, column)?;
        let intercept = |i: usize| {
            let mut row = vec![(bias, labels[i]), (slacks + i, 1.0)];
            row.extend(other.map(|other| (other, -labels[i])));
            row
        };
        let mut samples: Vec<Vec<(usize, f64)>> = (0..n).map(intercept).collect();
        for (k, &j) in features.iter().enumerate() {
            // Values that HiGHS would drop are dropped here, knowingly.
            self.problem.design().each_in_column(j, &mut |i, x| {
                if x.abs() > SMALLEST {
                    samples[i].extend([(q + 2 * k, labels[i] * x), (q + 2 * k + 1, -labels[i] * x)]);
                }
            });
        }
        let mut rows = Rows::default();
        for sample in &samples {
            rows.push(sample, 1.0, none);
        }
        for (k, &j) in features.iter().enumerate() {
            let u = if self.bound[j] > SMALLEST { self.bound[j] } else { 0.0 };
            rows.push(&[(q + 2 * k, 1.0), (q + 2 * k + 1, 1.0), (k, -u)], -none, 0.0);
        }
        program.add_rows(&rows)?;
        if named {
            for (k, &j) in features.iter().enumerate() {
                program.name_column(k, &format!("y{}", j + 1))?;
                program.name_column(q + 2 * k, &format!("wp{}", j + 1))?;
                program.name_column(q + 2 * k + 1, &format!("wm{}", j + 1))?;
            }
            program.name_column(bias, "b")?;
            other.map_or(Ok(()), |other| program.name_column(other, "bm"))?;
            (0..n).try_for_each(|i| program.name_column(slacks + i, &format!("xi{}", i + 1)))?;
        }
        Ok(program)
    }

    /// Objective of the classifier of a point of the program of `features`, exact: its w on the
    /// subset, within u, and its b.
    pub(crate) fn value(&self, features: &[usize], subset: &Subset, point: &[f64]) -> f64 {
        let q = features.len();
        let bias = match self.bias {
            Bias::Penalised(_) => point[3 * q] - point[3 * q + 1],
            Bias::Free | Bias::None => point[3 * q],
        };
        let mut scores = vec![bias; self.cost.len()];
        let mut norm = self.bias_price(bias);
        for (k, &j) in features.iter().enumerate().filter(|e| subset.contains(*e.1)) {
            let w = (point[q + 2 * k] - point[q + 2 * k + 1]).clamp(-self.bound[j], self.bound[j]);
            norm += w.abs();
            self.problem.design().add_column(j, w, &mut scores);
        }
        let labels = self.problem.labels();
        let loss: f64 = (0..scores.len()).map(|i| self.cost[i] * (1.0 - labels[i] * scores[i]).max(0.0)).sum();
        norm + loss + self.price(subset)
    }
}

/// What a run has found: the best classifier on the incumbent, and a program that finds it for any
/// subset.
pub(crate) struct Found<'a> {
    /// Prices 1, and u = 0 outside the subset asked for.
    inner: L1Oracle<'a>,
    best: Option<(Subset, L1Point)>,
    /// Linear programs solved elsewhere.
    pub(crate) programs: u64,
}

impl<'a> Found<'a> {
    pub(crate) fn new(model: &Model<'a>) -> Result<Self, Error> {
        let nothing = vec![0.0; model.bound.len()];
        let inner = L1Oracle::new(model.problem, model.cost.clone(), model.bias, nothing)?;
        Ok(Self { inner, best: None, programs: 0 })
    }

    /// The best w and b on a subset.
    pub(super) fn on_subset(&mut self, model: &Model<'_>, subset: &Subset, run: &Run<'_>) -> Result<L1Point, Error> {
        let mut bound = vec![0.0; model.bound.len()];
        subset.iter().for_each(|j| bound[j] = model.bound[j]);
        self.inner.set_bounds(&bound)?;
        self.inner.join(&subset.iter().collect::<Vec<_>>())?;
        self.inner.solve(TIGHT, &mut || run.stop().filter(|s| *s == Status::Cancelled))
    }

    /// Offers the subset that weights point to: their support, or the allowed subset of largest
    /// total |w_j|, less the features to which the best classifier on it gives no weight. Returns
    /// it and its objective.
    pub(crate) fn offer(
        &mut self,
        model: &Model<'_>,
        weights: &[(usize, f64)],
        run: &mut Run<'_>,
    ) -> Result<(Subset, f64), Error> {
        let rules = model.rules;
        let mut subset = Subset::from_indices(rules.p(), weights.iter().map(|e| e.0));
        if !rules.allows(&subset) {
            subset = nearest_allowed(rules, weights);
        }
        let point = self.on_subset(model, &subset, run)?;
        let smaller = Subset::from_indices(rules.p(), point.weights.iter().map(|e| e.0));
        if rules.allows(&smaller) {
            subset = smaller;
        }
        let objective = point.primal + model.price(&subset);
        if run.offer(&subset, objective) {
            self.best = Some((subset.clone(), point));
        }
        Ok((subset, objective))
    }

    /// The best point as one of the program of `features`, if it lies there.
    pub(crate) fn start(&self, model: &Model<'_>, features: &[usize]) -> Option<Vec<f64>> {
        let (subset, point) = self.best.as_ref()?;
        if !subset.iter().all(|j| features.binary_search(&j).is_ok()) {
            return None;
        }
        let q = features.len();
        let mut start: Vec<f64> = features.iter().map(|&j| f64::from(subset.contains(j))).collect();
        start.resize(3 * q, 0.0);
        let mut scores = vec![point.bias; model.cost.len()];
        for &(j, w) in &point.weights {
            let k = features.binary_search(&j).expect("tested above");
            start[q + 2 * k + usize::from(w < 0.0)] = w.abs();
            model.problem.design().add_column(j, w, &mut scores);
        }
        match model.bias {
            Bias::Penalised(_) => start.extend([point.bias.max(0.0), (-point.bias).max(0.0)]),
            Bias::Free | Bias::None => start.push(point.bias),
        }
        start.extend(scores.iter().zip(model.problem.labels()).map(|(f, y)| (1.0 - y * f).max(0.0)));
        Some(start)
    }

    /// Ends the run: the best classifier on the incumbent, and how it ended.
    pub(crate) fn report(
        mut self,
        model: &Model<'_>,
        mut run: Run<'_>,
        status: Status,
        relaxation: Option<f64>,
        removed: usize,
    ) -> Result<MbpReport, Error> {
        let mut solution = None;
        if let Some(subset) = run.incumbent().map(|(subset, _)| subset.clone()) {
            // What HiGHS found is trained anew, so that its objective is that of the best w and b.
            let weights: Vec<(usize, f64)> = subset.iter().map(|j| (j, 1.0)).collect();
            self.offer(model, &weights, &mut run)?;
            let (subset, _) = run.incumbent().expect("as before");
            let point = match self.best.take().filter(|(best, _)| best == subset) {
                Some((_, point)) => point,
                None => self.on_subset(model, &subset.clone(), &run)?,
            };
            let features: Vec<usize> = subset.iter().collect();
            solution = Some(self.inner.solution(&point, &features, TIGHT));
        }
        // A limit may have come just when the gap was closed.
        let status = if run.closed() { Status::Optimal } else { status };
        run.counts.oracle_calls += self.programs;
        Ok(MbpReport {
            selection: Selection { outcome: run.finish(status), ranking: Vec::new(), solutions: Vec::new() },
            solution,
            weight_bounds: model.bound.clone(),
            relaxation,
            removed,
            programs: self.programs + self.inner.solves,
        })
    }
}
