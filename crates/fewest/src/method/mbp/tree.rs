//! Branch and bound on y, with the linear relaxation that lives between nodes.
//!
//! Node     features in (y_j = 1: D_j is paid, a weight costs 1 per unit) and out (u_j = 0), closed
//!          under the rules.
//! Bound    the dual value of the relaxation (`y_j = |w_j| / u_j` where nothing is decided) and D
//!          of what is in.
//! Branch   on the feature of the largest product of the rises to be expected on its two sides: the
//!          mean of those seen where it was decided before, per unit of y (pseudo-costs).
//! Order    smallest bound first; both children are solved when they are made, from the basis of
//!          their parent.
//! Subsets  those that the relaxation points to, at some nodes; at fewer, from the hundredth on,
//!          the program restricted to the features of weight and those of the best subset, by
//!          HiGHS.
//! Several  where more than the best subset is wanted, a node ends at the cutoff of them all or
//!          with one subset; units whose other choice would reach the cutoff by its reduced cost are
//!          decided at once.

use serde::{Deserialize, Serialize};

use crate::backend::highs::Effort;
use crate::l1_oracle::{L1Basis, L1Oracle, L1Point};
use crate::proof::{Place, Point};
use crate::run::state::StateReader;
use crate::search::{Mark, Node, OpenNodes, Ties};
use crate::{Choice, Error, Event, Run, Sense, Status, Subset};

use super::reduce::Reduced;
use super::{BestClassifier, Model, NAME, Record, TIGHT, solve_restricted};

/// Gap to which the relaxation of a node is solved: its bound is true whatever it is.
const NODE: f64 = 1e-6;
/// Nodes between two trials of the relaxation's subset.
const TRY: u64 = 10;
/// A restricted program is tried after this many nodes, then each time they have doubled,
const RESTRICT: u64 = 100;
/// with as many nodes of HiGHS: its heuristics at the root find nearly all there is.
const WITHIN: u32 = 1;
/// Parts of weights that the program holds, at most, or thrice the weights it uses.
const POOL: usize = 250;
/// y this near to 0 or 1 is integer.
const INTEGER: f64 = 1e-7;

/// An open node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OpenNode {
    pub(super) bound: f64,
    /// Choice of each unit that is decided.
    pub(super) state: Vec<(u32, Choice)>,
    /// Unit to branch on.
    pub(super) unit: usize,
    /// y of its feature in the relaxation, within 0 and 1; 0 in a run that resumes from a state.
    #[serde(skip)]
    share: f64,
    /// Where the node is in the proof, where one is written.
    place: Option<Place>,
    /// Where the programs of its children begin; none in a run that resumes from a state.
    #[serde(skip)]
    basis: Option<L1Basis>,
}

impl Node for OpenNode {
    fn bound(&self) -> f64 {
        self.bound
    }

    fn bytes(&self) -> u64 {
        let point = self.place.as_ref().map_or(0, |place| place.point.len());
        let basis = self.basis.as_ref().map_or(0, L1Basis::bytes);
        (size_of::<Self>() + size_of_val(&self.state[..])) as u64 + point + basis
    }
}

/// A node that was solved.
struct Solved {
    bound: f64,
    state: Vec<(u32, Choice)>,
    /// Unit to branch on and y of its feature; none where nothing better than the bound is left in
    /// the node.
    unit: Option<(usize, f64)>,
    /// For the proof, where one is written.
    point: Option<Point>,
    /// Where the program of the node ended.
    basis: Option<L1Basis>,
}

/// Searches until the gap is closed or a limit is reached, from a state where there is one. Open
/// nodes may take `memory` bytes before the search goes deep.
pub(super) fn search<'a>(
    model: &Model<'a>,
    oracle: &mut L1Oracle<'_>,
    found: &mut BestClassifier<'a>,
    (reduced, from): (&Reduced, Option<StateReader>),
    memory: u64,
    proof: &mut Option<Record<'_>>,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    let open = OpenNodes::new(Sense::Min, Ties::Earliest, memory);
    let (proof, left_out) = (proof.as_mut(), f64::INFINITY);
    let rises = Rises::new(model.rules.n_units());
    let mut tree = Tree { model, oracle, found, open, rises, restrict: RESTRICT, made: 0, left_out, proof };
    if let Some(proof) = &mut tree.proof {
        proof.begin_tree();
    }
    if let Some(state) = from {
        tree.restore(state)?;
    } else {
        let root = tree.solve(model.rules.root().to_vec(), None, run)?;
        // A root that was cut short is no state to resume from.
        if run.stop().is_some() {
            run.end_checkpoints();
            if root.unit.is_none() {
                tree.leave_out(root.bound);
            }
        }
        tree.take(root, 0, run);
    }
    let status = tree.run(reduced, run);
    tree.keep(&[], reduced, true, run);
    tree.found.open = tree.open.bound().unwrap_or(f64::INFINITY);
    tree.close_all(run);
    status
}

/// How much bounds rose where a unit was decided, per unit of its y (pseudo-costs).
struct Rises {
    /// For each unit: sum and number of the rises by putting it in, then by leaving it out.
    of: Vec<[(f64, f64); 2]>,
    /// Sum and number of the rises of all units together.
    all: [(f64, f64); 2],
}

impl Rises {
    fn new(units: usize) -> Self {
        Self { of: vec![[(0.0, 0.0); 2]; units], all: [(0.0, 0.0); 2] }
    }

    /// The bound of the child on this side, 0 where the unit is in, is above its parent's by so
    /// much.
    fn learn(&mut self, unit: usize, side: usize, share: f64, rise: f64) {
        let way = [1.0 - share, share][side];
        if way > INTEGER && rise.is_finite() {
            let rise = rise.max(0.0) / way;
            for sum in [&mut self.of[unit][side], &mut self.all[side]] {
                sum.0 += rise;
                sum.1 += 1.0;
            }
        }
    }

    /// The product of the rises to be expected.
    fn worth(&self, unit: usize, price: f64, share: f64) -> f64 {
        let rise = |side: usize| {
            let (all, own) = (self.all[side], self.of[unit][side]);
            let mean = if all.1 > 0.0 { all.0 / all.1 } else { price.max(f64::MIN_POSITIVE) };
            (own.0 + mean) / (own.1 + 1.0)
        };
        let (down, up) = (rise(0) * (1.0 - share), rise(1) * share);
        let least = 1e-12 * down.max(up);
        down.max(least) * up.max(least)
    }
}

pub(super) struct Tree<'a, 'b, 'c, 'p> {
    pub(super) model: &'a Model<'b>,
    pub(super) oracle: &'a mut L1Oracle<'c>,
    pub(super) found: &'a mut BestClassifier<'b>,
    pub(super) open: OpenNodes<OpenNode>,
    rises: Rises,
    /// Nodes before the next restricted program.
    restrict: u64,
    pub(super) made: u64,
    /// Lowest bound among the nodes that were dropped.
    pub(super) left_out: f64,
    pub(super) proof: Option<&'a mut Record<'p>>,
}

impl Tree<'_, '_, '_, '_> {
    fn run(&mut self, reduced: &Reduced, run: &mut Run<'_>) -> Result<Status, Error> {
        let rules = self.model.rules;
        loop {
            let open = self.open.bound().unwrap_or(f64::INFINITY);
            let known = match &self.found.pool {
                Some(pool) => pool.bound(open),
                None => open.min(self.left_out).min(run.incumbent().map_or(f64::INFINITY, |b| b.1)),
            };
            run.raise_bound(known);
            match &mut self.found.pool {
                Some(pool) if open >= pool.cutoff() => {
                    pool.leave_out(open);
                    self.open.clear();
                    return Ok(pool.status());
                }
                None if run.closed() => return Ok(Status::Optimal),
                _ => {}
            }
            if let Some(status) = run.stop() {
                return Ok(status);
            }
            self.keep(&[], reduced, false, run);
            let Some((next, mark)) = self.open.pop() else { return Ok(Status::Stalled) };
            if let Some(pool) = self.found.pool.as_mut().filter(|pool| next.bound >= pool.cutoff()) {
                pool.leave_out(next.bound);
                continue;
            }
            let before = run.counts.nodes;
            let mut children = [None, None];
            for (choice, child) in [Choice::In, Choice::Out].into_iter().zip(&mut children) {
                let mut state = vec![Choice::Free; rules.n_units()];
                next.state.iter().for_each(|&(unit, choice)| state[unit as usize] = choice);
                state[next.unit] = choice;
                if rules.propagate(&mut state).is_ok() {
                    let start = next.basis.as_ref().map(|basis| (basis, choice == Choice::In));
                    *child = Some(self.solve(state, start, run)?);
                }
            }
            if run.stop().is_some() {
                // What a limit may have cut short is done again by the run that goes on.
                let after = std::mem::replace(&mut run.counts.nodes, before);
                self.keep(&[(next.clone(), mark)], reduced, true, run);
                run.counts.nodes = after;
                if self.found.pool.is_some() {
                    self.open.restore(next, mark);
                    continue;
                }
            }
            for (side, child) in children.iter().enumerate() {
                if let Some(child) = child {
                    self.rises.learn(next.unit, side, next.share, child.bound - next.bound);
                }
            }
            let numbers = match (&mut self.proof, &next.place) {
                (Some(proof), Some(place)) => proof.split(place.node, rules.unit(next.unit)[0], run),
                _ => [0, 0],
            };
            for (child, number) in children.into_iter().zip(numbers) {
                if let Some(child) = child {
                    self.take(child, number, run);
                }
            }
            run.tell(&Event::Progress { done: run.counts.nodes, total: None, elapsed: run.elapsed() });
        }
    }

    /// Keeps the state with these nodes open, too.
    fn keep(&self, unfinished: &[(OpenNode, Mark)], reduced: &Reduced, last: bool, run: &mut Run<'_>) {
        run.keep(NAME, last, |out| self.write(unfinished, reduced, out));
    }

    /// Solves a node, from the basis of its parent where there is one (`L1Oracle::begin_at`). One
    /// that was cut short keeps a bound that is true.
    fn solve(
        &mut self,
        mut state: Vec<Choice>,
        mut start: Option<(&L1Basis, bool)>,
        run: &mut Run<'_>,
    ) -> Result<Solved, Error> {
        loop {
            let single = !state.contains(&Choice::Free);
            let (bound, at, basis) = self.relaxed(&state, single, start.take(), run)?;
            let point = self.proof.as_ref().map(|proof| proof.point(&at));
            let solved = |unit: Option<(usize, f64)>, state: &[Choice]| {
                let decided = state.iter().enumerate().filter(|e| *e.1 != Choice::Free);
                Solved { bound, state: decided.map(|(u, c)| (u as u32, *c)).collect(), unit, point, basis }
            };
            let cutoff = self.found.cutoff(run);
            if bound >= cutoff {
                self.leave_out(bound);
                return Ok(solved(None, &state));
            }
            if self.found.pool.is_none() {
                let unit = self.unit(&at, &state, run)?;
                if unit.is_none() {
                    self.leave_out(bound);
                }
                return Ok(solved(unit, &state));
            }
            if single {
                let subset = self.subset(&L1Point::default(), &state);
                let price = self.model.price(&subset);
                // One that was cut short is examined again: its parent stays open.
                if at.stopped.is_none() {
                    self.found.take(&subset, at.primal, at.dual, price, true, run);
                }
                return Ok(solved(None, &state));
            }
            let decided = self.decide(&mut state, bound, cutoff, &at);
            if decided {
                self.leave_out(cutoff);
                if self.model.rules.propagate(&mut state).is_err() {
                    return Ok(solved(None, &state));
                }
            }
            if state.contains(&Choice::Free) {
                let unit = self.unit(&at, &state, run)?;
                return Ok(solved(unit, &state));
            }
        }
    }

    /// The bound of a node, where it holds and the basis there; of its one subset to the last
    /// digits, where nothing is free and several subsets are wanted.
    fn relaxed(
        &mut self,
        state: &[Choice],
        single: bool,
        start: Option<(&L1Basis, bool)>,
        run: &mut Run<'_>,
    ) -> Result<(f64, L1Point, Option<L1Basis>), Error> {
        let model = self.model;
        let (mut bound, mut prices, mut paid) = (model.bound.clone(), model.relaxed_prices(), 0.0);
        for j in 0..bound.len() {
            match state[model.rules.unit_of(j)] {
                Choice::In => {
                    prices[j] = 1.0;
                    paid += model.penalty[j];
                }
                Choice::Out => bound[j] = 0.0,
                Choice::Free => {}
            }
        }
        self.oracle.set_bounds(&bound)?;
        self.oracle.set_prices(&prices, &prices)?;
        if let Some((basis, feasible)) = start {
            self.oracle.begin_at(basis, feasible)?;
        }
        let tolerance = if single && self.found.pool.is_some() { TIGHT } else { NODE };
        let point = self.oracle.solve(tolerance, &run.counted_clock())?;
        // None where the program was not begun, or left by a limit.
        let basis = self.oracle.basis().ok();
        self.oracle.forget(&point, POOL.max(3 * point.weights.len()))?;
        run.counts.nodes += 1;
        Ok((point.dual + paid, point, basis))
    }

    /// Decides free units whose other choice would reach the cutoff by its reduced cost (see
    /// `reduce.rs`). Returns whether there were any. Where both choices would, the unit is out, and
    /// what is left of the node is examined for nothing.
    fn decide(&self, state: &mut [Choice], bound: f64, cutoff: f64, point: &L1Point) -> bool {
        let model = self.model;
        let mut decided = false;
        for (u, choice) in state.iter_mut().enumerate().filter(|e| *e.1 == Choice::Free) {
            let (mut chosen, mut left_out) = (bound, bound);
            for &j in model.rules.unit(u) {
                let (score, gain) = (point.scores[j], self.oracle.gain(j, point.scores[j]));
                left_out += gain;
                chosen += gain + model.penalty[j] - model.interval(j).priced_gain(score, 1.0, 1.0);
            }
            if chosen < cutoff && left_out < cutoff {
                continue;
            }
            *choice = if chosen >= cutoff { Choice::Out } else { Choice::In };
            decided = true;
        }
        decided
    }

    /// The unit to branch on; none where nothing better than the bound is left in the node. The
    /// subset that the relaxation points to is tried at some nodes.
    fn unit(&mut self, point: &L1Point, state: &[Choice], run: &mut Run<'_>) -> Result<Option<(usize, f64)>, Error> {
        let model = self.model;
        let choice = |j: usize| state[model.rules.unit_of(j)];
        let free = |e: &&(usize, f64)| choice(e.0) == Choice::Free;
        let share = |&(j, w): &(usize, f64)| w.abs() / model.bound[j];
        let worth = |e: &(usize, f64)| self.rises.worth(model.rules.unit_of(e.0), model.penalty[e.0], share(e));
        let branch = point.weights.iter().filter(free).filter(|e| (INTEGER..1.0 - INTEGER).contains(&share(e)));
        let branch = branch.max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.0.cmp(&a.0)));
        let branch = branch.map(|e| (model.rules.unit_of(e.0), share(e)));
        if branch.is_none() || run.counts.nodes % TRY == 1 {
            self.try_subset(point, state, run)?;
        }
        // Where the relaxation is integer, it may still break a rule, and where several subsets are
        // wanted, others of the node may be among them: then any unit is enough.
        let any = state.iter().position(|c| *c == Choice::Free);
        Ok(match branch {
            Some(branch) => Some(branch),
            None if self.found.pool.is_none() && self.allowed(point, state) && point.stopped.is_none() => None,
            None => any.map(|unit| (unit, 0.5)),
        })
    }

    /// No subset of a node or part of it that is dropped is better than this.
    fn leave_out(&mut self, bound: f64) {
        match &mut self.found.pool {
            Some(pool) => pool.leave_out(bound),
            None => self.left_out = self.left_out.min(bound),
        }
    }

    /// Opens a node, which has this number in the proof, unless it is done with.
    fn take(&mut self, solved: Solved, number: u64, run: &mut Run<'_>) {
        let Solved { bound, state, unit, point, basis } = solved;
        let place = point.map(|point| Place { node: number, point });
        if let Some((unit, share)) = unit {
            self.made += 1;
            self.open.push(OpenNode { bound, state, unit, share, place, basis }, self.made);
            return;
        }
        if let (Some(proof), Some(place)) = (&mut self.proof, place) {
            proof.close(&place, bound, run);
        }
    }

    /// For the proof: every open node is closed by its point.
    fn close_all(&mut self, run: &mut Run<'_>) {
        let Some(proof) = &mut self.proof else { return };
        while let Some((node, _)) = self.open.pop() {
            if let Some(place) = &node.place {
                proof.close(place, node.bound, run);
            }
        }
    }

    /// What is in, and what has weight.
    fn subset(&self, point: &L1Point, state: &[Choice]) -> Subset {
        let rules = self.model.rules;
        let mut subset = Subset::from_indices(rules.p(), point.weights.iter().map(|e| e.0));
        subset.extend((0..rules.p()).filter(|&j| state[rules.unit_of(j)] == Choice::In));
        subset
    }

    fn allowed(&self, point: &L1Point, state: &[Choice]) -> bool {
        self.model.rules.allows(&self.subset(point, state))
    }

    fn try_subset(&mut self, point: &L1Point, state: &[Choice], run: &mut Run<'_>) -> Result<(), Error> {
        let mut features = self.subset(point, state);
        let mut weights: Vec<(usize, f64)> = features.iter().map(|j| (j, f64::MIN_POSITIVE)).collect();
        for &(j, w) in &point.weights {
            let at = weights.binary_search_by_key(&j, |e| e.0).expect("in the subset");
            weights[at].1 = w;
        }
        self.found.offer(self.model, &weights, run)?;
        if self.found.pool.is_some() || run.counts.nodes < self.restrict {
            return Ok(());
        }
        self.restrict = 2 * run.counts.nodes;
        features.extend(run.incumbent().into_iter().flat_map(|(best, _)| best.iter()));
        let effort = Effort { nodes: Some(WITHIN), gap: run.gap_of_gain(), ..Effort::default() };
        match solve_restricted(self.model, &features, self.found, &effort, run) {
            // The tree goes on without it.
            Err(Error::Memory { .. }) => Ok(()),
            other => other,
        }
    }
}
