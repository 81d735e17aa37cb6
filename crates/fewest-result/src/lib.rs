//! What was asked of `fewest` and what it found, each said once: as a value that every door writes
//! and reads.
//!
//! | module | holds |
//! | --- | --- |
//! | `asked` | what was asked: the settings of a result, and what a proof says of its making |
//! | `document` | what all files of results have in common |
//! | `parts` | what results of several kinds say |
//! | `by_name` | objects of JSON as lists |
//! | `model` | trained models: one writer, one reader |
//! | `named_data` | features, classes and samples by name, as all of these results have them |
//! | `selection` | what `select`, `path` and `certify` found |
//! | `evaluation`, `stability`, `knockoffs`, `study`, `markers`, `comparison`, `fit`, `prediction`, `check` | what the commands of these names found |
//! | `verification` | the verdict on a proof |
//! | `proof_file` | proofs of runs as files |

mod asked;
mod by_name;
mod check;
mod comparison;
mod document;
mod evaluation;
mod fit;
mod knockoffs;
mod markers;
mod model;
mod named_data;
mod parts;
mod prediction;
mod proof_file;
mod selection;
mod stability;
mod study;
mod verification;

pub use asked::{Asked, GroupsAsked, Made, RulesAsked, bounds_by_name, entries};
pub use by_name::ByName;
pub use check::{Check, Column, Fault};
pub use comparison::{Comparison, ComparisonContext};
pub use document::{Document, Kind, SCHEMA};
pub use evaluation::Evaluation;
pub use fit::Fit;
pub use knockoffs::Knockoffs;
pub use markers::{Markers, MarkersContext};
pub use model::{
    ClassNames, Classifiers, FeatureImputation, FeatureScaling, Judged, ModelRecord, TaskModels, TaskModelsRecord,
    TrainedModel, kernel_name, levels_of, read, row_values,
};
pub use named_data::NamedData;
pub use parts::{About, Certificate, Measures, Proven, Solution, WrongSample};
pub(crate) use parts::{measures, measures_and_losses, positive, sample_names};
pub use prediction::{JudgedSamples, Prediction};
pub use proof_file::{ProofFile, ProofMark, check_proof_path};
pub use selection::{
    Correlations, Description, Few, ListJudgement, ListedFeature, Path, Place, ReachChoice, Replacement, RuledOut,
    Selection, SizeChoice, StandIn, Story, Strength, Trace,
};
pub use stability::StabilitySelection;
pub use study::{LeftOut, Study, StudyContext};
pub use verification::{
    CheckCounts, ListedSubset, OwnSubset, ProvenBound, QuestionDifference, Verification, VerifiedFiles,
};
