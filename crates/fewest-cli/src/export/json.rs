//! JSON text.

use std::borrow::Cow;
use std::io::{self, Write};

use fewest::Ranked;
use fewest_data::Names;
use fewest_result::Place;
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
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
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.indented(0, out)?;
        out.write_all(b"\n")
    }

    fn indented(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Document::Value(value) => out.write_all(&whole(value, depth)),
            Document::Object(entries) => list(entries, "{}", Some(depth), out, |(key, item), out| {
                write!(out, "{}: ", json(key)?)?;
                item.indented(depth + 1, out)
            }),
            Document::Ranking([], _) => out.write_all(b"[]"),
            Document::List(items) => list(items, "[]", Some(depth), out, |item, out| item.indented(depth + 1, out)),
            Document::Ranking(ranking, names) => list(*ranking, "[]", Some(depth), out, |ranked, out| {
                place(ranked, names).serialize(&mut Serializer::with_formatter(out, OneLine)).map_err(io::Error::from)
            }),
        }
    }

    /// The document as a tree of values.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Document::Value(value) => value,
            Document::Object(entries) => {
                Value::Object(entries.into_iter().map(|(key, item)| (key, item.into_value())).collect())
            }
            Document::List(items) => items.into_iter().map(Document::into_value).collect(),
            Document::Ranking(ranking, names) => {
                ranking.iter().map(|ranked| serde_json::json!(place(ranked, names))).collect()
            }
        }
    }
}

impl From<Map<String, Value>> for Document<'_> {
    fn from(map: Map<String, Value>) -> Self {
        Document::Object(map.into_iter().map(|(key, value)| (key, Document::Value(value))).collect())
    }
}

/// A place of a ranking.
fn place<'n>(ranked: &Ranked, names: &'n Names) -> Place<Cow<'n, str>> {
    Place::new(ranked, names.get(ranked.feature))
}

/// An object in one line, as [`indented`] writes a short one.
struct OneLine;

impl Formatter for OneLine {
    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }
}

fn json<T: Serialize + ?Sized>(value: &T) -> io::Result<String> {
    Ok(serde_json::to_string(value)?)
}

/// Indented JSON with short lists of plain values on one line, and a line end.
pub(crate) fn text(value: &Value) -> String {
    let mut out = whole(value, 0);
    out.push(b'\n');
    String::from_utf8(out).unwrap_or_default()
}

fn whole(value: &Value, depth: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let wrote = indented(value, depth, &mut out);
    debug_assert!(wrote.is_ok(), "memory takes all");
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

fn indented(value: &Value, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    let lines = Some(depth).filter(|_| !is_short(value));
    match value {
        Value::Array(items) => list(items, "[]", lines, out, |item, out| indented(item, depth + 1, out)),
        Value::Object(map) => {
            let lines = lines.or(Some(depth).filter(|depth| *depth == 0 && !map.is_empty()));
            list(map, "{}", lines, out, |(key, item), out| {
                write!(out, "{}: ", json(key)?)?;
                indented(item, depth + 1, out)
            })
        }
        plain => write!(out, "{plain}"),
    }
}

/// Items between brackets: one a line at this depth, or all on one line.
fn list<T>(
    items: impl IntoIterator<Item = T>,
    brackets: &str,
    depth: Option<usize>,
    out: &mut dyn Write,
    write: impl Fn(T, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (open, close) = brackets.split_at(1);
    let new_line = |more| depth.map_or(String::new(), |depth| format!("\n{:1$}", "", 2 * depth + more));
    let (first, end) = (new_line(2), new_line(0));
    let next = if depth.is_some() { format!(",{first}") } else { ", ".to_owned() };
    out.write_all(open.as_bytes())?;
    for (at, item) in items.into_iter().enumerate() {
        out.write_all(if at == 0 { &first } else { &next }.as_bytes())?;
        write(item, out)?;
    }
    write!(out, "{end}{close}")
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
