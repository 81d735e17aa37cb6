//! The problems whose values add: each with columns and a dual of its own, on the same features.
//!
//! Several problems are one whose matrix is block-diagonal, with one margin rho for all: a feature
//! owns a column in each block, and its weight is the vector of those of the problems. Scores and
//! weights over q columns are one after the other by problem, length T q; what counts of a feature
//! is their length.

use std::ops::Range;

use rayon::prelude::*;

use crate::dual::{BoxDual, kkt};
use crate::problem::Labelled;
use crate::several::Shared;
use crate::{Error, RowMatrix, Source, SvmSettings};

/// Where the columns of a problem are.
#[derive(Clone, Copy)]
enum Data<'a> {
    /// In a matrix of its own.
    Own(&'a dyn Source),
    /// In the one that all problems share.
    Shared(&'a Shared<'a>),
}

/// One of the problems.
pub(super) struct SourceProblem<'a> {
    data: Data<'a>,
    pub(super) dual: BoxDual,
    /// Labels and weights of its samples.
    pub(super) of_samples: Labelled<'a>,
    /// Where its samples stand among those of all problems.
    pub(super) samples: Range<usize>,
}

impl<'a> SourceProblem<'a> {
    /// The problems of sources with labels and weights.
    pub(super) fn all(problems: Vec<(&'a dyn Source, &'a [f64], &'a [f64])>, svm: &SvmSettings) -> Vec<Self> {
        Self::each(problems.into_iter().map(|(source, labels, weights)| (Data::Own(source), labels, weights)), svm)
    }

    /// The problems of samples that share a matrix.
    pub(super) fn shared(shared: &'a Shared<'a>, svm: &SvmSettings) -> Vec<Self> {
        let labels = shared.labels().iter();
        Self::each(labels.map(|(labels, weights)| (Data::Shared(shared), &labels[..], &weights[..])), svm)
    }

    fn each(problems: impl Iterator<Item = (Data<'a>, &'a [f64], &'a [f64])>, svm: &SvmSettings) -> Vec<Self> {
        let (mut first, mut parts) = (0, Vec::new());
        for (data, labels, weights) in problems {
            let samples = first..first + labels.len();
            first = samples.end;
            let dual = BoxDual::new(labels, weights, svm);
            parts.push(SourceProblem { data, dual, of_samples: Labelled { labels, weights }, samples });
        }
        parts
    }

    /// Samples of the smaller class that count.
    pub(super) fn smaller_class(&self) -> usize {
        let Labelled { labels, weights } = self.of_samples;
        let of = |class: f64| labels.iter().zip(weights).filter(|(y, weight)| **y == class && **weight > 0.0).count();
        of(-1.0).min(of(1.0))
    }

    /// The values of the problem's own samples.
    pub(super) fn own<'v>(&self, of_all: &'v [f64]) -> &'v [f64] {
        &of_all[self.samples.clone()]
    }
}

/// The matrix of the first problem, where it has one of its own.
pub(super) fn source<'a>(parts: &[SourceProblem<'a>]) -> Option<&'a dyn Source> {
    match parts {
        [SourceProblem { data: Data::Own(source), .. }] => Some(*source),
        _ => None,
    }
}

/// The matrices of rows that problems are made of: samples of each, and which ones each problem has.
pub(super) fn pieces(parts: &[SourceProblem<'_>]) -> (Vec<usize>, Vec<Vec<usize>>) {
    match parts {
        [SourceProblem { data: Data::Shared(shared), .. }, ..] => (shared.sizes(), shared.of_part().to_vec()),
        _ => (parts.iter().map(|part| part.dual.len()).collect(), (0..parts.len()).map(|t| vec![t]).collect()),
    }
}

/// The rows of these columns: of each piece.
pub(super) fn rows(parts: &[SourceProblem<'_>], features: &[usize]) -> Result<Vec<RowMatrix>, Error> {
    let mut rows = Vec::new();
    for part in parts {
        match part.data {
            Data::Own(source) => rows.push(source.rows(features)?),
            Data::Shared(shared) => return Ok(shared.rows(features)),
        }
    }
    Ok(rows)
}

/// Sums over problems of each feature's squared scores as they count, at beta of the samples of all
/// problems.
pub(super) fn squares(
    parts: &[SourceProblem<'_>],
    beta: &[f64],
    counted: &(dyn Fn(usize, f64) -> f64 + Sync),
) -> Result<Vec<f64>, Error> {
    let mut squares = Vec::new();
    for part in parts {
        match part.data {
            Data::Shared(shared) => {
                let betas: Vec<&[f64]> = parts.iter().map(|part| part.own(beta)).collect();
                return Ok(shared.squares(&betas, counted));
            }
            Data::Own(source) => {
                let scores = source.scores(part.own(beta))?;
                squares.resize(scores.len(), 0.0);
                for (j, (sum, c)) in squares.iter_mut().zip(scores).enumerate() {
                    *sum += counted(j, c).powi(2);
                }
            }
        }
    }
    Ok(squares)
}

/// Values of all samples, problem by problem.
pub(super) fn apart<'v>(parts: &[SourceProblem<'_>], mut of_all: &'v mut [f64]) -> Vec<&'v mut [f64]> {
    let mut all = Vec::with_capacity(parts.len());
    for part in parts {
        let own;
        (own, of_all) = of_all.split_at_mut(part.samples.len());
        all.push(own);
    }
    all
}

/// Samples of all problems.
pub(super) fn n_samples(parts: &[SourceProblem<'_>]) -> usize {
    parts.last().map_or(0, |part| part.samples.end)
}

/// Makes beta of all samples feasible, problem by problem.
pub(super) fn make_feasible(parts: &[SourceProblem<'_>], beta: &mut [f64]) {
    let each = parts.par_iter().zip(apart(parts, beta));
    each.for_each(|(part, own)| kkt::make_feasible(&part.dual, own));
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
