//! A path of `exact`: each size K starts from the subset of the size before, from that subset grown
//! by the features whose gains `g_j(c_j) - lambda_j` in its dual are largest, and from the subset
//! SVM-RFE ends with.

use std::time::Duration;

use rayon::prelude::*;

use super::{ExactSettings, NAME, exact_several};
use crate::dual::train::train;
use crate::method::Method;
use crate::method::path::{PathClock, PathPoint, PathSize, parts_of, points, walk};
use crate::method::rfe::path::survivors;
use crate::method::rfe::{RfeSettings, Step};
use crate::several::check_several;
use crate::{Design, Error, Kernel, Limits, Observer, Problem, Rules, Sense, Silent, Subset};

/// Step of the SVM-RFE that `exact` starts from: a tenth of the features while there are many, then
/// one at a time.
const START_STEP: Step = Step::Remaining(0.1);

/// A path of [`exact`](super::exact): for each size the best subset and a bound.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, settings or limits out of range.
pub fn exact_path(
    problem: &Problem<'_>,
    rules: &Rules,
    sizes: &[usize],
    settings: &ExactSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    exact_path_several(std::slice::from_ref(problem), rules, sizes, settings, limits, observer)
}

/// A path of [`exact_several`].
///
/// # Errors
/// As [`exact_path`]; no problem, or problems on other numbers of features.
pub fn exact_path_several(
    problems: &[Problem<'_>],
    rules: &Rules,
    sizes: &[usize],
    settings: &ExactSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    settings.check(check_several(problems)?)?;
    let clock = PathClock::new(limits)?;
    let sizes = PathSize::all(rules, sizes)?;
    let elimination = RfeSettings { svm: settings.svm.clone(), step: START_STEP, ..RfeSettings::default() };
    let share = Limits { nodes: None, oracle_calls: None, ..clock.share(sizes.len() + 1) };
    let survivors = match problems {
        // SVM-RFE without the bounds says little of weights that have some.
        [problem] if rules.weight_bounds().is_free() => {
            survivors(&problem.into(), &sizes, &elimination, &PathClock::new(&share)?, &mut Silent)?
        }
        _ => Vec::new(),
    };
    let mut parts = parts_of(NAME, rules, &sizes, observer)?;
    let found = walk(&sizes, Sense::Min, &clock, &mut parts, |at, rules, previous, limits, observer| {
        let mut start = settings.start.clone();
        start.extend(survivors.iter().find(|s| s.size == at).map(|s| s.subset.clone()));
        if let Some(previous) = previous {
            start.extend(grown(problems, rules, previous, settings, &clock)?);
            start.push(previous.clone());
        }
        exact_several(problems, rules, &ExactSettings { start, ..settings.clone() }, limits, observer)
    })?;
    Ok(points(found))
}

/// The subset with more features, as far as the rules allow: those first that could save most, by
/// the dual of the SVM on it, its weights free. Gains are `g_j(c_j) - lambda_j`, since
/// `v(z + e_j) >= v(z) - g_j(c_j)`.
fn grown(
    problems: &[Problem<'_>],
    rules: &Rules,
    subset: &Subset,
    settings: &ExactSettings,
    clock: &PathClock,
) -> Result<Option<Subset>, Error> {
    if subset.is_empty() {
        return Ok(None);
    }
    let features: Vec<usize> = subset.iter().collect();
    let clock = &clock.clock(Duration::ZERO);
    let mut points = Vec::with_capacity(problems.len());
    for problem in problems {
        let (design, y, weights) = (problem.design(), problem.labels(), problem.weights());
        points.push((design, train(design, &features, y, weights, Kernel::Linear, &settings.svm, clock)?.beta));
    }
    let gain = |j: usize| {
        let gain =
            |(design, beta): &(&dyn Design, Vec<f64>)| rules.weight_bounds().of(j).gain(design.dot_column(j, beta));
        points.iter().map(gain).sum::<f64>() - settings.penalty.prices().get(j).unwrap_or(&0.0)
    };
    let mut gains: Vec<f64> = (0..rules.p()).into_par_iter().map(gain).collect();
    let stays = 1.0 + gains.iter().map(|g| g.max(0.0)).sum::<f64>();
    for j in features {
        gains[j] = stays;
    }
    Ok(Some(rules.best_subset_until(&gains, 1e-12, clock).subset))
}
