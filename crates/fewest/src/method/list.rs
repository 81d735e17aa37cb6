//! What the enum of a list of methods ([`methods!`](crate::methods)) does with each: refuse what it does
//! not take, and recentre features that are far from 0.

use super::path::SizeReport;
use super::{Method, Report};
use crate::design::Recentred;
use crate::{Error, Limits, Observer, RuleList, Rules, Samples, Setting};

/// The settings of a method, and its gap where it has a bound.
pub fn settings_of<M: Method>() -> Vec<Setting> {
    let mut all = Setting::all::<M>();
    if M::INFO.bounds {
        let text =
            "Proven best means that at most this share of what features can gain is left open, and of the objective.";
        let default = Limits::default().gap_rel.into();
        all.push(Setting { name: "gap", default, range: Some("a finite number, 0 or more"), text: text.to_owned() });
    }
    all
}

/// Refuses rules that bound weights where the method of this name is none of those that obey them.
///
/// # Errors
/// [`Error::Rules`] with the methods that do.
pub fn check_weight_bounds(name: &str, rules: &RuleList, bounding: &[&str]) -> Result<(), Error> {
    if rules.weights.is_empty() || bounding.contains(&name) {
        return Ok(());
    }
    Err(Error::Rules(format!(
        "{name} does not obey signs of weights or bounds on them; leave them out, or use a method that does: {}",
        bounding.join(", ")
    )))
}

/// Refuses tasks where the method of this name is none of those that take them.
///
/// # Errors
/// [`Error::Data`] with the methods that do.
pub fn check_tasks(name: &str, tasking: &[&str]) -> Result<(), Error> {
    if tasking.contains(&name) {
        return Ok(());
    }
    Err(Error::Data(format!(
        "{name} selects for one task; leave tasks out, or use a method that takes several: {}",
        tasking.join(", ")
    )))
}

/// [`Method::select`], on recentred features where they are far from 0.
///
/// # Errors
/// As there.
pub fn select<M: Method>(
    method: &M,
    samples: &Samples<'_>,
    rules: &Rules,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Report, Error> {
    let Some(recentred) = recentred(method, samples, observer) else {
        return method.select(samples, rules, limits, observer);
    };
    Ok(method.select(&samples.of(&recentred), rules, limits, observer)?.restored(&recentred))
}

/// [`Method::path`], on recentred features where they are far from 0.
///
/// # Errors
/// As there.
pub fn path<M: Method>(
    method: &M,
    samples: &Samples<'_>,
    rules: &Rules,
    sizes: &[usize],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<SizeReport>, Error> {
    let Some(recentred) = recentred(method, samples, observer) else {
        return method.path(samples, rules, sizes, limits, observer);
    };
    let found = method.path(&samples.of(&recentred), rules, sizes, limits, observer)?;
    let restored = |size: SizeReport| SizeReport { report: size.report.restored(&recentred), ..size };
    Ok(found.into_iter().map(restored).collect())
}

/// The data less the middles of the features far from 0, where that changes nothing but a bias. A
/// proof speaks of the data as they are.
fn recentred<'a, M: Method>(method: &M, samples: &Samples<'a>, observer: &mut dyn Observer) -> Option<Recentred<'a>> {
    Recentred::all(samples.design(), method.absorbs_constants() && observer.proof().is_none())
}
