//! The Hessian of the squared hinge loss, followed as samples enter and leave the margin, and grown
//! as columns come.

use crate::dual::BoxDual;
use crate::dual::normal::{Extended, Normal};

/// `G = sum {2 C_i x_i x_i' : sample i inside the margin}`, the bias as a last column where there
/// is one.
#[derive(Debug)]
pub(super) struct MarginHessian<'a> {
    normal: Normal<'a>,
    inside: Vec<bool>,
    /// G, m x m, where the sums that it is made of are not those entries themselves.
    entries: Vec<f64>,
}

/// What the Hessian of fewer columns leaves to that of more.
#[derive(Debug)]
pub(super) struct Known {
    entries: Vec<f64>,
    inside: Vec<bool>,
}

impl<'a> MarginHessian<'a> {
    /// No sample inside.
    pub(super) fn new(x: Extended<'a>, n: usize) -> Self {
        let mut hessian = Self { normal: Normal::new(x), inside: vec![false; n], entries: Vec::new() };
        hessian.make_entries();
        hessian
    }

    /// G, m x m.
    pub(super) fn gram(&self) -> &[f64] {
        self.normal.symmetric().unwrap_or(&self.entries)
    }

    fn make_entries(&mut self) {
        if !self.normal.mirror() {
            self.normal.gram(&mut self.entries);
        }
    }

    /// The samples inside that of the first columns had.
    pub(super) fn grown(x: Extended<'a>, dual: &BoxDual, Known { entries, inside }: Known) -> Self {
        let weighted = (0..inside.len()).filter(|&i| inside[i]).map(|i| (i, 2.0 * dual.cost[i]));
        let normal = Normal::grown(x, &entries, &weighted.collect::<Vec<_>>());
        drop(entries);
        let mut hessian = Self { normal, inside, entries: Vec::new() };
        hessian.make_entries();
        hessian
    }

    pub(super) fn into_known(self) -> Known {
        Known { entries: self.normal.into_sparse(), inside: self.inside }
    }

    /// Makes the samples of beta_i not 0 those inside the margin; costs a row's outer product for
    /// each that changed.
    pub(super) fn follow(&mut self, dual: &BoxDual, beta: &[f64]) {
        let n = beta.len();
        let now = |i: usize| beta[i] != 0.0;
        let changed: Vec<usize> = (0..n).filter(|&i| now(i) != self.inside[i]).collect();
        if changed.is_empty() {
            return;
        }
        let leaving = changed.iter().filter(|&&i| self.inside[i]).count();
        if leaving > n / 4 {
            // Taking away much costs digits: start again instead.
            self.normal.clear();
            self.normal.add((0..n).filter(|&i| now(i)).map(|i| (i, 2.0 * dual.cost[i])));
        } else {
            let weight = |i: usize| if now(i) { 2.0 } else { -2.0 } * dual.cost[i];
            self.normal.add(changed.iter().map(|&i| (i, weight(i))));
        }
        for &i in &changed {
            self.inside[i] = !self.inside[i];
        }
        self.make_entries();
    }
}
