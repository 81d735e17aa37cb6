//! `--export`: a checked proof as a pseudo-Boolean problem without a solution, and a cutting-plane
//! proof of that, for VeriPB.
//!
//! | file | subject |
//! | --- | --- |
//! | `files.rs` | where both go, and the head of the problem |
//! | `row.rs` | numbers as integers, rounded to the safe side |
//! | `rules.rs` | the rules as rows |
//! | `need.rs` | which decisions make a row false |
//! | `tree.rs` | the steps of the proof |
//! | `writer.rs` | both files in one pass |
//!
//! docs/use/export.md has formats and argument.

mod files;
mod need;
mod row;
mod rules;
#[cfg(test)]
mod tests;
mod tree;
mod writer;

use std::io::Write;

use fewest_verify::{Error, OnStep, Verdict};

pub(super) use files::{Files, notes};
use writer::Writer;

use crate::failure::Failure;

/// Passes after which the bound has found no room for the rounding of rows.
const TRIES: usize = 8;

/// A check of the proof, from its first record on, that tells what it does.
pub(super) type Pass<'p> = dyn FnMut(&mut OnStep<'_>) -> Result<Verdict, Error> + 'p;

/// What is exported.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    /// No allowed subset that is not listed has an objective below it.
    pub(super) bound: f64,
    /// Units of rows in one of the objective, a power of two.
    scale: f64,
    /// Features of listed subsets.
    listed: Vec<Vec<usize>>,
    /// Rows of points, and those that say what new variables mean.
    pub(super) points: u64,
    /// What variables mean that are no features, by number.
    meanings: Vec<(usize, String)>,
    /// Lines above the problem.
    notes: Vec<String>,
}

/// Why nothing is exported.
pub(super) enum Refusal {
    /// The check did not end.
    Check(Error),
    /// Something else, in words.
    Failure(Failure),
}

impl Goal {
    /// Reads the proof for what an export can state: the bound of the verdict, less the
    /// rounding of rows.
    ///
    /// # Errors
    /// A proof that has no export.
    pub(super) fn find(verdict: &Verdict, notes: Vec<String>, pass: &mut Pass<'_>) -> Result<Self, Refusal> {
        let refuse = |text: &str| Refusal::Failure(Failure::input(text));
        if verdict.rest == f64::NEG_INFINITY {
            return Err(refuse("--export: the proof has no bound, and nothing can be exported of it; leave it out"));
        }
        let listed: Vec<Vec<usize>> = verdict.listed.iter().map(|one| one.features.clone()).collect();
        let gain = match verdict.baseline - verdict.rest {
            gain if gain > 0.0 && gain.is_finite() => gain,
            _ => verdict.baseline.abs().max(f64::MIN_POSITIVE),
        };
        let mut goal = Self { bound: verdict.rest, scale: 1.0, listed, points: 0, meanings: Vec::new(), notes };
        for _ in 0..TRIES {
            let missing = goal.measure(gain, pass)?;
            if missing == 0 {
                return Ok(goal);
            }
            goal.bound = (goal.bound - (missing as f64 + 2.0) / goal.scale).next_down();
        }
        Err(refuse("--export: the bound has no room for the rounding of rows; leave --export out"))
    }

    /// A pass that writes nothing: what leaves miss, in units of rows.
    fn measure(&mut self, gain: f64, pass: &mut Pass<'_>) -> Result<i128, Refusal> {
        let (mut problem, mut proof) = (std::io::sink(), std::io::sink());
        let first = self.points == 0;
        let mut writer = Writer::new(self.clone(), &mut problem, &mut proof);
        (writer.gain, writer.dry) = (Some(gain).filter(|_| first), true);
        writer.run(pass)?;
        let missing = writer.missing();
        (self.points, self.scale, self.bound) = (writer.points, writer.goal.scale, writer.goal.bound);
        self.meanings = std::mem::take(&mut writer.meanings);
        Ok(missing)
    }

    /// Writes problem and proof.
    ///
    /// # Errors
    /// A check that ends in another way than before, a write that fails.
    pub(super) fn write(
        &self,
        problem: &mut dyn Write,
        proof: &mut dyn Write,
        pass: &mut Pass<'_>,
    ) -> Result<(), Refusal> {
        Writer::new(self.clone(), problem, proof).run(pass)
    }
}
