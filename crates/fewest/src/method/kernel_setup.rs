//! What a method finds out before its run begins: the gamma of its kernel, within the limits, and
//! which features it begins with.

use std::borrow::Cow;
use std::time::Instant;

use super::Report;
use crate::kernel::KernelRule;
use crate::{Clock, Error, Limits, Observer, RuleList, Rules, Run, Samples, Selection, Sense, Subset};

/// A kernel whose gamma is a number, and the limits that are left.
pub(super) type Begun = (KernelRule, Limits);

/// Finds gamma where at most `most` features are chosen, as [`begin_with`].
///
/// # Errors
/// Limits out of range; those of [`KernelRule::resolve`].
pub fn begin(
    rule: &KernelRule,
    samples: &Samples<'_>,
    rules: &Rules,
    most: usize,
    limits: Limits,
    sense: Sense,
    observer: &mut dyn Observer,
) -> Result<Result<Begun, Box<Selection>>, Error> {
    begin_with(
        |clock| rule.resolve_within(samples.design(), samples.counts(), most, clock),
        rules,
        limits,
        sense,
        observer,
    )
}

/// What `find` finds within the limits, and what is left of these; where a limit comes first, what
/// the run that was to begin has found: nothing.
///
/// # Errors
/// Limits out of range; those of `find`.
pub fn begin_with<T>(
    find: impl FnOnce(&Clock) -> Result<Option<T>, Error>,
    rules: &Rules,
    limits: Limits,
    sense: Sense,
    observer: &mut dyn Observer,
) -> Result<Result<(T, Limits), Box<Selection>>, Error> {
    let (begun, clock) = (Instant::now(), Clock::new(&limits));
    // A run that has no time at all may still find a first subset of small data.
    let clock = if clock.stop().is_some() { clock.wind_up(1.0) } else { clock };
    if let Some(found) = find(&clock)? {
        return Ok(Ok((found, limits.after(begun))));
    }
    let status = clock.stop().expect("nothing is found only when the clock says stop");
    let outcome = Run::new(rules, limits, sense, observer)?.finish(status);
    Ok(Err(Box::new(Selection { outcome, ranking: Vec::new(), solutions: Vec::new() })))
}

/// The report of a run that ended before it had a gamma.
pub fn without_gamma(selection: Selection, rule: &KernelRule) -> Report {
    Report::new(selection, rule.without_gamma())
}

/// Checks the indices of the start features.
pub fn check_start(start: Option<&[usize]>, p: usize) -> Result<(), Error> {
    match start.and_then(|start| start.iter().find(|j| **j >= p)) {
        Some(j) => Err(Error::setting("start", j, format!("features below {p}"))),
        None => Ok(()),
    }
}

/// The rules of a method that begins with these features: all others are forbidden.
///
/// # Errors
/// [`Error::Rules`] where no allowed subset lies within them.
pub(super) fn within<'a>(rules: &'a Rules, start: Option<&[usize]>) -> Result<Cow<'a, Rules>, Error> {
    let Some(start) = start else { return Ok(Cow::Borrowed(rules)) };
    check_start(Some(start), rules.p())?;
    let start = Subset::from_indices(rules.p(), start.iter().copied());
    let mut list: RuleList = rules.list().clone();
    list.forbid.extend((0..rules.p()).filter(|&j| !start.contains(j)));
    let begun = Rules::new(rules.p(), list, &[]).map_err(|error| {
        let size = start.len();
        Error::Rules(format!("the {size} features to start from hold no subset that the rules allow: {error}"))
    })?;
    Ok(Cow::Owned(begun))
}
