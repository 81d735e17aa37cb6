//! The options of the programs of papers (`fewest-papers`), a file each or for two of a kind.

#[cfg(feature = "highs")]
mod fsv;
#[cfg(feature = "highs")]
mod gbd;
#[cfg(feature = "highs")]
mod milo_k;
#[cfg(feature = "highs")]
mod milp;

#[cfg(feature = "cone")]
mod conic;
mod flip;

#[cfg(feature = "highs")]
use super::own;
use super::{Entry, entry};

/// The programs of papers, in the order of their crate.
pub(super) const METHODS: &[Entry] = &[
    #[cfg(feature = "highs")]
    entry::<gbd::GbdArgs>("gbd"),
    #[cfg(feature = "highs")]
    entry::<milo_k::MiloKArgs>("milo-k"),
    #[cfg(feature = "highs")]
    entry::<milo_k::RmiloKArgs>("rmilo-k"),
    #[cfg(feature = "highs")]
    own::<fsv::FsvArgs>("fsv"),
    #[cfg(feature = "highs")]
    entry::<milp::Milp1Args>("milp1"),
    #[cfg(feature = "highs")]
    entry::<milp::Milp2Args>("milp2"),
    #[cfg(feature = "cone")]
    entry::<conic::ConicArgs<false>>("qcqp-ssvm"),
    #[cfg(feature = "cone")]
    entry::<conic::ConicArgs<true>>("nmmkl"),
    entry::<flip::FlipArgs<false>>("bit-flip"),
    entry::<flip::FlipArgs<true>>("attribute-flip"),
];
