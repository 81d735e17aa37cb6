//! Progress of a search of `kta`: the best subsets, the open nodes with their order numbers,
//! and the units that the sums are centred on. With these it goes on to the same tree.

use std::io;

use super::node::OpenNode;
use super::search::{Search, Tree};
use crate::proof::AlignmentProof;
use crate::run::state::{StateReader, StateWriter, stranger};
use crate::search::{Mark, OpenNodes};
use crate::{Error, Run};

impl Tree<'_> {
    /// Writes the state, with the nodes of an unfinished batch among the open ones.
    pub(super) fn write(&self, unfinished: &[(OpenNode, Mark)], out: &mut StateWriter<'_>) -> io::Result<()> {
        let open = || self.open.iter().flat_map(OpenNodes::iter);
        let proof = self.proof.as_ref().map(AlignmentProof::state);
        out.put(&(self.made, &self.favoured, self.pool.state(), proof))?;
        out.put(&(open().count() + unfinished.len()))?;
        for (node, mark) in open() {
            out.put(&(mark, node))?;
        }
        unfinished.iter().try_for_each(|(node, mark)| out.put(&(mark, node)))
    }

    /// Resumes from a state.
    ///
    /// # Errors
    /// One that is damaged, or of another problem.
    pub(super) fn restore(
        &mut self,
        mut state: StateReader,
        search: &mut Search<'_>,
        run: &mut Run<'_>,
    ) -> Result<(), Error> {
        let units = search.n_units();
        let unknown = |list: &[u32]| list.iter().any(|&u| u as usize >= units);
        let (made, favoured, pool, proof) = state.take()?;
        (self.made, self.favoured) = (made, favoured);
        self.proof = AlignmentProof::resume(proof, run)?;
        self.pool.restore(pool)?;
        if unknown(&self.favoured) {
            return Err(stranger("it names a unit of features that the rules do not have"));
        }
        for _ in 0..state.take::<usize>()? {
            let (mark, node): (Mark, OpenNode) = state.take()?;
            let query = &node.query;
            if unknown(&query.inside) || unknown(&query.free) || query.slots > query.free.len() || node.bound.is_nan() {
                return Err(stranger("an open node has features or a bound that it cannot have"));
            }
            self.open[query.slots].restore(node, mark);
        }
        if !self.favoured.is_empty() {
            search.favour(&self.favoured);
        }
        Ok(())
    }
}
