//! What was asked of `fewest` and what it found, each said once: as a value that every door writes
//! and reads.
//!
//! | module | holds |
//! | --- | --- |
//! | `document` | what all files of results have in common |
//! | `model` | trained models: one writer, one reader |
//! | `proof_file` | proofs of runs as files |

mod document;
mod model;
mod proof_file;

pub use document::{Kind, SCHEMA, document};
pub use model::{
    ClassNames, Classifiers, FeatureImputation, FeatureScaling, Judged, TaskModels, TrainedModel, bias_value,
    classes_value, counts_value, kernel_name, levels_of, read, row_values,
};
pub use proof_file::{ProofFile, ProofMark, check_proof_path};
