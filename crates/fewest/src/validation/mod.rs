//! Cross-validation: folds, and the accuracy of one-against-one machines on each of them.

mod accuracy;
mod folds;
mod grouped;

pub(crate) use accuracy::check_costs;
pub use accuracy::{CrossValidation, Scored};
pub use folds::Folds;
pub use grouped::Grouped;
