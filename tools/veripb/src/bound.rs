//! The bound that integers can state: passes over the check until it has room for their rounding.

use std::io::Write;

use fewest_cli::Failure;
use fewest_verify::Verdict;

use super::goal::{Goal, Pass, Refusal};
use super::writer::Writer;

/// Passes after which the bound has found no room for the rounding of rows.
const TRIES: usize = 8;

impl Goal {
    /// Reads the proof for what an export can state: the bound of the verdict, less the
    /// rounding of rows.
    ///
    /// # Errors
    /// A proof that has no export.
    pub(super) fn find(verdict: &Verdict, notes: Vec<String>, pass: &mut Pass<'_>) -> Result<Self, Refusal> {
        let refuse = |text: &str| Refusal::Failure(Failure::Input(text.to_owned()));
        if verdict.rest == f64::NEG_INFINITY {
            return Err(refuse("the proof has no bound, and nothing can be exported of it"));
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
        Err(refuse("the bound has no room for the rounding of rows, and nothing can be exported"))
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
