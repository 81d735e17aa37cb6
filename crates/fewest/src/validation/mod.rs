//! Cross-validation: folds, and the accuracy of one-against-one machines on each of them.

mod accuracy;
mod folds;
mod grouped;

pub use accuracy::{CrossValidation, Scored};
pub(crate) use accuracy::{ROUNDING, check_costs};
pub use folds::Folds;
pub use grouped::Grouped;
