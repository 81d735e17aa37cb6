//! `fewest evaluate`: how well a method does on samples it has not seen.
//!
//! Everything that looks at data happens on the training part of a fold: scaling, constant and
//! low-variance features, class weights, gammas, tuning and selection ([`fold`]). What is reported
//! is in [`report`].

mod fold;
mod plan;
mod report;

use std::sync::Mutex;

use rayon::prelude::*;
use serde_json::json;

use super::deal::Fold;
use super::in_force::warn_of_source;
use super::invocation::Invocation;
use super::share::FoldTimes;
use crate::args::notation;
use crate::cli::EvaluateArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::method_args::MethodOptions;
use crate::resume::{BETWEEN_FOLDS, DATA, Resume};
use fold::{FoldResult, Learner};
use plan::Options;

/// Runs the command.
///
/// # Errors
/// Bad input, or a method that fails in a fold, which is named.
pub(crate) fn run(args: &EvaluateArgs, method: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let options = Options::read(args, method)?;
    let sink = Sink::open_if("--json", args.selection.json.as_ref())?;
    let page = Sink::open_if("--report", args.selection.report.as_ref())?;
    let mut inputs = vec![("the data", args.selection.data.data.as_path())];
    inputs.extend(args.selection.rules.files());
    inputs.extend(args.resume.as_deref().map(|path| ("the file of --resume", path)));
    Sink::apart(&[("--json", sink.as_ref()), ("--report", page.as_ref())], &inputs)?;
    let learners: Vec<Learner<'_>> =
        options.methods.iter().map(|recipes| Learner::new(recipes, &options)).collect::<Result<_, _>>()?;
    let mut raw = learners[0].load(options.fold_column.as_deref(), terminal)?;
    warn_of_source(learners[0].largest(), &mut raw, terminal)?;
    let folds = Fold::with_weight(options.folds(&raw)?, &raw, terminal)?;
    let truth = options.truth(&raw.data.names)?;
    let resume = match &options.resume {
        Some(path) => Some(Resume::open(path, json!({"options": options.text, DATA: raw.check()}), BETWEEN_FOLDS)?),
        None => None,
    };
    let kept: Option<Vec<Option<FoldResult>>> = resume.as_ref().map_or(Ok(None), Resume::load_json)?;
    let total = learners.len() * folds.len();
    let results = kept.filter(|kept| kept.len() == total).unwrap_or_else(|| vec![None; total]);
    let waiting = results.iter().filter(|result| result.is_none()).count();
    let times = FoldTimes::new(invocation.left(args.selection.time_limit), options.selection_time, waiting);
    let results = Mutex::new((results, resume));
    let cancel = interrupt::listen(terminal)?;
    let job = |at: usize| -> Result<(), Failure> {
        let (learner, fold) = (&learners[at / folds.len()], &folds[at % folds.len()]);
        let known = results.lock().is_ok_and(|results| results.0[at].is_some());
        if known || cancel.is_cancelled() {
            return Ok(());
        }
        let mut time = times.next(learner.selections());
        let found = learner.run(&raw, fold, truth.as_deref(), &mut time, &cancel, terminal);
        let Some(found) = found.map_err(|failure| failure.within(&fold.name))? else { return Ok(()) };
        let accuracy = 100.0 * found.metrics.accuracy;
        terminal.detail(&format!("{}: {} {accuracy:.2} %, {:.2} s", fold.name, learner.method(), found.seconds));
        let mut results = results.lock().expect("no thread panics while it holds the results");
        results.0[at] = Some(found);
        match &results.1 {
            Some(resume) if resume.is_due() => resume.keep_json(&results.0),
            _ => Ok(()),
        }
    };
    let failures: Vec<Failure> = (0..total).into_par_iter().filter_map(|at| job(at).err()).collect();
    if let Some(first) = failures.into_iter().next() {
        return Err(first);
    }
    let (results, resume) = results.into_inner().expect("no thread panics while it holds the results");
    if let Some(resume) = resume {
        resume.keep_json(&results)?;
    }
    let missing = results.iter().filter(|r| r.is_none()).count();
    let report = report::Report::new(&options, &learners, &raw, &folds, &results);
    let value = || report.value(&invocation.command_line);
    super::report::tell(value, || report.text(), [sink.as_ref(), page.as_ref()], terminal)?;
    if missing > 0 {
        let missing = notation::plural(missing, "fold");
        terminal.note(&format!("cancelled; {missing} of {total} not done; these are the results of the others"));
    }
    let stopped = results.iter().flatten().any(|r| r.stopped);
    Ok(if missing > 0 || stopped { 3 } else { 0 })
}
