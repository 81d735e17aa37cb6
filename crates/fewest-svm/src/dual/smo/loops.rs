//! The loops over the active samples that SMO spends its time in, compiled for AVX-512, AVX2 and
//! the baseline.
//!
//! Each lane of a vector keeps its best value and where it was found; the lanes are compared once,
//! at the end.

use multiversion::multiversion;

use crate::simd::total;

const LANES: usize = 16;

/// Least curvature along a pair, as a share of the largest of a sample (LIBSVM's TAU, which is
/// absolute): keeps steps finite for kernels that are not positive definite.
pub(super) const LEAST_CURVATURE: f64 = 1e-12;

/// The largest value of each lane and its first position, less the lane's
/// number.
struct Best {
    value: [f64; LANES],
    base: [u64; LANES],
}

impl Best {
    #[inline(always)]
    fn new() -> Self {
        Self { value: [f64::NEG_INFINITY; LANES], base: [0; LANES] }
    }

    #[inline(always)]
    fn see(&mut self, lane: usize, base: usize, value: f64) {
        let better = value > self.value[lane];
        self.value[lane] = if better { value } else { self.value[lane] };
        self.base[lane] = if better { base as u64 } else { self.base[lane] };
    }

    /// The first position of the largest value, and that value; 0 and -infinity when there is none.
    #[inline(always)]
    fn first(&self) -> (usize, f64) {
        let most = largest(&self.value);
        let mut at = u64::MAX;
        for l in 0..LANES {
            let here = if self.value[l] == most { self.base[l] + l as u64 } else { u64::MAX };
            at = if here < at { here } else { at };
        }
        (if most == f64::NEG_INFINITY { 0 } else { at as usize }, most)
    }
}

#[inline(always)]
fn largest(lanes: &[f64; LANES]) -> f64 {
    let mut most = f64::NEG_INFINITY;
    for &value in lanes {
        most = if value > most { value } else { most };
    }
    most
}

/// max v_t + grow_t and its first position.
pub(super) fn largest_growing(v: &[f64], grow: &[f64]) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (t, (v, grow)) in v.iter().zip(grow).enumerate() {
        if v + grow > best.1 {
            best = (t, v + grow);
        }
    }
    best
}

/// v -= d (row + shift)
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn update_one<T: Copy + Into<f64>>(v: &mut [f64], row: &[T], d: f64, shift: f64) {
    for (v, k) in v.iter_mut().zip(row) {
        *v -= d * (Into::<f64>::into(*k) + shift);
    }
}

/// v -= d (row_i - row_j); returns the first position of max v_t + grow_t, and that value.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn update_pair<T: Copy + Into<f64>>(
    v: &mut [f64],
    grow: &[f64],
    row_i: &[T],
    row_j: &[T],
    d: f64,
) -> (usize, f64) {
    let n = v.len();
    let (grow, row_i, row_j) = (&grow[..n], &row_i[..n], &row_j[..n]);
    let mut best = Best::new();
    let mut t = 0;
    while t + LANES <= n {
        let (v, grow, row_i, row_j) = (
            v[t..].first_chunk_mut::<LANES>().expect("whole"),
            grow[t..].first_chunk::<LANES>().expect("whole"),
            row_i[t..].first_chunk::<LANES>().expect("whole"),
            row_j[t..].first_chunk::<LANES>().expect("whole"),
        );
        for l in 0..LANES {
            v[l] -= d * (Into::<f64>::into(row_i[l]) - Into::<f64>::into(row_j[l]));
            best.see(l, t, v[l] + grow[l]);
        }
        t += LANES;
    }
    for l in 0..n - t {
        v[t + l] -= d * (Into::<f64>::into(row_i[t + l]) - Into::<f64>::into(row_j[t + l]));
        best.see(l, t, v[t + l] + grow[t + l]);
    }
    best.first()
}

/// `sum_t cost_t max(0, y_t (v_t - b)) - beta_t (v_t - b)`
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn hinge_gap(y: &[f64], cost: &[f64], beta: &[f64], v: &[f64], b: f64) -> f64 {
    let n = v.len();
    let (y, cost, beta) = (&y[..n], &cost[..n], &beta[..n]);
    let term = |t: usize| {
        let r = v[t] - b;
        let xi = if y[t] * r > 0.0 { y[t] * r } else { 0.0 };
        cost[t] * xi - beta[t] * r
    };
    let mut lanes = [0.0; LANES];
    let mut t = 0;
    while t + LANES <= n {
        for l in 0..LANES {
            lanes[l] += term(t + l);
        }
        t += LANES;
    }
    (t..n).map(term).sum::<f64>() + total(lanes)
}

pub(super) struct Partner {
    pub(super) index: usize,
    /// Negative when no position is left that could improve.
    pub(super) violation: f64,
}

/// Step 2: the position with the largest
/// `(top - v_t)^2 / max(curvature_i + curvature_t - 2 K_it, least)` among those that may shrink
/// (fall_t = 0) and lie below top, and the largest top - v_t among them.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn best_partner<T: Copy + Into<f64>>(
    v: &[f64],
    fall: &[f64],
    curvature: &[f64],
    row: &[T],
    top: f64,
    (curvature_i, least): (f64, f64),
) -> Partner {
    let n = v.len();
    let (fall, curvature, row) = (&fall[..n], &curvature[..n], &row[..n]);
    let mut gains = Gains::new(least);
    let mut t = 0;
    while t + LANES <= n {
        let (v, fall, curvature, row) = (
            v[t..].first_chunk::<LANES>().expect("whole"),
            fall[t..].first_chunk::<LANES>().expect("whole"),
            curvature[t..].first_chunk::<LANES>().expect("whole"),
            row[t..].first_chunk::<LANES>().expect("whole"),
        );
        for l in 0..LANES {
            gains.see(l, t, top - (v[l] + fall[l]), curvature_i + curvature[l] - 2.0 * Into::<f64>::into(row[l]));
        }
        t += LANES;
    }
    for l in 0..n - t {
        let curve = curvature_i + curvature[t + l] - 2.0 * Into::<f64>::into(row[t + l]);
        gains.see(l, t, top - (v[t + l] + fall[t + l]), curve);
    }
    gains.partner()
}

/// Step 1': the position with the largest `g_t^2 / K_tt`, g_t the gradient where the box lets beta
/// follow it, and the largest |g_t|.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub(super) fn best_alone(v: &[f64], grow: &[f64], fall: &[f64], curvature: &[f64], least: f64) -> Partner {
    let n = v.len();
    let (grow, fall, curvature) = (&grow[..n], &fall[..n], &curvature[..n]);
    let mut gains = Gains::new(least);
    let mut t = 0;
    while t < n {
        for l in 0..LANES.min(n - t) {
            let (up, down) = (v[t + l] + grow[t + l], -(v[t + l] + fall[t + l]));
            gains.see(l, t, if up > down { up } else { down }, curvature[t + l]);
        }
        t += LANES;
    }
    gains.partner()
}

/// The largest `b^2 / max(curve, least)` among the positions with b > 0, and the largest b.
struct Gains {
    best: Best,
    violation: [f64; LANES],
    least: f64,
}

impl Gains {
    #[inline(always)]
    fn new(least: f64) -> Self {
        Self { best: Best::new(), violation: [f64::NEG_INFINITY; LANES], least }
    }

    #[inline(always)]
    fn see(&mut self, lane: usize, base: usize, b: f64, curve: f64) {
        let curve = if curve > self.least { curve } else { self.least };
        self.best.see(lane, base, if b > 0.0 { b * b / curve } else { -1.0 });
        self.violation[lane] = if b > self.violation[lane] { b } else { self.violation[lane] };
    }

    #[inline(always)]
    fn partner(&self) -> Partner {
        Partner { index: self.best.first().0, violation: largest(&self.violation) }
    }
}
