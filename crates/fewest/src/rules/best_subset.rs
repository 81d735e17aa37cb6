//! The allowed subset of largest gain: a sort where the size is the only rule, else branch and
//! bound.

use std::collections::HashMap;

use super::{Choice, Group, Rules};
use crate::Subset;

impl Rules {
    /// Share of the gain within which [`Rules::best_subset`] is exact.
    pub const EXACT: f64 = 1e-12;

    /// The allowed subset with the largest total gain, and that total. `gains` has length p and may
    /// be negative. Features of gain 0 or less are only taken when a rule asks for them. Ties go to
    /// the smaller index. None when no subset satisfies the rules. Exact; with budgets or groups by
    /// branch and bound.
    pub fn best_subset(&self, gains: &[f64]) -> Option<(Subset, f64)> {
        let best = self.best_subset_until(gains, Self::EXACT, &mut || false);
        Some((best.subset, best.gain))
    }

    /// As [`Rules::best_subset`], but a subset that gains less by the share `slack` (0 or more)
    /// will do, and the search ends early once `stop` says so: with an allowed subset in any case,
    /// and what no allowed subset exceeds.
    pub fn best_subset_until(&self, gains: &[f64], slack: f64, stop: &mut dyn FnMut() -> bool) -> SubsetGain {
        assert_eq!(gains.len(), self.p, "one gain per feature");
        if self.is_sort() && self.units.len() == self.p {
            return self.largest(gains);
        }
        let unit_gain: Vec<f64> =
            (0..self.units.len()).map(|u| self.units.features(u).iter().map(|&j| gains[j]).sum()).collect();
        let mut search = BestSubset::new(self, &unit_gain, slack, stop);
        let limit = search.bound(&self.root);
        search.explore(self.root.clone(), 0);
        let stopped = search.stopped;
        let (subset, gain) = match search.best {
            Some((state, gain)) => (self.chosen(&state), gain),
            None => (self.allowed.clone(), self.allowed.iter().map(|j| gains[j]).sum()),
        };
        let most = if stopped { limit.max(gain) } else { gain + slack * gain.abs() };
        SubsetGain { subset, gain, most, stopped }
    }

    /// The best subset where the rules are no more than a size, must-in and must-out: the largest
    /// gains above 0, without sorting the others.
    fn largest(&self, gains: &[f64]) -> SubsetGain {
        let feature = |u: usize| self.units.features(u)[0];
        let of = |choice| (0..self.p).filter(move |&u| self.root[u] == choice).map(feature);
        let mut chosen: Vec<usize> = of(Choice::In).collect();
        let room = self.most_features() - chosen.len();
        let mut useful: Vec<usize> = of(Choice::Free).filter(|&j| gains[j] > 0.0).collect();
        if room == 0 {
            useful.clear();
        } else if room < useful.len() {
            let larger = |&a: &usize, &b: &usize| gains[b].total_cmp(&gains[a]).then(a.cmp(&b));
            useful.select_nth_unstable_by(room - 1, larger);
            useful.truncate(room);
        }
        chosen.extend(useful);
        chosen.sort_unstable();
        let gain = chosen.iter().map(|&j| gains[j]).sum();
        let subset = Subset::from_indices(self.p, chosen);
        debug_assert!(self.allows(&subset));
        SubsetGain { subset, gain, most: gain, stopped: false }
    }
}

/// An allowed subset of large gain.
#[derive(Debug, Clone, PartialEq)]
pub struct SubsetGain {
    /// The subset.
    pub subset: Subset,
    /// Its total gain.
    pub gain: f64,
    /// No allowed subset gains more than this.
    pub most: f64,
    /// Whether the search ended early.
    pub stopped: bool,
}

/// Depth-first search for the best subset, bounded by the best completion under the size rule alone
/// and under the budget alone (fractional knapsacks, both capped by disjoint at-most groups).
struct BestSubset<'r, 's> {
    rules: &'r Rules,
    gains: &'r [f64],
    /// Units by falling gain, and by falling gain per cost.
    by_gain: Vec<usize>,
    by_density: Vec<usize>,
    /// At-most groups each unit is in, with the number of its features there.
    in_at_most: Vec<Vec<(usize, usize)>>,
    /// Units of equal kind are in the same groups with the same counts, and imply and are implied
    /// by nothing.
    kind: Vec<Option<usize>>,
    /// By unit, the at-most group that caps it in the size bound and in the cost bound: groups
    /// without a common unit whose units all have the same size, or cost, so that an optimal
    /// completion takes the best of them.
    size_cap: Vec<Option<usize>>,
    cost_cap: Vec<Option<usize>>,
    /// What may gain no more than this share above the best is left out.
    slack: f64,
    best: Option<(Vec<Choice>, f64)>,
    /// Whether to end early, and whether that happened.
    stop: &'s mut dyn FnMut() -> bool,
    stopped: bool,
}

impl<'r, 's> BestSubset<'r, 's> {
    fn new(rules: &'r Rules, gains: &'r [f64], slack: f64, stop: &'s mut dyn FnMut() -> bool) -> Self {
        let units = &rules.units;
        let mut by_gain: Vec<usize> = (0..units.len()).collect();
        by_gain.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
        let mut by_density = by_gain.clone();
        if rules.list.budget.is_some() {
            // Useless units last, free ones first; the sort is stable, so equal densities stay in
            // order of gain.
            let density = |u: usize| match (gains[u] > 0.0, units.cost(u) > 0.0) {
                (true, true) => gains[u] / units.cost(u),
                (true, false) => f64::INFINITY,
                (false, _) => f64::NEG_INFINITY,
            };
            by_density.sort_by(|&a, &b| density(b).total_cmp(&density(a)));
        }
        let memberships = |groups: &[Group]| {
            let mut of = vec![Vec::new(); units.len()];
            for (at, group) in groups.iter().enumerate() {
                for &(u, weight) in &group.members {
                    of[u].push((at, weight));
                }
            }
            of
        };
        let (in_at_most, in_at_least) = (memberships(&rules.at_most), memberships(&rules.at_least));
        let mut kinds = HashMap::new();
        let mut kind = vec![None; units.len()];
        for u in 0..units.len() {
            if units.needs(u).is_empty() && units.needed_by(u).is_empty() {
                let fresh = kinds.len();
                kind[u] = Some(*kinds.entry((&in_at_most[u], &in_at_least[u])).or_insert(fresh));
            }
        }
        let caps = |alike: &dyn Fn(usize, usize) -> bool| {
            let mut cap: Vec<Option<usize>> = vec![None; units.len()];
            for (at, group) in rules.at_most.iter().enumerate() {
                let fits = |&(u, weight): &(usize, usize)| {
                    cap[u].is_none() && weight == group.members[0].1 && alike(u, group.members[0].0)
                };
                if group.members.iter().all(fits) {
                    group.members.iter().for_each(|m| cap[m.0] = Some(at));
                }
            }
            cap
        };
        let size_cap = caps(&|u, v| units.size(u) == units.size(v));
        let cost_cap = caps(&|u, v| units.cost(u) == units.cost(v));
        Self {
            rules,
            gains,
            by_gain,
            by_density,
            in_at_most,
            kind,
            size_cap,
            cost_cap,
            slack,
            best: None,
            stop,
            stopped: false,
        }
    }

    fn explore(&mut self, mut state: Vec<Choice>, mut from: usize) {
        loop {
            if self.stopped || self.rules.propagate(&mut state).is_err() {
                return;
            }
            let bound = self.bound(&state);
            if self.best.as_ref().is_some_and(|(_, best)| bound <= *best + self.slack * best.abs()) {
                return;
            }
            self.try_greedy(&state);
            // Not before the first subset, which is as cheap as a sort.
            self.stopped |= (self.stop)();
            if self.best.as_ref().is_some_and(|(_, best)| bound <= *best + self.slack * best.abs()) {
                return;
            }
            let order = &self.by_density;
            let Some(at) = (from..order.len()).find(|&at| state[order[at]] == Choice::Free) else { return };
            let unit = order[at];
            let mut with = state.clone();
            with[unit] = Choice::In;
            self.explore(with, at + 1);
            state[unit] = Choice::Out;
            self.leave_dominated(unit, &mut state);
            from = at + 1;
        }
    }

    /// With `unit` out, a unit of the same kind that gains no more and is no smaller and no cheaper
    /// may be left out too: exchanging it for `unit` would be allowed and no worse, and that was
    /// searched before.
    fn leave_dominated(&self, unit: usize, state: &mut [Choice]) {
        let Some(kind) = self.kind[unit] else { return };
        let units = &self.rules.units;
        for v in 0..state.len() {
            let dominated = self.kind[v] == Some(kind)
                && self.gains[v] <= self.gains[unit]
                && units.size(v) >= units.size(unit)
                && units.cost(v) >= units.cost(unit);
            if state[v] == Choice::Free && dominated {
                state[v] = Choice::Out;
            }
        }
    }

    fn total(&self, state: &[Choice]) -> f64 {
        (0..state.len()).filter(|&u| state[u] == Choice::In).map(|u| self.gains[u]).sum()
    }

    /// Free units that would add gain, in the order given.
    fn useful<'u>(&'u self, state: &'u [Choice], order: &'u [usize]) -> impl Iterator<Item = usize> + 'u {
        order.iter().copied().filter(|&u| state[u] == Choice::Free && self.gains[u] > 0.0)
    }

    /// Size and cost that the decisions leave.
    fn room(&self, state: &[Choice]) -> (usize, f64) {
        let (rules, list) = (self.rules, &self.rules.list);
        let taken = || (0..state.len()).filter(|&u| state[u] == Choice::In);
        let size: usize = taken().map(|u| rules.units.size(u)).sum();
        let cost: f64 = taken().map(|u| rules.units.cost(u)).sum();
        (list.max_features.unwrap_or(rules.p) - size, rules.most_cost() - cost)
    }

    /// Completes `state` by taking what fits, best gain first and best gain per cost first; keeps
    /// the better if allowed.
    fn try_greedy(&mut self, state: &[Choice]) {
        let orders = if self.rules.list.budget.is_some() { 2 } else { 1 };
        for order in [&self.by_gain, &self.by_density].into_iter().take(orders) {
            let (mut room, mut money) = self.room(state);
            let mut left: Vec<usize> = self.caps_left(state);
            let mut greedy = state.to_vec();
            for u in self.useful(state, order) {
                let units = &self.rules.units;
                let fits = units.size(u) <= room
                    && units.cost(u) <= money
                    && units.needs(u).iter().all(|&v| greedy[v] == Choice::In)
                    && self.in_at_most[u].iter().all(|&(at, weight)| weight <= left[at]);
                if fits {
                    room -= units.size(u);
                    money -= units.cost(u);
                    self.in_at_most[u].iter().for_each(|&(at, weight)| left[at] -= weight);
                    greedy[u] = Choice::In;
                }
            }
            for choice in greedy.iter_mut().filter(|c| **c == Choice::Free) {
                *choice = Choice::Out;
            }
            let gain = self.total(&greedy);
            let better = self.best.as_ref().is_none_or(|(_, best)| gain > *best);
            if better && self.rules.allows(&self.rules.chosen(&greedy)) {
                self.best = Some((greedy, gain));
            }
        }
    }

    /// By at-most group, how many more of its features may come in.
    fn caps_left(&self, state: &[Choice]) -> Vec<usize> {
        self.rules.at_most.iter().map(|g| g.count.saturating_sub(g.count_where(state, |c| c == Choice::In))).collect()
    }

    /// No allowed completion of `state` gains more.
    fn bound(&self, state: &[Choice]) -> f64 {
        let (room, money) = self.room(state);
        let left = self.caps_left(state);
        let capped = |caps: &[Option<usize>], order: &[usize]| {
            let mut left = left.clone();
            let mut kept: Vec<usize> = Vec::new();
            for u in self.useful(state, order) {
                if let Some(at) = caps[u] {
                    let weight = self.in_at_most[u].iter().find(|m| m.0 == at).map_or(0, |m| m.1);
                    if left[at] < weight {
                        continue;
                    }
                    left[at] -= weight;
                }
                kept.push(u);
            }
            kept
        };
        let units = &self.rules.units;
        let mut by_size = capped(&self.size_cap, &self.by_gain);
        if units.len() < self.rules.p {
            let density = |u: usize| self.gains[u] / units.size(u) as f64;
            by_size.sort_by(|&a, &b| density(b).total_cmp(&density(a)));
        }
        let mut bound = fractional(&by_size, |u| self.gains[u], |u| units.size(u) as f64, room as f64);
        if money.is_finite() {
            let by_cost = capped(&self.cost_cap, &self.by_density);
            bound = bound.min(fractional(&by_cost, |u| self.gains[u], |u| units.cost(u), money));
        }
        self.total(state) + bound
    }
}

/// Optimum of the fractional knapsack: items, sorted by falling gain per weight, until the room is
/// used up.
fn fractional(items: &[usize], gain: impl Fn(usize) -> f64, weight: impl Fn(usize) -> f64, room: f64) -> f64 {
    let (mut left, mut sum) = (room, 0.0);
    for &u in items {
        if weight(u) > left {
            return sum + gain(u) * (left / weight(u)).max(0.0);
        }
        left -= weight(u);
        sum += gain(u);
    }
    sum
}
