//! A subset that gains nearly as much as the best: units in turn, then exchanges.

use super::best_subset::Memberships;
use super::{Choice, Rules};

/// Units in that are tried for an exchange, and exchanges.
const EXCHANGED: usize = 200;

impl Rules {
    /// Completes `state` by the units of `order`, each with all that it needs, where they fit and
    /// gain; the groups that lack members come first. Allowed as far as sizes, budgets and groups
    /// go.
    pub(super) fn in_turn(&self, state: &[Choice], gains: &[f64], order: &[usize]) -> Option<Vec<Choice>> {
        let units = &self.units;
        let mut state = state.to_vec();
        let (size, cost) = units.taken(&state);
        let mut money = self.most_cost() - cost;
        let mut room = self.list.max_features.unwrap_or(self.p).checked_sub(size)?;
        let caps = Memberships::new(units.len(), &self.at_most);
        let mut left: Vec<usize> = self.at_most.iter().map(|g| g.short(&state)).collect();
        let mut lacking: Vec<usize> = self.at_least.iter().map(|g| g.short(&state)).collect();
        let asked = Memberships::new(units.len(), &self.at_least);
        for wanted in [true, false] {
            for &u in order {
                let lacks = asked.of(u).any(|(at, _)| lacking[at] > 0);
                if state[u] != Choice::Free || wanted != lacks || (!wanted && gains[u] <= 0.0) {
                    continue;
                }
                // u and what it needs.
                let mut with = vec![u];
                let mut at = 0;
                while at < with.len() {
                    for &v in units.needs(with[at]) {
                        if state[v] != Choice::In && !with.contains(&v) {
                            with.push(v);
                        }
                    }
                    at += 1;
                }
                let (size, cost, gain) = with
                    .iter()
                    .fold((0, 0.0, 0.0), |sum, &v| (sum.0 + units.size(v), sum.1 + units.cost(v), sum.2 + gains[v]));
                let open = with.iter().all(|&v| state[v] == Choice::Free);
                if !open || size > room || cost > money || (!wanted && gain <= 0.0) {
                    continue;
                }
                let mut fits = true;
                for &v in &with {
                    for (at, weight) in caps.of(v) {
                        fits &= weight <= left[at];
                        left[at] = left[at].wrapping_sub(weight);
                    }
                }
                if !fits {
                    with.iter()
                        .flat_map(|&v| caps.of(v))
                        .for_each(|(at, weight)| left[at] = left[at].wrapping_add(weight));
                    continue;
                }
                (room, money) = (room - size, money - cost);
                for &v in &with {
                    state[v] = Choice::In;
                    asked.of(v).for_each(|(at, weight)| lacking[at] = lacking[at].saturating_sub(weight));
                }
            }
        }
        lacking.iter().all(|&lack| lack == 0).then_some(state)
    }

    /// Exchanges a unit that is in for one that is out, the pair that gains most, as long as one
    /// gains: among the units `single`, which only size and budget bind. It uses up what the units
    /// in turn leave of a budget.
    pub(super) fn exchange(&self, state: &mut [Choice], gains: &[f64], order: &[usize], single: &[usize]) {
        let units = &self.units;
        let among: Vec<usize> = order.iter().copied().filter(|u| single.binary_search(u).is_ok()).collect();
        let (size, cost) = units.taken(state);
        let mut money = self.most_cost() - cost;
        let mut room = self.list.max_features.unwrap_or(self.p) - size;
        // Those that the bound would miss least come last in order.
        let chosen = among.iter().rev().copied().filter(|&u| state[u] == Choice::In);
        let mut chosen: Vec<usize> = chosen.take(EXCHANGED).collect();
        let mut others: Vec<usize> = among.into_iter().filter(|&u| state[u] != Choice::In).collect();
        for _ in 0..EXCHANGED {
            let mut best = (0.0, 0, 0);
            for (from, &v) in chosen.iter().enumerate() {
                let (money, room) = (money + units.cost(v), room + units.size(v));
                for (to, &u) in others.iter().enumerate() {
                    let more = gains[u] - gains[v];
                    if more > best.0 && units.cost(u) <= money && units.size(u) <= room {
                        best = (more, from, to);
                    }
                }
            }
            let (more, from, to) = best;
            if more <= 0.0 {
                return;
            }
            let (v, u) = (chosen[from], others[to]);
            (state[v], state[u]) = (Choice::Out, Choice::In);
            (chosen[from], others[to]) = (u, v);
            money += units.cost(v) - units.cost(u);
            room = room + units.size(v) - units.size(u);
        }
    }
}
