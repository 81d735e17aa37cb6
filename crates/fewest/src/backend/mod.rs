//! Solvers of other projects, one door each: no other file names their crates.

pub(crate) mod clarabel;
#[cfg(feature = "highs")]
pub mod highs;
