//! Inner products, or distances, of all samples over features that come and go: what kernel
//! matrices are made from.
//!
//! A feature x that leaves changes them by `- x_i x_k` or `- d(x_i, x_k)`, at a cost of n^2, and a
//! kernel matrix without it is one more pass; nothing is computed from all features again.

use std::borrow::Cow;

use super::Kernel;
use super::distance::{Distance, Distances};
use super::gemm::{View, add_product};
use super::gram::GramMatrix;
use crate::design::Row;
use crate::simd;
use crate::{Clock, Design, Status};

/// Features whose columns [`CrossProducts::new`] gathers at a time.
const PANEL: usize = 64;

/// Rows of [`Products::new`] between two checks of the clock.
const CHECK_EVERY: usize = 256;

/// A full symmetric n x n matrix, row after row: distances for a kernel that is a product over
/// features (RBF, Laplace), inner products for the others.
#[derive(Debug, Clone)]
pub struct Products {
    n: usize,
    values: Vec<f64>,
    distance: Option<Distance>,
}

impl Products {
    /// Over the given features, with samples in the order given (a permutation of all of them).
    ///
    /// # Errors
    /// The limit that `clock` names before it is done.
    pub fn new(
        design: &dyn Design,
        features: &[usize],
        order: &[usize],
        kernel: &Kernel,
        clock: &Clock,
    ) -> Result<Self, Status> {
        let (n, distance) = (order.len(), kernel.distance());
        let squared = distance == Some(Distance::Squared);
        let gram = if squared || distance.is_none() {
            GramMatrix::linear_until(design, features, clock)?
        } else {
            Distances::new(kernel, &[]).matrix(design, features, clock)?
        };
        let norms: Vec<f64> = (0..n).map(|i| gram.row(i)[i]).collect();
        let mut values = vec![0.0; n * n];
        for (at, (out, &i)) in values.chunks_mut(n.max(1)).zip(order).enumerate() {
            if at % CHECK_EVERY == CHECK_EVERY - 1
                && let Some(status) = clock.stop()
            {
                return Err(status);
            }
            let row = gram.row(i);
            for (out, &k) in out.iter_mut().zip(order) {
                *out = if squared { (norms[i] + norms[k] - 2.0 * row[k]).max(0.0) } else { row[k] };
            }
        }
        Ok(Self { n, values, distance })
    }

    /// A feature comes (`sign` 1) or goes (-1); x has length n, in the order of the samples here.
    pub fn change(&mut self, x: &[f64], sign: f64) {
        for (row, &xi) in self.values.chunks_mut(self.n).zip(x) {
            add_feature(row, xi, x, sign, self.distance);
        }
    }

    /// The kernel matrix.
    ///
    /// # Errors
    /// The limit that `clock` names before it is made.
    pub fn gram(&self, kernel: &Kernel, clock: &Clock) -> Result<GramMatrix, Status> {
        self.changed(&[], kernel, clock)
    }

    /// The kernel matrix after some features came or went, in the form of [`Products::change`].
    ///
    /// # Errors
    /// The limit that `clock` names before it is made.
    pub fn changed(&self, changes: &[(&[f64], f64)], kernel: &Kernel, clock: &Clock) -> Result<GramMatrix, Status> {
        let mut values = Vec::with_capacity(self.values.len());
        for (i, known) in self.values.chunks(self.n.max(1)).enumerate() {
            if i % CHECK_EVERY == CHECK_EVERY - 1
                && let Some(status) = clock.stop()
            {
                return Err(status);
            }
            let row = values.len();
            values.extend_from_slice(known);
            let row = &mut values[row..];
            for &(x, sign) in changes {
                add_feature(row, x[i], x, sign, self.distance);
            }
            kernel.apply(row);
        }
        Ok(GramMatrix::from_values(self.n, values))
    }

    /// `sum_ik b_ik k_ik` of the kernel values k without the given features (columns of length n),
    /// for symmetric B, n x n.
    pub fn weighted_without(&self, features: &[&[f64]], kernel: &Kernel, weights: &[f64]) -> f64 {
        let mut row = vec![0.0; self.n];
        let mut sum = 0.0;
        for i in 0..self.n {
            let weights = &weights[i * self.n..][..=i];
            let row = &mut row[..=i];
            row.copy_from_slice(&self.values[i * self.n..][..=i]);
            for x in features {
                add_feature(row, x[i], &x[..=i], -1.0, self.distance);
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
        Self { n: samples.len(), values: samples.iter().flat_map(row).collect(), distance: self.distance }
    }
}

/// The products between the samples of two designs with the same features: one row for each sample
/// of the first, one column for each of the second.
#[derive(Debug)]
pub struct CrossProducts {
    columns: usize,
    values: Vec<f64>,
    distance: Option<Distance>,
}

impl CrossProducts {
    /// Bytes for the samples of two designs.
    pub fn bytes(rows: usize, columns: usize) -> u64 {
        8 * rows as u64 * columns as u64
    }

    /// Over the given features. Multiply-adds: rows x columns x features when dense; sparse as
    /// [`GramMatrix::linear`].
    pub fn new(rows: &dyn Design, columns: &dyn Design, features: &[usize], kernel: &Kernel) -> Self {
        let (h, n) = (rows.n_samples(), columns.n_samples());
        let mut values = vec![0.0; h * n];
        let distance = kernel.distance();
        if let Some(distance @ (Distance::Absolute | Distance::Unequal)) = distance {
            for &j in features {
                let (of_rows, x) = (column(rows, j), column(columns, j));
                for (row, &xi) in values.chunks_mut(n.max(1)).zip(&*of_rows) {
                    distance.add(1.0, xi, &x, row);
                }
            }
        } else if columns.is_sparse() {
            let rows = rows.rows(features);
            for (i, out) in values.chunks_mut(n.max(1)).enumerate() {
                if let Row::Sparse(at, x) = rows.row(i) {
                    at.iter().zip(x).for_each(|(&at, &x)| columns.add_column(features[at as usize], x, out));
                }
            }
        } else {
            for block in features.chunks(PANEL) {
                let (a, b) = (panel(rows, block), panel(columns, block));
                let view = |data, rows| View { data, rows, columns: block.len(), row_stride: 1, column_stride: rows };
                add_product(&mut values, n, 1.0, view(&a, h), view(&b, n).transposed());
            }
        }
        if distance == Some(Distance::Squared) {
            let (of_rows, of_columns) = (squared_norms(rows, features), squared_norms(columns, features));
            for (row, norm) in values.chunks_mut(n.max(1)).zip(of_rows) {
                row.iter_mut().zip(&of_columns).for_each(|(x, other)| *x = (norm + other - 2.0 * *x).max(0.0));
            }
        }
        Self { columns: n, values, distance }
    }

    /// Feature j of the two designs goes.
    pub fn remove(&mut self, rows: &dyn Design, columns: &dyn Design, j: usize) {
        let (of_rows, x) = (column(rows, j), column(columns, j));
        for (row, &xi) in self.values.chunks_mut(self.columns.max(1)).zip(&*of_rows) {
            // A zero changes distances, but no products.
            if xi != 0.0 || self.distance.is_some() {
                add_feature(row, xi, &x, -1.0, self.distance);
            }
        }
    }

    /// `sum_k k_ik beta_k` of the kernel values k for each row i and each beta (length `columns`),
    /// row after row.
    pub fn scores(&self, kernel: &Kernel, betas: &[&[f64]]) -> Vec<f64> {
        let mut row = Vec::with_capacity(self.columns);
        let mut scores = Vec::with_capacity(betas.len() * self.values.len() / self.columns.max(1));
        for values in self.values.chunks(self.columns.max(1)) {
            row.clear();
            row.extend_from_slice(values);
            kernel.apply(&mut row);
            scores.extend(betas.iter().map(|beta| simd::dot(&row, beta)));
        }
        scores
    }
}

/// The columns of some features, one after the other.
fn panel(design: &dyn Design, features: &[usize]) -> Vec<f64> {
    let n = design.n_samples();
    let mut out = vec![0.0; n * features.len()];
    out.chunks_mut(n.max(1)).zip(features).for_each(|(out, &j)| design.add_column(j, 1.0, out));
    out
}

fn column(design: &dyn Design, j: usize) -> Cow<'_, [f64]> {
    design.dense_column(j).map_or_else(|| Cow::Owned(panel(design, &[j])), Cow::Borrowed)
}

/// `||x_i||^2` of each sample over some features.
fn squared_norms(design: &dyn Design, features: &[usize]) -> Vec<f64> {
    let mut norms = vec![0.0; design.n_samples()];
    for &j in features {
        design.each_in_column(j, &mut |i, x| norms[i] += x * x);
    }
    norms
}

fn add_feature(row: &mut [f64], xi: f64, x: &[f64], sign: f64, distance: Option<Distance>) {
    match distance {
        Some(distance) => distance.add(sign, xi, x, row),
        None => simd::axpy(sign * xi, x, row),
    }
}
