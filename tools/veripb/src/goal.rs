//! What is exported, and what stands at the head of the problem.

use fewest_cli::{Failure, Verified};
use fewest_verify::{Error, OnStep, Verdict};

/// Why a proof of `kta` has no export.
const NO_ROWS: &str = "a proof about alignments rests on models, not on rows, and has no export; use tools of your own \
                       on the proof file (docs/formats/proof.md)";

/// A check of the proof, from its first record on, that tells what it does.
pub(super) type Pass<'p> = dyn FnMut(&mut OnStep<'_>) -> Result<Verdict, Error> + 'p;

/// What is exported.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    /// No allowed subset that is not listed has an objective below it.
    pub(super) bound: f64,
    /// Units of rows in one of the objective, a power of two.
    pub(super) scale: f64,
    /// Features of listed subsets.
    pub(super) listed: Vec<Vec<usize>>,
    /// Rows of points, and those that say what new variables mean.
    pub(super) points: u64,
    /// What variables mean that are no features, by number.
    pub(super) meanings: Vec<(usize, String)>,
    /// Lines above the problem.
    pub(super) notes: Vec<String>,
}

/// Why nothing is exported.
pub(super) enum Refusal {
    /// The check did not end.
    Check(Error),
    /// Something else, in words.
    Failure(Failure),
}

/// A failed write.
pub(super) fn cannot_write(error: &std::io::Error) -> Failure {
    Failure::Broken(format!("cannot write the problem or its proof: {error}"))
}

/// What stands at the head of the problem: what it is about, and the names of features.
///
/// # Errors
/// A proof of `kta`.
pub(super) fn notes(verified: &Verified<'_>) -> Result<Vec<String>, Failure> {
    if verified.verdict.maximised {
        return Err(Failure::Input(NO_ROWS.to_owned()));
    }
    let header: serde_json::Value = serde_json::from_str(verified.header).unwrap_or_default();
    let mut notes = vec![
        format!("fewest-veripb {}; docs/use/export.md says what this is", env!("CARGO_PKG_VERSION")),
        format!("data: {}", header["fingerprint"].as_str().unwrap_or_default()),
        "no solution: each subset of features that the rules allow, other than those listed,".to_owned(),
        "has an objective that is not below the bound".to_owned(),
    ];
    let plain = |name: &str| name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    notes.extend((0..verified.names.len()).map(|j| format!("x{} = {}", j + 1, plain(&verified.names.get(j)))));
    Ok(notes)
}
