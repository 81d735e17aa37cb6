//! The page of `fewest predict`: what a model is worth on samples that took no part in its making.

use crate::chart::{Bar, Role};
use crate::common::{balance, bar_chart, data, label, list, settings};
use crate::evaluation::{by_class, confusion, interval, measure_words, wrong};
use crate::guessing::guessing;
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Page, Section, numbers, shorten, words};
use crate::words::{percent, plural};

/// Measures that are no shares: they are not drawn beside the others.
pub(crate) const NO_SHARES: [&str; 2] = ["log_loss", "brier"];

/// The page of predictions.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let judged = result.at("metrics").is_there();
    let mut sections = vec![summary(result, budget)?];
    sections.extend(by_class(result, budget));
    sections.extend(confusion(result, budget, "Samples"));
    sections.extend(calibration(result));
    sections.extend(wrong(result, result.at("settings"), budget));
    sections.extend(predicted(result, budget)?);
    sections.extend(balance(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    let name = shorten(result.at("model").text().unwrap_or("an unnamed model"), 60);
    let title =
        if judged { format!("{name}, judged on other samples") } else { format!("What {name} says of samples") };
    let lead = match (result.at("scored").count(), result.at("unknown_class").count()) {
        (Some(scored), Some(0)) => format!("{} whose class is known.", plural(scored, "sample")),
        (Some(scored), Some(unknown)) => format!(
            "{} whose class is known; {unknown} of a class that the model does not know are left out.",
            plural(scored, "sample")
        ),
        _ => "The samples have no class to compare with.".to_owned(),
    };
    let version = shorten(result.at("version").text().unwrap_or("an unnamed version"), 40);
    Ok(Page { title, lead, sections, version })
}

/// What a reader with half a minute needs.
fn summary(result: Json<'_>, budget: &Budget) -> Result<Section, String> {
    let mut blocks = Vec::new();
    let accuracy = result.at("summary").at("accuracy");
    match accuracy.at("mean").number() {
        Some(mean) => {
            let between = interval(accuracy, 1.0).map_or_else(String::new, |(low, high)| {
                format!(" (95 % interval {} to {})", percent(low), percent(high))
            });
            blocks.push(Block::Finding(format!("Right on {} of the samples{between}.", percent(mean))));
            blocks.extend(guessing(result));
        }
        None => blocks.push(Block::Text("How well the model does is not known here.".to_owned())),
    }
    let mut pairs = Vec::new();
    if let Some(model) = result.at("model").text() {
        pairs.push(("model", budget.foreign(model, 200)));
    }
    pairs.push(("features", list(budget, &result.at("selected").texts())));
    pairs.extend(data(budget, result));
    blocks.push(Block::Pairs(pairs));
    blocks.extend(measures(result, budget, "measures")?);
    Ok(Section { id: "summary", heading: "How well it does".to_owned(), blocks })
}

/// All measures, with the intervals of those that have one; `id` is the anchor of the chart.
pub(crate) fn measures(result: Json<'_>, budget: &Budget, id: &'static str) -> Result<Option<Block>, String> {
    let each: Vec<(&str, f64, Vec<Cell>)> = result
        .at("summary")
        .entries()
        .filter_map(|(name, measure)| {
            let value = measure.at("mean").number()?;
            let ends = interval(measure, 1.0);
            let end = |end: Option<f64>| Cell::from(end.map_or_else(String::new, |end| format!("{end:.4}")));
            let (low, high) = (end(ends.map(|ends| ends.0)), end(ends.map(|ends| ends.1)));
            Some((name, value, vec![measure_words(name).into(), format!("{value:.4}").into(), low, high]))
        })
        .collect();
    if each.is_empty() {
        return Ok(None);
    }
    let columns = vec![words("measure"), numbers("value"), numbers("95 % from"), numbers("95 % to")];
    let table = budget.table("Each measure on these samples", columns, each.iter().map(|entry| entry.2.clone()));
    let drawn = each.into_iter().filter(|(name, ..)| !NO_SHARES.contains(name));
    let drawn: Vec<(Bar, Vec<Cell>)> = drawn
        .map(|(name, value, cells)| {
            let bar = Bar { label: measure_words(name), value, text: format!("{value:.3}"), role: Role::First };
            (bar, cells)
        })
        .collect();
    let summary = "Intervals are those of independent samples: Wilson's for shares, these together for balanced accuracy, F1 and MCC, Newcombe's for the AUC, Student's for mean losses; the model is taken as it is.";
    bar_chart(id, "Measures", summary.to_owned(), &drawn, table).map(Some)
}

/// What the probabilities are worth, and whether they mean what they say.
fn calibration(result: Json<'_>) -> Option<Section> {
    let of = |key: &str| result.at("metrics").at(key).number();
    let (log_loss, brier) = (of("log_loss")?, of("brier")?);
    let mut blocks = vec![Block::Text(format!(
        "Log-loss {log_loss:.4} (mean of -ln of the probability of the true class), Brier score {brier:.4} (mean squared difference of probabilities and class)."
    ))];
    let heading = "Do the probabilities mean what they say".to_owned();
    let Some(sentence) = calibration_sentence(result) else {
        return Some(Section { id: "calibration", heading, blocks });
    };
    blocks.push(Block::Text(sentence));
    let what = "Slope and intercept: logistic regression of the class on the logarithm of the odds that the model gives (D. R. Cox, Biometrika 45 (1958), 562-565). A slope below 1 says that the probabilities are too extreme.";
    blocks.push(Block::Text(what.to_owned()));
    Some(Section { id: "calibration", heading, blocks })
}

/// `Probability of the class a: 0.310 on average, its share is 0.340; slope 0.930, intercept 0.120`
pub(crate) fn calibration_sentence(result: Json<'_>) -> Option<String> {
    let line = result.at("calibration");
    let (expected, observed) = (line.at("expected").number()?, line.at("observed").number()?);
    let class = shorten(result.at("classes").at("+1").text().unwrap_or("+1"), 40);
    let slope = match (line.at("slope").number(), line.at("intercept").number()) {
        (Some(slope), Some(intercept)) => {
            format!("slope {slope:.3}, intercept {intercept:.3} (right ones have 1 and 0)")
        }
        _ => "no slope, as the classes are apart or the probabilities all but the same".to_owned(),
    };
    Some(format!("Probability of the class {class}: {expected:.3} on average, its share is {observed:.3}; {slope}."))
}

/// How many samples each class was predicted of, where nothing else is known.
fn predicted(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    if result.at("metrics").is_there() {
        return Ok(None);
    }
    let rows: Vec<(Bar, Vec<Cell>)> = result
        .at("predicted_counts")
        .entries()
        .filter_map(|(key, count)| {
            let (name, count) = (result.at("classes").at(key).text().unwrap_or(key), count.count()?);
            let bar = Bar { label: label(name), value: count as f64, text: count.to_string(), role: Role::First };
            Some((bar, vec![budget.name(name), count.to_string().into()]))
        })
        .collect();
    if rows.is_empty() {
        return Ok(None);
    }
    let columns = vec![words("class"), numbers("samples")];
    let table = budget.table("Samples that each class is predicted of", columns, rows.iter().map(|r| r.1.clone()));
    let summary = plural(result.at("n_samples").count().unwrap_or(0), "sample");
    let chart = bar_chart("predicted-chart", "Predicted classes", summary, &rows, table)?;
    Ok(Some(Section { id: "predicted", heading: "What is predicted".to_owned(), blocks: vec![chart] }))
}
