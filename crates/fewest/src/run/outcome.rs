//! Outcome: what every run returns, whatever ended it.

use std::time::Duration;

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

/// What was counted during a run.
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
    /// How it ended.
    pub status: Status,
    /// The best subset found that satisfies the rules, if any.
    pub subset: Option<Subset>,
    /// Objective of `subset`.
    pub objective: Option<f64>,
    /// Whether the objective is minimised or maximised.
    pub sense: Sense,
    /// Proven bound on the best objective, where the method proves one.
    pub bound: Option<f64>,
    /// Time used.
    pub elapsed: Duration,
    /// Counters.
    pub counts: Counts,
}

impl Outcome {
    /// |objective - bound| / max(|objective|, 1e-10), where both exist.
    pub fn gap(&self) -> Option<f64> {
        Some(relative_gap(self.objective?, self.bound?))
    }
}

/// |objective - bound| / max(|objective|, 1e-10)
pub fn relative_gap(objective: f64, bound: f64) -> f64 {
    (objective - bound).abs() / objective.abs().max(1e-10)
}
