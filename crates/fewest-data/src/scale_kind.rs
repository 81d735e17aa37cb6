//! How features are scaled, as a setting.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How features are scaled. As text, in options and results: `standard`, `maxabs`, `none`, `range`
/// (to [-1, 1]), `range:0..1`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ScaleKind {
    /// Minus the mean, over the population standard deviation (1/n).
    Standard,
    /// Over the largest absolute value; keeps zeros.
    MaxAbs,
    /// The least value to the low end and the largest to the high end. Other samples may be beyond
    /// the ends: they are not cut.
    Range(Interval),
    /// Unchanged.
    None,
}

/// An interval with ends: the low end is below the high one, and both are at most
/// [`fewest_svm::LARGEST_VALUE`] in size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    low: f64,
    high: f64,
}

impl Default for Interval {
    /// [-1, 1].
    fn default() -> Self {
        Self { low: -1.0, high: 1.0 }
    }
}

impl Interval {
    /// The interval of these ends, if there is one.
    pub fn new(low: f64, high: f64) -> Option<Self> {
        let fits = |end: f64| end.abs() <= fewest_svm::LARGEST_VALUE;
        // Of -0 the sign would be written.
        (low < high && fits(low) && fits(high)).then_some(Self { low: low + 0.0, high: high + 0.0 })
    }

    /// The centre and the scale that bring values between these two, which differ, to the interval.
    pub(crate) fn center_and_scale(self, least: f64, most: f64) -> (f64, f64) {
        let scale = (most - least) / (self.high - self.low);
        (least - self.low * scale, scale)
    }
}

impl fmt::Display for ScaleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScaleKind::Standard => f.write_str("standard"),
            ScaleKind::MaxAbs => f.write_str("maxabs"),
            ScaleKind::Range(ends) if *ends == Interval::default() => f.write_str("range"),
            ScaleKind::Range(ends) => write!(f, "range:{}..{}", ends.low, ends.high),
            ScaleKind::None => f.write_str("none"),
        }
    }
}

impl FromStr for ScaleKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no scaling: standard, maxabs, none, range, or range:A..B from A to B above it (range:0..1)"
            )
        };
        match text {
            "standard" => Ok(ScaleKind::Standard),
            "maxabs" => Ok(ScaleKind::MaxAbs),
            "range" => Ok(ScaleKind::Range(Interval::default())),
            "none" => Ok(ScaleKind::None),
            _ => {
                let (low, high) =
                    text.strip_prefix("range:").and_then(|ends| ends.split_once("..")).ok_or_else(wrong)?;
                let ends = low.parse().ok().zip(high.parse().ok());
                ends.and_then(|(low, high)| Interval::new(low, high)).map(ScaleKind::Range).ok_or_else(wrong)
            }
        }
    }
}

impl TryFrom<String> for ScaleKind {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<ScaleKind> for String {
    fn from(kind: ScaleKind) -> String {
        kind.to_string()
    }
}
