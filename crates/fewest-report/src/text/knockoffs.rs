//! Features that stand out from copies.

use std::fmt::Write as _;

use super::{Door, ROWS, scaling, yes};
use crate::read::Json;
use crate::table::Table;
use crate::words::{brief, number, plural, some};

/// Separations below this tell little apart.
const SMALL: f64 = 0.05;

/// The whole text.
pub(super) fn text(result: Json<'_>, door: Door<'_>) -> String {
    let (draws, fdr) = (result.at("draws").items().len(), result.at("fdr").number().unwrap_or(f64::NAN));
    let (copied, separation) = (result.at("n_copied").count().unwrap_or(0), result.at("separation").number());
    let mut lines = vec![
        ("method", result.at("method").text().unwrap_or_default().to_owned()),
        ("copies", format!("of {}, {}", plural(copied, "feature"), plural(draws as u64, "draw"))),
        ("of those selected", format!("at most {} % false on average", brief(100.0 * fdr))),
    ];
    if let Some(separation) = separation {
        lines.push(("a copy correlates", format!("{:.3} with its feature on average", 1.0 - separation)));
    }
    lines.extend(scaling(door));
    lines.push(("status", result.at("status").text().unwrap_or_default().to_owned()));
    let mut out = door.style.pairs(&lines) + "\n";
    if draws == 0 {
        return out;
    }
    let selected = result.at("selected").texts();
    if selected.is_empty() {
        let least = plural(result.at("least_selected").count().unwrap_or(0), "feature");
        let each = if draws > 1 { "each draw selects" } else { "it is" };
        let mut text = format!(
            "No feature stands out from its copy with {} {fdr}: {each} at least {least} at once, or none. Allow more, or use {}.",
            door.words.fdr, door.words.stability
        );
        if separation.unwrap_or(0.0) < SMALL {
            text += " Features are nearly sums of others, so that copies can hardly differ from their features; leave such features out.";
        }
        out += &door.style.paragraph(&text, 0);
    } else {
        let count = plural(selected.len() as u64, "feature");
        let _ = writeln!(out, "{count} selected: {}\n", some(&selected));
    }
    let evidence = |name: &str| result.at("evidence").at(name).number().unwrap_or(0.0);
    let mut rows: Vec<(&str, f64, f64)> = result
        .at("statistics")
        .entries()
        .map(|(name, statistic)| (name, evidence(name), statistic.number().unwrap_or(f64::NAN)))
        .collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.total_cmp(&a.2)));
    let shown = selected.len().max(ROWS);
    let mut best = Table::new(&["feature", "more than its copy", "evidence", "selected"], 0);
    for &(name, evidence, statistic) in rows.iter().take(shown) {
        best.row(vec![name.to_owned(), number(statistic), number(evidence), yes(selected.contains(&name))]);
    }
    out += &best.render(door.style);
    out + &door.more(rows.len().saturating_sub(shown))
}
