//! A study for people: one screen.

use std::fmt::Write as _;

use fewest::Status;
use fewest_eval::study::{Choice, InnerSize, Panel};
use fewest_report::{Proof, percent};

use super::value::{View, is_gaussian};
use crate::args::notation;
use crate::export::table::{self, Table, brief, number, pairs, seconds};

/// Rows of the table of features.
const ROWS: usize = 12;
/// Names of a list.
const NAMES: usize = 12;

/// The summary.
pub(super) fn summary(view: &View<'_>) -> String {
    let found = view.found;
    let mut lines = vec![("samples", samples(view))];
    match &found.panel {
        Some(panel) => lines.extend(panel_lines(view, panel)),
        None if found.status == Status::Completed => {
            lines.push(("panel", "none: no method found a feature of use".to_owned()));
        }
        None => lines.push(("panel", "none: time was over before a subset was found".to_owned())),
    }
    lines.extend(estimate(view));
    lines.push(("tried", tried(view)));
    if let Some(left) = left(view) {
        lines.push(("left", left));
    }
    let effort = &found.effort;
    lines.push((
        "time",
        format!(
            "{} for {} and {}",
            seconds(view.invocation.elapsed().as_secs_f64()),
            notation::plural(effort.selections as usize, "selection"),
            notation::plural(effort.trainings as usize, "training")
        ),
    ));
    let mut out = pairs(&lines);
    if let Some(panel) = &found.panel {
        out.push('\n');
        out += &features(view, panel);
    }
    if found.inner.len() > 1 {
        out.push('\n');
        out += &sizes(view, &found.inner);
    }
    out
}

fn samples(view: &View<'_>) -> String {
    let target = &view.raw.target;
    let of_class: Vec<String> =
        target.classes.iter().zip(target.counts()).map(|(name, count)| format!("{count} {name}")).collect();
    format!("{} ({}), {} features", target.codes.len(), of_class.join(", "), view.raw.data.names.len())
}

fn panel_lines(view: &View<'_>, panel: &Panel) -> Vec<(&'static str, String)> {
    let count = panel.selected.len();
    let named: Vec<String> = panel.selected.iter().take(NAMES).map(|&j| view.name(j)).collect();
    let more = if count > NAMES { format!(", ... ({} more)", count - NAMES) } else { String::new() };
    let mut lines = vec![
        ("panel", format!("{}: {}{more}", notation::plural(count, "feature"), named.join(", "))),
        ("method", how(&panel.choice, is_gaussian(panel.report.kernel))),
    ];
    lines.extend(proof(panel).map(|proof| ("proof", proof)));
    lines
}

/// The method and its costs.
fn how(choice: &Choice, gaussian: bool) -> String {
    let at = choice.cost.map_or_else(String::new, |c| format!(" at C = {}", cost(c)));
    let kernel = if gaussian { "Gaussian" } else { "linear" };
    format!("{}{at}; {kernel} SVM on the panel at C = {}", choice.method.name(), cost(choice.fit_cost))
}

/// What is proven of the panel.
fn proof(panel: &Panel) -> Option<String> {
    let outcome = panel.outcome();
    let (objective, bound, gap, status) = match &panel.certificate {
        Some(certificate) => (certificate.objective, certificate.bound, certificate.gap(), certificate.status),
        None => (outcome.objective?, outcome.bound, outcome.gap(), outcome.status),
    };
    let maximised = panel.certificate.is_none() && outcome.sense == fewest::Sense::Max;
    let max_features = Some(panel.choice.max_features as u64);
    bound?;
    Some(Proof { objective, bound, gap, maximised, status: status.name(), max_features, condition: None }.sentence())
}

/// Accuracy and the like, from the outer folds alone.
fn estimate(view: &View<'_>) -> Vec<(&'static str, String)> {
    let found = view.found;
    let mut lines = Vec::new();
    let scheme = match (found.folds.len(), view.settings.repeats) {
        (0, _) => {
            return vec![("accuracy", "not known: no outer fold was done in time".to_owned())];
        }
        (folds, _) if found.effort.folds_left > 0 => {
            format!("{} of {}", notation::plural(folds, "fold"), folds + found.effort.folds_left as usize)
        }
        (_, 1) => notation::plural(view.settings.folds, "fold"),
        (_, repeats) => format!("{} folds, {repeats} times", view.settings.folds),
    };
    let shown = [("accuracy", "accuracy"), ("auc", "AUC"), ("log_loss", "log-loss")];
    for (name, summary) in found.summary() {
        let Some((_, label)) = shown.iter().find(|shown| shown.0 == name) else { continue };
        let interval =
            summary.ci95.map_or_else(String::new, |[low, high]| format!(" (95 % interval {low:.3} to {high:.3})"));
        let from = if name == "accuracy" { format!(" on samples that took no part: {scheme}") } else { String::new() };
        lines.push((*label, format!("{:.3}{interval}{from}", summary.mean)));
    }
    if let Some(stability) = found.stability() {
        let [low, high] = stability.ci95;
        let text =
            format!("{:.3} (95 % interval {low:.3} to {high:.3}); 1: the same features in every fold", stability.index);
        lines.push(("stability", text));
    }
    lines
}

/// Each method at its best.
fn tried(view: &View<'_>) -> String {
    let one = |tried: &fewest_eval::study::Tried| {
        let accuracy = tried.accuracy.map_or_else(String::new, |accuracy| format!(" {accuracy:.3}"));
        format!("{}{accuracy} with {}", tried.choice.method.name(), tried.choice.max_features)
    };
    let all: Vec<String> = view.found.tried.iter().map(one).collect();
    if all.is_empty() {
        let why = if view.found.status == Status::Completed { "no feature was of use" } else { "time was over" };
        format!("nothing: {why}")
    } else {
        format!("{} (accuracy inside the folds)", all.join(", "))
    }
}

/// What time did not allow.
fn left(view: &View<'_>) -> Option<String> {
    let effort = &view.found.effort;
    let counts = [
        (effort.folds_left, "outer fold"),
        (effort.splits_left, "inner split"),
        (effort.selections_left, "grid point"),
    ];
    let some = counts.into_iter().filter(|count| count.0 > 0);
    let parts: Vec<String> = some.map(|(count, what)| notation::plural(count as usize, what)).collect();
    (!parts.is_empty()).then(|| format!("for want of time: {}", parts.join(", ")))
}

/// The features of the panel: weight, how often each came back, what could replace it.
fn features(view: &View<'_>, panel: &Panel) -> String {
    let frequency = view.found.frequency();
    let share = |j: usize| frequency.iter().find(|entry| entry.0 == j).map_or(0.0, |entry| entry.1);
    let weights = panel.model.as_ref().and_then(|model| match model.machines.as_slice() {
        [machine] if machine.weights.len() == panel.selected.len() => Some(machine.weights.clone()),
        _ => None,
    });
    let mut rows: Vec<(usize, Option<f64>)> =
        panel.selected.iter().enumerate().map(|(at, &j)| (j, weights.as_ref().map(|w| w[at]))).collect();
    rows.sort_by(|a, b| b.1.map_or(0.0, f64::abs).total_cmp(&a.1.map_or(0.0, f64::abs)).then(a.0.cmp(&b.0)));
    let mut headings = vec!["feature"];
    headings.extend(weights.is_some().then_some("weight"));
    headings.extend(["in folds", "could be replaced by"]);
    let mut out = Table::new(&headings, headings.len() - 1);
    // Exchanges are judged by the objective of a linear SVM: that of the certificate where there is
    // one.
    let of_panel = || panel.outcome().objective.zip(panel.outcome().yardstick);
    let judged = panel.certificate.as_ref().map(|c| (c.objective, c.yardstick)).or_else(of_panel);
    for &(j, weight) in rows.iter().take(ROWS) {
        let mut cells = vec![view.name(j)];
        cells.extend(weight.map(number));
        let folds = if view.found.folds.is_empty() { String::new() } else { format!("{:.0} %", 100.0 * share(j)) };
        cells.push(folds);
        let by = panel.swaps.iter().find(|swap| swap.feature == j).map_or_else(String::new, |swap| {
            let one = |&(j, value): &(usize, f64)| {
                let worse = judged.and_then(|(now, yardstick)| yardstick.loss(now, value)).map(change);
                let worse = worse.map_or_else(String::new, |worse| format!(" ({worse})"));
                format!("{}{worse}", view.name(j))
            };
            swap.by.iter().take(2).map(one).collect::<Vec<_>>().join(", ")
        });
        cells.push(by);
        out.row(cells);
    }
    let more = rows.len().saturating_sub(ROWS);
    let more = if more > 0 { format!("... and {more} more; --json FILE holds them all\n") } else { String::new() };
    out.render() + &more
}

/// A share with its sign: an exchange may be better than a panel that is not proven best.
fn change(share: f64) -> String {
    if share < 0.0 { percent(share) } else { format!("+{}", percent(share)) }
}

/// A cost with three digits that count; the JSON has all of them.
fn cost(x: f64) -> String {
    let unit = 10f64.powf(x.log10().floor() - 2.0);
    brief((x / unit).round() * unit)
}

/// Accuracy inside the folds by number of features, in a line or two.
fn sizes(view: &View<'_>, inner: &[InnerSize]) -> String {
    let chosen = view.found.panel.as_ref().map(|panel| panel.choice.max_features);
    let mut text = String::from("accuracy inside the folds by number of features:");
    for size in inner {
        let mark = if chosen == Some(size.max_features) { "*" } else { "" };
        let _ = write!(text, " {}{mark}: {:.3},", size.max_features, size.accuracy);
    }
    table::paragraph(&format!("{} (* chosen)", text.trim_end_matches(',')), 0)
}
