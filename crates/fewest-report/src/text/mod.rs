//! A result as the tables of the terminal, a function of its JSON as the page is.

mod comparison;
mod evaluation;
mod knockoffs;
mod markers;
mod prediction;
mod stability;
mod study;

use serde_json::{Value, json};

use crate::read::Json;
use crate::table::Style;

/// Features listed in a table, at least.
const ROWS: usize = 20;

/// Who says it: how text is laid out, and what the caller has to add.
#[derive(Debug, Clone, Copy)]
pub struct Door<'a> {
    /// The style.
    pub style: Style,
    /// The words of the caller.
    pub words: &'a Words,
    /// How features are scaled, in words; none: the caller does not know.
    pub scaling: Option<&'a str>,
}

/// Words of a door.
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The place of the rows that a table leaves out: `--json FILE holds them all`.
    pub rest: &'static str,
    /// The setting for false features that are expected.
    pub max_false: &'static str,
    /// The setting for the share of false features.
    pub fdr: &'static str,
    /// The way to stable features.
    pub stability: &'static str,
    /// The setting that tries sizes up to a number of features: `--max-features 1..20`.
    pub sizes: fn(u64) -> String,
    /// What helps where a class is rare.
    pub rare: &'static str,
}

impl Door<'_> {
    /// The line below a table that leaves out `rows` rows.
    fn more(self, rows: usize) -> String {
        if rows > 0 { format!("... and {rows} more; {}\n", self.words.rest) } else { String::new() }
    }
}

/// The tables of a result of `evaluate`, `stability`, `knockoffs`, `study`, `markers`, `compare` or `predict`;
/// none for other JSON.
pub fn text(result: &Value, door: Door<'_>) -> Option<String> {
    let result = Json(result);
    match crate::kind(result) {
        Some("study") => Some(study::text(result, door)),
        Some("markers") => Some(markers::text(result, door)),
        Some("comparison") => Some(comparison::text(result, door)),
        Some("stability") => Some(stability::text(result, door)),
        Some("prediction") => Some(prediction::text(result, door)),
        Some("knockoffs") => Some(knockoffs::text(result, door)),
        Some("evaluation") => Some(evaluation::text(result, door)),
        _ => None,
    }
}

/// Adds words to the JSON of a study: the sentences for the methods part of a paper (an
/// item of TRIPOD+AI and what was done), and, first of its warnings, what its reader must know first: that
/// no feature is of use, or that the panel is no better than guessing. That is returned, in the words of a
/// door.
pub fn add_words(study: &mut Value, words: &Words) -> Option<String> {
    let verdict = crate::guessing::verdict(Json(study), words.rare);
    if let (Some(text), Some(warnings)) = (&verdict, study["warnings"].as_array_mut()) {
        warnings.insert(0, text.as_str().into());
    }
    let sentences = crate::study::methods_text::methods_text(Json(study));
    study["methods_text"] = sentences.iter().map(|(item, text)| json!({"item": item, "text": text})).collect();
    verdict
}

/// A cell that says whether a feature is one of the chosen.
fn yes(is_chosen: bool) -> String {
    if is_chosen { "yes".to_owned() } else { String::new() }
}

/// The scaling, where it is known.
fn scaling(door: Door<'_>) -> Option<(&'static str, String)> {
    Some(("scaling", door.scaling?.to_owned()))
}

/// Parts that time did not allow, in words.
fn left(result: Json<'_>) -> Option<String> {
    let parts = crate::common::not_done(result);
    (!parts.is_empty()).then(|| format!("for lack of time: {}", parts.join(", ")))
}
