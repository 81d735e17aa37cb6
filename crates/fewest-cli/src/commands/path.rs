//! `fewest path`: a subset for each of several sizes, as a table and as JSON.

use std::time::Instant;

use fewest::method::certificate::Certificate;
use fewest::method::path::PathPoint;
use fewest::{Status, Subset};
use fewest_data::Names;
use serde_json::json;

use super::selection::{Plan, Sinks, Task};
use super::{certify, report};
use crate::args::high;
use crate::args::low::PathArgs;
use crate::args::notation;
use crate::export::chart;
use crate::export::json::SelectionResult;
use crate::export::model_json::SCHEMA;
use crate::export::table::{self, Table};
use crate::failure::Failure;
use crate::progress::Watch;
use crate::terminal::Terminal;

/// Runs the command.
///
/// # Errors
/// Bad input, found before the run where that is possible.
pub(crate) fn run(args: &PathArgs, terminal: Terminal) -> Result<u8, Failure> {
    let sizes = high::sizes(&args.selection.rules)?;
    let plan = Plan::new(&args.selection, sizes.last().copied())?;
    let sinks = Sinks::open(&args.selection, None)?;
    let task = plan.load(terminal)?;
    let names = &task.prepared.data.names;

    let selecting = Instant::now();
    let mut watch = Watch::new(names, terminal, sinks.trace.as_ref());
    let points = task.method.path(&task.prepared, &task.rules, &sizes, &task.method_limits(), &mut watch)?;
    let certificates = certificates(&task, &points, &mut watch)?;
    let histories = watch.finish()?;
    let selecting = selecting.elapsed();

    if sinks.json.is_some() || sinks.report.is_some() {
        let mut stop = task.stopper();
        let mut results = Vec::new();
        let largest = points.iter().rposition(|p| p.selection.outcome.subset.as_ref().is_some_and(|s| !s.is_empty()));
        for (at, (PathPoint { max_features, selection }, certificate)) in points.iter().zip(&certificates).enumerate() {
            let mut more = task.story(&histories, Some(*max_features));
            more.remove("command");
            if task.describes() && Some(at) == largest {
                more.insert("description".to_owned(), task.description(selection, None)?);
            }
            let trained = task.train(selection, None, &mut stop)?;
            let subset = selection.outcome.subset.as_ref();
            let result = SelectionResult {
                method: task.method_name(),
                selection,
                names,
                target: &task.prepared.target,
                n_samples: task.prepared.data.features.n_samples(),
                settings: task.settings(Some(*max_features)),
                model: trained.as_ref(),
                certificate: certificate.as_ref().zip(subset).map(|(c, s)| certify::value(c, s.len(), names)),
                validated: None,
                more,
            };
            results.push(result.value());
        }
        let version = env!("CARGO_PKG_VERSION");
        let value = json!({"schema": SCHEMA, "path": results, "command": report::command_line(), "version": version});
        report::write(&value, sinks.json.as_ref(), sinks.report.as_ref(), terminal)?;
    }
    if !sinks.taken {
        let sizes_text = format!("sizes {}", args.selection.rules.max_features.as_deref().unwrap_or_default());
        let times = [task.reading, selecting].map(|t| table::seconds(t.as_secs_f64()));
        let lines = [
            ("method", task.method_name().to_owned()),
            ("rules", task.rules_text(Some(&sizes_text), &[])),
            ("samples", task.prepared.data.features.n_samples().to_string()),
            ("target", format!("{}: {}", task.prepared.target.column, task.prepared.classes_text())),
            ("scaling", task.prepared.scale_name().to_owned()),
            ("time", format!("read {}, path {}", times[0], times[1])),
        ];
        let mut text = format!("{}\n{}", table::pairs(&lines), table(&points, &certificates, names));
        text += &proven(&points);
        let values = |p: &PathPoint| Some((p.max_features, p.selection.outcome.objective?));
        let chart =
            chart::bars("objective by number of features", &points.iter().filter_map(values).collect::<Vec<_>>());
        if !chart.is_empty() {
            text = format!("{text}\n{chart}");
        }
        terminal.out(&text)?;
    }
    let statuses: Vec<Status> = points.iter().map(|p| p.selection.outcome.status).collect();
    let cancelled = certificates.iter().flatten().any(|c| c.status == Status::Cancelled);
    let stopped = statuses.iter().filter(|s| s.is_limit()).count();
    let missing = sizes.len() - points.len();
    if missing > 0 || statuses.contains(&Status::Cancelled) {
        let (stopped, sizes) = (notation::plural(missing, "size"), sizes.len());
        terminal.note(&format!("cancelled; {stopped} of {sizes} not begun, the others are the best so far"));
    } else if stopped > 0 {
        let count = notation::plural(stopped, "size");
        terminal.note(&format!("{count} stopped at a limit, see the status; these are the best subsets so far"));
    }
    Ok(if stopped + missing > 0 || cancelled { 3 } else { 0 })
}

/// The gaps in one line, where every size has one.
fn proven(points: &[PathPoint]) -> String {
    let gaps: Option<Vec<f64>> = points.iter().map(|p| p.selection.outcome.gap()).collect();
    let Some(gaps) = gaps.filter(|gaps| !gaps.is_empty()) else { return String::new() };
    let worst = gaps.into_iter().fold(0.0, f64::max);
    let text =
        format!("proof: at every size no allowed subset can be better by more than {}", fewest_report::at_most(worst));
    format!("\n{}", table::paragraph(&text, 0))
}

/// The certificate of each size, if asked for: the time left is shared out among them, and each starts from what the one
/// before found.
fn certificates(
    task: &Task<'_>,
    points: &[PathPoint],
    watch: &mut Watch<'_>,
) -> Result<Vec<Option<Certificate>>, Failure> {
    let mut all: Vec<Option<Certificate>> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let share = task.left().map(|left| left / (points.len() - at) as u32);
        let start: Vec<Subset> = all.iter().rev().flatten().take(1).map(|c| c.best.subset.clone()).collect();
        all.push(task.certificate(point.selection.outcome.subset.as_ref(), &start, share, watch)?);
    }
    Ok(all)
}

/// A row for each size.
fn table(points: &[PathPoint], certificates: &[Option<Certificate>], names: &Names) -> String {
    let certified = certificates.iter().any(Option::is_some);
    let proven = certified || points.iter().any(|p| p.selection.outcome.bound.is_some());
    let mut headings = vec!["size", "status", "objective"];
    headings.extend(certified.then_some("best"));
    headings.extend(if proven { &["bound", "gap"][..] } else { &[] });
    headings.extend(["seconds", "selected"]);
    let mut out = Table::new(&headings, headings.len() - 1);
    let mut before: Option<&Subset> = None;
    for (PathPoint { max_features, selection }, certificate) in points.iter().zip(certificates) {
        let outcome = &selection.outcome;
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
            cells.extend([number(bound), gap.map_or_else(String::new, |gap| format!("{gap:.2e}"))]);
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
