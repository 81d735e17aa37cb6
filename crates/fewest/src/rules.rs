//! Rules on the chosen features: size, budget, must-in, must-out, implications, groups. The only place constraints live.
//!
//! Features that imply each other (through `together` or a cycle of implications) are one *unit*: they are in or out
//! together. Elimination asks [`Rules::subset_within`], masters that sort ask [`Rules::best_subset`], trees ask
//! [`Rules::propagate`], and MIP masters read [`Rules::rows`]. Contradictions are found in [`Rules::new`].

use crate::{Error, Subset};

/// The rules as a user states them; feature indices count from 0.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct RuleList {
    /// At most this many features (K).
    pub max_features: Option<usize>,
    /// Features that must be in.
    pub require: Vec<usize>,
    /// Features that must be out.
    pub forbid: Vec<usize>,
    /// Pairs (a, b): if a is in, b must be in.
    pub implies: Vec<(usize, usize)>,
    /// (m, group): at most m of the group.
    pub at_most: Vec<(usize, Vec<usize>)>,
    /// (m, group): at least m of the group.
    pub at_least: Vec<(usize, Vec<usize>)>,
    /// Groups that are in or out as a whole.
    pub together: Vec<Vec<usize>>,
    /// Sum of the costs of the chosen features is at most this.
    pub budget: Option<f64>,
    /// Cost of each feature, length p, each 0 or more; needed with a budget.
    pub costs: Vec<f64>,
}

/// State of a unit while a search decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Not decided.
    Free,
    /// Chosen.
    In,
    /// Left out.
    Out,
}

/// One linear row `sum coefficient_j z_j <= upper` over features.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearRow {
    /// (feature, coefficient)
    pub coefficients: Vec<(usize, f64)>,
    /// Right side.
    pub upper: f64,
}

/// Features that are in or out together.
#[derive(Debug, Clone, Default)]
struct Unit {
    features: Vec<usize>,
    cost: f64,
    /// Units this one implies.
    needs: Vec<usize>,
    /// Units that imply this one.
    needed_by: Vec<usize>,
}

/// A group with a count over its features, as (unit, features of the group inside it).
#[derive(Debug, Clone)]
struct Group {
    count: usize,
    members: Vec<(usize, usize)>,
}

/// Checked rules for p features.
#[derive(Debug, Clone)]
pub struct Rules {
    p: usize,
    list: RuleList,
    unit_of: Vec<usize>,
    units: Vec<Unit>,
    at_most: Vec<Group>,
    at_least: Vec<Group>,
    /// Decisions that follow from the rules alone, by unit.
    root: Vec<Choice>,
}

/// Room for rounding when costs are summed against a budget.
fn within(cost: f64, budget: f64) -> bool {
    cost <= budget + 1e-9 * budget.abs().max(1.0)
}

impl Rules {
    /// No rule but the size.
    ///
    /// # Errors
    /// [`Error::Rules`] when K is 0 or above p.
    pub fn at_most_features(p: usize, max_features: usize) -> Result<Self, Error> {
        Self::new(p, RuleList { max_features: Some(max_features), ..RuleList::default() }, &[])
    }

    /// No rule at all.
    pub fn none(p: usize) -> Self {
        let units = (0..p).map(|j| Unit { features: vec![j], ..Unit::default() }).collect();
        let list = RuleList::default();
        let root = vec![Choice::Free; p];
        Self { p, list, unit_of: (0..p).collect(), units, at_most: vec![], at_least: vec![], root }
    }

    /// Checks the rules and finds contradictions. `names` (length p, or empty for `x1`, `x2`, ...) are for messages.
    ///
    /// # Errors
    /// [`Error::Rules`] naming the rule, the features and the remedy.
    pub fn new(p: usize, list: RuleList, names: &[String]) -> Result<Self, Error> {
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1));
        let fail = |text: String| Err(Error::Rules(text));
        if let Some(k) = list.max_features
            && (k == 0 || k > p)
        {
            return fail(format!("max-features is {k}, but must be between 1 and the number of features, {p}"));
        }
        let groups = list.at_most.iter().chain(&list.at_least).map(|g| &g.1).chain(&list.together);
        let pairs = list.implies.iter().flat_map(|&(a, b)| [a, b]);
        let mentioned = list.require.iter().chain(&list.forbid).copied().chain(pairs).chain(groups.flatten().copied());
        if let Some(j) = mentioned.into_iter().find(|&j| j >= p) {
            return fail(format!("a rule names feature index {j}, but there are {p} features, counted from 0"));
        }
        if let Some(budget) = list.budget {
            if !(budget >= 0.0 && budget.is_finite()) {
                return fail(format!("budget is {budget}, but must be a finite number, 0 or more"));
            }
            if list.costs.len() != p {
                return fail(format!(
                    "the budget needs a cost for each of the {p} features, but {} are given",
                    list.costs.len()
                ));
            }
        }
        if let Some(j) = list.costs.iter().position(|&c| !(c >= 0.0 && c.is_finite())) {
            return fail(format!(
                "the cost of {} is {}, but must be a finite number, 0 or more",
                name(j),
                list.costs[j]
            ));
        }
        for (m, group) in &list.at_least {
            let mut distinct = group.clone();
            distinct.sort_unstable();
            distinct.dedup();
            if *m > distinct.len() {
                return fail(format!("at least {m} of a group of {} features cannot be chosen", distinct.len()));
            }
        }

        let mut rules = Self::compile(p, list);
        for (want, other, listed) in [
            (Choice::In, Choice::Out, rules.list.require.clone()),
            (Choice::Out, Choice::In, rules.list.forbid.clone()),
        ] {
            for j in listed {
                let unit = rules.unit_of[j];
                if rules.root[unit] == other {
                    return fail(format!(
                        "{} is both required and forbidden (directly, or through together or implies)",
                        name(j)
                    ));
                }
                rules.root[unit] = want;
            }
        }
        let mut root = rules.root.clone();
        if let Err(why) = rules.propagate(&mut root) {
            return fail(rules.explain(&why, &name));
        }
        rules.root = root;
        if rules.subset_within(&Subset::full(p)).is_none() {
            return fail("the rules contradict each other: no subset satisfies them all; leave one out".to_owned());
        }
        Ok(rules)
    }

    /// Units (strongly connected implications), groups over units; nothing decided yet.
    fn compile(p: usize, list: RuleList) -> Self {
        let mut edges: Vec<(usize, usize)> = list.implies.clone();
        for group in &list.together {
            edges.extend(group.windows(2).flat_map(|w| [(w[0], w[1]), (w[1], w[0])]));
        }
        let unit_of = strongly_connected(p, &edges);
        let mut units = vec![Unit::default(); unit_of.iter().max().map_or(0, |m| m + 1)];
        for j in 0..p {
            units[unit_of[j]].features.push(j);
            units[unit_of[j]].cost += list.costs.get(j).copied().unwrap_or(0.0);
        }
        for (a, b) in edges.into_iter().map(|(a, b)| (unit_of[a], unit_of[b])).filter(|(a, b)| a != b) {
            if !units[a].needs.contains(&b) {
                units[a].needs.push(b);
                units[b].needed_by.push(a);
            }
        }
        let group = |(count, features): &(usize, Vec<usize>)| {
            let mut distinct = features.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let mut members: Vec<(usize, usize)> = Vec::new();
            for u in distinct.into_iter().map(|j| unit_of[j]) {
                match members.iter_mut().find(|m| m.0 == u) {
                    Some(member) => member.1 += 1,
                    None => members.push((u, 1)),
                }
            }
            Group { count: *count, members }
        };
        let (at_most, at_least) = (list.at_most.iter().map(group).collect(), list.at_least.iter().map(group).collect());
        let root = vec![Choice::Free; units.len()];
        Self { p, list, unit_of, units, at_most, at_least, root }
    }

    /// Number of features p.
    pub fn p(&self) -> usize {
        self.p
    }

    /// The rules as stated.
    pub fn list(&self) -> &RuleList {
        &self.list
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.units.len()
    }

    /// Features of a unit, ascending.
    pub fn unit(&self, unit: usize) -> &[usize] {
        &self.units[unit].features
    }

    /// The unit that holds feature j.
    pub fn unit_of(&self, j: usize) -> usize {
        self.unit_of[j]
    }

    /// Units that must leave before this one may (they imply it).
    pub fn needed_by(&self, unit: usize) -> &[usize] {
        &self.units[unit].needed_by
    }

    /// What the rules alone decide, by unit.
    pub fn root(&self) -> &[Choice] {
        &self.root
    }

    /// Whether the subset satisfies every rule.
    pub fn allows(&self, subset: &Subset) -> bool {
        let count = |group: &[usize]| {
            let mut distinct: Vec<usize> = group.iter().copied().filter(|&j| subset.contains(j)).collect();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len()
        };
        let list = &self.list;
        list.max_features.is_none_or(|k| subset.len() <= k)
            && list.require.iter().all(|&j| subset.contains(j))
            && !list.forbid.iter().any(|&j| subset.contains(j))
            && list.implies.iter().all(|&(a, b)| !subset.contains(a) || subset.contains(b))
            && list.at_most.iter().all(|(m, group)| count(group) <= *m)
            && list.at_least.iter().all(|(m, group)| count(group) >= *m)
            && list
                .together
                .iter()
                .all(|group| group.windows(2).all(|w| subset.contains(w[0]) == subset.contains(w[1])))
            && list.budget.is_none_or(|b| within(subset.iter().map(|j| list.costs[j]).sum(), b))
    }

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
                size += self.units[u].features.len();
                cost += self.units[u].cost;
                for &needed in &self.units[u].needs {
                    decide(state, needed, Choice::In, Contradiction::Implication(u, needed))?;
                }
            }
            if state[u] == Choice::Out {
                for &by in &self.units[u].needed_by {
                    decide(state, by, Choice::Out, Contradiction::Implication(by, u))?;
                }
            }
        }
        // Implications may have added units after they were visited, so size and cost can lag by one pass: still valid.
        let (room, money) = (self.list.max_features.unwrap_or(self.p), self.list.budget.unwrap_or(f64::INFINITY));
        if size > room {
            return Err(Contradiction::Size(size));
        }
        if !within(cost, money) {
            return Err(Contradiction::Budget(cost));
        }
        if self.list.max_features.is_some() || self.list.budget.is_some() {
            for u in 0..self.units.len() {
                let unit = &self.units[u];
                if state[u] == Choice::Free && (size + unit.features.len() > room || !within(cost + unit.cost, money)) {
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

    /// A small subset inside `allowed` that satisfies every rule, if there is one. Exact: a depth-first search over the
    /// groups that still lack members, cheapest unit first.
    pub fn subset_within(&self, allowed: &Subset) -> Option<Subset> {
        let mut state = self.root.clone();
        for u in 0..self.units.len() {
            if self.units[u].features.iter().any(|&j| !allowed.contains(j)) {
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
        let key = |u: usize| (self.units[u].cost, self.units[u].features.len(), u);
        let unit = free.min_by(|&a, &b| key(a).partial_cmp(&key(b)).expect("costs are finite"))?;
        let mut with = state.clone();
        with[unit] = Choice::In;
        if let Some(found) = self.complete(with) {
            return Some(found);
        }
        state[unit] = Choice::Out;
        self.complete(state)
    }

    fn chosen(&self, state: &[Choice]) -> Subset {
        let units = state.iter().enumerate().filter(|(_, c)| **c == Choice::In);
        Subset::from_indices(self.p, units.flat_map(|(u, _)| self.units[u].features.iter().copied()))
    }

    /// The allowed subset with the largest total gain, and that total. `gains` has length p and may be negative.
    /// Features of gain 0 or less are only taken when a rule asks for them. Ties go to the smaller index.
    /// None when no subset satisfies the rules. Exact; with budgets or groups by branch and bound.
    pub fn best_subset(&self, gains: &[f64]) -> Option<(Subset, f64)> {
        assert_eq!(gains.len(), self.p, "one gain per feature");
        let unit_gain: Vec<f64> = self.units.iter().map(|u| u.features.iter().map(|&j| gains[j]).sum()).collect();
        let mut order: Vec<usize> = (0..self.units.len()).collect();
        order.sort_by(|&a, &b| unit_gain[b].total_cmp(&unit_gain[a]).then(a.cmp(&b)));
        let mut search = BestSubset { rules: self, gains: &unit_gain, order: &order, best: None };
        search.explore(self.root.clone(), 0);
        let (state, gain) = search.best?;
        Some((self.chosen(&state), gain))
    }

    /// The rules as linear rows over the features, for a MIP.
    pub fn rows(&self) -> Vec<LinearRow> {
        let list = &self.list;
        let mut rows = Vec::new();
        let sum = |features: &[usize], sign: f64| -> Vec<(usize, f64)> {
            let mut distinct = features.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.into_iter().map(|j| (j, sign)).collect()
        };
        let mut push = |coefficients: Vec<(usize, f64)>, upper: f64| rows.push(LinearRow { coefficients, upper });
        if let Some(k) = list.max_features {
            push((0..self.p).map(|j| (j, 1.0)).collect(), k as f64);
        }
        if let Some(budget) = list.budget {
            push(list.costs.iter().copied().enumerate().filter(|c| c.1 != 0.0).collect(), budget);
        }
        list.require.iter().for_each(|&j| push(vec![(j, -1.0)], -1.0));
        list.forbid.iter().for_each(|&j| push(vec![(j, 1.0)], 0.0));
        list.implies.iter().filter(|(a, b)| a != b).for_each(|&(a, b)| push(vec![(a, 1.0), (b, -1.0)], 0.0));
        list.at_most.iter().for_each(|(m, g)| push(sum(g, 1.0), *m as f64));
        list.at_least.iter().for_each(|(m, g)| push(sum(g, -1.0), -(*m as f64)));
        for group in &list.together {
            for w in group.windows(2).filter(|w| w[0] != w[1]) {
                push(vec![(w[0], 1.0), (w[1], -1.0)], 0.0);
                push(vec![(w[0], -1.0), (w[1], 1.0)], 0.0);
            }
        }
        rows
    }

    fn explain(&self, why: &Contradiction, name: &dyn Fn(usize) -> String) -> String {
        let first = |u: usize| name(self.units[u].features[0]);
        let forced = || {
            let mut state = self.root.clone();
            for u in 0..self.units.len() {
                if state[u] == Choice::In {
                    self.mark_needed(u, &mut state);
                }
            }
            let all: Vec<String> = self.chosen(&state).iter().map(name).collect();
            let shown = all.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            (all.len(), if all.len() > 5 { format!("{shown}, ...") } else { shown })
        };
        match why {
            Contradiction::Implication(a, b) => {
                format!("{} is in and implies {}, but that one is out; drop one of these rules", first(*a), first(*b))
            }
            Contradiction::Size(_) => {
                let (count, shown) = forced();
                let k = self.list.max_features.unwrap_or(self.p);
                format!(
                    "max-features is {k} but {count} features must be in ({shown}, with those they imply); allow at least {count}"
                )
            }
            Contradiction::Budget(cost) => {
                let budget = self.list.budget.unwrap_or(f64::INFINITY);
                format!(
                    "budget is {budget} but the features that must be in cost {cost} ({}); raise the budget or require less",
                    forced().1
                )
            }
            Contradiction::AtMost(at) => format!(
                "at most {} of {} may be in, but more are required (directly or through implications)",
                self.at_most[*at].count,
                self.group_names(&self.at_most[*at], name)
            ),
            Contradiction::AtLeast(at) => format!(
                "at least {} of {} must be in, but the other rules leave fewer",
                self.at_least[*at].count,
                self.group_names(&self.at_least[*at], name)
            ),
        }
    }

    fn mark_needed(&self, unit: usize, state: &mut [Choice]) {
        for &needed in &self.units[unit].needs {
            if state[needed] != Choice::In {
                state[needed] = Choice::In;
                self.mark_needed(needed, state);
            }
        }
    }

    fn group_names(&self, group: &Group, name: &dyn Fn(usize) -> String) -> String {
        let names: Vec<String> = group.members.iter().map(|m| name(self.units[m.0].features[0])).take(5).collect();
        format!("{{{}{}}}", names.join(", "), if group.members.len() > 5 { ", ..." } else { "" })
    }
}

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

impl Group {
    fn count_where(&self, state: &[Choice], is: impl Fn(Choice) -> bool) -> usize {
        self.members.iter().filter(|m| is(state[m.0])).map(|m| m.1).sum()
    }
}

/// Depth-first search for the best subset: units by falling gain, bounded by the best completion under the size rule
/// alone and under the budget alone (fractional knapsack).
struct BestSubset<'r> {
    rules: &'r Rules,
    gains: &'r [f64],
    order: &'r [usize],
    best: Option<(Vec<Choice>, f64)>,
}

impl BestSubset<'_> {
    fn explore(&mut self, mut state: Vec<Choice>, from: usize) {
        if self.rules.propagate(&mut state).is_err() {
            return;
        }
        let (greedy, bound) = self.bound(&state);
        if self.best.as_ref().is_some_and(|(_, best)| bound <= *best + 1e-12 * best.abs()) {
            return;
        }
        if self.rules.allows(&self.rules.chosen(&greedy)) {
            let gain = self.total(&greedy);
            if self.best.as_ref().is_none_or(|(_, best)| gain > *best) {
                self.best = Some((greedy, gain));
            }
            if bound <= gain {
                return;
            }
        }
        let Some(at) = (from..self.order.len()).find(|&at| state[self.order[at]] == Choice::Free) else { return };
        for choice in [Choice::In, Choice::Out] {
            let mut child = state.clone();
            child[self.order[at]] = choice;
            self.explore(child, at + 1);
        }
    }

    fn total(&self, state: &[Choice]) -> f64 {
        (0..state.len()).filter(|&u| state[u] == Choice::In).map(|u| self.gains[u]).sum()
    }

    /// The greedy completion (best gains that fit size and budget) and an upper bound on any completion.
    fn bound(&self, state: &[Choice]) -> (Vec<Choice>, f64) {
        let (rules, list) = (self.rules, &self.rules.list);
        let taken = |u: &usize| state[*u] == Choice::In;
        let fixed: f64 = self.total(state);
        let size: usize = (0..state.len()).filter(taken).map(|u| rules.units[u].features.len()).sum();
        let cost: f64 = (0..state.len()).filter(taken).map(|u| rules.units[u].cost).sum();
        let (mut room, mut money) =
            (list.max_features.unwrap_or(rules.p) - size, list.budget.unwrap_or(f64::INFINITY) - cost);
        let mut greedy = state.to_vec();
        let useful = || self.order.iter().copied().filter(|&u| state[u] == Choice::Free && self.gains[u] > 0.0);
        let by_size = fractional(useful(), |u| self.gains[u], |u| rules.units[u].features.len() as f64, room as f64);
        let by_cost = fractional(useful(), |u| self.gains[u], |u| rules.units[u].cost, money);
        for u in useful() {
            let unit = &rules.units[u];
            if unit.features.len() <= room && within(unit.cost, money) {
                room -= unit.features.len();
                money -= unit.cost;
                greedy[u] = Choice::In;
            }
        }
        for g in greedy.iter_mut().filter(|g| **g == Choice::Free) {
            *g = Choice::Out;
        }
        (greedy, fixed + by_size.min(by_cost))
    }
}

/// Optimum of the fractional knapsack: items by falling gain per weight until the room is used up.
fn fractional(
    items: impl Iterator<Item = usize>,
    gain: impl Fn(usize) -> f64,
    weight: impl Fn(usize) -> f64,
    room: f64,
) -> f64 {
    let mut items: Vec<(f64, f64)> = items.map(|u| (gain(u), weight(u))).collect();
    if room == f64::INFINITY {
        return items.iter().map(|i| i.0).sum();
    }
    items.sort_by(|a, b| (b.0 * a.1).total_cmp(&(a.0 * b.1)));
    let (mut left, mut sum) = (room + 1e-9 * room.abs().max(1.0), 0.0);
    for (gain, weight) in items {
        if weight <= left {
            left -= weight;
            sum += gain;
        } else {
            return sum + gain * (left / weight).max(0.0);
        }
    }
    sum
}

/// Not numbered yet.
const NEW: usize = usize::MAX;

/// Component number of each node, numbered by smallest member, of the strongly connected components (Tarjan 1972, iterative).
fn strongly_connected(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    if edges.is_empty() {
        return (0..nodes).collect();
    }
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for &(a, b) in edges {
        next[a].push(b);
    }
    let (mut index, mut low, mut on_stack) = (vec![NEW; nodes], vec![0; nodes], vec![false; nodes]);
    let (mut stack, mut leader, mut clock) = (Vec::new(), vec![NEW; nodes], 0);
    for root in 0..nodes {
        if index[root] != NEW {
            continue;
        }
        let mut path = vec![(root, 0)];
        while let Some(&mut (v, ref mut at)) = path.last_mut() {
            if *at == 0 {
                (index[v], low[v], on_stack[v]) = (clock, clock, true);
                clock += 1;
                stack.push(v);
            }
            if let Some(&w) = next[v].get(*at) {
                *at += 1;
                if index[w] == NEW {
                    path.push((w, 0));
                } else if on_stack[w] {
                    low[v] = low[v].min(index[w]);
                }
                continue;
            }
            if low[v] == index[v] {
                let first = stack.iter().rposition(|&w| w == v).expect("v is on the stack");
                let smallest = stack[first..].iter().copied().min().expect("not empty");
                for w in stack.drain(first..) {
                    on_stack[w] = false;
                    leader[w] = smallest;
                }
            }
            path.pop();
            if let Some(&mut (parent, _)) = path.last_mut() {
                low[parent] = low[parent].min(low[v]);
            }
        }
    }
    let mut number = vec![NEW; nodes];
    let mut count = 0;
    for v in 0..nodes {
        if leader[v] == v {
            number[v] = count;
            count += 1;
        }
    }
    (0..nodes).map(|v| number[leader[v]]).collect()
}
