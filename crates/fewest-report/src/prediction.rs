//! The page of `fewest predict`: what a model is worth on samples that took no part in its making.

use crate::chart::{Bar, Role};
use crate::common::{about, bar_chart, cautions, label, list, settings};
use crate::evaluation::{by_class, confusion, wrong};
use crate::guessing::guessing;
use crate::measures::{interval, worth};
use crate::probabilities::{calibration_sentence, probabilities};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, Page, Section, numbers, shorten, words};
use crate::words::{percent, plural};

/// The page of predictions.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let judged = result.at("metrics").is_there();
    let mut sections = Vec::new();
    sections.extend(probabilities(result, budget)?);
    let mut blocks = Vec::new();
    blocks.extend(confusion(result, budget, "confusion")?);
    blocks.extend(by_class(result, budget));
    sections.extend(Section::new("performance", "Performance by class", blocks).some());
    sections.extend(losses(result));
    sections.extend(wrong(result, result.at("settings"), budget));
    sections.extend(predicted(result, budget)?);
    sections.push(about(budget, result)?);
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
    Ok(Page { title, lead, answer: answer(result, budget)?, sections, version })
}

/// What a reader with half a minute needs.
fn answer(result: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let accuracy = result.at("summary").at("accuracy");
    let finding = match accuracy.at("mean").number() {
        Some(mean) => {
            let between = interval(accuracy, 1.0).map_or_else(String::new, |(low, high)| {
                format!(" (95 % interval {} to {})", percent(low), percent(high))
            });
            format!("Right on {} of the samples{between}.", percent(mean))
        }
        None => "How well the model does is not known here.".to_owned(),
    };
    let mut facts = Vec::new();
    facts.extend(result.at("model").text().map(|model| ("model", budget.foreign(model, 200))));
    facts.push(("features", list(budget, &result.at("selected").texts())));
    let how = "Intervals are those of independent samples: Wilson's for shares, these together for balanced accuracy, F1 and MCC, Newcombe's for the AUC; the model is taken as it is.";
    let charts = worth(result, "measures", budget)?.into_iter();
    let charts = charts.map(|chart| Chart { summary: format!("{} {how}", chart.summary), ..chart }).collect();
    let guessed = guessing(result);
    let fails = guessed.is_some();
    let findings = guessed.into_iter().chain([finding]).collect();
    Ok(Answer { findings, fails, cautions: cautions(result), panel: None, charts, facts })
}

/// The losses of the probabilities.
fn losses(result: Json<'_>) -> Option<Section> {
    let of = |key: &str| result.at("metrics").at(key).number();
    let (log_loss, brier) = (of("log_loss")?, of("brier")?);
    let mut blocks = vec![Block::Text(format!(
        "Log-loss {log_loss:.4} (mean of -ln of the probability of the true class), Brier score {brier:.4} (mean squared difference of probabilities and class)."
    ))];
    if let Some(sentence) = calibration_sentence(result) {
        blocks.push(Block::Text(format!(
            "{sentence} Slope and intercept: logistic regression of the class on the logarithm of the odds that the model gives (D. R. Cox, Biometrika 45 (1958), 562-565). A slope below 1 says that the probabilities are too extreme."
        )));
    }
    Some(Section::new("losses", "Probabilities", blocks))
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
    Ok(Some(Section::new("predicted", "Predicted classes", vec![chart])))
}
