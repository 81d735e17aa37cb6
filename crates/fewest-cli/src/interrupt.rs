//! Ctrl-C: once to finish with the best so far, twice to leave at once.

use std::time::{Duration, Instant};

use fewest::{Cancel, Clock};

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Tells a training when to stop: `grace` after Ctrl-C or after this moment, whichever was first.
pub(crate) fn clock(cancel: Cancel, end: Option<Instant>, grace: Duration) -> Clock {
    Clock::of(cancel, end).with_grace(grace)
}

/// There is no Ctrl-C in a page, which ends the whole check.
#[cfg(target_family = "wasm")]
pub(crate) fn listen(_: Terminal) -> Result<Cancel, Failure> {
    Ok(Cancel::default())
}

/// Listens from now on; before, Ctrl-C ends the program at once, as nothing is worth keeping yet.
///
/// # Errors
/// When the system refuses the handler.
#[cfg(not(target_family = "wasm"))]
pub(crate) fn listen(terminal: Terminal) -> Result<Cancel, Failure> {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Exit code of a command that was interrupted twice: 128 + SIGINT, as shells have it.
    const INTERRUPTED: i32 = 130;
    static FLAG: OnceLock<Cancel> = OnceLock::new();
    static ASKED: AtomicBool = AtomicBool::new(false);
    if let Some(cancel) = FLAG.get() {
        return Ok(cancel.clone());
    }
    let cancel = FLAG.get_or_init(Cancel::default).clone();
    let asked = cancel.clone();
    ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED);
        }
        asked.cancel();
        terminal.note("finishing with the best subset so far; press Ctrl-C again to leave at once");
    })
    .map_err(|error| Failure::Broken(format!("cannot listen to Ctrl-C: {error}")))?;
    Ok(cancel)
}
