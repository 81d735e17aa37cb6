//! Parts that the pages of all commands share.

use serde_json::Value;

use crate::chart::{Bar, LABEL, Role, bars, reached};
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Chart, Section, Table, numbers, shorten, words};
use crate::words::{Proof, at_least, at_most, brief, number, percent, plural};

/// Bars of a chart; more are in its table.
pub(crate) const BARS: usize = 30;

/// Classes whose numbers of samples stand in one line.
const FEW: usize = 4;

/// Columns that a list of names may take.
const LIST: usize = 160;

/// A sentence that begins with a capital and ends with a full stop.
pub(crate) fn sentence_case(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", chars.as_str())
}

/// The parts of a study, or of markers, that time did not allow.
pub(crate) fn not_done(result: Json<'_>) -> Vec<String> {
    let fold = if result.at("kind").text() == Some("study") { "outer fold" } else { "fold" };
    let nouns = [("folds_left", fold), ("splits_left", "inner split"), ("selections_left", "grid point")];
    let count = |key: &str| result.at("effort").at(key).count().unwrap_or(0);
    let parts = nouns.into_iter().map(|(key, noun)| (count(key), noun)).filter(|part| part.0 > 0);
    parts.map(|(count, noun)| plural(count, noun)).collect()
}

/// A number, or nothing.
pub(crate) fn number_cell(x: Option<f64>) -> Cell {
    x.map_or_else(String::new, number).into()
}

/// Names with commas between.
pub(crate) fn list(budget: &Budget, names: &[&str]) -> Cell {
    let short: Vec<String> = names.iter().take(12).map(|n| shorten(n, 40)).collect();
    let more = names.len().saturating_sub(short.len());
    let short = short.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() };
    let cell = budget.foreign(&short, LIST);
    Cell { title: cell.title.or_else(|| (more > 0).then(|| shorten(&names.join(", "), 600))), ..cell }
}

/// What a status means.
pub(crate) fn status_words(status: &str) -> &'static str {
    match status {
        "optimal" => "proven best, within the gap asked for",
        "completed" => "done; the method proves nothing",
        "time_limit" => "stopped at the time limit with the best so far",
        "call_limit" | "node_limit" => "stopped at a limit with the best so far",
        "memory_limit" => "stopped at the memory limit with the best so far",
        "cancelled" => "cancelled; the best so far",
        "infeasible" => "no subset satisfies the rules, proven",
        "stalled" => "stopped: rounding, or a training that could not be ended, kept it from going on",
        _ => "",
    }
}

/// A bar chart of named values with its table, at most [`BARS`] of them in the picture.
pub(crate) fn bar_chart(
    id: &'static str,
    title: &str,
    summary: String,
    rows: &[(Bar, Vec<Cell>)],
    table: Table,
) -> Result<Block, String> {
    let shown: Vec<Bar> = rows.iter().take(BARS).map(|(bar, _)| bar.clone()).collect();
    let summary = match rows.len() - shown.len() {
        0 => summary,
        more => format!("{summary} The first {} are drawn, {more} more are in the table.", shown.len()),
    };
    Ok(Block::Chart(Chart { id, title: title.to_owned(), summary, svg: bars(&shown)?, table }))
}

/// A short label for a chart.
pub(crate) fn label(name: &str) -> String {
    shorten(name, LABEL)
}

/// The warnings of a result, without what is a note alone.
pub(crate) fn warnings(result: Json<'_>) -> Vec<String> {
    let notes = result.at("notes").texts();
    let loud = result.at("warnings").texts().into_iter().filter(move |text| !notes.contains(text));
    loud.take(20).map(|text| shorten(text, 400)).collect()
}

/// What is wrong or weak: the warnings of a result, and a class that is rare.
pub(crate) fn cautions(result: Json<'_>) -> Vec<String> {
    let counts = classes(result);
    let (all, least) = (total(counts.iter().map(|c| c.1)), counts.iter().map(|c| c.1).min().unwrap_or(0));
    let most = counts.iter().map(|c| c.1).max().unwrap_or(0);
    let weighed = result.at("settings").at("class_weight").text().is_some_and(|weights| weights != "none");
    let rare = counts.len() > 1 && least.saturating_mul(5) < most && !weighed;
    let rare = rare.then(|| {
        format!(
            "The smallest class has {least} of {all} samples: accuracy alone says little here; --class-weight balanced weighs the classes alike."
        )
    });
    warnings(result).into_iter().chain(rare).collect()
}

/// How many samples of which classes, and how many features.
pub(crate) fn contents(result: Json<'_>) -> String {
    let classes = classes(result);
    let counts: Vec<String> = classes.iter().map(|(name, count)| format!("{}: {count}", shorten(name, 30))).collect();
    let of = match counts.len() {
        0 => String::new(),
        1..=FEW => format!(" ({})", counts.join(", ")),
        many => format!(" of {many} classes"),
    };
    let samples = result.at("n_samples").count().map(|n| format!("{}{of}", plural(n, "sample")));
    let features = result.at("n_features").count().map(|p| plural(p, "feature"));
    samples.into_iter().chain(features).collect::<Vec<_>>().join(", ")
}

/// The classes and their numbers of samples.
pub(crate) fn classes(result: Json<'_>) -> Vec<(&str, u64)> {
    let counts = result.at("class_counts").entries();
    counts
        .filter_map(|(code, count)| Some((result.at("classes").at(code).text().unwrap_or(code), count.count()?)))
        .collect()
}

/// What a gap is of.
pub(crate) const OBJECTIVE: &str = "This is of the training objective, not of accuracy on new samples.";

/// The bar of what a bound proves: what is reached of the gain, and what is left open at most.
pub(crate) fn proven(proof: &Proof<'_>, budget: &Budget) -> Result<Option<Chart>, String> {
    let Some(gap) = proof.gap() else { return Ok(None) };
    let row = |what: &'static str, value: String| vec![what.into(), value.into()];
    let open = (gap > 0.0).then(|| row("left open, at most", at_most(gap)));
    let rows = [row("reached, at least", at_least(1.0 - gap.min(1.0)))].into_iter().chain(open);
    Ok(Some(Chart {
        id: "gap",
        title: "Distance from the best".to_owned(),
        summary: format!("{} {OBJECTIVE}", sentence_case(&proof.sentence())),
        svg: reached(1.0 - gap.clamp(0.0, 1.0))?,
        table: budget.table("Share of what features can gain", vec![words("gain"), numbers("share")], rows),
    }))
}

/// Lines on the data: file, samples, features, target, classes.
pub(crate) fn data(budget: &Budget, result: Json<'_>) -> Vec<(&'static str, Cell)> {
    let mut lines = Vec::new();
    if let Some(source) = result.at("settings").at("data").text() {
        lines.push(("data", budget.foreign(source, LIST)));
    }
    if let (Some(n), Some(p)) = (result.at("n_samples").count(), result.at("n_features").count()) {
        lines.push(("contents", format!("{}, {}", plural(n, "sample"), plural(p, "feature")).into()));
    }
    let target = result.at("target").text().or(result.at("settings").at("target").text());
    if let Some(target) = target {
        lines.push(("target", budget.foreign(target, LIST)));
    }
    let classes: Vec<String> = result
        .at("classes")
        .entries()
        .map(|(code, name)| {
            let count = result.at("class_counts").at(code).count();
            let count = count.map_or_else(String::new, |count| format!(" ({})", plural(count, "sample")));
            format!("{code} = {}{count}", shorten(name.text().unwrap_or_default(), 40))
        })
        .collect();
    if !classes.is_empty() {
        lines.push(("classes", budget.foreign(&classes.join(", "), 2 * LIST)));
    }
    if let Some(class) = result.at("positive").text() {
        lines.push(("positive class", budget.foreign(class, LIST)));
    }
    lines.extend(groups(result).map(|text| ("groups", budget.foreign(&text, LIST))));
    lines.extend(scaling(result.at("settings")).map(|text| ("scaling", budget.foreign(&text, LIST))));
    lines
}

/// Whether sparse data were divided without being centred, as settings say.
pub(crate) fn is_uncentred(settings: Json<'_>) -> bool {
    settings.at("scale_reason").text().is_some_and(|why| why.contains("not centred"))
}

/// What was done to the counts of each sample as they were read, where settings say it.
pub(crate) fn normalized(settings: Json<'_>) -> Option<String> {
    let reading = settings.at("reading");
    let total = reading.at("normalize_total").number().map(|total| format!("total {total}"));
    let log1p = (reading.at("log1p").0 == &Value::Bool(true)).then(|| "ln(1 + x)".to_owned());
    let parts: Vec<String> = total.into_iter().chain(log1p).collect();
    (!parts.is_empty()).then(|| parts.join(", then "))
}

/// How features were scaled, and what was done to the values before.
fn scaling(settings: Json<'_>) -> Option<String> {
    let uncentred = if is_uncentred(settings) { " (sparse data: not centred)" } else { "" };
    let scale = settings.at("scale").text().map(|scale| format!("{scale}{uncentred}"));
    let parts: Vec<String> = normalized(settings).into_iter().chain(scale).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// What was summed up to the samples, where a result says it.
pub(crate) fn summed(result: Json<'_>) -> Option<String> {
    let (summed, sums) = (result.at("summed"), result.at("n_samples").count()?);
    let (samples, smallest) = (summed.at("samples").count()?, summed.at("smallest").count().unwrap_or(1));
    let columns = summed.at("by").texts().into_iter().map(|name| shorten(name, 40));
    let by = columns.chain(["class".to_owned()]).collect::<Vec<String>>().join(" and ");
    Some(format!("{samples} summed up to {sums}, those of one {by} to one; the smallest sum is of {smallest}"))
}

/// Which samples stay together in folds and halves, where a result says it.
pub(crate) fn groups(result: Json<'_>) -> Option<String> {
    let groups = result.at("settings").at("groups");
    let column = shorten(groups.at("column").text().unwrap_or("group"), 40);
    Some(crate::words::groups(&column, groups.at("count").count()?))
}

/// A sum of counts, which a file may hold of any size.
pub(crate) fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// The data: what they are, notes of their reading, how many samples each class has.
pub(crate) fn about(budget: &Budget, result: Json<'_>) -> Result<Section, String> {
    let mut blocks = vec![Block::Pairs(data(budget, result))];
    let notes: Vec<Cell> =
        result.at("notes").texts().into_iter().take(40).map(|note| budget.foreign(note, 400)).collect();
    if !notes.is_empty() {
        blocks.push(Block::List(notes));
    }
    let counts = classes(result);
    let total = total(counts.iter().map(|c| c.1));
    // Of few classes the first lines of the page say it.
    if counts.len() <= FEW || total == 0 {
        return Ok(Section::new("data", "Data", blocks));
    }
    let share = |count: u64| count as f64 / total as f64;
    let rows: Vec<(Bar, Vec<Cell>)> = counts
        .iter()
        .map(|&(name, count)| {
            let text = format!("{count} ({})", percent(share(count)));
            let bar = Bar { label: label(name), value: count as f64, text, role: Role::First };
            (bar, vec![budget.name(name), count.to_string().into(), percent(share(count)).into()])
        })
        .collect();
    let columns = vec![words("class"), numbers("samples"), numbers("share")];
    let table = budget.table("Samples of each class", columns, rows.iter().map(|r| r.1.clone()));
    let most = counts.iter().map(|c| c.1).max().unwrap_or(0);
    let summary = format!(
        "{} in {}; always guessing the most frequent class is right on {}.",
        plural(total, "sample"),
        plural(counts.len() as u64, "class").replace("classs", "classes"),
        percent(share(most))
    );
    blocks.push(bar_chart("balance-chart", "Samples of each class", summary, &rows, table)?);
    Ok(Section::new("data", "Data", blocks))
}

/// The command and the settings in effect, but for one that differs between the results of a path.
pub(crate) fn settings(budget: &Budget, result: Json<'_>, command: Json<'_>, without: &str) -> Section {
    let mut blocks = Vec::new();
    if let Some(command) = command.text() {
        blocks.push(Block::Text("This command makes the result again:".to_owned()));
        blocks.push(Block::Code(shorten(command, 4000)));
    }
    let rows = result.at("settings").entries().filter_map(|(key, value)| {
        let text = match value.0 {
            _ if key == without => return None,
            Value::Null => return None,
            Value::String(text) => text.clone(),
            Value::Number(_) => value.number().map_or_else(|| value.0.to_string(), brief),
            Value::Array(items) if items.is_empty() => return None,
            Value::Array(items) if items.len() > 20 => format!("{} entries", items.len()),
            Value::Object(map) if map.len() > 20 => format!("{} entries", map.len()),
            other => other.to_string(),
        };
        Some((budget.name(key), budget.foreign(&text, LIST)))
    });
    blocks.push(Block::Settings(rows.collect()));
    Section::new("settings", "Settings", blocks)
}

/// The rules in effect, in words.
pub(crate) fn rules(budget: &Budget, settings: Json<'_>, chosen: &[&str]) -> Vec<(&'static str, Cell)> {
    let mut lines: Vec<(&'static str, Cell)> = Vec::new();
    if let Some(size) = settings.at("max_features").count() {
        lines.push(("limit", format!("at most {}", plural(size, "feature")).into()));
    }
    for (key, word) in [("require", "required"), ("forbid", "forbidden")] {
        let names = settings.at(key).texts();
        if !names.is_empty() {
            lines.push((word, list(budget, &names)));
        }
    }
    for pair in settings.at("implies").items().take(20) {
        if let [a, b] = pair.texts()[..] {
            let text = format!("{} needs {}", shorten(a, 40), shorten(b, 40));
            lines.push(("needs", budget.foreign(&text, LIST)));
        }
    }
    for (key, word) in [("at_most", "at most"), ("at_least", "at least")] {
        for group in settings.at(key).items().take(20) {
            let mut entries = group.items();
            if let (Some(count), Some(names)) = (entries.next().and_then(Json::count), entries.next()) {
                let names = list(budget, &names.texts());
                lines.push((word, Cell { text: format!("{count} of {}", names.text), ..names }));
            }
        }
    }
    for group in settings.at("together").items().take(20) {
        lines.push(("together", list(budget, &group.texts())));
    }
    if let Some(allowed) = settings.at("budget").number() {
        let costs = settings.at("feature_costs");
        let used: f64 = chosen.iter().filter_map(|name| costs.at(name).number()).sum();
        let used = if costs.is_there() { format!("{} of ", brief(used)) } else { String::new() };
        lines.push(("budget", format!("{used}{} used", brief(allowed)).into()));
    }
    lines
}
