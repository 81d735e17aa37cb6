//! What a search notes of its tree while it goes on.

use serde::{Deserialize, Serialize};

use super::{Point, encode::Bytes};
use crate::Subset;

/// Notes of one part of a search, which begins at one node. That node is 0 here, and the k-th split
/// of the part makes 2k + 1 and 2k + 2; [`super::ProofWriter::write`] tells the numbers in the
/// file. A run without a proof keeps no notes.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(super) records: Vec<Record>,
    splits: u64,
}

/// One record.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) node: u64,
    pub(super) step: Step,
}

/// What the record says of the node.
#[derive(Debug)]
pub(super) enum Step {
    Split {
        feature: usize,
    },
    Close {
        point: Point,
        bound: f64,
        single: Option<Subset>,
    },
    /// Features; `bound` holds for each of the boxes closed.
    Fix {
        point: Point,
        inside: Vec<usize>,
        out: Vec<usize>,
        bound: f64,
    },
    /// `bound` holds for what is cut off.
    #[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "the L1 family needs linear programs"))]
    Tighten {
        point: Point,
        features: Vec<usize>,
        bounds: Vec<f64>,
        bound: f64,
    },
}

/// A node, and a point at which its bound holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) node: u64,
    pub(crate) point: Point,
}

impl Notes {
    /// Splits a node on a feature: the child with it in, then the one with it out.
    pub(crate) fn split(&mut self, node: u64, feature: usize) -> [u64; 2] {
        self.records.push(Record { node, step: Step::Split { feature } });
        self.splits += 1;
        [2 * self.splits - 1, 2 * self.splits]
    }

    /// No subset of the node is below `bound`, by the point. `single` is the only one, where there
    /// is one only.
    pub(crate) fn close(&mut self, node: u64, point: &Point, bound: f64, single: Option<Subset>) {
        let bound = bound - point.loss();
        self.records.push(Record { node, step: Step::Close { point: point.clone(), bound, single } });
    }

    /// The units of these features (one of each unit is enough, in any order) are in, and of those
    /// out: no subset that decides one of them otherwise is below `bound`, by the point.
    pub(crate) fn fix(&mut self, node: u64, point: &Point, mut inside: Vec<usize>, mut out: Vec<usize>, bound: f64) {
        if inside.is_empty() && out.is_empty() {
            return;
        }
        let bound = bound - point.loss();
        inside.sort_unstable();
        out.sort_unstable();
        self.records.push(Record { node, step: Step::Fix { point: point.clone(), inside, out, bound } });
    }

    /// No solution of the node with `|w_j|` above the bound listed is below `bound`, by the point.
    #[cfg(feature = "highs")]
    pub(crate) fn tighten(&mut self, node: u64, point: &Point, smaller: &[(usize, f64)], bound: f64) {
        if smaller.is_empty() {
            return;
        }
        let bound = bound - point.loss();
        let (features, bounds) = smaller.iter().copied().unzip();
        self.records.push(Record { node, step: Step::Tighten { point: point.clone(), features, bounds, bound } });
    }

    pub(super) fn splits(&self) -> u64 {
        self.splits
    }
}

/// A point, or that it is the one before.
pub(super) fn put_point(bytes: &mut Bytes, point: &Point, last: &mut Option<Point>) {
    if last.as_ref().is_some_and(|last| last.is(point)) {
        bytes.byte(0);
        return;
    }
    bytes.byte(1);
    bytes.0.extend(point.bytes());
    *last = Some(point.clone());
}
