//! The tests of the checker, in one program: each program more is linked anew.

mod alignment;
mod common;
mod hostile;
mod mutation;
mod proofs;
