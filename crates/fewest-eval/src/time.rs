//! The time of a run, shared out among its parts, and in a part among its selections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use fewest::{Cancel, Clock, Limits, Status};

/// A share of the time: when it ends, and the most of it that one selection may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    end: Option<Instant>,
    selection: Option<Duration>,
}

impl Share {
    /// All of it, counted from now; none: no limit.
    pub(crate) fn new(time: Option<Duration>, selection: Option<Duration>) -> Self {
        Self { end: time.and_then(|time| Instant::now().checked_add(time)), selection }
    }

    /// What is left, if there is a limit.
    fn left(self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether it is over.
    pub(crate) fn is_over(self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// What trainings ask whether it is over, or the run cancelled.
    pub(crate) fn clock(self, cancel: &Cancel) -> Clock {
        Clock::of(cancel.clone(), self.end)
    }

    /// This share of what is left.
    fn share(self, share: f64) -> Self {
        Self { end: self.left().map(|left| Instant::now() + left.mul_f64(share)), ..self }
    }

    /// The share, ended earlier by `late`.
    fn earlier(self, late: Duration) -> Self {
        let now = Instant::now();
        Self { end: self.end.map(|end| now + end.saturating_duration_since(now).saturating_sub(late)), ..self }
    }

    /// The time of a selection that may take this share of what is left.
    fn of_selection(self, share: f64) -> Option<Duration> {
        let time = self.left().map(|left| left.mul_f64(share));
        time.map_or(self.selection, |time| Some(self.selection.map_or(time, |most| most.min(time))))
    }
}

/// The share of a part of a study, with all else that ends it.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    start: Instant,
    share: Share,
    /// Gaps, cancellation and memory of every selection.
    limits: Limits,
}

impl Deadline {
    /// The end of all, counted from now; a selection takes at most `selection`.
    pub(crate) fn new(limits: &Limits, selection: Option<Duration>) -> Self {
        let Limits { time, gap_rel, gap_abs, .. } = *limits;
        let (cancel, memory) = (limits.cancel.clone(), limits.memory.clone());
        let limits = Limits { gap_rel, gap_abs, cancel, memory, ..Limits::default() };
        Self { start: Instant::now(), share: Share::new(time, selection), limits }
    }

    /// Time since the study began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// This share of what is left.
    pub(crate) fn share(&self, share: f64) -> Self {
        Self { share: self.share.share(share), ..self.clone() }
    }

    /// The deadline, ended earlier by `time`.
    pub(crate) fn before(&self, time: Duration) -> Self {
        Self { share: self.share.earlier(time), ..self.clone() }
    }

    /// What is left, if there is a limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.share.left()
    }

    /// Whether the user asked to stop.
    pub(crate) fn cancelled(&self) -> bool {
        self.limits.cancel.is_cancelled()
    }

    /// The limit that was reached, if any.
    pub(crate) fn stop(&self) -> Option<Status> {
        self.clock().stop()
    }

    /// What trainings ask whether the time is over.
    pub(crate) fn clock(&self) -> Clock {
        self.share.clock(&self.limits.cancel)
    }

    /// Limits of a selection that may take this share of what is left.
    pub(crate) fn limits(&self, share: f64) -> Limits {
        Limits { time: self.share.of_selection(share), ..self.limits.clone() }
    }
}

/// How a run ended whose parts are worth something each: cancelled, or cut short by a limit.
pub(crate) fn ended(cancelled: bool, cut_short: bool) -> Status {
    match (cancelled, cut_short) {
        (true, _) => Status::Cancelled,
        (false, true) => Status::TimeLimit,
        (false, false) => Status::Completed,
    }
}

/// The time of all folds: each has an equal share of what is left when it begins.
#[derive(Debug)]
pub struct FoldTimes {
    share: Share,
    /// Folds that are not begun.
    waiting: AtomicUsize,
    /// Folds that are worked on at a time.
    at_a_time: usize,
    /// Nanoseconds that a fold has taken beyond its share, at most: what it does beside its
    /// selections.
    late: Arc<AtomicU64>,
}

/// The time of one fold, shared out among its selections.
#[derive(Debug)]
pub struct FoldTime {
    share: Share,
    /// Selections still to come.
    left: usize,
    cut_short: bool,
    cut: bool,
    late: Arc<AtomicU64>,
}

impl FoldTimes {
    /// Shares out what is left of the time limit among this many folds, as many at a time as there
    /// are threads. A selection takes at most `selection`.
    pub fn new(left: Option<Duration>, selection: Option<Duration>, folds: usize) -> Self {
        Self::of(Share::new(left, selection), folds)
    }

    /// Shares out what is left of a share.
    pub(crate) fn of(share: Share, folds: usize) -> Self {
        let at_a_time = rayon::current_num_threads().max(1);
        Self { share, waiting: AtomicUsize::new(folds), at_a_time, late: Arc::default() }
    }

    /// Whether the time is over.
    pub fn is_over(&self) -> bool {
        self.share.is_over()
    }

    /// The time of the next fold, which takes at most this many selections.
    pub fn next(&self, selections: usize) -> FoldTime {
        let waiting = self.waiting.fetch_sub(1, Ordering::Relaxed).max(1);
        let rounds = waiting.div_ceil(self.at_a_time);
        let late = Duration::from_nanos(self.late.load(Ordering::Relaxed));
        let share = self.share.share(1.0 / rounds as f64).earlier(late);
        FoldTime { share, left: selections, cut_short: false, cut: false, late: self.late.clone() }
    }
}

impl FoldTime {
    /// The time of the next selection: an equal share of what is left.
    pub fn next_limit(&mut self) -> Option<Duration> {
        let left = self.left.max(1);
        self.left = self.left.saturating_sub(1);
        self.share.of_selection(1.0 / left as f64)
    }

    /// What trainings ask whether it is over, or the run cancelled.
    pub fn clock(&self, cancel: &Cancel) -> Clock {
        self.share.clock(cancel)
    }

    /// Notes how a selection ended; `stands` is whether what it has found stands, as a search has
    /// subsets that it goes on to improve as long as time lasts.
    pub fn note(&mut self, status: Status, stands: bool) {
        self.cut_short |= status.is_limit();
        // Where each selection has a limit of its own, that is how it is asked for.
        self.cut |= status == Status::TimeLimit && !stands && self.share.selection.is_none();
    }

    /// Whether the time ended a selection before it had selected by what it was to go by: what it left
    /// says nothing of the method.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Whether a limit ended any selection.
    pub fn cut_short(&self) -> bool {
        self.cut_short
    }
}

impl Drop for FoldTime {
    /// The fold has ended; the next ones leave room for what it took beyond its share.
    fn drop(&mut self) {
        if let Some(end) = self.share.end {
            let late = Instant::now().saturating_duration_since(end).as_nanos() as u64;
            self.late.fetch_max(late, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::FoldTimes;

    #[test]
    fn what_is_left_is_shared_out() {
        let seconds = |time: Option<Duration>| time.expect("there is a limit").as_secs_f64();
        let limit = Some(Duration::from_secs(100));
        let mut times = FoldTimes::new(limit, None, 10);
        times.at_a_time = 2;
        // Five rounds of two folds each, four selections in a fold.
        let mut fold = times.next(4);
        let (first, second) = (seconds(fold.next_limit()), seconds(fold.next_limit()));
        assert!((4.9..=5.0).contains(&first) && (6.5..=6.7).contains(&second), "{first} {second}");
        let capped = FoldTimes::new(limit, Some(Duration::from_secs(1)), 1).next(4).next_limit();
        assert_eq!(capped, Some(Duration::from_secs(1)));
        assert_eq!(FoldTimes::new(None, None, 3).next(4).next_limit(), None);
        assert_eq!(FoldTimes::new(Some(Duration::ZERO), None, 3).next(4).next_limit(), Some(Duration::ZERO));
    }

    #[test]
    fn a_fold_leaves_room_for_what_the_one_before_took_beyond_its_share() {
        let mut times = FoldTimes::new(Some(Duration::from_millis(30)), None, 2);
        times.at_a_time = 1;
        let fold = times.next(1);
        std::thread::sleep(Duration::from_millis(22));
        // Seven milliseconds beyond fifteen, where eight are left.
        drop(fold);
        let left = times.next(1).next_limit().expect("there is a limit");
        assert!(left < Duration::from_millis(2), "{left:?}");
    }
}
