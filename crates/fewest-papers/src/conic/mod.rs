//! Convex relaxations of the sparse SVM that a cone solver takes whole: `qcqp-ssvm` and `nmmkl`.
//!
//! Solves   min_w,b P(w) + sum_i C_i loss(y_i (w.x_i + b)), P a penalty that is at most 1/2 |w|^2
//!          for every w of at most B features: its value is below that of every such subset. See
//!          the two files for P.
//! Given    Problem (n samples, p features), Rules, SvmSettings (hinge or squared hinge, any bias).
//! Returns  the best allowed subset by what the relaxation gives each feature, with the value of
//!          the SVM trained on it, and a bound. Where B is no rule: every feature of weight, with
//!          the value of the relaxation, if the rules allow it.
//! Steps    1. estimate of memory  2. the cone program (Clarabel)  3. bound from its multipliers
//!          4. subset and training
//! Rules    must-in, must-out and the size are part of the relaxation; other rules hold for the
//!          subset only, so the bound stays one.
//! Bound    alpha = the multipliers of the margins, moved into the box of the dual; sum alpha -
//!          P*(c) - (ridge and bias terms), c = X'(alpha.y): weak duality makes it a bound whatever
//!          the solver's accuracy was.
//! Cost     interior point: some 15 factorizations, min(n, p)^2 max(n, p) each; memory as estimated
//!          before.
//! Fails    never on limits: without a solution the subset is that of the features' scores at alpha
//!          = C/2, without use of the bound. Errors: settings out of range, more memory than
//!          allowed.

mod clarabel;
mod nmmkl;
mod qcqp_ssvm;

pub use nmmkl::{NmmklSettings, nmmkl};
pub use qcqp_ssvm::{QcqpSsvmSettings, qcqp_ssvm};

use crate::conic::clarabel::{ConeProgram, ConeSolution};
use fewest::design::{Design, common_unit};
use fewest::dual::train::train_linear;
use fewest::dual::{Bias, BoxDual, DualSolution, Loss, kkt};
use fewest::method::Report;
use fewest::{
    Clock, Error, Kernel, Limits, Observer, Problem, Ranked, Rules, Run, Selection, Sense, Status, Subset, SvmSettings,
    Yardstick,
};

/// Result of [`qcqp_ssvm`] and [`nmmkl`].
#[derive(Debug, Clone)]
pub struct ConicReport {
    /// The subset, the value of its SVM, the bound; status `optimal` where they meet, else
    /// `completed`, or the limit. The ranking lists the features that the relaxation uses, best
    /// first.
    pub selection: Selection,
    /// w of the relaxation, length p; zeros when it was not solved.
    pub weights: Vec<f64>,
    /// Value of the relaxation at w (with the best bias): not below the bound, and close to it when
    /// solved. None when it was not.
    pub relaxed: Option<f64>,
    /// The SVM on the subset.
    pub solution: DualSolution,
    /// Whether the subset is that of every feature of weight, and the objective the relaxation's.
    pub whole: bool,
}

impl From<ConicReport> for Report {
    fn from(report: ConicReport) -> Self {
        Report::new(report.selection, Kernel::Linear).detail("relaxation", report.relaxed)
    }
}

/// What is asked.
struct Question<'a> {
    name: &'static str,
    rules: &'a Rules,
    svm: &'a SvmSettings,
    /// B.
    most: usize,
    /// Whether B is that of the settings, and the rules have none.
    whole: bool,
}

impl<'a> Question<'a> {
    fn new(name: &'static str, rules: &'a Rules, svm: &'a SvmSettings, subset_size: Option<usize>) -> Self {
        let size = rules.list().max_features;
        let most = size.or(subset_size).unwrap_or(rules.p());
        Self { name, rules, svm, most, whole: size.is_none() && subset_size.is_some() }
    }
}

/// Checks B.
fn check_size(size: Option<usize>) -> Result<(), Error> {
    if size == Some(0) { Err(Error::setting("subset_size", 0, "at least 1")) } else { Ok(()) }
}

/// A penalty P.
trait Penalty {
    /// Adds P of the weights (positions of the variables) to the program. `fixed`: whether the
    /// feature is required.
    fn add(&mut self, program: &mut ConeProgram, weights: &[usize], fixed: &[bool]);
    /// P(w)
    fn value(&self, w: &[f64], fixed: &[bool]) -> f64;
    /// P*(c) = max_w c.w - P(w)
    fn conjugate(&self, c: &[f64], fixed: &[bool]) -> f64;
    /// How much each feature counts at a solution, with w and the scores c.
    fn worth(&self, x: &[f64], w: &[f64], c: &[f64]) -> Vec<f64>;
}

/// Bytes that the cone program takes, about: every stored value in the matrix, in its ordered
/// copies and in the factor, the fill of the smaller side, and some kilobytes for the cones of a
/// feature. Fitted to runs of 500 x 1003, 500 x 3003 and 72 x 7129 dense values, where it is 1.05
/// to 1.25 times the peak.
fn memory(n: u64, p: u64, stored: u64) -> u64 {
    120 * stored + 24 * n.min(p).pow(2) + 5500 * (n + p)
}

/// The features of the relaxation: none that is forbidden. And which of them are required.
fn candidates(rules: &Rules) -> (Vec<usize>, Vec<bool>) {
    let list = rules.list();
    let features: Vec<usize> = (0..rules.p()).filter(|j| !list.forbid.contains(*j)).collect();
    let fixed = features.iter().map(|j| list.require.contains(j)).collect();
    (features, fixed)
}

/// The values over a unit, a power of two: Clarabel's tolerances are absolute.
fn in_unit(design: &dyn Design, unit: f64) -> Box<dyn Design> {
    let all: Vec<usize> = (0..design.n_features()).collect();
    design.rows(&all).divided(&vec![unit; all.len()]).design()
}

/// The settings for values over a unit: w is then times it, and the objective times its square.
fn settings_in(settings: &SvmSettings, unit: f64) -> SvmSettings {
    let bias = if let Bias::Penalised(s) = settings.bias { Bias::Penalised(s / unit) } else { settings.bias };
    SvmSettings { cost: settings.cost * unit * unit, bias, ..settings.clone() }
}

/// Solves the relaxation, and trains on the subset it points to.
fn relax(
    problem: &Problem<'_>,
    question: &Question<'_>,
    limits: Limits,
    observer: &mut dyn Observer,
    penalty: &mut dyn Penalty,
) -> Result<ConicReport, Error> {
    let Question { name, rules, svm: settings, most, whole } = *question;
    settings.check()?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let (design, dual) = (problem.design(), BoxDual::new(problem.labels(), problem.weights(), settings));
    run.measure_by(Yardstick::new(kkt::without_features(&dual), &[]));
    let (n, p) = (problem.n_samples(), problem.n_features());
    // Step 1.
    let needed = memory(n as u64, p as u64, design.stored() as u64);
    let what = || format!("the cone program of {name} for {n} samples and {p} features (an estimate)");
    let remedy = "use fgm, which solves a tighter relaxation of any size";
    let _taken = run.memory().reserve_within(settings.memory, needed, what, remedy)?;
    // Step 2.
    let (features, fixed) = candidates(rules);
    let unit = common_unit(design);
    let scaled = (unit != 1.0).then(|| in_unit(design, unit));
    let in_unit = scaled.as_deref().map(|scaled| problem.of(scaled));
    let of_unit = BoxDual::new(problem.labels(), problem.weights(), &settings_in(settings, unit));
    let solved_for = in_unit.as_ref().unwrap_or(problem);
    let solved = match Built::new(solved_for, &of_unit, &features, &fixed, penalty, &run.clock()) {
        Some(built) => {
            let places = (built.weights, built.bias);
            built.program.solve(&run.clock(), run.remaining())?.map(|solved| (solved, places))
        }
        None => None,
    };
    let mut status = run.stop().unwrap_or(Status::Completed);
    // Step 3: without a solution, at alpha = C/2.
    let mut beta: Vec<f64> = match &solved {
        Some((solved, _)) => (0..n).map(|i| dual.y[i] * solved.multipliers[i].max(0.0) / (unit * unit)).collect(),
        None => (0..n).map(|i| 0.5 * dual.y[i] * dual.cost[i]).collect(),
    };
    beta.iter_mut().filter(|b| !b.is_finite()).for_each(|b| *b = 0.0);
    kkt::make_feasible(&dual, &mut beta);
    let c: Vec<f64> = features.iter().map(|&j| design.dot_column(j, &beta)).collect();
    let sum: f64 = beta.iter().sum();
    let linear: f64 = (0..n).map(|i| dual.y[i] * beta[i] - 0.5 * dual.ridge[i] * beta[i] * beta[i]).sum();
    run.raise_bound(linear - 0.5 * dual.bias_square() * sum * sum - penalty.conjugate(&c, &fixed));

    // Step 4.
    let mut weights = vec![0.0; p];
    let (mut gains, mut relaxed) = (vec![0.0; p], None);
    let mut worth: Vec<f64> = c.iter().map(|c| c * c).collect();
    if let Some((ConeSolution { x, good, steps, .. }, (places, bias))) = solved {
        run.counts.solver_iterations += u64::from(steps);
        if x.iter().all(|x| x.is_finite()) && (good || status == Status::Completed) {
            let w: Vec<f64> = places.iter().map(|&at| x[at] / unit).collect();
            worth = penalty.worth(&x, &w, &c);
            let mut scores = vec![0.0; n];
            features.iter().zip(&w).for_each(|(&j, &w)| design.add_column(j, w, &mut scores));
            let bias = bias.map_or(0.0, |(at, value)| value * x[at]);
            let bias = if dual.bias == Bias::Free { kkt::best_bias(&dual, &scores) } else { bias };
            let bias_penalty = if let Bias::Penalised(s) = dual.bias { 0.5 * (bias / s).powi(2) } else { 0.0 };
            relaxed = Some(penalty.value(&w, &fixed) + bias_penalty + kkt::total_loss(&dual, &scores, bias));
            features.iter().zip(&w).for_each(|(&j, &w)| weights[j] = w);
        }
        if !good && status == Status::Completed {
            status = Status::Stalled;
        }
    }
    features.iter().zip(&worth).for_each(|(&j, &worth)| gains[j] = worth.max(0.0));
    let used = whole.then(|| in_use(rules, &gains, relaxed.map_or(most, |_| p))).filter(|used| rules.allows(used));
    let own = relaxed.filter(|_| used.is_some());
    let subset = used.unwrap_or_else(|| run.best_subset(&gains).subset);
    let chosen: Vec<usize> = subset.iter().collect();
    let clock = &run.late_clock(1.0);
    let solution = train_linear(design, &chosen, &dual, Some(&beta), settings, clock);
    run.offer(&subset, own.unwrap_or(solution.primal));
    // A relaxation of more than B features is no answer to the question for subsets of B.
    if run.closed() && subset.len() <= most {
        status = Status::Optimal;
    }
    let ranking = ranking(&subset, &gains);
    let selection = Selection { outcome: run.finish(status), ranking, solutions: Vec::new() };
    Ok(ConicReport { selection, weights, relaxed, solution, whole: own.is_some() })
}

/// Shares of the largest gain up to this are zero: 1e-4 of the largest weight, by squares (Chan et
/// al.).
const ZERO: f64 = 1e-8;

/// The features that count, at most this many of those that are not required, the largest first.
fn in_use(rules: &Rules, gains: &[f64], most: usize) -> Subset {
    let largest = gains.iter().copied().fold(0.0, f64::max);
    let mut used: Vec<usize> = (0..gains.len()).filter(|&j| gains[j] > ZERO * largest).collect();
    used.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
    used.truncate(most);
    Subset::from_indices(gains.len(), used.into_iter().chain(rules.list().require.iter().copied()))
}

/// The features of the subset first, then those that count, by how much.
fn ranking(subset: &Subset, gains: &[f64]) -> Vec<Ranked> {
    let most = gains.iter().copied().fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..gains.len()).filter(|&j| subset.contains(j) || gains[j] > ZERO * most).collect();
    order.sort_by(|&a, &b| {
        let within = subset.contains(b).cmp(&subset.contains(a));
        within.then(gains[b].total_cmp(&gains[a])).then(a.cmp(&b))
    });
    let ranked =
        |(at, &feature): (usize, &usize)| Ranked { feature, rank: at + 1, step: None, criterion: gains[feature] };
    order.iter().enumerate().map(ranked).collect()
}

/// The program, and where things are in it.
struct Built {
    program: ConeProgram,
    weights: Vec<usize>,
    /// The bias's variable and the value of its feature.
    bias: Option<(usize, f64)>,
}

/// Rows of the program between two checks of the clock.
const CHECK_EVERY: usize = 64;

impl Built {
    /// Nothing once the clock says stop.
    fn new(
        problem: &Problem<'_>,
        dual: &BoxDual,
        features: &[usize],
        fixed: &[bool],
        penalty: &mut dyn Penalty,
        clock: &Clock,
    ) -> Option<Self> {
        let mut program = ConeProgram::default();
        let weights: Vec<usize> = features.iter().map(|_| program.variable(0.0, 0.0)).collect();
        let bias = match dual.bias {
            Bias::None => None,
            Bias::Free => Some((program.variable(0.0, 0.0), 1.0)),
            Bias::Penalised(s) => Some((program.variable(1.0, 0.0), s)),
        };
        let slacks: Vec<usize> = (0..dual.len())
            .map(|i| match dual.loss {
                Loss::Hinge => program.variable(0.0, dual.cost[i]),
                Loss::SquaredHinge => program.variable(2.0 * dual.cost[i], 0.0),
            })
            .collect();
        // The margins come first: their multipliers are alpha.
        let rows = problem.design().rows(features);
        let mut unit = vec![0.0; features.len()];
        for i in 0..dual.len() {
            if i % CHECK_EVERY == 0 && clock.stop().is_some() {
                return None;
            }
            let y = dual.y[i];
            rows.row(i).add_to(1.0, &mut unit);
            let mut terms: Vec<(usize, f64)> =
                unit.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(k, x)| (weights[k], y * x)).collect();
            unit.fill(0.0);
            terms.extend(bias.map(|(at, value)| (at, y * value)));
            terms.push((slacks[i], 1.0));
            program.at_least_zero(terms, -1.0);
        }
        for &slack in &slacks {
            program.at_least_zero([(slack, 1.0)], 0.0);
        }
        penalty.add(&mut program, &weights, fixed);
        Some(Self { program, weights, bias })
    }
}

#[cfg(test)]
mod tests {
    use super::memory;

    #[test]
    fn the_estimate_grows_with_every_size() {
        let base = memory(100, 1000, 50_000);
        assert!(memory(200, 1000, 50_000) > base && memory(100, 2000, 50_000) > base);
        assert!(memory(100, 1000, 60_000) > base);
        // tan2010 reports that MOSEK ran out of memory beyond 8000 features with 500 samples: here
        // that is well below 1 GiB.
        assert!(memory(500, 8000, 4_000_000) < 1 << 30);
    }
}
