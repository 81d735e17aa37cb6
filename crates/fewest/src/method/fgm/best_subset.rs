//! Step 5 with a size in the rules: the best subset that is found of the mixture's features.
//!
//! 1. The allowed subset of the largest `sum_j z_j c_j^2` in the mixture, with its SVM: the paper's
//!    FGM-B, which ends here. Else that of the largest `sum_j w_j^2`, too, and the better one.
//! 2. With a size alone: SVM-RFE, begun with the features of largest weight in the mixture.
//! 3. Exchanges, until none of them improves the subset: the features that gain most beside it
//!    join, and SVM-RFE leads back to the size; then one feature leaves, and the one that gains
//!    most joins.

use rayon::prelude::*;

use super::mixture::Point;
use super::mixture_oracle::{MarginOne, MixtureOracle, primal};
use super::part::{SourceProblem, joint};
use super::report::lengths;
use super::separation::Separation;
use super::tuning::subset::{EXCHANGES, LEAVING, LOOSE, SHARE};
use super::{Improve, Improved};
use crate::bound::saddle::train_within;
use crate::design::Rows;
use crate::dual::DualSolution;
use crate::dual::train::train_rows;
use crate::{AllOrFirst as _, Clock, Error, Memory, RowMatrix, ScoreQuery, SvmSettings};

impl MixtureOracle<'_> {
    /// The best subset found that the rules of `separation` allow, with the SVMs trained on it; what
    /// improved it, where a size is the only rule.
    pub(super) fn best_subset(
        &mut self,
        separation: &Separation<'_>,
        point: &Point,
        clock: &Clock,
    ) -> Result<(MarginOne, Option<Improved>), Error> {
        let q = point.z.len();
        let by_score: Vec<f64> = joint(&point.scores, q).iter().zip(&point.z).map(|(c, z)| c * z.sqrt()).collect();
        let at_hand = separation.at_hand(&self.columns.features[..q]);
        let first = at_hand.most_violated(&by_score).features;
        let second = if self.settings.asked() == Improve::None {
            first.clone()
        } else {
            at_hand.most_violated(&joint(&point.weights, q)).features
        };
        drop(at_hand);
        // Rules may have filled a subset up with columns that no round asked for.
        self.columns.gather(self.parts, &first)?;
        self.columns.gather(self.parts, &second)?;
        let train = |features: &[usize]| self.train(features, &point.beta, point, self.svm, clock);
        let other = || if first == second { Ok(None) } else { train(&second).map(Some) };
        let large = self.columns.rows().into_iter().any(Rows::in_blocks);
        let (one, other) = if large { rayon::join(|| train(&first), other) } else { (train(&first), other()) };
        let best = better(one?, other?);
        match separation {
            Separation::Largest(query) => {
                let size = query.most + query.always.len();
                let how = self.settings.improvement(self.parts, size);
                let best = Exchange { oracle: self, query, point, size, clock }.improve(best, how.by)?;
                Ok((best, Some(how)))
            }
            Separation::Search(_) => Ok((best, None)),
        }
    }

    /// The SVMs on a subset of the current columns, from the dual point `beta`. Where a limit stops
    /// them, their weights in the mixture if these are better.
    fn train(
        &self,
        features: &[usize],
        beta: &[f64],
        mixture: &Point,
        svm: &SvmSettings,
        clock: &Clock,
    ) -> Result<MarginOne, Error> {
        let at: Vec<usize> = features.iter().map(|j| self.columns.position[j] as usize).collect();
        let machine = |((t, part), rows): ((usize, &SourceProblem<'_>), Rows<'_>)| {
            if self.signs.is_free() {
                let rows = rows.columns(&at);
                let trained = train_rows(&rows, &part.dual, part.own(beta), svm, clock);
                return Ok(if clock.stop().is_some() {
                    better_of_mixture(trained, &rows, part, (t, &at), mixture)
                } else {
                    trained
                });
            }
            let (signs, memory) = (self.signs.of_all(&self.columns.features), Memory::new(self.svm.memory));
            train_within(&*rows.design(), &at, &signs, part.of_samples, svm, &memory, clock)
        };
        let each = self.parts.par_iter().enumerate().zip(self.columns.rows());
        let machines = each.map(machine).all_or_first::<Vec<DualSolution>>()?;
        let value = machines.iter().map(|machine| machine.primal).sum();
        Ok(MarginOne { shares: features.iter().map(|&feature| (feature, 1.0)).collect(), machines, value })
    }
}

/// Better subsets of this size, of the mixture's columns.
struct Exchange<'e, 'a> {
    oracle: &'e MixtureOracle<'a>,
    query: &'e ScoreQuery,
    point: &'e Point,
    size: usize,
    clock: &'e Clock,
}

impl Exchange<'_, '_> {
    /// The best subset that exchanges lead to from this one and from the mixture.
    fn improve(&self, mut best: MarginOne, how: Improve) -> Result<MarginOne, Error> {
        let mixture = self.point.z.iter().zip(&self.oracle.columns.features).filter(|(z, _)| **z > 0.0);
        let mut pool: Vec<usize> = mixture.map(|(_, &j)| j).collect();
        if pool.len() <= self.size {
            return Ok(best);
        }
        if matches!(how, Improve::Rfe | Improve::Both) {
            let weights = joint(&self.point.weights, self.point.z.len());
            self.keep_largest(&mut pool, 2 * self.size, |j| weights[self.oracle.columns.position[&j] as usize]);
            best = better(best, self.eliminated(pool, &self.point.beta)?);
        }
        let exchanges = if matches!(how, Improve::Exchanges | Improve::Both) { EXCHANGES } else { 0 };
        for _ in 0..exchanges {
            let wide = self.eliminated(self.joined(&best, self.query.most), &beta_of(&best))?;
            let found = wide.filter(|found| found.value < best.value);
            let found = if found.is_some() { found } else { self.single(&best)? };
            let Some(found) = found else { break };
            best = found;
        }
        Ok(best)
    }

    /// A better subset where one of the features of smallest weight leaves for another one.
    fn single(&self, best: &MarginOne) -> Result<Option<MarginOne>, Error> {
        let features: Vec<usize> = best.shares.iter().map(|share| share.0).collect();
        let weights = lengths(&best.machines, features.len());
        let mut leaving: Vec<usize> = (0..features.len()).filter(|&at| self.query.has(features[at])).collect();
        leaving.sort_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()));
        for &at in leaving.iter().take(LEAVING) {
            let rest: Vec<usize> = features.iter().copied().filter(|j| *j != features[at]).collect();
            let Some(rest) = self.trained(&rest, &beta_of(best), LOOSE)? else { break };
            let joined = self.joined(&rest, 1);
            if joined != features {
                let found = self.trained(&joined, &beta_of(&rest), 0.0)?.filter(|found| found.value < best.value);
                if found.is_some() {
                    return Ok(found);
                }
            }
        }
        Ok(None)
    }

    /// A subset and the `count` columns that gain most beside it, ascending.
    fn joined(&self, subset: &MarginOne, count: usize) -> Vec<usize> {
        let MixtureOracle { columns, signs, .. } = self.oracle;
        let mut scores: Vec<f64> = Vec::new();
        for (rows, machine) in columns.rows().into_iter().zip(&subset.machines) {
            let counted = rows.combination(&machine.beta).into_iter().zip(&columns.features);
            scores.extend(counted.map(|(c, &j)| signs.of(j).weight(c)));
        }
        let scores = joint(&scores, columns.features.len());
        let mut pool: Vec<usize> = subset.shares.iter().map(|share| share.0).collect();
        let outside = |j: &usize| pool.binary_search(j).is_err() && self.query.has(*j);
        let mut others: Vec<usize> = columns.features.iter().copied().filter(outside).collect();
        self.keep_largest(&mut others, count, |j| scores[columns.position[&j] as usize]);
        pool.extend(others);
        pool.sort_unstable();
        pool
    }

    /// SVM-RFE on these features (ascending), from this dual point to the size; none where a limit
    /// ends it.
    fn eliminated(&self, mut stay: Vec<usize>, beta: &[f64]) -> Result<Option<MarginOne>, Error> {
        let mut beta = beta.to_vec();
        while stay.len() > self.size {
            let Some(trained) = self.trained(&stay, &beta, LOOSE)? else { return Ok(None) };
            let weights = lengths(&trained.machines, stay.len());
            let count = ((SHARE * stay.len() as f64) as usize).max(1);
            let (all, left) = (stay.clone(), (stay.len() - count).max(self.size));
            self.keep_largest(&mut stay, left, |j| weights[all.binary_search(&j).expect("one of all")]);
            beta = beta_of(&trained);
        }
        self.trained(&stay, &beta, 0.0)
    }

    /// The SVMs on these features, to this gap if it is larger than the one asked for; none where a
    /// limit ends it.
    fn trained(&self, features: &[usize], beta: &[f64], gap: f64) -> Result<Option<MarginOne>, Error> {
        let svm = SvmSettings { tolerance: self.oracle.svm.tolerance.max(gap), ..self.oracle.svm.clone() };
        let trained = self.oracle.train(features, beta, self.point, &svm, self.clock)?;
        Ok(Some(trained).filter(|_| self.clock.stop().is_none()))
    }

    /// Keeps the `most` features of largest size, and all that are always in; sorts them.
    fn keep_largest(&self, features: &mut Vec<usize>, most: usize, size: impl Fn(usize) -> f64) {
        let rank = |j: usize| if self.query.has(j) { size(j).abs() } else { f64::INFINITY };
        features.sort_unstable_by(|&a, &b| rank(b).total_cmp(&rank(a)).then(a.cmp(&b)));
        features.truncate(most);
        features.sort_unstable();
    }
}

/// The dual points of all machines, one after the other.
fn beta_of(found: &MarginOne) -> Vec<f64> {
    found.machines.iter().flat_map(|machine| &machine.beta).copied().collect()
}

/// The one of smaller value.
fn better(one: MarginOne, other: Option<MarginOne>) -> MarginOne {
    other.filter(|other| other.value < one.value).unwrap_or(one)
}

/// A machine whose training a limit has stopped, or the weights of problem t in the mixture on these
/// columns where they have a better value.
fn better_of_mixture(
    trained: DualSolution,
    rows: &RowMatrix,
    part: &SourceProblem<'_>,
    (t, at): (usize, &[usize]),
    mixture: &Point,
) -> DualSolution {
    let q = mixture.z.len();
    let weights: Vec<f64> = at.iter().map(|&k| if k < q { mixture.weights[t * q + k] } else { 0.0 }).collect();
    let mut scores = vec![0.0; part.dual.len()];
    rows.scores(&weights, 0.0, &mut scores);
    let bias = mixture.bias[t];
    let primal = primal(&part.dual, &scores, bias, weights.iter().map(|w| w * w).sum());
    if primal < trained.primal { DualSolution { bias, primal, weights, ..trained } } else { trained }
}
