//! Dense columns: value of sample i, feature j at `values[j * n + i]`.

use std::borrow::Cow;

use super::{Design, RowMatrix};
use crate::Error;
use crate::simd;

/// Dense column-major matrix, owned or borrowed.
#[derive(Debug, Clone)]
pub struct DenseDesign<'a> {
    n: usize,
    p: usize,
    values: Cow<'a, [f64]>,
}

impl<'a> DenseDesign<'a> {
    /// From column-major values of length n p.
    ///
    /// # Errors
    /// [`Error::Data`] when the length is not n p.
    pub fn new(n: usize, p: usize, values: impl Into<Cow<'a, [f64]>>) -> Result<Self, Error> {
        let values = values.into();
        if n.checked_mul(p) != Some(values.len()) {
            return Err(Error::Data(format!(
                "a dense matrix of {n} x {p} needs {n} * {p} values, but has {}",
                values.len()
            )));
        }
        Ok(Self { n, p, values })
    }

    /// All values, column after column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Column j, length n.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..(j + 1) * self.n]
    }

    /// Column j for writing; a borrowed matrix becomes owned.
    pub fn column_mut(&mut self, j: usize) -> &mut [f64] {
        let n = self.n;
        &mut self.values.to_mut()[j * n..(j + 1) * n]
    }
}

impl Design for DenseDesign<'_> {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.p
    }
    fn stored(&self) -> usize {
        self.values.len()
    }
    fn is_sparse(&self) -> bool {
        false
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        simd::dot(self.column(j), v)
    }
    fn dot_chosen(&self, features: &[usize], v: &[f64], out: &mut [f64]) {
        assert_eq!(v.len(), self.n, "a value for each sample");
        simd::dots_of(&self.values, features, v, out);
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        simd::axpy(s, self.column(j), out);
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        for (i, &x) in self.column(j).iter().enumerate() {
            f(i, x);
        }
    }
    fn dense_column(&self, j: usize) -> Option<&[f64]> {
        Some(self.column(j))
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let (n, k) = (self.n, features.len());
        let mut values = vec![0.0; n * k];
        // Tiles of 64 rows keep the written rows in cache while the columns stream by.
        for first in (0..n).step_by(64) {
            let last = (first + 64).min(n);
            for (at, &j) in features.iter().enumerate() {
                let column = &self.column(j)[first..last];
                for (i, &x) in column.iter().enumerate() {
                    values[(first + i) * k + at] = x;
                }
            }
        }
        RowMatrix::dense(n, k, values)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let values: Vec<f64> = (0..self.p).flat_map(|j| samples.iter().map(move |&i| self.column(j)[i])).collect();
        Box::new(DenseDesign { n: samples.len(), p: self.p, values: Cow::Owned(values) })
    }
}
