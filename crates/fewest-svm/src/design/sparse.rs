//! Compressed sparse columns: column j holds `rows[start[j]..start[j + 1]]` (ascending) and the
//! same range of `values`.

use std::borrow::Cow;
use std::ops::Range;

use super::blocks::{block_of, in_blocks, of_samples};
use super::{Design, RowMatrix, pass};
use crate::Error;

/// Sparse matrix in compressed columns, owned or borrowed. Counts are 64-bit, row indices 32-bit.
#[derive(Debug, Clone)]
pub struct SparseDesign<'a> {
    n: usize,
    start: Cow<'a, [usize]>,
    rows: Cow<'a, [u32]>,
    values: Cow<'a, [f64]>,
}

impl<'a> SparseDesign<'a> {
    /// From the three arrays of a CSC matrix with n rows and `start.len() - 1` columns.
    ///
    /// # Errors
    /// [`Error::Data`] when the arrays do not fit together or row indices are not strictly
    /// ascending below n.
    pub fn new(
        n: usize,
        start: impl Into<Cow<'a, [usize]>>,
        rows: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
    ) -> Result<Self, Error> {
        let (start, rows, values) = (start.into(), rows.into(), values.into());
        if start.first() != Some(&0) || start.last() != Some(&rows.len()) || rows.len() != values.len() {
            return Err(Error::Data(format!(
                "a sparse matrix needs column starts from 0 to the number of values; here {} row indices and {} values",
                rows.len(),
                values.len()
            )));
        }
        for j in 0..start.len() - 1 {
            let ordered = start[j] <= start[j + 1]
                && start[j + 1] <= rows.len()
                && rows[start[j]..start[j + 1]].windows(2).all(|w| w[0] < w[1])
                && rows[start[j]..start[j + 1]].last().is_none_or(|&i| (i as usize) < n);
            if !ordered {
                return Err(Error::Data(format!(
                    "column {j} of the sparse matrix: row indices must ascend and stay below {n}"
                )));
            }
        }
        Ok(Self { n, start, rows, values })
    }

    /// A view of arrays that were checked before, as [`SparseDesign::new`] does; it costs nothing
    /// to make. The first column may start behind 0, and the last end before the arrays do.
    ///
    /// # Panics
    /// Later, when a column starts behind the arrays' end or a row index is n or more.
    pub fn view(n: usize, start: &'a [usize], rows: &'a [u32], values: &'a [f64]) -> Self {
        Self { n, start: Cow::Borrowed(start), rows: Cow::Borrowed(rows), values: Cow::Borrowed(values) }
    }

    /// Row indices and values of column j.
    pub fn column(&self, j: usize) -> (&[u32], &[f64]) {
        let range = self.start[j]..self.start[j + 1];
        (&self.rows[range.clone()], &self.values[range])
    }

    /// Values of column j for writing; the pattern stays. Borrowed values become owned.
    pub fn values_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values.to_mut()[self.start[j]..self.start[j + 1]]
    }

    /// The three arrays: column starts (length p + 1), row indices, values.
    pub fn parts(&self) -> (&[usize], &[u32], &[f64]) {
        (&self.start, &self.rows, &self.values)
    }
}

impl Design for SparseDesign<'_> {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.start.len() - 1
    }
    fn stored(&self) -> usize {
        self.start[self.n_features()] - self.start[0]
    }
    fn is_sparse(&self) -> bool {
        true
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        let (rows, values) = self.column(j);
        pass::dot_column(rows, values, v)
    }
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        let starts = &self.start[first..=first + out.len()];
        pass::dot_columns(starts, &self.rows, &self.values, v, out);
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        let (rows, values) = self.column(j);
        for (&i, &x) in rows.iter().zip(values) {
            out[i as usize] += s * x;
        }
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        let (rows, values) = self.column(j);
        for (&i, &x) in rows.iter().zip(values) {
            f(i as usize, x);
        }
    }
    fn sparse_column(&self, j: usize, f: &mut dyn FnMut(&[u32], &[f64], f64)) -> bool {
        let (rows, values) = self.column(j);
        f(rows, values, 1.0);
        true
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let stored = features.iter().map(|&j| self.start[j + 1] - self.start[j]).sum();
        let block = block_of(self.n, features.len(), stored);
        // The part of a column in a block of samples.
        let part = |j: usize, samples: &Range<usize>| {
            let (rows, values) = self.column(j);
            let before =
                |i: usize| if i == self.n { rows.len() } else { rows.partition_point(|&row| (row as usize) < i) };
            let range = if samples.start == 0 { 0 } else { before(samples.start) }..before(samples.end);
            (&rows[range.clone()], &values[range])
        };
        let mut start = vec![0usize; self.n + 1];
        let in_order = || features.iter().enumerate().all(|(at, &j)| at == j);
        if block >= self.n && features.len() == self.n_features() && in_order() {
            // One pass over one array, whatever the number of columns.
            let all = self.start[0]..self.start[self.n_features()];
            self.rows[all].iter().for_each(|&i| start[i as usize + 1] += 1);
        } else {
            of_samples(block, &mut start[1..], |samples, counts| {
                for &j in features {
                    part(j, &samples).0.iter().for_each(|&i| counts[i as usize - samples.start] += 1);
                }
            });
        }
        for i in 0..self.n {
            start[i + 1] += start[i];
        }
        let (mut columns, mut values) = (vec![0u32; stored], vec![0.0; stored]);
        in_blocks(&start, block, &mut columns, &mut values, |samples, columns, values| {
            let mut next: Vec<usize> = start[samples.clone()].iter().map(|at| at - start[samples.start]).collect();
            for (at, &j) in features.iter().enumerate() {
                let (rows, column) = part(j, &samples);
                for (&i, &x) in rows.iter().zip(column) {
                    let slot = &mut next[i as usize - samples.start];
                    columns[*slot] = at as u32;
                    values[*slot] = x;
                    *slot += 1;
                }
            }
        });
        RowMatrix::sparse(features.len(), start, columns, values)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let mut place = vec![u32::MAX; self.n];
        for (at, &i) in samples.iter().enumerate() {
            place[i] = at as u32;
        }
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..self.n_features() {
            let (column, stored) = self.column(j);
            for (&i, &x) in column.iter().zip(stored).filter(|(i, _)| place[**i as usize] != u32::MAX) {
                rows.push(place[i as usize]);
                values.push(x);
            }
            start.push(rows.len());
        }
        Box::new(SparseDesign { n: samples.len(), start: start.into(), rows: rows.into(), values: values.into() })
    }
}
