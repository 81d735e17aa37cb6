//! What decisions by probabilities are worth at each weighing of the two errors.
//!
//! Paper    A. J. Vickers, E. B. Elkin, Medical Decision Making 26 (2006), 565-574.
//! Given    the probability of the second class of each sample, and whether it is of that class.
//! Returns  at each threshold p the net benefit `TP / n - FP / n * p / (1 - p)` of acting on samples
//!          whose probability is at least p, and that of acting on all; acting on none has 0.

use serde::{Deserialize, Serialize};

/// Net benefit at a threshold of the probability: samples of the second class that are acted on,
/// less those of the first, each of these counted `p / (1 - p)` times, as a share of all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NetBenefit {
    /// The threshold p: who acts at it takes one sample found for `(1 - p) / p` false alarms.
    pub threshold: f64,
    /// The net benefit of acting where the probability is at least p.
    pub net_benefit: f64,
    /// The net benefit of acting on every sample.
    pub treat_all: f64,
    /// The net benefit of acting on none.
    pub treat_none: f64,
}

/// The net benefit at thresholds 0.01, 0.02, ..., 0.99, of at least one sample.
pub(crate) fn decision_curve(samples: &[(f64, bool)]) -> Vec<NetBenefit> {
    let n = samples.len() as f64;
    let benefit = |threshold: f64, acted: &dyn Fn(f64) -> bool| {
        let of = |second: bool| samples.iter().filter(|s| s.1 == second && acted(s.0)).count() as f64;
        of(true) / n - of(false) / n * threshold / (1.0 - threshold)
    };
    let at = |percent: u32| {
        let threshold = f64::from(percent) / 100.0;
        NetBenefit {
            threshold,
            net_benefit: benefit(threshold, &|p| p >= threshold),
            treat_all: benefit(threshold, &|_| true),
            treat_none: 0.0,
        }
    };
    (1..100).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn net_benefit_is_that_of_its_equation() {
        let samples = [(0.9, true), (0.6, false), (0.4, true), (0.2, false), (0.1, false)];
        let curve = decision_curve(&samples);
        assert_eq!(curve.len(), 99);
        let at = |percent: usize| curve[percent - 1];
        // At 0.5 one of the two is found, with one false alarm: 1/5 - 1/5.
        assert!(at(50).net_benefit.abs() < 1e-15 && (at(50).treat_all - (0.4 - 0.6)).abs() < 1e-15);
        // At 0.2 both, with two: 2/5 - 2/5 * 1/4. The sample at the threshold is acted on.
        assert!((at(20).net_benefit - 0.3).abs() < 1e-15 && (at(20).treat_all - (0.4 - 0.6 / 4.0)).abs() < 1e-15);
        assert_eq!((at(95).net_benefit, at(95).treat_none), (0.0, 0.0));
    }
}
