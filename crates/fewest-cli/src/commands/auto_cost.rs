//! `--cost auto`: the cost of a method, chosen by cross-validation of the samples that it is then
//! run on. Everything that looks at data happens inside the splits.

use std::time::Duration;

use fewest::method::auto_cost::{Candidate, CostChoice, CostScores, FitCosts, SplitParts, cost_grid, judge, l1_costs};
use fewest::method::l1_svm::L1Settings;
use fewest::{Cancel, Limits, Method, Rules};
use rayon::prelude::*;

use super::in_force::{check_classes, limits, ruled_out, rules};
use super::prepare::{Preparation, listed};
use super::raw::Raw;
use super::share::FoldTimes;
use crate::AnyMethod;
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::args::svm::FIT_COST;
use crate::export::table;
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::terminal::{Level, Terminal};

/// Folds, where each class has so many samples.
const FOLDS: usize = 5;

/// Times the folds are dealt, with the seeds 0, 1, ...
const REPEATS: u64 = 2;

/// What costs can be.
const COSTS: std::ops::RangeInclusive<f64> = 1e-40..=1e40;

/// Bytes of data above which one split is worked on at a time.
const LARGE: u64 = 256 << 20;

/// Chooses the costs on these samples, as read, in `time`.
///
/// # Errors
/// Classes of one sample, and whatever a split is refused for.
pub(crate) fn choose(
    raw: &Raw,
    preparation: &Preparation<'_>,
    options: &MethodOptions,
    source: &RuleSource,
    time: Option<Duration>,
    cancel: &Cancel,
) -> Result<CostChoice, Failure> {
    let preparation = Preparation { validate: None, ..*preparation };
    let quiet = Terminal::new(Level::Quiet);
    let fewest = raw.target.counts().into_iter().min().unwrap_or(0);
    if fewest < 2 {
        return Err(Failure::Input(format!(
            "{}: --cost auto holds out samples of each class, but a class has {fewest} only; add samples, give a number, or keep other classes with --classes",
            raw.data.source
        )));
    }
    let folds = FOLDS.min(fewest);
    let n = raw.target.codes.len();
    let all: Vec<usize> = (0..n).collect();
    let grid = {
        let prepared = preparation.prepare(raw.rows(&all)?, quiet)?;
        check_classes(options, &prepared)?;
        let (design, weights) = (prepared.data.features.as_design(), &prepared.weights);
        let mut grid = cost_grid(design, weights, rules(source, &prepared, quiet)?.max_features)?;
        if options.name() == L1Settings::INFO.name {
            grid.selecting = l1_costs(design, &raw.target.codes, weights)?;
        }
        grid
    };
    let costs = grid.selecting;
    if let Some(cost) = costs.iter().chain(&grid.fitting).find(|cost| !COSTS.contains(cost)) {
        return Err(Failure::Input(format!(
            "{}: --cost auto would try {cost:e}, but costs are from {:e} to {:e}; the values of the features are too large or too small: scale them with --scale standard, or give a cost",
            raw.data.source,
            COSTS.start(),
            COSTS.end()
        )));
    }
    let choices: Vec<MethodOptions> =
        costs.iter().map(|cost| options.with("cost", &cost.to_string())).collect::<Result<_, _>>()?;
    let fitting = if options.entry().has_own_classifier() { Vec::new() } else { grid.fitting };
    let fit = options.fit_cost().map_or(FitCosts::Among(fitting), FitCosts::Fixed);
    let deal = |seed| fewest_data::stratified_folds(&raw.target, folds, seed);
    let dealt: Vec<Vec<u32>> = (0..REPEATS).map(deal).collect();
    let times = FoldTimes::new(time, None, dealt.len() * folds);
    let split = |at: usize| -> Result<Option<Vec<CostScores>>, Failure> {
        // Once the time is over, the splits that were judged stand for all; one always is.
        if at > 0 && (times.is_over() || cancel.is_cancelled()) {
            return Ok(None);
        }
        let (of, fold) = (&dealt[at / folds], (at % folds) as u32);
        let (inside, outside): (Vec<usize>, Vec<usize>) = all.iter().partition(|&&i| of[i] == fold);
        let prepared = preparation.prepare(raw.rows(&outside)?, quiet)?;
        let held_out = raw.rows(&inside)?;
        let features = prepared.prepared_alike(held_out.data.features)?;
        let data = prepared.method_data();
        let candidate = |(choice, &cost): (&MethodOptions, &f64)| -> Result<Candidate<AnyMethod>, Failure> {
            let args = choice.args();
            Ok(Candidate { cost, method: args.method(&data)?, svm: data.svm(args.svm()) })
        };
        let candidates: Vec<Candidate<AnyMethod>> =
            choices.iter().zip(&costs).map(candidate).collect::<Result<_, _>>()?;
        let names = &prepared.data.names;
        let list = ruled_out(rules(source, &prepared, quiet)?, &prepared);
        let parts = SplitParts {
            training: prepared.samples()?,
            rules: Rules::new(names.len(), list, listed(names))?,
            held_out: features.as_design(),
            classes: &held_out.target.codes,
        };
        let mut share = times.next(candidates.len());
        let memory = || prepared.account().clone();
        let mut limits = || Limits { cancel: cancel.clone(), time: share.next(), memory: memory(), ..limits(options) };
        Ok(Some(judge(&parts, &candidates, &fit, &mut limits)?))
    };
    let jobs = 0..dealt.len() * folds;
    let scores: Vec<Vec<CostScores>> = if raw.data.features.bytes() > LARGE {
        jobs.map(split).filter_map(Result::transpose).collect::<Result<_, _>>()?
    } else {
        jobs.into_par_iter().map(split).filter_map(Result::transpose).collect::<Result<_, _>>()?
    };
    Ok(CostChoice::of(&costs, &scores, &fit)?)
}

/// How the cost was chosen, for the table.
pub(crate) fn text(choice: &CostChoice) -> String {
    let splits = notation::plural(choice.splits, "inner split");
    let filter = if choice.is_filter() {
        "; up to it the subset stays the same: the selection is a filter by differences of class means"
    } else {
        ""
    };
    format!("{}, chosen by the AUC of {splits}{filter}", table::number(choice.cost))
}

/// The method with the costs that were chosen.
///
/// # Errors
/// None: both are numbers above 0 for a method that has the options.
pub(crate) fn with(options: &MethodOptions, choice: &CostChoice) -> Result<MethodOptions, Failure> {
    let options = options.with("cost", &choice.cost.to_string())?;
    match choice.fit_cost {
        None => Ok(options),
        Some(cost) => options.with(FIT_COST, &cost.to_string()),
    }
}
