//! A result of `fewest select`, `path`, `certify`, `evaluate`, `stability`, `knockoffs`, `study`,
//! `markers`, `compare` or `predict` as one HTML page: no network, no other file, light and dark, for print.
//!
//! [`page`] is a pure function of the result's JSON. Names in it come from data files: they are
//! shortened, their control characters made visible ([`visible`]), and the template escapes all
//! that it puts in. [`text`] is the same result as tables for a terminal. [`Proof::sentence`] says
//! the gap in words, on the page as in the terminal.

mod certified;
mod chart;
mod common;
mod comparison;
mod course;
mod evaluation;
mod guessing;
mod knockoffs;
mod markers;
mod measures;
mod near;
mod path;
mod prediction;
mod probabilities;
mod read;
mod selection;
mod stability;
mod study;
mod table;
mod text;
mod view;
mod words;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};
use serde_json::Value;

use read::Json;
use view::{Budget, Page, lay_out};

pub use fewest_text::visible;
pub use markers::panel_table;
pub use near::near_sentence;
pub use path::reach_sentence;
pub use table::{Style, Table};
pub use text::{Door, Words, add_words, text};
pub use view::shorten;
pub use words::{
    NOTHING_GAINED, Proof, SOME, at_most, bound, brief, elimination_steps, expected, groups, improved, number, percent,
    plural, problems, relative_gap, seconds, some,
};

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What the page may load and run: its own style and script, by their SHA-256, and nothing else. A
/// test holds the sums to the files.
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'sha256-TgwVf7MivtZIS0NBz95xizwzzlud9uwmHx23BAy5rkw='; script-src 'sha256-oMSjeKpF1UepwMElmy8L0wne7JziMcfNPyqjzkc59hU='; base-uri 'none'; form-action 'none'";

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The JSON is no result of `select`, `path`, `certify`, `evaluate`, `stability`, `knockoffs`,
    /// `study`, `markers`, `compare` or `predict`.
    NoResult,
    /// A chart or the template could not be made; a fault of ours.
    Broken(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::NoResult => f.write_str(
                "no result of `fewest select`, `path`, `certify`, `evaluate`, `stability`, `knockoffs`, `study`, `markers`, `compare` or `predict`",
            ),
            Error::Broken(why) => write!(f, "the report could not be made: {why}"),
        }
    }
}

impl std::error::Error for Error {}

/// The page of a result, as written by `--json`.
///
/// # Errors
/// A JSON that is no such result.
pub fn page(result: &Value) -> Result<String, Error> {
    let (part, budget) = (Json(result), Budget::new());
    let page = match kind(part).ok_or(Error::NoResult)? {
        "path" => path::page(part, &budget),
        "study" => study::page(part, &budget),
        "markers" => markers::page(part, &budget),
        "comparison" => comparison::page(part, &budget),
        "stability" => stability::page(part, &budget),
        "knockoffs" => knockoffs::page(part, &budget),
        "prediction" => prediction::page(part, &budget),
        "evaluation" => evaluation::page(part, &budget),
        "selection" | "certificate" => selection::page(part, &budget),
        _ => return Err(Error::NoResult),
    };
    page.and_then(|mut page| render(&mut page)).map_err(Error::Broken)
}

/// The kind of a result; those of versions before 0.1.0 did not all say it.
pub(crate) fn kind(result: Json<'_>) -> Option<&str> {
    result.at("kind").text().or_else(|| match () {
        () if result.at("path").0.is_array() => Some("path"),
        () if result.at("folds").0.is_array() => Some("evaluation"),
        () if result.at("selected").0.is_array() && result.at("status").0.is_string() => Some("selection"),
        () => None,
    })
}

fn render(page: &mut Page) -> Result<String, String> {
    lay_out(&mut page.sections);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.map_err(|error| error.to_string())?);
    environment.add_template("page.html", TEMPLATE).map_err(|error| error.to_string())?;
    let template = environment.get_template("page.html").map_err(|error| error.to_string())?;
    template
        .render(context! { page => Serde(page), style => STYLE, script => SCRIPT, policy => POLICY })
        .map_err(|error| format!("{error:#}"))
}

#[cfg(test)]
mod tests;
