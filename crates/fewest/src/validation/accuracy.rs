//! Cross-validated accuracy of one-against-one machines, for several costs, from one kernel matrix.
//!
//! Given    the kernel matrix of all samples (any subset of features, any kernel), folds, costs in
//!          ascending order.
//! Returns  for each cost and fold the share of the fold's samples, by their weights in it, that
//!          machines trained on the other folds classify right.
//! Steps    1. the matrix of a pair of classes is a block of the whole; the samples of the fold
//!          keep a box of size 0
//!          2. costs ascend; a machine none of whose variables is at its bound stays the same for
//!             every larger cost
//!          3. each sample of the fold goes to the class with the most votes, ties to the smaller
//!             class
//! Cost     folds x costs x pairs trainings of the pair's size, each from the last solution of a
//!          similar matrix.
//! Differs  a class without samples outside the fold has no machines there: its samples count as
//!          errors.
//!
//! Work is shared out by folds; the result does not depend on the number of threads.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::{Folds, SamplesByClass};
use crate::dual::{BoxDual, COSTS, smo};
use crate::kernel::gram::GramMatrix;
use crate::model::for_second;
use crate::simd;
use crate::{Clock, Error, Loss, SvmSettings};

/// Means of accuracies that differ by less are equal: sums of the same terms in another order.
#[doc(hidden)]
pub const ROUNDING: f64 = 1e-12;

/// Trainings that are only judged by their predictions stop at this many times the relative gap
/// asked for: predictions settle before weights do.
const LOOSER: f64 = 100.0;
/// But not at a larger one than this, unless it is asked for.
const LOOSEST: f64 = 1e-4;

/// Cross-validation: folds and costs, and the duals of every pair, fold and cost.
pub struct CrossValidation<'a> {
    grouped: &'a SamplesByClass<'a>,
    costs: Vec<f64>,
    svm: SvmSettings,
    /// Positions of the samples of each fold that have a weight.
    held_out: Vec<Vec<usize>>,
    /// How many samples each position counts as.
    judged: Vec<f64>,
    /// The dual box of each fold, cost and pair.
    duals: Vec<BoxDual>,
    /// Class at each position.
    classes: Vec<u32>,
}

/// Accuracies of one kernel matrix, and what the next, similar one starts from.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct CvScore {
    /// For each cost and fold, in this order: the share classified right.
    pub accuracy: Vec<f64>,
    /// Number of folds.
    pub folds: usize,
    /// Trained variables by fold, cost and pair; empty where a smaller cost has the same.
    beta: Vec<Vec<f64>>,
    /// Pair updates used.
    pub iterations: u64,
    /// Trainings done; those that a smaller cost settles are not counted.
    pub trainings: u64,
}

impl CvScore {
    /// Mean over the folds of cost number `cost`.
    pub fn mean(&self, cost: usize) -> f64 {
        self.of(cost).iter().sum::<f64>() / self.folds as f64
    }

    /// Accuracy of each fold for cost number `cost`.
    pub fn of(&self, cost: usize) -> &[f64] {
        &self.accuracy[cost * self.folds..(cost + 1) * self.folds]
    }

    /// The cost of largest mean accuracy, ties (to rounding) to the smaller cost, and that
    /// accuracy.
    pub fn best(&self) -> (usize, f64) {
        let means = (0..self.accuracy.len() / self.folds).map(|cost| (cost, self.mean(cost)));
        means.fold((0, f64::NEG_INFINITY), |best, one| if one.1 > best.1 + ROUNDING { one } else { best })
    }
}

impl<'a> CrossValidation<'a> {
    /// `svm` gives all but the cost, `folds` the weights of the trainings where they differ from
    /// fold to fold.
    ///
    /// # Errors
    /// Costs that are not positive or do not ascend; folds of another number of samples; a fold
    /// without weight, or outside of which a class has none.
    pub fn new(
        grouped: &'a SamplesByClass<'a>,
        folds: &Folds,
        costs: &[f64],
        svm: &SvmSettings,
    ) -> Result<Self, Error> {
        check_costs(costs)?;
        let n = grouped.data().n_samples();
        if folds.n_samples() != n {
            return Err(Error::Data(format!("folds for {} samples, but there are {n}", folds.n_samples())));
        }
        let (order, weights) = (grouped.order(), grouped.weights());
        let times: Vec<(Vec<f64>, Vec<usize>)> = (0..folds.count()).map(|f| folds.times(f)).collect();
        let judged: Vec<f64> = order.iter().map(|&i| folds.weights()[i]).collect();
        let counts = |at: &usize| weights[*at] > 0.0 && judged[*at] > 0.0;
        let out_of = |held_out: &[usize]| {
            (0..n).filter(counts).flat_map(|at| std::iter::repeat_n(at, held_out[order[at]])).collect::<Vec<usize>>()
        };
        let held_out: Vec<Vec<usize>> = times.iter().map(|(_, held_out)| out_of(held_out)).collect();
        if let Some(empty) = held_out.iter().position(Vec::is_empty) {
            return Err(Error::Data(format!("fold {empty} has no sample of positive weight")));
        }
        let mut duals = Vec::new();
        for (f, (times, _)) in times.iter().enumerate() {
            let training = folds.training_weights(f);
            let weight = |at: usize| times[order[at]] * training.map_or(weights[at], |training| training[order[at]]);
            let mut by_sample = vec![0.0; n];
            (0..n).for_each(|at| by_sample[order[at]] = weight(at));
            Folds::check_training(f, grouped.data().classes(), &by_sample)?;
            for &cost in costs {
                for pair in 0..grouped.pairs().len() {
                    let settings = SvmSettings { cost, ..svm.clone() };
                    duals.push(grouped.dual(pair, &settings, weight));
                }
            }
        }
        Ok(Self {
            grouped,
            costs: costs.to_vec(),
            svm: SvmSettings { tolerance: (LOOSER * svm.tolerance).min(LOOSEST).max(svm.tolerance), ..svm.clone() },
            held_out,
            judged,
            duals,
            classes: grouped.order().iter().map(|&i| grouped.data().classes()[i]).collect(),
        })
    }

    /// The costs, ascending.
    pub fn costs(&self) -> &[f64] {
        &self.costs
    }

    /// Trainings for one subset of features, at most.
    pub fn trainings(&self) -> u64 {
        self.duals.len() as u64
    }

    /// Judges a kernel matrix (positions of the grouped samples). `start` is the answer for a
    /// similar one. Nothing when the clock stopped it.
    pub fn score(&self, gram: &GramMatrix, start: Option<&CvScore>, clock: &Clock) -> Option<CvScore> {
        let blocks = self.grouped.blocks(gram);
        let folds: Option<Vec<OneFold>> =
            (0..self.held_out.len()).into_par_iter().map(|fold| self.fold(fold, gram, &blocks, start, clock)).collect();
        let folds = folds?;
        let accuracy =
            (0..self.costs.len()).flat_map(|cost| folds.iter().map(move |fold| fold.accuracy[cost])).collect();
        Some(CvScore {
            accuracy,
            folds: self.held_out.len(),
            iterations: folds.iter().map(|fold| fold.iterations).sum(),
            trainings: folds.iter().map(|fold| fold.trainings).sum(),
            beta: folds.into_iter().flat_map(|fold| fold.beta).collect(),
        })
    }

    /// Place of a machine in `duals` and [`CvScore`].
    fn place(&self, fold: usize, cost: usize, pair: usize) -> usize {
        (fold * self.costs.len() + cost) * self.grouped.pairs().len() + pair
    }

    fn fold(
        &self,
        fold: usize,
        gram: &GramMatrix,
        blocks: &[Cow<'_, GramMatrix>],
        start: Option<&CvScore>,
        clock: &Clock,
    ) -> Option<OneFold> {
        let (pairs, held_out) = (self.grouped.pairs(), &self.held_out[fold]);
        let lines = FoldLines::new(gram, held_out, self.grouped.ranges());
        let mut found = OneFold::default();
        let mut room = smo::Room::default();
        // For each pair and sample of the fold, whether it votes for the pair's second class; kept
        // while the machine stays.
        let mut second = vec![vec![false; held_out.len()]; pairs.len()];
        let mut settled = vec![false; pairs.len()];
        let n_classes = self.grouped.ranges().len() as u32;
        let mut votes = vec![0u32; n_classes as usize];
        let mut scores = vec![0.0; held_out.len()];
        for cost in 0..self.costs.len() {
            for (pair, &(a, b)) in pairs.iter().enumerate() {
                let (here, at) = (cost * pairs.len() + pair, self.place(fold, cost, pair));
                if settled[pair] {
                    found.beta.push(Vec::new());
                    continue;
                }
                let dual = &self.duals[at];
                let mut beta = match start {
                    Some(start) => last_trained(&start.beta, at, pairs.len()).to_vec(),
                    None if cost > 0 => last_trained(&found.beta, here - pairs.len(), pairs.len()).to_vec(),
                    None => vec![0.0; dual.len()],
                };
                let solution = smo::settle(&blocks[pair], dual, &mut beta, &mut room, &self.svm, clock);
                found.iterations += solution.iterations;
                found.trainings += 1;
                // Step 2.
                let inside = |(beta, cost): (&f64, &f64)| beta.abs() < *cost || *cost == 0.0;
                settled[pair] = self.svm.loss == Loss::Hinge && beta.iter().zip(&dual.cost).all(inside);
                scores.fill(solution.bias);
                let (first, last) = beta.split_at(self.grouped.ranges()[a].len());
                lines.add_scores(a, first, &mut scores);
                lines.add_scores(b, last, &mut scores);
                for (vote, &score) in second[pair].iter_mut().zip(&scores) {
                    *vote = for_second(n_classes, score);
                }
                found.beta.push(beta);
            }
            if clock.stop().is_some() {
                return None;
            }
            // Step 3.
            let (mut right, mut all) = (0.0, 0.0);
            for (s, &t) in held_out.iter().enumerate() {
                votes.fill(0);
                for (second, &(a, b)) in second.iter().zip(pairs) {
                    votes[if second[s] { b } else { a }] += 1;
                }
                let most = votes.iter().max().copied().unwrap_or(0);
                let elected = votes.iter().position(|&v| v == most).unwrap_or(0);
                all += self.judged[t];
                if elected as u32 == self.classes[t] {
                    right += self.judged[t];
                }
            }
            found.accuracy.push(right / all);
        }
        Some(found)
    }
}

/// The beta at this place, or the one of the largest smaller cost that was trained.
fn last_trained(beta: &[Vec<f64>], mut at: usize, pairs: usize) -> &[f64] {
    while beta[at].is_empty() {
        at -= pairs;
    }
    &beta[at]
}

/// Kernel values of the samples of a fold with the samples of each class, in lines padded with
/// zeros.
struct FoldLines {
    /// The decision values of each class.
    lines: Vec<Vec<f64>>,
    held_out: usize,
}

impl FoldLines {
    fn new(gram: &GramMatrix, held_out: &[usize], ranges: &[Range<usize>]) -> Self {
        let of_class = |range: &Range<usize>| {
            let width = range.len().next_multiple_of(simd::PADDING);
            let mut lines = vec![0.0; held_out.len() * width];
            for (line, &t) in lines.chunks_mut(width.max(1)).zip(held_out) {
                line[..range.len()].copy_from_slice(&gram.row(t)[range.clone()]);
            }
            lines
        };
        Self { lines: ranges.iter().map(of_class).collect(), held_out: held_out.len() }
    }

    /// Adds `sum_i beta_i K_it` over the samples of a class to the score of each sample t of the
    /// fold.
    fn add_scores(&self, class: usize, beta: &[f64], scores: &mut [f64]) {
        let lines = &self.lines[class];
        let mut padded = vec![0.0; lines.len() / self.held_out];
        padded[..beta.len()].copy_from_slice(beta);
        simd::add_dots(lines, &padded, scores);
    }
}

/// Answers for one fold.
#[derive(Default)]
struct OneFold {
    /// The accuracy at each cost.
    accuracy: Vec<f64>,
    /// The beta of each cost and pair.
    beta: Vec<Vec<f64>>,
    iterations: u64,
    trainings: u64,
}

/// Costs: positive, finite, ascending, at least one.
#[doc(hidden)]
pub fn check_costs(costs: &[f64]) -> Result<(), Error> {
    if costs.is_empty() {
        return Err(Error::setting("costs", "an empty list", "at least one number above 0"));
    }
    if let Some(&cost) = costs.iter().find(|cost| !COSTS.contains(cost)) {
        return Err(Error::setting("costs", cost, "numbers above 0, from 1e-40 to 1e40"));
    }
    match costs.windows(2).find(|w| w[0] >= w[1]) {
        Some(w) => Err(Error::setting("costs", format!("{} before {}", w[0], w[1]), "in ascending order, each once")),
        None => Ok(()),
    }
}
