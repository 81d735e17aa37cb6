//! All mixtures of subsets of at most B of the current columns, without a list of subsets: the fast
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
//! Steps    1. alpha = slacks at w, value; the bound over the columns at the best point on the way
//!             from the best alpha so far to this one; stop at the gap
//!          2. model: -c.d + 1/2 d'Gd in place of the loss, G the Hessian (`quadratic.rs`): of dense
//!             or few columns kept, and up to date by the samples that enter and leave the margin;
//!             of many sparse ones not made, and the model is of those that matter
//!          3. its minimum with P: coordinate descent given s, s by a bracketing secant; where the
//!             descent is slow, Newton steps on the weights that are not 0
//!          4. exact line search between, P's kinks included (proximal Newton: Lee, Sun, Saunders,
//!             SIAM J. Optim. 2014)
//! Required features have z_j = 1 and the penalty 1/2 w^2 throughout; the bias its own. A sign of w_j
//! leaves z and P as they are, and half of the line to w_j. Of several problems w_j is a vector, |w_j|
//! its length, and G has a block for each: the descent moves all of w_j at once (`descent.rs`).
//! Cost     per step two passes over the rows, and sweeps: of s q with G, s the features of weight
//!          not 0, else of the values of the model's columns at the samples inside the margin.
//!          Memory 3 q^2 with G, else the columns, and 3 s^2 in a Newton step.
//! Fails    never; stops with the gap reached.

use super::descent::{Enough, Model};
use super::margin::{Known, MarginHessian};
use super::mixture::{Level, Point, count, shared_of_all, squared_hinge};
use super::part::{SourceProblem, apart, joint, make_feasible, n_samples};
use super::penalty::{SupportPenalty, size};
use super::quadratic::Quadratic;
use super::samples;
use super::tuning::support_norm::{
    BETTER, CARE, EARLY, ENTRIES, FINE, INNER, MIXES, NEAR, PATIENCE, ROUNDING, SHARE, STEPS, TRIES,
};
use rayon::prelude::*;

use crate::design::Rows;
use crate::dual::normal::Extended;
use crate::dual::patience::Patience;
use crate::dual::sweep::Shuffle;
use crate::simd;
use crate::{Clock, WeightBounds};

/// What one problem has of its own.
struct Block<'a> {
    part: &'a SourceProblem<'a>,
    x: Extended<'a>,
    /// None where its models are made of columns.
    hessian: Option<MarginHessian<'a>>,
}

impl Block<'_> {
    /// The model of these columns at the slacks of beta, of all samples.
    fn quadratic(&self, work: &[usize], beta: &[f64], pull: &[f64]) -> Quadratic<'_> {
        match &self.hessian {
            Some(hessian) => Quadratic::entries(hessian.gram(), pull),
            None => Quadratic::columns(self.x, work, &self.part.dual, self.part.own(beta)),
        }
    }
}

/// The problem over the current columns, and its solution so far. Weights, slopes and steps have a
/// vector for each block: the q columns, then its bias.
pub(super) struct SupportNorm<'a> {
    parts: &'a [SourceProblem<'a>],
    blocks: Vec<Block<'a>>,
    penalty: SupportPenalty,
    w: Vec<Vec<f64>>,
    s: f64,
    /// Weights at most of a Newton step.
    leaps: usize,
    /// The best dual point known.
    known: Option<Vec<f64>>,
}

/// A feasible dual point.
struct Dual {
    beta: Vec<f64>,
    /// The scores over the columns, by problem.
    scores: Vec<f64>,
    level: Level,
    value: f64,
}

/// What a round leaves behind.
pub(super) struct Start {
    weights: Vec<Vec<f64>>,
    pub(super) s: f64,
    /// The best dual point, of the samples of all problems.
    beta: Vec<f64>,
    hessians: Vec<Option<Known>>,
}

/// How the gap went so far.
struct Progress {
    patience: Patience,
    /// Factor on what a model may leave open.
    care: f64,
    /// Whether models take little beside their passes over the rows.
    cheap: bool,
}

impl Progress {
    fn see(&mut self, gap: f64, grown: bool) {
        let best = self.patience.best();
        self.patience.see(gap);
        // A model that leads nowhere was left too early; where columns came, the next round goes on.
        // Those made of columns take so long that more of them pay, until the gap is small.
        if (self.cheap || !grown) && gap >= 0.5 * best {
            let slow = self.cheap || gap < FINE;
            self.care = if slow { 0.1 * self.care } else { self.care.min(CARE) };
        }
    }
}

impl<'a> SupportNorm<'a> {
    /// `required` of length q; subsets have at most `most` features besides those; `signs` of the
    /// weights, by column. Newton steps take `memory` bytes at most. `start`: coefficients of the
    /// first columns and s.
    pub(super) fn new(
        rows: &[Rows<'a>],
        parts: &'a [SourceProblem<'a>],
        required: Vec<bool>,
        most: usize,
        signs: WeightBounds,
        memory: u64,
        mut start: Option<Start>,
    ) -> Self {
        let q = required.len();
        let (mut blocks, mut w, mut s) = (Vec::new(), Vec::new(), 0.0);
        for (t, (part, rows)) in parts.iter().zip(rows).enumerate() {
            let x = Extended::new(*rows, part.dual.bias);
            let m = x.width();
            let mut own = vec![0.0; m];
            let mut hessian = None;
            if let Some(Start { weights: known, s: level, hessians, .. }) = &mut start {
                // The bias stays last.
                let columns = known[t].len() - (m - q);
                own[..columns].copy_from_slice(&known[t][..columns]);
                own[q..].copy_from_slice(&known[t][columns..]);
                s = *level;
                hessian = hessians[t].take();
            }
            w.push(own);
            let hessian = has_hessian(*rows).then(|| match hessian {
                Some(known) => MarginHessian::grown(x, &part.dual, known),
                None => MarginHessian::new(x, part.dual.len()),
            });
            blocks.push(Block { part, x, hessian });
        }
        let biases =
            blocks.iter().map(|block: &Block<'_>| (block.x.width() > q).then_some(block.x.last_penalty)).collect();
        let penalty = SupportPenalty { q, required, most: most as f64, signs, biases };
        let leaps = ((memory / 24) as f64).sqrt() as usize;
        Self { parts, blocks, penalty, w, s, leaps, known: start.map(|start| start.beta) }
    }

    /// X w of the samples of all problems.
    fn scores(&self, w: &[Vec<f64>], out: &mut [f64]) {
        let each = self.blocks.par_iter().zip(w).zip(apart(self.parts, out));
        each.for_each(|((block, w), out)| block.x.scores(w, out));
    }

    /// What the next round starts from.
    pub(super) fn into_start(self) -> Start {
        let hessians = self.blocks.into_iter().map(|block| block.hessian.map(MarginHessian::into_known)).collect();
        Start { weights: self.w, s: self.s, beta: self.known.unwrap_or_default(), hessians }
    }

    /// Solves to a relative gap of `tolerance`. `most_violated` gives the largest sum of squared
    /// scores, those of several problems joined, of an allowed subset of the columns. With `grown`
    /// columns just came, and the last steps are left to the next round.
    pub(super) fn solve(
        &mut self,
        tolerance: f64,
        grown: bool,
        most_violated: &dyn Fn(&[f64]) -> f64,
        clock: &Clock,
    ) -> Point {
        let n = n_samples(self.parts);
        let (mut margins, mut along, mut beta) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
        self.scores(&self.w, &mut margins);
        let mut best = self.known.take().map(|beta| {
            let scores = self.of_columns(&self.pull(&beta));
            self.dual(beta, scores, most_violated)
        });
        let cheap = self.blocks.iter().all(|block| block.hessian.is_some());
        let mut progress = Progress { patience: Patience::new(BETTER, PATIENCE), care: 1.0, cheap };
        let (mut first, mut last) = (0.0, 0.0);
        for step in 0.. {
            // Step 1.
            let (upper, pull) = self.evaluate(&margins, &mut beta);
            let dual = self.better(best.take(), &beta, &pull, most_violated);
            let gap = (upper - dual.value) / upper;
            progress.see(gap, grown);
            // Columns that just came are mostly worth more than the last digits.
            let enough = step > 1 && grown && last - upper <= EARLY * (first - upper);
            first = if step == 0 { upper } else { first };
            last = upper;
            if gap <= tolerance || enough || step == STEPS || progress.patience.is_over() || clock.stop().is_some() {
                self.known = Some(dual.beta.clone());
                return self.point(dual, upper, step as u64);
            }
            best = Some(dual);
            // Step 2.
            self.blocks.par_iter_mut().for_each(|Block { part, hessian, .. }| {
                if let Some(hessian) = hessian {
                    hessian.follow(&part.dual, part.own(&beta));
                }
            });
            // Step 3.
            let aim = INNER * tolerance.max(0.1 * gap);
            let open = (progress.care * aim.powi(2)).max(1e-15) * upper;
            let enough = Enough { open, share: progress.care * SHARE, gained: 0.0 };
            let u = self.model(&beta, &pull, enough, clock);
            // Step 4.
            let less = |(u, w): (&Vec<f64>, &Vec<f64>)| u.iter().zip(w).map(|(u, w)| u - w).collect();
            let direction: Vec<Vec<f64>> = u.iter().zip(&self.w).map(less).collect();
            self.scores(&direction, &mut along);
            let t = self.line_search(&direction, &margins, &along, upper);
            if t == 0.0 {
                // Nothing is left to gain.
                progress.patience.exhaust();
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

    /// Step 1: alpha and value at w, whose margins are given, and the gradient of the loss there,
    /// negated: sum_i beta_i x_i with the bias.
    fn evaluate(&self, margins: &[f64], beta: &mut [f64]) -> (f64, Vec<Vec<f64>>) {
        let each = self.parts.par_iter().zip(apart(self.parts, beta));
        let losses: Vec<f64> = each.map(|(part, beta)| squared_hinge(&part.dual, part.own(margins), beta)).collect();
        (self.penalty.value(&self.w) + losses.iter().sum::<f64>(), self.pull(beta))
    }

    fn pull(&self, beta: &[f64]) -> Vec<Vec<f64>> {
        self.blocks.par_iter().map(|b| b.x.weights(b.part.own(beta))).collect()
    }

    /// The dual point of largest value on the way from the best so far to beta, made feasible.
    fn better(
        &self,
        best: Option<Dual>,
        beta: &[f64],
        pull: &[Vec<f64>],
        most_violated: &dyn Fn(&[f64]) -> f64,
    ) -> Dual {
        let (mut beta, mut scores) = (beta.to_vec(), self.of_columns(pull));
        if self.blocks.iter().any(|block| block.x.is_free()) {
            make_feasible(self.parts, &mut beta);
            scores = self.of_columns(&self.pull(&beta));
        }
        let found = self.dual(beta, scores, most_violated);
        let Some(best) = best else { return found };
        // From the better of the two, towards the other.
        let (from, to) = if best.value > found.value { (best, found) } else { (found, best) };
        let shared = shared_of_all(self.parts, &from.beta, &to.beta);
        let mix = |t: f64, from: &[f64], to: &[f64]| -> Vec<f64> {
            from.iter().zip(to).map(|(a, b)| a + t * (b - a)).collect()
        };
        let (mut way, mut scores, mut level, mut value) = (0.0, from.scores.clone(), from.level, from.value);
        for t in MIXES {
            let tried = mix(t, &from.scores, &to.scores);
            let there = Level::between(from.level, to.level, shared, t);
            let reached = there.value(self.squares(&tried, most_violated));
            if reached <= value {
                break;
            }
            (way, scores, level, value) = (t, tried, there, reached);
        }
        let beta = if way > 0.0 { mix(way, &from.beta, &to.beta) } else { from.beta };
        Dual { beta, scores, level, value }
    }

    /// The scores of the columns, by problem, without those of the biases.
    fn of_columns(&self, pull: &[Vec<f64>]) -> Vec<f64> {
        pull.iter().flat_map(|c| &c[..self.penalty.q]).copied().collect()
    }

    /// A feasible dual point of these scores.
    fn dual(&self, beta: Vec<f64>, scores: Vec<f64>, most_violated: &dyn Fn(&[f64]) -> f64) -> Dual {
        let level = Level::of_all(self.parts, &beta);
        let value = level.value(self.squares(&scores, most_violated));
        Dual { beta, scores, level, value }
    }

    /// The largest sum of squared scores of an allowed subset.
    fn squares(&self, scores: &[f64], most_violated: &dyn Fn(&[f64]) -> f64) -> f64 {
        most_violated(&joint(&self.counted(scores), self.penalty.q))
    }

    /// The scores as they count.
    fn counted(&self, scores: &[f64]) -> Vec<f64> {
        let mut scores = scores.to_vec();
        if !self.penalty.signs.is_free() {
            scores.chunks_mut(self.penalty.q.max(1)).for_each(|own| count(&self.penalty.signs, own));
        }
        scores
    }

    /// The answer at w, of this value.
    fn point(&self, dual: Dual, upper: f64, iterations: u64) -> Point {
        Point {
            mu: Vec::new(),
            z: self.penalty.shares(&self.w),
            weights: self.w.iter().flat_map(|w| &w[..self.penalty.q]).copied().collect(),
            scores: self.counted(&dual.scores),
            beta: dual.beta,
            bias: self
                .blocks
                .iter()
                .zip(&self.w)
                .map(|(b, w)| w.get(self.penalty.q).map_or(0.0, |v| v * b.x.last))
                .collect(),
            upper,
            iterations,
        }
    }

    /// Step 4: the step t along the direction, 1 mostly, 0 where no step falls below `upper`. The
    /// value is convex in t, so halves of the bracket close in.
    fn line_search(&self, direction: &[Vec<f64>], margins: &[f64], along: &[f64], upper: f64) -> f64 {
        let value = |t: f64| {
            let step = |(w, d): (&Vec<f64>, &Vec<f64>)| w.iter().zip(d).map(|(w, d)| w + t * d).collect();
            let at: Vec<Vec<f64>> = self.w.iter().zip(direction).map(step).collect();
            let loss = |part: &SourceProblem<'_>| {
                let (dual, margins, along) = (&part.dual, part.own(margins), part.own(along));
                let slack = |i: usize| (1.0 - dual.y[i] * (margins[i] + t * along[i])).max(0.0);
                samples::sum(dual.len(), |i| dual.cost[i] * slack(i) * slack(i))
            };
            self.penalty.value(&at) + self.parts.par_iter().map(loss).collect::<Vec<f64>>().iter().sum::<f64>()
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

    /// The columns of a model, ascending: where it is made of columns, those whose weights are not 0
    /// or may well leave it, by the gradient. What else would leave it the next model sees.
    fn work(&self, pull: &[Vec<f64>]) -> Vec<usize> {
        let q = self.penalty.q;
        let all = || (0..q).collect();
        if self.s == 0.0 || self.blocks.iter().any(|block| block.hessian.is_some()) {
            return all();
        }
        let near = |&j: &usize| self.penalty.required[j] || size(&self.w, j) > 0.0 || size(pull, j) > NEAR * self.s;
        let work: Vec<usize> = (0..q).filter(near).collect();
        if work.len() as f64 > 2.0 * self.penalty.most { work } else { all() }
    }

    /// Step 3: the u that minimises `-pull.d + 1/2 d'Gd + P(u)`, d = u - w, but for what is `enough`.
    fn model(&mut self, beta: &[f64], pull: &[Vec<f64>], mut enough: Enough, clock: &Clock) -> Vec<Vec<f64>> {
        let work = self.work(pull);
        let penalty = self.penalty.restricted(&work);
        let q = self.penalty.q;
        let within = |own: &Vec<f64>| work.iter().map(|&j| own[j]).chain(own[q..].iter().copied()).collect();
        let mut u: Vec<Vec<f64>> = self.w.iter().map(within).collect();
        let quadratics =
            self.blocks.par_iter().zip(pull).map(|(block, pull)| block.quadratic(&work, beta, pull)).collect();
        let mut model = Model {
            penalty: &penalty,
            quadratics,
            s: self.s,
            shuffle: Shuffle::default(),
            since: 0,
            care: 1,
            most: self.leaps,
            clock,
        };
        model.minimise(&mut u, pull, &mut enough);
        self.s = model.s;
        let mut all = self.w.clone();
        for (all, own) in all.iter_mut().zip(&u) {
            work.iter().chain(&(q..all.len()).collect::<Vec<usize>>()).zip(own).for_each(|(&j, u)| all[j] = *u);
        }
        all
    }
}

impl Model<'_> {
    /// The minimum over u, and over s: a bracketing secant. `pull` where s is not known yet.
    fn minimise(&mut self, u: &mut [Vec<f64>], pull: &[Vec<f64>], enough: &mut Enough) {
        let free = self.penalty.required.iter().filter(|r| !**r).count();
        if free as f64 <= self.penalty.most {
            self.s = 0.0;
            self.descend(u, enough);
            return;
        }
        if self.s == 0.0 {
            self.s = first_threshold(self.penalty, pull);
        }
        let (mut low, mut high) = (None::<(f64, f64)>, None::<(f64, f64)>);
        let mut farthest = 0.5;
        for _ in 0..TRIES {
            self.descend(u, enough);
            let (off, shared) = excess(self.penalty, self.s, u);
            // With u fixed, s would change by this share. As u follows s this overshoots, and so
            // brackets the root.
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
            if left <= enough.open.max(enough.share * enough.gained) || self.clock.stop().is_some() {
                break;
            }
            self.s = next;
        }
    }
}

/// Whether models keep the Hessian: of sparse columns it pays where they are few.
pub(super) fn has_hessian(rows: Rows<'_>) -> bool {
    let q = rows.n_features();
    !rows.is_sparse() || rows.stored() as f64 > ENTRIES * (q * q) as f64
}

/// The first s tried: at w = 0 the features of largest score are the first to enter.
fn first_threshold(penalty: &SupportPenalty, pull: &[Vec<f64>]) -> f64 {
    let mut scores = pull.to_vec();
    for scores in &mut scores {
        count(&penalty.signs, scores);
    }
    let sizes = penalty.sizes(&scores);
    sizes[(penalty.most as usize).min(sizes.len() - 1)].max(1e-12 * sizes[0]).max(f64::MIN_POSITIVE)
}

/// Shares beyond B, above 0 where s is too small and below where it is too large; and the sum of the
/// shares below 1.
fn excess(penalty: &SupportPenalty, s: f64, u: &[Vec<f64>]) -> (f64, f64) {
    let (mut off, mut shared) = (-penalty.most, 0.0);
    for j in (0..penalty.q).filter(|&j| !penalty.required[j]) {
        let share = size(u, j) / s;
        off += share.min(1.0);
        shared += if share < 1.0 { share } else { 0.0 };
    }
    (off, shared)
}
