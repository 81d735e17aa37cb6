//! Better subsets where the gap is large. Exchanges around a subset, priced again for the units
//! that leave: the dual point of the subset itself says little of what could take a place in it.
//! And further subsets to exchange from, each grown from another unit.

use super::dive::{Search, Trial, joined};
use crate::bound::{Decide, NodeAnswer, WarmStart};
use crate::search::Found;
use crate::{Choice, Subset};

// Tuning: `make bench-exact-real`; `bench/log/exact.md` has what was tried.

/// Relative gap above which exchanges are tried.
const FAR: f64 = 0.2;
/// Units tried in the place of each that leaves.
const ENTERING: usize = 8;
/// Rounds that a trial may take, about.
pub(super) const TRIAL: u64 = 1000;
/// Pairs of units that leave together, once no single exchange helps.
const PAIRS: usize = 20;
/// Relative gap to which the subset without the unit that leaves is solved.
const PRICING: f64 = 1e-3;

impl Search<'_> {
    /// Subsets better than this one, each found from the one before by exchanging a unit, until no
    /// exchange helps; none where `bound` is near its objective. With `until`, pairs are exchanged,
    /// too, and the search stops once `rounds` reaches it.
    pub(super) fn exchange(
        &self,
        best: &Found,
        warm_start: &WarmStart,
        bound: f64,
        until: Option<u64>,
        rounds: &mut u64,
    ) -> Vec<Found> {
        let (rules, mut better) = (self.rules, Vec::new());
        let (mut best, mut warm_start) = (best.clone(), warm_start.clone());
        while best.objective - bound > FAR * best.objective.abs() {
            let has = |u: usize| best.subset.contains(rules.unit(u)[0]);
            let units: Vec<usize> = (0..rules.n_units()).filter(|&u| has(u)).collect();
            let mut leaving: Vec<usize> = units.iter().copied().filter(|&u| rules.root()[u] == Choice::Free).collect();
            let gain = |u: usize| self.relaxation.gain(u, &warm_start.beta);
            leaving.sort_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(a.cmp(&b)));
            let pairs = (1..leaving.len()).flat_map(|b| (0..b).map(move |a| [a, b])).take(PAIRS);
            let pairs = pairs.map(|pair| pair.map(|at| leaving[at]).to_vec()).filter(|_| until.is_some());
            let found = leaving.iter().map(|&u| vec![u]).chain(pairs).find_map(|out| {
                if until.is_some_and(|until| *rounds >= until) {
                    return None;
                }
                let rest: Vec<usize> = units.iter().copied().filter(|u| !out.contains(u)).collect();
                self.complete(&rest, out.len(), &units, &warm_start, best.objective, rounds)
            });
            let Some((found, at)) = found else { break };
            better.push(found.clone());
            (best, warm_start) = (found, at);
        }
        better
    }

    /// What trials find: the first begins with the best subset. Further ones begin with a subset of
    /// the size that the rules allow, grown from the next of the units that gain most at the root's
    /// dual point, by the unit each time that gains most at the dual point of what is there.
    pub(super) fn further(&self, trial: &Trial, bound: f64, best: &Found, rounds: &mut u64) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for number in trial.numbers.clone() {
            let best =
                found.iter().fold(best, |best, other| if other.objective < best.objective { other } else { best });
            if best.objective - bound <= FAR * best.objective.abs() {
                break;
            }
            let until = *rounds + TRIAL;
            let root = trial.root.unpack(self.relaxation);
            let Some((subset, warm_start)) = self.grown(number, best, root, rounds) else { break };
            let Some((first, at)) = self.evaluate(&subset, &warm_start, f64::INFINITY, rounds) else { break };
            let better = self.exchange(&first, &at, bound, Some(until), rounds);
            found.extend(std::iter::once(first).chain(better));
        }
        found
    }

    /// Where a trial begins, and a dual point near it.
    fn grown(
        &self,
        number: u64,
        best: &Found,
        mut warm_start: WarmStart,
        rounds: &mut u64,
    ) -> Option<(Subset, WarmStart)> {
        let (most, of) = (self.rules.most_features(), self.rules.root());
        let Some(rank) = (number as usize).checked_sub(1) else { return Some((best.subset.clone(), warm_start)) };
        let mut units: Vec<usize> = (0..of.len()).filter(|&u| of[u] == Choice::In).collect();
        let free = |u: usize| of[u] == Choice::Free;
        let mut next = Some(*self.entering(&warm_start, rank + 1, free).get(rank)?);
        while let Some(unit) = next.filter(|_| units.len() < most && self.clock.stop().is_none()) {
            units = joined(&units, unit);
            warm_start = self.priced(&units, &warm_start, rounds).warm_start;
            next = self.entering(&warm_start, 1, |u| free(u) && !units.contains(&u)).first().copied();
        }
        Some((self.relaxation.subset(&units), warm_start))
    }

    /// These units alone, solved well enough for gains.
    fn priced(&self, units: &[usize], warm_start: &WarmStart, rounds: &mut u64) -> NodeAnswer {
        let decide = Decide { cutoff: f64::INFINITY, share: 0.0, tolerance: PRICING };
        let answer = self.relaxation.solve(units, &[], warm_start, &decide, &self.clock);
        *rounds += answer.rounds;
        answer
    }

    /// The first allowed subset below the cutoff of these units and `missing` others, none of
    /// `but`: those that gain most at the dual point of what is there, one after the other.
    fn complete(
        &self,
        units: &[usize],
        missing: usize,
        but: &[usize],
        warm_start: &WarmStart,
        cutoff: f64,
        rounds: &mut u64,
    ) -> Option<(Found, WarmStart)> {
        if self.clock.stop().is_some() {
            return None;
        }
        if missing == 0 {
            let subset = self.relaxation.subset(units);
            let found =
                if self.rules.allows(&subset) { self.evaluate(&subset, warm_start, cutoff, rounds) } else { None };
            return found.filter(|(found, _)| found.objective < cutoff);
        }
        let answer = self.priced(units, warm_start, rounds);
        let may = |u: usize| self.rules.root()[u] == Choice::Free && !but.contains(&u) && !units.contains(&u);
        self.entering(&answer.warm_start, ENTERING, may)
            .into_iter()
            .find_map(|unit| self.complete(&joined(units, unit), missing - 1, but, &answer.warm_start, cutoff, rounds))
    }

    /// The `most` units of largest gain among those that `may` enter, best first.
    fn entering(&self, warm_start: &WarmStart, most: usize, may: impl Fn(usize) -> bool) -> Vec<usize> {
        let units = (0..self.rules.n_units()).filter(|&u| may(u));
        let mut gains: Vec<(f64, usize)> = units.map(|u| (self.relaxation.gain(u, &warm_start.beta), u)).collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if gains.len() > most {
            gains.select_nth_unstable_by(most, order);
            gains.truncate(most);
        }
        gains.sort_unstable_by(order);
        gains.into_iter().map(|g| g.1).collect()
    }
}
