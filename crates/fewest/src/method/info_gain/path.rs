//! A path of `info-gain`: features are scored once; each size K is one question to
//! [`Rules::best_subset`].

use std::time::{Duration, Instant};

use super::{Binning, information_gain};
use crate::method::path::{PathPoint, PathSize};
use crate::{Clock, Design, Error, Limits, Observer, Outcome, Rules, Selection, Sense};

/// A path of [`information_gain`]: for each size the allowed subset with the largest total gain.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, and those of [`information_gain`].
#[expect(clippy::too_many_arguments, reason = "those of `information_gain`, and the sizes")]
pub fn information_gain_path(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    sizes: &[usize],
    binning: Binning,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    let sizes = PathSize::all(rules, sizes)?;
    let clock = Clock::new(limits);
    let scored = match sizes.iter().rev().find_map(|size| size.rules.as_ref()) {
        Some(rules) => Some(information_gain(design, classes, weights, rules, binning, limits.clone(), observer)?),
        None => None,
    };
    let mut points = Vec::new();
    for size in &sizes {
        let (Some(rules), Some(scored)) = (&size.rules, &scored) else {
            points.push(PathPoint { max_features: size.k, selection: PathSize::infeasible(Sense::Max) });
            continue;
        };
        let start = Instant::now();
        let mut gains = vec![0.0; rules.p()];
        for ranked in &scored.ranking {
            gains[ranked.feature] = ranked.criterion;
        }
        // Without a score there is no subset, as with the method itself.
        let best = if scored.outcome.subset.is_some() {
            Some(rules.best_subset_until(&gains, Rules::EXACT, &clock))
        } else {
            None
        };
        let cut_short = best.as_ref().is_some_and(|best| best.stopped);
        let (subset, objective) = best.map_or((None, None), |best| (Some(best.subset), Some(best.gain)));
        let elapsed = start.elapsed() + if points.is_empty() { scored.outcome.elapsed } else { Duration::ZERO };
        let status = clock.stop().filter(|_| cut_short).unwrap_or(scored.outcome.status);
        let outcome = Outcome { status, subset, objective, elapsed, ..scored.outcome.clone() };
        let selection = Selection { outcome, ranking: scored.ranking.clone(), solutions: Vec::new() };
        points.push(PathPoint { max_features: size.k, selection });
    }
    Ok(points)
}
