//! The classifiers of tasks as JSON: one for each, on the features that they share.
//!
//! A file of them is `{"schema", "kind": "task-models", "version", "target", "classes",
//! "n_features", "task_models"}`, a result of tasks has the same `task_models`:
//! `{"column", "models": [{"task", "classes", "model"}]}`, each `model` and its `classes` as in
//! `model_json.rs`. A task may have fewer classes than all samples.

use fewest::Design;
use fewest_eval::{TaskClassifier, judge_tasks};
use serde_json::{Value, json};

use super::fields::{field, list, text, wrong};
use super::model_json::{self, SCHEMA, TrainedModel, classes_value};

/// A classifier for each task.
#[derive(Debug, Clone)]
pub(crate) struct TaskModels {
    /// The column that names the task of a sample.
    pub(crate) column: String,
    /// Name and classifier of each task, one at least; features, their scaling and the target are
    /// those of all.
    pub(crate) each: Vec<(String, TrainedModel)>,
    /// Classes of all samples.
    pub(crate) classes: Vec<String>,
}

impl TaskModels {
    /// The `task_models` entry.
    pub(crate) fn value(&self) -> Value {
        let one = |(task, trained): &(String, TrainedModel)| {
            let mut out = json!({"task": task, "classes": classes_value(&trained.classes)});
            out["model"] = trained.value();
            out
        };
        json!({"column": self.column, "models": self.each.iter().map(one).collect::<Vec<Value>>()})
    }

    /// Each sample by the classifier of its task. `design` has the features of the models as the
    /// columns that these name, prepared; `tasks` names the task of each sample.
    ///
    /// # Errors
    /// The first sample of a task that has no classifier, and that task.
    pub(crate) fn judge(&self, design: &dyn Design, tasks: &[String]) -> Result<Judged, (usize, String)> {
        let code = |class: &String| self.classes.iter().position(|known| known == class).unwrap_or(0) as u32;
        let one = |(task, trained): &(String, TrainedModel)| TaskClassifier {
            task: task.clone(),
            classes: trained.classes.iter().map(code).collect(),
            model: trained.model.clone(),
        };
        let judged = judge_tasks(&self.each.iter().map(one).collect::<Vec<_>>(), design, tasks)?;
        let named = |pair: &[u32; 2]| pair.map(|class| self.classes[class as usize].clone());
        let pairs = judged.pairs.iter().map(named).collect();
        Ok(Judged { pairs, predicted: judged.predicted, decisions: judged.decisions })
    }

    /// The whole file.
    pub(crate) fn file(&self) -> String {
        let first = &self.each[0].1;
        super::json::text(&json!({
            "schema": SCHEMA,
            "kind": "task-models",
            "version": env!("CARGO_PKG_VERSION"),
            "target": first.target,
            "classes": classes_value(&self.classes),
            "n_features": first.n_columns,
            "task_models": self.value(),
        }))
    }
}

/// What the classifiers of tasks say of samples.
pub(crate) struct Judged {
    /// The pairs of classes that some task tells apart; positive values speak for the second.
    pub(crate) pairs: Vec<[String; 2]>,
    /// The class of each sample, among those of all.
    pub(crate) predicted: Vec<u32>,
    /// The decision value of each sample for each pair; none where its task has not that pair.
    pub(crate) decisions: Vec<Vec<Option<f64>>>,
}

/// What `fewest predict` reads.
pub(crate) enum Classifiers {
    /// One for all samples.
    One(Box<TrainedModel>),
    /// One for each task.
    Tasks(TaskModels),
}

impl Classifiers {
    /// One of them, whose features and scaling are those of all.
    pub(crate) fn first(&self) -> &TrainedModel {
        match self {
            Self::One(trained) => trained,
            Self::Tasks(tasks) => &tasks.each[0].1,
        }
    }

    /// The classes of all.
    pub(crate) fn classes(&self) -> &[String] {
        match self {
            Self::One(trained) => &trained.classes,
            Self::Tasks(tasks) => &tasks.classes,
        }
    }
}

/// Reads a model file, one of tasks, or a selection result.
pub(crate) fn read(content: &str) -> Result<Classifiers, String> {
    let file = model_json::parse(content)?;
    let Some(found) = file.get("task_models").filter(|found| !found.is_null()) else {
        return model_json::read(&file).map(|trained| Classifiers::One(Box::new(trained)));
    };
    let mut each: Vec<(String, TrainedModel)> = Vec::new();
    for entry in list::<Value>(found, "models", "a list of models")? {
        let mut one = entry.clone();
        one["target"] = file.get("target").cloned().unwrap_or_default();
        let (task, trained) = (text(&entry, "task")?, model_json::read(&one)?);
        let about = |why: &str| format!("the model of the task {task} {why}; write the models again");
        if each.iter().any(|(known, _)| *known == task) {
            return Err(about("is there twice"));
        }
        let prepared = |one: &TrainedModel| (one.names.clone(), one.scaling.clone(), one.normalized.clone());
        if each.first().is_some_and(|(_, first)| prepared(first) != prepared(&trained)) {
            return Err(about("has other features, scaling or normalization than the first"));
        }
        each.push((task, trained));
    }
    if each.is_empty() {
        return Err(wrong("models", "a list of one model or more"));
    }
    let classes = model_json::read_classes(field(&file, "classes", "the class names")?)?;
    if let Some((task, _)) = each.iter().find(|(_, t)| t.classes.iter().any(|class| !classes.contains(class))) {
        return Err(format!("the model of the task {task} has a class that `classes` has not; write the models again"));
    }
    Ok(Classifiers::Tasks(TaskModels { column: text(found, "column")?, each, classes }))
}
