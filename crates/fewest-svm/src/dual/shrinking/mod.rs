//! Training on features that leave: what one training computed is kept for the next.
//!
//! | loss | engine |
//! | --- | --- |
//! | squared hinge | the path of the optima, or Newton's method, with the inverse of the Hessian (`newton`) |
//! | hinge | exact steps over the free samples with the inverse of their matrix (`pivoting`) |

mod columns;
mod newton;
mod pivoting;

use super::{BoxDual, DualSolution, Loss, SvmSettings};
use crate::{Clock, Design, RowMatrix};
use columns::LiveColumns;
use newton::ShrinkingNewton;
use pivoting::Pivoting;

/// Numbers that steer the choice, chosen by hand; `make bench-rfe` shows what a change costs.
mod tuning {
    /// Most entries of the inverse for each value of the data.
    pub(super) const LARGEST: f64 = 20.0;
    /// Features, and share of them, at most, that may leave at once for the hinge: each of them moves
    /// about as many samples as another one, and some five take as long as a training.
    pub(super) const FEW: usize = 4;
    pub(super) const SHARE: f64 = 0.01;
}
use tuning::{FEW, LARGEST, SHARE};

/// A training that follows the features that leave.
pub enum Shrinking<'a> {
    /// Squared hinge.
    Newton(ShrinkingNewton<'a>),
    /// Hinge.
    Pivoting(Pivoting<'a>),
}

impl<'a> Shrinking<'a> {
    /// Whether the matrix for this many features and stored values is within `memory` (bytes), and
    /// not much larger than the data.
    fn suits(features: usize, stored: usize, memory: u64) -> bool {
        let square = (features as f64 + 1.0).powi(2);
        4.0 * 8.0 * square <= memory as f64 && square <= LARGEST * stored as f64
    }

    /// Whether `leaving` of the features may leave at once; else a training from the last beta is
    /// cheaper.
    pub fn follows(loss: Loss, leaving: usize, features: usize) -> bool {
        loss == Loss::SquaredHinge || leaving <= FEW || leaving as f64 <= SHARE * features as f64
    }

    /// Whether [`Shrinking::new`] may be worth the rows of this many features.
    pub fn may_suit(design: &dyn Design, features: usize, memory: u64) -> bool {
        Self::suits(features, design.stored().min(design.n_samples() * features), memory)
    }

    /// The training on these features (ascending) and their rows, from a solution on them; none
    /// where the matrix is too large.
    pub fn new(
        design: &'a dyn Design,
        features: Vec<usize>,
        rows: RowMatrix,
        dual: &BoxDual,
        start: &DualSolution,
        memory: u64,
    ) -> Option<Self> {
        if !Self::suits(features.len(), rows.stored(), memory) {
            return None;
        }
        let columns = LiveColumns::new(design, features, rows);
        Some(match dual.loss {
            Loss::SquaredHinge => Self::Newton(ShrinkingNewton::new(columns, dual, start)),
            Loss::Hinge => Self::Pivoting(Pivoting::new(columns, dual, start)),
        })
    }

    /// Takes features out.
    pub fn remove(&mut self, leaving: &[usize]) {
        match self {
            Self::Newton(machine) => machine.remove(leaving),
            Self::Pivoting(machine) => machine.remove(leaving),
        }
    }

    /// Trains on the features that are left.
    pub fn train(&mut self, settings: &SvmSettings, clock: &Clock) -> DualSolution {
        match self {
            Self::Newton(machine) => machine.train(settings, clock),
            Self::Pivoting(machine) => machine.train(settings, clock),
        }
    }

    /// (feature, w) of the features that are left, ascending.
    pub fn weights(&self) -> Vec<(usize, f64)> {
        match self {
            Self::Newton(machine) => machine.weights(),
            Self::Pivoting(machine) => machine.weights(),
        }
    }
}
