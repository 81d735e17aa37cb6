//! The progress of a path: the parts that are done (its sizes, or the eliminations of `rfe`), and
//! the state inside the current part, of a method that keeps states.
//!
//! A part that a limit ended is not done: it resumes from its own last state, where that takes no
//! more than [`MOST_BYTES`], and otherwise begins again.

use std::io::{self, Cursor, Read, Write};
use std::ops::ControlFlow;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::method::Report;
use crate::model::{Machine, Model};
use crate::run::state::{StateReader, StateWriter, as_json, stranger, subset};
use crate::{
    Checkpoint, Counts, Error, Event, Kernel, Observer, Outcome, ProofSink, Ranked, RowMatrix, Selection, Sense,
    Solution, Status, Subset, Yardstick,
};

/// Bytes of the last states of parts that a limit ended, all together.
const MOST_BYTES: usize = 256 << 20;

/// What tells one path from another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    method: String,
    p: usize,
    sizes: Vec<usize>,
}

/// The parts of a path by number, and the observer of all of them.
pub(in crate::method) struct Parts<'a> {
    observer: &'a mut dyn Observer,
    head: Head,
    /// Parts that are done: number and record.
    done: Vec<(usize, Vec<u8>)>,
    /// Parts that a limit ended: number and their last state.
    stopped: Vec<(usize, Vec<u8>)>,
    /// The part that an earlier run was at, and its state.
    inside: Option<(usize, Box<dyn Read + Send>)>,
    /// The last state of the current part.
    latest: Option<Vec<u8>>,
}

impl<'a> Parts<'a> {
    /// Resumes from the state that the observer has, if it has one. `sizes` are those of the parts.
    ///
    /// # Errors
    /// A state that is damaged or of another path.
    pub(in crate::method) fn new(
        method: &str,
        p: usize,
        sizes: Vec<usize>,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, Error> {
        let head = Head { method: format!("a path of {method}"), p, sizes };
        let (mut done, mut stopped, mut inside) = (Vec::new(), Vec::new(), None);
        if let Some(input) = observer.state() {
            let mut state = StateReader::new(input);
            let found: Head = state.take()?;
            if found != head {
                return Err(stranger(&format!(
                    "it is one of {} over sizes {:?}, not of {} over {:?}",
                    found.method, found.sizes, head.method, head.sizes
                )));
            }
            (done, stopped) = (state.take()?, state.take()?);
            inside = state.take::<Option<usize>>()?.map(|part| (part, state.rest()));
        }
        Ok(Self { observer, head, done, stopped, inside, latest: None })
    }

    /// What is known of a part that is done.
    ///
    /// # Errors
    /// A record that is damaged.
    pub(in crate::method) fn known<T: DeserializeOwned>(&self, part: usize) -> Result<Option<T>, Error> {
        let record = self.done.iter().find(|done| done.0 == part).map(|done| done.1.clone());
        record.map(|record| StateReader::new(Box::new(Cursor::new(record))).take()).transpose()
    }

    /// Tells the observer something of the path as a whole.
    pub(in crate::method) fn tell(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.observer.on(event)
    }

    /// The observer of a part.
    pub(in crate::method) fn observer(&mut self, part: usize) -> PartObserver<'_, 'a> {
        self.latest = None;
        PartObserver { parts: self, part }
    }

    /// A part has ended like this; `value` is what is known of it.
    pub(in crate::method) fn end<T: Serialize>(&mut self, part: usize, value: &T, status: Status) {
        let stopped = status.is_limit() && !matches!(status, Status::Stalled | Status::MemoryLimit);
        let latest = self.latest.take();
        self.stopped.retain(|known| known.0 != part);
        if stopped {
            let taken: usize = self.stopped.iter().map(|known| known.1.len()).sum();
            self.stopped.extend(latest.filter(|state| taken + state.len() <= MOST_BYTES).map(|state| (part, state)));
        } else {
            let mut record = Vec::new();
            StateWriter::new(&mut record).put(value).expect("a vector takes every byte");
            self.done.push((part, record));
        }
        self.keep(false);
    }

    /// Tells the state between two parts.
    pub(in crate::method) fn keep(&mut self, last: bool) {
        let (head, done, stopped) = (&self.head, &self.done, &self.stopped);
        // Whether to stop is asked at the next part.
        let _ = self.observer.on(&Event::Checkpoint { state: &PathState { head, done, stopped, inside: None }, last });
    }
}

/// The observer of one part: what it keeps becomes part of what the path keeps.
pub(in crate::method) struct PartObserver<'b, 'a> {
    parts: &'b mut Parts<'a>,
    part: usize,
}

impl Observer for PartObserver<'_, '_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let Parts { observer, head, done, stopped, latest, .. } = &mut *self.parts;
        match event {
            Event::Checkpoint { state, last: true } => {
                if let Some(proof) = observer.proof() {
                    proof.mark();
                }
                let mut bytes = Vec::new();
                *latest = state.write(&mut bytes).is_ok().then_some(bytes);
                ControlFlow::Continue(())
            }
            Event::Checkpoint { state, last: false } => {
                let state = &PathState { head, done, stopped, inside: Some((self.part, *state)) };
                observer.on(&Event::Checkpoint { state, last: false })
            }
            other => observer.on(other),
        }
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.parts.observer.proof()
    }

    fn state(&mut self) -> Option<Box<dyn Read + Send>> {
        if let Some((_, state)) = self.parts.inside.take_if(|inside| inside.0 == self.part) {
            return Some(state);
        }
        let state = self.parts.stopped.iter().find(|known| known.0 == self.part)?.1.clone();
        Some(Box::new(Cursor::new(state)))
    }
}

/// The state of a path.
struct PathState<'a> {
    head: &'a Head,
    done: &'a [(usize, Vec<u8>)],
    stopped: &'a [(usize, Vec<u8>)],
    inside: Option<(usize, &'a dyn Checkpoint)>,
}

impl std::fmt::Debug for PathState<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PathState").field("head", self.head).field("inside", &self.inside).finish_non_exhaustive()
    }
}

impl Checkpoint for PathState<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = StateWriter::new(out);
        out.put(self.head)?;
        out.put(self.done)?;
        out.put(self.stopped)?;
        out.put(&self.inside.map(|inside| inside.0))?;
        self.inside.map_or(Ok(()), |(_, state)| state.write(out.rest()))
    }
}

/// What a path knows of each of its parts.
pub(in crate::method) trait PathPart: Sized {
    /// What is written down of it.
    type State: Serialize + DeserializeOwned;
    /// A selection alone.
    fn of(selection: Selection) -> Self;
    fn selection(&self) -> &Selection;
    fn state(&self) -> Self::State;
    /// # Errors
    /// Features that are none of the p.
    fn restore(state: Self::State, p: usize) -> Result<Self, Error>;
}

/// A [`Selection`].
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::method) struct SelectionState {
    status: Status,
    subset: Option<Vec<usize>>,
    objective: Option<f64>,
    sense: Sense,
    bound: Option<f64>,
    yardstick: Option<Yardstick>,
    elapsed: Duration,
    counts: Counts,
    ranking: Vec<(usize, usize, Option<u64>, f64)>,
    solutions: Vec<(Vec<usize>, f64)>,
}

impl PathPart for Selection {
    type State = SelectionState;

    fn of(selection: Selection) -> Self {
        selection
    }

    fn selection(&self) -> &Selection {
        self
    }

    fn state(&self) -> SelectionState {
        let Outcome { status, subset, objective, sense, bound, yardstick, elapsed, counts } = self.outcome.clone();
        let list = |subset: &Subset| subset.iter().collect::<Vec<_>>();
        SelectionState {
            status,
            subset: subset.as_ref().map(list),
            objective,
            sense,
            bound,
            yardstick,
            elapsed,
            counts,
            ranking: self.ranking.iter().map(|r| (r.feature, r.rank, r.step, r.criterion)).collect(),
            solutions: self.solutions.iter().map(|s| (list(&s.subset), s.objective)).collect(),
        }
    }

    fn restore(state: SelectionState, p: usize) -> Result<Self, Error> {
        let SelectionState { status, objective, sense, bound, yardstick, elapsed, counts, .. } = state;
        if let Some(ranked) = state.ranking.iter().find(|r| r.0 >= p) {
            return Err(stranger(&format!("it ranks feature {} of {p}", ranked.0)));
        }
        let ranked = |(feature, rank, step, criterion)| Ranked { feature, rank, step, criterion };
        let solution = |(features, objective): (Vec<usize>, f64)| {
            subset(p, &features).map(|subset| Solution { subset, objective })
        };
        let subset = state.subset.map(|features| subset(p, &features)).transpose()?;
        Ok(Self {
            outcome: Outcome { status, subset, objective, sense, bound, yardstick, elapsed, counts },
            ranking: state.ranking.into_iter().map(ranked).collect(),
            solutions: state.solutions.into_iter().map(solution).collect::<Result<_, _>>()?,
        })
    }
}

/// A [`Report`].
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::method) struct ReportState {
    selection: SelectionState,
    model: Option<ModelState>,
    #[serde(with = "as_json")]
    kernel: Kernel,
    categorical: Vec<usize>,
    cost: Option<f64>,
    penalty: Option<f64>,
    #[serde(with = "as_json")]
    details: Map<String, Value>,
}

/// A [`Model`].
#[derive(Debug, Serialize, Deserialize)]
struct ModelState {
    features: Vec<usize>,
    #[serde(with = "as_json")]
    kernel: Kernel,
    categorical: Vec<usize>,
    n_classes: u32,
    machines: Vec<Machine>,
    support_vectors: RowMatrix,
}

impl PathPart for Report {
    type State = ReportState;

    fn of(selection: Selection) -> Self {
        Self::new(selection, Kernel::Linear)
    }

    fn selection(&self) -> &Selection {
        &self.selection
    }

    fn state(&self) -> ReportState {
        let model = |model: &Model| {
            let Model { features, kernel, categorical, n_classes, machines, support_vectors } = model.clone();
            ModelState { features, kernel, categorical, n_classes, machines, support_vectors }
        };
        ReportState {
            selection: self.selection.state(),
            model: self.model.as_ref().map(model),
            kernel: self.kernel,
            categorical: self.categorical.clone(),
            cost: self.cost,
            penalty: self.penalty,
            details: self.details.clone(),
        }
    }

    fn restore(state: ReportState, p: usize) -> Result<Self, Error> {
        let model = |model: ModelState| -> Result<Model, Error> {
            let ModelState { features, kernel, categorical, n_classes, machines, support_vectors } = model;
            subset(p, &features)?;
            Ok(Model { features, kernel, categorical, n_classes, machines, support_vectors })
        };
        Ok(Self {
            selection: Selection::restore(state.selection, p)?,
            model: state.model.map(model).transpose()?,
            kernel: state.kernel,
            categorical: state.categorical,
            cost: state.cost,
            penalty: state.penalty,
            details: state.details,
        })
    }
}
