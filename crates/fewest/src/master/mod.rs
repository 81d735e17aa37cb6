//! Master problems: what methods that work in rounds learn, in the form that answers what to ask
//! next.

#[cfg(feature = "highs")]
pub(crate) mod bundle;
#[cfg(feature = "highs")]
pub(crate) mod cuts;
#[cfg(feature = "highs")]
pub(crate) mod list;
#[cfg(feature = "highs")]
pub(crate) mod program;
#[cfg(feature = "highs")]
mod relaxed;
pub(crate) mod simplex_qp;
