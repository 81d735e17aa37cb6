//! Stand-in for the branch and bound while it is written: enumeration, with the settings and the result of `exact`.

use std::cmp::Ordering;

use super::elimination::{RfeSettings, rfe};
use crate::dual::train::train;
use crate::{
    Choice, Error, Event, Kernel, Limits, Observer, Problem, Rules, Run, Selection, Sense, Silent, Solution, Status,
    Subset, SvmSettings,
};

/// Settings of [`exact`].
#[derive(Debug, Clone, PartialEq)]
pub struct ExactSettings {
    /// Loss, cost C, bias, tolerance of the SVM.
    pub svm: SvmSettings,
    /// lambda_j added to the objective for each chosen feature, length p, each 0 or more; empty for none.
    pub penalty: Vec<f64>,
    /// How many best subsets to prove and return, at least 1. Default 1.
    pub solutions: usize,
    /// Subsets to start from, as first incumbents (those the rules forbid are ignored).
    pub start: Vec<Subset>,
}

impl Default for ExactSettings {
    fn default() -> Self {
        Self { svm: SvmSettings::default(), penalty: Vec::new(), solutions: 1, start: Vec::new() }
    }
}

impl ExactSettings {
    /// Checks every number against its range, for p features.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first setting out of range.
    pub fn check(&self, p: usize) -> Result<(), Error> {
        self.svm.check()?;
        if !self.penalty.is_empty() && self.penalty.len() != p {
            return Err(Error::setting(
                "penalty",
                format!("of {} features", self.penalty.len()),
                format!("of all {p}"),
            ));
        }
        if let Some(l) = self.penalty.iter().find(|&&l| !(l >= 0.0 && l.is_finite())) {
            return Err(Error::setting("penalty", l, "a finite number, 0 or more"));
        }
        if self.solutions == 0 {
            return Err(Error::setting("solutions", 0, "at least 1"));
        }
        Ok(())
    }
}

/// `min_z v(z) + sum_j lambda_j z_j` over the subsets the rules allow, with its bound.
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
    let mut search = Search { problem, rules, settings, best: Vec::new(), lowest: f64::INFINITY };
    let permitted: Vec<usize> = (0..rules.p()).filter(|&j| rules.root()[rules.unit_of(j)] != Choice::Out).collect();
    let bound = search.train(&permitted)?.1;
    run.raise_bound(bound);
    for start in settings.start.iter().filter(|s| rules.allows(s)) {
        search.look_at(start, &mut run)?;
    }
    if settings.start.is_empty() {
        let elimination = RfeSettings { svm: settings.svm.clone(), ..RfeSettings::default() };
        let limits = Limits { time: run.remaining(), ..Limits::default() };
        let found = rfe(problem, rules, &elimination, limits, &mut Silent)?.outcome.subset;
        search.look_at(&found.expect("elimination ends with a subset"), &mut run)?;
    }
    let mut subset = Subset::empty(rules.p());
    let stopped = search.explore(&mut subset, &permitted, &mut run)?;
    if stopped.is_none() {
        run.raise_bound(search.lowest);
    }
    let solutions = search.best;
    Ok(Selection { outcome: run.finish(stopped.unwrap_or(Status::Optimal)), ranking: Vec::new(), solutions })
}

struct Search<'a> {
    problem: &'a Problem<'a>,
    rules: &'a Rules,
    settings: &'a ExactSettings,
    best: Vec<Solution>,
    lowest: f64,
}

impl Search<'_> {
    fn train(&self, features: &[usize]) -> Result<(f64, f64), Error> {
        let problem = self.problem;
        let (y, weights) = (problem.labels(), problem.weights());
        let s = train(problem.design(), features, y, weights, Kernel::Linear, &self.settings.svm, &mut || None)?;
        Ok((s.primal, s.dual))
    }

    fn look_at(&mut self, subset: &Subset, run: &mut Run<'_>) -> Result<(), Error> {
        let features: Vec<usize> = subset.iter().collect();
        let (primal, dual) = self.train(&features)?;
        let penalty: f64 = features.iter().filter_map(|&j| self.settings.penalty.get(j)).sum();
        self.lowest = self.lowest.min(dual + penalty);
        run.offer(subset, primal + penalty);
        if self.best.iter().all(|s| s.subset != *subset) {
            self.best.push(Solution { subset: subset.clone(), objective: primal + penalty });
            self.best.sort_by(|a, b| a.objective.partial_cmp(&b.objective).unwrap_or(Ordering::Equal));
            self.best.truncate(self.settings.solutions);
        }
        Ok(())
    }

    /// Every subset made of `subset` and some of `rest`.
    fn explore(&mut self, subset: &mut Subset, rest: &[usize], run: &mut Run<'_>) -> Result<Option<Status>, Error> {
        if let Some(status) = run.stop() {
            return Ok(Some(status));
        }
        if self.rules.allows(subset) && !subset.is_empty() {
            run.counts.nodes += 1;
            run.tell(&Event::Progress { done: run.counts.nodes, total: None, elapsed: run.elapsed() });
            self.look_at(subset, run)?;
        }
        if subset.len() < self.rules.list().max_features.unwrap_or(self.rules.p()) {
            for (at, &j) in rest.iter().enumerate() {
                subset.insert(j);
                if let Some(status) = self.explore(subset, &rest[at + 1..], run)? {
                    return Ok(Some(status));
                }
                subset.remove(j);
            }
        }
        Ok(None)
    }
}
