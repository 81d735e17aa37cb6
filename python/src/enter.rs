//! The one door between Python and the library: the solve runs on threads of its own with the GIL released; the caller waits in
//! short steps, lets Python look at signals, and hands events to Python. Ctrl-C is a wish to stop, answered with the best so far.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::Duration;

use fewest::{Error, Event, Limits, Observer};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::raised;

/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(20);

/// Limits and threads.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    /// Seconds.
    time: Option<f64>,
    /// Trainings.
    oracle_calls: Option<u64>,
    /// Nodes of a search.
    nodes: Option<u64>,
    /// Relative gap.
    gap: Option<f64>,
    /// Threads; none: as many as cores.
    threads: Option<usize>,
}

impl Asked {
    fn limits(&self) -> PyResult<Limits> {
        let base = Limits::default();
        let time = match self.time.map(Duration::try_from_secs_f64) {
            None => None,
            Some(Ok(time)) => Some(time),
            Some(Err(_)) => {
                return Err(PyValueError::new_err(format!("time_limit is {:?}, but must be 0 or more", self.time)));
            }
        };
        let gap_rel = self.gap.unwrap_or(base.gap_rel);
        Ok(Limits { time, oracle_calls: self.oracle_calls, nodes: self.nodes, gap_rel, ..base })
    }
}

/// What is known at a moment of a run.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Known {
    pub(crate) seconds: f64,
    /// Of the best subset.
    pub(crate) objective: Option<f64>,
    /// Its size.
    pub(crate) n_features: Option<usize>,
    pub(crate) bound: Option<f64>,
}

/// What was seen of a run.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// A row for each change.
    pub(crate) trace: Vec<Known>,
    /// Whether Ctrl-C ended it.
    pub(crate) interrupted: bool,
}

impl Seen {
    fn note(&mut self, event: &Event<'_>) {
        let last = self.trace.last().copied().unwrap_or_default();
        match *event {
            Event::Incumbent { subset, objective, elapsed } => {
                let (seconds, n_features) = (elapsed.as_secs_f64(), Some(subset.len()));
                self.trace.push(Known { seconds, objective: Some(objective), n_features, ..last });
            }
            Event::Bound { bound, elapsed } => {
                self.trace.push(Known { seconds: elapsed.as_secs_f64(), bound: Some(bound), ..last });
            }
            _ => {}
        }
    }
}

/// An event as it crosses threads.
enum Told {
    Incumbent { features: Vec<usize>, objective: f64, elapsed: Duration },
    Bound { bound: f64, elapsed: Duration },
    Eliminated { step: u64, feature: usize, criterion: f64 },
    Progress { done: u64, total: Option<u64>, elapsed: Duration },
    Plan { subsets: u64, trainings: u64 },
}

impl Told {
    fn of(event: &Event<'_>) -> Option<Self> {
        Some(match *event {
            Event::Incumbent { subset, objective, elapsed } => {
                Told::Incumbent { features: subset.iter().collect(), objective, elapsed }
            }
            Event::Bound { bound, elapsed } => Told::Bound { bound, elapsed },
            Event::Eliminated { step, feature, criterion } => Told::Eliminated { step, feature, criterion },
            Event::Progress { done, total, elapsed } => Told::Progress { done, total, elapsed },
            Event::Answered { call, elapsed } => Told::Progress { done: call, total: None, elapsed },
            Event::Plan { subsets, trainings } => Told::Plan { subsets, trainings },
            _ => return None,
        })
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        match self {
            Told::Incumbent { features, objective, elapsed } => {
                dict.set_item("event", "incumbent")?;
                dict.set_item("features", features)?;
                dict.set_item("objective", objective)?;
                dict.set_item("elapsed", elapsed.as_secs_f64())?;
            }
            Told::Bound { bound, elapsed } => {
                dict.set_item("event", "bound")?;
                dict.set_item("bound", bound)?;
                dict.set_item("elapsed", elapsed.as_secs_f64())?;
            }
            Told::Eliminated { step, feature, criterion } => {
                dict.set_item("event", "eliminated")?;
                dict.set_item("step", step)?;
                dict.set_item("feature", feature)?;
                dict.set_item("criterion", criterion)?;
            }
            Told::Progress { done, total, elapsed } => {
                dict.set_item("event", "step")?;
                dict.set_item("done", done)?;
                dict.set_item("total", total)?;
                dict.set_item("elapsed", elapsed.as_secs_f64())?;
            }
            Told::Plan { subsets, trainings } => {
                dict.set_item("event", "plan")?;
                dict.set_item("subsets", subsets)?;
                dict.set_item("trainings", trainings)?;
            }
        }
        Ok(dict)
    }
}

/// What the solving thread sends.
enum Message<T> {
    Told(Told, SyncSender<bool>),
    Done(T),
}

/// Runs `solve` under the limits asked for. `told` is called with each event, on the caller's thread, and says whether to stop.
///
/// # Errors
/// Those of `solve`, and what `told` or a signal handler raises, except `KeyboardInterrupt`.
#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself is not general enough in its lifetime"
)]
pub(crate) fn enter<T: Send>(
    py: Python<'_>,
    asked: &Asked,
    told: Option<Py<PyAny>>,
    solve: impl FnOnce(Limits, &mut (dyn Observer + Send)) -> Result<T, Error> + Send,
) -> PyResult<(T, Seen)> {
    let limits = asked.limits()?;
    let cancel = limits.cancel.clone();
    // A pool of its own: a forked process would wait forever for the threads of a global one.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(asked.threads.unwrap_or(0))
        .build()
        .map_err(|error| PyValueError::new_err(format!("cannot start {:?} threads: {error}", asked.threads)))?;
    let ask = told.is_some();
    let (result, mut seen, failure, interrupted) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let solver = scope.spawn(move || {
                let mut seen = Seen::default();
                let mut observer = |event: &Event<'_>| {
                    seen.note(event);
                    let stop = if ask && let Some(told) = Told::of(event) {
                        let (reply, answer) = mpsc::sync_channel(1);
                        sender.send(Message::Told(told, reply)).is_err() || answer.recv().unwrap_or(true)
                    } else {
                        false
                    };
                    if stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                let result = pool.scope(|_| solve(limits, &mut observer));
                let _ = sender.send(Message::Done(()));
                (result, seen)
            });
            let (mut failure, mut interrupted) = (None, false);
            let mut fail = |error: PyErr| {
                cancel.cancel();
                if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
                    interrupted = true;
                } else {
                    failure.get_or_insert(error);
                }
            };
            loop {
                match receiver.recv_timeout(LOOK) {
                    Ok(Message::Done(())) | Err(RecvTimeoutError::Disconnected) => break,
                    Ok(Message::Told(event, reply)) => {
                        let stop = Python::attach(|py| -> PyResult<bool> {
                            py.check_signals()?;
                            let told = told.as_ref().expect("events are sent to a listener").bind(py);
                            told.call1((event.to_dict(py)?,))?.is_truthy()
                        });
                        let _ = reply.send(stop.unwrap_or_else(|error| {
                            fail(error);
                            true
                        }));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(error) = Python::attach(|py| py.check_signals()) {
                            fail(error);
                        }
                    }
                }
            }
            match solver.join() {
                Ok((result, seen)) => (result, seen, failure, interrupted),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    seen.interrupted = interrupted;
    Ok((result.map_err(raised)?, seen))
}
