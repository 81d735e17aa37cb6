//! Primal-dual interior-point training of a linear machine with few features: a steady number of rounds whatever C is.
//!
//! Solves   the dual of [`super`] for a linear kernel; the hinge here, the squared hinge by [`super::newton`].
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

use super::normal::{Extended, Factor, Normal};
use super::{BoxDual, DualSolution, Loss, SvmSettings, coordinate, newton};
use crate::kernel::simd;
use crate::{RowMatrix, Status};

/// Share of the way to the boundary a step may go.
const BACK_OFF: f64 = 0.995;
/// Epochs of coordinate descent before the first round.
const START_EPOCHS: u64 = 5;
/// Centrality correctors tried per round.
const CORRECTORS: u32 = 0;
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

/// Complementarity products a step aims at: `alpha s + d` and `(C - alpha) t + d`.
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
    let start =
        start.unwrap_or_else(|| coordinate::descend(rows, dual, None, settings, START_EPOCHS, f64::INFINITY, stop));
    if start.gap() <= settings.tolerance {
        return start;
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
    let mu = std::env::var("MU").map_or(10.0, |x|x.parse::<f64>().unwrap()) * (start.primal - start.dual) / (2.0 * counted);
    let mut at = central(dual, &margins, mu);
    let mut d = vec![0.0; n];
    let mut best: Option<DualSolution> = None;
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
        let primal = 0.5 * simd::dot(&v, &held)
            + used.iter().map(|&i| dual.cost[i] * (1.0 - margins[i]).max(0.0)).sum::<f64>();
        let off = if x.last_penalty == 0.0 && x.last != 0.0 { pull[pull.len() - 1] } else { 0.0 };
        let value = used.iter().map(|&i| at.a[i]).sum::<f64>() - 0.5 * (simd::dot(&pull, &pull) - off * off);
        let gap = primal - value + off.abs() * (1.0 + v[v.len() - 1].abs());
        idle = if gap < 0.9 * best_gap { 0 } else { idle + 1 };
        best_gap = best_gap.min(gap);
        let broken = !gap.is_finite() || idle > PATIENCE;
        let limit = stop()
            .or((round >= settings.max_epochs).then_some(Status::CallLimit))
            .or(broken.then_some(Status::Stalled));
        if limit.is_some() || gap <= demand * settings.tolerance * primal {
            let now = measured(rows, dual, &at, round);
            if now.gap() <= settings.tolerance {
                return DualSolution { status: Status::Optimal, ..now };
            }
            let better = best.as_ref().is_none_or(|b| !(b.gap() <= now.gap()));
            if better {
                best = Some(now);
            }
            demand *= 0.3;
            if let (Some(status), Some(best)) = (limit, best.take_if(|_| limit.is_some())) {
                return DualSolution { status, iterations: round, ..best };
            }
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
        let mut step = direction(&to_s, &to_t);
        let mut length = (BACK_OFF * longest(&at, &step, &used)).min(1.0);
        for _ in 0..std::env::var("CORR").map_or(CORRECTORS, |x|x.parse::<u32>().unwrap()) {
            let wished = (1.1 * length + 0.1).min(1.0);
            for &i in &used {
                let product = (at.a[i] + wished * step.a[i]) * (at.s[i] + wished * step.s[i]);
                to_s[i] += towards(product, target.max(1e-300));
                let product = (at.room[i] - wished * step.a[i]) * (at.t[i] + wished * step.t[i]);
                to_t[i] += towards(product, target.max(1e-300));
            }
            let candidate = direction(&to_s, &to_t);
            let reach = (BACK_OFF * longest(&at, &candidate, &used)).min(1.0);
            if std::env::var("IPLOG").is_ok() { eprintln!("   cor {length:.3} -> {reach:.3}"); }
            if reach < length + 0.1 * (wished - length) {
                break;
            }
            (step, length) = (candidate, reach);
        }

        // Step 6.
        if std::env::var("IPLOG").is_ok() { eprintln!("{round} mu {mu:.2e} primal {primal:.6e} value {value:.6e} r {:.1e} rho {:.1e} sigma {:.1e} len {:.3} used {}", r.iter().fold(0.0f64,|a,b|a.max(b.abs())), rho.iter().fold(0.0f64,|a,b|a.max(b.abs())), target/mu, length, used.iter().filter(|&&i| d[i] * norms[i] > negligible).count()); }
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

/// What brings a complementarity product back between a tenth of the target and ten times it (Gondzio 1996).
fn towards(product: f64, target: f64) -> f64 {
    (product.clamp(0.1 * target, 10.0 * target) - product).max(-10.0 * target)
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

/// The better of alpha as it is and alpha with samples that are leaving their bounds' neighbourhood put on them.
fn measured(rows: &RowMatrix, dual: &BoxDual, at: &Iterate, rounds: u64) -> DualSolution {
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
    let snapped = coordinate::finish(rows, dual, snapped.collect(), rounds, Status::Stalled);
    let raw = (0..dual.len()).map(|i| dual.y[i] * at.a[i]).collect();
    let raw = coordinate::finish(rows, dual, raw, rounds, Status::Stalled);
    if raw.gap() < snapped.gap() { raw } else { snapped }
}
/// x
pub fn newton(rows: &RowMatrix,
    dual: &BoxDual,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let e: u64 = std::env::var("EPOCHS").map_or(5, |x| x.parse().unwrap());
    let start = coordinate::descend(rows, dual, None, settings, e, f64::INFINITY, stop);
    if start.gap() <= settings.tolerance { return start; }
    newton::solve(rows, dual, (e > 0).then_some(&start.beta[..]), settings, stop)
}
