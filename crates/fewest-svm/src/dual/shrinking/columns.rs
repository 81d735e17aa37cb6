//! Rows of features that leave: a feature that left counts as 0, and rows are copied without such
//! features once these are many.

use crate::{Design, RowMatrix};

/// Rows are copied without the features that left once these are this share of them; chosen by
/// hand, `make bench-rfe` shows what a change costs.
const DEAD: f64 = 0.15;

/// Rows of features of which some have left.
pub(super) struct LiveColumns<'a> {
    pub(super) design: &'a dyn Design,
    /// Feature of each column of the rows, ascending, and whether it is still in.
    pub(super) features: Vec<usize>,
    pub(super) alive: Vec<bool>,
    dead: usize,
    pub(super) rows: RowMatrix,
}

impl<'a> LiveColumns<'a> {
    /// `rows` are those of the features.
    pub(super) fn new(design: &'a dyn Design, features: Vec<usize>, rows: RowMatrix) -> Self {
        Self { design, alive: vec![true; features.len()], dead: 0, rows, features }
    }

    /// Columns of the rows.
    pub(super) fn len(&self) -> usize {
        self.features.len()
    }

    /// Marks features as gone; their columns.
    pub(super) fn remove(&mut self, leaving: &[usize]) -> Vec<usize> {
        let at: Vec<usize> =
            leaving.iter().map(|j| self.features.binary_search(j).expect("the feature is in")).collect();
        for &k in &at {
            self.alive[k] = false;
        }
        self.dead += at.len();
        at
    }

    /// Copies the rows without the features that left, once these are many; the columns kept.
    pub(super) fn compact(&mut self) -> Option<Vec<usize>> {
        if self.dead as f64 <= DEAD * self.features.len() as f64 {
            return None;
        }
        let kept: Vec<usize> = (0..self.features.len()).filter(|&k| self.alive[k]).collect();
        let features: Vec<usize> = kept.iter().map(|&k| self.features[k]).collect();
        let rows = self.design.rows(&features);
        *self = Self::new(self.design, features, rows);
        Some(kept)
    }

    /// 0 for the columns of features that left.
    pub(super) fn clear_dead(&self, values: &mut [f64]) {
        if self.dead > 0 {
            self.alive.iter().zip(values).filter(|e| !*e.0).for_each(|(_, value)| *value = 0.0);
        }
    }

    /// The values of the features that are left, by feature.
    pub(super) fn weights(&self, values: &[f64]) -> Vec<(usize, f64)> {
        let each = self.features.iter().zip(&self.alive).zip(values);
        each.filter(|((_, alive), _)| **alive).map(|((&j, _), &w)| (j, w)).collect()
    }
}
