//! What follows from decisions, and a small allowed subset.

use std::cmp::Ordering;

use super::cover::Missing;
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

    /// A small subset inside `allowed` that satisfies every rule, if there is one: groups that lack
    /// members are filled up in turn by their cheapest units, else by a search of all ways. None, too,
    /// where that search was too long, as many groups that overlap make it.
    pub fn subset_within(&self, allowed: &Subset) -> Option<Subset> {
        self.search_within(allowed).ok()
    }

    /// As [`Rules::subset_within`], with the reason why there is none.
    pub(super) fn search_within(&self, allowed: &Subset) -> Result<Subset, Missing> {
        let mut state = self.root.clone();
        let all = allowed.len() == self.p;
        for u in 0..self.units.len() {
            // The full set leaves nothing out, and need not be examined feature by feature.
            if !all && self.units.features(u).iter().any(|&j| !allowed.contains(j)) {
                if state[u] == Choice::In {
                    return Err(Missing::Proven);
                }
                state[u] = Choice::Out;
            }
        }
        self.propagate(&mut state).map_err(|_| Missing::Proven)?;
        if self.at_least.iter().all(|group| group.short(&state) == 0) {
            return Ok(self.chosen(&state));
        }
        let found = self.completed_in_turn(&state).map_or_else(|| self.complete(state), Ok)?;
        Ok(self.chosen(&found))
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
    pub(super) fn by_cost(&self, a: usize, b: usize) -> Ordering {
        let key = |u: usize| (self.units.cost(u), self.units.size(u), u);
        key(a).partial_cmp(&key(b)).expect("costs are finite")
    }
}
