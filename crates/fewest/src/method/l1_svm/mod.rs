//! `l1-svm`: the SVM with L1 penalty, whose weights are mostly 0 (ONSVM in aytug2015, LPSVM in
//! tan2010).
//!
//! Solves   min_w,b |w|_1 + sum_i C_i loss(y_i (w.x_i + b)), w_j allowed only on the chosen subset;
//!          hinge or squared hinge; w_j within the bounds of the rules
//! Paper    Bradley, Mangasarian, ICML 1998 (hinge, a linear program); Fan et al., JMLR 2008
//!          (squared hinge, LIBLINEAR's -s 5).
//! Given    Problem (n samples, p features), or a [`Source`] of its columns (squared hinge); Rules,
//!          [`L1Settings`]: a cost, or several in ascending order.
//! Returns  the subset, its objective, a bound below which no allowed subset's objective is, and
//!          the classifier.
//! Steps    1. for each cost, from the solution of the cost before: the L1-SVM of all features that
//!          are not forbidden  2. of the largest cost whose non-zero weights satisfy the rules,
//!          those are the subset  3. where none does: at the smallest cost, the allowed subset of
//!          largest total |w_j|, and the L1-SVM of that subset alone
//! Bound    the dual value in step 1, at the cost chosen: fewer features only cost more.
//! Cost     hinge: see [`crate::l1_oracle`]; squared hinge: see `squared/`.
//! Differs  rules other than must-out: steps 2 and 3.
//! Fails    never on limits. Errors: settings out of range, hinge without HiGHS or with columns
//!          elsewhere.

mod squared;

use serde::{Deserialize, Serialize};

use super::{Classes, Info, Method, RULES_AND_BOUNDS, Report};
pub use squared::squared_hinge;
use squared::{Matrix, bounded_squared_hinge};

use crate::dual::{BoxDual, kkt};
#[cfg(feature = "highs")]
use crate::l1_oracle::L1Oracle;
use crate::model::{Machine, Model};
use crate::problem::{Labelled, checked_labels};
use crate::{
    Bias, Choice, Clock, DualSolution, Error, Kernel, Limits, Loss, Memory, Observer, Problem, Ranked, RowMatrix,
    Rules, Run, Samples, Selection, Sense, Source, Status, Subset, SvmSettings, WeightBounds, Yardstick,
};

/// From this many samples on, the hinge starts from a rough solution of the squared hinge,
#[cfg(feature = "highs")]
const LARGE: usize = 300;
/// of this relative gap: with the features whose |c_j| is above
#[cfg(feature = "highs")]
const ROUGH: f64 = 1e-2;
/// this share of the price, 1,
#[cfg(feature = "highs")]
const NEAR: f64 = 0.7;
/// and the samples of a margin below this. Features and samples that the hinge needs and that are
/// missing here cost rounds.
#[cfg(feature = "highs")]
const MARGIN: f64 = 1.5;

crate::settings! {
    /// Settings of [`l1_svm`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct L1Settings {
        /// Loss, bias, cost and tolerance. The bias is not penalised, or as |b / s|, the weight of a
        /// constant feature of value s.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// Costs in ascending order, instead of the one of `svm`.
        pub costs: Vec<f64> = Vec::new() => "ascending numbers above 0",
    }
}

impl Method for L1Settings {
    const WEIGHT_BOUNDS: bool = true;

    const INFO: Info = Info {
        name: "l1-svm",
        title: "SVM with L1 penalty (ONSVM, LPSVM): most weights are 0",
        solves: "Trains the L1-SVM on all features that are not forbidden; the subset is what has weight. With `costs`, at the largest cost at which the rules are kept. Where they are not, the allowed subset of largest total |w|, and the L1-SVM of that subset alone. The classifier is the L1-SVM itself.",
        formula: "min |w|_1 + sum_i C_i loss(y_i (w.x_i + b))",
        proves: "a bound: at this cost no allowed subset has a smaller objective; optimal means that the two meet",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: RULES_AND_BOUNDS,
        cost: "milliseconds to seconds; hinge: linear programs of the features and samples that matter",
        paper: "P. S. Bradley, O. L. Mangasarian: Feature selection via concave minimization and support vector machines. ICML 1998. R.-E. Fan et al.: LIBLINEAR. JMLR 9 (2008).",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias == Bias::Free
    }

    fn check(&self, _p: usize) -> Result<(), Error> {
        self.svm.check()?;
        if let Some(cost) = self.costs.iter().find(|c| !(**c > 0.0 && c.is_finite())) {
            return Err(Error::setting("costs", cost, "finite numbers above 0"));
        }
        if !self.costs.is_sorted() {
            return Err(Error::setting("costs", format!("{:?}", self.costs), "in ascending order"));
        }
        if cfg!(not(feature = "highs")) && self.svm.loss == Loss::Hinge {
            return Err(Error::setting("loss", "hinge", "squared-hinge in a build without HiGHS"));
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
        Ok(l1_svm(&samples.problem()?, rules, self, limits, observer)?.into())
    }
}

impl From<L1Report> for Report {
    fn from(report: L1Report) -> Self {
        let (model, several) = (report.model(), report.grid.len() > 1);
        let out = Report::new(report.selection, Kernel::Linear).with_model(model).with_cost(report.cost);
        if several { out.detail("cost", report.cost).detail("grid", report.grid) } else { out }
    }
}

/// The L1-SVM at one cost.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct GridPoint {
    /// Slack cost C.
    pub cost: f64,
    /// The objective.
    pub objective: f64,
    /// A bound below it.
    pub bound: f64,
    /// Number of non-zero weights.
    pub features: usize,
}

/// Result of [`l1_svm`].
#[derive(Debug, Clone)]
pub struct L1Report {
    /// Subset, objective, bound; status `optimal` where they meet, else `completed`, or the limit.
    /// The ranking lists the non-zero weights, largest first.
    pub selection: Selection,
    /// The classifier's solution: weights of the subset's features, ascending.
    pub solution: DualSolution,
    /// The cost chosen.
    pub cost: f64,
    /// Every cost tried.
    pub grid: Vec<GridPoint>,
}

impl L1Report {
    /// The classifier `f(x) = sum_j w_j x_j + b` on the subset, if there is one.
    pub fn model(&self) -> Option<Model> {
        Some(linear_model(self.selection.outcome.subset.as_ref()?, &self.solution))
    }
}

/// The two-class linear model of a solution whose weights are those of the subset's features.
#[doc(hidden)]
pub fn linear_model(subset: &Subset, solution: &DualSolution) -> Model {
    let solution = solution.clone();
    let (weights, bias) = (solution.weights.clone(), solution.bias);
    let features: Vec<usize> = subset.iter().collect();
    Model {
        support_vectors: RowMatrix::dense(0, features.len(), Vec::new()),
        features,
        kernel: Kernel::Linear,
        categorical: Vec::new(),
        n_classes: 2,
        machines: vec![Machine { negative: 0, positive: 1, weights, coefficients: Vec::new(), bias, solution }],
    }
}

/// The features that the rules do not leave out, ascending.
#[doc(hidden)]
pub fn not_forbidden(rules: &Rules) -> Vec<usize> {
    (0..rules.p()).filter(|&j| rules.root()[rules.unit_of(j)] != Choice::Out).collect()
}

/// |w_j| of every feature.
#[doc(hidden)]
pub fn sizes(p: usize, weights: &[(usize, f64)]) -> Vec<f64> {
    let mut sizes = vec![0.0; p];
    for &(j, w) in weights {
        sizes[j] = w.abs();
    }
    sizes
}

/// The allowed subset of largest total |w_j|; one of large total once a limit is reached.
#[doc(hidden)]
pub fn nearest_allowed(run: &Run<'_>, weights: &[(usize, f64)]) -> Subset {
    run.best_subset(&sizes(run.rules().p(), weights)).subset
}

/// The features of non-zero weight first, by size.
#[doc(hidden)]
pub fn rank_weights(weights: &[(usize, f64)]) -> Vec<Ranked> {
    let mut order = weights.to_vec();
    order.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let ranked =
        |(at, &(feature, w)): (usize, &(usize, f64))| Ranked { feature, rank: at + 1, step: None, criterion: w.abs() };
    order.iter().enumerate().map(ranked).collect()
}

/// `l1-svm`; see the head of this file.
///
/// # Examples
/// ```
/// use fewest::method::l1_svm::{L1Settings, l1_svm};
/// use fewest::{DenseDesign, Limits, Loss, Problem, Rules, Silent, SvmSettings};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, -1.0, 1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let svm = SvmSettings { loss: Loss::SquaredHinge, ..SvmSettings::default() };
/// let settings = L1Settings { svm, ..L1Settings::default() };
/// let report = l1_svm(&problem, &Rules::none(2), &settings, Limits::default(), &mut Silent)?;
/// assert_eq!(report.model().unwrap().features, [0]);
/// assert!(report.selection.outcome.gap().unwrap() <= 1e-4);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn l1_svm(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &L1Settings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<L1Report, Error> {
    settings.check(rules.p())?;
    rules.check_features(problem.n_features())?;
    let run = Run::bounded(rules, limits, Sense::Min, observer)?;
    let trainer = Trainer::new(problem, rules.weight_bounds(), &settings.svm, run.memory())?;
    find(trainer, settings, run)
}

/// [`l1_svm`] with squared hinge on a matrix that may be elsewhere, with the labels (-1 or 1) and
/// weights (default all 1) of its n samples. The result is that of the same columns in memory, bit
/// for bit where the source's scores are. The maker of the source has checked its values
/// ([`crate::check_values`]).
///
/// # Errors
/// Those of [`l1_svm`] and of [`Problem::new`], those of the source, and the hinge.
pub fn l1_svm_from(
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    rules: &Rules,
    settings: &L1Settings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<L1Report, Error> {
    settings.check(rules.p())?;
    if settings.svm.loss == Loss::Hinge {
        let allowed = "squared-hinge where the columns are elsewhere, or have X in memory";
        return Err(Error::setting("loss", "hinge", allowed));
    }
    rules.check_features(source.n_features())?;
    let weights = checked_labels(source.n_samples(), labels, weights)?;
    let run = Run::bounded(rules, limits, Sense::Min, observer)?;
    find(
        Trainer::of(
            Matrix::of(source, run.memory()),
            Labelled { labels, weights: &weights },
            rules.weight_bounds(),
            &settings.svm,
        ),
        settings,
        run,
    )
}

/// Steps 1 to 3.
fn find(mut trainer: Trainer<'_>, settings: &L1Settings, mut run: Run<'_>) -> Result<L1Report, Error> {
    let rules = run.rules();
    let allowed = not_forbidden(rules);
    let one = [settings.svm.cost];
    let costs = if settings.costs.is_empty() { &one[..] } else { &settings.costs };
    let (mut grid, mut chosen) = (Vec::new(), None);
    for &cost in costs {
        // Step 1.
        let solution = trainer.train(cost, &allowed, &run.counted_clock())?;
        run.counts.oracle_calls += 1;
        run.counts.solver_iterations += solution.iterations;
        let weights = non_zero(&allowed, &solution.weights);
        grid.push(GridPoint { cost, objective: solution.primal, bound: solution.dual, features: weights.len() });
        // Step 2.
        let support = Subset::from_indices(rules.p(), weights.iter().map(|e| e.0));
        let fits = rules.allows(&support);
        if fits || chosen.is_none() {
            chosen = Some((cost, solution, weights, fits.then_some(support)));
        }
        if run.stop().is_some() {
            break;
        }
    }
    let (cost, mut solution, mut weights, support) = chosen.expect("at least one cost");
    run.measure_by(Yardstick::new(trainer.without_features(cost), &[]));
    run.raise_bound(solution.dual);
    let subset = if let Some(support) = support {
        support
    } else {
        // Step 3.
        let subset = nearest_allowed(&run, &weights);
        let features: Vec<usize> = subset.iter().collect();
        solution = trainer.train(cost, &features, &run.late_clock(1.0))?;
        run.counts.oracle_calls += 1;
        run.counts.solver_iterations += solution.iterations;
        weights = non_zero(&features, &solution.weights);
        subset
    };
    run.offer(&subset, solution.primal);
    solution.weights =
        subset.iter().map(|j| weights.binary_search_by_key(&j, |e| e.0).map_or(0.0, |at| weights[at].1)).collect();
    let otherwise = if solution.status == Status::MemoryLimit { Status::MemoryLimit } else { Status::Completed };
    let status = if run.closed() { Status::Optimal } else { run.stop().unwrap_or(otherwise) };
    let selection = Selection { outcome: run.finish(status), ranking: rank_weights(&weights), solutions: Vec::new() };
    Ok(L1Report { selection, solution, cost, grid })
}

fn non_zero(features: &[usize], weights: &[f64]) -> Vec<(usize, f64)> {
    features.iter().copied().zip(weights.iter().copied()).filter(|e| e.1 != 0.0).collect()
}

/// Trains at one cost after the other, each from the one before.
struct Trainer<'a> {
    matrix: Matrix<'a>,
    of_samples: Labelled<'a>,
    bounds: &'a WeightBounds,
    settings: SvmSettings,
    #[cfg(feature = "highs")]
    hinge: Option<(L1Oracle<'a>, &'a Problem<'a>)>,
    squared: Option<(Vec<usize>, DualSolution)>,
}

impl<'a> Trainer<'a> {
    /// The objective without features.
    fn without_features(&self, cost: f64) -> f64 {
        let settings = SvmSettings { cost, ..self.settings.clone() };
        kkt::without_features_l1(&BoxDual::new(self.of_samples.labels, self.of_samples.weights, &settings))
    }

    fn new(
        problem: &'a Problem<'a>,
        bounds: &'a WeightBounds,
        settings: &SvmSettings,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let matrix = Matrix::here(problem.design(), memory);
        #[cfg_attr(not(feature = "highs"), expect(unused_mut, reason = "there is no hinge without it"))]
        let mut trainer = Self::of(matrix, problem.labelled(), bounds, settings);
        #[cfg(feature = "highs")]
        if settings.loss == Loss::Hinge {
            let (cost, none) = (problem.weights().to_vec(), vec![f64::INFINITY; problem.n_features()]);
            let oracle = L1Oracle::within(problem, cost, settings.bias, none, memory)?.bounded(bounds);
            trainer.hinge = Some((oracle, problem));
        }
        Ok(trainer)
    }

    /// Without the hinge.
    fn of(matrix: Matrix<'a>, of_samples: Labelled<'a>, bounds: &'a WeightBounds, settings: &SvmSettings) -> Self {
        Self {
            matrix,
            of_samples,
            bounds,
            settings: settings.clone(),
            #[cfg(feature = "highs")]
            hinge: None,
            squared: None,
        }
    }

    /// The L1-SVM of these features, ascending; its weights are in their order.
    fn train(&mut self, cost: f64, features: &[usize], clock: &Clock) -> Result<DualSolution, Error> {
        #[cfg(feature = "highs")]
        if let Some((oracle, problem)) = &mut self.hinge {
            let mut bound = vec![0.0; problem.n_features()];
            for &j in features {
                bound[j] = f64::INFINITY;
            }
            oracle.set_bounds(&bound)?;
            oracle.set_cost(&self.of_samples.weights.iter().map(|weight| weight * cost).collect::<Vec<_>>())?;
            if problem.n_samples() >= LARGE && oracle.features().is_empty() {
                // Which features and samples matter is much the same under the squared hinge, which
                // is sooner solved.
                let rough = SvmSettings { cost, tolerance: ROUGH, ..self.settings.clone() };
                let (design, of_samples, labels) = (problem.design(), self.of_samples, self.of_samples.labels);
                let near =
                    bounded_squared_hinge(&mut self.matrix, of_samples, features, self.bounds, &rough, None, clock)?;
                let (mut gains, mut scores) = (vec![0.0; problem.n_features()], vec![near.bias; labels.len()]);
                design.dot_columns(0, &near.beta, &mut gains);
                features.iter().zip(&near.weights).for_each(|(&j, &w)| design.add_column(j, w, &mut scores));
                let near_price = |j: usize| self.bounds.of(j).worth(gains[j]) > NEAR;
                let used = features.iter().zip(&near.weights).filter(|e| *e.1 != 0.0 || near_price(*e.0));
                let used: Vec<usize> = used.map(|e| *e.0).collect();
                if clock.stop().is_none() {
                    oracle.join(&used)?;
                }
                let inside: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] * scores[i] < MARGIN).collect();
                oracle.join_in_pieces(&inside, clock)?;
            }
            let point = oracle.solve(self.settings.tolerance, clock)?;
            return Ok(oracle.solution(&point, features, self.settings.tolerance));
        }
        let settings = SvmSettings { cost, ..self.settings.clone() };
        let start = self.squared.as_ref().filter(|s| s.0 == features).map(|s| &s.1);
        let (matrix, bounds) = (&mut self.matrix, self.bounds);
        let solution = bounded_squared_hinge(matrix, self.of_samples, features, bounds, &settings, start, clock)?;
        self.squared = Some((features.to_vec(), solution.clone()));
        Ok(solution)
    }
}
