//! Outcome: what every run returns, whatever ended it.

use std::time::Duration;

use super::gap::{Yardstick, relative_gap};
use crate::{Status, Subset};

/// Whether the objective is minimised or maximised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sense {
    /// Smaller is better.
    Min,
    /// Larger is better.
    Max,
}

/// Counts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct Counts {
    /// Questions answered by the oracle.
    pub oracle_calls: u64,
    /// Nodes of a search tree.
    pub nodes: u64,
    /// Cuts in a master problem.
    pub cuts: u64,
    /// Inner iterations of the SVM solver.
    pub solver_iterations: u64,
}

/// Result of a run.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The status at the end of the run.
    pub status: Status,
    /// The best subset found that satisfies the rules, if any.
    pub subset: Option<Subset>,
    /// Objective of `subset`.
    pub objective: Option<f64>,
    /// Whether the objective is minimised or maximised.
    pub sense: Sense,
    /// Proven bound on the best objective, where the method proves one.
    pub bound: Option<f64>,
    /// The unit of gains, and so of gaps; none where the method has none.
    pub yardstick: Option<Yardstick>,
    /// Time used.
    pub elapsed: Duration,
    /// Counters.
    pub counts: Counts,
}

impl Outcome {
    /// The features of the subset, ascending; none without one.
    pub fn features(&self) -> Vec<usize> {
        self.subset.iter().flat_map(Subset::iter).collect()
    }

    /// The share of what features can gain that is left open, where objective and bound exist:
    /// [`Yardstick::gap`], and [`Outcome::objective_gap`] without a yardstick.
    pub fn gap(&self) -> Option<f64> {
        match self.yardstick {
            Some(yardstick) => Some(yardstick.gap(self.objective?, self.bound?)),
            None => self.objective_gap(),
        }
    }

    /// |objective - bound| / |objective|, where both exist.
    pub fn objective_gap(&self) -> Option<f64> {
        Some(relative_gap(self.objective?, self.bound?))
    }
}

/// Place of a feature in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Ranked {
    /// Index of the feature, from 0.
    pub feature: usize,
    /// 1 for the best, p for the worst; features that left in the same step have consecutive ranks
    /// by criterion.
    pub rank: usize,
    /// Step in which it left, from 1; none for the survivors.
    pub step: Option<u64>,
    /// The feature's criterion when it left, or at the end.
    pub criterion: f64,
}

/// The subset a method found, and the course it took.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Subset, objective, bound, status, counts.
    pub outcome: Outcome,
    /// All p features, best first, for the methods that rank.
    pub ranking: Vec<Ranked>,
    /// The best subsets, best first, for the methods that were asked for several; the first is the
    /// outcome's.
    pub solutions: Vec<Solution>,
}

/// One subset and its objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The subset.
    pub subset: Subset,
    /// The subset's objective, in the sense of the method.
    pub objective: f64,
}
