//! The limits of a run as threads ask them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Cancel, Limits, Status, WIND_UP};

/// Clock of a training: says whether it may go on, by the limits of a run, which other threads can
/// check as well. Cloning is cheap, and a clock that said stop goes on saying so.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    /// When the run began, where that is known.
    start: Option<Instant>,
    end: Option<Instant>,
    cancel: Option<Cancel>,
    /// Whether the run's observer said stop.
    observer_stop: Option<Cancel>,
    /// A limit on counts that was reached before, and when that was seen.
    reached: Option<(Status, Instant)>,
    grace: Grace,
    /// Questions that still find time left, see [`Clock::of_questions`].
    questions: Option<Arc<AtomicU64>>,
}

/// How long a clock goes on after a limit was reached.
#[derive(Debug, Clone, Copy, Default)]
struct Grace {
    time: Duration,
    /// Whether the user waits for it as well.
    cancelled: bool,
}

impl Clock {
    /// A clock that starts now.
    pub fn new(limits: &Limits) -> Self {
        let end = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self::of(limits.cancel.clone(), end)
    }

    /// The clock of a run that began at `start` and whose observer stops it by `observer_stop`.
    pub fn of_run(start: Instant, limits: &Limits, observer_stop: Cancel) -> Self {
        // A time beyond what an instant can hold is no limit.
        let end = limits.time.and_then(|time| start.checked_add(time));
        Self { start: Some(start), observer_stop: Some(observer_stop), ..Self::of(limits.cancel.clone(), end) }
    }

    /// A clock that stops at this instant, if there is one, and when the user wants to.
    pub fn of(cancel: Cancel, end: Option<Instant>) -> Self {
        Self { end, cancel: Some(cancel), ..Self::default() }
    }

    /// A clock that stops at this instant.
    pub fn until(end: Instant) -> Self {
        Self { end: Some(end), ..Self::default() }
    }

    /// A clock without limits, for what is short, and for the last question of a run that met one.
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// A clock whose time is over once it was asked more often than this: for tests.
    #[doc(hidden)]
    pub fn of_questions(questions: u64) -> Self {
        Self { questions: Some(Arc::new(AtomicU64::new(questions))), ..Self::default() }
    }

    /// How often it may still be asked, of a clock of questions.
    #[doc(hidden)]
    pub fn questions_left(&self) -> Option<u64> {
        self.questions.as_ref().map(|left| left.load(Ordering::Relaxed))
    }

    /// With a limit on counts that was reached, as seen at this instant. Time and the user come
    /// first.
    #[must_use]
    pub fn reached(self, status: Status, seen: Instant) -> Self {
        Self { reached: Some((status, seen)), ..self }
    }

    /// With this time from when a limit was reached to when it says so.
    #[must_use]
    pub fn with_grace(self, time: Duration) -> Self {
        Self { grace: Grace { time, cancelled: true }, ..self }
    }

    /// Gives `time` more, as [`Clock::with_grace`], but the user is obeyed at once.
    #[must_use]
    pub fn with_grace_unless_cancelled(self, time: Duration) -> Self {
        Self { grace: Grace { time, cancelled: false }, ..self }
    }

    /// A clock for what winds up a run that has met a limit: until this share of [`WIND_UP`] is over,
    /// counted from when that was, so that what is done one after the other shares it.
    #[must_use]
    pub fn wind_up(&self, share: f64) -> Self {
        Self::until(self.met().unwrap_or_else(Instant::now) + WIND_UP.mul_f64(share))
    }

    /// When time was over or the user wanted to stop, within the run.
    pub fn met(&self) -> Option<Instant> {
        let end = self.end.filter(|end| Instant::now() >= *end);
        let since = |cancel: &Option<Cancel>| cancel.as_ref().and_then(Cancel::since);
        let met = [end, since(&self.cancel), since(&self.observer_stop)].into_iter().flatten().min();
        met.map(|met| self.start.map_or(met, |start| met.max(start)))
    }

    /// The limit that has been reached, if any.
    pub fn stop(&self) -> Option<Status> {
        let status = self.limit()?;
        let waits = !self.grace.time.is_zero() && (self.grace.cancelled || status != Status::Cancelled);
        (!waits || Instant::now() >= self.since()? + self.grace.time).then_some(status)
    }

    /// The limit that has been reached, whatever the grace.
    fn limit(&self) -> Option<Status> {
        if [&self.cancel, &self.observer_stop].into_iter().flatten().any(Cancel::is_cancelled) {
            return Some(Status::Cancelled);
        }
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return Some(Status::TimeLimit);
        }
        let none_left = |left: &Arc<AtomicU64>| {
            let less = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            less.is_err()
        };
        let asked_out = || self.questions.as_ref().is_some_and(none_left).then_some(Status::TimeLimit);
        self.reached.map(|(status, _)| status).or_else(asked_out)
    }

    /// When the first limit was reached.
    fn since(&self) -> Option<Instant> {
        let counts = self.reached.map(|(_, seen)| seen);
        self.met().into_iter().chain(counts).min()
    }
}
