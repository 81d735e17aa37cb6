//! Classifiers judged by data that they were not trained on: which subset has the smallest error.

use std::sync::Arc;

use super::TrainedSubset;
use fewest::{Design, DualSolution, Error, Subset};

/// Data to judge classifiers by that they were not trained on.
#[derive(Clone)]
pub struct Validation {
    /// Samples with the same p features, prepared in the same way.
    pub design: Arc<dyn Design>,
    /// Their labels, -1 or +1.
    pub labels: Vec<f64>,
    /// Stop, with status `completed`, after this many subsets in a row without a smaller error; at
    /// least 1. None: never.
    pub patience: Option<u64>,
}

impl std::fmt::Debug for Validation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Validation({} samples, patience {:?})", self.labels.len(), self.patience)
    }
}

impl Validation {
    /// Shapes, labels and patience, for p features.
    pub(super) fn check(&self, p: usize) -> Result<(), Error> {
        let (n, q) = (self.design.n_samples(), self.design.n_features());
        if q != p || n == 0 || self.labels.len() != n {
            let labels = self.labels.len();
            return Err(Error::Data(format!(
                "the validation data have {n} samples, {labels} labels and {q} features; {p} features and a label for each of one or more samples are needed"
            )));
        }
        if let Some(y) = self.labels.iter().find(|y| y.abs() != 1.0) {
            return Err(Error::Data(format!("a validation label is {y}, but must be -1 or 1")));
        }
        if self.patience == Some(0) {
            return Err(Error::setting("patience", 0, "at least 1"));
        }
        Ok(())
    }

    /// Share of the samples that the machine trained on `subset` gets wrong.
    pub(super) fn error(&self, subset: &Subset, machine: &DualSolution) -> f64 {
        let mut decision = vec![machine.bias; self.labels.len()];
        for (j, &w) in subset.iter().zip(&machine.weights) {
            self.design.add_column(j, w, &mut decision);
        }
        let wrong = decision.iter().zip(&self.labels).filter(|(f, y)| (**f > 0.0) != (**y > 0.0)).count();
        wrong as f64 / self.labels.len() as f64
    }
}

/// The first of the trained subsets whose (validation error, objective) is smallest; by the error
/// alone unless `ties`.
pub(super) fn least_error(trained: &[TrainedSubset], ties: bool) -> Option<usize> {
    let key = |t: &TrainedSubset| t.validation_error.map(|e| (e, if ties { t.objective } else { 0.0 }));
    let judged = trained.iter().enumerate().filter_map(|(at, t)| Some((at, key(t)?)));
    judged.min_by(|a, b| a.1.partial_cmp(&b.1).expect("errors and objectives are numbers")).map(|best| best.0)
}
