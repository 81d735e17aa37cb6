//! From decision values to probabilities, by one of two rules.

use serde::{Deserialize, Serialize};

use super::isotonic::Isotonic;
use super::platt::Sigmoid;

/// How decision values become probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalibrationRule {
    /// Platt's sigmoid.
    #[default]
    Platt,
    /// Isotonic regression.
    Isotonic,
    /// There are none.
    None,
}

/// From a decision value to the probability of the second class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Calibration {
    /// Platt's sigmoid.
    Platt(Sigmoid),
    /// A function that never falls.
    Isotonic(Isotonic),
}

impl Calibration {
    /// Fits decision values to classes (`true`: the second class); none without samples of both, or
    /// by the rule.
    pub fn fit(rule: CalibrationRule, decisions: &[f64], second: &[bool]) -> Option<Self> {
        if !(second.contains(&true) && second.contains(&false)) {
            return None;
        }
        match rule {
            CalibrationRule::Platt => Sigmoid::fit(decisions, second).map(Calibration::Platt),
            CalibrationRule::Isotonic => Isotonic::fit(decisions, second).map(Calibration::Isotonic),
            CalibrationRule::None => None,
        }
    }

    /// Probability of the second class at a decision value.
    pub fn probability(&self, decision: f64) -> f64 {
        match self {
            Calibration::Platt(sigmoid) => sigmoid.probability(decision),
            Calibration::Isotonic(isotonic) => isotonic.probability(decision),
        }
    }

    /// -ln of the probability of the true class; one that isotonic regression takes for impossible
    /// counts as the smallest step above 0, as in scikit-learn's `log_loss`.
    pub fn log_loss(&self, decision: f64, second: bool) -> f64 {
        match self {
            Calibration::Platt(sigmoid) => sigmoid.log_loss(decision, second),
            Calibration::Isotonic(isotonic) => {
                let p = isotonic.probability(decision);
                -(if second { p } else { 1.0 - p }).max(f64::EPSILON).ln()
            }
        }
    }
}
