//! JSON text, and the result of a selection as the contract has it.

use std::fmt::Write as _;

use fewest::{Selection, Status, Subset};
use fewest_data::{Names, Target};
use serde_json::{Map, Value, json};

use super::model_json::{SCHEMA, Trained, classes_value, counts_value};

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

/// Whether the value stays on one line: lists of plain values or pairs, and small objects of plain values.
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
    let indent = |out: &mut String, depth: usize| out.push_str(&"  ".repeat(depth));
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

/// Everything a selection result is made of.
pub(crate) struct SelectionResult<'a> {
    /// Method name.
    pub(crate) method: &'a str,
    /// Outcome and ranking.
    pub(crate) selection: &'a Selection,
    /// Feature names.
    pub(crate) names: &'a Names,
    /// Classes.
    pub(crate) target: &'a Target,
    /// Number of samples.
    pub(crate) n_samples: usize,
    /// Options in force.
    pub(crate) settings: Map<String, Value>,
    /// The SVM on the chosen features.
    pub(crate) model: Option<&'a Trained>,
    /// How far the subset is from the best of its size, where that was asked for.
    pub(crate) certificate: Option<Value>,
    /// What the method alone reports, and the story of the run.
    pub(crate) more: Map<String, Value>,
}

impl SelectionResult<'_> {
    /// The chosen features, ascending.
    pub(crate) fn indices(&self) -> Vec<usize> {
        self.selection.outcome.subset.as_ref().map_or_else(Vec::new, |s| s.iter().collect())
    }

    /// The whole result.
    pub(crate) fn value(&self) -> Value {
        let outcome = &self.selection.outcome;
        let indices = self.indices();
        let named = |j: &usize| self.names.get(*j).into_owned();
        let selected: Vec<String> = indices.iter().map(named).collect();
        let solution = |subset: &Subset, objective: Option<f64>| {
            let indices: Vec<usize> = subset.iter().collect();
            let selected: Vec<String> = indices.iter().map(named).collect();
            json!({"selected": selected, "selected_indices": indices, "objective": objective})
        };
        let ranking: Vec<Value> = self
            .selection
            .ranking
            .iter()
            .map(|r| {
                json!({"feature": named(&r.feature), "index": r.feature, "rank": r.rank, "step": r.step, "criterion": r.criterion})
            })
            .collect();
        let solutions: Vec<Value> = match self.selection.solutions.as_slice() {
            [] => outcome.subset.iter().map(|subset| solution(subset, outcome.objective)).collect(),
            several => several.iter().map(|s| solution(&s.subset, Some(s.objective))).collect(),
        };
        let (objective, bound, gap) = (outcome.objective, outcome.bound, outcome.gap());
        let mut value = json!({
            "schema": SCHEMA,
            "method": self.method,
            "status": outcome.status.name(),
            "selected": selected,
            "selected_indices": indices,
            "objective": objective,
            "sense": outcome.sense,
            "bound": bound,
            "gap": gap,
            "seconds": outcome.elapsed.as_secs_f64(),
            "n_samples": self.n_samples,
            "n_features": self.names.len(),
            "target": self.target.column,
            "classes": classes_value(&self.target.classes),
            "class_counts": counts_value(self.target),
            "settings": self.settings,
            "counts": outcome.counts,
            "model": self.model.map(Trained::value),
            "ranking": ranking,
            "solutions": solutions,
            "version": env!("CARGO_PKG_VERSION"),
        });
        for (key, more) in &self.more {
            value[key] = more.clone();
        }
        if let Some(certificate) = &self.certificate {
            value["certificate"] = certificate.clone();
        }
        value
    }
}

/// The exit code that goes with a status.
pub(crate) fn exit_code(status: Status) -> u8 {
    match status {
        Status::Infeasible => 4,
        status if status.is_limit() => 3,
        _ => 0,
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
