//! An observer that keeps every state of a run, and hands one out to resume from.

use std::io::{Cursor, Read};
use std::ops::ControlFlow;

use fewest::{Event, Observer, ProofSink};

/// Keeps states; stops a run where it is asked to.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    /// The state to resume from, until it is asked for.
    pub from: Option<Vec<u8>>,
    /// Every state that the run sent, in order.
    pub states: Vec<Vec<u8>>,
    /// Stop the run once it has sent this many states; none: never.
    pub stop_after: Option<usize>,
    /// The proof so far, where the run is to write one; for a run that goes on, that of its state.
    pub proof: Option<Vec<u8>>,
    /// Length of the proof when each state was sent.
    pub lengths: Vec<usize>,
}

impl Observer for Keeper {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::Checkpoint { state, .. } = event {
            let mut bytes = Vec::new();
            state.write(&mut bytes).expect("a vector takes every byte");
            self.states.push(bytes);
            self.lengths.extend(self.proof.as_ref().map(Vec::len));
        }
        if self.stop_after.is_some_and(|most| self.states.len() >= most) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn state(&mut self) -> Option<Box<dyn Read + Send>> {
        Some(Box::new(Cursor::new(self.from.take()?)))
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        if self.proof.is_some() { Some(self) } else { None }
    }
}

impl ProofSink for Keeper {
    fn begin(&mut self) -> serde_json::Value {
        self.proof = Some(Vec::new());
        serde_json::json!({ "by": "a test" })
    }

    fn resume(&mut self) {
        assert!(self.proof.as_ref().is_some_and(|proof| !proof.is_empty()), "a proof to go on with");
    }

    fn write(&mut self, bytes: &[u8]) {
        self.proof.get_or_insert_default().extend(bytes);
    }

    fn end(&mut self) {}
}
