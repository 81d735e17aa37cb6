//! Master problems: what methods that work in rounds learn, in the form that answers what to ask
//! next.

#[cfg(feature = "highs")]
pub(crate) mod bundle;
#[cfg(feature = "highs")]
pub mod program;
pub(crate) mod simplex_qp;
