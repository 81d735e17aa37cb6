//! The table of inner scores: every candidate, its scores over the splits, its stability.

use fewest::validation::{Summary, stability};
use serde::{Deserialize, Serialize};

use super::grid::{Grid, Job, Key};
use super::prior::Prior;
use super::score::{Score, Scores};

/// Scores of one split, and what was selected in it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Row {
    /// Place of the candidate, and its scores; candidates that time did not allow are absent.
    pub scores: Vec<(Key, Scores)>,
    /// Place of the subset (its `fit` is 0), and its features, ascending.
    pub subsets: Vec<(Key, Vec<usize>)>,
    /// The jobs that were done.
    pub jobs: Vec<Job>,
    /// Selections that were made.
    pub selections: u64,
    /// Classifiers that were trained.
    pub trainings: u64,
    /// Whether time or the user cut something short.
    pub cut: bool,
    /// Milliseconds used.
    pub milliseconds: u64,
}

impl Row {
    /// Adds what other jobs found on the same split.
    pub(crate) fn add(&mut self, other: Row) {
        self.scores.extend(other.scores);
        self.subsets.extend(other.subsets);
        self.scores.sort_by_key(|entry| entry.0);
        self.subsets.sort_by_key(|entry| entry.0);
        self.jobs.extend(other.jobs);
        self.selections += other.selections;
        self.trainings += other.trainings;
        self.cut |= other.cut;
        self.milliseconds += other.milliseconds;
    }
}

/// A candidate with its scores by split.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) key: Key,
    /// The size of the line: how many features it may have.
    pub(crate) max_features: usize,
    /// Methods of the same kind have neighbours in common: those with a linear SVM and a cost.
    pub(crate) kind: usize,
    /// Steps of the grid between it and the prior.
    pub(crate) steps: f64,
    /// The scores of each split.
    pub(crate) scores: Vec<Scores>,
    /// How alike its subsets are.
    pub(crate) stability: Option<f64>,
}

/// All candidates that every split has scored, in the order of size, costs, method.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    pub(crate) lines: Vec<Line>,
}

impl Table {
    /// Table of the rows of some splits, for p features.
    pub(crate) fn new(rows: &[&Row], p: usize, grid: &Grid, prior: &Prior<'_>) -> Self {
        let Some((first, others)) = rows.split_first() else { return Self::default() };
        let kind = |method: usize| if grid.methods[method].has_cost() { 0 } else { 1 + method };
        let line = |&(key, scores): &(Key, Scores)| Line {
            key,
            max_features: grid.sizes[key.size],
            kind: kind(key.method),
            steps: prior.steps(key),
            scores: vec![scores],
            stability: None,
        };
        let mut lines: Vec<Line> = first.scores.iter().map(line).collect();
        lines.sort_by_key(|line| line.key);
        for row in others {
            let mut sorted = row.scores.clone();
            sorted.sort_by_key(|entry| entry.0);
            lines.retain_mut(|line| match sorted.binary_search_by_key(&line.key, |entry| entry.0) {
                Ok(at) => {
                    line.scores.push(sorted[at].1);
                    true
                }
                Err(_) => false,
            });
        }
        let mut known: Option<(Key, Option<f64>)> = None;
        for line in &mut lines {
            let key = Key { fit: 0, ..line.key };
            let index = match known {
                Some((of, index)) if of == key => index,
                _ => alike(rows, key, p),
            };
            known = Some((key, index));
            line.stability = index;
        }
        Self { lines }
    }

    /// The candidates that `keep` holds for.
    pub(crate) fn only(&self, keep: impl Fn(Key) -> bool) -> Self {
        Self { lines: self.lines.iter().filter(|line| keep(line.key)).cloned().collect() }
    }

    /// The candidate at a place.
    pub(crate) fn line(&self, key: Key) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == key)
    }
}

/// Stability of the subsets at a place.
fn alike(rows: &[&Row], key: Key, p: usize) -> Option<f64> {
    let subset = |row: &&Row| row.subsets.iter().find(|entry| entry.0 == key).map(|entry| entry.1.clone());
    let subsets: Vec<Vec<usize>> = rows.iter().filter_map(subset).collect();
    stability(&subsets, p).map(|found| found.index)
}

impl Line {
    /// Mean and standard error of a score over the splits where it has a meaning; none without a split of both.
    pub(crate) fn judged(&self, score: Score) -> Option<Judged> {
        let values = self.values(score);
        let summary = (!values.is_empty()).then(|| Summary::new(&values, 0.0))?;
        Some(Judged { mean: summary.mean, se: summary.se.unwrap_or(0.0) })
    }

    /// A score in each split where it has a meaning.
    pub(crate) fn values(&self, score: Score) -> Vec<f64> {
        self.scores.iter().filter_map(|scores| scores.value(score)).collect()
    }
}

/// Mean of a score and its standard error over the splits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Judged {
    pub(crate) mean: f64,
    pub(crate) se: f64,
}
