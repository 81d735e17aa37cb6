//! The tests of the crate from outside, in one program: each program more is linked again.

mod linear_dual;
mod smo;
mod train;
