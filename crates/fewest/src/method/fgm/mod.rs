//! Feature generating machine: a sparse linear SVM among millions of features, with the value of its relaxation proven.
//!
//! Solves   min_d min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, s.t. y_i (w.(x_i . d) + b) >= rho - xi_i, over the subsets d that the
//!          rules allow, relaxed to their mixtures sum_t mu_t d_t. Squared hinge, ridge; no bias, unless asked for.
//! Paper    Tan, Wang, Tsang, Learning sparse SVM for feature selection on very high dimensional datasets, ICML 2010:
//!          Algorithm 1, eqs. (1)-(9), Theorem 1, sections 2.2 to 2.5.
//! Given    Problem (n samples, p features), or a [`Source`] of its columns; Rules, [`FgmSettings`].
//! Returns  the features kept, their mu-weights z_j = sum_t mu_t d_tj, w, the mixture's value, the proven bound, status.
//! Steps    1. alpha = 1/n (samples by their weights); the most violated subset (`separation`)  2. multiple kernel learning over the subsets so far
//!          (`mkl`)  3. at its alpha: the most violated subset, and the bound of Theorem 1  4. until value and bound meet
//! Rules    hold for each generated subset. Their mixture keeps every feature of positive weight, which can be more than a size
//!          limit allows (as in the paper); `top_b` (FGM-B) returns the best allowed subset of them instead.
//! Bound    -S(alpha, d) at the most violated d (Theorem 1): no allowed subset, and no mixture, has a smaller value. Under a
//!          budget, groups or implications the sum it counts is raised by the slack the search may have left, 1e-6.
//! Cost     per round one pass over X, and on the q columns of the generated subsets a few dozen steps of two passes and
//!          q^3 / 6 each; memory: those columns and 24 q^2 bytes. p only enters by the pass.
//! Differs  from the paper: margins are 1 while it computes: with V the value of that problem, this one's is -1 / (4 V), so
//!          both have the same subsets and mixtures. Improvements, each with its setting:
//!          - `reuse`: between two passes the best mixture of all subsets of the columns at hand is found, not of those listed: under
//!            a size limit without a list (`spread`), under other rules by seeking subsets among the columns (`mkl`);
//!          - `mkl`: Newton's method in place of SimpleMKL's reduced gradient;
//!          - each round's MKL is solved to a share of the gap still open.
//! Fails    never on limits: the mixture so far is returned. Errors: settings out of range; too many columns for the memory.

mod machine;
mod mixer;
mod mixture;
mod mkl;
mod separation;
mod source;
mod spread;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{ALL_RULES, Classes, Info, Method, Report};
use crate::dual::{Bias, BoxDual, DualSolution, Loss, kkt};
use crate::model::{Machine as Classifier, Model};
use crate::problem::checked_labels;
use crate::run::relative_gap;
use crate::{
    Classified, Error, Event, Kernel, Limits, Master, Next, Observer, Problem, Ranked, RowMatrix, Rules, Run,
    Selection, Sense, Status, Subset, SvmSettings, drive,
};
use mixer::{Mixed, Mixer, Question};
use mixture::{Columns, Level, Point, Subsets};
use separation::{Separation, Violated};
pub use source::{Scored, Source, Wanted};

/// What a round may still take after a limit was reached, so that there is a mixture at all.
const WIND_UP: Duration = Duration::from_secs(1);
/// Gap of the columns at hand at which a pass over all features is due: a share of the gap at the last pass,
const POOL_SHARE: f64 = 0.1;
/// and in any case this share of the gap asked for.
const POOL_ASKED: f64 = 0.3;
/// Gap of multiple kernel learning, as a share of the gap at which a pass is due.
const MKL_SHARE: f64 = 0.3;
/// The smallest gap that rounding leaves.
const SMALLEST: f64 = 1e-10;

/// How the generated subsets are weighed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mkl {
    /// Newton's method on the weights, with the exact curvature.
    #[default]
    Fast,
    /// SimpleMKL, the paper's choice.
    Simple,
}

/// Settings of [`fgm`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FgmSettings {
    /// C > 0 of `C/2 sum_i xi_i^2`, which is twice the cost of a squared-hinge SVM elsewhere in this library. Default 1.
    pub cost: f64,
    /// Bias b. Default none, the paper's.
    pub bias: Bias,
    /// Solver of multiple kernel learning. Default fast.
    pub mkl: Mkl,
    /// Seek subsets among the columns at hand before all features are looked at again. Default yes.
    pub reuse: bool,
    /// FGM-B: return the allowed subset of the features with the largest z_j c_j^2, and the SVM trained on it. Default no.
    pub top_b: bool,
    /// Relative duality gap of that last training, in (0, 1). Default 1e-6.
    pub tolerance: f64,
    /// Bytes that the matrices of multiple kernel learning may use. Default 1 GiB.
    pub memory: u64,
}

impl Default for FgmSettings {
    fn default() -> Self {
        let svm = SvmSettings::default();
        Self {
            cost: svm.cost,
            bias: Bias::None,
            mkl: Mkl::default(),
            reuse: true,
            top_b: false,
            tolerance: svm.tolerance,
            memory: svm.memory,
        }
    }
}

impl FgmSettings {
    /// The SVM with margins of 1: its cost is that of `cost sum_i xi_i^2`.
    pub fn svm(&self) -> SvmSettings {
        SvmSettings {
            cost: 0.5 * self.cost,
            loss: Loss::SquaredHinge,
            bias: self.bias,
            tolerance: self.tolerance,
            memory: self.memory,
            ..SvmSettings::default()
        }
    }
}

/// The paper's value for one with margins of 1: `-1 / (4 V)`, and back.
fn paper_value(value: f64) -> f64 {
    -0.25 / value
}

impl Method for FgmSettings {
    const INFO: Info = Info {
        name: "fgm",
        title: "feature generating machine, for millions of sparse features",
        solves: "Generates the subset of --max-features that the classifier so far misses most, weighs all generated subsets by multiple kernel learning, and repeats, until the value of the mixture meets the bound. Keeps every feature of positive weight, which can be more than --max-features; each generated subset obeys the rules. With --top-b (FGM-B), the best subset of them that obeys the rules, and the SVM on it.",
        formula: "min over mixtures d = sum_t mu_t d_t of min 1/2 |w|^2 + C/2 sum_i xi_i^2 - rho, y_i w.(x_i . d) >= rho - xi_i",
        proves: "a bound below every allowed subset; for --top-b optimal means the best subset, within --gap",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: ALL_RULES,
        cost: "a few passes over the data, and some Newton steps on the columns of the generated subsets",
        paper: "M. Tan, L. Wang, I. W. Tsang: Learning sparse SVM for feature selection on very high dimensional datasets. ICML 2010.",
    };

    fn check(&self, _p: usize) -> Result<(), Error> {
        SvmSettings { cost: self.cost, ..self.svm() }.check()
    }

    fn select(
        &self,
        samples: &Classified<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let report = fgm(&samples.problem()?, rules, self, limits, observer)?;
        Ok(report.into())
    }

    fn finds_size(&self) -> bool {
        false
    }
}

/// A feature kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kept {
    /// Index, from 0.
    pub feature: usize,
    /// z_j = sum_t mu_t d_tj, in (0, 1]; 1 for FGM-B.
    pub share: f64,
    /// w_j of the decision function (sec. 2.5).
    pub weight: f64,
}

/// One round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Round {
    /// Value of the best mixture so far: Theorem 1's beta_k, negated.
    pub upper: f64,
    /// Bound proven so far: Theorem 1's phi_k, negated.
    pub lower: f64,
    /// Subsets generated so far.
    pub subsets: usize,
    /// Columns gathered so far.
    pub columns: usize,
    /// Features of positive weight.
    pub kept: usize,
    /// Seconds of multiple kernel learning, its trainings and the subsets it reused columns for.
    pub mkl_seconds: f64,
    /// Seconds of the pass over all features and the selection of the most violated subset.
    pub separation_seconds: f64,
}

/// Result of [`fgm`].
#[derive(Debug, Clone)]
pub struct FgmReport {
    /// The features kept, value, bound, status. The objective is the mixture's value (for FGM-B that of the SVM on the
    /// subset); status `optimal` says that the features are an allowed subset of that value within the gap, `completed` that
    /// the relaxation is solved within it. The ranking lists the features kept, by falling |w_j|; its criterion is z_j.
    pub selection: Selection,
    /// The features kept, ascending.
    pub kept: Vec<Kept>,
    /// The machine behind w and b, in the paper's scale: |beta_i| sum to 1. Its objectives are those of its own SVM, on the
    /// columns `sqrt(z_j) x_j`.
    pub solution: DualSolution,
    /// Every round, in order.
    pub rounds: Vec<Round>,
}

impl FgmReport {
    /// The classifier `f(x) = sum_j w_j x_j + b` of section 2.5 on the features kept.
    pub fn model(&self) -> Model {
        let solution = self.solution.clone();
        let (weights, bias) = (solution.weights.clone(), solution.bias);
        let machine = Classifier { negative: 0, positive: 1, weights, coefficients: Vec::new(), bias, solution };
        Model {
            features: self.kept.iter().map(|k| k.feature).collect(),
            kernel: Kernel::Linear,
            n_classes: 2,
            machines: vec![machine],
            support_vectors: RowMatrix::dense(0, self.kept.len(), Vec::new()),
        }
    }
}

impl From<FgmReport> for Report {
    fn from(report: FgmReport) -> Self {
        let (model, shares) = (report.model(), report.kept.iter().map(|k| k.share).collect::<Vec<f64>>());
        Report::new(report.selection, Kernel::Linear)
            .with_model(Some(model))
            .detail("shares", shares)
            .detail("rounds", report.rounds)
    }
}

/// The feature generating machine; see the head of this file.
///
/// ```
/// use fewest::method::fgm::{FgmSettings, fgm};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let report = fgm(&problem, &rules, &FgmSettings::default(), Limits::default(), &mut Silent)?;
/// assert_eq!(report.kept[0].feature, 0);
/// assert!(report.kept[0].weight > 0.0);
/// assert!(report.selection.outcome.gap().unwrap() <= 1e-4);
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; more columns than the memory allows.
pub fn fgm(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmReport, Error> {
    generate(&problem.design(), problem.labels(), problem.weights(), rules, settings, limits, observer)
}

/// [`fgm`] on a matrix that may be elsewhere, with the labels (-1 or 1) and weights (default all 1) of its n samples. The result is that of
/// the same columns in memory, bit for bit where the source's scores are. Whoever makes the source has checked its values ([`crate::check_values`]).
///
/// # Errors
/// Those of [`fgm`] and of [`Problem::new`], and those of the source.
pub fn fgm_from(
    source: &dyn Source,
    labels: &[f64],
    weights: Option<&[f64]>,
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmReport, Error> {
    let weights = checked_labels(source.n_samples(), labels, weights)?;
    generate(source, labels, &weights, rules, settings, limits, observer)
}

fn generate(
    source: &dyn Source,
    labels: &[f64],
    weights: &[f64],
    rules: &Rules,
    settings: &FgmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<FgmReport, Error> {
    settings.check(rules.p())?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let svm = settings.svm();
    let dual = BoxDual::new(labels, weights, &svm);
    let separation = Separation::new(rules);
    let mut mixer = Mixer {
        source,
        dual: &dual,
        svm: &svm,
        settings,
        separation: &separation,
        columns: Columns::new(labels.len()),
        subsets: Subsets::default(),
        last: None,
        start: None,
    };
    let mut rounds = Rounds {
        source,
        dual: &dual,
        separation: &separation,
        violated: None,
        separated: Duration::ZERO,
        gap: 1.0,
        stale: false,
        best: None,
        history: Vec::new(),
    };
    rounds.first(&mut run)?;
    let mut status = drive(&mut mixer, &mut rounds, &mut run)?;
    let best = rounds.best.expect("a limit before the first answer is wound up by one");

    let (kept, solution) = if settings.top_b {
        let over = run.elapsed() + WIND_UP;
        mixer.top_b(rules, &best, &mut || run.stop().filter(|_| run.elapsed() >= over))?
    } else {
        mixer.mixture(&best, run.stop().unwrap_or(Status::Optimal))
    };
    let value = solution.primal;
    let subset = Subset::from_indices(rules.p(), kept.iter().map(|k| k.feature));
    if run.offer(&subset, value) && run.closed() && status == Status::Completed {
        status = Status::Optimal;
    }
    let mut outcome = run.finish(status);
    // The features of a mixture need not satisfy the rules.
    (outcome.subset, outcome.objective) = (Some(subset), Some(value));
    outcome.counts.cuts = mixer.subsets.len() as u64;
    let selection = Selection { outcome, ranking: ranking(&kept), solutions: Vec::new() };
    Ok(FgmReport { selection, kept, solution, rounds: rounds.history })
}

/// Best first: by falling |w_j|, ties to the smaller index.
fn ranking(kept: &[Kept]) -> Vec<Ranked> {
    let mut order: Vec<&Kept> = kept.iter().collect();
    order.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(a.feature.cmp(&b.feature)));
    let ranked = |(at, k): (usize, &&Kept)| Ranked { feature: k.feature, rank: at + 1, step: None, criterion: k.share };
    order.iter().enumerate().map(ranked).collect()
}

/// Steps 1, 3 and 4: seeks the most violated subset, and knows value and bound.
struct Rounds<'a> {
    source: &'a dyn Source,
    dual: &'a BoxDual,
    separation: &'a Separation<'a>,
    violated: Option<Violated>,
    /// Time of the last separation.
    separated: Duration,
    /// Gap of the relaxation at the last separation.
    gap: f64,
    /// Whether the last subset was known and the gap did not fall.
    stale: bool,
    /// The best mixture; over the columns of its round, which are the first of all there are now.
    best: Option<Point>,
    history: Vec<Round>,
}

impl Rounds<'_> {
    /// The most violated subset at beta; raises the bound.
    fn separate(&mut self, beta: &[f64], run: &mut Run<'_>) -> Result<(), Error> {
        let start = Instant::now();
        let violated = self.separation.all(self.source, beta)?;
        run.raise_bound(paper_value(Level::of(self.dual, beta).value(violated.most)));
        self.violated = Some(violated);
        self.separated = start.elapsed();
        Ok(())
    }

    /// Step 1. A sample of weight 2 starts as two samples do.
    fn first(&mut self, run: &mut Run<'_>) -> Result<(), Error> {
        let total: f64 = self.dual.cost.iter().sum();
        let mut beta: Vec<f64> = self.dual.y.iter().zip(&self.dual.cost).map(|(y, cost)| y * (cost / total)).collect();
        kkt::make_feasible(self.dual, &mut beta);
        self.separate(&beta, run)
    }

    fn question(&mut self, run: &Run<'_>, grace: Duration) -> Question {
        // The gap as a share of the larger value: below 1.
        let open = self.gap / (1.0 + self.gap);
        let pool = (POOL_SHARE * open).max(POOL_ASKED * run.gaps().0).max(SMALLEST);
        let violated = self.violated.take().expect("separated before");
        Question { violated, pool, tolerance: (MKL_SHARE * pool).max(SMALLEST), grace }
    }
}

impl Master<Mixer<'_>> for Rounds<'_> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question>, Error> {
        let Some(best) = &self.best else {
            return Ok(Next::Ask(self.question(run, Duration::ZERO)));
        };
        let (relative, absolute) = run.gaps();
        let value = paper_value(best.upper);
        let bound = run.bound().expect("raised with every separation");
        if self.gap <= relative || value - bound <= absolute {
            return Ok(Next::Done(Status::Completed));
        }
        if self.stale {
            return Ok(Next::Done(Status::Stalled));
        }
        run.tell(&Event::Progress { done: self.history.len() as u64, total: None, elapsed: run.elapsed() });
        Ok(Next::Ask(self.question(run, Duration::ZERO)))
    }

    fn learn(&mut self, _: Question, answer: Mixed, run: &mut Run<'_>) -> Result<(), Error> {
        let Mixed { point, fresh, columns, subsets, seconds } = answer;
        self.separate(&point.beta, run)?;
        let kept = point.z.iter().filter(|z| **z > 0.0).count();
        if self.best.as_ref().is_none_or(|best| point.upper <= best.upper) {
            self.best = Some(point);
        }
        let upper = paper_value(self.best.as_ref().expect("just set").upper);
        let lower = run.bound().expect("raised by the separation");
        let gap = relative_gap(upper, lower);
        self.stale = !fresh && gap > 0.9 * self.gap;
        self.gap = gap;
        let separation_seconds = self.separated.as_secs_f64();
        self.history.push(Round { upper, lower, subsets, columns, kept, mkl_seconds: seconds, separation_seconds });
        Ok(())
    }

    fn wind_up(&mut self, run: &mut Run<'_>) -> Option<Question> {
        self.best.is_none().then(|| self.question(run, WIND_UP))
    }
}
