//! What halves of the samples select.

use std::fmt::Write as _;

use super::{Door, ROWS, scaling, yes};
use crate::common::groups;
use crate::read::Json;
use crate::table::Table;
use crate::words::{brief, expected, plural, some};

/// The whole text.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let stable = result.at("selected").texts();
    let (lines, done) = (lines(result, door), result.at("pairs").items().len());
    let mut out = door.style.pairs(&lines) + "\n";
    if !result.at("threshold").is_there() && done > 0 {
        let text = format!(
            "No share of the halves keeps {} {}: a half selects {} features on average. Let it select fewer, or allow more.",
            door.words.max_false,
            result.at("settings").at("max_false").number().unwrap_or(f64::NAN),
            brief(result.at("false_selections").at("features_per_half").number().unwrap_or(f64::NAN))
        );
        out += &door.style.paragraph(&text, 0);
    } else if done > 0 {
        let colon = if stable.is_empty() { "" } else { ":" };
        let count = plural(stable.len() as u64, "stable feature");
        let _ = writeln!(out, "{count}{colon} {}\n", some(&stable));
    }
    let (counts, shown) = (result.at("frequency"), stable.len().max(ROWS));
    let mut often = Table::new(&["feature", "share of halves", "of pairs, both", "stable"], 0);
    for (name, share) in counts.entries().take(shown) {
        // Counts are whole numbers.
        let both = (result.at("both_halves").at(name).number().unwrap_or(0.0) * done as f64).round();
        often.row(vec![
            name.to_owned(),
            format!("{:.0} %", 100.0 * share.number().unwrap_or(0.0)),
            format!("{:.0} %", 100.0 * both / done as f64),
            yes(stable.contains(&name)),
        ]);
    }
    let count = counts.entries().count();
    if count > 0 {
        out += &often.render(door.style);
    }
    out + &door.more(count.saturating_sub(shown))
}

fn lines(result: Json<'_>, door: Door<'_>) -> Vec<(&'static str, String)> {
    let (n, done) = (result.at("n_samples").count().unwrap_or(0) / 2, result.at("pairs").items().len());
    let (halves, bounds) = (2 * done, result.at("false_selections"));
    let (q, count) =
        (bounds.at("features_per_half").number().unwrap_or(f64::NAN), bounds.at("candidates").count().unwrap_or(0));
    let selects = if bounds.at("features_per_half_is").text() == Some("most") {
        format!("at most {q}")
    } else {
        format!("{} on average", brief(q))
    };
    let mut lines = vec![
        ("method", result.at("method").text().unwrap_or_default().to_owned()),
        ("halves", format!("{halves} of {n} samples each, {done} pairs that share none")),
        ("a half selects", format!("{selects} of {count} features")),
    ];
    if let Some(groups) = groups(result) {
        lines[1].1 = format!("{halves} of about {n} samples each, {done} pairs that share none; {groups}");
    }
    if let Some((threshold, bound)) = result.at("threshold").number().zip(bounds.at("bound").number()) {
        let agreeing = (threshold * halves as f64).round();
        let assumption = bounds.at("assumption").text().unwrap_or_default();
        let others = bounds.at("by_assumption").entries().filter(|(law, _)| *law != assumption);
        let other = |(law, most): (&str, Json<'_>)| {
            format!("{} assuming {}", most.number().map_or_else(String::new, expected), assumed(law))
        };
        lines.push(("stable is", format!("what {agreeing} of {halves} halves select")));
        lines.push((
            "of these false",
            format!(
                "at most {} expected, assuming {} ({})",
                expected(bound),
                assumed(assumption),
                others.map(other).collect::<Vec<_>>().join(", ")
            ),
        ));
        let chance = 100.0 * q / count.max(1) as f64;
        lines.push(("false is", format!("what a half selects with a probability of at most {chance:.3} %")));
    }
    lines.extend(scaling(door));
    lines.push(("status", result.at("status").text().unwrap_or_default().to_owned()));
    lines
}

/// An assumption on the shares of halves that select a false feature, in words.
fn assumed(law: &str) -> &str {
    match law {
        "any" => "nothing",
        "unimodal" => "unimodal shares",
        "r-concave" => "r-concave shares",
        other => other,
    }
}
