//! The selection methods, one file each, and what they return.

pub mod alignment;
#[cfg(feature = "highs")]
pub mod benders;
pub mod certificate;
pub mod conic;
pub mod elimination;
pub mod filter;
pub mod generating;
pub mod l1;
#[cfg(feature = "highs")]
pub mod milo;
#[cfg(feature = "highs")]
pub mod milp;
pub mod path;
pub mod tree;

use crate::{Outcome, Subset};

/// Where a feature ended in a ranking.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Ranked {
    /// Index of the feature, from 0.
    pub feature: usize,
    /// 1 for the best, p for the worst; features that left in the same step have consecutive ranks by criterion.
    pub rank: usize,
    /// Step in which it left, from 1; none for the survivors.
    pub step: Option<u64>,
    /// Its criterion when it left, or at the end.
    pub criterion: f64,
}

/// Result of a selection method.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Subset, objective, bound, status, counts.
    pub outcome: Outcome,
    /// All p features, best first, for the methods that rank.
    pub ranking: Vec<Ranked>,
    /// The best subsets, best first, for the methods that were asked for several; the first is the outcome's.
    pub solutions: Vec<Solution>,
}

/// One subset and its objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Solution {
    /// The subset.
    pub subset: Subset,
    /// Its objective, in the sense of the method.
    pub objective: f64,
}
