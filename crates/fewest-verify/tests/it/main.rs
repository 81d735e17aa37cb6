//! The tests of the checker, in one program: each program more is linked again.

mod alignment;
mod bodies;
mod common;
mod forged;
mod hostile;
mod mutation;
mod numbers;
mod proofs;
