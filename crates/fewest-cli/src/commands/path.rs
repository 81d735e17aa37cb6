//! `fewest path`: a subset for each of several sizes, as a table and as JSON.

use std::time::Instant;

use fewest::method::PROOF_CONDITION;
use fewest::method::certificate::Certificate;
use fewest::method::path::SizeReport;
use fewest::{Outcome, Sense, Status, Subset};
use fewest_data::Names;
use serde_json::{Map, json};

use super::invocation::Invocation;
use super::selection::{Plan, ResumeOptions, Task};
use super::sinks::{Sinks, proof_sink};
use super::{certify, report};
use crate::args::notation;
use crate::cli::PathArgs;
use crate::export::chart;
use crate::export::json::Document;
use crate::export::model_json::{SCHEMA, TrainedModel};
use crate::export::result::SelectionResult;
use crate::export::settings::details;
use crate::export::table::{self, Table};
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::progress::{History, Watch};
use crate::terminal::Terminal;

/// What was found for a size.
fn outcome(point: &SizeReport) -> &Outcome {
    &point.report.selection.outcome
}

/// Runs the command.
///
/// # Errors
/// Bad input, found before the run where that is possible.
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
            "--resume keeps how far a long run has come, but info-gain is done at once; leave it out",
        ));
    }
    let plan = Plan::new(&args.selection, &args.story, options, invocation, sizes.last().copied())?;
    let proof = proof_sink(options)?;
    let outputs = (None, None, proof.as_ref());
    let sinks = Sinks::open(&args.selection, args.story.trace.as_ref(), outputs, args.resume.as_ref())?;
    let task = plan.load()?;

    let selecting = Instant::now();
    let more = Map::from_iter([("command".to_owned(), json!("path")), ("sizes".to_owned(), json!(sizes))]);
    let resume = task.resume(ResumeOptions { file: args.resume.clone(), every: args.resume_every }, more)?;
    let mut proof = task.proof_file(resume.is_some());
    let watch = Watch::new(&task.prepared.data.names, terminal, sinks.trace.as_ref());
    let mut watch = watch.proving(resume.as_ref(), proof.as_mut())?;
    let samples = task.prepared.samples()?;
    let points = task.method.path(&samples, &task.rules, &sizes, &task.method_limits(), &mut watch)?;
    let certificates = certificates(&task, &points, &mut watch)?;
    let histories = watch.finish()?;
    let proofs = proof.map_or(Ok(Vec::new()), fewest_data::ProofFile::finish)?;
    let selecting = selecting.elapsed();

    if sinks.json.is_some() || sinks.report.is_some() {
        let trained = trainings(&task, &points)?;
        let results = results(&task, &points, &trained, &certificates, &histories, &proofs)?;
        let document = Document::Object(vec![
            ("schema".to_owned(), Document::Value(json!(SCHEMA))),
            ("path".to_owned(), Document::List(results)),
            ("command".to_owned(), Document::Value(json!(invocation.command_line))),
            ("version".to_owned(), Document::Value(json!(env!("CARGO_PKG_VERSION")))),
        ]);
        report::write(document, sinks.json.as_ref(), sinks.report.as_ref(), terminal)?;
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
        lines.extend(task.choice.as_ref().map(|choice| {
            let splits = notation::plural(choice.splits, "inner split");
            ("cost", format!("{}, chosen by the AUC of {splits} at the largest size", table::number(choice.cost)))
        }));
        lines.extend(task.prepared.missing_text().map(|text| ("missing", text)));
        terminal.out(&(table::pairs(&lines) + "\n" + &story(&points, &certificates, &task.prepared.data.names)))?;
    }
    Ok(ending(&points, &certificates, sizes.len(), terminal))
}

/// The classifier of each size; the first that time is too short for ends the trainings of all.
fn trainings(task: &Task<'_>, points: &[SizeReport]) -> Result<Vec<Option<TrainedModel>>, Failure> {
    let mut stop = task.stopper();
    points.iter().map(|point| task.train(&point.report, &mut stop)).collect()
}

/// The result of each size.
fn results<'a>(
    task: &'a Task<'_>,
    points: &'a [SizeReport],
    trained: &'a [Option<TrainedModel>],
    certificates: &[Option<Certificate>],
    histories: &[History],
    proofs: &[String],
) -> Result<Vec<Document<'a>>, Failure> {
    let names = &task.prepared.data.names;
    let largest = points.iter().rposition(|p| outcome(p).subset.as_ref().is_some_and(|s| !s.is_empty()));
    let mut results = Vec::new();
    for (at, (SizeReport { max_features, report }, certificate)) in points.iter().zip(certificates).enumerate() {
        let mut more = details(&report.details, names);
        more.extend(task.story(histories, Some(*max_features)));
        more.remove("command");
        if let Some(proof) = task.proof_of(*max_features).filter(|proof| proofs.contains(proof)) {
            more.insert("proof".to_owned(), proof.into());
        }
        if task.describes() && Some(at) == largest {
            more.insert("description".to_owned(), task.description(report)?);
        }
        let subset = report.selection.outcome.subset.as_ref();
        let result = SelectionResult {
            method: task.method_name(),
            selection: &report.selection,
            names,
            target: &task.prepared.target,
            n_samples: task.prepared.data.features.n_samples(),
            settings: task.settings(Some(*max_features), Some(&report.kernel)),
            model: trained[at].as_ref(),
            certificate: certificate.as_ref().zip(subset).map(|(c, s)| certify::value(c, s.len(), names)),
            more,
        };
        results.push(result.document());
    }
    Ok(results)
}

/// Table, proof and chart.
fn story(points: &[SizeReport], certificates: &[Option<Certificate>], names: &Names) -> String {
    let text = table(points, certificates, names) + &proven(points);
    let values = |p: &SizeReport| Some((p.max_features, outcome(p).objective?));
    let chart = chart::bars("objective by number of features", &points.iter().filter_map(values).collect::<Vec<_>>());
    if chart.is_empty() { text } else { format!("{text}\n{chart}") }
}

/// The exit code; says what was not done.
fn ending(points: &[SizeReport], certificates: &[Option<Certificate>], sizes: usize, terminal: Terminal) -> u8 {
    let statuses: Vec<Status> = points.iter().map(|p| outcome(p).status).collect();
    let cancelled = certificates.iter().flatten().any(|c| c.status == Status::Cancelled);
    let stopped = statuses.iter().filter(|s| s.is_limit()).count();
    let missing = sizes - points.len();
    if missing > 0 || statuses.contains(&Status::Cancelled) {
        let stopped = notation::plural(missing, "size");
        terminal.note(&format!("cancelled; {stopped} of {sizes} not begun, the others are the best so far"));
    } else if stopped > 0 {
        let count = notation::plural(stopped, "size");
        terminal.note(&format!("{count} stopped at a limit, see the status; these are the best subsets so far"));
    }
    if stopped + missing > 0 || cancelled { 3 } else { 0 }
}

/// The gaps in one line, where every size has one.
fn proven(points: &[SizeReport]) -> String {
    let gaps: Option<Vec<f64>> = points.iter().map(|p| outcome(p).gap()).collect();
    let Some(gaps) = gaps.filter(|gaps| !gaps.is_empty()) else { return String::new() };
    let worst = gaps.into_iter().fold(0.0, f64::max);
    let condition = points.iter().find_map(|p| p.report.details.get(PROOF_CONDITION)?.as_str());
    let condition = condition.map_or_else(String::new, |condition| format!(", as long as {condition}"));
    let worst = fewest_report::at_most(worst);
    let text = format!("proof: at every size no allowed subset can be better by more than {worst}{condition}");
    format!("\n{}", table::paragraph(&text, 0))
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

/// A row for each size.
fn table(points: &[SizeReport], certificates: &[Option<Certificate>], names: &Names) -> String {
    let certified = certificates.iter().any(Option::is_some);
    let proven = certified || points.iter().any(|p| outcome(p).bound.is_some());
    let mut headings = vec!["size", "status", "objective"];
    headings.extend(certified.then_some("best"));
    headings.extend(if proven { &["bound", "gap"][..] } else { &[] });
    headings.extend(["seconds", "selected"]);
    let mut out = Table::new(&headings, headings.len() - 1);
    let mut before: Option<&Subset> = None;
    for (point, certificate) in points.iter().zip(certificates) {
        let (max_features, outcome) = (point.max_features, outcome(point));
        let number = |x: Option<f64>| x.map_or_else(String::new, table::number);
        let mut cells = vec![max_features.to_string(), outcome.status.name().to_owned(), number(outcome.objective)];
        let (mut bound, mut gap, mut seconds) = (outcome.bound, outcome.gap(), outcome.elapsed);
        if certified {
            let certificate = certificate.as_ref();
            cells.push(number(certificate.map(|c| c.best.objective)));
            (bound, gap) = (certificate.and_then(|c| c.bound), certificate.and_then(Certificate::gap));
            seconds += certificate.map(|c| c.elapsed).unwrap_or_default();
        }
        if proven {
            let maximised = outcome.sense == Sense::Max;
            let bound = bound.map_or_else(String::new, |bound| fewest_report::bound(bound, maximised));
            cells.extend([bound, gap.map_or_else(String::new, table::gap)]);
        }
        cells.push(format!("{:.3}", seconds.as_secs_f64()));
        cells.push(outcome.subset.as_ref().map_or_else(String::new, |subset| change(before, subset, names)));
        before = outcome.subset.as_ref().or(before);
        out.row(cells);
    }
    out.render()
}

/// The subset, or how it differs from the one before: `+ a, b - c`.
fn change(before: Option<&Subset>, subset: &Subset, names: &Names) -> String {
    let list = |features: &mut dyn Iterator<Item = usize>| -> String {
        features.map(|j| names.get(j).into_owned()).collect::<Vec<_>>().join(", ")
    };
    let Some(before) = before else { return list(&mut subset.iter()) };
    let (came, left) = (list(&mut subset.difference(before)), list(&mut before.difference(subset)));
    match (came.is_empty(), left.is_empty()) {
        (true, true) => "the same".to_owned(),
        (false, true) => format!("+ {came}"),
        (true, false) => format!("- {left}"),
        (false, false) => format!("+ {came} - {left}"),
    }
}
