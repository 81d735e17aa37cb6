//! What a model is worth on samples whose classes are known. The line of the accuracy stands before
//! it.

use super::Door;
use crate::probabilities::calibration_sentence;
use crate::read::Json;
use crate::table::Table;

/// Samples that are listed by name.
const WRONG: usize = 10;

/// Headings for the classes of a confusion matrix; more classes are left to the JSON.
const PREDICTED: [&str; 8] = ["as 1st", "as 2nd", "as 3rd", "as 4th", "as 5th", "as 6th", "as 7th", "as 8th"];

/// The tables; nothing where no sample was judged.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    if !result.at("metrics").is_there() {
        return String::new();
    }
    let mut out = "\n".to_owned();
    let between =
        |of: Json<'_>| of.at("ci95").pair().map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}"));
    let mut measures = Table::new(&["measure", "value", "95 % interval"], 2);
    for (name, measure) in result.at("summary").entries() {
        let value = measure.at("mean").number().unwrap_or(f64::NAN);
        measures.row(vec![name.to_owned(), format!("{value:.4}"), between(measure)]);
    }
    out += &measures.render(door.style);
    out.push('\n');
    out += &classes(result, door, &between);
    if let Some(sentence) = calibration_sentence(result) {
        out.push('\n');
        out += &door.style.paragraph(&sentence, 0);
    }
    out + &wrong(result, door)
}

/// Each class: how many samples, how many right, and what they are taken for.
fn classes(result: Json<'_>, door: Door<'_>, between: &dyn Fn(Json<'_>) -> String) -> String {
    let classes: Vec<(&str, &str)> =
        result.at("classes").entries().filter_map(|(key, name)| Some((key, name.text()?))).collect();
    let counts: Vec<Json<'_>> = result.at("confusion").items().collect();
    let shown = if classes.len() <= PREDICTED.len() { classes.len() } else { 0 };
    let mut headings = vec!["class", "samples", "recall", "95 % interval"];
    headings.extend(&PREDICTED[..shown]);
    let mut table = Table::new(&headings, 0);
    for (at, &(key, name)) in classes.iter().enumerate() {
        let recall = result.at("recall").at(name);
        let share = recall.at("mean").number().map_or_else(String::new, |share| format!("{share:.4}"));
        let samples = result.at("class_counts").at(key).count().unwrap_or(0).to_string();
        let mut cells = vec![format!("{}: {name}", at + 1), samples, share, between(recall)];
        let of_class = counts.get(at).map(|row| row.items().collect::<Vec<_>>()).unwrap_or_default();
        let count = |at: usize| of_class.get(at).and_then(|c| c.count()).unwrap_or(0).to_string();
        cells.extend((0..shown).map(count));
        table.row(cells);
    }
    table.render(door.style)
}

/// The samples taken for another class, where they have names.
fn wrong(result: Json<'_>, door: Door<'_>) -> String {
    let named = |entry: Json<'_>| {
        let taken = entry.at("predicted").texts().join(", ");
        Some(format!("{} ({} for {taken})", entry.at("sample").text()?, entry.at("class").text()?))
    };
    let all: Vec<String> = result.at("wrong").items().filter_map(named).collect();
    if all.is_empty() {
        return String::new();
    }
    let more = if all.len() > WRONG { format!(", ... ({} in all)", all.len()) } else { String::new() };
    let listed = all[..all.len().min(WRONG)].join(", ");
    "\n".to_owned() + &door.style.paragraph(&format!("taken for another class: {listed}{more}"), 0)
}
