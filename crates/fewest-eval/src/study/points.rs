//! A points score: a linear classifier on few features as whole numbers that can be added by hand.
//!
//! Given    a linear classifier of two classes, its features as in the data, the inner splits.
//! Returns  for each feature the values from which on it counts, and the points; the total from
//!          which on a sample is of the second class; the probability at each total.
//! Steps    1. cut each feature at quartiles, rounded to two or three digits; a feature of at most
//!          four values is cut at each of them  2. what a level adds to the decision value: weight
//!          times the mean of its samples, less that of the lowest level  3. scale these so that
//!          the largest is 1, 1.5, ..., 10, and round  4. the scale: the smallest whose area under
//!          the ROC curve on the samples that inner splits held out is within 0.001 of the best;
//!          each split has its own subset, cuts and points  5. the threshold: the total of fewest
//!          errors on the samples learned from, or of the sensitivity asked for on those held out
//! Cost     a training on few features for each inner split.
//! Says     nothing of what the rounding loses: that is measured on the outer folds, in each of
//!          which all of this is done again.

use std::collections::BTreeMap;

use fewest::validation::{FoldMetrics, Metrics, Summary, area, measure_summary, summaries};
use fewest::{DenseDesign, Design};
use serde::{Deserialize, Serialize};

/// Quantiles that features are cut at.
const QUANTILES: [f64; 3] = [0.25, 0.5, 0.75];
/// Levels of a feature, at most.
const LEVELS: usize = 4;
/// How far the share of samples above a rounded cut may be from that above the quantile.
const NEAR: f64 = 0.05;
/// The most points of a level that are tried, twice: 1, 1.5, ..., 10.
pub(crate) const SCALES: std::ops::RangeInclusive<u32> = 2..=20;
/// Area that a smaller scale may lose.
const SLACK: f64 = 1e-3;

/// A points score for two classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// The features of the classifier, in its order.
    pub features: Vec<PointsFeature>,
    /// A sample is of the second class where its total is at least this.
    pub threshold: i64,
    /// Total, and the probability of the second class there; every total that can be, ascending.
    /// Empty where no probabilities are asked for, or time left no inner split.
    pub probabilities: Vec<(i64, f64)>,
}

/// Points of a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointsFeature {
    /// The feature.
    pub feature: usize,
    /// Ascending; below the first one it adds nothing. Empty where it never adds anything.
    pub levels: Vec<PointsLevel>,
}

/// The points of a feature from a value on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointsLevel {
    /// The smallest value, as in the data.
    pub at_least: f64,
    /// The points, those of lower levels not added.
    pub points: i64,
}

/// A points score on the samples that an outer fold held out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointsFold {
    /// Agreement with the truth.
    pub metrics: Metrics,
    /// Rows: true classes, columns: predicted ones.
    pub confusion: Vec<Vec<u64>>,
}

/// Quality of points over the outer folds.
#[derive(Debug, Clone, Serialize)]
pub struct PointsWorth {
    /// Each measure of the points.
    pub summary: BTreeMap<&'static str, Summary>,
    /// How much more the classifier scores than its points, fold by fold, for each measure.
    pub difference: BTreeMap<&'static str, Summary>,
}

impl Points {
    /// The total of a sample; `values` are those of the features, in their order.
    pub fn total(&self, values: &[f64]) -> i64 {
        self.features.iter().zip(values).map(|(of, &x)| of.points(x)).sum()
    }
}

impl PointsFeature {
    /// The points at a value.
    pub fn points(&self, x: f64) -> i64 {
        self.levels.iter().rev().find(|level| x >= level.at_least).map_or(0, |level| level.points)
    }
}

impl PointsWorth {
    /// Over the outer folds: repetition, the classifier, its points; none without a fold.
    pub(crate) fn new(folds: &[(usize, &Metrics, &PointsFold)], test_share: f64) -> Option<Self> {
        if folds.is_empty() {
            return None;
        }
        let of = |&(repeat, _, points): &(usize, &Metrics, &'_ PointsFold)| {
            (repeat, points.metrics, points.confusion.clone())
        };
        let owned: Vec<(usize, Metrics, Vec<Vec<u64>>)> = folds.iter().map(of).collect();
        let judged: Vec<FoldMetrics<'_>> = owned
            .iter()
            .map(|(repeat, metrics, confusion)| FoldMetrics { repeat: *repeat, metrics, confusion })
            .collect();
        let lost = |value: fn(&Metrics) -> Option<f64>| {
            let one = |&(_, own, points): &(usize, &Metrics, &PointsFold)| Some(value(own)? - value(&points.metrics)?);
            let values: Vec<f64> = folds.iter().filter_map(one).collect();
            (!values.is_empty()).then(|| measure_summary("difference", &values, test_share, &[]))
        };
        let mut difference = BTreeMap::new();
        difference.extend(lost(|metrics| Some(metrics.accuracy)).map(|of| ("accuracy", of)));
        difference.extend(lost(|metrics| metrics.auc).map(|of| ("auc", of)));
        Some(Self { summary: summaries(&judged, test_share).into_iter().collect(), difference })
    }
}

/// A feature's levels before they are scaled and rounded.
pub(crate) struct Steps {
    feature: usize,
    /// From this value on, the decision value is so much larger than at the lowest level.
    levels: Vec<(f64, f64)>,
}

impl Steps {
    pub(crate) fn new(feature: usize, weight: f64, values: &[f64]) -> Self {
        let mean = |from: f64, to: f64| {
            let within = values.iter().filter(|&&x| x >= from && x < to);
            let (sum, count) = within.fold((0.0, 0u32), |(sum, count), x| (sum + x, count + 1));
            sum / f64::from(count.max(1))
        };
        let cuts = cuts(values);
        let ends: Vec<f64> = cuts.iter().copied().skip(1).chain([f64::INFINITY]).collect();
        let lowest = mean(f64::NEG_INFINITY, cuts.first().copied().unwrap_or(f64::INFINITY));
        let levels = cuts.iter().zip(ends).map(|(&from, to)| (from, weight * (mean(from, to) - lowest))).collect();
        Self { feature, levels }
    }

    /// Rounded at a scale; levels that add what the one below adds are one with it.
    fn rounded(&self, scale: f64) -> PointsFeature {
        let (mut levels, mut below) = (Vec::new(), 0);
        for &(at_least, gain) in &self.levels {
            let points = (scale * gain).round() as i64;
            if points != below {
                levels.push(PointsLevel { at_least, points });
                below = points;
            }
        }
        PointsFeature { feature: self.feature, levels }
    }
}

/// Where a feature is cut: strictly inside its values, ascending.
fn cuts(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut distinct = sorted.clone();
    distinct.dedup();
    if distinct.len() <= LEVELS {
        return distinct.split_off(1.min(distinct.len()));
    }
    let above = |cut: f64| (sorted.len() - sorted.partition_point(|&x| x < cut)) as f64 / sorted.len() as f64;
    let rounded = |quantile: f64| {
        let exact = sorted[((quantile * sorted.len() as f64) as usize).min(sorted.len() - 1)];
        let near = |digits: usize| {
            let cut: f64 = format!("{exact:.*e}", digits - 1).parse().unwrap_or(exact);
            ((above(cut) - above(exact)).abs() <= NEAR).then_some(cut)
        };
        near(2).or_else(|| near(3)).unwrap_or(exact)
    };
    let mut cuts: Vec<f64> =
        QUANTILES.map(rounded).into_iter().filter(|&cut| above(cut) > 0.0 && above(cut) < 1.0).collect();
    cuts.dedup();
    cuts
}

/// The points where the largest, before rounding, is this; every total of the samples.
pub(crate) fn scaled(steps: &[Steps], largest: f64) -> Vec<PointsFeature> {
    let most = steps.iter().flat_map(|steps| &steps.levels).map(|level| level.1.abs()).fold(0.0, f64::max);
    let scale = if most > 0.0 { largest / most } else { 0.0 };
    steps.iter().map(|steps| steps.rounded(scale)).collect()
}

pub(crate) fn totals(features: &[PointsFeature], columns: &DenseDesign<'_>) -> Vec<i64> {
    let mut totals = vec![0; columns.n_samples()];
    for (at, of) in features.iter().enumerate() {
        let none = of.points(0.0);
        let mut values = vec![none; totals.len()];
        columns.each_in_column(at, &mut |i, x| values[i] = of.points(x));
        totals.iter_mut().zip(values).for_each(|(total, points)| *total += points);
    }
    totals
}

/// The total of fewest errors, by weight; of equal ones the middle.
pub(crate) fn fewest_errors(totals: &[i64], codes: &[u32], weights: &[f64]) -> i64 {
    let (least, most) = (totals.iter().min().copied().unwrap_or(0), totals.iter().max().copied().unwrap_or(0));
    let errors = |cut: i64| -> f64 {
        let wrong = |i: &usize| (totals[*i] >= cut) != (codes[*i] == 1);
        (0..totals.len()).filter(wrong).map(|i| weights[i]).sum()
    };
    let all: Vec<(i64, f64)> = (least..=most + 1).map(|cut| (cut, errors(cut))).collect();
    let best = all.iter().map(|cut| cut.1).fold(f64::INFINITY, f64::min);
    let equal: Vec<i64> = all.iter().filter(|cut| cut.1 <= best * (1.0 + 1e-12)).map(|cut| cut.0).collect();
    equal[equal.len() / 2]
}

/// What the inner splits say: the scale, and of each sample held out its total less the threshold
/// of its split, with its class.
pub(crate) struct Chosen {
    pub(crate) largest: f64,
    pub(crate) beyond: Vec<f64>,
    pub(crate) codes: Vec<u32>,
}

/// At each scale: total less threshold of each sample that a split held out, and the classes.
pub(crate) type Split = (Vec<Vec<i64>>, Vec<u32>);

pub(crate) fn chosen(splits: &[Split]) -> Chosen {
    let scales: Vec<f64> = SCALES.map(|twice| f64::from(twice) / 2.0).collect();
    let area_of = |(beyond, codes): &(&Vec<i64>, &Vec<u32>)| {
        let value =
            |(&total, &code): (&i64, &u32)| if code == 1 { (total as f64, 1.0, 0.0) } else { (total as f64, 0.0, 1.0) };
        area(beyond.iter().zip(codes.iter()).map(value).collect())
    };
    let mean = |at: usize| {
        let areas: Vec<f64> = splits.iter().filter_map(|(each, codes)| area_of(&(&each[at], codes))).collect();
        areas.iter().sum::<f64>() / areas.len().max(1) as f64
    };
    let areas: Vec<f64> = (0..scales.len()).map(mean).collect();
    let best = areas.iter().copied().fold(0.0, f64::max);
    // Without a split the middle: nothing speaks for another one.
    let middle = if splits.is_empty() { scales.len() / 2 } else { 0 };
    let at = (middle..scales.len()).find(|&at| areas[at] >= best - SLACK).unwrap_or(0);
    let beyond = splits.iter().flat_map(|split| &split.0[at]).map(|&total| total as f64).collect();
    Chosen { largest: scales[at], beyond, codes: splits.iter().flat_map(|split| split.1.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> DenseDesign<'static> {
        DenseDesign::new(values.len(), 1, values.to_vec()).unwrap()
    }

    #[test]
    fn few_values_are_cut_at_each_and_many_at_rounded_quartiles() {
        assert_eq!(cuts(&[0.0, 1.0, 1.0, 0.0]), [1.0]);
        assert_eq!(cuts(&[3.0, 1.0, 2.0, 3.0, 5.0]), [2.0, 3.0, 5.0]);
        assert_eq!(cuts(&[7.0; 4]), [0.0; 0]);
        let many: Vec<f64> = (0..100).map(|i| 0.123_4 + f64::from(i)).collect();
        assert_eq!(cuts(&many), [25.0, 50.0, 75.0]);
        // Two digits would put all samples on one side.
        let far: Vec<f64> = (0..100).map(|i| 1000.5 + f64::from(i) / 10.0).collect();
        let found = cuts(&far);
        assert!(found.len() == 3 && found.iter().all(|&cut| cut > 1000.5 && cut < 1010.5), "{found:?}");
        // Most values are the smallest one: a quartile that is the smallest cuts nothing off.
        let zeros: Vec<f64> = (0..100).map(|i| f64::from((i - 60i32).max(0))).collect();
        assert_eq!(cuts(&zeros).len(), 1);
        assert_eq!(cuts(&[]), [0.0; 0]);
    }

    #[test]
    fn levels_add_what_the_weight_adds_and_equal_ones_are_joined() {
        let steps = Steps::new(4, 0.5, &[0.0, 0.0, 2.0, 4.0, 4.2]);
        assert_eq!(steps.levels.iter().map(|level| level.0).collect::<Vec<_>>(), [2.0, 4.0, 4.2]);
        let rounded = steps.rounded(2.0);
        assert_eq!(
            rounded.levels,
            [PointsLevel { at_least: 2.0, points: 2 }, PointsLevel { at_least: 4.0, points: 4 }]
        );
        assert_eq!([-1.0, 1.9, 2.0, 3.9, 4.0, 9.0].map(|x| rounded.points(x)), [0, 0, 2, 2, 4, 4]);
        let points = Points { features: vec![rounded], threshold: 3, probabilities: vec![] };
        assert_eq!((points.total(&[2.5]), points.total(&[5.0])), (2, 4));
        assert_eq!(totals(&points.features, &column(&[0.0, 2.0, 4.0])), [0, 2, 4]);
    }

    #[test]
    fn the_threshold_has_fewest_errors_by_weight() {
        let (totals, codes) = ([0, 1, 2, 3, 4], [0, 0, 1, 0, 1]);
        assert_eq!(fewest_errors(&totals, &codes, &[1.0; 5]), 4);
        assert_eq!(fewest_errors(&totals, &codes, &[1.0, 1.0, 9.0, 1.0, 1.0]), 2);
        // All of one class: every sample is on one side.
        assert_eq!(fewest_errors(&[0, 0], &[0, 0], &[1.0; 2]), 1);
        assert_eq!(fewest_errors(&[0, 0], &[1, 1], &[1.0; 2]), 0);
    }

    #[test]
    fn the_smallest_scale_that_is_as_good_is_taken() {
        let (good, bad) = (vec![-1, -2, 3, 4], vec![3, -2, -1, 4]);
        let scales = SCALES.count();
        let each: Vec<Vec<i64>> = (0..scales).map(|at| if at < 3 { bad.clone() } else { good.clone() }).collect();
        let found = chosen(&[(each, vec![0, 0, 1, 1])]);
        assert_eq!((found.largest, found.beyond), (2.5, vec![-1.0, -2.0, 3.0, 4.0]));
        assert_eq!(chosen(&[]).largest, 5.5);
    }
}
