//! The rules of a claim as rows over units, and what follows from decisions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use serde::Deserialize;

use crate::file::Checked;
use crate::rounding::{add_down, mul_down, mul_up};

/// The rules as the header states them; features count from 0.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RuleList {
    max_features: Option<usize>,
    require: Vec<usize>,
    forbid: Vec<usize>,
    implies: Vec<(usize, usize)>,
    at_most: Vec<(usize, Vec<usize>)>,
    at_least: Vec<(usize, Vec<usize>)>,
    together: Vec<Vec<usize>>,
    budget: Option<f64>,
    costs: Vec<f64>,
    pub(crate) weights: Vec<WeightRange>,
}

/// Bounds on the weight of a feature; without one of them there is none on that side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeightRange {
    pub(crate) feature: usize,
    #[serde(default)]
    pub(crate) lower: Option<f64>,
    #[serde(default)]
    pub(crate) upper: Option<f64>,
}

/// What is decided of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Free,
    /// All of its features are in.
    In,
    /// All of its features are out.
    Out,
}

/// Units that are in `Choice`.
pub(crate) type Decisions = Vec<(usize, Choice)>;

/// `sum a_u z_u <= most` over units.
struct Row {
    most: f64,
    /// (unit, `a_u`), largest `|a_u|` first.
    terms: Vec<(usize, f64)>,
    /// The smallest value of the sum.
    least: f64,
}

/// Decisions on all units, closed under the rules.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) choice: Vec<Choice>,
    /// By row: the smallest value that its sum can still have.
    least: Vec<f64>,
}

/// Rules made ready to draw conclusions.
pub(crate) struct Rules {
    /// Features of each unit, ascending, and the unit of each feature.
    pub(crate) units: Vec<Vec<usize>>,
    pub(crate) unit_of: Vec<usize>,
    /// K: no allowed subset has more features.
    pub(crate) most: usize,
    /// How many numbers of rows there are for prices in points; a row on K follows.
    pub(crate) priced: usize,
    rows: Vec<Row>,
    /// The row of each number: implications between the same units are one.
    row_of: Vec<u32>,
    /// By unit: its rows and the terms in them.
    terms: Vec<Vec<(usize, f64)>>,
    /// What is required and forbidden.
    pub(crate) listed: Decisions,
}

impl Rules {
    /// The rules for p features.
    pub(crate) fn new(p: usize, mut list: RuleList) -> Checked<Self> {
        let groups = list.at_most.iter_mut().chain(&mut list.at_least).map(|group| &mut group.1);
        groups.for_each(|group| {
            group.sort_unstable();
            group.dedup();
        });
        let mut edges = list.implies.clone();
        for group in &list.together {
            edges.extend(group.windows(2).flat_map(|w| [(w[0], w[1]), (w[1], w[0])]));
        }
        let groups = list.at_most.iter().chain(&list.at_least).map(|group| &group.1).chain(&list.together);
        let single = groups.flatten().chain(&list.require).chain(&list.forbid).copied();
        if let Some(j) = single.chain(edges.iter().flat_map(|&(a, b)| [a, b])).find(|&j| j >= p) {
            return Err(format!("a rule names feature {j} of {p}"));
        }
        let number = |x: &f64| *x >= 0.0 && x.is_finite();
        let priced = list.budget.is_none() || list.costs.len() == p;
        if !(priced && list.budget.iter().chain(&list.costs).all(number)) {
            return Err("the budget or a cost is not a number of 0 or more, or costs are missing".to_owned());
        }
        let (unit_of, units) = components(p, &edges);
        let (rows, terms, listed) = (Vec::new(), vec![Vec::new(); units.len()], Vec::new());
        let mut rules = Self { units, unit_of, most: p, priced: 0, rows, row_of: Vec::new(), terms, listed };
        if let Some(k) = list.max_features {
            rules.most = k.min(p);
            rules.push(k as f64, (0..p).map(|j| (j, 1.0)));
        }
        if let Some(budget) = list.budget {
            let most = mul_up(budget, (1.0f64 + 1e-9).next_up());
            rules.push(most, list.costs.iter().copied().enumerate());
            let (mut costs, mut sum) = (list.costs, 0.0);
            costs.sort_unstable_by(f64::total_cmp);
            let fits = costs.iter().take_while(|cost| {
                sum = add_down(sum, **cost);
                sum <= most
            });
            rules.most = rules.most.min(fits.count());
        }
        let mut seen = HashMap::new();
        for &(a, b) in &list.implies {
            let units = (rules.unit_of[a], rules.unit_of[b]);
            // Within a unit it says nothing.
            match seen.entry(if units.0 == units.1 { (0, 0) } else { units }) {
                Entry::Occupied(row) => rules.row_of.push(*row.get()),
                Entry::Vacant(place) => {
                    place.insert(rules.rows.len() as u32);
                    rules.push(0.0, [(a, 1.0), (b, -1.0)].into_iter().filter(|_| units.0 != units.1));
                }
            }
        }
        for (m, group) in &list.at_most {
            rules.push(*m as f64, group.iter().map(|&j| (j, 1.0)));
            rules.most = if group.len() == p { rules.most.min(*m) } else { rules.most };
        }
        list.at_least.iter().for_each(|(m, group)| rules.push(-(*m as f64), group.iter().map(|&j| (j, -1.0))));
        rules.priced = rules.row_of.len();
        rules.push(rules.most as f64, (0..p).map(|j| (j, 1.0)));
        let unit = |j: usize, choice| (rules.unit_of[j], choice);
        let inside = list.require.iter().map(|&j| unit(j, Choice::In));
        rules.listed = inside.chain(list.forbid.iter().map(|&j| unit(j, Choice::Out))).collect();
        Ok(rules)
    }

    /// Adds a row over features; sums of costs are rounded down.
    fn push(&mut self, most: f64, features: impl Iterator<Item = (usize, f64)>) {
        let (at, mut touched) = (self.rows.len(), Vec::new());
        for (u, a) in features.map(|(j, a)| (self.unit_of[j], a)) {
            if let Some(last) = self.terms[u].last_mut().filter(|last| last.0 == at) {
                last.1 = add_down(last.1, a);
            } else {
                self.terms[u].push((at, a));
                touched.push(u);
            }
        }
        let mut terms: Vec<(usize, f64)> =
            touched.iter().map(|&u| (u, self.terms[u][self.terms[u].len() - 1].1)).collect();
        terms.sort_unstable_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        let least = terms.iter().fold(0.0, |sum, term| add_down(sum, term.1.min(0.0)));
        self.row_of.push(at as u32);
        self.rows.push(Row { most, terms, least });
    }

    /// Units and rows: what a record on a box looks at.
    pub(crate) fn size(&self) -> u64 {
        (self.units.len() + self.rows.len()) as u64
    }

    /// Bytes of units, rows, their terms and numbers.
    pub(crate) fn bytes(&self) -> u64 {
        let terms: usize = self.rows.iter().map(|row| row.terms.len()).sum();
        let (of_unit, of_row) = (2 * size_of::<Vec<usize>>() + 16, size_of::<Row>() + 16);
        (of_unit * self.units.len() + of_row * self.rows.len() + 32 * terms + 4 * self.row_of.len()) as u64
    }

    /// Right side and terms of each row.
    pub(crate) fn rows(&self) -> Vec<(f64, &[(usize, f64)])> {
        self.rows.iter().map(|row| (row.most, &row.terms[..])).collect()
    }

    /// What the rules alone decide; none where they allow nothing.
    pub(crate) fn root(&self) -> Option<State> {
        let mut state = self.free();
        let all = (0..self.rows.len()).collect();
        self.follow(&mut state, self.listed.clone(), all).then_some(state)
    }

    /// The state with more decisions and all that follows from them; none where that leaves no
    /// allowed subset.
    pub(crate) fn decide(&self, state: &State, decisions: Decisions) -> Option<State> {
        let mut state = state.clone();
        self.follow(&mut state, decisions, Vec::new()).then_some(state)
    }

    /// The state of these decisions, nothing being decided yet.
    pub(crate) fn state(&self, choice: &[Choice]) -> State {
        let mut state = self.free();
        let decided = choice.iter().enumerate().filter(|(_, choice)| **choice != Choice::Free);
        decided.for_each(|(u, &choice)| self.enter(&mut state, u, choice, &mut Vec::new()));
        state
    }

    /// Nothing decided.
    fn free(&self) -> State {
        let least = self.rows.iter().map(|row| row.least).collect();
        State { choice: vec![Choice::Free; self.units.len()], least }
    }

    /// Decides a unit and counts it in its rows.
    fn enter(&self, state: &mut State, u: usize, choice: Choice, touched: &mut Vec<usize>) {
        state.choice[u] = choice;
        let dear = |a: f64| if choice == Choice::In { a > 0.0 } else { a < 0.0 };
        for &(r, a) in self.terms[u].iter().filter(|term| dear(term.1)) {
            state.least[r] = add_down(state.least[r], a.abs());
            touched.push(r);
        }
    }

    fn follow(&self, state: &mut State, mut decisions: Decisions, mut touched: Vec<usize>) -> bool {
        // By row: how many of its terms, from the largest on, were found not to fit.
        let mut passed = vec![0; self.rows.len()];
        loop {
            while let Some((u, choice)) = decisions.pop() {
                if state.choice[u] == choice {
                    continue;
                }
                if state.choice[u] != Choice::Free {
                    return false;
                }
                self.enter(state, u, choice, &mut touched);
            }
            let Some(r) = touched.pop() else { return true };
            let (row, least) = (&self.rows[r], state.least[r]);
            if least > row.most {
                return false;
            }
            for &(u, a) in &row.terms[passed[r]..] {
                if add_down(least, a.abs()) <= row.most {
                    break;
                }
                passed[r] += 1;
                if state.choice[u] == Choice::Free {
                    decisions.push((u, if a > 0.0 { Choice::Out } else { Choice::In }));
                }
            }
        }
    }

    /// The most free units that may still come in: no row leaves room for more.
    pub(crate) fn slots(&self, state: &State) -> usize {
        let free = state.choice.iter().filter(|choice| **choice == Choice::Free).count();
        let of_row = |(row, least): (&Row, &f64)| {
            // Terms of 0 or less take no room: `least` has counted them.
            let dear = || row.terms.iter().filter(|term| term.1 > 0.0 && state.choice[term.0] == Choice::Free);
            let mut costs: Vec<f64> = dear().map(|term| term.1).collect();
            costs.sort_unstable_by(f64::total_cmp);
            let mut sum = *least;
            let fits = costs.iter().take_while(|cost| {
                sum = add_down(sum, **cost);
                sum <= row.most
            });
            free - costs.len() + fits.count()
        };
        self.rows.iter().zip(&state.least).map(of_row).min().unwrap_or(free)
    }

    /// Whether this subset obeys every rule.
    pub(crate) fn allows(&self, root: &State, subset: &[usize]) -> bool {
        let mut inside = vec![Choice::Out; self.unit_of.len()];
        for &j in subset {
            inside[j] = Choice::In;
        }
        let together = |unit: &Vec<usize>| unit.iter().all(|&j| inside[j] == inside[unit[0]]);
        let decisions = || self.units.iter().enumerate().map(|(u, unit)| (u, inside[unit[0]])).collect();
        self.units.iter().all(together) && self.decide(root, decisions()).is_some()
    }

    /// Adds price times the terms of a row to `out` (one for each unit), not above it; returns
    /// price times its right side, not below it.
    pub(crate) fn add_row(&self, row: usize, price: f64, out: &mut [f64]) -> f64 {
        let row = &self.rows[self.row_of[row] as usize];
        row.terms.iter().for_each(|&(u, a)| out[u] = add_down(out[u], mul_down(price, a)));
        mul_up(price, row.most)
    }
}

/// Strongly connected components of a graph on 0 to p - 1: the component of each vertex, and the
/// vertices of each component, ascending (Kosaraju and Sharir: a depth-first search backwards, in
/// the opposite of the order in which a first one left the vertices).
fn components(p: usize, edges: &[(usize, usize)]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let (mut next, mut back) = (vec![Vec::new(); p], vec![Vec::new(); p]);
    for &(a, b) in edges {
        next[a].push(b);
        back[b].push(a);
    }
    let (mut left, mut seen) = (Vec::with_capacity(p), vec![false; p]);
    for start in 0..p {
        let mut stack = vec![(start, 0)];
        while let Some((v, at)) = stack.pop() {
            if at == 0 && std::mem::replace(&mut seen[v], true) {
                continue;
            }
            match next[v].get(at) {
                Some(&w) => stack.extend([(v, at + 1), (w, 0)]),
                None => left.push(v),
            }
        }
    }
    let (mut of, mut count) = (vec![usize::MAX; p], 0);
    for &start in left.iter().rev() {
        if of[start] != usize::MAX {
            continue;
        }
        let mut stack = vec![start];
        while let Some(v) = stack.pop() {
            if of[v] == usize::MAX {
                of[v] = count;
                stack.extend(&back[v]);
            }
        }
        count += 1;
    }
    let mut found = vec![Vec::new(); count];
    (0..p).for_each(|v| found[of[v]].push(v));
    (of, found)
}
