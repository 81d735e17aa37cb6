//! The factor of one problem, bordered by its free bias.

use super::Restricted;
use super::block::Block;
use crate::kernel::cholesky::Factor;
use crate::kernel::outer::OuterSum;
use crate::simd::{axpy, dot};
use crate::{Clock, Status};

/// Lines added between two checks of the clock.
pub(super) const CHECK_EVERY: usize = 64;

/// The factor of one problem, over its samples or its features, whichever are fewer.
pub(super) struct Bordered {
    pub(super) factor: Factor,
    /// M^-1 y when the n x n system was factored and there is a free bias.
    pub(super) border: Option<Vec<f64>>,
}

impl Restricted {
    /// A factor over samples with these labels.
    pub(super) fn bordered(&self, factor: Factor, y: &[f64]) -> Bordered {
        let border = self.balance.as_ref().map(|_| factor.solve(y));
        Bordered { factor, border }
    }

    /// `Z'H^-1 Z` of one problem, bordered by a free bias.
    pub(super) fn outer_by_features(
        &self,
        block: &Block,
        inverse_h: &[f64],
        y: &[f64],
        clock: &Clock,
    ) -> Result<OuterSum, Status> {
        let biased = self.balance.is_some();
        let mut sum = OuterSum::new(block.m + usize::from(biased));
        for i in 0..block.n {
            if i % CHECK_EVERY == CHECK_EVERY - 1 {
                clock.stop().map_or(Ok(()), Err)?;
            }
            sum.add(block.line(i), inverse_h[i].sqrt(), if biased { y[i] } else { 0.0 });
        }
        Ok(sum)
    }

    /// Factor loaded with a sum of `outer_by_features`, to be decomposed once more is added.
    pub(super) fn load_by_features(&self, sum: &mut OuterSum, m: usize, inverse_h: &[f64]) -> Factor {
        let biased = usize::from(self.balance.is_some());
        let mut factor = Factor::new(m + biased);
        factor.load(sum.tiles());
        if biased == 1 {
            // A free bias that no sample holds must still be able to move.
            factor.add(m, m, 1e-10 * inverse_h.iter().sum::<f64>().min(1.0));
        }
        factor
    }
}

impl Bordered {
    /// alpha and bias of a right side, of the problem with this block, these labels and 1 / H.
    pub(super) fn solve(
        &self,
        block: &Block,
        y: &[f64],
        inverse_h: &[f64],
        right: &[f64],
        lacking: f64,
    ) -> (Vec<f64>, f64) {
        if !block.by_rows() {
            let mut alpha = self.factor.solve(right);
            let mut bias = 0.0;
            if let Some(border) = &self.border {
                bias = (dot(y, &alpha) - lacking) / dot(y, border);
                axpy(-bias, border, &mut alpha);
            }
            return (alpha, bias);
        }
        let m = block.m;
        let scaled: Vec<f64> = right.iter().zip(inverse_h).map(|(r, h)| r * h).collect();
        let mut small = vec![0.0; m];
        block.add_transposed_times(&scaled, &mut small);
        if self.factor.size() > m {
            small.push(dot(y, &scaled) - lacking);
        }
        let u = self.factor.solve(&small);
        let bias = u.get(m).copied().unwrap_or(0.0);
        let mut back = vec![0.0; block.n];
        block.add_times(&u[..m], &mut back);
        let alpha = (0..block.n).map(|i| scaled[i] - inverse_h[i] * (back[i] + y[i] * bias)).collect();
        (alpha, bias)
    }
}
