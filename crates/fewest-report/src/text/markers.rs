//! Markers of all classes.

use std::fmt::Write as _;

use super::{Door, scaling};
use crate::common::{groups, summed};
use crate::markers::{proof, stand_in, where_highest};
use crate::measures::measured;
use crate::read::Json;
use crate::table::Table;
use crate::view::shorten;
use crate::words::{brief, number, percent, plural, seconds};

/// Markers that are listed; JSON holds them all.
const SHOWN: usize = 60;
/// Pairs of classes that are listed as told apart poorly.
const POOR: usize = 8;

/// The whole text.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let panel = result.at("panel");
    let mut out = door.style.pairs(&lines(result, door)) + "\n";
    if panel.is_there() {
        out += &markers(panel, door);
        out.push('\n');
    }
    if result.at("folds").items().len() > 0 {
        out += &classes(result, door);
    }
    out + &confused(result, door)
}

fn lines(result: Json<'_>, door: Door<'_>) -> Vec<(&'static str, String)> {
    let panel = result.at("panel");
    let classes = result.at("classes").entries().count();
    let mut lines = vec![("classes", format!("{classes} of {}", result.at("target").text().unwrap_or("the target")))];
    lines.extend(summed(result).map(|text| ("samples", text)));
    if let Some(f1) = measured(result.at("macro_f1")) {
        let folds = result.at("folds").items().len() as u64;
        let dealt = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
        lines.push((
            "macro F1",
            format!("{f1} on samples that took no part in the choice, {}{dealt}", plural(folds, "fold")),
        ));
    }
    // The last level is that of the classes.
    let levels = result.at("levels").items();
    let coarse = levels.len().saturating_sub(1);
    lines.extend(levels.take(coarse).filter_map(|level| {
        let (f1, name) = (measured(level.at("macro_f1"))?, level.at("name").text()?);
        Some(("macro F1 of", format!("{}, {}: {f1}", shorten(name, 40), classes_of(level))))
    }));
    if let Some(alone) = measured(result.at("required").at("macro_f1")) {
        let brought = result.at("required").at("difference");
        let between =
            brought.at("ci95").pair().map_or_else(String::new, |(low, high)| format!(" ({low:.3} to {high:.3})"));
        let more = brought.at("mean").number().unwrap_or(f64::NAN);
        lines.push(("required alone", format!("{alone}; the others bring {more:.3}{between}")));
    }
    if let Some(worst) = measured(result.at("without_one").at("worst")) {
        let mean = result.at("without_one").at("mean").at("mean").number().unwrap_or(f64::NAN);
        lines.push(("with one lost", format!("{worst} without the marker whose loss is worst, {mean:.3} on average")));
    }
    if panel.is_there() {
        let of = |key: &str| panel.at(key).number();
        let objective = of("objective").map_or_else(String::new, number);
        let without = of("baseline").map_or_else(String::new, |value| format!(" ({} without features)", number(value)));
        lines.push(("objective", format!("{objective}{without}")));
        lines.push(("proven", proof(result).sentence()));
        let class_cost = of("class_cost").map_or_else(String::new, |cost| format!(", {} for each class", brief(cost)));
        lines.push((
            "model",
            format!(
                "{}, {}, cost {}{class_cost}",
                panel.at("multi_class").text().unwrap_or_default(),
                panel.at("loss").text().unwrap_or_default(),
                of("cost").map_or_else(String::new, brief)
            ),
        ));
    }
    lines.extend(scaling(door));
    lines.extend(super::left(result).map(|parts| ("not done", parts)));
    lines.push(("status", result.at("status").text().unwrap_or_default().to_owned()));
    if let Some(time) = result.at("seconds").number() {
        lines.push(("time", seconds(time)));
    }
    lines
}

/// How many classes a level has.
pub(super) fn classes_of(level: Json<'_>) -> String {
    match level.at("classes").items().len() {
        1 => "1 class".to_owned(),
        count => format!("{count} classes"),
    }
}

fn markers(panel: Json<'_>, door: Door<'_>) -> String {
    let mut table = Table::new(
        &["rank", "feature", "highest in", "mean there", "above 0 there", "tells apart most", "in halves", "or"],
        0,
    );
    let all = panel.at("markers").items();
    let count = all.len();
    for marker in all.take(SHOWN) {
        let highest = marker.at("highest").text().unwrap_or_default();
        let (mean, share) = where_highest(marker);
        let pair = marker.at("tells_apart").items().next();
        let apart = pair.map_or_else(String::new, |pair| {
            format!("{} | {}", pair.at("high").text().unwrap_or_default(), pair.at("low").text().unwrap_or_default())
        });
        table.row(vec![
            marker.at("rank").count().unwrap_or(0).to_string(),
            marker.at("feature").text().unwrap_or_default().to_owned(),
            highest.to_owned(),
            mean.map_or_else(String::new, brief),
            share.map_or_else(String::new, percent),
            apart,
            marker.at("recurs").number().map_or_else(String::new, percent),
            marker.at("replaceable_by").items().next().map_or_else(String::new, stand_in),
        ]);
    }
    table.render(door.style) + &door.more(count.saturating_sub(SHOWN))
}

fn classes(result: Json<'_>, door: Door<'_>) -> String {
    let mut table = Table::new(&["class", "samples", "recall", "precision", "F1"], 0);
    let share = |part: Json<'_>| part.number().map_or_else(String::new, |share| format!("{share:.3}"));
    for class in result.at("by_class").items() {
        table.row(vec![
            class.at("class").text().unwrap_or_default().to_owned(),
            class.at("samples").count().unwrap_or(0).to_string(),
            share(class.at("recall")),
            share(class.at("precision")),
            share(class.at("f1")),
        ]);
    }
    table.render(door.style)
}

fn confused(result: Json<'_>, door: Door<'_>) -> String {
    let pairs = result.at("confused").items();
    if pairs.len() == 0 {
        return String::new();
    }
    let mut out = "\nTold apart poorly:\n".to_owned();
    let count = pairs.len();
    for pair in pairs.take(POOR) {
        let _ = writeln!(
            out,
            "  {} of {} taken for {}",
            percent(pair.at("share").number().unwrap_or(0.0)),
            pair.at("class").text().unwrap_or_default(),
            pair.at("taken_for").text().unwrap_or_default()
        );
    }
    out + &door.more(count.saturating_sub(POOR))
}
