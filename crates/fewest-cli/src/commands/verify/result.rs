//! The result of `--as`: what it asks of a proof, and what it says was selected.

use std::path::Path;

use fewest_data::Names;
use fewest_result::Asked;
use fewest_verify::Verdict;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::asked::{Difference, Origin};
use crate::args::data::read_text;
use crate::failure::Failure;

/// A result of `fewest select`.
pub(super) struct AskedResult {
    pub(super) entries: Map<String, Value>,
    /// How the data are prepared.
    pub(super) settings: Asked,
}

impl AskedResult {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that is no result of `select`.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let result = serde_json::from_str(&read_text(path)?);
        result.ok().and_then(Self::of).ok_or_else(|| {
            Failure::Input(format!(
                "{}: not the result of one selection; give the file that `fewest select --json` wrote",
                path.display()
            ))
        })
    }

    /// A result as JSON; none where it is not of one selection.
    pub(super) fn of(result: Value) -> Option<Self> {
        let Value::Object(entries) = result else { return None };
        let settings = Asked::deserialize(entries.get("settings")?).ok()?;
        let selection = entries.get("selected").is_some_and(Value::is_array) && entries.contains_key("method");
        selection.then_some(Self { entries, settings })
    }

    /// The best subset that it names, by name or, where the features have none, by index: its
    /// certificate's, where there is one.
    fn best(&self, names: &Names) -> Vec<String> {
        let certified = self.entries.get("certificate").and_then(|certificate| certificate["best"].as_object());
        let of = certified.unwrap_or(&self.entries);
        let name = |feature: &Value| match feature.as_u64() {
            Some(j) if (j as usize) < names.len() => names.get(j as usize).into_owned(),
            Some(j) => j.to_string(),
            None => feature.as_str().unwrap_or_default().to_owned(),
        };
        let key = if matches!(names, Names::Numbered(_)) { "selected_indices" } else { "selected" };
        of.get(key).and_then(Value::as_array).into_iter().flatten().map(name).collect()
    }

    /// What it says of its data that is not so.
    pub(super) fn data_differences(&self, question: &Value) -> Vec<Difference> {
        let differs = |key: &&str| self.entries.get(*key).is_some_and(|said| *said != question[key]);
        let keys = ["n_samples", "n_features", "classes", "class_counts"].into_iter().filter(differs);
        let of = |key: &str| Difference {
            key: key.to_owned(),
            file: question[key].clone(),
            asked: self.entries[key].clone(),
            origin: Origin::Result,
        };
        keys.map(of).collect()
    }

    /// The features reported as selected, where the proof does not list them.
    pub(super) fn difference(&self, verdict: &Verdict, names: &Names) -> Option<Difference> {
        let best = self.best(names);
        let mut wanted = best.clone();
        wanted.sort_unstable();
        let is_wanted = |features: &[usize]| {
            let mut named: Vec<String> = features.iter().map(|&j| names.get(j).into_owned()).collect();
            named.sort_unstable();
            named == wanted
        };
        if verdict.listed.iter().any(|one| is_wanted(&one.features)) || (best.is_empty() && verdict.listed.is_empty()) {
            return None;
        }
        let listed = verdict.best().map(|best| best.features.iter().map(|&j| names.get(j)).collect::<Vec<_>>());
        let (key, origin) = ("selected".to_owned(), Origin::Result);
        Some(Difference { key, file: json!(listed), asked: json!(best), origin })
    }
}
