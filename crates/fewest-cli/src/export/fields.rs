//! Fields of JSON that was written by others, and what is wrong with them.

use serde_json::Value;

/// A field that is missing or of the wrong kind.
pub(super) fn wrong(key: &str, expected: &str) -> String {
    format!("`{key}` is missing or not {expected}; write the model again with this version of fewest")
}

pub(super) fn field<'a>(value: &'a Value, key: &str, expected: &str) -> Result<&'a Value, String> {
    value.get(key).filter(|v| !v.is_null()).ok_or_else(|| wrong(key, expected))
}

pub(super) fn number(value: &Value, key: &str) -> Result<f64, String> {
    field(value, key, "a number")?.as_f64().ok_or_else(|| wrong(key, "a number"))
}

pub(super) fn text(value: &Value, key: &str) -> Result<String, String> {
    Ok(field(value, key, "a text")?.as_str().ok_or_else(|| wrong(key, "a text"))?.to_owned())
}

pub(super) fn list<T: serde::de::DeserializeOwned>(value: &Value, key: &str, expected: &str) -> Result<Vec<T>, String> {
    let found = field(value, key, expected)?;
    serde_json::from_value(found.clone()).map_err(|_| wrong(key, expected))
}
