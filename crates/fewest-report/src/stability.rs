//! The page of `fewest stability`: which features are selected again and again, and how many of them
//! are false.

use crate::chart::{Bar, Role};
use crate::common::{about, bar_chart, cautions, contents, label, settings, status_words};
use crate::evaluation::stability_words;
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, FIRST, Page, Section, numbers, shorten, words};
use crate::words::{brief, expected, percent, plural, seconds};

const SOURCE: &str = "Complementary pairs stability selection: R. D. Shah, R. J. Samworth, Variable selection with error control: another look at stability selection, Journal of the Royal Statistical Society B 75 (2013) 55-80.";

/// The page of a stability selection.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let method = shorten(result.at("method").text().unwrap_or("an unnamed method"), 40);
    let mut sections = Vec::new();
    sections.extend(shares(result, budget)?);
    sections.push(about(budget, result)?);
    sections.push(Section::new("method", "Source", vec![Block::Text(SOURCE.to_owned())]));
    sections.push(settings(budget, result, result.at("command"), ""));
    Ok(Page {
        title: format!("What {method} selects again and again"),
        lead: format!(
            "{}. {} of halves of the samples; each half is scaled and selected from by itself.",
            contents(result),
            plural(result.at("pairs").items().len() as u64, "pair")
        ),
        answer: answer(result, budget),
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

fn stable(result: Json<'_>) -> Vec<&str> {
    result.at("selected").items().filter_map(Json::text).collect()
}

fn answer(result: Json<'_>, budget: &Budget) -> Answer {
    let names = stable(result);
    let bound = result.at("false_selections");
    let mut findings = Vec::new();
    match (result.at("threshold").number(), bound.at("bound").number()) {
        (Some(threshold), Some(most)) => {
            findings.push(format!(
                "{} selected in at least {} of the halves. At most {} of these expected to be false.",
                plural(names.len() as u64, "feature"),
                percent(threshold),
                expected(most)
            ));
            if let Some(chance) = bound.at("chance").number() {
                findings.push(format!(
                    "False is a feature that a half selects with a probability of at most {}: no more often than if it chose by chance. A feature can be selected often because it stands in for another one.",
                    percent(chance)
                ));
            }
        }
        _ => findings.push(
            "No share of the halves keeps the bound asked for; let a half select fewer features, or allow more false ones."
                .to_owned(),
        ),
    }
    let mut pairs: Vec<(&'static str, Cell)> = Vec::new();
    if let Some(q) = bound.at("features_per_half").number() {
        let is = if bound.at("features_per_half_is").text() == Some("most") { "at most " } else { "on average " };
        let of = bound.at("candidates").count().unwrap_or(0);
        pairs.push(("a half selects", format!("{is}{} of {of}", brief(q)).into()));
    }
    let laws = [
        ("any", "assuming nothing"),
        ("unimodal", "assuming unimodal shares"),
        ("r-concave", "assuming r-concave shares"),
    ];
    for (law, words) in laws {
        if let Some(most) = bound.at("by_assumption").at(law).number() {
            pairs.push((words, format!("at most {} false expected", expected(most)).into()));
        }
    }
    pairs.extend(stability_words(result).map(|text| ("stability of the halves", Cell::from(text))));
    let status = result.at("status").text().unwrap_or_default();
    pairs.push(("status", format!("{}: {}", shorten(status, 20), status_words(status)).into()));
    if let Some(time) = result.at("seconds").number() {
        pairs.push(("time", format!("{} for all selections", seconds(time)).into()));
    }
    let share = |name: &str| result.at("frequency").at(name).number();
    let rows = names.iter().map(|&name| vec![budget.name(name), share(name).map_or_else(|| "".into(), Cell::share)]);
    let mut panel = budget.table("Stable features", vec![words("feature"), words("share of halves")], rows);
    panel.first = FIRST;
    Answer {
        findings,
        cautions: cautions(result),
        panel: (!names.is_empty()).then_some(panel),
        facts: pairs,
        ..Answer::default()
    }
}

/// Share of the halves by feature.
fn shares(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let names = stable(result);
    let rows: Vec<(Bar, Vec<Cell>)> = (result.at("frequency").entries())
        .filter_map(|(name, share)| Some((name, share.number()?)))
        .map(|(name, share)| {
            let is_stable = names.contains(&name);
            let role = if is_stable { Role::First } else { Role::Second };
            let both = result.at("both_halves").at(name).number();
            let cells = vec![
                budget.name(name),
                percent(share).into(),
                both.map_or_else(String::new, percent).into(),
                if is_stable { "yes" } else { "" }.into(),
            ];
            (Bar { label: label(name), value: share, text: format!("{:.0} %", 100.0 * share), role }, cells)
        })
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let columns = vec![words("feature"), numbers("share of halves"), numbers("of pairs, both"), words("stable")];
    let table = budget.table("How often each feature was selected", columns, rows.iter().map(|row| row.1.clone()));
    let summary = format!(
        "{} selected in some half. The stable ones have the first colour.",
        plural(rows.len() as u64, "feature")
    );
    let chart = bar_chart("shares", "Share of the halves that select a feature", summary, &rows, table)?;
    Ok(Some(Section::new("shares-section", "Selection frequency", vec![chart])))
}
