//! All mixtures of subsets of at most B of the columns at hand, without a list of subsets: the fast
//! solver of multiple kernel learning.
//!
//! Solves   min over z in [0, 1]^q, sum z <= B, of v(z): eq. (5) of Tan, Wang, Tsang 2010 with
//!          every subset of the columns generated, as those z are the mixtures of subsets.
//!          Minimised over z first, this is  min_w P(w) + sum_i C_i xi_i^2  with
//!          P(w) = min_z 1/2 sum_j w_j^2 / z_j: half the squared k-support norm (Argyriou, Foygel,
//!          Srebro, NIPS 2012), k = B.
//! Uses     P(w) = max over s >= 0 of sum_j h_s(w_j) - s^2 B / 2, h_s(w) = s |w| where |w| <= s,
//!          else w^2 / 2 + s^2 / 2; there z_j = min(1, |w_j| / s). Given s the penalty is
//!          separable; s is where sum_j z_j = B.
//! Steps    1. alpha = slacks at w, value, bound over the columns; stop at the gap
//!          2. model: -c.d + 1/2 d'Gd in place of the loss, G the Hessian, kept up to date by the
//!             samples that enter and leave the margin
//!          3. its minimum with P: coordinate descent given s, s by a bracketing secant; where the
//!             descent is slow, Newton steps on the weights that are not 0
//!          4. exact line search between, P's kinks included (proximal Newton: Lee, Sun, Saunders,
//!             SIAM J. Optim. 2014)
//! Required features have z_j = 1 and the penalty 1/2 w^2 throughout; the bias its own. A sign of w_j
//! leaves z and P as they are, and half of the line to w_j.
//! Cost     per step two passes over the rows, and sweeps of s q, s the features of weight not 0;
//!          memory 3 q^2.
//! Fails    never; stops with the gap reached.

use super::margin::MarginHessian;
use super::mixture::{Level, Point, count, squared_hinge};
use super::tuning::support_norm::{INNER, PATIENCE, ROUNDING, SLOW, STEPS, SWEEPS, TRIES};
use crate::dual::normal::Extended;
use crate::dual::{BoxDual, kkt};
use crate::kernel::cholesky::Factor;
use crate::simd;
use crate::{RowMatrix, Status, WeightBounds};

/// The problem over the columns at hand, and its solution so far.
pub(super) struct SupportNorm<'a> {
    x: Extended<'a>,
    dual: &'a BoxDual,
    q: usize,
    /// Whether z_j = 1 is required.
    required: Vec<bool>,
    /// B less the required ones.
    most: f64,
    /// Signs of the weights, by column.
    signs: WeightBounds,
    hessian: MarginHessian<'a>,
    /// Coefficients of the columns, then of the bias.
    w: Vec<f64>,
    s: f64,
}

/// Value, gap and dual point of step 1.
struct Evaluation {
    /// Gradient of the loss at w, negated: sum_i beta_i x_i with the bias.
    pull: Vec<f64>,
    /// Feasible dual point, and its scores over the columns, as they count.
    feasible: Vec<f64>,
    scores: Vec<f64>,
    upper: f64,
    gap: f64,
}

/// How the gap went so far.
struct Progress {
    best: f64,
    /// Steps without a better gap.
    idle: u32,
    /// Factor on what a model may leave open.
    care: f64,
}

impl Progress {
    fn see(&mut self, gap: f64) {
        self.idle = if gap < 0.9 * self.best { 0 } else { self.idle + 1 };
        // A model that leads nowhere was left too early.
        self.care *= if gap < 0.5 * self.best { 1.0 } else { 0.1 };
        self.best = self.best.min(gap);
    }
}

/// s where sum_j min(1, |w_j| / s) = most, and how many of the `sizes` (falling) reach it; s = 0
/// where the sum is below that for all s.
fn threshold(sizes: &[f64], most: f64) -> (f64, usize) {
    let count = sizes.iter().take_while(|w| **w > 0.0).count();
    if count as f64 <= most {
        return (0.0, count);
    }
    let mut rest: f64 = sizes.iter().sum();
    for (full, &size) in sizes.iter().enumerate() {
        let s = rest / (most - full as f64);
        // The first that is below the level that the others give it.
        if most - full as f64 <= 1.0 || size <= s {
            return (s.max(size), full);
        }
        rest -= size;
    }
    (0.0, count)
}

impl<'a> SupportNorm<'a> {
    /// `required` of length q; subsets have at most `most` features besides those; `signs` of the
    /// weights, by column. `start`: coefficients of the first columns and s.
    pub(super) fn new(
        rows: &'a RowMatrix,
        dual: &'a BoxDual,
        required: Vec<bool>,
        most: usize,
        signs: WeightBounds,
        start: Option<&(Vec<f64>, f64)>,
    ) -> Self {
        let x = Extended::new(rows, dual.bias);
        let (m, q) = (x.width(), rows.n_features());
        let (mut w, mut s) = (vec![0.0; m], 0.0);
        if let Some((known, level)) = start {
            // The bias stays last.
            let columns = known.len() - (m - q);
            w[..columns].copy_from_slice(&known[..columns]);
            w[q..].copy_from_slice(&known[columns..]);
            s = *level;
        }
        let hessian = MarginHessian::new(x, dual.len());
        Self { x, dual, q, required, most: most as f64, signs, hessian, w, s }
    }

    /// What the next round starts from.
    pub(super) fn into_start(self) -> (Vec<f64>, f64) {
        (self.w, self.s)
    }

    /// Sizes of the coefficients that share B, falling.
    fn sizes(&self, w: &[f64]) -> Vec<f64> {
        let mut sizes: Vec<f64> = (0..self.q).filter(|&j| !self.required[j]).map(|j| w[j].abs()).collect();
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        sizes
    }

    /// P and the bias's penalty.
    fn penalty(&self, w: &[f64]) -> f64 {
        let sizes = self.sizes(w);
        let (_, full) = threshold(&sizes, self.most);
        let squares = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
        let tail: f64 = sizes[full..].iter().sum();
        let shared = if tail > 0.0 { tail * tail / (self.most - full as f64) } else { 0.0 };
        let required: f64 = (0..self.q).filter(|&j| self.required[j]).map(|j| w[j] * w[j]).sum();
        0.5 * (required + squares(&sizes[..full]) + shared + self.x.last_penalty * squares(&w[self.q..]))
    }

    /// The z that goes with w.
    fn shares(&self, w: &[f64]) -> Vec<f64> {
        let (s, _) = threshold(&self.sizes(w), self.most);
        (0..self.q)
            .map(|j| match w[j].abs() {
                _ if self.required[j] => 1.0,
                0.0 => 0.0,
                size if size >= s => 1.0,
                size => size / s,
            })
            .collect()
    }

    /// Solves to a relative gap of `tolerance`. `most_violated` gives the largest sum of squared
    /// scores of an allowed subset of the columns.
    pub(super) fn solve(
        &mut self,
        tolerance: f64,
        most_violated: &dyn Fn(&[f64]) -> f64,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Point {
        let n = self.dual.len();
        let (mut margins, mut along, mut beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.x.scores(&self.w, &mut margins);
        let mut progress = Progress { best: f64::INFINITY, idle: 0, care: 1.0 };
        for step in 0.. {
            // Step 1.
            let now = self.evaluate(&margins, &mut beta, most_violated);
            progress.see(now.gap);
            if now.gap <= tolerance || step == STEPS || progress.idle > PATIENCE || stop().is_some() {
                return self.point(now, step as u64);
            }
            // Step 2.
            self.hessian.follow(self.dual, &beta);
            // Step 3.
            let aim = INNER * tolerance.max(0.1 * now.gap);
            let u = self.model(&now.pull, (progress.care * aim.powi(2)).max(1e-15) * now.upper);
            // Step 4.
            let direction: Vec<f64> = u.iter().zip(&self.w).map(|(u, w)| u - w).collect();
            self.x.scores(&direction, &mut along);
            let t = self.line_search(&direction, &margins, &along, now.upper);
            if t == 0.0 {
                // Nothing is left to gain.
                progress.idle = PATIENCE;
            }
            if t == 1.0 {
                self.w = u;
            } else {
                simd::axpy(t, &direction, &mut self.w);
            }
            simd::axpy(t, &along, &mut margins);
        }
        unreachable!("the loop ends after {STEPS} steps")
    }

    /// Step 1: alpha, value and gap at w, whose margins are given.
    fn evaluate(&self, margins: &[f64], beta: &mut [f64], most_violated: &dyn Fn(&[f64]) -> f64) -> Evaluation {
        let loss = squared_hinge(self.dual, margins, beta);
        let pull = self.x.weights(beta);
        let upper = self.penalty(&self.w) + loss;
        let (mut feasible, mut scores) = (beta.to_vec(), pull.clone());
        if self.x.is_free() {
            kkt::make_feasible(self.dual, &mut feasible);
            scores = self.x.weights(&feasible);
        }
        scores.truncate(self.q);
        count(&self.signs, &mut scores);
        let lower = Level::of(self.dual, &feasible).value(most_violated(&scores));
        Evaluation { pull, feasible, scores, upper, gap: (upper - lower) / upper }
    }

    /// The answer at w.
    fn point(&self, now: Evaluation, iterations: u64) -> Point {
        Point {
            mu: Vec::new(),
            z: self.shares(&self.w),
            weights: self.w[..self.q].to_vec(),
            beta: now.feasible,
            scores: now.scores,
            bias: self.w.get(self.q).map_or(0.0, |b| b * self.x.last),
            upper: now.upper,
            iterations,
        }
    }

    /// Step 4: the step t along the direction, 1 mostly, 0 where no step falls below `upper`. The
    /// value is convex in t, so halves of the bracket close in.
    fn line_search(&self, direction: &[f64], margins: &[f64], along: &[f64], upper: f64) -> f64 {
        let value = |t: f64| {
            let at: Vec<f64> = self.w.iter().zip(direction).map(|(w, d)| w + t * d).collect();
            let loss = (0..margins.len())
                .map(|i| self.dual.cost[i] * (1.0 - self.dual.y[i] * (margins[i] + t * along[i])).max(0.0).powi(2));
            self.penalty(&at) + loss.sum::<f64>()
        };
        let enough = upper * (1.0 + ROUNDING);
        let (mut t, mut reached) = (1.0, value(1.0));
        while t > 1e-6 {
            let half = value(0.5 * t);
            if half >= reached && reached <= enough {
                break;
            }
            (t, reached) = (0.5 * t, half);
        }
        if reached > enough { 0.0 } else { t }
    }

    /// Step 3: the u that minimises `-pull.d + 1/2 d'Gd + P(u)`, d = u - w, but for `open`.
    fn model(&mut self, pull: &[f64], open: f64) -> Vec<f64> {
        let mut u = self.w.clone();
        // The gradient of the model at u: G (u - w) - pull.
        let mut slope: Vec<f64> = pull.iter().map(|c| -c).collect();
        let free = self.required.iter().filter(|r| !**r).count();
        if free as f64 <= self.most {
            self.s = 0.0;
            self.descend(&mut u, &mut slope, open);
            return u;
        }
        if self.s == 0.0 {
            self.s = self.first_threshold(&slope);
        }
        let (mut low, mut high) = (None::<(f64, f64)>, None::<(f64, f64)>);
        let mut farthest = 0.5;
        for _ in 0..TRIES {
            self.descend(&mut u, &mut slope, open);
            let (off, shared) = self.excess(&u);
            // Would the u_j stay, s would change by this share; as they follow it is too much, and
            // the root between.
            let way = (off.abs() / f64::max(shared, 1e-9)).min(farthest);
            farthest *= 2.0;
            if off > 0.0 {
                low = Some((self.s, off));
            } else {
                high = Some((self.s, off));
            }
            let next = match (low, high) {
                // A secant, kept away from the ends.
                (Some((a, fa)), Some((b, fb))) => a + (b - a) * (fa / (fa - fb)).clamp(0.1, 0.9),
                (Some((a, _)), None) => a * (1.0 + way),
                (_, Some((b, _))) => b / (1.0 + way),
                (None, None) => unreachable!("one of them was just set"),
            };
            // The value is flat in s^2: what is left open is at most the shares that are off times
            // the way to go.
            let left = 0.5 * off.abs() * (next * next - self.s * self.s).abs();
            if left <= open {
                break;
            }
            self.s = next;
        }
        u
    }

    /// The first s tried: at w = 0 the features of largest score are the first to enter.
    fn first_threshold(&self, slope: &[f64]) -> f64 {
        let mut scores: Vec<f64> = slope[..self.q].iter().map(|slope| -slope).collect();
        count(&self.signs, &mut scores);
        scores.iter_mut().for_each(|c| *c = c.abs());
        let sizes = self.sizes(&scores);
        sizes[(self.most as usize).min(sizes.len() - 1)].max(1e-12 * sizes[0]).max(f64::MIN_POSITIVE)
    }

    /// Shares beyond B, above 0 where s is too small and below where it is too large; and the sum
    /// of the shares below 1.
    fn excess(&self, u: &[f64]) -> (f64, f64) {
        let (mut off, mut shared) = (-self.most, 0.0);
        for j in (0..self.q).filter(|&j| !self.required[j]) {
            let share = u[j].abs() / self.s;
            off += share.min(1.0);
            shared += if share < 1.0 { share } else { 0.0 };
        }
        (off, shared)
    }

    /// Coordinate descent given s.
    fn descend(&self, u: &mut [f64], slope: &mut [f64], open: f64) {
        let m = u.len();
        let (mut only, mut restricted): (Option<Vec<usize>>, usize) = (None, 0);
        for _ in 0..SWEEPS {
            let mut gained = 0.0;
            let mut visit = |j: usize, u: &mut [f64], slope: &mut [f64]| {
                let curve = self.hessian.gram[j * m + j];
                let to = self.minimiser(j, curve, curve * u[j] - slope[j]);
                let change = to - u[j];
                if change != 0.0 {
                    gained += 0.5 * change * change * curve.max(1e-12);
                    u[j] = to;
                    simd::axpy(change, &self.hessian.gram[j * m..(j + 1) * m], slope);
                }
            };
            match &only {
                None => (0..m).for_each(|j| visit(j, u, slope)),
                Some(list) => list.iter().for_each(|&j| visit(j, u, slope)),
            }
            let all = only.is_none();
            if gained <= open {
                if all {
                    return;
                }
                // Done among these: look at all again.
                only = None;
                restricted = 0;
            } else {
                restricted += 1;
                if restricted % SLOW == 0 {
                    self.newton_step(u, slope);
                }
                only = Some((0..m).filter(|&j| u[j] != 0.0 || j >= self.q).collect());
            }
        }
    }

    /// The penalty of u_j given s.
    fn penalty_of(&self, j: usize, u: f64) -> f64 {
        match u.abs() {
            _ if j >= self.q => 0.5 * self.x.last_penalty * u * u,
            size if self.required[j] || size > self.s => {
                0.5 * (u * u + if self.required[j] { 0.0 } else { self.s * self.s })
            }
            size => self.s * size,
        }
    }

    /// A Newton step of the model given s on the weights that are not 0; those whose sign would
    /// turn become 0. Taken as far as it gains.
    fn newton_step(&self, u: &mut [f64], slope: &mut [f64]) {
        let m = u.len();
        let support: Vec<usize> = (0..m).filter(|&j| u[j] != 0.0).collect();
        // (derivative, curvature) of the penalty
        let penalty_slope = |j: usize| match u[j] {
            u if j >= self.q => (self.x.last_penalty * u, self.x.last_penalty),
            u if self.required[j] || u.abs() > self.s => (u, 1.0),
            u => (self.s * u.signum(), 0.0),
        };
        let ridge = 1e-10 * support.iter().map(|&j| self.hessian.gram[j * m + j]).fold(1e-6, f64::max);
        let mut factor = Factor::new(support.len());
        factor.fill(|a, b| {
            let (i, j) = (support[a], support[b]);
            self.hessian.gram[i * m + j] + if i == j { penalty_slope(i).1 + ridge } else { 0.0 }
        });
        factor.decompose();
        let step = factor.solve(&support.iter().map(|&j| -slope[j] - penalty_slope(j).0).collect::<Vec<f64>>());
        for t in [1.0, 0.3, 0.1, 0.03] {
            let (mut next, mut gain) = (slope.to_vec(), 0.0);
            let mut moved = Vec::with_capacity(support.len());
            for (&j, step) in support.iter().zip(&step) {
                let to = u[j] + t * step;
                let turned = j < self.q && !self.required[j] && to * u[j] < 0.0;
                let to = if turned { 0.0 } else { self.signed(j, to) };
                simd::axpy(to - u[j], &self.hessian.gram[j * m..(j + 1) * m], &mut next);
                moved.push(to);
            }
            for (&j, &to) in support.iter().zip(&moved) {
                gain -= 0.5 * (slope[j] + next[j]) * (to - u[j]) + self.penalty_of(j, to) - self.penalty_of(j, u[j]);
            }
            if gain > 0.0 {
                slope.copy_from_slice(&next);
                support.iter().zip(moved).for_each(|(&j, to)| u[j] = to);
                return;
            }
        }
    }

    /// The u_j that minimises `1/2 curve u^2 - b u + penalty`.
    fn minimiser(&self, j: usize, curve: f64, b: f64) -> f64 {
        if j >= self.q {
            return b / (curve + self.x.last_penalty).max(1e-8);
        }
        if self.required[j] {
            return self.signed(j, b / (curve + 1.0));
        }
        let over = b.abs() - self.s;
        if over <= 0.0 {
            return 0.0;
        }
        let size = if over <= self.s * curve { over / curve } else { b.abs() / (curve + 1.0) };
        self.signed(j, size.copysign(b))
    }

    /// The u_j next to `to` of the sign that it has to have.
    fn signed(&self, j: usize, to: f64) -> f64 {
        if j < self.q { self.signs.of(j).weight(to) } else { to }
    }
}
