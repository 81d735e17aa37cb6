//! What follows from decisions, and a small allowed subset.

use std::cmp::Ordering;

use super::{Choice, Rules};
use crate::Subset;

/// Why a set of decisions cannot satisfy the rules; units and groups by index.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Contradiction {
    /// Unit a is in and implies unit b, which is out.
    Implication(usize, usize),
    /// This many features must be in, more than allowed.
    Size(usize),
    /// The features that must be in cost this much, more than the budget.
    Budget(f64),
    /// The at-most group of this index has too many members in.
    AtMost(usize),
    /// The at-least group of this index has too few members left.
    AtLeast(usize),
}

impl Rules {
    /// Draws every conclusion from the decisions in `state` (one per unit).
    ///
    /// # Errors
    /// The rule that can no longer be satisfied.
    pub fn propagate(&self, state: &mut [Choice]) -> Result<(), Contradiction> {
        loop {
            let before = state.iter().filter(|&&c| c == Choice::Free).count();
            self.pass(state)?;
            if state.iter().filter(|&&c| c == Choice::Free).count() == before {
                return Ok(());
            }
        }
    }

    fn pass(&self, state: &mut [Choice]) -> Result<(), Contradiction> {
        let (mut size, mut cost) = (0, 0.0);
        let (implies, mut after) = (self.units.imply(), Vec::new());
        for u in 0..self.units.len() {
            if state[u] == Choice::In {
                size += self.units.size(u);
                cost += self.units.cost(u);
            }
            if implies && state[u] != Choice::Free {
                after.push(u);
                self.follow(&mut after, state)?;
            }
        }
        // Implications may have added units after they were visited, so size and cost can lag by
        // one pass: still valid.
        let (room, money) = (self.list.max_features.unwrap_or(self.p), self.most_cost());
        if size > room {
            return Err(Contradiction::Size(size));
        }
        if cost > money {
            return Err(Contradiction::Budget(cost));
        }
        if self.list.max_features.is_some() || self.list.budget.is_some() {
            for u in 0..self.units.len() {
                let (more, price) = (self.units.size(u), self.units.cost(u));
                if state[u] == Choice::Free && (size + more > room || cost + price > money) {
                    state[u] = Choice::Out;
                }
            }
        }
        for (at, group) in self.at_most.iter().enumerate() {
            let chosen = group.count_where(state, |c| c == Choice::In);
            if chosen > group.count {
                return Err(Contradiction::AtMost(at));
            }
            for &(u, weight) in &group.members {
                if state[u] == Choice::Free && chosen + weight > group.count {
                    state[u] = Choice::Out;
                }
            }
        }
        for (at, group) in self.at_least.iter().enumerate() {
            let possible = group.count_where(state, |c| c != Choice::Out);
            if possible < group.count {
                return Err(Contradiction::AtLeast(at));
            }
            for &(u, weight) in &group.members {
                if state[u] == Choice::Free && possible - weight < group.count {
                    state[u] = Choice::In;
                }
            }
        }
        Ok(())
    }

    /// Decides what the units `after`, which are decided, imply, and what these do, until it is empty.
    fn follow(&self, after: &mut Vec<usize>, state: &mut [Choice]) -> Result<(), Contradiction> {
        while let Some(u) = after.pop() {
            let (others, choice) = match state[u] {
                Choice::In => (self.units.needs(u), Choice::In),
                _ => (self.units.needed_by(u), Choice::Out),
            };
            for &v in others {
                let why = match choice {
                    Choice::In => Contradiction::Implication(u, v),
                    _ => Contradiction::Implication(v, u),
                };
                if state[v] == Choice::Free {
                    state[v] = choice;
                    after.push(v);
                } else if state[v] != choice {
                    return Err(why);
                }
            }
        }
        Ok(())
    }

    /// A small subset inside `allowed` that satisfies every rule, if there is one. Exact: a
    /// depth-first search over the groups that still lack members, cheapest unit first.
    pub fn subset_within(&self, allowed: &Subset) -> Option<Subset> {
        let mut state = self.root.clone();
        let all = allowed.len() == self.p;
        for u in 0..self.units.len() {
            // The full set leaves nothing out, and need not be examined feature by feature.
            if !all && self.units.features(u).iter().any(|&j| !allowed.contains(j)) {
                if state[u] == Choice::In {
                    return None;
                }
                state[u] = Choice::Out;
            }
        }
        self.propagate(&mut state).ok()?;
        if self.at_least.iter().all(|group| group.short(&state) == 0) {
            return Some(self.chosen(&state));
        }
        let found = self.completed_in_turn(&state).or_else(|| self.complete(state));
        found.map(|state| self.chosen(&state))
    }

    fn complete(&self, mut state: Vec<Choice>) -> Option<Vec<Choice>> {
        self.propagate(&mut state).ok()?;
        let lacking = self.at_least.iter().find(|g| g.count_where(&state, |c| c == Choice::In) < g.count);
        let Some(group) = lacking else { return Some(state) };
        let free = group.members.iter().map(|m| m.0).filter(|&u| state[u] == Choice::Free);
        let unit = free.min_by(|&a, &b| self.by_cost(a, b))?;
        let mut with = state.clone();
        with[unit] = Choice::In;
        if let Some(found) = self.complete(with) {
            return Some(found);
        }
        state[unit] = Choice::Out;
        self.complete(state)
    }

    /// Fills the groups up one after the other with their cheapest units and what these imply, where
    /// that ends well: no decision is taken back, and what follows from them is drawn once.
    fn completed_in_turn(&self, state: &[Choice]) -> Option<Vec<Choice>> {
        let (mut state, mut after) = (state.to_vec(), Vec::new());
        for group in &self.at_least {
            let mut lacking = group.short(&state);
            if lacking == 0 {
                continue;
            }
            let mut free: Vec<(usize, usize)> =
                group.members.iter().copied().filter(|m| state[m.0] == Choice::Free).collect();
            free.sort_by(|a, b| self.by_cost(a.0, b.0));
            for (u, weight) in free {
                if lacking > 0 && state[u] == Choice::Free {
                    state[u] = Choice::In;
                    after.push(u);
                    self.follow(&mut after, &mut state).ok()?;
                }
                if state[u] == Choice::In {
                    lacking = lacking.saturating_sub(weight);
                }
            }
        }
        self.propagate(&mut state).ok()?;
        self.at_least.iter().all(|group| group.short(&state) == 0).then_some(state)
    }

    /// Cheaper, then smaller units first.
    fn by_cost(&self, a: usize, b: usize) -> Ordering {
        let key = |u: usize| (self.units.cost(u), self.units.size(u), u);
        key(a).partial_cmp(&key(b)).expect("costs are finite")
    }
}
