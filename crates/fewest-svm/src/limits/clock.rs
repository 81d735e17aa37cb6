//! The limits of a run as threads ask them.

use std::time::Instant;

use super::{Cancel, Limits, Status, WIND_UP};

/// The limits of a run that other threads can look at.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    end: Option<Instant>,
    cancel: Cancel,
    /// Whether the run's observer said stop.
    told: Cancel,
}

impl Clock {
    /// A clock that starts now.
    pub fn new(limits: &Limits) -> Self {
        Self::of_run(Instant::now(), limits, Cancel::default())
    }

    /// The clock of a run that began at `start` and whose observer stops it by `told`.
    pub fn of_run(start: Instant, limits: &Limits, told: Cancel) -> Self {
        // A time beyond what an instant can hold is no limit.
        let end = limits.time.and_then(|time| start.checked_add(time));
        Self { start, end, cancel: limits.cancel.clone(), told }
    }

    /// A clock that stops at this instant.
    pub fn until(end: Instant) -> Self {
        Self { end: Some(end), ..Self::unlimited() }
    }

    /// A clock without limits, for the last question of a run that has met one.
    pub fn unlimited() -> Self {
        Self { start: Instant::now(), end: None, cancel: Cancel::default(), told: Cancel::default() }
    }

    /// A clock for what winds up a run that has met a limit: until this share of [`WIND_UP`] is over,
    /// counted from when that was, so that what is done one after the other shares it.
    pub fn wind_up(&self, share: f64) -> Self {
        Self::until(self.met().unwrap_or_else(Instant::now) + WIND_UP.mul_f64(share))
    }

    /// When time was over or the user wanted to stop, within the run.
    pub fn met(&self) -> Option<Instant> {
        let end = self.end.filter(|end| Instant::now() >= *end);
        let met = [end, self.cancel.since(), self.told.since()].into_iter().flatten().min();
        met.map(|met| met.max(self.start))
    }

    /// The limit that has been reached, if any.
    pub fn stop(&self) -> Option<Status> {
        if self.cancel.is_cancelled() || self.told.is_cancelled() {
            Some(Status::Cancelled)
        } else {
            self.end.filter(|end| Instant::now() >= *end).map(|_| Status::TimeLimit)
        }
    }
}
