//! Many small trainings of nearly the same problem, each a few pair steps from its start: SMO without what surrounds it.
//!
//! Solves   the dual of [`super`], free bias, a whole Gram matrix in f64.
//! Given    a feasible start (the solution for a similar matrix), room that is used again.      Returns  beta, bias.
//! Steps    1 to 4 of [`super::solve`]. The gap that ends it is that of the gradients followed step by step, which a few n
//!          steps in f64 leave right to rounding; nothing is judged afresh.
//! Cost     one product K beta and O(n) for each step; no memory is asked for.
//! Fails    never; where 10 n steps do not do, the general solver goes on from there.

use super::{Active, ActiveSet, GapSchedule, Pair, largest_growing, solve, total_gap};
use crate::Status;
use crate::dual::{Bias, BoxDual, SvmSettings};
use crate::kernel::gram::GramMatrix;

/// Vectors of length n, kept from one training to the next.
#[derive(Default)]
pub(crate) struct Room {
    active: Active,
    scores: Vec<f64>,
}

/// What a training found, beside beta.
pub(crate) struct Settled {
    pub(crate) bias: f64,
    pub(crate) iterations: u64,
}

/// Improves `beta` until the relative duality gap is at most the tolerance of the settings. The bias is that of LIBSVM: the mean
/// of what the free variables ask for; where there are none, the middle of the interval that optimality leaves.
pub(crate) fn settle(
    gram: &GramMatrix,
    dual: &BoxDual,
    beta: &mut Vec<f64>,
    room: &mut Room,
    settings: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> Settled {
    let mut iterations = 0;
    if dual.bias == Bias::Free
        && let Some(bias) = pair_steps(gram, dual, beta, room, settings.tolerance, &mut iterations)
    {
        return Settled { bias, iterations };
    }
    let solution = solve(&mut &*gram, dual, Some(beta), &mut ActiveSet::default(), settings, stop);
    *beta = solution.beta;
    Settled { bias: solution.bias, iterations: iterations + solution.iterations }
}

fn pair_steps(
    gram: &GramMatrix,
    dual: &BoxDual,
    beta: &mut [f64],
    room: &mut Room,
    tolerance: f64,
    iterations: &mut u64,
) -> Option<f64> {
    let n = dual.len();
    gram.multiply_into(beta, &mut room.scores);
    let active = &mut room.active;
    active.clear();
    active.push(&gram, dual, beta, &room.scores, 0..n);
    active.value = (0..n).map(|t| beta[t] * (dual.y[t] - 0.5 * (room.scores[t] + dual.ridge[t] * beta[t]))).sum();
    let mut schedule = GapSchedule::new(n);
    let (mut i, mut top) = largest_growing(&active.v, &active.grow);
    loop {
        if top == f64::NEG_INFINITY {
            return None;
        }
        let mut rows = gram;
        let choice = Pair::choose(&mut rows, active, i, top);
        if choice.violation <= 0.0 || schedule.due(choice.violation, *iterations) {
            let gap = total_gap(dual, None, &active.beta, &active.v, choice.middle);
            let wanted = tolerance * (active.value + gap).abs();
            schedule.checked(choice.violation, gap, wanted, *iterations);
            if gap <= wanted || choice.violation <= 0.0 || *iterations > 10 * n as u64 {
                active.write_back(beta);
                return (gap <= wanted).then(|| active.mean_of_free().unwrap_or(choice.middle));
            }
        }
        *iterations += 1;
        (i, top) = active.step(&mut rows, dual, &choice, 0.0);
    }
}

impl Active {
    /// Mean of v over the variables strictly inside their box.
    fn mean_of_free(&self) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0.0);
        for a in 0..self.len() {
            let free = if self.grow[a] == 0.0 && self.fall[a] == 0.0 { 1.0 } else { 0.0 };
            sum += free * self.v[a];
            count += free;
        }
        (count > 0.0).then(|| sum / count)
    }
}
