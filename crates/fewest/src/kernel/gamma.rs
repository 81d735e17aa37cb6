//! gamma of a kernel: a number, or a rule that finds one from the data.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Kernel;
use crate::{Design, Error};

/// How gamma is found. As text, and so in JSON: a number, `scale`, `1/p`, `sigest` or
/// `sigest:BETA`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "GammaText", try_from = "GammaText")]
pub enum Gamma {
    /// This number, above 0.
    Number(f64),
    /// `1 / (K Var X)`, K the number of features that may be chosen; see [`scale`].
    Scale,
    /// This share, above 0, of `1 / median squared distance`; see [`sigest`].
    Sigest(f64),
    /// `1 / k`, k the number of features trained on.
    PerFeature,
}

impl Gamma {
    /// What a text must be.
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

    /// The number where at most `most` features are chosen.
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
        self.check()?;
        check_counts(counts, design.n_samples())?;
        Ok(match self {
            Gamma::Number(gamma) => gamma,
            Gamma::Scale => scale(design, counts, most),
            Gamma::Sigest(share) => share * weighted_sigest(design, counts, most)?,
            Gamma::PerFeature => 1.0 / most.max(1) as f64,
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
    ///
    /// # Errors
    /// As [`Gamma::number`].
    pub fn resolve(self, design: &dyn Design, most: usize) -> Result<Self, Error> {
        if self.is_linear() || self.gamma == Gamma::PerFeature {
            return Ok(self);
        }
        Ok(Self { gamma: Gamma::Number(self.gamma.number(design, most)?), ..self })
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
            return Err(Error::setting("kernel", "precomputed", "one of the features: linear, rbf, poly or sigmoid"));
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
    Poly,
    Sigmoid,
}

impl From<KernelRule> for KernelParts {
    fn from(rule: KernelRule) -> Self {
        let (kind, coef0, degree) = match rule.kernel {
            Kernel::Linear | Kernel::Precomputed => (KernelKind::Linear, None, None),
            Kernel::Rbf { .. } => (KernelKind::Rbf, None, None),
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

/// sigest, eq. (54): `1 / median over pairs i < h of (theta / p) |x_i - x_h|^2`, over all p
/// features; `theta` is the most features a subset may have. The median of an even number of values
/// is the mean of the middle two.
///
/// # Errors
/// [`Error::Data`] when the median is 0: at least half of all pairs are equal.
pub fn sigest(design: &dyn Design, theta: usize) -> Result<f64, Error> {
    weighted_sigest(design, None, theta)
}

/// [`sigest`], sample i counting as `counts[i]` samples: the pair (i, h) counts as
/// `counts[i] counts[h]` pairs, and sample i makes `counts[i] (counts[i] - 1) / 2` pairs of
/// distance 0 with itself.
fn weighted_sigest(design: &dyn Design, counts: Option<&[f64]>, theta: usize) -> Result<f64, Error> {
    let (n, p) = (design.n_samples(), design.n_features());
    let columns: Vec<Vec<f64>> = (0..p)
        .map(|j| {
            let mut out = vec![0.0; n];
            design.add_column(j, 1.0, &mut out);
            out
        })
        .collect();
    let row = |i: usize, out: &mut Vec<f64>| {
        out.clear();
        out.resize(n - i - 1, 0.0);
        for column in &columns {
            crate::simd::add_squared_differences(1.0, column[i], &column[i + 1..], out);
        }
    };
    // Counts that are all 1 are none.
    let [lower, upper] = match counts.filter(|counts| counts.iter().any(|c| *c != 1.0)) {
        None => {
            let pairs = n as u64 * (n as u64 - 1) / 2;
            let lower = select(n, &row, (pairs - 1) / 2, GATHERED);
            [lower, if pairs.is_multiple_of(2) { select(n, &row, pairs / 2, GATHERED) } else { lower }]
        }
        Some(counts) => weighted_middle(n, &row, counts),
    };
    let median = theta as f64 / p as f64 * 0.5 * (lower + upper);
    if median > 0.0 && median.is_finite() {
        Ok(1.0 / median)
    } else {
        Err(Error::Data(format!(
            "the median distance of two samples is {median}, so sigest finds no gamma; give a number"
        )))
    }
}

/// `1 / (most Var X)`, scikit-learn's rule where all `most` features are chosen: Var the population
/// variance of all values of the design, in which sample i counts as `counts[i]` samples (1 for
/// none). 1 where all values are equal.
pub fn scale(design: &dyn Design, counts: Option<&[f64]>, most: usize) -> f64 {
    let (n, p) = (design.n_samples(), design.n_features());
    let (mut sum, mut squares) = (0.0, 0.0);
    for j in 0..p {
        design.each_in_column(j, &mut |i, x| {
            let count = counts.map_or(1.0, |counts| counts[i]);
            sum += count * x;
            squares += count * x * x;
        });
    }
    let total = counts.map_or(n as f64, |counts| counts.iter().sum()) * p as f64;
    let variance = squares / total - (sum / total).powi(2);
    let gamma = 1.0 / (most.max(1) as f64 * variance);
    if gamma > 0.0 && gamma.is_finite() { gamma } else { 1.0 }
}

/// Digits of a value in the radix selection.
const DIGITS: u32 = 16;
/// Values that are gathered and sorted rather than counted.
const GATHERED: u64 = 1 << 24;

/// The value of this rank (from 0) among the distances, all 0 or more: by the leading bits first,
/// until few are left.
fn select(n: usize, row: &(dyn Fn(usize, &mut Vec<f64>) + Sync), mut rank: u64, gathered: u64) -> f64 {
    let rows = || (0..n.saturating_sub(1)).into_par_iter();
    let mut left = n as u64 * (n as u64 - 1) / 2;
    let (mut prefix, mut known) = (0u64, 0u32);
    loop {
        let fits = |x: &f64| known == 0 || x.to_bits() >> (64 - known) == prefix;
        if left <= gathered || known == 64 {
            let gather = |i: usize| {
                let mut out = Vec::new();
                row(i, &mut out);
                out.retain(fits);
                out
            };
            let mut values: Vec<f64> = rows().flat_map_iter(gather).collect();
            return *values.select_nth_unstable_by(rank as usize, f64::total_cmp).1;
        }
        let zero = || vec![0u64; 1 << DIGITS];
        let count = |mut counts: Vec<u64>, i: usize| {
            let mut out = Vec::new();
            row(i, &mut out);
            for x in out.iter().filter(|x| fits(x)) {
                counts[(x.to_bits() >> (64 - known - DIGITS)) as usize & ((1 << DIGITS) - 1)] += 1;
            }
            counts
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let counts = rows().fold(zero, count).reduce(zero, add);
        let mut digit = 0;
        while rank >= counts[digit] {
            rank -= counts[digit];
            digit += 1;
        }
        (prefix, known, left) = (prefix << DIGITS | digit as u64, known + DIGITS, counts[digit]);
    }
}

/// The middle two of the distances where samples have counts: the smallest value that half of all
/// pairs do not exceed, and the smallest that more than half do not exceed. Digit by digit from the
/// leading bits, as in [`select`]. Counts of pairs are integers of a small unit, so that their sums
/// do not depend on the order.
fn weighted_middle(n: usize, row: &(dyn Fn(usize, &mut Vec<f64>) + Sync), counts: &[f64]) -> [f64; 2] {
    let largest = counts.iter().copied().fold(1.0, f64::max);
    // Below 2^40 units for each pair, of which there are fewer than 2^80; integer counts below 2^15
    // stay exact.
    let unit = f64::exp2(40.0) / f64::exp2((largest * largest).log2().ceil());
    let units = |pairs: f64| (pairs * unit).round() as u128;
    let with_itself: u128 = counts.iter().map(|c| units((c * (c - 1.0) / 2.0).max(0.0))).sum();
    // Units of pairs by the next digit, among the pairs whose leading bits are these.
    let histogram = |prefix: u64, known: u32| -> Vec<u128> {
        let zero = || vec![0u128; 1 << DIGITS];
        let add_row = |mut sums: Vec<u128>, i: usize| {
            let mut out = Vec::new();
            row(i, &mut out);
            for (x, count) in out.iter().zip(&counts[i + 1..]) {
                if known == 0 || x.to_bits() >> (64 - known) == prefix {
                    sums[(x.to_bits() >> (64 - known - DIGITS)) as usize & ((1 << DIGITS) - 1)] +=
                        units(counts[i] * count);
                }
            }
            sums
        };
        let add = |mut a: Vec<u128>, b: Vec<u128>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let mut sums = (0..n).into_par_iter().fold(zero, add_row).reduce(zero, add);
        if prefix == 0 {
            sums[0] += with_itself;
        }
        sums
    };
    let first = histogram(0, 0);
    let total: u128 = first.iter().sum();
    // The smallest value with more than `below` units up to it.
    let value = |mut below: u128| {
        let (mut prefix, mut known, mut sums) = (0u64, 0u32, first.clone());
        loop {
            let mut digit = 0;
            while digit + 1 < sums.len() && below >= sums[digit] {
                below -= sums[digit];
                digit += 1;
            }
            (prefix, known) = (prefix << DIGITS | digit as u64, known + DIGITS);
            if known == 64 {
                return f64::from_bits(prefix);
            }
            sums = histogram(prefix, known);
        }
    };
    let lower = value(total.div_ceil(2).saturating_sub(1));
    [lower, if total.is_multiple_of(2) { value(total / 2) } else { lower }]
}

#[cfg(test)]
mod tests {
    use super::{select, weighted_middle, weighted_sigest};
    use crate::DenseDesign;

    #[test]
    fn sigest_of_counted_samples_is_that_of_repeated_ones() {
        let x = [0.3, -1.0, 2.5, 0.9, 4.0, -0.2];
        for counts in [[1.0, 2.0, 0.0, 3.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 3.0, 2.0, 0.0, 4.0, 1.0]] {
            let repeated: Vec<f64> =
                x.iter().zip(counts).flat_map(|(x, count)| std::iter::repeat_n(*x, count as usize)).collect();
            let of = |x: &[f64], counts: Option<&[f64]>| {
                let design = DenseDesign::new(x.len(), 1, x.to_vec()).expect("a column");
                weighted_sigest(&design, counts, 1).expect("distances")
            };
            assert!((of(&x, Some(&counts)) - of(&repeated, None)).abs() < 1e-12, "{counts:?}");
        }
    }

    #[test]
    fn fractional_counts_scale() {
        let row = |i: usize, out: &mut Vec<f64>| out.extend((i + 1..9).map(|h| ((i * 31 + h * 17) % 23) as f64 * 0.37));
        // Without pairs of a sample with itself, which counts below 1 do not have, the middle does
        // not depend on the unit.
        let half = weighted_middle(9, &row, &[0.5; 9]);
        assert_eq!(half, weighted_middle(9, &row, &[0.25; 9]));
        let mut all = Vec::new();
        (0..9).for_each(|i| row(i, &mut all));
        all.sort_by(f64::total_cmp);
        assert_eq!(half, [all[17], all[18]]);
    }

    #[test]
    fn every_rank_is_that_of_the_sorted_values() {
        let n = 40;
        let row = |i: usize, out: &mut Vec<f64>| {
            out.extend((i + 1..n).map(|h| ((i * 31 + h * 17) % 23) as f64 * 0.37));
        };
        let mut all = Vec::new();
        (0..n).for_each(|i| row(i, &mut all));
        all.sort_by(f64::total_cmp);
        for rank in [0, 1, 100, 389, 390, 779] {
            assert_eq!(select(n, &row, rank as u64, 1000), all[rank]);
            assert_eq!(select(n, &row, rank as u64, 10), all[rank]);
        }
    }
}
