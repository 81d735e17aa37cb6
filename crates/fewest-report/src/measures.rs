//! Measures of samples that took no part: with their intervals, as a figure and as a table.

use crate::chart::{Estimate, estimates};
use crate::common::{classes, total};
use crate::read::Json;
use crate::view::{Budget, Chart, Table, numbers, shorten, words};
use crate::words::plural;

/// Measures of samples that took no part, with their intervals, beside what guessing gives.
pub(crate) fn worth(result: Json<'_>, id: &'static str, budget: &Budget) -> Result<Option<Chart>, String> {
    let classes = classes(result);
    let total = total(classes.iter().map(|of| of.1)).max(1) as f64;
    let most = classes.iter().map(|of| of.1 as f64 / total).fold(0.0, f64::max);
    let alike = 1.0 / classes.len().max(1) as f64;
    let rare = classes.len() == 2 && crate::guessing::rare(result).is_some();
    let mut order = vec!["macro_f1", "accuracy", "balanced_accuracy", "auc", "sensitivity", "specificity"];
    if rare {
        order.sort_by_key(|name| usize::from(*name != "auc"));
    }
    let summary = result.at("summary");
    let row = |name: &str| {
        let of = if name == "macro_f1" { result.at("macro_f1") } else { summary.at(name) };
        let chance = match name {
            "accuracy" if most > 0.0 => Some(most),
            "balanced_accuracy" => Some(alike),
            "auc" => Some(0.5),
            _ => None,
        };
        let label = if name == "macro_f1" { "macro F1".to_owned() } else { measure_words(name) };
        Some(Estimate { label, value: of.at("mean").number()?, interval: interval(of, 1.0), chance })
    };
    let rows: Vec<Estimate> = order.into_iter().filter_map(row).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let chance = if rows.iter().any(|row| row.chance.is_some()) { "; grey: guessing" } else { "" };
    let folds = result.at("folds").items().len() as u64;
    let of = if folds > 0 { format!(", {}", plural(folds, "fold")) } else { String::new() };
    Ok(Some(Chart {
        id,
        title: "Performance on samples held out".to_owned(),
        summary: format!("Mean and 95 % interval{of}{chance}."),
        svg: estimates(&rows)?,
        table: measures_table(result, budget),
    }))
}

/// All measures with their intervals.
pub(crate) fn measures_table(result: Json<'_>, budget: &Budget) -> Table {
    let macro_f1 = result.at("macro_f1");
    let own = macro_f1.is_there().then_some(("macro_f1", macro_f1));
    let rows = own.into_iter().chain(result.at("summary").entries()).filter_map(|(name, measure)| {
        let mean = measure.at("mean").number()?;
        let interval = interval(measure, if matches!(name, "n_features" | "log_loss") { f64::INFINITY } else { 1.0 });
        Some(vec![
            measure_words(name).into(),
            format!("{mean:.4}").into(),
            measure.at("se").number().map_or_else(String::new, |se| format!("{se:.4}")).into(),
            interval.map_or_else(String::new, |i| format!("{:.4}", i.0)).into(),
            interval.map_or_else(String::new, |i| format!("{:.4}", i.1)).into(),
        ])
    });
    let columns =
        vec![words("measure"), numbers("mean"), numbers("std error"), numbers("95 % from"), numbers("95 % to")];
    budget.table("All measures", columns, rows)
}

/// The 95 % interval of a measure, cut where the measure ends: the formula for it does not know.
pub(crate) fn interval(measure: Json<'_>, largest: f64) -> Option<(f64, f64)> {
    measure.at("ci95").pair().map(|(low, high)| (low, high.min(largest)))
}

/// Words of a measure's name.
pub(crate) fn measure_words(name: &str) -> String {
    match name {
        "f1" => "F1".to_owned(),
        "macro_f1" => "macro F1".to_owned(),
        "mcc" => "MCC".to_owned(),
        "log_loss" => "log-loss".to_owned(),
        "brier" => "Brier score".to_owned(),
        "auc" => "AUC".to_owned(),
        "set_f1" => "SetF1".to_owned(),
        "n_features" => "number of features".to_owned(),
        other => shorten(&other.replace('_', " "), 40),
    }
}
/// `0.974 (0.962 to 0.986)`
pub(crate) fn measured(measure: Json<'_>) -> Option<String> {
    let between = measure.at("ci95").pair().map_or_else(String::new, |(low, high)| format!(" ({low:.3} to {high:.3})"));
    Some(format!("{:.3}{between}", measure.at("mean").number()?))
}
