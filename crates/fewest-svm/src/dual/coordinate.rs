//! Dual coordinate descent: trains a linear machine one sample at a time, and proves how far the
//! result is from the optimum.
//!
//! Solves   the dual of [`super`] for a linear kernel, hinge or squared hinge, any bias.
//! Paper    Hsieh, Chang, Lin, Keerthi and Sundararajan, A dual coordinate descent method for
//!          large-scale linear SVM, ICML 2008, Algorithm 3 (shrinking), eqs. (4), (8), (9).
//! Given    rows (n x p), box, optional start.
//! Returns  beta, w, bias, both objectives, status.
//! Steps    1. start  2. epoch over the active samples in random order  3. extrapolate every few
//!          epochs
//!          4. move the centre of a free bias  5. measure the gap when the epoch's own estimate
//!             says it is met
//!          6. bring shrunk samples back
//! Cost     per epoch: one or two passes over the active rows; memory: O(n + p).
//! Differs  from the paper: stops on the relative duality gap, not on the projected gradient; line
//!          searches along the way of the last epochs (after Bertrand and Massias, AISTATS 2021),
//!          which halves the epochs. A free bias is reached by the proximal point method on the
//!          bias (Rockafellar 1976), that is the method of multipliers on `sum beta = 0`:
//!          coordinate descent on the problem with penalty `(b - b_k)^2 / (2 gain)`, whose bias is
//!          `b = b_k + gain sum beta`, then `b_k <- b`. Its fixed points have sum beta = 0, so they
//!          solve the free problem.
//! Exact    because the gap is never taken from the iteration: `finish` repairs beta to be
//!          feasible, forms w from it, and measures both objectives with the best bias. Every
//!          reported gap is a true one.
//! Fails    never; stops with a status and the gap reached.

use super::sweep::{self, Coordinate, Descent, Epoch, Shuffle};
use super::{Bias, BoxDual, DualSolution, Loss, SvmSettings, kkt};
use crate::simd;
use crate::{Clock, RowMatrix, Status};

/// Tuning: chosen by hand; `make bench-train` shows what a change costs.
mod tuning {
    /// Violations below this, in units of the margin, are rounding.
    pub(super) const ROUNDING: f64 = 1e-13;
    /// Epochs between extrapolations: at least this many, and later this part of the epochs so far.
    pub(super) const LEAP_EPOCHS: u64 = 5;
    pub(super) const LEAP_SHARE: u64 = 50;
    /// Gain of a free bias over the mean squared norm of a row. Larger shortens every step, smaller
    /// takes more centres.
    pub(super) const FREE_GAIN: f64 = 0.1;
    /// Lengths tried per extrapolation.
    pub(super) const TRIES: u32 = 3;
}
use tuning::{FREE_GAIN, LEAP_EPOCHS, LEAP_SHARE, ROUNDING, TRIES};

/// Trains by coordinate descent from `start` (length n; zeros when absent).
pub fn solve(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    clock: &Clock,
) -> DualSolution {
    descend(rows, dual, start, settings, settings.max_epochs, Work::ANY, clock)
}

/// The number of values that coordinate descent may visit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    /// Values that it visits in any case.
    pub(super) least: f64,
    /// Values that it visits as long as, at the pace of the last epochs, it ends within them.
    pub(super) most: f64,
}

impl Work {
    /// No limit.
    pub(super) const ANY: Self = Self { least: f64::INFINITY, most: f64::INFINITY };
}

/// Values visited and the estimated relative gap after each epoch.
#[derive(Default)]
struct Pace(Vec<(f64, f64)>);

impl Pace {
    /// Whether at the pace of the later half, in which gaps fall by a constant factor for each value
    /// visited, the gap comes down to `target` before `most` values are visited.
    fn ends_within(&self, most: f64, target: f64) -> bool {
        let Some(&(visited, gap)) = self.0.last() else { return false };
        let half = self.0.partition_point(|(earlier, _)| *earlier < 0.5 * visited);
        let (earlier, before) = self.0[half];
        let fall = (before / gap).ln();
        fall > 0.0 && visited + (visited - earlier) * (gap / target).ln() / fall <= most
    }
}

/// [`solve`], but it gives up with [`Status::CallLimit`] once `work` is spent.
pub(super) fn descend(
    rows: &RowMatrix,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    max_epochs: u64,
    work: Work,
    clock: &Clock,
) -> DualSolution {
    let n = dual.len();
    let squared = dual.loss == Loss::SquaredHinge;
    let norms: Vec<f64> = (0..n).map(|i| rows.row(i).squared_norm()).collect();

    // Step 1.
    let mut d = begin(dual, start, &norms);
    let everyone = d.active.clone();
    let beta = |d: &Descent| -> Vec<f64> { d.coordinates.iter().map(Coordinate::beta).collect() };
    let mut w = rows.combination(&beta(&d));
    let mut value = 0.0;
    let mut epochs = 0;
    if start.is_some() {
        let first = finish(rows, dual, beta(&d), 0, Status::CallLimit);
        if first.gap() <= settings.tolerance {
            return DualSolution { status: Status::Optimal, ..first };
        }
        value = first.dual;
        if dual.bias == Bias::Free {
            d.centre = first.bias;
        }
    }
    let mean_row = rows.stored() as f64 / n.max(1) as f64;
    let mut visited = 0.0;
    let mut pace = Pace::default();
    let mut demand = 1.0;
    let mut earlier = beta(&d);
    let mut reach = f64::INFINITY;
    let mut next_leap = LEAP_EPOCHS;
    loop {
        // Step 3.
        if epochs == next_leap {
            value += extrapolate(rows, &mut d, &mut w, &earlier, &mut reach);
            next_leap = epochs + LEAP_EPOCHS.max(epochs / LEAP_SHARE);
            for &i in &d.active {
                earlier[i as usize] = d.coordinates[i as usize].beta();
            }
        }
        let spent = visited >= work.least && !pace.ends_within(work.most, demand * settings.tolerance);
        let limit = clock.stop().or((epochs >= max_epochs || spent).then_some(Status::CallLimit));
        if let Some(status) = limit {
            return finish(rows, dual, beta(&d), epochs, status);
        }

        // Step 2.
        let all = d.active.len() == everyone.len();
        visited += d.active.len() as f64 * mean_row;
        let epoch = match rows.csr() {
            Some(csr) => sweep::sparse_epoch(csr, &mut w, &mut d, squared),
            None => sweep::dense_epoch(rows.dense_values().unwrap_or_default(), &mut w, &mut d, squared),
        };
        epochs += 1;
        value += epoch.growth;

        // Step 4.
        let unbalanced = d.sum.abs();
        if dual.bias == Bias::Free {
            value += move_centre(&mut d, &epoch);
        }

        // Step 5. A repaired beta loses about 1 + |b| per unit of imbalance.
        let gap = epoch.gap + if dual.bias == Bias::Free { unbalanced * (1.0 + d.centre.abs()) } else { 0.0 };
        pace.0.push((visited, gap / (value + gap)));
        let settled = epoch.highest - epoch.lowest <= ROUNDING || d.active.is_empty();
        if gap <= demand * settings.tolerance * (value + gap) || settled {
            let now = finish(rows, dual, beta(&d), epochs, Status::Optimal);
            if now.gap() <= settings.tolerance {
                return now;
            }
            if all && settled && unbalanced <= ROUNDING * (1.0 + d.active.len() as f64) {
                return DualSolution { status: Status::Stalled, ..now };
            }
            // What is carried from step to step has gathered rounding errors: form it again.
            w = rows.combination(&beta(&d));
            // Step 6. The estimate was too kind: sleeping samples woke, or what it sees lags
            // behind. Ask for more.
            if all {
                demand *= 0.5;
            } else {
                d.active.clone_from(&everyone);
                earlier = beta(&d);
                (d.shrink_above, d.shrink_below) = (f64::INFINITY, f64::NEG_INFINITY);
            }
            continue;
        }
        d.shrink_above = if epoch.highest > 0.0 { epoch.highest } else { f64::INFINITY };
        d.shrink_below = if epoch.lowest < 0.0 { epoch.lowest } else { f64::NEG_INFINITY };
    }
}

/// The start inside its box, with all samples that may move active.
fn begin(dual: &BoxDual, start: Option<&[f64]>, norms: &[f64]) -> Descent {
    let n = dual.len();
    let gain = match dual.bias {
        Bias::Penalised(s) => s * s,
        Bias::None => 0.0,
        Bias::Free => (FREE_GAIN * norms.iter().sum::<f64>() / n.max(1) as f64).max(f64::MIN_POSITIVE),
    };
    let coordinates: Vec<Coordinate> = (0..n)
        .map(|i| {
            let cap = dual.upper[i] - dual.lower[i];
            let alpha = start.map_or(0.0, |beta| (dual.y[i] * beta[i]).clamp(0.0, cap));
            // A row of zeros without bias or ridge has no curvature: its step ends on the box.
            let inverse = (1.0 / (norms[i] + gain + dual.ridge[i])).min(1e150);
            Coordinate { y: dual.y[i], alpha, cap, cost: dual.cost[i], ridge: dual.ridge[i], inverse }
        })
        .collect();
    let active: Vec<u32> = (0..n as u32).filter(|&i| coordinates[i as usize].cap > 0.0).collect();
    Descent {
        sum: coordinates.iter().map(|c| c.y * c.alpha).sum(),
        coordinates,
        active,
        centre: 0.0,
        gain,
        shrink_above: f64::INFINITY,
        shrink_below: f64::NEG_INFINITY,
        shuffle: Shuffle::default(),
    }
}

/// `b_k <- b` of the proximal point method. Returns the change of the augmented dual value.
fn move_centre(d: &mut Descent, epoch: &Epoch) -> f64 {
    let violation = (epoch.highest - epoch.lowest).max(0.0);
    if d.gain * d.sum.abs() < 0.1 * violation {
        return 0.0;
    }
    let shift = d.gain * d.sum;
    d.centre += shift;
    -shift * d.sum
}

/// Follows the way the active samples travelled since `earlier` (beta, length n) to where the dual
/// is largest, because slow coordinate descent creeps in one direction for long. `reach` bounds the
/// length and adapts. Returns the growth of the dual value, 0 when no length tried was worth
/// taking.
fn extrapolate(rows: &RowMatrix, d: &mut Descent, w: &mut [f64], earlier: &[f64], reach: &mut f64) -> f64 {
    let way: Vec<f64> = d.active.iter().map(|&i| d.coordinates[i as usize].beta() - earlier[i as usize]).collect();
    let moved = |steps: &[f64]| {
        let mut out = vec![0.0; w.len()];
        for (&i, &step) in d.active.iter().zip(steps).filter(|(_, step)| **step != 0.0) {
            rows.row(i as usize).add_to(step, &mut out);
        }
        out
    };
    // The dual along `steps` from here: (slope, curve) of its quadratic.
    let quadratic = |steps: &[f64], w_steps: &[f64]| {
        let sum: f64 = steps.iter().sum();
        let mut slope = -simd::dot(w, w_steps) - (d.centre + d.gain * d.sum) * sum;
        let mut curve = simd::dot(w_steps, w_steps) + d.gain * sum * sum;
        for (&i, step) in d.active.iter().zip(steps) {
            let c = &d.coordinates[i as usize];
            slope += step * (c.y - c.ridge * c.beta());
            curve += c.ridge * step * step;
        }
        (slope, curve)
    };
    let (slope, curve) = quadratic(&way, &moved(&way));
    let mut length = (slope / curve).min(*reach);
    for _ in 0..TRIES {
        if !(length > 1.0 && length.is_finite()) {
            break;
        }
        let clipped = |(&i, way): (&u32, &f64)| {
            let c = &d.coordinates[i as usize];
            c.y * ((c.alpha + length * c.y * way).clamp(0.0, c.cap) - c.alpha)
        };
        let steps: Vec<f64> = d.active.iter().zip(&way).map(clipped).collect();
        let w_steps = moved(&steps);
        let (slope, curve) = quadratic(&steps, &w_steps);
        let growth = slope - 0.5 * curve;
        if growth > 0.0 {
            for (&i, step) in d.active.iter().zip(&steps) {
                let c = &mut d.coordinates[i as usize];
                c.alpha = (c.alpha + c.y * step).clamp(0.0, c.cap);
                d.sum += step;
            }
            for (w, step) in w.iter_mut().zip(&w_steps) {
                *w += step;
            }
            *reach = 4.0 * length;
            return growth;
        }
        length *= 0.25;
        *reach = length;
    }
    *reach = reach.max(4.0);
    0.0
}

/// Makes `beta` feasible and measures it: what is returned is true whatever led to beta.
pub(super) fn finish(
    rows: &RowMatrix,
    dual: &BoxDual,
    mut beta: Vec<f64>,
    iterations: u64,
    status: Status,
) -> DualSolution {
    kkt::make_feasible(dual, &mut beta);
    let weights = rows.combination(&beta);
    let mut scores = vec![0.0; dual.len()];
    rows.scores(&weights, 0.0, &mut scores);
    let kkt::Objectives { primal, dual: value, bias, absolute_gap } = kkt::objectives(dual, &beta, &scores);
    let kkt_residual = kkt::residual(dual, &beta, &scores);
    DualSolution { beta, bias, weights, primal, dual: value, absolute_gap, kkt_residual, iterations, status }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_says_when_a_gap_is_met() {
        // Each 10 values visited halve the gap: from 1/16 to 1/64 takes 20 more.
        let pace = Pace((1..=4).map(|epoch| (10.0 * f64::from(epoch), 0.5f64.powi(epoch))).collect());
        assert!(pace.ends_within(61.0, 1.0 / 64.0) && !pace.ends_within(59.0, 1.0 / 64.0));
        assert!(!Pace(vec![(10.0, 0.5), (20.0, 0.6)]).ends_within(f64::INFINITY, 0.1));
        assert!(!Pace::default().ends_within(f64::INFINITY, 0.1));
    }
}
