//! Events: what a run tells its observer while it goes on. The library never prints.

use std::io::Read;
use std::ops::ControlFlow;
use std::time::Duration;

use super::Checkpoint;
use crate::Subset;

/// Something that happened in a run.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The oracle answered its `call`-th question.
    Answered {
        /// Number of answers so far.
        call: u64,
        /// Time since the start.
        elapsed: Duration,
    },
    /// Steps done of the steps expected; for a progress display.
    Progress {
        /// Steps done.
        done: u64,
        /// Steps expected, when known.
        total: Option<u64>,
        /// Time since the start.
        elapsed: Duration,
    },
    /// A feature left the surviving set (elimination).
    Eliminated {
        /// Step, from 1.
        step: u64,
        /// Index of the feature.
        feature: usize,
        /// The feature's criterion when it left.
        criterion: f64,
    },
    /// A better subset was found.
    Incumbent {
        /// The subset.
        subset: &'a Subset,
        /// The subset's objective.
        objective: f64,
        /// The gap, where there is a bound ([`Outcome::gap`](crate::Outcome::gap)).
        gap: Option<f64>,
        /// Time since the start.
        elapsed: Duration,
    },
    /// Cost of a pass: this many subsets, cross-validated by at most this many trainings.
    Plan {
        /// Subsets to judge.
        subsets: u64,
        /// Trainings, at most.
        trainings: u64,
    },
    /// The proven bound moved.
    Bound {
        /// The bound.
        bound: f64,
        /// The gap, where there is an incumbent.
        gap: Option<f64>,
        /// Time since the start.
        elapsed: Duration,
    },
    /// The progress of a run: a later one resumes from there ([`Observer::state`]). It is written
    /// only where the observer asks it to be.
    Checkpoint {
        /// The state.
        state: &'a dyn Checkpoint,
        /// Whether the run, or this part of it, ends here: no other will follow.
        last: bool,
    },
    /// A path moves on to this size; what follows belongs to it.
    Size {
        /// Most features allowed.
        max_features: usize,
    },
}

/// Sink of the proof of a run: a stream of bytes.
///
/// A run calls [`ProofSink::begin`], or [`ProofSink::resume`] where it resumes from a state, then
/// [`ProofSink::write`] any number of times, and [`ProofSink::end`] when the run ends, at a limit
/// as well. A run that ends with an error does not call `end`: bytes without an end are no proof. A
/// path begins one proof for each size.
///
/// No method returns an error. An implementation keeps its first failure and reports it to its
/// caller after the run: a full disk must not cost the answer.
pub trait ProofSink {
    /// Begins a proof, after [`ProofSink::end`] the next one. Returns what the header's `made` is
    /// to hold, which is for people and for reading the data again.
    fn begin(&mut self) -> serde_json::Value;

    /// A state is about to be kept that a later run may resume from ([`Event::Checkpoint`]): its
    /// proof will resume from here.
    fn mark(&mut self) {}

    /// Goes on with the proof of the run whose state [`Observer::state`] gave, instead of
    /// [`ProofSink::begin`]: from its last [`ProofSink::mark`], or from where an observer knows
    /// it was when it kept the state. What was written after that is dropped.
    fn resume(&mut self);

    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]);

    /// The proof is complete.
    fn end(&mut self);
}

/// Observer of a run: receives its events, and may stop it.
///
/// A run calls the observer from the thread that the run was started on, one event at a time, and
/// waits for it to return; a slow observer slows the run. `Break` asks the run to finish with the
/// best subset so far and the status [`Status::Cancelled`](crate::Status::Cancelled). Events may
/// still follow it, such as the last [`Event::Checkpoint`].
///
/// Any `FnMut(&Event) -> ControlFlow<()>` is an observer. [`Silent`] ignores every event.
pub trait Observer {
    /// Takes one event.
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()>;

    /// The state of an earlier run to resume from, if there is one: what [`Checkpoint::write`]
    /// wrote. A method that keeps states asks once, at its start.
    fn state(&mut self) -> Option<Box<dyn Read + Send>> {
        None
    }

    /// The sink of the run's proof; none where no proof is wanted.
    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        None
    }
}

/// Ignores every event.
#[derive(Debug, Default, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {
    fn on(&mut self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Event<'_>) -> ControlFlow<()>> Observer for F {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self(event)
    }
}
