//! What a page shows of a list that `fewest certify` judged.

use crate::common::{list, number_cell};
use crate::read::Json;
use crate::view::{Block, Budget, Section, Table, numbers, shorten, words};

/// What the columns of the features mean.
const WORTH: &str = "Gain: by how much the objective rises where the feature is left out and the SVM is trained again. Best in its place: the \
                     feature outside the list that leaves the smallest objective when the two are exchanged, where the rules allow one.";

/// Whether the result is that of a list.
pub(crate) fn is_certified(result: Json<'_>) -> bool {
    result.at("kind").text() == Some("certificate")
}

/// Whether a better list is known.
pub(crate) fn is_beaten(result: Json<'_>) -> bool {
    result.at("better").items().len() > 0
}

/// How far the list is from the best, and the rules that it breaks.
pub(crate) fn findings(result: Json<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    if is_beaten(result) {
        let best = result.at("better").items().next().map(|better| better.at("selected").texts().join(", "));
        findings.extend(
            best.map(|names| format!("This list is not the best of its size; better: {}.", shorten(&names, 300))),
        );
    }
    findings.extend(result.at("sentence").text().map(|text| format!("{}.", sentence(text))));
    let broken = result.at("broken_rules").texts();
    if !broken.is_empty() {
        let rules = shorten(&broken.join("; "), 400);
        findings.push(format!("The list breaks rules: {rules}."));
    }
    findings
}

/// The sentence, which names features, with a capital.
fn sentence(text: &str) -> String {
    let text = shorten(text, 600);
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(char::to_uppercase).collect();
    first + chars.as_str()
}

/// What each feature is worth, and the lists that are better.
pub(crate) fn section(result: Json<'_>, budget: &Budget) -> Option<Section> {
    if !is_certified(result) {
        return None;
    }
    let features = result.at("features").items().filter_map(|feature| {
        let by = feature.at("replacement");
        Some(vec![
            budget.name(feature.at("name").text()?),
            number_cell(feature.at("gain").number()),
            budget.name(by.at("name").text().unwrap_or_default()),
            number_cell(by.at("objective").number()),
        ])
    });
    let columns = vec![words("feature"), numbers("gain"), words("best in its place"), numbers("objective then")];
    let worth = budget.table("What each feature of the list is worth", columns, features);
    let mut blocks = vec![Block::Table(Table { note: WORTH, ..worth })];
    let better: Vec<_> = result
        .at("better")
        .items()
        .map(|one| vec![number_cell(one.at("objective").number()), list(budget, &one.at("selected").texts())])
        .collect();
    if !better.is_empty() {
        let columns = vec![numbers("objective"), words("features")];
        blocks.push(Block::Table(budget.table("Lists that are better, best first", columns, better.into_iter())));
    }
    Some(Section::new("worth", "Gain of each feature", blocks))
}
