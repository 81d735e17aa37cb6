//! What `path` tells: a result for each size, a table, and the exit code.

use fewest::method::PROOF_CONDITION;
use fewest::method::certificate::Certificate;
use fewest::method::path::SizeReport;
use fewest::validation::Summary;
use fewest::{Outcome, Sense, Status, Subset};
use fewest_data::Names;
use fewest_result::{Kind, TrainedModel};

use super::folds::SizeJudgement;
use crate::args::notation;
use crate::commands::selection::Task;
use crate::export::chart;
use crate::export::json::Document;
use crate::export::result::selection_document;
use crate::export::table::{self, Table};
use crate::failure::Failure;
use crate::progress::History;
use crate::terminal::Terminal;

/// What was found for a size.
pub(super) fn outcome(point: &SizeReport) -> &Outcome {
    &point.report.selection.outcome
}

/// What a path found: for each size its report, its certificate if asked for, and with `--cv` how
/// well it does on samples that took no part.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) points: &'a [SizeReport],
    pub(super) certificates: &'a [Option<Certificate>],
    pub(super) scores: Option<&'a SizeJudgement>,
}

impl<'a> Found<'a> {
    /// The result of each size.
    pub(super) fn results(
        &self,
        task: &'a Task<'_>,
        trained: &[Option<TrainedModel>],
        histories: &[History],
        proofs: &[String],
    ) -> Result<Vec<Document<'a>>, Failure> {
        let Self { points, certificates, scores } = *self;
        let names = &task.prepared.data.names;
        let largest = points.iter().rposition(|p| outcome(p).subset.as_ref().is_some_and(|s| !s.is_empty()));
        let mut results = Vec::new();
        for (at, (SizeReport { max_features, report }, certificate)) in points.iter().zip(certificates).enumerate() {
            let of_size = (histories, Some(*max_features));
            let mut result = task.result(task.method_name(), report, of_size, trained[at].as_ref());
            result.proof = task.proof_of(*max_features).filter(|proof| proofs.contains(proof));
            if task.describes() && Some(at) == largest {
                result.description = task.description(report)?;
            }
            result.cv = scores.map(|scores| scores.scores.summaries(at).into_iter().collect());
            let subset = report.selection.outcome.subset.as_ref();
            let certified = certificate.as_ref().zip(subset);
            result.certificate = certified.map(|(c, s)| fewest_result::Certificate::new(c, s.len(), names));
            results.push(selection_document(Kind::Selection, &result, &report.selection.ranking, names));
        }
        Ok(results)
    }

    /// Table, proof and chart.
    pub(super) fn story(&self, names: &Names) -> String {
        let Self { points, scores, .. } = *self;
        let text = self.table(names) + &proven(points) + &scores.map_or_else(String::new, SizeJudgement::sentence);
        let values = |p: &SizeReport| Some((p.max_features, outcome(p).objective?));
        let chart =
            chart::bars("objective by number of features", &points.iter().filter_map(values).collect::<Vec<_>>());
        if chart.is_empty() { text } else { format!("{text}\n{chart}") }
    }

    /// The exit code; says what was not done.
    pub(super) fn ending(&self, sizes: usize, terminal: Terminal) -> u8 {
        let Self { points, certificates, scores } = *self;
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
        if let Some(folds) = scores.map(|scores| scores.scores.missing).filter(|&folds| folds > 0) {
            terminal.note(&format!("{} of --cv not done in time", notation::plural(folds, "fold")));
        }
        let unjudged = scores.is_some_and(|scores| scores.scores.stopped());
        if stopped + missing > 0 || cancelled || unjudged { 3 } else { 0 }
    }

    /// A row for each size.
    fn table(&self, names: &Names) -> String {
        let Self { points, certificates, scores } = *self;
        let certified = certificates.iter().any(Option::is_some);
        let proven = certified || points.iter().any(|p| outcome(p).bound.is_some());
        let mut headings = vec!["size", "status", "objective"];
        headings.extend(certified.then_some("best"));
        headings.extend(if proven { &["bound", "gap"][..] } else { &[] });
        headings.push("seconds");
        let reaching = scores.is_some_and(|scores| scores.deal.reach.is_some());
        headings.extend(scores.map(|_| "accuracy"));
        headings.extend(if reaching { &["sensitivity", "specificity"][..] } else { &[] });
        headings.push("selected");
        let one_se = scores.and_then(|scores| scores.scores.chosen()).map(|chosen| chosen.1);
        let mut out = Table::new(&headings, headings.len() - 1);
        let mut before: Option<&Subset> = None;
        for (at, (point, certificate)) in points.iter().zip(certificates).enumerate() {
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
            cells.extend(scores.map(|scores| {
                let accuracy = share(scores, at, "accuracy");
                if one_se == Some(max_features) { accuracy + " *" } else { accuracy }
            }));
            for measure in scores.filter(|_| reaching).map(|_| ["sensitivity", "specificity"]).into_iter().flatten() {
                cells.extend(scores.map(|scores| share(scores, at, measure)));
            }
            cells.push(outcome.subset.as_ref().map_or_else(String::new, |subset| change(before, subset, names)));
            before = outcome.subset.as_ref().or(before);
            out.row(cells);
        }
        out.render(table::style())
    }
}

/// Mean and standard error of a measure of the size in this place; empty where no fold is done.
fn share(scores: &SizeJudgement, at: usize, measure: &str) -> String {
    let Some(Summary { mean, se, .. }) = scores.scores.measure(at, measure) else { return String::new() };
    let error = se.map_or_else(String::new, |se| format!(" +- {se:.3}"));
    format!("{mean:.3}{error}")
}

/// The gaps in one line, where every size has one.
fn proven(points: &[SizeReport]) -> String {
    let gaps: Option<Vec<f64>> = points.iter().map(|p| outcome(p).gap()).collect();
    let Some(gaps) = gaps.filter(|gaps| !gaps.is_empty()) else { return String::new() };
    let worst = gaps.into_iter().fold(0.0, f64::max);
    let condition = points.iter().find_map(|p| p.report.details.get(PROOF_CONDITION)?.as_str());
    let condition = condition.map_or_else(String::new, |condition| format!(", as long as {condition}"));
    let worst = fewest_report::at_most(worst);
    let text =
        format!("proof: at every size at most {worst} of what that many features can gain is left out{condition}");
    format!("\n{}", table::paragraph(&text, 0))
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
