//! The place of a run, for the line of progress, and the trace file.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::time::Instant;

use fewest::{Checkpoint, Event, Observer, ProofSink, Subset};
use fewest_data::Names;
use fewest_result::{ProofFile, Trace};
use serde::Serialize;

use crate::args::notation;
use crate::export::file::Sink;
use crate::export::table::number;
use crate::failure::Failure;
use crate::line::{self, Place};
use crate::resume::Resume;
use crate::terminal::Terminal;

/// Receives the events of a run.
pub(crate) struct Watch<'a> {
    names: &'a Names,
    terminal: Terminal,
    start: Instant,
    state: State,
    sink: Option<&'a Sink>,
    /// Opened by the first event, so that a run that is refused leaves no file.
    trace: Option<Box<dyn Write>>,
    failed: Option<std::io::Error>,
    /// The history of each size of a path; that of the whole run where there is none.
    histories: Vec<History>,
    /// Whether what comes is the search of a certificate.
    certifying: bool,
    /// Where a long run keeps its progress, if asked for.
    resume: Option<&'a Resume>,
    /// The state to resume from, until it is asked for.
    from: Option<Box<dyn Read + Send>>,
    /// Why it could not.
    unkept: Option<Failure>,
    /// Where proofs go, if asked for.
    proof: Option<&'a mut ProofFile>,
}

/// Key of what the header of a certificate's proof says: the subset that was judged.
pub(crate) const OWN: &str = "own";

/// Points of a history; beyond that every second one is dropped.
const POINTS: usize = 1000;

/// How incumbent and bound moved over time: seconds and value.
#[derive(Debug)]
pub(crate) struct History {
    max_features: Option<usize>,
    start: Instant,
    points: Trace,
}

impl History {
    fn new(max_features: Option<usize>) -> Self {
        Self { max_features, start: Instant::now(), points: Trace::default() }
    }

    fn note(&mut self, bound: bool, value: f64) {
        let seconds = self.start.elapsed().as_secs_f64();
        let points = if bound { &mut self.points.bound } else { &mut self.points.incumbent };
        if points.len() >= POINTS {
            let mut at = 0;
            points.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
        points.push((seconds, value));
    }

    /// The `trace` of a result of this size, or of the whole run.
    pub(crate) fn trace(histories: &[Self], max_features: Option<usize>) -> Option<Trace> {
        histories.iter().find(|history| history.max_features == max_features).map(|history| history.points.clone())
    }
}

/// A line of `--trace`: an event, and when it was.
#[derive(Serialize)]
struct TraceLine<'a> {
    #[serde(flatten)]
    of: Traced<'a>,
    seconds: f64,
}

/// An event of the trace, under its name.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum Traced<'a> {
    Answered { call: u64 },
    Progress { done: u64, total: Option<u64> },
    Eliminated { step: u64, feature: Cow<'a, str>, index: usize, criterion: f64 },
    Incumbent { objective: f64, gap: Option<f64>, selected_indices: Vec<usize> },
    Bound { bound: f64, gap: Option<f64> },
    Size { max_features: usize },
    Plan { subsets: u64, trainings: u64 },
    Certificate { max_features: usize },
}

/// Where the run is.
#[derive(Debug, Default)]
struct State {
    /// Part of the run, such as `size 3: `; empty for the whole.
    part: String,
    done: u64,
    total: Option<u64>,
    incumbent: Option<f64>,
    bound: Option<f64>,
    gap: Option<f64>,
}

impl State {
    fn of(part: String) -> Self {
        Self { part, ..Self::default() }
    }

    /// `120 nodes, incumbent 49.6826, bound 48.1020, gap 3.18 %`; without the number where it is one of a total.
    fn place(&self) -> Place {
        let Self { part, done, total, .. } = self;
        let count = if total.is_some() { String::new() } else { format!("{done} ") };
        let what = if self.bound.is_some() { "nodes" } else { "steps" };
        let named = |word: &str, x: Option<f64>| x.map_or_else(String::new, |x| format!(", {word} {}", number(x)));
        let (incumbent, bound) = (named("incumbent", self.incumbent), named("bound", self.bound));
        let gap = self.gap.map_or_else(String::new, |gap| format!(", gap {}", fewest_report::at_most(gap)));
        let text = format!("{count}{what}{incumbent}{bound}{gap}");
        Place { part: part.clone(), text, done: *done, total: *total }
    }
}

impl<'a> Watch<'a> {
    /// A trace if asked for.
    pub(crate) fn new(names: &'a Names, terminal: Terminal, sink: Option<&'a Sink>) -> Self {
        let (start, state) = (Instant::now(), State::default());
        Self {
            names,
            terminal,
            start,
            state,
            sink,
            trace: None,
            failed: None,
            histories: vec![History::new(None)],
            certifying: false,
            resume: None,
            from: None,
            unkept: None,
            proof: None,
        }
    }

    /// With a file in which the run keeps its progress, and resumes from what it holds.
    ///
    /// # Errors
    /// A file that is damaged, or that holds the state of another run.
    pub(crate) fn keeping(self, resume: Option<&'a Resume>) -> Result<Self, Failure> {
        self.proving(resume, None)
    }

    /// As [`Watch::keeping`], and with a file for its proof, which goes on, too.
    ///
    /// # Errors
    /// As there; a proof that is not as it was when the run was stopped.
    pub(crate) fn proving(
        self,
        resume: Option<&'a Resume>,
        mut proof: Option<&'a mut ProofFile>,
    ) -> Result<Self, Failure> {
        let kept = resume.map_or(Ok(None), Resume::load)?;
        let (from, marks) = kept.map_or((None, Vec::new()), |kept| (Some(kept.state), kept.proofs));
        if let Some(proof) = &mut proof {
            proof.resume_at(marks).map_err(|error| Failure::Input(format!("--resume, --proof: {error}")))?;
        }
        Ok(Self { resume, from, proof, ..self })
    }

    /// What comes belongs to this size of a path.
    pub(crate) fn at_size(&mut self, size: usize) {
        if let Some(proof) = &mut self.proof {
            proof.set_size(size);
        }
    }

    /// Begins the part of the run that certifies this subset, which its proof lists.
    pub(crate) fn certifying(&mut self, subset: &Subset) {
        let features = subset.len();
        self.certifying = true;
        if let Some(proof) = &mut self.proof {
            proof.tell(OWN, subset.iter().collect());
        }
        self.state = State::of(format!("certificate of {features}: "));
        self.line(&TraceLine { seconds: self.seconds(), of: Traced::Certificate { max_features: features } });
    }

    /// Ends the trace; how incumbent and bound moved.
    ///
    /// # Errors
    /// When the trace, or the file to resume from, could not be written.
    pub(crate) fn finish(mut self) -> Result<Vec<History>, Failure> {
        if let Some(failure) = self.unkept.take() {
            return Err(failure);
        }
        line::at(Place::at(line::WORKING));
        let flushed = self.trace.as_mut().map_or(Ok(()), Write::flush);
        self.failed.take().map_or(flushed, Err).map_err(|error| Failure::writing("the trace", &error))?;
        Ok(self.histories)
    }

    fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }

    /// Says where the run is, for its line.
    fn show(&self) {
        line::at(self.state.place());
    }

    /// Says where the run is, to the verbose user.
    fn tell(&self, features: usize) {
        let State { part, incumbent, bound, .. } = &self.state;
        let with = notation::plural(features, "feature");
        let bound = bound.map_or_else(String::new, |bound| format!(", bound {}", number(bound)));
        let (seconds, incumbent) = (self.seconds(), number(incumbent.unwrap_or(f64::NAN)));
        self.terminal.detail(&format!("{seconds:9.3} s  {part}{incumbent} with {with}{bound}"));
    }

    /// Adds a line to the trace.
    fn line(&mut self, line: &TraceLine<'_>) {
        let Some(sink) = self.sink else { return };
        let line = serde_json::to_string(line).expect("events are numbers, names and lists");
        let wrote = match &mut self.trace {
            Some(trace) => writeln!(trace, "{line}"),
            none => sink.follow().and_then(|trace| writeln!(none.insert(trace), "{line}")),
        };
        if let Err(error) = wrote {
            self.failed = Some(error);
            (self.sink, self.trace) = (None, None);
        }
    }

    /// Keeps the progress of the run, now and then and at its end; a failure ends the run. The
    /// search of a certificate keeps nothing.
    fn keep(&mut self, state: &dyn Checkpoint, last: bool) -> ControlFlow<()> {
        let due = |resume: &&Resume| !self.certifying && (last || resume.is_due());
        let Some(resume) = self.resume.filter(due) else { return ControlFlow::Continue(()) };
        let marks = self.proof.as_mut().map_or(&[][..], |proof| proof.marks());
        match resume.keep(state, marks) {
            Ok(()) => ControlFlow::Continue(()),
            // The result is there, and is not lost for lack of a state.
            Err(failure) if last => {
                self.terminal.warn(&failure.into_text());
                ControlFlow::Continue(())
            }
            Err(failure) => {
                self.unkept = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn remember(&mut self, event: &Event<'_>) {
        let (false, Some(history)) = (self.certifying, self.histories.last_mut()) else { return };
        match *event {
            Event::Size { max_features } => self.histories.push(History::new(Some(max_features))),
            Event::Incumbent { objective, .. } => history.note(false, objective),
            Event::Bound { bound, .. } => history.note(true, bound),
            _ => {}
        }
    }

    fn write(&mut self, event: &Event<'_>) {
        if self.sink.is_none() {
            return;
        }
        let seconds = self.seconds();
        let traced = match *event {
            Event::Answered { call, .. } => Traced::Answered { call },
            Event::Progress { done, total, .. } => Traced::Progress { done, total },
            Event::Eliminated { step, feature: index, criterion } => {
                Traced::Eliminated { step, feature: self.names.get(index), index, criterion }
            }
            Event::Incumbent { subset, objective, gap, .. } => {
                Traced::Incumbent { objective, gap, selected_indices: subset.iter().collect() }
            }
            Event::Bound { bound, gap, .. } => Traced::Bound { bound, gap },
            Event::Size { max_features } => Traced::Size { max_features },
            Event::Plan { subsets, trainings } => Traced::Plan { subsets, trainings },
            _ => return,
        };
        self.line(&TraceLine { seconds, of: traced });
    }
}

impl Observer for Watch<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.write(event);
        self.remember(event);
        match *event {
            Event::Progress { done, total, .. } => (self.state.done, self.state.total) = (done, total),
            Event::Incumbent { subset, objective, gap, .. } => {
                (self.state.incumbent, self.state.gap) = (Some(objective), gap);
                self.tell(subset.len());
            }
            Event::Plan { subsets, trainings } => {
                let what = notation::plural(subsets as usize, "subset");
                self.terminal.note(&format!("judging {what} by cross-validation, at most {trainings} trainings"));
            }
            Event::Bound { bound, gap, .. } => (self.state.bound, self.state.gap) = (Some(bound), gap),
            Event::Size { max_features } => {
                self.state = State::of(format!("size {max_features}: "));
                self.at_size(max_features);
            }
            Event::Checkpoint { state, last } => return self.keep(state, last),
            _ => return ControlFlow::Continue(()),
        }
        self.show();
        ControlFlow::Continue(())
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.proof.as_mut().map(|proof| &mut **proof as &mut dyn ProofSink)
    }

    fn state(&mut self) -> Option<Box<dyn Read + Send>> {
        if self.certifying { None } else { self.from.take() }
    }
}
