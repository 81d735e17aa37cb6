//! The best feasible dual point, and the columns it leaves in.

use super::columns::Columns;
use super::machine::Look;
use crate::dual::BoxDual;
use crate::simd;
use crate::{Bias, Interval};

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

    /// The largest value among the multiples of beta that keep |c_j| <= 1 where nothing bounds the
    /// weight, and the factor; scores are those of the positions still in.
    fn scaled(&self, beta: &[f64], scores: &[f64]) -> (f64, f64) {
        let (mut linear, mut quadratic) = (0.0, 0.0);
        for ((b, y), c) in beta.iter().zip(&self.dual.y).zip(&self.dual.cost).filter(|((b, _), _)| **b != 0.0) {
            linear += y * b;
            quadratic += b * b / (4.0 * c);
        }
        if linear <= 0.0 {
            return (0.0, 0.0);
        }
        // |c_j| and the largest weight of its sign, where it is bounded; from 1 / |c_j| on these
        // lower the slope of the value.
        let (mut top, mut bounded) = (0.0f64, Vec::new());
        for (&j, &c) in self.alive.iter().zip(scores) {
            let Interval { lower, upper } = self.columns.interval(j);
            let most = if c > 0.0 { upper } else { -lower };
            if most.is_infinite() {
                top = top.max(c.abs());
            } else if most > 0.0 {
                bounded.push((c.abs(), most));
            }
        }
        bounded.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let last = 1.0 / top;
        let (mut factor, mut slope) = (last.min(linear / (2.0 * quadratic)), linear);
        for &(c, most) in bounded.iter().take_while(|e| 1.0 / e.0 < last) {
            if 1.0 / c >= factor {
                break;
            }
            slope -= c * most;
            factor = (slope / (2.0 * quadratic)).clamp(1.0 / c, last);
        }
        let gains: f64 = bounded.iter().map(|(c, most)| most * (factor * c - 1.0).max(0.0)).sum();
        (factor * (linear - factor * quadratic) - gains, factor)
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
    /// x_ij^2)^1/2, columns centred with weights C where y'alpha = 0. Gains of bounded weights keep
    /// that, being convex, and a column that gains nothing at alpha* has weight 0.
    pub(super) fn screen(&mut self, look: &Look, w: &[f64]) {
        let gap = look.primal - self.value + ROUNDING * look.primal;
        let Some(factor) = self.factor.filter(|_| self.screens && gap <= SCREEN * look.primal) else { return };
        if self.reach.is_empty() {
            self.reach = self.reaches();
        }
        let radius = gap.sqrt();
        let stays = |(&j, &c): (&usize, &f64)| {
            let constant = j == self.columns.features.len();
            let near = self.columns.interval(j).excess(factor * c, 1.0, 1.0) + radius * self.reach[j] >= -ROUNDING;
            (w[j] != 0.0 || constant || near).then_some(j)
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
                let (mut square, mean) = if let Some(x) = self.columns.dense(j) {
                    column.iter_mut().zip(x).zip(&root).for_each(|((out, x), root)| *out = x * root);
                    (simd::dot(&column, &column), simd::dot(&column, &root))
                } else {
                    self.columns.weighted_sums(j, cost)
                };
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

    /// The best point made feasible for all columns, of which `look` is a view of the same (w, b) as
    /// the last.
    pub(super) fn rescale(&mut self, look: &Look) {
        if self.factor.is_some() {
            // It is a multiple of the alpha of `look`.
            self.value = 0.0;
            self.beta.fill(0.0);
        } else {
            let scores = self.columns.scores(&self.alive, &self.beta);
            let (value, factor) = self.scaled(&self.beta, &scores);
            self.value = value;
            self.beta.iter_mut().for_each(|b| *b *= factor);
        }
        self.learn(look);
    }
}
