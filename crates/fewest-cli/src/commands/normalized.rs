//! Totals of samples that come after those that were learnt from: they are of the features of their
//! own file.

use fewest_data::{Dataset, Format, Normalization, Normalized};

use crate::args::notation;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// How other samples are read where these were read so.
pub(super) fn normalization_of(learnt: Option<&Normalized>) -> Normalization {
    learnt.map(|done| done.how.clone()).unwrap_or_default()
}

/// Tells of totals over another number of features than in training.
///
/// # Errors
/// Fewer than half as many: such totals are others.
pub(super) fn check_totals(data: &Dataset, learnt: Option<&Normalized>, terminal: Terminal) -> Result<(), Failure> {
    let (Some(learnt), Some(done)) = (learnt, data.normalized()) else { return Ok(()) };
    let (then, now) = (learnt.features, done.features);
    // The last features of svmlight may be zeros, which are not written.
    let fewer = now < then && data.format != Format::Svmlight;
    if learnt.how.total.is_none() || !fewer && now <= then {
        return Ok(());
    }
    let over = format!(
        "{}: the total of each sample is over the {} of this file, in training it was over {then}",
        data.source,
        notation::plural(now, "feature")
    );
    if fewer && 2 * now < then {
        return Err(Failure::Input(format!(
            "{over}; totals of so few are others: give a file with all features that were measured"
        )));
    }
    terminal.warn(&format!("{over}; the values are comparable only where the others are rare"));
    Ok(())
}
