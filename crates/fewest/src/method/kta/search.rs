//! The tree: open nodes, their expansion, and the subsets found.

use rayon::prelude::*;

use super::KtaSettings;
use super::model::{Above, Model, NO_UNIT};
use super::node::{Expansion, Noted, OpenNode, Question, Shared};
use super::pairs::{Pairs, node_bytes};
use super::products::{Query, Sums, sums};
use super::triples::MOST_SLOTS;
use crate::proof::{AlignmentProof, Child, Expanded};
use crate::search::{Found, Mark, NearBest, OpenNodes, Pool, Ties, follow};
use crate::{Choice, Clock, Error, Event, Master, Next, Oracle, Rules, Run, Sense, Status, Subset};

/// Most nodes expanded at once: fixed, so that the tree does not depend on the number of threads.
const BATCH: usize = 64;
/// Multiply-adds after which a batch takes no more nodes, so that limits are seen in time.
const BATCH_WORK: f64 = 5e11;
/// Multiply-adds in the time of one step through a model.
const STEP: f64 = 32.0;
/// Share of the memory that the list of evaluated subsets may take: one in this many bytes.
const SEEN: u64 = 16;
/// Steps through a model that are granted in any case, and at most: some seconds, so that the bound
/// moves.
const STEPS: (u64, u64) = (100_000, 2_000_000_000);

/// The oracle: sums of nodes, values of subsets.
pub(super) struct Search<'a> {
    pub(super) pairs: Pairs,
    pub(super) rules: &'a Rules,
    pub(super) clock: Clock,
    /// The free units of the rules, by their number in [`Pairs`].
    pub(super) units: Vec<usize>,
    /// Features that the rules require.
    required: Vec<usize>,
    /// Whether a proof is written.
    pub(super) proving: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(pairs: Pairs, rules: &'a Rules, run: &Run<'_>) -> Self {
        let of = |choice: Choice| (0..rules.n_units()).filter(move |&u| rules.root()[u] == choice);
        let required = of(Choice::In).flat_map(|u| rules.unit(u).iter().copied()).collect();
        Self { pairs, rules, clock: run.clock(), units: of(Choice::Free).collect(), required, proving: false }
    }

    /// Number of free units.
    pub(super) fn n_units(&self) -> usize {
        self.units.len()
    }

    /// Centres the sums on these units, the best subset known at the start.
    pub(super) fn favour(&mut self, units: &[u32]) {
        self.pairs.favour(units.iter().map(|&u| u as usize).collect());
    }

    fn size(&self, unit: u32) -> usize {
        self.rules.unit(self.units[unit as usize]).len()
    }

    pub(super) fn subset(&self, inside: &[u32]) -> Subset {
        let units = inside.iter().flat_map(|&u| self.rules.unit(self.units[u as usize]));
        Subset::from_indices(self.rules.p(), units.chain(&self.required).copied())
    }

    pub(super) fn value(&self, inside: &[u32]) -> f64 {
        self.pairs.value(&inside.iter().map(|&u| u as usize).collect::<Vec<_>>())
    }

    /// Propagates the rules and counts the units that may still come in; `None` when
    /// nothing allowed is left.
    pub(super) fn follow(&self, inside: Vec<u32>, free: Vec<u32>) -> Option<Query> {
        let (mut inside, mut free) = (inside, free);
        if !self.rules.is_sort() {
            let unit = |&u: &u32| self.units[u as usize];
            let required = (0..self.rules.n_units()).filter(|&u| self.rules.root()[u] == Choice::In);
            let state = follow(self.rules, required.chain(inside.iter().map(unit)), free.iter().map(unit))?;
            let now = |u: &u32| state[self.units[*u as usize]];
            inside.extend(free.iter().filter(|u| now(u) == Choice::In));
            free.retain(|u| now(u) == Choice::Free);
        }
        let list = self.rules.list();
        let cost = |u: u32| -> f64 {
            self.rules.unit(self.units[u as usize]).iter().map(|&j| list.costs.get(j).copied().unwrap_or(0.0)).sum()
        };
        let taken = self.required.len() + inside.iter().map(|&u| self.size(u)).sum::<usize>();
        let mut slots = free.len();
        if self.rules.most_features() < self.rules.p() {
            let mut room = self.rules.most_features().checked_sub(taken)?;
            let mut sizes: Vec<usize> = free.iter().map(|&u| self.size(u)).collect();
            sizes.sort_unstable();
            let fitting = sizes.iter().take_while(|&&s| room.checked_sub(s).map(|left| room = left).is_some()).count();
            slots = slots.min(fitting);
        }
        if list.budget.is_some() {
            let spent: f64 = inside.iter().map(|&u| cost(u)).sum::<f64>()
                + self.required.iter().map(|&j| list.costs[j]).sum::<f64>();
            let mut costs: Vec<f64> = free.iter().map(|&u| cost(u)).collect();
            costs.sort_unstable_by(f64::total_cmp);
            let mut left = self.rules.most_cost() - spent;
            let fits = |c: &&f64| {
                left -= **c;
                left >= 0.0
            };
            slots = slots.min(costs.iter().take_while(fits).count());
        }
        if slots == 0 {
            free.clear();
        }
        Some(Query::new(inside, free, slots, self.pairs.count()))
    }

    /// Values in double precision of the best allowed subsets among candidates whose value is known
    /// within `margin`: as many as wanted, and all that could be among them. No other candidate is
    /// above the number returned.
    pub(super) fn judge(
        &self,
        mut candidates: Vec<(f64, Vec<u32>)>,
        margin: f64,
        wanted: usize,
    ) -> (Vec<(f64, Subset)>, f64) {
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let mut kept: Vec<f64> = Vec::new();
        let mut found = Vec::new();
        for (about, inside) in candidates {
            if kept.get(wanted - 1).is_some_and(|last| about < last - 2.0 * margin) {
                return (found, about);
            }
            let subset = self.subset(&inside);
            if self.rules.allows(&subset) {
                kept.push(about);
                found.push((self.value(&inside), subset));
            }
        }
        (found, f64::NEG_INFINITY)
    }

    /// Steps 3 and 4 for one node.
    fn expand(&self, node: &OpenNode, sums: Option<Sums>, cutoff: f64, wanted: usize) -> Expansion {
        let mut out = Expansion { below: f64::NEG_INFINITY, ..Expansion::default() };
        let query = &node.query;
        let itself = |bound: f64| self.judge(vec![(bound, query.inside.clone())], 0.0, 1).0;
        let note = |limited: bool, shared: Shared| self.proving.then_some(Noted { limited, shared });
        let model = |level: f64| Shared::Model(Expanded { level, ..Expanded::default() });
        let Some(sums) = sums else {
            out.found = itself(node.bound);
            out.noted = note(false, model(f64::NEG_INFINITY));
            return out;
        };
        let margin = sums.margin(query, &self.pairs);
        let monotone = sums.monotone(query, &self.pairs);
        let (limit, limited) = (node.bound.min(monotone), monotone < node.bound);
        if limit <= cutoff {
            out.below = limit;
            out.noted = note(limited, Shared::Closed);
            return out;
        }
        let with = |units: &[usize]| -> Vec<u32> {
            let chosen = units.iter().filter(|&&a| a != NO_UNIT).map(|&a| query.free[a]);
            query.inside.iter().copied().chain(chosen).collect()
        };
        if query.slots > MOST_SLOTS {
            out.found = itself(limit);
            out.noted = note(limited, Shared::Chain(query.free.iter().map(|&u| self.feature(u)).collect()));
            let branch = |a: usize| (limit, with(&[a]), query.free[a + 1..].to_vec());
            self.open((0..query.free.len()).map(branch), &mut out);
            return out;
        }
        let sums = Model::new(sums, query.slots, self.pairs.diagonal + margin);
        if query.slots <= 2 {
            let (above, below) = sums.exact(cutoff);
            let candidates = above.into_iter().map(|(v, units)| (v, with(&units))).collect();
            let (found, others) = self.judge(candidates, margin, wanted);
            (out.found, out.below) = (found, below.max(others));
            out.noted = note(false, model(below.max(others)));
            return out;
        }
        let columns = (query.free.len() + 1) as f64;
        let effort = (self.pairs.count() as f64 * columns * columns / STEP) as u64;
        let above = sums.above(cutoff, effort.clamp(STEPS.0, STEPS.1), &self.clock);
        if above.stopped {
            return Expansion { stopped: true, ..out };
        }
        out.below = above.below.min(limit);
        if let Some(value) = above.itself {
            out.found = itself(value);
        }
        let open = || (0..above.order.len()).filter(|&at| above.branches[at].0 > cutoff);
        if self.proving {
            out.noted = note(limited, Shared::Model(self.shared(query, &above, open())));
        }
        let branches = open().map(|at| {
            let (bound, partners) = &above.branches[at];
            let free = (at + 1..partners.len()).filter(|&b| partners[b]).map(|b| query.free[above.order[b]]).collect();
            (bound.min(limit), with(&[above.order[at]]), free)
        });
        self.open(branches, &mut out);
        out
    }

    /// A node shared out by its model, with a child for each of these places in the order.
    fn shared(&self, query: &Query, above: &Above, open: impl Iterator<Item = usize>) -> Expanded {
        let child = |at: usize| {
            let (bound, partners) = &above.branches[at];
            let partners = (at + 1..partners.len()).filter(|&b| partners[b]).map(|b| b as u64).collect();
            Child { first: at as u64, bound: *bound, partners }
        };
        let children: Vec<Child> = open.map(child).collect();
        let order = above.order.iter().filter(|_| !children.is_empty()).map(|&a| self.feature(query.free[a]) as u64);
        Expanded { exact: query.order, level: above.below, order: order.collect(), children }
    }

    /// The first feature of a unit.
    fn feature(&self, unit: u32) -> usize {
        self.rules.unit(self.units[unit as usize])[0]
    }

    /// The features of units of the search.
    pub(super) fn features(&self, units: &[u32]) -> Vec<usize> {
        units.iter().map(|&u| self.feature(u)).collect()
    }

    /// The nodes in parts whose sums fit into memory together, at least one each.
    fn batches<'n>(&self, nodes: &'n [(OpenNode, Mark)]) -> Vec<&'n [(OpenNode, Mark)]> {
        let (mut out, mut first, mut bytes) = (Vec::new(), 0, 0);
        for (at, (node, _)) in nodes.iter().enumerate() {
            let more = node_bytes(node.query.free.len() + 1, node.query.slots, node.query.order);
            if at > first && bytes + more > self.pairs.batch_bytes() {
                out.push(&nodes[first..at]);
                (first, bytes) = (at, 0);
            }
            bytes += more;
        }
        out.push(&nodes[first..]);
        out
    }

    /// Opens children given as (bound, inside, free).
    fn open(&self, branches: impl Iterator<Item = (f64, Vec<u32>, Vec<u32>)>, out: &mut Expansion) {
        for ((bound, inside, free), number) in branches.zip(0..) {
            if let Some(query) = self.follow(inside, free) {
                out.children.push(OpenNode { bound, query, number });
            }
        }
    }
}

impl Oracle for Search<'_> {
    type Query = Question;
    type Answer = Option<Vec<Expansion>>;

    /// None once the clock says stop.
    fn ask(&mut self, question: &Question, _: &mut Run<'_>) -> Result<Self::Answer, Error> {
        let this = &*self;
        let mut out = Vec::with_capacity(question.nodes.len());
        for nodes in this.batches(&question.nodes) {
            let summed: Vec<Query> = nodes.iter().map(|n| &n.0.query).filter(|q| q.slots > 0).cloned().collect();
            let Some(done) = sums(&this.pairs, &summed, &this.clock) else { return Ok(None) };
            let mut done = done.into_iter();
            let tasks: Vec<(&OpenNode, Option<Sums>)> =
                nodes.iter().map(|(n, _)| (n, if n.query.slots > 0 { done.next() } else { None })).collect();
            let expand =
                |(node, sums): (&OpenNode, Option<Sums>)| this.expand(node, sums, question.cutoff, question.wanted);
            out.par_extend(tasks.into_par_iter().map(expand));
        }
        // What an expansion lacks is lost with it: its node stays open.
        let unknown = |e: &Expansion| e.stopped || e.found.iter().any(|found| found.0.is_nan());
        Ok(if out.iter().any(unknown) { None } else { Some(out) })
    }
}

/// The master: open nodes and the best subsets.
pub(super) struct Tree<'a> {
    pub(super) pool: Pool<'a>,
    /// Open nodes by slots.
    pub(super) open: Vec<OpenNodes<OpenNode>>,
    /// Bytes that open nodes may take before the search goes deep rather than wide.
    memory: u64,
    pub(super) made: u64,
    /// Pairs that a node sums over.
    pairs: usize,
    /// Units that the search favours in its centre ([`Pairs::favour`]).
    pub(super) favoured: Vec<u32>,
    /// Batches learned in this call.
    batches: u64,
    /// The proof, where one is wanted.
    pub(super) proof: Option<AlignmentProof>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(search: &Search<'_>, settings: &KtaSettings, run: &Run<'a>) -> Self {
        Self {
            pool: Pool::new(run, settings.wanted(), settings.memory / SEEN),
            // The memory is that of all kinds together; see `kind`.
            open: vec![OpenNodes::new(Sense::Max, Ties::Earliest, u64::MAX); search.units.len() + 1],
            memory: search.pairs.for_open_nodes(),
            made: 0,
            pairs: search.pairs.count(),
            favoured: Vec::new(),
            batches: 0,
            proof: None,
        }
    }

    /// Ends the proof: what is known of nodes that are still open closes them.
    pub(super) fn prove(&mut self, status: Status, run: &mut Run<'_>) {
        let Some(mut proof) = self.proof.take() else { return };
        for open in &mut self.open {
            while let Some((node, _)) = open.pop() {
                proof.leave(node.number, node.bound, run);
            }
        }
        proof.end(self.pool.best(), self.pool.threshold(), status, run);
    }

    /// Summary of the subsets within a share of the best, where these are wanted.
    pub(super) fn near(&self) -> Option<NearBest> {
        self.pool.near(self.open_bound())
    }

    /// No subset of an open node is better than this.
    fn open_bound(&self) -> f64 {
        self.open.iter().filter_map(OpenNodes::bound).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Takes in a subset with its exact objective.
    pub(super) fn offer(&mut self, objective: f64, subset: Subset, run: &mut Run<'_>) {
        self.pool.take(Found { subset, objective, proven: objective, closed: true, point: None }, run);
    }

    pub(super) fn push(&mut self, node: OpenNode) {
        self.made += 1;
        self.open[node.query.slots].push(node, self.made);
    }

    /// The proven bound.
    pub(super) fn report(&self, run: &mut Run<'_>) {
        let bound = self.pool.bound(self.open_bound());
        if bound.is_finite() {
            run.raise_bound(bound);
        }
    }
}

impl<'a> Master<Search<'a>> for Tree<'a> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question>, Error> {
        let cutoff = self.pool.cutoff();
        let mut nodes: Vec<(OpenNode, Mark)> = Vec::new();
        while nodes.is_empty()
            && let Some(slots) = self.kind()
        {
            let most = (BATCH as u64).min(run.nodes_left()) as usize;
            let (mut work, mut bytes) = (0.0, 0);
            while nodes.len() < most.max(1)
                && work < BATCH_WORK
                && bytes < self.memory / 2
                && let Some((node, mark)) = self.open[slots].pop()
            {
                if self.pool.reaches(node.bound, cutoff) {
                    self.pool.leave_out(node.bound);
                    if let Some(proof) = &mut self.proof {
                        proof.leave(node.number, node.bound, run);
                    }
                    continue;
                }
                work += node.query.work(self.pairs);
                bytes += node.query.sum_bytes();
                nodes.push((node, mark));
            }
        }
        if nodes.is_empty() {
            self.report(run);
            return Ok(Next::Done(self.pool.status()));
        }
        Ok(Next::Ask(Question { nodes, cutoff, wanted: self.pool.most() }))
    }

    fn learn(&mut self, question: Question, answer: Option<Vec<Expansion>>, run: &mut Run<'_>) -> Result<(), Error> {
        // A batch that a limit may have cut short, or made smaller, is done again by the run that
        // goes on, so that its tree is that of a run without limits; but a call that does no other
        // batch keeps what it has.
        let cut = run.stop().is_some() || run.nodes_left() < BATCH as u64;
        if cut && self.batches > 0 {
            run.keep_before_batch(super::NAME, |out| self.write(&question.nodes, out));
        }
        let Some(answer) = answer else {
            for (node, mark) in question.nodes {
                self.open[node.query.slots].restore(node, mark);
            }
            return Ok(());
        };
        run.counts.nodes += answer.len() as u64;
        for ((node, _), mut expansion) in question.nodes.iter().zip(answer) {
            if let (Some(proof), Some(noted)) = (&mut self.proof, expansion.noted.take()) {
                noted.write(proof, node, &mut expansion, run);
            }
            self.pool.leave_out(expansion.below);
            run.counts.solver_iterations += expansion.found.len() as u64;
            for (objective, subset) in expansion.found {
                self.offer(objective, subset, run);
            }
            expansion.children.into_iter().for_each(|node| self.push(node));
        }
        self.batches += 1;
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

impl Tree<'_> {
    /// The kind of node with the largest bound; with too many open, the kind nearest to its end.
    fn kind(&self) -> Option<usize> {
        let top = |slots: usize| self.open[slots].bound().unwrap_or(f64::NEG_INFINITY);
        let mut filled = (0..self.open.len()).filter(|&slots| !self.open[slots].is_empty());
        if self.open.iter().map(OpenNodes::bytes).sum::<u64>() > self.memory {
            return filled.next();
        }
        filled.max_by(|&a, &b| top(a).total_cmp(&top(b)).then(b.cmp(&a)))
    }
}
