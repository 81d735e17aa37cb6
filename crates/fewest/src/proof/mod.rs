//! Proof files: what is needed to believe a result again. docs/formats/proof.md is the format and
//! the argument; `fewest-verify` reads such files and shares no code with this module.
//!
//! | file | holds |
//! | --- | --- |
//! | `encode.rs` | integers, numbers and lists as bytes |
//! | `point.rs` | dual points on a grid of powers of two, feasible to the last bit |
//! | `header.rs` | the first line: the claim, the rules, the fingerprint of the data |
//! | `rows.rs` | the numbers of rules' rows |
//! | `record.rs` | what a search notes of its tree |
//! | `writer.rs` | numbers of nodes, the bounds that the file proves |
//! | `alignment.rs` | the writer of `kta`, whose records are its own |
//! | `listed.rs` | listed subsets, their objectives rounded up |
//! | `observer.rs` | the observer of a run that is there for its proof alone |
//!
//! A search notes what it decides in [`Notes`], on whatever thread, with nodes numbered on their
//! own; [`ProofWriter`] takes them in the order of the search, so a file does not depend on the
//! number of threads. Bytes go to the caller's [`crate::ProofSink`] as
//! they come.

mod alignment;
mod encode;
mod header;
mod listed;
mod observer;
mod point;
mod record;
mod rows;
mod writer;

pub(crate) use alignment::{AlignmentProof, Child, Expanded};
pub(crate) use header::{Claim, Gain};
pub(crate) use listed::Listed;
pub use observer::ForProof;
pub(crate) use point::{Balance, Grid, Point};
pub(crate) use record::{Notes, Place};
pub(crate) use rows::RowNumbers;
pub(crate) use writer::ProofWriter;
#[cfg(feature = "highs")]
pub(crate) use writer::WriterState;

/// Share of the gap asked for that a search which writes a proof closes beyond it: alpha is stored
/// with fewer digits than it had, and the file must prove the gap even so.
pub(crate) const HELD_BACK: f64 = 0.05;

/// Share of the gap that the bounds a file claims are below those found, so that no rounding of a
/// checker makes them too high. The rest is for objectives, which are rounded up.
pub(crate) const CLAIMED: f64 = 0.01;
