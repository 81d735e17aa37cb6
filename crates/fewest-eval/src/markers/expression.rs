//! What a feature is in each class: mean, and share of the samples where it is above 0.

use fewest::Design;
use rayon::prelude::*;
use serde::Serialize;

/// One feature in all classes, in units of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Expression {
    /// The feature's index.
    pub feature: usize,
    /// The feature's mean in each class, samples by their weights; missing values are left out.
    pub mean: Vec<f64>,
    /// The weighted share of the samples of each class where it is above 0.
    pub share: Vec<f64>,
}

impl Expression {
    /// The class of largest mean, the first of several.
    pub fn highest(&self) -> usize {
        (1..self.mean.len()).fold(0, |best, class| if self.mean[class] > self.mean[best] { class } else { best })
    }

    /// The largest mean of a class.
    pub fn largest(&self) -> f64 {
        self.mean[self.highest()]
    }
}

/// Samples by class, with weights; others are left out.
pub(crate) struct ByClass {
    /// The class of each sample of the design; none where it is left out.
    class: Vec<Option<u32>>,
    weights: Vec<f64>,
    totals: Vec<f64>,
}

impl ByClass {
    /// Samples `rows`, ascending, of all, whose classes and weights are given.
    pub(crate) fn new(codes: &[u32], weights: &[f64], rows: &[usize], n_classes: usize) -> Self {
        let (mut class, mut totals) = (vec![None; codes.len()], vec![0.0; n_classes]);
        for &i in rows {
            class[i] = Some(codes[i]);
            totals[codes[i] as usize] += weights[i];
        }
        Self { class, weights: weights.to_vec(), totals }
    }

    /// These features of a design that is not prepared.
    pub(crate) fn expressions(&self, design: &dyn Design, features: &[usize]) -> Vec<Expression> {
        features.par_iter().map(|&feature| self.expression(design, feature)).collect()
    }

    fn expression(&self, design: &dyn Design, feature: usize) -> Expression {
        let k = self.totals.len();
        let (mut sum, mut above, mut totals) = (vec![0.0; k], vec![0.0; k], self.totals.clone());
        design.each_in_column(feature, &mut |i, x| {
            let Some(class) = self.class[i] else { return };
            let (class, weight) = (class as usize, self.weights[i]);
            if x.is_nan() {
                totals[class] -= weight;
            } else {
                sum[class] += weight * x;
                above[class] += weight * f64::from(u8::from(x > 0.0));
            }
        });
        let over = |sums: Vec<f64>| -> Vec<f64> {
            let share = |(sum, total): (f64, &f64)| if *total > 0.0 { sum / total } else { 0.0 };
            sums.into_iter().zip(&totals).map(share).collect()
        };
        Expression { feature, mean: over(sum), share: over(above) }
    }
}
