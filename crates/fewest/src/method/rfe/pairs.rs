//! The linear machines of all pairs of classes on shrinking subsets; two classes are one pair.

use rayon::prelude::*;

use crate::dual::DualSolution;
use crate::dual::train::affords_gram;
use crate::problem::class_pairs;
use crate::run::state::stranger;
use crate::subset_oracle::{SubsetOracle, by_criterion};
use crate::{Clock, Design, Error, Memory, Problem, Reserved, Rules, Samples, Subset, SvmSettings};

use super::held_out::PairMachine;
use super::{RfeSettings, permitted};

/// Whether each pair of classes is trained on its own samples: where there is but one, and where
/// there are too many samples for one n x n matrix to serve all pairs.
pub(super) fn trains_pairs(data: &Samples<'_>, rules: &Rules, settings: &RfeSettings) -> bool {
    let alone = data.n_classes() == 2 || !affords_gram(data.n_samples(), permitted(rules).len(), &settings.svm);
    settings.kernel.is_linear() && settings.tuning.is_none() && alone
}

/// The samples of each pair of classes, (0,1), (0,2), ..., (1,2), ...; the second is the positive
/// one.
pub(super) struct PairSamples<'a> {
    data: &'a Samples<'a>,
    /// The rows of a pair are copied where they are not all.
    pairs: Vec<(Pair, Option<Box<dyn Design>>)>,
    /// The memory of the copies and of the trainings.
    taken: Vec<Reserved>,
}

/// The samples of a pair of classes, ascending, with their labels, -1 and 1, and weights.
pub(super) struct Pair {
    pub(super) samples: Vec<usize>,
    pub(super) labels: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Pair {
    /// All pairs of the classes 0, 1, ... of samples of these weights.
    pub(super) fn all<'b>(
        classes: &'b [u32],
        n_classes: u32,
        weights: &'b [f64],
    ) -> impl Iterator<Item = Self> + use<'b> {
        class_pairs(n_classes).into_iter().map(|(a, b)| {
            let samples: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == a || classes[i] == b).collect();
            Self {
                labels: samples.iter().map(|&i| if classes[i] == b { 1.0 } else { -1.0 }).collect(),
                weights: samples.iter().map(|&i| weights[i]).collect(),
                samples,
            }
        })
    }

    /// Numbers of its samples among those of all n, 0 of the others.
    pub(super) fn spread(&self, own: &[f64], n: usize) -> Vec<f64> {
        let mut all = vec![0.0; n];
        self.samples.iter().zip(own).for_each(|(&i, &x)| all[i] = x);
        all
    }
}

impl<'a> PairSamples<'a> {
    /// Copies the samples of each pair, and takes the memory for that and for trainings on
    /// `features` features.
    pub(super) fn new(
        data: &'a Samples<'a>,
        rules: &Rules,
        features: usize,
        settings: &SvmSettings,
        memory: &Memory,
    ) -> Result<Self, Error> {
        let n = data.n_samples();
        let (mut pairs, mut taken) = (Vec::new(), Vec::new());
        for (at, mut pair) in Pair::all(data.classes(), data.n_classes(), data.weights()).enumerate() {
            pair.weights.iter_mut().for_each(|weight| *weight *= data.pair_weight(at));
            let of_pair = pair.samples.len();
            let copy = (of_pair < n).then(|| {
                let each = if data.design().is_sparse() { 12.0 } else { 8.0 };
                let bytes = (each * data.design().stored() as f64 * of_pair as f64 / n as f64) as u64;
                let what = || format!("a copy of the {of_pair} samples of a pair of classes");
                taken.push(memory.reserve(bytes, what, "use fewer samples, or fewer classes")?);
                Ok(data.design().select_samples(&pair.samples))
            });
            let copy = copy.transpose()?;
            pairs.push((pair, copy));
        }
        let mut out = Self { data, pairs, taken };
        let problems = out.problems()?;
        let of_trainings: Result<Vec<Reserved>, Error> =
            problems.iter().map(|problem| SubsetOracle::reserve(problem, rules, features, settings, memory)).collect();
        drop(problems);
        out.taken.extend(of_trainings?);
        Ok(out)
    }

    /// The problem of each pair.
    ///
    /// # Errors
    /// Values that are not finite.
    pub(super) fn problems(&self) -> Result<Vec<Problem<'_>>, Error> {
        let all = self.data.design();
        let each = self.pairs.iter().map(|(pair, copy)| (copy.as_deref().unwrap_or(all), pair));
        each.map(|(rows, pair)| Problem::new(rows, &pair.labels, Some(&pair.weights))).collect()
    }
}

/// Trains the machine of every pair, and ranks units by their squared weights in all of them.
pub(super) struct PairsOracle<'a> {
    machines: Vec<SubsetOracle<'a>>,
    rules: &'a Rules,
}

impl<'a> PairsOracle<'a> {
    /// Starts with the given features; nothing is trained yet.
    pub(super) fn new(
        problems: &'a [Problem<'a>],
        rules: &'a Rules,
        subset: &Subset,
        settings: &SvmSettings,
    ) -> Result<Self, Error> {
        let machine = |problem| SubsetOracle::new(problem, rules, subset.clone(), settings);
        Ok(Self { machines: problems.iter().map(machine).collect::<Result<_, _>>()?, rules })
    }

    /// The features trained on.
    pub(super) fn subset(&self) -> &Subset {
        self.machines[0].subset()
    }

    /// Takes features out, all of a unit at once.
    pub(super) fn remove(&mut self, leaving: &[usize]) {
        self.machines.iter_mut().for_each(|machine| machine.remove(leaving));
    }

    /// Trains every machine on the current subset, the pairs in parallel; what a limit cut short is
    /// a training, too.
    pub(super) fn train(&mut self, clock: &Clock) -> Vec<&DualSolution> {
        self.machines.par_iter_mut().for_each(|machine| {
            machine.train(clock);
        });
        self.solutions()
    }

    /// The last trainings, none before there is one.
    pub(super) fn solutions(&self) -> Vec<&DualSolution> {
        self.machines.iter().filter_map(SubsetOracle::solution).collect()
    }

    /// The machines of the last trainings, by sample of all classes.
    pub(super) fn machines(&self, samples: &PairSamples<'_>) -> Vec<PairMachine> {
        let machine = |(pair, solution): (&Pair, &DualSolution)| {
            let beta = pair.spread(&solution.beta, samples.data.n_samples());
            PairMachine { beta, bias: solution.bias, weights: solution.weights.clone() }
        };
        samples.pairs.iter().map(|pair| &pair.0).zip(self.solutions()).map(machine).collect()
    }

    /// Starts the first trainings from the betas of an earlier run.
    ///
    /// # Errors
    /// Betas of other samples or classes.
    pub(super) fn start_from(&mut self, betas: Vec<Vec<f64>>) -> Result<(), Error> {
        if betas.is_empty() {
            return Ok(());
        }
        let fits = |(machine, beta): (&SubsetOracle<'_>, &Vec<f64>)| machine.n_samples() == beta.len();
        if betas.len() != self.machines.len() || !self.machines.iter().zip(&betas).all(fits) {
            return Err(stranger("it has other samples or classes"));
        }
        self.machines.iter_mut().zip(betas).for_each(|(machine, beta)| machine.start_from(beta));
        Ok(())
    }

    /// The `count` surviving units of smallest criterion, the sum of their squared weights in all
    /// machines; smallest first, ties by falling index.
    pub(super) fn smallest(&mut self, count: usize) -> Vec<(usize, f64)> {
        if let [machine] = &mut self.machines[..] {
            return machine.smallest(count);
        }
        let mut criteria = vec![0.0; self.rules.n_units()];
        for machine in &mut self.machines {
            machine.smallest(usize::MAX).into_iter().for_each(|(unit, criterion)| criteria[unit] += criterion);
        }
        let mut found: Vec<(usize, f64)> = self.machines[0].units().iter().map(|&u| (u, criteria[u])).collect();
        found.sort_unstable_by(by_criterion);
        found.truncate(count);
        found
    }
}
