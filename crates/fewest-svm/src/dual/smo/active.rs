//! The active part of an SMO run: the variables that pair steps move, and how they are chosen.

use super::Evaluation;
use super::loops::{LEAST_CURVATURE, best_alone, best_partner, hinge_gap, update_one, update_pair};
use super::tuning::WORTH_SHRINKING;
use crate::Clock;
use crate::dual::active_set::{ActiveSet, Point};
use crate::dual::{Bias, BoxDual, Loss};
use crate::kernel::gram::GramMatrix;
use crate::kernel::rows::KernelRows;

/// The active part of the problem, by position; `sample[a]` is the sample at position a.
#[derive(Default)]
pub(super) struct Active {
    pub(super) sample: Vec<usize>,
    pub(super) v: Vec<f64>,
    pub(super) beta: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    /// K_tt + ridge_t + s^2
    pub(super) curvature: Vec<f64>,
    /// No step is made along a smaller curvature.
    pub(super) least: f64,
    /// 0 where beta may grow, -infinity where not.
    pub(super) grow: Vec<f64>,
    /// 0 where beta may shrink, +infinity where not.
    pub(super) fall: Vec<f64>,
    /// Dual objective of all samples, followed step by step.
    pub(super) value: f64,
}

impl Active {
    pub(super) fn all<R: KernelRows>(rows: &R, dual: &BoxDual, beta: &[f64], evaluation: &Evaluation) -> Self {
        let mut active = Self { value: evaluation.objectives.dual, ..Self::default() };
        active.push(rows, dual, beta, &evaluation.scores, &(0..dual.len()));
        active
    }

    pub(super) fn push<R: KernelRows>(
        &mut self,
        rows: &R,
        dual: &BoxDual,
        beta: &[f64],
        scores: &[f64],
        samples: &(impl Iterator<Item = usize> + Clone),
    ) {
        let first = self.len();
        let offset = dual.bias_square() * beta.iter().sum::<f64>();
        let each = || samples.clone();
        self.sample.extend(each());
        self.v.extend(each().map(|t| dual.y[t] - scores[t] - dual.ridge[t] * beta[t] - offset));
        self.beta.extend(each().map(|t| beta[t]));
        self.lower.extend(each().map(|t| dual.lower[t]));
        self.upper.extend(each().map(|t| dual.upper[t]));
        self.curvature.extend(each().map(|t| rows.diagonal(t) + dual.ridge[t] + dual.bias_square()));
        let largest = self.curvature[first..].iter().fold(f64::MIN_POSITIVE, |most: f64, c| most.max(*c));
        self.least = self.least.max(LEAST_CURVATURE * largest);
        self.grow.resize(self.sample.len(), 0.0);
        self.fall.resize(self.sample.len(), 0.0);
        for a in first..self.len() {
            self.mark(a);
        }
    }

    /// No samples; what the vectors hold of memory stays.
    pub(super) fn clear(&mut self) {
        self.sample.clear();
        self.least = 0.0;
        self.fields().into_iter().for_each(Vec::clear);
    }

    /// The values of each sample.
    pub(super) fn fields(&mut self) -> [&mut Vec<f64>; 7] {
        [
            &mut self.v,
            &mut self.beta,
            &mut self.lower,
            &mut self.upper,
            &mut self.curvature,
            &mut self.grow,
            &mut self.fall,
        ]
    }

    pub(super) fn len(&self) -> usize {
        self.sample.len()
    }

    /// Number of variables strictly inside their box.
    pub(super) fn free(&self) -> usize {
        self.grow.iter().zip(&self.fall).filter(|(grow, fall)| **grow == 0.0 && **fall == 0.0).count()
    }

    /// Step 6: rounds of the active-set method until the gap is met; returns how many.
    pub(super) fn exact_steps(
        &mut self,
        gram: &GramMatrix,
        dual: &BoxDual,
        memory: &mut ActiveSet,
        rounds: u64,
        tolerance: f64,
        clock: &Clock,
    ) -> u64 {
        let mut point = Point { beta: &mut self.beta, v: &mut self.v, value: &mut self.value };
        let mut settled = |point: &Point<'_>, b: f64| {
            let gap = total_gap(dual, None, point.beta, point.v, b);
            gap <= 0.5 * tolerance * (*point.value + gap).abs()
        };
        let used = memory.improve(gram, dual, &mut point, rounds, &mut settled, clock);
        for a in 0..self.len() {
            self.mark(a);
        }
        used
    }

    pub(super) fn mark(&mut self, a: usize) {
        self.grow[a] = if self.beta[a] < self.upper[a] { 0.0 } else { f64::NEG_INFINITY };
        self.fall[a] = if self.beta[a] > self.lower[a] { 0.0 } else { f64::INFINITY };
    }

    /// Step 3: moves the pair, updates v, and finds the next i in the same pass.
    pub(super) fn step<R: KernelRows>(
        &mut self,
        rows: &mut R,
        dual: &BoxDual,
        pair: &Pair,
        shift: f64,
    ) -> (usize, f64) {
        let i = pair.i;
        let Some(j) = pair.j else {
            let best = self.beta[i] + self.v[i] / self.curvature[i].max(self.least);
            let moved = best.clamp(self.lower[i], self.upper[i]);
            let d = moved - self.beta[i];
            self.value += d * (self.v[i] - 0.5 * d * self.curvature[i]);
            self.beta[i] = moved;
            self.mark(i);
            let (row, _) = rows.pair(i, i);
            update_one(&mut self.v, row, d, shift);
            self.v[i] -= d * dual.ridge[self.sample[i]];
            return (i, 0.0);
        };
        let (row_i, row_j) = rows.pair(i, j);
        let cross: f64 = row_i[j].into();
        let curvature = (self.curvature[i] + self.curvature[j] - 2.0 * cross).max(self.least);
        let (room_i, room_j) = (self.upper[i] - self.beta[i], self.beta[j] - self.lower[j]);
        let d = ((self.v[i] - self.v[j]) / curvature).min(room_i).min(room_j);
        self.value += d * (self.v[i] - self.v[j] - 0.5 * d * curvature);
        self.beta[i] = if d == room_i { self.upper[i] } else { self.beta[i] + d };
        self.beta[j] = if d == room_j { self.lower[j] } else { self.beta[j] - d };
        self.mark(i);
        self.mark(j);
        self.v[i] -= d * dual.ridge[self.sample[i]];
        self.v[j] += d * dual.ridge[self.sample[j]];
        update_pair(&mut self.v, &self.grow, row_i, row_j, d)
    }

    /// Duality gap summed over the active samples at bias b, and the primal value it belongs to
    /// (samples that are not active sit at their bound on the right side of the margin, where they
    /// add nothing to the gap).
    pub(super) fn gap(&self, dual: &BoxDual, b: f64) -> (f64, f64) {
        let gap = total_gap(dual, Some(&self.sample), &self.beta, &self.v, b);
        (gap, self.value + gap)
    }

    /// Step 4: drops samples at a bound whose gradient points outwards by more than the current
    /// violation explains. Returns whether any left.
    pub(super) fn shrink<R: KernelRows>(&mut self, rows: &mut R, dual: &BoxDual, middle: f64, violation: f64) -> bool {
        let (high, low) = match dual.bias {
            Bias::Free => (middle + 0.5 * violation, middle - 0.5 * violation),
            Bias::Penalised(_) | Bias::None => (violation, -violation),
        };
        let stays = |a: &usize| {
            let held_low = self.fall[*a] != 0.0 && self.v[*a] < low;
            let held_high = self.grow[*a] != 0.0 && self.v[*a] > high;
            !(held_low || held_high)
        };
        let keep: Vec<usize> = (0..self.len()).filter(stays).collect();
        // Compacting the cached rows costs as much as it saves when few samples leave.
        if keep.len() < 2 || keep.len() as f64 > WORTH_SHRINKING * self.len() as f64 {
            return false;
        }
        rows.shrink(&keep);
        self.sample = keep.iter().map(|&a| self.sample[a]).collect();
        for field in self.fields() {
            *field = keep.iter().map(|&a| field[a]).collect();
        }
        true
    }

    /// Copies the active betas into those of all samples.
    pub(super) fn write_back(&self, beta: &mut [f64]) {
        for (&t, &b) in self.sample.iter().zip(&self.beta) {
            beta[t] = b;
        }
    }

    /// Step 5: fresh gradients, and every sample that left comes back.
    pub(super) fn restore<R: KernelRows>(
        &mut self,
        rows: &mut R,
        dual: &BoxDual,
        beta: &[f64],
        evaluation: &Evaluation,
    ) {
        self.value = evaluation.objectives.dual;
        let offset = dual.bias_square() * beta.iter().sum::<f64>();
        let mut present = vec![false; dual.len()];
        for a in 0..self.len() {
            let t = self.sample[a];
            present[t] = true;
            self.beta[a] = beta[t];
            self.v[a] = dual.y[t] - evaluation.scores[t] - dual.ridge[t] * beta[t] - offset;
            self.mark(a);
        }
        let back: Vec<usize> = (0..dual.len()).filter(|&t| !present[t]).collect();
        if !back.is_empty() {
            rows.extend(&back);
            self.push(rows, dual, beta, &evaluation.scores, &back.iter().copied());
        }
    }
}
/// The variables to move, with the step direction (1, -1); `j` is absent when one variable moves
/// alone.
pub(super) struct Pair {
    pub(super) i: usize,
    pub(super) j: Option<usize>,
    /// Violation of the optimality conditions: v_i - min v_t, or the largest projected gradient.
    pub(super) violation: f64,
    /// The bias in the middle of the violating interval.
    pub(super) middle: f64,
}

impl Pair {
    pub(super) fn choose<R: KernelRows>(rows: &mut R, active: &Active, i: usize, top: f64) -> Self {
        if top == f64::NEG_INFINITY {
            return Self { i, j: None, violation: 0.0, middle: 0.0 };
        }
        let (row, _) = rows.pair(i, i);
        let curvature = (active.curvature[i], active.least);
        let partner = best_partner(&active.v, &active.fall, &active.curvature, row, top, curvature);
        // A negative violation is the width of an interval of best biases.
        let width = if partner.violation == f64::NEG_INFINITY { 0.0 } else { partner.violation };
        Self { i, j: Some(partner.index), violation: width.max(0.0), middle: top - 0.5 * width }
    }

    pub(super) fn choose_one(active: &Active) -> Self {
        let partner = best_alone(&active.v, &active.grow, &active.fall, &active.curvature, active.least);
        Self { i: partner.index, j: None, violation: partner.violation.max(0.0), middle: 0.0 }
    }
}

/// Duality gap of the listed samples (all when none are listed) at bias b; every term is 0 or more
/// when beta is feasible.
pub(super) fn total_gap(dual: &BoxDual, samples: Option<&[usize]>, beta: &[f64], v: &[f64], b: f64) -> f64 {
    if samples.is_none() && dual.loss == Loss::Hinge {
        return hinge_gap(&dual.y, &dual.cost, beta, v, b);
    }
    let mut gap = 0.0;
    for a in 0..beta.len() {
        let t = samples.map_or(a, |s| s[a]);
        let (beta, ridge, cost) = (beta[a], dual.ridge[t], dual.cost[t]);
        // r = y - f - b
        let r = v[a] + ridge * beta - b;
        let xi = (dual.y[t] * r).max(0.0);
        gap += match dual.loss {
            Loss::Hinge => cost * xi - beta * r,
            Loss::SquaredHinge => cost * xi * xi - beta * r + 0.5 * ridge * beta * beta,
        };
    }
    gap
}
