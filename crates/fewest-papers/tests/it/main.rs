//! The tests of the crate from outside, in one program: each program more is linked again.

#[cfg(feature = "cone")]
mod conic;
#[cfg(feature = "highs")]
mod gbd;
#[cfg(feature = "highs")]
mod milo_k;
#[cfg(feature = "highs")]
mod milp;
