//! JSON text.

use std::fmt::Write as _;
use std::io::{self, Write};

use fewest::Ranked;
use fewest_data::Names;
use serde_json::{Map, Value};

/// What becomes a JSON file. A ranking may be of a million features, and as a tree of values it
/// would take longer to make, to write and to free than many a run takes; so it is kept as it is
/// and written line by line.
#[derive(Debug, Clone)]
pub(crate) enum Document<'a> {
    /// Anything short.
    Value(Value),
    /// Entries in their order.
    Object(Vec<(String, Document<'a>)>),
    /// Items in their order.
    List(Vec<Document<'a>>),
    /// A ranking, and the names of its features.
    Ranking(&'a [Ranked], &'a Names),
}

impl Document<'_> {
    /// Writes it as [`text`] does.
    ///
    /// # Errors
    /// Those of `out`.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.indented(0, out)?;
        out.write_all(b"\n")
    }

    fn indented(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        let next = |out: &mut dyn Write, at: usize| {
            out.write_all(if at == 0 { b"\n" } else { b",\n" })?;
            write!(out, "{:1$}", "", 2 * depth + 2)
        };
        match self {
            Document::Value(value) => {
                let mut text = String::new();
                indented(value, depth, &mut text);
                return out.write_all(text.as_bytes());
            }
            Document::Object(entries) => {
                out.write_all(b"{")?;
                for (at, (key, item)) in entries.iter().enumerate() {
                    next(out, at)?;
                    write!(out, "{}: ", Value::from(key.as_str()))?;
                    item.indented(depth + 1, out)?;
                }
            }
            Document::Ranking([], _) => return out.write_all(b"[]"),
            Document::List(items) => {
                out.write_all(b"[")?;
                for (at, item) in items.iter().enumerate() {
                    next(out, at)?;
                    item.indented(depth + 1, out)?;
                }
            }
            Document::Ranking(ranking, names) => {
                let (start, mut line) = (format!(",\n{:1$}", "", 2 * depth + 2), Vec::new());
                out.write_all(b"[")?;
                for (at, ranked) in ranking.iter().enumerate() {
                    line.clear();
                    line.extend_from_slice(&start.as_bytes()[usize::from(at == 0)..]);
                    entry(ranked, names, &mut line)?;
                    out.write_all(&line)?;
                }
            }
        }
        write!(out, "\n{:1$}", "", 2 * depth)?;
        out.write_all(if matches!(self, Document::Object(_)) { b"}" } else { b"]" })
    }

    /// The document as a tree of values.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Document::Value(value) => value,
            Document::Object(entries) => {
                Value::Object(entries.into_iter().map(|(key, item)| (key, item.into_value())).collect())
            }
            Document::List(items) => items.into_iter().map(Document::into_value).collect(),
            Document::Ranking(ranking, names) => ranking.iter().map(|ranked| place(ranked, names)).collect(),
        }
    }
}

impl From<Map<String, Value>> for Document<'_> {
    fn from(map: Map<String, Value>) -> Self {
        Document::Object(map.into_iter().map(|(key, value)| (key, Document::Value(value))).collect())
    }
}

/// A place of a ranking.
fn place(ranked: &Ranked, names: &Names) -> Value {
    let Ranked { feature, rank, step, criterion } = *ranked;
    serde_json::json!({
        "feature": names.get(feature), "index": feature, "rank": rank, "step": step, "criterion": criterion
    })
}

/// [`place`] in one line.
fn entry(ranked: &Ranked, names: &Names, mut out: &mut Vec<u8>) -> io::Result<()> {
    let Ranked { feature, rank, step, criterion } = *ranked;
    out.write_all(b"{\"feature\": ")?;
    serde_json::to_writer(&mut out, &*names.get(feature))?;
    out.write_all(b", \"index\": ")?;
    serde_json::to_writer(&mut out, &feature)?;
    out.write_all(b", \"rank\": ")?;
    serde_json::to_writer(&mut out, &rank)?;
    out.write_all(b", \"step\": ")?;
    serde_json::to_writer(&mut out, &step)?;
    out.write_all(b", \"criterion\": ")?;
    serde_json::to_writer(&mut out, &criterion)?;
    out.write_all(b"}")
}

/// Indented JSON with short lists of plain values on one line, and a line end.
pub(crate) fn text(value: &Value) -> String {
    let mut out = String::new();
    indented(value, 0, &mut out);
    out.push('\n');
    out
}

fn is_plain(value: &Value) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// Whether the value stays on one line: lists of plain values or pairs, and small objects of plain
/// values.
fn is_short(value: &Value) -> bool {
    match value {
        Value::Array(items) => {
            items.iter().all(|v| is_plain(v) || v.as_array().is_some_and(|a| a.len() <= 2 && a.iter().all(is_plain)))
        }
        Value::Object(map) => map.len() <= 5 && map.values().all(is_plain),
        _ => true,
    }
}

fn indented(value: &Value, depth: usize, out: &mut String) {
    let indent = |out: &mut String, depth: usize| (0..depth).for_each(|_| out.push_str("  "));
    match value {
        Value::Array(items) if !is_short(value) => {
            out.push_str("[\n");
            for (at, item) in items.iter().enumerate() {
                indent(out, depth + 1);
                indented(item, depth + 1, out);
                out.push_str(if at + 1 < items.len() { ",\n" } else { "\n" });
            }
            indent(out, depth);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() && (depth == 0 || !is_short(value)) => {
            out.push_str("{\n");
            for (at, (key, item)) in map.iter().enumerate() {
                indent(out, depth + 1);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                indented(item, depth + 1, out);
                out.push_str(if at + 1 < map.len() { ",\n" } else { "\n" });
            }
            indent(out, depth);
            out.push('}');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                let _ = write!(out, "{comma}{}: {item}", Value::from(key.as_str()));
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { ", " });
                indented(item, depth + 1, out);
            }
            out.push(']');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use fewest::Ranked;
    use fewest_data::Names;
    use serde_json::{Value, json};

    use super::{Document, text};

    #[test]
    fn a_ranking_is_written_as_its_values_would_be() {
        let names = Names::Listed(vec!["a\"b".to_owned(), "\u{1}".to_owned(), "c".to_owned()]);
        let place = |feature, step, criterion| Ranked { feature, rank: feature + 1, step, criterion };
        let ranking = [place(1, None, 0.1), place(0, Some(2), 1e-300), place(2, Some(1), f64::INFINITY)];
        let document = |ranking| {
            let result = Document::Object(vec![
                ("objective".to_owned(), Document::Value(json!(1.5))),
                ("ranking".to_owned(), Document::Ranking(ranking, &names)),
                ("model".to_owned(), Document::Value(json!({"w": [[1, 2], [3, 4]], "d": [{"e": 1}]}))),
            ]);
            Document::Object(vec![("path".to_owned(), Document::List(vec![result]))])
        };
        for ranking in [&ranking[..], &[]] {
            let mut written = Vec::new();
            document(ranking).write(&mut written).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), text(&document(ranking).into_value()));
        }
        assert!(text(&document(&ranking).into_value()).contains("\"criterion\": null"), "no infinity leaves");
    }

    #[test]
    fn indented_text_is_the_same_json() {
        let value = json!({"a": [1, 2.5, "x\"y"], "b": {"c": [[1, 2], [3, 4]], "d": [{"e": 1}, {"e": null}]}, "f": {}, "g": [[1, 2, 3]]});
        let text = text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\"a\": [1, 2.5, \"x\\\"y\"]") && text.ends_with("}\n"), "{text}");
    }
}
