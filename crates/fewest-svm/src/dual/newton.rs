//! Semismooth Newton with multipliers: trains a linear machine with few features in a few dozen
//! rounds, whatever C is.
//!
//! Solves   min 1/2 v'R v + sum_i loss_i(1 - y_i x_i.v), v = (w, bias) as in [`super::normal`],
//!          hinge or squared hinge.
//! Paper    Yan and Li, An efficient augmented Lagrangian method for support vector machine, Optim.
//!          Methods Softw. 2020, Algorithms 1 and 2; for the squared hinge alone Keerthi and
//!          DeCoste, JMLR 2005 (finite Newton).
//! Given    rows (n x p), box, optional start.
//! Returns  beta, w, bias, both objectives, status.
//! Steps    1. alpha(v), gradient, gap  2. stop on the gap  3. when smoothing is what is left: new
//!          multipliers, narrower band
//!          4. Hessian: add samples that entered the band, take away those that left  5. direction
//!             by Cholesky, few changes as terms of low rank
//!          6. exact line search
//! Cost     per round: one pass over the rows, another over those whose alpha changed, and (changed
//!          samples) p^2 / 2 + p^3 / 6, or where few changed within a band some p^2 for eight of
//!          them; memory: O(n + p^2).
//! Differs  from the papers: Cholesky with updates instead of conjugate gradients, and the duality
//!          gap steers everything. The band narrows faster after a subproblem of few steps, and the
//!          first step in it is that of the last band's samples.
//! Fails    never; stops with a status and the gap reached.
//!
//! With u_i = 1 - y_i x_i.v, multipliers a_i and stiffness k_i the augmented Lagrangian's dual
//! point is
//!
//! ```text
//! alpha_i(v) = min(max(a_i + k_i u_i, 0), C_i),      gradient = R v - sum_i y_i alpha_i x_i,
//! Hessian    = R + sum {k_i x_i x_i' : 0 < a_i + k_i u_i < C_i}        hinge: k_i = C_i / band
//! ```
//!
//! The squared hinge is the case a = 0, k_i = 2 C_i and no cap, where one subproblem is the whole
//! problem.

use super::low_rank::LowRank;
use super::normal::{Extended, Normal};
use super::patience::{Approach, Due};
use super::{Bias, BoxDual, DualSolution, Loss, SvmSettings, coordinate, kkt};
use crate::kernel::cholesky::Factor;
use crate::simd;
use crate::{Clock, RowMatrix, Status};

/// Numbers that steer the method, chosen by hand (`bench/log/training.md`); `make bench-train`
/// shows what a change costs.
mod tuning {
    /// Width of the first band, in units of the margin.
    pub(super) const FIRST_BAND: f64 = 0.5;
    /// Factor on the band at new multipliers, and after a subproblem of few steps.
    pub(super) const NARROWER: f64 = 0.6;
    pub(super) const MUCH_NARROWER: f64 = 0.1;
    pub(super) const FEW_STEPS: u32 = 2;
    /// Narrowest band: alpha has as many digits fewer as it is narrow.
    pub(super) const NARROWEST: f64 = 1e-5;
    /// New multipliers once the subproblem's share of the gap is below this.
    pub(super) const SETTLED: f64 = 0.1;
    /// Rounds without a better gap before it gives up.
    pub(super) const PATIENCE: u32 = 60;
    /// Rounds between two computations of the scores from v, which undo rounding.
    pub(super) const FRESH_SCORES: u64 = 8;
    /// Share of the slope at 0 that the exact line search may leave.
    pub(super) const FLAT: f64 = 0.1;
    /// Newton steps at most of a line search: enough to halve any bracket down to rounding, so it
    /// ends earlier.
    pub(super) const LINE_STEPS: usize = 40;
}
use tuning::{
    FEW_STEPS, FIRST_BAND, FLAT, FRESH_SCORES, LINE_STEPS, MUCH_NARROWER, NARROWER, NARROWEST, PATIENCE, SETTLED,
};

/// The values of one sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) y: f64,
    pub(super) cap: f64,
    /// a_i
    pub(super) multiplier: f64,
    /// k_i
    pub(super) stiffness: f64,
}

impl Sample {
    /// Sample i where the squared hinge is one subproblem.
    pub(super) fn of_squared_hinge(dual: &BoxDual, i: usize) -> Self {
        let cap = dual.upper[i] - dual.lower[i];
        Self { y: dual.y[i], cap, multiplier: 0.0, stiffness: 2.0 * dual.cost[i] }
    }

    /// a_i + k_i u_i, not yet clipped.
    #[inline(always)]
    pub(super) fn pull(&self, score: f64) -> f64 {
        self.multiplier + self.stiffness * (1.0 - self.y * score)
    }

    /// alpha_i at this score.
    #[inline(always)]
    pub(super) fn alpha(&self, score: f64) -> f64 {
        self.pull(score).clamp(0.0, self.cap)
    }
}

/// Trains from `start` (length n, a dual point).
pub(super) fn solve(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    let mut solver = Solver::new(rows, dual, start);
    let mut ending = Ending { best: None, approach: Approach::new(PATIENCE) };
    let mut round = 0;
    loop {
        // Step 1.
        let point = solver.evaluate();
        // Step 2.
        if let Some(solution) = ending.at(&solver, &point, round, settings, clock) {
            return solution;
        }
        round += 1;
        // Step 3.
        if solver.hinge && point.unsettled <= SETTLED * point.gap {
            solver.renew_multipliers();
            continue;
        }
        // Steps 4 and 5.
        let direction = match solver.update_hessian(clock).and_then(|()| solver.direction(&point, clock)) {
            Ok(direction) => direction,
            Err(status) => {
                ending.measure(&solver, round);
                return ending.with(status, round);
            }
        };
        // Step 6.
        solver.advance(&point, &direction);
        if round % FRESH_SCORES == 0 {
            solver.x.scores(&solver.v, &mut solver.scores);
        }
    }
}

/// The problem, the point v, and the Hessian at it.
struct Solver<'a> {
    rows: &'a RowMatrix,
    x: Extended<'a>,
    dual: &'a BoxDual,
    hinge: bool,
    samples: Vec<Sample>,
    band: f64,
    /// Steps since the multipliers are new; none before they are new for the first time.
    steps: Option<u32>,
    v: Vec<f64>,
    /// x_i.v
    scores: Vec<f64>,
    /// y_i alpha_i(v)
    beta: Vec<f64>,
    pulled: Pulled,
    hessian: Normal<'a>,
    /// Whether the Hessian is newer than its factor.
    is_stale: bool,
    factor: Factor,
    /// Samples (and k_i, negative where they left) that the Hessian lacks; in `low_rank` where its
    /// factor is not stale.
    pending: Vec<(usize, f64)>,
    low_rank: LowRank,
    /// Whether the sample is in the Hessian.
    inside: Vec<bool>,
    changes: Vec<(usize, f64)>,
    along: Vec<f64>,
}

/// Step 1: the gradient at v, the gap, and what of it the subproblem leaves.
pub(super) struct Point {
    /// R v
    penalised: Vec<f64>,
    /// The gradient, negated.
    pub(super) downhill: Vec<f64>,
    pub(super) primal: f64,
    pub(super) gap: f64,
    /// The gap of the subproblem; of the squared hinge, the gap itself.
    pub(super) unsettled: f64,
}

impl Point {
    /// Step 1: alpha(v), gradient, gap. `pull` gives `sum_i beta_i x_i`, the bias included.
    pub(super) fn new(
        x: Extended<'_>,
        dual: &BoxDual,
        samples: &[Sample],
        scores: &[f64],
        v: &[f64],
        beta: &mut [f64],
        pull: impl FnOnce(&[f64]) -> Vec<f64>,
    ) -> Self {
        let (mut loss, mut linear, mut ridge) = (0.0, 0.0, 0.0);
        let (cost, ridges, hinge) = (&dual.cost[..], &dual.ridge[..], dual.loss == Loss::Hinge);
        for i in 0..samples.len() {
            let s = &samples[i];
            let alpha = s.alpha(scores[i]);
            let slack = (1.0 - s.y * scores[i]).max(0.0);
            beta[i] = s.y * alpha;
            loss += cost[i] * if hinge { slack } else { slack * slack };
            linear += alpha;
            ridge += ridges[i] * alpha * alpha;
        }
        let penalised = x.penalised(v);
        let pull = pull(beta);
        let downhill: Vec<f64> = pull.iter().zip(&penalised).map(|(a, b)| a - b).collect();
        // An unbalanced beta counts against a free bias.
        let off = if x.is_free() { pull[pull.len() - 1].abs() } else { 0.0 };
        let primal = 0.5 * simd::dot(v, &penalised) + loss;
        let value = linear - 0.5 * (simd::dot(&pull, &pull) - off * off) - 0.5 * ridge;
        let bias = v.last().map_or(0.0, |b| b.abs());
        let unsettled = 0.5 * (simd::dot(&downhill, &downhill) - off * off) + off * (1.0 + bias);
        let gap = primal - value + off * (1.0 + bias);
        Self { penalised, downhill, primal, gap, unsettled }
    }
}

/// `sum_i beta_i x_i` at the last beta: the next one differs at few samples.
#[derive(Default)]
struct Pulled {
    beta: Vec<f64>,
    pull: Vec<f64>,
    /// Updates of `pull` since it was last summed in full, which undoes rounding.
    updates: u64,
}

impl Pulled {
    /// The sum at this beta.
    fn at(&mut self, x: Extended<'_>, beta: &[f64]) -> Vec<f64> {
        let changed: Vec<usize> = (0..self.beta.len()).filter(|&i| beta[i] != self.beta[i]).collect();
        if self.beta.is_empty() || self.updates == FRESH_SCORES || 2 * changed.len() > beta.len() {
            (self.pull, self.updates) = (x.weights(beta), 0);
        } else {
            let by: Vec<f64> = changed.iter().map(|&i| beta[i] - self.beta[i]).collect();
            x.add_rows(&changed, &by, &mut self.pull);
            self.updates += 1;
        }
        self.beta.clear();
        self.beta.extend_from_slice(beta);
        self.pull.clone()
    }
}

impl<'a> Solver<'a> {
    /// The state at the multipliers and weights of the start, if there is one.
    fn new(rows: &'a RowMatrix, dual: &'a BoxDual, start: Option<&[f64]>) -> Self {
        let n = dual.len();
        let hinge = dual.loss == Loss::Hinge;
        let x = Extended::new(rows, dual.bias);
        let band = FIRST_BAND;
        let sample = |i: usize| {
            let cost = dual.cost[i];
            let cap = dual.upper[i] - dual.lower[i];
            let multiplier = start.filter(|_| hinge).map_or(0.0, |beta| beta[i].abs().min(cap));
            Sample { y: dual.y[i], cap, multiplier, stiffness: if hinge { cost / band } else { 2.0 * cost } }
        };
        let mut v = start.map_or_else(|| vec![0.0; x.width()], |beta| x.weights(beta));
        let mut scores = vec![0.0; n];
        if let (Some(beta), Bias::Free) = (start, dual.bias) {
            v[rows.n_features()] = 0.0;
            x.scores(&v, &mut scores);
            v[rows.n_features()] = kkt::objectives(dual, beta, &scores).bias;
        }
        x.scores(&v, &mut scores);
        Self {
            rows,
            x,
            dual,
            hinge,
            samples: (0..n).map(sample).collect(),
            band,
            steps: None,
            v,
            scores,
            beta: vec![0.0; n],
            pulled: Pulled::default(),
            hessian: Normal::new(x),
            is_stale: true,
            factor: Factor::new(x.width()),
            pending: Vec::new(),
            low_rank: LowRank::default(),
            inside: vec![false; n],
            changes: Vec::new(),
            along: vec![0.0; n],
        }
    }

    /// Step 1.
    fn evaluate(&mut self) -> Point {
        let (x, pulled) = (self.x, &mut self.pulled);
        Point::new(x, self.dual, &self.samples, &self.scores, &self.v, &mut self.beta, |beta| pulled.at(x, beta))
    }

    /// Step 3: alpha becomes the multipliers, and the band narrower.
    fn renew_multipliers(&mut self) {
        let factor = if self.steps.is_some_and(|steps| steps <= FEW_STEPS) { MUCH_NARROWER } else { NARROWER };
        let factor = factor.max((NARROWEST / self.band).min(1.0));
        self.steps = Some(0);
        self.band *= factor;
        for (i, s) in self.samples.iter_mut().enumerate() {
            s.multiplier = s.y * self.beta[i];
            s.stiffness = s.cap / self.band;
        }
        if factor < 1.0 {
            self.hessian.scale(1.0 / factor);
            self.pending.iter_mut().for_each(|change| change.1 /= factor);
            self.is_stale = true;
        }
    }

    /// Step 4: adds the samples that entered the band, takes away those that left. At new multipliers
    /// those of the last band stay: at the old v too many seem to leave the narrower one.
    fn update_hessian(&mut self, clock: &Clock) -> Result<(), Status> {
        self.changes.clear();
        let (mut kept, is_new) = (0, self.steps == Some(0));
        for (i, s) in self.samples.iter().enumerate() {
            let pull = s.pull(self.scores[i]);
            let now = if is_new { self.inside[i] } else { pull > 0.0 && pull < s.cap };
            kept += usize::from(now);
            if now != self.inside[i] {
                self.changes.push((i, if now { s.stiffness } else { -s.stiffness }));
                self.inside[i] = now;
            }
        }
        if !self.is_stale && self.low_rank.pays(self.changes.len(), self.x.width()) {
            let terms: Vec<_> = self.changes.iter().map(|&(i, d)| (self.x.row(i), d)).collect();
            if self.low_rank.add(&self.factor, &terms) {
                self.pending.append(&mut self.changes);
                return Ok(());
            }
        }
        self.changes.append(&mut self.pending);
        self.is_stale |= !self.changes.is_empty();
        if self.changes.iter().filter(|c| c.1 < 0.0).count() > kept {
            // Taking away much costs time and digits: start again instead.
            let (inside, samples) = (&self.inside, &self.samples);
            self.hessian.clear();
            let kept = (0..inside.len()).filter(|&i| inside[i]).map(|i| (i, samples[i].stiffness));
            self.hessian.add_until(kept, clock)
        } else {
            self.hessian.add_until(self.changes.iter().copied(), clock)
        }
    }

    /// Step 5: by Cholesky.
    fn direction(&mut self, point: &Point, clock: &Clock) -> Result<Vec<f64>, Status> {
        if self.is_stale {
            self.hessian.factor_until(&mut self.factor, clock)?;
            self.low_rank.clear();
            self.is_stale = false;
        }
        if self.steps == Some(0) {
            // As if none of them left its box: what alpha is cut off by counts, too.
            let cut: Vec<f64> = (self.samples.iter().zip(&self.scores).zip(&self.inside))
                .map(|((s, &score), &inside)| if inside { s.y * (s.pull(score) - s.alpha(score)) } else { 0.0 })
                .collect();
            let mut right = self.x.weights(&cut);
            simd::axpy(1.0, &point.downhill, &mut right);
            let direction = self.low_rank.solve(&self.factor, &right);
            if simd::dot(&direction, &point.downhill) > 0.0 {
                return Ok(direction);
            }
        }
        Ok(self.low_rank.solve(&self.factor, &point.downhill))
    }

    /// Step 6: to the minimum along the direction.
    fn advance(&mut self, point: &Point, direction: &[f64]) {
        self.x.scores(direction, &mut self.along);
        let slope = simd::dot(&point.penalised, direction);
        let curve = simd::dot(direction, &self.x.penalised(direction));
        let start = simd::dot(&point.downhill, direction);
        let step = line_search(&self.samples, &self.scores, &self.along, slope, curve, start);
        self.steps = self.steps.map(|steps| steps + 1);
        for (v, d) in self.v.iter_mut().zip(direction) {
            *v += step * d;
        }
        for (f, a) in self.scores.iter_mut().zip(&self.along) {
            *f += step * a;
        }
    }
}

/// The stopping rule, and the best feasible point so far.
struct Ending {
    best: Option<DualSolution>,
    approach: Approach,
}

impl Ending {
    /// Step 2: the answer, if it is time. Near the gap aimed at, alpha is made feasible and
    /// measured.
    fn at(
        &mut self,
        solver: &Solver<'_>,
        point: &Point,
        round: u64,
        settings: &SvmSettings,
        clock: &Clock,
    ) -> Option<DualSolution> {
        let Due { limit } = self.approach.due(point.gap, point.primal, round, settings, clock)?;
        let gap = self.measure(solver, round);
        if gap <= settings.tolerance {
            return Some(self.with(Status::Optimal, round));
        }
        self.approach.aim_lower();
        limit.map(|status| self.with(status, round))
    }

    /// Makes alpha feasible, and keeps the better point; returns the gap of the current point.
    fn measure(&mut self, solver: &Solver<'_>, round: u64) -> f64 {
        let now = coordinate::finish(solver.rows, solver.dual, solver.beta.clone(), round, Status::Optimal);
        let gap = now.gap();
        if self.best.as_ref().is_none_or(|b| b.gap().is_nan() || gap < b.gap()) {
            self.best = Some(now);
        }
        gap
    }

    /// The best point, measured before.
    fn with(&mut self, status: Status, iterations: u64) -> DualSolution {
        let best = self.best.take().expect("measured before");
        DualSolution { iterations, status, ..best }
    }
}

/// The step t >= 0 where the derivative along the direction is 0: it is piecewise linear and
/// growing, so Newton steps kept inside the bracket end after a few pieces; a tenth of the slope
/// `-start` at 0 is near enough. `slope` and `curve` belong to the penalty.
pub(super) fn line_search(
    samples: &[Sample],
    scores: &[f64],
    along: &[f64],
    slope: f64,
    curve: f64,
    start: f64,
) -> f64 {
    let derivative = |t: f64| {
        let (mut first, mut second) = (slope + t * curve, curve);
        for ((s, f), a) in samples.iter().zip(scores).zip(along) {
            let pull = s.pull(f + t * a);
            first -= s.y * a * pull.clamp(0.0, s.cap);
            second += if pull > 0.0 && pull < s.cap { s.stiffness * a * a } else { 0.0 };
        }
        (first, second)
    };
    flat_point(derivative, FLAT * start)
}

/// A t > 0 where a growing, piecewise linear derivative is at most `near` in size: Newton steps
/// kept inside the bracket. `derivative` gives the derivative and its slope.
pub fn flat_point(derivative: impl Fn(f64) -> (f64, f64), near: f64) -> f64 {
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..LINE_STEPS {
        let (first, second) = derivative(t);
        if first.abs() <= near || second <= 0.0 {
            break;
        }
        if first > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let next = t - first / second;
        t = if next > low && next < high {
            next
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * t
        };
    }
    t
}
