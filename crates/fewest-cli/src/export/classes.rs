//! What JSON says of each class.

use serde_json::{Value, json};

/// What of each class, by its name; a class that is not known has null.
pub(crate) fn by_class<T: serde::Serialize>(classes: &[String], each: &[Option<T>]) -> Value {
    Value::Object(classes.iter().zip(each).map(|(class, of)| (class.clone(), json!(of))).collect())
}
