//! From data to a panel of features that can be defended.
//!
//! [`study`] chooses method, cost of the selection, cost of the classifier and size inside folds,
//! so that the accuracy it reports is that of the whole procedure on samples that none of it has
//! seen; then it does the same on all samples, and proves how good that selection is.
//!
//! | file | holds |
//! | --- | --- |
//! | `settings.rs`, `score.rs` | what is asked for; scores, which are the rules of choice |
//! | `choose.rs`, `prior.rs` | the candidate that is taken, the smallest one that is as good; what is shrunk to |
//! | `part.rs`, `judge.rs`, `platt.rs`, `probabilities.rs` | samples and what costs depend on; classifiers on few features; probabilities |
//! | `grid.rs`, `search.rs`, `inner.rs`, `table.rs` | what is tried, in which order; selections; every candidate on an inner split; the table of scores |
//! | `learn.rs`, `panel.rs` | from a choice to a classifier; proof, neighbours and substitutes of the panel |
//! | `compare.rs` | the scores of every candidate in every outer fold, by which rules of choice are compared |
//! | `roc.rs`, `calibration.rs`, `decision_curve.rs` | what the probabilities of samples held out are worth: order, meaning, net benefit |
//! | `threshold.rs`, `points.rs`, `points_of.rs` | the cut of decision values for a wanted sensitivity; the panel as points that are added by hand |
//! | `folds.rs`, `run.rs`, `state.rs`, `report.rs` | how samples are dealt; the course of a study; its progress; what it found |
//!
//! Nothing here touches a file or prints: progress and the state to resume from are asked to an
//! [`fewest::Observer`], limits are [`fewest::Limits`].

mod calibration;
mod choose;
mod compare;
mod decision_curve;
mod folds;
mod grid;
mod inner;
mod judge;
mod learn;
mod panel;
mod part;
mod platt;
mod points;
mod points_of;
mod prior;
mod probabilities;
mod report;
mod roc;
mod run;
mod score;
mod search;
mod settings;
mod state;
mod table;
mod threshold;

pub use calibration::{Calibration, CalibrationBin};
pub use compare::{FoldTable, fold_tables};
pub use decision_curve::NetBenefit;
pub use grid::{Job, Key};
pub use platt::Sigmoid;
pub use points::{Points, PointsFeature, PointsFold, PointsLevel, PointsWorth};
pub use probabilities::{Losses, Probabilities};
pub use report::{
    Choice, ChoiceReport, Effort, FoldReport, InnerSize, JudgedProbabilities, Judgement, OtherFold, OtherPanel, Panel,
    StudyReport, Tried,
};
pub use roc::RocPoint;
pub(crate) use roc::roc;
pub use run::study;
pub use score::{Score, Scores};
pub use settings::{Prefer, StudyMethod, StudySettings};
pub use state::StudyState;
pub use table::Row;
