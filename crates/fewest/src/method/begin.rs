//! What a method finds out before its run begins: the gamma of its kernel, within the limits.

use std::time::Instant;

use super::Report;
use crate::kernel::KernelRule;
use crate::{Clock, Error, Limits, Observer, Rules, Run, Samples, Selection, Sense};

/// A kernel whose gamma is a number, and the limits that are left.
pub(super) type Begun = (KernelRule, Limits);

/// Finds gamma where at most `most` features are chosen; where a limit comes first, what the run
/// that was to begin has found: nothing.
///
/// # Errors
/// Limits out of range; those of [`KernelRule::resolve`].
pub(super) fn begin(
    rule: &KernelRule,
    samples: &Samples<'_>,
    (rules, most): (&Rules, usize),
    limits: Limits,
    sense: Sense,
    observer: &mut dyn Observer,
) -> Result<Result<Begun, Box<Selection>>, Error> {
    let (begun, clock) = (Instant::now(), Clock::new(&limits));
    // A run that has no time at all may still find a first subset of small data.
    let clock = if clock.stop().is_some() { clock.wind_up(1.0) } else { clock };
    if let Some(kernel) = rule.resolve_within(samples.design(), most, &clock)? {
        return Ok(Ok((kernel, limits.after(begun))));
    }
    let status = clock.stop().expect("gamma is left out only when the clock says stop");
    let outcome = Run::new(rules, limits, sense, observer)?.finish(status);
    Ok(Err(Box::new(Selection { outcome, ranking: Vec::new(), solutions: Vec::new() })))
}

/// The report of a run that ended before it had a gamma.
pub(super) fn without_gamma(selection: Selection, rule: &KernelRule) -> Report {
    Report::new(selection, rule.without_gamma())
}
