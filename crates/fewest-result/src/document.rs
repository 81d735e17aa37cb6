//! What all files of results have in common: which layout, what they are, and who wrote them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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
    /// A classifier on given features, and how it was trained.
    Fit,
    /// What a model is worth on samples.
    Prediction,
    /// The verdict on a proof.
    Verification,
    /// What a data file holds.
    Check,
    /// A classifier.
    Model,
    /// A classifier for each task.
    TaskModels,
}

/// A file of this kind: its layout and kind, then `entries`, an object, then the version of the
/// program, unless `entries` have it.
pub fn document(kind: Kind, entries: Value) -> Value {
    let mut out = Map::new();
    out.insert("schema".to_owned(), json!(SCHEMA));
    out.insert("kind".to_owned(), json!(kind));
    if let Value::Object(entries) = entries {
        out.extend(entries);
    }
    out.entry("version").or_insert_with(|| json!(env!("CARGO_PKG_VERSION")));
    Value::Object(out)
}
