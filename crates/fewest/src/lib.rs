//! Feature selection for support vector machines, fast, and with proof of how good the answer is.

pub mod design;
mod error;
pub mod kernel;

pub use design::{DenseDesign, Design, RowMatrix, SparseDesign};
pub use error::Error;
