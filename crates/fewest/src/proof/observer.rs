//! The observer of a run that is there for its proof alone.

use std::ops::ControlFlow;

use crate::{Event, Observer, ProofSink};

/// Passes on how far the run is, and where its proof goes: its incumbents and bounds are not those
/// of the method that asks for it.
pub struct ForProof<'o>(pub &'o mut dyn Observer);

impl Observer for ForProof<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::Progress { .. } = event { self.0.on(event) } else { ControlFlow::Continue(()) }
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.0.proof()
    }
}
