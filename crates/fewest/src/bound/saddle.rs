//! The alpha half of the saddle: fix which features count and how much, train the SVM, and read off
//! a cut for every subset.
//!
//! ```text
//! v(z)       = max over feasible beta of L(beta, z)
//! L(beta, z) = constant(beta) - sum_j z_j g_j(beta)
//! constant   = sum_i y_i beta_i - s^2 (sum_i beta_i)^2 / 2 - sum_i ridge_i beta_i^2 / 2
//! g_j        = c_j^2 / 2,    c_j = sum_i beta_i x_ij;   the gain of `crate::weights` where w_j is bounded
//! ```
//!
//! v(z) is the optimal objective of the linear SVM on the features with z_j = 1, for either loss
//! and any bias (see [`crate::dual`]; beta_i = y_i alpha_i). L is linear in z, so v is convex, and
//! it extends to weights z_j in [0, 1]: there v(z) is the SVM on the columns `sqrt(z_j) x_j`, with
//! bounds on weights times `sqrt(z_j)`. Any
//! feasible beta, converged or not, gives `v(z) >= L(beta, z)` for every z: a [`Cut`]. v falls when
//! a feature is added.

use rayon::prelude::*;

use super::bounded::train_bounded;
use crate::dual::train::{train, train_linear};
use crate::dual::{Bias, BoxDual, DualSolution, kkt};
use crate::problem::Labelled;
use crate::{
    Clock, DenseDesign, Design, Error, Kernel, Memory, Problem, SparseDesign, Subset, SvmSettings, WeightBounds,
};

/// A lower bound on the SVM's value on every subset: `v(z) >= constant - sum_j z_j gains_j`,
/// rounding taken into account.
#[derive(Debug, Clone, PartialEq)]
pub struct Cut {
    /// Value without any feature.
    pub constant: f64,
    /// The most by which each feature can lower it, length p, each 0 or more.
    pub gains: Vec<f64>,
}

impl Cut {
    /// The cut of any `beta` (length n). A beta that is not feasible is made so first
    /// ([`kkt::make_feasible`]).
    pub fn new(design: &dyn Design, dual: &BoxDual, beta: Vec<f64>) -> Self {
        let squares: Vec<f64> = (0..design.n_features()).into_par_iter().map(|j| design.squared_norm(j)).collect();
        Self::with_squares(design, dual, beta, &squares, &WeightBounds::default(), 0.0)
    }

    /// As [`Cut::new`], with `|x_j|^2` of each column, bounds on weights, and the bias of a solution
    /// near the given beta.
    ///
    /// What rounding may have added is taken off: a sum of n products is wrong by at most
    /// `n eps |beta| |x_j|` (Higham 2002, eq. (3.5) with Cauchy-Schwarz), and what `sum beta` lacks
    /// to 0 counts with the bias.
    fn with_squares(
        design: &dyn Design,
        dual: &BoxDual,
        mut beta: Vec<f64>,
        squares: &[f64],
        bounds: &WeightBounds,
        bias: f64,
    ) -> Self {
        kkt::make_feasible(dual, &mut beta);
        let share = f64::EPSILON * (8.0 + beta.len() as f64);
        let sum: f64 = beta.iter().sum();
        let absolute: f64 = beta.iter().map(|b| b.abs()).sum();
        let linear: f64 = beta.iter().zip(&dual.y).map(|(b, y)| b * y).sum();
        let ridge: f64 = beta.iter().zip(&dual.ridge).map(|(b, r)| r * b * b).sum();
        let s2 = dual.bias_square();
        let unbalanced = if dual.bias == Bias::Free {
            sum.abs() * (1.0 + 2.0 * bias.abs())
        } else {
            s2 * absolute * absolute * share
        };
        let rounding = share * (absolute + ridge) + unbalanced;
        let constant = linear - 0.5 * (s2 * sum * sum + ridge) - rounding;
        let length = share * beta.iter().map(|b| b * b).sum::<f64>().sqrt();
        let gain = |j: usize| bounds.of(j).largest_gain(design.dot_column(j, &beta), length * squares[j].sqrt());
        Self { constant, gains: (0..design.n_features()).into_par_iter().map(gain).collect() }
    }

    /// The cut of the sum of problems on the same features, one at least. Rounding of the sums is
    /// taken into account.
    pub fn sum(cuts: Vec<Cut>) -> Self {
        let share = f64::EPSILON * cuts.len() as f64;
        let mut cuts = cuts.into_iter();
        let mut sum = cuts.next().expect("one problem at least");
        let mut several = false;
        for cut in cuts {
            several = true;
            sum.constant += cut.constant;
            sum.gains.iter_mut().zip(&cut.gains).for_each(|(sum, gain)| *sum += gain);
        }
        if several {
            sum.constant -= share * sum.constant.abs();
            sum.gains.iter_mut().for_each(|gain| *gain *= 1.0 + share);
        }
        sum
    }

    /// The bound for a subset.
    pub fn at(&self, subset: &Subset) -> f64 {
        self.constant - subset.iter().map(|j| self.gains[j]).sum::<f64>()
    }

    /// The bound for weights z_j in [0, 1], length p.
    pub fn at_weights(&self, z: &[f64]) -> f64 {
        self.constant - self.gains.iter().zip(z).map(|(g, z)| g * z).sum::<f64>()
    }
}

/// The least objective of these problems together without any feature.
pub fn without_features(problems: &[Problem<'_>], settings: &SvmSettings) -> f64 {
    problems
        .iter()
        .map(|problem| kkt::without_features(&BoxDual::new(problem.labels(), problem.weights(), settings)))
        .sum()
}

/// The linear machine on some features, within `bounds` of all features of the design; where these
/// are free, that of [`train`]. `y` holds -1 or +1 and `weights` the cost multipliers, length n
/// each.
///
/// # Errors
/// Settings out of range, or more memory needed than is left.
pub fn train_within(
    design: &dyn Design,
    features: &[usize],
    bounds: &WeightBounds,
    of_samples: Labelled<'_>,
    settings: &SvmSettings,
    memory: &Memory,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    if bounds.is_free() {
        return train(design, features, of_samples.labels, of_samples.weights, Kernel::Linear, settings, clock);
    }
    let ones = vec![1.0; features.len()];
    let columns = weighted(design, features, &ones);
    train_bounded(&*columns, bounds.weighted(features, &ones), of_samples, settings, memory, clock)
}

/// One answer of the alpha half.
#[derive(Debug, Clone)]
pub struct Value {
    /// The trained machine; `primal` is an upper value of v at the point asked for, `weights` are
    /// in the order of the features of weight above 0 (of the columns `sqrt(z_j) x_j`).
    pub solution: DualSolution,
    /// The cut of its beta; at the point asked for it gives the dual objective.
    pub cut: Cut,
}

/// Trains the SVM on any subset or mixture of features, each training starting from the one before.
pub struct AlphaHalf<'a> {
    problem: &'a Problem<'a>,
    settings: SvmSettings,
    dual: BoxDual,
    /// Whether to start from the last beta. It is feasible for every z.
    warm_start: bool,
    last: Option<Vec<f64>>,
    bounds: WeightBounds,
    /// |x_j|^2, length p.
    squares: Vec<f64>,
}

impl<'a> AlphaHalf<'a> {
    /// Nothing is trained yet; `warm_start` starts each training from the last.
    pub fn new(problem: &'a Problem<'a>, settings: &SvmSettings, warm_start: bool) -> Result<Self, Error> {
        settings.check()?;
        let dual = BoxDual::new(problem.labels(), problem.weights(), settings);
        let (design, p) = (problem.design(), problem.n_features());
        let squares = (0..p).into_par_iter().map(|j| design.squared_norm(j)).collect();
        let bounds = WeightBounds::default();
        Ok(Self { problem, settings: settings.clone(), dual, warm_start, last: None, bounds, squares })
    }

    /// With bounds on weights, for as many features.
    #[must_use]
    pub fn within(self, bounds: WeightBounds) -> Self {
        Self { bounds, ..self }
    }

    /// Starts the next training from this beta (length n), of an earlier run.
    pub fn start_from(&mut self, beta: Vec<f64>) {
        self.last = Some(beta);
    }

    /// The cut of a beta (length n) of an earlier run.
    pub fn cut(&self, beta: &[f64]) -> Cut {
        Cut::with_squares(self.problem.design(), &self.dual, beta.to_vec(), &self.squares, &self.bounds, 0.0)
    }

    /// v at a subset.
    pub fn at(&mut self, subset: &Subset, clock: &Clock) -> Value {
        let features: Vec<usize> = subset.iter().collect();
        if !self.bounds.is_free() {
            return self.train_bounded(&features, &vec![1.0; features.len()], clock);
        }
        self.train(self.problem.design(), &features, clock)
    }

    /// v at weights z_j in [0, 1], length p.
    pub fn at_weights(&mut self, z: &[f64], clock: &Clock) -> Value {
        let features: Vec<usize> = (0..z.len()).filter(|&j| z[j] > 0.0).collect();
        let factors: Vec<f64> = features.iter().map(|&j| z[j]).collect();
        if !self.bounds.is_free() {
            return self.train_bounded(&features, &factors, clock);
        }
        let weighted = weighted(self.problem.design(), &features, &factors);
        self.train(&*weighted, &(0..features.len()).collect::<Vec<usize>>(), clock)
    }

    fn train(&mut self, design: &dyn Design, features: &[usize], clock: &Clock) -> Value {
        let start = self.last.as_deref().filter(|_| self.warm_start);
        let solution = train_linear(design, features, &self.dual, start, &self.settings, clock);
        self.take(solution)
    }

    /// v where weights are bounded, on the columns `sqrt(z_j) x_j`.
    fn train_bounded(&mut self, features: &[usize], z: &[f64], clock: &Clock) -> Value {
        let columns = weighted(self.problem.design(), features, z);
        let of_samples = self.problem.labelled();
        let (bounds, memory) = (self.bounds.weighted(features, z), Memory::unlimited());
        let solution = train_bounded(&*columns, bounds, of_samples, &self.settings, &memory, clock);
        self.take(solution.expect("settings were checked, and memory is not limited"))
    }

    /// The value of a training that was made elsewhere; the next one starts from it.
    pub fn take(&mut self, solution: DualSolution) -> Value {
        self.last = Some(solution.beta.clone());
        let (design, beta) = (self.problem.design(), solution.beta.clone());
        let cut = Cut::with_squares(design, &self.dual, beta, &self.squares, &self.bounds, solution.bias);
        Value { solution, cut }
    }
}

/// The columns `sqrt(z_j) x_j` of the given features, one z_j for each.
pub(crate) fn weighted(design: &dyn Design, features: &[usize], z: &[f64]) -> Box<dyn Design> {
    let n = design.n_samples();
    if design.is_sparse() {
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for (&j, z) in features.iter().zip(z) {
            let factor = z.sqrt();
            design.each_in_column(j, &mut |i, x| {
                rows.push(i as u32);
                values.push(factor * x);
            });
            start.push(rows.len());
        }
        Box::new(SparseDesign::new(n, start, rows, values).expect("columns of a design are in order"))
    } else {
        let mut values = vec![0.0; n * features.len()];
        for ((&j, z), column) in features.iter().zip(z).zip(values.chunks_mut(n)) {
            design.add_column(j, z.sqrt(), column);
        }
        Box::new(DenseDesign::new(n, features.len(), values).expect("n values a column"))
    }
}
