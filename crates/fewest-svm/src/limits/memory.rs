//! The account of memory: what a run may take, and what of it is taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;

/// Bytes that runs may take together beside the data; cloning shares the account, so folds and
/// threads draw on one. What a method cannot do without is reserved before it is allocated, and
/// refused where it does not fit.
#[derive(Debug, Clone)]
pub struct Memory(Arc<Account>);

#[derive(Debug)]
struct Account {
    allowed: u64,
    taken: AtomicU64,
}

impl Default for Memory {
    fn default() -> Self {
        Self::unlimited()
    }
}

impl Memory {
    /// An account of this many bytes.
    pub fn new(allowed: u64) -> Self {
        Self(Arc::new(Account { allowed, taken: AtomicU64::new(0) }))
    }

    /// An account that refuses nothing.
    pub fn unlimited() -> Self {
        Self::new(u64::MAX)
    }

    /// Bytes allowed in all.
    pub fn allowed(&self) -> u64 {
        self.0.allowed
    }

    /// Bytes not taken yet.
    pub fn left(&self) -> u64 {
        self.0.allowed.saturating_sub(self.0.taken.load(Ordering::Relaxed))
    }

    /// Takes bytes until the answer is dropped, or nothing where they are not left.
    pub fn take(&self, bytes: u64) -> Option<Reserved> {
        let grown = |taken: u64| taken.checked_add(bytes).filter(|&sum| sum <= self.0.allowed);
        self.0.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).ok()?;
        Some(Reserved { memory: self.clone(), bytes })
    }

    /// Takes bytes for what `what` names, until the answer is dropped. `remedy` says what the user
    /// can do besides allowing more.
    pub fn reserve(&self, bytes: u64, what: impl FnOnce() -> String, remedy: &str) -> Result<Reserved, Error> {
        self.reserve_within(u64::MAX, bytes, what, remedy)
    }

    /// Takes the bytes of a method's lists of one number for each of p features.
    pub fn lists(&self, of: &str, lists: u64, p: usize) -> Result<Reserved, Error> {
        let what = || format!("{of} on {p} features");
        self.reserve(8 * lists * p as u64, what, "leave features out of the data, or select by fgm")
    }

    /// [`Memory::reserve`], refused above `most` bytes as well: what settings of their own allow.
    pub fn reserve_within(
        &self,
        most: u64,
        bytes: u64,
        what: impl FnOnce() -> String,
        remedy: &str,
    ) -> Result<Reserved, Error> {
        let allowed = self.at_most(most);
        let taken = if bytes <= most { self.take(bytes) } else { None };
        taken.ok_or_else(|| refused(what(), bytes, allowed, remedy))
    }

    /// Memory that is left, at most this many bytes.
    pub fn at_most(&self, bytes: u64) -> u64 {
        bytes.min(self.left())
    }
}

fn refused(what: String, needed: u64, allowed: u64, remedy: &str) -> Error {
    Error::Memory { what, needed, allowed, remedy: format!("allow more with `memory`, or {remedy}") }
}

/// Bytes taken from a [`Memory`]; dropping it gives them back.
#[derive(Debug)]
#[must_use = "dropping it gives the bytes back"]
pub struct Reserved {
    memory: Memory,
    bytes: u64,
}

impl Reserved {
    /// Takes more bytes, or nothing where they are not left.
    pub fn grow(&mut self, bytes: u64) -> bool {
        let more = self.memory.take(bytes);
        // The bytes are those of this reservation from now on.
        more.map(|mut more| self.bytes += std::mem::take(&mut more.bytes)).is_some()
    }

    /// The error of `what`, which would have taken `more` bytes beside those it has.
    pub fn refused(&self, more: u64, what: String, remedy: &str) -> Error {
        let allowed = self.bytes.saturating_add(self.memory.left());
        refused(what, self.bytes.saturating_add(more), allowed, remedy)
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.memory.0.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_given_back_and_what_is_not_left_is_refused() {
        let memory = Memory::new(100);
        let shared = memory.clone();
        let first = memory.reserve(60, || "rows".into(), "").expect("left");
        assert_eq!(shared.left(), 40);
        let refused = shared.reserve(41, || "a matrix".into(), "use fewer samples").expect_err("not left").to_string();
        assert_eq!(
            refused,
            "a matrix needs 41 bytes, but only 40 are allowed; allow more with `memory`, or use fewer samples"
        );
        assert!(shared.take(u64::MAX).is_none() && shared.left() == 40, "no sum overflows");
        drop(first);
        assert!(shared.take(100).is_some() && memory.left() == 100);
        assert!(Memory::unlimited().take(1 << 60).is_some());
    }
}
