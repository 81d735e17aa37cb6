//! What `fewest fit` writes.

use fewest::{Sense, Status};
use serde::Serialize;

use crate::{About, Asked, ModelRecord};

/// A classifier on given features, and how it was trained.
#[derive(Debug, Clone, Serialize)]
pub struct Fit {
    /// The data.
    #[serde(flatten)]
    pub about: About,
    /// How the training ended.
    pub status: Status,
    /// Sum of the objectives of its machines.
    pub objective: f64,
    /// Less is better.
    pub sense: Sense,
    /// Proven bound on the objective.
    pub bound: f64,
    /// Distance to the bound as a share of the objective.
    pub gap: f64,
    /// Time it took, in seconds.
    pub seconds: f64,
    /// Share of the training samples that are classified right.
    pub training_accuracy: Option<f64>,
    /// What was asked.
    pub settings: Asked,
    /// The classifier.
    pub model: ModelRecord,
}
