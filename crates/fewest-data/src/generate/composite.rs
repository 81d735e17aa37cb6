//! Composite: two features that tell the classes apart only together, a third that is the best
//! alone, and noise.
//!
//! Model    y alternates. x1, x2 normal with means y a (1, -1), variance 1 and correlation r in
//!          either class; x3 normal with mean y c and variance 1; then noise without the class: the
//!          first half uniform, the other half normal, variance 1.
//! Paper    Tan, Wang, Tsang, Learning sparse SVM for feature selection on very high dimensional
//!          datasets, ICML 2010, section 3.1 and Figure 1, after Xu et al., Non-monotonic feature
//!          selection, ICML 2009.
//! Steps    for each sample: 1. x1, x2, x3  2. noise
//! Differs  The paper gives a picture and no numbers: two Gaussians for (f1, f2), f3 the most
//!          informative single feature. Taken here: both Gaussians lie along the diagonal and are
//!          shifted across it, so that a line parts them. Alone, x1 is right in Phi(a) of the cases
//!          and x3 in Phi(c); x1 and x2 together in Phi(a sqrt(2 / (1 - r))).
//! Fails    Settings out of range.

use fewest_svm::{DenseDesign, Error};
use serde::{Deserialize, Serialize};

use super::{Generator, SampleSet, dataset};
use crate::matrix::random::Random;
use crate::{DataError, Dataset, Features};

/// Settings of a composite set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompositeSettings {
    /// Noise features; 0 or more. There are 3 more features.
    pub noise: usize,
    /// a: distance of the class means of x1 and x2 from 0, above 0. Default 0.4.
    pub pair_shift: f64,
    /// r: correlation of x1 and x2 in each class, in [0, 1). Default 0.9.
    pub correlation: f64,
    /// c: distance of the class means of x3 from 0, above 0. Default 0.7.
    pub single_shift: f64,
    /// Seed, default 1.
    pub seed: u64,
}

impl CompositeSettings {
    /// So much noise.
    pub fn new(noise: usize) -> Self {
        Self { noise, pair_shift: 0.4, correlation: 0.9, single_shift: 0.7, seed: 1 }
    }

    /// Refuses settings out of range.
    fn check(&self) -> Result<(), Error> {
        for (name, shift) in [("pair_shift", self.pair_shift), ("single_shift", self.single_shift)] {
            if !(shift > 0.0 && shift.is_finite()) {
                return Err(Error::setting(name, shift, "a finite number above 0"));
            }
        }
        if !(0.0..1.0).contains(&self.correlation) {
            return Err(Error::setting("correlation", self.correlation, "0 or more and below 1"));
        }
        Ok(())
    }
}

/// The two Gaussians, and the samples to come.
#[derive(Debug, Clone)]
pub struct Composite {
    settings: CompositeSettings,
    /// The weights of the best linear classifier, length p.
    weights: Vec<f64>,
}

impl Composite {
    /// Works out the truth.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(settings: CompositeSettings) -> Result<Self, DataError> {
        settings.check()?;
        // The classes have the same covariance S: the best classifier is S^-1 (half the distance of
        // the means).
        let mut weights = vec![0.0; 3 + settings.noise];
        let pair = settings.pair_shift / (1.0 - settings.correlation);
        (weights[0], weights[1], weights[2]) = (pair, -pair, settings.single_shift);
        Ok(Self { settings, weights })
    }
}

impl Generator for Composite {
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let s = &self.settings;
        let (n, p) = (samples, self.weights.len());
        let mut random = Random::new(s.seed, part.stream());
        let mut values = vec![0.0; n * p];
        let mut sides = Vec::with_capacity(n);
        for i in 0..n {
            let positive = i % 2 == 0;
            let y = if positive { 1.0 } else { -1.0 };
            let (common, own) = (random.normal(), random.normal());
            let second = s.correlation * common + (1.0 - s.correlation * s.correlation).sqrt() * own;
            values[i] = y * s.pair_shift + common;
            values[n + i] = -y * s.pair_shift + second;
            values[2 * n + i] = y * s.single_shift + random.normal();
            for k in 0..s.noise {
                let uniform = k < s.noise.div_ceil(2);
                values[(3 + k) * n + i] =
                    if uniform { 3f64.sqrt() * (2.0 * random.unit() - 1.0) } else { random.normal() };
            }
            sides.push(positive);
        }
        dataset(Features::Dense(DenseDesign::new(n, p, values)?), &sides, part, "composite features", s.seed)
    }

    fn support(&self) -> Vec<usize> {
        vec![0, 1, 2]
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }
}
