//! How far `mbp` has come: u and what was found out before step 5, then the open nodes of the tree.
//!
//! What HiGHS knows of its last program (a basis, a tree of its own) is no part of it: the tree goes
//! on to the same answer, but may branch elsewhere where linear programs have several solutions, and
//! a search by HiGHS begins again from the best subset.

use std::io;

use serde::{Deserialize, Serialize};

use super::tree::{OpenNode, Tree};
use super::{MbpSettings, Model};
use crate::run::state::{StateReader, StateWriter, stranger};
use crate::search::Mark;
use crate::{Error, Problem, Rules};

/// What steps 1 to 4 found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Reduced {
    /// u.
    pub(super) bound: Vec<f64>,
    /// Value of the linear relaxation, where it was solved.
    pub(super) relaxation: Option<f64>,
    /// Features that step 4 removed.
    pub(super) removed: usize,
}

/// The tree.
pub(super) struct TreeState {
    pub(super) made: u64,
    pub(super) left_out: f64,
    /// Features that the relaxation holds.
    pub(super) features: Vec<usize>,
    /// Nodes with their places.
    pub(super) open: Vec<(OpenNode, Mark)>,
}

/// Writes a state without a tree.
pub(super) fn put_reduced(reduced: &Reduced, out: &mut StateWriter<'_>) -> io::Result<()> {
    out.put(reduced)?;
    out.put(&false)
}

/// Writes a state with a tree.
pub(super) fn put_tree(tree: &Tree<'_, '_, '_, '_>, reduced: &Reduced, out: &mut StateWriter<'_>) -> io::Result<()> {
    out.put(reduced)?;
    out.put(&true)?;
    out.put(&(tree.made, tree.left_out, tree.oracle.features(), tree.open.len()))?;
    tree.open.iter().try_for_each(|entry| out.put(&entry))
}

/// Reads either.
///
/// # Errors
/// A state that is damaged, or of another problem.
pub(super) fn take(mut state: StateReader, rules: &Rules) -> Result<(Reduced, Option<TreeState>), Error> {
    let reduced: Reduced = state.take()?;
    let (p, units) = (rules.p(), rules.n_units());
    if reduced.bound.len() != p || reduced.bound.iter().any(|u| !(*u >= 0.0)) {
        return Err(stranger("it has other bounds on weights"));
    }
    if !state.take::<bool>()? {
        return Ok((reduced, None));
    }
    let (made, left_out, features, count): (u64, f64, Vec<usize>, usize) = state.take()?;
    let mut open: Vec<(OpenNode, Mark)> = Vec::new();
    for _ in 0..count {
        open.push(state.take()?);
    }
    let fits = |node: &OpenNode| node.unit < units && node.state.iter().all(|s| (s.0 as usize) < units);
    if features.iter().any(|j| *j >= p) || !open.iter().all(|entry| fits(&entry.0) && !entry.0.bound.is_nan()) {
        return Err(stranger("an open node has features or a bound that it cannot have"));
    }
    Ok((reduced, Some(TreeState { made, left_out, features, open })))
}

impl Reduced {
    /// The model with the bounds of a state: step 1 is not done again.
    ///
    /// # Errors
    /// As [`Model::new`].
    pub(super) fn model<'a>(
        &self,
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &MbpSettings,
    ) -> Result<Model<'a>, Error> {
        let settings = MbpSettings { weight_bound: Some(1.0), ..settings.clone() };
        Ok(Model { bound: self.bound.clone(), ..Model::new(problem, rules, &settings, &mut || None)? })
    }
}
