//! SVM-RFE.

use crate::method::Selection;
use crate::{Error, Limits, Observer, Problem, Rules, SvmSettings};

/// How many features leave in one step.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// This many, at least 1.
    Count(usize),
    /// This share of the features that remain, in (0, 1), rounded down, at least 1.
    Remaining(f64),
    /// This share of the features at the start, in (0, 1), rounded down, at least 1 (scikit-learn's rule).
    Original(f64),
}

/// Settings of [`rfe`].
#[derive(Debug, Clone, PartialEq)]
pub struct RfeSettings {
    /// The SVM trained at every step; its kernel is linear.
    pub svm: SvmSettings,
    /// Features per step. Default 1. "Halving" is `Remaining(0.5)`.
    pub step: Step,
}

/// SVM-RFE: drops the features of smallest squared weight until the rules (size, budget, ...) hold.
///
/// # Errors
/// Settings out of range.
pub fn rfe(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let _ = (problem, rules, settings, limits, observer);
    Err(Error::Data("rfe is being built".into()))
}
