//! The oracle: bounds of nodes, objectives of subsets, and dives from open nodes.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::node::{OpenNode, Packed};
use crate::bound::{Decide, NodeAnswer, Points, Probed, Relaxation, Ruling, WarmStart};
use crate::proof::{Notes, Place};
use crate::run::Gaps;
use crate::search::{Found, Mark, Pool, follow};
use crate::{Choice, Clock, Error, Oracle, Rules, Run, Subset};

// Tuning: `make bench-exact-real`.

/// Share of what a node lacks to the cutoff that its gap may have.
const SHARE: f64 = 0.25;
/// Relative gap of a node's relaxation in any case, and as a share of the gap asked for.
const NODE_TOLERANCE: f64 = 1e-6;
const NODE_SHARE: f64 = 0.01;
/// Share of a large gap asked for that a node's relaxation and a subset's objective may have.
const LOOSE: f64 = 1e-3;
/// What a unit of no gain counts for in a rounding, as a share of the largest gain.
const LITTLE: f64 = 1e-9;
/// A dive goes on while its bound has risen by at most this share of the way to the cutoff: then
/// the run's bound rises early, and fewer dives end where they need not have gone.
const REACH: f64 = 0.1;
/// Units that probing examines first, beside some for each slot and share.
const NEAREST: usize = 64;
/// What a rise counts at least, as a share of what a node lacks to the cutoff; see
/// [`branching_unit`].
const LEAST_RISE: f64 = 0.03;

// Numbers of the proof, not of its speed.

/// Share of the gap asked for to which a subset's objective is known, and the limits of that.
const SUBSET_SHARE: f64 = 0.01;
const SUBSET_TOLERANCE: (f64, f64) = (1e-12, 1e-7);
/// Share of the gap asked for that is good enough where the interior point ends early: a tenth with
/// room to spare.
const SUFFICIENT: f64 = 0.05;

/// Nodes to dive from, and what is known so far.
pub(super) struct Question<'a> {
    /// With their places.
    pub(super) nodes: Vec<(OpenNode, Mark)>,
    /// Nodes each dive may solve.
    pub(super) allowance: u64,
    /// What is tried beside the dives.
    pub(super) trial: Option<Trial>,
    pub(super) pool: Pool<'a>,
}

/// Trials to find better subsets beside the tree.
pub(super) struct Trial {
    /// From 0.
    pub(super) numbers: Range<u64>,
    /// The root's answer.
    pub(super) root: Arc<Packed>,
}

/// A node with units decided.
pub(super) struct DecidedNode {
    pub(super) fixed_in: Vec<usize>,
    pub(super) free: Vec<usize>,
    /// The node's answer, without shares of units that are decided now.
    pub(super) warm_start: WarmStart,
    /// Whether any unit was decided, and whether by probing.
    pub(super) changed: bool,
    probed: bool,
    /// See [`Probed::promises`].
    promises: Vec<(usize, [f64; 2])>,
}

/// What is known of one subset.
pub(super) struct Leaf {
    /// Objective of a point on it, and no point is below `lower`.
    pub(super) upper: f64,
    pub(super) lower: f64,
    pub(super) warm_start: WarmStart,
    /// Where these values are had, when points are kept.
    pub(super) points: Option<Points>,
}

/// The children of a node, each the units that are in and those that are free; none where the rules
/// leave nothing.
struct Branch {
    dive_child: Option<(Vec<usize>, Vec<usize>)>,
    other_child: Option<(Vec<usize>, Vec<usize>)>,
    /// Whether the unit is in in the first.
    dive_child_chosen: bool,
}

/// The results of a dive.
#[derive(Default)]
pub(super) struct Dive {
    pub(super) open: Vec<OpenNode>,
    pub(super) found: Vec<Found>,
    pub(super) seen: Vec<Subset>,
    /// Lowest bound among the nodes that were closed.
    pub(super) closed: Option<f64>,
    pub(super) nodes: u64,
    pub(super) rounds: u64,
    /// For the proof, where one is written; places in `open` are numbered as here.
    pub(super) notes: Notes,
}

impl Dive {
    /// Closes a node, where a point proves that.
    fn close_at(&mut self, place: Option<&Place>, bound: f64, single: Option<Subset>) {
        self.close(bound);
        if let Some(Place { node, point }) = place {
            self.notes.close(*node, point, bound, single);
        }
    }

    fn close(&mut self, bound: f64) {
        self.closed = Some(self.closed.map_or(bound, |c| c.min(bound)));
    }
}

/// The oracle: bounds of nodes, objectives of subsets.
pub(super) struct Search<'a> {
    pub(super) relaxation: &'a Relaxation<'a>,
    pub(super) rules: &'a Rules,
    pub(super) clock: Clock,
    /// Gaps asked for.
    gaps: Gaps,
}

impl<'a> Search<'a> {
    pub(super) fn new(relaxation: &'a Relaxation<'a>, run: &Run<'a>) -> Self {
        Self { relaxation, rules: run.rules(), clock: run.clock(), gaps: run.gaps() }
    }

    /// How well the bound of a node with free units is to be known; the gap asked for is measured
    /// at the objective `near`.
    pub(super) fn decide(&self, cutoff: f64, near: f64) -> Decide {
        let asked = self.gaps.share(near);
        let tolerance = NODE_TOLERANCE.max(LOOSE * asked).min(NODE_SHARE * asked);
        Decide { cutoff, share: SHARE, tolerance }
    }

    /// The objective of the one subset of these units, unless it is proven to be at or above the
    /// cutoff: by the interior point, and by an exact training where that ends too early.
    pub(super) fn leaf(&self, fixed_in: &[usize], warm_start: &WarmStart, cutoff: f64, rounds: &mut u64) -> Leaf {
        let known = |objective: f64| {
            let asked = self.gaps.share(objective);
            (SUBSET_SHARE * asked).clamp(SUBSET_TOLERANCE.0, SUBSET_TOLERANCE.1.max(LOOSE * asked))
        };
        let tolerance = if cutoff.is_finite() { known(cutoff) } else { SUBSET_TOLERANCE.1 };
        // Of many problems each alone is sooner done than the columns of all at once.
        if fixed_in.is_empty() || self.relaxation.is_many() {
            let clock = if fixed_in.is_empty() { Clock::unlimited() } else { self.clock.clone() };
            let (NodeAnswer { lower, upper, warm_start, points, .. }, iterations) =
                self.relaxation.train(fixed_in, warm_start, tolerance, &clock);
            *rounds += iterations;
            return Leaf { upper, lower, warm_start, points };
        }
        let decide = Decide { cutoff, share: 0.0, tolerance };
        let answer = self.relaxation.solve(fixed_in, &[], warm_start, &decide, &self.clock);
        *rounds += answer.rounds;
        let leaf =
            Leaf { upper: answer.upper, lower: answer.lower, warm_start: answer.warm_start, points: answer.points };
        let tolerance = known(leaf.upper);
        let sufficient = (SUFFICIENT * self.gaps.room(leaf.upper)).max(tolerance * leaf.upper.abs());
        if leaf.lower >= cutoff || leaf.upper - leaf.lower <= sufficient || self.clock.stop().is_some() {
            return leaf;
        }
        let (answer, iterations) = self.relaxation.train(fixed_in, &leaf.warm_start, tolerance, &self.clock);
        *rounds += iterations;
        // Both values are true, so that the better of each is.
        let (upper, lower) = (answer.upper.min(leaf.upper), answer.lower.max(leaf.lower));
        let (closer, higher) = (answer.upper <= leaf.upper || leaf.upper.is_nan(), answer.lower > leaf.lower);
        let points = answer.points.zip(leaf.points).map(|(new, old)| {
            let (lower, at) = if higher { (new.lower, new.at) } else { (old.lower, old.at) };
            Points { lower, at, primal: if closer { new.primal } else { old.primal }, priced: old.priced }
        });
        Leaf { upper, lower, warm_start: if closer { answer.warm_start } else { leaf.warm_start }, points }
    }

    /// Objective of one subset, unless it is proven to be at or above the cutoff.
    pub(super) fn evaluate(
        &self,
        subset: &Subset,
        warm_start: &WarmStart,
        cutoff: f64,
        rounds: &mut u64,
    ) -> Option<(Found, WarmStart)> {
        let mut units: Vec<usize> = subset.iter().map(|j| self.rules.unit_of(j)).collect();
        units.sort_unstable();
        units.dedup();
        let cut = self.relaxation.constant(&warm_start.beta)
            - units.iter().map(|&u| self.relaxation.gain(u, &warm_start.beta)).sum::<f64>();
        if cut >= cutoff {
            return None;
        }
        let Leaf { upper, lower, warm_start, points } = self.leaf(&units, warm_start, cutoff, rounds);
        let point = points.and_then(|points| points.primal);
        let found = || Found { subset: subset.clone(), objective: upper, proven: lower, closed: false, point };
        (lower < cutoff).then(|| (found(), warm_start))
    }

    /// The allowed subset nearest to the shares: the z half at `share * gain`.
    pub(super) fn round(&self, fixed_in: &[usize], warm_start: &WarmStart) -> Subset {
        let p = self.rules.p();
        if self.rules.is_sort() {
            let most = self.rules.most_features();
            let mut shares = warm_start.shares.clone();
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let taken = shares.into_iter().take(most - fixed_in.len()).filter(|s| most < p || s.1 > 0.5);
            let units = fixed_in.iter().copied().chain(taken.map(|s| s.0));
            return Subset::from_indices(p, units.flat_map(|u| self.rules.unit(u).iter().copied()));
        }
        let gain = |u: usize| self.relaxation.gain(u, &warm_start.beta) + self.relaxation.penalty(u);
        let largest = warm_start.shares.iter().map(|s| gain(s.0)).fold(0.0, f64::max);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let mut gains = vec![-LITTLE * largest; p];
        let mut set = |u: usize, gain: f64| {
            let unit = self.rules.unit(u);
            for &j in unit {
                gains[j] = gain / unit.len() as f64;
            }
        };
        for &(u, share) in &warm_start.shares {
            set(u, share * gain(u).max(LITTLE * largest));
        }
        let large = 10.0 * (1.0 + warm_start.shares.len() as f64) * largest;
        for &u in fixed_in {
            set(u, large);
        }
        self.best_subset(&gains)
    }

    /// The allowed subset of largest gain, or the best one found when the clock says stop.
    pub(super) fn best_subset(&self, gains: &[f64]) -> Subset {
        self.rules.best_subset_until(gains, Rules::EXACT, &self.clock).subset
    }

    /// Propagates the rules; `None` if nothing allowed is left.
    pub(super) fn follow(&self, fixed_in: &[usize], free: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        if self.rules.is_sort() {
            let room = self.rules.most_features();
            if fixed_in.len() > room {
                return None;
            }
            let free = if fixed_in.len() == room { Vec::new() } else { free.to_vec() };
            return Some((fixed_in.to_vec(), free));
        }
        let state = follow(self.rules, fixed_in.iter().copied(), free.iter().copied())?;
        let of = |choice: Choice| (0..state.len()).filter(|&u| state[u] == choice).collect();
        Some((of(Choice::In), of(Choice::Free)))
    }

    /// Step 4: decides free units whose other choice would reach the cutoff, by price and by
    /// probing; then what follows. `None` when nothing below the cutoff is left. What is decided is
    /// noted of `node`.
    pub(super) fn fix(
        &self,
        fixed_in: &[usize],
        free: &[usize],
        answer: &NodeAnswer,
        cutoff: f64,
        node: u64,
        notes: &mut Notes,
    ) -> Option<DecidedNode> {
        let (mut now, mut out) = (fixed_in.to_vec(), Vec::new());
        let mut left = Vec::with_capacity(free.len());
        for (&u, excess) in free.iter().zip(&answer.excess) {
            if answer.priced + excess.abs() < cutoff {
                left.push(u);
            } else if *excess > 0.0 {
                now.push(u);
            } else {
                out.push(u);
            }
        }
        if let Some(point) = answer.priced_at() {
            let first = |units: &[usize]| units.iter().map(|&u| self.rules.unit(u)[0]).collect::<Vec<usize>>();
            notes.fix(node, point, first(&now[fixed_in.len()..]), first(&out), cutoff);
        }
        now.sort_unstable();
        let (mut now, mut left) = self.follow(&now, &left)?;
        let mut warm_start = answer.warm_start.clone();
        warm_start.shares.retain(|s| left.binary_search(&s.0).is_ok());
        let gap = answer.upper - answer.lower;
        let near = nearest(free, &answer.excess, NEAREST + 2 * (self.rules.most_features() + warm_start.shares.len()));
        let near: Vec<usize> = near.into_iter().filter(|u| left.binary_search(u).is_ok()).collect();
        let Probed { out, fixed_in: chosen, promises, rulings } =
            self.relaxation.probe((&now, &left, &near), &warm_start, answer.priced, gap, cutoff, &self.clock);
        self.note(&rulings, cutoff, node, notes);
        if out.iter().any(|u| chosen.contains(u)) {
            return None;
        }
        let probed = !out.is_empty() || !chosen.is_empty();
        if probed {
            left.retain(|u| !out.contains(u) && !chosen.contains(u));
            now.extend(chosen);
            now.sort_unstable();
            (now, left) = self.follow(&now, &left)?;
            warm_start.shares.retain(|s| left.binary_search(&s.0).is_ok());
        }
        let changed = now.len() > fixed_in.len() || left.len() < free.len();
        Some(DecidedNode { fixed_in: now, free: left, warm_start, changed, probed, promises })
    }

    /// Notes what probing ruled out; the node is closed where that is both choices of a unit.
    fn note(&self, rulings: &[Ruling], cutoff: f64, node: u64, notes: &mut Notes) {
        for (at, Ruling { unit, chosen, point }) in rulings.iter().enumerate() {
            if rulings[..at].iter().any(|before| before.unit == *unit) {
                return notes.close(node, point, cutoff, None);
            }
            let (yes, no) = (vec![self.rules.unit(*unit)[0]], Vec::new());
            let (fixed_in, out) = if *chosen { (no, yes) } else { (yes, no) };
            notes.fix(node, point, fixed_in, out, cutoff);
        }
    }

    /// Step 5, from one node.
    fn dive(&self, node: &OpenNode, question: &Question<'_>) -> Dive {
        let mut dive = Dive::default();
        let mut cutoff = question.pool.cutoff();
        let (mut fixed_in, mut free) =
            (node.fixed_in.iter().map(|&u| u as usize).collect::<Vec<usize>>(), node.free.to_vec());
        let mut warm_start = node.warm_start.unpack(self.relaxation);
        let mut bound = node.bound;
        // In the notes the node is number 0.
        let mut place = node.place.as_ref().map(|place| Place { node: 0, ..place.clone() });
        loop {
            if dive.nodes >= question.allowance || self.clock.stop().is_some() {
                dive.open.push(OpenNode::new(&fixed_in, &free, bound, Packed::new(&warm_start), place));
                return dive;
            }
            dive.nodes += 1;
            if free.is_empty() {
                self.end(&fixed_in, &warm_start, (bound, place), cutoff, &mut dive);
                return dive;
            }
            let decide = self.decide(cutoff, cutoff);
            let answer = self.relaxation.solve(&fixed_in, &free, &warm_start, &decide, &self.clock);
            dive.rounds += answer.rounds;
            if let (Some(place), Some(points)) = (&mut place, &answer.points)
                && answer.lower > bound
            {
                place.point = points.lower.clone();
            }
            bound = answer.lower.max(bound);
            if bound >= cutoff {
                dive.close_at(place.as_ref(), bound, None);
                return dive;
            }
            let at = place.as_ref().map_or(0, |place| place.node);
            let Some(fixed) = self.fix(&fixed_in, &free, &answer, cutoff, at, &mut dive.notes) else {
                dive.close(cutoff);
                return dive;
            };
            if fixed.changed {
                dive.close(cutoff);
            }
            (fixed_in, free, warm_start) = (fixed.fixed_in, fixed.free, fixed.warm_start);
            if free.is_empty() || fixed.probed {
                continue;
            }
            self.try_rounding(&fixed_in, &warm_start, question, bound, &mut cutoff, &mut dive);
            let unit = branching_unit(&fixed.promises, cutoff - bound).unwrap_or(free[0]);
            let packed = Packed::new(&warm_start);
            let Branch { dive_child, other_child, dive_child_chosen } =
                self.branch(unit, &fixed_in, &free, &warm_start);
            let [chosen, left_out] = match &place {
                Some(place) => dive.notes.split(place.node, self.rules.unit(unit)[0]),
                None => [0, 0],
            };
            let (ahead_at, aside_at) = if dive_child_chosen { (chosen, left_out) } else { (left_out, chosen) };
            let child = |node: u64| place.as_ref().map(|place| Place { node, ..place.clone() });
            if let Some((i, f)) = &other_child {
                dive.open.push(OpenNode::new(i, f, bound, packed.clone(), child(aside_at)));
            }
            let Some((i, f)) = dive_child else { return dive };
            place = child(ahead_at);
            if cutoff.is_finite() && bound > node.bound + REACH * (cutoff - node.bound) {
                // Other open nodes are lower by now.
                dive.open.push(OpenNode::new(&i, &f, bound, packed, place));
                return dive;
            }
            (fixed_in, free) = (i, f);
        }
    }

    /// A node without free units: its one subset.
    fn end(
        &self,
        fixed_in: &[usize],
        warm_start: &WarmStart,
        (bound, mut place): (f64, Option<Place>),
        cutoff: f64,
        dive: &mut Dive,
    ) {
        let leaf = self.leaf(fixed_in, warm_start, cutoff, &mut dive.rounds);
        let proven = leaf.lower.max(bound);
        if let (Some(place), Some(points)) = (&mut place, &leaf.points)
            && leaf.lower > bound
        {
            place.point = points.lower.clone();
        }
        let subset = self.relaxation.subset(fixed_in);
        if proven >= cutoff {
            dive.close_at(place.as_ref(), proven, Some(subset));
        } else if self.clock.stop().is_some() {
            dive.open.push(OpenNode::new(fixed_in, &[], proven, Packed::new(&leaf.warm_start), place));
        } else {
            if let Some(Place { node, point }) = &place {
                dive.notes.close(*node, point, proven, Some(subset.clone()));
            }
            let point = leaf.points.and_then(|points| points.primal);
            dive.found.push(Found { subset, objective: leaf.upper, proven, closed: true, point });
        }
    }

    /// The first rounding of a dive: a subset that was not seen before lowers the cutoff, and is
    /// improved where it is the best so far.
    fn try_rounding(
        &self,
        fixed_in: &[usize],
        warm_start: &WarmStart,
        question: &Question<'_>,
        bound: f64,
        cutoff: &mut f64,
        dive: &mut Dive,
    ) {
        if !dive.seen.is_empty() {
            return;
        }
        let subset = self.round(fixed_in, warm_start);
        if question.pool.has_seen(&subset) || !self.rules.allows(&subset) {
            return;
        }
        if let Some((found, at)) = self.evaluate(&subset, warm_start, *cutoff, &mut dive.rounds) {
            dive.found.push(found.clone());
            if question.pool.first().is_none_or(|best| found.objective < best.objective) {
                dive.found.extend(self.exchange(&found, &at, bound, None, &mut dive.rounds));
            }
            for found in &dive.found {
                *cutoff = cutoff.min(question.pool.cutoff_with(found.objective));
            }
        }
        dive.seen.push(subset);
    }

    /// The children of a node, the one that its shares point to first.
    fn branch(&self, unit: usize, fixed_in: &[usize], free: &[usize], warm_start: &WarmStart) -> Branch {
        let share = warm_start.shares.iter().find(|s| s.0 == unit).map_or(0.0, |s| s.1);
        let rest: Vec<usize> = free.iter().copied().filter(|&u| u != unit).collect();
        let (chosen, left_out) = (self.follow(&joined(fixed_in, unit), &rest), self.follow(fixed_in, &rest));
        let dive_child_chosen = share >= 0.5;
        let (dive_child, other_child) = if dive_child_chosen { (chosen, left_out) } else { (left_out, chosen) };
        Branch { dive_child, other_child, dive_child_chosen }
    }
}

/// Ascending units, and one more.
pub(super) fn joined(units: &[usize], unit: usize) -> Vec<usize> {
    let mut with = units.to_vec();
    with.insert(with.partition_point(|&u| u < unit), unit);
    with
}

/// The `most` units of largest excess.
fn nearest(units: &[usize], excess: &[f64], most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..units.len()).collect();
    if most < order.len() {
        order.select_nth_unstable_by(most, |&a, &b| excess[b].total_cmp(&excess[a]).then(a.cmp(&b)));
        order.truncate(most);
    }
    order.into_iter().map(|at| units[at]).collect()
}

/// The unit whose children's bounds promise the largest product of rises. A rise counts as at least
/// a small share of what is missing to the cutoff: where choosing a unit hardly ever helps, the one
/// that is missed most is taken.
fn branching_unit(promises: &[(usize, [f64; 2])], missing: f64) -> Option<usize> {
    let floor = if missing.is_finite() { LEAST_RISE * missing } else { 0.0 };
    let score = |p: &(usize, [f64; 2])| (p.1[0] + floor) * (p.1[1] + floor);
    promises.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(b.0.cmp(&a.0))).map(|p| p.0)
}

impl<'a> Oracle for Search<'a> {
    type Query = Question<'a>;
    type Answer = Vec<Dive>;

    fn ask(&mut self, question: &Question<'a>, _: &mut Run<'_>) -> Result<Vec<Dive>, Error> {
        let this = &*self;
        let mut dives: Vec<Dive> = question.nodes.par_iter().map(|(node, _)| this.dive(node, question)).collect();
        if let (Some(trial), Some((node, _)), Some(best)) =
            (&question.trial, question.nodes.first(), question.pool.first())
        {
            let found = this.further(trial, node.bound, best, &mut dives[0].rounds);
            dives[0].found.extend(found);
        }
        this.relaxation.afforded().map(|()| dives)
    }
}
