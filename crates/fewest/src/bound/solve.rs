//! The bound of a node: solved on few samples and features, widened until the node is decided.

use super::interior::Goal;
use super::model::{Answer, Decide, Relaxation, Warm};
use super::node::Node;
use super::reach::Reach;
use super::record::Kept;
use super::turned::Turned;
use crate::Clock;

// Tuning: `make bench-exact-real`.

/// The start's products over what the bound lacks, and at least over this share of the gap.
pub(super) const START: f64 = 0.3;
const START_LEAST: f64 = 0.02;
/// Rounds of adding what was left out, at most. What is still left out is counted in the bound: the
/// cap costs nodes, not truth.
const WIDENINGS: u32 = 30;

impl Relaxation<'_> {
    /// The bound of the node where the units `inside` are chosen, the units `free` are undecided
    /// (both ascending) and all others are out. Without free units, also the objective of the one
    /// subset left.
    pub(crate) fn solve(
        &self,
        inside: &[usize],
        free: &[usize],
        warm: &Warm,
        decide: &Decide,
        clock: &Clock,
    ) -> Answer {
        let (node, rules) = (Node::new(self, inside, free), self.rules);
        let mut warm = warm.clone();
        warm.shares.retain(|s| free.binary_search(&s.0).is_ok());
        let mut looked = node.look(&warm);
        let mut reach = Reach::new(self, looked.upper);
        let (mut samples, mut units) = node.choose(&warm, &looked, reach);
        let mut turned = Turned::default();
        node.turn(&warm, &units, 0.0, &mut turned);
        let mut rounds = 0;
        let mut best = looked.lower;
        let mut kept = self.keeps_points().then(|| Kept::new(&looked, &warm));
        let mut previous = f64::INFINITY;
        for widening in 0.. {
            let chosen = |choice: &[bool]| choice.iter().filter(|chosen| **chosen).count();
            let columns: usize = (0..units.len()).filter(|&at| units[at]).map(|at| rules.unit(free[at]).len()).sum();
            let width = self.n_problems() * (node.features.len() + 1 + columns);
            let Some(_taken) = self.reserve(chosen(&samples), width) else { break };
            node.snap(&mut warm, &samples, reach);
            let (restricted, start) = node.restrict(&warm, &samples, &units, &turned, reach);
            let gap = (looked.upper - looked.lower).max(0.0);
            let missing = (decide.cutoff - looked.lower).clamp(START_LEAST * gap, gap);
            let pairs =
                (2 * samples.iter().filter(|s| **s).count() + 2 * units.iter().filter(|u| **u).count() + 1) as f64;
            let mu = (START * missing).max(1e-6 * looked.upper.abs()) / pairs;
            let goal = Goal { cutoff: decide.cutoff, share: 0.5 * decide.share, tolerance: 0.3 * decide.tolerance, mu };
            let (point, used) = restricted.solve(&start, &goal, clock);
            rounds += used;
            let before = warm.clone();
            node.take(&mut warm, &samples, &units, &point, reach);
            looked = node.look(&warm);
            node.lower_prices(&mut warm, &mut looked);
            reach = Reach(reach.0.min(Reach::new(self, looked.upper).0));
            if !looked.lower.is_finite() || !looked.upper.is_finite() {
                // Rules without an interior can drive the prices to infinity: what was known before
                // stands.
                warm = before;
                self.make_feasible(&mut warm.beta);
                looked = node.look(&warm);
                break;
            }
            best = best.max(looked.lower);
            if let Some(kept) = &mut kept {
                kept.see(&looked, &warm);
            }
            let gap = looked.upper - looked.lower;
            let met =
                Goal { share: decide.share, tolerance: decide.tolerance, ..goal }.reached(looked.lower, looked.upper);
            if met || widening >= WIDENINGS || clock.stop().is_some() || !(gap.is_finite()) {
                break;
            }
            let worth = 0.02 * gap / (self.dual.len() + free.len()) as f64;
            let wider = node.widen(&warm, &looked, &mut samples, &mut units, worth);
            let more = node.turn(&warm, &units, worth, &mut turned) || wider;
            if !more && gap > 0.5 * previous {
                break;
            }
            previous = gap;
        }
        let excess = node.excess(&looked, &warm);
        let points = node.points(&warm, &looked, kept.as_ref());
        warm.margins = looked.margins;
        Answer {
            lower: best.max(looked.lower),
            upper: looked.upper,
            excess,
            priced: looked.lower,
            warm,
            rounds,
            points,
        }
    }
}
