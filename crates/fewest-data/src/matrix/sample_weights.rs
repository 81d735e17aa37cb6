//! Weights of samples, where numbers are learnt from them: weight 2 is the sample twice.

use std::borrow::Cow;

use crate::Features;

/// How many times each sample counts.
#[derive(Debug, Clone, Copy)]
pub struct SampleWeights<'a>(Option<Each<'a>>);

/// Weights that are not all 1.
#[derive(Debug, Clone, Copy)]
struct Each<'a> {
    weights: &'a [f64],
    total: f64,
    /// How many are above 0.
    counting: usize,
}

impl<'a> SampleWeights<'a> {
    /// Each once.
    pub const ONES: SampleWeights<'static> = SampleWeights(None);

    /// These weights, none below 0, one for each sample. A sample of weight 0 is none.
    pub fn new(weights: &'a [f64]) -> Self {
        let each = || Each {
            weights,
            total: weights.iter().sum(),
            counting: weights.iter().filter(|weight| **weight > 0.0).count(),
        };
        Self(weights.iter().any(|weight| *weight != 1.0).then(each))
    }
}

/// The values of a feature that are stored, how many times each counts, and how many zeros are not
/// stored.
#[derive(Debug)]
pub(crate) struct Present<'a> {
    pub(crate) values: Cow<'a, [f64]>,
    /// The weight of each; none: 1.
    weights: Option<Vec<f64>>,
    pub(crate) zeros: f64,
}

impl<'a> Present<'a> {
    /// Values of feature j.
    pub(crate) fn of(features: &'a Features, j: usize, weights: SampleWeights<'_>) -> Self {
        let (values, n) = (stored(features, j), features.n_samples());
        let Some(Each { weights, total, counting }) = weights.0 else {
            return Self { zeros: (n - values.len()) as f64, values, weights: None };
        };
        let mut each = Vec::with_capacity(values.len());
        match features {
            Features::Dense(_) => each.extend(weights),
            Features::Sparse(design) => each.extend(design.column(j).0.iter().map(|&i| weights[i as usize])),
            Features::Mapped(_) | Features::Centred(_) => {
                features.as_design().each_in_column(j, &mut |i, _| each.push(weights[i]));
            }
        }
        let values = if each.contains(&0.0) {
            let counted = values.iter().zip(&each).filter(|(_, weight)| **weight > 0.0).map(|(&x, _)| x).collect();
            each.retain(|weight| *weight > 0.0);
            counted
        } else {
            values
        };
        // Above 0 where there is a zero, whatever the rounding.
        let zeros = || (total - each.iter().sum::<f64>()).max(f64::MIN_POSITIVE);
        let zeros = if values.len() == counting { 0.0 } else { zeros() };
        Self { values, weights: Some(each), zeros }
    }

    /// The values that are not missing.
    pub(crate) fn without_missing(self) -> Self {
        if !self.values.iter().any(|x| x.is_nan()) {
            return self;
        }
        let there = |at: &usize| !self.values[*at].is_nan();
        let places: Vec<usize> = (0..self.values.len()).filter(there).collect();
        let weights = self.weights.map(|weights| places.iter().map(|&at| weights[at]).collect());
        Self { values: places.iter().map(|&at| self.values[at]).collect(), weights, zeros: self.zeros }
    }

    /// How many times the value at this place counts.
    fn weight(&self, at: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[at])
    }

    /// The sum of a function of the values that are stored.
    pub(crate) fn sum(&self, of: impl Fn(f64) -> f64) -> f64 {
        match &self.weights {
            None => self.values.iter().map(|&x| of(x)).sum(),
            Some(weights) => self.values.iter().zip(weights).map(|(&x, weight)| weight * of(x)).sum(),
        }
    }

    /// How many values there are, zeros among them.
    pub(crate) fn total(&self) -> f64 {
        self.zeros + self.weights.as_ref().map_or(self.values.len() as f64, |weights| weights.iter().sum())
    }

    /// The least value and the largest, zeros among them; none where there is no value.
    pub(crate) fn extremes(&self) -> Option<(f64, f64)> {
        let zero = (self.zeros > 0.0).then_some(0.0);
        let values = || self.values.iter().copied().chain(zero);
        values().reduce(f64::min).zip(values().reduce(f64::max))
    }

    /// The distinct values, ascending, and how many times each counts.
    pub(crate) fn counted(&self) -> Vec<(f64, f64)> {
        let mut counted: Vec<(f64, f64)> =
            self.values.iter().enumerate().map(|(at, &x)| (x, self.weight(at))).collect();
        if self.zeros > 0.0 {
            counted.push((0.0, self.zeros));
        }
        // Weights of equal values are added up in the order of the rows.
        counted.sort_by(|a, b| a.0.total_cmp(&b.0));
        counted.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        counted
    }
}

/// Stored values of column j.
pub(crate) fn stored(features: &Features, j: usize) -> Cow<'_, [f64]> {
    match features {
        Features::Dense(design) => design.column(j).into(),
        Features::Sparse(design) => design.column(j).1.into(),
        Features::Mapped(design) => design.values(j).into(),
        Features::Centred(_) => features.column(j).into(),
    }
}
