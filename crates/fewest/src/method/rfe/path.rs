//! A path of SVM-RFE: the sets that survive on the way to the smallest size hold those of the
//! larger sizes, and are trained once each.

use std::rc::Rc;
use std::time::Instant;

use super::pairs::{PairSamples, PairsOracle, trains_pairs};
use super::{NAME, RfeSettings, Step, permitted, rfe_classes};
use crate::dual::DualSolution;
use crate::kernel_oracle::KernelOracle;
use crate::method::Method;
use crate::method::kernel_setup::within;
use crate::method::path::state::{Parts, PathPart};
use crate::method::path::{PathClock, PathPoint, PathSize};
use crate::validation::SamplesByClass;
use crate::{
    Clock, Counts, Error, Event, Limits, Memory, Observer, Outcome, Problem, Rules, Samples, Selection, Sense, Status,
    Subset,
};
use fewest_svm::limits::WIND_UP;

/// A path of [`super::rfe`]: for each size the subset SVM-RFE ends with.
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
    data: &Samples<'_>,
    rules: &Rules,
    sizes: &[usize],
    settings: &RfeSettings,
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<PathPoint>, Error> {
    settings.check(rules.p())?;
    let rules = &*within(rules, settings.start.as_deref())?;
    if settings.tuning.is_some() {
        return Err(Error::setting("tuning", "asked for", "left out on a path: each size has a cost of its own"));
    }
    let clock = PathClock::new(limits)?;
    let sizes = PathSize::all(rules, sizes)?;
    let found = survivors(data, &sizes, settings, &clock, observer)?;
    let mut selections: Vec<Option<Selection>> = vec![None; sizes.len()];
    let on = Training::new(data, rules, settings, &limits.memory)?;
    let problems = on.problems()?;
    let mut trained: Option<ShrinkingOracle<'_>> = None;
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
            none => none.insert(on.start(&problems, rules, subset.clone(), settings)?),
        };
        let (objective, iterations, status) = oracle.train(&subset, &clock.clock(WIND_UP));
        let outcome = Outcome {
            status: status.unwrap_or(run.outcome.status),
            objective: Some(objective),
            subset: Some(subset),
            sense: Sense::Min,
            bound: None,
            yardstick: None,
            elapsed: start.elapsed(),
            counts: Counts { oracle_calls: 1, solver_iterations: iterations, ..Counts::default() },
        };
        selections[size] = Some(Selection { outcome, ranking: run.ranking.clone(), solutions: Vec::new() });
    }
    let points = sizes.iter().zip(selections).filter_map(|(size, selection)| match (&size.rules, selection) {
        (None, _) => Some(PathPoint { max_features: size.k, selection: PathSize::infeasible(Sense::Min) }),
        (Some(_), Some(selection)) => Some(PathPoint { max_features: size.k, selection }),
        (Some(_), None) => None,
    });
    Ok(points.collect())
}

/// How the sets that an elimination passed through are trained: on what [`rfe_classes`] trains on.
enum Training<'a> {
    Linear(PairSamples<'a>),
    Kernel(SamplesByClass<'a>),
}

/// A training on shrinking subsets.
enum ShrinkingOracle<'a> {
    Linear(PairsOracle<'a>),
    Kernel(Box<KernelOracle<'a>>),
}

impl<'a> Training<'a> {
    fn new(data: &'a Samples<'a>, rules: &Rules, settings: &RfeSettings, memory: &Memory) -> Result<Self, Error> {
        if trains_pairs(data, rules, settings) {
            PairSamples::new(data, rules, permitted(rules).len(), &settings.svm, memory).map(Self::Linear)
        } else {
            SamplesByClass::new(data, &settings.svm, memory).map(Self::Kernel)
        }
    }

    /// The problem of each pair of classes that is trained on its own samples.
    fn problems(&self) -> Result<Vec<Problem<'_>>, Error> {
        match self {
            Self::Linear(pairs) => pairs.problems(),
            Self::Kernel(_) => Ok(Vec::new()),
        }
    }

    fn start<'b>(
        &'b self,
        problems: &'b [Problem<'b>],
        rules: &'b Rules,
        subset: Subset,
        settings: &RfeSettings,
    ) -> Result<ShrinkingOracle<'b>, Error> {
        Ok(match self {
            Self::Linear(_) => ShrinkingOracle::Linear(PairsOracle::new(problems, rules, &subset, &settings.svm)?),
            Self::Kernel(grouped) => ShrinkingOracle::Kernel(Box::new(KernelOracle::new(
                grouped,
                rules,
                subset,
                settings.kernel,
                &settings.svm,
            )?)),
        })
    }
}

impl ShrinkingOracle<'_> {
    /// Objective on a subset of the last one, iterations, and the limit that cut the training
    /// short.
    fn train(&mut self, subset: &Subset, clock: &Clock) -> (f64, u64, Option<Status>) {
        let leaving = |from: &Subset| from.difference(subset).collect::<Vec<usize>>();
        let solutions: Vec<&DualSolution> = match self {
            Self::Linear(oracle) => {
                let leaving = leaving(oracle.subset());
                oracle.remove(&leaving);
                oracle.train(clock)
            }
            Self::Kernel(oracle) => {
                let leaving = leaving(oracle.subset());
                oracle.remove(&leaving);
                oracle.train(clock).iter().collect()
            }
        };
        let cut_short = |status: Status| matches!(status, Status::TimeLimit | Status::Cancelled).then_some(status);
        let status = solutions.iter().find_map(|s| cut_short(s.status));
        (solutions.iter().map(|s| s.primal).sum(), solutions.iter().map(|s| s.iterations).sum(), status)
    }
}

/// The subset that SVM-RFE leaves at one size.
pub(in crate::method) struct Survivors {
    /// Position of the size.
    pub(in crate::method) size: usize,
    pub(in crate::method) subset: Subset,
    /// The run that passed through it.
    run: Rc<Selection>,
    /// Whether the run ended there.
    own: bool,
}

/// The subset SVM-RFE ends with at each size that the rules allow, sizes ascending. A run to a
/// small size passes through the subsets of the larger ones, as long as they would take the same
/// course.
pub(in crate::method) fn survivors(
    data: &Samples<'_>,
    sizes: &[PathSize],
    settings: &RfeSettings,
    clock: &PathClock,
    observer: &mut dyn Observer,
) -> Result<Vec<Survivors>, Error> {
    let allowed: Vec<(usize, &Rules)> =
        sizes.iter().enumerate().filter_map(|(at, size)| Some((at, size.rules.as_ref()?))).collect();
    let courses: Vec<_> = allowed.chunk_by(|a, b| same_course(a.1, b.1, settings)).collect();
    let (p, first) = (data.design().n_features(), courses.iter().map(|course| sizes[course[0].0].k).collect());
    let mut parts = Parts::new(NAME, p, first, observer)?;
    let mut all = Vec::new();
    for (at, course) in courses.iter().enumerate() {
        let (first, rules) = course[0];
        if clock.cancelled() || parts.tell(&Event::Size { max_features: sizes[first].k }).is_break() {
            break;
        }
        let run = if let Some(state) = parts.known(at)? {
            Selection::restore(state, rules.p())?
        } else {
            let limits = clock.share(courses.len() - at);
            let run = rfe_classes(data, rules, settings, limits, &mut parts.observer(at))?.selection;
            parts.end(at, &run.state(), run.outcome.status);
            run
        };
        let run = Rc::new(run);
        let Some(subset) = run.outcome.subset.clone() else { continue };
        all.push(Survivors { size: first, subset, run: Rc::clone(&run), own: true });
        for &(size, rules) in &course[1..] {
            all.push(Survivors { size, subset: largest_passed(&run, rules), run: Rc::clone(&run), own: false });
        }
    }
    parts.keep(true);
    Ok(all)
}

/// Whether SVM-RFE drops the same features in the same order for both sizes, until the larger is
/// reached: nothing that the smaller size alone forbids or requires from the start, no choice of
/// what must stay ([`RuleList::at_least`]), and no step that the larger size cuts short and another
/// rule then lengthens again.
fn same_course(smaller: &Rules, larger: &Rules, settings: &RfeSettings) -> bool {
    let list = larger.list();
    let only_size = list.budget.is_none() && list.at_most.is_empty() && larger.n_units() == larger.p();
    let only_size = only_size && list.implies.is_empty();
    let one_by_one = settings.step == Step::Count(1) && settings.halve_above.is_none();
    smaller.root() == larger.root() && list.at_least.is_empty() && (one_by_one || only_size)
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
