//! `fewest knockoffs`: which features a method finds more important than random copies of them
//! ([`fewest_eval::knockoffs`]).

use fewest::Limits;
use fewest_eval::EvalError;
use fewest_eval::knockoffs::{Draw, Importance, KnockoffReport, KnockoffSettings, knockoffs};
use fewest_result::{Document, Kind, Knockoffs, entries};
use serde::Serialize;
use serde_json::Value;

use super::asked::of_method;
use super::effective::{check_classes, limits};
use super::invocation::Invocation;
use super::prepare::{PrepareOptions, PreparedData};
use super::report;
use crate::args::notation;
use crate::args::svm::ClassWeight;
use crate::cli::KnockoffArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::line::{self, Place};
use crate::method_args::MethodOptions;

/// Parts of the run.
const PARTS: &str = "draws";

/// Runs the command.
pub(crate) fn run(args: &KnockoffArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    if let Some(column) = &args.groups {
        return Err(Failure::Input(format!(
            "--groups is {column}, but knockoffs deals no folds or halves, and its bound is for samples that know nothing of each other; give one row for each group, such as the means of its samples, and leave out --groups"
        )));
    }
    check(options)?;
    let sink = Sink::open_if("--json", args.json.as_ref())?;
    let page = Sink::open_if("--report", args.report.as_ref())?;
    let outputs = [("--json", sink.as_ref()), ("--report", page.as_ref())];
    Sink::apart(&outputs)?;
    let class_weight: Option<ClassWeight> = options.value("class_weight");
    let reading = PrepareOptions {
        class_weight: class_weight.as_ref(),
        centred: options.centres(),
        ..PrepareOptions::new(&args.data, &args.prepare)?
    };
    let prepared = reading.run(terminal)?;
    check_classes(options, prepared.known())?;
    let p = prepared.data.names.len();
    let features: Vec<usize> = (0..p).filter(|j| !prepared.learnt.constant.contains(*j)).collect();
    if features.is_empty() {
        return Err(Failure::Input(format!(
            "{}: every feature has one value only, so that there is nothing to copy",
            prepared.data.source
        )));
    }
    let method = options.args().method(&prepared.method_data())?;
    let limits = Limits { cancel: interrupt::listen(terminal)?, ..limits(options) };
    let time = invocation.left(args.time_limit);
    let settings = KnockoffSettings { fdr: args.fdr, draws: args.draws, seed: args.seed, time };
    let told = |at: usize, draws: &[Option<Draw>]| -> Result<(), EvalError> {
        line::at(Place::of_parts(PARTS, draws));
        let seconds = draws[at].as_ref().map_or(0.0, |draw| draw.seconds);
        terminal.detail(&format!("draw {}: {seconds:.2} s", at + 1));
        Ok(())
    };
    line::at(Place { total: Some(settings.draws as u64), ..Place::at(PARTS) });
    let found = knockoffs(prepared.training(), &features, &method, settings, &limits, &told);
    let found = found.map_err(|error| prepared.failure(error))?;
    let value = value((args, options, &prepared), &found, &invocation.command_line);
    report::tell(value, &prepared.scaling_text(), [sink.as_ref(), page.as_ref()], terminal)?;
    let missing = found.missing;
    if missing > 0 {
        let missing = notation::plural(missing, "draw");
        terminal.note(&format!("stopped; {missing} of {} not done; the others are what is reported", args.draws));
    }
    Ok(if missing > 0 { 3 } else { 0 })
}

/// Settings of a knockoff filter beside those of its method.
#[derive(Serialize)]
struct KnockoffsAsked {
    fdr: f64,
    draws: usize,
    seed: u64,
}

/// The result of the draws that are done.
fn value(
    (args, options, prepared): (&KnockoffArgs, &MethodOptions, &PreparedData),
    found: &KnockoffReport,
    command: &str,
) -> Value {
    let mut own = options.settings();
    own.extend(entries(&KnockoffsAsked { fdr: args.fdr, draws: args.draws, seed: args.seed }));
    let time_limit = args.time_limit.map(|time| time.as_secs_f64());
    let asked = of_method(own, time_limit, prepared.asked(&args.prepare, None));
    let (data, about) = (prepared.named(), prepared.about());
    let found = Knockoffs::new(data, about, options.name(), (found, args.fdr), (asked, command));
    Document::new(Kind::Knockoffs, found).value()
}

/// Refuses a method that does not say what is important, and options that the bound does not allow.
fn check(options: &MethodOptions) -> Result<(), Failure> {
    let name = options.name();
    if Importance::of(name).is_none() {
        let known: Vec<&str> = Importance::METHODS.iter().map(|(method, _)| *method).collect();
        return Err(Failure::Input(format!(
            "{name} gives no importance of every feature, which the filter needs to compare features with their copies; use {}",
            crate::method_args::listed(&known)
        )));
    }
    if options.chooses_cost() {
        return Err(Failure::input(
            "--cost auto reads the features without their copies, which the bound does not allow; give a number",
        ));
    }
    if name == "fgm" && options.value::<usize>("subset_size").is_none() {
        return Err(Failure::input("say how many features a generated subset has: --subset-size B"));
    }
    Ok(())
}
