//! The page of `fewest markers`: the panel, what each marker is in each class, which classes it
//! tells apart, and what folds say of it.

use crate::chart::{Bar, Role, dot_plot};
use crate::common::{
    about, bar_chart, contents, groups, label, number_cell, proven, sentence_case, settings, status_words,
};
use crate::evaluation::{confusion, stability_words};
use crate::measures::{measured, worth};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, FIRST, Page, Section, Table, numbers, shorten, words};
use crate::words::{Proof, brief, percent, plural, seconds, short};

/// Markers that are drawn; the table has more.
const DRAWN: usize = 60;

/// The page of markers.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let count = result.at("panel").at("markers").items().len() as u64;
    let classes = result.at("classes").entries().count() as u64;
    let mut sections = Vec::new();
    sections.extend(expression(result, budget)?);
    sections.extend(confusions(result, budget)?);
    sections.push(about(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    let of = result.at("target").text().map_or_else(|| "classes".to_owned(), |target| shorten(target, 60));
    Ok(Page {
        title: format!("{} of {classes} classes of {of}", plural(count, "marker")),
        lead: format!(
            "{}. Each pair of classes has an SVM on the shared features, and each class weighs the same.",
            contents(result)
        ),
        answer: answer(result, budget)?,
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

fn answer(result: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let panel = result.at("panel");
    let folds = plural(result.at("folds").items().len() as u64, "fold");
    let dealt = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
    let finding = match measured(result.at("macro_f1")) {
        Some(f1) => {
            format!("Macro F1 {f1} on samples that took no part in the choice of the markers: {folds}{dealt}.")
        }
        None => "No fold was done: how well the panel does is not known.".to_owned(),
    };
    let mut weak = crate::common::warnings(result);
    let parts = crate::common::not_done(result);
    let status = result.at("status").text().unwrap_or_default();
    if !matches!(status, "completed" | "optimal") {
        weak.push(sentence_case(&format!("{}: {}", shorten(status, 20), status_words(status))));
    }
    weak.extend((!parts.is_empty()).then(|| format!("Not done for lack of time: {}.", parts.join(", "))));
    let poor = result.at("confused").items().next().map(|pair| {
        let text = |key: &str| shorten(pair.at(key).text().unwrap_or_default(), 40);
        let share = pair.at("share").number().map_or_else(String::new, percent);
        format!("{share} of {} are taken for {}.", text("class"), text("taken_for"))
    });
    weak.extend(poor);
    let mut facts: Vec<(&'static str, Cell)> = Vec::new();
    // The last level is that of the classes.
    let levels = result.at("levels").items();
    let coarse = levels.len().saturating_sub(1);
    let by_level = |level: Json<'_>| {
        let (name, f1) = (level.at("name").text()?, measured(level.at("macro_f1"))?);
        Some(format!("{}: {f1}", shorten(name, 40)))
    };
    let by_level: Vec<String> = levels.take(coarse).filter_map(by_level).collect();
    facts.extend((!by_level.is_empty()).then(|| ("macro F1 of coarser classes", by_level.join("; ").into())));
    facts.extend(crate::common::summed(result).map(|text| ("samples", text.into())));
    if let Some(alone) = measured(result.at("required").at("macro_f1")) {
        facts.push(("macro F1 of the required features alone", alone.into()));
        let brought = measured(result.at("required").at("difference"));
        facts.extend(brought.map(|brought| ("what the others bring", brought.into())));
    }
    if let Some(worst) = measured(result.at("without_one").at("worst")) {
        facts.push(("macro F1 without the marker whose loss is worst", worst.into()));
    }
    facts.extend(stability_words(result).map(|text| ("stability over folds", Cell::from(text))));
    if panel.is_there() {
        let text = |key: &str| panel.at(key).text().unwrap_or_default().to_owned();
        let cost = panel.at("cost").number().map_or_else(String::new, brief);
        facts.push(("model", format!("{}, {}, cost {cost}", text("multi_class"), text("loss")).into()));
    }
    facts.extend(result.at("seconds").number().map(|time| ("time", seconds(time).into())));
    let mut charts: Vec<Chart> = worth(result, "measures", budget)?.into_iter().collect();
    if panel.is_there() {
        charts.extend(proven(&proof(result), budget)?);
    }
    Ok(Answer { findings: vec![finding], fails: false, cautions: weak, panel: panel_of(result, budget), charts, facts })
}

/// The panel: rank, feature, class, how often it came back, and what may take its place.
fn panel_of(result: Json<'_>, budget: &Budget) -> Option<Table> {
    let markers = result.at("panel").at("markers");
    let share = |of: Json<'_>| of.number().map_or_else(|| "".into(), Cell::share);
    let rows: Vec<Vec<Cell>> = markers
        .items()
        .map(|marker| {
            let by = marker.at("replaceable_by").items().next().map(stand_in).unwrap_or_default();
            vec![
                marker.at("rank").count().unwrap_or(0).to_string().into(),
                budget.name(marker.at("feature").text().unwrap_or_default()),
                budget.name(marker.at("highest").text().unwrap_or_default()),
                share(marker.at("recurs")),
                budget.foreign(&by, 60),
            ]
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        numbers("rank"),
        words("feature"),
        words("highest in"),
        words("recurs in halves"),
        words("replaceable by"),
    ];
    let mut table =
        budget.table(format!("Panel of {}", plural(rows.len() as u64, "marker")), columns, rows.into_iter());
    table.note = "Recurs: share of random halves of the samples whose selection keeps the feature. Replaceable by: the exchange that costs least, in percent of the gain, one exchange at a time.";
    table.first = FIRST;
    Some(table)
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

/// Each marker in each class: a dot plot whose classes and markers are in one order, and a table.
fn expression(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
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
            mean.map_or_else(String::new, short).into(),
            share.map_or_else(String::new, percent).into(),
            budget.foreign(&pairs.join("; "), 120),
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
        words("replaceable by, share of the gain lost"),
    ];
    let table = budget.table("The markers", columns, markers.iter().map(row));
    // Markers of a class together, in the order of the classes: a diagonal.
    let place = |marker: &Json<'_>| {
        let means = numbers_of(*marker, "mean");
        (1..means.len()).fold(0, |best, class| if means[class] > means[best] { class } else { best })
    };
    let mut drawn: Vec<Json<'_>> = markers[..markers.len().min(DRAWN)].to_vec();
    drawn.sort_by_key(place);
    let names: Vec<String> =
        drawn.iter().map(|marker| label(marker.at("feature").text().unwrap_or_default())).collect();
    let relative = |marker: &Json<'_>| -> Vec<(f64, f64)> {
        let (means, shares) = (numbers_of(*marker, "mean"), numbers_of(*marker, "share"));
        let most = means.iter().fold(0.0_f64, |most, mean| most.max(mean.abs()));
        let strength = |mean: &f64| if most > 0.0 { (mean / most).abs() } else { 0.0 };
        (0..classes.len())
            .map(|at| (shares.get(at).copied().unwrap_or(0.0), means.get(at).map_or(0.0, strength)))
            .collect()
    };
    let values: Vec<Vec<(f64, f64)>> = drawn.iter().map(relative).collect();
    let heads: Vec<String> = classes.iter().map(|name| label(name)).collect();
    let chart = Block::Chart(Chart {
        id: "means",
        title: "Expression of the markers by class".to_owned(),
        summary: "Size: share of the samples of the class above 0; colour: mean, relative to the largest of the marker. Markers are in the order of the class where their mean is largest.".to_owned(),
        svg: dot_plot(&names, &heads, &values)?,
        table: budget.table(
            "Mean of each marker in each class",
            vec![words("marker"), words("class"), numbers("mean"), numbers("share above 0")],
            drawn.iter().flat_map(|marker| means_of(*marker, &classes, budget)),
        ),
    });
    let blocks = [chart].into_iter().chain(f1_by_class(result, budget)?).chain([Block::Table(table)]).collect();
    Ok(Some(Section::new("markers", "Markers and classes", blocks)))
}

/// Mean and share of a marker in each class.
fn means_of(marker: Json<'_>, classes: &[&str], budget: &Budget) -> Vec<Vec<Cell>> {
    let (means, shares) = (numbers_of(marker, "mean"), numbers_of(marker, "share"));
    let row = |(at, class): (usize, &&str)| {
        vec![
            budget.name(marker.at("feature").text().unwrap_or_default()),
            budget.name(class),
            number_cell(means.get(at).copied()),
            shares.get(at).map_or_else(|| "".into(), |share| percent(*share).into()),
        ]
    };
    classes.iter().enumerate().map(row).collect()
}

/// F1 of each class in the folds.
fn f1_by_class(result: Json<'_>, budget: &Budget) -> Result<Option<Block>, String> {
    let share = |part: Json<'_>| Cell::from(part.number().map_or_else(String::new, |share| format!("{share:.3}")));
    let rows: Vec<(Bar, Vec<Cell>)> = result
        .at("by_class")
        .items()
        .map(|class| {
            let (name, samples) =
                (class.at("class").text().unwrap_or_default(), class.at("samples").count().unwrap_or(0));
            let f1 = class.at("f1").number();
            let text = f1.map_or_else(String::new, |f1| format!("{f1:.3} (n = {samples})"));
            let cells = vec![
                budget.name(name),
                samples.to_string().into(),
                share(class.at("recall")),
                share(class.at("precision")),
                share(class.at("f1")),
            ];
            (Bar { label: label(name), value: f1.unwrap_or(0.0), text, role: Role::First }, cells)
        })
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let columns = vec![words("class"), numbers("samples"), numbers("recall"), numbers("precision"), numbers("F1")];
    let table = budget.table("Each class, on samples held out", columns, rows.iter().map(|row| row.1.clone()));
    let summary = "F1 on samples held out, and their number.".to_owned();
    bar_chart("by-class", "F1 by class", summary, &rows, table).map(Some)
}

/// The confusion matrix, and the pairs of classes that are taken for each other most.
fn confusions(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let mut blocks = Vec::new();
    blocks.extend(confusion(result, budget, "confusion")?);
    let poor = result.at("confused").items().map(|pair| {
        vec![
            budget.name(pair.at("class").text().unwrap_or_default()),
            budget.name(pair.at("taken_for").text().unwrap_or_default()),
            pair.at("samples").count().unwrap_or(0).to_string().into(),
            pair.at("share").number().map_or_else(String::new, percent).into(),
        ]
    });
    let columns = vec![words("class"), words("predicted"), numbers("samples"), numbers("share of the class")];
    let table = budget.table("Most frequent confusions", columns, poor);
    if !table.rows.is_empty() {
        blocks.push(Block::Table(table));
    }
    Ok(Section::new("classes", "Confusion of classes", blocks).some())
}
