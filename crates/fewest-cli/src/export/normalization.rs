//! What was done to counts as they were read, as a model has it under `normalization`.

use fewest_data::{Normalization, Normalized};
use serde_json::{Value, json};

use super::fields::{field, list, number, wrong};

/// As a model's entry.
pub(super) fn value(done: &Normalized) -> Value {
    json!({
        "total": done.how.total, "log1p": done.how.log1p, "n_features": done.features, "uncounted": done.how.uncounted
    })
}

/// Normalization of a model; none where nothing was done, as in files of earlier versions.
pub(super) fn read(model: &Value) -> Result<Option<Normalized>, String> {
    let Some(value) = model.get("normalization").filter(|value| !value.is_null()) else { return Ok(None) };
    let total = match value.get("total") {
        None | Some(Value::Null) => None,
        Some(_) => Some(number(value, "total")?),
    };
    if total.is_some_and(|total| total <= 0.0) {
        return Err(wrong("total", "a number above 0"));
    }
    let log1p = value.get("log1p").and_then(Value::as_bool).ok_or_else(|| wrong("log1p", "true or false"))?;
    let uncounted = list(value, "uncounted", "a list of names")?;
    let features = field(value, "n_features", "a count")?.as_u64().ok_or_else(|| wrong("n_features", "a count"))?;
    Ok(Some(Normalized {
        how: Normalization { total, log1p, uncounted },
        features: features as usize,
        ..Normalized::default()
    }))
}
