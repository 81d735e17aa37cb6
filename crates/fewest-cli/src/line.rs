//! The line that says how far a run is: drawn at a terminal, written now and then for a program that
//! asked for lines. It moves while nothing is heard of the run, so that no screen stays
//! silent. There is one, as there is one standard error.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::notation::typed_time;

/// The line waits this long before it shows, so that short runs stay silent.
const PATIENCE: Duration = Duration::from_millis(400);

/// Time between two updates at a terminal.
const REFRESH: Duration = Duration::from_millis(100);

/// Time before the first line, where a program asked for lines; with a tick it comes within two seconds.
const FIRST: Duration = Duration::from_millis(1400);

/// Time between two of them.
const LINE: Duration = Duration::from_secs(10);

/// What a run says of itself before anything is known.
pub(crate) const WORKING: &str = "working";

/// Time between two updates of a line of which nothing is heard.
#[cfg(not(target_family = "wasm"))]
const TICK: Duration = Duration::from_millis(500);

/// The line, while there is one.
static LINE_OF_RUN: Mutex<Option<Line>> = Mutex::new(None);

/// Where a run is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// Part of the run, such as `size 3: `; empty for the whole.
    pub(crate) part: String,
    /// What is done, or what is counted, in words, and the best so far.
    pub(crate) text: String,
    /// Steps that are done.
    pub(crate) done: u64,
    /// Steps there are, where that is known.
    pub(crate) total: Option<u64>,
}

impl Place {
    /// Words alone.
    pub(crate) fn at(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Parts of a run, such as folds: how many are done.
    pub(crate) fn of_parts<T>(what: &str, parts: &[Option<T>]) -> Self {
        let done = parts.iter().flatten().count() as u64;
        Self { done, total: Some(parts.len() as u64), ..Self::at(what) }
    }

    /// `size 3: 90 of 495 steps, incumbent 49.6826`, where the number of steps is known.
    fn said(&self) -> String {
        let Self { part, text, done, .. } = self;
        self.total.map_or_else(|| format!("{part}{text}"), |total| format!("{part}{done} of {total} {text}"))
    }

    /// `, 18 % done, about 41 s left`: `seconds` are over, `rest` are left of the time allowed.
    fn left(&self, seconds: f64, rest: Option<f64>) -> String {
        let known = self.total.filter(|&total| self.done > 0 && total > self.done);
        let share = known.map(|total| self.done as f64 / total as f64);
        let done = share.map_or_else(String::new, |share| format!(", {:.0} % done", (100.0 * share).floor()));
        // The first steps say little of the others.
        let steps = share.filter(|_| seconds >= 1.0).map(|share| seconds * (1.0 - share) / share);
        match (steps, rest) {
            (Some(steps), rest) if rest.is_none_or(|rest| steps <= rest) => format!("{done}, about {steps:.0} s left"),
            (_, Some(rest)) => format!("{done}, at most {rest:.0} s left"),
            _ => done,
        }
    }
}

/// Who reads the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader {
    /// A person at a terminal: it is drawn.
    Person,
    /// A program that asked for lines, which this writes.
    Program(fn(&str)),
}

struct Line {
    reader: Reader,
    start: Instant,
    /// Time that the command may take.
    limit: Option<Duration>,
    place: Place,
    /// When the steps of this place began to be counted.
    since: Instant,
    bar: Option<ProgressBar>,
    shown: Option<Instant>,
}

impl Line {
    /// Brings what is seen up to date, but not more often than can be seen.
    fn show(&mut self) {
        let since = self.shown.map_or(self.start.elapsed(), |shown| shown.elapsed());
        let over = self.start.elapsed();
        if let Reader::Program(write) = self.reader {
            // A run of hours has a line less often.
            if since >= if self.shown.is_some() { LINE.max(over / 60) } else { FIRST } {
                self.shown = Some(Instant::now());
                let rest = self.limit.map(|limit| limit.saturating_sub(over).as_secs_f64());
                let left = self.place.left(self.since.elapsed().as_secs_f64(), rest);
                let limit = self.limit.map_or_else(String::new, |limit| format!(" of at most {}", typed_time(limit)));
                write(&format!("{:.0} s{limit}, {}{left}", over.as_secs_f64(), self.place.said()));
            }
        } else if since >= if self.shown.is_some() { REFRESH } else { PATIENCE } {
            self.shown = Some(Instant::now());
            let new = self.bar.is_none();
            let bar = self.bar.get_or_insert_with(|| {
                ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_elapsed(over)
            });
            bar.set_style(style(&self.place));
            bar.set_prefix(self.limit.map_or_else(String::new, |limit| format!("of at most {} ", typed_time(limit))));
            match self.place.total {
                Some(total) => bar.set_length(total),
                None => bar.unset_length(),
            }
            bar.set_message(format!("{}{}", self.place.part, self.place.text));
            bar.set_position(self.place.done);
            if new {
                bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            bar.tick();
        }
    }
}

fn line() -> MutexGuard<'static, Option<Line>> {
    LINE_OF_RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins the line of a command.
pub(crate) fn begin(reader: Reader, place: Place) {
    let now = Instant::now();
    *line() = Some(Line { reader, start: now, limit: None, place, since: now, bar: None, shown: None });
    // A page has no threads; it hears of events alone.
    #[cfg(not(target_family = "wasm"))]
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(TICK);
            match line().as_mut() {
                Some(line) => line.show(),
                None => break,
            }
        }
    });
}

/// Says that the run ends after this time, from its beginning.
pub(crate) fn ends_after(limit: Duration) {
    if let Some(line) = line().as_mut() {
        line.limit = Some(limit);
    }
}

/// Says where the run is.
pub(crate) fn at(place: Place) {
    if let Some(line) = line().as_mut() {
        if line.place.total != place.total {
            line.since = Instant::now();
        }
        line.place = place;
        line.show();
    }
}

/// Writes beside the line, which is taken away and drawn again.
pub(crate) fn beside<T>(write: impl FnOnce() -> T) -> T {
    let bar = line().as_ref().and_then(|line| line.bar.clone());
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Ends the line before a result is printed, unless the result goes elsewhere: no line comes after it.
pub(crate) fn end_before_result(on_terminal: bool) {
    let by_lines = matches!(line().as_ref(), Some(Line { reader: Reader::Program(_), .. }));
    if on_terminal || by_lines {
        end();
    }
}

/// Ends the line.
pub(crate) fn end() {
    if let Some(bar) = line().take().and_then(|line| line.bar) {
        bar.finish_and_clear();
    }
}

/// A bar where the number of steps is known, and what is left once there are some; else words alone.
fn style(place: &Place) -> ProgressStyle {
    let template = match place.total {
        Some(_) if place.done > 0 => "{elapsed_precise} {prefix}{msg} [{wide_bar}] {pos}/{len}, {eta} left",
        Some(_) => "{elapsed_precise} {prefix}{msg} [{wide_bar}] {pos}/{len}",
        None => "{elapsed_precise} {prefix}{wide_msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn share_and_time_left_are_said_where_the_steps_or_the_limit_are_known() {
        let at = |done, total| Place { done, total, ..Place::at("steps") };
        assert_eq!(at(90, Some(450)).left(10.0, None), ", 20 % done, about 40 s left");
        assert_eq!(at(90, Some(450)).left(10.0, Some(15.0)), ", 20 % done, at most 15 s left");
        assert_eq!(at(0, Some(9)).left(10.0, Some(15.0)) + &at(9, None).left(10.0, None), ", at most 15 s left");
        assert_eq!(at(0, Some(9)).said(), "0 of 9 steps");
        let part = Place { part: "size 3: ".to_owned(), ..at(2, Some(9)) };
        assert_eq!([part.said(), Place::at("working").said()], ["size 3: 2 of 9 steps", "working"]);
    }
}
