//! Non-monotonic feature selection by multiple kernel learning.
//!
//! Solves   min_z min_w 1/2 sum_j w_j^2 / z_j + loss, 0 <= z_j <= 1, sum z = B: one kernel x_j x_j'
//!          a feature, in the dual a program with one quadratic constraint a feature: max_alpha sum
//!          alpha - 1/2 (B lambda + sum_j delta_j) - ..., c_j^2 <= lambda + delta_j.
//! Paper    Xu, Jin, Ye, Lyu, King, Non-monotonic feature selection, ICML 2009, as Tan, Wang,
//!          Tsang, ICML 2010, describe and use it.
//! Penalty  P(w) = half the squared k-support norm, k = B; P*(c) = half the sum of the B largest
//!          c_j^2.
//! Program  w_j^2 <= u_j z_j as a second-order cone of three rows, for each feature; P = 1/2 sum u.
//! Subset   where B is no rule, every feature with that sum above 1e-8 of the largest; else
//!          the allowed one of largest sum_j z_j c_j^2, as FGM-B: c_j^2 alone, as the paper ranks,
//!          is the same number for every feature between 0 and 1.
//! Relation the relaxation of `fgm`, which adds constraints as they are needed; here they are all
//! there.

use serde::{Deserialize, Serialize};

use super::{ConicReport, Penalty, Question, check_size, relax};
use crate::conic::clarabel::ConeProgram;
use fewest::method::{Classes, Info, Method, Report};
use fewest::{Bias, Error, Limits, Loss, Observer, Problem, Rules, Samples, SvmSettings};

fewest::settings! {
    /// Settings of `nmmkl`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct NmmklSettings {
        /// Loss, cost, bias and tolerance of the SVM.
        pub svm: SvmSettings = SvmSettings { loss: Loss::SquaredHinge, ..SvmSettings::default() } => [group],
        /// B where the rules have no size, at least 1: every feature of weight in the relaxation is
        /// kept.
        pub subset_size: Option<usize> = None => "at least 1",
    }
}

impl Method for NmmklSettings {
    const INFO: Info = Info {
        name: "nmmkl",
        title: "non-monotonic feature selection: a kernel per feature, as a cone program",
        solves: "Weighs one kernel per feature, weights between 0 and 1 that sum to `max_features`, by an interior-point method (Clarabel), keeps the allowed subset that counts most, and trains the SVM on it. With `subset_size` in place of a size it keeps every feature of weight. fgm solves the same relaxation at any size.",
        formula: "min over z of min 1/2 sum_j w_j^2 / z_j + C sum_i loss(y_i (w.x_i + b)), 0 <= z_j <= 1, sum z <= B",
        proves: "a bound below every subset of at most `max_features`",
        bounds: true,
        searches: false,
        kernels: "linear",
        classes: Classes::Two,
        rules: "all, for the subset; the relaxation knows `max_features`, `require` and `forbid`",
        cost: "some 15 factorizations of min(n, p)^2 max(n, p); refused where its memory is beyond `memory`",
        paper: "Z. Xu, R. Jin, J. Ye, M. R. Lyu, I. King: Non-monotonic feature selection. ICML 2009.",
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
        Ok(nmmkl(&samples.problem()?, rules, self, limits, observer)?.into())
    }

    fn finds_size(&self) -> bool {
        self.subset_size.is_some()
    }
}

struct Kernels {
    most: usize,
    shares: Vec<Option<usize>>,
}

impl Kernels {
    /// B less the required ones.
    fn free(&self, fixed: &[bool]) -> usize {
        self.most.saturating_sub(fixed.iter().filter(|f| **f).count())
    }

    /// Values of the features that are not required, falling.
    fn falling(values: impl Iterator<Item = f64>, fixed: &[bool]) -> Vec<f64> {
        let mut out: Vec<f64> = values.zip(fixed).filter(|(_, f)| !**f).map(|(v, _)| v).collect();
        out.sort_unstable_by(|a, b| b.total_cmp(a));
        out
    }
}

impl Penalty for Kernels {
    fn add(&mut self, program: &mut ConeProgram, weights: &[usize], fixed: &[bool]) {
        let mut sum = Vec::new();
        self.shares.clear();
        let mut squares = Vec::new();
        for (&w, &fixed) in weights.iter().zip(fixed) {
            if fixed {
                // z = 1
                self.shares.push(None);
                let u = program.variable(0.0, 0.5);
                squares.push((w, u, None));
                continue;
            }
            let (u, z) = (program.variable(0.0, 0.5), program.variable(0.0, 0.0));
            program.at_least_zero([(z, -1.0)], 1.0);
            sum.push((z, -1.0));
            self.shares.push(Some(z));
            squares.push((w, u, Some(z)));
        }
        program.at_least_zero(sum, self.free(fixed) as f64);
        for (w, u, z) in squares {
            let (share, one) = z.map_or((None, 1.0), |z| (Some(z), 0.0));
            let row = |sign: f64| -> (Vec<(usize, f64)>, f64) {
                ([(u, 1.0)].into_iter().chain(share.map(|z| (z, sign))).collect(), sign * one)
            };
            program.second_order([row(1.0), row(-1.0), (vec![(w, 2.0)], 0.0)]);
        }
    }

    fn value(&self, w: &[f64], fixed: &[bool]) -> f64 {
        let sizes = Self::falling(w.iter().map(|w| w.abs()), fixed);
        let required: f64 = w.iter().zip(fixed).filter(|(_, f)| **f).map(|(w, _)| w * w).sum();
        let most = self.free(fixed);
        if most == 0 {
            return if sizes.iter().all(|w| *w == 0.0) { 0.5 * required } else { f64::INFINITY };
        }
        // The first k < B are whole, the others share the rest: where the next is at most the level
        // of the others.
        let mut rest: f64 = sizes.iter().sum();
        let mut full = 0.0;
        for (k, &size) in sizes.iter().enumerate() {
            let level = rest / (most - k) as f64;
            if size <= level || k + 1 == most {
                return 0.5 * (required + full + rest * level);
            }
            full += size * size;
            rest -= size;
        }
        0.5 * (required + full)
    }

    fn conjugate(&self, c: &[f64], fixed: &[bool]) -> f64 {
        let squares = Self::falling(c.iter().map(|c| c * c), fixed);
        let required: f64 = c.iter().zip(fixed).filter(|(_, f)| **f).map(|(c, _)| c * c).sum();
        0.5 * (required + squares.iter().take(self.free(fixed)).sum::<f64>())
    }

    fn worth(&self, x: &[f64], _: &[f64], c: &[f64]) -> Vec<f64> {
        self.shares.iter().zip(c).map(|(z, c)| z.map_or(1.0, |z| x[z].max(0.0)) * c * c).collect()
    }
}

/// Non-monotonic feature selection; see the head of this file. Its subset is that of largest
/// `z_j c_j^2`.
///
/// ```
/// use fewest_papers::conic::{NmmklSettings, nmmkl};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let report = nmmkl(&problem, &rules, &NmmklSettings::default(), Limits::default(), &mut Silent)?;
/// assert_eq!(report.selection.outcome.subset.unwrap().iter().collect::<Vec<_>>(), [0]);
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range; more memory than `settings.memory`.
pub fn nmmkl(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &NmmklSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<ConicReport, Error> {
    let question = Question::new("nmmkl", rules, &settings.svm, settings.subset_size);
    let mut kernels = Kernels { most: question.most, shares: Vec::new() };
    relax(problem, &question, limits, observer, &mut kernels)
}
