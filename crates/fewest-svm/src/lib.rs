//! Support vector machines, trained to a stated duality gap.
//!
//! ```text
//! minimise over w, b   1/2 |w|^2 + sum_i C_i loss(y_i (w.x_i + b))
//! loss(m)              max(0, 1 - m), or its square
//! ```
//!
//! or the same with a kernel in place of `x.x'`. The bias b is free (LIBSVM), penalised as the weight
//! of a constant feature (LIBLINEAR) or absent. [`fit`] trains two classes or more, [`train`] one
//! machine of two classes. Every [`DualSolution`] has a primal and a dual objective, both of feasible
//! points, so that [`DualSolution::gap`] bounds how far it is from the optimum, whichever engine made
//! it and wherever it was stopped.
//!
//! ```
//! use fewest_svm::{Clock, DenseDesign, FitSettings, fit};
//!
//! // Six samples of two features, column by column.
//! let design = DenseDesign::new(6, 2, vec![0.0, 1.0, 0.2, 3.0, 4.0, 3.1, 1.0, 0.0, 0.5, 0.2, 0.9, 0.4])?;
//! let (classes, weights) = ([0, 0, 0, 1, 1, 1], [1.0; 6]);
//! let model = fit(&design, &[0, 1], &classes, &weights, &FitSettings::default(), &Clock::unlimited())?;
//! assert_eq!(model.predict(&design), classes);
//! assert!(model.machines[0].solution.gap() <= 1e-6);
//! # Ok::<(), fewest_svm::Error>(())
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | [`design`] | the matrix by columns, dense or compressed; the trait for a matrix of one's own |
//! | [`kernel`] | kernel functions, Gram matrices, rules for gamma |
//! | [`dual`] | the dual and its engines; [`dual::train`] picks one by the shape of the data |
//! | [`model`] | a trained classifier of two classes or more |
//! | [`limits`] | time, cancellation, memory, and how a training ended |
//!
//! Features are chosen by the crate `fewest`, which builds on this one.

#[doc(hidden)]
pub mod design;
#[doc(hidden)]
pub mod dual;
mod error;
#[doc(hidden)]
pub mod kernel;
#[doc(hidden)]
pub mod limits;
#[doc(hidden)]
pub mod model;
mod parallel;
#[doc(hidden)]
pub mod problem;
mod setting;
#[doc(hidden)]
pub mod simd;
mod subset;
#[doc(hidden)]
pub mod weights;

pub use design::{DenseDesign, Design, FeatureScore, RowMatrix, ScoreQuery, Source, SparseDesign, StridedDesign};
pub use dual::train::train;
pub use dual::{Bias, DualSolution, Loss, SvmSettings};
pub use error::Error;
pub use kernel::{Gamma, Kernel, KernelRule};
pub use limits::{Cancel, Clock, Limits, Memory, Reserved, Status};
pub use model::{FitSettings, Machine, Model, fit};
#[doc(hidden)]
pub use parallel::AllOrFirst;
pub use problem::{LARGEST_VALUE, Problem, Samples, check_values};
pub use setting::{Field, Settings, in_words};
pub use subset::{FeatureSet, Subset};
pub use weights::{Interval, WeightBound, WeightBounds};

/// The page of the crate, so that `cargo test` runs its example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct ReadMe;
