//! The most violated subset: scores of all features, and the allowed subset with the largest sum of
//! their squares (sec. 2.4).
//!
//! Where the rules are a size, must-in and must-out, the source gives the largest and no array of
//! length p is kept. Other rules ask [`Rules::best_subset_until`], whose slack the bound accounts
//! for. Where a sign forbids the weight that a score asks for, the score counts as 0: the feature
//! gains `max(0, s c)^2 / 2`.

use std::collections::HashMap;

use super::part::{SourceProblem, source, squares};
use super::tuning::{NODES, SLACK};
use crate::design::{better, keep};
use crate::{Clock, Error, FeatureScore, Interval, Rules, ScoreQuery};

/// The rules in the form that separation needs.
pub(super) enum Separation<'a> {
    /// The largest besides the required ones.
    Largest(ScoreQuery),
    /// Any rules.
    Search(&'a Rules),
}

/// A subset that is violated most.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ViolatedSubset {
    /// Features, ascending.
    pub(super) features: Vec<usize>,
    /// No allowed subset has a larger sum of squared scores than this.
    pub(super) most: f64,
    /// The features of largest score beside it, falling; as many as were asked for.
    pub(super) next: Vec<FeatureScore>,
}

impl<'a> Separation<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        if !rules.is_sort() {
            return Separation::Search(rules);
        }
        let list = rules.list();
        // Units are single features here.
        let mut always = list.require.clone();
        always.sort_unstable();
        always.dedup();
        let bounded = |forbidden: fn(Interval) -> bool| {
            let bounds = rules.weight_bounds().bounded();
            bounds.filter(|(_, interval)| forbidden(*interval)).map(|(j, _)| j).collect::<Vec<usize>>()
        };
        let (positive, negative) = (bounded(|i| i.lower == 0.0), bounded(|i| i.upper == 0.0));
        Separation::Largest(ScoreQuery {
            most: rules.most_features() - always.len(),
            always,
            never: list.forbid.clone(),
            positive,
            negative,
        })
    }

    /// The most violated subset of all features at beta, of the samples of all problems: their
    /// squared scores add. Where the rules are a size, must-in and must-out, with the `next` features
    /// of largest score beside it.
    /// Where the rules are more, `clock` ends the search, with a larger `most`.
    pub(super) fn all(
        &self,
        parts: &[SourceProblem<'_>],
        beta: &[f64],
        next: usize,
        clock: &Clock,
    ) -> Result<ViolatedSubset, Error> {
        // Where all places are taken no other feature can have a weight.
        let next = if matches!(self, Separation::Largest(query) if query.most == 0) { 0 } else { next };
        if let (Separation::Largest(query), Some(source)) = (self, source(parts)) {
            let wider = ScoreQuery { most: query.most + next, ..query.clone() };
            return Ok(of_largest(source.largest(beta, &wider)?, query, next));
        }
        let squares = squares(parts, beta, &|j, c| self.counted(j, c))?;
        match self {
            Separation::Search(rules) => Ok(search(rules, &squares, clock)),
            Separation::Largest(query) => {
                let each = squares.iter().enumerate().map(|(feature, square)| (feature, square.sqrt()));
                let has = |(j, size): &(usize, f64)| {
                    if query.has(*j) { *size > 0.0 } else { query.always.binary_search(j).is_ok() }
                };
                let found = each.filter(has).map(|(feature, score)| FeatureScore { feature, score });
                Ok(of_largest(found.collect(), query, next))
            }
        }
    }

    /// The score of a feature as it counts.
    fn counted(&self, feature: usize, score: f64) -> f64 {
        match self {
            Separation::Largest(query) => query.counted(feature, score),
            Separation::Search(rules) => rules.weight_bounds().of(feature).weight(score),
        }
    }

    /// The rules among these current columns.
    pub(super) fn at_hand<'f>(&'f self, features: &'f [usize]) -> AtHand<'f> {
        match self {
            Separation::Largest(query) => AtHand::Largest(query, features),
            Separation::Search(rules) => {
                let (rules, open, taken) = rules.among(features);
                let place: HashMap<usize, usize> = features.iter().enumerate().map(|(at, &j)| (j, at)).collect();
                AtHand::Search { rules: Box::new(rules), open, taken, place }
            }
        }
    }
}

/// The rules in the form that separation among some columns needs, made once for many scores.
pub(super) enum AtHand<'f> {
    /// The largest of these features besides the required ones.
    Largest(&'f ScoreQuery, &'f [usize]),
    /// Any rules: on the features that are open, among them the current ones that may be chosen.
    Search {
        rules: Box<Rules>,
        open: Vec<usize>,
        taken: Vec<usize>,
        /// The place of each feature's score, by feature.
        place: HashMap<usize, usize>,
    },
}

impl AtHand<'_> {
    /// The most violated subset: `scores` of the current features as they count, the others
    /// counting as 0.
    pub(super) fn most_violated(&self, scores: &[f64]) -> ViolatedSubset {
        match self {
            AtHand::Largest(query, features) => {
                let score = |j: usize| features.iter().position(|&k| k == j).map_or(0.0, |at| scores[at]);
                let free = features.iter().zip(scores).filter(|(j, c)| **c != 0.0 && query.has(**j));
                let mut found: Vec<FeatureScore> =
                    free.map(|(&feature, &score)| FeatureScore { feature, score }).collect();
                found.extend(query.always.iter().map(|&feature| FeatureScore { feature, score: score(feature) }));
                of_largest(found, query, 0)
            }
            AtHand::Search { rules, open, taken, place } => {
                let square = |j: &usize| place.get(j).map_or(0.0, |&at| scores[at].powi(2));
                let squares: Vec<f64> = open.iter().map(square).collect();
                let mut found = search(rules, &squares, &Clock::unlimited());
                found.features = found.features.into_iter().map(|j| open[j]).chain(taken.iter().copied()).collect();
                found.features.sort_unstable();
                found.most += taken.iter().map(square).sum::<f64>();
                found
            }
        }
    }
}

/// The subset of the `most` largest and of the features that are always in, and the `next` largest.
fn of_largest(found: Vec<FeatureScore>, query: &ScoreQuery, next: usize) -> ViolatedSubset {
    let (mut free, always): (Vec<FeatureScore>, Vec<FeatureScore>) =
        found.into_iter().partition(|s| query.has(s.feature));
    keep(&mut free, query.most + next);
    if next > 0 {
        free.sort_unstable_by(better);
    }
    let next = free.split_off(query.most.min(free.len()));
    let mut chosen = free;
    chosen.extend(always);
    chosen.sort_unstable_by_key(|s| s.feature);
    // Summed in order of the features, so that the sum depends on nothing else.
    let most = chosen.iter().map(|s| s.score * s.score).sum();
    ViolatedSubset { features: chosen.iter().map(|s| s.feature).collect(), most, next }
}

/// The most violated subset by squares of length p.
fn search(rules: &Rules, squares: &[f64], clock: &Clock) -> ViolatedSubset {
    let best = rules.best_subset_within(squares, SLACK, NODES, clock);
    ViolatedSubset { features: best.subset.iter().collect(), most: best.most, next: Vec::new() }
}
