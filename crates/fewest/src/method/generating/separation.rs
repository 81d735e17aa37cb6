//! The most violated subset: scores of all features, and the allowed subset with the largest sum of their squares (sec. 2.4).
//!
//! Where the rules are a size, must-in and must-out, the largest are selected while the scores stream by, and no array of
//! length p is kept. Other rules ask [`Rules::good_subset`], whose slack the bound accounts for.

use rayon::prelude::*;

use crate::{Choice, Design, Rules};

/// Columns scored together: their scores stay in the first cache.
const CHUNK: usize = 4096;
/// A subset found under a budget or groups may miss the best by this share of its sum.
pub(super) const SLACK: f64 = 1e-6;

/// What is asked for: the rules in the form that separation needs.
pub(super) enum Separation<'a> {
    /// The `most` largest besides the required ones.
    Largest { most: usize, required: Vec<usize>, forbidden: Vec<usize> },
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

/// A feature and its squared score; the best is the largest square, ties to the smaller index.
#[derive(Debug, Clone, Copy)]
struct Scored {
    feature: usize,
    square: f64,
}

fn better(a: &Scored, b: &Scored) -> std::cmp::Ordering {
    b.square.total_cmp(&a.square).then(a.feature.cmp(&b.feature))
}

/// Keeps the `most` best, in no order.
fn keep(found: &mut Vec<Scored>, most: usize) {
    if found.len() > most {
        if most > 0 {
            found.select_nth_unstable_by(most - 1, better);
        }
        found.truncate(most);
    }
}

impl<'a> Separation<'a> {
    pub(super) fn new(rules: &'a Rules) -> Self {
        let list = rules.list();
        let others = list.implies.len() + list.at_most.len() + list.at_least.len() + list.together.len();
        if others > 0 || list.budget.is_some() {
            return Separation::Search(rules);
        }
        // Units are single features here.
        let decided = |choice: Choice| {
            let listed = if choice == Choice::In { &list.require } else { &list.forbid };
            let mut features = listed.clone();
            features.sort_unstable();
            features.dedup();
            features
        };
        let (required, forbidden) = (decided(Choice::In), decided(Choice::Out));
        Separation::Largest { most: list.max_features.unwrap_or(rules.p()) - required.len(), required, forbidden }
    }

    /// The most violated subset of all features at beta (length n).
    pub(super) fn all(&self, design: &dyn Design, beta: &[f64]) -> Violated {
        let p = design.n_features();
        let Separation::Largest { most, required, forbidden } = self else {
            let mut squares = vec![0.0; p];
            squares.par_chunks_mut(CHUNK).enumerate().for_each(|(at, out)| {
                design.dot_columns(at * CHUNK, beta, out);
                for c in out {
                    *c *= *c;
                }
            });
            return self.of(&squares);
        };
        let chunk = |at: usize| {
            let first = at * CHUNK;
            let mut scores = vec![0.0; CHUNK.min(p - first)];
            design.dot_columns(first, beta, &mut scores);
            let mut found: Vec<Scored> = Vec::new();
            push_largest(first, &scores, *most, required, forbidden, &mut found);
            found
        };
        let merge = |mut a: Vec<Scored>, mut b: Vec<Scored>| {
            a.append(&mut b);
            keep(&mut a, *most);
            a
        };
        let found = (0..p.div_ceil(CHUNK)).into_par_iter().map(chunk).reduce(Vec::new, merge);
        finish(found, required, |j| design.dot_column(j, beta))
    }

    /// The most violated subset among the columns at hand: `scores` of `features`, the others counting as 0.
    pub(super) fn among(&self, p: usize, features: &[usize], scores: &[f64]) -> Violated {
        let Separation::Largest { most, required, forbidden } = self else {
            let mut squares = vec![0.0; p];
            features.iter().zip(scores).for_each(|(&j, c)| squares[j] = c * c);
            return self.of(&squares);
        };
        let fits = |j: &usize| required.binary_search(j).is_err() && forbidden.binary_search(j).is_err();
        let scored = features.iter().zip(scores).filter(|(j, c)| **c != 0.0 && fits(j));
        let mut found: Vec<Scored> = scored.map(|(&feature, c)| Scored { feature, square: c * c }).collect();
        keep(&mut found, *most);
        let score = |j: usize| features.iter().position(|&k| k == j).map_or(0.0, |at| scores[at]);
        finish(found, required, score)
    }

    /// The most violated subset by squares of length p.
    fn of(&self, squares: &[f64]) -> Violated {
        let Separation::Search(rules) = self else { unreachable!("the largest are selected from scores") };
        let (subset, sum) = rules.good_subset(squares, SLACK).expect("Rules::new found an allowed subset");
        Violated { features: subset.iter().collect(), most: sum * (1.0 + SLACK) }
    }
}

/// Pushes the `most` largest of a chunk of scores that starts with feature `first`.
fn push_largest(
    first: usize,
    scores: &[f64],
    most: usize,
    required: &[usize],
    forbidden: &[usize],
    found: &mut Vec<Scored>,
) {
    let within = |list: &[usize]| {
        let from = list.partition_point(|&j| j < first);
        let to = list.partition_point(|&j| j < first + scores.len());
        list[from..to].iter().map(|&j| j - first).collect::<Vec<usize>>()
    };
    let mut left_out = within(required);
    left_out.extend(within(forbidden));
    left_out.sort_unstable();
    let mut left_out = left_out.into_iter().peekable();
    // Once there are `most`, only what beats the worst of them is worth keeping.
    let mut floor = 0.0;
    for (k, &c) in scores.iter().enumerate() {
        if left_out.next_if_eq(&k).is_some() {
            continue;
        }
        let square = c * c;
        if square > floor {
            found.push(Scored { feature: first + k, square });
            if found.len() >= 2 * most.max(8) {
                keep(found, most);
                floor = found.iter().map(|s| s.square).fold(f64::INFINITY, f64::min);
            }
        }
    }
    keep(found, most);
}

/// The subset of the largest and the required ones.
fn finish(mut found: Vec<Scored>, required: &[usize], score: impl Fn(usize) -> f64) -> Violated {
    found.extend(required.iter().map(|&feature| Scored { feature, square: score(feature).powi(2) }));
    found.sort_unstable_by_key(|s| s.feature);
    // Summed in order of the features, so that the sum depends on nothing else.
    let most = found.iter().map(|s| s.square).sum();
    Violated { features: found.iter().map(|s| s.feature).collect(), most }
}
