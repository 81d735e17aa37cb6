//! The one door between Python and the library. The solve runs on threads of its own with the GIL
//! released. The caller waits in short steps, lets Python check for signals, and hands events to
//! Python. Ctrl-C cancels the run, a panic becomes an exception.

use std::any::Any;
use std::io::Read;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use fewest::{Cancel, Error, Event, Limits, Memory, Observer, ProofSink};
use fewest_cli::Failure;
use fewest_cli::resume::{EVERY, Resume};
use fewest_data::DataError;
use fewest_result::ProofFile;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::raised;

/// Time between two events for a listener of a run that says nothing, so that it can say where the run is.
const TICK: Duration = Duration::from_millis(500);

/// Time between two checks for signals.
const PAUSE: Duration = Duration::from_millis(20);

/// Limits and threads of a call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CallLimits {
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
    /// Where the run keeps its progress.
    resume: Option<PathBuf>,
    /// Seconds between two writings of that.
    resume_every: Option<f64>,
    /// Bytes that the call may take beside the data.
    memory: Option<u64>,
    /// Whether Ctrl-C keeps the best so far, and does not raise `KeyboardInterrupt`.
    keep_on_interrupt: bool,
}

impl CallLimits {
    /// Where the run keeps its states; `run` describes it, by name.
    ///
    /// # Errors
    /// `ValueError` for a file that cannot be written.
    pub(crate) fn resume(&self, run: impl FnOnce() -> serde_json::Value) -> PyResult<Option<Resume>> {
        let Some(path) = &self.resume else { return Ok(None) };
        let every = self.resume_every.map_or(Ok(EVERY), Duration::try_from_secs_f64);
        let every = every.map_err(|_| {
            PyValueError::new_err(format!("resume_every is {:?}, but must be 0 or more", self.resume_every))
        })?;
        Resume::open(path, run(), every).map(Some).map_err(|failure| raised(refused(failure)))
    }

    /// Nodes at which a search may end.
    pub(crate) fn nodes(&self) -> Option<u64> {
        self.nodes
    }

    /// The gap asked for.
    pub(crate) fn gap(&self) -> Option<f64> {
        self.gap
    }

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
        let memory = self.memory.map_or(base.memory, Memory::new);
        Ok(Limits { time, oracle_calls: self.oracle_calls, nodes: self.nodes, gap_rel, memory, ..base })
    }
}

/// Observes a run: writes down its course, hands events to Python, keeps states.
struct Watch<'a> {
    course: Course,
    /// Hands an event to Python, and says whether to stop.
    hand_over: &'a mut (dyn FnMut(RunEvent) -> bool + Send),
    listens: bool,
    files: Files,
    /// The state to resume from, until it is asked for.
    from: Option<Box<dyn Read + Send>>,
    /// Why the state could not be kept.
    unkept: Option<Failure>,
}

impl Observer for Watch<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let (Event::Checkpoint { state, last }, Some(resume)) = (event, &self.files.resume)
            && (*last || resume.is_due())
        {
            let marks = self.files.proof.as_mut().map_or(&[][..], ProofFile::marks);
            if let Err(failure) = resume.keep(*state, marks) {
                self.unkept = Some(failure);
                return ControlFlow::Break(());
            }
        }
        let event = self.course.record(event).filter(|_| self.listens);
        if event.is_some_and(&mut *self.hand_over) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn state(&mut self) -> Option<Box<dyn Read + Send>> {
        self.from.take()
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.files.proof.as_mut().map(|proof| proof as &mut dyn ProofSink)
    }
}

/// What a run writes beside its result.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) resume: Option<Resume>,
    pub(crate) proof: Option<ProofFile>,
}

impl Files {
    /// `resume` and the proof of a run, which goes on with it.
    pub(crate) fn new(resume: Option<Resume>, proof: Option<ProofFile>) -> Self {
        let proof = if resume.is_some() { proof.map(ProofFile::lasting) } else { proof };
        Self { resume, proof }
    }

    /// The state to resume from; the proof resumes from the same moment.
    fn load(&mut self) -> Result<Option<Box<dyn Read + Send>>, Failure> {
        let Some(kept) = self.resume.as_ref().map_or(Ok(None), Resume::load)? else { return Ok(None) };
        if let Some(proof) = &mut self.proof {
            proof.resume_at(kept.proofs).map_err(|error| Failure::Input(error.to_string()))?;
        }
        Ok(Some(kept.state))
    }
}

/// What a file of states says, as an error of the library.
fn refused(failure: Failure) -> Error {
    match failure {
        Failure::Input(text) => Error::Data(text),
        other => Error::Source(other.into_text()),
    }
}

/// Threads of one call: a forked process would wait forever for those of a global pool. None: as
/// many as cores.
pub(crate) fn pool(threads: Option<usize>) -> PyResult<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
    pool.map_err(|error| PyValueError::new_err(format!("cannot start {threads:?} threads: {error}")))
}

/// A panic of the library as Python's exception.
fn panicked(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("fewest has a fault: {text}. Please report it with the call that led here"))
}

/// What `body` returns; its panic as Python's exception. Every function that Python calls is one of
/// these.
pub(crate) fn sheltered<T>(body: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

/// The best subset and the bound at a moment of a run.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct TraceRow {
    pub(crate) seconds: f64,
    /// The objective of the best subset.
    pub(crate) objective: Option<f64>,
    /// The size of the best subset.
    pub(crate) n_features: Option<usize>,
    pub(crate) bound: Option<f64>,
}

/// The course of a run.
#[derive(Debug)]
pub(crate) struct Course {
    /// A row for each change.
    pub(crate) trace: Vec<TraceRow>,
    /// Whether Ctrl-C ended it.
    pub(crate) interrupted: bool,
    /// Whether it wrote a proof, or why it could not.
    pub(crate) proof: Result<bool, DataError>,
    /// Steps done, and expected where that is known, as last reported.
    steps: Option<(u64, Option<u64>)>,
    /// Whether the run tells its steps itself.
    counts: bool,
}

impl Default for Course {
    fn default() -> Self {
        Self { trace: Vec::new(), interrupted: false, proof: Ok(false), steps: None, counts: false }
    }
}

impl Course {
    /// Writes down a change, and returns the event as Python gets it.
    fn record(&mut self, event: &Event<'_>) -> Option<RunEvent> {
        let last = self.trace.last().copied().unwrap_or_default();
        Some(match *event {
            Event::Incumbent { subset, objective, gap, elapsed } => {
                let (elapsed, n_features) = (elapsed.as_secs_f64(), Some(subset.len()));
                let row = TraceRow { seconds: elapsed, objective: Some(objective), n_features, ..last };
                self.trace.push(row);
                RunEvent::Incumbent { features: subset.iter().collect(), objective, gap, elapsed }
            }
            Event::Bound { bound, gap, elapsed } => {
                let elapsed = elapsed.as_secs_f64();
                let row = TraceRow { seconds: elapsed, bound: Some(bound), ..last };
                self.trace.push(row);
                RunEvent::Bound { bound, gap, elapsed }
            }
            Event::Eliminated { step, feature, criterion } => RunEvent::Eliminated { step, feature, criterion },
            Event::Progress { done, total, elapsed } => {
                let done = self.steps.map_or(done, |(before, _)| done.max(before));
                self.steps = Some((done, total));
                self.counts = true;
                RunEvent::Step { done, total, elapsed: elapsed.as_secs_f64() }
            }
            Event::Answered { call, elapsed } => {
                // Answers count where the run counts nothing else.
                let (done, total) = self.steps.filter(|_| self.counts).unwrap_or((call, None));
                self.steps = Some((done, total));
                RunEvent::Step { done, total, elapsed: elapsed.as_secs_f64() }
            }
            Event::Plan { subsets, trainings } => RunEvent::Plan { subsets, trainings },
            _ => return None,
        })
    }
}

/// An event as a dictionary; `event` is its name. A tick says nothing new.
#[derive(Debug, serde::Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum RunEvent {
    Incumbent { features: Vec<usize>, objective: f64, gap: Option<f64>, elapsed: f64 },
    Bound { bound: f64, gap: Option<f64>, elapsed: f64 },
    Eliminated { step: u64, feature: usize, criterion: f64 },
    Step { done: u64, total: Option<u64>, elapsed: f64 },
    Plan { subsets: u64, trainings: u64 },
    Tick {},
}

/// What the solving thread sends.
enum Message {
    /// An event, and where the answer goes: whether to stop.
    Event(RunEvent, SyncSender<bool>),
    Done,
}

/// What came up on the caller's thread while the run went on.
#[derive(Default)]
struct CallerErrors {
    /// Ctrl-C.
    interrupt: Option<PyErr>,
    /// Any other exception.
    failure: Option<PyErr>,
}

impl CallerErrors {
    fn take(&mut self, error: PyErr, cancel: &Cancel) {
        cancel.cancel();
        if Python::attach(|py| error.is_instance_of::<PyKeyboardInterrupt>(py)) {
            self.interrupt.get_or_insert(error);
        } else {
            self.failure.get_or_insert(error);
        }
    }
}

/// Runs `solve` under the limits. `listener` is called with each event, on the caller's thread, and
/// says whether to stop.
///
/// # Errors
/// Those of `solve`, its panics as `RuntimeError`, what `listener` or a signal handler raises, and
/// `KeyboardInterrupt` unless the limits keep the best so far.
pub(crate) fn enter<T: Send>(
    py: Python<'_>,
    limits: &CallLimits,
    listener: Option<Py<PyAny>>,
    solve: impl FnOnce(Limits, &mut (dyn Observer + Send)) -> Result<T, Error> + Send,
) -> PyResult<(T, Course)> {
    enter_keeping(py, limits, listener, Files::default(), solve)
}

/// As [`enter`], for a run that writes files, and resumes from what is there. Whether a proof was
/// written is part of its course.
///
/// # Errors
/// As [`enter`]; a state that is damaged or of another run; `OSError` for a proof that could not be
/// written.
pub(crate) fn enter_keeping<T: Send>(
    py: Python<'_>,
    limits: &CallLimits,
    listener: Option<Py<PyAny>>,
    files: Files,
    solve: impl FnOnce(Limits, &mut (dyn Observer + Send)) -> Result<T, Error> + Send,
) -> PyResult<(T, Course)> {
    let run_limits = limits.limits()?;
    let cancel = run_limits.cancel.clone();
    let pool = pool(limits.threads)?;
    let listens = listener.is_some();
    let (result, errors) = py.detach(|| {
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let solver = scope.spawn(move || {
                let done = sender.clone();
                let mut hand_over = |event: RunEvent| {
                    let (reply, answer) = mpsc::sync_channel(1);
                    sender.send(Message::Event(event, reply)).is_err() || answer.recv().unwrap_or(true)
                };
                let (result, course) = pool.scope(|_| watched(files, listens, &mut hand_over, run_limits, solve));
                let _ = done.send(Message::Done);
                (result, course)
            });
            let (mut errors, mut ticked) = (CallerErrors::default(), Instant::now());
            loop {
                match receiver.recv_timeout(PAUSE) {
                    Ok(Message::Done) | Err(RecvTimeoutError::Disconnected) => break,
                    Ok(Message::Event(event, reply)) => {
                        let stop = Python::attach(|py| answer_of(py, &event, listener.as_ref()));
                        let _ = reply.send(stop.unwrap_or_else(|error| {
                            errors.take(error, &cancel);
                            true
                        }));
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let due = listener.as_ref().filter(|_| ticked.elapsed() >= TICK);
                        if due.is_some() {
                            ticked = Instant::now();
                        }
                        let said = Python::attach(|py| match due {
                            Some(_) => answer_of(py, &RunEvent::Tick {}, due).map(drop),
                            None => py.check_signals(),
                        });
                        if let Err(error) = said {
                            errors.take(error, &cancel);
                        }
                    }
                }
            }
            (solver.join(), errors)
        })
    });
    let (result, mut course) = result.map_err(|panic| panicked(&*panic))?;
    if let Some(failure) = errors.failure {
        return Err(failure);
    }
    course.interrupted = errors.interrupt.is_some();
    match errors.interrupt {
        Some(interrupt) if !limits.keep_on_interrupt => Err(interrupt),
        _ => Ok((result.map_err(raised)?, course)),
    }
}

/// A run on the solving thread, and its course.
fn watched<T>(
    mut files: Files,
    listens: bool,
    hand_over: &mut (dyn FnMut(RunEvent) -> bool + Send),
    limits: Limits,
    solve: impl FnOnce(Limits, &mut (dyn Observer + Send)) -> Result<T, Error>,
) -> (Result<T, Error>, Course) {
    let from = match files.load() {
        Ok(from) => from,
        Err(failure) => return (Err(refused(failure)), Course::default()),
    };
    let mut watch = Watch { course: Course::default(), hand_over, listens, files, from, unkept: None };
    let result = solve(limits, &mut watch);
    let mut course = watch.course;
    course.proof = watch.files.proof.map_or(Ok(false), |proof| proof.finish().map(|files| !files.is_empty()));
    (watch.unkept.map_or(result, |failure| Err(refused(failure))), course)
}

/// Whether the listener wants the run to stop after an event.
fn answer_of(py: Python<'_>, event: &RunEvent, listener: Option<&Py<PyAny>>) -> PyResult<bool> {
    py.check_signals()?;
    let listener = listener.expect("events are sent to a listener").bind(py);
    listener.call1((pythonize(py, event)?,))?.is_truthy()
}
