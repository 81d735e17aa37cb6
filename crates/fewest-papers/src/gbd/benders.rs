//! RMP, the master of `gbd`: it says where to train next.

use std::collections::{HashSet, VecDeque};

use super::cuts::{Check, CutMaster, MasterAnswer, indicator};
use super::list::List;
use super::trainer::{FINEST, Query, Trained, Trainer};
use super::validation::least_error;
use super::{GbdSettings, TrainedSubset};
use fewest::relative_gap;
use fewest::{Error, Event, Master, Next, Rules, Run, Status, Subset};

/// Step 3 starts when the relaxation is solved to this gap.
const ROOT_GAP: f64 = 0.02;
/// Where root cuts are made between the best fractional point (0) and the relaxation's optimum (1).
const IN_OUT: f64 = 0.5;
/// Weight of the newest subset in the core point.
const NEWEST: f64 = 0.6;
/// The largest gap a master may be solved to.
const LOOSEST: f64 = 0.1;
/// The smallest one: HiGHS's tolerances allow no smaller.
const TIGHTEST: f64 = 1e-6;
/// Share of the allowed gap that the cutoff leaves out of sight; the rest is room for rounding.
const OUT_OF_SIGHT: f64 = 0.9;
/// The share at which its objective may still be called proven.
const PROVEN: f64 = 0.1;
/// What a claim of HiGHS is lowered by before it is checked: the same sum in another order.
const ROUNDING: f64 = 1e-7;

/// The master: cuts, and where to train next.
#[expect(clippy::struct_excessive_bools, reason = "four things that have happened or not, in any combination")]
pub(super) struct Benders<'a> {
    pub(super) rules: &'a Rules,
    settings: &'a GbdSettings,
    pub(super) cuts: CutMaster<'a>,
    /// Where to train before the master is solved again.
    pub(super) queue: VecDeque<Query>,
    /// Whether the first query was made.
    pub(super) begun: bool,
    /// Whether the relaxation is still being solved.
    pub(super) at_root: bool,
    /// At the root the best fractional point, later the core point; before there is one, all
    /// features. Length p.
    pub(super) core: Vec<f64>,
    /// The upper value of the core point, at the root.
    pub(super) core_value: f64,
    /// Masters solved.
    pub(super) round: u64,
    /// Whether the last master gave a subset already trained on.
    pub(super) nothing_new: bool,
    /// Whether masters search only for subsets that improve on the best.
    pub(super) cutoff: bool,
    /// Relative gap of the best subset's own training.
    pub(super) unsure: f64,
    /// Subsets trained on, with their places.
    pub(super) visited: HashSet<Subset>,
    /// The trained subsets, in order.
    pub(super) trained: Vec<TrainedSubset>,
    /// beta and objective of each training, in order: the cuts are made of them again.
    pub(super) points: Vec<(Vec<f64>, f64)>,
    /// Trainings of this call.
    pub(super) learned: u64,
}

impl<'a> Benders<'a> {
    pub(super) fn new(rules: &'a Rules, settings: &'a GbdSettings, list: Option<List>) -> Result<Self, Error> {
        Ok(Self {
            rules,
            settings,
            cuts: CutMaster::new(rules, settings.penalty.prices(), list)?,
            queue: VecDeque::new(),
            begun: false,
            at_root: settings.root_cuts,
            core: vec![1.0; rules.p()],
            core_value: f64::INFINITY,
            round: 0,
            nothing_new: false,
            cutoff: settings.cutoff,
            unsure: 0.0,
            visited: HashSet::new(),
            trained: Vec::new(),
            points: Vec::new(),
            learned: 0,
        })
    }
}

impl<'a> Master<Trainer<'a>> for Benders<'a> {
    fn next(&mut self, run: &mut Run<'_>) -> Result<Next<Query>, Error> {
        loop {
            if run.closed() {
                let best = run.incumbent().map_or(0.0, |i| i.1);
                let known = self.unsure <= (PROVEN * run.gaps().share(best)).max(FINEST);
                return Ok(Next::Done(if known { Status::Optimal } else { Status::Stalled }));
            }
            if self.out_of_patience() {
                return Ok(Next::Done(Status::Completed));
            }
            let left = self.settings.max_cuts.saturating_sub(run.counts.cuts);
            if left == 1 && run.incumbent().is_none() {
                return Ok(Next::Ask(Query::Subset(self.rounded(run))));
            }
            if left > 0
                && let Some(query) = self.queue.pop_front()
            {
                return Ok(Next::Ask(query));
            }
            let ended = if !self.begun {
                self.begin(run)
            } else if self.at_root && left > 0 {
                self.relax(run)
            } else {
                self.solve(run).or((left == 0 && !run.closed()).then_some(Status::CallLimit))
            };
            if let Some(status) = ended {
                // A run that is stopped before there is a subset still trains on one.
                let last = if run.stop().is_some() { self.wind_up(run) } else { None };
                return Ok(last.map_or(Next::Done(status), Next::Ask));
            }
        }
    }

    fn learn(&mut self, query: Query, trained: Trained, run: &mut Run<'_>) -> Result<(), Error> {
        if run.stop().is_some() && self.learned > 0 {
            // A training that was cut short is done again by the run that goes on.
            self.queue.push_front(query.clone());
            self.keep(true, run);
            self.queue.pop_front();
        }
        self.learned += 1;
        run.counts.cuts += 1;
        let objective = trained.primal + self.cuts.price(&query.z());
        self.points.push((trained.beta(), objective));
        // Step 2.
        self.cuts.learn(&trained.cut, objective)?;
        match query {
            Query::Mixture(z) => {
                if self.at_root && objective < self.core_value {
                    (self.core, self.core_value) = (z, objective);
                }
            }
            Query::Subset(subset) => {
                if run.offer(&subset, objective) {
                    self.unsure = trained.gap();
                }
                self.visited.insert(subset.clone());
                self.trained.push(TrainedSubset {
                    round: self.round,
                    objective,
                    upper: run.incumbent().map_or(objective, |i| i.1),
                    bound: run.bound(),
                    validation_error: self.settings.validation.as_ref().map(|v| v.error(&subset, &trained.machines[0])),
                    subset,
                });
            }
        }
        run.tell(&Event::Progress { done: run.counts.cuts, total: None, elapsed: run.elapsed() });
        self.keep(false, run);
        Ok(())
    }

    fn wind_up(&mut self, run: &mut Run<'_>) -> Option<Query> {
        // What is trained on now, and only because the run was stopped, is no part of its state.
        self.keep(true, run);
        run.incumbent().is_none().then(|| Query::Subset(self.rounded(run)))
    }
}

impl Benders<'_> {
    /// The first query: a subset, or the middle of what the rules allow. A status when the run was
    /// stopped.
    fn begin(&mut self, run: &Run<'_>) -> Option<Status> {
        self.begun = true;
        if self.at_root {
            match self.cuts.centre(run) {
                Ok(None) => return Some(stopped(run)),
                Ok(Some(centre)) => self.queue.push_back(Query::Mixture(centre)),
                Err(_) => self.queue.push_back(Query::Subset(self.rounded(run))),
            }
        } else {
            let first = self.rounded(run);
            self.core = indicator(&first);
            self.queue.push_back(Query::Subset(first));
        }
        None
    }

    /// The allowed subset nearest to the core point; before there is one, the first features by
    /// index that the rules allow.
    fn rounded(&self, run: &Run<'_>) -> Subset {
        // A price makes small subsets worth while, so that half a feature must be there; otherwise
        // there is no reason to leave room unused.
        let least = if self.settings.penalty.prices().is_empty() { -1e-6 } else { 0.5 };
        let gains: Vec<f64> = self.core.iter().map(|z| z - least).collect();
        self.rules.best_subset_until(&gains, 1e-12, &run.counted_clock()).subset
    }

    /// The relaxation: another cut or the end of the root, and a rounding. A status when the run
    /// was stopped.
    fn relax(&mut self, run: &mut Run<'_>) -> Option<Status> {
        let (bound, optimum) = match self.cuts.relaxation(run) {
            Ok(Some(found)) => found,
            Ok(None) if run.stop().is_some() => return Some(stopped(run)),
            // HiGHS finds the program unbounded: the masters, which are checked, continue from
            // here.
            Ok(None) | Err(_) => {
                self.at_root = false;
                return None;
            }
        };
        run.raise_bound(bound);
        let half = 2 * run.counts.cuts >= self.settings.max_cuts;
        if half || self.core_value - bound <= ROOT_GAP * self.core_value.abs() {
            self.at_root = false;
        } else {
            self.queue.push_back(Query::Mixture(mixed(&self.core, &optimum, IN_OUT)));
        }
        let rounded = self.rounded(run);
        if !self.visited.contains(&rounded) {
            self.queue.push_back(Query::Subset(rounded));
        }
        None
    }

    /// Step 3. A status when the run is over, but for a gap that was closed.
    fn solve(&mut self, run: &mut Run<'_>) -> Option<Status> {
        self.round += 1;
        let settings = self.settings;
        let gaps = run.gaps();
        let best = run.incumbent().map(|(subset, value)| (subset.clone(), value));
        let room = |value: f64| (OUT_OF_SIGHT * gaps.room(value)).max(TIGHTEST * value.abs());
        let cutoff = best.as_ref().filter(|_| self.cutoff).map(|&(_, value)| value - room(value));
        let asked = best.as_ref().map_or(LOOSEST, |&(_, value)| gaps.share(value));
        let tight = (0.1 * asked).clamp(TIGHTEST, LOOSEST);
        let open =
            best.as_ref().zip(run.bound()).map_or(f64::INFINITY, |((_, value), bound)| relative_gap(*value, bound));
        let gap = if self.cutoff && !self.nothing_new { open.clamp(tight, LOOSEST) } else { tight };
        let start = best.as_ref().filter(|_| settings.warm_start).map(|(subset, value)| (subset, *value));
        let Ok(answer) = self.cuts.solve(gap, cutoff, start, run) else {
            // Cuts of a scale at which HiGHS fails: the check decides alone.
            let Some((_, value)) = best else {
                self.queue.push_front(Query::Subset(self.rounded(run)));
                return None;
            };
            let below = match self.cuts.check(value - room(value), run) {
                Check::Holds => {
                    run.raise_bound(value - room(value));
                    None
                }
                Check::Below(subset) => Some(subset),
                Check::Unsure => return Some(run.stop().unwrap_or(Status::Stalled)),
            };
            return self.refuted(below, run);
        };
        match answer {
            MasterAnswer::Nothing => {
                let below = self.claim(cutoff.expect("only a cutoff leaves nothing"), run);
                self.refuted(below, run)
            }
            MasterAnswer::Stopped(bound) => {
                self.round -= 1;
                self.claim(bound, run);
                Some(stopped(run))
            }
            MasterAnswer::Subset(subset, bound) => {
                let below = self.claim(bound, run);
                let subset = below.filter(|below| !self.visited.contains(below)).unwrap_or(subset);
                let known = self.visited.contains(&subset);
                if known && gap <= tight && !run.closed() {
                    return self.stall(run);
                }
                self.nothing_new = known;
                if settings.core_cuts {
                    self.core = mixed(&self.core, &indicator(&subset), NEWEST);
                    self.queue.push_back(Query::Mixture(self.core.clone()));
                }
                if !known {
                    self.queue.push_front(Query::Subset(subset));
                }
                None
            }
        }
    }

    /// After a claim that nothing is better: trains on the subset that shows it to be false, unless
    /// that was done before.
    fn refuted(&mut self, below: Option<Subset>, run: &mut Run<'_>) -> Option<Status> {
        if let Some(subset) = below.filter(|subset| !self.visited.contains(subset)) {
            self.queue.push_front(Query::Subset(subset));
            return None;
        }
        if run.closed() { None } else { self.stall(run) }
    }

    /// Takes in a bound that HiGHS claims. One that closes the gap is checked; HiGHS's bound alone
    /// counts where a check would take too long or the gap stays open, less what its tolerances amount
    /// to, and only for cuts of a scale that they are made for. Returns a subset that shows the claim to be false.
    fn claim(&mut self, bound: f64, run: &mut Run<'_>) -> Option<Subset> {
        if !bound.is_finite() {
            return None;
        }
        // No bound is above a value that a subset has.
        let best = run.incumbent().map_or(f64::INFINITY, |i| i.1);
        let bound = bound.min(best);
        if run.would_close(bound) {
            // The check proves a claim whatever HiGHS says, so that it may be the one that is
            // needed.
            let needed = best - OUT_OF_SIGHT * run.gaps().room(best);
            let claim = (bound - ROUNDING * bound.abs()).max(needed);
            match self.cuts.check(claim, run) {
                Check::Holds => {
                    run.raise_bound(claim);
                    return None;
                }
                Check::Below(subset) => return Some(subset),
                Check::Unsure => {}
            }
        }
        if let Some(tolerance) = self.cuts.tolerance() {
            run.raise_bound(bound - tolerance);
        }
        None
    }

    /// A master found nothing new at its smallest gap: a cutoff may be too close to the best for
    /// HiGHS's tolerances, so that the master is solved without one from here on; when it was
    /// already, the run is over.
    fn stall(&mut self, run: &mut Run<'_>) -> Option<Status> {
        if std::mem::take(&mut self.cutoff) { None } else { self.check_whole_gap(run) }
    }

    /// What HiGHS cannot tell apart any more the check of the cuts may.
    fn check_whole_gap(&mut self, run: &mut Run<'_>) -> Option<Status> {
        let best = run.incumbent().map_or(f64::INFINITY, |i| i.1);
        let claim = best - OUT_OF_SIGHT * run.gaps().room(best);
        match self.cuts.check(claim, run) {
            Check::Holds => {
                run.raise_bound(claim);
                (!run.closed()).then_some(Status::Stalled)
            }
            Check::Below(subset) if !self.visited.contains(&subset) => {
                self.queue.push_front(Query::Subset(subset));
                None
            }
            Check::Below(_) | Check::Unsure => Some(run.stop().unwrap_or(Status::Stalled)),
        }
    }

    /// Whether the last subsets, as many as the patience, brought no smaller validation error.
    fn out_of_patience(&self) -> bool {
        let patience = self.settings.validation.as_ref().and_then(|v| v.patience);
        let best = least_error(&self.trained, false);
        matches!((patience, best), (Some(patience), Some(best)) if (self.trained.len() - 1 - best) as u64 >= patience)
    }
}

/// The status of a run that a solver left early.
fn stopped(run: &Run<'_>) -> Status {
    run.stop().unwrap_or(Status::TimeLimit)
}

/// `(1 - share) a + share b`
fn mixed(a: &[f64], b: &[f64], share: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (1.0 - share) * a + share * b).collect()
}
