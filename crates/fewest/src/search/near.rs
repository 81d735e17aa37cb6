//! What the subsets within a share of the best one tell: which features all of them hold, what a
//! feature is worth, and what can stand in for what.

use std::collections::HashMap;

use serde::Serialize;

use crate::run::Gaps;
use crate::{Sense, Solution, Subset};

/// What rounding may add to a value or its proof, as a share.
const ROUNDING: f64 = 1e-12;
/// Subsets among which replacements are searched for, the best ones, and most pairs that are
/// listed.
const COMPARED: usize = 2000;
const REPLACEMENTS: usize = 20;

/// The subsets whose objective is within a share of the best one, as a search found them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearBest {
    /// The share E asked for.
    pub within: f64,
    /// The objective of a subset whose gain over none is less than that of the best by E of it.
    pub threshold: f64,
    /// How many subsets are listed.
    pub subsets: usize,
    /// How many may be.
    pub most: usize,
    /// Whether every allowed subset whose objective is within the threshold is listed.
    pub complete: bool,
    /// Every subset within this share of the best is listed; E where the list is complete. None
    /// where there may be a better one than the best that was found.
    pub complete_within: Option<f64>,
    /// No subset that is not listed is better than this; none where there is no other, or where
    /// nothing is known of them.
    pub others: Option<f64>,
    /// The features of all listed subsets, ascending.
    pub in_all: Vec<usize>,
    /// Features of listed subsets, those of most subsets first.
    pub features: Vec<NearFeature>,
    /// Pairs of features of which one can take the place of the other, the most frequent first.
    pub replacements: Vec<Replacement>,
}

/// A feature of at least one listed subset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NearFeature {
    /// The feature's index.
    pub feature: usize,
    /// Share of the listed subsets that hold it.
    pub share: f64,
    /// Best objective of a listed subset with it.
    pub best_with: f64,
    /// Best objective of a listed subset without it; none where all hold it.
    pub best_without: Option<f64>,
}

/// Two features in each other's place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replacement {
    /// The one that more of the listed subsets hold.
    pub feature: usize,
    /// The other one.
    pub by: usize,
    /// How many pairs of listed subsets differ in these two alone: S, and S without the one and
    /// with the other.
    pub pairs: usize,
}

/// What is proven of a list: the share asked for, how many subsets may be listed, and what no other
/// subset is better than.
pub(super) struct Proven {
    pub(super) within: f64,
    pub(super) most: usize,
    pub(super) others: f64,
}

/// Whether what others are no better than is worse than a threshold, whatever was rounded.
pub(super) fn is_beyond(sense: Sense, others: f64, threshold: f64) -> bool {
    let room = ROUNDING * threshold.abs();
    if sense == Sense::Min { others > threshold + room } else { others < threshold - room }
}

impl NearBest {
    /// The near best of these subsets, best first; none without a subset.
    pub(super) fn new(gaps: &Gaps, proven: &Proven, listed: &[Solution]) -> Option<Self> {
        let (&Proven { within, most, others }, sense) = (proven, gaps.sense);
        let best = listed.first()?.objective;
        let threshold = gaps.threshold(within, best);
        // How much worse than the best the others are at least.
        let behind = if sense == Sense::Min { others - best } else { best - others };
        let complete = is_beyond(sense, others, threshold);
        let gain = (gaps.threshold(1.0, best) - best).abs();
        let reached = (behind >= 0.0 && gain != 0.0).then(|| behind / gain);
        let features = features(listed);
        let in_all = features.iter().filter(|f| f.best_without.is_none()).map(|f| f.feature);
        let mut in_all: Vec<usize> = in_all.collect();
        in_all.sort_unstable();
        Some(Self {
            within,
            threshold,
            subsets: listed.len(),
            most,
            complete,
            complete_within: if complete { Some(within) } else { reached.map(|share| share.min(within)) },
            others: Some(others).filter(|others| others.is_finite()),
            in_all,
            replacements: replacements(&listed[..listed.len().min(COMPARED)], &features),
            features,
        })
    }
}

/// What each feature of the subsets is worth, those of most subsets first.
fn features(listed: &[Solution]) -> Vec<NearFeature> {
    // Of each feature: how many subsets hold it, the first that does, the first that does not.
    let mut known: HashMap<usize, (usize, usize, Option<usize>)> = HashMap::new();
    for (at, solution) in listed.iter().enumerate() {
        for j in solution.subset.iter() {
            let entry = known.entry(j).or_insert((0, at, (at > 0).then_some(0)));
            if entry.2.is_none() && entry.0 < at {
                // All of the first `entry.0` subsets hold it, and the next does not.
                entry.2 = Some(entry.0);
            }
            entry.0 += 1;
        }
    }
    let feature = |(feature, (count, with, without)): (usize, (usize, usize, Option<usize>))| {
        let without = without.or_else(|| (count < listed.len()).then_some(count));
        NearFeature {
            feature,
            share: count as f64 / listed.len() as f64,
            best_with: listed[with].objective,
            best_without: without.map(|at| listed[at].objective),
        }
    };
    let mut features: Vec<NearFeature> = known.into_iter().map(feature).collect();
    features.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.feature.cmp(&b.feature)));
    features
}

/// Pairs of features that take each other's place, the most frequent first. `features` says which
/// of two is named first.
fn replacements(listed: &[Solution], features: &[NearFeature]) -> Vec<Replacement> {
    // By subset with one feature left out: the features that fill the place.
    let mut places: HashMap<Subset, Vec<usize>> = HashMap::new();
    for solution in listed {
        for j in solution.subset.iter() {
            let mut rest = solution.subset.clone();
            rest.remove(j);
            places.entry(rest).or_default().push(j);
        }
    }
    let order: HashMap<usize, usize> = features.iter().enumerate().map(|(at, f)| (f.feature, at)).collect();
    let mut pairs: HashMap<(usize, usize), usize> = HashMap::new();
    for fill in places.values() {
        for (at, j) in fill.iter().enumerate() {
            for l in &fill[at + 1..] {
                let (j, l) = (order[j], order[l]);
                *pairs.entry((j.min(l), j.max(l))).or_default() += 1;
            }
        }
    }
    let mut pairs: Vec<((usize, usize), usize)> = pairs.into_iter().collect();
    pairs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let named = |((j, l), pairs): ((usize, usize), usize)| Replacement {
        feature: features[j].feature,
        by: features[l].feature,
        pairs,
    };
    pairs.into_iter().take(REPLACEMENTS).map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Yardstick;

    fn listed(subsets: &[(&[usize], f64)]) -> Vec<Solution> {
        let solution = |(features, objective): &(&[usize], f64)| Solution {
            subset: Subset::from_indices(9, features.iter().copied()),
            objective: *objective,
        };
        subsets.iter().map(solution).collect()
    }

    fn gaps(sense: Sense, baseline: f64) -> Gaps {
        Gaps { sense, relative: 1e-4, absolute: 0.0, yardstick: Some(Yardstick::new(baseline, &[])), tolerance: 0.0 }
    }

    #[test]
    fn features_have_shares_ranges_and_replacements() {
        let listed = listed(&[(&[0, 1], 10.0), (&[0, 2], 10.1), (&[0, 1, 5], 10.2), (&[0, 2, 5], 10.3), (&[0], 10.4)]);
        let proven = Proven { within: 0.05, most: 9, others: 10.6 };
        let near = NearBest::new(&gaps(Sense::Min, 20.0), &proven, &listed).expect("subsets");
        assert!((near.threshold - 10.5).abs() < 1e-12 && near.complete && near.complete_within == Some(0.05));
        assert_eq!((near.subsets, near.most, &near.in_all), (5, 9, &vec![0]));
        let found: Vec<_> = near.features.iter().map(|f| (f.feature, f.share, f.best_with, f.best_without)).collect();
        let expected =
            [(0, 1.0, 10.0, None), (1, 0.4, 10.0, Some(10.1)), (2, 0.4, 10.1, Some(10.0)), (5, 0.4, 10.2, Some(10.0))];
        assert_eq!(found, expected);
        // {0, 1} and {0, 2}, {0, 1, 5} and {0, 2, 5}.
        assert_eq!(near.replacements, [Replacement { feature: 1, by: 2, pairs: 2 }]);
    }

    #[test]
    fn a_list_that_is_cut_says_how_far_it_is_complete() {
        let (few, most) = (listed(&[(&[3], 2.0), (&[4], 1.9)]), gaps(Sense::Max, 0.0));
        let near = |others: f64| NearBest::new(&most, &Proven { within: 0.2, most: 2, others }, &few).expect("subsets");
        let (cut, unknown, whole) = (near(1.8), near(2.1), near(f64::NEG_INFINITY));
        assert_eq!((cut.threshold, cut.complete, cut.others), (1.6, false, Some(1.8)));
        assert!(cut.complete_within.is_some_and(|share| (share - 0.1).abs() < 1e-12));
        assert_eq!((unknown.complete, unknown.complete_within), (false, None));
        assert_eq!((whole.complete, whole.complete_within, whole.others), (true, Some(0.2), None));
        assert_eq!(NearBest::new(&most, &Proven { within: 0.2, most: 2, others: 1.0 }, &[]), None);
    }
}
