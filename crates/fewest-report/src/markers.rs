//! The page of `fewest markers`: the panel, what each marker is in each class, which classes it
//! tells apart, and what folds say of it.

use crate::chart::matrix;
use crate::common::{balance, data, groups, label, number_cell, settings, status_words, warnings};
use crate::evaluation::{confusion, stability_words};
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Chart, Page, Section, numbers, shorten, words};
use crate::words::{Proof, brief, number, percent, plural, seconds};

/// Markers that are drawn; the table has more.
const DRAWN: usize = 60;

/// The page of markers.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let count = result.at("panel").at("markers").items().len() as u64;
    let classes = result.at("classes").entries().count() as u64;
    let mut sections = vec![summary(result, budget)];
    sections.extend(panel(result, budget)?);
    sections.extend(by_class(result, budget));
    sections.extend(confusion(result, budget, "Samples held out"));
    sections.extend(balance(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    Ok(Page {
        title: format!("{} of {classes} classes", plural(count, "marker")),
        lead: "One panel that tells every class from every other: each pair of classes has an SVM on the shared features, and each class weighs the same.".to_owned(),
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

/// The panel as a table with commas, a row for each marker in order: its name, its rank, the class of its
/// largest mean, what it is there for, the share of halves that keep it, what may take its place and the
/// share of the gain that this costs. None for other results.
pub fn panel_table(result: &serde_json::Value) -> Option<String> {
    let result = Json(result);
    let markers = result.at("panel").at("markers").0.as_array()?;
    let required = result.at("required").at("features").texts();
    let mut out = "gene,rank,type,role,recurs,replaceable_by,price\n".to_owned();
    for marker in markers.iter().map(Json) {
        let text = |of: Json<'_>, key: &str| of.at(key).text().unwrap_or_default().to_owned();
        let share = |of: Json<'_>| of.number().map_or_else(String::new, |share| format!("{share:.4}"));
        let name = text(marker, "feature");
        let pair = marker.at("tells_apart").items().next();
        let role = match pair {
            _ if required.contains(&name.as_str()) => "required".to_owned(),
            Some(pair) => format!("{} from {}", text(pair, "high"), text(pair, "low")),
            None => String::new(),
        };
        let by = marker.at("replaceable_by").items().next();
        let cells = [
            name.clone(),
            marker.at("rank").count().unwrap_or(0).to_string(),
            text(marker, "highest"),
            role,
            share(marker.at("recurs")),
            by.map_or_else(String::new, |by| text(by, "feature")),
            by.map_or_else(String::new, |by| share(by.at("price"))),
        ];
        out += &(cells.map(|cell| quoted(&cell)).join(",") + "\n");
    }
    Some(out)
}

/// A cell of a table with commas (RFC 4180).
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() }
}

/// What the bound proves of the panel.
pub(crate) fn proof(result: Json<'_>) -> Proof<'_> {
    let panel = result.at("panel");
    Proof {
        objective: panel.at("objective").number().unwrap_or(f64::NAN),
        bound: panel.at("bound").number(),
        gap: panel.at("gap").number(),
        maximised: false,
        status: panel.at("status").text().unwrap_or_default(),
        max_features: result.at("settings").at("max_features").count(),
        condition: None,
    }
}

/// A measure with its interval.
pub(crate) fn measure(of: Json<'_>) -> Option<String> {
    let value = of.at("mean").number()?;
    let between = of.at("ci95").pair().map_or_else(String::new, |(low, high)| format!(" ({low:.3} to {high:.3})"));
    Some(format!("{value:.3}{between}"))
}

fn summary(result: Json<'_>, budget: &Budget) -> Section {
    let panel = result.at("panel");
    let mut blocks = Vec::new();
    let folds = plural(result.at("folds").items().len() as u64, "fold");
    let dealt = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
    match measure(result.at("macro_f1")) {
        Some(f1) => blocks.push(Block::Finding(format!(
            "Macro F1 {f1} on samples that took no part in the choice of the markers: {folds}{dealt}."
        ))),
        None => blocks.push(Block::Finding("No fold was done: how well the panel does is not known.".to_owned())),
    }
    if panel.is_there() {
        blocks.push(Block::Text(crate::common::sentence_case(&proof(result).sentence())));
    }
    blocks.extend(warnings(result));
    let mut pairs: Vec<(&'static str, Cell)> = Vec::new();
    if panel.is_there() {
        let names = panel.at("features").texts();
        pairs.push(("markers, in order", crate::common::list(budget, &names)));
        if let Some((objective, baseline)) = panel.at("objective").number().zip(panel.at("baseline").number()) {
            pairs.push(("objective", format!("{} ({} without features)", number(objective), number(baseline)).into()));
        }
        let text = |key: &str| panel.at(key).text().unwrap_or_default().to_owned();
        let cost = panel.at("cost").number().map_or_else(String::new, brief);
        pairs.push(("model", format!("{}, {}, cost {cost}", text("multi_class"), text("loss")).into()));
    }
    if let Some(alone) = measure(result.at("required").at("macro_f1")) {
        pairs.push(("macro F1 of the required features alone", alone.into()));
        let brought = measure(result.at("required").at("difference"));
        pairs.extend(brought.map(|brought| ("what the others bring", brought.into())));
    }
    if let Some(worst) = measure(result.at("without_one").at("worst")) {
        pairs.push(("macro F1 without the marker whose loss is worst", worst.into()));
    }
    pairs.extend(stability_words(result).map(|text| ("stability of the panels of the folds", Cell::from(text))));
    let status = result.at("status").text().unwrap_or_default();
    let parts = crate::common::not_done(result);
    pairs.extend((!parts.is_empty()).then(|| ("not done for lack of time", parts.join(", ").into())));
    let words = if status == "completed" { "done" } else { status_words(status) };
    pairs.push(("status", format!("{}: {words}", shorten(status, 20)).into()));
    pairs.extend(result.at("seconds").number().map(|time| ("time", seconds(time).into())));
    pairs.extend(data(budget, result));
    blocks.push(Block::Pairs(pairs));
    Section { id: "summary", heading: "Panel".to_owned(), blocks }
}

/// A stand-in with its price.
pub(crate) fn stand_in(of: Json<'_>) -> String {
    let price = of.at("price").number().map_or_else(String::new, |price| format!(" ({:.1} %)", 100.0 * price));
    format!("{}{price}", shorten(of.at("feature").text().unwrap_or_default(), 30))
}

/// The numbers of a marker, one for each class in order; lists in results of versions before 0.1.0.
fn numbers_of(marker: Json<'_>, key: &str) -> Vec<f64> {
    let of = marker.at(key);
    of.entries().map(|class| class.1).chain(of.items()).filter_map(Json::number).collect()
}

/// The mean of a marker, and its share above 0, in the class where its mean is largest.
pub(crate) fn where_highest(marker: Json<'_>) -> (Option<f64>, Option<f64>) {
    let (means, shares) = (numbers_of(marker, "mean"), numbers_of(marker, "share"));
    let at = (1..means.len()).fold(0, |best, class| if means[class] > means[best] { class } else { best });
    (means.get(at).copied(), shares.get(at).copied())
}

/// Each marker: a picture of its means, and a table.
fn panel(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let markers: Vec<Json<'_>> = result.at("panel").at("markers").items().collect();
    if markers.is_empty() {
        return Ok(None);
    }
    let classes: Vec<&str> = result.at("classes").entries().filter_map(|class| class.1.text()).collect();
    let row = |marker: &Json<'_>| {
        let (mean, share) = where_highest(*marker);
        let pairs: Vec<String> = marker
            .at("tells_apart")
            .items()
            .map(|pair| {
                let text = |key: &str| shorten(pair.at(key).text().unwrap_or_default(), 30);
                format!(
                    "{} from {} ({})",
                    text("high"),
                    text("low"),
                    pair.at("share").number().map_or_else(String::new, percent)
                )
            })
            .collect();
        let stand_ins: Vec<String> = marker.at("replaceable_by").items().map(stand_in).collect();
        vec![
            marker.at("rank").count().unwrap_or(0).to_string().into(),
            budget.name(marker.at("feature").text().unwrap_or_default()),
            budget.name(marker.at("highest").text().unwrap_or_default()),
            number_cell(mean),
            share.map_or_else(String::new, percent).into(),
            budget.foreign(&pairs.join("; "), 120),
            marker.at("recurs").number().map_or_else(String::new, percent).into(),
            budget.foreign(&stand_ins.join(", "), 120),
        ]
    };
    let columns = vec![
        numbers("rank"),
        words("feature"),
        words("highest in"),
        numbers("mean there"),
        numbers("above 0 there"),
        words("tells apart, share of the distance"),
        numbers("in halves"),
        words("may be replaced by, share of the gain lost"),
    ];
    let table = budget.table("The markers", columns, markers.iter().map(row));
    let drawn = &markers[..markers.len().min(DRAWN)];
    let names: Vec<String> =
        drawn.iter().map(|marker| label(marker.at("feature").text().unwrap_or_default())).collect();
    let relative = |marker: &Json<'_>| -> Vec<f64> {
        let means = numbers_of(*marker, "mean");
        let most = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
        means.iter().map(|mean| if most > 0.0 { mean / most } else { 0.0 }).collect()
    };
    let values: Vec<Vec<f64>> = drawn.iter().map(relative).collect();
    let heads: Vec<String> = (1..=classes.len()).map(|at| at.to_string()).collect();
    let named: Vec<String> =
        classes.iter().enumerate().map(|(at, name)| format!("{} {}", at + 1, shorten(name, 30))).collect();
    let chart = Block::Chart(Chart {
        id: "means",
        title: "Mean of each marker in each class".to_owned(),
        summary: format!("Means over the largest of the row, classes by number: {}.", named.join(", ")),
        svg: matrix(&names, &heads, &values)?,
        table,
    });
    Ok(Some(Section { id: "markers", heading: "Markers".to_owned(), blocks: vec![chart] }))
}

/// Each class in the folds, and those that are told apart poorly.
fn by_class(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let share = |part: Json<'_>| Cell::from(part.number().map_or_else(String::new, |share| format!("{share:.3}")));
    let rows: Vec<Vec<Cell>> = result
        .at("by_class")
        .items()
        .map(|class| {
            vec![
                budget.name(class.at("class").text().unwrap_or_default()),
                class.at("samples").count().unwrap_or(0).to_string().into(),
                share(class.at("recall")),
                share(class.at("precision")),
                share(class.at("f1")),
            ]
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![words("class"), numbers("samples"), numbers("recall"), numbers("precision"), numbers("F1")];
    let mut blocks = vec![Block::Table(budget.table("Each class, on samples held out", columns, rows.into_iter()))];
    let poor = result.at("confused").items().map(|pair| {
        vec![
            budget.name(pair.at("class").text().unwrap_or_default()),
            budget.name(pair.at("taken_for").text().unwrap_or_default()),
            pair.at("samples").count().unwrap_or(0).to_string().into(),
            pair.at("share").number().map_or_else(String::new, percent).into(),
        ]
    });
    let columns = vec![words("class"), words("taken for"), numbers("samples"), numbers("share of the class")];
    let table = budget.table("Classes that are told apart poorly", columns, poor);
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    Some(Section { id: "classes", heading: "How well each class is recognised".to_owned(), blocks })
}
