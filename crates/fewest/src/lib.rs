//! Feature selection for support vector machines, fast, and with proof of how good the answer is.

pub mod backend;
pub mod design;
pub mod dual;
mod error;
pub mod kernel;
pub mod kernel_oracle;
#[cfg(feature = "highs")]
pub mod l1_oracle;
mod master;
pub mod method;
pub mod model;
mod problem;
mod proof;
mod relaxation;
mod rules;
mod run;
pub mod saddle;
mod search;
mod several;
pub mod simd;
mod subset;
pub mod subset_oracle;
pub mod validation;
mod weights;

pub use design::{DenseDesign, Design, FeatureScore, RowMatrix, ScoreQuery, Source, SparseDesign, StridedDesign};
pub use dual::{Bias, DualSolution, Loss, SvmSettings};
pub use error::Error;
pub use kernel::{Gamma, Kernel, KernelRule};
pub use method::{AnyMethod, Info, Method, Report};
pub use problem::{LARGEST_VALUE, Problem, Samples, check_values};
pub use rules::{Choice, Contradiction, LinearRow, RuleList, Rules, Shape, SubsetGain};
pub use run::{
    Cancel, Checkpoint, Clock, Counts, Event, Limits, Master, Memory, Next, Observer, Oracle, Outcome, ProofSink,
    Ranked, Reserved, Run, Selection, Sense, Silent, Solution, Status, Yardstick, drive, relative_gap,
};
pub use search::{NearBest, NearFeature, Replacement};
pub use several::{MultiClass, Several, SubProblem};
pub use subset::{FeatureSet, Subset};
pub use weights::{Interval, WeightBound, WeightBounds};
