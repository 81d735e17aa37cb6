//! Correlated: normal features whose correlation falls with their distance, labelled by a sum of
//! few of them at equal distances, with noise.
//!
//! Model    x_i normal, `Cov(x_ij, x_il) = R^|j - l|`;  y_i = 1 if w.x_i + s e_i >= 0, else -1; e_i
//!          standard normal, `s^2 = w'Cov w / snr`.
//! Paper    Liu, Shafiee, Lodi, Scalable first-order method for certifying optimal k-sparse GLMs,
//!          2025, section 5, and others on certified sparse models: `w_j = 1` for k features p / k
//!          apart, else 0.
//! Steps    1. the k positions  2. the noise's deviation  3. draw points, feature after feature: `x_j
//!          = R x_(j-1) + (1 - R^2)^(1/2) g_j`  4. label them
//! Differs  The papers say "j mod (p / k) = 0" with features counted from 1; taken here: feature
//!          `floor((m + 1) p / k)`, counted from 1, for m = 0 to k - 1, which is the same where k
//!          divides p.
//! Fails    Settings out of range; a set whose samples are all on one side.

use fewest_svm::{DenseDesign, Error};
use serde::{Deserialize, Serialize, Serializer};

use super::{Generator, SampleSet, check_relevant, dataset};
use crate::matrix::random::Random;
use crate::{DataError, Dataset, Features};

/// Settings of a correlated set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CorrelatedSettings {
    /// Number of features p, at least 1.
    pub features: usize,
    /// Number k of features with weight 1, from 1 to p.
    pub relevant: usize,
    /// Correlation R of neighbours, 0 or more and below 1; default 0.9.
    pub correlation: f64,
    /// Variance of w.x over that of the noise, above 0; default 5, infinite for no noise.
    #[serde(serialize_with = "or_inf")]
    pub snr: f64,
    /// Seed, default 1.
    pub seed: u64,
}

impl CorrelatedSettings {
    /// The defaults for k of p features.
    pub fn new(features: usize, relevant: usize) -> Self {
        Self { features, relevant, correlation: 0.9, snr: 5.0, seed: 1 }
    }

    /// Refuses settings out of range.
    fn check(&self) -> Result<(), Error> {
        check_relevant(self.features, self.relevant)?;
        if !(self.correlation >= 0.0 && self.correlation < 1.0) {
            return Err(Error::setting("correlation", self.correlation, "0 or more and below 1"));
        }
        if self.snr.is_nan() || self.snr <= 0.0 {
            return Err(Error::setting("snr", self.snr, "above 0"));
        }
        Ok(())
    }
}

/// Writes a number; JSON knows no infinity.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn or_inf<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    if number.is_finite() { to.serialize_f64(*number) } else { to.serialize_str("inf") }
}

/// The true weights, and the points to come.
#[derive(Debug, Clone)]
pub struct Correlated {
    settings: CorrelatedSettings,
    /// Length p.
    weights: Vec<f64>,
    /// Standard deviation s of the noise.
    noise_sd: f64,
}

impl Correlated {
    /// Steps 1 and 2.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(settings: CorrelatedSettings) -> Result<Self, DataError> {
        settings.check()?;
        let (p, k) = (settings.features, settings.relevant);
        let mut weights = vec![0.0; p];
        let support: Vec<usize> = (1..=k).map(|m| (m as u128 * p as u128 / k as u128) as usize - 1).collect();
        for &j in &support {
            weights[j] = 1.0;
        }
        let row = |&j: &usize| -> f64 {
            support.iter().map(|&l| libm::pow(settings.correlation, j.abs_diff(l) as f64)).sum()
        };
        let variance: f64 = support.iter().map(row).sum();
        let noise_sd = (variance / settings.snr).sqrt();
        Ok(Self { settings, weights, noise_sd })
    }
}

impl Generator for Correlated {
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let (n, p) = (samples, self.settings.features);
        let correlation = self.settings.correlation;
        let own = (1.0 - correlation * correlation).sqrt();
        let mut random = Random::new(self.settings.seed, part.stream());
        let mut values = vec![0.0; n * p];
        let mut sides = Vec::with_capacity(n);
        for i in 0..n {
            let (mut x, mut sum) = (0.0, 0.0);
            for j in 0..p {
                let fresh = random.normal();
                x = if j == 0 { fresh } else { correlation * x + own * fresh };
                values[j * n + i] = x;
                sum += self.weights[j] * x;
            }
            // Noise is drawn even where it counts for nothing, so that snr changes labels and never
            // points.
            sides.push(sum + self.noise_sd * random.normal() >= 0.0);
        }
        dataset(
            Features::Dense(DenseDesign::new(n, p, values)?),
            &sides,
            part,
            "correlated features",
            self.settings.seed,
        )
    }

    fn support(&self) -> Vec<usize> {
        (0..self.weights.len()).filter(|&j| self.weights[j] != 0.0).collect()
    }

    fn weights(&self) -> Option<&[f64]> {
        Some(&self.weights)
    }
}
