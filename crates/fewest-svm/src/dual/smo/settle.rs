//! Many small trainings of nearly the same problem, each a few pair steps from its start: SMO
//! without what surrounds it.
//!
//! Solves   the dual of [`super`], free bias, a whole Gram matrix in f64.
//! Given    a feasible start (the solution for a similar matrix), room that is used again.
//! Returns  beta, bias.
//! Steps    1 to 4 of [`super::solve`]. The gap that ends it is that of the gradients followed step
//!          by step, which a few n steps in f64 leave right to rounding; nothing is computed again.
//! Cost     one product K beta and O(n) for each step; no memory is asked for.
//! Fails    never; where pair steps have cost as much as exact ones would, the general solver goes
//!          on from there with those.

use super::active::{Active, Pair, total_gap};
use super::schedule::{GapSchedule, exact_cost};
use super::{ActiveSet, largest_growing, solve};
use crate::Clock;
use crate::dual::{Bias, BoxDual, SvmSettings};
use crate::kernel::gram::GramMatrix;

/// Vectors of length n, kept from one training to the next.
#[derive(Default)]
pub struct Room {
    active: Active,
    scores: Vec<f64>,
}

/// The result of a training beside beta.
pub struct ShortTraining {
    pub bias: f64,
    pub iterations: u64,
}

/// Improves `beta` until the relative duality gap is at most the tolerance of the settings. The
/// bias is that of LIBSVM: the mean of what the free variables ask for; where there are none, the
/// middle of the interval that optimality leaves.
pub fn settle(
    gram: &GramMatrix,
    dual: &BoxDual,
    beta: &mut Vec<f64>,
    room: &mut Room,
    settings: &SvmSettings,
    clock: &Clock,
) -> ShortTraining {
    let mut iterations = 0;
    if dual.bias == Bias::Free
        && let Some(bias) = pair_steps(gram, dual, beta, room, settings.tolerance, &mut iterations, clock)
    {
        return ShortTraining { bias, iterations };
    }
    // The free set is that of a training: exact steps are worth trying at once.
    let mut memory = ActiveSet::default();
    if iterations > 0 {
        memory.trained();
    }
    let solution = solve(&mut &*gram, dual, Some(beta), &mut memory, settings, clock);
    *beta = solution.beta;
    ShortTraining { bias: solution.bias, iterations: iterations + solution.iterations }
}

fn pair_steps(
    gram: &GramMatrix,
    dual: &BoxDual,
    beta: &mut [f64],
    room: &mut Room,
    tolerance: f64,
    iterations: &mut u64,
    clock: &Clock,
) -> Option<f64> {
    let n = dual.len();
    gram.multiply_into(beta, &mut room.scores);
    let active = &mut room.active;
    active.clear();
    active.push(&gram, dual, beta, &room.scores, &(0..n));
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
            let allowed = tolerance * (active.value + gap).abs();
            schedule.checked(choice.violation, gap, allowed, *iterations);
            let slow = *iterations >= n as u64 && *iterations >= exact_cost(active.free(), n);
            if gap <= allowed || choice.violation <= 0.0 || slow || clock.stop().is_some() {
                active.write_back(beta);
                return (gap <= allowed).then(|| active.mean_of_free().unwrap_or(choice.middle));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Loss;
    use crate::dual::kkt;
    use crate::kernel::Kernel;

    /// Gram matrix of an RBF kernel on points that `shift` moves a little, and labels that overlap.
    fn draw(n: usize, shift: f64) -> (GramMatrix, Vec<f64>) {
        let mut state = 3u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        let points: Vec<[f64; 3]> = (0..n).map(|_| [next(), next(), next() * (1.0 + shift)]).collect();
        let labels = points.iter().map(|x| if x[0] + 0.3 * next() > 0.0 { 1.0 } else { -1.0 }).collect();
        let distance = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut values: Vec<f64> = points.iter().flat_map(|a| points.iter().map(|b| distance(a, b))).collect();
        Kernel::Rbf { gamma: 2.0 }.apply(&mut values);
        (GramMatrix::from_values(n, values), labels)
    }

    #[test]
    fn meets_the_gap_and_the_best_bias_from_nothing_and_from_a_similar_matrix() {
        let (gram, y) = draw(41, 0.0);
        let (other, _) = draw(41, 0.05);
        let weights: Vec<f64> = (0..41).map(|i| if i % 9 == 0 { 0.0 } else { 1.0 }).collect();
        let mut room = Room::default();
        for (loss, bias) in [(Loss::Hinge, Bias::Free), (Loss::SquaredHinge, Bias::Free), (Loss::Hinge, Bias::None)] {
            for cost in [0.01, 1.0, 100.0] {
                let settings = SvmSettings { cost, loss, bias, tolerance: 1e-9, ..SvmSettings::default() };
                let dual = BoxDual::new(&y, &weights, &settings);
                let mut beta = vec![0.0; 41];
                for gram in [&gram, &other] {
                    let found = settle(gram, &dual, &mut beta, &mut room, &settings, &Clock::unlimited());
                    let judged = kkt::objectives(&dual, &beta, &gram.multiply(&beta));
                    assert!(
                        kkt::relative_gap(judged.primal, judged.dual) < 2e-9,
                        "{loss:?} {bias:?} {cost}: {judged:?}"
                    );
                    assert!(
                        (found.bias - judged.bias).abs() < 1e-3,
                        "{loss:?} {bias:?} {cost}: {} {judged:?}",
                        found.bias
                    );
                    assert!(beta.iter().zip(&weights).all(|(b, w)| *w > 0.0 || *b == 0.0));
                }
            }
        }
    }
}
