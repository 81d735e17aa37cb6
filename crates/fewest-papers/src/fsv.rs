//! `fsv`: feature selection by concave minimisation.
//!
//! Solves   min (1 - lambda) (mean xi of class +1 + mean xi of class -1)
//!              + lambda sum_j (1 - exp(-a |w_j|))
//!          s.t. y_i (w.x_i + b) + xi_i >= 1, xi >= 0, b free, w_j within the bounds of the rules
//! Paper    Bradley, Mangasarian, ICML 1998: FSV, the successive linearization algorithm (SLA); a =
//!          5 as there.
//! Given    Problem (n samples, p features), Rules, [`FsvSettings`].
//! Returns  the subset of non-zero weights, its objective, the classifier, every start's objectives
//!          from step to step.
//! Steps    1. w = 0, or a random w  2. the objective's tangent at |w|: a linear program in which
//!          w_j costs lambda a exp(-a |w_j|)
//!          3. again from its solution, a vertex, until the objective falls no more  4. the best of
//!             several starts
//! Bound    none: the objective is concave, and SLA ends at a vertex that is a stationary point.
//! Rules    must-out and bounds on weights in the program; where the vertex breaks another, the
//!          allowed subset of largest total |w_j|, and step 2 on it alone.
//! Cost     some 5 to 10 linear programs per start.
//! Differs  a dual bound of HiGHS's is not asked for; sample weights count in the means.
//! Fails    never on limits: the best vertex so far. Errors: settings, a failure of HiGHS.

use serde::{Deserialize, Serialize};

use fewest::dual::sweep::Shuffle;
use fewest::l1_oracle::{L1Oracle, L1Point};
use fewest::method::l1_svm::{linear_model, nearest_allowed, not_forbidden, rank_weights, sizes};
use fewest::method::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
use fewest::model::Model;
use fewest::{
    Bias, DualSolution, Error, Kernel, Limits, Memory, Observer, Problem, Rules, Run, Samples, Selection, Sense,
    Status, Subset,
};

/// Gap to which linear programs are solved.
const TIGHT: f64 = 1e-9;
/// A fall of the objective by less than this share ends the steps.
const FALL: f64 = 1e-7;
/// Random weights of a start are up to this over alpha.
const SPREAD: f64 = 5.0;

fewest::settings! {
    /// Settings of [`fsv`].
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct FsvSettings {
        /// lambda in [0, 1): how much features count beside errors.
        pub lambda: f64 = 0.05 => [0 or more below 1],
        /// a > 0: how fast a weight counts as one.
        pub alpha: f64 = 5.0 => [above 0],
        /// Starts: w = 0, then random ones.
        pub starts: usize = 5 => [at least 1],
        /// Seed of the random starts.
        pub seed: u64 = 0,
        /// Linear programs from one start, at most.
        pub max_steps: usize = 50 => [at least 1],
    }
}

impl Method for FsvSettings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: "fsv",
        title: "feature selection by concave minimisation",
        solves: "Counts features by 1 - exp(-5 |w_j|) and minimises that beside the mean slack by successive linearization: linear programs whose solutions are vertices, until the objective falls no more; the best of several starts.",
        formula: "min (1 - lambda) (mean xi of one class + mean xi of the other) + lambda sum_j (1 - exp(-5 |w_j|)), y_i (w.x_i + b) + xi_i >= 1",
        proves: "nothing; `certify` judges the subset by the value of the SVM on it",
        bounds: false,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: RULES_AND_BOUNDS,
        cost: "some 5 to 10 linear programs per start",
        paper: "P. S. Bradley, O. L. Mangasarian: Feature selection via concave minimization and support vector machines. ICML 1998.",
    };

    fn absorbs_constants(&self) -> bool {
        true
    }

    fn check(&self, _p: usize) -> Result<(), Error> {
        fewest::Settings::in_range(self)
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let report = fsv(&samples.problem()?, rules, self, limits, observer)?;
        let model = report.model();
        Ok(Report::new(report.selection, Kernel::Linear).with_model(model).detail("starts", report.steps))
    }
}

/// Result of [`fsv`].
#[derive(Debug, Clone)]
pub struct FsvReport {
    /// Subset, objective, status; no bound. The ranking lists the non-zero weights, largest first.
    pub selection: Selection,
    /// The classifier's solution, weights of the subset's features, ascending. Its objectives are
    /// those of the last linear program.
    pub solution: Option<DualSolution>,
    /// The objective after every linear program of each start: it never rises.
    pub steps: Vec<Vec<f64>>,
}

impl FsvReport {
    /// The classifier `f(x) = sum_j w_j x_j + b` on the subset, if there is one.
    pub fn model(&self) -> Option<Model> {
        Some(linear_model(self.selection.outcome.subset.as_ref()?, self.solution.as_ref()?))
    }
}

/// `fsv`; see the head of this file.
///
/// # Examples
/// ```
/// use fewest_papers::fsv::{FsvSettings, fsv};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let (rules, settings) = (Rules::none(2), FsvSettings::default());
/// let report = fsv(&problem, &rules, &settings, Limits::default(), &mut Silent)?;
/// assert_eq!(report.model().unwrap().features, [0]);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn fsv(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &FsvSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FsvReport, Error> {
    settings.check(rules.p())?;
    rules.check_features(problem.n_features())?;
    let mut run = Run::bounded(rules, limits, Sense::Min, observer)?;
    let mut concave = Concave::new(problem, rules, settings, run.memory())?;
    let (mut steps, mut best) = (Vec::new(), None);
    let mut random = Shuffle::new(settings.seed.wrapping_mul(2).wrapping_add(1));
    for start in 0..settings.starts {
        if start > 0 && run.stop().is_some() {
            break;
        }
        // Step 1.
        let (p, spread) = (rules.p(), SPREAD / settings.alpha);
        let size = |_| if start == 0 { 0.0 } else { spread * random.below(1 << 20) as f64 / f64::from(1 << 20) };
        let first: Vec<f64> = (0..p).map(size).collect();
        let (mut point, mut objectives) = concave.descend(&first, &not_forbidden(rules), &mut run)?;
        let mut subset = Subset::from_indices(p, point.weights.iter().map(|e| e.0));
        if !rules.allows(&subset) {
            subset = nearest_allowed(&run, &point.weights);
            (point, objectives) =
                concave.descend(&sizes(p, &point.weights), &subset.iter().collect::<Vec<_>>(), &mut run)?;
        }
        // Step 4.
        let objective = concave.objective(&point);
        if run.offer(&subset, objective) {
            best = Some((subset, point));
        }
        steps.push(objectives);
    }
    run.counts.oracle_calls = concave.oracle.solves;
    let status = run.stop().unwrap_or(Status::Completed);
    let ranking = best.as_ref().map_or_else(Vec::new, |(_, point)| rank_weights(&point.weights));
    let solution =
        best.map(|(subset, point)| concave.oracle.solution(&point, &subset.iter().collect::<Vec<_>>(), TIGHT));
    Ok(FsvReport {
        selection: Selection { outcome: run.finish(status), ranking, solutions: Vec::new() },
        solution,
        steps,
    })
}

/// The objective and its linear programs.
struct Concave<'a> {
    settings: &'a FsvSettings,
    oracle: L1Oracle<'a>,
}

impl<'a> Concave<'a> {
    fn new(
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &'a FsvSettings,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let side =
            |y: f64| problem.labels().iter().zip(problem.weights()).filter(|e| *e.0 == y).map(|e| e.1).sum::<f64>();
        let (plus, minus) = (side(1.0), side(-1.0));
        let share = |(y, weight): (&f64, &f64)| (1.0 - settings.lambda) * weight / if *y > 0.0 { plus } else { minus };
        let cost: Vec<f64> = problem.labels().iter().zip(problem.weights()).map(share).collect();
        let bound = vec![f64::INFINITY; rules.p()];
        let oracle = L1Oracle::within(problem, cost, Bias::Free, bound, memory)?.bounded(rules.weight_bounds());
        let oracle = oracle.priced(settings.lambda * settings.alpha)?;
        Ok(Self { settings, oracle })
    }

    fn objective(&self, point: &L1Point) -> f64 {
        let counted: f64 = point.weights.iter().map(|e| 1.0 - (-self.settings.alpha * e.1.abs()).exp()).sum();
        point.loss + self.settings.lambda * counted
    }

    /// Steps 2 and 3 from weights of these sizes (length p), on these features.
    fn descend(&mut self, start: &[f64], features: &[usize], run: &mut Run<'_>) -> Result<(L1Point, Vec<f64>), Error> {
        let FsvSettings { lambda, alpha, max_steps, .. } = *self.settings;
        let mut bound = vec![0.0; start.len()];
        for &j in features {
            bound[j] = f64::INFINITY;
        }
        self.oracle.set_bounds(&bound)?;
        let mut weights = start.to_vec();
        let (mut best, mut objectives): (Option<L1Point>, Vec<f64>) = (None, Vec::new());
        while objectives.len() < max_steps {
            let prices: Vec<f64> = weights.iter().map(|v| lambda * alpha * (-alpha * v).exp()).collect();
            self.oracle.set_prices(&prices, &prices)?;
            let point = self.oracle.solve(TIGHT, &run.counted_clock())?;
            let (objective, last) = (self.objective(&point), objectives.last().copied().unwrap_or(f64::INFINITY));
            let stopped = point.stopped.is_some();
            if objective < last {
                objectives.push(objective);
                weights = sizes(weights.len(), &point.weights);
                best = Some(point);
            }
            if stopped || objective >= last - FALL * last.abs() {
                break;
            }
        }
        Ok((best.expect("the first objective is finite"), objectives))
    }
}
