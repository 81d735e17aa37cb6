//! `fewest stability`: which features a method selects again and again on halves of the samples,
//! and how many of them are false ([`fewest_eval::stability`]). What is reported is in [`report`].

mod report;

use std::sync::Mutex;

use fewest_eval::EvalError;
use fewest_eval::stability::{Candidates, PairResult, StabilitySettings, stability};
use serde_json::json;

use super::data_as_read::DataAsRead;
use super::effective::{refuse_with_tasks, warn_of_source};
use super::invocation::Invocation;
use super::part::{self, Parts};
use super::prepare::listed;
use crate::args::features::Features;
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::cli::StabilityArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::line::{self, Place};
use crate::method_args::MethodOptions;
use crate::resume::{BETWEEN_FOLDS, DATA, Resume};

/// Parts of the run.
const PARTS: &str = "pairs of halves";

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
    Sink::apart(&[("--json", sink.as_ref()), ("--report", page.as_ref())])?;
    let options =
        if options.args().draws() { options.with("seed", &args.seed.to_string())? } else { options.again()? };
    refuse_with_tasks(&options)?;
    let mut raw = part::load(selection, &options, None, terminal)?;
    warn_of_source(&source, &mut raw, terminal)?;
    let candidates = candidates(&raw, &source)?;
    let settings = StabilitySettings {
        pairs: args.pairs,
        seed: args.seed,
        threshold: args.threshold,
        max_false: args.max_false,
        assume: args.assume,
        time: None,
        selection_time: args.selection_time_limit,
    };
    settings.check(&raw.samples(), candidates).map_err(|error| raw.failure(error))?;
    let resume = match &args.resume {
        Some(path) => {
            let run = json!({"options": identity(args, &options), DATA: raw.check()});
            Some(Resume::open(path, run, BETWEEN_FOLDS)?)
        }
        None => None,
    };
    let kept: Option<Vec<Option<PairResult>>> = resume.as_ref().map_or(Ok(None), Resume::load_json)?;
    let parts = Parts::new(&raw, selection, &options)?;
    let settings = StabilitySettings { time: invocation.left(selection.time_limit), ..settings };
    let cancel = interrupt::listen(terminal)?;
    let resume = Mutex::new(resume);
    let told = |at: usize, results: &[Option<PairResult>]| -> Result<(), EvalError> {
        line::at(Place::of_parts(PARTS, results));
        let seconds = results[at].as_ref().map_or(0.0, |found| found.seconds);
        terminal.detail(&format!("pair {}: {seconds:.2} s", at + 1));
        Ok(Resume::keep_when_due(&resume, results)?)
    };
    let selector = parts.selector(&options, &source);
    line::at(Place { total: Some(settings.pairs as u64), ..Place::at(PARTS) });
    let results = stability(&parts.scene(&cancel), &selector, candidates, &settings, kept, &told);
    let results = results.map_err(|error| raw.failure(error))?;
    Resume::keep_last(resume, &results)?;
    let (asked, cancelled) = ((args, &options, &raw), cancel.is_cancelled());
    let value = report::value(asked, (candidates, &settings), &results, cancelled, &invocation.command_line);
    let scaling = raw.scaling_text(&selection.prepare);
    super::report::tell(value, &scaling, [sink.as_ref(), page.as_ref()], terminal)?;
    let missing = results.iter().filter(|result| result.is_none()).count();
    if missing > 0 {
        let missing = notation::plural(missing, "pair");
        terminal.note(&format!("stopped; {missing} of {} not done; the bound is that of the others", results.len()));
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

/// What the bound is about, counted on all samples.
fn candidates(raw: &DataAsRead, source: &RuleSource) -> Result<Candidates, Failure> {
    let (names, constant) = (&raw.data.names, raw.data.features.constant());
    let mut list = source.resolve(&Features::new(names).with_variables(raw.texts(), &[&constant]))?;
    list.forbid.extend(constant.iter());
    Ok(Candidates::new(names.len(), list, listed(names), source.bounds_size())?)
}
