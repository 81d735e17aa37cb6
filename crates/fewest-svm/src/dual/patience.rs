//! The end of an outer loop on a gap: `Patience` for any loop, `Approach` for one on the
//! primal-dual gap of a training.

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

/// Patience of a loop that ends after too many rounds without a better gap.
#[derive(Debug)]
pub struct Patience {
    /// A gap below this share of the best one is better.
    share: f64,
    /// More rounds than this without a better gap are too many.
    rounds: u32,
    best: f64,
    idle: u32,
}

impl Patience {
    /// The patience of a loop that may run `rounds` rounds without a gap below `share` (between 0
    /// and 1) of the best.
    pub fn new(share: f64, rounds: u32) -> Self {
        Self { share, rounds, best: f64::INFINITY, idle: 0 }
    }

    /// The smallest gap so far.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// Whether this gap is a better one.
    pub fn is_better(&self, gap: f64) -> bool {
        gap < self.share * self.best
    }

    /// Takes in the gap of a round.
    pub fn see(&mut self, gap: f64) {
        self.judge(gap, self.is_better(gap), 1);
    }

    /// Takes in the gap of a round of which the loop says whether it was a better one, and as how
    /// many rounds it counts otherwise.
    pub fn judge(&mut self, gap: f64, better: bool, rounds: u32) {
        self.idle = if better { 0 } else { self.idle + rounds };
        self.best = self.best.min(gap);
    }

    /// Lets the next round be the last, unless it has a better gap.
    pub fn exhaust(&mut self) {
        self.idle = self.rounds;
    }

    /// Whether there were too many rounds without a better gap.
    pub fn is_over(&self) -> bool {
        self.idle > self.rounds
    }
}

/// Progress of the gap of a training.
#[derive(Debug)]
pub(super) struct Approach {
    patience: Patience,
    /// Factor on the gap aimed at.
    demand: f64,
}

/// Why it is time to measure a feasible point.
pub(super) struct Due {
    /// The limit that ends the loop in any case.
    pub(super) limit: Option<Status>,
}

impl Approach {
    /// The progress of a loop that may run `rounds` rounds without a better gap.
    pub(super) fn new(rounds: u32) -> Self {
        Self { patience: Patience::new(BETTER, rounds), demand: 1.0 }
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
        let better = self.patience.is_better(gap) && !rounded;
        self.patience.judge(gap, better, if rounded { ROUNDED } else { 1 });
        let broken = !gap.is_finite() || self.patience.is_over();
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
