//! The verdict on a proof. docs/formats/verdict.md lists the keys.

use fewest::Sense;
use serde::Serialize;
use serde_json::Value;

/// The verdict on a proof, with the question that it answers.
#[derive(Debug, Clone, Serialize)]
pub struct Verification {
    /// Whether a bound is proven, of the question that was asked.
    pub verified: bool,
    /// The verdict, in a word.
    pub verdict: &'static str,
    /// Why it is not more.
    pub reason: Option<String>,
    /// Where the proof answers another question than the one asked.
    pub differences: Vec<QuestionDifference>,
    /// The question, where the file has no fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Value>,
    /// What is proven, where that answers the question.
    #[serde(flatten)]
    pub proven: Option<ProvenBound>,
    /// The file of the proof and its data, where there is a file.
    #[serde(flatten)]
    pub files: Option<VerifiedFiles>,
}

/// A part of a question that is not as asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionDifference {
    /// The setting.
    pub key: String,
    /// What the file says.
    pub file: Value,
    /// What is asked.
    pub asked: Value,
    /// The origin of the question: `typed`, `result` or `default`.
    pub by: &'static str,
}

/// What the checker proved; null where a number is infinite.
#[derive(Debug, Clone, Serialize)]
pub struct ProvenBound {
    /// Names of the best subset, in the order of the indices.
    pub selected: Option<Vec<String>>,
    /// Indices of the best subset, ascending.
    pub selected_indices: Option<Vec<usize>>,
    /// The objective of that subset.
    pub objective: Option<f64>,
    /// Whether less is better, or more.
    pub sense: Sense,
    /// Bound on the objective of every allowed subset.
    pub bound: Option<f64>,
    /// Objective without any feature.
    pub baseline: f64,
    /// Share of what can be gained that is left out at most.
    pub gap: Option<f64>,
    /// Distance to the bound as a share of the objective.
    pub objective_gap: Option<f64>,
    /// Bound on the objective of every subset that is not listed.
    pub rest: Option<f64>,
    /// The listed subsets.
    pub solutions: Vec<ListedSubset>,
    /// The subset that the method chose, or that was judged.
    pub own: Option<OwnSubset>,
    /// What the file says of how its search ended, which is not checked.
    pub status: String,
    /// What was checked.
    pub counts: CheckCounts,
}

/// A listed subset.
#[derive(Debug, Clone, Serialize)]
pub struct ListedSubset {
    /// Names, in the order of the indices.
    pub selected: Vec<String>,
    /// Indices, ascending.
    pub selected_indices: Vec<usize>,
    /// Objective.
    pub objective: f64,
    /// Bound on it.
    pub bound: Option<f64>,
}

/// The subset that a method chose, or that was judged.
#[derive(Debug, Clone, Serialize)]
pub struct OwnSubset {
    /// Who chose it.
    pub method: String,
    /// Names, in the order of the indices.
    pub selected: Vec<String>,
    /// Indices, ascending.
    pub selected_indices: Vec<usize>,
    /// Objective.
    pub objective: f64,
}

/// How much was checked.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CheckCounts {
    /// Records of the file.
    pub records: u64,
    /// Dual points or models.
    pub points: u64,
    /// Parts of the search space.
    pub parts: u64,
}

/// The file of a proof and its data.
#[derive(Debug, Clone, Serialize)]
pub struct VerifiedFiles {
    /// The proof.
    pub proof: String,
    /// The data.
    pub data: String,
    /// The method that made it, as the file says.
    pub method: String,
    /// Time of the check, in seconds.
    pub seconds: f64,
}
