//! The result of a selection as the contract has it.

use fewest::{Ranked, Status};
use fewest_data::Names;
use fewest_result::{Kind, Path, Selection, SizeChoice, entries};
use serde::Serialize;

use super::json::Document;

/// A selection as its file has it; the ranking is written as it is.
pub(crate) fn selection_document<'a>(
    kind: Kind,
    found: &Selection,
    ranking: &'a [Ranked],
    names: &'a Names,
) -> Document<'a> {
    with(&fewest_result::Document::new(kind, found), "ranking", Document::Ranking(ranking, names))
}

/// A path as its file has it.
pub(crate) fn path_document<'a>(results: Vec<Document<'a>>, cv: Option<SizeChoice>, command: &str) -> Document<'a> {
    let path = Path { path: Vec::new(), cv, command: command.to_owned() };
    with(&fewest_result::Document::new(Kind::Path, path), "path", Document::List(results))
}

/// A file with one entry that is written as it is.
fn with<'a, T: Serialize>(file: &T, name: &str, of: Document<'a>) -> Document<'a> {
    let mut all: Vec<(String, Document<'a>)> =
        entries(file).into_iter().map(|(key, value)| (key, Document::Value(value))).collect();
    if let Some(entry) = all.iter_mut().find(|entry| entry.0 == name) {
        entry.1 = of;
    }
    Document::Object(all)
}

/// The exit code that goes with a status.
pub(crate) fn exit_code(status: Status) -> u8 {
    match status {
        Status::Infeasible => 4,
        status if status.is_limit() => 3,
        _ => 0,
    }
}
