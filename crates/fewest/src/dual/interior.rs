//! Primal-dual interior-point training of a linear machine with few features: a steady number of rounds whatever C is.
//!
//! Solves   the dual of [`super`] for a linear kernel; the hinge here, the squared hinge by `newton.rs`.
//! Paper    Fine and Scheinberg, Efficient SVM training using low-rank kernel representations, JMLR 2001; Ferris and
//!          Munson, Interior-point methods for massive SVMs, SIAM J. Optim. 2002; steps of Mehrotra 1992.
//! Given    rows (n x p), box.      Returns  beta, w, bias, both objectives, status.
//! Steps    1. residuals  2. stop on the gap  3. H = R + X'D X and its factor  4. predictor  5. corrector  6. move
//! Cost     per round: n p^2 / 2 + p^3 / 6 and five passes over the rows; memory: O(n + p^2).
//! Differs  from the papers: w stays an unknown of its own, so the rounding of X'alpha = w is corrected in every round, and
//!          rows whose weight in H is lost beside R are left out.
//! Fails    never: Stalled with the best feasible point when rounding ends progress.
//!
//! With z_i = y_i x_i (the bias as a constant feature, R = 0 on it when free) and v = (w, bias) the conditions are
//!
//! ```text
//! Z'alpha = R v,    Z v - 1 - s + t = 0,    alpha s = 0,    (C - alpha) t = 0,    alpha, s, t, C - alpha >= 0
//! ```
//!
//! and a step solves `(R + Z'D Z) dv = Z'D q + r`, `dalpha = D (q - Z dv)` with `1/D = s/alpha + t/(C - alpha)`.

use super::normal::{Extended, Normal};
use super::{BoxDual, DualSolution, Loss, SvmSettings, coordinate, newton};
use crate::kernel::cholesky::Factor;
use crate::kernel::simd;
use crate::{RowMatrix, Status};

/// Share of the way to the boundary a step may go.
const BACK_OFF: f64 = 0.995;
/// Epochs of coordinate descent before the first round.
const START_EPOCHS: u64 = 5;
/// The start's products over those of its gap: wider apart, the first steps are longer.
const START_CENTRE: f64 = 10.0;
/// Rounds without progress before it gives up.
const PATIENCE: u32 = 40;

/// Trains by the interior-point method (hinge) or Newton's method (squared hinge).
pub fn solve(
    rows: &RowMatrix,
    dual: &BoxDual,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    match dual.loss {
        Loss::Hinge => hinge(rows, dual, None, settings, stop),
        Loss::SquaredHinge => newton::solve(rows, dual, None, settings, stop),
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

pub(super) fn hinge(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<DualSolution>,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let n = dual.len();
    let x = Extended::new(rows, dual.bias);
    let mut normal = Normal::new(x);
    let mut factor = Factor::new(x.width());
    let norms: Vec<f64> = (0..n).map(|i| rows.row(i).squared_norm() + x.last * x.last).collect();
    let used: Vec<usize> = (0..n).filter(|&i| dual.cost[i] > 0.0).collect();
    let counted = used.len().max(1) as f64;

    // A few epochs of coordinate descent say where the samples lie; the start is the point of the central path of its gap
    // for these margins.
    let start = start.unwrap_or_else(|| {
        coordinate::descend(rows, dual, None, settings, START_EPOCHS.min(settings.max_epochs), f64::INFINITY, stop)
    });
    if start.gap() <= settings.tolerance {
        return DualSolution { status: Status::Optimal, ..start };
    }
    let mut v = start.weights.clone();
    if v.len() < x.width() {
        v.push(start.bias / x.last);
    }
    let mut margins = vec![0.0; n];
    x.scores(&v, &mut margins);
    for i in 0..n {
        margins[i] *= dual.y[i];
    }
    let mu = START_CENTRE * (start.primal - start.dual) / (2.0 * counted);
    let mut at = central(dual, &margins, mu);
    let mut d = vec![0.0; n];
    let mut best = start;
    let mut best_gap = f64::INFINITY;
    let mut demand = 1.0;
    let mut idle = 0;
    for round in 0.. {
        // Step 1. r = Z'alpha - R v and rho = Z v - 1 - s + t.
        let beta: Vec<f64> = (0..n).map(|i| dual.y[i] * at.a[i]).collect();
        let pull = x.weights(&beta);
        let held = x.penalised(&v);
        let r: Vec<f64> = pull.iter().zip(&held).map(|(a, b)| a - b).collect();
        let rho: Vec<f64> = (0..n).map(|i| margins[i] - 1.0 - at.s[i] + at.t[i]).collect();
        let mu = used.iter().map(|&i| at.a[i] * at.s[i] + at.room[i] * at.t[i]).sum::<f64>() / (2.0 * counted);

        // Step 2. Primal at v, dual at alpha; an unbalanced alpha counts against a free bias.
        let primal =
            0.5 * simd::dot(&v, &held) + used.iter().map(|&i| dual.cost[i] * (1.0 - margins[i]).max(0.0)).sum::<f64>();
        let off = if x.last_penalty == 0.0 && x.last != 0.0 { pull[pull.len() - 1] } else { 0.0 };
        let value = used.iter().map(|&i| at.a[i]).sum::<f64>() - 0.5 * (simd::dot(&pull, &pull) - off * off);
        let gap = primal - value + off.abs() * (1.0 + v.last().map_or(0.0, |b| b.abs()));
        idle = if gap < 0.9 * best_gap { 0 } else { idle + 1 };
        best_gap = best_gap.min(gap);
        let broken = !gap.is_finite() || idle > PATIENCE;
        let limit = stop()
            .or((round >= settings.max_epochs).then_some(Status::CallLimit))
            .or(broken.then_some(Status::Stalled));
        if limit.is_some() || gap <= demand * settings.tolerance * primal {
            let now = measured(rows, dual, &at, settings.tolerance);
            if now.gap() <= best.gap() {
                best = now;
            }
            let status = if best.gap() <= settings.tolerance { Some(Status::Optimal) } else { limit };
            if let Some(status) = status {
                return DualSolution { status, iterations: round, ..best };
            }
            demand *= 0.3;
        }

        // Step 3. A row whose whole weight is far below R changes nothing.
        for &i in &used {
            d[i] = 1.0 / (at.s[i] / at.a[i] + at.t[i] / at.room[i]);
        }
        let negligible = 1e-4 / counted;
        normal.clear();
        normal.add(used.iter().filter(|&&i| d[i] * norms[i] > negligible).map(|&i| (i, d[i])));
        normal.factor(&mut factor);

        // Step 4: aim at products 0. Step 5: centre, and undo the predictor's second-order error.
        let direction = |to_s: &[f64], to_t: &[f64]| {
            let mut q = vec![0.0; n];
            let mut scaled = vec![0.0; n];
            for &i in &used {
                q[i] = to_s[i] / at.a[i] - to_t[i] / at.room[i] - rho[i];
                scaled[i] = dual.y[i] * d[i] * q[i];
            }
            let mut right = x.weights(&scaled);
            for (right, r) in right.iter_mut().zip(&r) {
                *right += r;
            }
            let dv = factor.solve(&right);
            let mut along = vec![0.0; n];
            x.scores(&dv, &mut along);
            let mut step = Step { a: vec![0.0; n], s: vec![0.0; n], t: vec![0.0; n], v: dv, along };
            for &i in &used {
                step.along[i] *= dual.y[i];
                step.a[i] = d[i] * (q[i] - step.along[i]);
                step.s[i] = (to_s[i] - at.s[i] * step.a[i]) / at.a[i];
                step.t[i] = (to_t[i] + at.t[i] * step.a[i]) / at.room[i];
            }
            step
        };
        let mut to_s: Vec<f64> = (0..n).map(|i| -at.a[i] * at.s[i]).collect();
        let mut to_t: Vec<f64> = (0..n).map(|i| -at.room[i] * at.t[i]).collect();
        let predictor = direction(&to_s, &to_t);
        let length = longest(&at, &predictor, &used).min(1.0);
        let ahead = used
            .iter()
            .map(|&i| {
                (at.a[i] + length * predictor.a[i]) * (at.s[i] + length * predictor.s[i])
                    + (at.room[i] - length * predictor.a[i]) * (at.t[i] + length * predictor.t[i])
            })
            .sum::<f64>()
            / (2.0 * counted);
        let target = (ahead / mu).powi(3) * mu;
        for &i in &used {
            to_s[i] += target - predictor.a[i] * predictor.s[i];
            to_t[i] += target + predictor.a[i] * predictor.t[i];
        }
        let step = direction(&to_s, &to_t);
        let length = (BACK_OFF * longest(&at, &step, &used)).min(1.0);

        // Step 6.
        for &i in &used {
            at.a[i] += length * step.a[i];
            at.room[i] -= length * step.a[i];
            at.s[i] += length * step.s[i];
            at.t[i] += length * step.t[i];
            margins[i] += length * step.along[i];
        }
        for (v, dv) in v.iter_mut().zip(&step.v) {
            *v += length * dv;
        }
        if round % 8 == 7 {
            x.scores(&v, &mut margins);
            for i in 0..n {
                margins[i] *= dual.y[i];
            }
        }
    }
    unreachable!("the loop above only ends by returning")
}

/// The alpha, s and t with `alpha s = (C - alpha) t = mu` and `t - s = 1 - margin`.
fn central(dual: &BoxDual, margins: &[f64], mu: f64) -> Iterate {
    let n = dual.len();
    let mut at = Iterate { a: vec![0.0; n], room: vec![0.0; n], s: vec![1.0; n], t: vec![1.0; n] };
    for i in (0..n).filter(|&i| dual.cost[i] > 0.0) {
        // u alpha^2 - (C u - 2 mu) alpha - mu C = 0, written for the smaller of alpha and C - alpha.
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

/// Alpha with the samples next to a bound put on it if that meets the tolerance; else the better of that and alpha itself.
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
