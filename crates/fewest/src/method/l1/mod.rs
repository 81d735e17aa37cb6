//! Support vector machines with an l1 penalty.

mod squared;

pub use squared::squared_hinge;
