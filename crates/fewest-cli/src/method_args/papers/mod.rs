//! The options of the programs of papers (`fewest-papers`), a file each.

#[cfg(feature = "highs")]
mod fsv;
#[cfg(feature = "highs")]
mod gbd;
#[cfg(feature = "highs")]
mod milo_k;
#[cfg(feature = "highs")]
mod milp1;
#[cfg(feature = "highs")]
mod milp2;
#[cfg(feature = "highs")]
mod rmilo_k;

mod flip;
#[cfg(feature = "cone")]
mod nmmkl;
#[cfg(feature = "cone")]
mod qcqp_ssvm;

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
    entry::<rmilo_k::RmiloKArgs>("rmilo-k"),
    #[cfg(feature = "highs")]
    own::<fsv::FsvArgs>("fsv"),
    #[cfg(feature = "highs")]
    entry::<milp1::Milp1Args>("milp1"),
    #[cfg(feature = "highs")]
    entry::<milp2::Milp2Args>("milp2"),
    #[cfg(feature = "cone")]
    entry::<qcqp_ssvm::QcqpSsvmArgs>("qcqp-ssvm"),
    #[cfg(feature = "cone")]
    entry::<nmmkl::NmmklArgs>("nmmkl"),
    entry::<flip::BitFlipArgs>("bit-flip"),
    entry::<flip::AttributeFlipArgs>("attribute-flip"),
];
