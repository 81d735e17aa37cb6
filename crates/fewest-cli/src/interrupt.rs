//! Ctrl-C: once to finish with the best so far, twice to leave at once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use fewest::{Cancel, Clock};

use crate::failure::Failure;
use crate::terminal::Terminal;

/// What the run is asked by; empty until a command can finish early.
static ASKED: OnceLock<Cancel> = OnceLock::new();

/// Tells a training when to stop: `grace` after Ctrl-C or after this moment, whichever was first.
pub(crate) fn clock(cancel: Cancel, end: Option<Instant>, grace: Duration) -> Clock {
    Clock::of(cancel, end).with_grace(grace)
}

/// Asks the command to finish with the best so far, as Ctrl-C does; returns whether it can. Before
/// that nothing is worth keeping.
pub fn interrupt() -> bool {
    ASKED.get().inspect(|cancel| cancel.cancel()).is_some()
}

/// There is no Ctrl-C in a page, which calls [`interrupt`].
#[cfg(target_family = "wasm")]
pub(crate) fn listen(_: Terminal) -> Result<Cancel, Failure> {
    Ok(ASKED.get_or_init(Cancel::default).clone())
}

/// Listens from now on; before, Ctrl-C ends the program at once, as nothing is worth keeping yet.
///
/// # Errors
/// When the system refuses the handler.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn listen(terminal: Terminal) -> Result<Cancel, Failure> {
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Exit code of a command that was interrupted twice: 128 + SIGINT, as shells have it.
    const INTERRUPTED: i32 = 130;
    static TWICE: AtomicBool = AtomicBool::new(false);
    if let Some(cancel) = ASKED.get() {
        return Ok(cancel.clone());
    }
    let cancel = ASKED.get_or_init(Cancel::default).clone();
    ctrlc::set_handler(move || {
        if TWICE.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        let _ = interrupt();
        terminal.note("finishing with the best subset so far; press Ctrl-C again to leave at once");
    })
    .map_err(|error| Failure::Broken(format!("cannot listen to Ctrl-C: {error}")))?;
    Ok(cancel)
}
