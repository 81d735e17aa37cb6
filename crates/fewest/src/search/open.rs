//! Open nodes of a search: the most promising first, their memory counted.
//!
//! Memory   a node counts with its bytes, and something that several nodes share (the warm start of
//!          a parent) once. With the memory used up the search goes deep: what is made from then on
//!          is taken last in, first out, until no such node is left, and then one of the others.
//!          Their number grows by no more than a few per level of the tree that way.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

use serde::{Deserialize, Serialize};

use crate::Sense;

/// What a search keeps of a node.
pub(crate) trait Node {
    /// No subset of the node is better than this.
    fn bound(&self) -> f64;
    /// Bytes it takes, without what it shares.
    fn bytes(&self) -> u64;
    /// What it shares with other nodes: an address, and bytes.
    fn shared(&self) -> Option<(usize, u64)> {
        None
    }
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
    /// Nodes made while the memory was used up, in the order they were made.
    deep: Vec<Entry<N>>,
    sense: Sense,
    ties: Ties,
    bytes: u64,
    /// How many nodes share what is at an address.
    sharers: HashMap<usize, usize>,
    /// Bytes beyond which the search goes deep.
    memory: u64,
}

/// Where a node is among the open ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// How many nodes were made before it.
    number: u64,
    /// Whether it was made while the memory was used up.
    deep: bool,
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
    /// None yet; beyond `memory` bytes the search goes deep.
    pub(crate) fn new(sense: Sense, ties: Ties, memory: u64) -> Self {
        let (heap, deep, sharers) = (BinaryHeap::new(), Vec::new(), HashMap::new());
        Self { heap, deep, sense, ties, bytes: 0, sharers, memory }
    }

    /// Adds a node; `number` counts the nodes made.
    pub(crate) fn push(&mut self, node: N, number: u64) {
        let full = self.bytes >= self.memory;
        let entry = self.entry(node, number);
        if full {
            self.deep.push(entry);
        } else {
            self.heap.push(entry);
        }
    }

    fn entry(&mut self, node: N, number: u64) -> Entry<N> {
        let promise = if self.sense == Sense::Max { node.bound() } else { -node.bound() };
        let turn = if self.ties == Ties::Latest { number as i64 } else { -(number as i64) };
        self.bytes += node.bytes();
        if let Some((address, bytes)) = node.shared() {
            let sharers = self.sharers.entry(address).or_insert(0);
            *sharers += 1;
            self.bytes += if *sharers == 1 { bytes } else { 0 };
        }
        Entry { promise, turn, node }
    }

    /// Takes the first node, and where it was.
    pub(crate) fn pop(&mut self) -> Option<(N, Mark)> {
        let (entry, deep) = match self.deep.pop() {
            Some(entry) => (entry, true),
            None => (self.heap.pop()?, false),
        };
        let mark = entry.mark(deep);
        let node = entry.node;
        self.bytes -= node.bytes();
        if let Some((address, bytes)) = node.shared() {
            let sharers = self.sharers.get_mut(&address).expect("counted when the node came");
            *sharers -= 1;
            if *sharers == 0 {
                self.sharers.remove(&address);
                self.bytes -= bytes;
            }
        }
        Some((node, mark))
    }

    /// The best bound of all nodes.
    pub(crate) fn bound(&self) -> Option<f64> {
        let best = self.deep.iter().map(|entry| entry.promise).fold(f64::NEG_INFINITY, f64::max);
        let best = self.heap.peek().map_or(best, |entry| best.max(entry.promise));
        (!self.is_empty()).then_some(if self.sense == Sense::Max { best } else { -best })
    }

    /// Leaves nothing open.
    pub(crate) fn clear(&mut self) {
        while self.pop().is_some() {}
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty() && self.deep.is_empty()
    }

    /// Bytes that the nodes take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len() + self.deep.len()
    }

    /// Every node and where it is; put back in this order they come out as from here.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&N, Mark)> {
        let shallow = self.heap.iter().map(|entry| (&entry.node, entry.mark(false)));
        shallow.chain(self.deep.iter().map(|entry| (&entry.node, entry.mark(true))))
    }

    /// Puts a node back where it was.
    pub(crate) fn restore(&mut self, node: N, mark: Mark) {
        let entry = self.entry(node, mark.number);
        if mark.deep {
            self.deep.push(entry);
        } else {
            self.heap.push(entry);
        }
    }
}

impl<N> Entry<N> {
    fn mark(&self, deep: bool) -> Mark {
        Mark { number: self.turn.unsigned_abs(), deep }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone)]
    struct Plain(f64, Option<(usize, u64)>);

    impl Node for Plain {
        fn bound(&self) -> f64 {
            self.0
        }
        fn bytes(&self) -> u64 {
            10
        }
        fn shared(&self) -> Option<(usize, u64)> {
            self.1
        }
    }

    #[test]
    fn the_best_comes_first_and_with_the_memory_used_up_the_last_made() {
        let mut open = OpenNodes::new(Sense::Min, Ties::Latest, 30);
        for (number, bound) in [3.0, 1.0, 2.0, 5.0, 4.0].into_iter().enumerate() {
            open.push(Plain(bound, None), number as u64);
        }
        assert_eq!((open.bound(), open.bytes(), open.len()), (Some(1.0), 50, 5));
        let order: Vec<(f64, u64)> = std::iter::from_fn(|| open.pop()).map(|(n, mark)| (n.0, mark.number)).collect();
        assert_eq!(order, [(4.0, 4), (5.0, 3), (1.0, 1), (2.0, 2), (3.0, 0)]);
        assert_eq!((open.bound(), open.bytes()), (None, 0));
    }

    #[test]
    fn what_nodes_share_counts_once() {
        let mut open = OpenNodes::new(Sense::Max, Ties::Earliest, 1000);
        for (number, address) in [7, 7, 8].into_iter().enumerate() {
            open.push(Plain(1.0, Some((address, 100))), number as u64);
        }
        assert_eq!(open.bytes(), 230);
        let left: Vec<u64> = std::iter::from_fn(|| open.pop().map(|_| open.bytes())).collect();
        assert_eq!(left, [220, 110, 0]);
    }

    #[test]
    fn nodes_put_back_come_in_the_same_order() {
        let mut open = OpenNodes::new(Sense::Min, Ties::Earliest, 25);
        for (number, bound) in [2.0, 2.0, 1.0, 3.0, 1.0].into_iter().enumerate() {
            open.push(Plain(bound, None), number as u64);
        }
        let mut again = OpenNodes::new(Sense::Min, Ties::Earliest, 25);
        open.iter().for_each(|(node, mark)| again.restore(node.clone(), mark));
        let order = |mut open: OpenNodes<Plain>| std::iter::from_fn(|| open.pop()).map(|n| n.1).collect::<Vec<_>>();
        assert_eq!(order(open), order(again));
    }
}
