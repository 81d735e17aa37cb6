//! The problem of a round: the columns of the generated subsets, the subsets, and what a dual point
//! is worth on them.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::part::{SourceProblem, joint, n_samples, pieces, rows};
use super::samples;
use crate::design::Rows;
use crate::dual::BoxDual;
use crate::{Error, Memory, Reserved, RowMatrix, WeightBounds};

/// The columns of all generated subsets, gathered once.
#[derive(Debug)]
pub(super) struct Columns {
    /// Features, in the order in which they were generated.
    pub(super) features: Vec<usize>,
    pub(super) position: HashMap<usize, u32>,
    /// The rows of each piece of the samples: n x q, columns as in `features`.
    rows: Vec<RowMatrix>,
    /// The pieces of each problem, one or two.
    of_part: Vec<Vec<usize>>,
    memory: Memory,
    /// Bytes of `rows`.
    taken: Reserved,
}

impl Columns {
    /// None yet.
    pub(super) fn new(parts: &[SourceProblem<'_>], memory: &Memory) -> Self {
        let (features, position) = (Vec::new(), HashMap::new());
        let (sizes, of_part) = pieces(parts);
        let rows = sizes.into_iter().map(|n| RowMatrix::dense(n, 0, Vec::new())).collect();
        let taken = memory.take(0).expect("nothing is always left");
        Self { features, position, rows, of_part, memory: memory.clone(), taken }
    }

    /// The rows of each problem.
    pub(super) fn rows(&self) -> Vec<Rows<'_>> {
        let of = |pieces: &Vec<usize>| match pieces[..] {
            [first, second] => Rows::on_top(&self.rows[first], &self.rows[second]),
            _ => Rows::from(&self.rows[pieces[0]]),
        };
        self.of_part.iter().map(of).collect()
    }

    /// Adds the columns that are not there yet.
    ///
    /// # Errors
    /// [`Error::Memory`] where they do not fit, and that of the source.
    pub(super) fn gather(&mut self, parts: &[SourceProblem<'_>], features: &[usize]) -> Result<(), Error> {
        let mut missing: Vec<usize> = features.iter().copied().filter(|&j| !self.has(j)).collect();
        missing.sort_unstable();
        missing.dedup();
        if missing.is_empty() { Ok(()) } else { self.join(parts, &missing) }
    }

    /// Adds these columns, which ascend; where that does not fit at once, in two halves.
    fn join(&mut self, parts: &[SourceProblem<'_>], missing: &[usize]) -> Result<(), Error> {
        let more = rows(parts, missing)?;
        let held = more.iter().map(RowMatrix::held).sum();
        // What joins is there twice until it has joined.
        let joining = self.memory.take(held);
        let fits = joining.is_some();
        if fits && self.taken.grow(held) {
            self.rows.iter_mut().zip(more).for_each(|(rows, more)| rows.append(more));
            for &j in missing {
                self.position.insert(j, self.features.len() as u32);
                self.features.push(j);
            }
            return Ok(());
        }
        drop((joining, more));
        if fits && missing.len() > 1 {
            let (one, other) = missing.split_at(missing.len() / 2);
            self.join(parts, one)?;
            return self.join(parts, other);
        }
        let (n, columns) = (n_samples(parts), self.features.len() + missing.len());
        let what = format!("the {columns} columns of all generated subsets of {n} samples");
        Err(self.taken.refused(2 * held, what, "choose fewer features a subset"))
    }

    /// Whether the feature is one of them.
    pub(super) fn has(&self, feature: usize) -> bool {
        self.position.contains_key(&feature)
    }

    /// Positions of the features, ascending; none if a column is missing.
    pub(super) fn positions(&self, features: &[usize]) -> Option<Vec<u32>> {
        let mut at: Vec<u32> = features.iter().map(|j| self.position.get(j).copied()).collect::<Option<_>>()?;
        at.sort_unstable();
        Some(at)
    }
}

/// The generated subsets d_t, as positions among the columns.
#[derive(Debug, Default)]
pub(super) struct Subsets {
    list: Vec<Vec<u32>>,
    set: HashSet<Vec<u32>>,
}

impl Subsets {
    /// Adds a subset; returns whether it is new.
    pub(super) fn add(&mut self, subset: Vec<u32>) -> bool {
        let new = self.set.insert(subset.clone());
        if new {
            self.list.push(subset);
        }
        new
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.list.iter().map(Vec::as_slice)
    }

    /// z = sum_t mu_t d_t over q columns.
    pub(super) fn mixed(&self, mu: &[f64], q: usize) -> Vec<f64> {
        let mut z = vec![0.0; q];
        for (subset, &mu) in self.list.iter().zip(mu).filter(|(_, mu)| **mu > 0.0) {
            for &k in subset {
                z[k as usize] += mu;
            }
        }
        z
    }

    /// sum_{j in d_t} c_j^2 for each t, over q columns.
    pub(super) fn squares(&self, c: &[f64], q: usize) -> Vec<f64> {
        let c = joint(c, q);
        self.list.iter().map(|subset| subset.iter().map(|&k| c[k as usize].powi(2)).sum()).collect()
    }
}

/// A feasible dual point beta (beta_i = y_i alpha_i, any scale) without the columns: with `t beta`,
/// t the best factor, its value at a mixture z is `sum^2 / (2 (sum_j z_j c_j^2 + rest))`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level {
    /// sum_i alpha_i
    pub(super) sum: f64,
    /// sum_i ridge_i alpha_i^2, and what a penalised bias adds.
    rest: f64,
}

impl Level {
    pub(super) fn of(dual: &BoxDual, beta: &[f64]) -> Self {
        Self { sum: samples::sum(beta.len(), |i| beta[i].abs()), rest: shared(dual, beta, beta) }
    }

    /// Level of several problems at once.
    pub(super) fn of_all(parts: &[SourceProblem<'_>], beta: &[f64]) -> Self {
        Self::sum(parts.iter().map(|part| Self::of(&part.dual, part.own(beta))))
    }

    /// Level of problems whose values add, with one factor for all.
    pub(super) fn sum(levels: impl Iterator<Item = Self>) -> Self {
        let add = |a: Self, b: Self| Self { sum: a.sum + b.sum, rest: a.rest + b.rest };
        levels.reduce(add).unwrap_or(Self { sum: 0.0, rest: 0.0 })
    }

    /// Level of `from + t (to - from)`, for t in [0, 1] and two feasible points of these levels
    /// that share this much ([`shared_of_all`]): where none of them is 0, their signs are the same.
    pub(super) fn between(from: Self, to: Self, shared: f64, t: f64) -> Self {
        let left = 1.0 - t;
        Self {
            sum: left * from.sum + t * to.sum,
            rest: left * left * from.rest + 2.0 * left * t * shared + t * t * to.rest,
        }
    }

    /// The value where the mixture's columns have this sum of squared scores.
    pub(super) fn value(self, squares: f64) -> f64 {
        if self.sum > 0.0 { self.sum * self.sum / (2.0 * (squares + self.rest)) } else { 0.0 }
    }
}

/// `sum_i ridge_i a_i b_i`, and what a penalised bias adds: `rest` of a [`Level`] where a = b.
fn shared(dual: &BoxDual, a: &[f64], b: &[f64]) -> f64 {
    let ridge = samples::sum(a.len(), |i| dual.ridge[i] * a[i] * b[i]);
    let total = |beta: &[f64]| samples::sum(beta.len(), |i| beta[i]);
    match dual.bias_square() {
        0.0 => ridge,
        square => ridge + square * total(a) * total(b),
    }
}

/// [`shared`] of several problems.
pub(super) fn shared_of_all(parts: &[SourceProblem<'_>], a: &[f64], b: &[f64]) -> f64 {
    parts.iter().map(|part| shared(&part.dual, part.own(a), part.own(b))).sum()
}

/// Makes scores over the columns those that count: 0 where the sign of the weight forbids them.
pub(super) fn count(signs: &WeightBounds, scores: &mut [f64]) {
    for (k, interval) in signs.bounded() {
        scores[k] = interval.weight(scores[k]);
    }
}

/// A solution of the problem of a round.
#[derive(Debug, Clone)]
pub(super) struct Point {
    /// Weight of each subset.
    pub(super) mu: Vec<f64>,
    /// z = sum_t mu_t d_t over the columns.
    pub(super) z: Vec<f64>,
    /// w_j over the columns, by problem; z_j c_j at the optimum.
    pub(super) weights: Vec<f64>,
    /// Feasible dual point of the samples of all problems.
    pub(super) beta: Vec<f64>,
    /// c_j = sum_i beta_i x_ij over the columns, by problem, as they count.
    pub(super) scores: Vec<f64>,
    /// b of the decision function of each problem.
    pub(super) bias: Vec<f64>,
    /// Value of the primal at mu: an upper value.
    pub(super) upper: f64,
    /// Trainings of the SVM, or steps inside one.
    pub(super) iterations: u64,
}

/// The squared hinge loss at these scores, and in `beta` the dual point that belongs to them,
/// `2 cost y max(0, 1 - y score)`.
pub(super) fn squared_hinge(dual: &BoxDual, scores: &[f64], beta: &mut [f64]) -> f64 {
    let slack = |i: usize| (1.0 - dual.y[i] * scores[i]).max(0.0);
    let of_block = |(block, beta): (usize, &mut [f64])| {
        for (i, beta) in (block * samples::BLOCK..).zip(beta) {
            *beta = 2.0 * dual.cost[i] * dual.y[i] * slack(i);
        }
    };
    if beta.len() <= samples::BLOCK {
        of_block((0, beta));
    } else {
        beta.par_chunks_mut(samples::BLOCK).enumerate().for_each(of_block);
    }
    samples::sum(dual.len(), |i| dual.cost[i] * slack(i) * slack(i))
}
