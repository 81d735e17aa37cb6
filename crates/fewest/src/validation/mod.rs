//! Cross-validation and what its results say: folds, the accuracy of one-against-one machines on
//! each of them, measures, intervals, tests, stability, the choice of a size; copies of features that
//! mean nothing.

mod accuracy;
mod false_selections;
mod folds;
mod grouped;
mod intervals;
mod knockoffs;
mod metrics;
mod statistics;

pub use accuracy::{CrossValidation, CvScore};
#[doc(hidden)]
pub use accuracy::{ROUNDING, check_costs};
pub use false_selections::ShareLaw;
pub use folds::{Folds, Split};
pub use grouped::SamplesByClass;
pub use intervals::{FoldMetrics, loss_summary, measure_summary, recall, recalls, recalls_of, summaries, summaries_of};
pub use knockoffs::{KnockoffSelection, Knockoffs, WithCopies, knockoff_selection};
pub use metrics::{Metrics, area, class_f1, confusion, hinge_loss, macro_f1, set_f1};
pub use statistics::{SizeRule, Stability, Summary, TTest, choose_size, corrected_t_test, stability, t_test};
