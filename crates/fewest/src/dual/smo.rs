//! SMO: sequential minimal optimisation of the SVM dual for any kernel, with second-order working sets and shrinking.
//!
//! Solves   the dual of [`super`] for any kernel matrix, any loss and bias.
//! Paper    Platt 1998; Keerthi et al. 2001 (violating pair); Fan, Chen, Lin, JMLR 2005, WSS 2 (second-order choice);
//!          Joachims 1999 and Chang, Lin 2011, section 4 (shrinking, cache).
//! Given    [`KernelRows`], [`BoxDual`], a start (optional), settings.       Returns  beta, scores f = K beta, bias.
//! Steps    with the dual gradient `v_t = y_t - f_t - ridge_t beta_t - s^2 sum beta`:
//!          1. i = argmax {v_t : beta_t < upper_t}
//!          2. j = the partner among {beta_t > lower_t} with the largest gain `(v_i - v_t)^2 / curvature`
//!          3. beta_i += d, beta_j -= d, d the Newton step cut to the box;  v -= d (K_i - K_j)
//!          4. now and then: the duality gap over the active samples; stop, or drop samples that sit at a bound
//!          5. before stopping: v of all samples afresh in f64, samples that violate come back
//!          6. with a whole matrix at hand: rounds of the active-set method ([`super::active_set`]), at once from a warm
//!             start, else after n pair steps; it ends the slow tail of pair steps on ill-conditioned free sets
//!          Without the equality (penalised or no bias) one variable moves at a time: 1'. the largest gain `v^2 / K_tt`.
//! Cost     per step O(active samples) and two kernel rows; memory: the rows' cache and 6 n numbers.
//! Differs  from LIBSVM: signed variables, so rows need no labels; stopping on the relative duality gap; rows in f32 are
//!          corrected by step 5 (an iterative refinement), so the gap reported is that of the f64 problem.
//! Fails    never; a limit or numerical end is a status.

mod loops;
mod settle;

pub(crate) use settle::{Room, settle};

use loops::{LEAST_CURVATURE, best_alone, best_partner, hinge_gap, largest_growing, update_one, update_pair};

use super::active_set::{ActiveSet, Point};
use super::{Bias, BoxDual, DualSolution, Loss, SvmSettings, kkt};
use crate::Status;
use crate::kernel::gram::GramMatrix;
use crate::kernel::rows::KernelRows;

/// A pair or variable violating by less than this (in units of the margin) cannot be improved in f64.
const LEAST_VIOLATION: f64 = 1e-14;

/// Pair steps that cost as much as inverting the matrix of `free` variables and some rounds with it: a step streams about
/// 24 n numbers' worth of products, a round about `free` n.
fn exact_cost(free: usize, n: usize) -> u64 {
    (free * free / 24 * free / n.max(1) + 25 * free) as u64
}

/// The active part of the problem, by position; `sample[a]` is the sample at position a.
#[derive(Default)]
struct Active {
    sample: Vec<usize>,
    v: Vec<f64>,
    beta: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// K_tt + ridge_t + s^2
    curvature: Vec<f64>,
    /// 0 where beta may grow, -infinity where not.
    grow: Vec<f64>,
    /// 0 where beta may shrink, +infinity where not.
    fall: Vec<f64>,
    /// Dual objective of all samples, followed step by step.
    value: f64,
}

/// Best beta for the kernel rows given. `memory` carries the free set from one training to the next ([`ActiveSet::default`]
/// to begin with). `weights` of the solution are left empty: only linear callers know the features.
pub fn solve<R: KernelRows>(
    rows: &mut R,
    dual: &BoxDual,
    start: Option<&[f64]>,
    memory: &mut ActiveSet,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let n = dual.len();
    let mut beta = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
    let mut judged = Judged::new(rows, dual, &mut beta);
    let mut active = Active::all(rows, dual, &beta, &judged);
    let shift = dual.bias_square();
    let cap = settings.max_epochs.saturating_mul(n.max(1) as u64);
    let mut iterations = 0u64;
    // Whether every sample is active and v is fresh.
    let mut fresh = true;
    let mut refinements_without_progress = 0;
    let mut schedule = GapSchedule::new(active.len());
    let mut pace = Pace::new(n, 0, active.value);
    let shrink_period = n.clamp(1, 1000) as u64;
    let mut next_shrink = shrink_period;
    // The free set of an earlier training is tried as it is; otherwise pair steps come first, at least until they have cost as
    // much as exact steps would.
    let mut wait = n as u64;
    let mut next_exact = if memory.is_new() { wait } else { 0 };
    let mut cold = memory.is_new();
    let (mut i, mut top) = largest_growing(&active.v, &active.grow);

    let status = loop {
        // Steps 1 and 2.
        let choice = match dual.bias {
            Bias::Free => Pair::choose(rows, &active, i, top),
            Bias::Penalised(_) | Bias::None => Pair::choose_one(&active),
        };
        let mut finished_numerically = choice.violation <= LEAST_VIOLATION * (1.0 + top.abs());
        if finished_numerically || schedule.due(choice.violation, iterations) {
            // Step 4.
            let (gap, primal) = active.gap(dual, choice.middle);
            finished_numerically |= pace.hopeless(iterations, active.value, gap);
            let wanted = settings.tolerance * primal.abs();
            schedule.checked(choice.violation, gap, wanted, iterations);
            if gap <= wanted || finished_numerically {
                if fresh && gap <= wanted {
                    break Status::Optimal;
                }
                // Step 5.
                let before = judged.gap();
                let shrunk = active.len() < n;
                active.write_back(&mut beta);
                judged = Judged::new(rows, dual, &mut beta);
                if judged.gap() <= settings.tolerance {
                    break Status::Optimal;
                }
                let progress = shrunk || judged.gap() < 0.5 * before;
                refinements_without_progress = if progress { 0 } else { refinements_without_progress + 1 };
                if refinements_without_progress > 3 {
                    break Status::Stalled;
                }
                active.restore(rows, dual, &beta, &judged);
                fresh = true;
                pace = Pace::new(n, iterations, active.value);
                schedule = GapSchedule::new(active.len());
                next_shrink = iterations + shrink_period;
                (i, top) = largest_growing(&active.v, &active.grow);
                continue;
            }
            if iterations >= next_shrink && rows.can_shrink() {
                next_shrink = iterations + shrink_period;
                active.write_back(&mut beta);
                if active.shrink(rows, dual, choice.middle, choice.violation) {
                    fresh = false;
                    (i, top) = largest_growing(&active.v, &active.grow);
                    continue;
                }
            }
            let limit = if iterations >= cap { Some(Status::CallLimit) } else { stop() };
            if let Some(limit) = limit {
                active.write_back(&mut beta);
                judged = Judged::new(rows, dual, &mut beta);
                break limit;
            }
        }
        fresh = false;
        iterations += 1;
        // Step 6.
        if iterations >= next_exact
            && let Some(gram) = rows.whole()
        {
            let worth = if cold { exact_cost(active.free(), n) } else { 0 };
            if iterations >= worth {
                cold = false;
                let rounds = 50 + active.len() as u64 / 4;
                let used = active.exact_steps(gram, dual, memory, rounds, settings.tolerance, stop);
                iterations += used;
                wait *= 2;
                next_exact = iterations + wait.max(4 * used);
                (i, top) = largest_growing(&active.v, &active.grow);
                continue;
            }
            next_exact = worth.min(2 * iterations);
        }
        // Step 3.
        (i, top) = active.step(rows, dual, &choice, shift);
    };

    memory.trained();
    DualSolution {
        kkt_residual: kkt::residual(dual, &beta, &judged.scores),
        beta,
        bias: judged.objectives.bias,
        weights: Vec::new(),
        primal: judged.objectives.primal,
        dual: judged.objectives.dual,
        iterations,
        status,
    }
}

/// A feasible beta with its f64 scores and objectives.
struct Judged {
    scores: Vec<f64>,
    objectives: kkt::Objectives,
}

impl Judged {
    /// Makes beta feasible and evaluates it.
    fn new<R: KernelRows>(rows: &R, dual: &BoxDual, beta: &mut [f64]) -> Self {
        kkt::make_feasible(dual, beta);
        let scores = if beta.iter().all(|&b| b == 0.0) { vec![0.0; dual.len()] } else { rows.scores(beta) };
        let objectives = kkt::objectives(dual, beta, &scores);
        Self { scores, objectives }
    }

    fn gap(&self) -> f64 {
        kkt::relative_gap(self.objectives.primal, self.objectives.dual)
    }
}

/// Duality gap of the listed samples (all when none are listed) at bias b; every term is 0 or more when beta is feasible.
fn total_gap(dual: &BoxDual, samples: Option<&[usize]>, beta: &[f64], v: &[f64], b: f64) -> f64 {
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

/// The variables to move, with the step direction (1, -1); `j` is absent when one variable moves alone.
struct Pair {
    i: usize,
    j: Option<usize>,
    /// Violation of the optimality conditions: v_i - min v_t, or the largest projected gradient.
    violation: f64,
    /// The bias in the middle of the violating interval.
    middle: f64,
}

impl Pair {
    fn choose<R: KernelRows>(rows: &mut R, active: &Active, i: usize, top: f64) -> Self {
        if top == f64::NEG_INFINITY {
            return Self { i, j: None, violation: 0.0, middle: 0.0 };
        }
        let (row, _) = rows.pair(i, i);
        let partner = best_partner(&active.v, &active.fall, &active.curvature, row, top, active.curvature[i]);
        // A negative violation is the width of an interval of best biases.
        let width = if partner.violation == f64::NEG_INFINITY { 0.0 } else { partner.violation };
        Self { i, j: Some(partner.index), violation: width.max(0.0), middle: top - 0.5 * width }
    }

    fn choose_one(active: &Active) -> Self {
        let partner = best_alone(&active.v, &active.grow, &active.fall, &active.curvature);
        Self { i: partner.index, j: None, violation: partner.violation.max(0.0), middle: 0.0 }
    }
}

impl Active {
    fn all<R: KernelRows>(rows: &R, dual: &BoxDual, beta: &[f64], judged: &Judged) -> Self {
        let mut active = Self { value: judged.objectives.dual, ..Self::default() };
        active.push(rows, dual, beta, &judged.scores, &(0..dual.len()));
        active
    }

    fn push<R: KernelRows>(
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
        self.grow.resize(self.sample.len(), 0.0);
        self.fall.resize(self.sample.len(), 0.0);
        for a in first..self.len() {
            self.mark(a);
        }
    }

    /// No samples; what the vectors hold of memory stays.
    fn clear(&mut self) {
        self.sample.clear();
        self.fields().into_iter().for_each(Vec::clear);
    }

    /// What is known of each sample.
    fn fields(&mut self) -> [&mut Vec<f64>; 7] {
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

    fn len(&self) -> usize {
        self.sample.len()
    }

    /// Number of variables strictly inside their box.
    fn free(&self) -> usize {
        self.grow.iter().zip(&self.fall).filter(|(grow, fall)| **grow == 0.0 && **fall == 0.0).count()
    }

    /// Step 6: rounds of the active-set method until the gap is met; returns how many.
    fn exact_steps(
        &mut self,
        gram: &GramMatrix,
        dual: &BoxDual,
        memory: &mut ActiveSet,
        rounds: u64,
        tolerance: f64,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> u64 {
        let mut point = Point { beta: &mut self.beta, v: &mut self.v, value: &mut self.value };
        let mut settled = |point: &Point<'_>, b: f64| {
            let gap = total_gap(dual, None, point.beta, point.v, b);
            gap <= 0.5 * tolerance * (*point.value + gap).abs()
        };
        let used = memory.improve(gram, dual, &mut point, rounds, &mut settled, &mut || stop().is_some());
        for a in 0..self.len() {
            self.mark(a);
        }
        used
    }

    fn mark(&mut self, a: usize) {
        self.grow[a] = if self.beta[a] < self.upper[a] { 0.0 } else { f64::NEG_INFINITY };
        self.fall[a] = if self.beta[a] > self.lower[a] { 0.0 } else { f64::INFINITY };
    }

    /// Step 3: moves the pair, updates v, and finds the next i in the same pass.
    fn step<R: KernelRows>(&mut self, rows: &mut R, dual: &BoxDual, pair: &Pair, shift: f64) -> (usize, f64) {
        let i = pair.i;
        let Some(j) = pair.j else {
            let wanted = self.beta[i] + self.v[i] / self.curvature[i].max(LEAST_CURVATURE);
            let moved = wanted.clamp(self.lower[i], self.upper[i]);
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
        let curvature = (self.curvature[i] + self.curvature[j] - 2.0 * cross).max(LEAST_CURVATURE);
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

    /// Duality gap summed over the active samples at bias b, and the primal value it belongs to (samples that are not
    /// active sit at their bound on the right side of the margin, where they add nothing to the gap).
    fn gap(&self, dual: &BoxDual, b: f64) -> (f64, f64) {
        let gap = total_gap(dual, Some(&self.sample), &self.beta, &self.v, b);
        (gap, self.value + gap)
    }

    /// Step 4: drops samples at a bound whose gradient points outwards by more than the current violation explains.
    /// Returns whether any left.
    fn shrink<R: KernelRows>(&mut self, rows: &mut R, dual: &BoxDual, middle: f64, violation: f64) -> bool {
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
        if keep.len() < 2 || keep.len() as f64 > 0.9 * self.len() as f64 {
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
    fn write_back(&self, beta: &mut [f64]) {
        for (&t, &b) in self.sample.iter().zip(&self.beta) {
            beta[t] = b;
        }
    }

    /// Step 5: fresh gradients, and every sample that left comes back.
    fn restore<R: KernelRows>(&mut self, rows: &mut R, dual: &BoxDual, beta: &[f64], judged: &Judged) {
        self.value = judged.objectives.dual;
        let offset = dual.bias_square() * beta.iter().sum::<f64>();
        let mut present = vec![false; dual.len()];
        for a in 0..self.len() {
            let t = self.sample[a];
            present[t] = true;
            self.beta[a] = beta[t];
            self.v[a] = dual.y[t] - judged.scores[t] - dual.ridge[t] * beta[t] - offset;
            self.mark(a);
        }
        let back: Vec<usize> = (0..dual.len()).filter(|&t| !present[t]).collect();
        if !back.is_empty() {
            rows.extend(&back);
            self.push(rows, dual, beta, &judged.scores, &back.iter().copied());
        }
    }
}

/// Growth of the dual objective over the last 10 n steps, against what is left to gain.
struct Pace {
    window: u64,
    mark: u64,
    value: f64,
}

impl Pace {
    fn new(n: usize, iteration: u64, value: f64) -> Self {
        Self { window: 10 * n as u64, mark: iteration + 10 * n as u64, value }
    }

    /// Whether closing `gap` at the pace of the last window would take more than 10 000 of them: rounding has taken over.
    fn hopeless(&mut self, iteration: u64, value: f64, gap: f64) -> bool {
        if iteration < self.mark {
            return false;
        }
        let growth = value - self.value;
        (self.mark, self.value) = (iteration + self.window, value);
        growth * 10_000.0 < gap
    }
}

/// When to spend O(n) on the duality gap: when the violation has fallen to where the gap should be met, judging by the
/// last one (the gap falls between linearly and quadratically with the violation), or after n steps.
struct GapSchedule {
    wait: u64,
    next: u64,
    threshold: f64,
}

impl GapSchedule {
    fn new(active: usize) -> Self {
        Self { wait: (active as u64).clamp(20, 2000), next: 0, threshold: f64::INFINITY }
    }

    fn due(&self, violation: f64, iteration: u64) -> bool {
        violation <= self.threshold || iteration >= self.next
    }

    fn checked(&mut self, violation: f64, gap: f64, wanted: f64, iteration: u64) {
        self.next = iteration + self.wait;
        self.threshold = violation * (wanted / gap.max(f64::MIN_POSITIVE)).sqrt().clamp(0.05, 0.8);
    }
}
