//! Exchanges around a subset, priced anew for each unit that leaves: where the gap is large, the
//! dual point of the subset itself says little of what could take a place in it.

use super::dive::Search;
use crate::relaxation::{Decide, Warm};
use crate::search::Found;
use crate::{Choice, Subset};

// Tuning: `make bench-exact-real`.

/// Relative gap above which exchanges are tried.
const FAR: f64 = 0.2;
/// Units tried in the place of each that leaves.
const ENTERING: usize = 8;
/// Relative gap to which the subset without the unit that leaves is solved.
const PRICING: f64 = 1e-3;

impl Search<'_> {
    /// Subsets better than this one, each found from the one before by exchanging a unit, until no
    /// exchange helps; none where `bound` is near its objective. Each unit leaves in turn, and those
    /// enter that gain most at the dual point of what is left.
    pub(super) fn exchange(&self, best: &Found, warm: &Warm, bound: f64, rounds: &mut u64) -> Vec<Found> {
        let (rules, mut better) = (self.rules, Vec::new());
        let (mut best, mut warm) = (best.clone(), warm.clone());
        let is_free = |u: &usize| rules.root()[*u] == Choice::Free;
        'again: while best.objective - bound > FAR * best.objective.abs() {
            let has = |u: usize| best.subset.contains(rules.unit(u)[0]);
            let units: Vec<usize> = (0..rules.n_units()).filter(|&u| has(u)).collect();
            let mut leaving: Vec<usize> = units.iter().copied().filter(is_free).collect();
            let gain = |u: usize| self.relaxation.gain(u, &warm.beta);
            leaving.sort_by(|&a, &b| gain(a).total_cmp(&gain(b)).then(a.cmp(&b)));
            for out in leaving {
                if self.clock.stop().is_some() {
                    return better;
                }
                let rest: Vec<usize> = units.iter().copied().filter(|&u| u != out).collect();
                let decide = Decide { cutoff: f64::INFINITY, share: 0.0, tolerance: PRICING };
                let answer = self.relaxation.solve(&rest, &[], &warm, &decide, &mut || self.clock.stop());
                *rounds += answer.rounds;
                for unit in self.entering(&answer.warm, |u| is_free(&u) && !has(u)) {
                    let features = rest.iter().chain([&unit]).flat_map(|&u| rules.unit(u).iter().copied());
                    let subset = Subset::from_indices(rules.p(), features);
                    if rules.allows(&subset)
                        && let Some((found, at)) = self.evaluate(&subset, &answer.warm, best.objective, rounds)
                        && found.objective < best.objective
                    {
                        better.push(found.clone());
                        (best, warm) = (found, at);
                        continue 'again;
                    }
                }
            }
            break;
        }
        better
    }

    /// The units among these that gain most, the first one first.
    fn entering(&self, warm: &Warm, may: impl Fn(usize) -> bool) -> Vec<usize> {
        let units = (0..self.rules.n_units()).filter(|&u| may(u));
        let mut gains: Vec<(f64, usize)> = units.map(|u| (self.relaxation.gain(u, &warm.beta), u)).collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        if gains.len() > ENTERING {
            gains.select_nth_unstable_by(ENTERING, order);
            gains.truncate(ENTERING);
        }
        gains.sort_unstable_by(order);
        gains.into_iter().map(|g| g.1).collect()
    }
}
