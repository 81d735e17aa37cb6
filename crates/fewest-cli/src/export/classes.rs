//! What JSON says of each class.

use serde_json::{Value, json};

/// What of each class, by its name; a class that is not known has null.
pub(crate) fn by_class<T: serde::Serialize>(classes: &[String], each: &[Option<T>]) -> Value {
    Value::Object(classes.iter().zip(each).map(|(class, of)| (class.clone(), json!(of))).collect())
}

/// The measures of a fold that its counts of classes tell: of two the shares of the second and of the
/// first that are classified right. Rows: true classes, columns: predicted ones.
pub(crate) fn of_two(confusion: &[Vec<u64>]) -> Vec<(String, Value)> {
    let share = |name: &str, class| (name.to_owned(), json!(fewest::validation::recall(confusion, class)));
    if confusion.len() == 2 { vec![share("sensitivity", 1), share("specificity", 0)] } else { Vec::new() }
}
