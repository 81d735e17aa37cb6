//! Problems that are counted over the whole file before they are reported.

use crate::{DataError, Place, Position};

/// Cells of one kind: how many, and the first one.
#[derive(Debug, Default, Clone)]
pub(crate) struct Cases {
    count: u64,
    first: Option<(Place, String)>,
}

impl Cases {
    /// Counts one; its place and text are asked for only when it is the first.
    pub(crate) fn add(&mut self, at: impl FnOnce() -> (Place, String)) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(at());
        }
    }

    /// Adds what was found further on in the file.
    pub(crate) fn join(&mut self, later: Cases) {
        self.count += later.count;
        self.first = self.first.take().or(later.first);
    }

    /// Adds what was found anywhere, the earlier line or row first.
    pub(crate) fn merge(&mut self, other: Cases) {
        let position = |n: &Cases| n.first.as_ref().map_or(Position::File, |(place, _)| place.position);
        if position(&other) < position(self) {
            self.first = other.first;
        }
        self.count += other.count;
    }

    /// Whether there is any.
    pub(crate) fn any(&self) -> bool {
        self.count > 0
    }

    /// Place and text of the first, and how many; none where there is none.
    fn found(&self) -> Option<(Place, String, u64)> {
        self.first.clone().map(|(place, cell)| (place, cell, self.count))
    }
}

/// Values of features that may not be there.
#[derive(Debug, Default, Clone)]
pub(crate) struct NotFinite {
    /// Missing ones.
    pub(crate) missing: Cases,
    /// Infinite ones.
    pub(crate) infinite: Cases,
}

impl NotFinite {
    /// Counts a value that is not finite.
    pub(crate) fn add(&mut self, value: f64, at: impl FnOnce() -> (Place, String)) {
        if value.is_nan() { self.missing.add(at) } else { self.infinite.add(at) }
    }

    /// Adds what was found further on in the file.
    pub(crate) fn join(&mut self, later: NotFinite) {
        self.missing.join(later.missing);
        self.infinite.join(later.infinite);
    }

    /// What was found in any parts, the earliest line or row first.
    pub(crate) fn merged(parts: impl IntoIterator<Item = NotFinite>) -> Self {
        let mut all = NotFinite::default();
        for part in parts {
            all.missing.merge(part.missing);
            all.infinite.merge(part.infinite);
        }
        all
    }

    /// An error if there was any; of infinite ones first, which no option fills in.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        if let Some((place, cell, count)) = self.infinite.found() {
            return Err(DataError::Infinite { place, cell, count });
        }
        match self.missing.found() {
            None => Ok(()),
            Some((place, cell, count)) => Err(DataError::NotFinite { place, cell, count, columns: None }),
        }
    }
}

/// Refuses rows without a class, if there are any; where none of `n` rows has one the column is another.
pub(crate) fn check_classes(without: &Cases, n: usize) -> Result<(), DataError> {
    match without.found() {
        None => Ok(()),
        Some((place, ..)) if without.count == n as u64 => {
            Err(DataError::BlankTarget { place: Place { position: Position::File, ..place } })
        }
        Some((place, cell, count)) => Err(DataError::NoClass { place, cell, count }),
    }
}
