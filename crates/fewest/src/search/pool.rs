//! The N best subsets of a search, what is proven of each, and the value that any other subset must
//! beat.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::run::state::{stranger, subset};
use crate::{Error, Rules, Run, Sense, Solution, Status, Subset};

/// Share of a gap that cutoffs leave unused, and of an objective, so that rounding cannot reopen
/// what a cutoff has closed.
const HAIR: f64 = 1e-9;
const ROUNDING: f64 = 1e-15;

/// Share of the gap asked for to which the objective of each subset is known.
const OWN_SHARE: f64 = 0.1;

/// What a bound must reach to be within the relative or absolute gap of an objective.
pub(crate) fn cutoff(sense: Sense, (relative, absolute): (f64, f64), objective: f64) -> f64 {
    let gap = (1.0 - HAIR) * (relative * objective.abs()).max(absolute);
    let room = (gap - ROUNDING * objective.abs()).max(0.0);
    match sense {
        Sense::Min => objective - room,
        Sense::Max => objective + room,
    }
}

/// Bytes of a subset that is noted, with the room that a table leaves.
const SEEN_BYTES: u64 = 40;

/// What a search goes on from: subsets with objective, what is proven of them and their points,
/// keys, the bound of what was left out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PoolState {
    best: Vec<(Vec<usize>, f64, f64, Option<PrimalPoint>)>,
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
    /// The point of the objective, where a proof is written.
    pub(crate) point: Option<PrimalPoint>,
}

/// A linear machine: weights by feature of its subset, ascending.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PrimalPoint {
    pub(crate) weights: Vec<f64>,
    pub(crate) bias: f64,
}

/// The best subsets found, all that were looked at, and the best bound of what was left out.
#[derive(Debug)]
pub(crate) struct Pool<'a> {
    rules: &'a Rules,
    sense: Sense,
    gaps: (f64, f64),
    wanted: usize,
    /// Best first, at most `wanted`.
    best: Vec<Found>,
    /// Subsets that were looked at, by [`key`].
    seen: HashSet<u128>,
    /// Most of them that are noted: one that is not may be looked at again.
    most_seen: usize,
    /// No subset that was left out for good is better than this.
    outside: f64,
}

impl<'a> Pool<'a> {
    /// For the `wanted` best subsets, at least 1; the subsets that were looked at may take `memory`
    /// bytes.
    pub(crate) fn new(run: &Run<'a>, wanted: usize, memory: u64) -> Self {
        let (sense, gaps) = (run.sense(), run.gaps());
        let (best, seen, most_seen) = (Vec::new(), HashSet::new(), (memory / SEEN_BYTES) as usize);
        Self { rules: run.rules(), sense, gaps, wanted, best, seen, most_seen, outside: worst(sense) }
    }

    /// What a search goes on from.
    pub(crate) fn state(&self) -> PoolState {
        let features = |found: &Found| found.subset.iter().collect();
        let best = self.best.iter().map(|f| (features(f), f.objective, f.proven, f.point.clone()));
        PoolState { best: best.collect(), seen: self.seen.iter().copied().collect(), outside: self.outside }
    }

    /// Goes on from a state.
    ///
    /// # Errors
    /// One with more subsets than are wanted, or one that the rules forbid.
    pub(crate) fn restore(&mut self, state: PoolState) -> Result<(), Error> {
        self.best.clear();
        for (features, objective, proven, point) in state.best {
            let subset = subset(self.rules.p(), &features)?;
            if objective.is_nan() || !self.rules.allows(&subset) {
                return Err(stranger("the rules forbid one of its subsets"));
            }
            if point.as_ref().is_some_and(|point| point.weights.len() != subset.len()) {
                return Err(stranger("one of its subsets has other weights"));
            }
            self.best.push(Found { subset, objective, proven, point });
        }
        if self.best.len() > self.wanted {
            return Err(stranger(&format!("it has {} best subsets, not {}", self.best.len(), self.wanted)));
        }
        (self.seen, self.outside) = (state.seen.into_iter().collect(), state.outside);
        Ok(())
    }

    /// A node whose bound is not better than this holds nothing that is asked for.
    pub(crate) fn cutoff(&self) -> f64 {
        match self.best.get(self.wanted - 1) {
            Some(last) => self.cutoff_of(last.objective),
            None => worst(self.sense),
        }
    }

    /// What the cutoff would be if the last of the subsets asked for had this objective.
    pub(crate) fn cutoff_of(&self, objective: f64) -> f64 {
        cutoff(self.sense, self.gaps, objective)
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

    pub(crate) fn wanted(&self) -> usize {
        self.wanted
    }

    /// The best subset.
    pub(crate) fn first(&self) -> Option<&Found> {
        self.best.first()
    }

    /// Whether the subset was looked at.
    pub(crate) fn has_seen(&self, subset: &Subset) -> bool {
        self.seen.contains(&key(subset))
    }

    /// Notes subsets that were looked at.
    pub(crate) fn note(&mut self, subsets: impl IntoIterator<Item = Subset>) {
        for subset in subsets {
            if self.seen.len() < self.most_seen {
                self.seen.insert(key(&subset));
            }
        }
    }

    /// Notes that subsets were left out for good, none of them better than `bound`.
    pub(crate) fn leave_out(&mut self, bound: f64) {
        self.outside = self.worse(self.outside, bound);
    }

    /// Takes in a subset, and offers it to the run. One that the rules forbid is not taken.
    pub(crate) fn take(&mut self, found: Found, run: &mut Run<'_>) {
        if !self.rules.allows(&found.subset) || found.objective.is_nan() {
            return;
        }
        run.offer(&found.subset, found.objective);
        self.note([found.subset.clone()]);
        // Rounding may put a proof beyond the objective of a point at hand.
        let proven = self.worse(found.proven, found.objective);
        let found = Found { proven, ..found };
        let found = match self.best.iter().position(|known| known.subset == found.subset) {
            Some(at) => self.best.remove(at).merged(&found, self.sense),
            None => found,
        };
        let ahead = |known: &Found| match self.sense {
            Sense::Min => known.objective <= found.objective,
            Sense::Max => known.objective >= found.objective,
        };
        let at = self.best.partition_point(ahead);
        self.best.insert(at, found);
        if self.best.len() > self.wanted {
            let last = self.best.pop().expect("just inserted");
            self.leave_out(last.proven);
        }
    }

    /// Nothing is better than this: not what is open, at `open`, nor what was left out, nor the
    /// subsets themselves.
    pub(crate) fn bound(&self, open: f64) -> f64 {
        self.best.iter().map(|found| found.proven).fold(self.worse(open, self.outside), |a, b| self.worse(a, b))
    }

    /// How a search ends that has no open node left: `Optimal` where what was left out is not
    /// better than the cutoff, and the objective of each subset is known to a tenth of the gap.
    pub(crate) fn status(&self) -> Status {
        let (relative, absolute) = (OWN_SHARE * self.gaps.0, OWN_SHARE * self.gaps.1);
        let closed =
            |found: &Found| self.reaches(found.proven, cutoff(self.sense, (relative, absolute), found.objective));
        let complete =
            !self.best.is_empty() && self.best.iter().all(closed) && self.reaches(self.outside, self.cutoff());
        if complete { Status::Optimal } else { Status::Stalled }
    }

    /// The best subsets, best first.
    pub(crate) fn best(&self) -> &[Found] {
        &self.best
    }

    pub(crate) fn into_solutions(self) -> Vec<Solution> {
        self.best.into_iter().map(|found| Solution { subset: found.subset, objective: found.objective }).collect()
    }

    /// The bound that says less: the lower one where the objective is minimised.
    fn worse(&self, a: f64, b: f64) -> f64 {
        match self.sense {
            Sense::Min => a.min(b),
            Sense::Max => a.max(b),
        }
    }
}

impl Found {
    /// The same subset looked at twice: the better objective, and the stronger proof.
    fn merged(self, other: &Self, sense: Sense) -> Self {
        let (objective, proven) = match sense {
            Sense::Min => (self.objective.min(other.objective), self.proven.max(other.proven)),
            Sense::Max => (self.objective.max(other.objective), self.proven.min(other.proven)),
        };
        let proven = if sense == Sense::Min { proven.min(objective) } else { proven.max(objective) };
        let point = if self.objective == objective { self.point } else { other.point.clone() };
        Self { subset: self.subset, objective, proven, point }
    }
}

/// A number that two subsets share with a chance of 2^-128 or so: two hashes of the features. A
/// subset that was taken for another one is not looked at where it is first met, and that is all.
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
