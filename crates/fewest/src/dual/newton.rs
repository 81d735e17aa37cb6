//! Primal Newton method for the squared hinge with few features: finite, and exact.
//!
//! Solves   min 1/2 v'R v + sum_i C_i max(0, 1 - y_i x_i.v)^2, v = (w, bias), see [`super::normal`].
//! Paper    Keerthi and DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 2005,
//!          sec. 3: Newton on the samples with slack, exact line search.
//! Given    rows (n x p), box, optional start.      Returns  beta, w, bias, both objectives, status.
//! Steps    1. slacks and gradient  2. stop on the gap  3. Hessian: add samples that gained slack, take away those that lost
//!          it  4. direction by Cholesky  5. exact line search
//! Cost     per round: (changed samples) p^2 / 2 + p^3 / 6 + two passes over the rows; memory: O(n + p^2).
//! Differs  from the paper: Cholesky with updates instead of conjugate gradients. The dual point is
//!          beta_i = 2 C_i y_i slack_i; with a penalised or no bias its gap to v is 1/2 |gradient|^2 (Fenchel and Young).
//! Fails    never; stops with a status and the gap reached.

use super::normal::{Extended, Factor, Normal};
use super::{BoxDual, DualSolution, SvmSettings, coordinate};
use crate::kernel::simd;
use crate::{RowMatrix, Status};

/// Trains a squared-hinge machine from `start` (length n, a dual point).
pub(super) fn solve(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let n = dual.len();
    let x = Extended::new(rows, dual.bias);
    let mut v = match start {
        Some(beta) => x.weights(beta),
        None => vec![0.0; x.width()],
    };
    let mut hessian = Normal::new(x);
    let mut factor = Factor::new(x.width());
    let mut inside = vec![false; n];
    let mut changes: Vec<(usize, f64)> = Vec::new();
    let mut scores = vec![0.0; n];
    let mut along = vec![0.0; n];
    let mut demand = 1.0;
    let mut best: Option<DualSolution> = None;
    x.scores(&v, &mut scores);
    for round in 0.. {
        // Step 1. beta = -(derivative of the loss), gradient = R v - sum beta x.
        let slack = |i: usize| (1.0 - dual.y[i] * scores[i]).max(0.0);
        let beta: Vec<f64> = (0..n).map(|i| 2.0 * dual.cost[i] * dual.y[i] * slack(i)).collect();
        let penalised = x.penalised(&v);
        let pull = x.weights(&beta);
        let downhill: Vec<f64> = pull.iter().zip(&penalised).map(|(a, b)| a - b).collect();
        let loss: f64 = (0..n).map(|i| dual.cost[i] * slack(i) * slack(i)).sum();
        let value = 0.5 * simd::dot(&v, &penalised) + loss;
        let gap = 0.5 * simd::dot(&downhill, &downhill);

        // Step 2.
        let limit = stop().or((round >= settings.max_epochs).then_some(Status::CallLimit));
        if limit.is_some() || gap <= demand * settings.tolerance * value {
            let now = coordinate::finish(rows, dual, beta.clone(), round, limit.unwrap_or(Status::Optimal));
            let met = now.gap() <= settings.tolerance;
            let better = best.as_ref().is_none_or(|b| now.gap() < b.gap());
            if met {
                return DualSolution { status: Status::Optimal, ..now };
            }
            if limit.is_some() {
                return best.filter(|_| !better).map_or(now, |b| DualSolution { status: limit.unwrap_or(b.status), ..b });
            }
            if better {
                best = Some(now);
            }
            demand *= 0.1;
        }

        // Step 3.
        changes.clear();
        for i in 0..n {
            let has_slack = slack(i) > 0.0 && dual.cost[i] > 0.0;
            if has_slack != inside[i] {
                inside[i] = has_slack;
                changes.push((i, 2.0 * dual.cost[i] * if has_slack { 1.0 } else { -1.0 }));
            }
        }
        // Taking away much loses digits: start again instead.
        if 2 * changes.iter().filter(|c| c.1 < 0.0).count() > inside.iter().filter(|&&a| a).count() {
            hessian.clear();
            hessian.add((0..n).filter(|&i| inside[i]).map(|i| (i, 2.0 * dual.cost[i])));
        } else {
            hessian.add(changes.iter().copied());
        }

        // Steps 4 and 5.
        if round == 0 || !changes.is_empty() {
            hessian.factor(&mut factor);
        }
        let direction = factor.solve(&downhill);
        x.scores(&direction, &mut along);
        let slope = simd::dot(&penalised, &direction);
        let curve = simd::dot(&direction, &x.penalised(&direction));
        let step = line_search(dual, &scores, &along, slope, curve);
        let size = |v: &[f64]| v.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        if step.is_nan() || step * size(&direction) <= 1e-16 * size(&v) {
            let now = coordinate::finish(rows, dual, beta, round, Status::Stalled);
            let best = best.filter(|b| b.gap() < now.gap()).unwrap_or(now);
            let status = if best.gap() <= settings.tolerance { Status::Optimal } else { Status::Stalled };
            return DualSolution { status, ..best };
        }
        for (v, d) in v.iter_mut().zip(&direction) {
            *v += step * d;
        }
        for (f, a) in scores.iter_mut().zip(&along) {
            *f += step * a;
        }
        if round % 8 == 7 {
            x.scores(&v, &mut scores);
        }
    }
    unreachable!("the loop above only ends by returning")
}

/// The step t >= 0 where the derivative of the cost along the direction is 0: piecewise linear and growing, so Newton
/// steps kept inside the bracket end after a few pieces. `slope` and `curve` belong to the penalty.
fn line_search(dual: &BoxDual, scores: &[f64], along: &[f64], slope: f64, curve: f64) -> f64 {
    let derivative = |t: f64| {
        let (mut first, mut second) = (slope + t * curve, curve);
        for i in 0..scores.len() {
            let slack = 1.0 - dual.y[i] * (scores[i] + t * along[i]);
            if slack > 0.0 {
                first -= 2.0 * dual.cost[i] * dual.y[i] * along[i] * slack;
                second += 2.0 * dual.cost[i] * along[i] * along[i];
            }
        }
        (first, second)
    };
    let start = derivative(0.0).0.abs();
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..40 {
        let (first, second) = derivative(t);
        if first.abs() <= 1e-12 * start || second <= 0.0 {
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
