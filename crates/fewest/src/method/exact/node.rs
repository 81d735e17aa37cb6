//! Nodes of the tree as they wait: their decisions, and a warm start in single precision.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::bound::{Relaxation, WarmStart};
use crate::proof::Place;
use crate::search::{Node, UnitSet};

/// An open node: some units are in, some are free, all others are out.
#[derive(Debug, Clone)]
pub(super) struct OpenNode {
    pub(super) bound: f64,
    pub(super) fixed_in: Vec<u32>,
    pub(super) free: UnitSet,
    /// The warm start: the node's own, its parent's or the root's.
    pub(super) warm_start: Arc<Packed>,
    /// Where the node is in the proof, and the point that its bound holds at; none without a proof.
    pub(super) place: Option<Place>,
}

impl OpenNode {
    pub(super) fn new(
        fixed_in: &[usize],
        free: &[usize],
        bound: f64,
        warm_start: Arc<Packed>,
        place: Option<Place>,
    ) -> Self {
        let fixed_in = fixed_in.iter().map(|&u| u as u32).collect();
        Self { bound, fixed_in, free: UnitSet::new(free), warm_start, place }
    }
}

impl Node for OpenNode {
    fn bound(&self) -> f64 {
        self.bound
    }

    fn bytes(&self) -> u64 {
        let point = self.place.as_ref().map_or(0, |place| place.point.len());
        // The list that holds the nodes has room for as many again when it grows.
        (3 * size_of::<Self>() + 4 * self.fixed_in.len()) as u64 + self.free.bytes() + point
    }

    fn shared(&self) -> Option<(usize, u64)> {
        Some((Arc::as_ptr(&self.warm_start).addr(), self.warm_start.bytes()))
    }
}

/// A warm start in single precision.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Packed {
    beta: Vec<f32>,
    /// The bias of each problem.
    bias: Vec<f64>,
    shares: Vec<(u32, f32)>,
    tau: Vec<f64>,
    margins: Vec<f32>,
}

impl Packed {
    fn bytes(&self) -> u64 {
        let wide = self.shares.len() + self.tau.len() + self.bias.len();
        let numbers = 4 * (self.beta.len() + self.margins.len()) + 8 * wide;
        (size_of::<Self>() + numbers) as u64
    }

    /// Whether it may be one of this relaxation.
    pub(super) fn fits(&self, relaxation: &Relaxation<'_>) -> bool {
        let (n, rows) = (relaxation.n_samples(), relaxation.n_rows());
        let problems = relaxation.n_problems();
        let lengths = (self.beta.len(), self.margins.len(), self.tau.len(), self.bias.len()) == (n, n, rows, problems);
        lengths && self.shares.iter().all(|share| (share.0 as usize) < relaxation.n_units())
    }

    pub(super) fn new(warm_start: &WarmStart) -> Arc<Self> {
        Arc::new(Self {
            beta: warm_start.beta.iter().map(|&b| b as f32).collect(),
            bias: warm_start.bias.clone(),
            shares: warm_start.shares.iter().map(|s| (s.0 as u32, s.1 as f32)).collect(),
            tau: warm_start.tau.clone(),
            margins: warm_start.margins.iter().map(|&m| m as f32).collect(),
        })
    }

    pub(super) fn unpack(&self, relaxation: &Relaxation<'_>) -> WarmStart {
        let mut beta: Vec<f64> = self.beta.iter().map(|&b| f64::from(b)).collect();
        relaxation.make_feasible(&mut beta);
        WarmStart {
            beta,
            bias: self.bias.clone(),
            shares: self.shares.iter().map(|s| (s.0 as usize, f64::from(s.1))).collect(),
            tau: self.tau.clone(),
            margins: self.margins.iter().map(|&m| f64::from(m)).collect(),
        }
    }
}
