//! What is shown and written while a run goes on: a progress bar, and the trace file.

use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use fewest::{Event, Observer};
use fewest_data::Names;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};

use crate::export::file::Sink;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// The bar waits this long before it shows, so that short runs stay silent.
const PATIENCE: Duration = Duration::from_millis(400);

/// Receives the events of a run.
pub(crate) struct Watch<'a> {
    names: &'a Names,
    start: Instant,
    bar: Option<ProgressBar>,
    wants_bar: bool,
    sink: Option<&'a Sink>,
    /// Opened by the first event, so that a run that is refused leaves no file.
    trace: Option<Box<dyn Write>>,
    failed: Option<std::io::Error>,
}

impl<'a> Watch<'a> {
    /// A bar if the terminal shows one, a trace if asked for.
    pub(crate) fn new(names: &'a Names, terminal: Terminal, sink: Option<&'a Sink>) -> Self {
        Self {
            names,
            start: Instant::now(),
            bar: None,
            wants_bar: terminal.shows_progress(),
            sink,
            trace: None,
            failed: None,
        }
    }

    /// Clears the bar and ends the trace.
    ///
    /// # Errors
    /// When the trace could not be written to its end.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.clear();
        let flushed = self.trace.as_mut().map_or(Ok(()), Write::flush);
        self.failed.take().map_or(flushed, Err).map_err(|error| Failure::writing("the trace", &error))
    }

    /// Takes the bar off the terminal.
    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn advance(&mut self, done: u64, total: Option<u64>) {
        if self.bar.is_none() && self.start.elapsed() >= PATIENCE {
            self.bar = Some(bar());
        }
        if let Some(bar) = &self.bar {
            if let Some(total) = total {
                bar.set_length(total);
            }
            bar.set_position(done);
        }
    }

    fn line(&mut self, line: &Value) -> std::io::Result<()> {
        if let (Some(sink), None) = (self.sink, &self.trace) {
            self.trace = Some(sink.follow()?);
        }
        self.trace.as_mut().map_or(Ok(()), |trace| writeln!(trace, "{line}"))
    }

    fn write(&mut self, event: &Event<'_>) {
        if self.sink.is_none() {
            return;
        }
        let seconds = self.start.elapsed().as_secs_f64();
        let line = match *event {
            Event::Answered { call, elapsed } => {
                json!({"event": "answered", "seconds": elapsed.as_secs_f64(), "call": call})
            }
            Event::Progress { done, total, elapsed } => {
                json!({"event": "progress", "seconds": elapsed.as_secs_f64(), "done": done, "total": total})
            }
            Event::Eliminated { step, feature, criterion } => json!({
                "event": "eliminated", "seconds": seconds, "step": step,
                "feature": self.names.get(feature), "index": feature, "criterion": criterion
            }),
            Event::Incumbent { subset, objective, elapsed } => json!({
                "event": "incumbent", "seconds": elapsed.as_secs_f64(), "objective": objective,
                "selected_indices": subset.iter().collect::<Vec<_>>()
            }),
            Event::Bound { bound, elapsed } => {
                json!({"event": "bound", "seconds": elapsed.as_secs_f64(), "bound": bound})
            }
            _ => Value::Null,
        };
        if line.is_null() {
            return;
        }
        if let Err(error) = self.line(&line) {
            self.failed = Some(error);
            (self.sink, self.trace) = (None, None);
        }
    }
}

impl Observer for Watch<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.write(event);
        if let (true, &Event::Progress { done, total, .. }) = (self.wants_bar, event) {
            self.advance(done, total);
        }
        ControlFlow::Continue(())
    }
}

/// A bar on standard error.
fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{elapsed_precise} [{wide_bar}] {pos}/{len} steps, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}
