//! One epoch of dual coordinate descent, compiled once per way of keeping the scores and per
//! instruction set.
//!
//! Works on alpha_i = y_i beta_i = |beta_i| as the paper does. With `f_i` the score,
//! `b = centre + gain sum beta` and `r_i` the ridge, the gradient of the (minimised) dual is, Hsieh
//! et al. eq. (9) with a bias,
//!
//! ```text
//! G_i = y_i (f_i + b) - 1 + r_i alpha_i,        Q_ii = ||x_i||^2 + gain + r_i
//! alpha_i <- min(max(alpha_i - G_i / Q_ii, 0), C_i)
//! ```

use multiversion::multiversion;

use crate::simd::total;

/// How the scores `f_i = x_i . w` are read and moved.
pub(super) trait Scores {
    /// f_i
    fn score(&self, i: usize) -> f64;
    /// Adds `step x_i` to w.
    fn advance(&mut self, i: usize, step: f64);
}

/// What the step of one sample needs, side by side so that a visit touches one cache line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coordinate {
    /// Label.
    pub(super) y: f64,
    /// alpha_i
    pub(super) alpha: f64,
    /// Largest alpha_i.
    pub(super) cap: f64,
    /// Slack cost C_i.
    pub(super) cost: f64,
    /// r_i
    pub(super) ridge: f64,
    /// 1 / Q_ii
    pub(super) inverse: f64,
}

impl Coordinate {
    /// beta_i = y_i alpha_i
    #[inline(always)]
    pub(super) fn beta(&self) -> f64 {
        self.y * self.alpha
    }
}

/// Seeded xorshift; enough to shuffle an order.
#[derive(Debug, Clone)]
pub struct Shuffle(u64);

impl Default for Shuffle {
    fn default() -> Self {
        Self::new(0x9E37_79B9_7F4A_7C15)
    }
}

impl Shuffle {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// Uniform in 0..bound, bound below 2^32.
    #[inline(always)]
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }

    /// An element of `list[at..]`, which changes places with the one at `at`: for at = 0, 1, ...
    /// all are drawn once, in random order.
    #[inline(always)]
    pub fn draw<T: Copy>(&mut self, list: &mut [T], at: usize) -> T {
        list.swap(at, at + self.below(list.len() - at));
        list[at]
    }
}

/// The point coordinate descent moves.
#[derive(Debug)]
pub(super) struct Descent {
    pub(super) coordinates: Vec<Coordinate>,
    /// Samples not shrunk, in visiting order.
    pub(super) active: Vec<u32>,
    /// sum beta
    pub(super) sum: f64,
    /// Bias at sum beta = 0.
    pub(super) centre: f64,
    /// Bias per unit of sum beta.
    pub(super) gain: f64,
    /// Shrink a sample at 0 when G_i is above this, Hsieh et al. sec. 3.2.
    pub(super) shrink_above: f64,
    /// Shrink a sample at its cap when G_i is below this.
    pub(super) shrink_below: f64,
    pub(super) shuffle: Shuffle,
}

/// What one epoch saw, each sample as it was when visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Epoch {
    /// Largest projected gradient.
    pub(super) highest: f64,
    /// Smallest projected gradient.
    pub(super) lowest: f64,
    /// Estimate of primal minus dual: exact when nothing moved.
    pub(super) gap: f64,
    /// Growth of the dual objective.
    pub(super) growth: f64,
}

/// Visits every active sample once in random order.
#[inline(always)]
fn epoch<S: Scores, const SQUARED: bool>(scores: &mut S, d: &mut Descent) -> Epoch {
    let mut epoch = Epoch { highest: f64::NEG_INFINITY, lowest: f64::INFINITY, gap: 0.0, growth: 0.0 };
    let mut at = 0;
    while at < d.active.len() {
        let i = d.shuffle.draw(&mut d.active, at) as usize;
        let Coordinate { y, alpha, cap, cost, ridge, inverse } = d.coordinates[i];
        let slack = 1.0 - y * (scores.score(i) + d.centre + d.gain * d.sum);
        let gradient = ridge * alpha - slack;

        // Primal minus dual splits over the samples: with u = 1 - y_i (f_i + b), C max(0, u) -
        // alpha u for the hinge and C max(0, u)^2 - alpha u + r alpha^2 / 2 for its square.
        let loss = cost * if SQUARED { slack.max(0.0) * slack.max(0.0) } else { slack.max(0.0) };
        epoch.gap += loss - alpha * (slack - 0.5 * ridge * alpha);

        let projected = if alpha <= 0.0 {
            if gradient > d.shrink_above {
                d.active.swap_remove(at);
                continue;
            }
            gradient.min(0.0)
        } else if alpha >= cap {
            if gradient < d.shrink_below {
                d.active.swap_remove(at);
                continue;
            }
            gradient.max(0.0)
        } else {
            gradient
        };
        epoch.highest = epoch.highest.max(projected);
        epoch.lowest = epoch.lowest.min(projected);
        if projected != 0.0 {
            let next = (alpha - gradient * inverse).clamp(0.0, cap);
            let step = next - alpha;
            if step != 0.0 {
                d.coordinates[i].alpha = next;
                d.sum += y * step;
                epoch.growth -= step * (gradient + 0.5 * step / inverse);
                scores.advance(i, y * step);
            }
        }
        at += 1;
    }
    epoch
}

#[inline(always)]
fn either<S: Scores>(scores: &mut S, d: &mut Descent, squared: bool) -> Epoch {
    if squared { epoch::<S, true>(scores, d) } else { epoch::<S, false>(scores, d) }
}

struct Dense<'a> {
    x: &'a [f64],
    w: &'a mut [f64],
}

impl Scores for Dense<'_> {
    /// As `simd::dot`, inlined: short rows are the common case
    /// here.
    #[inline(always)]
    fn score(&self, i: usize) -> f64 {
        let p = self.w.len();
        let row = &self.x[i * p..(i + 1) * p];
        let mut lanes = [0.0f64; 32];
        let (a, a_rest) = row.as_chunks::<32>();
        let (b, b_rest) = self.w.as_chunks::<32>();
        for (a, b) in a.iter().zip(b) {
            for l in 0..32 {
                lanes[l] += a[l] * b[l];
            }
        }
        let (a, a_rest) = a_rest.as_chunks::<8>();
        let (b, b_rest) = b_rest.as_chunks::<8>();
        for ((a, b), lanes) in a.iter().zip(b).zip(lanes.as_chunks_mut::<8>().0) {
            for l in 0..8 {
                lanes[l] += a[l] * b[l];
            }
        }
        let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
        rest + total(lanes)
    }

    #[inline(always)]
    fn advance(&mut self, i: usize, step: f64) {
        let p = self.w.len();
        for (w, x) in self.w.iter_mut().zip(&self.x[i * p..(i + 1) * p]) {
            *w += step * x;
        }
    }
}

struct Sparse<'a> {
    start: &'a [usize],
    columns: &'a [u32],
    values: &'a [f64],
    w: &'a mut [f64],
}

impl Scores for Sparse<'_> {
    /// Four sums side by side: one alone would wait for each addition to finish.
    #[inline(always)]
    fn score(&self, i: usize) -> f64 {
        let range = self.start[i]..self.start[i + 1];
        let (j, j_rest) = self.columns[range.clone()].as_chunks::<4>();
        let (x, x_rest) = self.values[range].as_chunks::<4>();
        let mut lanes = [0.0; 4];
        for (j, x) in j.iter().zip(x) {
            for l in 0..4 {
                lanes[l] += x[l] * self.w[j[l] as usize];
            }
        }
        let rest: f64 = j_rest.iter().zip(x_rest).map(|(&j, x)| x * self.w[j as usize]).sum();
        rest + ((lanes[0] + lanes[2]) + (lanes[1] + lanes[3]))
    }

    #[inline(always)]
    fn advance(&mut self, i: usize, step: f64) {
        let range = self.start[i]..self.start[i + 1];
        for (&j, x) in self.columns[range.clone()].iter().zip(&self.values[range]) {
            self.w[j as usize] += step * x;
        }
    }
}

/// Epoch over dense rows `x` (n x p) with weights `w` (p).
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn dense_epoch(x: &[f64], w: &mut [f64], d: &mut Descent, squared: bool) -> Epoch {
    either(&mut Dense { x, w }, d, squared)
}

/// Epoch over compressed sparse rows with weights `w` (p).
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn sparse_epoch(
    (start, columns, values): (&[usize], &[u32], &[f64]),
    w: &mut [f64],
    d: &mut Descent,
    squared: bool,
) -> Epoch {
    either(&mut Sparse { start, columns, values, w }, d, squared)
}
