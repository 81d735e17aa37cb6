//! u_k, the largest |w_k| worth examining: section 4 of Gaudioso et al. 2017.

use crate::design::common_unit;
use crate::l1_oracle::L1Oracle;
use crate::{Bias, Clock, Error, Memory, Problem, Rules};

use super::TIGHT;

/// The grid of C in the paper's experiments. Without u, D has no say: y_k = |w_k| / u_k costs
/// nothing.
const COSTS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

/// The largest |w_k| (length p) in the linear relaxations without u for C in {0.1, 1, 10, 100} over
/// the unit of the data (1 where their largest value is within 1000 times of 1), each within the bounds on weights of the rules.
/// Most are 0, which leaves those features out: that is a choice of the paper's, no proof.
///
/// # Errors
/// A failure of HiGHS.
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
    let p = problem.n_features();
    let oracle = L1Oracle::within(problem, problem.weights().to_vec(), bias, vec![f64::INFINITY; p], memory)?;
    let mut oracle = oracle.bounded(rules.weight_bounds());
    let mut bound = vec![0.0f64; p];
    let unit = common_unit(problem.design());
    for cost in COSTS.map(|cost| cost / unit) {
        oracle.set_cost(&problem.weights().iter().map(|weight| weight * cost).collect::<Vec<_>>())?;
        for (j, w) in oracle.solve(TIGHT, clock)?.weights {
            bound[j] = bound[j].max(w.abs());
        }
    }
    Ok(bound)
}
