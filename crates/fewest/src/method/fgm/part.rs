//! The problems whose values add: each with columns and a dual of its own, on the same features.
//!
//! Several problems are one whose matrix is block-diagonal, with one margin rho for all: a feature
//! owns a column in each block, and its weight is the vector of those of the problems. Scores and
//! weights over q columns are one after the other by problem, length T q; what counts of a feature
//! is their length.

use std::ops::Range;

use crate::dual::{BoxDual, kkt};
use crate::problem::Labelled;
use crate::{Source, SvmSettings};

/// One of the problems.
pub(super) struct Part<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) dual: BoxDual,
    /// Labels and weights of its samples.
    pub(super) of_samples: Labelled<'a>,
    /// Where its samples stand among those of all problems.
    pub(super) samples: Range<usize>,
}

impl<'a> Part<'a> {
    /// The problems of sources with labels and weights.
    pub(super) fn all(problems: Vec<(&'a dyn Source, &'a [f64], &'a [f64])>, svm: &SvmSettings) -> Vec<Self> {
        let mut first = 0;
        let mut parts = Vec::with_capacity(problems.len());
        for (source, labels, weights) in problems {
            let samples = first..first + labels.len();
            first = samples.end;
            let dual = BoxDual::new(labels, weights, svm);
            parts.push(Part { source, dual, of_samples: Labelled { labels, weights }, samples });
        }
        parts
    }

    /// Those of its samples.
    pub(super) fn own<'v>(&self, of_all: &'v [f64]) -> &'v [f64] {
        &of_all[self.samples.clone()]
    }
}

/// Samples of all problems.
pub(super) fn n_samples(parts: &[Part<'_>]) -> usize {
    parts.last().map_or(0, |part| part.samples.end)
}

/// Makes beta of all samples feasible, problem by problem.
pub(super) fn make_feasible(parts: &[Part<'_>], beta: &mut [f64]) {
    for part in parts {
        kkt::make_feasible(&part.dual, &mut beta[part.samples.clone()]);
    }
}

/// What counts of each of q features: its score, or weight, or the length of those of T problems.
pub(super) fn joint(values: &[f64], q: usize) -> Vec<f64> {
    if values.len() == q {
        return values.to_vec();
    }
    let mut squares = vec![0.0; q];
    for own in values.chunks(q.max(1)) {
        squares.iter_mut().zip(own).for_each(|(sum, c)| *sum += c * c);
    }
    squares.into_iter().map(f64::sqrt).collect()
}
