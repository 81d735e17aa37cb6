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

    /// sum_i v_i x_i^2 and sum_i v_i x_i of a column that is not dense.
    pub(super) fn weighted_sums(&self, position: usize, v: &[f64]) -> (f64, f64) {
        // Four sums of each, so that one addition need not wait for the last.
        let (mut squares, mut sums) = ([0.0; 4], [0.0; 4]);
        let mut add = |l: usize, i: usize, x: f64| {
            let share = v[i] * x;
            squares[l] += share * x;
            sums[l] += share;
        };
        if let Some(value) = self.constant_at(position) {
            (0..v.len()).for_each(|i| add(i % 4, i, value));
        } else {
            let stored = self.design.sparse_column(self.features[position], &mut |rows, x, divisor| {
                let scaled = |x: f64| if divisor == 1.0 { x } else { x / divisor };
                let ((rows, last_rows), (x, last_x)) = (rows.as_chunks::<4>(), x.as_chunks::<4>());
                for (rows, x) in rows.iter().zip(x) {
                    for l in 0..4 {
                        add(l, rows[l] as usize, scaled(x[l]));
                    }
                }
                last_rows.iter().zip(last_x).for_each(|(&i, &x)| add(0, i as usize, scaled(x)));
            });
            if !stored {
                self.design.each_in_column(self.features[position], &mut |i, x| add(i % 4, i, x));
            }
        }
        let whole = |sums: [f64; 4]| (sums[0] + sums[1]) + (sums[2] + sums[3]);
        (whole(squares), whole(sums))
    }

    /// Row k: the column of positions[k] at the samples `inside` (ascending), times `factor` (one
    /// per sample inside). In the memory of `old`, a matrix like it, where that serves.
    pub(super) fn gather(
        &self,
        positions: &[usize],
        inside: &[usize],
        factor: &[f64],
        old: Option<RowMatrix>,
    ) -> RowMatrix {
        if self.design.is_sparse() {
            return self.gather_sparse(positions, inside, factor, old);
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

    /// [`Columns::gather`] of sparse columns.
    fn gather_sparse(
        &self,
        positions: &[usize],
        inside: &[usize],
        factor: &[f64],
        old: Option<RowMatrix>,
    ) -> RowMatrix {
        let n = self.design.n_samples();
        let (mut place, mut scale) = (vec![u32::MAX; n], vec![0.0; n]);
        for (at, (&i, &factor)) in inside.iter().zip(factor).enumerate() {
            (place[i], scale[i]) = (at as u32, factor);
        }
        let (mut start, mut samples, mut values) = old.and_then(RowMatrix::into_csr).unwrap_or_default();
        start.clear();
        samples.clear();
        values.clear();
        start.push(0);
        for &position in positions {
            if let Some(value) = self.constant_at(position) {
                samples.extend(0..inside.len() as u32);
                values.extend(factor.iter().map(|f| value * f));
            } else {
                let (from, mut end) = (samples.len(), None);
                self.design.sparse_column(self.features[position], &mut |rows, x, divisor| {
                    samples.resize(from + rows.len(), 0);
                    values.resize(from + rows.len(), 0.0);
                    let (samples, values) = (&mut samples[from..], &mut values[from..]);
                    // Without a branch, as which samples are inside cannot be predicted.
                    let mut kept = 0;
                    for (&i, &x) in rows.iter().zip(x) {
                        let x = if divisor == 1.0 { x } else { x / divisor };
                        samples[kept] = place[i as usize];
                        values[kept] = x * scale[i as usize];
                        kept += usize::from(place[i as usize] != u32::MAX);
                    }
                    end = Some(from + kept);
                });
                match end {
                    Some(end) => {
                        samples.truncate(end);
                        values.truncate(end);
                    }
                    None => self.design.each_in_column(self.features[position], &mut |i, x| {
                        if place[i] != u32::MAX {
                            samples.push(place[i]);
                            values.push(x * scale[i]);
                        }
                    }),
                }
            }
            start.push(samples.len());
        }
        RowMatrix::sparse(inside.len(), start, samples, values)
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
