//! The N best subsets of a search, or all within a share of the best, what is proven of each, and
//! the value that any other subset must beat.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::near::{NearBest, Proven, is_beyond};
use crate::run::Gaps;
use crate::run::state::{stranger, subset};
use crate::{Error, Rules, Run, Sense, Solution, Status, Subset};

/// Share of an objective by which the end of a set of subsets is at least passed.
const HAIR: f64 = 1e-9;

/// Share of the gap asked for to which the objective of each subset is known.
const OWN_SHARE: f64 = 0.1;

/// Where a search for all subsets within a share of the best may stop searching: beyond the
/// threshold by what the objective of a subset may be off, so that none within it is lost.
fn reach(gaps: Gaps, within: f64, best: f64) -> f64 {
    let end = gaps.threshold(within, best);
    gaps.worse_by(gaps.times(OWN_SHARE).room(end).max(HAIR * end.abs()).max(f64::MIN_POSITIVE), end)
}

/// What a search is to find: the `most` best subsets or, where there is a share, all that are
/// within it of the best one, and of these the `most` best.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) most: usize,
    pub(crate) within: Option<f64>,
}

impl Wanted {
    /// Refuses settings out of range.
    ///
    /// # Errors
    /// [`Error::Setting`] by the name of the setting.
    pub(crate) fn check(self) -> Result<(), Error> {
        if self.most == 0 {
            return Err(Error::setting("solutions", 0, "at least 1"));
        }
        match self.within.filter(|share| !(*share >= 0.0 && share.is_finite())) {
            Some(share) => Err(Error::setting("within", share, "a finite number, 0 or more")),
            None => Ok(()),
        }
    }

    /// Refuses a share for a path over sizes.
    ///
    /// # Errors
    /// [`Error::Setting`] that says what to do instead.
    pub(crate) fn check_path(self) -> Result<(), Error> {
        self.within.map_or(Ok(()), |share| {
            Err(Error::setting("within", share, "left out of a path: select with each size that is of interest"))
        })
    }
}

/// Bytes of a subset that is noted, with the room that a table leaves.
const SEEN_BYTES: u64 = 40;

/// A subset's features, its objective, what is proven of it, whether no open node holds it, its
/// points.
type FoundState = (Vec<usize>, f64, f64, bool, Option<Vec<PrimalPoint>>);

/// What a search resumes from: subsets, keys, the bound of what was left out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PoolState {
    best: Vec<FoundState>,
    seen: Vec<u128>,
    outside: f64,
}

/// A subset with its objective and what is proven of it.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) subset: Subset,
    /// Objective of a point on the subset.
    pub(crate) objective: f64,
    /// No point on the subset has a better objective than this.
    pub(crate) proven: f64,
    /// Whether no open node holds the subset: if it leaves the pool it is lost.
    pub(crate) closed: bool,
    /// The point of the objective, one for each problem, where a proof is written.
    pub(crate) point: Option<Vec<PrimalPoint>>,
}

/// A linear machine: weights by feature of its subset, ascending.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PrimalPoint {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

/// The best subsets found, all that were evaluated, and the best bound of what was left out.
#[derive(Debug)]
pub(crate) struct Pool<'a> {
    rules: &'a Rules,
    sense: Sense,
    gaps: Gaps,
    wanted: Wanted,
    /// Best first, at most as many as are wanted.
    best: Vec<Found>,
    /// Subsets that were evaluated, by [`key`].
    seen: HashSet<u128>,
    /// Most of them that are noted: one that is not may be examined again.
    most_seen: usize,
    /// No subset that was dropped is better than this.
    outside: f64,
}

impl<'a> Pool<'a> {
    /// For the subsets that are wanted; those that were evaluated may take `memory` bytes.
    pub(crate) fn new(run: &Run<'a>, wanted: Wanted, memory: u64) -> Self {
        let (sense, gaps) = (run.sense(), run.gaps());
        let (best, seen, most_seen) = (Vec::new(), HashSet::new(), (memory / SEEN_BYTES) as usize);
        Self { rules: run.rules(), sense, gaps, wanted, best, seen, most_seen, outside: worst(sense) }
    }

    /// What a search resumes from.
    pub(crate) fn state(&self) -> PoolState {
        let features = |found: &Found| found.subset.iter().collect();
        let best = self.best.iter().map(|f| (features(f), f.objective, f.proven, f.closed, f.point.clone()));
        PoolState { best: best.collect(), seen: self.seen.iter().copied().collect(), outside: self.outside }
    }

    /// Resumes from a state.
    ///
    /// # Errors
    /// One with more subsets than are wanted, or one that the rules forbid.
    pub(crate) fn restore(&mut self, state: PoolState) -> Result<(), Error> {
        self.best.clear();
        for (features, objective, proven, closed, point) in state.best {
            let subset = subset(self.rules.p(), &features)?;
            if objective.is_nan() || !self.rules.allows(&subset) {
                return Err(stranger("the rules forbid one of its subsets"));
            }
            let fits = |machine: &PrimalPoint| machine.weights.len() == subset.len();
            if !point.iter().flatten().all(fits) {
                return Err(stranger("one of its subsets has other weights"));
            }
            self.best.push(Found { subset, objective, proven, closed, point });
        }
        if self.best.len() > self.wanted.most {
            return Err(stranger(&format!("it has {} best subsets, not {}", self.best.len(), self.wanted.most)));
        }
        (self.seen, self.outside) = (state.seen.into_iter().collect(), state.outside);
        Ok(())
    }

    /// A node whose bound is not better than this holds nothing that is asked for.
    pub(crate) fn cutoff(&self) -> f64 {
        self.end(self.first().map_or(worst(self.sense), |best| self.reach(best.objective)))
    }

    /// The cutoff once a subset of this objective is known, too, as far as that alone can tell.
    pub(crate) fn cutoff_with(&self, objective: f64) -> f64 {
        let alone = match self.wanted {
            Wanted { most: 1, within: None } => self.gaps.cutoff(objective),
            _ => self.reach(objective),
        };
        self.worse(self.cutoff(), alone)
    }

    /// Where the set ends whose best subset has this objective; nowhere without a share.
    fn reach(&self, best: f64) -> f64 {
        self.wanted.within.map_or(worst(self.sense), |within| reach(self.gaps, within, best))
    }

    /// The value that another subset must beat where all that beat this one are asked for: that of
    /// the last subset once there are as many as are wanted.
    fn end(&self, of_all: f64) -> f64 {
        match self.best.get(self.wanted.most - 1) {
            Some(last) => self.worse(self.gaps.cutoff_beside(self.best[0].objective, last.objective), of_all),
            None => of_all,
        }
    }

    /// Whether a bound reaches a cutoff.
    pub(crate) fn reaches(&self, bound: f64, cutoff: f64) -> bool {
        match self.sense {
            Sense::Min => bound >= cutoff,
            Sense::Max => bound <= cutoff,
        }
    }

    /// The pool, with nothing left here: for a question that carries it until the answer brings it
    /// back.
    pub(crate) fn hand_over(&mut self) -> Self {
        let empty = Self { best: Vec::new(), seen: HashSet::new(), ..*self };
        std::mem::replace(self, empty)
    }

    /// How many subsets are wanted, at most.
    pub(crate) fn most(&self) -> usize {
        self.wanted.most
    }

    /// How many subsets it takes until there is a cutoff.
    pub(crate) fn needed(&self) -> usize {
        if self.wanted.within.is_some() { 1 } else { self.wanted.most }
    }

    /// The best subset.
    pub(crate) fn first(&self) -> Option<&Found> {
        self.best.first()
    }

    /// Whether the subset was evaluated.
    pub(crate) fn has_seen(&self, subset: &Subset) -> bool {
        self.seen.contains(&key(subset))
    }

    /// Notes subsets that were evaluated.
    pub(crate) fn note(&mut self, subsets: impl IntoIterator<Item = Subset>) {
        for subset in subsets {
            if self.seen.len() < self.most_seen {
                self.seen.insert(key(&subset));
            }
        }
    }

    /// Notes that subsets were dropped, none of them better than `bound`.
    pub(crate) fn leave_out(&mut self, bound: f64) {
        self.outside = self.worse(self.outside, bound);
    }

    /// Takes in a subset, and offers it to the run. One that the rules forbid is not taken.
    pub(crate) fn take(&mut self, found: Found, run: &mut Run<'_>) {
        if !self.rules.allows(&found.subset) || found.objective.is_nan() {
            return;
        }
        run.offer(&found.subset, found.objective);
        let known = self.has_seen(&found.subset) || self.seen.len() >= self.most_seen;
        self.note([found.subset.clone()]);
        // Rounding may put a proof beyond the objective of a current point.
        let proven = self.worse(found.proven, found.objective);
        let found = Found { proven, ..found };
        let same = |other: &Found| known && other.subset == found.subset;
        let found = match self.best.iter().position(same) {
            Some(at) => self.best.remove(at).merged(&found, self.sense),
            None => found,
        };
        let ahead = |known: &Found| match self.sense {
            Sense::Min => known.objective <= found.objective,
            Sense::Max => known.objective >= found.objective,
        };
        let at = self.best.partition_point(ahead);
        self.best.insert(at, found);
        // Of equals the run's own subset is the first.
        let own = |found: &Found| run.incumbent().is_some_and(|(subset, _)| found.subset == *subset);
        if let Some(at) = self.best.iter().position(own)
            && self.best[at].objective == self.best[0].objective
        {
            self.best[..=at].rotate_right(1);
        }
        let reach = self.reach(self.best[0].objective);
        while self.best.len() > 1 {
            let Found { objective, proven, closed, .. } = self.best[self.best.len() - 1];
            if self.best.len() <= self.wanted.most && !self.reaches(objective, reach) {
                break;
            }
            if closed {
                self.leave_out(proven);
            }
            self.best.pop();
        }
    }

    /// Nothing is better than this: not what is open, at `open`, nor what was left out, nor the
    /// subsets themselves.
    pub(crate) fn bound(&self, open: f64) -> f64 {
        self.best.iter().map(|found| found.proven).fold(self.worse(open, self.outside), |a, b| self.worse(a, b))
    }

    /// The objective at which the set of all subsets within a share of the best ends, where that is
    /// asked for.
    pub(crate) fn threshold(&self) -> Option<f64> {
        let within = self.wanted.within?;
        self.first().map(|best| self.gaps.threshold(within, best.objective))
    }

    /// What the set of all subsets within a share of the best tells, where that is asked for and
    /// nothing that is open is better than `open`.
    pub(crate) fn near(&self, open: f64) -> Option<NearBest> {
        let Wanted { most, within } = self.wanted;
        let proven = Proven { within: within?, most, others: self.worse(open, self.outside) };
        NearBest::new(&self.gaps, &proven, &self.solutions())
    }

    /// How a search ends that has no open node left: `Optimal` where what was left out is not
    /// better than what is asked for, and the objective of each subset is known to a tenth of the
    /// gap.
    pub(crate) fn status(&self) -> Status {
        let own = self.gaps.times(OWN_SHARE);
        let best = self.first().map_or(0.0, |best| best.objective);
        let closed = |found: &Found| self.reaches(found.proven, own.cutoff_beside(best, found.objective));
        let best = self.reaches(self.outside, self.end(worst(self.sense)));
        let all = self.threshold().is_some_and(|threshold| is_beyond(self.sense, self.outside, threshold));
        if !self.best.is_empty() && self.best.iter().all(closed) && (best || all) {
            Status::Optimal
        } else {
            Status::Stalled
        }
    }

    /// The best subsets, best first.
    pub(crate) fn best(&self) -> &[Found] {
        &self.best
    }

    /// The best subsets with their objectives, best first.
    pub(crate) fn solutions(&self) -> Vec<Solution> {
        self.best.iter().map(|f| Solution { subset: f.subset.clone(), objective: f.objective }).collect()
    }

    /// The bound that says less, which is the cutoff that lets less pass: the lower one where the
    /// objective is minimised.
    fn worse(&self, a: f64, b: f64) -> f64 {
        match self.sense {
            Sense::Min => a.min(b),
            Sense::Max => a.max(b),
        }
    }
}

impl Found {
    /// Merges two results of one subset: the better objective, and the stronger proof.
    fn merged(self, other: &Self, sense: Sense) -> Self {
        let (objective, proven) = match sense {
            Sense::Min => (self.objective.min(other.objective), self.proven.max(other.proven)),
            Sense::Max => (self.objective.max(other.objective), self.proven.min(other.proven)),
        };
        let proven = if sense == Sense::Min { proven.min(objective) } else { proven.max(objective) };
        let point = if self.objective == objective { self.point } else { other.point.clone() };
        Self { subset: self.subset, objective, proven, closed: self.closed || other.closed, point }
    }
}

/// A number that two subsets share with a chance of 2^-128 or so: two hashes of the features. A
/// subset that was taken for another one is not evaluated where it is first met, and that is all.
fn key(subset: &Subset) -> u128 {
    let mix = |seed: u64| {
        subset.iter().fold(seed, |hash, j| {
            // Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
            let mut z = hash.wrapping_add(j as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ z >> 31
        })
    };
    u128::from(mix(1)) << 64 | u128::from(mix(0x6a09_e667_f3bc_c909))
}

/// The objective that every other is better than.
fn worst(sense: Sense) -> f64 {
    match sense {
        Sense::Min => f64::INFINITY,
        Sense::Max => f64::NEG_INFINITY,
    }
}
