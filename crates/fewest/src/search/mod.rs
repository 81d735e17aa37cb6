//! What every branch and bound shares: the best subsets found with the value that others must beat,
//! the open nodes, and what follows from a node's decisions.

mod near;
mod open;
mod pool;
mod units;

pub use near::{NearBest, NearFeature, Replacement};
pub(crate) use open::{Mark, Node, OpenNodes, Ties};
#[cfg(feature = "highs")]
pub(crate) use pool::PoolState;
pub(crate) use pool::{Found, Pool, PrimalPoint, Wanted};
pub(crate) use units::UnitSet;

use crate::{Choice, Rules};

/// The choice of every unit that follows from these decisions, where units in neither list are out;
/// none where no allowed subset is left.
pub(crate) fn follow(
    rules: &Rules,
    inside: impl IntoIterator<Item = usize>,
    free: impl IntoIterator<Item = usize>,
) -> Option<Vec<Choice>> {
    let mut state = vec![Choice::Out; rules.n_units()];
    inside.into_iter().for_each(|u| state[u] = Choice::In);
    free.into_iter().for_each(|u| state[u] = Choice::Free);
    rules.propagate(&mut state).ok().map(|()| state)
}
