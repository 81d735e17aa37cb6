//! A panel at one SVM, and its bound: by `fgm`, by an elimination, by `exact`.
//!
//! Steps    1. eliminate features, on samples few enough  2. `fgm` on all samples: a panel, and the
//!          bound of every allowed panel by the mixtures of panels (squared hinge)  3. the panel of
//!          smaller objective  4. the search of `exact` from there, where the problems are small, or a
//!          proof is written: the bound is then the one that this search proves

use fewest::method::exact::{ExactSettings, exact_several};
use fewest::method::fgm::{FgmSettings, fgm, fgm_several};
use fewest::model::{self, FitSettings};
use fewest::saddle::without_features;
use std::ops::ControlFlow;

use fewest::{
    AllOrFirst as _, Bias, Clock, Error, Event, Limits, Loss, Observer, Outcome, Problem, Rules, Several, Status,
    Subset, SvmSettings, Yardstick,
};
use rayon::prelude::*;

use super::cover::Cover;
use crate::time::Deadline;

/// Gap at which `fgm` stops: what is left open is the distance of panels from mixtures of panels.
const RELAXED: f64 = 0.01;
/// Share of the time for `fgm` where `exact` follows.
const TIME: f64 = 0.6;
/// Relative gap of the trainings of exchanges.
const ROUGHLY: f64 = 1e-4;
/// Samples of all problems times features up to which `exact` searches.
const SMALL: f64 = 3e7;

/// What a search works on.
pub(crate) struct Search<'a> {
    pub(crate) several: &'a Several<'a>,
    pub(crate) rules: &'a Rules,
    /// What tells each pair of classes apart, where features may be lost.
    pub(crate) cover: &'a Cover,
    pub(crate) svm: &'a SvmSettings,
}

impl Search<'_> {
    /// Steps 2 to 4. `begun` is what an elimination left; step 4 takes the nodes of `exact`, without
    /// which it is left out.
    pub(crate) fn panel(
        &self,
        begun: Option<Subset>,
        deadline: &Deadline,
        exact: Option<&Limits>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let problems = self.several.problems();
        let clock = deadline.clock();
        let begun = begun.filter(|begun| self.rules.allows(begun));
        let known = begun.as_ref().map(|begun| self.objective(&problems, begun, &clock)).transpose()?;
        let share = if exact.is_some() { TIME } else { 1.0 };
        let mut found = self.relax(&problems, known, deadline.limits(share))?;
        if let Some((begun, objective)) = begun.zip(known)
            && found.objective.is_none_or(|best| objective < best)
        {
            (found.objective, found.subset) = (Some(objective), Some(begun));
        }
        let size: f64 = problems.iter().map(|problem| problem.n_samples() as f64 * problem.n_features() as f64).sum();
        let closed = found.gap().is_some_and(|gap| gap <= deadline.limits(1.0).gap_rel);
        let (proves, useful) = (observer.proof().is_some(), size <= SMALL && !closed && clock.stop().is_none());
        let Some(exact) = exact.filter(|_| proves || useful) else {
            return Ok(found);
        };
        // A proof is of its own bound.
        if proves {
            found.bound = None;
        }
        let start = found.subset.clone().into_iter().collect();
        let settings = ExactSettings { svm: self.svm.clone(), start, ..ExactSettings::default() };
        let limits = deadline.limits(1.0);
        // The gap is asked of the gain alone, not of the objective, too.
        let measured = found.objective.zip(found.yardstick);
        let open = measured.map_or(0.0, |(objective, yardstick)| yardstick.room(limits.gap_rel, objective, true));
        let limits = Limits { nodes: exact.nodes, gap_abs: limits.gap_abs.max(open), ..limits };
        match exact_several(&problems, self.rules, &settings, limits, observer) {
            Ok(searched) => Ok(better(found, searched.outcome)),
            Err(Error::Memory { .. }) => Ok(found),
            Err(error) => Err(error),
        }
    }

    /// The panel of `fgm` and the bound, which is near enough where a panel of objective `known` is within
    /// the gap asked for; nothing but the yardstick for another loss than its own.
    fn relax(&self, problems: &[Problem<'_>], known: Option<f64>, limits: Limits) -> Result<Outcome, Error> {
        let yardstick = Some(Yardstick::new(without_features(problems, self.svm), &[]));
        let SvmSettings { cost, tolerance, memory, loss, .. } = *self.svm;
        if loss != Loss::SquaredHinge {
            return Ok(nothing(yardstick));
        }
        let settings = FgmSettings { cost: 2.0 * cost, bias: Bias::Free, tolerance, memory, ..FgmSettings::default() };
        let asked = limits.gap_rel;
        let ours = Limits { gap_rel: RELAXED, ..limits };
        let mut enough = false;
        let mut near = |event: &Event<'_>| {
            if let (Event::Bound { bound, .. }, Some(known), Some(yardstick)) = (event, known, yardstick) {
                enough |= *bound < 0.0 && yardstick.gap(known, sum(*bound)) <= asked;
            }
            if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut found = match problems {
            [problem] => fgm(problem, self.rules, &settings, ours, &mut near)?.selection.outcome,
            _ => fgm_several(problems, self.rules, &settings, ours, &mut near)?.selection.outcome,
        };
        if enough && found.status == Status::Cancelled {
            found.status = Status::Completed;
        }
        let objective = found.objective.filter(|_| found.subset.is_some()).map(sum);
        let bound = found.bound.filter(|bound| *bound < 0.0).map(sum);
        // That mixtures of panels are known well says nothing of panels.
        let status = if found.status == Status::Optimal { Status::Completed } else { found.status };
        Ok(Outcome { status, objective, bound, yardstick, ..found })
    }

    /// The sum of the objectives of the problems on a subset.
    pub(crate) fn objective(&self, problems: &[Problem<'_>], subset: &Subset, clock: &Clock) -> Result<f64, Error> {
        Ok(fit(problems, &subset.iter().collect::<Vec<usize>>(), self.svm, clock)?.value)
    }

    /// The problems trained on these features as exchanges need it.
    pub(super) fn roughly(&self, problems: &[Problem<'_>], features: &[usize], clock: &Clock) -> Result<Fitted, Error> {
        let svm = SvmSettings { tolerance: ROUGHLY.max(self.svm.tolerance), ..self.svm.clone() };
        fit(problems, features, &svm, clock)
    }

    /// These features by their weight, the smallest first.
    pub(super) fn lightest(
        &self,
        problems: &[Problem<'_>],
        features: &[usize],
        clock: &Clock,
    ) -> Result<Vec<usize>, Error> {
        let weights = self.roughly(problems, features, clock)?.weights;
        let mut each: Vec<(f64, usize)> = weights.into_iter().zip(features.iter().copied()).collect();
        each.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        Ok(each.into_iter().map(|of| of.1).collect())
    }
}

/// The problems trained on a subset.
pub(super) struct Fitted {
    /// The sum of their objectives.
    pub(super) value: f64,
    /// The squared weights of each feature, summed up over them.
    weights: Vec<f64>,
}

/// Trains the problems on these features.
fn fit(problems: &[Problem<'_>], features: &[usize], svm: &SvmSettings, clock: &Clock) -> Result<Fitted, Error> {
    let settings = FitSettings { svm: svm.clone(), ..FitSettings::default() };
    let of = |problem: &Problem<'_>| {
        let classes: Vec<u32> = problem.labels().iter().map(|y| u32::from(*y > 0.0)).collect();
        model::fit(problem.design(), features, &classes, problem.weights(), &settings, clock)
    };
    let models = problems.par_iter().map(of).all_or_first::<Vec<_>>()?;
    let mut fitted = Fitted { value: 0.0, weights: vec![0.0; features.len()] };
    for machine in models.iter().flat_map(|model| &model.machines) {
        fitted.value += machine.solution.primal;
        fitted.weights.iter_mut().zip(&machine.weights).for_each(|(sum, weight)| *sum += weight * weight);
    }
    Ok(fitted)
}

/// The sum V of the objectives of a value of `fgm`, -1 / (4 V).
fn sum(value: f64) -> f64 {
    -0.25 / value
}

/// No panel yet.
fn nothing(yardstick: Option<Yardstick>) -> Outcome {
    Outcome {
        status: Status::Completed,
        subset: None,
        objective: None,
        sense: fewest::Sense::Min,
        bound: None,
        yardstick,
        elapsed: std::time::Duration::ZERO,
        counts: fewest::Counts::default(),
    }
}

/// What a search found that began with a panel: the better panel, and the better bound.
fn better(begun: Outcome, found: Outcome) -> Outcome {
    let bound = match (begun.bound, found.bound) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    };
    let improved = found.objective.is_some_and(|new| begun.objective.is_none_or(|old| new <= old));
    let elapsed = begun.elapsed + found.elapsed;
    if improved && found.subset.is_some() {
        return Outcome { bound, elapsed, ..found };
    }
    Outcome { subset: begun.subset, objective: begun.objective, bound, elapsed, ..found }
}
