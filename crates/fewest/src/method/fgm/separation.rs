//! The most violated subset: scores of all features, and the allowed subset with the largest sum of their squares (sec. 2.4).
//!
//! Where the rules are a size, must-in and must-out, the source gives the largest and no array of length p is kept. Other rules ask
//! [`Rules::best_subset_until`], whose slack the bound accounts for.

use super::source::{Scored, Source, Wanted, keep};
use crate::{Choice, Error, Rules};

/// A subset found under a budget or groups may miss the best by this share of its sum.
pub(super) const SLACK: f64 = 1e-6;

/// What is asked for: the rules in the form that separation needs.
pub(super) enum Separation<'a> {
    /// The largest besides the required ones.
    Largest(Wanted),
    /// Any rules.
    Search(&'a Rules),
}

/// A subset that is violated most.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Violated {
    /// Features, ascending.
    pub(super) features: Vec<usize>,
    /// No allowed subset has a larger sum of squared scores than this.
    pub(super) most: f64,
}

impl<'a> Separation<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        if !rules.is_sort() {
            return Separation::Search(rules);
        }
        let list = rules.list();
        // Units are single features here.
        let decided = |choice: Choice| {
            let listed = if choice == Choice::In { &list.require } else { &list.forbid };
            let mut features = listed.clone();
            features.sort_unstable();
            features.dedup();
            features
        };
        let (always, never) = (decided(Choice::In), decided(Choice::Out));
        Separation::Largest(Wanted { most: rules.most_features() - always.len(), always, never })
    }

    /// The most violated subset of all features at beta (length n).
    pub(super) fn all(&self, source: &dyn Source, beta: &[f64]) -> Result<Violated, Error> {
        match self {
            Separation::Largest(wanted) => Ok(of_largest(source.largest(beta, wanted)?, wanted)),
            Separation::Search(rules) => {
                let mut squares = source.scores(beta)?;
                for c in &mut squares {
                    *c *= *c;
                }
                Ok(search(rules, &squares))
            }
        }
    }

    /// The most violated subset among the columns at hand: `scores` of `features`, the others counting as 0.
    pub(super) fn among(&self, p: usize, features: &[usize], scores: &[f64]) -> Violated {
        let scored = features.iter().zip(scores);
        match self {
            Separation::Largest(wanted) => {
                let at_hand = |j: usize| features.iter().position(|&k| k == j).map_or(0.0, |at| scores[at]);
                let free = scored.filter(|(j, c)| **c != 0.0 && wanted.has(**j));
                let mut found: Vec<Scored> = free.map(|(&feature, &score)| Scored { feature, score }).collect();
                found.extend(wanted.always.iter().map(|&feature| Scored { feature, score: at_hand(feature) }));
                of_largest(found, wanted)
            }
            Separation::Search(rules) => {
                let mut squares = vec![0.0; p];
                scored.for_each(|(&j, c)| squares[j] = c * c);
                search(rules, &squares)
            }
        }
    }
}

/// The subset of the `most` largest and of the features wanted always.
fn of_largest(found: Vec<Scored>, wanted: &Wanted) -> Violated {
    let (mut chosen, always): (Vec<Scored>, Vec<Scored>) = found.into_iter().partition(|s| wanted.has(s.feature));
    keep(&mut chosen, wanted.most);
    chosen.extend(always);
    chosen.sort_unstable_by_key(|s| s.feature);
    // Summed in order of the features, so that the sum depends on nothing else.
    let most = chosen.iter().map(|s| s.score * s.score).sum();
    Violated { features: chosen.iter().map(|s| s.feature).collect(), most }
}

/// The most violated subset by squares of length p.
fn search(rules: &Rules, squares: &[f64]) -> Violated {
    let best = rules.best_subset_until(squares, SLACK, &mut || false);
    Violated { features: best.subset.iter().collect(), most: best.most }
}
