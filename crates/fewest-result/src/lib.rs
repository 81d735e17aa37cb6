//! What was asked of `fewest` and what it found, each said once: as a value that every door writes
//! and reads.

mod proof_file;

pub use proof_file::{ProofFile, ProofMark, check_proof_path};
