//! The allowed subset of largest gain: a sort where the size is the only rule, else branch and
//! bound on what the bound by prices leaves open.

use std::borrow::Cow;
use std::collections::HashMap;

use super::relaxed::{Prices, Relaxed};
use super::{Choice, Group, Rules};
use crate::{Clock, Subset};

/// Units at most that are tried in turn for a first subset, beside those of at-least groups.
const IN_TURN: usize = 20_000;
/// Nodes of the first search; a search that needs more begins again with twice as many.
const NODES: u64 = 64;

impl Rules {
    /// Share of the gain within which [`Rules::best_subset`] is exact.
    pub const EXACT: f64 = 1e-12;

    /// The allowed subset with the largest total gain, and that total. `gains` has length p and may
    /// be negative. Features of gain 0 or less are only taken when a rule asks for them. Ties go to
    /// the smaller index. None when no subset satisfies the rules. Exact; with budgets or groups by
    /// branch and bound.
    pub fn best_subset(&self, gains: &[f64]) -> Option<(Subset, f64)> {
        let best = self.best_subset_until(gains, Self::EXACT, &Clock::unlimited());
        Some((best.subset, best.gain))
    }

    /// Finds an allowed subset of large gain, as [`Rules::best_subset`], but a subset that gains
    /// less by the share `slack` (0 or more) is enough, and the search ends early once `clock` says
    /// so: with an allowed subset in any case, and what no allowed subset exceeds.
    ///
    /// Where the rules are more than a size: prices on size and budget bound the gain
    /// (`relaxed.rs`), a subset taken in the order of what they leave is nearly the best, and units
    /// that no better one has otherwise are decided, until few are left. Branch and bound on these.
    pub fn best_subset_until(&self, gains: &[f64], slack: f64, clock: &Clock) -> SubsetGain {
        self.best_subset_within(gains, slack, u64::MAX, clock)
    }

    /// [`Rules::best_subset_until`], which ends early after this many nodes as well.
    pub(crate) fn best_subset_within(&self, gains: &[f64], slack: f64, allowed: u64, clock: &Clock) -> SubsetGain {
        assert_eq!(gains.len(), self.p, "one gain per feature");
        if self.is_sort() && self.units.len() == self.p {
            return self.largest(gains);
        }
        let mut best = Best { rules: self, gains, subset: self.allowed.clone(), gain: 0.0, slack };
        best.gain = best.total(&best.subset);
        let (mut most, mut most_nodes, mut asked) = (f64::INFINITY, NODES, 0_u64);
        // The rules on what is still open, its features, and what is fixed in.
        let mut open = Open { rules: Cow::Borrowed(self), features: (0..self.p).collect(), taken: Vec::new() };
        let stopped = loop {
            let (rules, base) = (&*open.rules, open.base(gains));
            let unit_gain = open.unit_gains(gains);
            let mut state = rules.root.clone();
            rules.leave_useless(&unit_gain, &mut state);
            let relaxed = Relaxed::new(rules, &state, &unit_gain);
            let (prices, bound) = relaxed.prices(best.enough() - base);
            most = most.min(base + bound);
            let order = relaxed.in_order(prices, IN_TURN);
            if let Some(mut found) = rules.in_turn(&state, &unit_gain, &order) {
                rules.exchange(&mut found, &unit_gain, &order, relaxed.single());
                best.offer(&open, &found);
            }
            if most <= best.enough() {
                break false;
            }
            relaxed.decide(prices, best.enough() - base, &mut state);
            if rules.propagate(&mut state).is_err() {
                // Nothing better is left.
                break false;
            }
            let before = rules.units.len();
            open = open.narrowed(&state);
            let left = open.rules.units.len();
            if left > 0 && 2 * left <= before {
                continue;
            }
            let (rules, base) = (&*open.rules, open.base(gains));
            let unit_gain = open.unit_gains(gains);
            let (mut nodes, mut out) = (0, false);
            let mut count = || {
                nodes += 1;
                asked += 1;
                out = asked > allowed || clock.stop().is_some();
                out || nodes >= most_nodes
            };
            let mut search = BestSubset::new(rules, &unit_gain, prices, best.enough() - base, slack, &mut count);
            search.explore(rules.root.clone(), 0);
            let (found, ended) = (search.best.take(), !search.stopped);
            if let Some((found, _)) = found {
                best.offer(&open, &found);
            }
            if ended || out {
                break out;
            }
            // A better subset decides more units, and a node costs what is left of them.
            most_nodes *= 2;
        };
        let (subset, gain) = (best.subset, best.gain);
        let most = if stopped { most.max(gain) } else { gain + slack * gain.abs() };
        SubsetGain { subset, gain, most, stopped }
    }

    /// Leaves out units that gain nothing and that no rule can ask for.
    fn leave_useless(&self, gains: &[f64], state: &mut [Choice]) {
        let mut asked = vec![false; self.units.len()];
        self.at_least.iter().flat_map(|group| &group.members).for_each(|m| asked[m.0] = true);
        let mut after: Vec<usize> = (0..self.units.len()).collect();
        while let Some(u) = after.pop() {
            let stays = |&v: &usize| state[v] != Choice::Out;
            if state[u] == Choice::Free && gains[u] <= 0.0 && !asked[u] && !self.units.needed_by(u).iter().any(stays) {
                state[u] = Choice::Out;
                after.extend(self.units.needs(u));
            }
        }
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
    /// The subset's total gain.
    pub gain: f64,
    /// No allowed subset gains more than this.
    pub most: f64,
    /// Whether the search ended early.
    pub stopped: bool,
}

/// The best subset so far.
struct Best<'r> {
    rules: &'r Rules,
    gains: &'r [f64],
    subset: Subset,
    gain: f64,
    slack: f64,
}

impl Best<'_> {
    fn total(&self, subset: &Subset) -> f64 {
        subset.iter().map(|j| self.gains[j]).sum()
    }

    /// What may gain no more than this is not searched for.
    fn enough(&self) -> f64 {
        self.gain + self.slack * self.gain.abs()
    }

    /// Takes what is fixed in and the units that are in, where that is better and allowed.
    fn offer(&mut self, open: &Open<'_>, state: &[Choice]) {
        let found = open.rules.chosen(state);
        let features = found.iter().map(|j| open.features[j]).chain(open.taken.iter().copied());
        let subset = Subset::from_indices(self.rules.p, features);
        let gain = self.total(&subset);
        if gain > self.gain && self.rules.allows(&subset) {
            (self.subset, self.gain) = (subset, gain);
        }
    }
}

/// What is not decided yet.
struct Open<'r> {
    rules: Cow<'r, Rules>,
    /// The feature of the problem behind each feature of `rules`.
    features: Vec<usize>,
    /// Features that are fixed in, beside those that `rules` has in.
    taken: Vec<usize>,
}

impl Open<'_> {
    fn base(&self, gains: &[f64]) -> f64 {
        self.taken.iter().map(|&j| gains[j]).sum()
    }

    fn unit_gains(&self, gains: &[f64]) -> Vec<f64> {
        let units = &self.rules.units;
        (0..units.len()).map(|u| units.features(u).iter().map(|&j| gains[self.features[j]]).sum()).collect()
    }

    /// What these decisions leave open.
    fn narrowed(self, state: &[Choice]) -> Self {
        let mut taken = self.taken;
        taken.extend(self.rules.chosen(state).iter().map(|j| self.features[j]));
        let (rules, places) = self.rules.narrowed(state);
        let features = places.into_iter().map(|j| self.features[j]).collect();
        Self { rules: Cow::Owned(rules), features, taken }
    }
}

/// The groups of each unit, with the number of the unit's features in each.
pub(super) struct Memberships {
    start: Vec<usize>,
    groups: Vec<(usize, usize)>,
}

impl Memberships {
    pub(super) fn new(units: usize, groups: &[Group]) -> Self {
        let all = || groups.iter().enumerate().flat_map(|(at, g)| g.members.iter().map(move |&(u, w)| (u, (at, w))));
        let mut start = vec![0; if groups.is_empty() { 0 } else { units + 2 }];
        all().for_each(|(u, _)| start[u + 2] += 1);
        for u in 2..start.len() {
            start[u] += start[u - 1];
        }
        let mut of = vec![(0, 0); all().count()];
        for (u, member) in all() {
            of[start[u + 1]] = member;
            start[u + 1] += 1;
        }
        Self { start, groups: of }
    }

    pub(super) fn of(&self, unit: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.start.get(unit).map_or(0..0, |&from| from..self.start[unit + 1]);
        self.groups[range].iter().copied()
    }
}

/// Depth-first search for the best subset, bounded by the best completion under the size rule alone
/// and under the budget alone (fractional knapsacks, both capped by disjoint at-most groups), and at
/// prices for both, where the bound also decides units.
struct BestSubset<'r, 's> {
    rules: &'r Rules,
    gains: &'r [f64],
    /// Units by falling gain, by falling gain per cost, and by what prices leave of it.
    by_gain: Vec<usize>,
    by_density: Vec<usize>,
    by_reduced: Vec<usize>,
    prices: Prices,
    in_at_most: Memberships,
    /// Units of equal kind are in the same groups with the same counts, and imply and are implied
    /// by nothing.
    kind: Vec<Option<usize>>,
    /// The at-most group that caps each unit in the size bound and in the cost bound: groups
    /// without a common unit whose units all have the same size, or cost, so that an optimal
    /// completion takes the best of them.
    size_cap: Vec<Option<usize>>,
    cost_cap: Vec<Option<usize>>,
    /// What may gain no more than this share above the best is left out.
    slack: f64,
    /// Nor what gains no more than this.
    enough: f64,
    best: Option<(Vec<Choice>, f64)>,
    /// Whether to end early, and whether that happened.
    stop: &'s mut dyn FnMut() -> bool,
    stopped: bool,
}

impl<'r, 's> BestSubset<'r, 's> {
    fn new(
        rules: &'r Rules,
        gains: &'r [f64],
        prices: Prices,
        enough: f64,
        slack: f64,
        stop: &'s mut dyn FnMut() -> bool,
    ) -> Self {
        let units = &rules.units;
        let by_reduced = Relaxed::new(rules, &rules.root, gains).in_order(prices, usize::MAX);
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
        let in_at_most = Memberships::new(units.len(), &rules.at_most);
        let in_at_least = Memberships::new(units.len(), &rules.at_least);
        let mut kinds = HashMap::new();
        let mut kind = vec![None; units.len()];
        for u in 0..units.len() {
            if units.needs(u).is_empty() && units.needed_by(u).is_empty() {
                let fresh = kinds.len();
                let groups = |of: &Memberships| of.of(u).collect::<Vec<_>>();
                kind[u] = Some(*kinds.entry((groups(&in_at_most), groups(&in_at_least))).or_insert(fresh));
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
            by_reduced,
            prices,
            in_at_most,
            kind,
            size_cap,
            cost_cap,
            slack,
            enough,
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
            let relaxed = Relaxed::new(self.rules, &state, self.gains);
            let bound = self.bound(&state).min(relaxed.bound(self.prices));
            if bound <= self.enough {
                return;
            }
            relaxed.decide(self.prices, self.enough, &mut state);
            if self.rules.propagate(&mut state).is_err() {
                return;
            }
            self.try_greedy(&state);
            // Not before the first subset, which is as cheap as a sort.
            self.stopped |= (self.stop)();
            if bound <= self.enough {
                return;
            }
            let order = &self.by_reduced;
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
        let (size, cost) = self.rules.units.taken(state);
        (self.rules.list.max_features.unwrap_or(self.rules.p) - size, self.rules.most_cost() - cost)
    }

    /// Completes `state` by taking what fits, best gain first and best gain per cost first; keeps
    /// the better if allowed.
    fn try_greedy(&mut self, state: &[Choice]) {
        let orders = if self.rules.list.budget.is_some() { 3 } else { 2 };
        for order in [&self.by_reduced, &self.by_gain, &self.by_density].into_iter().take(orders) {
            let (mut room, mut money) = self.room(state);
            let mut left: Vec<usize> = self.caps_left(state);
            let mut greedy = state.to_vec();
            for u in self.useful(state, order) {
                let units = &self.rules.units;
                let fits = units.size(u) <= room
                    && units.cost(u) <= money
                    && units.needs(u).iter().all(|&v| greedy[v] == Choice::In)
                    && self.in_at_most.of(u).all(|(at, weight)| weight <= left[at]);
                if fits {
                    room -= units.size(u);
                    money -= units.cost(u);
                    self.in_at_most.of(u).for_each(|(at, weight)| left[at] -= weight);
                    greedy[u] = Choice::In;
                }
            }
            for choice in greedy.iter_mut().filter(|c| **c == Choice::Free) {
                *choice = Choice::Out;
            }
            let gain = self.total(&greedy);
            if gain > self.enough && self.rules.allows(&self.rules.chosen(&greedy)) {
                self.enough = gain + self.slack * gain.abs();
                self.best = Some((greedy, gain));
            }
        }
    }

    /// Number of features of each at-most group that may still come in.
    fn caps_left(&self, state: &[Choice]) -> Vec<usize> {
        self.rules.at_most.iter().map(|g| g.short(state)).collect()
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
                    let weight = self.in_at_most.of(u).find(|m| m.0 == at).map_or(0, |m| m.1);
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
