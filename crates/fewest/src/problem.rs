//! A two-class problem: data, labels and sample weights, checked once.

use crate::{Design, Error};

/// A validated two-class problem: n samples with labels -1 or +1, both present, weights >= 0, finite values.
#[derive(Clone)]
pub struct Problem<'a> {
    design: &'a dyn Design,
    labels: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// Checks shapes, labels and values. `weights` (length n, default all 1) multiply the slack cost of each sample.
    ///
    /// # Errors
    /// [`Error::Data`] naming the first thing wrong.
    pub fn new(design: &'a dyn Design, labels: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        let n = design.n_samples();
        let shape =
            |what: &str, found: usize| Err(Error::Data(format!("{found} {what} for {n} samples; give one per sample")));
        if labels.len() != n {
            return shape("labels", labels.len());
        }
        let weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        if weights.len() != n {
            return shape("sample weights", weights.len());
        }
        if let Some(i) = labels.iter().position(|&y| y != 1.0 && y != -1.0) {
            return Err(Error::Data(format!("the label of sample {i} is {}, but must be -1 or 1", labels[i])));
        }
        if let Some(i) = weights.iter().position(|&w| !(w >= 0.0 && w.is_finite())) {
            return Err(Error::Data(format!(
                "the weight of sample {i} is {}, but must be finite and 0 or more",
                weights[i]
            )));
        }
        for class in [-1.0, 1.0] {
            if !labels.iter().zip(&weights).any(|(&y, &w)| y == class && w > 0.0) {
                return Err(Error::Data(format!(
                    "no sample with positive weight has label {class}; two classes are needed"
                )));
            }
        }
        for j in 0..design.n_features() {
            let mut bad = None;
            design.each_in_column(j, &mut |i, x| {
                if !x.is_finite() && bad.is_none() {
                    bad = Some((i, x));
                }
            });
            if let Some((i, x)) = bad {
                return Err(Error::Data(format!(
                    "sample {i}, feature {j} is {x}; remove or fill in such values first"
                )));
            }
        }
        Ok(Self { design, labels: labels.to_vec(), weights })
    }

    /// The data matrix.
    pub fn design(&self) -> &'a dyn Design {
        self.design
    }
    /// Labels y, length n.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }
    /// Multipliers of the slack cost, length n.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
    /// Number of samples n.
    pub fn n_samples(&self) -> usize {
        self.labels.len()
    }
    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.design.n_features()
    }
}
