//! gamma of a kernel: a number, or a rule that finds one from the data.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use super::sigest::sigest;
use super::sigest::weighted_sigest;
use super::{Distance, Distances, Kernel};
use crate::{Clock, Design, Error};

/// The rule by which gamma is found. As text, and so in JSON: a number, `scale`, `1/p`, `sigest` or
/// `sigest:BETA`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "GammaText", try_from = "GammaText")]
pub enum Gamma {
    /// This number, above 0.
    Number(f64),
    /// `1 / (K Var X)`, for absolute differences `1 / (K sd X)`, K the number of features that may
    /// be chosen; see [`scale`].
    Scale,
    /// This share, above 0, of `1 / median distance`; see [`sigest`].
    Sigest(f64),
    /// `1 / k`, k the number of features trained on.
    PerFeature,
}

impl Gamma {
    /// The form that a text must have.
    pub const FORMAT: &str = "a number above 0, 1/p, scale, sigest, or sigest:BETA with BETA above 0";

    /// Checks the number.
    ///
    /// # Errors
    /// [`Error::Setting`] when it is not finite and above 0.
    pub fn check(self) -> Result<(), Error> {
        match self {
            Gamma::Number(number) | Gamma::Sigest(number) if !(number > 0.0 && number.is_finite()) => {
                Err(Error::setting("gamma", number, "a finite number above 0"))
            }
            _ => Ok(()),
        }
    }

    /// The number for squared distances where at most `most` features are chosen.
    ///
    /// # Errors
    /// A number out of range; for `sigest` the errors of [`sigest`].
    pub fn number(self, design: &dyn Design, most: usize) -> Result<f64, Error> {
        self.weighted_number(design, None, most)
    }

    /// [`Gamma::number`], sample i counting as `counts[i]` samples (1 for none).
    ///
    /// # Errors
    /// As [`Gamma::number`]; counts that do not fit the samples.
    pub fn weighted_number(self, design: &dyn Design, counts: Option<&[f64]>, most: usize) -> Result<f64, Error> {
        let found = self.number_within(design, counts, most, &Distances::squared(), &Clock::unlimited())?;
        Ok(found.expect("a clock without limits does not stop"))
    }

    /// [`Gamma::weighted_number`] for these distances, or nothing once the clock says stop.
    pub fn number_within(
        self,
        design: &dyn Design,
        counts: Option<&[f64]>,
        most: usize,
        distances: &Distances,
        clock: &Clock,
    ) -> Result<Option<f64>, Error> {
        self.check()?;
        check_counts(counts, design.n_samples())?;
        Ok(match self {
            Gamma::Number(gamma) => Some(gamma),
            Gamma::Scale => Some(scale(design, counts, most, distances)),
            Gamma::Sigest(share) => weighted_sigest(design, counts, most, distances, clock)?.map(|gamma| share * gamma),
            Gamma::PerFeature => Some(1.0 / most.max(1) as f64),
        })
    }
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gamma::Number(number) => write!(f, "{number}"),
            Gamma::Scale => f.write_str("scale"),
            Gamma::Sigest(share) => write!(f, "sigest:{share}"),
            Gamma::PerFeature => f.write_str("1/p"),
        }
    }
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let number = |text: &str| text.parse::<f64>().ok().filter(|x| *x > 0.0 && x.is_finite());
        let gamma = match text {
            "scale" => Some(Gamma::Scale),
            "1/p" => Some(Gamma::PerFeature),
            "sigest" => Some(Gamma::Sigest(1.0)),
            _ => match text.strip_prefix("sigest:") {
                Some(share) => number(share).map(Gamma::Sigest),
                None => number(text).map(Gamma::Number),
            },
        };
        gamma.ok_or_else(|| Error::setting("gamma", text, Gamma::FORMAT))
    }
}

/// gamma as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum GammaText {
    Number(f64),
    Rule(String),
}

impl From<Gamma> for GammaText {
    fn from(gamma: Gamma) -> Self {
        match gamma {
            Gamma::Number(number) => GammaText::Number(number),
            rule => GammaText::Rule(rule.to_string()),
        }
    }
}

impl TryFrom<GammaText> for Gamma {
    type Error = Error;

    fn try_from(text: GammaText) -> Result<Self, Error> {
        match text {
            GammaText::Number(number) => Gamma::Number(number).check().map(|()| Gamma::Number(number)),
            GammaText::Rule(rule) => rule.parse(),
        }
    }
}

/// A kernel of features, and how its gamma is found. In JSON: `{kind, gamma, coef0, degree}`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "KernelParts", try_from = "KernelParts")]
pub struct KernelRule {
    /// The kernel; its own gamma is not used.
    kernel: Kernel,
    /// How gamma is found.
    gamma: Gamma,
}

impl Default for KernelRule {
    fn default() -> Self {
        Kernel::Linear.into()
    }
}

impl From<Kernel> for KernelRule {
    fn from(kernel: Kernel) -> Self {
        Self { kernel, gamma: Gamma::Number(kernel.gamma().unwrap_or(1.0)) }
    }
}

impl KernelRule {
    /// This kernel, with a gamma found by the rule.
    pub const fn new(kernel: Kernel, gamma: Gamma) -> Self {
        Self { kernel, gamma }
    }

    /// Whether the kernel is linear.
    pub fn is_linear(&self) -> bool {
        self.kernel == Kernel::Linear
    }

    /// The kernel, without its gamma.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// How gamma is found.
    pub fn gamma(&self) -> Gamma {
        self.gamma
    }

    /// With gamma as a number, unless it depends on the features trained on: now that there are
    /// data, of which at most `most` features are chosen.
    pub fn resolve(self, design: &dyn Design, most: usize) -> Result<Self, Error> {
        let found = self.resolve_within(design, None, most, &Clock::unlimited())?;
        Ok(found.expect("a clock without limits does not stop"))
    }

    /// [`KernelRule::resolve`], or nothing once the clock says stop.
    pub fn resolve_within(
        self,
        design: &dyn Design,
        counts: Option<&[f64]>,
        most: usize,
        clock: &Clock,
    ) -> Result<Option<Self>, Error> {
        if self.is_linear() || self.gamma == Gamma::PerFeature {
            return Ok(Some(self));
        }
        let distances = Distances::new(&self.kernel, &[]);
        let found = self.gamma.number_within(design, counts, most, &distances, clock)?;
        Ok(found.map(|gamma| Self { gamma: Gamma::Number(gamma), ..self }))
    }

    /// The kernel of a run that was stopped before gamma was found: gamma is NaN.
    pub fn without_gamma(&self) -> Kernel {
        if self.is_linear() { self.kernel } else { self.kernel.with_gamma(f64::NAN) }
    }

    /// The kernel for this many features, once gamma is resolved.
    pub fn at(&self, features: usize) -> Kernel {
        match self.gamma {
            Gamma::Number(gamma) => self.kernel.with_gamma(gamma),
            _ => self.kernel.with_gamma(1.0 / features.max(1) as f64),
        }
    }

    /// Checks gamma and degree.
    ///
    /// # Errors
    /// [`Error::Setting`] for values out of range, and for a precomputed kernel, which has no
    /// features.
    pub fn check(&self) -> Result<(), Error> {
        if self.kernel == Kernel::Precomputed {
            return Err(Error::setting(
                "kernel",
                "precomputed",
                "one of the features: linear, rbf, laplace, poly or sigmoid",
            ));
        }
        self.gamma.check()?;
        self.kernel.with_gamma(1.0).check()
    }
}

/// A kernel rule as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelParts {
    kind: KernelKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gamma: Option<Gamma>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    coef0: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    degree: Option<u32>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KernelKind {
    Linear,
    Rbf,
    Laplace,
    Poly,
    Sigmoid,
}

impl From<KernelRule> for KernelParts {
    fn from(rule: KernelRule) -> Self {
        let (kind, coef0, degree) = match rule.kernel {
            Kernel::Linear | Kernel::Precomputed => (KernelKind::Linear, None, None),
            Kernel::Rbf { .. } => (KernelKind::Rbf, None, None),
            Kernel::Laplace { .. } => (KernelKind::Laplace, None, None),
            Kernel::Poly { coef0, degree, .. } => (KernelKind::Poly, Some(coef0), Some(degree)),
            Kernel::Sigmoid { coef0, .. } => (KernelKind::Sigmoid, Some(coef0), None),
        };
        Self { kind, gamma: (!rule.is_linear()).then_some(rule.gamma), coef0, degree }
    }
}

impl TryFrom<KernelParts> for KernelRule {
    type Error = Error;

    fn try_from(parts: KernelParts) -> Result<Self, Error> {
        let (gamma, coef0) = (1.0, parts.coef0.unwrap_or(0.0));
        let kernel = match parts.kind {
            KernelKind::Linear => Kernel::Linear,
            KernelKind::Rbf => Kernel::Rbf { gamma },
            KernelKind::Laplace => Kernel::Laplace { gamma },
            KernelKind::Poly => Kernel::Poly { gamma, coef0, degree: parts.degree.unwrap_or(3) },
            KernelKind::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
        };
        let rule = Self::new(kernel, parts.gamma.unwrap_or(Gamma::PerFeature));
        rule.check().map(|()| rule)
    }
}

/// One count, 0 or more, for each sample, not all 0; or none.
fn check_counts(counts: Option<&[f64]>, n: usize) -> Result<(), Error> {
    let Some(counts) = counts else { return Ok(()) };
    if counts.len() != n {
        return Err(Error::Data(format!("{} counts for {n} samples; give one for each", counts.len())));
    }
    match counts.iter().find(|c| !(**c >= 0.0 && c.is_finite())) {
        Some(bad) => Err(Error::setting("counts", bad, "a finite number, 0 or more")),
        None if counts.iter().all(|c| *c == 0.0) => Err(Error::Data("all samples count as 0; one must count".into())),
        None => Ok(()),
    }
}

/// `1 / (most Var X)`, scikit-learn's rule where all `most` features are chosen: Var the population
/// variance of all values of the features that hold numbers, in which sample i counts as
/// `counts[i]` samples (1 for none). gamma is per unit of the distance, so for absolute differences
/// it is `1 / (most sd X)`, sd the root of that variance. The distance of categories has no unit:
/// `1 / most` where all features hold them. 1 where all numbers are equal.
pub fn scale(design: &dyn Design, counts: Option<&[f64]>, most: usize, distances: &Distances) -> f64 {
    let numbers: Vec<usize> = (0..design.n_features()).filter(|&j| !distances.is_categorical(j)).collect();
    if numbers.is_empty() {
        return 1.0 / most.max(1) as f64;
    }
    let (n, p) = (design.n_samples(), numbers.len());
    let (mut sum, mut squares) = (0.0, 0.0);
    for j in numbers {
        design.each_in_column(j, &mut |i, x| {
            let count = counts.map_or(1.0, |counts| counts[i]);
            sum += count * x;
            squares += count * x * x;
        });
    }
    let total = counts.map_or(n as f64, |counts| counts.iter().sum()) * p as f64;
    let variance = squares / total - (sum / total).powi(2);
    let unit = if distances.of_numbers() == Distance::Absolute { variance.sqrt() } else { variance };
    let gamma = 1.0 / (most.max(1) as f64 * unit);
    if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
}
