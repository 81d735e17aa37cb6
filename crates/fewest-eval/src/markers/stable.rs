//! Panels that stay: features that come back on halves of the samples take the place of those that do
//! not, as long as the panel remains nearly as good.
//!
//! Solves   max over allowed z of `sum of r_j over j in z`, subject to `v(z) <= v + slack (v_0 - v)`: r_j
//!          the share of the halves whose elimination keeps feature j, v the objective of the best panel
//!          that is known, v_0 that without features.
//! Given    a panel, how often each feature comes back, the slack.
//! Returns  a panel whose features come back more often, with its objective; the bound is of every panel
//!          and remains.
//! Steps    for each feature outside, the most recurring first: 1. it enters  2. of those that recur less
//!          the one of smallest weight leaves  3. the panel stays if it is within the slack
//! Why      of many panels of nearly the same objective the best one changes with every sample.
//!          `bench/markers.py` has macro F1 and stability of each slack.

use fewest::{Clock, Error, Outcome, Status, Subset, Yardstick};
use serde::Serialize;

use super::search::Search;

/// Entrants that are tried, for each feature of the panel.
const TRIED: usize = 4;
/// Stand-ins that are listed for a feature.
const LISTED: usize = 3;

/// What stands behind a feature of the panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Standing {
    /// Share of the halves that keep it; none without halves.
    pub recurs: Option<f64>,
    /// Features that can take its place, the cheapest first.
    pub replaceable_by: Vec<StandIn>,
}

/// A feature that can take the place of another one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StandIn {
    /// The feature.
    pub feature: usize,
    /// The share of what the panel gains over no feature that is lost by it.
    pub price: f64,
}

impl Search<'_> {
    /// The panel after the exchanges, where they changed it. `recurs` is of every feature.
    pub(crate) fn settle(&self, found: Outcome, recurs: &[f64], slack: f64, clock: &Clock) -> Result<Outcome, Error> {
        let (Some(subset), Some(best), Some(yardstick)) = (&found.subset, found.objective, found.yardstick) else {
            return Ok(found);
        };
        let limit = best + slack * (yardstick.baseline - best).max(0.0);
        let problems = self.several.problems();
        let mut panel: Vec<usize> = subset.iter().collect();
        let mut entrants: Vec<usize> = (0..recurs.len()).filter(|&j| recurs[j] > 0.0 && !subset.contains(j)).collect();
        entrants.sort_by(|&a, &b| recurs[b].total_cmp(&recurs[a]).then(a.cmp(&b)));
        for &entrant in entrants.iter().take(TRIED * panel.len()) {
            let less = |j: &usize| recurs[*j] < recurs[entrant];
            if clock.stop().is_some() || !panel.iter().any(&less) {
                break;
            }
            let both = with(&panel, entrant);
            let leaving = self.lightest(&problems, &both, clock)?.into_iter().filter(less);
            let exchanged = leaving.map(|j| without(&both, j)).find(|panel| self.allows(panel));
            if let Some(exchanged) = exchanged
                && self.roughly(&problems, &exchanged, clock)?.value <= limit
            {
                panel = exchanged;
            }
        }
        if panel.iter().all(|&j| subset.contains(j)) {
            return Ok(found);
        }
        let subset = Subset::from_indices(self.rules.p(), panel);
        let objective = self.objective(&problems, &subset, &Clock::unlimited())?;
        // The search proved its own panel.
        let status = if found.status == Status::Optimal { Status::Completed } else { found.status };
        Ok(Outcome { subset: Some(subset), objective: Some(objective), status, ..found })
    }

    /// The features among `near` that can take the place of `leaving` in this panel of this objective,
    /// the cheapest first.
    pub(crate) fn stand_ins(
        &self,
        (panel, objective, yardstick): (&[usize], f64, Yardstick),
        leaving: usize,
        near: &[usize],
        clock: &Clock,
    ) -> Result<Vec<StandIn>, Error> {
        let problems = self.several.problems();
        let mut found = Vec::new();
        for &feature in near {
            let exchanged = with(&without(panel, leaving), feature);
            if clock.stop().is_some() {
                break;
            }
            if self.allows(&exchanged)
                && let Some(price) = yardstick.loss(objective, self.roughly(&problems, &exchanged, clock)?.value)
            {
                found.push(StandIn { feature, price: price.max(0.0) });
            }
        }
        found.sort_by(|x, y| x.price.total_cmp(&y.price).then(x.feature.cmp(&y.feature)));
        found.truncate(LISTED);
        Ok(found)
    }

    /// Whether the rules allow a panel, and it stands what it may lose.
    fn allows(&self, panel: &[usize]) -> bool {
        self.cover.missing(panel) == 0
            && self.rules.allows(&Subset::from_indices(self.rules.p(), panel.iter().copied()))
    }
}

/// A panel with one feature more, ascending.
pub(super) fn with(panel: &[usize], entrant: usize) -> Vec<usize> {
    let mut with = panel.to_vec();
    with.push(entrant);
    with.sort_unstable();
    with
}

/// A panel without one of its features.
pub(super) fn without(panel: &[usize], leaving: usize) -> Vec<usize> {
    panel.iter().copied().filter(|&j| j != leaving).collect()
}
