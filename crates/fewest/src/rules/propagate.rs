//! What follows from decisions, and a small allowed subset.

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

fn decide(state: &mut [Choice], unit: usize, choice: Choice, why: Contradiction) -> Result<(), Contradiction> {
    if state[unit] == Choice::Free {
        state[unit] = choice;
    }
    if state[unit] == choice { Ok(()) } else { Err(why) }
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
        for u in 0..self.units.len() {
            if state[u] == Choice::In {
                size += self.units.size(u);
                cost += self.units.cost(u);
                for &needed in self.units.needs(u) {
                    decide(state, needed, Choice::In, Contradiction::Implication(u, needed))?;
                }
            }
            if state[u] == Choice::Out {
                for &by in self.units.needed_by(u) {
                    decide(state, by, Choice::Out, Contradiction::Implication(by, u))?;
                }
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

    /// A small subset inside `allowed` that satisfies every rule, if there is one. Exact: a
    /// depth-first search over the groups that still lack members, cheapest unit first.
    pub fn subset_within(&self, allowed: &Subset) -> Option<Subset> {
        let mut state = self.root.clone();
        let all = allowed.len() == self.p;
        for u in 0..self.units.len() {
            // The full set leaves nothing out, and need not be looked at feature by feature.
            if !all && self.units.features(u).iter().any(|&j| !allowed.contains(j)) {
                if state[u] == Choice::In {
                    return None;
                }
                state[u] = Choice::Out;
            }
        }
        self.complete(state).map(|state| self.chosen(&state))
    }

    fn complete(&self, mut state: Vec<Choice>) -> Option<Vec<Choice>> {
        self.propagate(&mut state).ok()?;
        let lacking = self.at_least.iter().find(|g| g.count_where(&state, |c| c == Choice::In) < g.count);
        let Some(group) = lacking else { return Some(state) };
        let free = group.members.iter().map(|m| m.0).filter(|&u| state[u] == Choice::Free);
        let key = |u: usize| (self.units.cost(u), self.units.size(u), u);
        let unit = free.min_by(|&a, &b| key(a).partial_cmp(&key(b)).expect("costs are finite"))?;
        let mut with = state.clone();
        with[unit] = Choice::In;
        if let Some(found) = self.complete(with) {
            return Some(found);
        }
        state[unit] = Choice::Out;
        self.complete(state)
    }
}
