//! Tests that measure the memory of the whole process, so they have a process of their own and run
//! one at a time.

#[path = "../common/mod.rs"]
mod common;

mod bombs;
mod columns;
mod fuzz;
mod structure;

use std::sync::{Mutex, MutexGuard, PoisonError};

use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

static ALONE: Mutex<()> = Mutex::new(());

/// Every test holds this from its first line to its last.
fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the call gives, and the peak of bytes allocated meanwhile, beside those that there were.
fn peak_of<T>(call: impl FnOnce() -> T) -> (T, usize) {
    let before = PEAK.current_usage();
    PEAK.reset_peak_usage();
    let result = call();
    (result, PEAK.peak_usage().saturating_sub(before))
}
