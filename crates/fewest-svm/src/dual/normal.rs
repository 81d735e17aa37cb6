//! The normal matrix `H = R + sum_i d_i x_i x_i'` of few features, and its Cholesky factor.
//!
//! x_i carries the bias as a last constant feature: its value s and R = 1 there when penalised,
//! value 1 and R = 0 when free.

use std::ops::Range;

use rayon::prelude::*;

use super::Bias;
use crate::design::{Row, Rows};
use crate::kernel::cholesky::Factor;
use crate::kernel::outer::{OuterSum, TILE};
use crate::{Clock, RowMatrix, Status};

/// Rows with more than this share of non-zeros are added as dense rows: tiles are that much faster
/// than scattering.
const DENSE_SHARE: f64 = 0.3;
/// Side of the squares in which a matrix is mirrored.
const SQUARE: usize = 32;
/// Rows added between two checks of the clock.
const CHECK_EVERY: usize = 64;
/// Fewest products of sparse rows for which several threads pay.
const PARALLEL: f64 = (1 << 18) as f64;
/// Products of sparse rows between two checks of the clock: some milliseconds.
const AT_ONCE: f64 = (1 << 24) as f64;

/// Nanoseconds per stored value of a sweep over dense and sparse columns, per column, and per
/// product and entry of a matrix: only their proportions count.
mod nanoseconds {
    pub(super) const DENSE: f64 = 0.15;
    pub(super) const SPARSE: f64 = 1.2;
    pub(super) const VISIT: f64 = 8.0;
    pub(super) const PRODUCT: f64 = 0.06;
    pub(super) const ENTRY: f64 = 3.0;
}

/// Estimated nanoseconds of a sweep of coordinate steps over the columns, and of a Newton step on
/// them. `stored` is the number of their values where they are sparse.
pub fn prices(columns: usize, samples: usize, stored: Option<usize>) -> (f64, f64) {
    use nanoseconds::{DENSE, ENTRY, PRODUCT, SPARSE, VISIT};
    let (s, m) = (columns as f64, samples as f64);
    let factor = s * s * (s * PRODUCT / 3.0 + ENTRY);
    match stored.map(|stored| stored as f64) {
        None => (s * (m * DENSE + VISIT), factor + m * s * (0.5 * s * PRODUCT + ENTRY)),
        Some(stored) => (stored * SPARSE + s * VISIT, factor + stored * (0.5 * stored / m * SPARSE + ENTRY)),
    }
}

/// Rows with the bias as a constant last feature of value `last`.
#[derive(Debug, Clone, Copy)]
pub struct Extended<'a> {
    rows: Rows<'a>,
    /// Value of the constant feature.
    pub last: f64,
    /// Whether there is one.
    biased: bool,
    /// R of the constant feature.
    pub last_penalty: f64,
}

/// What is added to the Hessian for the bias: its penalty, and where it is free so little beside the
/// samples that hold it that it can still move where none does.
pub fn anchored(penalty: f64, held: f64) -> f64 {
    penalty.max(1e-8 * if held > 0.0 { held.min(1.0) } else { 1.0 })
}

impl<'a> Extended<'a> {
    pub fn new(rows: impl Into<Rows<'a>>, bias: Bias) -> Self {
        let (last, biased, last_penalty) = match bias {
            Bias::Free => (1.0, true, 0.0),
            Bias::Penalised(s) => (s, true, 1.0),
            Bias::None => (0.0, false, 0.0),
        };
        Self { rows: rows.into(), last, biased, last_penalty }
    }

    /// Whether the bias is not penalised.
    pub fn is_free(&self) -> bool {
        self.biased && self.last_penalty == 0.0
    }

    /// Number of features, the constant one included.
    pub fn width(&self) -> usize {
        self.rows.n_features() + usize::from(self.biased)
    }

    /// out_i = x_i . v
    pub fn scores(&self, v: &[f64], out: &mut [f64]) {
        let (w, bias) = v.split_at(self.rows.n_features());
        let offset = bias.first().map_or(0.0, |b| b * self.last);
        self.rows.scores(w, offset, out);
    }

    /// sum_i beta_i x_i
    pub fn weights(&self, beta: &[f64]) -> Vec<f64> {
        let mut w = self.rows.combination(beta);
        if self.biased {
            w.push(self.last * beta.iter().sum::<f64>());
        }
        w
    }

    /// Row k: feature `features[k]`, after these the constant one, at the samples `inside`
    /// (ascending), times `factor` (one for each).
    pub fn columns_at(&self, features: &[usize], inside: &[usize], factor: &[f64]) -> RowMatrix {
        self.rows.columns_at(features, inside, factor, self.biased.then_some(self.last))
    }

    /// out += sum over these samples of `a_i x_i`, the bias included.
    pub(super) fn add_rows(&self, samples: &[usize], a: &[f64], out: &mut [f64]) {
        let (w, bias) = out.split_at_mut(self.rows.n_features());
        self.rows.add_rows(samples, a, w);
        if let Some(bias) = bias.first_mut().filter(|_| self.biased) {
            *bias += self.last * a.iter().sum::<f64>();
        }
    }

    /// x_i, the bias included.
    pub(super) fn row(&self, i: usize) -> Vec<f64> {
        let mut out = vec![0.0; self.width()];
        self.rows.row(i).add_to(1.0, &mut out[..self.rows.n_features()]);
        if self.biased {
            out[self.rows.n_features()] = self.last;
        }
        out
    }

    /// R v
    pub fn penalised(&self, v: &[f64]) -> Vec<f64> {
        let mut out = v.to_vec();
        if let Some(b) = out.get_mut(self.rows.n_features()) {
            *b *= self.last_penalty;
        }
        out
    }
}

/// H under construction.
#[derive(Debug)]
pub struct Normal<'a> {
    x: Extended<'a>,
    m: usize,
    sum: OuterSum,
    /// Lower triangle of the sparse rows' part, m x m; empty when rows are added as dense ones.
    scattered: Vec<f64>,
    buffer: Vec<f64>,
    /// Dense rows added so far.
    added: usize,
}

impl<'a> Normal<'a> {
    pub fn new(x: Extended<'a>) -> Self {
        let m = x.width();
        let (n, p) = (x.rows.n_samples(), x.rows.n_features());
        let scatter = x.rows.is_sparse() && (x.rows.stored() as f64) < DENSE_SHARE * n as f64 * p as f64;
        Self {
            x,
            m,
            sum: OuterSum::new(m),
            scattered: if scatter { vec![0.0; m * m] } else { Vec::new() },
            buffer: vec![0.0; p],
            added: 0,
        }
    }

    /// H of these samples, `known` that of fewer columns, the first of these: what
    /// [`Normal::into_sparse`] left.
    pub fn grown(x: Extended<'a>, known: &[f64], weighted: &[(usize, f64)]) -> Self {
        let mut grown = Self::new(x);
        if known.is_empty() || grown.scattered.is_empty() {
            grown.add(weighted.iter().copied());
            return grown;
        }
        // The bias stays last: its row is made again.
        let (m, before) = (grown.m, known.len().isqrt());
        let columns = before - usize::from(x.biased);
        for (i, row) in known.chunks(before).take(columns).enumerate() {
            grown.scattered[i * m..][..=i].copy_from_slice(&row[..=i]);
        }
        grown.scatter_until(weighted, columns, &Clock::unlimited()).expect("nothing stops it");
        grown
    }

    /// H - R of sparse rows, the lower triangle of m x m; nothing where rows are added as dense ones.
    pub fn into_sparse(self) -> Vec<f64> {
        self.scattered
    }

    /// H = R
    pub fn clear(&mut self) {
        self.sum.clear();
        self.scattered.fill(0.0);
    }

    /// H - R multiplied by `factor`.
    pub fn scale(&mut self, factor: f64) {
        self.sum.scale(factor);
        for value in &mut self.scattered {
            *value *= factor;
        }
    }

    /// H += d x_i x_i' for each (i, d) given.
    pub fn add(&mut self, weighted: impl Iterator<Item = (usize, f64)>) {
        let whole = self.add_until(weighted, &Clock::unlimited());
        debug_assert!(whole.is_ok());
    }

    /// [`Normal::add`], unless `clock` stops it: then H is invalid.
    pub(crate) fn add_until(
        &mut self,
        weighted: impl Iterator<Item = (usize, f64)>,
        clock: &Clock,
    ) -> Result<(), Status> {
        if !self.scattered.is_empty() {
            return self.scatter_until(&weighted.collect::<Vec<_>>(), 0, clock);
        }
        let mut negative = Vec::new();
        for (i, d) in weighted {
            if d < 0.0 {
                negative.push((i, d));
            } else {
                self.add_dense(i, d, clock)?;
            }
        }
        negative.into_iter().try_for_each(|(i, d)| self.add_dense(i, d, clock))?;
        Ok(())
    }

    /// H += d x_i x_i', x_i as a dense row.
    fn add_dense(&mut self, i: usize, d: f64, clock: &Clock) -> Result<(), Status> {
        self.added += 1;
        if self.added.is_multiple_of(CHECK_EVERY) {
            clock.stop().map_or(Ok(()), Err)?;
        }
        let x = match self.x.rows.row(i) {
            Row::Dense(x) => x,
            Row::Sparse(columns, values) => {
                self.buffer.fill(0.0);
                for (&j, &x) in columns.iter().zip(values) {
                    self.buffer[j as usize] = x;
                }
                &self.buffer
            }
        };
        let scale = d.abs().sqrt();
        if d < 0.0 {
            self.sum.subtract(x, scale, self.x.last);
        } else {
            self.sum.add(x, scale, self.x.last);
        }
        Ok(())
    }

    /// [`Normal::add_until`] of sparse rows, to the rows of H from `first` on. Threads share these:
    /// whatever their number, an entry is summed by one of them, in order of the samples.
    fn scatter_until(&mut self, weighted: &[(usize, f64)], first: usize, clock: &Clock) -> Result<(), Status> {
        let (rows, m, last) = (self.x.rows, self.m, self.x.biased.then_some(self.x.last));
        let of_row = (rows.stored() as f64 / rows.n_samples() as f64).powi(2).max(1.0);
        for weighted in weighted.chunks(CHECK_EVERY.max((AT_ONCE / of_row) as usize)) {
            clock.stop().map_or(Ok(()), Err)?;
            let is_large = weighted.len() as f64 * of_row >= PARALLEL;
            let threads = if is_large { rayon::current_num_threads() } else { 1 };
            let ends = if threads == 1 { vec![m] } else { self.shares(weighted, first, threads) };
            let (mut rest, mut from, mut strips) = (&mut self.scattered[first * m..], first, Vec::new());
            for end in ends {
                let own;
                (own, rest) = rest.split_at_mut((end - from) * m);
                strips.push((from..end, own));
                from = end;
            }
            let add = |(strip, out): (Range<usize>, &mut [f64])| {
                for &(i, d) in weighted {
                    if let Row::Sparse(columns, values) = rows.row(i) {
                        scatter_strip(columns, values, d, last, m, &strip, out);
                    }
                }
            };
            if threads == 1 {
                strips.into_iter().for_each(add);
            } else {
                strips.into_par_iter().for_each(add);
            }
        }
        Ok(())
    }

    /// Ends of that many strips of the rows of H from `first` on, which take about the same time to
    /// add these samples to.
    fn shares(&self, weighted: &[(usize, f64)], first: usize, strips: usize) -> Vec<usize> {
        let mut products = vec![1; self.m];
        for &(i, _) in weighted.iter().step_by(CHECK_EVERY) {
            if let Row::Sparse(columns, _) = self.x.rows.row(i) {
                columns.iter().enumerate().for_each(|(a, &j)| products[j as usize] += a + 1);
            }
        }
        let all: usize = products[first..].iter().sum();
        let (mut ends, mut sum) = (Vec::new(), 0);
        for (j, products) in products.iter().enumerate().skip(first) {
            sum += products;
            if sum * strips >= (ends.len() + 1) * all {
                ends.push(j + 1);
            }
        }
        ends
    }

    /// An entry of the diagonal of H - R.
    fn entry(&mut self, i: usize) -> f64 {
        let (s, m) = (i / TILE, self.m);
        let scattered = self.scattered.get(i * m + i).copied().unwrap_or(0.0);
        scattered + self.sum.tiles().get(s * (s + 1) / 2 + s).map_or(0.0, |tile| tile[i % TILE][i % TILE])
    }

    /// Where all rows are sparse: makes the upper triangle of H - R that of the lower, in its place;
    /// whether they are.
    pub fn mirror(&mut self) -> bool {
        let m = self.m;
        if self.scattered.is_empty() {
            return false;
        }
        // Square by square, so that both halves of a square stay in the cache.
        for top in (0..m).step_by(SQUARE) {
            for left in (0..=top).step_by(SQUARE) {
                for i in top..(top + SQUARE).min(m) {
                    for j in left..(left + SQUARE).min(i) {
                        self.scattered[j * m + i] = self.scattered[i * m + j];
                    }
                }
            }
        }
        true
    }

    /// H - R, all m x m entries, after [`Normal::mirror`] where all rows are sparse; else none.
    pub fn symmetric(&self) -> Option<&[f64]> {
        (!self.scattered.is_empty()).then_some(&self.scattered[..])
    }

    /// H - R, all m x m entries, into `out`.
    pub fn gram(&mut self, out: &mut Vec<f64>) {
        let m = self.m;
        out.resize(m * m, 0.0);
        if self.scattered.is_empty() {
            let tiles = self.sum.tiles();
            for i in 0..m {
                for j in 0..=i {
                    let (s, t) = (i / TILE, j / TILE);
                    let value = tiles[s * (s + 1) / 2 + t][i % TILE][j % TILE];
                    out[i * m + j] = value;
                    out[j * m + i] = value;
                }
            }
            return;
        }
        // All rows are sparse. Square by square, so that both halves of a square stay in the cache.
        for top in (0..m).step_by(SQUARE) {
            let rows = top..(top + SQUARE).min(m);
            for left in (0..=top).step_by(SQUARE) {
                for i in rows.clone() {
                    for j in left..(left + SQUARE).min(i + 1) {
                        let value = self.scattered[i * m + j];
                        out[i * m + j] = value;
                        out[j * m + i] = value;
                    }
                }
            }
        }
    }

    /// L with L L' = H, unless `clock` stops it.
    pub(crate) fn factor_until(&mut self, out: &mut Factor, clock: &Clock) -> Result<(), Status> {
        let m = self.m;
        out.load(self.sum.tiles());
        if !self.scattered.is_empty() {
            for i in 0..m {
                for j in 0..=i {
                    out.add(i, j, self.scattered[i * m + j]);
                }
            }
        }
        let penalised = m - usize::from(self.x.biased);
        for i in 0..m {
            let held = self.entry(i);
            out.add(i, i, if i < penalised { 1.0 } else { anchored(self.x.last_penalty, held) });
        }
        out.decompose_until(clock)
    }
}

/// Adds the lower triangle of `d x x'` for one sparse row, `last` appended, to m x m values.
pub(super) fn scatter(columns: &[u32], values: &[f64], d: f64, last: Option<f64>, m: usize, out: &mut [f64]) {
    scatter_strip(columns, values, d, last, m, &(0..m), out);
}

/// [`scatter`], to this strip of rows alone.
#[inline]
fn scatter_strip(
    columns: &[u32],
    values: &[f64],
    d: f64,
    last: Option<f64>,
    m: usize,
    strip: &Range<usize>,
    out: &mut [f64],
) {
    let from = if strip.start == 0 { 0 } else { columns.partition_point(|&j| (j as usize) < strip.start) };
    let to = if strip.end == m { columns.len() } else { columns.partition_point(|&j| (j as usize) < strip.end) };
    for a in from..to {
        let j = columns[a] as usize;
        let row = &mut out[(j - strip.start) * m..][..=j];
        let scaled = d * values[a];
        for (&k, &z) in columns[..=a].iter().zip(&values[..=a]) {
            row[k as usize] += scaled * z;
        }
    }
    if let Some(last) = last.filter(|_| strip.end == m) {
        let row = &mut out[(m - 1 - strip.start) * m..][..m];
        for (&k, &z) in columns.iter().zip(values) {
            row[k as usize] += d * last * z;
        }
        row[m - 1] += d * last * last;
    }
}
