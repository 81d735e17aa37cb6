//! What was asked of `fewest` and what it found, each said once: as a value that every door writes
//! and reads.
//!
//! | module | holds |
//! | --- | --- |
//! | `document` | what all files of results have in common |
//! | `parts` | what results of several kinds say |
//! | `by_name` | objects of JSON as lists |
//! | `model` | trained models: one writer, one reader |
//! | `proof_file` | proofs of runs as files |

mod by_name;
mod document;
mod model;
mod parts;
mod proof_file;

pub use by_name::ByName;
pub use document::{Document, Kind, SCHEMA, document};
pub use model::{
    ClassNames, Classifiers, FeatureImputation, FeatureScaling, Judged, TaskModels, TrainedModel, bias_value,
    classes_value, counts_value, kernel_name, levels_of, read, row_values,
};
pub use parts::{About, Certificate, Measures, Proven, Solution, WrongSample, positive, sample_names};
pub use proof_file::{ProofFile, ProofMark, check_proof_path};
