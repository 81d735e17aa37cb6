//! Whether the probabilities of samples that took no part mean what they say.

use fewest::validation::measure_summary;
use serde::{Deserialize, Serialize};

use super::platt::Sigmoid;

/// Probabilities stay this far from 0 and 1, as LIBSVM's do.
pub(super) const EDGE: f64 = 1e-7;
/// Groups of samples at most.
const BINS: usize = 10;
/// Samples of a group at least.
const LEAST: usize = 10;

/// Calibration of the probabilities of the second of two classes: logistic regression of the class on
/// the logarithm of their odds (D. R. Cox, Biometrika 45 (1958), 562-565). Right ones have slope 1 and
/// intercept 0; a slope below 1 says that they are too extreme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Slope; none where the regression has no solution, or the probabilities hardly differ.
    pub slope: Option<f64>,
    /// Intercept; none where there is no slope.
    pub intercept: Option<f64>,
    /// Mean of the probabilities.
    pub expected: f64,
    /// Share of the second class.
    pub observed: f64,
    /// Groups of samples of similar probability, of about as many samples each, ascending.
    #[serde(default)]
    pub bins: Vec<CalibrationBin>,
}

/// Samples of similar probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// Mean of their probabilities.
    pub predicted: f64,
    /// Share of the second class.
    pub observed: f64,
    /// Wilson's 95 % interval of that.
    pub ci95: Option<[f64; 2]>,
    /// Their number.
    pub samples: usize,
}

impl Calibration {
    /// Calibration of samples, each with its probability and whether it is of the second class; none
    /// without a sample.
    pub(crate) fn new(samples: &[(f64, bool)]) -> Option<Self> {
        if samples.is_empty() {
            return None;
        }
        let odds = |p: f64| (p.clamp(EDGE, 1.0 - EDGE) / (1.0 - p.clamp(EDGE, 1.0 - EDGE))).ln();
        let (values, second): (Vec<f64>, Vec<bool>) = samples.iter().map(|&(p, second)| (odds(p), second)).unzip();
        let found = Sigmoid::likeliest(&values, &second);
        // A flat line of values that are all but the same says nothing of their slope.
        let found = found.filter(|found| found.a != 0.0);
        let whole = CalibrationBin::new(samples);
        Some(Self {
            slope: found.map(|found| found.a),
            intercept: found.map(|found| found.b),
            expected: whole.predicted,
            observed: whole.observed,
            bins: bins(samples),
        })
    }
}

impl CalibrationBin {
    fn new(samples: &[(f64, bool)]) -> Self {
        let n = samples.len() as f64;
        let observed = samples.iter().filter(|sample| sample.1).count() as f64 / n;
        Self {
            predicted: samples.iter().map(|sample| sample.0).sum::<f64>() / n,
            observed,
            ci95: measure_summary("recall", &[observed], 0.0, &[n]).ci95,
            samples: samples.len(),
        }
    }
}

/// Groups of about as many samples each; samples of one probability are in one group.
fn bins(samples: &[(f64, bool)]) -> Vec<CalibrationBin> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = sorted.len().div_ceil(BINS).max(LEAST);
    let mut groups: Vec<Vec<(f64, bool)>> = Vec::new();
    for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
        match groups.last_mut().filter(|group| group.len() < size) {
            Some(group) => group.extend(alike),
            None => groups.push(alike.to_vec()),
        }
    }
    // What is left is no group of its own.
    if groups.len() > 1 && groups.last().is_some_and(|last| 2 * last.len() < size) {
        let last = groups.pop().unwrap_or_default();
        groups.last_mut().into_iter().for_each(|group| group.extend(&last));
    }
    groups.iter().map(|group| CalibrationBin::new(group)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_all_samples_and_say_their_shares() {
        // As many of the second class as the probability says, in tenths.
        let samples: Vec<(f64, bool)> = (0..1000u32)
            .map(|i| (f64::from(i / 100) / 10.0 + 0.05, f64::from(i % 100) < f64::from(i / 100) * 10.0 + 5.0))
            .collect();
        let found = Calibration::new(&samples).unwrap();
        assert_eq!((found.bins.len(), found.bins.iter().map(|bin| bin.samples).sum::<usize>()), (10, 1000));
        for bin in &found.bins {
            let [low, high] = bin.ci95.unwrap();
            assert!((bin.predicted - bin.observed).abs() < 1e-9 && low < bin.observed && bin.observed < high);
        }
        assert!((found.slope.unwrap() - 1.0).abs() < 0.02 && found.intercept.unwrap().abs() < 0.02);
        assert!((found.expected - 0.5).abs() < 1e-9 && (found.observed - 0.5).abs() < 1e-9);
    }

    #[test]
    fn few_and_tied_samples_make_few_groups() {
        let of = |samples: &[(f64, bool)]| {
            Calibration::new(samples).unwrap().bins.iter().map(|bin| bin.samples).collect::<Vec<_>>()
        };
        assert_eq!(of(&[(0.2, false), (0.8, true)]), [2]);
        let tied: Vec<(f64, bool)> = (0..50).map(|i| (if i < 45 { 0.3 } else { 0.6 }, i % 3 == 0)).collect();
        assert_eq!(of(&tied), [45, 5]);
        let rest: Vec<(f64, bool)> = (0..24u32).map(|i| (f64::from(i) / 24.0, i % 2 == 0)).collect();
        assert_eq!(of(&rest), [10, 14]);
        assert_eq!(Calibration::new(&[]), None);
    }
}
