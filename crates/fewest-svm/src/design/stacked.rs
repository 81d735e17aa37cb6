//! Rows of one matrix, or of two on top of each other: problems on pairs of classes share the rows
//! of a class.

use super::Design;
use super::rows::{Row, RowMatrix};
use crate::simd;

/// One matrix or two, of as many columns, dense or sparse alike.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    first: &'a RowMatrix,
    second: Option<&'a RowMatrix>,
}

impl<'a> From<&'a RowMatrix> for Rows<'a> {
    fn from(first: &'a RowMatrix) -> Self {
        Self { first, second: None }
    }
}

impl<'a> Rows<'a> {
    /// The samples of `first`, then those of `second`.
    ///
    /// # Panics
    /// When their columns differ in number, or one is dense and the other sparse.
    pub fn on_top(first: &'a RowMatrix, second: &'a RowMatrix) -> Self {
        assert_eq!(first.n_features(), second.n_features(), "as many columns in both");
        assert_eq!(first.is_sparse(), second.is_sparse(), "both dense or both sparse");
        Self { first, second: Some(second) }
    }

    /// Number of samples.
    pub fn n_samples(self) -> usize {
        self.first.n_samples() + self.second.map_or(0, RowMatrix::n_samples)
    }
    /// Number of features.
    pub fn n_features(self) -> usize {
        self.first.n_features()
    }
    /// Number of stored values.
    pub fn stored(self) -> usize {
        self.first.stored() + self.second.map_or(0, RowMatrix::stored)
    }
    /// Whether zeros are left out.
    pub fn is_sparse(self) -> bool {
        self.first.is_sparse()
    }
    /// Whether threads share the work on one of them.
    pub fn in_blocks(self) -> bool {
        [Some(self.first), self.second].into_iter().flatten().any(|rows| rows.block() < rows.n_samples())
    }

    /// Sample i.
    #[inline]
    pub fn row(self, i: usize) -> Row<'a> {
        match self.second {
            Some(second) if i >= self.first.n_samples() => second.row(i - self.first.n_samples()),
            _ => self.first.row(i),
        }
    }

    /// sum_i beta_i x_i (length p).
    pub fn combination(self, beta: &[f64]) -> Vec<f64> {
        let Some(second) = self.second else { return self.first.combination(beta) };
        let (own, others) = beta.split_at(self.first.n_samples());
        let mut w = self.first.combination(own);
        simd::axpy(1.0, &second.combination(others), &mut w);
        w
    }

    /// out += sum over these samples of `a_i x_i`.
    pub fn add_rows(self, samples: &[usize], a: &[f64], out: &mut [f64]) {
        match self.first.dense_values().filter(|_| self.second.is_none()) {
            Some(values) => simd::add_lines(values, samples, a, out),
            None => samples.iter().zip(a).for_each(|(&i, &a)| self.row(i).add_to(a, out)),
        }
    }

    /// out_i = x_i . w + offset
    pub fn scores(self, w: &[f64], offset: f64, out: &mut [f64]) {
        let (own, others) = out.split_at_mut(self.first.n_samples());
        self.first.scores(w, offset, own);
        if let Some(second) = self.second {
            second.scores(w, offset, others);
        }
    }

    /// Copy of some columns: column k is `columns[k]`.
    pub fn columns(self, columns: &[usize]) -> RowMatrix {
        let own = self.first.columns(columns);
        match self.second {
            Some(second) => own.followed_by(&second.columns(columns)),
            None => own,
        }
    }

    /// Column-major copy.
    pub fn design(self) -> Box<dyn Design> {
        match self.second {
            Some(second) => self.first.clone().followed_by(second).design(),
            None => self.first.design(),
        }
    }

    /// Row k: column `columns[k]` at these samples (ascending), times `factor` (one for each); after
    /// the columns a constant one of value `last`, if it is given. Sparse.
    #[must_use]
    pub fn columns_at(self, columns: &[usize], samples: &[usize], factor: &[f64], last: Option<f64>) -> RowMatrix {
        // Columns that are not wanted go to a row behind all others.
        let mut row = vec![columns.len(); self.n_features()];
        columns.iter().enumerate().for_each(|(k, &j)| row[j] = k);
        let mut start = vec![0usize; columns.len() + 3];
        for &i in samples {
            self.row(i).each(|j, _| start[row[j] + 2] += 1);
        }
        for k in 2..start.len() {
            start[k] += start[k - 1];
        }
        // start[k + 1] is where the next value of row k goes, and in the end where row k ends.
        let all = start[columns.len() + 2];
        let (mut places, mut values) = (vec![0u32; all], vec![0.0; all]);
        for (at, (&i, factor)) in samples.iter().zip(factor).enumerate() {
            self.row(i).each(|j, x| {
                let slot = &mut start[row[j] + 1];
                (places[*slot], values[*slot]) = (at as u32, factor * x);
                *slot += 1;
            });
        }
        start.truncate(columns.len() + 1);
        let stored = start[columns.len()];
        places.truncate(stored);
        values.truncate(stored);
        if let Some(last) = last {
            places.extend(0..samples.len() as u32);
            values.extend(factor.iter().map(|factor| factor * last));
            start.push(values.len());
        }
        RowMatrix::sparse(samples.len(), start, places, values)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;
    use crate::RowMatrix;

    /// Whatever is asked of two is what the one matrix says that they make.
    #[test]
    fn two_on_top_are_the_matrix_that_they_make() {
        let dense = RowMatrix::dense(5, 3, (0..15).map(|x| f64::from((7 * x) % 5 - 2)).collect());
        let all: Vec<usize> = (0..3).collect();
        let sparse = dense.columns_at(&all, &[0, 1, 2, 3, 4], &[1.0; 5], None).transposed();
        for whole in [&dense, &sparse] {
            let (first, second) = (whole.chosen(&[0, 1]), whole.chosen(&[2, 3, 4]));
            let rows = Rows::on_top(&first, &second);
            assert_eq!((rows.n_samples(), rows.n_features()), (5, 3));
            assert_eq!((rows.stored(), rows.is_sparse(), rows.in_blocks()), (whole.stored(), whole.is_sparse(), false));
            let beta = [1.0, -2.0, 4.0, 0.0, 3.0];
            assert_eq!(rows.combination(&beta), whole.combination(&beta));
            let (mut out, mut wanted) = ([0.0; 5], [1.0; 5]);
            rows.scores(&[1.0, 10.0, 100.0], 2.0, &mut out);
            whole.scores(&[1.0, 10.0, 100.0], 2.0, &mut wanted);
            assert_eq!(out, wanted);
            for i in 0..5 {
                assert_eq!(rows.row(i).dot(&[1.0, 10.0, 100.0]), whole.row(i).dot(&[1.0, 10.0, 100.0]));
            }
            let (at, factor) = (rows.columns_at(&[2, 0], &[1, 3], &[2.0, 5.0], Some(1.0)), [2.0, 5.0]);
            assert_eq!(at.csr(), whole.columns_at(&[2, 0], &[1, 3], &factor, Some(1.0)).csr());
            let (some, wanted) = (rows.columns(&[2, 1]), whole.columns(&[2, 1]));
            assert_eq!((some.csr(), some.dense_values()), (wanted.csr(), wanted.dense_values()));
            let (design, wanted) = (rows.design(), whole.design());
            for j in 0..3 {
                assert_eq!(design.dot_column(j, &beta), wanted.dot_column(j, &beta));
            }
        }
    }
}
