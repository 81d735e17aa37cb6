//! Folds: which samples are judged together.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::problem::checked_weights;

/// How samples are held out: a partition into folds 0, 1, ... count - 1, none of them empty, or any
/// splits.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(into = "FoldsParts", try_from = "FoldsParts")]
pub struct Folds {
    /// Empty where there are splits.
    of: Vec<u32>,
    splits: Vec<Split>,
    count: usize,
    weights: Vec<f64>,
    training: Option<Vec<Vec<f64>>>,
}

/// Folds as JSON has them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FoldsParts {
    /// The fold of each sample.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of: Vec<u32>,
    /// In its place: splits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    splits: Vec<Split>,
    /// How many samples each counts as; none: 1, and with splits they are needed.
    weights: Option<Vec<f64>>,
    /// Cost weights by fold and sample; none: those of the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    training: Option<Vec<Vec<f64>>>,
}

impl From<Folds> for FoldsParts {
    fn from(folds: Folds) -> Self {
        Self { of: folds.of, splits: folds.splits, weights: Some(folds.weights), training: folds.training }
    }
}

impl TryFrom<FoldsParts> for Folds {
    type Error = Error;

    fn try_from(parts: FoldsParts) -> Result<Self, Error> {
        let mut folds = if parts.splits.is_empty() {
            Self::new(parts.of)?
        } else {
            Self::of_splits(parts.weights.as_ref().map_or(0, Vec::len), parts.splits)?
        };
        if let Some(weights) = parts.weights {
            folds = folds.weighted(&weights)?;
        }
        match parts.training {
            Some(training) => folds.training_weighted(training),
            None => Ok(folds),
        }
    }
}

/// Samples to train on and samples to judge by; a sample may be in neither.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Trained on, in any order; a sample named twice counts twice.
    pub training: Vec<usize>,
    /// Held out, in any order; there may be none.
    pub held_out: Vec<usize>,
}

impl Folds {
    /// From the fold of each sample.
    ///
    /// # Errors
    /// [`Error::Data`] when there are fewer than two folds, or one without samples.
    pub fn new(of: Vec<u32>) -> Result<Self, Error> {
        let count = of.iter().max().map_or(0, |&most| most as usize + 1);
        if count < 2 {
            return Err(Error::Data(format!("there are {count} folds, but cross-validation needs at least 2")));
        }
        let mut sizes = vec![0; count];
        for &fold in &of {
            sizes[fold as usize] += 1;
        }
        match sizes.iter().position(|&size| size == 0) {
            Some(empty) => Err(Error::Data(format!("fold {empty} of {count} has no sample"))),
            None => Ok(Self { weights: vec![1.0; of.len()], of, splits: Vec::new(), count, training: None }),
        }
    }

    /// Any splits of n samples, at least one: parts may overlap, and samples may be in none.
    ///
    /// # Errors
    /// [`Error::Data`] when there is no split, a part is empty, or a sample does not exist.
    pub fn of_splits(n: usize, splits: Vec<Split>) -> Result<Self, Error> {
        for (at, split) in splits.iter().enumerate() {
            if let Some(i) = split.training.iter().chain(&split.held_out).find(|&&i| i >= n) {
                return Err(Error::Data(format!("split {at} names sample {i}, but there are {n}, counted from 0")));
            }
            if split.training.is_empty() || split.held_out.is_empty() {
                return Err(Error::Data(format!("split {at} trains on no sample, or holds none out")));
            }
        }
        match splits.len() {
            0 => Err(Error::Data("there are no splits, but cross-validation needs at least 1".to_owned())),
            count => Ok(Self { weights: vec![1.0; n], of: Vec::new(), splits, count, training: None }),
        }
    }

    /// Folds in which sample i counts as `weights[i]` samples in the accuracy of its fold. Default
    /// 1 for each.
    ///
    /// # Errors
    /// [`Error::Data`] when weights are not one for each sample, finite and 0 or more.
    pub fn weighted(self, weights: &[f64]) -> Result<Self, Error> {
        let weights = checked_weights(self.n_samples(), Some(weights))?;
        Ok(Self { weights, ..self })
    }

    /// Folds in which `weights[f][i]` is the cost weight of sample i in the training that holds
    /// fold f out: weights of classes may be a function of the training part alone. Default the
    /// weights of the samples.
    ///
    /// # Errors
    /// [`Error::Data`] when weights are not one for each fold and sample, finite and 0 or more.
    pub fn training_weighted(self, weights: Vec<Vec<f64>>) -> Result<Self, Error> {
        if weights.len() != self.count {
            let (given, count) = (weights.len(), self.count);
            return Err(Error::Data(format!("there are weights for {given} folds, but there are {count} folds")));
        }
        for of_fold in &weights {
            checked_weights(self.n_samples(), Some(of_fold))?;
        }
        Ok(Self { training: Some(weights), ..self })
    }

    /// Cost weights, length n, of the training that holds a fold out; none: those of the samples.
    pub fn training_weights(&self, fold: usize) -> Option<&[f64]> {
        self.training.as_ref().map(|weights| weights[fold].as_slice())
    }

    /// How many samples each counts as, length n.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of samples.
    pub fn n_samples(&self) -> usize {
        self.weights.len()
    }

    /// How often each sample is in the training part of a fold, and how often it is held out.
    pub(crate) fn times(&self, fold: usize) -> (Vec<f64>, Vec<usize>) {
        let (mut training, mut held_out) = (vec![0.0; self.n_samples()], vec![0; self.n_samples()]);
        let (first, last) = self.split(fold);
        for i in first {
            training[i] += 1.0;
        }
        for i in last {
            held_out[i] += 1;
        }
        (training, held_out)
    }

    /// Refuses a training part (weight of each sample there) that lacks a class: nothing is learnt
    /// of that class.
    pub(crate) fn check_training(split: usize, classes: &[u32], weights: &[f64]) -> Result<(), Error> {
        let n_classes = classes.iter().max().map_or(0, |c| c + 1);
        let has = |class: u32| classes.iter().zip(weights).any(|(&c, &w)| c == class && w > 0.0);
        match (0..n_classes).find(|class| !has(*class)) {
            Some(class) => Err(Error::Data(format!(
                "the training part of split {split} has no sample of class {class} with positive weight; stratify the \
                 splits, or use fewer"
            ))),
            None => Ok(()),
        }
    }

    /// Number of folds or splits, at least 2 folds or 1 split.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The samples outside and inside a fold, both ascending; the parts of a split as they are.
    pub fn split(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
        if let Some(split) = self.splits.get(fold) {
            return (split.training.clone(), split.held_out.clone());
        }
        (0..self.of.len()).partition(|&i| self.of[i] as usize != fold)
    }

    /// Every fold held out in turn.
    pub fn splits(&self) -> Vec<Split> {
        let split = |fold| {
            let (training, held_out) = self.split(fold);
            Split { training, held_out }
        };
        (0..self.count).map(split).collect()
    }
}
