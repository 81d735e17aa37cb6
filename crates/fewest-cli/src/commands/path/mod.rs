//! `fewest path`: a subset for each of several sizes, as a table and as JSON; with `--cv` how well
//! each does on samples that took no part ([`folds`]).

mod folds;
mod report;

use std::time::Instant;

use fewest::Subset;
use fewest::method::certificate::Certificate;
use fewest::method::path::SizeReport;
use fewest_eval::folds::{check, stratified};
use fewest_eval::sizes::judge_sizes;
use fewest_result::TrainedModel;
use serde_json::{Map, json};

use super::auto_cost;
use super::invocation::Invocation;
use super::part::Parts;
use super::selection::{Plan, ResumeOptions, Task};
use super::sinks::{Sinks, proof_sink};
use crate::cli::{PathArgs, SelectionArgs};
use crate::export::result::path_document;
use crate::export::table;
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::progress::Watch;
use folds::{Deal, SizeJudgement};
use report::{Found, outcome};

/// Runs the command.
pub(crate) fn run(args: &PathArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let sizes = args.selection.rules.sizes()?;
    let sizes =
        sizes.ok_or_else(|| Failure::input("say for which sizes: --max-features 1..20, or 1..20:2, or 1,2,5"))?;
    if options.given("costs") && options.entry().has("retune") {
        return Err(Failure::Input(format!(
            "path has no {} with --costs; use `fewest select` for each size, or leave out --costs",
            options.name()
        )));
    }
    if args.resume.is_some() && !options.entry().info().searches && options.name() == "info-gain" {
        return Err(Failure::input(
            "--resume keeps the progress of a long run, but info-gain is done at once; leave it out",
        ));
    }
    let (repeats, seed, reach) = (args.repeats.unwrap_or(1), args.seed.unwrap_or(0), args.reach);
    let deal = args.cv.map(|cv| Deal { cv, repeats, seed, reach });
    let options = &with_folds(args, options)?;
    let plan = Plan::new(&args.selection, &args.story, options, invocation, sizes.last().copied())?;
    let plan = if deal.is_some() { plan.keeping_raw() } else { plan };
    let proof = proof_sink(options)?;
    let outputs = (None, None, proof.as_ref());
    let sinks = Sinks::open(&args.selection, args.story.trace.as_ref(), outputs)?;
    let task = plan.load()?;
    if args.reach.is_some() && task.prepared.target.classes.len() != 2 {
        return Err(Failure::Input(format!(
            "--reach is of two classes, but there are {}; keep two with --classes A,B, or leave it out",
            task.prepared.target.classes.len()
        )));
    }

    let selecting = Instant::now();
    let more = Map::from_iter([("command".to_owned(), json!("path")), ("sizes".to_owned(), json!(sizes))]);
    let resume = task.resume(ResumeOptions { file: args.resume.clone(), every: args.resume_every }, more)?;
    let mut proof = task.proof_file(resume.is_some());
    let watch = Watch::new(&task.prepared.data.names, terminal, sinks.trace.as_ref());
    let mut watch = watch.proving(resume.as_ref(), proof.as_mut())?;
    let samples = task.prepared.samples()?;
    let mut limits = task.method_limits();
    if deal.is_some() {
        limits.time = limits.time.map(|time| time / 2);
    }
    let points = task.method.path(&samples, &task.rules, &sizes, &limits, &mut watch)?;
    let scores = deal.map_or(Ok(None), |deal| judged(&task, &args.selection, options, &sizes, deal))?;
    let certificates = certificates(&task, &points, &mut watch)?;
    let histories = watch.finish()?;
    let proofs = proof.map_or(Ok(Vec::new()), fewest_result::ProofFile::finish)?;
    let selecting = selecting.elapsed();
    let found = Found { points: &points, certificates: &certificates, scores: scores.as_ref() };

    if sinks.json.is_some() || sinks.report.is_some() {
        let trained = trainings(&task, &points)?;
        let results = found.results(&task, &trained, &histories, &proofs)?;
        let cv = scores.as_ref().map(SizeJudgement::choice);
        let document = path_document(results, cv, &invocation.command_line);
        super::report::write(document, sinks.json.as_ref(), sinks.report.as_ref(), terminal)?;
    }
    if !sinks.taken {
        let sizes_text = format!("sizes {}", args.selection.rules.max_features.as_deref().unwrap_or_default());
        let times = [task.reading, selecting].map(|t| table::seconds(t.as_secs_f64()));
        let mut lines = vec![
            ("method", task.method_name().to_owned()),
            ("rules", task.rules_text(Some(&sizes_text), &[])),
            ("samples", task.prepared.data.features.n_samples().to_string()),
            ("target", format!("{}: {}", task.prepared.target.column, task.prepared.classes_text())),
            ("scaling", task.prepared.scaling_text()),
            ("time", format!("read {}, path {}", times[0], times[1])),
        ];
        let cost = |choice| ("cost", format!("at the largest size {}", auto_cost::text(choice)));
        lines.extend(task.choice.as_ref().map(cost));
        lines.extend(task.groups_text().map(|text| ("groups", text)));
        lines.extend(task.prepared.missing_text().map(|text| ("missing", text)));
        terminal.out(&(table::pairs(&lines) + "\n" + &found.story(&task.prepared.data.names)))?;
    }
    Ok(found.ending(sizes.len(), terminal))
}

/// The method's options, with the folds it deals by itself.
///
/// # Errors
/// Options of folds that nothing deals.
fn with_folds(args: &PathArgs, options: &MethodOptions) -> Result<MethodOptions, Failure> {
    if !options.args().deals_folds() {
        let unused = |option: &str, why: &str| Err(Failure::Input(format!("{option} {why}; leave it out")));
        return match (args.inner_cv, args.seed, args.cv) {
            (Some(_), ..) => {
                unused("--inner-cv", &format!("is for methods that cross-validate, and {} does not", options.name()))
            }
            (_, Some(seed), _) if options.args().draws() => options.with("seed", &seed.to_string()),
            (_, Some(_), None) => unused("--seed", "says how samples are dealt into folds, and there is no --cv"),
            _ => options.again(),
        };
    }
    let mut dealt = options.again()?;
    if let Some(seed) = args.seed {
        dealt = dealt.with("seed", &seed.to_string())?;
    }
    match args.inner_cv {
        Some(inner) => dealt.with("cv", &inner.to_string()),
        None => Ok(dealt),
    }
}

/// How well each size does on samples that took no part, in the time that is left. `options` are as
/// typed: a cost chosen on all samples would know those held out.
///
/// # Errors
/// More folds than samples, a fold that the method fails in.
fn judged(
    task: &Task<'_>,
    args: &SelectionArgs,
    options: &MethodOptions,
    sizes: &[usize],
    deal: Deal,
) -> Result<Option<SizeJudgement>, Failure> {
    let Some(raw) = &task.raw else { return Ok(None) };
    let failed = |error| raw.failure(error);
    let samples = raw.samples();
    let folds = stratified(&samples.strata(), samples.groups, deal.cv, deal.repeats, deal.seed).map_err(failed)?;
    check(&folds, &raw.target).map_err(failed)?;
    let (parts, time) = (Parts::new(raw, args, options)?, task.method_limits().time);
    let (scene, selector) = (parts.scene(&task.limits.cancel), parts.selector(options, &task.source));
    let scores = judge_sizes(&scene, &folds, &selector, sizes, time).map_err(failed)?;
    Ok(Some(SizeJudgement { deal, scores }))
}

/// The classifier of each size; the first that time is too short for ends the trainings of all.
fn trainings(task: &Task<'_>, points: &[SizeReport]) -> Result<Vec<Option<TrainedModel>>, Failure> {
    let clock = task.clock();
    points.iter().map(|point| task.train(&point.report, &clock)).collect()
}

/// The certificate of each size, if asked for: the time left is shared out among them, and each
/// starts from what the one before found.
fn certificates(
    task: &Task<'_>,
    points: &[SizeReport],
    watch: &mut Watch<'_>,
) -> Result<Vec<Option<Certificate>>, Failure> {
    let mut all: Vec<Option<Certificate>> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let share = task.left().map(|left| left / (points.len() - at) as u32);
        let start: Vec<Subset> = all.iter().rev().flatten().take(1).map(|c| c.best.subset.clone()).collect();
        watch.at_size(point.max_features);
        all.push(task.certificate(outcome(point).subset.as_ref(), &start, share, watch)?);
    }
    Ok(all)
}
