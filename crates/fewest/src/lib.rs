//! Feature selection for support vector machines, fast, and with proof of how good the answer is.

pub mod backend;
pub mod design;
pub mod dual;
mod error;
pub mod kernel;
pub mod kernel_oracle;
#[cfg(feature = "highs")]
pub mod l1_oracle;
pub mod master;
pub mod method;
pub mod model;
mod problem;
mod relaxation;
mod rules;
mod run;
pub mod saddle;
mod search;
mod subset;
pub mod subset_oracle;
pub mod validation;

pub use design::{DenseDesign, Design, RowMatrix, SparseDesign, StridedDesign};
pub use dual::{Bias, DualSolution, Loss, SvmSettings};
pub use error::Error;
pub use kernel::Kernel;
pub use method::{Ranked, Selection, Solution};
pub use problem::{Classified, Problem, check_values};
pub use rules::{Choice, Contradiction, LinearRow, RuleList, Rules, Shape, SubsetGain};
pub use run::{
    Cancel, Clock, Counts, Event, Limits, Master, Next, Observer, Oracle, Outcome, Run, Sense, Silent, Status, drive,
};
pub use subset::Subset;
