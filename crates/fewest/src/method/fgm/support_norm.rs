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
//! leaves z and P as they are, and half of the line to w_j. Of several problems w_j is a vector, |w_j|
//! its length, and G has a block for each: the descent moves all of w_j at once (`descent.rs`).
//! Cost     per step two passes over the rows, and sweeps of s q, s the features of weight not 0;
//!          memory 3 q^2.
//! Fails    never; stops with the gap reached.

use super::margin::MarginHessian;
use super::mixture::{Level, Point, count, squared_hinge};
use super::part::{Part, joint, make_feasible, n_samples};
use super::tuning::support_norm::{INNER, PATIENCE, ROUNDING, STEPS, TRIES};
use crate::dual::normal::Extended;
use crate::simd;
use crate::{RowMatrix, Status, WeightBounds};

/// What one problem has of its own.
pub(super) struct Block<'a> {
    part: &'a Part<'a>,
    pub(super) x: Extended<'a>,
    pub(super) hessian: MarginHessian<'a>,
}

impl Block<'_> {
    /// Entry i, j of its Hessian.
    pub(super) fn curve(&self, i: usize, j: usize) -> f64 {
        self.hessian.gram[i * self.x.width() + j]
    }
}

/// The problem over the columns at hand, and its solution so far. Weights, slopes and steps have a
/// vector for each block: the q columns, then its bias.
pub(super) struct SupportNorm<'a> {
    parts: &'a [Part<'a>],
    pub(super) blocks: Vec<Block<'a>>,
    pub(super) q: usize,
    /// Whether z_j = 1 is required.
    pub(super) required: Vec<bool>,
    /// B less the required ones.
    most: f64,
    /// Signs of the weights, by column.
    pub(super) signs: WeightBounds,
    w: Vec<Vec<f64>>,
    pub(super) s: f64,
}

/// Value, gap and dual point of step 1.
struct Evaluation {
    /// Gradient of the loss at w, negated: sum_i beta_i x_i with the bias.
    pull: Vec<Vec<f64>>,
    /// Feasible dual point, and its scores over the columns, as they count.
    feasible: Vec<f64>,
    scores: Vec<f64>,
    upper: f64,
    gap: f64,
}

/// What a round leaves behind: the weights, and s.
pub(super) type Start = (Vec<Vec<f64>>, f64);

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
        rows: &'a [RowMatrix],
        parts: &'a [Part<'a>],
        required: Vec<bool>,
        most: usize,
        signs: WeightBounds,
        start: Option<&Start>,
    ) -> Self {
        let q = required.len();
        let (mut blocks, mut w, mut s) = (Vec::new(), Vec::new(), 0.0);
        for (t, (part, rows)) in parts.iter().zip(rows).enumerate() {
            let x = Extended::new(rows, part.dual.bias);
            let m = x.width();
            let mut own = vec![0.0; m];
            if let Some((known, level)) = start {
                // The bias stays last.
                let columns = known[t].len() - (m - q);
                own[..columns].copy_from_slice(&known[t][..columns]);
                own[q..].copy_from_slice(&known[t][columns..]);
                s = *level;
            }
            w.push(own);
            blocks.push(Block { part, x, hessian: MarginHessian::new(x, part.dual.len()) });
        }
        Self { parts, blocks, q, required, most: most as f64, signs, w, s }
    }

    /// X w of the samples of all problems.
    fn scores(&self, w: &[Vec<f64>], out: &mut [f64]) {
        for (block, w) in self.blocks.iter().zip(w) {
            block.x.scores(w, &mut out[block.part.samples.clone()]);
        }
    }

    /// What the next round starts from.
    pub(super) fn into_start(self) -> Start {
        (self.w, self.s)
    }

    /// |w_j|
    pub(super) fn size(w: &[Vec<f64>], j: usize) -> f64 {
        match w {
            [own] => own[j].abs(),
            _ => w.iter().map(|own| own[j] * own[j]).sum::<f64>().sqrt(),
        }
    }

    /// Sizes of the coefficients that share B, falling.
    fn sizes(&self, w: &[Vec<f64>]) -> Vec<f64> {
        let mut sizes: Vec<f64> = (0..self.q).filter(|&j| !self.required[j]).map(|j| Self::size(w, j)).collect();
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        sizes
    }

    /// P and the bias's penalty.
    fn penalty(&self, w: &[Vec<f64>]) -> f64 {
        let sizes = self.sizes(w);
        let (_, full) = threshold(&sizes, self.most);
        let squares = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
        let tail: f64 = sizes[full..].iter().sum();
        let shared = if tail > 0.0 { tail * tail / (self.most - full as f64) } else { 0.0 };
        let required = (0..self.q).filter(|&j| self.required[j]);
        let required: f64 = required.map(|j| w.iter().map(|own| own[j] * own[j]).sum::<f64>()).sum();
        let biases: f64 = self.blocks.iter().zip(w).map(|(b, w)| b.x.last_penalty * squares(&w[self.q..])).sum();
        0.5 * (required + squares(&sizes[..full]) + shared + biases)
    }

    /// The z that goes with w.
    fn shares(&self, w: &[Vec<f64>]) -> Vec<f64> {
        let (s, _) = threshold(&self.sizes(w), self.most);
        (0..self.q)
            .map(|j| match Self::size(w, j) {
                _ if self.required[j] => 1.0,
                0.0 => 0.0,
                size if size >= s => 1.0,
                size => size / s,
            })
            .collect()
    }

    /// Solves to a relative gap of `tolerance`. `most_violated` gives the largest sum of squared
    /// scores, those of several problems joined, of an allowed subset of the columns.
    pub(super) fn solve(
        &mut self,
        tolerance: f64,
        most_violated: &dyn Fn(&[f64]) -> f64,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Point {
        let n = n_samples(self.parts);
        let (mut margins, mut along, mut beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.scores(&self.w, &mut margins);
        let mut progress = Progress { best: f64::INFINITY, idle: 0, care: 1.0 };
        for step in 0.. {
            // Step 1.
            let now = self.evaluate(&margins, &mut beta, most_violated);
            progress.see(now.gap);
            if now.gap <= tolerance || step == STEPS || progress.idle > PATIENCE || stop().is_some() {
                return self.point(now, step as u64);
            }
            // Step 2.
            for Block { part, hessian, .. } in &mut self.blocks {
                hessian.follow(&part.dual, part.own(&beta));
            }
            // Step 3.
            let aim = INNER * tolerance.max(0.1 * now.gap);
            let u = self.model(&now.pull, (progress.care * aim.powi(2)).max(1e-15) * now.upper);
            // Step 4.
            let less = |(u, w): (&Vec<f64>, &Vec<f64>)| u.iter().zip(w).map(|(u, w)| u - w).collect();
            let direction: Vec<Vec<f64>> = u.iter().zip(&self.w).map(less).collect();
            self.scores(&direction, &mut along);
            let t = self.line_search(&direction, &margins, &along, now.upper);
            if t == 0.0 {
                // Nothing is left to gain.
                progress.idle = PATIENCE;
            }
            if t == 1.0 {
                self.w = u;
            } else {
                direction.iter().zip(&mut self.w).for_each(|(d, w)| simd::axpy(t, d, w));
            }
            simd::axpy(t, &along, &mut margins);
        }
        unreachable!("the loop ends after {STEPS} steps")
    }

    /// Step 1: alpha, value and gap at w, whose margins are given.
    fn evaluate(&self, margins: &[f64], beta: &mut [f64], most_violated: &dyn Fn(&[f64]) -> f64) -> Evaluation {
        let mut loss = 0.0;
        for part in self.parts {
            loss += squared_hinge(&part.dual, part.own(margins), &mut beta[part.samples.clone()]);
        }
        let of_beta = |beta: &[f64]| self.blocks.iter().map(|b| b.x.weights(b.part.own(beta))).collect::<Vec<_>>();
        let pull = of_beta(beta);
        let upper = self.penalty(&self.w) + loss;
        let (mut feasible, mut each) = (beta.to_vec(), pull.clone());
        if self.blocks.iter().any(|block| block.x.is_free()) {
            make_feasible(self.parts, &mut feasible);
            each = of_beta(&feasible);
        }
        for scores in &mut each {
            scores.truncate(self.q);
            count(&self.signs, scores);
        }
        let scores = each.concat();
        let lower = Level::of_all(self.parts, &feasible).value(most_violated(&joint(&scores, self.q)));
        Evaluation { pull, feasible, scores, upper, gap: (upper - lower) / upper }
    }

    /// The answer at w.
    fn point(&self, now: Evaluation, iterations: u64) -> Point {
        Point {
            mu: Vec::new(),
            z: self.shares(&self.w),
            weights: self.w.iter().flat_map(|w| &w[..self.q]).copied().collect(),
            beta: now.feasible,
            scores: now.scores,
            bias: self.blocks.iter().zip(&self.w).map(|(b, w)| w.get(self.q).map_or(0.0, |v| v * b.x.last)).collect(),
            upper: now.upper,
            iterations,
        }
    }

    /// Step 4: the step t along the direction, 1 mostly, 0 where no step falls below `upper`. The
    /// value is convex in t, so halves of the bracket close in.
    fn line_search(&self, direction: &[Vec<f64>], margins: &[f64], along: &[f64], upper: f64) -> f64 {
        let value = |t: f64| {
            let step = |(w, d): (&Vec<f64>, &Vec<f64>)| w.iter().zip(d).map(|(w, d)| w + t * d).collect();
            let at: Vec<Vec<f64>> = self.w.iter().zip(direction).map(step).collect();
            let of_samples = self.parts.iter().flat_map(|part| part.dual.cost.iter().zip(&part.dual.y));
            let slack = |i: usize, y: f64| (1.0 - y * (margins[i] + t * along[i])).max(0.0).powi(2);
            let loss = of_samples.enumerate().map(|(i, (cost, y))| cost * slack(i, *y));
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
    fn model(&mut self, pull: &[Vec<f64>], open: f64) -> Vec<Vec<f64>> {
        let mut u = self.w.clone();
        // The gradient of the model at u: G (u - w) - pull.
        let mut slope: Vec<Vec<f64>> = pull.iter().map(|pull| pull.iter().map(|c| -c).collect()).collect();
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
    fn first_threshold(&self, slope: &[Vec<f64>]) -> f64 {
        let mut scores: Vec<Vec<f64>> = slope.iter().map(|slope| slope.iter().map(|s| -s).collect()).collect();
        for scores in &mut scores {
            count(&self.signs, scores);
        }
        let sizes = self.sizes(&scores);
        sizes[(self.most as usize).min(sizes.len() - 1)].max(1e-12 * sizes[0]).max(f64::MIN_POSITIVE)
    }

    /// Shares beyond B, above 0 where s is too small and below where it is too large; and the sum
    /// of the shares below 1.
    fn excess(&self, u: &[Vec<f64>]) -> (f64, f64) {
        let (mut off, mut shared) = (-self.most, 0.0);
        for j in (0..self.q).filter(|&j| !self.required[j]) {
            let share = Self::size(u, j) / self.s;
            off += share.min(1.0);
            shared += if share < 1.0 { share } else { 0.0 };
        }
        (off, shared)
    }
}
