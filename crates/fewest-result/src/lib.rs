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
//! | `selection` | what `select`, `path` and `certify` found |
//! | `study` | what a study found |
//! | `proof_file` | proofs of runs as files |

mod asked;
mod by_name;
mod document;
mod model;
mod parts;
mod proof_file;
mod selection;
mod study;

pub use asked::{Asked, GroupsAsked, Made, RulesAsked, bounds_by_name, entries};
pub use by_name::ByName;
pub use document::{Document, Kind, SCHEMA, document};
pub use model::{
    ClassNames, Classifiers, FeatureImputation, FeatureScaling, Judged, ModelRecord, TaskModels, TrainedModel,
    classes_value, counts_value, kernel_name, levels_of, read, row_values,
};
pub use parts::{About, Certificate, Measures, Proven, Solution, WrongSample, measures, positive, sample_names};
pub use proof_file::{ProofFile, ProofMark, check_proof_path};
pub use selection::{
    Correlations, Description, Few, ListJudgement, ListedFeature, Path, Place, Replacement, RuledOut, Selection,
    SizeChoice, StandIn, Story, Strength, Trace,
};
pub use study::{LeftOut, Study, StudyContext};
