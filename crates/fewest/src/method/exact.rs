//! Exact selection: branch and bound on the saddle relaxation; finds the best subset for a linear SVM and proves it.
//!
//! Solves   min_z v(z) + sum_j lambda_j z_j  s.t. rules, with hinge or squared hinge, ridge 1/2 |w|^2, any bias.
//! Paper    Aytug 2015, problems FSP-M and FSP-lambda; bound of the saddle form (ARCHITECTURE.md, "The idea"); tree as in
//!          Hazimeh, Mazumder, Saab, Sparse regression at scale, Math. Programming 196 (2022).
//! Given    Problem (n samples, p features), Rules, [`ExactSettings`].
//! Returns  the N best subsets, objective, bound, status.
//! Steps    1. first subsets: the largest gains, and those given  2. relax the root  3. improve: round, eliminate, swap
//!          4. decide features by their price and by probing  5. take the open nodes of lowest bound and dive from each:
//!          relax, decide, round, branch on the largest product of promised rises, go on with one child while the bound is low
//!          6. until no node is open below the incumbent
//! Cost     per node: a few rounds on the samples near the margin (`relaxation`); memory: 8 n bytes per open node, up to
//!          `svm.memory`; nodes beyond start from the root's answer.
//! Differs  from the paper: no master problem; a node's bound is the relaxation at the end of all its cuts.
//! Fails    never on limits: the open node of lowest bound is then the bound of the run.

use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::path::{self, SizeReport};
use super::{ALL_RULES, Classes, Info, Method, Report, check_penalty};
use crate::relaxation::{Answer, Decide, Probed, Relaxation, Warm};
use crate::{
    Choice, Classified, Clock, Error, Event, Kernel, Limits, Master, Next, Observer, Oracle, Problem, Rules, Run,
    Selection, Sense, Solution, Status, Subset, SvmSettings, drive,
};

/// Nodes dived from at once: fixed, so that the tree does not depend on the number of threads.
const BATCH: usize = 8;
/// Share of what a node lacks to the cutoff that its gap may have.
const SHARE: f64 = 0.25;
/// Relative gap of a node's relaxation in any case.
const NODE_TOLERANCE: f64 = 1e-6;
/// A dive goes on while its bound has risen by at most this share of the way to the cutoff: then the run's bound rises early,
/// and fewer dives end where they need not have gone.
const REACH: f64 = 0.1;
/// What a rise counts at least, as a share of what a node lacks to the cutoff; see [`branching_unit`].
const LEAST_RISE: f64 = 0.03;
/// Swaps, additions and removals tried around an incumbent before it counts as locally best.
const SWAPS: usize = 24;

/// Settings of [`exact`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExactSettings {
    /// Loss, cost C, bias and tolerance of the SVM.
    pub svm: SvmSettings,
    /// lambda_j added to the objective for each chosen feature, length p, each 0 or more; empty for none.
    pub penalty: Vec<f64>,
    /// How many best subsets to prove and return, at least 1. Default 1.
    pub solutions: usize,
    /// Subsets to start from, as first incumbents; those the rules forbid are ignored.
    pub start: Vec<Subset>,
}

impl Default for ExactSettings {
    fn default() -> Self {
        Self { svm: SvmSettings::default(), penalty: Vec::new(), solutions: 1, start: Vec::new() }
    }
}

impl Method for ExactSettings {
    const INFO: Info = Info {
        name: "exact",
        title: "the best subset, by branch and bound",
        solves: "Finds the allowed subset whose linear SVM has the smallest objective, and proves it: bounds from the dual of the SVM with weights spread over the features still open, and a search where they do not decide. At a limit it returns the best subset so far with the bound and gap proven until then.",
        formula: "min over allowed z of v(z) + sum_j lambda_j z_j, v(z) = min 1/2 |w|^2 + C sum_i loss(y_i (w.x_i + b)) with w_j = 0 where z_j = 0",
        proves: "the best subset, within --gap",
        bounds: true,
        searches: true,
        kernels: "linear",
        classes: Classes::Two,
        rules: ALL_RULES,
        cost: "few nodes where C is small or few features stand out; grows with C, p and --max-features in the worst case exponentially",
        paper: "H. Aytug: Feature selection for support vector machines using Generalized Benders Decomposition. European Journal of Operational Research, 2015, for the model; the branch and bound is ours.",
    };

    fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        if self.solutions == 0 {
            return Err(Error::setting("solutions", 0, "at least 1"));
        }
        check_penalty(&self.penalty, p)
    }

    fn select(
        &self,
        samples: &Classified<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        let settings = Self { start: super::subsets(&self.start, rules)?, ..self.clone() };
        let selection = exact(&samples.problem()?, rules, &settings, limits, observer)?;
        Ok(Report::new(selection, Kernel::Linear))
    }

    fn path(
        &self,
        samples: &Classified<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        let points = path::exact_path(&samples.problem()?, rules, sizes, self, limits, observer)?;
        Ok(path::reports(points, |_| Kernel::Linear))
    }

    fn finds_size(&self) -> bool {
        !self.penalty.is_empty()
    }

    fn penalty(&self) -> &[f64] {
        &self.penalty
    }
}

/// `exact`: the allowed subset of smallest objective, with proof. `Selection::solutions` holds the N best, best first.
///
/// # Errors
/// Settings out of range.
pub fn exact(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    settings.check(problem.n_features())?;
    let mut run = Run::new(rules, limits, Sense::Min, observer)?;
    let relaxation = Relaxation::new(problem, rules, &settings.svm, &settings.penalty);
    let (relative, absolute) = run.gaps();
    let pool = Pool { relative, absolute, wanted: settings.solutions, best: Vec::new(), seen: HashSet::new() };
    let mut search =
        Search { relaxation: &relaxation, rules, clock: run.clock(), leaf: (0.01 * relative).clamp(1e-10, 1e-7) };
    // beta and margins in single precision.
    let own_warm = (settings.svm.memory / (8 * problem.n_samples() as u64)) as usize;
    let mut tree = Tree { pool, open: BinaryHeap::new(), closed: f64::INFINITY, made: 0, root: None, own_warm };
    tree.plant(&mut search, settings, &mut run);
    let status = drive(&mut search, &mut tree, &mut run)?;
    let solutions = tree.pool.best.into_iter().map(|(objective, subset)| Solution { subset, objective }).collect();
    Ok(Selection { outcome: run.finish(status), ranking: Vec::new(), solutions })
}

/// The best subsets found, and all that were looked at.
#[derive(Default)]
struct Pool {
    relative: f64,
    absolute: f64,
    wanted: usize,
    /// (objective, subset), best first, at most `wanted`.
    best: Vec<(f64, Subset)>,
    seen: HashSet<Subset>,
}

impl Pool {
    /// A node whose bound is at or above this holds nothing that is asked for.
    fn cutoff(&self) -> f64 {
        match self.best.get(self.wanted - 1) {
            Some((worst, _)) => self.below(*worst),
            None => f64::INFINITY,
        }
    }

    /// What a bound must reach to be within the gap of an objective; a hair more, so that rounding cannot reopen the gap.
    fn below(&self, objective: f64) -> f64 {
        objective - (1.0 - 1e-9) * (self.relative * objective.abs()).max(self.absolute)
    }

    fn take(&mut self, subset: Subset, objective: f64) {
        self.seen.insert(subset.clone());
        if self.best.iter().any(|b| b.1 == subset) {
            return;
        }
        let at = self.best.partition_point(|b| b.0 <= objective);
        self.best.insert(at, (objective, subset));
        self.best.truncate(self.wanted);
    }
}

/// An open node; units that are neither inside nor free are out.
#[derive(Debug, Clone)]
struct Node {
    bound: f64,
    /// Order of creation, for ties.
    number: u64,
    inside: Vec<u32>,
    free: Vec<u32>,
    warm: Arc<Packed>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Node {}
impl PartialOrd for Node {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Node {
    /// The greatest is the one of lowest bound, then the latest.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.bound.total_cmp(&self.bound).then(self.number.cmp(&other.number))
    }
}

/// A warm start in single precision.
#[derive(Debug)]
struct Packed {
    beta: Vec<f32>,
    bias: f64,
    shares: Vec<(u32, f32)>,
    tau: Vec<f64>,
    margins: Vec<f32>,
}

impl Packed {
    fn new(warm: &Warm) -> Arc<Self> {
        Arc::new(Self {
            beta: warm.beta.iter().map(|&b| b as f32).collect(),
            bias: warm.bias,
            shares: warm.shares.iter().map(|s| (s.0 as u32, s.1 as f32)).collect(),
            tau: warm.tau.clone(),
            margins: warm.margins.iter().map(|&m| m as f32).collect(),
        })
    }

    fn unpack(&self, relaxation: &Relaxation<'_>) -> Warm {
        let mut beta: Vec<f64> = self.beta.iter().map(|&b| f64::from(b)).collect();
        relaxation.make_feasible(&mut beta);
        Warm {
            beta,
            bias: self.bias,
            shares: self.shares.iter().map(|s| (s.0 as usize, f64::from(s.1))).collect(),
            tau: self.tau.clone(),
            margins: self.margins.iter().map(|&m| f64::from(m)).collect(),
        }
    }
}

/// Nodes to dive from, and what is known so far.
struct Question {
    nodes: Vec<Node>,
    /// Nodes each dive may solve.
    allowance: u64,
    pool: Pool,
}

/// A node with units decided.
struct Fixed {
    inside: Vec<usize>,
    free: Vec<usize>,
    /// The node's answer, without shares of units that are decided now.
    warm: Warm,
    /// Whether any unit was decided, and whether by probing.
    changed: bool,
    probed: bool,
    /// See [`Probed::promises`].
    promises: Vec<(usize, [f64; 2])>,
}

/// What a dive brought up.
#[derive(Default)]
struct Dive {
    open: Vec<Node>,
    found: Vec<(Subset, f64)>,
    looked_at: Vec<Subset>,
    /// Lowest bound among the nodes that were closed.
    closed: Option<f64>,
    nodes: u64,
    rounds: u64,
}

impl Dive {
    fn close(&mut self, bound: f64) {
        self.closed = Some(self.closed.map_or(bound, |c| c.min(bound)));
    }
}

/// The oracle: bounds of nodes, objectives of subsets.
struct Search<'a> {
    relaxation: &'a Relaxation<'a>,
    rules: &'a Rules,
    clock: Clock,
    /// Relative gap of a single subset's objective.
    leaf: f64,
}

impl Search<'_> {
    fn solve(&self, inside: &[usize], free: &[usize], warm: &Warm, cutoff: f64) -> Answer {
        let tolerance = if free.is_empty() { self.leaf } else { NODE_TOLERANCE };
        let share = if free.is_empty() { 0.0 } else { SHARE };
        let decide = Decide { cutoff, share, tolerance };
        self.relaxation.solve(inside, free, warm, &decide, &mut || self.clock.stop())
    }

    /// Objective of one subset, unless it is proven to be at or above the cutoff.
    fn evaluate(&self, subset: &Subset, warm: &Warm, cutoff: f64, rounds: &mut u64) -> Option<(f64, Warm)> {
        let mut units: Vec<usize> = subset.iter().map(|j| self.rules.unit_of(j)).collect();
        units.sort_unstable();
        units.dedup();
        let cut = self.relaxation.constant(&warm.beta)
            - units.iter().map(|&u| self.relaxation.gain(u, &warm.beta)).sum::<f64>();
        if cut >= cutoff {
            return None;
        }
        let answer = self.solve(&units, &[], warm, cutoff);
        *rounds += answer.rounds;
        (answer.lower < cutoff).then_some((answer.upper, answer.warm))
    }

    /// The allowed subset nearest to the shares: the z half at `share * gain`.
    fn round(&self, inside: &[usize], warm: &Warm) -> Option<Subset> {
        let p = self.rules.p();
        let of = |units: &mut dyn Iterator<Item = usize>| {
            Subset::from_indices(p, units.flat_map(|u| self.rules.unit(u).iter().copied()))
        };
        if self.relaxation.size_only() {
            let slots = self.rules.list().max_features.unwrap_or(p) - inside.len();
            let mut shares = warm.shares.clone();
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            let taken =
                shares.into_iter().take(slots).filter(|s| self.rules.list().max_features.is_some() || s.1 > 0.5);
            return Some(of(&mut inside.iter().copied().chain(taken.map(|s| s.0))));
        }
        let mut gains = vec![-1e-9; p];
        let mut set = |u: usize, gain: f64| {
            let unit = self.rules.unit(u);
            for &j in unit {
                gains[j] = gain / unit.len() as f64;
            }
        };
        for &(u, share) in &warm.shares {
            set(u, share * (self.relaxation.gain(u, &warm.beta) + self.relaxation.penalty(u)).max(1e-9));
        }
        let large = 10.0
            * (1.0 + warm.shares.len() as f64)
            * warm.shares.iter().map(|s| self.relaxation.gain(s.0, &warm.beta)).fold(1.0, f64::max);
        for &u in inside {
            set(u, large);
        }
        self.rules.best_subset(&gains).map(|b| b.0)
    }

    /// Draws what follows from the rules; `None` when nothing allowed is left.
    fn follow(&self, inside: &[usize], free: &[usize]) -> Option<(Vec<usize>, Vec<usize>)> {
        if self.relaxation.size_only() {
            let room = self.rules.list().max_features.unwrap_or(self.rules.p());
            if inside.len() > room {
                return None;
            }
            let free = if inside.len() == room { Vec::new() } else { free.to_vec() };
            return Some((inside.to_vec(), free));
        }
        let mut state = vec![Choice::Out; self.rules.n_units()];
        for (units, choice) in [(inside, Choice::In), (free, Choice::Free)] {
            for &u in units {
                state[u] = choice;
            }
        }
        self.rules.propagate(&mut state).ok()?;
        let of = |choice: Choice| (0..state.len()).filter(|&u| state[u] == choice).collect();
        Some((of(Choice::In), of(Choice::Free)))
    }

    /// Step 4: decides free units whose other choice would reach the cutoff, by price and by probing; then what follows.
    /// `None` when nothing below the cutoff is left.
    fn fix(&self, inside: &[usize], free: &[usize], answer: &Answer, cutoff: f64) -> Option<Fixed> {
        let mut now = inside.to_vec();
        let mut left = Vec::with_capacity(free.len());
        for (&u, excess) in free.iter().zip(&answer.excess) {
            if answer.priced + excess.abs() < cutoff {
                left.push(u);
            } else if *excess > 0.0 {
                now.push(u);
            }
        }
        now.sort_unstable();
        let (mut now, mut left) = self.follow(&now, &left)?;
        let mut warm = answer.warm.clone();
        warm.shares.retain(|s| left.binary_search(&s.0).is_ok());
        let Probed { out, inside: chosen, promises } =
            self.relaxation.probe(&now, &left, &warm, answer.priced, answer.upper - answer.lower, cutoff);
        if out.iter().any(|u| chosen.contains(u)) {
            return None;
        }
        let probed = !out.is_empty() || !chosen.is_empty();
        if probed {
            left.retain(|u| !out.contains(u) && !chosen.contains(u));
            now.extend(chosen);
            now.sort_unstable();
            (now, left) = self.follow(&now, &left)?;
            warm.shares.retain(|s| left.binary_search(&s.0).is_ok());
        }
        let changed = now.len() > inside.len() || left.len() < free.len();
        Some(Fixed { inside: now, free: left, warm, changed, probed, promises })
    }

    /// Step 5, from one node.
    fn dive(&self, node: &Node, question: &Question) -> Dive {
        let mut dive = Dive::default();
        let mut cutoff = question.pool.cutoff();
        let wide = |list: &[u32]| list.iter().map(|&u| u as usize).collect::<Vec<usize>>();
        let narrow = |list: &[usize]| list.iter().map(|&u| u as u32).collect::<Vec<u32>>();
        let (mut inside, mut free) = (wide(&node.inside), wide(&node.free));
        let mut warm = node.warm.unpack(self.relaxation);
        let mut bound = node.bound;
        let open = |inside: &[usize], free: &[usize], bound: f64, warm: &Arc<Packed>| Node {
            bound,
            number: 0,
            inside: narrow(inside),
            free: narrow(free),
            warm: warm.clone(),
        };
        loop {
            if dive.nodes >= question.allowance || self.clock.stop().is_some() {
                dive.open.push(open(&inside, &free, bound, &Packed::new(&warm)));
                return dive;
            }
            let answer = self.solve(&inside, &free, &warm, cutoff);
            dive.nodes += 1;
            dive.rounds += answer.rounds;
            bound = answer.lower.max(bound);
            if bound >= cutoff {
                dive.close(bound);
                return dive;
            }
            if free.is_empty() {
                if self.clock.stop().is_some() {
                    dive.open.push(open(&inside, &free, bound, &Packed::new(&answer.warm)));
                    return dive;
                }
                let features = inside.iter().flat_map(|&u| self.rules.unit(u).iter().copied());
                dive.found.push((Subset::from_indices(self.rules.p(), features), answer.upper));
                dive.close(bound);
                return dive;
            }
            let Some(fixed) = self.fix(&inside, &free, &answer, cutoff) else {
                dive.close(cutoff);
                return dive;
            };
            if fixed.changed {
                dive.close(cutoff);
            }
            (inside, free, warm) = (fixed.inside, fixed.free, fixed.warm);
            if free.is_empty() || fixed.probed {
                continue;
            }
            if dive.looked_at.is_empty()
                && let Some(subset) = self.round(&inside, &warm)
                && !question.pool.seen.contains(&subset)
                && self.rules.allows(&subset)
            {
                if let Some((objective, _)) = self.evaluate(&subset, &warm, cutoff, &mut dive.rounds) {
                    dive.found.push((subset.clone(), objective));
                    if question.pool.wanted == 1 {
                        cutoff = cutoff.min(question.pool.below(objective));
                    }
                }
                dive.looked_at.push(subset);
            }
            let unit = branching_unit(&fixed.promises, cutoff - bound).unwrap_or(free[0]);
            let share = warm.shares.iter().find(|s| s.0 == unit).map_or(0.0, |s| s.1);
            let packed = Packed::new(&warm);
            let rest: Vec<usize> = free.iter().copied().filter(|&u| u != unit).collect();
            let mut with = inside.clone();
            with.insert(with.partition_point(|&u| u < unit), unit);
            let (first, second) = (self.follow(&with, &rest), self.follow(&inside, &rest));
            let (ahead, aside) = if share >= 0.5 { (first, second) } else { (second, first) };
            if let Some((i, f)) = &aside {
                dive.open.push(open(i, f, bound, &packed));
            } else {
                dive.close(cutoff);
            }
            let Some((i, f)) = ahead else {
                dive.close(cutoff);
                return dive;
            };
            if cutoff.is_finite() && bound > node.bound + REACH * (cutoff - node.bound) {
                // Other open nodes are lower by now.
                dive.open.push(open(&i, &f, bound, &packed));
                return dive;
            }
            (inside, free) = (i, f);
        }
    }
}

/// The unit whose children's bounds promise the largest product of rises. A rise counts as at least a small share of what is
/// missing to the cutoff: where choosing a unit hardly ever helps, the one that is missed most is taken.
fn branching_unit(promises: &[(usize, [f64; 2])], missing: f64) -> Option<usize> {
    let floor = if missing.is_finite() { LEAST_RISE * missing } else { 0.0 };
    let score = |p: &(usize, [f64; 2])| (p.1[0] + floor) * (p.1[1] + floor);
    promises.iter().max_by(|a, b| score(a).total_cmp(&score(b)).then(b.0.cmp(&a.0))).map(|p| p.0)
}

impl Oracle for Search<'_> {
    type Query = Question;
    type Answer = Vec<Dive>;

    fn ask(&mut self, question: &Question, _: &mut Run<'_>) -> Result<Vec<Dive>, Error> {
        let this = &*self;
        Ok(question.nodes.par_iter().map(|node| this.dive(node, question)).collect())
    }
}

/// The master: open nodes and the pool.
struct Tree {
    pool: Pool,
    open: BinaryHeap<Node>,
    /// Lowest bound among closed nodes.
    closed: f64,
    made: u64,
    /// The root's answer, and how many open nodes may keep their own instead.
    root: Option<Arc<Packed>>,
    own_warm: usize,
}

impl Tree {
    fn offer(&mut self, subset: Subset, objective: f64, run: &mut Run<'_>) {
        run.offer(&subset, objective);
        self.pool.take(subset, objective);
    }

    /// The proven bound: nothing is below the open nodes, the closed ones and the best subset itself.
    fn report(&self, run: &mut Run<'_>) {
        let open = self.open.peek().map_or(f64::INFINITY, |n| n.bound);
        let best = self.pool.best.first().map_or(f64::INFINITY, |b| b.0);
        let bound = open.min(self.closed).min(best);
        if bound.is_finite() {
            // Losses, weights and prices are at least 0, whatever a run that was stopped early has proven.
            run.raise_bound(bound.max(0.0));
        }
    }

    /// Steps 1 to 4.
    fn plant(&mut self, search: &mut Search<'_>, settings: &ExactSettings, run: &mut Run<'_>) {
        let (relaxation, rules) = (search.relaxation, run.rules());
        let mut rounds = 0;
        // Step 1.
        let cold = relaxation.cold();
        let gains: Vec<f64> = (0..rules.p())
            .map(|j| {
                let u = rules.unit_of(j);
                relaxation.gain(u, &cold.beta) / rules.unit(u).len() as f64
            })
            .collect();
        let first = rules.best_subset(&gains).map(|b| b.0);
        for subset in first.into_iter().chain(settings.start.iter().filter(|s| rules.allows(s)).cloned()) {
            if let Some((objective, _)) = search.evaluate(&subset, &cold, f64::INFINITY, &mut rounds) {
                self.offer(subset, objective, run);
            }
        }
        // Step 2.
        let root = rules.root();
        let of = |choice: Choice| (0..root.len()).filter(|&u| root[u] == choice).collect::<Vec<usize>>();
        let (inside, free) = search.follow(&of(Choice::In), &of(Choice::Free)).unwrap_or_default();
        let answer = search.solve(&inside, &free, &cold, f64::INFINITY);
        run.counts.nodes += 1;
        // Step 3.
        if !free.is_empty() {
            self.improve(search, &inside, &answer.warm, run, &mut rounds);
        }
        run.counts.solver_iterations += answer.rounds + rounds;
        // Step 4.
        let cutoff = self.pool.cutoff();
        let fixed = search.fix(&inside, &free, &answer, cutoff);
        if fixed.as_ref().is_none_or(|f| f.changed) {
            self.closed = cutoff;
        }
        if let Some(Fixed { inside, free, warm, .. }) = fixed {
            let narrow = |list: Vec<usize>| list.into_iter().map(|u| u as u32).collect();
            let warm = Packed::new(&warm);
            self.root = Some(warm.clone());
            self.open.push(Node { bound: answer.lower, number: 0, inside: narrow(inside), free: narrow(free), warm });
        }
        self.report(run);
    }

    /// Step 3: rounds the shares, then swaps, adds or removes units as long as that helps.
    fn improve(&mut self, search: &Search<'_>, inside: &[usize], warm: &Warm, run: &mut Run<'_>, rounds: &mut u64) {
        let relaxation = search.relaxation;
        let rules = run.rules();
        // With a price per feature the size is open: the features of largest share, one size after the other.
        let mut by_share = warm.shares.clone();
        by_share.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let most = if relaxation.is_priced() { by_share.len() } else { 0 };
        let sizes = std::iter::successors(Some(0), |k| Some(k + 1 + k / 8)).take_while(|&k| k <= most);
        let prefix = |k: usize| {
            let units = inside.iter().copied().chain(by_share[..k].iter().map(|s| s.0));
            Subset::from_indices(rules.p(), units.flat_map(|u| rules.unit(u).iter().copied()))
        };
        for subset in search.round(inside, warm).into_iter().chain(sizes.map(prefix)) {
            if !self.pool.seen.contains(&subset)
                && rules.allows(&subset)
                && let Some((objective, _)) = search.evaluate(&subset, warm, self.pool.cutoff(), rounds)
            {
                self.offer(subset, objective, run);
            }
        }
        let Some((mut best, mut subset)) = self.pool.best.first().cloned() else { return };
        let Some((_, mut at)) = search.evaluate(&subset, warm, f64::INFINITY, rounds) else { return };
        'again: while run.stop().is_none() {
            let gain = |u: &usize| relaxation.gain(*u, &at.beta);
            let undecided = (0..rules.n_units()).filter(|&u| rules.root()[u] == Choice::Free);
            let by_gain = undecided.map(|u| (gain(&u), u));
            let (mut out, mut inn): (Vec<_>, Vec<_>) = by_gain.partition(|g| subset.contains(rules.unit(g.1)[0]));
            out.sort_by(|a, b| a.0.total_cmp(&b.0));
            inn.sort_by(|a, b| b.0.total_cmp(&a.0));
            // (what the move may gain at most, unit that leaves, unit that enters), by the cut at this beta.
            let mut moves: Vec<(f64, Option<usize>, Option<usize>)> = Vec::new();
            moves.extend(out.iter().map(|o| (-o.0, Some(o.1), None)));
            moves.extend(inn.iter().take(SWAPS).map(|i| (i.0, None, Some(i.1))));
            for o in out.iter().take(SWAPS) {
                moves.extend(inn.iter().take(SWAPS).map(|i| (i.0 - o.0, Some(o.1), Some(i.1))));
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
            let moved: Vec<Subset> =
                moved.filter(|s| !self.pool.seen.contains(s) && rules.allows(s)).take(SWAPS).collect();
            for swapped in moved {
                match search.evaluate(&swapped, &at, best, rounds) {
                    Some((objective, warm)) => {
                        self.offer(swapped.clone(), objective, run);
                        if objective < best {
                            (best, subset, at) = (objective, swapped, warm);
                            continue 'again;
                        }
                    }
                    None => _ = self.pool.seen.insert(swapped),
                }
            }
            return;
        }
    }
}

impl Master<Search<'_>> for Tree {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Question>, Error> {
        let cutoff = self.pool.cutoff();
        let mut nodes = Vec::new();
        while nodes.len() < BATCH
            && let Some(node) = self.open.pop()
        {
            if node.bound >= cutoff {
                self.closed = self.closed.min(node.bound);
            } else {
                nodes.push(node);
            }
        }
        if nodes.is_empty() {
            self.report(run);
            let status = if self.pool.best.is_empty() { Status::Infeasible } else { Status::Optimal };
            return Ok(Next::Done(status));
        }
        let allowance = run.nodes_left().div_ceil(nodes.len() as u64);
        Ok(Next::Ask(Question { nodes, allowance, pool: std::mem::take(&mut self.pool) }))
    }

    fn learn(&mut self, question: Question, answer: Vec<Dive>, run: &mut Run<'_>) -> Result<(), Error> {
        self.pool = question.pool;
        for dive in answer {
            run.counts.nodes += dive.nodes;
            run.counts.solver_iterations += dive.rounds;
            self.closed = self.closed.min(dive.closed.unwrap_or(f64::INFINITY));
            for (subset, objective) in dive.found {
                self.offer(subset, objective, run);
            }
            self.pool.seen.extend(dive.looked_at);
            for mut node in dive.open {
                self.made += 1;
                node.number = self.made;
                if self.open.len() >= self.own_warm
                    && let Some(root) = &self.root
                {
                    node.warm = root.clone();
                }
                self.open.push(node);
            }
        }
        run.tell(&Event::Progress { done: run.counts.nodes, total: None, elapsed: run.elapsed() });
        self.report(run);
        Ok(())
    }
}
