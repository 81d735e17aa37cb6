//! Values of options: from text to numbers, times, sizes and choices. What is refused says what it
//! must be: a text that begins with "must" follows "--option is VALUE, but"; any other follows
//! "--option:".

use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fewest_eval::sizes::Reach;
use serde::de::DeserializeOwned;

use super::notation;

/// A number that fits, or what it must be.
fn number(text: &str, fits: impl Fn(f64) -> bool, must: &str) -> Result<f64, String> {
    text.parse().ok().filter(|x| fits(*x)).ok_or_else(|| format!("must be {must}"))
}

/// A finite number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0 && x.is_finite(), "a finite number above 0")
}

/// A finite number, 0 or more.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 0.0 && x.is_finite(), "a finite number, 0 or more")
}

/// A share, 0 or more: a number, or a percentage such as 2%.
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 0.01));
    let share = not_negative(number).map(|x| x * unit);
    share.map_err(|_| "must be a finite number, 0 or more, or a percentage such as 2%".to_owned())
}

/// A finite number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    number(text, f64::is_finite, "a finite number")
}

/// A number between 0 and 1, neither of which it is.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0 && x < 1.0, "between 0 and 1")
}

/// A number above 0, up to 1.
pub(crate) fn share_up_to_one(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0 && x <= 1.0, "above 0 and at most 1")
}

/// A share from 0 to below 1: a number, or a percentage such as 1%.
pub(crate) fn small_share(text: &str) -> Result<f64, String> {
    let range = "must be at least 0 and below 1, or a percentage such as 1%";
    percentage(text).ok().filter(|share| *share < 1.0).ok_or_else(|| range.to_owned())
}

/// A number of halves: 0, or an even one.
pub(crate) fn halves(text: &str) -> Result<usize, String> {
    let count = text.parse::<usize>().ok().filter(|count| count % 2 == 0);
    count.ok_or_else(|| "must be an even whole number, as halves are pairs; 0 for none".to_owned())
}

/// A number above one half, up to 1.
pub(crate) fn more_than_half(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.5 && x <= 1.0, "above 0.5 and at most 1")
}

/// A number from 0 to below 1.
pub(crate) fn below_one(text: &str) -> Result<f64, String> {
    number(text, |x| (0.0..1.0).contains(&x), "at least 0 and below 1")
}

/// A finite number, 1 or more.
pub(crate) fn one_or_more(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 1.0 && x.is_finite(), "a finite number, 1 or more")
}

/// Limits from below and from above, one of which may be left out: LOW..HIGH.
pub(crate) fn limits(text: &str) -> Result<[Option<f64>; 2], String> {
    let must = || "must be LOW..HIGH, LOW.. or ..HIGH, with finite numbers, the smaller one first".to_owned();
    let side = |text: &str| match text {
        "" => Ok(None),
        _ => finite(text).map(Some).map_err(|_| must()),
    };
    let (low, high) = text.split_once("..").ok_or_else(must)?;
    match [side(low.trim())?, side(high.trim())?] {
        [None, None] => Err(must()),
        [Some(low), Some(high)] if low > high => Err(must()),
        limits => Ok(limits),
    }
}

/// A count of 0 or more.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "must be an integer, 0 or more".to_owned())
}

/// The largest number of a feature.
pub(crate) fn feature_number(text: &str) -> Result<u64, String> {
    let most = u32::MAX;
    let fits = |k: &u64| (1..=u64::from(most)).contains(k);
    text.parse()
        .ok()
        .filter(fits)
        .ok_or_else(|| format!("must be an integer from 1 to {most}, which is the most there is"))
}

/// A count of at least this.
fn at_least<T: std::str::FromStr + PartialOrd + Copy + std::fmt::Display>(text: &str, least: T) -> Result<T, String> {
    text.parse().ok().filter(|k| *k >= least).ok_or_else(|| format!("must be an integer, at least {least}"))
}

/// A count of at least 1.
pub(crate) fn at_least_one(text: &str) -> Result<u64, String> {
    at_least(text, 1)
}

/// A size of at least 1.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    at_least(text, 1)
}

/// A number of folds.
pub(crate) fn folds(text: &str) -> Result<usize, String> {
    at_least(text, 2)
}

/// Shares of two classes that are to be reached: `sensitivity=0.9,specificity=0.8`, or one of them.
pub(crate) fn reach(text: &str) -> Result<Reach, String> {
    let mut reach = Reach::default();
    for (name, least) in notation::weighted(text)? {
        let place = match name.as_str() {
            "sensitivity" => &mut reach.sensitivity,
            "specificity" => &mut reach.specificity,
            _ => return Err(format!("`{name}` is neither sensitivity nor specificity")),
        };
        if place.is_some() {
            return Err(format!("{name} is given twice"));
        }
        *place = Some(share_up_to_one(&least.to_string()).map_err(|range| format!("{name} {range}"))?);
    }
    Ok(reach)
}

/// A time.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    notation::time(text)
}

/// A number of bytes.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    notation::size(text)
}

/// Costs: numbers above 0, in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Costs(pub(crate) Vec<f64>);

impl std::str::FromStr for Costs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |entry: &str| format!("must be numbers above 0 with commas between, and `{entry}` is none");
        let number = |entry: &str| positive(entry.trim()).map_err(|_| wrong(entry));
        let mut costs = text.split(',').map(number).collect::<Result<Vec<f64>, String>>()?;
        costs.sort_by(f64::total_cmp);
        costs.dedup();
        Ok(Self(costs))
    }
}

/// One of several names, each with what it means, as the library's settings have them in JSON.
pub(crate) fn choice<T>(names: &[(&'static str, &'static str)]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    let names: Vec<PossibleValue> = names.iter().map(|(name, help)| PossibleValue::new(*name).help(*help)).collect();
    PossibleValuesParser::new(names).try_map(|name| serde_json::from_value(serde_json::Value::String(name)))
}
