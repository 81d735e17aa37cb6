//! Active-set method on a whole Gram matrix: exact steps over the free variables, with their
//! inverse kept up to date.
//!
//! Solves   the dual of [`super`] from a start that is nearly right (a warm start, or pair steps
//!          that have settled).
//! Paper    a primal active-set method (Nocedal, Wright 2006, section 16.5) with the inverse of
//!          incremental SVM learning (Cauwenberghs, Poggio 2000).
//! Given    Gram matrix, beta and its gradient v (see [`super::smo`]).
//! Returns  the same, improved.
//! Steps    F = variables strictly inside their box, R = (K_FF + ridge + s^2 + jitter)^-1:
//!          1. d = R (v_F - b 1), b such that sum d = 0 with a free bias, else b = 0
//!          2. beta_F += t d, v -= t K d, with t the best on the line, cut to the box; a variable
//!             that hits its bound leaves F
//!          3. if none left: the variable with the largest violation enters F, or the gap is met
//! Cost     each round O(n s + s^2) with s = |F|; building R in full O(s^3). A feature that leaves
//!          the data is a rank-one change of R, O(s^2).
//! Differs  the jitter (1e-10 of the largest K_ii + s^2) makes R exist for singular K_FF; since v
//!          and t use the true K, R only shapes the direction: along null directions the step runs
//!          into the box and a variable leaves F.

use super::free_inverse::FreeInverse;
use super::{Bias, BoxDual};
use crate::Clock;
use crate::kernel::gram::GramMatrix;
use crate::simd;

/// Tuning: chosen by hand; `make bench-train` and `make bench-rfe` show what a change costs.
mod tuning {
    /// Most free variables worth an s x s inverse.
    pub(super) const MOST_FREE: usize = 2000;

    /// Most times R is built in full in one call.
    pub(super) const MOST_BUILDS: u32 = 3;
}
use tuning::{MOST_BUILDS, MOST_FREE};

/// The free set and the inverse of its matrix, kept between trainings.
#[derive(Debug, Default)]
pub struct ActiveSet {
    free: Vec<usize>,
    /// R; empty when it must be built.
    inverse: FreeInverse,
    trained: bool,
}

/// A point of the dual: beta, its gradient v, and the dual objective.
pub struct Point<'a> {
    pub beta: &'a mut [f64],
    pub v: &'a mut [f64],
    pub value: &'a mut f64,
}

impl ActiveSet {
    /// K became K - x x' (x of length n): follows with a rank-one update of R (Sherman, Morrison).
    pub fn feature_left(&mut self, x: &[f64]) {
        if self.inverse.is_empty() {
            return;
        }
        let x: Vec<f64> = self.free.iter().map(|&i| x[i]).collect();
        if x.iter().all(|x| *x == 0.0) {
            return;
        }
        let q = self.inverse.multiply(&x);
        let pivot = 1.0 - simd::dot(&x, &q);
        if pivot > 1e-9 {
            self.inverse.add_outer(&q, 1.0 / pivot);
        } else {
            self.inverse.clear();
        }
    }

    /// Whether no training has ended with it: then a start says little about which variables will
    /// be free.
    pub(crate) fn is_new(&self) -> bool {
        !self.trained
    }

    /// A training has ended: the next one starts from its free set.
    pub fn trained(&mut self) {
        self.trained = true;
    }

    /// Forgets R: the Gram matrix was replaced.
    pub fn forget(&mut self) {
        self.inverse.clear();
    }

    /// At most `rounds` rounds of steps 1 to 3, until `settled(point, b)` says that the gap is met,
    /// or `clock` says stop; returns how many. It also ends where a further round would not help.
    pub fn improve(
        &mut self,
        gram: &GramMatrix,
        dual: &BoxDual,
        point: &mut Point<'_>,
        rounds: u64,
        settled: &mut dyn FnMut(&Point<'_>, f64) -> bool,
        clock: &Clock,
    ) -> u64 {
        let shift = dual.bias_square();
        let matrix = FreeMatrix { gram, dual, shift, jitter: 1e-10 * (largest_diagonal(gram) + shift) };
        // Where K and the bias are zero, pair steps end on the box at once.
        if matrix.jitter == 0.0 || !self.follow(&matrix, point.beta) {
            return 0;
        }
        let (mut builds, mut built_now, mut round) = (0, false, 0);
        while round < rounds && clock.stop().is_none() {
            round += 1;
            // Step 1.
            let (d, b) = self.direction(dual, point.v);
            let before = self.spread(point.v, b);
            // Step 2.
            let step = self.step(&matrix, point, &d);
            if let Some(position) = step.blocking {
                self.leave(position);
                if self.free.is_empty() {
                    return round;
                }
                continue;
            }
            let b = if dual.bias == Bias::Free { self.middle(point.v) } else { 0.0 };
            let after = self.spread(point.v, b);
            if settled(point, b) {
                return round;
            }
            if after > 1e-11 && after > 0.1 * before {
                // R no longer inverts the matrix: build it again. Where that does not help,
                // rounding has the last word.
                if built_now || builds == MOST_BUILDS || !self.build(&matrix) {
                    return round;
                }
                builds += 1;
                built_now = true;
                continue;
            }
            built_now = false;
            // Step 3: worth it only when the violation stands out from what the free variables
            // still disagree by.
            match most_violating(dual, point, b) {
                Some((i, violation)) if violation > after => {
                    if self.free.len() >= MOST_FREE {
                        return round;
                    }
                    self.enter(&matrix, i);
                }
                _ if after <= 1e-15 * (1.0 + b.abs()) => return round,
                _ => {}
            }
        }
        round
    }

    /// Makes F the set of variables strictly inside their box; false when R cannot be computed.
    fn follow(&mut self, matrix: &FreeMatrix<'_>, beta: &[f64]) -> bool {
        let dual = matrix.dual;
        let inside = |i: usize| beta[i] > dual.lower[i] && beta[i] < dual.upper[i];
        let free = (0..beta.len()).filter(|&i| inside(i)).count();
        if free == 0 || free > MOST_FREE {
            return false;
        }
        let known = self.free.iter().filter(|&&i| inside(i)).count();
        let changes = self.free.len() - known + free - known;
        if self.inverse.is_empty() || 3 * changes > free {
            self.free = (0..beta.len()).filter(|&i| inside(i)).collect();
            return self.build(matrix);
        }
        for position in (0..self.free.len()).rev() {
            if !inside(self.free[position]) {
                self.leave(position);
            }
        }
        let mut present = vec![false; beta.len()];
        self.free.iter().for_each(|&i| present[i] = true);
        for i in (0..beta.len()).filter(|&i| inside(i) && !present[i]) {
            self.enter(matrix, i);
        }
        true
    }

    fn build(&mut self, matrix: &FreeMatrix<'_>) -> bool {
        let free = &self.free;
        self.inverse.build(free.len(), 1e-4 * matrix.jitter, |r, out| {
            let row = matrix.gram.row(free[r]);
            for (entry, &k) in out.iter_mut().zip(free) {
                *entry = row[k] + matrix.shift;
            }
            out[r] = matrix.diagonal(free[r]);
        })
    }

    /// Variable i joins F.
    fn enter(&mut self, matrix: &FreeMatrix<'_>, i: usize) {
        let row = matrix.gram.row(i);
        let k: Vec<f64> = self.free.iter().map(|&f| row[f] + matrix.shift).collect();
        let q = self.inverse.multiply(&k);
        let curvature = (matrix.diagonal(i) - simd::dot(&k, &q)).max(matrix.jitter).max(f64::MIN_POSITIVE);
        self.inverse.border(&q, curvature);
        self.free.push(i);
    }

    /// The variable at this position leaves F; the last one takes its place.
    fn leave(&mut self, position: usize) {
        self.inverse.delete(position);
        self.free.swap_remove(position);
    }

    /// Step 1.
    fn direction(&self, dual: &BoxDual, v: &[f64]) -> (Vec<f64>, f64) {
        let s = self.free.len();
        let gradient: Vec<f64> = self.free.iter().map(|&i| v[i]).collect();
        if dual.bias != Bias::Free {
            return (self.inverse.multiply(&gradient), 0.0);
        }
        // Taking the mean off first keeps the digits of v_F - b.
        let mean = gradient.iter().sum::<f64>() / s as f64;
        let centred: Vec<f64> = gradient.iter().map(|g| g - mean).collect();
        let (mut d, u) = (self.inverse.multiply(&centred), self.inverse.multiply(&vec![1.0; s]));
        let shift = d.iter().sum::<f64>() / u.iter().sum::<f64>();
        simd::axpy(-shift, &u, &mut d);
        // Rounding in the sums leaves a remainder: the mean of d must be 0 for sum beta to stay.
        let drift = d.iter().sum::<f64>() / s as f64;
        for d in &mut d {
            *d -= drift;
        }
        (d, mean + shift)
    }

    /// Step 2.
    fn step(&self, matrix: &FreeMatrix<'_>, point: &mut Point<'_>, d: &[f64]) -> Step {
        let dual = matrix.dual;
        let (mut whole, mut change) = (vec![0.0; point.v.len()], Vec::new());
        self.free.iter().zip(d).for_each(|(&i, &d)| whole[i] = d);
        matrix.gram.multiply_into(&whole, &mut change);
        let shift = matrix.shift * d.iter().sum::<f64>();
        if shift != 0.0 {
            for c in &mut change {
                *c += shift;
            }
        }
        let (mut slope, mut curve) = (0.0, 0.0);
        for (&i, &d) in self.free.iter().zip(d) {
            change[i] += d * dual.ridge[i];
            slope += point.v[i] * d;
            curve += change[i] * d;
        }
        if slope.is_nan() || slope <= 0.0 {
            return Step { blocking: None };
        }
        let mut t = if curve > 0.0 { slope / curve } else { f64::INFINITY };
        let (mut blocking, mut bound) = (None, 0.0);
        for (position, (&i, &d)) in self.free.iter().zip(d).enumerate() {
            let limit = if d > 0.0 { dual.upper[i] } else { dual.lower[i] };
            if d != 0.0 && (limit - point.beta[i]) / d < t {
                t = (limit - point.beta[i]) / d;
                (blocking, bound) = (Some(position), limit);
            }
        }
        if !t.is_finite() {
            return Step { blocking: None };
        }
        for (&i, &d) in self.free.iter().zip(d) {
            point.beta[i] = (point.beta[i] + t * d).clamp(dual.lower[i], dual.upper[i]);
        }
        if let Some(position) = blocking {
            point.beta[self.free[position]] = bound;
        }
        simd::axpy(-t, &change, point.v);
        *point.value += t * (slope - 0.5 * t * curve);
        Step { blocking }
    }

    /// Largest |v_i - b| over F.
    fn spread(&self, v: &[f64], b: f64) -> f64 {
        self.free.iter().map(|&i| (v[i] - b).abs()).fold(0.0, f64::max)
    }

    /// Middle of the values v takes on F: the bias.
    fn middle(&self, v: &[f64]) -> f64 {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &i in &self.free {
            low = low.min(v[i]);
            high = high.max(v[i]);
        }
        0.5 * (low + high)
    }
}

struct Step {
    /// Position in F of the variable that hit its bound first.
    blocking: Option<usize>,
}

/// Entries of the matrix R inverts.
struct FreeMatrix<'a> {
    gram: &'a GramMatrix,
    dual: &'a BoxDual,
    shift: f64,
    jitter: f64,
}

impl FreeMatrix<'_> {
    fn diagonal(&self, i: usize) -> f64 {
        self.gram.row(i)[i] + self.shift + self.dual.ridge[i] + self.jitter
    }
}

fn largest_diagonal(gram: &GramMatrix) -> f64 {
    (0..gram.len()).map(|i| gram.row(i)[i]).fold(0.0, f64::max)
}

/// The variable at a bound whose gradient v_i - b points most into the box, and by how much.
fn most_violating(dual: &BoxDual, point: &Point<'_>, b: f64) -> Option<(usize, f64)> {
    let mut worst = None;
    let mut most = 0.0;
    for i in 0..dual.len() {
        let (beta, g) = (point.beta[i], point.v[i] - b);
        let violation = match (beta <= dual.lower[i], beta >= dual.upper[i]) {
            (true, false) => g,
            (false, true) => -g,
            _ => continue,
        };
        if violation > most {
            (worst, most) = (Some((i, violation)), violation);
        }
    }
    worst
}
