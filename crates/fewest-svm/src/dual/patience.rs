//! When an outer loop on the primal-dual gap has come to its end: shared by Newton's methods and the
//! interior point.

use crate::{Clock, Status, SvmSettings};

/// Factor on the gap aimed at, each time that a feasible point turned out to be farther from it.
/// Chosen by hand; `make bench-train` measures it.
const STRICTER: f64 = 0.3;
/// A gap counts as better below this share of the best one.
const BETTER: f64 = 0.9;
/// A gap below this share of the objective is rounding alone,
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// and a round there counts as this many without a better gap: the feasible point near it is off by
/// rounding too, which a few more tries may change.
const ROUNDED: u32 = 10;

/// How the gap has come along.
#[derive(Debug)]
pub(super) struct Patience {
    /// Rounds without a better gap that are too many.
    rounds: u32,
    best_gap: f64,
    /// Factor on the gap aimed at.
    demand: f64,
    /// Rounds without a better gap.
    idle: u32,
}

/// Why it is time to measure a feasible point.
pub(super) struct Due {
    /// The limit that ends the loop in any case.
    pub(super) limit: Option<Status>,
}

impl Patience {
    /// For a loop that may go on for so many rounds without a better gap.
    pub(super) fn new(rounds: u32) -> Self {
        Self { rounds, best_gap: f64::INFINITY, demand: 1.0, idle: 0 }
    }

    /// Takes in the absolute gap of a round; whether it is time to measure a feasible point,
    /// because the gap is near the one aimed at or a limit was reached.
    pub(super) fn due(
        &mut self,
        gap: f64,
        primal: f64,
        round: u64,
        settings: &SvmSettings,
        clock: &Clock,
    ) -> Option<Due> {
        let rounded = gap <= ROUNDING * primal;
        let better = gap < BETTER * self.best_gap && !rounded;
        self.idle = if better { 0 } else { self.idle + if rounded { ROUNDED } else { 1 } };
        self.best_gap = self.best_gap.min(gap);
        let broken = !gap.is_finite() || self.idle > self.rounds;
        let limit = clock
            .stop()
            .or((round >= settings.max_epochs).then_some(Status::CallLimit))
            .or(broken.then_some(Status::Stalled));
        let far = gap > self.demand * settings.tolerance * primal;
        (limit.is_some() || !far).then_some(Due { limit })
    }

    /// The feasible point was farther from the optimum than the gap said: aim lower.
    pub(super) fn aim_lower(&mut self) {
        self.demand *= STRICTER;
    }
}
