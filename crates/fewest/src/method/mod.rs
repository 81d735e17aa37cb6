//! The selection methods, one file each, and what they return.

pub mod certificate;
pub mod conic;
pub mod eb_rfe;
pub mod exact;
pub mod fgm;
pub mod flip;
#[cfg(feature = "highs")]
pub mod fsv;
#[cfg(feature = "highs")]
pub mod gbd;
pub mod info_gain;
pub mod kta;
pub mod l1_svm;
#[cfg(feature = "highs")]
pub mod lagrangian;
#[cfg(feature = "highs")]
pub mod mbp;
#[cfg(feature = "highs")]
pub mod milo_k;
#[cfg(feature = "highs")]
pub mod milp;
pub mod path;
pub mod rfe;

use crate::{Error, Outcome, Subset};

/// Prices of features: none, or p of them, each 0 or more.
fn check_penalty(penalty: &[f64], p: usize) -> Result<(), Error> {
    if !penalty.is_empty() && penalty.len() != p {
        let found = format!("{} numbers", penalty.len());
        return Err(Error::setting("penalty", found, format!("one number for each of the {p} features, or none")));
    }
    match penalty.iter().find(|l| !(**l >= 0.0 && l.is_finite())) {
        Some(bad) => Err(Error::setting("penalty", bad, "a finite number, 0 or more")),
        None => Ok(()),
    }
}

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
