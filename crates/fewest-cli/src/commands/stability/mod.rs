//! `fewest stability`: which features a method selects again and again on halves of the samples, and
//! how many of them are false.
//!
//! Complementary pairs stability selection (Shah, Samworth, JRSS B 75 (2013)): the samples are dealt
//! into two halves, B times, and the method selects on each of the 2 B halves, which is prepared by
//! itself ([`PartLearner`]). Features that at least a share tau of the halves select are stable;
//! [`fewest::validation::ShareLaw`] bounds how many of them are false. What is reported is in
//! [`report`].

mod report;

use std::sync::Mutex;
use std::time::Instant;

use fewest::{Cancel, Rules};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::in_force::refuse_with_tasks;
use super::in_force::{selected, warn_of_source};
use super::invocation::Invocation;
use super::part::PartLearner;
use super::prepare::listed;
use super::raw::Raw;
use super::share::{FoldTime, FoldTimes};
use crate::args::features::Features;
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::cli::StabilityArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::method_args::MethodOptions;
use crate::resume::{BETWEEN_FOLDS, DATA, Resume};
use report::Report;

/// What both halves of a pair select.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PairResult {
    /// Chosen features of each half, ascending.
    selected: [Vec<usize>; 2],
    /// Status of each selection.
    status: [String; 2],
    /// Time of both.
    seconds: f64,
    /// Whether a limit stopped one of them.
    stopped: bool,
}

/// What a bound on false selections is about.
struct Candidates {
    /// Features that a selection may keep.
    count: usize,
    /// Most features that the rules allow; none: they say nothing of the size.
    most: Option<usize>,
}

/// Runs the command.
///
/// # Errors
/// Bad input, a bound that no threshold keeps, or a method that fails on a half, which is named.
pub(crate) fn run(args: &StabilityArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let (selection, terminal) = (&args.selection, invocation.terminal);
    let source = RuleSource::read(&selection.rules, one_size(args)?)?;
    source.weights().obeyed_by(options.name())?;
    if !source.bounds_size() && !options.args().finds_size() {
        return Err(Failure::input("say how many features a half selects: --max-features K"));
    }
    let sink = Sink::open_if("--json", selection.json.as_ref())?;
    let page = Sink::open_if("--report", selection.report.as_ref())?;
    let mut inputs = vec![("the data", selection.data.data.as_path())];
    inputs.extend(selection.rules.files());
    inputs.extend(args.resume.as_deref().map(|path| ("the file of --resume", path)));
    Sink::apart(&[("--json", sink.as_ref()), ("--report", page.as_ref())], &inputs)?;
    let options =
        if options.args().deals_folds() { options.with("seed", &args.seed.to_string())? } else { options.again()? };
    refuse_with_tasks(&options)?;
    let learner = PartLearner::new(selection, &options);
    let mut raw = learner.load(None, terminal)?;
    warn_of_source(&source, &mut raw, terminal)?;
    let candidates = Candidates::new(&raw, &source)?;
    check(args, &raw, &candidates)?;
    let pairs = fewest_data::stratified_halves(&raw.strata(), args.pairs, args.seed);
    let resume = match &args.resume {
        Some(path) => {
            let run = json!({"options": identity(args, &options), DATA: raw.check()});
            Some(Resume::open(path, run, BETWEEN_FOLDS)?)
        }
        None => None,
    };
    let kept: Option<Vec<Option<PairResult>>> = resume.as_ref().map_or(Ok(None), Resume::load_json)?;
    let results = kept.filter(|kept| kept.len() == pairs.len()).unwrap_or_else(|| vec![None; pairs.len()]);
    let waiting = results.iter().filter(|result| result.is_none()).count();
    let times = FoldTimes::new(invocation.left(selection.time_limit), args.selection_time_limit, waiting);
    let results = Mutex::new((results, resume));
    let cancel = interrupt::listen(terminal)?;
    let job = |at: usize| -> Result<(), Failure> {
        let known = results.lock().is_ok_and(|results| results.0[at].is_some());
        if known || cancel.is_cancelled() || times.is_over() {
            return Ok(());
        }
        let mut time = times.next(if options.chooses_cost() { 4 } else { 2 });
        let found = select_pair(&learner, (&raw, &pairs[at]), (&options, &source), &mut time, &cancel);
        let Some(found) = found.map_err(|failure| failure.within(&format!("pair {}", at + 1)))? else { return Ok(()) };
        terminal.detail(&format!("pair {}: {:.2} s", at + 1, found.seconds));
        let mut results = results.lock().expect("no thread panics while it holds the results");
        results.0[at] = Some(found);
        match &results.1 {
            Some(resume) if resume.is_due() => resume.keep_json(&results.0),
            _ => Ok(()),
        }
    };
    let failures: Vec<Failure> = (0..pairs.len()).into_par_iter().filter_map(|at| job(at).err()).collect();
    if let Some(first) = failures.into_iter().next() {
        return Err(first);
    }
    let (results, resume) = results.into_inner().expect("no thread panics while it holds the results");
    if let Some(resume) = resume {
        resume.keep_json(&results)?;
    }
    let report = Report::new(args, &options, &raw, &candidates, &results, cancel.is_cancelled());
    let value = || report.value(&invocation.command_line);
    super::report::tell(value, || report.text(), [sink.as_ref(), page.as_ref()], terminal)?;
    let missing = results.iter().filter(|result| result.is_none()).count();
    if missing > 0 {
        let missing = notation::plural(missing, "pair");
        terminal.note(&format!("stopped; {missing} of {} not done; the bound is that of the others", pairs.len()));
    }
    let stopped = results.iter().flatten().any(|result| result.stopped);
    Ok(if missing > 0 || stopped { 3 } else { 0 })
}

/// The size rule, which is one size.
fn one_size(args: &StabilityArgs) -> Result<Option<usize>, Failure> {
    match args.selection.rules.sizes()?.as_deref() {
        None => Ok(None),
        Some([size]) => Ok(Some(*size)),
        Some(_) => Err(Failure::Input(format!(
            "--max-features is {}, but a half selects by one size, which the bound depends on; give one number",
            args.selection.rules.max_features.as_deref().unwrap_or_default()
        ))),
    }
}

/// All options that the results of pairs depend on: not where things are written, nor how fast, nor
/// what is read off the shares.
fn identity(args: &StabilityArgs, options: &MethodOptions) -> String {
    let mut selection = args.selection.clone();
    (selection.json, selection.report, selection.data.memory) = (None, None, None);
    let (name, typed, limit) = (options.name(), options.typed(), args.selection_time_limit);
    format!("{selection:?} {name} {typed:?} {} {} {limit:?}", args.pairs, args.seed)
}

impl Candidates {
    /// Counted on all samples: a half may rule out more, which makes the bound no smaller.
    fn new(raw: &Raw, source: &RuleSource) -> Result<Self, Failure> {
        let names = &raw.data.names;
        let constant = raw.data.features.constant();
        let mut list = source.resolve(&Features::new(names).with_variables(raw.texts(), &[&constant]))?;
        list.forbid.extend(constant.iter());
        list.require.retain(|j| !list.forbid.contains(*j));
        let count = names.len() - list.forbid.len();
        let rules = Rules::new(names.len(), list, listed(names))?;
        Ok(Self { count, most: source.bounds_size().then(|| rules.most_features().min(count)) })
    }
}

/// Refuses what would come to nothing: too few samples for halves, a bound that no share of the
/// halves keeps.
fn check(args: &StabilityArgs, raw: &Raw, candidates: &Candidates) -> Result<(), Failure> {
    let strata = raw.strata();
    let counts = strata.counts();
    if let Some(class) = counts.iter().position(|&count| count < 2) {
        return Err(Failure::Input(format!(
            "{}: class {} has fewer than 2 samples, so that one half has none of it; keep other classes with --classes",
            raw.data.source, strata.classes[class]
        )));
    }
    let (Some(q), None) = (candidates.most, args.threshold) else { return Ok(()) };
    let (p, most, law) = (candidates.count, args.max_false, args.assume);
    let keeps = |q: usize| law.fewest_halves(q as f64, p, args.pairs, most).is_some();
    if keeps(q) {
        return Ok(());
    }
    let fewer = (1..q).rev().find(|&q| keeps(q));
    let remedy = match fewer {
        Some(fewer) => format!("let a half select at most {fewer} (--max-features {fewer}), or allow more"),
        None => "allow more".to_owned(),
    };
    Err(Failure::Input(format!(
        "--max-false is {most}, but where a half selects {q} of {p} features not even all halves agreeing promise that; {remedy}"
    )))
}

/// Selects on both halves; nothing when cancelled.
fn select_pair(
    learner: &PartLearner<'_>,
    (raw, halves): (&Raw, &[Vec<usize>; 2]),
    (options, source): (&MethodOptions, &RuleSource),
    time: &mut FoldTime,
    cancel: &Cancel,
) -> Result<Option<PairResult>, Failure> {
    let start = Instant::now();
    let mut found =
        PairResult { selected: Default::default(), status: Default::default(), seconds: 0.0, stopped: false };
    for (half, rows) in halves.iter().enumerate() {
        let options = learner.with_costs(raw, rows, options, source, time, cancel)?;
        let part = PartLearner::select(&learner.prepare(raw, rows)?, &options, source, time, cancel)?;
        if cancel.is_cancelled() {
            return Ok(None);
        }
        let status = part.report.selection.outcome.status;
        (found.selected[half], found.status[half]) = (selected(&part.report), status.name().to_owned());
    }
    (found.seconds, found.stopped) = (start.elapsed().as_secs_f64(), time.cut_short());
    Ok(Some(found))
}
