//! The rules of a claim as rows over units, and what follows from decisions.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use crate::file::Checked;
use crate::form::objects;
use crate::rounding::{add_down, mul_down, mul_up, sum_exceeds};

/// What a budget is multiplied by.
const SLACK: f64 = 1.0 + 1e-9;

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
    #[serde(deserialize_with = "objects")]
    pub(crate) weights: Vec<WeightRange>,
}

/// Bounds on the weight of a feature; without one of them there is none on that side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WeightRange {
    pub(crate) feature: usize,
    pub(crate) lower: Option<f64>,
    pub(crate) upper: Option<f64>,
}

impl RuleList {
    /// Whether all features are below p, and budget and costs are in range.
    fn fits(&self, p: usize) -> Checked<()> {
        let groups = self.at_most.iter().chain(&self.at_least).map(|group| &group.1).chain(&self.together);
        let ends = self.implies.iter().flat_map(|&(a, b)| [a, b]);
        let named = groups.flatten().chain(&self.require).chain(&self.forbid).copied();
        if let Some(j) = named.chain(ends).find(|j| *j >= p) {
            return Err(format!("a rule names feature {j} of {p}"));
        }
        let in_range = |x: &f64| *x >= 0.0 && (*x * SLACK).is_finite();
        let complete = self.costs.len() == p || (self.budget.is_none() && self.costs.is_empty());
        if !(complete && self.budget.iter().chain(&self.costs).all(in_range)) {
            return Err(
                "the budget or a cost is not a number of 0 or more, or costs are not as many as features".to_owned()
            );
        }
        Ok(())
    }
}

/// Decision on a unit.
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
    /// How many units are free.
    pub(crate) free: usize,
    /// The smallest value that the sum of each row can still have.
    least: Vec<f64>,
}

impl State {
    /// The units of this choice, ascending.
    pub(crate) fn units(&self, wanted: Choice) -> impl Iterator<Item = usize> {
        self.choice.iter().enumerate().filter(move |(_, choice)| **choice == wanted).map(|(u, _)| u)
    }

    /// The units in, and the free ones: all that an open box keeps of its state.
    pub(crate) fn packed(&self) -> [Box<[u32]>; 2] {
        [Choice::In, Choice::Free].map(|choice| self.units(choice).map(|u| u as u32).collect())
    }
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
    /// The rows of each unit and the unit's terms in them.
    terms: Vec<Vec<(usize, f64)>>,
    /// What is required and forbidden.
    pub(crate) listed: Decisions,
    /// What features cost, and the most that they may cost in all.
    budget: Option<(Vec<f64>, f64)>,
}

impl Rules {
    /// The rules for p features.
    pub(crate) fn new(p: usize, mut list: RuleList) -> Checked<Self> {
        list.fits(p)?;
        for (_, group) in list.at_most.iter_mut().chain(&mut list.at_least) {
            group.sort_unstable();
            group.dedup();
        }
        let circles =
            list.together.iter().flat_map(|group| group.windows(2).flat_map(|w| [(w[0], w[1]), (w[1], w[0])]));
        let (unit_of, units) = components(p, list.implies.iter().copied().chain(circles));
        let inside = list.require.iter().map(|&j| (unit_of[j], Choice::In));
        let listed = inside.chain(list.forbid.iter().map(|&j| (unit_of[j], Choice::Out))).collect();
        let (rows, row_of, terms) = (Vec::new(), Vec::new(), vec![Vec::new(); units.len()]);
        let mut rules = Self { units, unit_of, most: p, priced: 0, rows, row_of, terms, listed, budget: None };
        if let Some(k) = list.max_features {
            rules.most = k.min(p);
            rules.push(k as f64, (0..p).map(|j| (j, 1.0)));
        }
        if let Some(budget) = list.budget {
            // One product of doubles, as docs/formats/proof.md has it.
            let most = budget * SLACK;
            rules.push(most, list.costs.iter().copied().enumerate());
            rules.most = rules.most.min(fitting(0.0, list.costs.clone(), most));
            rules.budget = Some((list.costs, most));
        }
        // Within a unit an implication says nothing: all of these are one row of no terms.
        let mut seen: HashMap<Option<(usize, usize)>, u32> = HashMap::new();
        for &(a, b) in &list.implies {
            let ends = (rules.unit_of[a], rules.unit_of[b]);
            let ends = (ends.0 != ends.1).then_some(ends);
            if let Some(row) = seen.get(&ends) {
                rules.row_of.push(*row);
            } else {
                seen.insert(ends, rules.rows.len() as u32);
                rules.push(0.0, ends.iter().flat_map(|_| [(a, 1.0), (b, -1.0)]));
            }
        }
        for (m, group) in &list.at_most {
            rules.push(*m as f64, group.iter().map(|&j| (j, 1.0)));
            rules.most = if group.len() == p { rules.most.min(*m) } else { rules.most };
        }
        list.at_least.iter().for_each(|(m, group)| rules.push(-(*m as f64), group.iter().map(|&j| (j, -1.0))));
        rules.priced = rules.row_of.len();
        rules.push(rules.most as f64, (0..p).map(|j| (j, 1.0)));
        Ok(rules)
    }

    /// Adds a row over features; sums of costs are rounded down.
    fn push(&mut self, most: f64, features: impl Iterator<Item = (usize, f64)>) {
        let mut of_unit = BTreeMap::new();
        for (j, a) in features {
            let sum = of_unit.entry(self.unit_of[j]).or_insert(0.0);
            *sum = add_down(*sum, a);
        }
        let mut terms: Vec<(usize, f64)> = of_unit.into_iter().collect();
        terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        for &(u, a) in &terms {
            self.terms[u].push((self.rows.len(), a));
        }
        let least = terms.iter().fold(0.0, |sum, term| add_down(sum, term.1.min(0.0)));
        self.row_of.push(self.rows.len() as u32);
        self.rows.push(Row { most, terms, least });
    }

    /// Units and rows: what a record on a box examines.
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

    /// The features of some units, ascending.
    pub(crate) fn features(&self, units: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut features: Vec<usize> = units.flat_map(|u| self.units[u].iter().copied()).collect();
        features.sort_unstable();
        features
    }

    /// What the rules alone decide; none where they allow nothing.
    pub(crate) fn root(&self) -> Option<State> {
        let free = self.unpacked(&[Box::default(), (0..self.units.len() as u32).collect()]);
        self.follow(free, self.listed.clone(), (0..self.rows.len()).collect())
    }

    /// The state with more decisions and all that follows from them; none where that leaves no
    /// allowed subset.
    pub(crate) fn decide(&self, state: &State, decisions: Decisions) -> Option<State> {
        self.follow(state.clone(), decisions, Vec::new())
    }

    /// The state that was packed.
    pub(crate) fn unpacked(&self, [inside, free]: &[Box<[u32]>; 2]) -> State {
        let mut choice = vec![Choice::Out; self.units.len()];
        inside.iter().for_each(|&u| choice[u as usize] = Choice::In);
        free.iter().for_each(|&u| choice[u as usize] = Choice::Free);
        let least = self.rows.iter().map(|row| row.least).collect();
        let mut state = State { choice, free: free.len(), least };
        (0..self.units.len()).for_each(|u| self.enter(&mut state, u, &mut Vec::new()));
        state
    }

    /// Counts what is decided of a unit in its rows.
    fn enter(&self, state: &mut State, u: usize, touched: &mut Vec<usize>) {
        let dear = |a: f64| match state.choice[u] {
            Choice::In => a > 0.0,
            Choice::Out => a < 0.0,
            Choice::Free => false,
        };
        for &(r, a) in self.terms[u].iter().filter(|term| dear(term.1)) {
            state.least[r] = add_down(state.least[r], a.abs());
            touched.push(r);
        }
    }

    /// Takes decisions and draws conclusions from rows touched, until nothing follows.
    fn follow(&self, mut state: State, mut decisions: Decisions, mut touched: Vec<usize>) -> Option<State> {
        // By row: how many of its terms, from the largest on, were found not to fit.
        let mut passed = vec![0; self.rows.len()];
        loop {
            while let Some((u, choice)) = decisions.pop() {
                if state.choice[u] == Choice::Free {
                    state.choice[u] = choice;
                    state.free -= 1;
                    self.enter(&mut state, u, &mut touched);
                } else if state.choice[u] != choice {
                    return None;
                }
            }
            let Some(r) = touched.pop() else { return Some(state) };
            let (row, least) = (&self.rows[r], state.least[r]);
            if least > row.most {
                return None;
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
        let of_row = |(row, least): (&Row, &f64)| {
            // Terms of 0 or less take no room: `least` has counted them.
            let dear = row.terms.iter().filter(|term| term.1 > 0.0 && state.choice[term.0] == Choice::Free);
            let costs: Vec<f64> = dear.map(|term| term.1).collect();
            state.free - costs.len() + fitting(*least, costs, row.most)
        };
        self.rows.iter().zip(&state.least).map(of_row).min().unwrap_or(state.free)
    }

    /// Whether this subset obeys every rule, decided by these alone.
    pub(crate) fn allows(&self, root: &State, subset: &[usize]) -> bool {
        let mut choice = vec![Choice::Out; self.units.len()];
        for &j in subset {
            choice[self.unit_of[j]] = Choice::In;
        }
        if self.budget.as_ref().is_some_and(|(costs, most)| sum_exceeds(subset.iter().map(|&j| costs[j]), *most)) {
            return false;
        }
        let inside = (0..choice.len()).filter(|&u| choice[u] == Choice::In);
        let whole = inside.map(|u| self.units[u].len()).sum::<usize>() == subset.len();
        whole && self.decide(root, choice.into_iter().enumerate().collect()).is_some()
    }

    /// Adds price times the terms of a row to `out` (one for each unit), not above it; returns
    /// price times its right side, not below it.
    pub(crate) fn add_row(&self, row: usize, price: f64, out: &mut [f64]) -> f64 {
        let row = &self.rows[self.row_of[row] as usize];
        row.terms.iter().for_each(|&(u, a)| out[u] = add_down(out[u], mul_down(price, a)));
        mul_up(price, row.most)
    }
}

/// How many of the smallest costs fit beside a sum; sums are rounded down.
fn fitting(mut sum: f64, mut costs: Vec<f64>, most: f64) -> usize {
    costs.sort_unstable_by(f64::total_cmp);
    let fits = |cost: &&f64| {
        sum = add_down(sum, **cost);
        sum <= most
    };
    costs.iter().take_while(fits).count()
}

/// Strongly connected components of a graph on 0 to p - 1: the component of each vertex, and the
/// vertices of each component, ascending (Kosaraju and Sharir: a depth-first search backwards, in
/// the opposite of the order in which a first one left the vertices).
fn components(p: usize, edges: impl Iterator<Item = (usize, usize)>) -> (Vec<usize>, Vec<Vec<usize>>) {
    let (mut next, mut back) = (vec![Vec::new(); p], vec![Vec::new(); p]);
    for (a, b) in edges {
        next[a].push(b);
        back[b].push(a);
    }
    let (mut seen, mut left) = (vec![false; p], Vec::with_capacity(p));
    (0..p).for_each(|start| search(start, &next, &mut seen, &mut left));
    let (mut seen, mut of, mut found) = (vec![false; p], vec![0; p], Vec::new());
    for start in left.into_iter().rev() {
        let mut component = Vec::new();
        search(start, &back, &mut seen, &mut component);
        component.sort_unstable();
        for &v in &component {
            of[v] = found.len();
        }
        found.extend(Some(component).filter(|component| !component.is_empty()));
    }
    (of, found)
}

/// Depth-first search from a vertex: adds all that it reaches and that was not seen, in the order
/// in which it leaves them.
fn search(start: usize, next: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
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
