//! Progress of a search of `exact`: the best subsets, the open nodes with their order numbers
//! and warm starts. With these it goes on to the same tree.
//!
//! Size     of a node some bytes for each unit that is in, p / 8 bytes or fewer for those that are
//!          free, and 8 n bytes for a warm start, which is written once for all nodes that share
//!          it.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::node::{OpenNode, Packed};
use super::tree::Tree;
use crate::bound::Relaxation;
use crate::proof::{Place, ProofWriter};
use crate::run::state::{StateReader, StateWriter, stranger};
use crate::search::{Mark, UnitSet};
use crate::{Error, Run};

/// A node: its mark, bound, units that are in and that are free, its place in the proof, and the
/// number of its warm start, which follows where no node before had it.
type NodeState = (Mark, f64, Vec<u32>, UnitSet, Option<Place>, usize);

impl Tree<'_> {
    /// Writes the state, with the nodes of an unfinished batch among the open ones.
    pub(super) fn write(&self, unfinished: &[(OpenNode, Mark)], out: &mut StateWriter<'_>) -> io::Result<()> {
        let proof = self.proof.as_ref().map(ProofWriter::state);
        let count = self.open.len() + unfinished.len();
        out.put(&(self.made, self.trials, self.pool.state(), proof, self.root.is_some(), count))?;
        let mut known: HashMap<*const Packed, usize> = HashMap::new();
        if let Some(root) = &self.root {
            known.insert(Arc::as_ptr(root), 0);
            out.put(root.as_ref())?;
        }
        // What was taken last is put back first.
        let unfinished = unfinished.iter().rev().map(|(node, mark)| (node, *mark));
        for (node, mark) in self.open.iter().chain(unfinished) {
            let next = known.len();
            let number = *known.entry(Arc::as_ptr(&node.warm_start)).or_insert(next);
            out.put(&(mark, node.bound, &node.fixed_in, &node.free, &node.place, number))?;
            if number == next {
                out.put(node.warm_start.as_ref())?;
            }
        }
        Ok(())
    }

    /// Resumes from a state.
    ///
    /// # Errors
    /// One that is damaged, or of another problem.
    pub(super) fn restore(
        &mut self,
        mut state: StateReader,
        relaxation: &Relaxation<'_>,
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        let (made, trials, pool, proof, rooted, count): (u64, _, _, _, bool, usize) = state.take()?;
        self.proof = ProofWriter::resume(proof, run)?;
        (self.made, self.trials) = (made, trials);
        self.pool.restore(pool)?;
        let mut warm_start: Vec<Arc<Packed>> = Vec::new();
        let next = |state: &mut StateReader| -> Result<Arc<Packed>, Error> {
            let packed: Packed = state.take()?;
            if packed.fits(relaxation) { Ok(Arc::new(packed)) } else { Err(stranger("a node starts elsewhere")) }
        };
        if rooted {
            warm_start.push(next(&mut state)?);
            self.root = Some(warm_start[0].clone());
        }
        let units = relaxation.n_units();
        for _ in 0..count {
            let (mark, bound, fixed_in, free, place, number): NodeState = state.take()?;
            if number == warm_start.len() {
                warm_start.push(next(&mut state)?);
            }
            let known = fixed_in.iter().map(|&u| u as usize).chain(free.to_vec().last().copied()).all(|u| u < units);
            let Some(warm_start) = warm_start.get(number).filter(|_| known && !bound.is_nan()) else {
                return Err(stranger("an open node has features or a bound that it cannot have"));
            };
            self.open.restore(OpenNode { bound, fixed_in, free, warm_start: warm_start.clone(), place }, mark);
        }
        Ok(())
    }
}
