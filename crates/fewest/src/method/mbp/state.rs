//! The progress of `mbp`: u and what was found out before step 5, how far its proof is, then the
//! open nodes of the tree.
//!
//! What HiGHS knows of its last program (a basis, a tree of its own) is no part of it: the tree
//! goes on to the same answer, but may branch elsewhere where linear programs have several
//! solutions, and a search by HiGHS begins again from the best subset.

use std::io;

use super::reduce::Reduced;
use super::tree::{OpenNode, Tree};
use super::{MbpSettings, Model, WeightRule};
use crate::proof::WriterState;
use crate::run::state::{StateReader, StateWriter, stranger};
use crate::search::{Mark, Pool, PoolState};
use crate::{Clock, Error, Memory, Problem, Rules};

/// What a run resumes from.
pub(super) struct SavedState {
    /// What steps 1 to 4 found out.
    pub(super) reduced: Reduced,
    /// Where the run wrote a proof.
    pub(super) proof: Option<WriterState>,
    /// The rest, that of a tree, where there was one.
    pub(super) tree: Option<StateReader>,
}

/// Writes a state without a tree, and so without a proof.
pub(super) fn put_reduced(reduced: &Reduced, out: &mut StateWriter<'_>) -> io::Result<()> {
    out.put(&(reduced, None::<WriterState>, false))
}

/// Reads a state up to its tree.
///
/// # Errors
/// A state that is damaged, or of another problem.
pub(super) fn take(mut state: StateReader, rules: &Rules) -> Result<SavedState, Error> {
    let (reduced, proof, tree): (Reduced, _, bool) = state.take()?;
    if reduced.bound.len() != rules.p() || reduced.bound.iter().any(|u| u.is_nan() || *u < 0.0) {
        return Err(stranger("it has other bounds on weights"));
    }
    Ok(SavedState { reduced, proof, tree: tree.then_some(state) })
}

impl Tree<'_, '_, '_, '_> {
    /// Writes a state with a tree, with the nodes being solved among the open ones.
    pub(super) fn write(
        &self,
        unfinished: &[(OpenNode, Mark)],
        reduced: &Reduced,
        out: &mut StateWriter<'_>,
    ) -> io::Result<()> {
        let proof = self.proof.as_ref().map(|proof| proof.state());
        out.put(&(reduced, proof, true))?;
        out.put(&(self.made, self.left_out, self.oracle.features(), self.open.len() + unfinished.len()))?;
        out.put(&self.found.pool.as_ref().map(Pool::state))?;
        self.open.iter().try_for_each(|entry| out.put(&entry))?;
        unfinished.iter().try_for_each(|entry| out.put(entry))
    }

    /// Resumes from the rest of a state.
    ///
    /// # Errors
    /// One that is damaged or of another problem; a failure of HiGHS.
    pub(super) fn restore(&mut self, mut state: StateReader) -> Result<(), Error> {
        let (made, left_out, features, count): (u64, f64, Vec<usize>, usize) = state.take()?;
        match (&mut self.found.pool, state.take::<Option<PoolState>>()?) {
            (Some(pool), Some(kept)) => pool.restore(kept)?,
            (None, None) => {}
            _ => return Err(stranger("it is one of another number of subsets")),
        }
        let (p, units) = (self.model.rules.p(), self.model.rules.n_units());
        let fits = |node: &OpenNode| node.unit < units && node.state.iter().all(|s| (s.0 as usize) < units);
        for _ in 0..count {
            let (node, mark): (OpenNode, Mark) = state.take()?;
            if !fits(&node) || node.bound.is_nan() {
                return Err(stranger("an open node has features or a bound that it cannot have"));
            }
            self.open.restore(node, mark);
        }
        if features.iter().any(|j| *j >= p) {
            return Err(stranger("its relaxation has other features"));
        }
        (self.made, self.left_out) = (made, left_out);
        self.oracle.join(&features)
    }
}

impl Reduced {
    /// The model with the bounds of a state: step 1 is not done again.
    pub(super) fn model<'a>(
        &self,
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &MbpSettings,
    ) -> Result<Model<'a>, Error> {
        let settings = MbpSettings { weight_bound: Some(WeightRule::Number(1.0)), ..settings.clone() };
        Ok(Model {
            bound: self.bound.clone(),
            ..Model::new(problem, rules, &settings, &Memory::unlimited(), &Clock::unlimited())?
        })
    }
}
