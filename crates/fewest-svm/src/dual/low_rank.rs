//! The inverse of `H + sum_c d_c u_c u_c'` from a Cholesky factor of H, one term after the other.
//!
//! Formula  (H + d u u')^-1 = H^-1 - d / (1 + d u'z) z z',  z = H^-1 u (Sherman and Morrison 1950).
//! Cost     eight new terms: about two passes over the factor; a solution with c terms: one pass and
//!          2 c m.

use crate::kernel::cholesky::Factor;
use crate::kernel::outer::{TILE, TILE_SPEED};
use crate::simd;

/// Smallest pivot `1 + d u'z` of a term that is accepted; below it digits are lost.
const SINGULAR: f64 = 1e-8;
/// Passes over the factor that eight new terms take, and that a new factor takes besides the
/// products of its tiles.
const PASSES: f64 = 2.5;
/// Fewest unknowns for each term: of m unknowns at most m / 8 terms are added.
const MOST: usize = 8;

/// The terms so far.
#[derive(Debug, Default)]
pub(super) struct LowRank {
    /// z_c, and d_c / (1 + d_c u_c'z_c).
    terms: Vec<(Vec<f64>, f64)>,
}

impl LowRank {
    /// Whether `more` terms take less time than a new factor of m unknowns.
    pub(super) fn pays(&self, more: usize, m: usize) -> bool {
        let rebuilt = m as f64 / (6.0 * TILE_SPEED) + PASSES;
        self.terms.len() + more <= m / MOST && more.div_ceil(TILE) as f64 * PASSES < rebuilt
    }

    /// No terms: the factor is that of H.
    pub(super) fn clear(&mut self) {
        self.terms.clear();
    }

    /// Adds the terms `d u u'`; false where digits would be lost: then H has to be factored with
    /// them.
    #[must_use]
    pub(super) fn add(&mut self, factor: &Factor, new: &[(Vec<f64>, f64)]) -> bool {
        for eight in new.chunks(TILE) {
            let mut x = vec![[0.0; TILE]; factor.size()];
            for (lane, (u, _)) in eight.iter().enumerate() {
                x.iter_mut().zip(u).for_each(|(x, u)| x[lane] = *u);
            }
            factor.solve_eight(&mut x);
            for (lane, (u, d)) in eight.iter().enumerate() {
                let mut z: Vec<f64> = x.iter().map(|x| x[lane]).collect();
                self.correct(u, &mut z);
                let pivot = 1.0 + d * simd::dot(u, &z);
                if pivot.is_nan() || pivot <= SINGULAR {
                    return false;
                }
                self.terms.push((z, d / pivot));
            }
        }
        true
    }

    /// x with `(H + sum) x = b`.
    pub(super) fn solve(&self, factor: &Factor, b: &[f64]) -> Vec<f64> {
        let mut x = factor.solve(b);
        self.correct(b, &mut x);
        x
    }

    /// Corrects `x = H^-1 b` to the solution with all terms.
    fn correct(&self, b: &[f64], x: &mut [f64]) {
        for (z, share) in &self.terms {
            simd::axpy(-share * simd::dot(z, b), z, x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H = 2 on the diagonal and 1 / (1 + i + j) elsewhere, of m unknowns, with these terms.
    fn factored(m: usize, terms: &[(Vec<f64>, f64)]) -> Factor {
        let mut factor = Factor::new(m);
        factor.fill(|i, j| {
            let own = if i == j { 2.0 } else { 1.0 / (1.0 + i as f64 + j as f64) };
            own + terms.iter().map(|(u, d)| d * u[i] * u[j]).sum::<f64>()
        });
        factor.decompose();
        factor
    }

    #[test]
    fn terms_give_what_a_new_factor_gives() {
        for m in [3, 8, 29] {
            let wave = |c: usize| (0..m).map(|i| ((i * (c + 2)) as f64).sin()).collect::<Vec<f64>>();
            let mut terms: Vec<(Vec<f64>, f64)> = (0..11).map(|c| (wave(c), 0.5 + c as f64)).collect();
            // Some leave again.
            terms.extend([(wave(3), -3.5), (wave(0), -0.5)]);
            let (base, whole) = (factored(m, &[]), factored(m, &terms));
            let mut low = LowRank::default();
            assert!(low.add(&base, &terms[..5]) && low.add(&base, &terms[5..]));
            let b: Vec<f64> = (0..m).map(|i| 1.0 - i as f64).collect();
            for (a, b) in low.solve(&base, &b).iter().zip(whole.solve(&b)) {
                assert!((a - b).abs() <= 1e-10, "{m}: {a} for {b}");
            }
            // What is not there cannot leave: H is not positive definite any more.
            assert!(!low.add(&base, &[(wave(1), -1e3)]));
        }
    }
}
