//! The matrix as the feature generating machine sees it: scores of all columns, and a copy of a
//! few. So the columns may be elsewhere.

use rayon::prelude::*;

use crate::{Design, Error, RowMatrix};

/// Columns scored together: their scores stay in the first cache.
const CHUNK: usize = 4096;

/// A question for scores: those of the features `always`, and the `most` largest squares among the
/// features in neither `always` nor `never`. A score counts as 0 where the sign of its feature's
/// weight forbids it ([`ScoreQuery::counted`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScoreQuery {
    /// How many of the largest.
    pub most: usize,
    /// Features whose score is needed in any case, ascending.
    pub always: Vec<usize>,
    /// Features whose score is not needed, ascending.
    pub never: Vec<usize>,
    /// Features of weights that are 0 or more, ascending: their scores below 0 count as 0.
    pub positive: Vec<usize>,
    /// Features of weights that are 0 or less, ascending: their scores above 0 count as 0.
    pub negative: Vec<usize>,
}

/// A feature and its score c_j = x_j . v.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FeatureScore {
    /// Index, from 0.
    pub feature: usize,
    /// c_j, 0 where it counts as 0.
    pub score: f64,
}

/// A matrix of n samples and p features, all values finite, by what [`super::fgm_from`] asks of it.
/// Any matrix in memory is one; columns on other machines are another, which answers each question
/// with one message to each of them. Errors are [`Error::Source`] and end the run.
#[expect(clippy::missing_errors_doc, reason = "said of all of them at once")]
pub trait Source: Sync {
    /// Number of samples n.
    fn n_samples(&self) -> usize;
    /// Number of features p.
    fn n_features(&self) -> usize;
    /// x_j . v for all j, length p, with v of length n.
    fn scores(&self, v: &[f64]) -> Result<Vec<f64>, Error>;
    /// At least the scores of the query, each feature once, in any order; of the largest those that
    /// are 0 may be missing.
    fn largest(&self, v: &[f64], query: &ScoreQuery) -> Result<Vec<FeatureScore>, Error>;
    /// Row-major copy of the given columns, which ascend; each is asked for once. Dense or sparse,
    /// always the same.
    fn rows(&self, features: &[usize]) -> Result<RowMatrix, Error>;
}

impl Source for &dyn Design {
    fn n_samples(&self) -> usize {
        Design::n_samples(*self)
    }
    fn n_features(&self) -> usize {
        Design::n_features(*self)
    }
    fn scores(&self, v: &[f64]) -> Result<Vec<f64>, Error> {
        let mut scores = vec![0.0; Design::n_features(*self)];
        let chunks = scores.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(at, out)| self.dot_columns(at * CHUNK, v, out));
        Ok(scores)
    }
    /// No array of length p is kept: the largest are selected while the scores stream by.
    fn largest(&self, v: &[f64], query: &ScoreQuery) -> Result<Vec<FeatureScore>, Error> {
        let p = Design::n_features(*self);
        let chunk = |at: usize| {
            let first = at * CHUNK;
            let mut scores = vec![0.0; CHUNK.min(p - first)];
            self.dot_columns(first, v, &mut scores);
            largest_of(first, &scores, query)
        };
        let merge = |mut a: Vec<FeatureScore>, mut b: Vec<FeatureScore>| {
            a.append(&mut b);
            keep(&mut a, query.most);
            a
        };
        let mut found = (0..p.div_ceil(CHUNK)).into_par_iter().map(chunk).reduce(Vec::new, merge);
        let always = |&j: &usize| FeatureScore { feature: j, score: query.counted(j, self.dot_column(j, v)) };
        found.extend(query.always.iter().map(always));
        Ok(found)
    }
    fn rows(&self, features: &[usize]) -> Result<RowMatrix, Error> {
        Ok(Design::rows(*self, features))
    }
}

impl ScoreQuery {
    /// The score as it counts for the feature.
    pub fn counted(&self, feature: usize, score: f64) -> f64 {
        let forbidding = if score < 0.0 { &self.positive } else { &self.negative };
        if forbidding.binary_search(&feature).is_ok() { 0.0 } else { score }
    }

    /// Whether the feature is in neither list.
    pub(super) fn has(&self, feature: usize) -> bool {
        self.always.binary_search(&feature).is_err() && self.never.binary_search(&feature).is_err()
    }
}

/// The largest square first, ties to the smaller index.
fn better(a: &FeatureScore, b: &FeatureScore) -> std::cmp::Ordering {
    let square = |s: &FeatureScore| s.score * s.score;
    square(b).total_cmp(&square(a)).then(a.feature.cmp(&b.feature))
}

/// Keeps the `most` best, in no order.
pub(super) fn keep(found: &mut Vec<FeatureScore>, most: usize) {
    if found.len() > most {
        if most > 0 {
            found.select_nth_unstable_by(most - 1, better);
        }
        found.truncate(most);
    }
}

/// The `most` largest of a chunk of scores that starts with feature `first`.
fn largest_of(first: usize, scores: &[f64], query: &ScoreQuery) -> Vec<FeatureScore> {
    let within = |list: &[usize]| {
        let from = list.partition_point(|&j| j < first);
        let to = list.partition_point(|&j| j < first + scores.len());
        list[from..to].iter().map(|&j| j - first).collect::<Vec<usize>>()
    };
    let mut left_out = within(&query.always);
    left_out.extend(within(&query.never));
    left_out.sort_unstable();
    let mut left_out = left_out.into_iter().peekable();
    let mut found: Vec<FeatureScore> = Vec::new();
    // Once there are `most`, only what beats the worst of them is worth keeping.
    let mut floor = 0.0;
    for (k, &score) in scores.iter().enumerate() {
        if left_out.next_if_eq(&k).is_some() {
            continue;
        }
        if score * score > floor && query.counted(first + k, score) != 0.0 {
            found.push(FeatureScore { feature: first + k, score });
            if found.len() >= 2 * query.most.max(8) {
                keep(&mut found, query.most);
                floor = found.iter().map(|s| s.score * s.score).fold(f64::INFINITY, f64::min);
            }
        }
    }
    keep(&mut found, query.most);
    found
}
