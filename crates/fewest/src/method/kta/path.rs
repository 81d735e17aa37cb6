//! A path of `kta`: each size K starts from the subset of the size before; gamma is the same for
//! all.

use super::{KtaSettings, NAME, kta};
use crate::method::path::{PathClock, PathPoint, PathSize, parts_of, points, walk};
use crate::{Design, Error, Limits, Observer, Rules, Sense};

/// A path of [`kta`], with the same gamma for every size: for each the best subset and a bound.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, and those of [`kta`].
#[expect(clippy::too_many_arguments, reason = "those of kta, and the sizes")]
pub fn alignment_path(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    sizes: &[usize],
    settings: &KtaSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    let clock = PathClock::new(limits)?;
    let sizes = PathSize::all(rules, sizes)?;
    let mut parts = parts_of(NAME, rules, &sizes, observer)?;
    let found = walk(&sizes, Sense::Max, &clock, &mut parts, |_, rules, previous, limits, observer| {
        let mut settings = settings.clone();
        settings.start.extend(previous.cloned());
        kta(design, classes, weights, rules, &settings, limits, observer)
    })?;
    Ok(points(found))
}
