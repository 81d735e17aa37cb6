//! Panels that stand a loss: each pair of classes is told apart by more features than one.
//!
//! Given    a panel, and how many features may be lost.
//! Returns  a panel of the same size in which each pair of classes has one feature more than that which
//!          tells it apart by itself (`cover`); the bound is of every panel and remains.
//! Steps    while a pair has fewer: 1. the feature enters that tells most of these pairs apart  2. the one
//!          of smallest weight leaves, of those that no pair needs
//! Why      as rules of the search, one for each pair, they take longer than they are worth: `propagate`
//!          works on each by itself.

use fewest::{Clock, Error, Outcome, Status, Subset};

use super::search::Search;
use super::stable::{with, without};
use crate::error::EvalError;

impl Search<'_> {
    /// The panel that stands a loss, from one that may not.
    ///
    /// # Errors
    /// No exchange makes it one: its size is too small.
    pub(crate) fn stand(&self, found: Outcome, clock: &Clock) -> Result<Outcome, EvalError> {
        let Some(begun) = found.subset.clone().filter(|of| self.cover.missing(&of.iter().collect::<Vec<_>>()) > 0)
        else {
            return Ok(found);
        };
        let problems = self.several.problems();
        let mut panel: Vec<usize> = begun.iter().collect();
        let mut stopped = None;
        while stopped.is_none() {
            let missing = self.cover.missing(&panel);
            if missing == 0 {
                break;
            }
            stopped = clock.stop();
            panel = self.enter_one(&problems, &panel, clock)?.ok_or_else(|| EvalError::NotRobust {
                size: panel.len(),
                missing,
                lost: self.cover.least - 1,
            })?;
        }
        let subset = Subset::from_indices(self.rules.p(), panel);
        let objective = self.objective(&problems, &subset, &Clock::unlimited())?;
        let status = stopped.unwrap_or(if found.status == Status::Optimal { Status::Completed } else { found.status });
        Ok(Outcome { subset: Some(subset), objective: Some(objective), status, ..found })
    }

    /// The panel after one exchange by which fewer features are missing; none where there is no such one.
    fn enter_one(
        &self,
        problems: &[fewest::Problem<'_>],
        panel: &[usize],
        clock: &Clock,
    ) -> Result<Option<Vec<usize>>, Error> {
        let missing = self.cover.missing(panel);
        let forbidden = &self.rules.list().forbid;
        let outside = (0..self.rules.p()).filter(|j| !panel.contains(j) && !forbidden.contains(*j));
        let mut entrants: Vec<(usize, usize)> = outside.map(|j| (self.cover.missing(&with(panel, j)), j)).collect();
        entrants.retain(|of| of.0 < missing);
        entrants.sort_unstable();
        for (_, entrant) in entrants.into_iter().take(panel.len().max(10)) {
            let both = with(panel, entrant);
            let leaving = self.lightest(problems, &both, clock)?.into_iter().filter(|&j| j != entrant);
            let better = |left: &Vec<usize>| {
                self.cover.missing(left) < missing
                    && self.rules.allows(&Subset::from_indices(self.rules.p(), left.iter().copied()))
            };
            if let Some(panel) = leaving.map(|j| without(&both, j)).find(better) {
                return Ok(Some(panel));
            }
        }
        Ok(None)
    }
}
