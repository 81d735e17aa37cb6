//! P(w), half the squared support norm, and what goes with it (`support_norm.rs`).
//!
//! Weights have a vector for each problem: the q columns, then its bias where it has one; |w_j| is
//! the length of a feature's weights in all problems.

use crate::WeightBounds;

/// P over q columns, and the penalties of the biases.
#[derive(Debug)]
pub(super) struct SupportPenalty {
    pub(super) q: usize,
    /// Whether z_j = 1 is required; length q.
    pub(super) required: Vec<bool>,
    /// B less the required ones.
    pub(super) most: f64,
    /// Signs of the weights, by column.
    pub(super) signs: WeightBounds,
    /// The ridge of each problem's bias; none where it has no bias.
    pub(super) biases: Vec<Option<f64>>,
}

/// s where sum_j min(1, |w_j| / s) = most, and how many of the `sizes` (falling) reach it; s = 0
/// where the sum is below that for all s.
fn threshold(sizes: &[f64], most: f64) -> (f64, usize) {
    let count = sizes.iter().take_while(|w| **w > 0.0).count();
    if count as f64 <= most {
        return (0.0, count);
    }
    let mut rest: f64 = sizes.iter().sum();
    for (full, &size) in sizes.iter().enumerate() {
        let s = rest / (most - full as f64);
        // The first that is below the level that the others give it.
        if most - full as f64 <= 1.0 || size <= s {
            return (s.max(size), full);
        }
        rest -= size;
    }
    (0.0, count)
}

/// |w_j|
pub(super) fn size(w: &[Vec<f64>], j: usize) -> f64 {
    match w {
        [own] => own[j].abs(),
        _ => w.iter().map(|own| own[j] * own[j]).sum::<f64>().sqrt(),
    }
}

impl SupportPenalty {
    /// The penalty of some of the columns.
    pub(super) fn restricted(&self, columns: &[usize]) -> Self {
        Self {
            q: columns.len(),
            required: columns.iter().map(|&j| self.required[j]).collect(),
            most: self.most,
            signs: self.signs.of_all(columns),
            biases: self.biases.clone(),
        }
    }

    /// Sizes of the coefficients that share B, falling.
    pub(super) fn sizes(&self, w: &[Vec<f64>]) -> Vec<f64> {
        let mut sizes: Vec<f64> = (0..self.q).filter(|&j| !self.required[j]).map(|j| size(w, j)).collect();
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        sizes
    }

    /// The s that goes with w, and how many of those that share B reach it.
    pub(super) fn threshold(&self, w: &[Vec<f64>]) -> (f64, usize) {
        threshold(&self.sizes(w), self.most)
    }

    /// P and the biases' penalties.
    pub(super) fn value(&self, w: &[Vec<f64>]) -> f64 {
        let sizes = self.sizes(w);
        let (_, full) = threshold(&sizes, self.most);
        let squares = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
        let tail: f64 = sizes[full..].iter().sum();
        let shared = if tail > 0.0 { tail * tail / (self.most - full as f64) } else { 0.0 };
        let required = (0..self.q).filter(|&j| self.required[j]);
        let required: f64 = required.map(|j| w.iter().map(|own| own[j] * own[j]).sum::<f64>()).sum();
        let biases =
            self.biases.iter().zip(w).map(|(ridge, w)| ridge.map_or(0.0, |ridge| ridge * squares(&w[self.q..])));
        0.5 * (required + squares(&sizes[..full]) + shared + biases.sum::<f64>())
    }

    /// The z that goes with w.
    pub(super) fn shares(&self, w: &[Vec<f64>]) -> Vec<f64> {
        let (s, _) = self.threshold(w);
        (0..self.q)
            .map(|j| match size(w, j) {
                _ if self.required[j] => 1.0,
                0.0 => 0.0,
                size if size >= s => 1.0,
                size => size / s,
            })
            .collect()
    }

    /// The u_j next to `to` of the sign that it has to have.
    pub(super) fn signed(&self, j: usize, to: f64) -> f64 {
        if j < self.q { self.signs.of(j).weight(to) } else { to }
    }
}
