//! Folds: which samples are judged together.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::problem::checked_weights;

/// A partition of the samples into folds 0, 1, ... count - 1, none of them empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "FoldsParts", try_from = "FoldsParts")]
pub struct Folds {
    of: Vec<u32>,
    count: usize,
    weights: Vec<f64>,
    training: Option<Vec<Vec<f64>>>,
}

/// Folds as JSON has them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FoldsParts {
    /// The fold of each sample.
    of: Vec<u32>,
    /// How many samples each counts as; none: 1.
    weights: Option<Vec<f64>>,
    /// Cost weights by fold and sample; none: those of the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    training: Option<Vec<Vec<f64>>>,
}

impl From<Folds> for FoldsParts {
    fn from(folds: Folds) -> Self {
        Self { of: folds.of, weights: Some(folds.weights), training: folds.training }
    }
}

impl TryFrom<FoldsParts> for Folds {
    type Error = Error;

    fn try_from(parts: FoldsParts) -> Result<Self, Error> {
        let mut folds = Self::new(parts.of)?;
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
            None => Ok(Self { weights: vec![1.0; of.len()], of, count, training: None }),
        }
    }

    /// The same folds, where sample i counts as `weights[i]` samples in the accuracy of its fold.
    /// Default 1 for each.
    ///
    /// # Errors
    /// [`Error::Data`] when weights are not one for each sample, finite and 0 or more.
    pub fn weighted(self, weights: &[f64]) -> Result<Self, Error> {
        let weights = checked_weights(self.of.len(), Some(weights))?;
        Ok(Self { weights, ..self })
    }

    /// The same folds, where `weights[f][i]` is the cost weight of sample i in the training that
    /// holds fold f out: weights of classes may be a function of the training part alone. Default
    /// the weights of the samples.
    ///
    /// # Errors
    /// [`Error::Data`] when weights are not one for each fold and sample, finite and 0 or more.
    pub fn training_weighted(self, weights: Vec<Vec<f64>>) -> Result<Self, Error> {
        if weights.len() != self.count {
            let (given, count) = (weights.len(), self.count);
            return Err(Error::Data(format!("there are weights for {given} folds, but there are {count} folds")));
        }
        for of_fold in &weights {
            checked_weights(self.of.len(), Some(of_fold))?;
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

    /// The fold of each sample, length n.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// Number of folds, at least 2.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The samples outside and inside a fold, both ascending.
    pub fn split(&self, fold: usize) -> (Vec<usize>, Vec<usize>) {
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
