//! The linear SVM with bounds on its weights (`crate::weights`) on one subset.
//!
//! Solves   min over l <= w <= u, b of 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)), any bias.
//! Returns  w, b, alpha and both objectives: each is the value of a feasible point.
//! Steps    1. the interior-point method on all samples  2. where that ends too early, the optimality
//!          conditions solved from its own weights (`polish.rs`)
//! Cost     n m min(n, m) / 2 a round, tens of rounds, and n m values.
//! Fails    never on limits; an error where the memory is not left.
//!
//! Where bounds take most of a score, the weights that alpha makes have few digits: those of the
//! interior-point method are kept beside its alpha.

use super::alpha_cap::AlphaCap;
use super::interior::Goal;
use super::model::{NodeAnswer, Relaxation, WarmStart};
use super::node::Node;
use super::polish::{Polish, Polished};
use super::solve::START;
use crate::dual::kkt::{ROUNDING, best_bias, residual, total_loss};
use crate::dual::{Bias, BoxDual, DualSolution};
use crate::problem::Labelled;
use crate::search::PrimalPoint;
use crate::{Clock, Design, Error, Memory, Problem, Rules, Status, SvmSettings, WeightBounds};

/// Share of the tolerance asked for that the interior-point method aims at.
const SHARE: f64 = 0.1;

/// Trains on all columns, `bounds` by column. `y` holds -1 or +1 and `weights` the cost
/// multipliers, length n each.
///
/// # Errors
/// Settings out of range, or more memory needed than is left.
pub(crate) fn train_bounded(
    design: &dyn Design,
    bounds: WeightBounds,
    of_samples: Labelled<'_>,
    settings: &SvmSettings,
    memory: &Memory,
    clock: &Clock,
) -> Result<DualSolution, Error> {
    settings.check()?;
    let problem = Problem::of_parts(design, of_samples.labels, of_samples.weights);
    let rules = Rules::none(design.n_features()).with_weight_bounds(bounds);
    let relaxation = Relaxation::new(std::slice::from_ref(&problem), &rules, settings, &[]).within(memory);
    let all: Vec<usize> = (0..design.n_features()).collect();
    let node = Node::new(&relaxation, &all, &[]);
    let (found, iterations) = relaxation.best_within_bounds(&node, &relaxation.cold(), settings.tolerance, clock);
    relaxation.afforded()?;
    let machine = found.machine;
    let (weights, beta, dual) = (machine.weights, found.answer.warm_start.beta, &relaxation.dual);
    let scores_of = |w: &[f64]| {
        let mut scores = vec![0.0; dual.len()];
        w.iter().enumerate().for_each(|(j, w)| design.add_column(j, *w, &mut scores));
        scores
    };
    let scores = scores_of(&weights);
    let (primal, bias) = primal_of(dual, &weights, &scores, machine.bias);
    let of_beta: Vec<f64> = all.iter().map(|&j| relaxation.interval(j).weight(design.dot_column(j, &beta))).collect();
    let kkt_residual = residual(dual, &beta, &scores_of(&of_beta));
    let gain = |&j: &usize| relaxation.interval(j).gain(design.dot_column(j, &beta));
    let dual = relaxation.constant(&beta) - all.iter().map(gain).sum::<f64>();
    let absolute_gap = absolute_gap(primal, dual, beta.len());
    let status = Status::Stalled;
    let mut solution =
        DualSolution { beta, bias, weights, primal, dual, absolute_gap, kkt_residual, iterations, status };
    let met = solution.gap() <= settings.tolerance;
    solution.status = if met { Status::Optimal } else { clock.stop().unwrap_or(Status::Stalled) };
    Ok(solution)
}

/// The primal value of weights with these scores (length n), and their bias: the best one where it
/// is free, else `bias` of the machine that they are of.
pub(super) fn primal_of(dual: &BoxDual, weights: &[f64], scores: &[f64], bias: f64) -> (f64, f64) {
    let (bias, penalty) = match dual.bias {
        Bias::Free => (best_bias(dual, scores), 0.0),
        Bias::Penalised(s) => (bias, 0.5 * (bias / s) * (bias / s)),
        Bias::None => (0.0, 0.0),
    };
    (0.5 * weights.iter().map(|w| w * w).sum::<f64>() + penalty + total_loss(dual, scores, bias), bias)
}

/// The gap of both values, and the rounding of their sums, which have as many terms as samples.
pub(super) fn absolute_gap(primal: f64, dual: f64, samples: usize) -> f64 {
    (primal - dual).max(0.0) + ROUNDING * samples as f64 * primal
}

/// The best values so far, and the machine that the upper one is of.
struct Best {
    answer: NodeAnswer,
    machine: PrimalPoint,
}

impl Relaxation<'_> {
    /// The values of a node without free units, and the rounds used. `warm_start` is a point to be
    /// better than.
    pub(super) fn train_bounded(
        &self,
        node: &Node<'_, '_>,
        warm_start: &WarmStart,
        tolerance: f64,
        clock: &Clock,
    ) -> (NodeAnswer, u64) {
        let (Best { mut answer, machine }, rounds) = self.best_within_bounds(node, warm_start, tolerance, clock);
        if let Some(points) = &mut answer.points {
            points.primal = Some(vec![machine]);
        }
        (answer, rounds)
    }

    fn best_within_bounds(
        &self,
        node: &Node<'_, '_>,
        warm_start: &WarmStart,
        tolerance: f64,
        clock: &Clock,
    ) -> (Best, u64) {
        let mut best = self.judged(node, warm_start.clone());
        let (n, m) = (self.dual.len(), node.features.len() + 1);
        let Some(_taken) = self.reserve(n, m) else { return (best, 0) };
        // Step 1.
        let cold = self.judge(node, self.cold());
        let alpha_cap = AlphaCap::new(self, cold.upper.min(best.answer.upper));
        let (restricted, start) =
            node.restrict(&cold.warm_start, &vec![true; n], &[], &node.all_bounds_active(), alpha_cap);
        let mu = START * (cold.upper - cold.lower) / (2 * n + 1) as f64;
        let goal = Goal { cutoff: f64::INFINITY, share: 0.0, tolerance: SHARE * tolerance, mu };
        let (point, rounds) = restricted.solve(&start, &goal, clock);
        let mut w = point.w;
        if let Bias::Penalised(_) = self.dual.bias {
            // Its column is the first there, and the last here.
            w.rotate_left(1);
        }
        let polish = self.conditions(node, &self.conditioned(&node.features));
        let beta = point.alpha.iter().zip(&self.dual.y).map(|(a, y)| a * y).collect();
        let mut own = Polished { beta, w, bias: 0.0 };
        self.settle_on_bounds(node, &polish, &mut own, tolerance);
        let scores: Vec<f64> = (0..n).map(|i| polish.score(i, &own)).collect();
        if self.dual.bias == Bias::Free {
            own.bias = best_bias(&self.dual, &scores);
        }
        self.take_better(node, &polish, &own, &mut best);
        // Step 2.
        if !best.answer.is_within(tolerance) && clock.stop().is_none() {
            let margins: Vec<f64> = scores.iter().zip(&self.dual.y).map(|(f, y)| y * (f + own.bias)).collect();
            let alpha_cap = AlphaCap::new(self, best.answer.upper).0;
            polish.run(&own.beta, Some(&own.w), &margins, alpha_cap, &mut |point| {
                self.take_better(node, &polish, point, &mut best);
                best.answer.is_within(tolerance)
            });
        }
        (best, rounds)
    }

    /// Puts weights next to a bound on it, where that costs no more than the tolerance has to
    /// spare.
    fn settle_on_bounds(&self, node: &Node<'_, '_>, polish: &Polish<'_>, point: &mut Polished, tolerance: f64) {
        let bounds = polish.pulled(&point.beta, &point.w);
        let w = bounds.iter().zip(&point.w).map(|(bound, w)| bound.unwrap_or(*w)).collect();
        let settled = Polished { w, ..point.clone() };
        let (as_it_is, there) = (self.primal(node, polish, point), self.primal(node, polish, &settled));
        if there <= as_it_is + SHARE * tolerance * as_it_is.abs() {
            *point = settled;
        }
    }

    /// The values of a point, and the machine that its beta makes.
    fn judged(&self, node: &Node<'_, '_>, warm_start: WarmStart) -> Best {
        let answer = self.judge(node, warm_start);
        let machine = node.machines(&answer.warm_start.beta).into_iter().next().expect("it is one problem");
        Best { answer, machine }
    }

    /// Keeps what is better of a point: the bound of its alpha, and the objective of its weights.
    fn take_better(&self, node: &Node<'_, '_>, polish: &Polish<'_>, point: &Polished, best: &mut Best) {
        let warm_start = best.answer.warm_start.clone();
        let found = self.judged(node, WarmStart { beta: point.beta.clone(), bias: vec![point.bias], ..warm_start });
        let own = (self.primal(node, polish, point), node.machine(point.w.clone(), self.bias_of(point)));
        let known = (best.answer.upper, best.machine.clone());
        let uppers = [known, (found.answer.upper, found.machine), own];
        let (upper, machine) = uppers.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are three");
        if found.answer.lower > best.answer.lower || best.answer.lower.is_nan() {
            best.answer = found.answer;
        }
        (best.answer.upper, best.machine) = (upper, machine);
    }
}
