//! Rules on the chosen features: size, budget, must-in, must-out, implications, groups. The only place constraints live.
//!
//! Features that imply each other (through `together` or a cycle of implications) are one *unit*: they are in or out
//! together. Elimination asks [`Rules::subset_within`], masters that sort ask [`Rules::best_subset`], trees ask
//! [`Rules::propagate`], and MIP masters read [`Rules::rows`]. Contradictions are found in [`Rules::new`].

mod units;

use std::collections::HashMap;

use crate::{Error, Subset};
use units::Units;

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
    units: Units,
    at_most: Vec<Group>,
    at_least: Vec<Group>,
    /// Decisions that follow from the rules alone, by unit.
    root: Vec<Choice>,
}

/// With more rules than this a contradiction between several of them is not traced to the fewest that make it.
const CONFLICT_RULES: usize = 200;

/// `{a, b, ...}` with at most five names.
fn listed(features: &[usize], name: &dyn Fn(usize) -> String) -> String {
    let names: Vec<String> = features.iter().take(5).map(|&j| name(j)).collect();
    format!("{{{}{}}}", names.join(", "), if features.len() > 5 { ", ..." } else { "" })
}

/// Room for rounding when costs are summed against a budget.
fn within(cost: f64, budget: f64) -> bool {
    cost <= budget + BUDGET_SLACK * budget.abs().max(1.0)
}

/// The share of a budget (or of 1, if that is more) by which a sum of costs may exceed it through rounding.
const BUDGET_SLACK: f64 = 1e-9;

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
        let list = RuleList::default();
        let root = vec![Choice::Free; p];
        Self { p, list, units: Units::single(p), at_most: vec![], at_least: vec![], root }
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
                return fail(format!(
                    "at least {m} of {} must be in, but the group has {}; name more features or lower the count",
                    listed(&distinct, &name),
                    distinct.len()
                ));
            }
        }

        let mut rules = Self::compile(p, list);
        for (want, other, listed) in [
            (Choice::In, Choice::Out, rules.list.require.clone()),
            (Choice::Out, Choice::In, rules.list.forbid.clone()),
        ] {
            for j in listed {
                let unit = rules.units.of(j);
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
            return fail(rules.conflict(&name));
        }
        Ok(rules)
    }

    /// Names rules that contradict each other although no single one does: each rule in turn is left out for good when the
    /// others still contradict each other without it, so that every rule named is needed for the contradiction.
    fn conflict(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut list = self.list.clone();
        let count = list.require.len() + list.forbid.len() + list.implies.len() + list.together.len();
        if count + list.at_most.len() + list.at_least.len() > CONFLICT_RULES {
            return "the rules contradict each other: no subset satisfies them all; leave one out".to_owned();
        }
        let contradictory = |list: &RuleList| !Self::satisfiable(self.p, list.clone());
        let without = |list: &mut RuleList, drop: &dyn Fn(&mut RuleList)| {
            let mut fewer = list.clone();
            drop(&mut fewer);
            let dropped = contradictory(&fewer);
            if dropped {
                *list = fewer;
            }
            dropped
        };
        without(&mut list, &|l| l.max_features = None);
        without(&mut list, &|l| l.budget = None);
        macro_rules! thin {
            ($field:ident) => {
                let mut at = 0;
                while at < list.$field.len() {
                    if !without(&mut list, &|l| _ = l.$field.remove(at)) {
                        at += 1;
                    }
                }
            };
        }
        thin!(forbid);
        thin!(require);
        thin!(implies);
        thin!(together);
        thin!(at_most);
        thin!(at_least);
        let mut said = Vec::new();
        said.extend(list.max_features.map(|k| format!("max-features {k}")));
        said.extend(list.budget.map(|b| format!("budget {b}")));
        said.extend(list.require.iter().map(|&j| format!("require {}", name(j))));
        said.extend(list.forbid.iter().map(|&j| format!("forbid {}", name(j))));
        said.extend(list.implies.iter().map(|&(a, b)| format!("{} implies {}", name(a), name(b))));
        said.extend(list.together.iter().map(|g| format!("{} together", listed(g, name))));
        said.extend(list.at_most.iter().map(|(m, g)| format!("at most {m} of {}", listed(g, name))));
        said.extend(list.at_least.iter().map(|(m, g)| format!("at least {m} of {}", listed(g, name))));
        format!("these rules contradict each other: {}; no subset satisfies them all, leave one out", said.join("; "))
    }

    /// Whether some subset satisfies well-formed rules.
    fn satisfiable(p: usize, list: RuleList) -> bool {
        let mut rules = Self::compile(p, list);
        for (choice, features) in [(Choice::In, &rules.list.require), (Choice::Out, &rules.list.forbid)] {
            for unit in features.iter().map(|&j| rules.units.of(j)) {
                if rules.root[unit] != Choice::Free && rules.root[unit] != choice {
                    return false;
                }
                rules.root[unit] = choice;
            }
        }
        rules.subset_within(&Subset::full(p)).is_some()
    }

    /// Units (strongly connected implications), groups over units; nothing decided yet.
    fn compile(p: usize, list: RuleList) -> Self {
        let mut edges: Vec<(usize, usize)> = list.implies.clone();
        for group in &list.together {
            edges.extend(group.windows(2).flat_map(|w| [(w[0], w[1]), (w[1], w[0])]));
        }
        let units = Units::new(p, &edges, &list.costs);
        let group = |(count, features): &(usize, Vec<usize>)| {
            let mut distinct = features.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let mut members: Vec<(usize, usize)> = Vec::new();
            for u in distinct.into_iter().map(|j| units.of(j)) {
                match members.iter_mut().find(|m| m.0 == u) {
                    Some(member) => member.1 += 1,
                    None => members.push((u, 1)),
                }
            }
            Group { count: *count, members }
        };
        let (at_most, at_least) = (list.at_most.iter().map(group).collect(), list.at_least.iter().map(group).collect());
        let root = vec![Choice::Free; units.len()];
        Self { p, list, units, at_most, at_least, root }
    }

    /// Most features a subset may have by the size rule; all p without one.
    pub fn most_features(&self) -> usize {
        self.list.max_features.unwrap_or(self.p)
    }

    /// Number of features p.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Whether the rules are for this many features.
    ///
    /// # Errors
    /// [`Error::Rules`] with both numbers.
    pub(crate) fn check_features(&self, p: usize) -> Result<(), Error> {
        if self.p == p {
            return Ok(());
        }
        Err(Error::Rules(format!("the rules are for {} features, but the data have {p}", self.p)))
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
        self.units.features(unit)
    }

    /// The unit that holds feature j.
    pub fn unit_of(&self, j: usize) -> usize {
        self.units.of(j)
    }

    /// Units that must leave before this one may (they imply it).
    pub fn needed_by(&self, unit: usize) -> &[usize] {
        self.units.needed_by(unit)
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
                let (more, price) = (self.units.size(u), self.units.cost(u));
                if state[u] == Choice::Free && (size + more > room || !within(cost + price, money)) {
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

    fn chosen(&self, state: &[Choice]) -> Subset {
        let units = state.iter().enumerate().filter(|(_, c)| **c == Choice::In);
        Subset::from_indices(self.p, units.flat_map(|(u, _)| self.units.features(u).iter().copied()))
    }

    /// The allowed subset with the largest total gain, and that total. `gains` has length p and may be negative.
    /// Features of gain 0 or less are only taken when a rule asks for them. Ties go to the smaller index.
    /// None when no subset satisfies the rules. Exact; with budgets or groups by branch and bound.
    pub fn best_subset(&self, gains: &[f64]) -> Option<(Subset, f64)> {
        self.good_subset(gains, 1e-12)
    }

    /// As [`Rules::best_subset`], but no allowed subset gains more than `(1 + slack)` times what is returned: where a budget
    /// makes the search long, a little slack makes it short. Slack is 0 or more.
    pub fn good_subset(&self, gains: &[f64], slack: f64) -> Option<(Subset, f64)> {
        assert_eq!(gains.len(), self.p, "one gain per feature");
        let unit_gain: Vec<f64> =
            (0..self.units.len()).map(|u| self.units.features(u).iter().map(|&j| gains[j]).sum()).collect();
        let mut search = BestSubset::new(self, &unit_gain, slack);
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
        let first = |u: usize| name(self.units.features(u)[0]);
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
                listed(&self.list.at_most[*at].1, name)
            ),
            Contradiction::AtLeast(at) => format!(
                "at least {} of {} must be in, but the other rules leave fewer",
                self.at_least[*at].count,
                listed(&self.list.at_least[*at].1, name)
            ),
        }
    }

    fn mark_needed(&self, unit: usize, state: &mut [Choice]) {
        for &needed in self.units.needs(unit) {
            if state[needed] != Choice::In {
                state[needed] = Choice::In;
                self.mark_needed(needed, state);
            }
        }
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

/// Depth-first search for the best subset, bounded by the best completion under the size rule alone and under the budget
/// alone (fractional knapsacks, both capped by disjoint at-most groups).
struct BestSubset<'r> {
    rules: &'r Rules,
    gains: &'r [f64],
    /// Units by falling gain, and by falling gain per cost.
    by_gain: Vec<usize>,
    by_density: Vec<usize>,
    /// At-most groups each unit is in, with the number of its features there.
    in_at_most: Vec<Vec<(usize, usize)>>,
    /// Units of equal kind are in the same groups with the same counts, and imply and are implied by nothing.
    kind: Vec<Option<usize>>,
    /// By unit, the at-most group that caps it in the size bound and in the cost bound: groups without a common unit whose
    /// units all have the same size, or cost, so that an optimal completion takes the best of them.
    size_cap: Vec<Option<usize>>,
    cost_cap: Vec<Option<usize>>,
    /// What may gain no more than this share above the best is left out.
    slack: f64,
    best: Option<(Vec<Choice>, f64)>,
}

impl<'r> BestSubset<'r> {
    fn new(rules: &'r Rules, gains: &'r [f64], slack: f64) -> Self {
        let units = &rules.units;
        let mut by_gain: Vec<usize> = (0..units.len()).collect();
        by_gain.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]).then(a.cmp(&b)));
        let mut by_density = by_gain.clone();
        if rules.list.budget.is_some() {
            // Useless units last, free ones first; the sort is stable, so equal densities stay in order of gain.
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
        Self { rules, gains, by_gain, by_density, in_at_most, kind, size_cap, cost_cap, slack, best: None }
    }

    fn explore(&mut self, mut state: Vec<Choice>, mut from: usize) {
        loop {
            if self.rules.propagate(&mut state).is_err() {
                return;
            }
            let bound = self.bound(&state);
            if self.best.as_ref().is_some_and(|(_, best)| bound <= *best + self.slack * best.abs()) {
                return;
            }
            self.try_greedy(&state);
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

    /// With `unit` out, a unit of the same kind that gains no more and is no smaller and no cheaper may be left out too:
    /// exchanging it for `unit` would be allowed and no worse, and that was searched before.
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
    fn useful<'s>(&'s self, state: &'s [Choice], order: &'s [usize]) -> impl Iterator<Item = usize> + 's {
        order.iter().copied().filter(|&u| state[u] == Choice::Free && self.gains[u] > 0.0)
    }

    /// Size and cost that the decisions leave.
    fn room(&self, state: &[Choice]) -> (usize, f64) {
        let (rules, list) = (self.rules, &self.rules.list);
        let taken = || (0..state.len()).filter(|&u| state[u] == Choice::In);
        let size: usize = taken().map(|u| rules.units.size(u)).sum();
        let cost: f64 = taken().map(|u| rules.units.cost(u)).sum();
        (list.max_features.unwrap_or(rules.p) - size, list.budget.unwrap_or(f64::INFINITY) - cost)
    }

    /// Completes `state` by taking what fits, best gain first and best gain per cost first; keeps the better if allowed.
    fn try_greedy(&mut self, state: &[Choice]) {
        let orders = if self.rules.list.budget.is_some() { 2 } else { 1 };
        for order in [&self.by_gain, &self.by_density].into_iter().take(orders) {
            let (mut room, mut money) = self.room(state);
            let mut left: Vec<usize> = self.caps_left(state);
            let mut greedy = state.to_vec();
            for u in self.useful(state, order) {
                let units = &self.rules.units;
                let fits = units.size(u) <= room
                    && within(units.cost(u), money)
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
        let mut bound = fractional(&by_size, |u| self.gains[u], |u| units.size(u) as f64, room as f64, 0.0);
        if money.is_finite() {
            let slack = BUDGET_SLACK * self.rules.list.budget.unwrap_or(0.0).max(1.0);
            let by_cost = capped(&self.cost_cap, &self.by_density);
            bound = bound.min(fractional(&by_cost, |u| self.gains[u], |u| units.cost(u), money, slack));
        }
        self.total(state) + bound
    }
}

/// Optimum of the fractional knapsack: items, sorted by falling gain per weight, until room and slack are used up.
fn fractional(
    items: &[usize],
    gain: impl Fn(usize) -> f64,
    weight: impl Fn(usize) -> f64,
    room: f64,
    slack: f64,
) -> f64 {
    let (mut left, mut sum) = (room + slack, 0.0);
    for &u in items {
        if weight(u) > left {
            return sum + gain(u) * (left / weight(u)).max(0.0);
        }
        left -= weight(u);
        sum += gain(u);
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
