//! Results of folds.

use super::{Door, ROWS, scaling};
use crate::common::groups;
use crate::read::Json;
use crate::table::Table;
use crate::words::{brief, seconds};

/// One method, or two and how they compare.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let scheme = scheme(result);
    let mut out = method(result, &scheme, door);
    let against = result.at("against");
    if against.is_there() {
        out += &method(against, &scheme, door);
        out += &door.style.paragraph(&comparison(result), 0);
    }
    out
}

/// The samples that it is judged by, in words.
fn scheme(result: Json<'_>) -> String {
    let scheme = result.at("settings").at("scheme");
    let cv = scheme.at("cv").count().unwrap_or(result.at("folds").items().len() as u64);
    let groups = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
    let dealt = match (scheme.at("folds").text(), scheme.text(), scheme.at("repeats").count()) {
        (Some(column), ..) => format!("the folds of `{column}`"),
        (None, Some(name), _) => name.to_owned(),
        (None, None, Some(repeats)) if repeats > 1 => format!("{cv} folds, {repeats} times"),
        _ => format!("{cv} folds"),
    };
    dealt + &groups
}

fn method(result: Json<'_>, scheme: &str, door: Door<'_>) -> String {
    let (summary, folds) = (result.at("summary"), result.at("folds").items());
    let mean = summary.at("n_features").at("mean").number().unwrap_or(f64::NAN);
    let mut lines =
        vec![("method", result.at("method").text().unwrap_or_default().to_owned()), ("judged by", scheme.to_owned())];
    if folds.len() == 0 {
        lines.push(("known", "nothing, as no fold was done in time".to_owned()));
        return door.style.pairs(&lines) + "\n";
    }
    lines.extend(super::left(result).map(|parts| ("not done", parts)));
    let features = format!("{} on average of {}", brief(mean), result.at("n_features").count().unwrap_or(0));
    lines.push(("features", features));
    let stability = result.at("stability");
    if let Some((index, (low, high))) = stability.at("index").number().zip(stability.at("ci95").pair()) {
        lines.push(("stability", format!("{index:.3} (95 %: {low:.3} to {high:.3})")));
    }
    lines.extend(result.at("positive").text().map(|class| ("positive class", class.to_owned())));
    lines.extend(scaling(door));
    let total: f64 = folds.clone().filter_map(|fold| fold.at("seconds").number()).sum();
    lines.push(("time", format!("{} per fold", seconds(total / folds.len().max(1) as f64))));
    let mut out = door.style.pairs(&lines) + "\n";
    let mut measures = Table::new(&["measure", "mean", "std error", "95 % interval"], 3);
    for (name, summary) in summary.entries() {
        let interval =
            summary.at("ci95").pair().map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}"));
        let error = summary.at("se").number().map_or_else(String::new, |se| format!("{se:.4}"));
        let mean = summary.at("mean").number().unwrap_or(f64::NAN);
        measures.row(vec![name.to_owned(), format!("{mean:.4}"), error, interval]);
    }
    out += &measures.render(door.style);
    out += &undefined(result).map_or_else(String::new, |text| door.style.paragraph(&text, 0));
    out.push('\n');
    if result.at("recall").is_there() {
        out += &by_class(result, door);
        out.push('\n');
    }
    let mut frequent = Table::new(&["feature", "share of folds"], 1);
    for (name, share) in result.at("frequency").entries().take(ROWS) {
        frequent.row(vec![name.to_owned(), format!("{:.0} %", 100.0 * share.number().unwrap_or(0.0))]);
    }
    out += &frequent.render(door.style);
    out += &door.more(result.at("frequency").entries().count().saturating_sub(ROWS));
    out + "\n"
}

/// How much of each class is classified right.
pub(super) fn by_class(result: Json<'_>, door: Door<'_>) -> String {
    let mut table = Table::new(&["class", "recall", "std error", "95 % interval"], 3);
    for (name, recall) in result.at("recall").entries().take(ROWS) {
        let of = |key: &str| recall.at(key).number().map_or_else(String::new, |x| format!("{x:.4}"));
        let between = recall.at("ci95").pair().map_or_else(String::new, |(low, high)| format!("{low:.4} to {high:.4}"));
        table.row(vec![name.to_owned(), of("mean"), of("se"), between]);
    }
    table.render(door.style) + &door.more(result.at("recall").entries().count().saturating_sub(ROWS))
}

/// The measures of two classes that some folds have no value of. Of more classes, some measures
/// never have one.
fn undefined(result: Json<'_>) -> Option<String> {
    let folds = result.at("folds").items();
    if result.at("classes").entries().count() != 2 {
        return None;
    }
    let count = |entry: Json<'_>| entry.count().unwrap_or(0);
    let each: Vec<String> = result
        .at("undefined")
        .entries()
        .map(|(name, entry)| format!("{name} has no value in {} of {} folds", count(entry), folds.len()))
        .collect();
    (!each.is_empty()).then(|| format!("{}, whose samples or predictions are of one class", each.join(", ")))
}

/// How the first method compares with the second.
fn comparison(result: Json<'_>) -> String {
    let (compared, name) =
        (result.at("comparison"), |of: Json<'_>| of.at("method").text().unwrap_or_default().to_owned());
    let told = |test: Json<'_>| match test.at("p").number() {
        Some(p) => format!("p = {p:.4}"),
        None => "all differences are the same".to_owned(),
    };
    let mean = compared.at("difference").at("mean").number().unwrap_or(0.0);
    format!(
        "{} is {} by {:.4} in accuracy than {}; one-sided tests that it is better: paired t {}, corrected for shared training samples {}",
        name(result),
        if mean >= 0.0 { "better" } else { "worse" },
        mean.abs(),
        name(result.at("against")),
        told(compared.at("t_test")),
        told(compared.at("corrected_t_test"))
    )
}
