//! Hyperplane: random points, labelled by the side of a hyperplane through the origin with few
//! non-zero coefficients.
//!
//! Model    y_i = 1 if w.x_i + s e_i >= 0, else -1; e_i standard normal, s = `noise_sd` (0: the
//!          classes are separable).
//! Paper    Aytug, Feature selection for support vector machines using Generalized Benders
//!          Decomposition, EJOR 2015, section 4, data sets one and two: `Points::Ball`,
//!          `Coefficients::Normal`, no noise.
//! Steps    1. choose M of p positions  2. draw their coefficients  3. draw points  4. label them
//!          by their side
//! Differs  The paper says "random observations", "normalized to fit in a ball of radius one", "M
//!          nonzero random coefficients", and no more. Taken here: points uniform in the unit ball,
//!          coefficients standard normal, no intercept (so the classes are of about the same size),
//!          sets of one truth from streams of their own.
//! Fails    Settings out of range; a set whose samples are all on one side (likely for very few
//!          samples only).

use fewest_svm::{DenseDesign, Error};
use serde::{Deserialize, Serialize};

use super::{Generator, SampleSet, check_relevant, dataset};
use crate::matrix::random::Random;
use crate::{DataError, Dataset, Features};

/// Region of the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Points {
    /// Uniform in the ball of radius 1.
    #[default]
    Ball,
    /// Each feature standard normal.
    Normal,
}

/// The non-zero coefficients of the hyperplane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Coefficients {
    /// Standard normal.
    #[default]
    Normal,
    /// +1 or -1, even odds.
    Signs,
}

/// Settings of a set divided by a hyperplane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HyperplaneSettings {
    /// Number of features p, at least 1.
    pub features: usize,
    /// Number M of features with a non-zero coefficient, from 1 to p.
    pub relevant: usize,
    /// Region of the points; default uniform in the unit ball.
    pub points: Points,
    /// Non-zero coefficients; default standard normal. Used as drawn, so noise is in their unit.
    pub coefficients: Coefficients,
    /// Standard deviation s of the noise added to w.x before its sign is taken; 0 or more, default
    /// 0.
    pub noise_sd: f64,
    /// Seed, default 1.
    pub seed: u64,
}

impl HyperplaneSettings {
    /// The paper's data: M of p features, separable classes.
    pub fn new(features: usize, relevant: usize) -> Self {
        Self {
            features,
            relevant,
            points: Points::default(),
            coefficients: Coefficients::default(),
            noise_sd: 0.0,
            seed: 1,
        }
    }

    /// Refuses settings out of range.
    fn check(&self) -> Result<(), Error> {
        check_relevant(self.features, self.relevant)?;
        if !(self.noise_sd >= 0.0 && self.noise_sd.is_finite()) {
            return Err(Error::setting("noise_sd", self.noise_sd, "a finite number, 0 or more"));
        }
        Ok(())
    }
}

/// A hyperplane, and the points to come.
#[derive(Debug, Clone)]
pub struct Hyperplane {
    settings: HyperplaneSettings,
    /// Length p.
    weights: Vec<f64>,
}

impl Hyperplane {
    /// Draws the hyperplane.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(settings: HyperplaneSettings) -> Result<Self, DataError> {
        settings.check()?;
        let mut random = Random::new(settings.seed, 0);
        let mut weights = vec![0.0; settings.features];
        for j in random.sample(settings.features, settings.relevant) {
            weights[j] = match settings.coefficients {
                Coefficients::Signs => [-1.0, 1.0][usize::from(random.coin())],
                Coefficients::Normal => loop {
                    let weight = random.normal();
                    if weight != 0.0 {
                        break weight;
                    }
                },
            };
        }
        Ok(Self { settings, weights })
    }

    /// Fills `point`, length p.
    fn point(&self, random: &mut Random, point: &mut [f64]) {
        point.fill_with(|| random.normal());
        if self.settings.points == Points::Ball {
            // A normal vector has a uniform direction, and the p-th root of a uniform number is the
            // length to go with it.
            let length = point.iter().map(|x| x * x).sum::<f64>().sqrt();
            let radius = libm::pow(random.unit(), 1.0 / point.len() as f64);
            let scale = if length > 0.0 { radius / length } else { 0.0 };
            for x in point {
                *x *= scale;
            }
        }
    }
}

impl Generator for Hyperplane {
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let (n, p) = (samples, self.settings.features);
        let mut random = Random::new(self.settings.seed, part.stream());
        let mut values = vec![0.0; n * p];
        let mut point = vec![0.0; p];
        let mut sides = Vec::with_capacity(n);
        for i in 0..n {
            self.point(&mut random, &mut point);
            let distance: f64 = point.iter().zip(&self.weights).map(|(x, w)| x * w).sum();
            // Noise is drawn even where it counts for nothing, so that noise_sd changes labels and
            // never points.
            sides.push(distance + self.settings.noise_sd * random.normal() >= 0.0);
            for (j, &x) in point.iter().enumerate() {
                values[j * n + i] = x;
            }
        }
        dataset(Features::Dense(DenseDesign::new(n, p, values)?), &sides, part, "a hyperplane", self.settings.seed)
    }

    fn support(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&j| self.weights[j] != 0.0).collect()
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }
}
