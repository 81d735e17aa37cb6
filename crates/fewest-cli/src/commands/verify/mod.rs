//! `fewest verify`: checks a proof file against the data, by the checker of `fewest-verify`, and
//! says which question the proof answers.
//!
//! | file | subject |
//! | --- | --- |
//! | `claim.rs` | what the checked header claims, under the names of settings |
//! | `result.rs` | the result of `--as` |
//! | `preparation.rs` | the data, prepared as typed, as a result says, or as the proof says |
//! | `samples.rs` | data as the checker takes them |
//! | `asked.rs` | what is asked, and where the claim is something else |
//! | `question.rs` | the question that is answered, and who says each part of it |
//! | `verdict.rs` | the verdict as JSON and for people |

mod asked;
mod claim;
mod preparation;
mod question;
mod result;
mod samples;
mod verdict;

use std::fs::File;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use fewest::SvmSettings;
use fewest_data::Names;
use fewest_result::{Made, VerifiedFiles};
use fewest_verify::{Error, OnStep, Progress, Proof, Verdict};
use serde_json::Value;

pub use asked::Asked;
use asked::{Layers, Origin};
use preparation::{Fact, Prepared};
pub use question::AskedData;
use question::Question;
use result::AskedResult;
pub use samples::ProofSamples;
use verdict::{Judgement, Own};

use crate::args::features::Features;
use crate::args::rules::RuleSource;
use crate::cli::VerifyArgs;
use crate::commands::effective::rules;
use crate::commands::invocation::Invocation;
use crate::commands::prepare::PreparedData;
use crate::export::file::Sink;
use crate::export::{json as json_text, table};
use crate::failure::{Failure, plain};
use crate::interrupt;
use crate::line::{self, Place};
use crate::method_args::{self, MethodOptions};
use crate::terminal::Terminal;

/// Time between two updates of the line of progress.
const REFRESH: Duration = Duration::from_millis(200);

/// A verified proof, for a program that writes it in another form.
pub struct Verified<'v> {
    /// What is proven.
    pub verdict: &'v Verdict,
    /// The header of the proof.
    pub header: &'v str,
    /// Names of the features.
    pub names: &'v Names,
    /// The check once more, which tells what it does.
    pub again: &'v mut Again<'v>,
}

/// The check of a proof, reported step by step.
pub type Again<'v> = dyn FnMut(&mut OnStep<'_>) -> Result<Result<Verdict, Error>, Failure> + 'v;

/// The receiver of a verified proof, who says the exit code.
pub type OnVerified<'t> = dyn FnMut(&mut Verified<'_>) -> Result<u8, Failure> + 't;

/// Runs the command.
///
/// # Errors
/// A file that is no proof, data that cannot be read, an option that cannot be understood.
pub(crate) fn run(
    args: &VerifyArgs,
    invocation: &Invocation,
    then: Option<&mut OnVerified<'_>>,
) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let json = Sink::open_if("--json", args.json.as_ref())?;
    let source = RuleSource::read(&args.rules, args.rules.max_features()?)?;
    let defaults = defaults(args.asked.method.as_deref())?;
    let result = args.result.as_deref().map(AskedResult::read).transpose()?;
    let mut proof = open(args)?;
    if args.time_limit.is_some() {
        proof = proof.without_work_limit();
    }
    let header = proof.header().to_owned();
    let made = made(&header).map_err(|why| Failure::Input(format!("{}: {why}", args.proof.display())))?;
    let Prepared { data: prepared, multi_class, facts } = preparation::read(
        args,
        result.as_ref().map(|result| &result.settings),
        Some(&made).filter(|_| !args.strict),
        terminal,
    )?;
    if !proof.takes_classes() && proof.problems() == 1 {
        prepared.known().needs_two_classes("a proof of one linear SVM")?;
    }
    let typed = asked(args, &source, &prepared, terminal)?;
    let layers = layers(&typed, result.as_ref(), args.strict.then_some(&defaults), &prepared.data.names)?;
    let samples = prepared.samples()?;
    let data = ProofSamples::new(&samples, multi_class, proof.takes_classes(), prepared.account())?;
    terminal.detail(&format!("read the data in {}", table::seconds(invocation.elapsed().as_secs_f64())));

    let (start, names) = (Instant::now(), &prepared.data.names);
    let memory = prepared.left_of_memory();
    let found = match preparation::contradiction(&facts, &header, names) {
        Some(reason) => Err(of_header(reason)),
        None => check(args, invocation, proof, &data, memory, None)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let ruled_out = prepared.learnt.ruled_out();
    let about = AskedData {
        names,
        classes: &prepared.target.classes,
        codes: &prepared.target.codes,
        weights: &prepared.weights,
        ruled_out: &ruled_out,
        held_out: prepared.held_out.as_ref().map_or(0, |held| held.labels.len()),
    };
    let judgement = judged(found, &header, about, facts, &layers, result.as_ref(), args.gap)?;
    if let Some(sink) = &json {
        let (proof, data) = (args.proof.display().to_string(), prepared.data.source.clone());
        let value = judgement.value(Some(VerifiedFiles { proof, data, method: made.method.clone(), seconds }));
        sink.write(&json_text::text(&value), terminal)?;
    }
    if !json.as_ref().is_some_and(Sink::is_stdout) {
        terminal.out(&judgement.text(seconds))?;
    }
    let code = judgement.code(args.allow_unproven);
    match (then, &judgement.found) {
        (Some(then), Ok(verdict)) if code == 0 => {
            let mut again = |on_step: &mut OnStep<'_>| {
                let proof = open(args)?.without_work_limit();
                check(args, invocation, proof, &data, memory, Some(on_step))
            };
            then(&mut Verified { verdict, header: &header, names, again: &mut again })
        }
        _ => Ok(code),
    }
}

fn open(args: &VerifyArgs) -> Result<Proof<File>, Failure> {
    let place = args.proof.display();
    let file = File::open(&args.proof)
        .map_err(|error| Failure::Input(format!("{place}: cannot be read: {}; name a proof file", plain(&error))))?;
    Proof::open(file).map_err(|error| no_proof(args, &error))
}

fn no_proof(args: &VerifyArgs, error: &Error) -> Failure {
    let place = args.proof.display();
    Failure::Input(format!("{place}: {error}; give the file that `fewest select --proof FILE` wrote"))
}

/// The check, with a line of progress, until the time limit or Ctrl-C.
fn check(
    args: &VerifyArgs,
    invocation: &Invocation,
    proof: Proof<File>,
    data: &ProofSamples<'_>,
    memory: u64,
    on_step: Option<&mut OnStep<'_>>,
) -> Result<Result<Verdict, Error>, Failure> {
    let terminal = invocation.terminal;
    let cancel = interrupt::listen(terminal)?;
    let mut shown = Instant::now();
    let mut watch = |progress: &Progress| {
        let Progress { records, parts, open, .. } = progress;
        if shown.elapsed() >= REFRESH {
            shown = Instant::now();
            line::at(Place::at(format!("{records} records, {parts} parts closed, {open} boxes open")));
        }
        let over = invocation.left(args.time_limit).is_some_and(|left| left.is_zero());
        if over || cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = data.check_telling(proof, memory, &mut watch, on_step);
    match &found {
        Err(error @ Error::NotAProof(_)) => return Err(no_proof(args, error)),
        Err(Error::Stopped) if !cancel.is_cancelled() => {
            terminal.note("stopped at the time limit; nothing is proven, give more time with --time-limit");
        }
        _ => {}
    }
    Ok(found)
}

/// A fault of the header.
fn of_header(reason: String) -> Error {
    Error::Fails { place: "header".to_owned(), reason }
}

/// What made the proof, as its header tells.
///
/// # Errors
/// A setting of another kind than the commands write: who left it out would prepare other data.
fn made(header: &str) -> Result<Made, String> {
    #[derive(serde::Deserialize)]
    struct Header {
        #[serde(default)]
        made: Option<Made>,
    }
    let unread = |why: String| format!("what the proof says of its making cannot be read: {why}; write it again");
    let header: Header = serde_json::from_str(header).map_err(|error| unread(error.to_string()))?;
    let made = header.made.unwrap_or_default();
    preparation::check_settings(&made.settings).map_err(unread)?;
    Ok(made)
}

/// The SVM of a method where nothing is typed, that of `exact` where none is named.
fn defaults(method: Option<&str>) -> Result<SvmSettings, Failure> {
    let entry = method_args::find(method.unwrap_or("exact"))?;
    let options = MethodOptions::of(entry, &clap::ArgMatches::default(), &[])?;
    Ok(options.args().svm())
}

/// What was typed of the problem.
fn asked(
    args: &VerifyArgs,
    source: &RuleSource,
    prepared: &PreparedData,
    terminal: Terminal,
) -> Result<Asked, Failure> {
    let typed = &args.asked;
    let indices = |names: &Vec<String>| match names.as_slice() {
        [none] if none == "none" => Ok(Vec::new()),
        names => Features::new(&prepared.data.names).indices(names, "--categorical"),
    };
    let penalty = typed.penalty.is_some().then(|| typed.penalty.resolve(&prepared.method_data())).transpose()?;
    Ok(Asked {
        method: typed.method.clone(),
        kernel: typed.kernel.map(|kernel| kernel.text().to_owned()),
        loss: typed.loss,
        cost: typed.cost,
        bias: typed.bias.bias,
        penalty,
        weight_bound: typed.weight_bound,
        gamma: typed.gamma,
        categorical: typed.categorical.as_ref().map(|names| indices(&names.0)).transpose()?,
        rules: rules(source, prepared.known(), terminal)?,
        more_together: !source.names_together(),
    })
}

/// What is asked: what was typed, then what a result says, then defaults.
fn layers(
    typed: &Asked,
    result: Option<&AskedResult>,
    defaults: Option<&SvmSettings>,
    names: &Names,
) -> Result<Layers, Failure> {
    let mut layers = Layers::typed(typed, names)?;
    if let Some(result) = result {
        layers.add_result(&result.entries);
    }
    if let Some(svm) = defaults {
        layers.add_defaults(svm);
    }
    Ok(layers)
}

/// A check with its question.
fn judged<'a>(
    found: Result<Verdict, Error>,
    header: &str,
    about: AskedData<'a>,
    facts: Vec<Fact>,
    layers: &Layers,
    result: Option<&AskedResult>,
    gap: Option<f64>,
) -> Result<Judgement<'a>, Failure> {
    let (names, prepared) = (about.names, preparation::differences(&facts));
    let question = |_: &Verdict| Question::new(header, about, facts, layers);
    let (mut question, found) = match found.as_ref().ok().map(question) {
        Some(Ok(question)) => (Some(question), found),
        // What cannot be shown is not verified.
        Some(Err(why)) => (None, Err(of_header(format!("it cannot be shown: {why}")))),
        None => (None, found),
    };
    if let (Ok(verdict), Some(question), Some(result)) = (&found, &mut question, result) {
        question.add(result.data_differences(&question.value()));
        question.add(result.difference(verdict, names));
    }
    let Made { method, own, .. } = made(header).map_err(Failure::Input)?;
    Ok(Judgement { found, question, prepared, gap, names, own: Own { method, features: own } })
}

/// Request to check a proof about arrays.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArrayRequest {
    /// The question about the problem.
    pub asked: Asked,
    /// A result of `fewest select` that says what is asked.
    pub result: Option<Value>,
    /// Whether what is not asked has its default.
    pub strict: bool,
    /// The largest gap that is accepted.
    pub gap: Option<f64>,
    /// How the arrays were made, by the names of settings.
    pub prepared: Vec<(String, Value)>,
}

/// The verdict on a proof about arrays, as JSON; `header` is the proof's. docs/formats/verdict.md
/// lists the keys.
///
/// # Errors
/// A file that is no result, rules that contradict each other.
pub fn verification(
    found: Result<Verdict, Error>,
    header: &str,
    about: AskedData<'_>,
    request: ArrayRequest,
) -> Result<Value, Failure> {
    let ArrayRequest { asked, result, strict, gap, prepared } = request;
    if let Some(name) = &asked.method {
        method_args::find(name)?;
    }
    let refused = || Failure::input("the result is not one of `fewest select --json`");
    let result = result.map(|result| AskedResult::of(result).ok_or_else(refused)).transpose()?;
    let defaults = strict.then(|| defaults(asked.method.as_deref())).transpose()?;
    let layers = layers(&asked, result.as_ref(), defaults.as_ref(), about.names)?;
    let facts = prepared.into_iter().map(|(key, value)| Fact::new(key, value, Origin::Typed)).collect();
    Ok(judged(found, header, about, facts, &layers, result.as_ref(), gap)?.value(None))
}
