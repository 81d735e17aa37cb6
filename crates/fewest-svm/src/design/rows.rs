//! Row-major copy of chosen features, for the solvers that visit one sample at a time.

use rayon::prelude::*;

use super::blocks::{BLOCK, BLOCKS, block_of, in_blocks, of_samples};
use super::{DenseDesign, Design, Rows, SparseDesign};
use crate::simd;

/// The place of a column that is left out.
const ELSEWHERE: u32 = u32::MAX;

/// Row-major matrix, dense or compressed sparse rows; made by [`super::Design::rows`].
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct RowMatrix {
    n: usize,
    p: usize,
    values: Vec<f64>,
    sparse: Option<Pattern>,
}

#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
struct Pattern {
    start: Vec<usize>,
    columns: Vec<u32>,
}

/// One sample of a [`RowMatrix`].
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// All p values.
    Dense(&'a [f64]),
    /// Ascending column indices and their values.
    Sparse(&'a [u32], &'a [f64]),
}

impl RowMatrix {
    /// From n p values, row after row.
    pub fn dense(n: usize, p: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), n * p, "a dense row matrix holds n p values");
        Self { n, p, values, sparse: None }
    }

    /// From the arrays of a CSR matrix with p columns.
    pub fn sparse(p: usize, start: Vec<usize>, columns: Vec<u32>, values: Vec<f64>) -> Self {
        assert_eq!(columns.len(), values.len(), "one column index per value");
        assert_eq!(start.last(), Some(&values.len()), "row starts end at the number of values");
        Self { n: start.len() - 1, p, values, sparse: Some(Pattern { start, columns }) }
    }

    /// Bytes of the copy of this many features of a design, at most.
    pub fn bytes(design: &dyn Design, features: usize) -> u64 {
        let (n, values) = (design.n_samples() as u64, (design.n_samples() as u64).saturating_mul(features as u64));
        if design.is_sparse() { 12 * values.min(design.stored() as u64) + 8 * (n + 1) } else { 8 * values }
    }

    /// Bytes that it holds.
    pub fn held(&self) -> u64 {
        let pattern = self.sparse.as_ref().map_or(0, |pattern| 4 * pattern.columns.len() + 8 * pattern.start.len());
        (8 * self.values.len() + pattern) as u64
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.n
    }
    /// Number of features.
    pub fn n_features(&self) -> usize {
        self.p
    }
    /// Number of stored values.
    pub fn stored(&self) -> usize {
        self.values.len()
    }
    /// Whether zeros are left out.
    pub fn is_sparse(&self) -> bool {
        self.sparse.is_some()
    }
    /// All values of a dense matrix, row after row.
    pub fn dense_values(&self) -> Option<&[f64]> {
        self.sparse.is_none().then_some(&self.values[..])
    }

    /// Row starts (n + 1), column indices and values of a sparse matrix.
    pub fn csr(&self) -> Option<(&[usize], &[u32], &[f64])> {
        self.sparse.as_ref().map(|s| (&s.start[..], &s.columns[..], &self.values[..]))
    }

    /// The row starts, column indices and values of a sparse matrix, whose memory is used again.
    pub fn into_csr(self) -> Option<(Vec<usize>, Vec<u32>, Vec<f64>)> {
        let Pattern { start, columns } = self.sparse?;
        Some((start, columns, self.values))
    }

    /// Divides each column by its divisor (length p, none 0).
    #[must_use]
    pub fn divided(mut self, divisors: &[f64]) -> Self {
        assert_eq!(divisors.len(), self.p, "one divisor per column");
        match &self.sparse {
            None => {
                for row in self.values.chunks_exact_mut(self.p.max(1)) {
                    row.iter_mut().zip(divisors).for_each(|(x, d)| *x /= d);
                }
            }
            Some(Pattern { columns, .. }) => {
                let each = self.values.par_iter_mut().zip(columns).with_min_len(BLOCK);
                each.for_each(|(x, &j)| *x /= divisors[j as usize]);
            }
        }
        self
    }

    /// Takes a constant off the stored values of each column (length p).
    #[must_use]
    pub fn less(mut self, constants: &[f64]) -> Self {
        match &self.sparse {
            None => {
                for row in self.values.chunks_exact_mut(self.p.max(1)) {
                    row.iter_mut().zip(constants).for_each(|(x, c)| *x -= c);
                }
            }
            Some(Pattern { columns, .. }) => {
                self.values.iter_mut().zip(columns).for_each(|(x, &j)| *x -= constants[j as usize]);
            }
        }
        self
    }

    /// Appends the columns of `other`, of as many samples, dense or sparse alike; a matrix without
    /// columns becomes `other`. In place: rows move from the last on.
    ///
    /// # Panics
    /// When the two do not fit together.
    pub fn append(&mut self, other: RowMatrix) {
        assert_eq!(self.n, other.n, "one row of each for a sample");
        if self.p == 0 {
            *self = other;
            return;
        }
        let before = self.p;
        self.p += other.p;
        match (&mut self.sparse, &other.sparse) {
            (None, None) => {
                self.values.reserve_exact(other.values.len());
                self.values.resize(self.n * self.p, 0.0);
                for i in (0..self.n).rev() {
                    let (to, end) = (i * self.p, (i + 1) * self.p);
                    self.values.copy_within(i * before..(i + 1) * before, to);
                    self.values[to + before..end].copy_from_slice(&other.values[i * other.p..(i + 1) * other.p]);
                }
            }
            (Some(ours), Some(theirs)) => {
                // Room for more than that, so that the values need not move each time.
                let stored = self.values.len() + other.values.len();
                self.values.resize(stored, 0.0);
                ours.columns.resize(stored, 0);
                let from = ours.start.clone();
                ours.start.iter_mut().zip(&theirs.start).for_each(|(start, added)| *start += added);
                let (to, added) = (&ours.start, &theirs.start);
                let mut left = self.n;
                // Rows whose new places lie behind all that have yet to move: by several threads.
                loop {
                    let end = from[left];
                    let first = to[..left].partition_point(|&to| to < end);
                    if end - from[first] < BLOCK {
                        break;
                    }
                    let (values, new_values) = self.values.split_at_mut(end);
                    let (columns, new_columns) = ours.columns.split_at_mut(end);
                    let new = to[first] - end..to[left] - end;
                    let (columns, values) = (&*columns, &*values);
                    let block = (left - first).div_ceil(((end - from[first]) / BLOCK).min(BLOCKS));
                    let places = &to[first..=left];
                    in_blocks(places, block, &mut new_columns[new.clone()], &mut new_values[new], |rows, c, v| {
                        let mut at = 0;
                        for i in rows.start + first..rows.end + first {
                            let (old, more) = (from[i]..from[i + 1], added[i]..added[i + 1]);
                            let (middle, end) = (at + old.len(), at + old.len() + more.len());
                            v[at..middle].copy_from_slice(&values[old.clone()]);
                            v[middle..end].copy_from_slice(&other.values[more.clone()]);
                            c[at..middle].copy_from_slice(&columns[old]);
                            copy_columns(&theirs.columns[more], before, &mut c[middle..end]);
                            at = end;
                        }
                    });
                    left = first;
                }
                for i in (0..left).rev() {
                    let (old, more) = (from[i]..from[i + 1], added[i]..added[i + 1]);
                    let (middle, end) = (to[i] + old.len(), to[i + 1]);
                    self.values.copy_within(old.clone(), to[i]);
                    self.values[middle..end].copy_from_slice(&other.values[more.clone()]);
                    ours.columns.copy_within(old, to[i]);
                    copy_columns(&theirs.columns[more], before, &mut ours.columns[middle..end]);
                }
            }
            _ => panic!("dense columns cannot be appended to sparse ones, nor sparse to dense"),
        }
    }

    /// Column-major copy.
    pub fn design(&self) -> Box<dyn Design> {
        match &self.sparse {
            None => {
                let values = (0..self.p).flat_map(|j| (0..self.n).map(move |i| self.values[i * self.p + j]));
                Box::new(DenseDesign::new(self.n, self.p, values.collect::<Vec<f64>>()).expect("n p values"))
            }
            Some(Pattern { columns, .. }) => {
                let mut start = vec![0usize; self.p + 1];
                for &j in columns {
                    start[j as usize + 1] += 1;
                }
                for j in 0..self.p {
                    start[j + 1] += start[j];
                }
                let (mut rows, mut values) = (vec![0u32; columns.len()], vec![0.0; columns.len()]);
                let mut next = start.clone();
                for i in 0..self.n {
                    let Row::Sparse(columns, row) = self.row(i) else {
                        unreachable!("a sparse matrix has sparse rows")
                    };
                    for (&j, &x) in columns.iter().zip(row) {
                        let slot = &mut next[j as usize];
                        (rows[*slot], values[*slot]) = (i as u32, x);
                        *slot += 1;
                    }
                }
                Box::new(SparseDesign::new(self.n, start, rows, values).expect("rows in order"))
            }
        }
    }

    /// Copy of some columns: column k is `columns[k]`.
    #[must_use]
    pub fn columns(&self, columns: &[usize]) -> RowMatrix {
        let Some(Pattern { start, columns: all }) = &self.sparse else {
            let values = (0..self.n).flat_map(|i| columns.iter().map(move |&j| self.values[i * self.p + j]));
            return Self::dense(self.n, columns.len(), values.collect());
        };
        let mut place = vec![ELSEWHERE; self.p];
        columns.iter().enumerate().for_each(|(k, &j)| place[j] = k as u32);
        let block = self.block();
        let mut own_start = vec![0usize; self.n + 1];
        of_samples(block, &mut own_start[1..], |samples, counts| {
            for (i, count) in samples.zip(counts) {
                *count = all[start[i]..start[i + 1]].iter().filter(|&&j| place[j as usize] != ELSEWHERE).count();
            }
        });
        for i in 0..self.n {
            own_start[i + 1] += own_start[i];
        }
        let stored = own_start[self.n];
        let (mut own_columns, mut values) = (vec![0u32; stored], vec![0.0; stored]);
        in_blocks(&own_start, block, &mut own_columns, &mut values, |samples, own_columns, values| {
            let (mut at, mut row) = (0, Vec::new());
            for i in samples {
                row.clear();
                self.row(i).each(|j, x| row.push((place[j], x)));
                row.retain(|(k, _)| *k != ELSEWHERE);
                row.sort_unstable_by_key(|(k, _)| *k);
                for &(k, x) in &row {
                    (own_columns[at], values[at]) = (k, x);
                    at += 1;
                }
            }
        });
        Self::sparse(columns.len(), own_start, own_columns, values)
    }

    /// [`Rows::columns_at`] of this matrix.
    #[must_use]
    pub fn columns_at(&self, columns: &[usize], samples: &[usize], factor: &[f64], last: Option<f64>) -> RowMatrix {
        Rows::from(self).columns_at(columns, samples, factor, last)
    }

    /// Copy of these rows.
    #[must_use]
    pub fn chosen(&self, rows: &[usize]) -> RowMatrix {
        let (mut start, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for &i in rows {
            match self.row(i) {
                Row::Dense(x) => values.extend_from_slice(x),
                Row::Sparse(own, x) => {
                    columns.extend_from_slice(own);
                    values.extend_from_slice(x);
                }
            }
            start.push(values.len());
        }
        match self.sparse {
            None => RowMatrix::dense(rows.len(), self.p, values),
            Some(_) => RowMatrix::sparse(self.p, start, columns, values),
        }
    }

    /// With the rows of `other` behind its own: as many columns, dense or sparse alike.
    #[must_use]
    pub(crate) fn followed_by(mut self, other: &RowMatrix) -> RowMatrix {
        assert_eq!(self.p, other.p, "as many columns in both");
        if let (Some(ours), Some(theirs)) = (&mut self.sparse, &other.sparse) {
            let before = self.values.len();
            ours.start.extend(theirs.start[1..].iter().map(|start| before + start));
            ours.columns.extend_from_slice(&theirs.columns);
        }
        self.n += other.n;
        self.values.extend_from_slice(&other.values);
        self
    }

    /// Row j: column j; sparse.
    #[must_use]
    pub fn transposed(&self) -> RowMatrix {
        let all = |count: usize| (0..count).collect::<Vec<usize>>();
        self.columns_at(&all(self.p), &all(self.n), &vec![1.0; self.n], None)
    }

    /// Rows that a thread works on at a time. Blocks depend on the shape alone, so that no sum over
    /// them depends on the number of threads.
    pub fn block(&self) -> usize {
        block_of(self.n, self.p, self.stored())
    }

    /// sum_i beta_i x_i (length p): the weights of a linear machine.
    pub fn combination(&self, beta: &[f64]) -> Vec<f64> {
        let block = self.block();
        let of_block = |(at, beta): (usize, &[f64])| {
            let mut w = vec![0.0; self.p];
            for (i, &b) in beta.iter().enumerate().filter(|(_, b)| **b != 0.0) {
                self.row(at * block + i).add_to(b, &mut w);
            }
            w
        };
        if block >= self.n {
            return of_block((0, beta));
        }
        let blocks: Vec<Vec<f64>> = beta.par_chunks(block).enumerate().map(of_block).collect();
        let mut w = vec![0.0; self.p];
        for of_block in &blocks {
            simd::axpy(1.0, of_block, &mut w);
        }
        w
    }

    /// out_i = x_i . w + offset
    pub fn scores(&self, w: &[f64], offset: f64, out: &mut [f64]) {
        of_samples(self.block(), out, |samples, out| {
            samples.zip(out).for_each(|(i, out)| *out = self.row(i).dot(w) + offset);
        });
    }

    /// Sample i.
    #[inline]
    pub fn row(&self, i: usize) -> Row<'_> {
        match &self.sparse {
            None => Row::Dense(&self.values[i * self.p..(i + 1) * self.p]),
            Some(Pattern { start, columns }) => {
                let range = start[i]..start[i + 1];
                Row::Sparse(&columns[range.clone()], &self.values[range])
            }
        }
    }
}

/// Copies columns of a matrix that stands behind `before` others.
fn copy_columns(columns: &[u32], before: usize, out: &mut [u32]) {
    out.iter_mut().zip(columns).for_each(|(out, &j)| *out = before as u32 + j);
}

impl Row<'_> {
    /// x_i . w
    #[inline]
    pub fn dot(self, w: &[f64]) -> f64 {
        match self {
            Row::Dense(x) => simd::dot(x, w),
            Row::Sparse(columns, values) => {
                // Four sums, so that one addition need not wait for the last.
                let (columns, last_columns) = columns.as_chunks::<4>();
                let (values, last_values) = values.as_chunks::<4>();
                let mut sums = [0.0; 4];
                for (columns, values) in columns.iter().zip(values) {
                    for l in 0..4 {
                        sums[l] += values[l] * w[columns[l] as usize];
                    }
                }
                let rest: f64 = last_columns.iter().zip(last_values).map(|(&j, &x)| x * w[j as usize]).sum();
                (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
            }
        }
    }

    /// w += s x_i
    #[inline]
    pub fn add_to(self, s: f64, w: &mut [f64]) {
        match self {
            Row::Dense(x) => simd::axpy(s, x, w),
            Row::Sparse(columns, values) => {
                for (&j, &x) in columns.iter().zip(values) {
                    w[j as usize] += s * x;
                }
            }
        }
    }

    /// Calls `f` with the place of each value that is not 0, ascending, and the value.
    #[inline]
    pub fn each(self, mut f: impl FnMut(usize, f64)) {
        match self {
            Row::Dense(x) => x.iter().enumerate().filter(|(_, x)| **x != 0.0).for_each(|(j, &x)| f(j, x)),
            Row::Sparse(columns, x) => columns.iter().zip(x).for_each(|(&j, &x)| f(j as usize, x)),
        }
    }

    /// ||x_i||^2
    pub fn squared_norm(self) -> f64 {
        match self {
            Row::Dense(values) | Row::Sparse(_, values) => simd::dot(values, values),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Design, RowMatrix, SparseDesign};

    /// Two columns of three have about half of the samples, the third none.
    fn drawn(n: usize, p: usize) -> SparseDesign<'static> {
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..p {
            for i in (0..n).filter(|_| j % 3 > 0) {
                if (i * i + 3 * i * j + j) % 7 < 4 {
                    rows.push(i as u32);
                    values.push(((31 * i + 17 * j) % 1001) as f64 - 500.5);
                }
            }
            start.push(rows.len());
        }
        SparseDesign::new(n, start, rows, values).expect("in order")
    }

    #[test]
    fn what_threads_share_is_what_plain_loops_give() {
        // Values for several blocks, and for one.
        for (n, p, several) in [(4000, 150, true), (40, 15, false)] {
            let x = drawn(n, p);
            let all: Vec<usize> = (0..p).collect();
            let rows = x.rows(&all);
            assert_eq!(rows.block() < n, several);
            for i in (0..n).step_by(7) {
                let stored = |j: usize| x.column(j).1[x.column(j).0.partition_point(|&r| r < i as u32)];
                rows.row(i).each(|j, value| assert_eq!(stored(j), value));
            }
            assert_eq!(rows.stored(), x.stored());
            // Columns of a copy, in any order, and columns behind others: many, and one.
            let chosen: Vec<usize> = all.iter().rev().copied().filter(|j| j % 4 != 1).collect();
            let same = |a: &RowMatrix, b: &RowMatrix| assert!(a.csr() == b.csr() && a.n_features() == b.n_features());
            let sorted: Vec<usize> = chosen.iter().rev().copied().collect();
            same(&rows.columns(&sorted), &x.rows(&sorted));
            same(&rows.columns(&chosen), &x.rows(&chosen));
            for first in [1, p / 2, p - 2] {
                let mut joined = x.rows(&all[..first]);
                joined.append(x.rows(&all[first..]));
                same(&joined, &rows);
            }
            // Integers, so that no sum is rounded.
            let v: Vec<f64> = (0..n).map(|i| (i % 5) as f64 - 2.0).collect();
            let w = rows.combination(&v);
            assert!((0..p).all(|j| w[j] == x.dot_column(j, &v)));
            let (mut scores, mut plain) = (vec![0.0; n], vec![3.0; n]);
            rows.scores(&w, 3.0, &mut scores);
            (0..p).for_each(|j| x.add_column(j, w[j], &mut plain));
            assert_eq!(scores, plain);
        }
    }
}
