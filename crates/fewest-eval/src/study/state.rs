//! The progress of a study.

use serde::{Deserialize, Serialize};

use super::report::{Effort, FoldReport};
use super::table::Row;

/// The progress of a study, as it tells its observer ([`fewest::Event::Checkpoint`]): the rows of
/// unfinished parts, and what the outer folds found. A study resumes from it with the same answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StudyState {
    /// The samples of all (the panel), then the outer folds.
    pub(crate) parts: Vec<PartState>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct PartState {
    /// The row of each inner split; dropped once a fold is done.
    pub(crate) rows: Vec<Option<Row>>,
    /// What was done on its inner splits.
    pub(crate) effort: Effort,
    /// The outer fold.
    pub(crate) fold: Option<FoldReport>,
}

impl StudyState {
    /// For this many parts.
    pub(crate) fn sized(mut self, parts: usize) -> Self {
        self.parts.resize_with(parts, PartState::default);
        self
    }

    /// What is worth keeping: rows and folds that nothing cut short.
    pub(crate) fn kept(&self) -> Self {
        let part = |part: &PartState| PartState {
            rows: part.rows.iter().map(|row| row.clone().filter(|row| !row.cut)).collect(),
            effort: part.effort,
            fold: part.fold.clone().filter(|fold| !fold.stopped),
        };
        Self { parts: self.parts.iter().map(part).collect() }
    }
}
