//! The settings of methods, as a table.

use serde::Serialize;
use serde_json::Value;

use crate::{Field, Settings};

/// A setting of a method, as the command, Python and the pages tell it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Name of its field, and in JSON.
    pub name: &'static str,
    /// The default, as in JSON.
    pub default: Value,
    /// The values allowed, which complete the sentence "must be ..."; none where the type says it.
    pub range: Option<&'static str>,
    /// The meaning, in words.
    pub text: String,
}

impl Setting {
    /// The settings of a struct; those of a group stand in the place of the group.
    pub(crate) fn all<S: Settings + Serialize>() -> Vec<Setting> {
        let defaults = serde_json::to_value(S::default()).expect("settings are numbers, lists and names");
        let mut all = Vec::new();
        add(S::FIELDS, &defaults, &mut all);
        all
    }
}

fn add(fields: &[Field], defaults: &Value, all: &mut Vec<Setting>) {
    for &Field { name, range, lines, group } in fields {
        if group.is_empty() {
            let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
            all.push(Setting { name, default: defaults[name].clone(), range, text: words.join(" ") });
        } else {
            add(group, &defaults[name], all);
        }
    }
}
