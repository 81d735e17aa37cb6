//! Swaps: what each feature of a subset is worth to a linear SVM, and which others could take its
//! place.
//!
//! Solves   for each feature j of a subset S: `v(S - j)`, and `min v(S - j + l)` over features l
//!          that the rules allow in its place; v is the primal objective, prices included.
//! Given    Problem (n samples, p features) or several, whose objectives add, Rules, the subset,
//!          loss, cost, bias, prices.
//! Returns  a [`Swap`] for each feature.
//! Steps    1. train without j  2. rank the others by what they could gain at most, `g_l(c_l)` at
//!          that dual  3. train with each in turn, until the bound of the next, the dual objective
//!          less its gain, says that it is none of the best.
//! Cost     at most 25 trainings for each feature; features are shared out among the threads.
//! Fails    never on limits: features that time was too short for have no swap.

use rayon::prelude::*;
use serde::Serialize;

use crate::bound::saddle::train_within;
use crate::{AllOrFirst as _, Clock, DualSolution, Error, Memory, Problem, Rules, Subset, SvmSettings};

/// Features tried in the place of each, at most.
const TRIED: usize = 24;
/// Features listed for each.
const LISTED: usize = 3;

/// Features that could replace one feature.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swap {
    /// The feature that leaves.
    pub feature: usize,
    /// The features that could take its place, best first, and the objective with each; at most
    /// three, empty where the rules allow none.
    pub by: Vec<(usize, f64)>,
    /// The objective without any in its place.
    pub without: f64,
}

/// Trainings on subsets of one set of problems.
#[derive(Clone, Copy)]
pub(crate) struct Trainer<'a> {
    pub(crate) problems: &'a [Problem<'a>],
    pub(crate) rules: &'a Rules,
    pub(crate) svm: &'a SvmSettings,
    /// Price of each feature, or none.
    pub(crate) penalty: &'a [f64],
    pub(crate) memory: &'a Memory,
}

impl Trainer<'_> {
    /// The machine of each problem on some features.
    fn train(&self, features: &[usize], clock: &Clock) -> Result<Vec<DualSolution>, Error> {
        let train = |problem: &Problem<'_>| {
            let of_samples = problem.labelled();
            let bounds = self.rules.weight_bounds();
            train_within(problem.design(), features, bounds, of_samples, self.svm, self.memory, clock)
        };
        self.problems.iter().map(train).collect()
    }

    /// The objective on some features, prices included.
    pub(crate) fn objective(&self, features: &[usize], clock: &Clock) -> Result<f64, Error> {
        let machines = self.train(features, clock)?;
        Ok(machines.iter().map(|machine| machine.primal).sum::<f64>() + self.price(features))
    }

    fn price(&self, features: &[usize]) -> f64 {
        features.iter().filter_map(|&j| self.penalty.get(j)).sum()
    }
}

/// Finds what could replace each feature of a subset, for problems whose objectives add. `penalty`
/// has a price for each feature, or none at all. Features are left out once time is over.
///
/// # Errors
/// Settings out of range, or more memory needed than is left.
pub fn swaps(
    problems: &[Problem<'_>],
    rules: &Rules,
    features: &[usize],
    svm: &SvmSettings,
    penalty: &[f64],
    memory: &Memory,
    clock: &Clock,
) -> Result<Vec<Swap>, Error> {
    let trainer = Trainer { problems, rules, svm, penalty, memory };
    let found: Vec<Option<Swap>> =
        features.par_iter().map(|&feature| swap(&trainer, features, feature, clock)).all_or_first()?;
    Ok(found.into_iter().flatten().collect())
}

/// What could replace one feature; none where time was too short.
fn swap(trainer: &Trainer<'_>, features: &[usize], feature: usize, clock: &Clock) -> Result<Option<Swap>, Error> {
    if clock.stop().is_some() {
        return Ok(None);
    }
    let left: Vec<usize> = features.iter().copied().filter(|&j| j != feature).collect();
    // Step 1.
    let machines = trainer.train(&left, clock)?;
    let price = trainer.price(&left);
    let sum = |of: fn(&DualSolution) -> f64| machines.iter().map(of).sum::<f64>() + price;
    let (without, lower) = (sum(|machine| machine.primal), sum(|machine| machine.dual));
    // Steps 2 and 3.
    let mut by: Vec<(usize, f64)> = Vec::new();
    let mut tried = 0;
    for (gain, j) in entering(trainer, features, &machines) {
        let proven = by.get(LISTED - 1).is_some_and(|last| lower - gain >= last.1);
        if tried == TRIED || proven || clock.stop().is_some() {
            break;
        }
        let mut list = left.clone();
        list.insert(list.partition_point(|&other| other < j), j);
        if !trainer.rules.allows(&Subset::from_indices(trainer.rules.p(), list.iter().copied())) {
            continue;
        }
        tried += 1;
        by.push((j, trainer.objective(&list, clock)?));
        by.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        by.truncate(LISTED);
    }
    Ok(clock.stop().is_none().then_some(Swap { feature, by, without }))
}

/// The features outside, with what each could gain at most less its price, the largest first.
fn entering(trainer: &Trainer<'_>, features: &[usize], machines: &[DualSolution]) -> Vec<(f64, usize)> {
    let (bounds, p) = (trainer.rules.weight_bounds(), trainer.rules.p());
    let gain = |j: usize| {
        let scores = trainer.problems.iter().zip(machines);
        let gains = scores.map(|(problem, machine)| bounds.of(j).gain(problem.design().dot_column(j, &machine.beta)));
        gains.sum::<f64>()
    };
    let outside = (0..p).filter(|j| !features.contains(j)).map(|j| (gain(j), j)).filter(|g| g.0 > 0.0);
    let mut entering: Vec<(f64, usize)> = outside.map(|(gain, j)| (gain - trainer.price(&[j]), j)).collect();
    entering.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    entering
}
