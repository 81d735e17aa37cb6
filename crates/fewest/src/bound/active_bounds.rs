//! Which bounds on weights take part in a restricted problem: those that some score has run into.
//!
//! A bound that holds by itself changes nothing of a solution, but each that takes part has a
//! multiplier, a slack and rounds of its own in the interior-point method. So a problem starts with
//! those that the scores of its warm point break, and takes more where its answer breaks them: its
//! own value is at most that of the node, and what is proven counts all bounds (`Node::evaluate`).

use super::model::WarmStart;
use super::node::Node;
use crate::Interval;

/// The features whose bounds take part, length p; empty where weights are free.
#[derive(Debug, Clone, Default)]
pub(super) struct ActiveBounds(Vec<bool>);

impl ActiveBounds {
    /// Whether the bounds of feature j take part.
    pub(super) fn has(&self, j: usize) -> bool {
        self.0.get(j).copied().unwrap_or(false)
    }
}

impl Node<'_, '_> {
    /// All bounds.
    pub(super) fn all_bounds_active(&self) -> ActiveBounds {
        let rules = self.relaxation.rules;
        if rules.weight_bounds().is_free() { ActiveBounds::default() } else { ActiveBounds(vec![true; rules.p()]) }
    }

    /// Adds the bounds that the scores at the warm point break by more than `worth`, of the features
    /// that are in and of the units chosen. Returns whether there were any.
    pub(super) fn activate_bounds(
        &self,
        warm_start: &WarmStart,
        units: &[bool],
        worth: f64,
        active_bounds: &mut ActiveBounds,
    ) -> bool {
        let (relaxation, rules) = (self.relaxation, self.relaxation.rules);
        if rules.weight_bounds().is_free() {
            return false;
        }
        active_bounds.0.resize(rules.p(), false);
        let chosen = self.free.iter().zip(units).filter(|(_, chosen)| **chosen);
        let columns = self.features.iter().chain(chosen.flat_map(|(&u, _)| rules.unit(u)));
        let mut more = false;
        for &j in columns {
            let interval = relaxation.interval(j);
            if active_bounds.0[j] || interval == Interval::FREE {
                continue;
            }
            // What the bound takes off the gain.
            let lost = |c: f64| 0.5 * c * c - interval.gain(c);
            if relaxation.parts.iter().any(|part| lost(part.score(j, &warm_start.beta)) > worth) {
                active_bounds.0[j] = true;
                more = true;
            }
        }
        more
    }
}
