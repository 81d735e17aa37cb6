//! An observer that keeps every state of a run, and hands one out to go on from.

use std::io::{Cursor, Read};
use std::ops::ControlFlow;

use fewest::{Event, Observer};

/// Keeps states; stops a run where it is told to.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    /// The state to go on from, until it is asked for.
    pub from: Option<Vec<u8>>,
    /// Every state that the run told, in order.
    pub states: Vec<Vec<u8>>,
    /// Stop the run once it has told this many states; none: never.
    pub stop_after: Option<usize>,
}

impl Observer for Keeper {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if let Event::Checkpoint { state, .. } = event {
            let mut bytes = Vec::new();
            state.write(&mut bytes).expect("a vector takes every byte");
            self.states.push(bytes);
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
}
