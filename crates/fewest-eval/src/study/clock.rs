//! The time of a study, shared out among its parts.

use std::time::{Duration, Instant};

use fewest::{Cancel, Limits, Memory, Status};

/// When a part has to end.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    start: Instant,
    end: Option<Instant>,
    cancel: Cancel,
    /// Relative and absolute gap asked for.
    gaps: (f64, f64),
    /// What is taken of the memory, by all selections together.
    memory: Memory,
    /// Most time for one selection.
    selection: Option<Duration>,
}

impl Deadline {
    /// The end of all, counted from now; a selection takes at most `selection`.
    pub(crate) fn new(limits: &Limits, selection: Option<Duration>) -> Self {
        let end = limits.time.and_then(|time| Instant::now().checked_add(time));
        Self {
            start: Instant::now(),
            end,
            cancel: limits.cancel.clone(),
            gaps: (limits.gap_rel, limits.gap_abs),
            memory: limits.memory.clone(),
            selection,
        }
    }

    /// Time since the study began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// What is left, if there is a limit.
    fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// This share of what is left.
    pub(crate) fn share(&self, share: f64) -> Self {
        let end = self.left().map(|left| Instant::now() + left.mul_f64(share));
        Self { end, ..self.clone() }
    }

    /// Whether the user asked to stop.
    pub(crate) fn cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// The limit that was reached, if any.
    pub(crate) fn stop(&self) -> Option<Status> {
        if self.cancel.is_cancelled() {
            Some(Status::Cancelled)
        } else {
            self.end.filter(|end| Instant::now() >= *end).map(|_| Status::TimeLimit)
        }
    }

    /// Limits of a selection that may take this share of what is left.
    pub(crate) fn limits(&self, share: f64) -> Limits {
        let time = self.left().map(|left| left.mul_f64(share));
        let time = time.map_or(self.selection, |time| Some(self.selection.map_or(time, |most| most.min(time))));
        let (gap_rel, gap_abs) = self.gaps;
        let (cancel, memory) = (self.cancel.clone(), self.memory.clone());
        Limits { time, gap_rel, gap_abs, cancel, memory, ..Limits::default() }
    }
}
