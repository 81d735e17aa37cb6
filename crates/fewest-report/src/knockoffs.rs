//! The page of `fewest knockoffs`: which features beat random copies of themselves.

use crate::chart::{Bar, Role};
use crate::common::{about, bar_chart, cautions, contents, label, number_cell, settings, status_words};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, FIRST, Page, Section, numbers, shorten, words};
use crate::words::{brief, number, percent, plural, seconds};

const SOURCE: &str = "Model-X knockoffs: E. Candès, Y. Fan, L. Janson, J. Lv, Panning for gold, Journal of the Royal Statistical Society B 80 (2018) 551-577. Several draws: Z. Ren, R. F. Barber, Derandomised knockoffs, the same 86 (2024) 122-154.";

/// The page of a knockoff filter.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let method = shorten(result.at("method").text().unwrap_or("an unnamed method"), 40);
    let mut sections = Vec::new();
    sections.extend(statistics(result, budget)?);
    sections.push(about(budget, result)?);
    sections.push(Section::new("method", "Source", vec![Block::Text(SOURCE.to_owned())]));
    sections.push(settings(budget, result, result.at("command"), ""));
    Ok(Page {
        title: format!("What {method} tells from random copies"),
        lead: format!(
            "{}. {} of copies, which stand to the other features as theirs does and say nothing of the class.",
            contents(result),
            plural(result.at("draws").items().len() as u64, "draw")
        ),
        answer: answer(result, budget),
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

fn selected(result: Json<'_>) -> Vec<&str> {
    result.at("selected").items().filter_map(Json::text).collect()
}

fn answer(result: Json<'_>, budget: &Budget) -> Answer {
    let names = selected(result);
    let share = result.at("fdr").number().map_or_else(|| "the share asked for".to_owned(), percent);
    let mut findings = Vec::new();
    if names.is_empty() {
        let least = plural(result.at("least_selected").count().unwrap_or(0), "feature");
        findings.push(format!(
            "No feature stands out from its copy. At {share} a draw selects at least {least} at once, or none."
        ));
    } else {
        let count = plural(names.len() as u64, "feature");
        findings.push(format!("{count} beat their copies. On average at most {share} of those selected are false."));
        findings.push(
            "False is a feature that, given all other features, says nothing of the class. The bound is on average over samples and copies, where the features are normal with the correlations found."
                .to_owned(),
        );
    }
    let mut pairs: Vec<(&'static str, Cell)> = Vec::new();
    if let Some(separation) = result.at("separation").number() {
        pairs.push(("a copy correlates", format!("{} with its feature on average", brief(1.0 - separation)).into()));
    }
    let status = result.at("status").text().unwrap_or_default();
    pairs.push(("status", format!("{}: {}", shorten(status, 20), status_words(status)).into()));
    if let Some(time) = result.at("seconds").number() {
        pairs.push(("time", format!("{} for all draws", seconds(time)).into()));
    }
    let of = |key: &str, name: &str| number_cell(result.at(key).at(name).number());
    let rows = names.iter().map(|&name| vec![budget.name(name), of("statistics", name), of("evidence", name)]);
    let columns = vec![words("feature"), numbers("more than its copy"), numbers("evidence")];
    let mut panel = budget.table("Features selected", columns, rows);
    panel.first = FIRST;
    Answer {
        findings,
        cautions: cautions(result),
        panel: (!names.is_empty()).then_some(panel),
        facts: pairs,
        ..Answer::default()
    }
}

/// How much more important than its copy each feature is.
fn statistics(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let names = selected(result);
    let mut found: Vec<(&str, f64)> = (result.at("statistics").entries())
        .filter_map(|(name, statistic)| Some((name, statistic.number()?)))
        .filter(|(_, statistic)| *statistic > 0.0)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let row = |&(name, statistic): &(&str, f64)| {
        let is_selected = names.contains(&name);
        let role = if is_selected { Role::First } else { Role::Second };
        let evidence = result.at("evidence").at(name).number();
        let cells = vec![
            budget.name(name),
            number(statistic).into(),
            evidence.map_or_else(String::new, brief).into(),
            if is_selected { "yes" } else { "" }.into(),
        ];
        (Bar { label: label(name), value: statistic, text: brief(statistic), role }, cells)
    };
    let rows: Vec<(Bar, Vec<Cell>)> = found.iter().map(row).collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let columns = vec![words("feature"), numbers("more than its copy"), numbers("evidence"), words("selected")];
    let table = budget.table("How much more important than its copy", columns, rows.iter().map(|row| row.1.clone()));
    let count = plural(rows.len() as u64, "feature");
    let summary = format!("{count} more important than their copies. The selected ones have the first colour.");
    let chart = bar_chart("statistics", "Importance of a feature less that of its copy", summary, &rows, table)?;
    Ok(Some(Section::new("statistics-section", "Importance beside the copies", vec![chart])))
}
