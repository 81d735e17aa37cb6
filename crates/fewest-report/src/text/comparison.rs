//! Lists of features side by side.

use std::fmt::Write as _;

use super::{Door, scaling};
use crate::common::{groups, summed};
use crate::comparison::{COLUMNS, difference, finding, row};
use crate::read::Json;
use crate::table::Table;
use crate::view::shorten;
use crate::words::{brief, plural, seconds};

/// Numbers of lists, as many as are compared at most.
const NUMBERS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
/// Features in common that are named.
const NAMED: usize = 12;

/// The whole text.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let mut out = door.style.pairs(&lines(result, door)) + "\n";
    let mut table = Table::new(&COLUMNS.map(|of| of.0), 0);
    for (number, list) in NUMBERS.into_iter().zip(result.at("lists").items()) {
        let [name, rest @ ..] = row(list);
        table.row([format!("{number} {name}")].into_iter().chain(rest).collect());
    }
    out += &table.render(door.style);
    out += "\n";
    out += &levels(result, door);
    out += &classes(result, door);
    out += "\nIn common:\n";
    for pair in result.at("common").items() {
        let text = |key: &str| pair.at(key).text().unwrap_or_default();
        let names = pair.at("features").texts();
        let named = match names.len() {
            0 => "none".to_owned(),
            count if count > NAMED => format!("{}, and {} more", names[..NAMED].join(", "), count - NAMED),
            _ => names.join(", "),
        };
        let count = plural(names.len() as u64, "feature");
        let _ = writeln!(out, "  {} and {}: {count}: {named}", text("first"), text("second"));
    }
    if let Some(finding) = finding(result) {
        let _ = writeln!(out, "\n{finding}");
    }
    out
}

fn lines(result: Json<'_>, door: Door<'_>) -> Vec<(&'static str, String)> {
    let classes = result.at("classes").entries().count();
    let folds = plural(result.at("folds").items().len() as u64, "fold");
    let dealt = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
    let model = result.at("model");
    let text = |key: &str| model.at(key).text().unwrap_or_default();
    let cost = model.at("cost").number().map_or_else(String::new, brief);
    let mut lines = vec![
        ("classes", format!("{classes} of {}", result.at("target").text().unwrap_or("the target"))),
        ("judged", format!("on samples held out, {folds}{dealt}")),
        ("model", format!("{}, {}, cost {cost} for every list", text("multi_class"), text("loss"))),
    ];
    lines.extend(summed(result).map(|text| ("samples", text)));
    let rare = result.at("rare").texts();
    lines.extend((!rare.is_empty()).then(|| ("rare", rare.join(", "))));
    lines.extend(scaling(door));
    lines.push(("status", result.at("status").text().unwrap_or_default().to_owned()));
    lines.extend(result.at("seconds").number().map(|time| ("time", seconds(time))));
    lines
}

/// Macro F1 of each level by each list; nothing without levels.
fn levels(result: Json<'_>, door: Door<'_>) -> String {
    let lists: Vec<Vec<Json<'_>>> =
        result.at("lists").items().map(|list| list.at("levels").items().collect()).collect();
    let heads: Vec<&'static str> =
        ["macro F1 of level", "classes"].into_iter().chain(NUMBERS).take(2 + lists.len()).collect();
    let mut table = Table::new(&heads, 0);
    let first = lists.first().map(Vec::as_slice).unwrap_or_default();
    if first.is_empty() {
        return String::new();
    }
    for (at, level) in first.iter().enumerate() {
        let name = shorten(level.at("name").text().unwrap_or_default(), 40);
        let mut row = vec![name, level.at("classes").items().len().to_string()];
        let f1 = |of: &Vec<Json<'_>>| of.get(at).and_then(|level| level.at("macro_f1").at("mean").number());
        row.extend(lists.iter().map(|of| f1(of).map_or_else(String::new, |f1| format!("{f1:.3}"))));
        table.row(row);
    }
    table.render(door.style) + "\n"
}

/// F1 of each class by each list; of the others with what it is above the first.
fn classes(result: Json<'_>, door: Door<'_>) -> String {
    let lists: Vec<Json<'_>> = result.at("lists").items().collect();
    let heads: Vec<&'static str> =
        ["F1 of class", "samples"].into_iter().chain(NUMBERS).take(2 + lists.len()).collect();
    let mut table = Table::new(&heads, 0);
    let of: Vec<Vec<Json<'_>>> = lists.iter().map(|list| list.at("by_class").items().collect()).collect();
    for (at, class) in of.first().into_iter().flatten().enumerate() {
        let mut row = vec![
            class.at("class").text().unwrap_or_default().to_owned(),
            class.at("samples").count().unwrap_or(0).to_string(),
        ];
        row.extend(of.iter().map(|of| {
            let f1 = of[at].at("f1").number().map_or_else(String::new, |f1| format!("{f1:.3}"));
            difference(of[at].at("difference")).map_or_else(|| f1.clone(), |less| format!("{f1}, {less}"))
        }));
        table.row(row);
    }
    table.render(door.style)
}
