//! Semismooth Newton with multipliers: trains a linear machine with few features in a few dozen rounds, whatever C is.
//!
//! Solves   min 1/2 v'R v + sum_i loss_i(1 - y_i x_i.v), v = (w, bias) as in [`super::normal`], hinge or squared hinge.
//! Paper    Yan and Li, An efficient augmented Lagrangian method for support vector machine, Optim. Methods Softw. 2020,
//!          Algorithms 1 and 2; for the squared hinge alone Keerthi and DeCoste, JMLR 2005 (finite Newton).
//! Given    rows (n x p), box, optional start.      Returns  beta, w, bias, both objectives, status.
//! Steps    1. alpha(v), gradient, gap  2. stop on the gap  3. when smoothing is what is left: new multipliers, narrower band
//!          4. Hessian: add samples that entered the band, take away those that left  5. direction by Cholesky
//!          6. exact line search
//! Cost     per round: (changed samples) p^2 / 2 + p^3 / 6 + two passes over the rows; memory: O(n + p^2).
//! Differs  from the papers: Cholesky with updates instead of conjugate gradients, and the duality gap steers everything.
//! Fails    never; stops with a status and the gap reached.
//!
//! With u_i = 1 - y_i x_i.v, multipliers a_i and stiffness k_i the augmented Lagrangian's dual point is
//!
//! ```text
//! alpha_i(v) = min(max(a_i + k_i u_i, 0), C_i),      gradient = R v - sum_i y_i alpha_i x_i,
//! Hessian    = R + sum {k_i x_i x_i' : 0 < a_i + k_i u_i < C_i}        hinge: k_i = C_i / band
//! ```
//!
//! The squared hinge is the case a = 0, k_i = 2 C_i and no cap, where one subproblem is the whole problem.

use super::normal::{Extended, Normal};
use super::{Bias, BoxDual, DualSolution, Loss, SvmSettings, coordinate, kkt};
use crate::kernel::cholesky::Factor;
use crate::kernel::simd;
use crate::{RowMatrix, Status};

/// Width of the first band, in units of the margin.
const FIRST_BAND: f64 = 0.5;
/// Factor on the band at new multipliers.
const NARROWER: f64 = 0.6;
/// New multipliers once the subproblem's share of the gap is below this.
const SETTLED: f64 = 0.1;
/// Rounds without a better gap before it gives up.
const PATIENCE: u32 = 60;

/// One sample.
#[derive(Debug, Clone, Copy)]
struct Sample {
    y: f64,
    cap: f64,
    /// a_i
    multiplier: f64,
    /// k_i
    stiffness: f64,
}

impl Sample {
    /// a_i + k_i u_i, not yet clipped.
    #[inline(always)]
    fn pull(&self, score: f64) -> f64 {
        self.multiplier + self.stiffness * (1.0 - self.y * score)
    }
}

/// Trains from `start` (length n, a dual point).
pub(super) fn solve(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> DualSolution {
    let n = dual.len();
    let hinge = dual.loss == Loss::Hinge;
    let x = Extended::new(rows, dual.bias);
    let mut band = FIRST_BAND;
    let mut samples: Vec<Sample> = (0..n)
        .map(|i| {
            let cost = dual.cost[i];
            let cap = dual.upper[i] - dual.lower[i];
            let multiplier = start.filter(|_| hinge).map_or(0.0, |beta| beta[i].abs().min(cap));
            Sample { y: dual.y[i], cap, multiplier, stiffness: if hinge { cost / band } else { 2.0 * cost } }
        })
        .collect();
    let mut v = start.map_or_else(|| vec![0.0; x.width()], |beta| x.weights(beta));
    let mut scores = vec![0.0; n];
    if let (Some(beta), Bias::Free) = (start, dual.bias) {
        v[rows.n_features()] = 0.0;
        x.scores(&v, &mut scores);
        v[rows.n_features()] = kkt::objectives(dual, beta, &scores).bias;
    }
    x.scores(&v, &mut scores);
    let mut hessian = Normal::new(x);
    let mut factor = Factor::new(x.width());
    let mut inside = vec![false; n];
    let mut changes: Vec<(usize, f64)> = Vec::new();
    let mut along = vec![0.0; n];
    let mut beta = vec![0.0; n];
    let mut best: Option<DualSolution> = None;
    let (mut best_gap, mut idle, mut demand) = (f64::INFINITY, 0, 1.0);
    let mut moved = true;
    let mut round = 0;
    loop {
        // Step 1.
        let (mut loss, mut linear, mut ridge) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let s = &samples[i];
            let alpha = s.pull(scores[i]).clamp(0.0, s.cap);
            let slack = (1.0 - s.y * scores[i]).max(0.0);
            beta[i] = s.y * alpha;
            loss += dual.cost[i] * if hinge { slack } else { slack * slack };
            linear += alpha;
            ridge += dual.ridge[i] * alpha * alpha;
        }
        let held = x.penalised(&v);
        let pull = x.weights(&beta);
        let downhill: Vec<f64> = pull.iter().zip(&held).map(|(a, b)| a - b).collect();
        // An unbalanced beta counts against a free bias.
        let off = if x.is_free() { pull[pull.len() - 1].abs() } else { 0.0 };
        let primal = 0.5 * simd::dot(&v, &held) + loss;
        let value = linear - 0.5 * (simd::dot(&pull, &pull) - off * off) - 0.5 * ridge;
        let bias = v.last().map_or(0.0, |b| b.abs());
        let unsettled = 0.5 * (simd::dot(&downhill, &downhill) - off * off) + off * (1.0 + bias);
        let gap = primal - value + off * (1.0 + bias);
        idle = if gap < 0.9 * best_gap { 0 } else { idle + 1 };
        best_gap = best_gap.min(gap);

        // Step 2.
        let broken = !gap.is_finite() || idle > PATIENCE;
        let limit = stop()
            .or((round >= settings.max_epochs).then_some(Status::CallLimit))
            .or(broken.then_some(Status::Stalled));
        if limit.is_some() || gap <= demand * settings.tolerance * primal {
            let now = coordinate::finish(rows, dual, beta.clone(), round, Status::Optimal);
            if now.gap() <= settings.tolerance {
                return now;
            }
            if best.as_ref().is_none_or(|b| b.gap().is_nan() || now.gap() < b.gap()) {
                best = Some(now);
            }
            demand *= 0.3;
            if let (Some(status), Some(best)) = (limit, best.take_if(|_| limit.is_some())) {
                return DualSolution { status, iterations: round, ..best };
            }
        }

        // Step 3.
        if hinge && unsettled <= SETTLED * gap {
            band *= NARROWER;
            for (i, s) in samples.iter_mut().enumerate() {
                s.multiplier = s.y * beta[i];
                s.stiffness = s.cap / band;
            }
            hessian.scale(1.0 / NARROWER);
            moved = true;
            round += 1;
            continue;
        }

        // Step 4.
        changes.clear();
        let mut kept = 0;
        for (i, s) in samples.iter().enumerate() {
            let pull = s.pull(scores[i]);
            let now = pull > 0.0 && pull < s.cap;
            kept += usize::from(now);
            if now != inside[i] {
                changes.push((i, if now { s.stiffness } else { -s.stiffness }));
                inside[i] = now;
            }
        }
        // Taking away much costs time and digits: start again instead.
        moved |= !changes.is_empty();
        if changes.iter().filter(|c| c.1 < 0.0).count() > kept {
            hessian.clear();
            hessian.add((0..n).filter(|&i| inside[i]).map(|i| (i, samples[i].stiffness)));
        } else {
            hessian.add(changes.iter().copied());
        }

        // Steps 5 and 6.
        if moved {
            hessian.factor(&mut factor);
            moved = false;
        }
        let direction = factor.solve(&downhill);
        x.scores(&direction, &mut along);
        let slope = simd::dot(&held, &direction);
        let curve = simd::dot(&direction, &x.penalised(&direction));
        let step = line_search(&samples, &scores, &along, slope, curve, simd::dot(&downhill, &direction));
        for (v, d) in v.iter_mut().zip(&direction) {
            *v += step * d;
        }
        for (f, a) in scores.iter_mut().zip(&along) {
            *f += step * a;
        }
        round += 1;
        if round % 8 == 0 {
            x.scores(&v, &mut scores);
        }
    }
}

/// The step t >= 0 where the derivative along the direction is 0: it is piecewise linear and growing, so Newton steps kept
/// inside the bracket end after a few pieces; a tenth of the slope `-start` at 0 is near enough. `slope` and `curve` belong
/// to the penalty.
fn line_search(samples: &[Sample], scores: &[f64], along: &[f64], slope: f64, curve: f64, start: f64) -> f64 {
    let derivative = |t: f64| {
        let (mut first, mut second) = (slope + t * curve, curve);
        for ((s, f), a) in samples.iter().zip(scores).zip(along) {
            let pull = s.pull(f + t * a);
            first -= s.y * a * pull.clamp(0.0, s.cap);
            second += if pull > 0.0 && pull < s.cap { s.stiffness * a * a } else { 0.0 };
        }
        (first, second)
    };
    flat_point(derivative, 0.1 * start)
}

/// A t > 0 where a growing, piecewise linear derivative is at most `near` in size: Newton steps kept inside the bracket.
/// `derivative` gives the derivative and its slope.
pub(crate) fn flat_point(derivative: impl Fn(f64) -> (f64, f64), near: f64) -> f64 {
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let mut t = 1.0;
    for _ in 0..40 {
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
