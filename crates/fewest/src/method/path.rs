//! Paths: a method's result for each of several sizes K, for little more than the price of the largest.
//!
//! Solves   for each K of a list: what the method solves, with at most K features and all other rules.
//! Given    Problem (n samples, p features), Rules (their size rule is replaced by each K), sizes in ascending order, settings.
//! Returns  one [`PathPoint`] per size, ascending: what the method alone would return for it.
//! Exact    each K starts from the subset of the size before, from that subset grown by the features whose gains
//!          `c_j^2 / 2 - lambda_j` in its dual are largest, and from the subset SVM-RFE ends with.
//! Alignment each K starts from the subset of the size before; gamma is the same for all.
//! RFE      the sets that survive on the way to the smallest K hold those of the larger K, and are trained once each.
//! Gains    features are scored once; each K is one question to [`Rules::best_subset`].
//! Limits   the time is for the whole path: a size may take an equal share of what is left, and leaves what it does not
//!          need to the sizes after it. Nodes and gap are for each size. Cancelled, the path ends with the size under way.
//! Fails    never on limits; a size too small for the rules is a point of status `Infeasible`. Errors: sizes or settings
//!          out of range.

use std::rc::Rc;
use std::time::{Duration, Instant};

use rayon::prelude::*;

use super::exact::{ExactSettings, exact};
use super::info_gain::{Binning, information_gain};
use super::kta::{KtaSettings, kta};
use super::rfe::{RfeSettings, Step, rfe_classes};
use super::{Method, Report};
use crate::dual::train::train;
use crate::kernel_oracle::KernelOracle;
use crate::subset_oracle::SubsetOracle;
use crate::validation::SamplesByClass;
use crate::{
    Classified, Counts, Design, Error, Event, Kernel, Limits, Observer, Outcome, Problem, RuleList, Rules, Selection,
    Sense, Silent, Status, Subset,
};

/// Trainings on the sets of a finished elimination may take this much longer than the time limit, all together.
const WIND_UP: Duration = Duration::from_secs(1);

/// Step of the SVM-RFE that `exact` starts from: a tenth of the features while there are many, then one at a time.
const START_STEP: Step = Step::Remaining(0.1);

/// The result for one size.
#[derive(Debug, Clone)]
pub struct PathPoint {
    /// K: at most this many features.
    pub max_features: usize,
    /// What the method found.
    pub selection: Selection,
}

/// A method's report for one size.
#[derive(Debug, Clone)]
pub struct SizeReport {
    /// K: at most this many features.
    pub max_features: usize,
    /// What the method found.
    pub report: Report,
}

/// Reports of points, with the kernel of the SVM on so many features.
pub(super) fn reports(points: Vec<PathPoint>, kernel: impl Fn(usize) -> Kernel) -> Vec<SizeReport> {
    let report = |point: PathPoint| {
        let features = point.selection.outcome.subset.as_ref().map_or(0, Subset::len);
        SizeReport { max_features: point.max_features, report: Report::new(point.selection, kernel(features)) }
    };
    points.into_iter().map(report).collect()
}

/// A path of any method: one run for each size, the time shared out among them.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, and those of the method.
pub(super) fn each<M: Method>(
    method: &M,
    samples: &Classified<'_>,
    rules: &Rules,
    sizes: &[usize],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<SizeReport>, Error> {
    let clock = Clock::new(limits)?;
    let sizes = Sized::all(rules, sizes)?;
    let mut reports: Vec<Option<Report>> = vec![None; sizes.len()];
    let points = walk(&sizes, Sense::Min, &clock, observer, |at, rules, _, limits, observer| {
        let report = method.select(samples, rules, limits, observer)?;
        let selection = report.selection.clone();
        reports[at] = Some(report);
        Ok(selection)
    })?;
    let report = |(point, report): (PathPoint, Option<Report>)| SizeReport {
        max_features: point.max_features,
        report: report.unwrap_or_else(|| Report::new(point.selection, Kernel::Linear)),
    };
    Ok(points.into_iter().zip(reports).map(report).collect())
}

/// A path of [`exact`]: for each size the best subset and a bound.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, settings or limits out of range.
pub fn exact_path(
    problem: &Problem<'_>,
    rules: &Rules,
    sizes: &[usize],
    settings: &ExactSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    settings.check(problem.n_features())?;
    let clock = Clock::new(limits)?;
    let sizes = Sized::all(rules, sizes)?;
    let elimination = RfeSettings { svm: settings.svm.clone(), step: START_STEP, ..RfeSettings::default() };
    let share = Limits { nodes: None, oracle_calls: None, ..clock.share(sizes.len() + 1) };
    let survivors = survivors(&problem.into(), &sizes, &elimination, &Clock::new(&share)?, &mut Silent)?;
    walk(&sizes, Sense::Min, &clock, observer, |at, rules, previous, limits, observer| {
        let mut start = settings.start.clone();
        start.extend(survivors.iter().find(|s| s.size == at).map(|s| s.subset.clone()));
        if let Some(previous) = previous {
            start.extend(grown(problem, rules, previous, settings, &clock)?);
            start.push(previous.clone());
        }
        exact(problem, rules, &ExactSettings { start, ..settings.clone() }, limits, observer)
    })
}

/// A path of [`kta`], with the same gamma for every size: for each the best subset and a bound.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, and those of [`kta`].
#[expect(clippy::too_many_arguments, reason = "those of kta, and the sizes")]
pub fn alignment_path(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    sizes: &[usize],
    settings: &KtaSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    let clock = Clock::new(limits)?;
    let sizes = Sized::all(rules, sizes)?;
    walk(&sizes, Sense::Max, &clock, observer, |_, rules, previous, limits, observer| {
        let mut settings = settings.clone();
        settings.start.extend(previous.cloned());
        kta(design, classes, weights, rules, &settings, limits, observer)
    })
}

/// One run for each size after the other. `select` is given the position of a size, its rules, what the size before found, and its limits.
fn walk(
    sizes: &[Sized],
    sense: Sense,
    clock: &Clock,
    observer: &mut dyn Observer,
    mut select: impl FnMut(usize, &Rules, Option<&Subset>, Limits, &mut dyn Observer) -> Result<Selection, Error>,
) -> Result<Vec<PathPoint>, Error> {
    let mut points = Vec::new();
    let mut previous: Option<Subset> = None;
    for (at, size) in sizes.iter().enumerate() {
        if clock.cancelled() || observer.on(&Event::Size { max_features: size.k }).is_break() {
            break;
        }
        let Some(rules) = &size.rules else {
            points.push(size.infeasible(sense));
            continue;
        };
        let selection = select(at, rules, previous.as_ref(), clock.share(sizes.len() - at), observer)?;
        previous.clone_from(&selection.outcome.subset);
        let cancelled = selection.outcome.status == Status::Cancelled;
        points.push(PathPoint { max_features: size.k, selection });
        if cancelled {
            break;
        }
    }
    Ok(points)
}

/// A path of [`super::rfe::rfe`]: for each size the subset SVM-RFE ends with.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, settings or limits out of range.
pub fn rfe_path(
    problem: &Problem<'_>,
    rules: &Rules,
    sizes: &[usize],
    settings: &RfeSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    rfe_classes_path(&problem.into(), rules, sizes, settings, limits, observer)
}

/// [`rfe_path`] for two or more classes.
///
/// # Errors
/// As [`rfe_path`]; a cost tuned on the way, which differs from size to size.
pub fn rfe_classes_path(
    data: &Classified<'_>,
    rules: &Rules,
    sizes: &[usize],
    settings: &RfeSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    settings.check(rules.p())?;
    if settings.tuning.is_some() {
        return Err(Error::setting("tuning", "asked for", "left out on a path: each size has a cost of its own"));
    }
    let clock = Clock::new(limits)?;
    let sizes = Sized::all(rules, sizes)?;
    let found = survivors(data, &sizes, settings, &clock, observer)?;
    let mut selections: Vec<Option<Selection>> = vec![None; sizes.len()];
    let on = Training::new(data, settings)?;
    let mut trained: Option<Trained<'_>> = None;
    // Larger sets first, because a training starts from the one on the set around it.
    for Survivors { size, subset, run, own } in found.into_iter().rev() {
        if own {
            selections[size] = Some(run.as_ref().clone());
            trained = None;
            continue;
        }
        if clock.cancelled() {
            continue;
        }
        let start = Instant::now();
        let rules = sizes[size].rules.as_ref().expect("elimination ran under them");
        let oracle = match &mut trained {
            Some(oracle) => oracle,
            none => none.insert(on.start(rules, subset.clone(), settings)?),
        };
        let (objective, iterations, status) = oracle.train(&subset, &mut || clock.over(WIND_UP));
        let outcome = Outcome {
            status: status.unwrap_or(run.outcome.status),
            objective: Some(objective),
            subset: Some(subset),
            sense: Sense::Min,
            bound: None,
            elapsed: start.elapsed(),
            counts: Counts { oracle_calls: 1, solver_iterations: iterations, ..Counts::default() },
        };
        selections[size] = Some(Selection { outcome, ranking: run.ranking.clone(), solutions: Vec::new() });
    }
    let points = sizes.iter().zip(selections).filter_map(|(size, selection)| match (&size.rules, selection) {
        (None, _) => Some(size.infeasible(Sense::Min)),
        (Some(_), Some(selection)) => Some(PathPoint { max_features: size.k, selection }),
        (Some(_), None) => None,
    });
    Ok(points.collect())
}

/// How the sets that an elimination passed through are trained: on what [`rfe_classes`] trains on.
enum Training<'a> {
    Linear(Problem<'a>),
    Kernel(SamplesByClass<'a>),
}

/// A training on shrinking subsets.
enum Trained<'a> {
    Linear(Box<SubsetOracle<'a>>),
    Kernel(Box<KernelOracle<'a>>),
}

impl<'a> Training<'a> {
    fn new(data: &'a Classified<'a>, settings: &RfeSettings) -> Result<Self, Error> {
        match data.two_classes().filter(|_| settings.kernel.is_linear()) {
            Some(problem) => Ok(Self::Linear(problem)),
            None => Ok(Self::Kernel(SamplesByClass::new(data, &settings.svm)?)),
        }
    }

    fn start<'b>(&'b self, rules: &'b Rules, subset: Subset, settings: &RfeSettings) -> Result<Trained<'b>, Error> {
        Ok(match self {
            Self::Linear(problem) => {
                Trained::Linear(Box::new(SubsetOracle::new(problem, rules, subset, &settings.svm)?))
            }
            Self::Kernel(grouped) => {
                Trained::Kernel(Box::new(KernelOracle::new(grouped, rules, subset, settings.kernel, &settings.svm)?))
            }
        })
    }
}

impl Trained<'_> {
    /// Objective on a subset of the last one, iterations, and the limit that cut the training short.
    fn train(&mut self, subset: &Subset, stop: &mut dyn FnMut() -> Option<Status>) -> (f64, u64, Option<Status>) {
        let leaving = |from: &Subset| from.difference(subset).collect::<Vec<usize>>();
        let cut_short = |status: Status| matches!(status, Status::TimeLimit | Status::Cancelled).then_some(status);
        match self {
            Self::Linear(oracle) => {
                let leaving = leaving(oracle.subset());
                oracle.remove(&leaving);
                let solution = oracle.train(stop);
                (solution.primal, solution.iterations, cut_short(solution.status))
            }
            Self::Kernel(oracle) => {
                let leaving = leaving(oracle.subset());
                oracle.remove(&leaving);
                let machines = oracle.train(stop);
                let iterations = machines.iter().map(|m| m.iterations).sum();
                let status = machines.iter().find_map(|m| cut_short(m.status));
                (machines.iter().map(|m| m.primal).sum(), iterations, status)
            }
        }
    }
}

/// A path of [`information_gain`]: for each size the allowed subset with the largest total gain.
///
/// # Errors
/// Sizes that do not ascend from 1 to p, and those of [`information_gain`].
pub fn information_gain_path(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    sizes: &[usize],
    binning: Binning,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    let sizes = Sized::all(rules, sizes)?;
    let scored = match sizes.iter().rev().find_map(|size| size.rules.as_ref()) {
        Some(rules) => Some(information_gain(design, classes, weights, rules, binning, limits.clone(), observer)?),
        None => None,
    };
    let mut points = Vec::new();
    for size in &sizes {
        let (Some(rules), Some(scored)) = (&size.rules, &scored) else {
            points.push(size.infeasible(Sense::Max));
            continue;
        };
        let start = Instant::now();
        let mut gains = vec![0.0; rules.p()];
        for ranked in &scored.ranking {
            gains[ranked.feature] = ranked.criterion;
        }
        // Without a score there is no subset, as with the method itself.
        let best = if scored.outcome.subset.is_some() { rules.best_subset(&gains) } else { None };
        let (subset, objective) = best.map_or((None, None), |(subset, gain)| (Some(subset), Some(gain)));
        let elapsed = start.elapsed() + if points.is_empty() { scored.outcome.elapsed } else { Duration::ZERO };
        let outcome = Outcome { subset, objective, elapsed, ..scored.outcome.clone() };
        let selection = Selection { outcome, ranking: scored.ranking.clone(), solutions: Vec::new() };
        points.push(PathPoint { max_features: size.k, selection });
    }
    Ok(points)
}

/// A size and the rules with it; no rules where the others need more features than that.
struct Sized {
    k: usize,
    rules: Option<Rules>,
}

impl Sized {
    fn all(rules: &Rules, sizes: &[usize]) -> Result<Vec<Self>, Error> {
        let p = rules.p();
        if let Some(&k) = sizes.iter().find(|&&k| k == 0 || k > p) {
            return Err(Error::setting("max-features", k, format!("between 1 and the number of features, {p}")));
        }
        if let Some([a, b, ..]) = sizes.windows(2).find(|w| w[0] >= w[1]) {
            let found = format!("{a} before {b}");
            return Err(Error::setting("max-features", found, "sizes in ascending order, each once"));
        }
        let sized = |&k: &usize| {
            let list = RuleList { max_features: Some(k), ..rules.list().clone() };
            Self { k, rules: Rules::new(p, list, &[]).ok() }
        };
        Ok(sizes.iter().map(sized).collect())
    }

    fn infeasible(&self, sense: Sense) -> PathPoint {
        let outcome = Outcome {
            status: Status::Infeasible,
            subset: None,
            objective: None,
            sense,
            bound: None,
            elapsed: Duration::ZERO,
            counts: Counts::default(),
        };
        let selection = Selection { outcome, ranking: Vec::new(), solutions: Vec::new() };
        PathPoint { max_features: self.k, selection }
    }
}

/// The time of a path, and who may use how much of it.
struct Clock {
    start: Instant,
    limits: Limits,
}

impl Clock {
    fn new(limits: &Limits) -> Result<Self, Error> {
        limits.check()?;
        Ok(Self { start: Instant::now(), limits: limits.clone() })
    }

    /// Limits for one of `parts` runs that are still to come.
    fn share(&self, parts: usize) -> Limits {
        let time = self.limits.time.map(|t| t.saturating_sub(self.start.elapsed()) / parts as u32);
        Limits { time, ..self.limits.clone() }
    }

    fn cancelled(&self) -> bool {
        self.limits.cancel.is_cancelled()
    }

    /// The limit that was reached, where time counts as over only `grace` after its limit.
    fn over(&self, grace: Duration) -> Option<Status> {
        if self.cancelled() {
            Some(Status::Cancelled)
        } else {
            let over = self.limits.time.is_some_and(|t| self.start.elapsed() >= t + grace);
            over.then_some(Status::TimeLimit)
        }
    }
}

/// What SVM-RFE leaves at one size.
struct Survivors {
    /// Position of the size.
    size: usize,
    subset: Subset,
    /// The run that passed through it.
    run: Rc<Selection>,
    /// Whether the run ended there.
    own: bool,
}

/// The subset SVM-RFE ends with at each size that the rules allow, sizes ascending. A run to a small size passes through the
/// subsets of the larger ones, as long as they would take the same course.
fn survivors(
    data: &Classified<'_>,
    sizes: &[Sized],
    settings: &RfeSettings,
    clock: &Clock,
    observer: &mut dyn Observer,
) -> Result<Vec<Survivors>, Error> {
    let allowed: Vec<(usize, &Rules)> =
        sizes.iter().enumerate().filter_map(|(at, size)| Some((at, size.rules.as_ref()?))).collect();
    let courses: Vec<_> = allowed.chunk_by(|a, b| same_course(a.1, b.1, settings.step)).collect();
    let mut all = Vec::new();
    for (at, course) in courses.iter().enumerate() {
        let (first, rules) = course[0];
        if clock.cancelled() || observer.on(&Event::Size { max_features: sizes[first].k }).is_break() {
            break;
        }
        let run = rfe_classes(data, rules, settings, clock.share(courses.len() - at), observer)?.selection;
        let run = Rc::new(run);
        let Some(subset) = run.outcome.subset.clone() else { continue };
        all.push(Survivors { size: first, subset, run: Rc::clone(&run), own: true });
        for &(size, rules) in &course[1..] {
            all.push(Survivors { size, subset: largest_passed(&run, rules), run: Rc::clone(&run), own: false });
        }
    }
    Ok(all)
}

/// Whether SVM-RFE drops the same features in the same order for both sizes, until the larger is reached: nothing that the
/// smaller size alone forbids or requires from the start, no choice of what must stay ([`RuleList::at_least`]), and no step
/// that the larger size cuts short and another rule then lengthens again.
fn same_course(smaller: &Rules, larger: &Rules, step: Step) -> bool {
    let list = larger.list();
    let only_size = list.budget.is_none() && list.at_most.is_empty() && larger.n_units() == larger.p();
    let only_size = only_size && list.implies.is_empty();
    smaller.root() == larger.root() && list.at_least.is_empty() && (step == Step::Count(1) || only_size)
}

/// The largest of the sets that survived on the way which these rules allow.
fn largest_passed(run: &Selection, rules: &Rules) -> Subset {
    let most = rules.list().max_features.unwrap_or(rules.p());
    let mut set = Subset::from_indices(rules.p(), run.ranking[..most].iter().map(|r| r.feature));
    while !rules.allows(&set) {
        // The run ended with a set that the smaller size allows, so that the larger one does too.
        set.remove(run.ranking[set.len() - 1].feature);
    }
    set
}

/// The subset with more features, as far as the rules allow: those first that could save most, by the dual of the SVM on it.
/// Gains are `c_j^2 / 2 - lambda_j`, since `v(z + e_j) >= v(z) - c_j^2 / 2`.
fn grown(
    problem: &Problem<'_>,
    rules: &Rules,
    subset: &Subset,
    settings: &ExactSettings,
    clock: &Clock,
) -> Result<Option<Subset>, Error> {
    if subset.is_empty() {
        return Ok(None);
    }
    let features: Vec<usize> = subset.iter().collect();
    let (design, y, weights) = (problem.design(), problem.labels(), problem.weights());
    let stop = &mut || clock.over(Duration::ZERO);
    let beta = train(design, &features, y, weights, Kernel::Linear, &settings.svm, stop)?.beta;
    let gain = |j: usize| design.dot_column(j, &beta).powi(2) / 2.0 - settings.penalty.get(j).unwrap_or(&0.0);
    let mut gains: Vec<f64> = (0..rules.p()).into_par_iter().map(gain).collect();
    let stays = 1.0 + gains.iter().map(|g| g.max(0.0)).sum::<f64>();
    for j in features {
        gains[j] = stays;
    }
    Ok(rules.best_subset(&gains).map(|(subset, _)| subset))
}
