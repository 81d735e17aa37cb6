//! Master problems: what methods that work in rounds learn, in the form that answers what to ask next.

pub mod bundle;
#[cfg(feature = "highs")]
pub mod cuts;
#[cfg(feature = "highs")]
pub mod program;
pub mod simplex_qp;
