//! u_k, the largest |w_k| worth examining: section 4 of Gaudioso et al. 2017.

use crate::design::units;
use crate::l1_oracle::L1Oracle;
use crate::method::l1_svm::not_forbidden;
use crate::{Bias, Clock, Error, Memory, Problem, Rules};

use super::TIGHT;

/// The grid of C in the paper's experiments. Without u, D has no say: y_k = |w_k| / u_k costs
/// nothing.
const COSTS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

/// The largest |w_k| (length p) in the linear relaxations without u for C in {0.1, 1, 10, 100}, each
/// within the bounds on weights of the rules, over the features that these do not forbid. Each
/// feature is measured in a unit of its own, 1 where its largest value is within 1000 times of 1: a
/// weight costs as much as the unit, so that no feature's unit moves the bounds of others.
/// Most are 0, which leaves those features out: that is a choice of the paper's, no proof.
pub fn weight_bounds(problem: &Problem<'_>, rules: &Rules, bias: Bias, clock: &Clock) -> Result<Vec<f64>, Error> {
    weight_bounds_within(problem, rules, bias, &Memory::unlimited(), clock)
}

/// [`weight_bounds`], whose programs take no more than is left of `memory`.
pub(super) fn weight_bounds_within(
    problem: &Problem<'_>,
    rules: &Rules,
    bias: Bias,
    memory: &Memory,
    clock: &Clock,
) -> Result<Vec<f64>, Error> {
    let (p, mut bound) = (problem.n_features(), vec![0.0f64; problem.n_features()]);
    let mut free = bound.clone();
    for j in not_forbidden(rules) {
        free[j] = f64::INFINITY;
    }
    let price = units(problem.design());
    let least = (0..p).filter(|j| free[*j] > 0.0).map(|j| price[j]).fold(f64::INFINITY, f64::min);
    let oracle = L1Oracle::within(problem, problem.weights().to_vec(), bias, free, memory)?;
    let mut oracle = oracle.bounded(rules.weight_bounds()).priced(if least.is_finite() { least } else { 1.0 })?;
    oracle.set_prices(&price, &price)?;
    for cost in COSTS {
        oracle.set_cost(&problem.weights().iter().map(|weight| weight * cost).collect::<Vec<_>>())?;
        for (j, w) in oracle.solve(TIGHT, clock)?.weights {
            bound[j] = bound[j].max(w.abs());
        }
    }
    Ok(bound)
}
