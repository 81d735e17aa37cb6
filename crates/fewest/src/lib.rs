//! Feature selection for support vector machines, fast, and with proof of how good the answer is.
//!
//! ```text
//! minimise over z, w, b   1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) + sum_j lambda_j z_j
//! subject to              w_j = 0 where z_j = 0,   z in {0, 1}^p allowed by the rules
//! ```
//!
//! The example finds the best one of three features, and the proof that it is.
//!
//! ```
//! use fewest::method::exact::{ExactSettings, exact};
//! use fewest::{DenseDesign, Limits, Problem, RuleList, Rules, Silent, Status, SvmSettings};
//!
//! // Eight samples of three features, column by column; the second tells the classes apart.
//! let columns = vec![
//!     0.3, -0.1, 0.2, 0.4, 0.1, -0.3, 0.2, 0.0, //
//!     -2.0, -1.0, -1.5, -1.2, 1.0, 1.4, 2.0, 1.1, //
//!     0.5, 0.2, -0.4, 0.1, 0.4, 0.3, -0.2, 0.0,
//! ];
//! let design = DenseDesign::new(8, 3, columns)?;
//! let problem = Problem::new(&design, &[-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0], None)?;
//! let rules = Rules::new(3, RuleList { max_features: Some(1), ..RuleList::default() }, &[])?;
//! let settings = ExactSettings { svm: SvmSettings { cost: 0.5, ..SvmSettings::default() }, ..ExactSettings::default() };
//!
//! let found = exact(&problem, &rules, &settings, Limits::default(), &mut Silent)?.outcome;
//! assert_eq!(found.status, Status::Optimal);
//! assert_eq!(found.subset.unwrap().iter().collect::<Vec<_>>(), [1]);
//! assert!(found.bound.unwrap() <= found.objective.unwrap());
//! # Ok::<(), fewest::Error>(())
//! ```
//!
//! What the words mean:
//!
//! - The **matrix** is a [`Design`], by columns: [`DenseDesign`], [`SparseDesign`], or one of your own.
//!   A [`Source`] may be elsewhere: on a disk, on other machines, or computed on demand.
//! - A [`Problem`] is a matrix with labels -1 and 1; [`Samples`] have any number of classes.
//! - **Rules** say which subsets are allowed: a size, required and forbidden features, groups, a
//!   budget. [`RuleList`] is what you write, by index from 0; [`Rules::new`] checks it once.
//! - A **method** is its settings, a struct that is JSON as well. [`Method::select`] runs any of them,
//!   [`AnyMethod`] is one chosen at run time, and each module has functions of its own.
//! - [`Limits`] end a run early, by time, nodes or [`Cancel`]; they are no errors. An [`Observer`]
//!   sees what happens, and may end the run; [`Silent`] ignores it all.
//! - A [`Report`] holds a [`Selection`], and that an [`Outcome`]: the subset, its objective,
//!   where the method proves one a bound on what any allowed subset reaches, and the gap between.
//! - Its [`Status`] says how the run ended: `Optimal` is proven, `Completed` is a method that did all
//!   it does and proves no optimum, the others name the limit or the obstacle.
//!
//! The folder `examples` has a program for each of: a proof (`exact`), watching and ending a run
//! (`observer`), and a matrix of one's own (`own_source`).
//!
//! | method | finds | paper |
//! | --- | --- | --- |
//! | [`exact`](method::exact) | the best subset of a linear SVM, proven | Aytug 2015 |
//! | [`kta`](method::kta) | the best subset of a kernel by its alignment, proven | Tamura et al. 2022 |
//! | [`rfe`](method::rfe) | a good subset by elimination, fast | Guyon et al. 2002, Krupka 2016 |
//! | [`fgm`](method::fgm) | a good subset of millions of features, with a bound | Tan et al. 2010 |
//! | [`l1_svm`](method::l1_svm) | the optimum of the L1 penalty | Bradley and Mangasarian 1998 |
//! | `mbp`, `lagrangian` (feature `highs`) | the L1-SVM with a price for each feature | Gaudioso et al. 2017 |
//! | [`eb_rfe`](method::eb_rfe) | elimination by cross-validation | Krupka 2016 |
//! | [`info_gain`](method::info_gain) | a ranking by information gain | Aytug 2015 |
//!
//! `fewest-papers` has the programs of papers to compare with, `fewest-eval` judges methods on samples
//! that took no part, `fewest-svm` trains one SVM, `fewest-data` reads files.

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
#[doc(hidden)]
pub mod validation;

/// Items that `fewest-papers` builds on; they may change at any time.
#[doc(hidden)]
pub mod internals {
    #[cfg(feature = "highs")]
    pub use crate::master::program;
    pub use crate::method::check_penalty;
    pub use crate::method::kernel_setup;
    pub use crate::proof::ForProof;
    pub use crate::run::state;
    pub use crate::several::check_several;
}

// The SVM underneath, so that one crate is enough.
#[cfg(feature = "highs")]
pub use backend::highs::Lp;
#[doc(hidden)]
pub use bound::saddle;
#[doc(hidden)]
pub use fewest_svm::{AllOrFirst, design, dual, kernel, settings, simd};
#[doc(inline)]
pub use fewest_svm::{
    Bias, Cancel, Clock, DenseDesign, Design, DualSolution, Error, FeatureScore, FeatureSet, Field, Gamma, Interval,
    Kernel, KernelRule, LARGEST_VALUE, Limits, Loss, Memory, Problem, Reserved, RowMatrix, Samples, ScoreQuery,
    Settings, Source, SparseDesign, Status, StridedDesign, Subset, SvmSettings, WeightBound, WeightBounds,
    check_values, in_words,
};
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
