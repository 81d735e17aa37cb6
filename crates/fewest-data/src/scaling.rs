//! Scaling of features and their variances.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{DataError, Features};

/// How features are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScaleKind {
    /// Minus the mean, over the population standard deviation (1/n).
    Standard,
    /// Over the largest absolute value; keeps zeros.
    MaxAbs,
    /// Unchanged.
    None,
}

/// A fitted scaling: x becomes (x - center) / scale for each feature.
///
/// `center` has p entries for `Standard` and none otherwise (zero); `scale` has p entries, or none for `None` (one).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What was fitted.
    pub kind: ScaleKind,
    /// Subtracted, length p or 0.
    pub center: Vec<f64>,
    /// Divided by, all positive, length p or 0. A constant feature has 1 with `Standard` (it becomes 0), a zero
    /// feature has 1 with `MaxAbs`.
    pub scale: Vec<f64>,
}

impl Scaling {
    /// Fits on the data, features in parallel.
    ///
    /// # Errors
    /// [`DataError::SparseStandard`] for `Standard` on sparse data.
    pub fn fit(kind: ScaleKind, features: &Features) -> Result<Self, DataError> {
        let p = features.n_features();
        let (center, scale) = match (kind, features) {
            (ScaleKind::None, _) => (Vec::new(), Vec::new()),
            (ScaleKind::Standard, Features::Sparse(_) | Features::Mapped(_)) => return Err(DataError::SparseStandard),
            (ScaleKind::Standard, Features::Dense(design)) => (0..p)
                .into_par_iter()
                .map(|j| {
                    let column = design.column(j);
                    let (mean, variance) = moments(column, column.len());
                    let scale = variance.sqrt();
                    (mean, if scale > 0.0 && scale.is_finite() { scale } else { 1.0 })
                })
                .unzip(),
            (ScaleKind::MaxAbs, _) => {
                let largest = |j| largest(&stored(features, j));
                (Vec::new(), (0..p).into_par_iter().map(largest).collect())
            }
        };
        Ok(Self { kind, center, scale })
    }

    /// Scales in place; a mapped file from now on, without a copy.
    ///
    /// # Errors
    /// [`DataError::ScalingShape`] when fitted on another number of features; [`DataError::SparseStandard`].
    pub fn apply(&self, features: &mut Features) -> Result<(), DataError> {
        if self.kind == ScaleKind::None {
            return Ok(());
        }
        let (expected, found) = (self.scale.len(), features.n_features());
        if expected != found {
            return Err(DataError::ScalingShape { expected, found });
        }
        match features {
            Features::Dense(design) => {
                for j in 0..found {
                    self.apply_column(j, design.column_mut(j));
                }
            }
            Features::Sparse(_) | Features::Mapped(_) if self.kind == ScaleKind::Standard => {
                return Err(DataError::SparseStandard);
            }
            Features::Sparse(design) => {
                for j in 0..found {
                    self.apply_column(j, design.values_mut(j));
                }
            }
            Features::Mapped(design) => design.divide(&self.scale),
        }
        Ok(())
    }

    fn apply_column(&self, j: usize, values: &mut [f64]) {
        let (center, scale) = (self.center.get(j).copied().unwrap_or(0.0), self.scale[j]);
        for x in values {
            *x = (*x - center) / scale;
        }
    }
}

/// Stored values of column j.
fn stored(features: &Features, j: usize) -> Cow<'_, [f64]> {
    match features {
        Features::Dense(design) => design.column(j).into(),
        Features::Sparse(design) => design.column(j).1.into(),
        Features::Mapped(design) => design.values(j).into(),
    }
}

/// The largest absolute value, 1 if there is none above 0.
fn largest(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if largest > 0.0 { largest } else { 1.0 }
}

/// Mean and population variance of n values, those not given being zero. A constant column has variance exactly 0.
fn moments(values: &[f64], n: usize) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    if values.len() == n && values.iter().all(|x| *x == values[0]) {
        return (values[0], 0.0);
    }
    let count = n as f64;
    // Shifted by the first value: no loss where the mean is large next to the spread.
    let shift = if values.len() == n { values[0] } else { 0.0 };
    let mean = shift + values.iter().map(|x| x - shift).sum::<f64>() / count;
    let zeros = (n - values.len()) as f64 * mean * mean;
    let squares = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    (mean, (squares + zeros) / count)
}

/// Population variance (1/n) of each feature, length p. Exactly 0 for constant features.
pub fn variances(features: &Features) -> Vec<f64> {
    let n = features.n_samples();
    (0..features.n_features()).into_par_iter().map(|j| moments(&stored(features, j), n).1).collect()
}

/// Positions of the features whose population variance is at or below `threshold`, ascending.
pub fn low_variance(features: &Features, threshold: f64) -> Vec<usize> {
    variances(features).iter().enumerate().filter(|(_, v)| **v <= threshold).map(|(j, _)| j).collect()
}
