//! JSON text.

use std::fmt::Write as _;

use serde_json::Value;

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
    use super::text;
    use serde_json::{Value, json};

    #[test]
    fn indented_text_is_the_same_json() {
        let value = json!({"a": [1, 2.5, "x\"y"], "b": {"c": [[1, 2], [3, 4]], "d": [{"e": 1}, {"e": null}]}, "f": {}, "g": [[1, 2, 3]]});
        let text = text(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(text.contains("\"a\": [1, 2.5, \"x\\\"y\"]") && text.ends_with("}\n"), "{text}");
    }
}
