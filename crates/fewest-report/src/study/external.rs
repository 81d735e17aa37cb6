//! The panel on the samples of another file, on the page of a study.

use crate::evaluation::{by_class, confusion, wrong};
use crate::guessing::guessing;
use crate::measures::{interval, measured, worth};
use crate::probabilities::{calibration, roc};
use crate::read::Json;
use crate::view::{Block, Budget, Section, Table, shorten};
use crate::words::{percent, plural};

/// How many samples of which file were judged, and how many were left out.
pub(crate) fn samples(external: Json<'_>) -> Option<String> {
    let (scored, file) = (external.at("scored").count()?, external.at("data").text().unwrap_or("another file"));
    let unknown = match external.at("unknown_class").count() {
        None | Some(0) => String::new(),
        Some(count) => format!("; {count} of a class that the panel does not know are left out"),
    };
    Some(format!("{} of {}{unknown}", plural(scored, "sample"), shorten(file, 80)))
}

/// `accuracy 0.930 (0.900 to 0.950), AUC 0.980 (0.960 to 0.990); 200 samples of other.csv`
pub(crate) fn line(result: Json<'_>) -> Option<String> {
    let external = result.at("external");
    let one =
        |(name, label): (&str, &str)| measured(external.at("summary").at(name)).map(|value| format!("{label} {value}"));
    let worth: Vec<String> = [("accuracy", "accuracy"), ("auc", "AUC")].into_iter().filter_map(one).collect();
    Some(format!("{}; {}", worth.join(", "), samples(external)?))
}

/// What the panel is worth there.
pub(super) fn section(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let external = result.at("external");
    let Some(samples) = samples(external) else { return Ok(None) };
    let mut blocks =
        vec![Block::Text(format!("The panel's classifier, as it is, without another training: {samples}."))];
    let accuracy = external.at("summary").at("accuracy");
    if let Some(mean) = accuracy.at("mean").number() {
        let between = interval(accuracy, 1.0)
            .map_or_else(String::new, |(low, high)| format!(" (95 % interval {} to {})", percent(low), percent(high)));
        blocks.push(Block::Finding(format!("Right on {} of them{between}.", percent(mean))));
        blocks.extend(guessing(external).map(Block::Warning));
    }
    blocks.extend(worth(external, "external-measures", budget)?.map(Block::Chart));
    blocks.extend(roc(external, budget, "external-roc")?.map(Block::Chart));
    blocks.extend(calibration(external, budget, "external-calibration")?.map(Block::Chart));
    blocks.extend(confusion(external, budget, "external-confusion")?);
    blocks.extend(by_class(external, budget).map(elsewhere));
    let listed = wrong(external, result.at("settings"), budget);
    blocks.extend(listed.into_iter().flat_map(|section| section.blocks).map(elsewhere));
    Ok(Some(Section::new("external", "External validation", blocks)))
}

/// A table whose caption says that it is of the other file, as the page has one of the study, too.
fn elsewhere(block: Block) -> Block {
    match block {
        Block::Table(table) => Block::Table(Table { caption: format!("The other file: {}", table.caption), ..table }),
        other => other,
    }
}
