//! The command line: as typed ([`low`]), its small notations ([`notation`]), and what it means ([`high`], [`rules`], and
//! [`method`] for the methods, their [`options`] and the [`values`] of these). The options of `fewest generate` are in [`generate`].

pub(crate) mod elimination;
pub(crate) mod generate;
pub(crate) mod high;
mod l1;
pub(crate) mod low;
pub(crate) mod method;
pub(crate) mod notation;
pub(crate) mod options;
pub(crate) mod rules;
pub(crate) mod values;
