//! The only place that prints: results to standard output, everything else to standard error.

use std::io::{BufWriter, IsTerminal, Write};

use fewest_report::visible;

use crate::failure::Failure;
use crate::line::{self, Place, Reader};

/// How much is written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// Warnings and notes.
    Normal,
    /// Settings and timings too.
    Verbose,
}

/// Where words go, and how many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terminal {
    level: Level,
}

impl Terminal {
    /// A terminal that says this much.
    pub(crate) fn new(level: Level) -> Self {
        Self { level }
    }

    /// Prints text of the result on standard output, as it is.
    ///
    /// # Errors
    /// A failed write; quiet when the reader went away.
    pub(crate) fn out(self, text: &str) -> Result<(), Failure> {
        self.out_with(&mut |out| out.write_all(text.as_bytes()))
    }

    /// [`Terminal::out`] of all that `write` writes.
    #[expect(clippy::unused_self, reason = "all printing goes through a terminal, so that none is hidden in a module")]
    pub(crate) fn out_with(self, write: &mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
        line::end_before_result(std::io::stdout().is_terminal());
        let mut stdout = BufWriter::new(std::io::stdout().lock());
        write(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| Failure::writing("to standard output", &error))
    }

    /// Warns: the run goes on, but the user should know.
    pub(crate) fn warn(self, text: &str) {
        if self.level > Level::Quiet {
            say(&paint("warning", "33;1"), text);
        }
    }

    /// Notes something worth knowing.
    pub(crate) fn note(self, text: &str) {
        if self.level > Level::Quiet {
            say(&paint("note", "36"), text);
        }
    }

    /// Says something only the verbose user wants.
    pub(crate) fn detail(self, text: &str) {
        if self.level == Level::Verbose {
            say("", text);
        }
    }

    /// Says why the command failed.
    #[expect(clippy::unused_self, reason = "all printing goes through a terminal, so that none is hidden in a module")]
    pub(crate) fn error(self, text: &str) {
        say(&paint("fewest", "31;1"), text);
    }

    /// Begins the line of progress of a run, where it is read: by a person at a terminal, or by a
    /// program that reads standard error and says so by `FEWEST_PROGRESS=lines`.
    pub(crate) fn begin_line(self, place: Place) {
        let asked = std::env::var_os("FEWEST_PROGRESS").is_some_and(|v| v == "lines");
        let reader = if self.level == Level::Quiet {
            None
        } else if std::io::stderr().is_terminal() {
            Some(Reader::Person)
        } else {
            asked.then_some(Reader::Program(|text| write_error("progress: ", text)))
        };
        if let Some(reader) = reader {
            line::begin(reader, place);
        }
    }
}

/// Writes text to standard error beside the line of progress ([`write_error`]).
fn say(word: &str, text: &str) {
    line::beside(|| write_error(word, text));
}

/// Writes text to standard error after our prefix; a failure cannot be reported. The
/// text may hold names of data and options: what would move the cursor or colour the line is shown,
/// not sent.
fn write_error(word: &str, text: &str) {
    let lines: Vec<String> = text.split('\n').map(visible).collect();
    let _ = writeln!(std::io::stderr().lock(), "{word}{}", lines.join("\n"));
}

/// Whether the user wants no colour (<https://no-color.org>).
fn no_colour() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()) || std::env::var_os("TERM").is_some_and(|v| v == "dumb")
}

/// The word and a colon, in colour when standard error is a terminal that wants it.
fn paint(word: &str, code: &str) -> String {
    let coloured = std::io::stderr().is_terminal() && !no_colour();
    if coloured { format!("\x1b[{code}m{word}\x1b[0m: ") } else { format!("{word}: ") }
}

/// Whether standard output is a terminal that wants bold text.
pub(crate) fn is_bold() -> bool {
    std::io::stdout().is_terminal() && !no_colour()
}

/// Text in bold, when standard output is a terminal that wants it.
pub(crate) fn bold(text: &str) -> String {
    if is_bold() { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

/// Whether the locale says that more than ASCII can be shown.
pub(crate) fn unicode() -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    set.is_some_and(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Columns of the terminal behind standard output; None when piped.
pub(crate) fn width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    columns().or(Some(80))
}

/// The width the user states, else the terminal's own.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    columns.or_else(|| terminal_size::terminal_size().map(|(terminal_size::Width(w), _)| w as usize))
}
