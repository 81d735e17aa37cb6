//! Limits: how long a run may go on. They go in once, and reaching one is a status.

mod clock;
mod memory;
mod status;

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::Error;
pub use clock::Clock;
pub use memory::{Memory, Reserved};
pub use status::Status;

/// A flag shared with all that may stop the run (Ctrl-C, a notebook); cloning shares it.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<OnceLock<Instant>>);

impl Cancel {
    /// Asks the run to finish with the best it has.
    pub fn cancel(&self) {
        self.0.get_or_init(Instant::now);
    }

    /// Whether the run was asked to finish.
    pub fn is_cancelled(&self) -> bool {
        self.0.get().is_some()
    }

    /// When the run was first asked to finish; none while it was not.
    pub fn since(&self) -> Option<Instant> {
        self.0.get().copied()
    }
}

/// Time that trainings may still take, all together, once a limit was reached, where without them
/// there would be no subset, or no objective that means something. Limits are kept to 0.3 s or 5 %.
pub const WIND_UP: Duration = Duration::from_millis(150);

/// Limits of a run; the default is none.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Option<Duration>,
    /// Questions to the oracle (SVM trainings for elimination).
    pub oracle_calls: Option<u64>,
    /// Nodes of a search tree.
    pub nodes: Option<u64>,
    /// Stop when at most this share of what features can gain is left open, and of the objective.
    /// Default 1e-4.
    pub gap_rel: f64,
    /// Stop when |incumbent - bound| is at most this. Default 0.
    pub gap_abs: f64,
    /// Stop when this is set.
    pub cancel: Cancel,
    /// The memory that the run may take beside the data. Default: no limit.
    pub memory: Memory,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: None,
            oracle_calls: None,
            nodes: None,
            gap_rel: 1e-4,
            gap_abs: 0.0,
            cancel: Cancel::default(),
            memory: Memory::unlimited(),
        }
    }
}

impl Limits {
    /// With the time that is left of it since `begun`.
    #[must_use]
    pub fn after(self, begun: Instant) -> Self {
        Self { time: self.time.map(|time| time.saturating_sub(begun.elapsed())), ..self }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// [`Error::Setting`] when a gap is negative or not a number.
    pub fn check(&self) -> Result<(), Error> {
        for (name, gap) in [("gap", self.gap_rel), ("absolute gap", self.gap_abs)] {
            if !(gap >= 0.0 && gap.is_finite()) {
                return Err(Error::setting(name, gap, "a finite number, 0 or more"));
            }
        }
        Ok(())
    }
}
