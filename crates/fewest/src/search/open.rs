//! Open nodes of a search: the most promising first, their memory counted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Sense;

/// What a search keeps of a node.
pub(crate) trait Node {
    /// No subset of the node is better than this.
    fn bound(&self) -> f64;
    /// Bytes it takes.
    fn bytes(&self) -> u64;
}

/// Which of two nodes with the same bound comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ties {
    /// The one made last: the search goes deep.
    Latest,
    /// The one made first.
    Earliest,
}

/// Open nodes, the one of best bound first.
#[derive(Debug, Clone)]
pub(crate) struct OpenNodes<N> {
    heap: BinaryHeap<Entry<N>>,
    sense: Sense,
    ties: Ties,
    bytes: u64,
}

/// A node and its place: the greatest comes first.
#[derive(Debug, Clone)]
struct Entry<N> {
    /// Larger is better.
    promise: f64,
    /// Larger comes first among equal promises.
    turn: i64,
    node: N,
}

impl<N: Node> OpenNodes<N> {
    pub(crate) fn new(sense: Sense, ties: Ties) -> Self {
        Self { heap: BinaryHeap::new(), sense, ties, bytes: 0 }
    }

    /// Adds a node; `number` counts the nodes made.
    pub(crate) fn push(&mut self, node: N, number: u64) {
        let promise = if self.sense == Sense::Max { node.bound() } else { -node.bound() };
        let turn = if self.ties == Ties::Latest { number as i64 } else { -(number as i64) };
        self.bytes += node.bytes();
        self.heap.push(Entry { promise, turn, node });
    }

    /// Takes the first node.
    pub(crate) fn pop(&mut self) -> Option<N> {
        let node = self.heap.pop()?.node;
        self.bytes -= node.bytes();
        Some(node)
    }

    /// The best bound of all nodes.
    pub(crate) fn bound(&self) -> Option<f64> {
        self.heap.peek().map(|entry| entry.node.bound())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Bytes that the nodes take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<N> PartialEq for Entry<N> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl<N> Eq for Entry<N> {}
impl<N> PartialOrd for Entry<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<N> Ord for Entry<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.promise.total_cmp(&other.promise).then(self.turn.cmp(&other.turn))
    }
}
