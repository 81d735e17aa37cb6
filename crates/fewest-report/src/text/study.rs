//! A study: one screen.

use super::Door;
use super::evaluation::by_class;
use crate::common::groups;
use crate::guessing::verdict;
use crate::read::Json;
use crate::study::wording::{Panels, change, folds, judged, largest, left_out, one_panel};
use crate::study::{external, points, threshold};
use crate::table::Table;
use crate::words::{Proof, brief, number, plural, seconds};

/// Rows of the table of features.
const ROWS: usize = 12;
/// Names of a list.
const NAMES: usize = 12;

/// The whole text.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let (panel, completed) = (result.at("panel"), is_completed(result));
    let mut lines: Vec<(&str, String)> = Vec::new();
    lines.extend(verdict(result, door.words.rare).map(|text| ("warning", text)));
    lines.push(("samples", samples(result)));
    lines.extend(result.at("positive").text().map(|class| ("positive class", class.to_owned())));
    lines.extend(groups(result).map(|groups| ("groups", groups)));
    if panel.is_there() {
        lines.extend(panel_lines(panel));
    } else if completed {
        lines.push(("panel", "none: no method found a feature of use".to_owned()));
    } else {
        lines.push(("panel", "none: time was over before a subset was found".to_owned()));
    }
    lines.extend(estimate(result));
    lines.extend(threshold(result).map(|text| ("threshold", text)));
    lines.extend(Panels::of(result).map(|panels| {
        if panels.same { ("other panel", one_panel(result).to_owned()) } else { (panels.called, panels.line(NAMES)) }
    }));
    lines.extend(points::rule(result).map(|rule| ("points", points_words(result, &rule))));
    lines.extend(external::line(result).map(|line| ("external", line)));
    lines.push(("tried", tried(result)));
    lines.extend(left_out(result).map(|words| ("not tried", words)));
    let more = largest(result).map(|(words, more)| format!("{words}: {}", (door.words.sizes)(more)));
    lines.extend(more.map(|more| ("sizes", more)));
    lines.extend(super::left(result).map(|left| ("left", left)));
    let effort = |key: &str| result.at("effort").at(key).count().unwrap_or(0);
    let (selections, trainings) = (plural(effort("selections"), "selection"), plural(effort("trainings"), "training"));
    let time = seconds(result.at("seconds").number().unwrap_or(f64::NAN));
    lines.push(("time", format!("{time} for {selections} and {trainings}")));
    let mut out = door.style.pairs(&lines);
    if panel.is_there() {
        out.push('\n');
        out += &features(result, door);
    }
    out += &points_table(result, door);
    if result.at("recall").entries().count() > 2 {
        out.push('\n');
        out += &by_class(result, door);
    }
    if result.at("sizes").items().len() > 1 {
        out.push('\n');
        out += &door.style.paragraph(&sizes(result), 0);
    }
    out
}

fn is_completed(result: Json<'_>) -> bool {
    result.at("status").text() == Some("completed")
}

fn samples(result: Json<'_>) -> String {
    let count = |key: &str| result.at("class_counts").at(key).count().unwrap_or(0);
    let of_class: Vec<String> = result
        .at("classes")
        .entries()
        .map(|(key, name)| format!("{} {}", count(key), name.text().unwrap_or_default()))
        .collect();
    let [n, p] = ["n_samples", "n_features"].map(|key| result.at(key).count().unwrap_or(0));
    format!("{n} ({}), {p} features", of_class.join(", "))
}

fn panel_lines(panel: Json<'_>) -> Vec<(&'static str, String)> {
    let names = panel.at("selected").texts();
    let more = if names.len() > NAMES { format!(", ... ({} more)", names.len() - NAMES) } else { String::new() };
    let listed = names[..names.len().min(NAMES)].join(", ");
    let mut lines =
        vec![("panel", format!("{}: {listed}{more}", plural(names.len() as u64, "feature"))), ("method", how(panel))];
    lines.extend(proof(panel).map(|proof| ("proof", proof)));
    lines
}

/// The method and its costs.
fn how(panel: Json<'_>) -> String {
    let method = panel.at("method").text().unwrap_or_default();
    let at = panel.at("cost").number().map_or_else(String::new, |c| format!(" at C = {}", cost(c)));
    let is_gaussian = panel.at("model").at("kernel").text().map_or(method == "kta", |kernel| kernel == "rbf");
    let kernel = if is_gaussian { "Gaussian" } else { "linear" };
    let fit_cost = cost(panel.at("fit_cost").number().unwrap_or(f64::NAN));
    format!("{method}{at}; {kernel} SVM on the panel at C = {fit_cost}")
}

/// What is proven of the panel.
fn proof(panel: Json<'_>) -> Option<String> {
    let of = judged(panel);
    let (objective, bound, gap) = (of.at("objective").number()?, Some(of.at("bound").number()?), of.at("gap").number());
    let maximised = !panel.at("certificate").is_there() && panel.at("sense").text() == Some("max");
    let (status, max_features) = (of.at("status").text().unwrap_or_default(), panel.at("max_features").count());
    Some(Proof { objective, bound, gap, maximised, status, max_features, condition: None }.sentence())
}

/// Accuracy and the like, from the outer folds alone.
fn estimate(result: Json<'_>) -> Vec<(&'static str, String)> {
    let (folds, all) = self::folds(result);
    let [asked, repeats] = ["folds", "repeats"].map(|key| result.at("settings").at(key).count().unwrap_or(1));
    if folds == 0 {
        return vec![("accuracy", format!("not known: 0 of {all} outer folds done"))];
    }
    let scheme = match repeats {
        _ if folds < all => format!("{} of {all}", plural(folds, "fold")),
        1 => plural(asked, "fold"),
        _ => format!("{asked} folds, {repeats} times"),
    };
    let mut lines = Vec::new();
    let shown = [
        ("accuracy", "accuracy"),
        ("auc", "AUC"),
        ("sensitivity", "sensitivity"),
        ("specificity", "specificity"),
        ("log_loss", "log-loss"),
    ];
    for (name, summary) in result.at("summary").entries() {
        let Some((_, label)) = shown.iter().find(|shown| shown.0 == name) else { continue };
        let interval = summary
            .at("ci95")
            .pair()
            .map_or_else(String::new, |(low, high)| format!(" (95 % interval {low:.3} to {high:.3})"));
        let from = if name == "accuracy" { format!(" on samples that took no part: {scheme}") } else { String::new() };
        lines.push((*label, format!("{:.3}{interval}{from}", summary.at("mean").number().unwrap_or(f64::NAN))));
    }
    let stability = result.at("stability");
    if let Some((index, (low, high))) = stability.at("index").number().zip(stability.at("ci95").pair()) {
        let text = format!("{index:.3} (95 % interval {low:.3} to {high:.3}); 1: the same features in every fold");
        lines.push(("stability", text));
    }
    lines
}

/// Each method at its best.
fn tried(result: Json<'_>) -> String {
    let one = |tried: Json<'_>| {
        let accuracy = tried.at("accuracy").number().map_or_else(String::new, |accuracy| format!(" {accuracy:.3}"));
        let (method, size) = (tried.at("method").text().unwrap_or_default(), tried.at("max_features").count());
        format!("{method}{accuracy} with {}", size.unwrap_or(0))
    };
    let all: Vec<String> = result.at("tried").items().map(one).collect();
    if all.is_empty() {
        let why = if is_completed(result) { "no feature was of use" } else { "time was over" };
        format!("nothing: {why}")
    } else {
        format!("{} (accuracy inside the folds)", all.join(", "))
    }
}

/// The rule of a points score, and what it is worth.
fn points_words(result: Json<'_>, rule: &str) -> String {
    let worth =
        points::worth(result).unwrap_or_else(|| "what they lose is not known: no outer fold was done".to_owned());
    format!("{rule}; {worth}")
}

/// What each feature adds to the total; nothing without points.
fn points_table(result: Json<'_>, door: Door<'_>) -> String {
    if result.at("points").at("features").items().len() == 0 {
        return String::new();
    }
    let mut table = Table::new(&["points of", "the highest level reached"], 1);
    for feature in points::adding(result) {
        let levels = points::levels_line(result, feature);
        table.row(vec![feature.at("feature").text().unwrap_or_default().to_owned(), levels]);
    }
    let idle = points::idle(result).map_or_else(String::new, |text| door.style.paragraph(&text, 0));
    let by_total = points::probability_line(result).map_or_else(String::new, |line| door.style.paragraph(&line, 0));
    format!("\n{}{idle}{by_total}", table.render(door.style))
}

/// The features of the panel: weight, how often each came back, what could replace it.
fn features(result: Json<'_>, door: Door<'_>) -> String {
    let panel = result.at("panel");
    let weights = panel.at("model").at("weights");
    let weight = |name: &str| weights.at(name).number();
    let mut names = panel.at("selected").texts();
    names.sort_by(|a, b| weight(b).map_or(0.0, f64::abs).total_cmp(&weight(a).map_or(0.0, f64::abs)));
    let mut headings = vec!["feature"];
    headings.extend(weights.is_there().then_some("weight"));
    headings.extend(["in folds", "could be replaced by"]);
    let mut out = Table::new(&headings, headings.len() - 1);
    let (now, baseline) = (judged(panel).at("objective").number(), judged(panel).at("baseline").number());
    let gained = now.zip(baseline).filter(|(now, baseline)| baseline - now > 0.0);
    let replacement = |entry: Json<'_>| {
        let loss =
            |(then, (now, baseline)): (f64, (f64, f64))| format!(" ({})", change((then - now) / (baseline - now)));
        let worse = entry.at("objective").number().zip(gained).map_or_else(String::new, loss);
        format!("{}{worse}", entry.at("feature").text().unwrap_or_default())
    };
    for &name in names.iter().take(ROWS) {
        let mut cells = vec![name.to_owned()];
        cells.extend(weights.is_there().then(|| weight(name).map_or_else(String::new, number)));
        let share = result.at("frequency").at(name).number().unwrap_or(0.0);
        let judged = result.at("folds").items().len() > 0;
        cells.push(if judged { format!("{:.0} %", 100.0 * share) } else { String::new() });
        let swap = panel.at("replacements").items().find(|swap| swap.at("feature").text() == Some(name));
        let by = swap.map_or_else(Vec::new, |swap| swap.at("by").items().take(2).map(replacement).collect());
        cells.push(by.join(", "));
        out.row(cells);
    }
    out.render(door.style) + &door.more(names.len().saturating_sub(ROWS))
}

/// A cost with three digits that count; the JSON has all of them.
fn cost(x: f64) -> String {
    let unit = 10f64.powf(x.log10().floor() - 2.0);
    brief((x / unit).round() * unit)
}

/// Accuracy inside the folds by number of features.
fn sizes(result: Json<'_>) -> String {
    let chosen = result.at("panel").at("max_features").count();
    let one = |size: Json<'_>| {
        let k = size.at("max_features").count();
        let mark = if k == chosen { "*" } else { "" };
        format!(" {}{mark}: {:.3}", k.unwrap_or(0), size.at("accuracy").number().unwrap_or(f64::NAN))
    };
    let each: Vec<String> = result.at("sizes").items().map(one).collect();
    format!("accuracy inside the folds by number of features:{} (* chosen)", each.join(","))
}
