//! Inner products, or squared distances, of all samples over features that come and go: what kernel matrices are made from.
//!
//! A feature x that leaves changes them by `- x_i x_k` or `- (x_i - x_k)^2`, at a cost of n^2, and a kernel matrix without it is
//! one more pass; nothing is computed from all features again.

use super::gram::GramMatrix;
use super::{Kernel, simd};
use crate::Design;

/// A full symmetric n x n matrix, row after row: squared distances for an RBF kernel, inner products for the others.
#[derive(Debug, Clone)]
pub struct Products {
    n: usize,
    values: Vec<f64>,
    distances: bool,
}

impl Products {
    /// Over the given features, with samples in the order given (a permutation of all of them).
    pub fn new(design: &dyn Design, features: &[usize], order: &[usize], kernel: &Kernel) -> Self {
        let (n, gram) = (order.len(), GramMatrix::linear(design, features));
        let distances = matches!(kernel, Kernel::Rbf { .. });
        let norms: Vec<f64> = (0..n).map(|i| gram.row(i)[i]).collect();
        let mut values = vec![0.0; n * n];
        for (out, &i) in values.chunks_mut(n.max(1)).zip(order) {
            let row = gram.row(i);
            for (out, &k) in out.iter_mut().zip(order) {
                *out = if distances { (norms[i] + norms[k] - 2.0 * row[k]).max(0.0) } else { row[k] };
            }
        }
        Self { n, values, distances }
    }

    /// A feature comes (`sign` 1) or goes (-1); x has length n, in the order of the samples here.
    pub fn change(&mut self, x: &[f64], sign: f64) {
        for (row, &xi) in self.values.chunks_mut(self.n).zip(x) {
            add_feature(row, xi, x, sign, self.distances);
        }
    }

    /// The kernel matrix.
    pub fn gram(&self, kernel: &Kernel) -> GramMatrix {
        self.changed(&[], kernel)
    }

    /// The kernel matrix after some features came or went, in the form of [`Products::change`].
    pub fn changed(&self, changes: &[(&[f64], f64)], kernel: &Kernel) -> GramMatrix {
        let mut values = self.values.clone();
        for (i, row) in values.chunks_mut(self.n.max(1)).enumerate() {
            for &(x, sign) in changes {
                add_feature(row, x[i], x, sign, self.distances);
            }
            kernel.apply(row);
        }
        GramMatrix::from_values(self.n, values)
    }

    /// `sum_ik b_ik k_ik` of the kernel values k without the given features (columns of length n), for symmetric B, n x n.
    pub fn weighted_without(&self, features: &[&[f64]], kernel: &Kernel, weights: &[f64]) -> f64 {
        let mut row = vec![0.0; self.n];
        let mut sum = 0.0;
        for i in 0..self.n {
            let weights = &weights[i * self.n..][..=i];
            let row = &mut row[..=i];
            row.copy_from_slice(&self.values[i * self.n..][..=i]);
            for x in features {
                add_feature(row, x[i], &x[..=i], -1.0, self.distances);
            }
            kernel.apply(row);
            sum += 2.0 * simd::dot(weights, row) - weights[i] * row[i];
        }
        sum
    }

    /// The part of the given samples (positions here), in their order.
    #[must_use]
    pub fn part(&self, samples: &[usize]) -> Self {
        let row = |&i: &usize| samples.iter().map(move |&k| self.values[i * self.n + k]);
        Self { n: samples.len(), values: samples.iter().flat_map(row).collect(), distances: self.distances }
    }
}

fn add_feature(row: &mut [f64], xi: f64, x: &[f64], sign: f64, distances: bool) {
    if distances {
        simd::add_squared_differences(sign, xi, x, row);
    } else {
        simd::axpy(sign * xi, x, row);
    }
}
