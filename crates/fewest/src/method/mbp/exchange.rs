//! Local search: one feature out, one in, as long as the objective falls.
//!
//! Steps    1. without each feature of the subset in turn, and with all of them: the best
//!             classifier, whose alpha scores every feature
//!          2. those whose gain at this alpha is worth it, u_j max(0, |c_j| - 1) - D_j, largest
//!             first, are tried; alpha proves that no feature lowers the objective by more, so that few
//!             are left to try
//!          3. from a better subset at once again, unless a search came by it before

use std::collections::HashSet;

use crate::{Error, Run, Subset};

use super::{BestClassifier, Model};

/// Features tried in the place of one.
const TRIED: usize = 5;

/// Improves a subset of this objective; every subset on the way is offered. Ends at a subset that
/// is in `examined`, or once `found` has solved `last` linear programs.
pub(super) fn exchange(
    model: &Model<'_>,
    found: &mut BestClassifier<'_>,
    (mut subset, mut objective): (Subset, f64),
    examined: &mut HashSet<Subset>,
    last: u64,
    run: &mut Run<'_>,
) -> Result<(), Error> {
    let mut round = places(&subset, examined);
    while let Some(out) = round.pop() {
        if found.solves() >= last || run.stop().is_some() {
            break;
        }
        // Step 1.
        let mut rest = subset.clone();
        if let Some(out) = out {
            rest.remove(out);
        }
        let point = found.on_subset(model, &rest, run)?;
        let price = model.price(&rest);
        let mut tried = vec![(rest.clone(), point.primal + price)];
        // Step 2.
        let worth = |j: usize| model.interval(j).priced_gain(point.scores[j], 1.0, 1.0) - model.penalty[j];
        let outside = |&j: &usize| model.bound[j] > 0.0 && !rest.contains(j) && Some(j) != out && worth(j) > 0.0;
        let mut order: Vec<usize> = (0..rest.p()).filter(outside).collect();
        order.sort_by(|&a, &b| worth(b).total_cmp(&worth(a)).then(a.cmp(&b)));
        let may = |j: &&usize| point.dual + price - worth(**j) < objective;
        for &j in order.iter().take(TRIED).take_while(may) {
            let mut with = rest.clone();
            with.insert(j);
            let value = found.on_subset(model, &with, run)?.primal + model.price(&with);
            tried.push((with, value));
        }
        // Step 3.
        tried.retain(|(s, value)| *value < objective - 1e-9 * objective.abs() && model.rules.allows(s));
        if let Some((best, _)) = tried.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)) {
            let weights: Vec<(usize, f64)> = best.iter().map(|j| (j, 1.0)).collect();
            (subset, objective) = found.offer(model, &weights, run)?;
            round = places(&subset, examined);
        }
    }
    Ok(())
}

/// Every feature to leave out in turn, and none; nothing of a subset that was examined.
fn places(subset: &Subset, examined: &mut HashSet<Subset>) -> Vec<Option<usize>> {
    if !examined.insert(subset.clone()) {
        return Vec::new();
    }
    subset.iter().map(Some).chain([None]).collect()
}
