//! Where the exact steps start: beta at its bounds where it nearly is, F and R from beta alone.

use super::Pivoting;
use super::tuning::{AT_BOUND, CANDIDATES, SINGULAR};
use crate::dual::{Bias, kkt};
use crate::kernel::gemm::{View, add_product};
use crate::simd;

impl Pivoting<'_> {
    /// Puts beta to the bounds it is nearly at, and the sum back where it was on samples inside.
    pub(super) fn snap(&mut self) {
        let before: f64 = self.beta.iter().sum();
        let target = if self.dual.bias == Bias::Free { 0.0 } else { before };
        let near = AT_BOUND * kkt::largest(&self.beta);
        for i in 0..self.beta.len() {
            let (low, high) = (self.dual.lower[i], self.dual.upper[i]);
            self.beta[i] = if self.beta[i] <= low + near {
                low
            } else if self.beta[i] >= high - near {
                high
            } else {
                self.beta[i]
            };
        }
        if self.dual.bias == Bias::Free {
            let mut off = target - self.beta.iter().sum::<f64>();
            for i in 0..self.beta.len() {
                let (low, high) = (self.dual.lower[i], self.dual.upper[i]);
                if self.beta[i] > low && self.beta[i] < high {
                    let moved = (self.beta[i] + off).clamp(low, high);
                    off -= moved - self.beta[i];
                    self.beta[i] = moved;
                }
            }
            if off != 0.0 {
                kkt::make_feasible(&self.dual, &mut self.beta);
            }
        }
    }

    /// F: independent ones of the samples inside their box, those farthest from their bounds first
    /// (pivoted Cholesky); and R.
    pub(super) fn build(&mut self) {
        self.forget();
        let room = |i: usize| (self.beta[i] - self.dual.lower[i]).min(self.dual.upper[i] - self.beta[i]);
        let mut inside: Vec<usize> = (0..self.beta.len()).filter(|&i| room(i) > 0.0).collect();
        // Of many, as where samples are equal, those next to their bounds stay out: the matrix grows
        // with the square of their number.
        let most = CANDIDATES * (self.columns.len() + 1);
        if inside.len() > most {
            inside.sort_by(|&a, &b| room(b).total_cmp(&room(a)).then(a.cmp(&b)));
            inside.truncate(most);
            inside.sort_unstable();
        }
        let gram = self.products(&inside);
        let mut chosen = independent(&gram, inside.len(), self.columns.len() + 1);
        chosen.sort_unstable();
        self.invert_of(&gram, inside.len(), &chosen);
        if !self.inverse.is_empty() {
            self.free = chosen.iter().map(|&c| inside[c]).collect();
            self.free.iter().for_each(|&i| self.is_free[i] = true);
        }
    }

    /// Builds R of F in full; where R is not finite, F is emptied.
    pub(super) fn invert(&mut self) {
        let gram = self.products(&self.free);
        let all: Vec<usize> = (0..self.free.len()).collect();
        self.invert_of(&gram, all.len(), &all);
        if self.inverse.is_empty() {
            self.forget();
        }
    }

    /// R of these lines of a c x c matrix of products; none where an entry is not finite.
    fn invert_of(&mut self, gram: &[f64], c: usize, chosen: &[usize]) {
        let is_finite = self.inverse.build(chosen.len(), f64::MIN_POSITIVE, |r, out| {
            for (out, &o) in out.iter_mut().zip(chosen) {
                *out = gram[chosen[r] * c + o];
            }
        });
        if !is_finite {
            self.inverse.clear();
        } else if self.dual.bias == Bias::Free {
            self.ones = self.inverse.multiply(&vec![1.0; chosen.len()]);
        }
    }

    /// K + s^2 of these samples.
    fn products(&self, samples: &[usize]) -> Vec<f64> {
        let (c, p) = (samples.len(), self.columns.len());
        let mut lines = vec![0.0; c * p];
        for (line, &i) in lines.chunks_exact_mut(p.max(1)).zip(samples) {
            self.columns.rows.row(i).add_to(1.0, line);
            self.columns.clear_dead(line);
        }
        let mut gram = vec![self.shift; c * c];
        if c > 0 && p > 0 {
            let lines = View::rows(&lines, c, p, p);
            add_product(&mut gram, c, 1.0, lines, lines.transposed());
        }
        gram
    }
}

/// Independent lines of a positive semidefinite c x c matrix, at most `most`, by Cholesky with
/// pivots.
fn independent(matrix: &[f64], c: usize, most: usize) -> Vec<usize> {
    let mut rest: Vec<f64> = matrix.iter().step_by(c + 1).copied().collect();
    // Column r of the factor.
    let (mut factor, mut chosen): (Vec<Vec<f64>>, Vec<usize>) = (Vec::new(), Vec::new());
    while let Some(k) = (0..c).max_by(|&a, &b| rest[a].total_cmp(&rest[b]).then(b.cmp(&a))) {
        if rest[k] <= 1e3 * SINGULAR * matrix[k * c + k] || chosen.len() >= most {
            break;
        }
        let pivot = rest[k].sqrt();
        let mut column = matrix[k * c..(k + 1) * c].to_vec();
        for known in &factor {
            simd::axpy(-known[k], known, &mut column);
        }
        for (value, rest) in column.iter_mut().zip(&mut rest) {
            *value /= pivot;
            *rest -= *value * *value;
        }
        rest[k] = f64::NEG_INFINITY;
        factor.push(column);
        chosen.push(k);
    }
    chosen
}
