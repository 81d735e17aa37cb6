//! Values at regular distances, in f64 or f32: row-major arrays, transposed ones, views of others.
//! Nothing is copied.

use super::{Design, RowMatrix};
use crate::Error;

/// Dense matrix with value of sample i, feature j at `values[i * row_stride + j * column_stride]`.
///
/// A row-major array (column stride 1) is walked row by row wherever several columns are asked for
/// at once. A single column of it touches one cache line per value: callers that pass over single
/// columns of large data again and again are better off with [`super::DenseDesign`].
#[derive(Debug, Clone, Copy)]
pub struct StridedDesign<'a, T> {
    n: usize,
    p: usize,
    row_stride: usize,
    column_stride: usize,
    values: &'a [T],
}

impl<'a, T: Copy + Into<f64> + Send + Sync> StridedDesign<'a, T> {
    /// A view of n x p values.
    ///
    /// # Errors
    /// [`Error::Data`] when a value lies behind the end.
    pub fn new(n: usize, p: usize, row_stride: usize, column_stride: usize, values: &'a [T]) -> Result<Self, Error> {
        let last = |count: usize, stride: usize| count.saturating_sub(1).checked_mul(stride);
        let end = last(n, row_stride).zip(last(p, column_stride)).and_then(|(rows, columns)| rows.checked_add(columns));
        if n > 0 && p > 0 && end.is_none_or(|end| end >= values.len()) {
            return Err(Error::Data(format!(
                "a matrix of {n} x {p} with strides {row_stride} and {column_stride} does not fit into {} values",
                values.len()
            )));
        }
        Ok(Self { n, p, row_stride, column_stride, values })
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.values[i * self.row_stride + j * self.column_stride].into()
    }
}

impl<T: Copy + Into<f64> + Send + Sync> Design for StridedDesign<'_, T> {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.p
    }
    fn stored(&self) -> usize {
        self.n * self.p
    }
    fn is_sparse(&self) -> bool {
        false
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        v.iter().enumerate().map(|(i, v)| self.at(i, j) * v).sum()
    }
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        if self.column_stride != 1 {
            out.iter_mut().enumerate().for_each(|(k, out)| *out = self.dot_column(first + k, v));
            return;
        }
        out.fill(0.0);
        for (i, &v) in v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let row = &self.values[i * self.row_stride + first..][..out.len()];
            out.iter_mut().zip(row).for_each(|(out, &x)| *out += v * x.into());
        }
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        out.iter_mut().enumerate().for_each(|(i, out)| *out += s * self.at(i, j));
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        for i in 0..self.n {
            f(i, self.at(i, j));
        }
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let mut values = Vec::with_capacity(self.n * features.len());
        for i in 0..self.n {
            values.extend(features.iter().map(|&j| self.at(i, j)));
        }
        RowMatrix::dense(self.n, features.len(), values)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let mut values = Vec::with_capacity(self.p * samples.len());
        for j in 0..self.p {
            values.extend(samples.iter().map(|&i| self.at(i, j)));
        }
        Box::new(super::DenseDesign::new(samples.len(), self.p, values).expect("n p values"))
    }
}

#[cfg(test)]
mod tests {
    use super::StridedDesign;
    use crate::{DenseDesign, Design};

    #[test]
    fn every_layout_answers_as_the_dense_columns_do() {
        let (n, p) = (5, 4);
        // Halves, so that f32 holds them exactly and sums are the same in any order.
        let value = |i: usize, j: usize| ((i * 7 + j * 3) % 11) as f64 / 2.0 - 2.0;
        let columns: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| value(i, j))).collect();
        let dense = DenseDesign::new(n, p, columns.clone()).unwrap();
        let rows: Vec<f64> = (0..n).flat_map(|i| (0..p).map(move |j| value(i, j))).collect();
        let short: Vec<f32> = rows.iter().map(|&x| x as f32).collect();
        // Every other row of a larger array.
        let wide: Vec<f64> = (0..2 * n).flat_map(|i| (0..p).map(move |j| value(i / 2, j))).collect();
        let views: [Box<dyn Design + '_>; 4] = [
            Box::new(StridedDesign::new(n, p, p, 1, &rows).unwrap()),
            Box::new(StridedDesign::new(n, p, 1, n, &columns).unwrap()),
            Box::new(StridedDesign::new(n, p, p, 1, &short).unwrap()),
            Box::new(StridedDesign::new(n, p, 2 * p, 1, &wide).unwrap()),
        ];
        let v = [1.0, 0.0, -2.0, 0.5, 3.0];
        for view in &views {
            let (mut many, mut want) = (vec![0.0; 3], vec![0.0; 3]);
            view.dot_columns(1, &v, &mut many);
            dense.dot_columns(1, &v, &mut want);
            assert_eq!(many, want);
            for j in 0..p {
                let (mut a, mut b) = (vec![1.0; n], vec![1.0; n]);
                view.add_column(j, 2.0, &mut a);
                dense.add_column(j, 2.0, &mut b);
                assert_eq!((view.dot_column(j, &v), a), (dense.dot_column(j, &v), b));
                assert_eq!(view.squared_norm(j), dense.squared_norm(j));
            }
            assert_eq!(view.rows(&[2, 0]).dense_values(), dense.rows(&[2, 0]).dense_values());
            assert_eq!(view.select_samples(&[1, 4]).dot_column(3, &[1.0, -1.0]), value(1, 3) - value(4, 3));
        }
        assert!(StridedDesign::new(n, p, p, 1, &rows[1..]).is_err());
    }
}
