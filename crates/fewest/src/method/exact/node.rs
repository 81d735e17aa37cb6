//! Nodes of the tree as they wait: their decisions, and a warm start in single precision.

use std::sync::Arc;

use crate::proof::Place;
use crate::relaxation::{Relaxation, Warm};
use crate::search::Node;

/// An open node: some units are in, some are free, all others are out.
#[derive(Debug, Clone)]
pub(super) struct OpenNode {
    pub(super) bound: f64,
    pub(super) inside: Vec<u32>,
    pub(super) free: Vec<u32>,
    pub(super) warm: Arc<Packed>,
    /// Whether the warm start is the node's own, and not the root's.
    pub(super) own: bool,
    /// Where the node is in the proof, and the point that its bound holds at; none without a proof.
    pub(super) place: Option<Place>,
}

impl OpenNode {
    pub(super) fn new(inside: &[usize], free: &[usize], bound: f64, warm: Arc<Packed>, place: Option<Place>) -> Self {
        let narrow = |list: &[usize]| list.iter().map(|&u| u as u32).collect();
        Self { bound, inside: narrow(inside), free: narrow(free), warm, own: true, place }
    }
}

impl Node for OpenNode {
    fn bound(&self) -> f64 {
        self.bound
    }

    fn bytes(&self) -> u64 {
        let units = 4 * (self.inside.len() + self.free.len());
        let point = self.place.as_ref().map_or(0, |place| place.point.len());
        (size_of::<Self>() + units) as u64 + point + if self.own { self.warm.bytes() } else { 0 }
    }
}

/// A warm start in single precision.
#[derive(Debug)]
pub(super) struct Packed {
    beta: Vec<f32>,
    bias: f64,
    shares: Vec<(u32, f32)>,
    tau: Vec<f64>,
    margins: Vec<f32>,
}

impl Packed {
    fn bytes(&self) -> u64 {
        (4 * (self.beta.len() + self.margins.len()) + 8 * (self.shares.len() + self.tau.len())) as u64
    }

    pub(super) fn new(warm: &Warm) -> Arc<Self> {
        Arc::new(Self {
            beta: warm.beta.iter().map(|&b| b as f32).collect(),
            bias: warm.bias,
            shares: warm.shares.iter().map(|s| (s.0 as u32, s.1 as f32)).collect(),
            tau: warm.tau.clone(),
            margins: warm.margins.iter().map(|&m| m as f32).collect(),
        })
    }

    pub(super) fn unpack(&self, relaxation: &Relaxation<'_>) -> Warm {
        let mut beta: Vec<f64> = self.beta.iter().map(|&b| f64::from(b)).collect();
        relaxation.make_feasible(&mut beta);
        Warm {
            beta,
            bias: self.bias,
            shares: self.shares.iter().map(|s| (s.0 as usize, f64::from(s.1))).collect(),
            tau: self.tau.clone(),
            margins: self.margins.iter().map(|&m| f64::from(m)).collect(),
        }
    }
}
