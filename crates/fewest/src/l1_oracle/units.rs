//! The units in which linear and mixed-integer programs are written: the tolerances of HiGHS are
//! absolute, and users' data come in any unit.

use rayon::prelude::*;

use crate::Problem;
use crate::design::{largest, power};

/// A cost of slack within this range, beside prices of about 1, needs none, either.
const COSTS: std::ops::RangeInclusive<f64> = 1e-4..=1e9;

/// A unit for each feature and one for the objective, all powers of two, so that nothing is
/// rounded: the program has `x_j / feature_j`, `w_j feature_j`, and its objective is the user's
/// times `objective`.
#[derive(Debug, Clone)]
pub(crate) struct Units {
    feature: Vec<f64>,
    /// The smallest of the units of features that are not 0 for all samples.
    least: f64,
    objective: f64,
    /// What a weight costs per unit, about.
    price: f64,
    /// Whether costs of slack end at the largest of [`COSTS`].
    capped: bool,
}

impl Units {
    /// Units of a problem: the largest value of each feature is near 1.
    pub(crate) fn new(problem: &Problem<'_>, cost: &[f64]) -> Self {
        let design = problem.design();
        let sizes: Vec<f64> = (0..design.n_features()).into_par_iter().map(|j| largest(design, j)).collect();
        let least = sizes.iter().filter(|size| **size > 0.0).map(|size| power(*size)).fold(f64::INFINITY, f64::min);
        let least = if least.is_finite() { least } else { 1.0 };
        let feature = sizes.into_iter().map(power).collect();
        let mut units = Self { feature, least, objective: 1.0, price: 1.0, capped: false };
        units.set_objective(cost);
        units
    }

    /// Units of programs for other readers: all 1.
    pub(crate) fn none(p: usize) -> Self {
        Self { feature: vec![1.0; p], least: 1.0, objective: 1.0, price: 1.0, capped: false }
    }

    /// The unit of the objective for these costs of slack: the costliest weight costs about 1,
    /// unless slack then costs nearly nothing. A slack beside whose cost a weight's is lost in
    /// rounding is capped first, which asks the same where no slack is left.
    fn set_objective(&mut self, cost: &[f64]) {
        let least = power(self.least / self.price);
        let slack = least * cost.iter().fold(0.0, |most: f64, c| most.max(*c));
        let by = if slack > 0.0 { (*COSTS.start() / slack).max(1.0) } else { 1.0 };
        self.capped = slack > *COSTS.end();
        self.objective = least * by.log2().ceil().exp2();
    }

    /// Sets the units for prices near this one.
    pub(crate) fn set_price(&mut self, price: f64, cost: &[f64]) {
        self.price = price;
        self.set_objective(cost);
    }

    /// Chooses the unit of the objective for other costs of slack; whether it is another.
    pub(crate) fn follow(&mut self, cost: &[f64]) -> bool {
        let before = self.objective;
        self.set_objective(cost);
        before.to_bits() != self.objective.to_bits()
    }

    /// No cost of slack is capped any more: the objective is measured so that the largest cost is
    /// within range, and weights cost next to nothing. Whether that is a change.
    pub(crate) fn uncap(&mut self, cost: &[f64]) -> bool {
        if self.capped {
            let slack = self.cost(cost.iter().fold(0.0, |most: f64, c| most.max(*c)));
            self.objective *= (*COSTS.end() / slack).log2().floor().exp2();
        }
        std::mem::take(&mut self.capped)
    }

    /// A value of feature j in the program.
    pub(crate) fn value(&self, j: usize, x: f64) -> f64 {
        x / self.feature[j]
    }

    /// A weight of feature j, or a bound on it, in the program.
    pub(crate) fn weight(&self, j: usize, w: f64) -> f64 {
        w * self.feature[j]
    }

    /// The weight of feature j that the program calls w.
    pub(crate) fn weight_of(&self, j: usize, w: f64) -> f64 {
        w / self.feature[j]
    }

    /// A price per unit of the weight of feature j in the program.
    pub(crate) fn price(&self, j: usize, price: f64) -> f64 {
        price / self.feature[j] * self.objective
    }

    /// A part of the objective in the program: the price of a bias or of a feature.
    pub(crate) fn cost(&self, cost: f64) -> f64 {
        cost * self.objective
    }

    /// The cost of a sample's slack in the program.
    pub(crate) fn slack(&self, cost: f64) -> f64 {
        let cost = self.cost(cost);
        if self.capped { cost.min(*COSTS.end()) } else { cost }
    }

    /// The objective, or a dual value of a row of a sample, that the program calls this.
    pub(crate) fn cost_of(&self, value: f64) -> f64 {
        value / self.objective
    }
}
