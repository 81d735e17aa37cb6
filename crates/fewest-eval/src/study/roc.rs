//! ROC curve of samples that took no part.

use fewest::validation::measure_summary;
use serde::{Deserialize, Serialize};

/// Steps of the curve.
const STEPS: u32 = 50;

/// A point of a ROC curve: the mean over folds of the share of the second class that is found where
/// a share of the first is taken for it (vertical averaging: T. Fawcett, Pattern Recognition Letters
/// 27 (2006), 861-874).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RocPoint {
    /// Share of the first class that is taken for the second.
    pub false_positive: f64,
    /// Share of the second class that is found.
    pub true_positive: f64,
    /// 95 % interval of that, as a sensitivity has it.
    pub ci95: Option<[f64; 2]>,
}

/// The curve of folds at false positives of 0, 0.02, ..., 1, each fold with the value of each sample
/// and whether it is of the second class; folds without both classes are judged together with the others,
/// as one. Empty where one of the classes has no sample. `positives` are the samples of the second class, each
/// counted once.
pub(crate) fn roc(folds: &[Vec<(f64, bool)>], positives: usize, test_share: f64) -> Vec<RocPoint> {
    let mut curves: Vec<Vec<(f64, f64)>> = folds.iter().filter_map(|fold| steps(fold)).collect();
    let mut share = test_share;
    if curves.len() < folds.len() {
        curves = steps(&folds.concat()).into_iter().collect();
        share = 0.0;
    }
    if curves.is_empty() {
        return Vec::new();
    }
    let point = |step: u32| {
        let false_positive = f64::from(step) / f64::from(STEPS);
        let values: Vec<f64> = curves.iter().map(|curve| at(curve, false_positive)).collect();
        let found = measure_summary("sensitivity", &values, share, &[positives as f64]);
        RocPoint { false_positive, true_positive: found.mean, ci95: found.ci95 }
    };
    (0..=STEPS).map(point).collect()
}

/// Corners of the curve of one fold, from (0, 0) to (1, 1), samples of one value together; none without
/// both classes.
fn steps(fold: &[(f64, bool)]) -> Option<Vec<(f64, f64)>> {
    let [first, second] = [false, true].map(|class| fold.iter().filter(|sample| sample.1 == class).count() as f64);
    if first == 0.0 || second == 0.0 {
        return None;
    }
    let mut sorted = fold.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut corners, mut taken) = (vec![(0.0, 0.0)], (0.0, 0.0));
    for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
        let found = alike.iter().filter(|sample| sample.1).count() as f64;
        taken = (taken.0 + (alike.len() as f64 - found) / first, taken.1 + found / second);
        corners.push(taken);
    }
    Some(corners)
}

/// Height of a curve, the highest where it is upright.
fn at(curve: &[(f64, f64)], x: f64) -> f64 {
    let next = curve.partition_point(|corner| corner.0 <= x + 1e-12);
    let (before, Some(after)) = (curve[next - 1], curve.get(next)) else { return 1.0 };
    before.1 + (after.1 - before.1) * ((x - before.0).max(0.0) / (after.0 - before.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_is_the_mean_of_those_of_folds() {
        // Found: 1/2 at once, all after one of two false alarms.
        let fold = vec![(0.9, true), (0.8, false), (0.7, true), (0.1, false)];
        let perfect = vec![(0.9, true), (0.2, false)];
        let curve = roc(&[fold.clone(), perfect.clone()], 3, 0.5);
        let of = |share: f64| curve[(share * f64::from(STEPS)).round() as usize];
        assert_eq!((curve.len(), of(0.0).true_positive, of(0.48).true_positive), (51, 0.75, 0.75));
        assert_eq!((of(0.5).true_positive, of(1.0).true_positive), (1.0, 1.0));
        let [low, high] = of(0.0).ci95.unwrap();
        assert!((0.0..0.75).contains(&low) && (0.75..=1.0).contains(&high));
        // Ties rise along a line: the area counts half.
        let tied = roc(&[vec![(0.5, true), (0.5, false)]], 1, 0.0);
        assert!(tied.iter().all(|point| (point.true_positive - point.false_positive).abs() < 1e-12));
        assert!(roc(&[vec![(0.5, true)]], 1, 0.0).is_empty() && roc(&[], 0, 0.0).is_empty());
    }

    #[test]
    fn folds_of_one_class_are_judged_together() {
        let together = roc(&[vec![(0.9, true)], vec![(0.2, false)], vec![(0.95, false), (0.3, true)]], 2, 0.1);
        let at_once = roc(&[vec![(0.9, true), (0.2, false), (0.95, false), (0.3, true)]], 2, 0.0);
        assert_eq!(together, at_once);
    }

    #[test]
    fn the_area_under_the_curve_is_the_auc() {
        let samples: Vec<(f64, bool)> =
            (0..400u32).map(|i| (f64::from(i * 7 % 101), i * 13 % 31 + i * 7 % 101 / 5 > 25)).collect();
        let curve = roc(std::slice::from_ref(&samples), 1, 0.0);
        let area: f64 =
            curve.windows(2).map(|w| 0.5 * (w[0].true_positive + w[1].true_positive) / f64::from(STEPS)).sum();
        let sides = samples.iter().map(|&(x, second)| if second { (x, 1.0, 0.0) } else { (x, 0.0, 1.0) });
        let exact = fewest::validation::area(sides.collect()).unwrap();
        assert!((area - exact).abs() < 0.01, "{area} {exact}");
    }
}
