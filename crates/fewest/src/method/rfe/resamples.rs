//! Resamples of the samples, for multiple SVM-RFE: which samples each machine of a step is trained
//! on, and how often.

use serde::{Deserialize, Serialize};

use crate::validation::Folds;
use crate::{Error, Samples};

/// How resamples are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resampling {
    /// Stratified folds, one for each resample, dealt again at each step; each resample leaves one
    /// of them out.
    #[default]
    Folds,
    /// Stratified folds as above, dealt once.
    FixedFolds,
    /// Draws with replacement within each class, as many as it has samples, again at each step.
    Bootstrap,
}

crate::settings! {
    /// Resamples of multiple SVM-RFE: features are ranked by what machines trained on each of them
    /// agree on.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct Resamples {
        /// Number of resamples.
        pub count: usize = 10 => "at least 2",
        /// The way resamples are drawn.
        pub resampling: Resampling = Resampling::Folds,
        /// Seed of the draws.
        pub seed: u64 = 0,
        /// In place of draws: the same at each step, the training part of each fold or split.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub folds: Option<Folds> = None,
    }
}

impl Resamples {
    /// Refuses fewer than two, and folds of another number.
    ///
    /// # Errors
    /// Fewer than two resamples, or folds of another number.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.count < 2 {
            return Err(Error::setting(
                "resamples",
                self.count,
                "at least 2: their criterion is a mean by a deviation",
            ));
        }
        match &self.folds {
            Some(folds) if folds.count() != self.count => {
                let of_folds = format!("{}, the number of the folds, or left out", folds.count());
                Err(Error::setting("resamples", self.count, &of_folds))
            }
            _ => Ok(()),
        }
    }

    /// Refuses samples that these resamples cannot be drawn from.
    ///
    /// # Errors
    /// More folds than samples, a class of one sample, folds of other samples, a training part
    /// without one of the classes.
    pub(super) fn check_samples(&self, samples: &Samples<'_>) -> Result<(), Error> {
        if let Some(folds) = &self.folds {
            let (n, given) = (samples.n_samples(), folds.n_samples());
            if n != given {
                return Err(Error::Data(format!(
                    "the folds of the resamples are of {given} samples, but there are {n}; leave the folds out, so that \
                     resamples are drawn"
                )));
            }
            return (0..folds.count()).try_for_each(|fold| {
                Folds::check_training(fold, samples.classes(), &Self::fixed(folds, fold, samples))
            });
        }
        if self.resampling == Resampling::Bootstrap {
            return Ok(());
        }
        let strata = strata(samples);
        let n: usize = strata.iter().map(Vec::len).sum();
        if self.count > n {
            let most = format!("at most {n}, the samples of weight above 0: each resample leaves a fold out");
            return Err(Error::setting("resamples", self.count, &most));
        }
        match strata.iter().position(|of_class| of_class.len() < 2) {
            Some(class) => Err(Error::Data(format!(
                "class {class} has one sample of weight above 0, and a resample that leaves it out has none; use the \
                 resampling bootstrap, or more samples"
            ))),
            None => Ok(()),
        }
    }

    /// Whether they are the same at each step.
    pub(super) fn is_fixed(&self) -> bool {
        self.folds.is_some() || self.resampling == Resampling::FixedFolds
    }

    /// The weight of each sample in each resample of a step, from 1: resamples x samples. It is a
    /// function of the seed and the step alone, whatever was drawn before.
    pub fn weights(&self, samples: &Samples<'_>, step: u64) -> Vec<Vec<f64>> {
        if let Some(folds) = &self.folds {
            return (0..folds.count()).map(|fold| Self::fixed(folds, fold, samples)).collect();
        }
        let mut draws = Draws::new(self.seed, if self.is_fixed() { 0 } else { step });
        let strata = strata(samples);
        match self.resampling {
            Resampling::Folds | Resampling::FixedFolds => self.leave_folds_out(samples.weights(), strata, &mut draws),
            Resampling::Bootstrap => (0..self.count).map(|_| draws.bootstrap(samples.weights(), &strata)).collect(),
        }
    }

    /// The weights of the samples in the training part of a fold that the caller gave.
    fn fixed(folds: &Folds, fold: usize, samples: &Samples<'_>) -> Vec<f64> {
        let times = folds.times(fold).0;
        let of_samples = folds.training_weights(fold).unwrap_or(samples.weights());
        times.iter().zip(of_samples).map(|(times, weight)| times * weight).collect()
    }

    /// Classes are shuffled and dealt one after the other, so that folds are of equal size.
    fn leave_folds_out(&self, weights: &[f64], strata: Vec<Vec<usize>>, draws: &mut Draws) -> Vec<Vec<f64>> {
        let mut out = vec![weights.to_vec(); self.count];
        let mut dealt = 0;
        for mut of_class in strata {
            for at in (1..of_class.len()).rev() {
                of_class.swap(at, draws.below(at + 1));
            }
            for i in of_class {
                out[dealt % self.count][i] = 0.0;
                dealt += 1;
            }
        }
        out
    }
}

/// The samples of each class that have weight.
fn strata(samples: &Samples<'_>) -> Vec<Vec<usize>> {
    let (classes, weights) = (samples.classes(), samples.weights());
    let of_class = |class| (0..classes.len()).filter(|&i| classes[i] == class && weights[i] > 0.0).collect();
    (0..samples.n_classes()).map(of_class).collect()
}

/// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
struct Draws(u64);

impl Draws {
    /// The draws of a step: seeds and steps are mixed, since states that differ by a few increments
    /// run through the same numbers.
    fn new(seed: u64, step: u64) -> Self {
        Self(Self(Self(seed).word() ^ step).word())
    }

    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.word()) * end as u128) >> 64) as usize
    }

    /// The weights of a bootstrap: how often each sample is drawn, times its own.
    fn bootstrap(&mut self, weights: &[f64], strata: &[Vec<usize>]) -> Vec<f64> {
        let mut out = vec![0.0; weights.len()];
        for of_class in strata {
            for _ in of_class {
                let i = of_class[self.below(of_class.len())];
                out[i] += weights[i];
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Resamples, Resampling};
    use crate::{DenseDesign, Samples};

    #[test]
    fn folds_part_each_class_and_bootstraps_keep_its_size() {
        let classes: Vec<u32> = (0..23).map(|i| u32::from(i % 3 == 0)).collect();
        let design = DenseDesign::new(23, 1, vec![0.0; 23]).unwrap();
        let samples = Samples::new(&design, &classes, None).unwrap();
        let resampling = |resampling| Resamples { count: 5, resampling, ..Resamples::default() };
        let held_out = |step| resampling(Resampling::Folds).weights(&samples, step);
        for step in 1..20 {
            let drawn = held_out(step);
            let times_out = |i: usize| drawn.iter().filter(|weights| weights[i] == 0.0).count();
            assert!((0..23).all(|i| times_out(i) == 1), "each sample is in one fold");
            let left: Vec<f64> = drawn.iter().map(|weights| weights.iter().sum()).collect();
            assert!(left.iter().all(|&left| left == 18.0 || left == 19.0), "{left:?}");
            for weights in resampling(Resampling::Bootstrap).weights(&samples, step) {
                let of_class = |class| (0..23).filter(|&i| classes[i] == class).map(|i| weights[i]).sum::<f64>();
                assert_eq!((of_class(0), of_class(1)), (15.0, 8.0));
            }
        }
        assert_eq!(held_out(3), held_out(3));
        assert_ne!(held_out(3), held_out(4));
        let once = |step| resampling(Resampling::FixedFolds).weights(&samples, step);
        assert_eq!(once(3), once(4));
    }
}
