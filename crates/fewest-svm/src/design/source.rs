//! The matrix as a method sees it that works on few columns: scores of all columns, and a copy of
//! a few. So the columns may be elsewhere.

use rayon::prelude::*;

use super::{Design, RowMatrix};
use crate::{Error, FeatureSet, simd};

/// Columns scored together: their scores stay in the first cache.
const CHUNK: usize = 2048;
/// Scores that share one comparison with what was found.
const GROUP: usize = 64;

/// A question for scores: those of the features `always`, and the `most` largest squares among the
/// features in neither `always` nor `never`. A score counts as 0 where the sign of its feature's
/// weight forbids it ([`ScoreQuery::counted`]).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScoreQuery {
    /// How many of the largest.
    pub most: usize,
    /// Features whose score is needed in any case, ascending.
    pub always: Vec<usize>,
    /// Features whose score is not needed.
    pub never: FeatureSet,
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

/// Source of columns: a matrix of n samples and p features, of which a method reads all scores and
/// the values of few columns (`fgm_from` and `l1_svm_from` of the crate `fewest`).
///
/// Any matrix in memory is a source. Columns on other machines are another: it answers each
/// question with one message to each machine. The implementer
///
/// - has checked that all values are finite;
/// - gives the same answers to the same questions, bit for bit, however its columns are split;
/// - serves several threads at once (`Sync`);
/// - returns [`Error::Source`] where an answer fails, which ends the run.
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
        let merge = |mut a: Vec<FeatureScore>, mut b: Vec<FeatureScore>| {
            a.append(&mut b);
            keep(&mut a, query.most);
            a
        };
        let chunks = (0..p.div_ceil(CHUNK)).into_par_iter().fold(
            || Largest::new(query),
            |mut largest, at| {
                let first = at * CHUNK;
                largest.see(first, CHUNK.min(p - first), |scores| self.dot_columns(first, v, scores));
                largest
            },
        );
        let mut found = chunks.map(|largest| largest.best.found).reduce(Vec::new, merge);
        keep(&mut found, query.most);
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
    pub fn has(&self, feature: usize) -> bool {
        self.always.binary_search(&feature).is_err() && !self.never.contains(feature)
    }
}

/// The largest square first, ties to the smaller index.
pub fn better(a: &FeatureScore, b: &FeatureScore) -> std::cmp::Ordering {
    let square = |s: &FeatureScore| s.score * s.score;
    square(b).total_cmp(&square(a)).then(a.feature.cmp(&b.feature))
}

/// Keeps the `most` best, in no order.
pub fn keep(found: &mut Vec<FeatureScore>, most: usize) {
    if found.len() > most {
        if most > 0 {
            found.select_nth_unstable_by(most - 1, better);
        }
        found.truncate(most);
    }
}

/// The `most` best of scores that come one by one.
pub struct Best {
    most: usize,
    /// At least those, in no order.
    pub found: Vec<FeatureScore>,
    /// Once there are `most`, only what beats the worst of them is worth keeping.
    floor: f64,
}

impl Best {
    pub fn new(most: usize) -> Self {
        Self { most, found: Vec::new(), floor: 0.0 }
    }

    /// Whether a score of this square may be among them; one of 0 never is.
    pub fn may_take(&self, square: f64) -> bool {
        square > self.floor
    }

    pub fn take(&mut self, feature: usize, score: f64) {
        self.found.push(FeatureScore { feature, score });
        if self.found.len() >= 2 * self.most.max(8) {
            keep(&mut self.found, self.most);
            self.floor = self.found.iter().map(|s| s.score * s.score).fold(f64::INFINITY, f64::min);
        }
    }
}

/// The `most` largest of chunks of scores that come in order.
struct Largest<'a> {
    query: &'a ScoreQuery,
    scores: Vec<f64>,
    best: Best,
}

impl<'a> Largest<'a> {
    fn new(query: &'a ScoreQuery) -> Self {
        Self { query, scores: vec![0.0; CHUNK], best: Best::new(query.most) }
    }

    /// The chunk of `count` features from `first` on, of which `fill` gives the scores.
    fn see(&mut self, first: usize, count: usize, fill: impl FnOnce(&mut [f64])) {
        let Self { query, scores, .. } = self;
        let scores = &mut scores[..count];
        fill(scores);
        let from = query.always.partition_point(|&j| j < first);
        let always = query.always[from..].iter().copied().take_while(|j| *j < first + count);
        let never = query.never.within(first..first + count);
        always.chain(never).for_each(|j| scores[j - first] = 0.0);
        for group in (0..count).step_by(GROUP) {
            let end = (group + GROUP).min(count);
            if self.best.may_take(simd::largest_square(&self.scores[group..end])) {
                (group..end).for_each(|k| self.offer(first + k, self.scores[k]));
            }
        }
    }

    fn offer(&mut self, feature: usize, score: f64) {
        if self.best.may_take(score * score) && self.query.counted(feature, score) != 0.0 {
            self.best.take(feature, score);
        }
    }
}
