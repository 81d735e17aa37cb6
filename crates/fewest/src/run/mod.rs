//! A run: the one place that knows limits, counts, events, the incumbent and the bound; and
//! `drive`, the one loop.

mod event;
mod gap;
mod outcome;
#[doc(hidden)]
pub mod state;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub use event::{Event, Observer, ProofSink, Silent};
pub(crate) use gap::Gaps;
pub use gap::{Yardstick, relative_gap};
pub use outcome::{Counts, Outcome, Ranked, Selection, Sense, Solution};
pub use state::Checkpoint;

use fewest_svm::limits::WIND_UP;

use crate::{Cancel, Clock, Error, Limits, Memory, Rules, Status, Subset, SubsetGain};

/// State of one run. Methods offer subsets and raise the bound; both only ever improve.
pub struct Run<'a> {
    rules: &'a Rules,
    limits: Limits,
    observer: &'a mut dyn Observer,
    start: Instant,
    /// When the run first saw that a limit was reached.
    over: OnceLock<Instant>,
    /// Time of the calls before this one, where the run resumes from a state.
    before: Duration,
    sense: Sense,
    incumbent: Option<(Subset, f64)>,
    bound: Option<f64>,
    /// See [`Run::measure_by`].
    yardstick: Option<Yardstick>,
    /// See [`Run::tolerate`].
    tolerance: f64,
    /// Set when the observer said stop.
    observer_stop: Cancel,
    /// Whether the last checkpoint was sent; see [`Run::keep`].
    last_checkpoint_sent: bool,
    /// See [`Run::hold_back`].
    held_back: f64,
    /// Counters the method adds to; `oracle_calls` is kept by [`drive`].
    pub counts: Counts,
}

impl<'a> Run<'a> {
    /// A run that starts now, of a method that knows no bounds on weights.
    ///
    /// # Errors
    /// [`Error::Setting`] when a limit is out of range, [`Error::Rules`] when the rules bound
    /// weights.
    pub fn new(rules: &'a Rules, limits: Limits, sense: Sense, observer: &'a mut dyn Observer) -> Result<Self, Error> {
        rules.without_weight_bounds()?;
        Self::bounded(rules, limits, sense, observer)
    }

    /// A run that starts now, of a method that obeys bounds on weights ([`Rules::weight_bounds`]).
    pub fn bounded(
        rules: &'a Rules,
        limits: Limits,
        sense: Sense,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, Error> {
        limits.check()?;
        Ok(Self {
            rules,
            limits,
            observer,
            start: Instant::now(),
            over: OnceLock::new(),
            before: Duration::ZERO,
            sense,
            incumbent: None,
            bound: None,
            yardstick: (sense == Sense::Max).then(|| Yardstick::new(0.0, &[])),
            tolerance: 0.0,
            observer_stop: Cancel::default(),
            last_checkpoint_sent: false,
            held_back: 0.0,
            counts: Counts::default(),
        })
    }

    /// Rules on the features.
    pub fn rules(&self) -> &'a Rules {
        self.rules
    }

    /// Whether the objective is minimised or maximised.
    pub fn sense(&self) -> Sense {
        self.sense
    }

    /// Time since the start, with that of earlier calls where the run resumes from a state.
    pub fn elapsed(&self) -> Duration {
        self.before + self.start.elapsed()
    }

    /// Time left, if there is a limit; it is for this call alone.
    pub fn remaining(&self) -> Option<Duration> {
        self.limits.time.map(|t| t.saturating_sub(self.start.elapsed()))
    }

    /// Memory that the run may take, and what of it is taken.
    pub fn memory(&self) -> &Memory {
        &self.limits.memory
    }

    /// Clock for threads that work for the run: whether time is up or the user wants to stop.
    pub fn clock(&self) -> Clock {
        Clock::of_run(self.start, &self.limits, self.observer_stop.clone())
    }

    /// States what gains are measured by, and gaps with them.
    #[doc(hidden)]
    pub fn measure_by(&mut self, yardstick: Yardstick) {
        self.yardstick = Some(yardstick);
    }

    /// Declares that bounds come from a solver which knows values no better than this share of the
    /// objective without features: a smaller gain is none, and where the gain's gap is closed, that
    /// of the objective may be this large.
    #[cfg(feature = "highs")]
    pub(crate) fn tolerate(&mut self, share: f64) {
        self.tolerance = share;
        self.yardstick = self.yardstick.map(|yardstick| yardstick.known_to(share));
    }

    /// The gap that a solver of objectives less the baseline must close.
    #[cfg(feature = "highs")]
    pub(crate) fn gap_of_gain(&self) -> f64 {
        self.gaps().of_gain(self.incumbent.as_ref().map(|best| best.1))
    }

    /// The gaps to search for: those asked for, less what is held back.
    #[doc(hidden)]
    pub fn gaps(&self) -> Gaps {
        self.asked().less(self.held_back)
    }

    fn asked(&self) -> Gaps {
        Gaps { tolerance: self.tolerance, ..Gaps::asked(&self.limits, self.sense, self.yardstick) }
    }

    /// Searches for gaps that are smaller than those asked for by this share.
    pub(crate) fn hold_back(&mut self, share: f64) {
        self.held_back = share;
    }

    /// Where the run's proof goes, where its observer wants one.
    pub(crate) fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.observer.proof()
    }

    /// Nodes left before the limit on them is reached.
    pub fn nodes_left(&self) -> u64 {
        self.limits.nodes.map_or(u64::MAX, |n| n.saturating_sub(self.counts.nodes))
    }

    /// A clock for what winds up the run, see [`Clock::wind_up`]; that of the run where no limit was
    /// reached yet.
    pub(crate) fn wind_up(&self, share: f64) -> Clock {
        match self.stop() {
            Some(_) => self.late_clock(share),
            None => self.clock(),
        }
    }

    /// [`Run::stop`] for a training, during which counts stay as they are: the clock of the run,
    /// which knows a limit on counts that is reached already.
    #[doc(hidden)]
    pub fn counted_clock(&self) -> Clock {
        match self.reached() {
            Some(status) => self.clock().reached(status, *self.over.get_or_init(Instant::now)),
            None => self.clock(),
        }
    }

    /// [`Run::counted_clock`] for what winds up the run: it stops once this share of [`WIND_UP`] is
    /// over, counted from when a limit was reached; with 0 at once.
    #[doc(hidden)]
    pub fn late_clock(&self, share: f64) -> Clock {
        self.counted_clock().with_grace(WIND_UP.mul_f64(share))
    }

    /// The limit that has been reached, if any. Oracles ask this every epoch.
    pub fn stop(&self) -> Option<Status> {
        if self.observer_stop.is_cancelled() || self.limits.cancel.is_cancelled() {
            Some(Status::Cancelled)
        } else if self.limits.time.is_some_and(|t| self.start.elapsed() >= t) {
            Some(Status::TimeLimit)
        } else {
            self.reached()
        }
    }

    /// The limit on counts that has been reached, if any.
    fn reached(&self) -> Option<Status> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|l| used >= l);
        if over(self.limits.oracle_calls, self.counts.oracle_calls) {
            Some(Status::CallLimit)
        } else if over(self.limits.nodes, self.counts.nodes) {
            Some(Status::NodeLimit)
        } else {
            None
        }
    }

    /// Tells the observer.
    pub fn tell(&mut self, event: &Event<'_>) {
        if self.observer.on(event).is_break() {
            self.observer_stop.cancel();
        }
    }

    /// Offers a subset with its objective: it becomes the incumbent if the rules allow it and it is
    /// better, or as good and smaller. Returns whether it did.
    pub fn offer(&mut self, subset: &Subset, objective: f64) -> bool {
        let better = match (&self.incumbent, self.sense) {
            (None, _) => true,
            (Some((known, best)), _) if objective == *best => subset.len() < known.len(),
            (Some((_, best)), Sense::Min) => objective < *best,
            (Some((_, best)), Sense::Max) => objective > *best,
        };
        if !better || objective.is_nan() || !self.rules.allows(subset) {
            return false;
        }
        self.incumbent = Some((subset.clone(), objective));
        self.tell(&Event::Incumbent { subset, objective, gap: self.known_gap(), elapsed: self.elapsed() });
        true
    }

    /// The allowed subset of largest total gain; once a limit is reached, one of large gain, and
    /// what no allowed subset exceeds. See [`Rules::best_subset_until`].
    pub fn best_subset(&self, gains: &[f64]) -> SubsetGain {
        self.rules.best_subset_until(gains, Rules::EXACT, &self.counted_clock())
    }

    /// The best subset so far and its objective.
    pub fn incumbent(&self) -> Option<(&Subset, f64)> {
        self.incumbent.as_ref().map(|(subset, objective)| (subset, *objective))
    }

    /// Tightens the proven bound; a weaker one is ignored.
    pub fn raise_bound(&mut self, bound: f64) {
        let tighter = match (self.bound, self.sense) {
            (None, _) => true,
            (Some(old), Sense::Min) => bound > old,
            (Some(old), Sense::Max) => bound < old,
        };
        if tighter {
            self.bound = Some(bound);
            self.tell(&Event::Bound { bound, gap: self.known_gap(), elapsed: self.elapsed() });
        }
    }

    /// The proven bound so far.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// The gap of the gain; infinite while there is no incumbent or no bound.
    pub fn gap(&self) -> f64 {
        self.known_gap().unwrap_or(f64::INFINITY)
    }

    fn known_gap(&self) -> Option<f64> {
        Some(self.asked().gap(self.incumbent.as_ref()?.1, self.bound?))
    }

    /// Whether the gap to search for is reached.
    pub fn closed(&self) -> bool {
        self.bound.is_some_and(|bound| self.would_close(bound))
    }

    /// Whether the gap to search for would be reached with this bound.
    #[doc(hidden)]
    pub fn would_close(&self, bound: f64) -> bool {
        self.incumbent.as_ref().is_some_and(|(_, objective)| self.gaps().closed(*objective, bound))
    }

    /// Whether an objective and a bound are within the gap asked for.
    pub(crate) fn is_within_asked(&self, objective: f64, bound: f64) -> bool {
        self.asked().closed(objective, bound)
    }

    /// [`Run::is_within_asked`] of one of the best subsets, the first of which has the objective
    /// `best`.
    pub(crate) fn is_within_asked_beside(&self, best: f64, objective: f64, bound: f64) -> bool {
        self.asked().closed_beside(best, objective, bound)
    }

    /// The earned status: `Optimal` only if the gap asked for is closed, else `Stalled`; others pass.
    pub(crate) fn earned(&self, status: Status) -> Status {
        let known = self.incumbent.as_ref().zip(self.bound);
        let closed = known.is_some_and(|((_, objective), bound)| self.is_within_asked(*objective, bound));
        if status == Status::Optimal && !closed { Status::Stalled } else { status }
    }

    /// Ends the run. `Optimal` is earned here and nowhere else: by an incumbent, which the rules
    /// allow, whose gap is the one asked for. A method that is done without it has stalled.
    pub fn finish(self, status: Status) -> Outcome {
        let status = self.earned(status);
        let elapsed = self.elapsed();
        let (subset, objective) = self.incumbent.map_or((None, None), |(s, o)| (Some(s), Some(o)));
        let Self { sense, bound, yardstick, counts, .. } = self;
        Outcome { status, subset, objective, sense, bound, yardstick, elapsed, counts }
    }
}

/// Oracle: answers questions about subsets, such as the objective of one or the bound of a node.
///
/// The implementer owns whatever makes the next answer cheaper than the first. It decides nothing:
/// what to ask, and what follows from an answer, is the [`Master`]'s part. [`drive`] is the loop
/// that joins both, counts the answers and stops at a limit.
pub trait Oracle {
    /// The question.
    type Query;
    /// The answer.
    type Answer;
    /// Answers one question; obeys `run.stop()` by answering with what it has.
    ///
    /// # Errors
    /// Bad input or a broken part; never a limit.
    fn ask(&mut self, query: &Self::Query, run: &mut Run<'_>) -> Result<Self::Answer, Error>;
}

/// Next step of a master.
#[derive(Debug)]
pub enum Next<Q> {
    /// Ask the oracle this.
    Ask(Q),
    /// Finished, with this status.
    Done(Status),
}

/// Decides what to ask and learns from the answers: the paper's algorithm, one round at a time.
pub trait Master<O: Oracle> {
    /// The next question, or the end.
    ///
    /// # Errors
    /// Bad input or a broken part; never a limit.
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<O::Query>, Error>;

    /// Takes in an answer.
    ///
    /// # Errors
    /// Bad input or a broken part; never a limit.
    fn learn(&mut self, query: O::Query, answer: O::Answer, run: &mut Run<'_>) -> Result<(), Error>;

    /// Called once when a limit is reached: a last question whose answer makes a subset that
    /// satisfies the rules, if one is needed.
    fn wind_up(&mut self, _run: &mut Run<'_>) -> Option<O::Query> {
        None
    }
}

/// The one loop: asks, learns, counts, and stops at a limit.
///
/// # Errors
/// Whatever the oracle or master report; reaching a limit is a status of `Ok`.
pub fn drive<O: Oracle, M: Master<O>>(oracle: &mut O, master: &mut M, run: &mut Run<'_>) -> Result<Status, Error> {
    loop {
        let (query, stopped) = match run.stop() {
            Some(status) => match master.wind_up(run) {
                Some(query) => (query, Some(status)),
                None => return Ok(status),
            },
            None => match master.next(run)? {
                Next::Done(status) => return Ok(status),
                Next::Ask(query) => (query, None),
            },
        };
        let answer = oracle.ask(&query, run)?;
        run.counts.oracle_calls += 1;
        run.tell(&Event::Answered { call: run.counts.oracle_calls, elapsed: run.elapsed() });
        master.learn(query, answer, run)?;
        if let Some(status) = stopped {
            return Ok(status);
        }
    }
}
