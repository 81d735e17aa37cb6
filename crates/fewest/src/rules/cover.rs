//! Groups of which some features must be in, filled up within a size and a budget.
//!
//! A depth-first search: of the groups that still lack members it takes the one with the fewest left,
//! of these the unit that fills most of all groups for its size, in first and then out. A branch ends
//! where even fractions of the best units for their size leave something lacking. The problem is
//! NP-hard (set cover), so the search ends after so much work, and then it does not know.

use super::{Choice, Rules};

/// Decisions times units and members of groups, after which the search ends: about ten seconds.
const WORK: usize = 2_000_000_000;

/// Why there is no subset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// No subset satisfies the rules.
    Proven,
    /// The search ended before it knew.
    Unknown,
}

impl Rules {
    /// Decisions that satisfy every rule, from these on.
    pub(super) fn complete(&self, state: Vec<Choice>) -> Result<Vec<Choice>, Missing> {
        let members: usize = self.at_least.iter().chain(&self.at_most).map(|group| group.members.len()).sum();
        self.fill(state, &mut (WORK / (self.units.len() + members).max(1)))
    }

    fn fill(&self, mut state: Vec<Choice>, left: &mut usize) -> Result<Vec<Choice>, Missing> {
        *left = left.checked_sub(1).ok_or(Missing::Unknown)?;
        self.propagate(&mut state).map_err(|_| Missing::Proven)?;
        let free = |members: &[(usize, usize)]| members.iter().filter(|m| state[m.0] == Choice::Free).count();
        let lacking = self.at_least.iter().filter(|group| group.short(&state) > 0);
        let Some(group) = lacking.min_by_key(|group| free(&group.members)) else { return Ok(state) };
        let fills = self.fills(&state);
        if !self.suffices(&state, &fills) {
            return Err(Missing::Proven);
        }
        let units = group.members.iter().map(|m| m.0).filter(|&u| state[u] == Choice::Free);
        let share = |u: usize| fills[u] as f64 / self.units.size(u) as f64;
        let best = units.min_by(|&a, &b| share(b).total_cmp(&share(a)).then_with(|| self.by_cost(a, b)));
        let unit = best.ok_or(Missing::Proven)?;
        let mut with = state.clone();
        with[unit] = Choice::In;
        match self.fill(with, left) {
            Err(Missing::Proven) => {
                state[unit] = Choice::Out;
                self.fill(state, left)
            }
            found => found,
        }
    }

    /// How many members that groups lack each free unit brings; 0 for the others.
    fn fills(&self, state: &[Choice]) -> Vec<usize> {
        let mut fills = vec![0; self.units.len()];
        for group in &self.at_least {
            let short = group.short(state);
            for &(u, weight) in group.members.iter().filter(|m| state[m.0] == Choice::Free) {
                fills[u] += weight.min(short);
            }
        }
        fills
    }

    /// Whether fractions of the free units that fit in what is left of the size can fill all groups; needed
    /// of any subset. What a unit needs is not counted.
    fn suffices(&self, state: &[Choice], fills: &[usize]) -> bool {
        let Some(most) = self.list.max_features else { return true };
        let lacking: usize = self.at_least.iter().map(|group| group.short(state)).sum();
        let size = |u: usize| self.units.size(u) as f64;
        let mut room = most as f64 - self.units.taken(state).0 as f64;
        let mut units: Vec<usize> = (0..fills.len()).filter(|&u| fills[u] > 0).collect();
        units.sort_by(|&a, &b| (fills[b] as f64 / size(b)).total_cmp(&(fills[a] as f64 / size(a))));
        let mut filled = 0.0;
        for u in units {
            if room <= 0.0 {
                break;
            }
            filled += fills[u] as f64 * (room / size(u)).min(1.0);
            room -= size(u);
        }
        filled + 1e-9 >= lacking as f64
    }
}
