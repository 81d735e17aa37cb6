//! `--resume FILE`: how far a long run has come, so that it can go on after Ctrl-C or a kill, with
//! the same result.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::export::file::Sink;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Least time between two writings.
const PAUSE: Duration = Duration::from_millis(500);

/// The file, and what it must have been written for.
pub(crate) struct Resume {
    path: PathBuf,
    sink: Sink,
    terminal: Terminal,
    /// Options and data of the run.
    run: Value,
    wrote: Cell<Option<Instant>>,
}

impl Resume {
    /// `run` describes the run: a file written for another one is refused.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn open(path: &Path, run: Value, terminal: Terminal) -> Result<Self, Failure> {
        let sink = Sink::open("--resume", path)?;
        if sink.is_stdout() {
            return Err(Failure::input("--resume needs a file, not standard output"));
        }
        Ok(Self { path: path.to_owned(), sink, terminal, run, wrote: Cell::new(None) })
    }

    /// What an earlier run kept; nothing when there is no file yet.
    ///
    /// # Errors
    /// A file that is none of ours, or was written for another run.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Failure> {
        let place = self.path.display();
        let text = match std::fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::Input(format!("--resume {place}: cannot be read: {error}"))),
        };
        let stranger = |_| {
            Failure::Input(format!("--resume {place}: not a file that --resume wrote; name another file, or delete it"))
        };
        let mut kept: Value = serde_json::from_str(&text).map_err(stranger)?;
        let differs = |key: &String| kept["run"].get(key) != self.run.get(key);
        if let Some(key) = self.run.as_object().and_then(|run| run.keys().find(|key| differs(key))) {
            return Err(Failure::Input(format!(
                "--resume {place}: written by a run whose {key} was {}, but it is {} now; repeat that run, or name another file",
                kept["run"][key], self.run[key]
            )));
        }
        serde_json::from_value(kept["state"].take()).map(Some).map_err(stranger)
    }

    /// Whether it is time to write the state again.
    pub(crate) fn is_due(&self) -> bool {
        self.wrote.get().is_none_or(|wrote| wrote.elapsed() >= PAUSE)
    }

    /// Writes the state, the old one being replaced as a whole.
    ///
    /// # Errors
    /// A failed write.
    pub(crate) fn keep<T: Serialize>(&self, state: &T) -> Result<(), Failure> {
        self.sink.write(&json!({"run": self.run, "state": state}).to_string(), self.terminal)?;
        self.wrote.set(Some(Instant::now()));
        Ok(())
    }
}
