//! Units: features that are in or out together, what they cost and imply. Where no rule joins
//! features, nothing is stored per feature, so that rules on millions of features cost no memory.

use std::collections::HashSet;
use std::sync::OnceLock;

use super::Choice;
use super::components::strongly_connected;

/// The units of p features.
#[derive(Debug, Clone, Default)]
pub(super) struct Units {
    count: usize,
    /// Unit of each feature, and features of each unit; none where every feature is a unit of its
    /// own.
    joined: Option<(Vec<usize>, Vec<Vec<usize>>)>,
    /// 0, 1, 2, ...: the features of units of one feature, made when first asked for.
    singles: OnceLock<Vec<usize>>,
    /// The cost of each unit; empty where all are 0.
    cost: Vec<f64>,
    /// Units that each unit implies, and units that imply it; empty without implications between
    /// units.
    needs: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
}

impl Units {
    /// Every feature a unit of its own.
    pub(super) fn single(p: usize) -> Self {
        Self { count: p, ..Self::default() }
    }

    /// Features that imply each other through `edges` are joined; `costs` has length p, or is
    /// empty.
    pub(super) fn new(p: usize, edges: &[(usize, usize)], costs: &[f64]) -> Self {
        if edges.is_empty() {
            return Self { cost: costs.to_vec(), ..Self::single(p) };
        }
        let of = strongly_connected(p, edges);
        let count = of.iter().max().map_or(0, |m| m + 1);
        let mut features = vec![Vec::new(); count];
        let mut cost = vec![0.0; if costs.is_empty() { 0 } else { count }];
        for (j, &u) in of.iter().enumerate() {
            features[u].push(j);
            if let Some(c) = costs.get(j) {
                cost[u] += c;
            }
        }
        let (mut needs, mut needed_by): (Vec<Vec<usize>>, _) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut seen = HashSet::new();
        for (a, b) in edges.iter().map(|&(a, b)| (of[a], of[b])).filter(|(a, b)| a != b) {
            if seen.insert((a, b)) {
                needs[a].push(b);
                needed_by[b].push(a);
            }
        }
        Self { count, joined: Some((of, features)), singles: OnceLock::new(), cost, needs, needed_by }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The unit of feature j.
    pub(super) fn of(&self, j: usize) -> usize {
        self.joined.as_ref().map_or(j, |(of, _)| of[j])
    }

    /// Features, ascending.
    pub(super) fn features(&self, unit: usize) -> &[usize] {
        match &self.joined {
            Some((_, features)) => &features[unit],
            None => &self.singles.get_or_init(|| (0..self.count).collect())[unit..=unit],
        }
    }

    /// Number of features.
    pub(super) fn size(&self, unit: usize) -> usize {
        self.joined.as_ref().map_or(1, |(_, features)| features[unit].len())
    }

    pub(super) fn cost(&self, unit: usize) -> f64 {
        self.cost.get(unit).copied().unwrap_or(0.0)
    }

    /// Size and cost of the units that are in.
    pub(super) fn taken(&self, state: &[Choice]) -> (usize, f64) {
        let taken = (0..self.count).filter(|&u| state[u] == Choice::In);
        taken.fold((0, 0.0), |(size, cost), u| (size + self.size(u), cost + self.cost(u)))
    }

    /// Whether some unit implies another.
    pub(super) fn imply(&self) -> bool {
        !self.needs.is_empty()
    }

    pub(super) fn needs(&self, unit: usize) -> &[usize] {
        self.needs.get(unit).map_or(&[], Vec::as_slice)
    }

    pub(super) fn needed_by(&self, unit: usize) -> &[usize] {
        self.needed_by.get(unit).map_or(&[], Vec::as_slice)
    }
}
