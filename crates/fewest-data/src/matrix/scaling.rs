//! Scaling of features and their variances.

use fewest_svm::AllOrFirst as _;
use fewest_svm::design::{Centred, scaled};
use fewest_svm::{DenseDesign, FeatureSet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::matrix::sample_weights::{Present, SampleWeights, stored};
use crate::scale_kind::{Interval, ScaleKind};
use crate::{DataError, Dataset, Features, Place};

/// Why features are scaled as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScaleReason {
    /// The caller said so.
    Asked,
    /// The caller asked for `Standard` or `Range`; the data are sparse, and nothing is taken off
    /// them, as a machine makes up for it ([`fewest_svm::Bias::absorbs_constants`]).
    AskedSparse,
    /// Dense data: the default is `Standard`.
    Dense,
    /// Sparse data: the default is `MaxAbs`.
    Sparse,
    /// Sparse data whose rows have length 1, as text has: the default is `None`. Divided by its
    /// largest value, a rare word would weigh as much as a frequent one.
    UnitRows,
}

impl ScaleReason {
    /// In a few words.
    pub fn text(self) -> &'static str {
        match self {
            ScaleReason::Asked => "as asked",
            ScaleReason::AskedSparse => "as asked; sparse data: divided alone, not centred",
            ScaleReason::Dense => "the default for dense data",
            ScaleReason::Sparse => "the default for sparse data",
            ScaleReason::UnitRows => "the default for sparse data whose rows have length 1, such as text",
        }
    }
}

/// How far the squared length of a row may be from 1 where rows have length 1; texts are written
/// with few digits.
const UNIT: f64 = 0.02;

impl ScaleKind {
    /// The scaling where nothing is asked, and why.
    pub fn default_for(features: &Features) -> (ScaleKind, ScaleReason) {
        match features {
            Features::Dense(_) => (ScaleKind::Standard, ScaleReason::Dense),
            sparse if has_unit_rows(sparse) => (ScaleKind::None, ScaleReason::UnitRows),
            _ => (ScaleKind::MaxAbs, ScaleReason::Sparse),
        }
    }

    /// Why features are scaled so where the caller asks for it; `centred` as in
    /// [`Scaling::weighted`].
    pub fn asked_for(self, features: &Features, centred: bool) -> ScaleReason {
        match (self, features) {
            (ScaleKind::Standard | ScaleKind::Range(_), Features::Sparse(_) | Features::Mapped(_)) if !centred => {
                ScaleReason::AskedSparse
            }
            _ => ScaleReason::Asked,
        }
    }
}

/// Whether every row that is not empty has length 1, and there is one.
fn has_unit_rows(features: &Features) -> bool {
    let mut squares = vec![0.0; features.n_samples()];
    let design = features.as_design();
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |i, x| squares[i] += x * x);
    }
    squares.retain(|square| *square != 0.0);
    !squares.is_empty() && squares.iter().all(|square| (square - 1.0).abs() <= UNIT)
}

/// A fitted scaling: x becomes (x - center) / scale for each feature.
///
/// `center` has p entries for `Standard` and `Range`, but none (zero) for sparse data that are not
/// centred ([`Scaling::weighted`]); `scale` has p entries, or none for `None` (one).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// The kind that was fitted.
    pub kind: ScaleKind,
    /// Subtracted, length p or 0.
    pub center: Vec<f64>,
    /// Divided by, all positive, length p or 0. A constant feature has 1 with `Standard` and `Range`
    /// (and becomes 0, where it is centred), a zero feature has 1 with `MaxAbs`.
    pub scale: Vec<f64>,
}

impl Scaling {
    /// Fits on the data, features in parallel; sparse data are divided alone. Values may be as large
    /// and as small as doubles are.
    ///
    /// # Errors
    /// [`DataError::OutOfRange`], which names the feature by its number, for `None` where a value is
    /// above 1e70 in size, for `Standard` where the standard deviation is above 0 but below the
    /// smallest normal double, and for `Range` where what it divides by is so, or is not finite.
    pub fn fit(kind: ScaleKind, features: &Features) -> Result<Self, DataError> {
        Self::weighted(kind, features, SampleWeights::ONES, false)
    }

    /// [`Scaling::fit`], where a sample counts as many times as its weight says: one of weight 0 not
    /// at all. `centred` says whether the constants of `Standard` and `Range` are taken off sparse
    /// data, too. A machine that makes up for them is the same without
    /// ([`fewest_svm::Bias::absorbs_constants`]).
    ///
    /// # Errors
    /// As [`Scaling::fit`].
    pub fn weighted(
        kind: ScaleKind,
        features: &Features,
        weights: SampleWeights<'_>,
        centred: bool,
    ) -> Result<Self, DataError> {
        fit(kind, features, weights, centred, &|j| format!("feature number {}", j + 1))
    }

    /// Fits a scaling of a data set that is to be written, as [`Scaling::fit`]; errors name the file
    /// and the column.
    ///
    /// # Errors
    /// As [`Scaling::fit`], and [`DataError::FillsIn`] for `Range` of sparse data whose zeros would
    /// not stay zeros.
    pub fn of(kind: ScaleKind, data: &Dataset) -> Result<Self, DataError> {
        let place = |j| Place { file: data.source.clone(), ..Place::default() }.column(data.names.get(j)).to_string();
        let ranged = matches!(kind, ScaleKind::Range(_));
        let scaling = fit(kind, &data.features, SampleWeights::ONES, ranged, &place)?;
        let moved = scaling.center.iter().position(|center| *center != 0.0);
        match moved.filter(|_| ranged && data.features.as_design().is_sparse()) {
            Some(j) => Err(DataError::FillsIn { column: place(j), kind, zero: -scaling.center[j] / scaling.scale[j] }),
            None => Ok(scaling),
        }
    }

    /// Leaves these features as they are.
    #[must_use]
    pub fn except(mut self, features: &[usize]) -> Self {
        for &j in features {
            self.center.get_mut(j).into_iter().for_each(|center| *center = 0.0);
            self.scale.get_mut(j).into_iter().for_each(|scale| *scale = 1.0);
        }
        self
    }

    /// Scales in place; a mapped file from now on, without a copy. Of sparse data no zero is filled
    /// in: where a centre is not 0 they become [`Features::Centred`].
    ///
    /// # Errors
    /// [`DataError::ScalingShape`] when fitted on another number of features.
    pub fn apply(&self, features: &mut Features) -> Result<(), DataError> {
        if self.kind == ScaleKind::None {
            return Ok(());
        }
        let (expected, found) = (self.scale.len(), features.n_features());
        if expected != found {
            return Err(DataError::ScalingShape { expected, found });
        }
        if self.center.iter().any(|&center| center != 0.0) && features.as_design().is_sparse() {
            let bytes = features.bytes();
            let sparse = std::mem::replace(features, Features::Dense(DenseDesign::new(0, 0, Vec::new())?));
            let centred = Centred::new(sparse.into_design().into(), bytes, self.center.clone(), self.scale.clone());
            *features = Features::Centred(centred);
            return Ok(());
        }
        match features {
            Features::Dense(design) => {
                for j in 0..found {
                    self.apply_column(j, design.column_mut(j));
                }
            }
            Features::Sparse(design) => {
                for j in 0..found {
                    self.apply_column(j, design.values_mut(j));
                }
            }
            Features::Mapped(design) => design.divide(&self.scale),
            Features::Centred(_) => unreachable!("features are scaled once"),
        }
        Ok(())
    }

    fn apply_column(&self, j: usize, values: &mut [f64]) {
        let (center, scale) = (self.center.get(j).copied().unwrap_or(0.0), self.scale[j]);
        for x in values {
            *x = scaled(*x, center, scale);
        }
    }
}

/// Fits; `place` names a feature in errors.
fn fit(
    kind: ScaleKind,
    features: &Features,
    weights: SampleWeights<'_>,
    centred: bool,
    place: &(dyn Fn(usize) -> String + Sync),
) -> Result<Scaling, DataError> {
    let columns = (0..features.n_features()).into_par_iter();
    let centred = centred || matches!(features, Features::Dense(_));
    let (center, scale) = match (kind, features) {
        (ScaleKind::Standard, _) => {
            let one = |j| {
                let moments = Moments::new(&Present::of(features, j, weights));
                let scale = moments.deviation();
                if moments.variance > 0.0 {
                    check_divisor(scale, "its standard deviation, too small to divide by", || place(j))?;
                }
                Ok((moments.mean(), if moments.variance > 0.0 { scale } else { 1.0 }))
            };
            let found: Result<Vec<(f64, f64)>, DataError> = columns.map(one).all_or_first();
            let (center, scale) = found?.into_iter().unzip();
            (if centred { center } else { Vec::new() }, scale)
        }
        (ScaleKind::Range(interval), _) => {
            let one = |j| onto(interval, Present::of(features, j, weights).extremes(), || place(j));
            let found: Result<Vec<(f64, f64)>, DataError> = columns.map(one).all_or_first();
            let (center, scale) = found?.into_iter().unzip();
            (if centred { center } else { Vec::new() }, scale)
        }
        (ScaleKind::MaxAbs, _) => {
            let largest = |j| largest(&Present::of(features, j, weights).values);
            (Vec::new(), columns.map(|j| Some(largest(j)).filter(|m| *m > 0.0).unwrap_or(1.0)).collect())
        }
        (ScaleKind::None, _) => {
            let known = features.as_design().largest_value();
            if known.is_none_or(|largest| largest > fewest_svm::LARGEST_VALUE) {
                columns.map(|j| check_largest(largest(&stored(features, j)), || place(j))).all_or_first::<()>()?;
            }
            (Vec::new(), Vec::new())
        }
    };
    Ok(Scaling { kind, center, scale })
}

/// Centre and scale of a feature with these extremes; a constant one becomes 0.
fn onto(
    interval: Interval,
    extremes: Option<(f64, f64)>,
    place: impl FnOnce() -> String,
) -> Result<(f64, f64), DataError> {
    let (least, most) = extremes.unwrap_or_default();
    if least == most {
        return Ok((least, 1.0));
    }
    let (center, scale) = interval.center_and_scale(least, most);
    let divisor = if center.is_finite() { scale } else { f64::INFINITY };
    check_divisor(divisor, "its range over the one asked for, too small or too large to divide by", place)?;
    Ok((center, scale))
}

/// Refuses a divisor that doubles hold with few digits, as 0 or not at all.
fn check_divisor(divisor: f64, limit: &'static str, place: impl FnOnce() -> String) -> Result<(), DataError> {
    if (f64::MIN_POSITIVE..=f64::MAX).contains(&divisor) {
        return Ok(());
    }
    Err(DataError::OutOfRange {
        column: place(),
        value: divisor,
        limit,
        remedy: "multiply or divide the column by a large number, drop it, or say ⟦scale=maxabs⟧",
    })
}

/// Refuses values whose squares are too large.
fn check_largest(value: f64, place: impl FnOnce() -> String) -> Result<(), DataError> {
    if value <= fewest_svm::LARGEST_VALUE {
        return Ok(());
    }
    Err(DataError::OutOfRange {
        column: place(),
        value,
        limit: "its largest absolute value, whose square is too large for a double",
        remedy: "say ⟦scale=standard⟧ or ⟦scale=maxabs⟧, or divide the column by a large number",
    })
}

/// The largest absolute value, 0 if there is none.
fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |m, x| m.max(x.abs()))
}

/// Mean and population variance of a column, in units of a power of two, so that no square leaves
/// the range of doubles.
struct Moments {
    unit: f64,
    /// Over `unit`.
    mean: f64,
    /// Over `unit` squared; exactly 0 for a constant column.
    variance: f64,
}

impl Moments {
    fn new(present: &Present<'_>) -> Self {
        let (values, count) = (&present.values, present.total());
        let unit = unit(largest(values));
        if values.is_empty() {
            return Self { unit, mean: 0.0, variance: 0.0 };
        }
        let whole = present.zeros == 0.0;
        if whole && values.iter().all(|x| *x == values[0]) {
            return Self { unit, mean: values[0] / unit, variance: 0.0 };
        }
        // Shifted by the first value: no loss where the mean is large next to the spread.
        let shift = if whole { values[0] / unit } else { 0.0 };
        let mean = shift + present.sum(|x| x / unit - shift) / count;
        let squares = present.sum(|x| (x / unit - mean) * (x / unit - mean));
        Self { unit, mean, variance: (squares + present.zeros * mean * mean) / count }
    }

    fn mean(&self) -> f64 {
        self.mean * self.unit
    }

    /// The standard deviation.
    fn deviation(&self) -> f64 {
        self.variance.sqrt() * self.unit
    }
}

/// 1 for ordinary values, else the power of two next to the largest one. Division by it is exact
/// but for values that are nothing beside the largest.
fn unit(largest: f64) -> f64 {
    if largest == 0.0 || (1e-100..1e100).contains(&largest) {
        return 1.0;
    }
    let exponent = libm::ilogb(largest);
    libm::scalbn(1.0, exponent)
}

/// Mean of the values of a feature.
pub(crate) fn mean(present: &Present<'_>) -> f64 {
    Moments::new(present).mean()
}

/// Population variance (1/n) of each feature, length p. Exactly 0 for constant features; infinite
/// where the standard deviation is above 1.3e154, and 0 where it is below 1.5e-162: a
/// [`Scaling`] has no such limits.
pub fn variances(features: &Features) -> Vec<f64> {
    moments(features, SampleWeights::ONES, |m| m.variance * m.unit * m.unit)
}

/// Moments of the values that are there; missing ones are left out.
fn moments<T: Send>(features: &Features, weights: SampleWeights<'_>, answer: impl Fn(&Moments) -> T + Sync) -> Vec<T> {
    let one = |j| answer(&Moments::new(&Present::of(features, j, weights).without_missing()));
    (0..features.n_features()).into_par_iter().map(one).collect()
}

/// The features whose population variance is at or below `threshold`, a sample counting as many
/// times as its weight says.
pub fn low_variance(features: &Features, threshold: f64, weights: SampleWeights<'_>) -> FeatureSet {
    // The threshold in the units of the column, as the variance itself may be beyond doubles.
    let low = moments(features, weights, |m| m.variance <= threshold / m.unit / m.unit);
    low.iter().enumerate().filter(|(_, low)| **low).map(|(j, _)| j).collect()
}
