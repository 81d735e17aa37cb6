//! The best feasible dual point.

use super::columns::Columns;
use super::machine::Evaluation;
use crate::Interval;
use crate::dual::BoxDual;

/// A feasible dual point.
pub(super) struct Proof<'a> {
    dual: &'a BoxDual,
    beta: Vec<f64>,
    value: f64,
}

impl<'a> Proof<'a> {
    pub(super) fn new(dual: &'a BoxDual) -> Self {
        Self { dual, beta: vec![0.0; dual.len()], value: 0.0 }
    }

    /// Value of the best feasible point: a lower bound of the optimum.
    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// The best feasible point.
    pub(super) fn into_beta(self) -> Vec<f64> {
        self.beta
    }

    /// The largest value among the multiples of the beta that keep |c_j| <= 1 where nothing
    /// bounds the weight, and the factor.
    fn scaled(&self, columns: &Columns<'_, '_>, evaluation: &Evaluation) -> (f64, f64) {
        let (mut linear, mut quadratic) = (0.0, 0.0);
        for ((b, y), c) in
            evaluation.beta.iter().zip(&self.dual.y).zip(&self.dual.cost).filter(|((b, _), _)| **b != 0.0)
        {
            linear += y * b;
            quadratic += b * b / (4.0 * c);
        }
        if linear <= 0.0 {
            return (0.0, 0.0);
        }
        // |c_j| and the largest weight of its sign, where it is bounded; from 1 / |c_j| on these
        // lower the slope of the value.
        let (mut top, mut bounded) = (0.0f64, Vec::new());
        for s in &evaluation.scores {
            let (Interval { lower, upper }, c) = (columns.interval(s.feature), s.score);
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

    /// Step 1: keeps the better of its point and the evaluated one.
    pub(super) fn learn(&mut self, columns: &Columns<'_, '_>, evaluation: &Evaluation) {
        let (value, factor) = self.scaled(columns, evaluation);
        if value > self.value {
            self.value = value;
            self.beta = evaluation.beta.iter().map(|b| factor * b).collect();
        }
    }
}
