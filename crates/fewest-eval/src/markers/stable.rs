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

use fewest::model::{self, FitSettings};
use fewest::{AllOrFirst as _, Clock, Error, Outcome, Problem, Status, Subset, SvmSettings};
use rayon::prelude::*;
use serde::Serialize;

use super::search::Search;

/// Entrants that are tried, for each feature of the panel.
const TRIED: usize = 4;
/// Relative gap of the trainings of exchanges.
const ROUGHLY: f64 = 1e-4;
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
            panel.push(entrant);
            panel.sort_unstable();
            let weights = self.fit(&problems, &panel, clock)?.weights;
            let mut leaving: Vec<(f64, usize)> = weights.into_iter().zip(panel.iter().copied()).collect();
            leaving.retain(|of| less(&of.1));
            leaving.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
            let exchanged = leaving.into_iter().map(|of| without(&panel, of.1)).find(|panel| self.allows(panel));
            panel = match exchanged {
                Some(exchanged) if self.fit(&problems, &exchanged, clock)?.value <= limit => exchanged,
                _ => without(&panel, entrant),
            };
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
        (panel, objective): (&[usize], f64),
        leaving: usize,
        near: &[usize],
        clock: &Clock,
    ) -> Result<Vec<StandIn>, Error> {
        let problems = self.several.problems();
        let baseline = fewest::saddle::without_features(&problems, self.svm);
        let gain = baseline - objective;
        let mut found = Vec::new();
        for &feature in near {
            let mut exchanged = without(panel, leaving);
            exchanged.push(feature);
            exchanged.sort_unstable();
            if clock.stop().is_some() || gain <= 0.0 {
                break;
            }
            if self.allows(&exchanged) {
                let price = (self.fit(&problems, &exchanged, clock)?.value - objective) / gain;
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

    /// The problems trained on these features, roughly.
    pub(super) fn fit(&self, problems: &[Problem<'_>], features: &[usize], clock: &Clock) -> Result<Fitted, Error> {
        let settings = FitSettings {
            svm: SvmSettings { tolerance: ROUGHLY.max(self.svm.tolerance), ..self.svm.clone() },
            ..FitSettings::default()
        };
        let of = |problem: &Problem<'_>| {
            let classes: Vec<u32> = problem.labels().iter().map(|y| u32::from(*y > 0.0)).collect();
            model::fit(problem.design(), features, &classes, problem.weights(), &settings, clock)
        };
        let models = problems.par_iter().map(of).all_or_first::<Vec<_>>()?;
        let mut fitted = Fitted { value: 0.0, weights: vec![0.0; features.len()] };
        for machine in models.iter().flat_map(|model| &model.machines) {
            fitted.value += machine.solution.primal;
            fitted.weights.iter_mut().zip(&machine.weights).for_each(|(sum, weight)| *sum += weight * weight);
        }
        Ok(fitted)
    }
}

/// A panel trained.
pub(super) struct Fitted {
    value: f64,
    /// The squared weights of each feature, summed up over the problems.
    pub(super) weights: Vec<f64>,
}

/// A panel without one of its features.
pub(super) fn without(panel: &[usize], leaving: usize) -> Vec<usize> {
    panel.iter().copied().filter(|&j| j != leaving).collect()
}
