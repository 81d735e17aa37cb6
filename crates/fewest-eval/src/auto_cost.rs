//! The cost of a method, chosen by cross-validation of the samples that it is then run on.
//! Everything that reads data happens inside the splits.

use std::time::Duration;

use fewest::method::auto_cost::{Candidate, CostChoice, CostScores, FitCosts, SplitParts, cost_grid, judge, l1_costs};
use fewest::method::l1_svm::L1Settings;
use fewest::{AllOrFirst as _, Limits, Method};
use rayon::prelude::*;

use crate::error::EvalError;
use crate::folds::places;
use crate::groups::counts_by_class;
use crate::method::SomeMethod;
use crate::selector::{Ask, PartSelector, Scene};
use crate::time::{FoldTime, FoldTimes};

/// Folds, where each class has this many samples, or with groups is in this many of them.
const FOLDS: usize = 5;

/// Times the folds are dealt, with the seeds 0, 1, ...
const REPEATS: u64 = 2;

/// What costs can be.
const COSTS: std::ops::RangeInclusive<f64> = 1e-40..=1e40;

/// Bytes of data above which one split is worked on at a time.
const LARGE: f64 = (256 << 20) as f64;

/// Chooses the costs of a selector on these samples, ascending, in `time`.
///
/// # Errors
/// Classes of one sample or in one group, values too large or too small, and whatever a split is
/// refused for.
pub fn choose(
    scene: &Scene<'_>,
    rows: &[usize],
    selector: &dyn PartSelector,
    time: Option<Duration>,
) -> Result<CostChoice, EvalError> {
    let target = scene.data.target.rows(rows);
    let samples = target.counts().into_iter().min().unwrap_or(0);
    if samples < 2 {
        return Err(EvalError::FewSamples { samples });
    }
    let folds = FOLDS.min(match scene.data.groups_of(rows) {
        None => samples,
        Some(groups) => match counts_by_class(&groups, &target.codes, target.classes.len()).into_iter().min() {
            Some(groups) if groups < 2 => return Err(EvalError::FewGroups { groups }),
            groups => groups.unwrap_or(samples),
        },
    });
    let grid = {
        let part = scene.part(rows)?;
        let Ask { method, rules, .. } = selector.ask(&part)?;
        let mut grid = cost_grid(part.design(), &part.weights, rules.list().max_features)?;
        if fewest::Selector::info(&method).name == L1Settings::INFO.name {
            grid.selecting = l1_costs(part.design(), &target.codes, &part.weights)?;
        }
        grid
    };
    let costs = grid.selecting;
    if let Some(&cost) = costs.iter().chain(&grid.fitting).find(|cost| !COSTS.contains(cost)) {
        return Err(EvalError::CostRange { cost, least: *COSTS.start(), most: *COSTS.end() });
    }
    let choices: Vec<Box<dyn PartSelector + '_>> =
        costs.iter().map(|&cost| selector.at_cost(cost, None)).collect::<Result<_, _>>()?;
    let fitting = if selector.has_own_classifier() { Vec::new() } else { grid.fitting };
    let fit = selector.fit_cost().map_or(FitCosts::Among(fitting), FitCosts::Fixed);
    let deal = |seed| scene.data.deal(rows, folds, seed);
    let dealt: Vec<Vec<u32>> = (0..REPEATS).map(deal).collect::<Result<_, _>>()?;
    let times = FoldTimes::new(time, None, dealt.len() * folds);
    let split = |at: usize| -> Result<Option<Vec<CostScores>>, EvalError> {
        // Once the time is over, the splits that were judged stand for all; one always is.
        if at > 0 && (times.is_over() || scene.cancel.is_cancelled()) {
            return Ok(None);
        }
        let (of, fold) = (&dealt[at / folds], (at % folds) as u32);
        let (inside, outside) = places(rows, |place| of[place] == fold);
        // Groups may keep all samples of a class together, more so than samples one by one.
        let has = |class: u32| outside.iter().any(|&i| scene.data.target.codes[i] == class);
        if scene.data.groups.is_some() && !(0..target.classes.len() as u32).all(has) {
            return Ok(None);
        }
        let scores = split_scores(scene, [&outside, &inside], &choices, &costs, &fit, &mut times.next(costs.len()))?;
        // What the end of the time cut is no judgement.
        Ok((at == 0 || !times.is_over()).then_some(scores))
    };
    let (jobs, share) = (0..dealt.len() * folds, rows.len() as f64 / scene.data.n().max(1) as f64);
    let scores: Vec<Vec<CostScores>> = if scene.data.features.bytes() as f64 * share > LARGE {
        jobs.map(split).filter_map(Result::transpose).collect::<Result<_, _>>()?
    } else {
        jobs.into_par_iter().map(split).filter_map(Result::transpose).all_or_first()?
    };
    Ok(CostChoice::of(&costs, &scores, &fit)?)
}

/// The selector at the costs that are chosen on these samples; none where its costs are given.
pub(crate) fn chosen<'a>(
    scene: &Scene<'_>,
    rows: &[usize],
    selector: &'a dyn PartSelector,
    time: &mut FoldTime,
) -> Result<Option<Box<dyn PartSelector + 'a>>, EvalError> {
    if !selector.chooses_cost() {
        return Ok(None);
    }
    let choice = choose(scene, rows, selector, time.next_limit())?;
    selector.at_cost(choice.cost, choice.fit_cost).map(Some)
}

/// What one split, the rows to learn from and those to judge by, says of each cost.
fn split_scores(
    scene: &Scene<'_>,
    [outside, inside]: [&[usize]; 2],
    choices: &[Box<dyn PartSelector + '_>],
    costs: &[f64],
    fit: &FitCosts,
    share: &mut FoldTime,
) -> Result<Vec<CostScores>, EvalError> {
    let part = scene.part(outside)?;
    let held = scene.hold_out(&part, inside)?;
    let asks: Vec<Ask> = choices.iter().map(|choice| choice.ask(&part)).collect::<Result<_, _>>()?;
    let first = asks.first().map(|ask| (ask.rules.clone(), ask.limits.clone()));
    let (rules, own) = first.expect("a grid has a cost");
    let candidate = |(ask, &cost): (Ask, &f64)| Candidate { cost, method: ask.method, svm: ask.svm };
    let candidates: Vec<Candidate<SomeMethod>> = asks.into_iter().zip(costs).map(candidate).collect();
    let parts = SplitParts { training: part.samples()?, rules, held_out: held.design(), classes: &held.target.codes };
    let clock = share.clock(&scene.cancel);
    let mut limits = || Limits {
        cancel: scene.cancel.clone(),
        time: share.next_limit(),
        memory: scene.memory.clone(),
        ..own.clone()
    };
    Ok(judge(&parts, &candidates, fit, &clock, &mut limits)?)
}
