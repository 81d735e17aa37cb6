//! The columns a machine may use, with the bias as one of them where it is penalised.

use rayon::prelude::*;

use crate::{Bias, Design, Interval, RowMatrix, WeightBounds};

/// Columns looked at by one thread at a time.
const CHUNK: usize = 2048;
/// Stored values of the matrix from which a pass is worth several threads.
const PARALLEL: usize = 1 << 20;

/// Position k < features.len() is feature `features[k]`; a penalised bias is the last position, a
/// constant column of its value s.
#[derive(Clone, Copy)]
pub(super) struct Columns<'a> {
    pub(super) design: &'a dyn Design,
    pub(super) features: &'a [usize],
    pub(super) bias: Bias,
    pub(super) bounds: &'a WeightBounds,
}

impl Columns<'_> {
    /// Number of positions.
    pub(super) fn len(&self) -> usize {
        self.features.len() + usize::from(self.constant().is_some())
    }

    /// The weights that a position may have.
    pub(super) fn interval(&self, position: usize) -> Interval {
        self.features.get(position).map_or(Interval::FREE, |&j| self.bounds.of(j))
    }

    /// Value of the constant column, if there is one.
    pub(super) fn constant(&self) -> Option<f64> {
        match self.bias {
            Bias::Penalised(s) => Some(s),
            Bias::Free | Bias::None => None,
        }
    }

    /// The constant column's value, where this is its position.
    fn constant_at(&self, position: usize) -> Option<f64> {
        if position == self.features.len() { self.constant() } else { None }
    }

    /// Scores x_j . v of these ascending positions.
    pub(super) fn scores(&self, positions: &[usize], v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; positions.len()];
        if self.design.stored() < PARALLEL {
            self.fill(positions, v, &mut out);
        } else {
            positions.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK)).for_each(|(p, out)| self.fill(p, v, out));
        }
        out
    }

    fn fill(&self, positions: &[usize], v: &[f64], mut out: &mut [f64]) {
        let next = |a: &usize, b: &usize| *b < self.features.len() && self.features[*a] + 1 == self.features[*b];
        for run in positions.chunk_by(next) {
            let (now, later) = out.split_at_mut(run.len());
            match self.constant_at(run[0]) {
                Some(s) => now[0] = s * v.iter().sum::<f64>(),
                None => self.design.dot_columns(self.features[run[0]], v, now),
            }
            out = later;
        }
    }

    /// out += s x_j
    pub(super) fn add(&self, position: usize, s: f64, out: &mut [f64]) {
        match self.constant_at(position) {
            Some(value) => out.iter_mut().for_each(|o| *o += s * value),
            None => self.design.add_column(self.features[position], s, out),
        }
    }

    /// A column of all samples, where it is stored that way.
    pub(super) fn dense(&self, position: usize) -> Option<&[f64]> {
        self.features.get(position).and_then(|&j| self.design.dense_column(j))
    }

    /// Calls `f(i, x_ij)` for the values of a column that are not left out.
    pub(super) fn each(&self, position: usize, f: &mut dyn FnMut(usize, f64)) {
        match self.constant_at(position) {
            Some(value) => (0..self.design.n_samples()).for_each(|i| f(i, value)),
            None => self.design.each_in_column(self.features[position], f),
        }
    }

    /// Row k: the column of positions[k] at the samples `inside` (ascending), times `factor` (one
    /// per sample inside).
    pub(super) fn gather(&self, positions: &[usize], inside: &[usize], factor: &[f64]) -> RowMatrix {
        if self.design.is_sparse() {
            let mut place = vec![u32::MAX; self.design.n_samples()];
            for (at, &i) in inside.iter().enumerate() {
                place[i] = at as u32;
            }
            let (mut start, mut samples, mut values) = (vec![0], Vec::new(), Vec::new());
            for &position in positions {
                self.each(position, &mut |i, x| {
                    let at = place[i];
                    if at != u32::MAX {
                        samples.push(at);
                        values.push(x * factor[at as usize]);
                    }
                });
                start.push(samples.len());
            }
            return RowMatrix::sparse(inside.len(), start, samples, values);
        }
        let mut values = Vec::with_capacity(positions.len() * inside.len());
        let mut column = vec![0.0; self.design.n_samples()];
        for &position in positions {
            if let Some(value) = self.constant_at(position) {
                values.extend(factor.iter().map(|f| value * f));
                continue;
            }
            let from = self.design.dense_column(self.features[position]).unwrap_or_else(|| {
                column.fill(0.0);
                self.design.add_column(self.features[position], 1.0, &mut column);
                &column
            });
            values.extend(inside.iter().zip(factor).map(|(&i, f)| from[i] * f));
        }
        RowMatrix::dense(positions.len(), inside.len(), values)
    }

    /// All samples with these ascending positions, the constant column as a bias.
    pub(super) fn rows(&self, positions: &[usize]) -> (RowMatrix, Bias) {
        let count = positions.partition_point(|&j| j < self.features.len());
        let features: Vec<usize> = positions[..count].iter().map(|&j| self.features[j]).collect();
        let bias = match self.bias {
            Bias::Penalised(_) if count == positions.len() => Bias::None,
            bias => bias,
        };
        (self.design.rows(&features), bias)
    }
}
