//! The points score of a panel, on the page and in the terminal.

use super::wording::less;
use crate::measures::measured;
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Section, numbers, shorten, words};
use crate::words::{brief, plural};

/// Totals whose probability the terminal shows.
const SHOWN: usize = 8;

/// `+2`, `-1`
fn signed(points: i64) -> String {
    format!("{points:+}")
}

/// The levels of a feature: the smallest value and its points.
pub(crate) fn levels(feature: Json<'_>) -> Vec<(f64, i64)> {
    let of = |level: Json<'_>| Some((level.at("at_least").number()?, level.at("points").0.as_i64()?));
    feature.at("levels").items().filter_map(of).collect()
}

/// `>= 50: +2, >= 70: +3; missing: +2`
pub(crate) fn levels_line(result: Json<'_>, feature: Json<'_>) -> String {
    let all: Vec<String> =
        levels(feature).into_iter().map(|(from, points)| format!(">= {}: {}", brief(from), signed(points))).collect();
    let missing = missing(result, feature).map_or_else(String::new, |points| format!("; missing: {}", signed(points)));
    all.join(", ") + &missing
}

/// What a missing value scores: the points of what stands in for it; none where there is nothing that does.
fn missing(result: Json<'_>, feature: Json<'_>) -> Option<i64> {
    let filled = result.at("panel").at("model").at("imputation").at("features");
    let fill = filled.at(feature.at("feature").text()?).at("fill").number()?;
    Some(levels(feature).into_iter().take_while(|level| level.0 <= fill).last().map_or(0, |level| level.1))
}

/// The features that add points.
pub(crate) fn adding(result: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    result.at("points").at("features").items().filter(|feature| !levels(*feature).is_empty())
}

/// The features that add nothing, whatever their value.
pub(crate) fn idle(result: Json<'_>) -> Option<String> {
    let all = result.at("points").at("features").items().filter(|feature| levels(*feature).is_empty());
    let names: Vec<String> = all.map(|feature| shorten(feature.at("feature").text().unwrap_or_default(), 60)).collect();
    (!names.is_empty()).then(|| format!("Of the panel, these add nothing to the points: {}.", names.join(", ")))
}

fn positive(result: Json<'_>) -> String {
    shorten(result.at("positive").text().or(result.at("classes").at("+1").text()).unwrap_or("+1"), 40)
}

/// What a total says.
pub(crate) fn rule(result: Json<'_>) -> Option<String> {
    let threshold = result.at("points").at("threshold").0.as_i64()?;
    Some(format!("a total of {threshold} or more says {}", positive(result)))
}

/// What the points are worth, and what they lose against the classifier.
pub(crate) fn worth(result: Json<'_>) -> Option<String> {
    let points = result.at("points");
    let one = |name: &str, label: &str| {
        let own = measured(points.at("summary").at(name))?;
        let lost = points.at("difference").at(name);
        let by = lost.at("mean").number().map_or_else(String::new, |by| {
            let ends = lost.at("ci95").pair().map(|(low, high)| if by < 0.0 { (-high, -low) } else { (low, high) });
            let between = ends.map_or_else(String::new, |(low, high)| format!(", 95 % interval {low:.3} to {high:.3}"));
            format!(", {} than the classifier{between}", less(by)).replace("digits than", "digits as")
        });
        Some(format!("{label} {own}{by}"))
    };
    let parts: Vec<String> =
        [("accuracy", "accuracy"), ("auc", "AUC")].into_iter().filter_map(|(name, label)| one(name, label)).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn probabilities(result: Json<'_>) -> Vec<(i64, f64)> {
    let of = |at: Json<'_>| Some((at.at("total").0.as_i64()?, at.at("probability").number()?));
    result.at("points").at("probabilities").items().filter_map(of).collect()
}

/// The probability at some totals.
pub(crate) fn probability_line(result: Json<'_>) -> Option<String> {
    let all = probabilities(result);
    let step = all.len().div_ceil(SHOWN).max(1);
    let shown: Vec<String> = all.iter().step_by(step).map(|(total, p)| format!("{total}: {p:.3}")).collect();
    (!shown.is_empty()).then(|| format!("probability of {} by total: {}", positive(result), shown.join(", ")))
}

/// The score as a table, what it is worth, and the probability at each total.
pub(super) fn section(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let threshold = rule(result)?;
    let mut blocks = vec![Block::Text(format!(
        "Add the points of each feature, those of the highest level that its value reaches: {threshold}. Values are as in the data."
    ))];
    blocks.push(match worth(result) {
        Some(worth) => Block::Finding(format!("On samples that took no part: {worth}.")),
        None => Block::Warning("What the points lose is not known: no outer fold was done in time.".to_owned()),
    });
    let rows = adding(result).flat_map(|feature| {
        let name = feature.at("feature").text().unwrap_or_default();
        let row = |(from, points): (f64, i64)| vec![budget.name(name), brief(from).into(), signed(points).into()];
        let mut rows: Vec<Vec<Cell>> = levels(feature).into_iter().map(row).collect();
        rows.extend(
            missing(result, feature).map(|points| vec![budget.name(name), "missing".into(), signed(points).into()]),
        );
        rows
    });
    let columns = vec![words("feature"), numbers("from this value on"), numbers("points")];
    let mut table = budget.table("Points", columns, rows);
    table.note = "Below its first value a feature adds 0. Points are whole numbers nearest to what the classifier gives each level, at the scale that orders the samples held out inside the folds about as well as any. The loss is measured: in every outer fold the points are made again from the other samples.";
    blocks.extend(idle(result).map(Block::Text));
    blocks.push(Block::Table(table));
    let known = probabilities(result);
    if !known.is_empty() {
        let caption = format!("Probability of {} at each of {}", positive(result), plural(known.len() as u64, "total"));
        let rows = known.into_iter().map(|(total, p)| vec![total.to_string().into(), format!("{p:.3}").into()]);
        blocks.push(Block::Table(budget.table(caption, vec![numbers("total"), numbers("probability")], rows)));
    }
    Some(Section::new("points", "The panel as points", blocks))
}
