//! Nodes of the tree, and what a batch of them asks and answers.

use serde::{Deserialize, Serialize};

use super::products::Query;
use crate::proof::{AlignmentProof, Expanded};
use crate::search::{Mark, Node};
use crate::{Run, Subset};

/// An open node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenNode {
    /// No completion has a larger f.
    pub(super) bound: f64,
    pub(super) query: Query,
    /// The node's number in the proof, where one is written; until its parent is written, its place
    /// among all children.
    pub(super) number: u64,
}

impl Node for OpenNode {
    fn bound(&self) -> f64 {
        self.bound
    }

    fn bytes(&self) -> u64 {
        (size_of::<Self>() + 4 * (self.query.inside.len() + self.query.free.len())) as u64
    }
}

/// The result of expanding a node.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    pub(super) children: Vec<OpenNode>,
    pub(super) found: Vec<(f64, Subset)>,
    /// No completion that was left out has a larger f.
    pub(super) below: f64,
    /// The node's record in the proof, where one is written.
    pub(super) noted: Option<Noted>,
    /// The clock said stop before it was complete.
    pub(super) stopped: bool,
}

/// The record in the proof of an expanded node.
#[derive(Debug)]
pub(super) struct Noted {
    /// The monotone bound says more than what was known before.
    pub(super) limited: bool,
    pub(super) shared: Shared,
}

/// The way in which a node was divided into children.
#[derive(Debug)]
pub(super) enum Shared {
    /// A node without children: its bound closes it.
    Closed,
    /// A node with a child for each branch of its model.
    Model(Expanded),
    /// A node with a child for each of these features: child t has the t-th in and those before it
    /// out.
    Chain(Vec<usize>),
}

/// Nodes to expand, and the value above which completions are searched for.
#[derive(Debug)]
pub(super) struct Question {
    /// The nodes with their marks.
    pub(super) nodes: Vec<(OpenNode, Mark)>,
    pub(super) cutoff: f64,
    pub(super) wanted: usize,
}

impl Noted {
    /// Writes what became of a node, and gives its children their numbers.
    pub(super) fn write(
        self,
        proof: &mut AlignmentProof,
        node: &OpenNode,
        expansion: &mut Expansion,
        run: &mut Run<'_>,
    ) {
        if self.limited {
            AlignmentProof::limit(node.number, run);
        }
        match self.shared {
            Shared::Closed => proof.leave(node.number, expansion.below, run),
            Shared::Model(expanded) => {
                let first = proof.expand(node.number, &expanded, &expansion.found, run);
                expansion.children.iter_mut().for_each(|child| child.number += first);
            }
            Shared::Chain(features) => {
                let (mut rest, mut inside) = (node.number, Vec::new());
                for feature in features {
                    let children = proof.split(rest, feature, run);
                    inside.push(children[0]);
                    rest = children[1];
                }
                expansion.children.iter_mut().for_each(|child| child.number = inside[child.number as usize]);
                let none = Expanded { level: f64::NEG_INFINITY, ..Expanded::default() };
                proof.expand(rest, &none, &expansion.found, run);
            }
        }
    }
}
