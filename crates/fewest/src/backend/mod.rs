//! Solvers of other projects, one door each: no other file names their crates.

#[cfg(feature = "highs")]
pub mod highs;
