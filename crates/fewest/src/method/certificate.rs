//! Certificate: how far a subset, found by whatever method, is from the best one of its size.
//!
//! Solves   `min_z v(z) + sum_j lambda_j z_j` s.t. rules and at most as many features as the subset
//!          has, by [`super::exact`] with the subset as its start; v with the loss, cost and bias
//!          of the SVM asked about.
//! Given    Problem (n samples, p features) or several, whose objectives add, Rules, the subset,
//!          [`ExactSettings`].
//! Returns  the subset's own objective, the best subset known of that size, the bound, status.
//! Fails    never on limits: the bound is then the best that was proven. Errors: settings out of
//!          range; an empty subset, or one the rules forbid.

use std::time::{Duration, Instant};

use super::Method;
use super::exact::{ExactSettings, exact_beside};
use super::swaps::Trainer;
use crate::design::Recentred;
use crate::run::{Gaps, Yardstick, relative_gap};
use crate::several::check_several;
use crate::{
    Clock, Counts, Error, Limits, Observer, Problem, RuleList, Rules, Selection, Sense, Solution, Status, Subset,
};

/// Certificate of a subset: its objective, and a bound for all others of its size.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// Objective of the subset asked about: primal objective of the SVM on it, plus its penalty.
    pub objective: f64,
    /// The best subset known that has at most as many features: the one asked about, or a better
    /// one.
    pub best: Solution,
    /// No subset of at most as many features has a smaller objective than this; none when nothing
    /// was proven in time.
    pub bound: Option<f64>,
    /// The unit of gains.
    pub yardstick: Yardstick,
    /// How the search ended; `Optimal` when `best` is proven best.
    pub status: Status,
    /// Time used.
    pub elapsed: Duration,
    /// Counters of the search.
    pub counts: Counts,
}

impl Certificate {
    /// The share of what features can gain that the subset asked about leaves open
    /// ([`Yardstick::gap`]).
    pub fn gap(&self) -> Option<f64> {
        self.bound.map(|bound| self.yardstick.gap(self.objective, bound))
    }

    /// |objective - bound| / |objective|, of the subset asked about.
    pub fn objective_gap(&self) -> Option<f64> {
        self.bound.map(|bound| relative_gap(self.objective, bound))
    }
}

/// [`certify_several`] for one problem.
pub fn certify(
    problem: &Problem<'_>,
    rules: &Rules,
    subset: &Subset,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Certificate, Error> {
    certify_several(std::slice::from_ref(problem), rules, subset, settings, limits, observer)
}

/// Compares `subset` with the best of its size, for problems whose objectives add. `settings.start`
/// may name further subsets to start from; `settings.solutions` and `settings.within` are not used.
///
/// # Errors
/// Settings out of range; a subset that is empty or that the rules forbid; no problem, or problems
/// on other numbers of features.
pub fn certify_several(
    problems: &[Problem<'_>],
    rules: &Rules,
    subset: &Subset,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Certificate, Error> {
    let begun = Instant::now();
    Method::check(settings, check_several(problems)?)?;
    settings.penalty.check_given("for a certificate")?;
    if subset.is_empty() || !rules.allows(subset) {
        let why = if subset.is_empty() { "it is empty" } else { "the rules forbid it" };
        return Err(Error::Rules(format!("the subset {subset:?} cannot be certified: {why}; name another one")));
    }
    let list = RuleList { max_features: Some(subset.len()), ..rules.list().clone() };
    let rules = Rules::new(rules.p(), list, &[])?;
    let settings = ExactSettings { solutions: 1, ..settings.clone() };
    let judged = |problems: &[Problem<'_>], observer: &mut dyn Observer| {
        judge(problems, &rules, subset, &settings, limits.after(begun), observer)
    };
    let (certificate, _) = recentred(problems, &settings, observer, judged)?;
    Ok(Certificate { elapsed: begun.elapsed(), ..certificate })
}

/// What `of` says of problems whose features far from 0 are taken less their middles, where the bias
/// absorbs that and there is no proof, which is of the data as they are.
pub(super) fn recentred<T>(
    problems: &[Problem<'_>],
    settings: &ExactSettings,
    observer: &mut dyn Observer,
    of: impl FnOnce(&[Problem<'_>], &mut dyn Observer) -> T,
) -> T {
    let absorbs = settings.absorbs_constants() && observer.proof().is_none();
    let moved: Vec<Option<Recentred<'_>>> =
        problems.iter().map(|problem| Recentred::all(problem.design(), absorbs)).collect();
    let problems: Vec<Problem<'_>> =
        problems.iter().zip(&moved).map(|(p, r)| r.as_ref().map_or_else(|| p.clone(), |r| p.of(r))).collect();
    of(&problems, observer)
}

/// Compares a subset, which the rules may forbid, with the best ones that they allow: its
/// certificate, and these, best first, as many as `settings.solutions` says.
pub(super) fn judge(
    problems: &[Problem<'_>],
    rules: &Rules,
    subset: &Subset,
    settings: &ExactSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<(Certificate, Vec<Solution>), Error> {
    let begun = Instant::now();
    let (clock, allowed) = (Clock::new(&limits), rules.allows(subset));
    let features: Vec<usize> = subset.iter().collect();
    let trainer =
        Trainer { problems, rules, svm: &settings.svm, penalty: settings.penalty.prices(), memory: &limits.memory };
    let mut objective = trainer.objective(&features, &clock)?;

    let asked = limits.clone();
    let mut start = settings.start.clone();
    start.insert(0, subset.clone());
    let settings = ExactSettings { start, within: None, ..settings.clone() };
    let limits = limits.after(begun);
    let Selection { outcome, solutions, .. } = exact_beside(problems, rules, &settings, subset, limits, observer)?;
    let best = match (outcome.subset, outcome.objective) {
        (Some(found), Some(value)) if found == *subset => {
            // Where columns are large the search's value is the more careful one.
            objective = if outcome.status == Status::Optimal { value } else { objective.min(value) };
            Solution { subset: found, objective }
        }
        (Some(found), Some(value)) if value < objective || !allowed => Solution { subset: found, objective: value },
        _ => Solution { subset: subset.clone(), objective },
    };
    // A bound stays one when it is lowered; rounding may have put it above what was found.
    let bound = outcome.bound.map(|bound| bound.min(best.objective));
    // The proof is one of this best subset, too, which may be another than the search's.
    let gaps = Gaps::asked(&asked, Sense::Min, outcome.yardstick);
    let closed = bound.is_some_and(|bound| gaps.closed(best.objective, bound));
    let status = if outcome.status == Status::Optimal && !closed { Status::Stalled } else { outcome.status };
    let (elapsed, counts) = (begun.elapsed(), outcome.counts);
    let yardstick = outcome.yardstick.expect("exact measures gains");
    Ok((Certificate { objective, best, bound, yardstick, status, elapsed, counts }, solutions))
}
