//! A run of the command: when it began, how it was called, and where it speaks.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::line;
use crate::terminal::Terminal;

/// A run of the command.
pub(crate) struct Invocation {
    /// Where it speaks.
    pub(crate) terminal: Terminal,
    /// The command as typed, ready for a shell.
    pub(crate) command_line: String,
    start: Instant,
}

impl Invocation {
    /// Begins now; the first word is the command's own name.
    pub(crate) fn new(words: &[OsString], terminal: Terminal) -> Self {
        Self { terminal, command_line: command_line(words), start: Instant::now() }
    }

    /// Run that speaks elsewhere: the same one.
    pub(crate) fn told_by(&self, terminal: Terminal) -> Self {
        Self { terminal, command_line: self.command_line.clone(), start: self.start }
    }

    /// Time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// When a time limit for the whole command is reached; none for one beyond what a clock can tell.
    pub(crate) fn end(&self, limit: Option<Duration>) -> Option<Instant> {
        self.start.checked_add(limit?)
    }

    /// What is left of a time limit for the whole command.
    pub(crate) fn left(&self, limit: Option<Duration>) -> Option<Duration> {
        limit.map(|limit| {
            line::ends_after(limit);
            limit.saturating_sub(self.start.elapsed())
        })
    }
}

/// Words as a POSIX shell takes them; whatever started us, we are `fewest`.
fn command_line(words: &[OsString]) -> String {
    words.iter().skip(1).fold("fewest".to_owned(), |mut line, word| {
        let _ = write!(line, " {}", quoted(&word.to_string_lossy()));
        line
    })
}

/// A word as a POSIX shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+%@^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::{command_line, quoted};

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("--max-features=1..5"), "--max-features=1..5");
        assert_eq!([quoted("a b"), quoted(""), quoted("it's"), quoted("$x")], ["'a b'", "''", r"'it'\''s'", "'$x'"]);
        assert_eq!(command_line(&["/usr/bin/fewest".into(), "check".into(), "a b".into()]), "fewest check 'a b'");
    }
}
