//! Feature selection for support vector machines, fast, and with proof of how good the answer is.

#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod bound;
#[doc(hidden)]
pub mod kernel_oracle;
#[cfg(feature = "highs")]
#[doc(hidden)]
pub mod l1_oracle;
mod master;
pub mod method;
pub mod model;
mod proof;
mod rules;
mod run;
mod search;
mod setting;
mod several;
#[doc(hidden)]
pub mod subset_oracle;
pub mod validation;

/// What `fewest-papers` builds on; it may change at any time.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "highs")]
    pub use crate::master::program;
    pub use crate::method::begin;
    pub use crate::method::check_penalty;
    pub use crate::proof::ForProof;
    pub use crate::run::state;
    pub use crate::several::check_several;
}

// The SVM underneath, so that one crate is enough.
#[cfg(feature = "highs")]
pub use backend::highs::Lp;
#[doc(hidden)]
pub use bound::saddle;
#[doc(inline)]
pub use fewest_svm::{
    Bias, Cancel, Clock, DenseDesign, Design, DualSolution, Error, FeatureScore, FeatureSet, Field, Gamma, Interval,
    Kernel, KernelRule, LARGEST_VALUE, Limits, Loss, Memory, Problem, Reserved, RowMatrix, Samples, ScoreQuery,
    Settings, Source, SparseDesign, Status, StridedDesign, Subset, SvmSettings, WeightBound, WeightBounds,
    check_values, in_words,
};
#[doc(hidden)]
pub use fewest_svm::{design, dual, kernel, settings, simd};
pub(crate) use fewest_svm::{problem, weights};
pub use method::{AnyMethod, Info, Method, Report, Selector};
pub use rules::{Choice, Contradiction, LinearRow, RuleList, Rules, Shape, SubsetGain};
pub use run::{
    Checkpoint, Counts, Event, Master, Next, Observer, Oracle, Outcome, ProofSink, Ranked, Run, Selection, Sense,
    Silent, Solution, Yardstick, drive, relative_gap,
};
pub use search::{NearBest, NearFeature, Replacement};
pub use setting::Setting;
pub use several::{MultiClass, Several, SubProblem};
