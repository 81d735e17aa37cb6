//! A subset that a file lists, with a primal point on it.

use super::Gain;
use crate::dual::kkt::{best_bias, total_loss};
use crate::dual::{Bias, BoxDual, Loss};
use crate::search::PrimalPoint;
use crate::{Problem, Subset};

/// A subset that a file lists.
#[derive(Debug, Clone)]
pub(crate) struct Listed {
    pub(crate) subset: Subset,
    /// No less than the objective at the weights and the bias, however that is rounded.
    pub(super) objective: f64,
    /// By feature of the subset, ascending.
    pub(super) weights: Vec<f64>,
    pub(super) bias: f64,
}

impl Listed {
    /// A subset of this objective, its price among it, at a point. A free bias is found anew.
    pub(crate) fn new(
        problem: &Problem<'_>,
        dual: &BoxDual,
        gain: Gain,
        (subset, objective, price): (&Subset, f64, f64),
        point: PrimalPoint,
    ) -> Self {
        let (PrimalPoint { weights, mut bias }, n) = (point, dual.len());
        let (mut scores, mut sizes) = (vec![0.0; n], vec![0.0; n]);
        for (j, w) in subset.iter().zip(&weights) {
            problem.design().add_column(j, *w, &mut scores);
            problem.design().each_in_column(j, &mut |i, x| sizes[i] += (w * x).abs());
        }
        if dual.bias == Bias::Free {
            bias = best_bias(dual, &scores);
        }
        // A score is off by at most (features + 2) eps times the sum of its parts.
        let share = f64::EPSILON * (4.0 + weights.len() as f64);
        let off = |i: usize| {
            let (size, slack) = (1.0 + sizes[i] + bias.abs(), (1.0 - dual.y[i] * (scores[i] + bias)).max(0.0));
            let slope = if dual.loss == Loss::Hinge { 1.0 } else { 2.0 * (slack + share * size) };
            dual.cost[i] * slope * share * size
        };
        let bias_over = if let Bias::Penalised(s) = dual.bias { bias / s } else { 0.0 };
        let parts = weights.iter().copied().chain([bias_over]);
        let norm: f64 = match gain {
            Gain::Ridge => 0.5 * parts.map(|w| w * w).sum::<f64>(),
            Gain::L1 => parts.map(f64::abs).sum(),
        };
        let value = norm + price + total_loss(dual, &scores, bias);
        let rounding = f64::EPSILON * (n + weights.len() + 8) as f64 * value + (0..n).map(off).sum::<f64>();
        Self { subset: subset.clone(), objective: objective.max(value + rounding), weights, bias }
    }
}
