//! The command line: as typed ([`low`]), its small notations ([`notation`]), and what it means ([`high`], [`rules`], and
//! [`method`] for the methods and their options). The options of `fewest generate` are in [`generate`].

pub(crate) mod elimination;
pub(crate) mod generate;
pub(crate) mod high;
pub(crate) mod low;
pub(crate) mod method;
pub(crate) mod notation;
pub(crate) mod rules;
