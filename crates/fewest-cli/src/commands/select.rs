//! `fewest select`: find a subset, train on it, print a table, write JSON and a model.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fewest::{Kernel, Ranked, Report, Sense, Status};
use fewest_data::{Names, ScaleKind};
use fewest_report::Proof;
use fewest_result::{Certificate, Kind, Selection, Solution, TrainedModel, entries};
use serde_json::{Map, Value};

use super::fit::{ModelSink, explain_status, kernel_text};
use super::invocation::Invocation;
use super::selection::{Plan, ResumeOptions, Task};
use super::sinks::{Sinks, proof_sink};
use super::{auto_cost, certify};
use super::{near, report};
use crate::args::notation;
use crate::cli::SelectArgs;
use crate::export::file::Sink;
use crate::export::result::{exit_code, selection_document};
use crate::export::table::{self, Table};
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::progress::Watch;

/// Rows of the printed table; more go into the JSON only.
const ROWS: usize = 50;

/// Runs the command.
pub(crate) fn run(args: &SelectArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let size = args.selection.rules.max_features()?;
    let plan = Plan::new(&args.selection, &args.story, options, invocation, size)?;
    let model_sink = ModelSink::open(&args.model)?;
    let program = Sink::open_if("--write-model", options.value::<PathBuf>("write_model").as_ref())?;
    let model = model_sink.as_ref().map(ModelSink::sink);
    let resume = ResumeOptions::typed(options);
    let proof = proof_sink(options)?;
    let outputs = (model, program.as_ref(), proof.as_ref());
    let sinks = Sinks::open(&args.selection, args.story.trace.as_ref(), outputs)?;
    let task = plan.load()?;
    if let Some(sink) = &model_sink {
        if task.prepared.tasks.is_some() {
            sink.holds_more("one classifier, but with --tasks each task has its own")?;
        }
        let (classes, scaled) = (task.prepared.target.classes.len(), task.prepared.scale() != ScaleKind::None);
        sink.accepts(classes, &kernel_name(options), scaled, task.takes_all())?;
        sink.holds(args.selection.prepare.missing)?;
        sink.takes(&args.selection.data.reading)?;
    }
    if let Some(sink) = &program {
        let samples = task.prepared.samples()?;
        sink.replace(|path| Ok(task.method.write_program(&samples, &task.rules, path)?))?;
    }
    let resume = task.resume(resume, Map::new())?;
    let mut proof = task.proof_file(resume.is_some());
    let watch = Watch::new(&task.prepared.data.names, terminal, sinks.trace.as_ref());
    let mut watch = watch.proving(resume.as_ref(), proof.as_mut())?;
    let samples = task.prepared.samples()?;
    let report = task.method.select(&samples, &task.rules, task.method_limits(), &mut watch)?;

    let fitting = Instant::now();
    let trained = task.train(&report, &task.clock())?;
    let of_tasks = task.train_tasks(&report, &task.clock())?;
    let fitting = fitting.elapsed();

    let outcome = &report.selection.outcome;
    let certificate = task.certificate(outcome.subset.as_ref(), &[], task.left(), &mut watch)?;
    let histories = watch.finish()?;
    let proofs = proof.map_or(Ok(Vec::new()), fewest_result::ProofFile::finish)?;
    let names = &task.prepared.data.names;
    let certified = certificate.as_ref().zip(outcome.subset.as_ref());
    let mut result = task.result(task.method_name(), &report, (&histories, None), trained.as_ref());
    result.certificate = certified.map(|(certificate, subset)| Certificate::new(certificate, subset.len(), names));
    result.proof = proofs.first().cloned();
    if let Some(tasks) = &of_tasks {
        result.details.insert("task_models".to_owned(), Value::Object(entries(&tasks.record())));
    }
    if let Some(note) = task.separation(trained.as_ref()) {
        terminal.note(&note);
        result.about.warnings.push(note);
    }
    if task.describes() {
        result.description = task.description(&report)?;
    }
    if sinks.json.is_some() || sinks.report.is_some() {
        let document = selection_document(Kind::Selection, &result, &report.selection.ranking, names);
        report::write(document, sinks.json.as_ref(), sinks.report.as_ref(), terminal)?;
    }
    match (&model_sink, &trained, &of_tasks) {
        (Some(sink), Some(trained), _) => sink.write(trained, terminal)?,
        (Some(sink), None, Some(tasks)) => sink.write_tasks(tasks, terminal)?,
        (Some(_), None, None) => terminal.warn("no model was written, as no feature was selected"),
        (None, ..) => {}
    }
    if !sinks.taken {
        let mut text = summary(&task, &result, &report, trained.as_ref(), fitting);
        if let Some(validated) = result.details.get("validated") {
            text.push('\n');
            text += &table::paragraph(&validation_sentence(validated, &task), 0);
        }
        if let Some((certificate, subset)) = certified {
            text.push('\n');
            text += &table::paragraph(&certify::sentence(certificate, subset, names), 0);
        }
        terminal.out(&text)?;
    }
    explain_status(outcome.status, trained.is_some() || of_tasks.is_some(), terminal);
    // A certificate that was cut short leaves the selection as it is; only Ctrl-C is passed on.
    let cancelled = certificate.as_ref().is_some_and(|c| c.status == Status::Cancelled);
    Ok(if cancelled { 3 } else { exit_code(outcome.status) })
}

/// The table for people.
fn summary(
    task: &Task<'_>,
    result: &Selection,
    report: &Report,
    trained: Option<&TrainedModel>,
    fitting: Duration,
) -> String {
    let (outcome, prepared, names) = (&report.selection.outcome, &task.prepared, &task.prepared.data.names);
    let indices = &result.selected_indices;
    let maximised = outcome.sense == Sense::Max;
    let mut lines = vec![("method", result.method.clone()), ("status", outcome.status.name().to_owned())];
    if let Some(objective) = outcome.objective {
        let sense = if maximised { "larger is better" } else { "smaller is better" };
        let penalty = report.price(indices, task.method.penalty());
        let of_it = if penalty > 0.0 { format!(", {} of it penalty", table::brief(penalty)) } else { String::new() };
        lines.push(("objective", format!("{} ({sense}{of_it})", table::number(objective))));
    }
    if let (Some(bound), Some(gap)) = (outcome.bound, outcome.gap()) {
        lines.push((
            "bound",
            format!("{} (gap {})", fewest_report::bound(bound, maximised), fewest_report::at_most(gap)),
        ));
        lines.extend(outcome.objective.map(|objective| {
            let max_features = task.rules.list().max_features.map(|k| k as u64);
            let status = outcome.status.name();
            let condition = report.details.get(fewest::method::PROOF_CONDITION).and_then(Value::as_str);
            (
                "proof",
                Proof { objective, bound: Some(bound), gap: Some(gap), maximised, status, max_features, condition }
                    .sentence(),
            )
        }));
    }
    if outcome.counts.nodes > 0 {
        lines.push(("nodes", outcome.counts.nodes.to_string()));
    }
    let number = |key: &str| report.details.get(key).and_then(Value::as_u64);
    if let (Some(steps), Some(certain)) = (number("elimination_steps"), number("certain_steps")) {
        lines.push(("steps", fewest_report::elimination_steps(steps, certain)));
    }
    let improved = report.details.get("improved").unwrap_or(&Value::Null);
    if let (Some(by), Some(smaller), Some(size)) =
        (improved["by"].as_str(), improved["smaller"].as_u64(), improved["size"].as_u64())
    {
        lines.push(("improved", fewest_report::improved(by, smaller, size)));
    }
    lines.push(("selected", format!("{} of {}", indices.len(), notation::plural(names.len(), "feature"))));
    let size = task.rules.list().max_features.map(|k| format!("at most {k}"));
    lines.push(("rules", task.rules_text(size.as_deref(), indices)));
    let classes = prepared.classes_text();
    lines.push(("samples", result.about.n_samples.to_string()));
    lines.push(("target", format!("{}: {classes}", prepared.target.column)));
    lines.extend(task.problems_text(report).map(|text| ("problems", text)));
    lines.extend(task.groups_text().map(|text| ("groups", text)));
    lines.extend(prepared.missing_text().map(|text| ("missing", text)));
    lines.push(("scaling", prepared.scaling_text()));
    if let Some(trained) = trained.filter(|trained| trained.model.kernel != Kernel::Linear) {
        lines.push(("kernel", kernel_text(&trained.model)));
    }
    lines.extend(task.choice.as_ref().map(|choice| ("cost", auto_cost::text(choice))));
    if let Some(penalty) = report.penalty {
        lines.push(("penalty", format!("{} (auto: from the SVM on all features)", table::number(penalty))));
    }
    if let Some(cost) = report.cost {
        lines.push(("cost", format!("{}, tuned", table::number(cost))));
    }
    if let Some(cost) = task.fit_cost() {
        lines.push(("fit cost", format!("{} (of the classifier on the chosen features)", table::number(cost))));
    }
    if let Some(trained) = trained
        && let [machine] = trained.model.machines.as_slice()
    {
        lines.push(("intercept", table::number(machine.bias)));
    }
    let times = [task.reading, outcome.elapsed, fitting].map(|t| table::seconds(t.as_secs_f64()));
    let [reading, selecting, fitting] = times;
    lines.push(("time", format!("read {reading}, select {selecting}, fit {fitting}")));
    let mut out = table::pairs(&lines);
    if !indices.is_empty() {
        out.push('\n');
        out += &features(&report.selection.ranking, names, trained, indices);
    }
    if result.solutions.len() > 1 {
        out.push('\n');
        out += &solutions("solution", &result.solutions);
    }
    if let Some(near) = result.details.get("within").and_then(|within| near::text(within, maximised)) {
        out.push('\n');
        out += &near;
    }
    out
}

/// The kernel by its name in `--kernel`.
fn kernel_name(options: &MethodOptions) -> String {
    options.text("kernel").unwrap_or_else(|| options.entry().only_kernel().to_owned())
}

/// The classifier of smallest validation error beside the one of best objective.
fn validation_sentence(validated: &Value, task: &Task<'_>) -> String {
    let names: Vec<&str> = validated["selected"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let samples = task.prepared.held_out.as_ref().map_or(0, |held| held.labels.len());
    let percent = |share: &Value| format!("{} %", table::brief(100.0 * share.as_f64().unwrap_or(f64::NAN)));
    let of_best = match &validated["error_of_best_objective"] {
        Value::Null => String::new(),
        error => format!("; the subset of best objective errs on {}", percent(error)),
    };
    format!(
        "validation: of {} judged on {}, {} errs least, on {} (objective {}){of_best}",
        notation::plural(validated["judged"].as_u64().unwrap_or(0) as usize, "subset"),
        notation::plural(samples, "sample"),
        if names.is_empty() { "the empty one".to_owned() } else { names.join(", ") },
        percent(&validated["error"]),
        table::number(validated["objective"].as_f64().unwrap_or(f64::NAN))
    )
}

/// Subsets, best first.
pub(super) fn solutions(heading: &'static str, listed: &[Solution]) -> String {
    let mut out = Table::new(&[heading, "objective", "selected"], 2);
    for (at, solution) in listed.iter().enumerate().take(ROWS) {
        let objective = solution.objective.map_or_else(String::new, table::number);
        out.row(vec![(at + 1).to_string(), objective, solution.selected.join(", ")]);
    }
    out.render(table::style()) + &more_rows(listed.len())
}

/// What to say of rows that are not shown.
pub(super) fn more_rows(count: usize) -> String {
    let more = count.saturating_sub(ROWS);
    if more > 0 { format!("... and {more} more; --json FILE holds them all\n") } else { String::new() }
}

/// The selected features, best first.
fn features(ranking: &[Ranked], names: &Names, trained: Option<&TrainedModel>, indices: &[usize]) -> String {
    let weight = |at: usize| match trained?.model.machines.as_slice() {
        [machine] => machine.weights.get(at).copied(),
        _ => None,
    };
    let mut rows: Vec<_> = indices.iter().enumerate().map(|(at, &j)| (j, weight(at), None)).collect();
    for ranked in ranking {
        if let Ok(at) = indices.binary_search(&ranked.feature) {
            rows[at].2 = Some(ranked);
        }
    }
    rows.sort_by(|a, b| {
        let by_rank = a.2.map_or(usize::MAX, |r| r.rank).cmp(&b.2.map_or(usize::MAX, |r| r.rank));
        let size = |w: Option<f64>| w.map_or(0.0, f64::abs);
        by_rank.then(size(b.1).total_cmp(&size(a.1)))
    });
    let weighted = rows.iter().all(|r| r.1.is_some());
    let ranked = rows.iter().all(|r| r.2.is_some());
    let mut headings = vec!["feature"];
    headings.extend(weighted.then_some("weight"));
    headings.extend(ranked.then_some("rank"));
    headings.extend(ranked.then_some("criterion"));
    let mut out = Table::new(&headings, 0);
    for (j, weight, ranked) in rows.iter().take(ROWS) {
        let mut cells = vec![names.get(*j).into_owned()];
        cells.extend(weight.filter(|_| weighted).map(table::number));
        if let Some(ranked) = ranked {
            cells.extend([ranked.rank.to_string(), table::number(ranked.criterion)]);
        }
        cells.truncate(headings.len());
        out.row(cells);
    }
    out.render(table::style()) + &more_rows(rows.len())
}
