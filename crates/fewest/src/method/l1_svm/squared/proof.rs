//! The best feasible dual point, and the columns it leaves in.

use super::columns::Columns;
use super::machine::Look;
use crate::Bias;
use crate::dual::BoxDual;
use crate::simd;

/// Tuning: chosen by hand; `bench/l1.py` shows what a change costs.
mod tuning {
    /// Columns are left out once the gap is this share of the value: before, it would not pay.
    pub(super) const SCREEN: f64 = 0.1;
    /// What rounding may add to a score, and to a gap as a share of the value.
    pub(super) const ROUNDING: f64 = 1e-10;
}
use tuning::{ROUNDING, SCREEN};

/// A dual point that is feasible for the columns still in, and these.
pub(super) struct Proof<'a> {
    columns: &'a Columns<'a>,
    dual: &'a BoxDual,
    alive: Vec<usize>,
    beta: Vec<f64>,
    value: f64,
    /// Factor that made the last alpha looked at feasible, if that is the best point so far.
    factor: Option<f64>,
    /// Reach of each position, once it is needed.
    reach: Vec<f64>,
    /// Whether columns may be left out.
    screens: bool,
}

impl<'a> Proof<'a> {
    pub(super) fn new(columns: &'a Columns<'a>, dual: &'a BoxDual) -> Self {
        let (alive, beta) = ((0..columns.len()).collect(), vec![0.0; dual.len()]);
        Self { columns, dual, alive, beta, value: 0.0, factor: None, reach: Vec::new(), screens: true }
    }

    /// Positions still in, ascending.
    pub(super) fn alive(&self) -> &[usize] {
        &self.alive
    }

    /// Whether all are in.
    pub(super) fn is_whole(&self) -> bool {
        self.alive.len() == self.columns.len()
    }

    /// Value of the best feasible point: a lower bound of the optimum.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The best feasible point.
    pub(super) fn into_beta(self) -> Vec<f64> {
        self.beta
    }

    /// The largest value among the multiples of beta that keep |c_j| <= 1, and the factor.
    fn scaled(&self, beta: &[f64], scores: &[f64]) -> (f64, f64) {
        let (mut linear, mut quadratic) = (0.0, 0.0);
        for ((b, y), c) in beta.iter().zip(&self.dual.y).zip(&self.dual.cost).filter(|((b, _), _)| **b != 0.0) {
            linear += y * b;
            quadratic += b * b / (4.0 * c);
        }
        if linear <= 0.0 {
            return (0.0, 0.0);
        }
        let top = scores.iter().fold(0.0, |m: f64, c| m.max(c.abs()));
        let factor = (1.0 / top).min(linear / (2.0 * quadratic));
        (factor * (linear - factor * quadratic), factor)
    }

    /// Step 1: keeps the better of its point and that of `look`, taken over the columns still in.
    pub(super) fn learn(&mut self, look: &Look) {
        let (value, factor) = self.scaled(&look.beta, &look.scores);
        self.factor = (value > self.value).then_some(factor);
        if let Some(factor) = self.factor {
            self.value = value;
            self.beta = look.beta.iter().map(|b| factor * b).collect();
        }
    }

    /// Step 2. The dual is strongly concave: alpha* lies where sum_i (alpha*_i - alpha_i)^2 / (4
    /// C_i) <= gap, so that c_j can change by the root of the gap times its reach, (4 sum_i C_i
    /// x_ij^2)^1/2, columns centred with weights C where y'alpha = 0.
    pub(super) fn screen(&mut self, look: &Look, w: &[f64]) {
        let gap = look.primal - self.value + ROUNDING * look.primal;
        let Some(factor) = self.factor.filter(|_| self.screens && gap <= SCREEN * look.primal) else { return };
        if self.reach.is_empty() {
            self.reach = self.reaches();
        }
        let radius = gap.sqrt();
        let stays = |(&j, &c): (&usize, &f64)| {
            let constant = j == self.columns.features.len();
            (w[j] != 0.0 || constant || factor * c.abs() + radius * self.reach[j] >= 1.0 - ROUNDING).then_some(j)
        };
        self.alive = self.alive.iter().zip(&look.scores).filter_map(stays).collect();
    }

    fn reaches(&self) -> Vec<f64> {
        let cost = &self.dual.cost;
        let root: Vec<f64> = cost.iter().map(|c| c.sqrt()).collect();
        let norm = simd::dot(&root, &root).sqrt();
        let mut column = vec![0.0; root.len()];
        (0..self.columns.len())
            .map(|j| {
                let (mut square, mut mean) = (0.0, 0.0);
                match self.columns.dense(j) {
                    Some(x) => {
                        column.iter_mut().zip(x).zip(&root).for_each(|((out, x), root)| *out = x * root);
                        square = simd::dot(&column, &column);
                        mean = simd::dot(&column, &root);
                    }
                    None => self.columns.each(j, &mut |i, x| {
                        square += cost[i] * x * x;
                        mean += cost[i] * x;
                    }),
                }
                if self.columns.bias == Bias::Free {
                    // Not below what rounding leaves of a constant column.
                    square = (square - (mean / norm).powi(2)).max(1e-14 * square);
                }
                2.0 * square.sqrt()
            })
            .collect()
    }

    /// All positions, in again for good.
    pub(super) fn take_all_in(&mut self) -> &[usize] {
        self.screens = false;
        self.alive = (0..self.columns.len()).collect();
        &self.alive
    }

    /// The best point made feasible for all columns, of which `look` is the last view.
    pub(super) fn rescale(&mut self, look: &Look) {
        let scores = self.columns.scores(&self.alive, &self.beta);
        let (value, factor) = self.scaled(&self.beta, &scores);
        self.value = value;
        self.beta.iter_mut().for_each(|b| *b *= factor);
        self.learn(look);
    }
}
