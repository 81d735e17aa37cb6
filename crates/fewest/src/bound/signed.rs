//! The linear SVM with signs on its weights, from a solution that is near.
//!
//! Solves   min over w, b of 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)), w_j of its sign or 0.
//! Returns  w, b, alpha and both objectives: each is the value of a feasible point.
//! Steps    1. A = the features whose scores `c_j = sum_i y_i alpha_i x_ij` have their sign, all of
//!          them at alpha = 0
//!          2. the SVM on A without bounds, from the last alpha  3. scores, gap; stop, or again with
//!          the scores found: Newton's method on `sum_j g_j(c_j)`, which is quadratic where A stays
//! Cost     a training on A a round; after a feature left, one round or two.
//! Fails    returns none where a weight has a bound other than 0, where A is empty, or where the
//!          rounds do not end: `bounded.rs` then trains.

use super::bounded::{absolute_gap, primal_of};
use crate::dual::kkt::residual;
use crate::dual::train::train_linear;
use crate::dual::{BoxDual, DualSolution};
use crate::{Clock, Design, Status, SvmSettings, WeightBounds};

/// Most rounds of one call; hard problems whose start is far from the solution took up to 12.
const ROUNDS: u32 = 25;

/// Trains on these features, from `start` (length n; zeros for none).
pub(crate) fn train_signed(
    design: &dyn Design,
    features: &[usize],
    bounds: &WeightBounds,
    dual: &BoxDual,
    start: &[f64],
    settings: &SvmSettings,
    clock: &Clock,
) -> Option<DualSolution> {
    if features.iter().any(|&j| bounds.of(j).is_boxed()) {
        return None;
    }
    let (mut beta, mut iterations) = (start.to_vec(), 0);
    let scores_of = |beta: &[f64]| features.iter().map(|&j| design.dot_column(j, beta)).collect::<Vec<f64>>();
    let mut c = scores_of(&beta);
    for _ in 0..ROUNDS {
        // Step 1.
        let at_zero = beta.iter().all(|b| *b == 0.0);
        let has_sign = |&k: &usize| bounds.of(features[k]).weight(c[k]) != 0.0 || at_zero;
        let active: Vec<usize> = (0..features.len()).filter(has_sign).map(|k| features[k]).collect();
        if active.is_empty() {
            return None;
        }
        // Step 2.
        let found = train_linear(design, &active, dual, Some(&beta), settings, clock);
        iterations += found.iterations;
        if found.status.is_limit() {
            return None;
        }
        // Step 3.
        beta = found.beta;
        c = scores_of(&beta);
        let weights: Vec<f64> = features.iter().zip(&c).map(|(&j, &c)| bounds.of(j).weight(c)).collect();
        let mut scores = vec![0.0; dual.len()];
        features.iter().zip(&weights).filter(|e| *e.1 != 0.0).for_each(|(&j, w)| design.add_column(j, *w, &mut scores));
        let (primal, bias) = primal_of(dual, &weights, &scores, found.bias);
        let squares = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>();
        // Where weights are free or of a sign, what they gain is half their square.
        let value = found.dual + 0.5 * squares(&found.weights) - 0.5 * squares(&weights);
        if primal - value <= settings.tolerance * primal.abs() {
            return Some(DualSolution {
                absolute_gap: absolute_gap(primal, value, beta.len()),
                kkt_residual: residual(dual, &beta, &scores),
                status: Status::Optimal,
                dual: value,
                beta,
                bias,
                weights,
                primal,
                iterations,
            });
        }
    }
    None
}
