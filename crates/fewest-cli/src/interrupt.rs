//! Ctrl-C: once to finish with the best so far, twice to leave at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fewest::{Cancel, Status};

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Exit code of a command that was interrupted twice: 128 + SIGINT, as shells have it.
const INTERRUPTED: i32 = 130;

/// Tells a training when to stop: `grace` after Ctrl-C or after the time limit, both counted from
/// now.
pub(crate) fn stopper(cancel: Cancel, time: Option<Duration>, grace: Duration) -> impl FnMut() -> Option<Status> {
    let start = Instant::now();
    let mut since = None;
    move || {
        let over = time.is_some_and(|limit| start.elapsed() >= limit);
        let status = match (cancel.is_cancelled(), over) {
            (true, _) => Status::Cancelled,
            (false, true) => Status::TimeLimit,
            (false, false) => return None,
        };
        (since.get_or_insert_with(Instant::now).elapsed() >= grace).then_some(status)
    }
}

/// Listens from now on; before, Ctrl-C ends the program at once, as nothing is worth keeping yet.
///
/// # Errors
/// When the system refuses the handler.
pub(crate) fn listen(terminal: Terminal) -> Result<Cancel, Failure> {
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
