//! Which features a method finds more important than random copies of them.
//!
//! The knockoff filter (Candes, Fan, Janson, Lv, JRSS B 80 (2018)): the method runs on all features
//! and their copies side by side, and a feature is selected where it beats its copy by more than
//! features without a meaning do ([`Knockoffs`]).

use std::time::{Duration, Instant};

use fewest::validation::{Knockoffs, WithCopies, knockoff_selection};
use fewest::{Design, Error, Limits, Report, RuleList, Rules, Samples, Selector, Silent, Status};

use crate::classifier::Training;
use crate::error::EvalError;
use crate::jobs::{self, OnDone};
use crate::time::{FoldTimes, Share, ended};

/// Importance of a feature by a method; the larger, the more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// 1 / rank.
    Rank,
    /// The criterion of its ranking.
    Criterion,
    /// |w|, the largest of all machines.
    Weight,
}

impl Importance {
    /// The methods that say it of every feature.
    pub const METHODS: [(&'static str, Importance); 4] = [
        ("rfe", Importance::Rank),
        ("fgm", Importance::Weight),
        ("l1-svm", Importance::Weight),
        ("info-gain", Importance::Criterion),
    ];

    /// How this method says it; none: it does not.
    pub fn of(method: &str) -> Option<Self> {
        Self::METHODS.iter().find(|(known, _)| *known == method).map(|known| known.1)
    }

    /// The importance of each column, from 0.
    fn values(self, report: &Report, columns: usize) -> Vec<f64> {
        let mut values = vec![0.0; columns];
        match self {
            Importance::Rank => {
                report.selection.ranking.iter().for_each(|ranked| values[ranked.feature] = 1.0 / ranked.rank as f64);
            }
            Importance::Criterion => {
                report.selection.ranking.iter().for_each(|ranked| values[ranked.feature] = ranked.criterion);
            }
            Importance::Weight => {
                let Some(model) = &report.model else { return values };
                for machine in &model.machines {
                    for (&j, weight) in model.features.iter().zip(&machine.weights) {
                        values[j] = values[j].max(weight.abs());
                    }
                }
            }
        }
        values
    }
}

fewest::settings! {
    /// Settings of a knockoff filter.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct KnockoffSettings {
        /// Share of the selected features that may be false, on average; in (0, 1).
        pub fdr: f64 = 0.2,
        /// How often the copies are drawn.
        pub draws: usize = 1,
        /// How they are drawn.
        pub seed: u64 = 0,
        /// The time of all draws; none: no limit.
        pub time: Option<Duration> = None,
    }
}

/// Result of one draw of the copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Draw {
    /// W of each feature that was copied.
    pub statistics: Vec<f64>,
    /// Seconds that the draw took.
    pub seconds: f64,
}

/// Report of a knockoff filter. Vectors are by place in `features`.
#[derive(Debug)]
pub struct KnockoffReport {
    /// The features that were to be copied, ascending.
    pub features: Vec<usize>,
    /// The law of the copies; none where there was no time for it.
    pub law: Option<Knockoffs>,
    /// The draws that are done.
    pub draws: Vec<Draw>,
    /// Draws that are not.
    pub missing: usize,
    /// The status at the end.
    pub status: Status,
    /// The findings of all draws together.
    pub found: KnockoffFindings,
}

/// Findings of the statistics of draws together.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct KnockoffFindings {
    /// Places of the features that stand out from their copies, ascending.
    pub selected: Vec<usize>,
    /// W of each copied feature, averaged over the draws; empty without a draw.
    pub statistics: Vec<f64>,
    /// Evidence for each, averaged over the draws.
    pub evidence: Vec<f64>,
    /// From which statistic on each draw selects; none: it selects nothing.
    pub thresholds: Vec<Option<f64>>,
    /// The fewest features that can be selected, but for none: 1 / fdr, or 2 / fdr in each of
    /// several draws.
    pub least_selected: usize,
}

impl KnockoffFindings {
    /// Findings from the statistics of each draw.
    pub fn new(draws: &[&[f64]], fdr: f64) -> Self {
        let found = knockoff_selection(draws, fdr);
        let mut statistics = vec![0.0; draws.first().map_or(0, |draw| draw.len())];
        for draw in draws {
            statistics.iter_mut().zip(*draw).for_each(|(mean, w)| *mean += w / draws.len() as f64);
        }
        let share = if draws.len() > 1 { 0.5 * fdr } else { fdr };
        let least_selected = (1.0 / share - 1e-9).ceil() as usize;
        let (selected, evidence, thresholds) = (found.selected, found.evidence, found.thresholds);
        Self { selected, statistics, evidence, thresholds, least_selected }
    }

    /// Places by falling evidence, then by falling statistic.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.statistics.len()).collect();
        let (means, at) = (&self.statistics, |place: usize| self.evidence.get(place).copied().unwrap_or(0.0));
        order.sort_by(|&a, &b| at(b).total_cmp(&at(a)).then(means[b].total_cmp(&means[a])).then(a.cmp(&b)));
        order
    }
}

/// Tells features from copies of them. `features`, ascending, have more than one value each;
/// `method` says how important all columns are ([`Importance::of`]), within `limits` but for the
/// time.
///
/// # Errors
/// No feature, a method that does not say it, more memory than is left.
pub fn knockoffs(
    training: Training<'_>,
    features: &[usize],
    method: &dyn Selector,
    settings: KnockoffSettings,
    limits: &Limits,
    on_done: OnDone<'_, Draw>,
) -> Result<KnockoffReport, EvalError> {
    let name = method.info().name;
    let Some(importance) = Importance::of(name) else {
        let known: Vec<&str> = Importance::METHODS.iter().map(|(known, _)| *known).collect();
        return Err(Error::setting("method", name, format!("one of {}", known.join(", "))).into());
    };
    if features.is_empty() {
        return Err(Error::Data("every feature has one value only, so that there is nothing to copy".into()).into());
    }
    let share = Share::new(settings.time, None);
    let clock = share.clock(&limits.cancel);
    let law = Knockoffs::new(training.design, features, training.memory, &clock)?;
    let times = FoldTimes::of(share, settings.draws);
    let draw = |at: usize| -> Result<Option<Draw>, EvalError> {
        let Some(law) = law.as_ref().filter(|_| clock.stop().is_none()) else { return Ok(None) };
        let start = Instant::now();
        let what = || format!("the copies of {} features", features.len());
        let _reserved = training.memory.reserve(law.bytes(), what, "fewer threads, which draw copies each")?;
        // Streams of generators: a draw does not depend on how many there are.
        let mut normal = fewest_data::generate::normals(settings.seed, at as u32);
        let Some(both) = law.draw(&mut normal, &clock) else { return Ok(None) };
        let mut time = times.next(1);
        let own = Limits { time: time.next_limit(), memory: training.memory.clone(), ..limits.clone() };
        let report = select(training, &both, method, own)?;
        time.note(report.selection.outcome.status, method.info().searches);
        // What a limit cut short ranks some features only.
        if limits.cancel.is_cancelled() || time.cut_short() {
            return Ok(None);
        }
        let statistics = both.statistics(&importance.values(&report, 2 * features.len()));
        Ok(Some(Draw { statistics, seconds: start.elapsed().as_secs_f64() }))
    };
    let draws = jobs::each((0..settings.draws).map(|_| None).collect(), &draw, on_done)?;
    let draws: Vec<Draw> = draws.into_iter().flatten().collect();
    let statistics: Vec<&[f64]> = draws.iter().map(|draw| draw.statistics.as_slice()).collect();
    let (found, missing) = (KnockoffFindings::new(&statistics, settings.fdr), settings.draws - draws.len());
    let status = ended(limits.cancel.is_cancelled(), missing > 0);
    Ok(KnockoffReport { features: features.to_vec(), law, draws, missing, status, found })
}

/// Runs the method on features and copies.
fn select(
    training: Training<'_>,
    both: &WithCopies,
    method: &dyn Selector,
    limits: Limits,
) -> Result<Report, EvalError> {
    let p = both.design.n_features();
    let samples = Samples::new(&both.design, training.codes, Some(training.weights))?;
    let size = match method.info().name {
        // To the last, so that each has a rank.
        "rfe" => Some(1),
        "info-gain" => Some(p),
        _ => None,
    };
    let rules = Rules::new(p, RuleList { max_features: size, ..RuleList::default() }, &[])?;
    Ok(method.select(&samples, &rules, limits, &mut Silent)?)
}
