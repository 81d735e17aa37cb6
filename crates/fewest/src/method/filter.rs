//! Filters: features ranked by a score of their own.

use crate::method::Selection;
use crate::{Design, Error, Limits, Observer, Rules};

/// How a numeric feature is cut into intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binning {
    /// Fayyad and Irani 1993: recursive cuts accepted by the minimum description length rule.
    Mdl,
    /// This many intervals with equally many samples.
    EqualFrequency(usize),
}

/// `info-gain`: the allowed subset with the largest total information gain (bits). `classes` holds the class of each sample, from 0.
///
/// # Errors
/// Settings out of range.
pub fn information_gain(
    design: &dyn Design,
    classes: &[u32],
    rules: &Rules,
    binning: Binning,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let _ = (design, classes, rules, binning, limits, observer);
    Err(Error::Data("info-gain is being built".into()))
}
