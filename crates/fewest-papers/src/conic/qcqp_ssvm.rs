//! QCQP-SSVM: the sparse SVM with its count of features replaced by a bound on the one-norm.
//!
//! Solves   min_w,b 1/2 t + loss  s.t. |w|_2^2 <= t, |w|_1^2 <= B t: at most B features of weight
//!          mean |w|_1^2 <= B |w|_2^2.
//! Paper    Chan, Vasconcelos, Lanckriet, Direct convex relaxations of sparse SVM, ICML 2007,
//!          QCQP-SSVM.
//! Penalty  P(w) = 1/2 max(|w|_2^2, |w|_1^2 / B); P*(c) = 1/2 N(c)^2, N(c) = min over tau >= 0 of
//!          |max(|c| - tau, 0)|_2 + tau sqrt(B): the dual norm, an adaptive soft threshold on c.
//! Program  |w_j| <= a_j; (t + 1, t - 1, 2 w) and (B t + 1, B t - 1, 2 sum a) in second-order
//!          cones.
//! Subset   the allowed one of largest sum_j w_j^2; where B is no rule, every feature whose weight is
//!          above 1e-4 of the largest, as in the paper.
//! Differs  must-in features only count for the subset. Never tighter than `nmmkl`: P is at most
//!          half the squared B-support norm.

use serde::{Deserialize, Serialize};

use super::{ConicReport, Penalty, Question, check_size, relax};
use crate::conic::clarabel::ConeProgram;
use fewest::method::{Classes, Info, Method, Report};
use fewest::{Bias, Error, Limits, Observer, Problem, Rules, Samples, SvmSettings};

fewest::settings! {
    /// Settings of `qcqp-ssvm`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct QcqpSsvmSettings {
        /// Loss, cost, bias and tolerance of the SVM.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// B where the rules have no size, at least 1: every feature of weight in the relaxation is
        /// kept.
        pub subset_size: Option<usize> = None => "at least 1",
    }
}

impl Method for QcqpSsvmSettings {
    const INFO: Info = Info {
        name: "qcqp-ssvm",
        title: "sparse SVM with a one-norm in place of the count, as a cone program",
        solves: "Solves a convex relaxation of the sparse SVM whole, by an interior-point method (Clarabel), keeps the allowed subset of largest weights, and trains the SVM on it. With `subset_size` in place of a size it keeps every feature of weight. fgm and nmmkl solve a tighter relaxation.",
        formula: "min 1/2 t + C sum_i loss(y_i (w.x_i + b)), |w|_2^2 <= t, |w|_1^2 <= B t",
        proves: "a bound below every subset of at most `max_features`",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: "all, for the subset; the relaxation knows `max_features` and `forbid`",
        cost: "some 15 factorizations of min(n, p)^2 max(n, p); refused where its memory is beyond `memory`",
        paper: "A. B. Chan, N. Vasconcelos, G. R. G. Lanckriet: Direct convex relaxations of sparse SVM. ICML 2007.",
    };

    fn absorbs_constants(&self) -> bool {
        self.svm.bias == Bias::Free
    }

    fn check(&self, _p: usize) -> Result<(), Error> {
        check_size(self.subset_size)?;
        self.svm.check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        Ok(qcqp_ssvm(&samples.problem()?, rules, self, limits, observer)?.into())
    }

    fn finds_size(&self) -> bool {
        self.subset_size.is_some()
    }
}

struct OneNorm {
    most: f64,
}

impl Penalty for OneNorm {
    fn add(&mut self, program: &mut ConeProgram, weights: &[usize], _: &[bool]) {
        let t = program.variable(0.0, 0.5);
        let sizes: Vec<usize> = weights.iter().map(|_| program.variable(0.0, 0.0)).collect();
        for (&w, &a) in weights.iter().zip(&sizes) {
            program.at_least_zero([(a, 1.0), (w, 1.0)], 0.0);
            program.at_least_zero([(a, 1.0), (w, -1.0)], 0.0);
        }
        let squares = weights.iter().map(|&w| (vec![(w, 2.0)], 0.0));
        program.second_order([(vec![(t, 1.0)], 1.0), (vec![(t, 1.0)], -1.0)].into_iter().chain(squares));
        // Over sqrt(B): (|w|_1 / sqrt(B))^2 <= t.
        let share = 2.0 / self.most.sqrt();
        let sum = sizes.iter().map(|&a| (a, share)).collect();
        program.second_order([(vec![(t, 1.0)], 1.0), (vec![(t, 1.0)], -1.0), (sum, 0.0)]);
    }

    fn value(&self, w: &[f64], _: &[bool]) -> f64 {
        let squares: f64 = w.iter().map(|w| w * w).sum();
        let sum: f64 = w.iter().map(|w| w.abs()).sum();
        0.5 * squares.max(sum * sum / self.most)
    }

    fn conjugate(&self, c: &[f64], _: &[bool]) -> f64 {
        let mut sizes: Vec<f64> = c.iter().map(|c| c.abs()).collect();
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        let norm = |tau: f64| {
            let left = sizes.iter().take_while(|c| **c > tau).map(|c| (c - tau).powi(2));
            left.sum::<f64>().sqrt() + tau * self.most.sqrt()
        };
        // Convex in tau: golden section. Any tau gives an upper value of N, and so a bound.
        let (mut low, mut high) = (0.0, sizes.first().copied().unwrap_or(0.0));
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        for _ in 0..100 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if norm(a) <= norm(b) {
                high = b;
            } else {
                low = a;
            }
        }
        0.5 * norm(0.0).min(norm(0.5 * (low + high))).powi(2)
    }

    fn worth(&self, _: &[f64], w: &[f64], _: &[f64]) -> Vec<f64> {
        w.iter().map(|w| w * w).collect()
    }
}

/// QCQP-SSVM; see the head of this file.
///
/// ```
/// use fewest_papers::conic::{QcqpSsvmSettings, qcqp_ssvm};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let settings = QcqpSsvmSettings::default();
/// let report = qcqp_ssvm(&problem, &rules, &settings, Limits::default(), &mut Silent)?;
/// assert_eq!(report.selection.outcome.subset.unwrap().iter().collect::<Vec<_>>(), [0]);
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; more memory than `settings.memory`.
pub fn qcqp_ssvm(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &QcqpSsvmSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<ConicReport, Error> {
    let question = Question::new("qcqp-ssvm", rules, &settings.svm, settings.subset_size);
    // No feature allowed at all is w = 0, as good as any small number.
    let most = question.most.max(1) as f64;
    relax(problem, &question, limits, observer, &mut OneNorm { most })
}
