//! The classifiers of tasks as JSON: one for each, on the features that they share.
//!
//! A file of them is `{"schema", "kind": "task-models", "version", "target", "classes",
//! "n_features", "task_models"}`, a result of tasks has the same `task_models`:
//! `{"column", "models": [{"task", "classes", "model"}]}`, each `model` and its `classes` as in
//! a model file. A task may have fewer classes than all samples.

use fewest::Design;
use fewest_eval::{TaskClassifier, judge_tasks};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::wrong;
use super::{ClassNames, ModelRecord, TrainedModel, read_one};
use crate::{Document, Kind};

/// A classifier for each task.
#[derive(Debug, Clone)]
pub struct TaskModels {
    /// The column that names the task of a sample.
    pub column: String,
    /// Name and classifier of each task, one at least; features, their scaling and the target are
    /// those of all.
    pub each: Vec<(String, TrainedModel)>,
    /// Classes of all samples.
    pub classes: Vec<String>,
}

impl TaskModels {
    /// The `task_models` entry.
    pub fn record(&self) -> TaskModelsRecord {
        let one = |(task, trained): &(String, TrainedModel)| TaskModelRecord {
            task: task.clone(),
            classes: ClassNames(trained.classes.clone()),
            model: trained.record(),
        };
        TaskModelsRecord { column: self.column.clone(), models: self.each.iter().map(one).collect() }
    }

    /// Each sample by the classifier of its task. `design` has the features of the models as the
    /// columns that these name, prepared; `tasks` names the task of each sample.
    ///
    /// # Errors
    /// The first sample of a task that has no classifier, and that task.
    pub fn judge(&self, design: &dyn Design, tasks: &[String]) -> Result<Judged, (usize, String)> {
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
    pub fn file(&self) -> Value {
        let first = &self.each[0].1;
        let file = TaskModelsFile {
            target: &first.target,
            classes: ClassNames(self.classes.clone()),
            n_features: first.n_columns,
            task_models: self.record(),
        };
        Document::new(Kind::TaskModels, file).value()
    }
}

/// The classifiers of tasks as a file has them.
#[derive(Serialize)]
struct TaskModelsFile<'a> {
    target: &'a str,
    classes: ClassNames,
    n_features: usize,
    task_models: TaskModelsRecord,
}

/// The `task_models` entry.
#[derive(Debug, Clone, Serialize)]
pub struct TaskModelsRecord {
    column: String,
    models: Vec<TaskModelRecord>,
}

/// The classifier of a task.
#[derive(Debug, Clone, Serialize)]
struct TaskModelRecord {
    task: String,
    classes: ClassNames,
    model: ModelRecord,
}

/// What the classifiers of tasks say of samples.
pub struct Judged {
    /// The pairs of classes that some task tells apart; positive values speak for the second.
    pub pairs: Vec<[String; 2]>,
    /// The class of each sample, among those of all.
    pub predicted: Vec<u32>,
    /// The decision value of each sample for each pair; none where its task has not that pair.
    pub decisions: Vec<Vec<Option<f64>>>,
}

/// What `fewest predict` reads.
pub enum Classifiers {
    /// One for all samples.
    One(Box<TrainedModel>),
    /// One for each task.
    Tasks(TaskModels),
}

impl Classifiers {
    /// One of them, whose features and scaling are those of all.
    pub fn first(&self) -> &TrainedModel {
        match self {
            Self::One(trained) => trained,
            Self::Tasks(tasks) => &tasks.each[0].1,
        }
    }

    /// The classes of all.
    pub fn classes(&self) -> &[String] {
        match self {
            Self::One(trained) => &trained.classes,
            Self::Tasks(tasks) => &tasks.classes,
        }
    }
}

/// Reads the classifiers of tasks.
///
/// # Errors
/// What is missing or does not go together, with the remedy.
pub(super) fn read(file: &Value) -> Result<TaskModels, String> {
    let whole = |why: serde_json::Error| wrong(&why.to_string());
    let TaskRecord { column, models } = TaskRecord::deserialize(&file["task_models"]).map_err(whole)?;
    let mut each: Vec<(String, TrainedModel)> = Vec::new();
    for mut one in models {
        one["target"] = file.get("target").cloned().unwrap_or_default();
        let task = one["task"].as_str().ok_or_else(|| wrong("a model names no task"))?.to_owned();
        let trained = read_one(&one)?;
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
        return Err(wrong("it has no model of a task"));
    }
    let ClassNames(classes) = ClassNames::deserialize(&file["classes"]).map_err(whole)?;
    if let Some((task, _)) = each.iter().find(|(_, t)| t.classes.iter().any(|class| !classes.contains(class))) {
        return Err(format!("the model of the task {task} has a class that `classes` has not; write the models again"));
    }
    Ok(TaskModels { column, each, classes })
}

/// The `task_models` entry.
#[derive(Deserialize)]
struct TaskRecord {
    column: String,
    models: Vec<Value>,
}
