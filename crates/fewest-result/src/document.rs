//! What all files of results have in common: which layout, what they are, and who wrote them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the layout of all files.
pub const SCHEMA: u64 = 1;

/// What a file is, its `kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A subset that a method chose.
    Selection,
    /// How far a list of features is from the best of its size.
    Certificate,
    /// Subsets of several sizes.
    Path,
    /// A method judged in folds.
    Evaluation,
    /// What is selected on halves again and again.
    Stability,
    /// What stands out from copies.
    Knockoffs,
    /// Method, costs and size chosen inside folds, and a panel.
    Study,
    /// Few features that tell all classes apart.
    Markers,
    /// Lists of features side by side.
    Comparison,
    /// A classifier on given features, and how it was trained.
    Fit,
    /// What a model is worth on samples.
    Prediction,
    /// The verdict on a proof.
    Verification,
    /// What a data file holds.
    Check,
    /// What is true of generated data.
    Truth,
    /// A classifier.
    Model,
    /// A classifier for each task.
    TaskModels,
}

/// A file: its layout and kind, what it says, and the version of the program that wrote it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Document<T> {
    /// Layout.
    pub schema: u64,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    #[serde(flatten)]
    pub found: T,
    /// Version of the program.
    pub version: String,
}

impl<T: Serialize> Document<T> {
    /// A file of this kind, by this version.
    pub fn new(kind: Kind, found: T) -> Self {
        Self { schema: SCHEMA, kind, found, version: env!("CARGO_PKG_VERSION").to_owned() }
    }

    /// As JSON.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).expect("results are numbers, texts, lists and objects by name")
    }
}
