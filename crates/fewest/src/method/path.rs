//! Paths: a method's result for each of several sizes K, for little more than the price of the
//! largest.
//!
//! Solves   for each K of a list: what the method solves, with at most K features and all other
//!          rules.
//! Given    Rules (their size rule is replaced by each K), sizes in ascending order.
//! Returns  one [`PathPoint`] per size, ascending: what the method alone would return for it. A
//!          method without a path of its own runs once for each size.
//! Limits   the time is for the entire path: a size may take an equal share of what is left, and
//!          leaves what it does not need to the sizes after it. Nodes and gap are for each size.
//!          Cancelled, the path ends with the current size.
//! Fails    never on limits; a size too small for the rules is a point of status `Infeasible`.
//!          Errors: sizes or settings out of range.

use std::time::{Duration, Instant};

pub(super) mod state;

use state::{Parts, PathPart};

use super::{Method, Report};
use crate::{
    Cancel, Clock, Counts, Error, Event, Kernel, Limits, Observer, Outcome, RuleList, Rules, Samples, Selection, Sense,
    Status, Subset,
};

/// The result for one size.
#[derive(Debug, Clone)]
pub struct PathPoint {
    /// K: at most this many features.
    pub max_features: usize,
    /// The method's selection.
    pub selection: Selection,
}

/// A method's report for one size.
#[derive(Debug, Clone)]
pub struct SizeReport {
    /// K: at most this many features.
    pub max_features: usize,
    /// The method's report.
    pub report: Report,
}

impl SizeReport {
    /// The report changed.
    pub(super) fn map(self, change: impl FnOnce(Report) -> Report) -> Self {
        Self { report: change(self.report), ..self }
    }
}

/// Reports of points, with the kernel of the SVM on this number of features.
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
    samples: &Samples<'_>,
    rules: &Rules,
    sizes: &[usize],
    limits: &Limits,
    observer: &mut dyn Observer,
) -> Result<Vec<SizeReport>, Error> {
    let clock = PathClock::new(limits)?;
    let sizes = PathSize::all(rules, sizes)?;
    let mut parts = parts_of(M::INFO.name, rules, &sizes, observer)?;
    let reports = walk(&sizes, Sense::Min, &clock, &mut parts, |_, rules, _, limits, observer| {
        method.select(samples, rules, limits, observer)
    })?;
    Ok(reports.into_iter().map(|(max_features, report)| SizeReport { max_features, report }).collect())
}

/// The parts of a path that runs once for each size.
pub(super) fn parts_of<'a>(
    method: &str,
    rules: &Rules,
    sizes: &[PathSize],
    observer: &'a mut dyn Observer,
) -> Result<Parts<'a>, Error> {
    Parts::new(method, rules.p(), sizes.iter().map(|size| size.k).collect(), observer)
}

/// One run for each size after the other; what an earlier call has done stands. `select` is given
/// the position of a size, its rules, what the size before found, and its limits. Returns each size
/// with what was found.
pub(super) fn walk<R: PathPart>(
    sizes: &[PathSize],
    sense: Sense,
    clock: &PathClock,
    parts: &mut Parts<'_>,
    mut select: impl FnMut(usize, &Rules, Option<&Subset>, Limits, &mut dyn Observer) -> Result<R, Error>,
) -> Result<Vec<(usize, R)>, Error> {
    let mut found: Vec<(usize, R)> = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        if clock.cancelled() || parts.tell(&Event::Size { max_features: size.k }).is_break() {
            break;
        }
        let Some(rules) = &size.rules else {
            found.push((size.k, R::of(PathSize::infeasible(sense))));
            continue;
        };
        let known = parts.known::<R::State>(at)?.map(|state| R::restore(state, rules.p())).transpose()?;
        let part = if let Some(part) = known {
            part
        } else {
            let previous = found.iter().rev().find(|f| f.1.selection().outcome.status != Status::Infeasible);
            let previous = previous.and_then(|f| f.1.selection().outcome.subset.as_ref());
            let part = select(at, rules, previous, clock.share(sizes.len() - at), &mut parts.observer(at))?;
            parts.end(at, &part.state(), part.selection().outcome.status);
            part
        };
        let cancelled = part.selection().outcome.status == Status::Cancelled;
        found.push((size.k, part));
        if cancelled {
            break;
        }
    }
    parts.keep(true);
    Ok(found)
}

/// What a walk found, as points.
pub(super) fn points(found: Vec<(usize, Selection)>) -> Vec<PathPoint> {
    found.into_iter().map(|(max_features, selection)| PathPoint { max_features, selection }).collect()
}

/// A size and the rules with it; no rules where the others need more features than that.
pub(super) struct PathSize {
    pub(super) k: usize,
    pub(super) rules: Option<Rules>,
}

impl PathSize {
    pub(super) fn all(rules: &Rules, sizes: &[usize]) -> Result<Vec<Self>, Error> {
        let p = rules.p();
        if let Some(&k) = sizes.iter().find(|&&k| k == 0 || k > p) {
            return Err(Error::setting("max_features", k, format!("between 1 and the number of features, {p}")));
        }
        if let Some([a, b, ..]) = sizes.windows(2).find(|w| w[0] >= w[1]) {
            let found = format!("{a} before {b}");
            return Err(Error::setting("max_features", found, "sizes in ascending order, each once"));
        }
        let sized = |&k: &usize| {
            let list = RuleList { max_features: Some(k), ..rules.list().clone() };
            Self { k, rules: Rules::new(p, list, &[]).ok() }
        };
        Ok(sizes.iter().map(sized).collect())
    }

    pub(super) fn infeasible(sense: Sense) -> Selection {
        let outcome = Outcome {
            status: Status::Infeasible,
            subset: None,
            objective: None,
            sense,
            bound: None,
            yardstick: None,
            elapsed: Duration::ZERO,
            counts: Counts::default(),
        };
        Selection { outcome, ranking: Vec::new(), solutions: Vec::new() }
    }
}

/// The time of a path, and who may use how much of it.
pub(super) struct PathClock {
    start: Instant,
    limits: Limits,
}

impl PathClock {
    pub(super) fn new(limits: &Limits) -> Result<Self, Error> {
        limits.check()?;
        Ok(Self { start: Instant::now(), limits: limits.clone() })
    }

    /// Limits for one of `parts` runs that are still to come.
    pub(super) fn share(&self, parts: usize) -> Limits {
        let time = self.limits.time.map(|t| t.saturating_sub(self.start.elapsed()) / parts as u32);
        Limits { time, ..self.limits.clone() }
    }

    pub(super) fn cancelled(&self) -> bool {
        self.limits.cancel.is_cancelled()
    }

    /// The clock of a training, for which time is over only `grace` after its limit.
    pub(super) fn clock(&self, grace: Duration) -> Clock {
        Clock::of_run(self.start, &self.limits, Cancel::default()).with_grace_unless_cancelled(grace)
    }
}
