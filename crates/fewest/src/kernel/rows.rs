//! Kernel rows over the active samples of a decomposition solver: from a whole Gram matrix, or computed on demand and
//! kept in a least-recently-used cache within a memory budget.

use rayon::prelude::*;

use super::gram::GramMatrix;
use super::{Kernel, simd};
use crate::RowMatrix;
use crate::design::Row;

/// What a decomposition solver sees of the kernel matrix. Samples are addressed by position in the active list, which
/// starts as all samples in order; rows cover the active samples in that order.
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

/// Work (multiply-adds) above which one kernel row is shared among threads.
const PARALLEL_WORK: usize = 1 << 21;

/// Kernel rows computed from the samples, cached in f32.
pub struct CachedRows<'a> {
    data: &'a RowMatrix,
    kernel: Kernel,
    norms: Vec<f64>,
    active: Vec<usize>,
    cache: Cache,
}

impl<'a> CachedRows<'a> {
    /// Over all samples of `data`, with at most `memory` bytes of rows (two rows are kept whatever the budget).
    pub fn new(data: &'a RowMatrix, kernel: Kernel, memory: u64) -> Self {
        let n = data.n_samples();
        let norms = (0..n).map(|i| data.row(i).squared_norm()).collect();
        Self { data, kernel, norms, active: (0..n).collect(), cache: Cache::new(n, memory) }
    }

    /// Makes the row of position a cover the whole active list and protects it from eviction by the next call.
    fn fill(&mut self, a: usize, pinned: Option<usize>) {
        let sample = self.active[a];
        let have = self.cache.rows[sample].len();
        self.cache.touch(sample);
        if have < self.active.len() {
            self.cache.make_room(4 * (self.active.len() - have) as u64, [Some(sample), pinned]);
            let tail = kernel_values(self.data, &self.kernel, &self.norms, sample, &self.active[have..]);
            self.cache.append(sample, &tail);
        }
    }
}

/// k(x_sample, x_t) for the listed samples t, in f64.
fn kernel_values(data: &RowMatrix, kernel: &Kernel, norms: &[f64], sample: usize, list: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; list.len()];
    let scattered = match data.row(sample) {
        Row::Dense(_) => Vec::new(),
        row @ Row::Sparse(..) => {
            let mut x = vec![0.0; data.n_features()];
            row.add_to(1.0, &mut x);
            x
        }
    };
    let x = match data.row(sample) {
        Row::Dense(x) => x,
        Row::Sparse(..) => &scattered[..],
    };
    let part = |first: usize, out: &mut [f64]| {
        let list = &list[first..first + out.len()];
        for (value, &t) in out.iter_mut().zip(list) {
            *value = data.row(t).dot(x);
        }
        kernel.from_products(out, norms[sample], |k| norms[list[k]]);
    };
    let work = data.stored() / data.n_samples().max(1) * list.len();
    if work > PARALLEL_WORK && rayon::current_num_threads() > 1 {
        let chunk = 1024;
        out.par_chunks_mut(chunk).enumerate().for_each(|(at, out)| part(at * chunk, out));
    } else {
        part(0, &mut out);
    }
    out
}

impl KernelRows for CachedRows<'_> {
    type Value = f32;
    fn n_samples(&self) -> usize {
        self.norms.len()
    }
    fn diagonal(&self, i: usize) -> f64 {
        let mut value = [self.norms[i]];
        self.kernel.from_products(&mut value, self.norms[i], |_| self.norms[i]);
        value[0]
    }
    fn pair(&mut self, a: usize, b: usize) -> (&[f32], &[f32]) {
        self.fill(a, None);
        self.fill(b, Some(self.active[a]));
        (&self.cache.rows[self.active[a]], &self.cache.rows[self.active[b]])
    }
    fn scores(&self, beta: &[f64]) -> Vec<f64> {
        let support: Vec<usize> = (0..beta.len()).filter(|&i| beta[i] != 0.0).collect();
        if self.kernel == Kernel::Linear {
            let mut w = vec![0.0; self.data.n_features()];
            for &i in &support {
                self.data.row(i).add_to(beta[i], &mut w);
            }
            return (0..beta.len()).map(|i| self.data.row(i).dot(&w)).collect();
        }
        let chosen: Vec<f64> = support.iter().map(|&i| beta[i]).collect();
        let score = |i: usize| simd::dot(&kernel_values(self.data, &self.kernel, &self.norms, i, &support), &chosen);
        (0..beta.len()).into_par_iter().map(score).collect()
    }
    fn can_shrink(&self) -> bool {
        true
    }
    fn shrink(&mut self, keep: &[usize]) {
        self.cache.shrink(keep);
        self.active = keep.iter().map(|&a| self.active[a]).collect();
    }
    fn extend(&mut self, samples: &[usize]) {
        self.active.extend_from_slice(samples);
    }
}

/// Least-recently-used rows by sample, as a list threaded through `next` and `previous` (index n is its head).
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
