//! The master: the open nodes, the best subsets, and the first subsets before there is a tree.

use std::sync::Arc;

use super::dive::{DecidedNode, Dive, Question, Search, Trial};
use super::exchange::TRIAL;
use super::node::{OpenNode, Packed};
use super::{ExactSettings, RootPoint};
use crate::bound::{NodeAnswer, Relaxation, WarmStart};
use crate::proof::{Notes, Place, Point, ProofWriter};
use crate::search::{Found, Mark, NearBest, OpenNodes, Pool, Ties};
use crate::{Choice, Error, Event, Master, Next, Rules, Run, Sense, Status, Subset};

// Tuning: `make bench-exact-real`; `bench/log/exact.md` has what was tried.

/// Nodes dived from at once: fixed, so that the tree does not depend on the number of threads.
const BATCH: usize = 8;
/// Shares of the memory that open nodes may take before new ones get no warm start of their own,
/// and before the search goes deep; and the share of the list of subsets examined.
const WARM: f64 = 0.4;
const NODES: f64 = 0.6;
const SEEN: f64 = 0.05;
/// Rounds between two trials beside the tree.
const TRYING: u64 = 5;
/// Swaps, additions and removals tried around an incumbent before it counts as locally best.
const SWAPS: usize = 24;

/// The master.
pub(super) struct Tree<'a> {
    pub(super) pool: Pool<'a>,
    pub(super) open: OpenNodes<OpenNode>,
    pub(super) made: u64,
    /// The root's answer: the warm start of nodes beyond the memory for their own.
    pub(super) root: Option<Arc<Packed>>,
    /// Bytes of open nodes beyond which new ones start from the root's answer.
    warm_memory: u64,
    /// Trials made.
    pub(super) trials: u64,
    /// Batches learned in this call.
    batches: u64,
    relaxation: &'a Relaxation<'a>,
    /// Where one is wanted.
    pub(super) proof: Option<ProofWriter>,
    /// A subset that the proof lists whatever is found.
    listed: Option<Found>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(relaxation: &'a Relaxation<'a>, settings: &ExactSettings, run: &Run<'a>) -> Self {
        let share = |share: f64| (share * settings.svm.memory as f64) as u64;
        Self {
            pool: Pool::new(run, settings.wanted(), share(SEEN)),
            open: OpenNodes::new(Sense::Min, Ties::Latest, share(NODES)),
            made: 0,
            root: None,
            warm_memory: share(WARM),
            trials: 0,
            batches: 0,
            relaxation,
            proof: None,
            listed: None,
        }
    }

    /// What the subsets within a share of the best tell, where these are wanted.
    pub(super) fn near(&self) -> Option<NearBest> {
        self.pool.near(self.open.bound().unwrap_or(f64::INFINITY))
    }

    /// Evaluates a subset that the proof, where there is one, lists whatever is found; one that the
    /// rules forbid cannot be listed.
    pub(super) fn list(&mut self, subset: &Subset, search: &Search<'_>, run: &mut Run<'_>) {
        if self.proof.is_some() && run.rules().allows(subset) {
            let rounds = &mut run.counts.solver_iterations;
            let found = search.evaluate(subset, &search.relaxation.cold(), f64::INFINITY, rounds);
            self.listed = found.map(|(found, _)| found);
        }
    }

    /// Ends the proof: nodes that are still open are closed by the points that their bounds hold
    /// at. Returns the status that it proves.
    pub(super) fn prove(&mut self, status: Status, run: &mut Run<'_>) -> Status {
        let Some(mut proof) = self.proof.take() else { return status };
        while let Some((node, _)) = self.open.pop() {
            close(&mut proof, self.relaxation, &node, run);
        }
        if let Some(beside) = self.listed.take().and_then(|found| self.relaxation.listed(&found)) {
            proof.list_beside(beside);
        }
        let listed = self.pool.best().iter().filter_map(|found| self.relaxation.listed(found)).collect();
        proof.end(listed, self.pool.threshold(), status, run)
    }

    /// Adds an open node; with much of the memory used up it starts from the root's answer.
    fn push(&mut self, mut node: OpenNode) {
        if self.open.bytes() > self.warm_memory
            && let Some(root) = &self.root
        {
            node.warm_start = root.clone();
        }
        self.open.push(node, self.made);
        self.made += 1;
    }

    /// The proven bound.
    fn report(&self, run: &mut Run<'_>) {
        let bound = self.pool.bound(self.open.bound().unwrap_or(f64::INFINITY));
        if bound.is_finite() {
            // Losses, weights and prices are at least 0, whatever a run that was stopped early has
            // proven.
            run.raise_bound(bound.max(0.0));
        }
    }

    /// Steps 1 to 4.
    pub(super) fn plant(
        &mut self,
        search: &mut Search<'_>,
        settings: &ExactSettings,
        root: &mut RootPoint,
        run: &mut Run<'_>,
    ) {
        let (relaxation, rules) = (search.relaxation, run.rules());
        let mut rounds = 0;
        // Step 1.
        let first = root.of(relaxation);
        let mut starts: Vec<Subset> = settings.start.iter().filter(|s| rules.allows(s)).cloned().collect();
        // With no time for a training, values are rough, and more subsets mean better ones.
        if run.stop().is_some() || starts.iter().all(|start| start.len() < rules.most_features()) {
            let gains: Vec<f64> = (0..rules.p())
                .map(|j| {
                    let u = rules.unit_of(j);
                    relaxation.gain(u, &first.beta) / rules.unit(u).len() as f64
                })
                .collect();
            starts.insert(0, search.best_subset(&gains));
        }
        let mut best = None;
        for subset in starts {
            let found = search.evaluate(&subset, &first, f64::INFINITY, &mut rounds);
            self.take(found, &mut best, run);
        }
        // Step 2.
        let of = |choice: Choice| (0..rules.n_units()).filter(|&u| rules.root()[u] == choice).collect::<Vec<usize>>();
        let (fixed_in, free) = search.follow(&of(Choice::In), &of(Choice::Free)).unwrap_or_default();
        run.counts.nodes += 1;
        if free.is_empty() {
            run.counts.solver_iterations += rounds;
            let place = self.proof.as_ref().map(|_| Place { node: 0, point: Point::zero() });
            self.open_root(OpenNode::new(&fixed_in, &free, 0.0, Packed::new(&first), place));
            self.report(run);
            return;
        }
        let near = best.as_ref().map_or(f64::INFINITY, |(found, _)| found.objective);
        let answer = relaxation.solve(&fixed_in, &free, &first, &search.decide(f64::INFINITY, near), &search.clock);
        root.0 = Some(answer.warm_start.clone());
        // Step 3.
        if answer.lower < self.pool.cutoff() {
            self.improve(search, &fixed_in, &answer, best, run, &mut rounds);
        }
        run.counts.solver_iterations += answer.rounds + rounds;
        // Step 4.
        let cutoff = self.pool.cutoff();
        let mut notes = Notes::default();
        let fixed = search.fix(&fixed_in, &free, &answer, cutoff, 0, &mut notes);
        if let Some(proof) = &mut self.proof {
            proof.write(0, notes, run);
        }
        if fixed.as_ref().is_none_or(|f| f.changed) {
            self.pool.leave_out(cutoff);
        }
        if let Some(DecidedNode { fixed_in, free, warm_start, .. }) = fixed {
            let place = answer.points.map(|points| Place { node: 0, point: points.lower });
            self.open_root(OpenNode::new(&fixed_in, &free, answer.lower, Packed::new(&warm_start), place));
        }
        self.report(run);
        self.keep(&[], false, run);
    }

    fn open_root(&mut self, node: OpenNode) {
        self.root = Some(node.warm_start.clone());
        self.push(node);
    }

    /// Step 3: rounds the shares, then swaps, adds or removes units as long as that helps, and
    /// exchanges them where the gap is still large.
    fn improve(
        &mut self,
        search: &Search<'_>,
        fixed_in: &[usize],
        answer: &NodeAnswer,
        mut best: Option<(Found, WarmStart)>,
        run: &mut Run<'_>,
        rounds: &mut u64,
    ) {
        self.round(search, fixed_in, &answer.warm_start, &mut best, run, rounds);
        let Some((mut best, mut at)) = best else { return };
        'again: while run.stop().is_none() {
            for moved in self.neighbours(search, &best.subset, &at, run.rules()) {
                match search.evaluate(&moved, &at, best.objective, rounds) {
                    Some((found, warm_start)) => {
                        self.pool.take(found.clone(), run);
                        if found.objective < best.objective {
                            (best, at) = (found, warm_start);
                            continue 'again;
                        }
                    }
                    None => self.pool.note([moved]),
                }
            }
            break;
        }
        for found in search.exchange(&best, &at, answer.lower, None, rounds) {
            self.pool.take(found, run);
        }
    }

    /// The rounding of the root's shares, and with a price per feature, where the size is open, the
    /// units of largest share, one size after the other.
    fn round(
        &mut self,
        search: &Search<'_>,
        fixed_in: &[usize],
        warm_start: &WarmStart,
        best: &mut Option<(Found, WarmStart)>,
        run: &mut Run<'_>,
        rounds: &mut u64,
    ) {
        let rules = run.rules();
        let mut by_share = warm_start.shares.clone();
        by_share.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let most = if search.relaxation.is_priced() { by_share.len() } else { 0 };
        let sizes = std::iter::successors(Some(0), |k| Some(k + 1 + k / 8)).take_while(|&k| k <= most);
        let prefix = |k: usize| {
            let units = fixed_in.iter().copied().chain(by_share[..k].iter().map(|s| s.0));
            Subset::from_indices(rules.p(), units.flat_map(|u| rules.unit(u).iter().copied()))
        };
        for subset in std::iter::once(search.round(fixed_in, warm_start)).chain(sizes.map(prefix)) {
            if !self.pool.has_seen(&subset) && rules.allows(&subset) {
                let found = search.evaluate(&subset, warm_start, self.pool.cutoff(), rounds);
                self.take(found, best, run);
            }
        }
    }

    /// Takes what a subset was found to be, and keeps the best with its point.
    fn take(&mut self, found: Option<(Found, WarmStart)>, best: &mut Option<(Found, WarmStart)>, run: &mut Run<'_>) {
        let Some((found, at)) = found else { return };
        self.pool.take(found.clone(), run);
        if best.as_ref().is_none_or(|(best, _)| found.objective < best.objective) {
            *best = Some((found, at));
        }
    }

    /// Allowed subsets with a unit more, less or exchanged that were not seen yet, the ones first
    /// that could gain most by the cut at this beta.
    fn neighbours(&self, search: &Search<'_>, subset: &Subset, at: &WarmStart, rules: &Rules) -> Vec<Subset> {
        let undecided = (0..rules.n_units()).filter(|&u| rules.root()[u] == Choice::Free);
        let by_gain = undecided.map(|u| (search.relaxation.gain(u, &at.beta), u));
        let (mut leaving, mut entering): (Vec<_>, Vec<_>) = by_gain.partition(|g| subset.contains(rules.unit(g.1)[0]));
        leaving.sort_by(|a, b| a.0.total_cmp(&b.0));
        entering.sort_by(|a, b| b.0.total_cmp(&a.0));
        // (what the move may gain at most, unit that leaves, unit that enters)
        let mut moves: Vec<(f64, Option<usize>, Option<usize>)> = Vec::new();
        moves.extend(leaving.iter().map(|o| (-o.0, Some(o.1), None)));
        moves.extend(entering.iter().take(SWAPS).map(|i| (i.0, None, Some(i.1))));
        for o in leaving.iter().take(SWAPS) {
            moves.extend(entering.iter().take(SWAPS).map(|i| (i.0 - o.0, Some(o.1), Some(i.1))));
        }
        moves.retain(|m| m.0 > 0.0);
        moves.sort_by(|a, b| b.0.total_cmp(&a.0));
        let moved = moves.into_iter().map(|(_, leaving, entering)| {
            let mut moved = subset.clone();
            let features = |u: Option<usize>| u.map_or(&[][..], |u| rules.unit(u));
            for &j in features(leaving) {
                moved.remove(j);
            }
            for &j in features(entering) {
                moved.insert(j);
            }
            moved
        });
        moved.filter(|s| !self.pool.has_seen(s) && rules.allows(s)).take(SWAPS).collect()
    }
}

/// Closes a node by the point that its bound holds at.
fn close(proof: &mut ProofWriter, relaxation: &Relaxation<'_>, node: &OpenNode, run: &mut Run<'_>) {
    let Some(place) = &node.place else { return };
    let fixed_in = || node.fixed_in.iter().map(|&u| u as usize).collect::<Vec<usize>>();
    let single = node.free.is_empty().then(|| relaxation.subset(&fixed_in()));
    proof.close(place, node.bound, single, run);
}

impl<'a> Master<Search<'a>> for Tree<'a> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question<'a>>, Error> {
        let cutoff = self.pool.cutoff();
        let mut nodes = Vec::new();
        while nodes.len() < BATCH
            && let Some((node, mark)) = self.open.pop()
        {
            if node.bound >= cutoff {
                self.pool.leave_out(node.bound);
                if let Some(proof) = &mut self.proof {
                    close(proof, self.relaxation, &node, run);
                }
            } else {
                nodes.push((node, mark));
            }
        }
        if nodes.is_empty() {
            self.report(run);
            return Ok(Next::Done(self.pool.status()));
        }
        let allowance = run.nodes_left().div_ceil(nodes.len() as u64);
        // Where a size alone limits the subsets, any can be grown to it.
        let rules = run.rules();
        let sized = rules.is_sort() && rules.most_features() < rules.p();
        let due = run.counts.solver_iterations / (TRYING * TRIAL);
        let root = self.root.clone().filter(|_| sized && due > self.trials);
        let trial = root.map(|root| Trial { numbers: self.trials..due, root });
        Ok(Next::Ask(Question { nodes, allowance, trial, pool: self.pool.hand_over() }))
    }

    fn learn(&mut self, question: Question<'a>, answer: Vec<Dive>, run: &mut Run<'_>) -> Result<(), Error> {
        self.pool = question.pool;
        // A batch that a limit may have cut short is done again by the run that goes on, so that
        // its tree is that of a run without limits; but a call that does no other batch keeps what
        // it has.
        let cut = run.stop().is_some() || answer.iter().any(|dive| dive.nodes >= question.allowance);
        if cut && self.batches > 0 {
            run.keep_before_batch(super::NAME, |out| self.write(&question.nodes, out));
        }
        self.batches += 1;
        self.trials = question.trial.map_or(self.trials, |trial| trial.numbers.end);
        for ((from, _), dive) in question.nodes.iter().zip(answer) {
            run.counts.nodes += dive.nodes;
            run.counts.solver_iterations += dive.rounds;
            self.pool.leave_out(dive.closed.unwrap_or(f64::INFINITY));
            for found in dive.found {
                self.pool.take(found, run);
            }
            self.pool.note(dive.seen);
            let numbers = match (&mut self.proof, &from.place) {
                (Some(proof), Some(place)) => Some(proof.write(place.node, dive.notes, run)),
                _ => None,
            };
            for mut node in dive.open {
                if let (Some(place), Some(numbers)) = (&mut node.place, numbers) {
                    place.node = numbers.of(place.node);
                }
                self.push(node);
            }
        }
        run.tell(&Event::Progress { done: run.counts.nodes, total: None, elapsed: run.elapsed() });
        self.report(run);
        self.keep(&[], false, run);
        Ok(())
    }
}

impl Tree<'_> {
    /// Keeps the state with these nodes open, too.
    pub(super) fn keep(&self, unfinished: &[(OpenNode, Mark)], last: bool, run: &mut Run<'_>) {
        run.keep(super::NAME, last, |out| self.write(unfinished, out));
    }
}
