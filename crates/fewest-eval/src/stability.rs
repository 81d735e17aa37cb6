//! Which features a method selects again and again on halves of the samples, and how many of them
//! are false.
//!
//! Complementary pairs stability selection (Shah, Samworth, JRSS B 75 (2013)): the samples are
//! dealt into two halves, B times, and the method selects on each of the 2 B halves, which is
//! prepared by itself. Features that at least a share tau of the halves select are stable;
//! [`ShareLaw`] bounds how many of them are false.

use std::time::{Duration, Instant};

use fewest::validation::{ShareLaw, Stability, stability as stability_of};
use fewest::{Error, RuleList, Rules, Status};
use serde::{Deserialize, Serialize};

use crate::auto_cost;
use crate::error::EvalError;
use crate::folds::halves;
use crate::groups::counts_by_class;
use crate::jobs::{self, OnDone};
use crate::part::Data;
use crate::selector::{PartSelector, Scene};
use crate::time::{FoldTime, FoldTimes, ended};

/// Selections of both halves of a pair.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairResult {
    /// Chosen features of each half, ascending.
    pub selected: [Vec<usize>; 2],
    /// Status of each selection.
    pub status: [String; 2],
    /// Time of both.
    pub seconds: f64,
    /// Whether a limit stopped one of them.
    pub stopped: bool,
}

/// Candidates: the features that a bound on false selections is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidates {
    /// Features that a selection may keep.
    pub count: usize,
    /// Most features that the rules allow; none: they say nothing of the size.
    pub most: Option<usize>,
}

impl Candidates {
    /// Candidates under rules on p features; `sized` says whether they bound the size. The list
    /// forbids what all samples together rule out: a half may rule out more, which makes the bound
    /// no smaller.
    ///
    /// # Errors
    /// Rules that leave nothing.
    pub fn new(p: usize, mut list: RuleList, names: &[String], sized: bool) -> Result<Self, Error> {
        list.require.retain(|j| !list.forbid.contains(*j));
        let forbidden = list.forbid.len();
        let rules = Rules::new(p, list, names)?;
        let count = p - forbidden;
        Ok(Self { count, most: sized.then(|| rules.most_features().min(count)) })
    }
}

fewest::settings! {
    /// Settings of a stability selection.
    #[derive(Debug, Clone, PartialEq)]
    pub struct StabilitySettings {
        /// Pairs of halves.
        pub pairs: usize = 50,
        /// How samples are dealt into halves.
        pub seed: u64 = 0,
        /// Share of the halves from which on a feature is stable; none: the smallest that keeps
        /// `max_false`.
        pub threshold: Option<f64> = None,
        /// Expected number of false features that may be among the stable ones.
        pub max_false: f64 = 1.0,
        /// The assumption about the shares of halves that select a false feature.
        pub assume: ShareLaw = ShareLaw::RConcave,
        /// The time of all pairs; none: no limit.
        pub time: Option<Duration> = None,
        /// Most time for one selection.
        pub selection_time: Option<Duration> = None,
    }
}

impl StabilitySettings {
    /// Refuses settings without a result: too few samples or groups for halves, a bound that no
    /// share of the halves keeps.
    ///
    /// # Errors
    /// A class of one sample or in one group, a bound that is too small.
    pub fn check(&self, data: &Data<'_>, candidates: Candidates) -> Result<(), EvalError> {
        let strata = data.strata();
        if let Some(groups) = data.groups {
            let counts = counts_by_class(groups, &strata.codes, strata.classes.len());
            if let Some(class) = counts.iter().position(|&count| count < 2) {
                let (class, groups) = (strata.classes[class].clone(), counts[class]);
                return Err(EvalError::ClassInOneGroup { class, groups });
            }
        }
        if let Some(class) = strata.counts().iter().position(|&count| count < 2) {
            return Err(EvalError::NotInBothHalves { class: strata.classes[class].clone() });
        }
        let (Some(size), None) = (candidates.most, self.threshold) else { return Ok(()) };
        let (count, max_false) = (candidates.count, self.max_false);
        let keeps = |q: usize| self.assume.fewest_halves(q as f64, count, self.pairs, max_false).is_some();
        if keeps(size) {
            return Ok(());
        }
        let fewer = (1..size).rev().find(|&q| keeps(q));
        Err(EvalError::NoThreshold { max_false, size, candidates: count, fewer })
    }
}

/// Selects on both halves of each pair. Those `known` from an earlier run are taken over, where
/// there is one for each.
///
/// # Errors
/// As [`StabilitySettings::check`]; samples that the method cannot learn from, with the pair.
pub fn stability(
    scene: &Scene<'_>,
    selector: &dyn PartSelector,
    candidates: Candidates,
    settings: &StabilitySettings,
    known: Option<Vec<Option<PairResult>>>,
    on_done: OnDone<'_, PairResult>,
) -> Result<Vec<Option<PairResult>>, EvalError> {
    settings.check(&scene.data, candidates)?;
    let pairs = halves(&scene.data.strata(), scene.data.groups, settings.pairs, settings.seed)?;
    let known = known.filter(|known| known.len() == pairs.len()).unwrap_or_else(|| vec![None; pairs.len()]);
    let waiting = known.iter().filter(|result| result.is_none()).count();
    let times = FoldTimes::new(settings.time, settings.selection_time, waiting);
    let job = |at: usize| -> Result<Option<PairResult>, EvalError> {
        if scene.cancel.is_cancelled() || times.is_over() {
            return Ok(None);
        }
        let mut time = times.next(if selector.chooses_cost() { 4 } else { 2 });
        select_pair(scene, &pairs[at], selector, &mut time).map_err(|error| error.within(&format!("pair {}", at + 1)))
    };
    jobs::each(known, &job, on_done)
}

/// Selects on both halves; nothing when cancelled, or where time cut one.
fn select_pair(
    scene: &Scene<'_>,
    halves: &[Vec<usize>; 2],
    selector: &dyn PartSelector,
    time: &mut FoldTime,
) -> Result<Option<PairResult>, EvalError> {
    let (start, mut found) = (Instant::now(), PairResult::default());
    for (half, rows) in halves.iter().enumerate() {
        let chosen = auto_cost::chosen(scene, rows, selector, time)?;
        let part = scene.part(rows)?;
        let selected = chosen.as_deref().unwrap_or(selector).ask(&part)?.select(scene, &part, time)?;
        if scene.cancel.is_cancelled() || time.is_cut() {
            return Ok(None);
        }
        let status = selected.report.selection.outcome.status;
        (found.selected[half], found.status[half]) = (selected.features(), status.name().to_owned());
    }
    (found.seconds, found.stopped) = (start.elapsed().as_secs_f64(), time.cut_short());
    Ok(Some(found))
}

/// How often a feature was selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct FeatureCount {
    /// The feature.
    pub feature: usize,
    /// Halves that select it.
    pub halves: usize,
    /// Pairs of which both halves select it.
    pub both: usize,
}

/// Report of all pairs that are done.
#[derive(Debug, Clone)]
pub struct StabilityReport {
    /// Pairs that are done.
    pub pairs: usize,
    /// The status at the end.
    pub status: Status,
    /// The features that the bound is about.
    pub candidates: Candidates,
    /// Features that some half selects; most first.
    pub counts: Vec<FeatureCount>,
    /// The number of features that a half selects, at most or on average.
    pub q: f64,
    /// Halves that have to agree; none: not even all of them keep the bound.
    pub threshold: Option<usize>,
    /// How alike the subsets of the halves are.
    pub stability: Option<Stability>,
}

impl StabilityReport {
    /// Report of what the halves of each pair select, of p features. `left` says whether pairs were
    /// left out or cut short.
    pub fn new(
        pairs: &[&[Vec<usize>; 2]],
        p: usize,
        candidates: Candidates,
        settings: &StabilitySettings,
        (cancelled, left): (bool, bool),
    ) -> Self {
        let mut halves = vec![[0; 2]; p];
        for [first, second] in pairs {
            first.iter().chain(second).for_each(|&j| halves[j][0] += 1);
            first.iter().filter(|j| second.binary_search(j).is_ok()).for_each(|&j| halves[j][1] += 1);
        }
        let count = |(feature, [halves, both]): (usize, [usize; 2])| FeatureCount { feature, halves, both };
        let mut counts: Vec<FeatureCount> = halves.into_iter().enumerate().map(count).collect();
        counts.retain(|count| count.halves > 0);
        counts.sort_by_key(|count| (usize::MAX - count.halves, usize::MAX - count.both, count.feature));
        let total: usize = counts.iter().map(|count| count.halves).sum();
        let q = candidates.most.map_or(total as f64 / (2 * pairs.len()).max(1) as f64, |most| most as f64);
        let asked = |share: f64| (share * (2 * pairs.len()) as f64 - 1e-9).ceil() as usize;
        let fewest = || settings.assume.fewest_halves(q, candidates.count, pairs.len(), settings.max_false);
        let threshold = settings.threshold.map_or_else(fewest, |share| Some(asked(share)));
        let subsets: Vec<Vec<usize>> = pairs.iter().flat_map(|halves| halves.iter().cloned()).collect();
        Self {
            pairs: pairs.len(),
            status: ended(cancelled, left),
            candidates,
            counts,
            q,
            threshold: threshold.filter(|_| !pairs.is_empty()),
            stability: stability_of(&subsets, p),
        }
    }

    /// Halves that are done.
    pub fn n_halves(&self) -> usize {
        2 * self.pairs
    }

    /// Share that this number of halves is of all.
    pub fn share(&self, halves: usize) -> f64 {
        halves as f64 / self.n_halves() as f64
    }

    /// The stable features, ascending.
    pub fn stable(&self) -> Vec<usize> {
        let Some(threshold) = self.threshold else { return Vec::new() };
        let stable = self.counts.iter().take_while(|count| count.halves >= threshold);
        let mut stable: Vec<usize> = stable.map(|count| count.feature).collect();
        stable.sort_unstable();
        stable
    }

    /// The expected number of false features under this assumption, at most.
    pub fn false_selections(&self, law: ShareLaw) -> Option<f64> {
        Some(law.false_selections(self.q, self.candidates.count, self.threshold?, self.pairs))
    }

    /// The probability up to which a half that selects a feature makes it a false one.
    pub fn chance(&self) -> f64 {
        self.q / self.candidates.count.max(1) as f64
    }
}
