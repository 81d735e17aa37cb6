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
    /// No less than the objective at the weights and biases, however that is rounded.
    pub(super) objective: f64,
    /// The weights and bias of each problem; weights by feature of the subset, ascending.
    pub(super) machines: Vec<PrimalPoint>,
}

impl Listed {
    /// A subset of this objective, its price among it, at a point for each problem. A free bias is
    /// found again.
    pub(crate) fn new<'p>(
        problems: impl Iterator<Item = (&'p Problem<'p>, &'p BoxDual)>,
        gain: Gain,
        subset: &Subset,
        objective: f64,
        price: f64,
        mut machines: Vec<PrimalPoint>,
    ) -> Self {
        let value: f64 = problems
            .zip(&mut machines)
            .map(|((problem, dual), machine)| value_up(problem, dual, gain, subset, machine))
            .sum();
        let rounding = f64::EPSILON * (machines.len() + 2) as f64 * (value + price);
        let objective = objective.max(value + price + rounding);
        Self { subset: subset.clone(), objective, machines }
    }
}

/// The objective of one problem at a machine, not below it; a free bias is found again.
fn value_up(problem: &Problem<'_>, dual: &BoxDual, gain: Gain, subset: &Subset, machine: &mut PrimalPoint) -> f64 {
    let n = dual.len();
    let (mut scores, mut sizes) = (vec![0.0; n], vec![0.0; n]);
    for (j, w) in subset.iter().zip(&machine.weights) {
        problem.design().add_column(j, *w, &mut scores);
        problem.design().each_in_column(j, &mut |i, x| sizes[i] += (w * x).abs());
    }
    let weights = &machine.weights;
    // A score is wrong by at most (features + 2) eps times the sum of its parts.
    let share = f64::EPSILON * (4.0 + weights.len() as f64);
    let norm = |bias: f64| -> f64 {
        let bias_over = if let Bias::Penalised(s) = dual.bias { bias / s } else { 0.0 };
        let parts = weights.iter().copied().chain([bias_over]);
        match gain {
            Gain::Ridge => 0.5 * parts.map(|w| w * w).sum::<f64>(),
            Gain::L1 => parts.map(f64::abs).sum(),
        }
    };
    let off = |i: usize, bias: f64| {
        let (size, slack) = (1.0 + sizes[i] + bias.abs(), 1.0 - dual.y[i] * (scores[i] + bias));
        if slack < -share * size {
            return 0.0;
        }
        let slack = slack.max(0.0);
        let slope = if dual.loss == Loss::Hinge { 1.0 } else { 2.0 * (slack + share * size) };
        dual.cost[i] * slope * share * size
    };
    let at = |bias: f64| -> f64 {
        let value = norm(bias) + total_loss(dual, &scores, bias);
        let rounding = f64::EPSILON * (n + weights.len() + 8) as f64 * value;
        value + rounding + (0..n).map(|i| off(i, bias)).sum::<f64>()
    };
    if dual.bias != Bias::Free {
        return at(machine.bias);
    }
    // Samples at the margin have slack up to rounding; next to the best bias they have
    // none.
    let best = best_bias(dual, &scores);
    let aside = 4.0 * share * (1.0 + best.abs() + sizes.iter().copied().fold(0.0, f64::max));
    let (value, bias) = [best, best - aside, best + aside]
        .map(|bias| (at(bias), bias))
        .into_iter()
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .expect("three of them");
    machine.bias = bias;
    value
}
