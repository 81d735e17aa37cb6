//! The bound of a node: solved on few samples and features, widened until the node is decided.

use super::active_bounds::ActiveBounds;
use super::alpha_cap::AlphaCap;
use super::interior::Goal;
use super::model::{Decide, NodeAnswer, Relaxation, WarmStart};
use super::node::Node;
use super::record::BestPoint;
use crate::Clock;

// Tuning: `make bench-exact-real`.

/// Initial complementarity, as a share of cutoff less bound (of this share of the gap at least).
pub(super) const START: f64 = 0.3;
const START_LEAST: f64 = 0.02;
/// Rounds of adding what was left out, at most. What is still left out is counted in the bound: the
/// cap costs nodes, not truth.
const WIDENINGS: u32 = 30;

impl Relaxation<'_> {
    /// The bound of the node where the units `fixed_in` are chosen, the units `free` are undecided
    /// (both ascending) and all others are out. Without free units, also the objective of the one
    /// subset left.
    pub(crate) fn solve(
        &self,
        fixed_in: &[usize],
        free: &[usize],
        warm_start: &WarmStart,
        decide: &Decide,
        clock: &Clock,
    ) -> NodeAnswer {
        let (node, rules) = (Node::new(self, fixed_in, free), self.rules);
        let mut warm_start = warm_start.clone();
        warm_start.shares.retain(|s| free.binary_search(&s.0).is_ok());
        let mut evaluation = node.evaluate(&warm_start);
        let mut alpha_cap = AlphaCap::new(self, evaluation.upper);
        let (mut samples, mut units) = node.choose(&warm_start, &evaluation, alpha_cap);
        let mut active_bounds = ActiveBounds::default();
        node.activate_bounds(&warm_start, &units, 0.0, &mut active_bounds);
        let mut rounds = 0;
        let mut best = evaluation.lower;
        let mut kept = self.keeps_points().then(|| BestPoint::new(&evaluation, &warm_start));
        let mut previous = f64::INFINITY;
        for widening in 0.. {
            let chosen = |choice: &[bool]| choice.iter().filter(|chosen| **chosen).count();
            let columns: usize = (0..units.len()).filter(|&at| units[at]).map(|at| rules.unit(free[at]).len()).sum();
            let width = self.n_problems() * (node.features.len() + 1 + columns);
            if !self.is_worth_solving(chosen(&samples), width) {
                break;
            }
            let Some(_taken) = self.reserve(chosen(&samples), width) else { break };
            node.snap(&mut warm_start, &samples, alpha_cap);
            let (restricted, start) = node.restrict(&warm_start, &samples, &units, &active_bounds, alpha_cap);
            let gap = (evaluation.upper - evaluation.lower).max(0.0);
            let missing = (decide.cutoff - evaluation.lower).clamp(START_LEAST * gap, gap);
            let pairs =
                (2 * samples.iter().filter(|s| **s).count() + 2 * units.iter().filter(|u| **u).count() + 1) as f64;
            let mu = (START * missing).max(1e-6 * evaluation.upper.abs()) / pairs;
            let goal = Goal { cutoff: decide.cutoff, share: 0.5 * decide.share, tolerance: 0.3 * decide.tolerance, mu };
            let (point, used) = restricted.solve(&start, &goal, clock);
            rounds += used;
            let before = warm_start.clone();
            node.take(&mut warm_start, &samples, &units, &point, alpha_cap);
            evaluation = node.evaluate(&warm_start);
            node.lower_prices(&mut warm_start, &mut evaluation);
            alpha_cap = AlphaCap(alpha_cap.0.min(AlphaCap::new(self, evaluation.upper).0));
            if !evaluation.lower.is_finite() || !evaluation.upper.is_finite() {
                // Rules without an interior can drive the prices to infinity: what was known before
                // stands.
                warm_start = before;
                self.make_feasible(&mut warm_start.beta);
                evaluation = node.evaluate(&warm_start);
                break;
            }
            best = best.max(evaluation.lower);
            if let Some(kept) = &mut kept {
                kept.see(&evaluation, &warm_start);
            }
            let gap = evaluation.upper - evaluation.lower;
            let met = Goal { share: decide.share, tolerance: decide.tolerance, ..goal }
                .reached(evaluation.lower, evaluation.upper);
            if met || widening >= WIDENINGS || clock.stop().is_some() || !(gap.is_finite()) {
                break;
            }
            let worth = 0.02 * gap / (self.dual.len() + free.len()) as f64;
            let wider = node.widen(&warm_start, &evaluation, &mut samples, &mut units, worth);
            let more = node.activate_bounds(&warm_start, &units, worth, &mut active_bounds) || wider;
            if !more && gap > 0.5 * previous {
                break;
            }
            previous = gap;
        }
        let excess = node.excess(&evaluation, &warm_start);
        let points = node.points(&warm_start, &evaluation, kept.as_ref());
        warm_start.margins = evaluation.margins;
        NodeAnswer {
            lower: best.max(evaluation.lower),
            upper: evaluation.upper,
            excess,
            priced: evaluation.lower,
            warm_start,
            rounds,
            points,
        }
    }
}
