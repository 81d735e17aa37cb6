//! Kernel rows over the active samples of a decomposition solver: from a whole Gram matrix, or
//! computed on demand and kept in a least-recently-used cache within a memory budget.

use rayon::prelude::*;

use super::Kernel;
use super::distance::ByFeature;
use super::gemm::{View, add_product};
use super::gram::GramMatrix;
use crate::simd;
use crate::{Clock, RowMatrix};

/// The rows of the kernel matrix that a decomposition solver reads. Samples are addressed by
/// position in the active list, which starts as all samples in order; rows cover the active samples
/// in that order.
pub trait KernelRows {
    /// Type the rows are stored in; f32 is made up for by [`KernelRows::scores`], which is exact.
    type Value: Copy + Into<f64> + Send + Sync;
    /// Number of samples n.
    fn n_samples(&self) -> usize;
    /// K_ii of sample i (sample, not position).
    fn diagonal(&self, i: usize) -> f64;
    /// Rows of the active positions a and b over the active samples.
    fn pair(&mut self, a: usize, b: usize) -> (&[Self::Value], &[Self::Value]);
    /// f_i = sum_k K_ik beta_k in f64 for all samples.
    fn scores(&self, beta: &[f64]) -> Vec<f64>;
    /// [`KernelRows::scores`], or none once `clock` stops it: to compute all rows may take long.
    fn scores_until(&self, beta: &[f64], _clock: &Clock) -> Option<Vec<f64>> {
        Some(self.scores(beta))
    }
    /// Whether rows can follow a smaller active list.
    fn can_shrink(&self) -> bool;
    /// The active list becomes its positions `keep` (ascending).
    fn shrink(&mut self, keep: &[usize]);
    /// Appends samples to the active list.
    fn extend(&mut self, samples: &[usize]);
    /// The whole matrix, where there is one.
    fn whole(&self) -> Option<&GramMatrix> {
        None
    }
}

/// Rows of a whole matrix; never shrinks.
impl KernelRows for &GramMatrix {
    type Value = f64;
    fn n_samples(&self) -> usize {
        self.len()
    }
    fn diagonal(&self, i: usize) -> f64 {
        self.row(i)[i]
    }
    fn pair(&mut self, a: usize, b: usize) -> (&[f64], &[f64]) {
        (self.row(a), self.row(b))
    }
    fn scores(&self, beta: &[f64]) -> Vec<f64> {
        self.multiply(beta)
    }
    fn can_shrink(&self) -> bool {
        false
    }
    fn shrink(&mut self, _: &[usize]) {
        unreachable!("a whole matrix does not shrink");
    }
    fn extend(&mut self, _: &[usize]) {
        unreachable!("a whole matrix does not shrink");
    }
    fn whole(&self) -> Option<&GramMatrix> {
        Some(self)
    }
}

/// Tuning: chosen by hand; `make bench-train` shows what a change costs.
mod tuning {
    /// Samples whose scores are computed together.
    pub(super) const SCORE_BLOCK: usize = 64;
    /// Support vectors whose columns stay in the second cache meanwhile.
    pub(super) const SUPPORT_BLOCK: usize = 512;
    /// Matrix products are worth it up to this ratio of features to non-zeros per row; beyond, the
    /// columns of a row's non-zeros are added up.
    pub(super) const DENSE_RATIO: usize = 3;
    /// Bytes of dense support vectors a score computation may take, at most.
    pub(super) const DENSE_BYTES: usize = 256 << 20;
    /// Share of the memory allowed that they may take.
    pub(super) const DENSE_SHARE: u64 = 4;
}
use tuning::{DENSE_BYTES, DENSE_RATIO, DENSE_SHARE, SCORE_BLOCK, SUPPORT_BLOCK};

/// Kernel rows computed from the samples, cached in f32.
pub struct CachedRows<'a> {
    data: &'a RowMatrix,
    kernel: Kernel,
    /// The kernel by distances, where inner products do not give it.
    by_feature: Option<ByFeature>,
    norms: Vec<f64>,
    active: Vec<usize>,
    /// Squared norms of the active samples.
    active_norms: Vec<f64>,
    /// The active samples in f32, zeros included, feature after feature, so that a row is computed
    /// by streaming the columns of its non-zeros; empty where they are too many.
    columns: Vec<f32>,
    /// Whether they are not.
    packs: bool,
    cache: Cache,
    /// Bytes that dense support vectors may take.
    dense_bytes: usize,
}

impl<'a> CachedRows<'a> {
    /// Over all samples of `data`, with at most `memory` bytes of rows, copies of the samples
    /// included (two rows are kept whatever the budget).
    pub fn new(data: &'a RowMatrix, kernel: Kernel, memory: u64) -> Self {
        let columns: Vec<usize> = (0..data.n_features()).collect();
        Self::categorical(data, kernel, ByFeature::new(kernel, &columns, &[]), memory)
    }

    /// [`CachedRows::new`], where some columns may hold categories.
    pub fn categorical(data: &'a RowMatrix, kernel: Kernel, by_feature: Option<ByFeature>, memory: u64) -> Self {
        let n = data.n_samples();
        let norms = (0..n).map(|i| data.row(i).squared_norm()).collect();
        let whole = 4 * (n as u64) * data.n_features() as u64;
        let packs = by_feature.is_none() && (!data.is_sparse() || whole <= memory / DENSE_SHARE);
        let copies = if packs { whole } else { 0 };
        let dense_bytes = DENSE_BYTES.min((memory / DENSE_SHARE) as usize);
        let cache = Cache::new(n, memory.saturating_sub(copies + dense_bytes as u64));
        let (active, columns) = ((0..n).collect(), Vec::new());
        let mut rows = Self {
            data,
            kernel,
            by_feature,
            norms,
            active,
            active_norms: Vec::new(),
            columns,
            packs,
            cache,
            dense_bytes,
        };
        rows.pack();
        rows
    }

    /// Lays the active samples out in columns.
    fn pack(&mut self) {
        self.active_norms = self.norms_of(&self.active);
        if !self.packs {
            return;
        }
        let (m, p) = (self.active.len(), self.data.n_features());
        let Some(values) = self.data.dense_values() else {
            self.columns.clear();
            self.columns.resize(m * p, 0.0);
            for (t, &i) in self.active.iter().enumerate() {
                self.data.row(i).each(|j, x| self.columns[j * m + t] = x as f32);
            }
            return;
        };
        self.columns.resize(m * p, 0.0);
        for first in (0..m).step_by(64) {
            let last = (first + 64).min(m);
            for j in 0..p {
                for t in first..last {
                    self.columns[j * m + t] = values[self.active[t] * p + j] as f32;
                }
            }
        }
    }

    /// Makes the row of position a cover the whole active list; `pinned` is protected from
    /// eviction.
    fn fill(&mut self, a: usize, pinned: Option<usize>) {
        let sample = self.active[a];
        let have = self.cache.rows[sample].len();
        self.cache.touch(sample);
        if have < self.active.len() {
            self.cache.make_room(4 * (self.active.len() - have) as u64, [Some(sample), pinned]);
            let tail = self.values(sample, have);
            self.cache.append(sample, &tail);
        }
    }

    fn norms_of(&self, samples: &[usize]) -> Vec<f64> {
        samples.iter().map(|&i| self.norms[i]).collect()
    }

    /// k(x_sample, x_t) for the active samples t from position `from` on.
    fn values(&self, sample: usize, from: usize) -> Vec<f64> {
        let list = &self.active[from..];
        if let Some(kernel) = &self.by_feature {
            return kernel.values(&self.filled(sample), self.data, list.iter().copied());
        }
        let mut out: Vec<f64> = if self.packs {
            let (mut which, mut x) = (Vec::new(), Vec::new());
            self.data.row(sample).each(|j, value| {
                which.push(j as u32);
                x.push(value as f32);
            });
            let mut products = vec![0.0; list.len()];
            simd::products((&which, &x), &self.columns, self.active.len(), from, &mut products);
            products.into_iter().map(f64::from).collect()
        } else {
            let x = self.filled(sample);
            list.iter().map(|&t| self.data.row(t).dot(&x)).collect()
        };
        self.kernel.from_products(&mut out, self.norms[sample], &self.active_norms[from..]);
        out
    }

    /// The values of a sample, zeros among them.
    fn filled(&self, sample: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.data.n_features()];
        self.data.row(sample).add_to(1.0, &mut x);
        x
    }

    /// f_i by products with the dense matrix of support vectors.
    fn scores_by_blocks(&self, support: &[usize], beta: &[f64], clock: &Clock) -> Option<Vec<f64>> {
        let (n, p, s) = (self.data.n_samples(), self.data.n_features(), support.len());
        let dense = |list: &[usize]| {
            let mut rows = vec![0.0; list.len() * p];
            list.iter().zip(rows.chunks_mut(p)).for_each(|(&i, out)| self.data.row(i).add_to(1.0, out));
            rows
        };
        let (vectors, norms) = (dense(support), self.norms_of(support));
        let vectors = View::rows(&vectors, s, p, p).transposed();
        let mut scores = vec![0.0; n];
        let fill = |first: usize, scores: &mut [f64]| {
            let list: Vec<usize> = (first..first + scores.len()).collect();
            let samples = dense(&list);
            let mut products = vec![0.0; list.len() * s];
            add_product(&mut products, s, 1.0, View::rows(&samples, list.len(), p, p), vectors);
            for ((score, row), &i) in scores.iter_mut().zip(products.chunks_mut(s)).zip(&list) {
                self.kernel.from_products(row, self.norms[i], &norms);
                *score = simd::dot(row, beta);
            }
        };
        by_rounds(&mut scores, &fill, clock).then_some(scores)
    }

    /// f_i from the columns of the support vectors, of which each sample needs those of its
    /// non-zeros.
    fn scores_by_columns(&self, support: &[usize], beta: &[f64], clock: &Clock) -> Option<Vec<f64>> {
        let (n, p) = (self.data.n_samples(), self.data.n_features());
        let block = |list: &[usize]| {
            let (m, mut columns) = (list.len(), vec![0.0; list.len() * p]);
            for (t, &i) in list.iter().enumerate() {
                self.data.row(i).each(|j, x| columns[j * m + t] = x);
            }
            (columns, self.norms_of(list))
        };
        let blocks: Vec<(Vec<f64>, Vec<f64>)> = support.chunks(SUPPORT_BLOCK).map(block).collect();
        let mut scores = vec![0.0; n];
        let fill = |first: usize, scores: &mut [f64]| {
            let (mut which, mut x) = (Vec::new(), Vec::new());
            let mut products = vec![0.0; SUPPORT_BLOCK];
            for ((columns, norms), beta) in blocks.iter().zip(beta.chunks(SUPPORT_BLOCK)) {
                let products = &mut products[..norms.len()];
                for (k, score) in scores.iter_mut().enumerate() {
                    which.clear();
                    x.clear();
                    self.data.row(first + k).each(|j, value| {
                        which.push(j as u32);
                        x.push(value);
                    });
                    products.fill(0.0);
                    simd::products((&which, &x), columns, norms.len(), 0, products);
                    self.kernel.from_products(products, self.norms[first + k], norms);
                    *score += simd::dot(products, beta);
                }
            }
        };
        by_rounds(&mut scores, &fill, clock).then_some(scores)
    }
}

impl KernelRows for CachedRows<'_> {
    type Value = f32;
    fn n_samples(&self) -> usize {
        self.norms.len()
    }
    fn diagonal(&self, i: usize) -> f64 {
        if self.by_feature.is_some() {
            return 1.0;
        }
        let mut value = [self.norms[i]];
        self.kernel.from_products(&mut value, self.norms[i], &[self.norms[i]]);
        value[0]
    }
    fn pair(&mut self, a: usize, b: usize) -> (&[f32], &[f32]) {
        self.fill(a, None);
        self.fill(b, Some(self.active[a]));
        (&self.cache.rows[self.active[a]], &self.cache.rows[self.active[b]])
    }
    fn scores(&self, beta: &[f64]) -> Vec<f64> {
        self.scores_until(beta, &Clock::unlimited()).expect("nothing stops it")
    }
    fn scores_until(&self, beta: &[f64], clock: &Clock) -> Option<Vec<f64>> {
        let (n, p) = (self.data.n_samples(), self.data.n_features());
        let support: Vec<usize> = (0..n).filter(|&i| beta[i] != 0.0).collect();
        if self.kernel == Kernel::Linear {
            let w = self.data.combination(beta);
            return Some((0..n).map(|i| self.data.row(i).dot(&w)).collect());
        }
        if support.is_empty() {
            return Some(vec![0.0; n]);
        }
        let chosen: Vec<f64> = support.iter().map(|&i| beta[i]).collect();
        let products = self.by_feature.is_none();
        if products && 8 * support.len() * p <= self.dense_bytes {
            let dense = n * p <= DENSE_RATIO * self.data.stored();
            let by = if dense { Self::scores_by_blocks } else { Self::scores_by_columns };
            return by(self, &support, &chosen, clock);
        }
        let norms = self.norms_of(&support);
        let score = |i: usize| {
            let x = self.filled(i);
            if let Some(kernel) = &self.by_feature {
                return simd::dot(&kernel.values(&x, self.data, support.iter().copied()), &chosen);
            }
            let mut values: Vec<f64> = support.iter().map(|&s| self.data.row(s).dot(&x)).collect();
            self.kernel.from_products(&mut values, self.norms[i], &norms);
            simd::dot(&values, &chosen)
        };
        let mut scores = vec![0.0; n];
        let fill = |first: usize, scores: &mut [f64]| {
            scores.iter_mut().enumerate().for_each(|(k, out)| *out = score(first + k));
        };
        by_rounds(&mut scores, &fill, clock).then_some(scores)
    }
    fn can_shrink(&self) -> bool {
        true
    }
    fn shrink(&mut self, keep: &[usize]) {
        self.cache.shrink(keep);
        self.active = keep.iter().map(|&a| self.active[a]).collect();
        self.pack();
    }
    fn extend(&mut self, samples: &[usize]) {
        self.active.extend_from_slice(samples);
        self.pack();
    }
}

/// Fills the scores in blocks of samples, `fill` being given the first sample of each: as many at a
/// time as there are threads. False once `clock` says so.
fn by_rounds(scores: &mut [f64], fill: &(dyn Fn(usize, &mut [f64]) + Sync), clock: &Clock) -> bool {
    let round = SCORE_BLOCK * rayon::current_num_threads();
    for (at, scores) in scores.chunks_mut(round).enumerate() {
        if at > 0 && clock.stop().is_some() {
            return false;
        }
        let blocks = scores.par_chunks_mut(SCORE_BLOCK).enumerate();
        blocks.for_each(|(block, scores)| fill(at * round + block * SCORE_BLOCK, scores));
    }
    true
}

/// Least-recently-used rows by sample, as a list threaded through `next` and `previous` (index n is
/// its head).
struct Cache {
    rows: Vec<Vec<f32>>,
    next: Vec<usize>,
    previous: Vec<usize>,
    bytes: u64,
    budget: u64,
}

impl Cache {
    fn new(n: usize, budget: u64) -> Self {
        Self { rows: vec![Vec::new(); n], next: (0..=n).collect(), previous: (0..=n).collect(), bytes: 0, budget }
    }

    fn unlink(&mut self, i: usize) {
        let (before, after) = (self.previous[i], self.next[i]);
        self.next[before] = after;
        self.previous[after] = before;
        (self.next[i], self.previous[i]) = (i, i);
    }

    /// Makes i the most recently used.
    fn touch(&mut self, i: usize) {
        self.unlink(i);
        let head = self.rows.len();
        let last = self.previous[head];
        (self.next[last], self.previous[i], self.next[i], self.previous[head]) = (i, last, head, i);
    }

    fn make_room(&mut self, bytes: u64, spare: [Option<usize>; 2]) {
        let head = self.rows.len();
        let mut oldest = self.next[head];
        while self.bytes + bytes > self.budget && oldest != head {
            let following = self.next[oldest];
            if !spare.contains(&Some(oldest)) {
                self.bytes -= 4 * self.rows[oldest].len() as u64;
                self.rows[oldest] = Vec::new();
                self.unlink(oldest);
            }
            oldest = following;
        }
    }

    fn append(&mut self, i: usize, tail: &[f64]) {
        self.rows[i].reserve_exact(tail.len());
        self.rows[i].extend(tail.iter().map(|&k| k as f32));
        self.bytes += 4 * tail.len() as u64;
    }

    fn shrink(&mut self, keep: &[usize]) {
        for row in &mut self.rows {
            let known = keep.partition_point(|&a| a < row.len());
            for (to, &from) in keep[..known].iter().enumerate() {
                row[to] = row[from];
            }
            self.bytes -= 4 * (row.len() - known) as u64;
            row.truncate(known);
            row.shrink_to_fit();
        }
    }
}
