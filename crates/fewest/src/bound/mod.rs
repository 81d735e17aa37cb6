//! The saddle relaxation: a proven lower bound on `v(z) + sum lambda_j z_j` over all subsets of a
//! tree node.
//!
//! For any feasible beta and any prices tau >= 0 of the rules' rows,
//!
//! ```text
//! L = D(beta) - sum_in (g_u - lambda_u) - sum_r b_r tau_r
//!     - sum_free max(0, g_u - lambda_u - (A'tau)_u)
//! ```
//!
//! with `D` the part of the dual objective without features, `c_j = x_j . beta` and the gains
//! `g_u = 1/2 |c_u|^2`, or those of bounded weights (`crate::weights`). The best L is
//! the perspective relaxation (`w_j^2 / z_j`, z in the polytope of the rules' rows). Where several
//! problems share the subset, D and the gains are sums over them (`parts.rs`). A node is
//! solved on few samples and few features: samples far from the margin keep the alpha they had,
//! features of small gain stay out; whatever was left out is then counted in full, so the bound
//! holds whether the guess was right or not, and samples and features that matter are added until
//! the node is decided.

mod active_bounds;
mod alpha_cap;
mod bounded;
mod fractional_units;
mod interior;
mod model;
mod node;
mod parts;
mod polish;
mod probe;
mod record;
mod restrict;
pub mod saddle;
pub(crate) mod signed;
mod solve;
mod subset;

pub(crate) use bounded::train_bounded;
pub(crate) use model::{Decide, Points};
pub use model::{NodeAnswer, Relaxation, WarmStart, reserve};
pub(crate) use probe::{Probed, Ruling};
