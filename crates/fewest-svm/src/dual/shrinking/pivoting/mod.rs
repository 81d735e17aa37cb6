//! An active-set method for the hinge on features that leave: the inverse of the free samples'
//! matrix is kept from one training to the next.
//!
//! Solves   the dual of [`crate::dual`] for a linear kernel and the hinge, on rows.
//! Paper    a primal active-set method (Nocedal, Wright 2006, section 16.5) with the inverse of
//!          incremental SVM learning (Cauwenberghs, Poggio 2000).
//! Given    rows of the features at the start, box, a solution on them.
//! Returns  beta, w, bias, both objectives, status.
//! Steps    F = independent samples inside their box, R = (K_FF + s^2)^-1, v = y - X w:
//!          1. a feature x leaves: `R += q q' / (1 - x'q)`, q = R x; where that is singular, beta
//!             moves along q, which leaves the other weights as they are, until a sample leaves F
//!          2. `d = R (v_F - b)`, along it to the optimum on F or to the box: there a sample leaves
//!             F, and again  3. scores of all samples, gap; stop
//!          4. of the samples that violate the conditions most, one after the other moves, and F
//!             with it so that v stays b on F, until it is optimal and enters F, or is at its bound;
//!             again among the samples that are near to a violation, until none of them has one
//! Cost     step 1 and each move of step 4: s p + s^2, s <= p + 1 the samples in F; step 3 a pass.
//!          Memory: rows, s^2, O(n).
//! Fails    never; stops with a status and the gap reached.

mod entering;
mod leaving;
mod start;

use super::columns::LiveColumns;
use crate::dual::free_inverse::FreeInverse;
use crate::dual::{Bias, BoxDual, DualSolution, SvmSettings, kkt};
use crate::{Clock, Status, simd};

/// Numbers that steer the method, chosen by hand; `make bench-rfe` shows what a change costs,
/// `bench/log/rfe.md` what was tried.
mod tuning {
    /// A sample depends on those of F, or a matrix is singular, below this share of its diagonal.
    pub(super) const SINGULAR: f64 = 1e-9;
    /// So it is where a feature leaves, before beta moves along the direction that it frees.
    pub(super) const FREED: f64 = 1e-7;
    /// Samples whose scores are kept while others move.
    pub(super) const LISTED: usize = 64;
    /// Samples checked between two passes over all, besides as many as there are in F.
    pub(super) const NEAR: usize = 512;
    /// Rounds over them between two passes over all.
    pub(super) const ROUNDS: usize = 4;
    /// Samples inside their box that F is chosen from, for each feature and the bias.
    pub(super) const CANDIDATES: usize = 4;
    /// A start this near to its bound, as a share of C, is at it.
    pub(super) const AT_BOUND: f64 = 1e-7;
    /// Share of the largest component below which a direction does not count as moving a sample.
    pub(super) const STILL: f64 = 1e-11;
    /// A relative gap that needs no further step.
    pub(super) const EXACT: f64 = 1e-13;
    /// Most that v may differ over F.
    pub(super) const SPREAD: f64 = 1e-9;
    /// Rounds without a better gap before it gives up.
    pub(super) const PATIENCE: u32 = 6;
    /// Moves of one training, for each feature, that are too many.
    pub(super) const MOST_MOVES: u64 = 50;
    /// Moves between two checks of the clock.
    pub(super) const MOVES: u64 = 32;
}
use tuning::{EXACT, MOST_MOVES, PATIENCE, SPREAD, STILL};

/// The state between trainings.
pub struct Pivoting<'a> {
    columns: LiveColumns<'a>,
    dual: BoxDual,
    /// y_i alpha_i
    beta: Vec<f64>,
    /// `sum_i beta_i x_i`, 0 for features that left.
    w: Vec<f64>,
    /// x_i.w; between passes those of F and of the samples listed.
    scores: Vec<f64>,
    bias: f64,
    /// F.
    free: Vec<usize>,
    is_free: Vec<bool>,
    /// R; F is empty where it must be built.
    inverse: FreeInverse,
    /// s^2: of the constant feature whose weight is penalised; with a free bias, any number.
    shift: f64,
    /// `R 1`, with a free bias.
    ones: Vec<f64>,
}

/// beta on F before it moved.
#[derive(Default)]
struct Moved {
    samples: Vec<usize>,
    before: Vec<f64>,
}

/// The last repair where digits were lost.
enum Repair {
    None,
    SameFree,
    OtherFree,
}

/// The length of a step of beta.
struct Length {
    t: f64,
    /// Position in F, and the bound, of the sample that is at its bound then.
    blocking: Option<(usize, f64)>,
}

impl<'a> Pivoting<'a> {
    /// The training on these features, from a solution on them.
    pub(in crate::dual::shrinking) fn new(columns: LiveColumns<'a>, dual: &BoxDual, start: &DualSolution) -> Self {
        let (rows, n) = (&columns.rows, dual.len());
        let mean = (0..n).map(|i| rows.row(i).squared_norm()).sum::<f64>() / (n * rows.n_features()).max(1) as f64;
        let mut out = Self {
            columns,
            dual: dual.clone(),
            beta: start.beta.clone(),
            w: Vec::new(),
            scores: vec![0.0; n],
            bias: start.bias,
            free: Vec::new(),
            is_free: vec![false; n],
            inverse: FreeInverse::default(),
            shift: match dual.bias {
                Bias::Free => mean.max(f64::MIN_POSITIVE),
                Bias::Penalised(s) => s * s,
                Bias::None => 0.0,
            },
            ones: Vec::new(),
        };
        out.snap();
        out.w = out.columns.rows.combination(&out.beta);
        out.score_all();
        out
    }

    /// Empties F and R, so that R is built again.
    fn forget(&mut self) {
        self.free.iter().for_each(|&i| self.is_free[i] = false);
        self.free.clear();
        self.ones.clear();
    }

    /// With a free bias, the part of `q = R a` that leaves the sum of beta as it is.
    fn balanced(&self, q: &[f64]) -> Vec<f64> {
        let mut out = q.to_vec();
        if self.dual.bias == Bias::Free {
            simd::axpy(-q.iter().sum::<f64>() / self.ones.iter().sum::<f64>(), &self.ones, &mut out);
        }
        out
    }

    /// Keeps beta on F as it was, unless it has been kept.
    fn note(&self, moved: &mut Moved) {
        if moved.samples.is_empty() {
            moved.samples.clone_from(&self.free);
            moved.before = self.free.iter().map(|&i| self.beta[i]).collect();
        }
    }

    /// w follows beta, by F as it was and another sample; how far w went.
    fn apply(&mut self, moved: &Moved, other: Option<(&[f64], f64)>) -> Vec<f64> {
        let factors: Vec<f64> = moved.samples.iter().zip(&moved.before).map(|(&i, b)| self.beta[i] - b).collect();
        let mut change = vec![0.0; self.columns.len()];
        if let Some(values) = self.columns.rows.dense_values() {
            simd::add_lines(values, &moved.samples, &factors, &mut change);
        } else {
            let each = moved.samples.iter().zip(&factors);
            each.for_each(|(&i, &d)| self.columns.rows.row(i).add_to(d, &mut change));
        }
        self.columns.clear_dead(&mut change);
        if let Some((x, factor)) = other {
            simd::axpy(factor, x, &mut change);
        }
        simd::axpy(1.0, &change, &mut self.w);
        change
    }

    /// t at most `most`, so that F stays in its box along d.
    fn length(&self, d: &[f64], most: f64) -> Length {
        let still = STILL * d.iter().fold(0.0, |m: f64, d| m.max(d.abs()));
        let mut out = Length { t: most, blocking: None };
        for (position, (&i, &d)) in self.free.iter().zip(d).enumerate() {
            let bound = if d > 0.0 { self.dual.upper[i] } else { self.dual.lower[i] };
            if d.abs() > still && (bound - self.beta[i]) / d < out.t {
                out = Length { t: ((bound - self.beta[i]) / d).max(0.0), blocking: Some((position, bound)) };
            }
        }
        out
    }

    fn move_free(&mut self, d: &[f64], t: f64) {
        for (&i, &d) in self.free.iter().zip(d) {
            self.beta[i] = (self.beta[i] + t * d).clamp(self.dual.lower[i], self.dual.upper[i]);
        }
    }

    /// The sample leaves F for its bound, and `q = R a` follows; which one.
    fn leave(&mut self, position: usize, bound: f64, q: &mut Vec<f64>) -> usize {
        let line = self.inverse.line(position);
        for vector in [q, &mut self.ones] {
            if let Some(&at) = vector.get(position) {
                simd::axpy(-at / line[position], line, vector);
                vector.swap_remove(position);
            }
        }
        self.inverse.delete(position);
        let i = self.free.swap_remove(position);
        self.is_free[i] = false;
        self.beta[i] = bound;
        i
    }

    /// Rounding has moved the sum of beta: with a free bias the sample of F with most room takes it
    /// back.
    fn balance(&mut self) {
        let off: f64 = self.beta.iter().sum();
        if self.dual.bias != Bias::Free || off == 0.0 {
            return;
        }
        let room = |i: usize| (self.beta[i] - self.dual.lower[i]).min(self.dual.upper[i] - self.beta[i]);
        if let Some(&i) = self.free.iter().max_by(|&&a, &&b| room(a).total_cmp(&room(b)).then(b.cmp(&a))) {
            self.beta[i] = (self.beta[i] - off).clamp(self.dual.lower[i], self.dual.upper[i]);
        }
    }

    /// s^2 sum beta, which the scores lack.
    fn offset(&self) -> f64 {
        let square = self.dual.bias_square();
        if square > 0.0 { square * self.beta.iter().sum::<f64>() } else { 0.0 }
    }

    /// Step 2.
    fn settle(&mut self) {
        if self.free.is_empty() {
            return;
        }
        let offset = self.offset();
        let v: Vec<f64> = self.free.iter().map(|&i| self.dual.y[i] - self.scores[i] - offset).collect();
        // Taking the mean off first keeps the digits of v - b.
        let mean = if self.dual.bias == Bias::Free { v.iter().sum::<f64>() / v.len() as f64 } else { 0.0 };
        let centred: Vec<f64> = v.iter().map(|v| v - mean).collect();
        let mut q = self.inverse.multiply(&centred);
        let mut moved = Moved::default();
        self.note(&mut moved);
        while !self.free.is_empty() {
            let d = self.balanced(&q);
            let Length { t, blocking } = self.length(&d, 1.0);
            self.move_free(&d, t);
            let Some((position, bound)) = blocking else { break };
            for q in &mut q {
                *q *= 1.0 - t;
            }
            self.leave(position, bound, &mut q);
        }
        self.apply(&moved, None);
    }

    /// Step 3: all scores.
    fn score_all(&mut self) {
        for (i, score) in self.scores.iter_mut().enumerate() {
            *score = self.columns.rows.row(i).dot(&self.w);
        }
    }

    /// y - f - s^2 sum beta - b
    fn violation(&self, i: usize, offset: f64) -> f64 {
        let g = self.dual.y[i] - self.scores[i] - offset;
        let (low, high) = (self.dual.lower[i], self.dual.upper[i]);
        match (self.beta[i] <= low, self.beta[i] >= high) {
            (true, true) => 0.0,
            (true, false) => g.max(0.0),
            (false, true) => g.min(0.0),
            (false, false) => g,
        }
    }

    /// Trains on the features that are left.
    pub fn train(&mut self, settings: &SvmSettings, clock: &Clock) -> DualSolution {
        let mut moves = 0;
        if self.free.is_empty() {
            self.build();
        }
        if self.dual.bias == Bias::Free {
            self.ones = self.inverse.multiply(&vec![1.0; self.free.len()]);
        }
        let (mut idle, mut best, mut refined) = (0, f64::NEG_INFINITY, f64::INFINITY);
        let (mut repair, mut near) = (Repair::None, Vec::new());
        let mut unsettled = true;
        loop {
            if std::mem::take(&mut unsettled) {
                self.settle();
            }
            // Step 3.
            self.score_all();
            self.balance();
            let found = kkt::objectives(&self.dual, &self.beta, &self.scores);
            let gap = found.primal - found.dual;
            self.bias = self.middle().unwrap_or(found.bias);
            let met = gap <= settings.tolerance * found.primal.abs();
            let ended = |otherwise| if met { Status::Optimal } else { otherwise };
            // Exact steps: the optimum itself is near, and ranks features by their true weights.
            if gap <= EXACT * found.primal.abs() {
                return self.solution(&found, moves, Status::Optimal);
            }
            if let Some(status) = clock.stop().or((moves >= settings.max_epochs).then_some(Status::CallLimit)) {
                return self.solution(&found, moves, ended(status));
            }
            let spread = self.spread();
            let listed = self.list(0..self.beta.len(), spread);
            if spread > SPREAD {
                unsettled = true;
                // Rounding in R: once more, or a new R where that does not help.
                if spread > 0.1 * refined {
                    if !self.repair(&mut repair) {
                        return self.solution(&found, moves, ended(Status::Stalled));
                    }
                    refined = f64::INFINITY;
                } else {
                    refined = spread;
                }
                continue;
            }
            refined = f64::INFINITY;
            idle = if found.dual > best { 0 } else { idle + 1 };
            best = best.max(found.dual);
            let lost = moves > MOST_MOVES * self.columns.len() as u64;
            if listed.is_empty() || idle > PATIENCE || lost {
                if lost || !self.repair(&mut repair) {
                    return self.solution(&found, moves, ended(Status::Stalled));
                }
                (idle, unsettled) = (0, true);
                continue;
            }
            // Step 4.
            self.add_near(&mut near, &listed);
            moves += self.improve_near(listed, &near, spread, clock);
            repair = Repair::None;
        }
    }

    /// Computes w, the scores and R in full: on the same F, and where that did not help, on a new
    /// F; false where neither did.
    fn repair(&mut self, last: &mut Repair) -> bool {
        *last = match last {
            Repair::None => Repair::SameFree,
            Repair::SameFree => Repair::OtherFree,
            Repair::OtherFree => return false,
        };
        self.w = self.columns.rows.combination(&self.beta);
        self.columns.clear_dead(&mut self.w);
        self.score_all();
        match last {
            Repair::SameFree => self.invert(),
            _ => self.build(),
        }
        true
    }

    /// Middle of the values v takes on F.
    fn middle(&self) -> Option<f64> {
        if self.dual.bias != Bias::Free {
            return Some(0.0);
        }
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &i in &self.free {
            let v = self.dual.y[i] - self.scores[i];
            (low, high) = (low.min(v), high.max(v));
        }
        (!self.free.is_empty()).then_some(0.5 * (low + high))
    }

    /// Largest |v - b| over F.
    fn spread(&self) -> f64 {
        let offset = self.offset() + self.bias;
        self.free.iter().map(|&i| (self.dual.y[i] - self.scores[i] - offset).abs()).fold(0.0, f64::max)
    }

    /// (feature, w) of the features that are left, ascending.
    pub fn weights(&self) -> Vec<(usize, f64)> {
        self.columns.weights(&self.w)
    }

    fn solution(&self, found: &kkt::Objectives, iterations: u64, status: Status) -> DualSolution {
        DualSolution {
            kkt_residual: kkt::residual(&self.dual, &self.beta, &self.scores),
            beta: self.beta.clone(),
            bias: found.bias,
            weights: self.columns.weights(&self.w).into_iter().map(|e| e.1).collect(),
            primal: found.primal,
            dual: found.dual,
            absolute_gap: found.absolute_gap,
            iterations,
            status,
        }
    }
}
