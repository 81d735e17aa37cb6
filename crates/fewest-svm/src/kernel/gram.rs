//! Whole Gram matrices: K = X X' over chosen features, kernel values from it, and its update when
//! features come and go.

use std::ops::Range;

use rayon::prelude::*;

use super::Kernel;
use super::gemm::{View, add_product};
use crate::design::Row;
use crate::simd;
use crate::{Clock, Design, Error, RowMatrix, Source, Status};

/// Tuning: chosen by hand; `make bench-rfe` shows what a change costs.
mod tuning {
    /// Most columns gathered at a time; fewer when n is small, so that they take an eighth of the
    /// Gram matrix at most.
    pub(super) const PANEL: usize = 256;
    /// Rows of K that one thread works on at a time.
    pub(super) const TILE: usize = 128;
    /// Multiply-adds of a thread between two checks of the clock.
    pub(super) const CHECK_EVERY: usize = 1 << 27;
    /// Rows of K from sparse data between two checks of the clock.
    pub(super) const SPARSE_CHECK_EVERY: usize = 256;
    /// Fewer features than this go one by one.
    pub(super) const FEW: usize = 8;
    /// Parts of the features at most whose products with a vector are added up side by side, and
    /// features of one at least.
    pub(super) const PARTS: usize = 8;
    pub(super) const PART: usize = 64;
}
use tuning::{CHECK_EVERY, FEW, PANEL, PART, PARTS, SPARSE_CHECK_EVERY, TILE};

/// Checks the clock, unless the data are so small that no check is needed.
fn check_clock(n: usize, clock: &Clock) -> Result<(), Status> {
    if n * n > CHECK_EVERY / PANEL { clock.stop().map_or(Ok(()), Err) } else { Ok(()) }
}

/// A full symmetric n x n matrix, row after row.
#[derive(Debug, Clone, PartialEq)]
pub struct GramMatrix {
    n: usize,
    values: Vec<f64>,
}

impl GramMatrix {
    /// Bytes of an n x n matrix.
    pub fn bytes(n: usize) -> u64 {
        (n as u64) * (n as u64) * 8
    }

    /// The matrix of n n values.
    ///
    /// # Errors
    /// [`Error::Data`] when the length is wrong or the matrix is not symmetric.
    pub fn new(n: usize, values: Vec<f64>) -> Result<Self, Error> {
        if n.checked_mul(n) != Some(values.len()) {
            return Err(Error::Data(format!(
                "a Gram matrix of {n} samples needs {n} x {n} values, but has {}",
                values.len()
            )));
        }
        let largest = values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        for i in 0..n {
            for k in 0..i {
                let (a, b) = (values[i * n + k], values[k * n + i]);
                if (a - b).abs() > 1e-8 * largest {
                    return Err(Error::Data(format!(
                        "the precomputed kernel is not symmetric: K[{i},{k}] = {a}, K[{k},{i}] = {b}"
                    )));
                }
            }
        }
        Ok(Self { n, values })
    }

    /// The matrix from its lower triangle, row after row: n (n + 1) / 2 values.
    ///
    /// # Errors
    /// [`Error::Data`] when the length is wrong.
    pub fn of_triangle(n: usize, triangle: &[f64]) -> Result<Self, Error> {
        if triangle.len() != n * (n + 1) / 2 {
            return Err(Error::Data(format!("{} products of {n} samples", triangle.len())));
        }
        let mut values = vec![0.0; n * n];
        for i in 0..n {
            let row = &triangle[i * (i + 1) / 2..(i + 1) * (i + 2) / 2];
            values[i * n..=i * n + i].copy_from_slice(row);
        }
        let mut gram = Self { n, values };
        gram.mirror(&mut || Ok(())).expect("nothing stops it");
        Ok(gram)
    }

    /// The lower triangle, row after row.
    pub fn triangle(&self) -> Vec<f64> {
        (0..self.n).flat_map(|i| &self.row(i)[..=i]).copied().collect()
    }

    /// The rows and columns of these samples.
    #[must_use]
    pub fn of_samples(&self, samples: &[usize]) -> Self {
        let row = |&i: &usize| samples.iter().map(move |&k| self.values[i * self.n + k]);
        Self { n: samples.len(), values: samples.iter().flat_map(row).collect() }
    }

    /// K -= the other matrix.
    pub fn subtract(&mut self, other: &Self) {
        simd::axpy(-1.0, &other.values, &mut self.values);
    }

    /// The matrix of n n values known to be symmetric.
    pub(crate) fn from_values(n: usize, values: Vec<f64>) -> Self {
        Self { n, values }
    }

    /// The rows and columns of two ranges of samples, `first` before `second`.
    #[must_use]
    pub fn block(&self, first: &Range<usize>, second: &Range<usize>) -> Self {
        let n = first.len() + second.len();
        let mut values = Vec::with_capacity(n * n);
        for i in first.clone().chain(second.clone()) {
            values.extend_from_slice(&self.row(i)[first.clone()]);
            values.extend_from_slice(&self.row(i)[second.clone()]);
        }
        Self { n, values }
    }

    /// K_ik = sum over the given features of x_ij x_kj. Multiply-adds: n^2 p / 2 when dense, the
    /// sum of the columns' squared non-zeros when sparse.
    pub fn linear(design: &dyn Design, features: &[usize]) -> Self {
        Self::linear_until(design, features, &Clock::unlimited()).expect("nothing stops it")
    }

    /// [`GramMatrix::linear`].
    ///
    /// # Errors
    /// The limit that `clock` names before it is done.
    pub fn linear_until(design: &dyn Design, features: &[usize], clock: &Clock) -> Result<Self, Status> {
        let n = design.n_samples();
        check_clock(n, clock)?;
        let mut gram = Self { n, values: vec![0.0; n * n] };
        if design.is_sparse() {
            let rows = design.rows(features);
            for (block, values) in gram.values.chunks_mut(n.max(1) * SPARSE_CHECK_EVERY).enumerate() {
                check_clock(n, clock)?;
                values.par_chunks_mut(n).enumerate().for_each(|(i, out)| {
                    if let Row::Sparse(columns, values) = rows.row(block * SPARSE_CHECK_EVERY + i) {
                        for (&at, &x) in columns.iter().zip(values) {
                            design.add_column(features[at as usize], x, out);
                        }
                    }
                });
            }
        } else {
            gram.add_panels(design, features, 1.0, clock)?;
        }
        Ok(gram)
    }

    /// Kernel values from the linear Gram matrix.
    #[must_use]
    pub fn of_kernel(mut self, kernel: &Kernel) -> Self {
        let n = self.n;
        let norms: Vec<f64> = (0..n).map(|i| self.values[i * n + i]).collect();
        if !matches!(kernel, Kernel::Linear | Kernel::Precomputed) {
            self.values.par_chunks_mut(n).enumerate().for_each(|(i, row)| kernel.from_products(row, norms[i], &norms));
        }
        self
    }

    /// Kernel values from distances.
    #[must_use]
    pub fn applied(mut self, kernel: &Kernel) -> Self {
        self.values.par_chunks_mut(self.n.max(1)).for_each(|row| kernel.apply(row));
        self
    }

    /// K += sign x_j x_j': a feature comes (1) or goes (-1). Cost n^2, or the squared non-zeros of
    /// a sparse column.
    pub fn add_feature(&mut self, design: &dyn Design, j: usize, sign: f64) {
        let n = self.n;
        if let Some(x) = design.dense_column(j) {
            for (row, &xi) in self.values.chunks_mut(n).zip(x) {
                simd::axpy(sign * xi, x, row);
            }
        } else {
            let mut entries: Vec<(usize, f64)> = Vec::new();
            design.each_in_column(j, &mut |i, x| entries.push((i, x)));
            for &(i, xi) in &entries {
                let row = &mut self.values[i * n..(i + 1) * n];
                for &(k, xk) in &entries {
                    row[k] += sign * xi * xk;
                }
            }
        }
    }

    /// K -= X X' over features that go. Multiply-adds: n^2 / 2 for each one, or the squared
    /// non-zeros of a sparse column.
    ///
    /// # Errors
    /// The limit that `clock` names before it is done; then K is neither the old nor the new one.
    pub fn remove_until(&mut self, design: &dyn Design, features: &[usize], clock: &Clock) -> Result<(), Status> {
        if !design.is_sparse() && features.len() >= FEW {
            return self.add_panels(design, features, -1.0, clock);
        }
        for &j in features {
            self.add_feature(design, j, -1.0);
        }
        Ok(())
    }

    /// K += sign X X' over features of a dense design.
    fn add_panels(&mut self, design: &dyn Design, features: &[usize], sign: f64, clock: &Clock) -> Result<(), Status> {
        let n = self.n;
        let width = (n / 8).clamp(8, PANEL).min(features.len().max(1));
        let tiles = (CHECK_EVERY / (TILE * width * n.max(1))).max(1);
        let rows = TILE * tiles * rayon::current_num_threads();
        let mut panel = vec![0.0; n * width];
        for block in features.chunks(width) {
            panel.fill(0.0);
            for (at, &j) in block.iter().enumerate() {
                design.add_column(j, 1.0, &mut panel[at * n..(at + 1) * n]);
            }
            for first in (0..n).step_by(rows) {
                check_clock(n, clock)?;
                self.add_panel(&panel[..n * block.len()], sign, first..n.min(first + rows));
            }
        }
        self.mirror(&mut || check_clock(n, clock))
    }

    /// These rows of the lower triangle += sign B B' for a column-major panel B with n rows.
    fn add_panel(&mut self, panel: &[f64], sign: f64, rows: Range<usize>) {
        let n = self.n;
        let depth = panel.len() / n;
        let of_rows = &mut self.values[rows.start * n..rows.end * n];
        of_rows.par_chunks_mut(n * TILE).enumerate().for_each(|(at, values)| {
            let (first, rows) = (rows.start + at * TILE, values);
            let height = rows.len() / n;
            let columns = |data, rows| View { data, rows, columns: depth, row_stride: 1, column_stride: n };
            let all = columns(panel, first + height).transposed();
            add_product(rows, n, sign, columns(&panel[first..], height), all);
        });
    }

    fn mirror(&mut self, check: &mut dyn FnMut() -> Result<(), Status>) -> Result<(), Status> {
        let n = self.n;
        for first in (0..n).step_by(64) {
            check()?;
            for i in first..n {
                for k in first..(first + 64).min(i) {
                    self.values[k * n + i] = self.values[i * n + k];
                }
            }
        }
        Ok(())
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no sample.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Row i, length n.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// out_i = sum_k K_ik beta_k
    pub fn multiply(&self, beta: &[f64]) -> Vec<f64> {
        let mut out = Vec::new();
        self.multiply_into(beta, &mut out);
        out
    }

    /// [`GramMatrix::multiply`] into a vector whose memory is used again.
    pub(crate) fn multiply_into(&self, beta: &[f64], out: &mut Vec<f64>) {
        out.resize(self.n, 0.0);
        simd::combination(&self.values, beta, out);
    }
}

/// Requests of SVM-RFE to a matrix that may be elsewhere, beside those of any [`Source`].
pub trait GramSource: Source {
    /// Bytes that a copy of `features` features takes, about.
    fn bytes(&self, features: usize) -> u64;
    /// K = X X' over these features, which ascend.
    fn gram(&self, features: &[usize]) -> Result<GramMatrix, Error>;
    /// `X X' v` over these features, which ascend, with v of length n.
    fn product(&self, features: &[usize], v: &[f64]) -> Result<Vec<f64>, Error>;
}

impl GramSource for &dyn Design {
    fn bytes(&self, features: usize) -> u64 {
        RowMatrix::bytes(*self, features)
    }
    fn gram(&self, features: &[usize]) -> Result<GramMatrix, Error> {
        Ok(GramMatrix::linear(*self, features))
    }
    /// Features in parts whose number depends on the shape alone: each has n numbers to add to.
    fn product(&self, features: &[usize], v: &[f64]) -> Result<Vec<f64>, Error> {
        let n = v.len();
        let part = features.len().div_ceil(PARTS).max(PART);
        let sums = features.par_chunks(part).map(|features| {
            let mut sum = vec![0.0; n];
            for &j in features {
                self.add_column(j, self.dot_column(j, v), &mut sum);
            }
            sum
        });
        let sums: Vec<Vec<f64>> = sums.collect();
        let mut sums = sums.into_iter();
        let mut total = sums.next().unwrap_or_else(|| vec![0.0; n]);
        sums.for_each(|part| simd::axpy(1.0, &part, &mut total));
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DenseDesign;

    fn random(len: usize) -> Vec<f64> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn equals_the_definition_and_follows_features() {
        let (n, p) = (TILE + 37, PANEL + 5);
        let x = random(n * p);
        let design = DenseDesign::new(n, p, x.clone()).unwrap();
        let features: Vec<usize> = (0..p).collect();
        let mut gram = GramMatrix::linear(&design, &features);
        for (i, k) in [(0, 0), (3, n - 1), (n - 1, 3), (TILE, TILE - 1), (n - 1, n - 1), (TILE + 3, TILE + 20)] {
            let direct: f64 = (0..p).map(|j| x[j * n + i] * x[j * n + k]).sum();
            assert!((gram.row(i)[k] - direct).abs() < 1e-11, "{i} {k}: {} against {direct}", gram.row(i)[k]);
        }
        for j in 0..10 {
            gram.add_feature(&design, j, -1.0);
        }
        let rest = GramMatrix::linear(&design, &features[10..]);
        assert!(gram.values.iter().zip(&rest.values).all(|(a, b)| (a - b).abs() < 1e-11));
    }
}
