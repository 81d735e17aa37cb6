//! `fewest knockoffs`: which features a method finds more important than random copies of them.
//!
//! The knockoff filter (Candes, Fan, Janson, Lv, JRSS B 80 (2018)): the method runs on all features
//! and their copies side by side, and a feature is selected where it beats its copy by more than
//! features without a meaning do ([`fewest::validation::Knockoffs`]). What is reported is in
//! [`report`].

mod report;

use std::time::Instant;

use fewest::method::Report as MethodReport;
use fewest::validation::{Knockoffs, WithCopies, knockoff_selection};
use fewest::{Cancel, RuleList, Rules, Samples};
use rayon::prelude::*;

use super::in_force::check_classes;
use super::invocation::Invocation;
use super::part;
use super::prepare::{Preparation, PreparedData};
use super::share::{FoldTime, FoldTimes};
use crate::args::notation;
use crate::args::svm::ClassWeight;
use crate::cli::KnockoffArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::method_args::MethodOptions;
use report::Report;

/// What a method says of how important a feature is; the larger, the more.
#[derive(Clone, Copy)]
enum Importance {
    /// 1 / rank.
    Rank,
    /// What it ranks by.
    Criterion,
    /// |w|, the largest of all machines.
    Weight,
}

/// The methods that say it.
const METHODS: [(&str, Importance); 4] = [
    ("rfe", Importance::Rank),
    ("fgm", Importance::Weight),
    ("l1-svm", Importance::Weight),
    ("info-gain", Importance::Criterion),
];

/// What one draw of the copies gave.
struct Draw {
    /// W of each feature that was copied.
    statistics: Vec<f64>,
    seconds: f64,
}

/// Runs the command.
///
/// # Errors
/// Bad input, a method that says nothing of importance, memory.
pub(crate) fn run(args: &KnockoffArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let importance = importance_of(options)?;
    let sink = Sink::open_if("--json", args.json.as_ref())?;
    let page = Sink::open_if("--report", args.report.as_ref())?;
    let outputs = [("--json", sink.as_ref()), ("--report", page.as_ref())];
    Sink::apart(&outputs, &[("the data", args.data.data.as_path())])?;
    let class_weight: Option<ClassWeight> = options.value("class_weight");
    let prepared = Preparation {
        data: &args.data,
        prepare: &args.prepare,
        class_weight: class_weight.as_ref(),
        variance_threshold: None,
        validate: None,
        folds: None,
        categorical: &[],
        tasks: None,
    }
    .run(terminal)?;
    check_classes(options, &prepared)?;
    let p = prepared.data.names.len();
    let features: Vec<usize> = (0..p).filter(|j| !prepared.constant.contains(*j)).collect();
    if features.is_empty() {
        return Err(Failure::Input(format!(
            "{}: every feature has one value only, so that there is nothing to copy",
            prepared.data.source
        )));
    }
    let cancel = interrupt::listen(terminal)?;
    let end = invocation.end(args.time_limit);
    let over = || cancel.is_cancelled() || end.is_some_and(|end| Instant::now() >= end);
    let design = prepared.data.features.as_design();
    let model = Knockoffs::new(design, &features, prepared.account(), &mut { over })?;
    let times = FoldTimes::new(invocation.left(args.time_limit), None, args.draws);
    let draw = |at: usize| -> Result<Option<Draw>, Failure> {
        let Some(model) = model.as_ref().filter(|_| !over()) else { return Ok(None) };
        let start = Instant::now();
        let what = || format!("the copies of {} features", features.len());
        let remedy = "fewer --threads, which draw copies each";
        let _reserved = prepared.account().reserve(model.bytes(), what, remedy)?;
        // Streams of generators: a draw does not depend on how many there are.
        let mut normal = fewest_data::generate::normals(args.seed, at as u32);
        let Some(both) = model.draw(&mut normal, &mut { over }) else { return Ok(None) };
        let mut time = times.next(1);
        let report = select(&prepared, &both, options, &mut time, &cancel)?;
        // What a limit cut short ranks some features only.
        if cancel.is_cancelled() || time.cut_short() {
            return Ok(None);
        }
        let statistics = both.statistics(&importance.values(&report, 2 * features.len()));
        let found = Draw { statistics, seconds: start.elapsed().as_secs_f64() };
        terminal.detail(&format!("draw {}: {:.2} s", at + 1, found.seconds));
        Ok(Some(found))
    };
    let draws: Vec<Option<Draw>> = (0..args.draws).into_par_iter().map(draw).collect::<Result<_, _>>()?;
    let done: Vec<Draw> = draws.into_iter().flatten().collect();
    let statistics: Vec<&[f64]> = done.iter().map(|draw| draw.statistics.as_slice()).collect();
    let selection = knockoff_selection(&statistics, args.fdr);
    let report =
        Report::new(args, options, &prepared, &features, model.as_ref(), &done, &selection, cancel.is_cancelled());
    let value = || report.value(&invocation.command_line);
    super::report::tell(value, || report.text(), [sink.as_ref(), page.as_ref()], terminal)?;
    let missing = args.draws - done.len();
    if missing > 0 {
        let missing = notation::plural(missing, "draw");
        terminal.note(&format!("stopped; {missing} of {} not done; the others are what is reported", args.draws));
    }
    Ok(if missing > 0 { 3 } else { 0 })
}

/// How the method says what is important.
fn importance_of(options: &MethodOptions) -> Result<Importance, Failure> {
    let name = options.name();
    let found = METHODS.iter().find(|(method, _)| *method == name);
    let Some((_, importance)) = found else {
        let known: Vec<&str> = METHODS.iter().map(|(method, _)| *method).collect();
        return Err(Failure::Input(format!(
            "{name} does not say how important every feature is, which copies are told from features by; use {}",
            crate::method_args::listed(&known)
        )));
    };
    if options.chooses_cost() {
        return Err(Failure::input(
            "--cost auto looks at the features without their copies, which the bound does not allow; give a number",
        ));
    }
    if name == "fgm" && options.value::<usize>("subset_size").is_none() {
        return Err(Failure::input("say how many features a generated subset has: --subset-size B"));
    }
    Ok(*importance)
}

/// Runs the method on features and copies.
fn select(
    prepared: &PreparedData,
    both: &WithCopies,
    options: &MethodOptions,
    time: &mut FoldTime,
    cancel: &Cancel,
) -> Result<MethodReport, Failure> {
    use fewest::Design as _;
    let p = both.design.n_features();
    let samples = Samples::new(&both.design, &prepared.target.codes, Some(&prepared.weights))?;
    let size = match options.name() {
        // To the last, so that each has a rank.
        "rfe" => Some(1),
        "info-gain" => Some(p),
        _ => None,
    };
    let rules = Rules::new(p, RuleList { max_features: size, ..RuleList::default() }, &[])?;
    part::run(prepared, &samples, &rules, options, time, cancel)
}

impl Importance {
    /// Of each column, from 0.
    fn values(self, report: &MethodReport, columns: usize) -> Vec<f64> {
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
