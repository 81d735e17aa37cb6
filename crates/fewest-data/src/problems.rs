//! Problems that are counted over the whole file before they are reported.

use crate::{DataError, Place, Position};

/// Missing and non-finite values: how many, and the first one.
#[derive(Debug, Default, Clone)]
pub(crate) struct NotFinite {
    count: u64,
    first: Option<(Place, String)>,
}

impl NotFinite {
    /// Counts one; its place and text are asked for only when it is the first.
    pub(crate) fn add(&mut self, at: impl FnOnce() -> (Place, String)) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(at());
        }
    }

    /// Adds what was found further on in the file.
    pub(crate) fn join(&mut self, later: NotFinite) {
        self.count += later.count;
        self.first = self.first.take().or(later.first);
    }

    /// Adds what was found anywhere, the earlier line or row first.
    pub(crate) fn merge(&mut self, other: NotFinite) {
        let position = |n: &NotFinite| n.first.as_ref().map_or(Position::File, |(place, _)| place.position);
        if position(&other) < position(self) {
            self.first = other.first;
        }
        self.count += other.count;
    }

    /// What was found in any parts, the earliest line or row first.
    pub(crate) fn merged(parts: impl IntoIterator<Item = NotFinite>) -> Self {
        let mut all = NotFinite::default();
        parts.into_iter().for_each(|part| all.merge(part));
        all
    }

    /// An error if there was any.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        match &self.first {
            None => Ok(()),
            Some((place, cell)) => {
                Err(DataError::NotFinite { place: place.clone(), cell: cell.clone(), count: self.count })
            }
        }
    }
}
