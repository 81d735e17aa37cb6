//! Primal-dual interior-point training of a linear machine with few features: a steady number of
//! rounds whatever C is.
//!
//! Solves   the dual of [`super`] for a linear kernel; the hinge here, the squared hinge by
//!          `newton.rs`.
//! Paper    Fine and Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR
//!          2001; Ferris and Munson, Interior-point methods for massive SVMs, SIAM J. Optim. 2002;
//!          steps of Mehrotra 1992.
//! Given    rows (n x p), box.      Returns  beta, w, bias, both objectives, status.
//! Steps    1. residuals  2. stop on the gap  3. H = R + X'D X and its factor  4. predictor
//!          5. corrector  6. move
//! Cost     per round: n p^2 / 2 + p^3 / 6 and five passes over the rows; memory: O(n + p^2).
//! Differs  from the papers: w stays an unknown of its own, so the rounding of X'alpha = w is
//!          corrected in every round, and rows whose weight in H is lost beside R are left out.
//! Fails    never: Stalled with the best feasible point when rounding ends progress.
//!
//! With z_i = y_i x_i (the bias as a constant feature, R = 0 on it when free) and v = (w, bias) the
//! conditions are
//!
//! ```text
//! Z'alpha = R v,    Z v - 1 - s + t = 0,    alpha s = 0,    (C - alpha) t = 0,
//! alpha, s, t, C - alpha >= 0
//! ```
//!
//! and a step solves `(R + Z'D Z) dv = Z'D q + r`, `dalpha = D (q - Z dv)` with
//! `1/D = s/alpha + t/(C - alpha)`.

use super::coordinate::Work;
use super::normal::{Extended, Normal};
use super::patience::{Approach, Due};
use super::{BoxDual, DualSolution, Loss, SvmSettings, coordinate, newton};
use crate::kernel::cholesky::Factor;
use crate::simd;
use crate::{Clock, RowMatrix, Status};

/// Numbers that steer the method, chosen by hand; `make bench-train` shows what a change costs.
mod tuning {
    /// Share of the way to the boundary a step may go.
    pub(super) const BACK_OFF: f64 = 0.995;
    /// Epochs of coordinate descent before the first round.
    pub(super) const START_EPOCHS: u64 = 5;
    /// The start's products over those of its gap: wider apart, the first steps are longer.
    pub(super) const START_CENTRE: f64 = 10.0;
    /// Rounds without progress before it gives up.
    pub(super) const PATIENCE: u32 = 40;
    /// Rows whose weight in H beside R is below this share, all of them together, are left out.
    pub(super) const NEGLIGIBLE: f64 = 1e-4;
    /// Rounds between two computations of the margins from v, which undo rounding.
    pub(super) const FRESH_MARGINS: u64 = 8;
}
use tuning::{BACK_OFF, FRESH_MARGINS, NEGLIGIBLE, PATIENCE, START_CENTRE, START_EPOCHS};

/// Trains by the interior-point method (hinge) or Newton's method (squared hinge).
pub fn solve(rows: &RowMatrix, dual: &BoxDual, settings: &SvmSettings, clock: &Clock) -> DualSolution {
    match dual.loss {
        Loss::Hinge => hinge(rows, dual, None, settings, clock),
        Loss::SquaredHinge => newton::solve(rows, dual, None, settings, clock),
    }
}

/// The iterate, per sample with C_i > 0 except v.
struct Iterate {
    /// alpha
    a: Vec<f64>,
    /// C - alpha
    room: Vec<f64>,
    /// Multiplier of alpha >= 0.
    s: Vec<f64>,
    /// Multiplier of alpha <= C.
    t: Vec<f64>,
}

/// A direction, and how the margins move along it.
struct Step {
    a: Vec<f64>,
    s: Vec<f64>,
    t: Vec<f64>,
    v: Vec<f64>,
    along: Vec<f64>,
}

/// Trains with the hinge loss, from `start` or a few epochs of coordinate descent.
pub(super) fn hinge(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<DualSolution>,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    let start = start.unwrap_or_else(|| {
        coordinate::descend(rows, dual, None, settings, START_EPOCHS.min(settings.max_epochs), Work::ANY, clock)
    });
    if start.gap() <= settings.tolerance {
        return DualSolution { status: Status::Optimal, ..start };
    }
    let mut solver = Solver::new(rows, dual, &start);
    let mut ending = Ending { best: start, approach: Approach::new(PATIENCE) };
    for round in 0.. {
        // Step 1.
        let residuals = solver.residuals();
        // Step 2.
        let value = solver.value(&residuals);
        if let Some(status) = ending.at(&solver, &value, round, settings, clock) {
            return DualSolution { status, iterations: round, ..ending.best };
        }
        // Step 3.
        if let Err(status) = solver.factorise(clock) {
            return DualSolution { status, iterations: round, ..ending.best };
        }
        // Step 4.
        let mut aim = solver.no_products();
        let predictor = solver.direction(&residuals, &aim);
        // Step 5.
        solver.correct(&residuals, &predictor, &mut aim);
        let step = solver.direction(&residuals, &aim);
        // Step 6.
        solver.advance(&step);
        if round % FRESH_MARGINS == FRESH_MARGINS - 1 {
            solver.refresh_margins();
        }
    }
    unreachable!("the loop above only ends by returning")
}

/// The problem, the iterate, and the Newton system at it.
struct Solver<'a> {
    rows: &'a RowMatrix,
    x: Extended<'a>,
    dual: &'a BoxDual,
    /// Samples with C_i > 0.
    used: Vec<usize>,
    /// How many they are, at least 1.
    counted: f64,
    /// |x_i|^2, the bias included.
    norms: Vec<f64>,
    at: Iterate,
    v: Vec<f64>,
    /// y_i x_i.v
    margins: Vec<f64>,
    /// D
    d: Vec<f64>,
    normal: Normal<'a>,
    factor: Factor,
}

/// Step 1.
struct Residuals {
    /// Z'alpha
    pull: Vec<f64>,
    /// R v
    penalised: Vec<f64>,
    /// Z'alpha - R v
    r: Vec<f64>,
    /// Z v - 1 - s + t
    rho: Vec<f64>,
    /// Mean of the products.
    mu: f64,
}

/// Step 2: primal value at v, and its distance to the dual value at alpha.
struct Value {
    primal: f64,
    gap: f64,
}

/// The changes asked of the products alpha s and (C - alpha) t.
struct Aim {
    s: Vec<f64>,
    t: Vec<f64>,
}

impl<'a> Solver<'a> {
    /// From the point of the central path that has the start's gap, for the start's margins.
    fn new(rows: &'a RowMatrix, dual: &'a BoxDual, start: &DualSolution) -> Self {
        let n = dual.len();
        let x = Extended::new(rows, dual.bias);
        let used: Vec<usize> = (0..n).filter(|&i| dual.cost[i] > 0.0).collect();
        let counted = used.len().max(1) as f64;
        let mut v = start.weights.clone();
        if v.len() < x.width() {
            v.push(start.bias / x.last);
        }
        let mut solver = Self {
            rows,
            x,
            dual,
            used,
            counted,
            norms: (0..n).map(|i| rows.row(i).squared_norm() + x.last * x.last).collect(),
            at: Iterate { a: Vec::new(), room: Vec::new(), s: Vec::new(), t: Vec::new() },
            v,
            margins: vec![0.0; n],
            d: vec![0.0; n],
            normal: Normal::new(x),
            factor: Factor::new(x.width()),
        };
        solver.refresh_margins();
        let mu = START_CENTRE * (start.primal - start.dual) / (2.0 * counted);
        solver.at = central(dual, &solver.margins, mu);
        solver
    }

    /// The margins from v.
    fn refresh_margins(&mut self) {
        self.x.scores(&self.v, &mut self.margins);
        for (margin, y) in self.margins.iter_mut().zip(&self.dual.y) {
            *margin *= y;
        }
    }

    /// Step 1: r = Z'alpha - R v and rho = Z v - 1 - s + t.
    fn residuals(&self) -> Residuals {
        let (n, at) = (self.dual.len(), &self.at);
        let beta: Vec<f64> = (0..n).map(|i| self.dual.y[i] * at.a[i]).collect();
        let pull = self.x.weights(&beta);
        let penalised = self.x.penalised(&self.v);
        let r: Vec<f64> = pull.iter().zip(&penalised).map(|(a, b)| a - b).collect();
        let rho: Vec<f64> = (0..n).map(|i| self.margins[i] - 1.0 - at.s[i] + at.t[i]).collect();
        let products = self.used.iter().map(|&i| at.a[i] * at.s[i] + at.room[i] * at.t[i]).sum::<f64>();
        Residuals { pull, penalised, r, rho, mu: products / (2.0 * self.counted) }
    }

    /// Step 2: primal at v, dual at alpha; an unbalanced alpha counts against a free bias.
    fn value(&self, residuals: &Residuals) -> Value {
        let Residuals { pull, penalised, .. } = residuals;
        let slack = |i: &usize| self.dual.cost[*i] * (1.0 - self.margins[*i]).max(0.0);
        let primal = 0.5 * simd::dot(&self.v, penalised) + self.used.iter().map(slack).sum::<f64>();
        let off = if self.x.is_free() { pull[pull.len() - 1] } else { 0.0 };
        let linear = self.used.iter().map(|&i| self.at.a[i]).sum::<f64>();
        let dual = linear - 0.5 * (simd::dot(pull, pull) - off * off);
        let bias = self.v.last().map_or(0.0, |b| b.abs());
        Value { primal, gap: primal - dual + off.abs() * (1.0 + bias) }
    }

    /// Step 3: D, and the factor of H. A row whose whole weight is far below R changes nothing.
    fn factorise(&mut self, clock: &Clock) -> Result<(), Status> {
        let at = &self.at;
        for &i in &self.used {
            self.d[i] = 1.0 / (at.s[i] / at.a[i] + at.t[i] / at.room[i]);
        }
        let (d, norms, negligible) = (&self.d, &self.norms, NEGLIGIBLE / self.counted);
        self.normal.clear();
        let counted = self.used.iter().filter(|&&i| d[i] * norms[i] > negligible).map(|&i| (i, d[i]));
        self.normal.add_until(counted, clock)?;
        self.normal.factor_until(&mut self.factor, clock)
    }

    /// Step 4: all products become 0.
    fn no_products(&self) -> Aim {
        let (n, at) = (self.dual.len(), &self.at);
        let s = (0..n).map(|i| -at.a[i] * at.s[i]).collect();
        let t = (0..n).map(|i| -at.room[i] * at.t[i]).collect();
        Aim { s, t }
    }

    /// Step 5: the products become equal, and the predictor's second-order error is undone.
    fn correct(&self, residuals: &Residuals, predictor: &Step, aim: &mut Aim) {
        let at = &self.at;
        let length = longest(at, predictor, &self.used).min(1.0);
        let product = |i: &usize| {
            let i = *i;
            (at.a[i] + length * predictor.a[i]) * (at.s[i] + length * predictor.s[i])
                + (at.room[i] - length * predictor.a[i]) * (at.t[i] + length * predictor.t[i])
        };
        let ahead = self.used.iter().map(product).sum::<f64>() / (2.0 * self.counted);
        let target = (ahead / residuals.mu).powi(3) * residuals.mu;
        for &i in &self.used {
            aim.s[i] += target - predictor.a[i] * predictor.s[i];
            aim.t[i] += target + predictor.a[i] * predictor.t[i];
        }
    }

    /// The direction that changes the products by `aim` and the residuals to 0, to first order.
    fn direction(&self, residuals: &Residuals, aim: &Aim) -> Step {
        let (n, at, d, y) = (self.dual.len(), &self.at, &self.d, &self.dual.y);
        let mut q = vec![0.0; n];
        let mut scaled = vec![0.0; n];
        for &i in &self.used {
            q[i] = aim.s[i] / at.a[i] - aim.t[i] / at.room[i] - residuals.rho[i];
            scaled[i] = y[i] * d[i] * q[i];
        }
        let mut right = self.x.weights(&scaled);
        for (right, r) in right.iter_mut().zip(&residuals.r) {
            *right += r;
        }
        let v = self.factor.solve(&right);
        let mut along = vec![0.0; n];
        self.x.scores(&v, &mut along);
        let mut step = Step { a: vec![0.0; n], s: vec![0.0; n], t: vec![0.0; n], v, along };
        for &i in &self.used {
            step.along[i] *= y[i];
            step.a[i] = d[i] * (q[i] - step.along[i]);
            step.s[i] = (aim.s[i] - at.s[i] * step.a[i]) / at.a[i];
            step.t[i] = (aim.t[i] + at.t[i] * step.a[i]) / at.room[i];
        }
        step
    }

    /// Step 6: moves as far as alpha, C - alpha, s and t stay above 0.
    fn advance(&mut self, step: &Step) {
        let at = &mut self.at;
        let length = (BACK_OFF * longest(at, step, &self.used)).min(1.0);
        for &i in &self.used {
            at.a[i] += length * step.a[i];
            at.room[i] -= length * step.a[i];
            at.s[i] += length * step.s[i];
            at.t[i] += length * step.t[i];
            self.margins[i] += length * step.along[i];
        }
        for (v, dv) in self.v.iter_mut().zip(&step.v) {
            *v += length * dv;
        }
    }
}

/// The stopping rule, and the best feasible point so far.
struct Ending {
    best: DualSolution,
    approach: Approach,
}

impl Ending {
    /// Step 2: the status to stop with, if it is time. Near the gap aimed at, alpha is made
    /// feasible and measured.
    fn at(
        &mut self,
        solver: &Solver<'_>,
        value: &Value,
        round: u64,
        settings: &SvmSettings,
        clock: &Clock,
    ) -> Option<Status> {
        let Due { limit } = self.approach.due(value.gap, value.primal, round, settings, clock)?;
        let now = measured(solver.rows, solver.dual, &solver.at, settings.tolerance);
        if now.gap() <= self.best.gap() {
            self.best = now;
        }
        self.approach.aim_lower();
        if self.best.gap() <= settings.tolerance { Some(Status::Optimal) } else { limit }
    }
}

/// The alpha, s and t with `alpha s = (C - alpha) t = mu` and `t - s = 1 - margin`.
fn central(dual: &BoxDual, margins: &[f64], mu: f64) -> Iterate {
    let n = dual.len();
    let mut at = Iterate { a: vec![0.0; n], room: vec![0.0; n], s: vec![1.0; n], t: vec![1.0; n] };
    for i in (0..n).filter(|&i| dual.cost[i] > 0.0) {
        // u alpha^2 - (C u - 2 mu) alpha - mu C = 0, written for the smaller of alpha and C -
        // alpha.
        let (cost, u) = (dual.cost[i], (1.0 - margins[i]).abs());
        let half = 0.5 * cost * u;
        let small = mu * cost / (half + mu + half.hypot(mu));
        let (near, far) = (small, cost - small);
        let (a, room) = if margins[i] > 1.0 { (near, far) } else { (far, near) };
        (at.a[i], at.room[i], at.s[i], at.t[i]) = (a, room, mu / a, mu / room);
    }
    at
}

/// The longest step that keeps alpha, C - alpha, s and t at 0 or above; not limited to 1.
fn longest(at: &Iterate, step: &Step, used: &[usize]) -> f64 {
    // The largest share of a value that a unit step takes away.
    let mut taken = 0.0f64;
    for &i in used {
        taken = taken
            .max(-step.a[i] / at.a[i])
            .max(step.a[i] / at.room[i])
            .max(-step.s[i] / at.s[i])
            .max(-step.t[i] / at.t[i]);
    }
    if taken > 0.0 { 1.0 / taken } else { f64::INFINITY }.min(1.0 / BACK_OFF)
}

/// Alpha with the samples next to a bound put on it if that meets the tolerance; else the better of
/// that and alpha itself.
fn measured(rows: &RowMatrix, dual: &BoxDual, at: &Iterate, tolerance: f64) -> DualSolution {
    let snapped = (0..dual.len()).map(|i| {
        let (cost, a, room) = (dual.cost[i], at.a[i], at.room[i]);
        let alpha = if a < cost * at.s[i].min(1e-3) {
            0.0
        } else if room < cost * at.t[i].min(1e-3) {
            cost
        } else {
            a
        };
        dual.y[i] * alpha
    });
    let snapped = coordinate::finish(rows, dual, snapped.collect(), 0, Status::Stalled);
    if snapped.gap() <= tolerance {
        return snapped;
    }
    let raw = (0..dual.len()).map(|i| dual.y[i] * at.a[i]).collect();
    let raw = coordinate::finish(rows, dual, raw, 0, Status::Stalled);
    if raw.gap() < snapped.gap() { raw } else { snapped }
}
