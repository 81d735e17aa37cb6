//! The result of a selection as the contract has it.

use fewest::{Selection, Status, Subset};
use fewest_data::{Names, Target};
use fewest_result::{Kind, TrainedModel, classes_value, counts_value, document};
use serde_json::{Map, Value, json};

use super::json::Document;

/// Everything a selection result is made of.
pub(crate) struct SelectionResult<'a> {
    /// What it is.
    pub(crate) kind: Kind,
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
    /// Options in effect.
    pub(crate) settings: Map<String, Value>,
    /// The SVM on the chosen features.
    pub(crate) model: Option<&'a TrainedModel>,
    /// How far the subset is from the best of its size, where that was asked for.
    pub(crate) certificate: Option<Value>,
    /// What the method alone reports, and the story of the run.
    pub(crate) more: Map<String, Value>,
}

impl<'a> SelectionResult<'a> {
    /// The chosen features, ascending.
    pub(crate) fn indices(&self) -> Vec<usize> {
        self.selection.outcome.features()
    }

    /// The whole result.
    pub(crate) fn document(&self) -> Document<'a> {
        let outcome = &self.selection.outcome;
        let indices = self.indices();
        let named = |j: &usize| self.names.get(*j).into_owned();
        let selected: Vec<String> = indices.iter().map(named).collect();
        let solution = |subset: &Subset, objective: Option<f64>| {
            let indices: Vec<usize> = subset.iter().collect();
            let selected: Vec<String> = indices.iter().map(named).collect();
            json!({"selected": selected, "selected_indices": indices, "objective": objective})
        };
        let solutions: Vec<Value> = match self.selection.solutions.as_slice() {
            [] => outcome.subset.iter().map(|subset| solution(subset, outcome.objective)).collect(),
            several => several.iter().map(|s| solution(&s.subset, Some(s.objective))).collect(),
        };
        let (objective, bound, gap) = (outcome.objective, outcome.bound, outcome.gap());
        let found = json!({
            "method": self.method,
            "status": outcome.status.name(),
            "selected": selected,
            "selected_indices": indices,
            "objective": objective,
            "sense": outcome.sense,
            "bound": bound,
            "baseline": outcome.yardstick.map(|yardstick| yardstick.baseline),
            "gap": gap,
            "objective_gap": outcome.objective_gap(),
            "seconds": outcome.elapsed.as_secs_f64(),
            "n_samples": self.n_samples,
            "n_features": self.names.len(),
            "target": self.target.column,
            "classes": classes_value(&self.target.classes),
            "class_counts": counts_value(self.target),
            "settings": self.settings,
            "counts": outcome.counts,
            "model": null,
            "ranking": [],
            "solutions": [],
        });
        let mut value = document(self.kind, found);
        value["model"] = self.model.map_or(Value::Null, TrainedModel::value);
        value["solutions"] = solutions.into();
        for (key, more) in &self.more {
            value[key] = more.clone();
        }
        if let Some(certificate) = &self.certificate {
            value["certificate"] = certificate.clone();
        }
        let Value::Object(entries) = value else { unreachable!("it was made as an object") };
        let ranking = Document::Ranking(&self.selection.ranking, self.names);
        let entry = |(key, value)| {
            let item = if key == "ranking" { ranking.clone() } else { Document::Value(value) };
            (key, item)
        };
        Document::Object(entries.into_iter().map(entry).collect())
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
