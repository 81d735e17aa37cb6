//! States: the progress of a run, so that a later one resumes from there. A state is a row of
//! records, written and read one after the other, so that one of many nodes needs no second copy in
//! memory.
//!
//! Record   its length in bytes (8, little endian), then a value in postcard's format.
//! First    what every run keeps (`Head`); what its method keeps follows.
//! Files    are the caller's business, and so is the check that a state is whole and belongs to the
//!          same data and settings. What is read here is checked for shape nevertheless: a state
//!          that does not fit is an error, not a panic.

use std::io::{self, Read, Write};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Counts, Event, Run};
use crate::{Error, Subset};

/// A state of a run that can be written down.
pub trait Checkpoint: std::fmt::Debug {
    /// Writes the state; [`super::Observer::state`] hands out the same bytes.
    fn write(&self, out: &mut dyn Write) -> io::Result<()>;
}

impl<T: Serialize + std::fmt::Debug> Checkpoint for T {
    /// As JSON.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(out, self).map_err(io::Error::from)
    }
}

/// Writes records.
pub struct StateWriter<'a> {
    out: &'a mut dyn Write,
    record: Vec<u8>,
}

impl<'a> StateWriter<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, record: Vec::new() }
    }

    /// Adds a record.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> io::Result<()> {
        self.record.clear();
        self.record = postcard::to_extend(value, std::mem::take(&mut self.record)).map_err(io::Error::other)?;
        self.out.write_all(&(self.record.len() as u64).to_le_bytes())?;
        self.out.write_all(&self.record)
    }

    /// Where what follows is written by others.
    pub(crate) fn rest(&mut self) -> &mut dyn Write {
        self.out
    }
}

/// Reads records.
pub struct StateReader {
    input: Box<dyn Read + Send>,
}

impl StateReader {
    pub(crate) fn new(input: Box<dyn Read + Send>) -> Self {
        Self { input }
    }

    /// The next record.
    ///
    /// # Errors
    /// [`Error::Data`] where it is cut short or holds something else.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let mut length = [0; 8];
        self.input.read_exact(&mut length).map_err(|error| damaged(&error))?;
        let (length, mut record) = (u64::from_le_bytes(length), Vec::new());
        // Memory grows with what is there, whatever the length says.
        self.input.by_ref().take(length).read_to_end(&mut record).map_err(|error| damaged(&error))?;
        match postcard::take_from_bytes(&record) {
            Ok((value, [])) if record.len() as u64 == length => Ok(value),
            Ok(_) => Err(damaged(&"a record of another length")),
            Err(error) => Err(damaged(&error)),
        }
    }

    /// What follows.
    pub(crate) fn rest(self) -> Box<dyn Read + Send> {
        self.input
    }
}

/// A state that cannot be read.
fn damaged(why: &dyn std::fmt::Display) -> Error {
    Error::Data(format!("the saved state is damaged ({why}); start again without it"))
}

/// A state that was read and does not fit.
pub fn stranger(what: &str) -> Error {
    Error::Data(format!("the saved state is for another problem ({what}); start again without it"))
}

/// A type that only self-describing formats can hold, as JSON inside a record.
pub(crate) mod as_json {
    use serde::de::{DeserializeOwned, Error};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::to_string(value).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// What every run keeps.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// Who wrote it: the name of the method.
    method: String,
    /// Number of features.
    p: usize,
    counts: Counts,
    /// Time so far, of all calls.
    elapsed: Duration,
    incumbent: Option<(Vec<usize>, f64)>,
    bound: Option<f64>,
}

/// A state that is made when it is written.
struct LazyState<'a, F> {
    head: &'a Head,
    rest: F,
}

impl<F> std::fmt::Debug for LazyState<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LazyState").field("head", self.head).finish_non_exhaustive()
    }
}

impl<F: Fn(&mut StateWriter<'_>) -> io::Result<()>> Checkpoint for LazyState<'_, F> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut out = StateWriter::new(out);
        out.put(self.head)?;
        (self.rest)(&mut out)
    }
}

impl Run<'_> {
    /// Resumes from the state that the observer has, if it has one: with its incumbent, bound,
    /// counts and time. Returns what the method kept.
    ///
    /// # Errors
    /// [`Error::Data`] where the state is damaged, of another method or of another problem.
    #[doc(hidden)]
    pub fn resume(&mut self, method: &str) -> Result<Option<StateReader>, Error> {
        let Some(input) = self.observer.state() else { return Ok(None) };
        let mut reader = StateReader::new(input);
        let head: Head = reader.take()?;
        if head.method != method {
            return Err(stranger(&format!("it is one of {}, not of {method}", head.method)));
        }
        let p = self.rules.p();
        if head.p != p {
            return Err(stranger(&format!("it has {} features, not {p}", head.p)));
        }
        (self.counts, self.before) = (head.counts, head.elapsed);
        if let Some((features, objective)) = head.incumbent {
            let subset = subset(p, &features)?;
            if objective.is_nan() || !self.rules.allows(&subset) {
                return Err(stranger("the rules forbid its best subset"));
            }
            self.offer(&subset, objective);
        }
        if let Some(bound) = head.bound {
            self.raise_bound(bound);
        }
        Ok(Some(reader))
    }

    /// Tells the observer the progress of the run, unless the last checkpoint was sent; `rest`
    /// writes what the method resumes from. `last`: the run ends here.
    #[doc(hidden)]
    pub fn keep(&mut self, method: &str, last: bool, rest: impl Fn(&mut StateWriter<'_>) -> io::Result<()>) {
        if self.last_checkpoint_sent {
            return;
        }
        self.last_checkpoint_sent = last;
        let incumbent = self.incumbent.as_ref().map(|(subset, objective)| (subset.iter().collect(), *objective));
        let head = Head {
            method: method.to_owned(),
            p: self.rules.p(),
            counts: self.counts,
            elapsed: self.elapsed(),
            incumbent,
            bound: self.bound,
        };
        self.tell(&Event::Checkpoint { state: &LazyState { head: &head, rest }, last });
    }

    /// Sends the last checkpoint as it was before the batch whose answers have just come: one that
    /// a limit may have cut short is done again by the run that goes on, so that its tree is that
    /// of a run without limits.
    pub(crate) fn keep_before_batch(&mut self, method: &str, rest: impl Fn(&mut StateWriter<'_>) -> io::Result<()>) {
        self.counts.oracle_calls -= 1;
        self.keep(method, true, rest);
        self.counts.oracle_calls += 1;
    }

    /// Sends no checkpoint from now on: the run has no state that could be resumed.
    #[cfg(feature = "highs")]
    pub(crate) fn end_checkpoints(&mut self) {
        self.last_checkpoint_sent = true;
    }
}

/// A subset of a state.
///
/// # Errors
/// [`Error::Data`] where it names an unknown feature.
pub fn subset(p: usize, features: &[usize]) -> Result<Subset, Error> {
    match features.iter().find(|j| **j >= p) {
        Some(j) => Err(stranger(&format!("it names feature {j}, but there are only {p}, counted from 0"))),
        None => Ok(Subset::from_indices(p, features.iter().copied())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut out = StateWriter::new(&mut bytes);
        out.put(&(vec![1.5, f64::INFINITY], 7_u64)).unwrap();
        out.put("text").unwrap();
        bytes
    }

    #[test]
    fn records_come_back_as_they_were() {
        let mut reader = StateReader::new(Box::new(io::Cursor::new(written())));
        let (numbers, seven): (Vec<f64>, u64) = reader.take().unwrap();
        assert_eq!((numbers, seven, reader.take::<String>().unwrap()), (vec![1.5, f64::INFINITY], 7, "text".into()));
        assert!(reader.take::<u64>().is_err(), "nothing is left");
    }

    #[test]
    fn a_state_cut_short_or_changed_is_an_error() {
        let whole = written();
        for end in 0..whole.len() {
            let mut reader = StateReader::new(Box::new(io::Cursor::new(whole[..end].to_vec())));
            let read = reader.take::<(Vec<f64>, u64)>().and_then(|_| reader.take::<String>());
            assert!(read.unwrap_err().to_string().contains("damaged"), "{end}");
        }
        let mut long = whole;
        long[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        let mut reader = StateReader::new(Box::new(io::Cursor::new(long)));
        assert!(reader.take::<(Vec<f64>, u64)>().is_err());
    }
}
