//! The classifier on what a method selected on a part, and how it judges samples held out.

use fewest::model::{self, FitSettings, Model};
use fewest::validation::{Metrics, confusion};
use fewest::{Clock, Design, Memory, Report, RowMatrix};

use crate::error::EvalError;
use crate::part::{HeldOut, Tasks, TrainingPart};
use crate::selector::{Scene, Selected};
use crate::tasks::{TaskClassifier, judge_tasks};

/// Samples that classifiers are trained on.
#[derive(Clone, Copy)]
pub struct Training<'a> {
    /// The matrix, prepared.
    pub design: &'a dyn Design,
    /// The class of each sample.
    pub codes: &'a [u32],
    /// Sample weight times class weight.
    pub weights: &'a [f64],
    /// The tasks, where there are some.
    pub tasks: Option<&'a Tasks>,
    /// The memory that it is taken from.
    pub memory: &'a Memory,
}

impl<'a> Training<'a> {
    /// Training on a part.
    pub fn of(part: &'a TrainingPart, memory: &'a Memory) -> Self {
        let (codes, weights, tasks) = (&part.target.codes, &part.weights, part.tasks.as_ref());
        Self { design: part.design(), codes, weights, tasks, memory }
    }

    /// The SVM on these features.
    ///
    /// # Errors
    /// A class without samples of positive weight, or more memory than is left.
    pub fn train(&self, features: &[usize], settings: &FitSettings, clock: &Clock) -> Result<Model, EvalError> {
        let what = || format!("training on {} samples and {} features", self.weights.len(), features.len());
        let bytes = RowMatrix::bytes(self.design, features.len());
        let _rows = self.memory.reserve(bytes, what, "use fewer features")?;
        Ok(model::fit(self.design, features, self.codes, self.weights, settings, clock)?)
    }

    /// The classifier that goes with a selection: the method's own, else the SVM trained on the
    /// features ([`Report::fit_settings`]); none when nothing was selected.
    pub fn classifier(
        &self,
        report: &Report,
        settings: &FitSettings,
        clock: &Clock,
    ) -> Result<Option<Model>, EvalError> {
        if let Some(model) = &report.model {
            return Ok(Some(model.clone()));
        }
        match report.selection.outcome.features() {
            features if features.is_empty() => Ok(None),
            features => self.train(&features, settings, clock).map(Some),
        }
    }

    /// The classifier of each task on the features that were selected; none without tasks or where
    /// nothing was.
    pub fn task_classifiers(
        &self,
        report: &Report,
        mut settings: FitSettings,
        clock: &Clock,
    ) -> Result<Vec<TaskClassifier>, EvalError> {
        let features = report.selection.outcome.features();
        let Some(tasks) = self.tasks.filter(|_| !features.is_empty()) else { return Ok(Vec::new()) };
        settings.weight_bounds = settings.weight_bounds.of_all(&features);
        let what = || format!("training on {} samples and {} features", self.weights.len(), features.len());
        let bytes = 2 * RowMatrix::bytes(self.design, features.len());
        let _rows = self.memory.reserve(bytes, what, "use fewer features")?;
        let all: Vec<usize> = (0..features.len()).collect();
        let rows = self.design.rows(&features).design();
        let mut each = Vec::new();
        for (task, name) in tasks.names.iter().enumerate() {
            let of: Vec<usize> = (0..tasks.codes.len()).filter(|&i| tasks.codes[i] as usize == task).collect();
            let mut classes: Vec<u32> = of.iter().map(|&i| self.codes[i]).collect();
            classes.sort_unstable();
            classes.dedup();
            let code = |i: &usize| classes.binary_search(&self.codes[*i]).expect("listed above") as u32;
            let codes: Vec<u32> = of.iter().map(code).collect();
            let weights: Vec<f64> = of.iter().map(|&i| self.weights[i]).collect();
            let model = model::fit(&*rows.select_samples(&of), &all, &codes, &weights, &settings, clock)?;
            let model = Model { features: features.clone(), ..model };
            each.push(TaskClassifier { task: name.clone(), classes, model });
        }
        Ok(each)
    }
}

/// A classifier, or one for each task, as a fold has it.
#[derive(Debug)]
pub enum FoldModel {
    /// No feature was selected: the most frequent class is predicted.
    None,
    /// One for all samples.
    One(Model),
    /// One for each task.
    Tasks(Vec<TaskClassifier>),
}

impl FoldModel {
    /// The classifier on what was selected, at this cost of its own if there is one.
    pub fn train(
        scene: &Scene<'_>,
        part: &TrainingPart,
        found: &Selected,
        fit_cost: Option<f64>,
    ) -> Result<Self, EvalError> {
        let clock = Clock::of(scene.cancel.clone(), None);
        let training = Training::of(part, &scene.memory);
        if part.tasks.is_some() {
            let settings = found.report.fit_settings(&found.ask.task_svm, fit_cost, &found.ask.rules);
            let each = training.task_classifiers(&found.report, settings, &clock)?;
            return Ok(if each.is_empty() { Self::None } else { Self::Tasks(each) });
        }
        let settings = found.report.fit_settings(&found.ask.svm, fit_cost, &found.ask.rules);
        let model = training.classifier(&found.report, &settings, &clock)?;
        Ok(model.map_or(Self::None, Self::One))
    }

    /// The gamma of its kernel.
    pub fn gamma(&self) -> Option<f64> {
        if let Self::One(model) = self { model.kernel.gamma() } else { None }
    }

    /// Judges samples; `part` are those it learned from.
    ///
    /// # Errors
    /// A task that none of those is of.
    pub fn predict(&self, part: &TrainingPart, held: &HeldOut) -> Result<Predictions, EvalError> {
        Ok(match self {
            Self::None => Predictions::of(None, held.design(), part, held),
            Self::One(model) => Predictions::of(Some(model), held.design(), part, held),
            Self::Tasks(each) => {
                let judged = judge_tasks(each, held.design(), &held.tasks);
                let judged = judged.map_err(|(_, task)| EvalError::TaskHeldOut { task })?;
                // One value for each sample, of two classes alone.
                let two = part.target.classes.len() == 2;
                let decisions = judged.decisions.into_iter().flatten().flatten();
                let decisions = if two { decisions.collect() } else { Vec::new() };
                Predictions { truth: held.target.codes.clone(), predicted: judged.predicted, decisions }
            }
        })
    }
}

/// Samples and what a classifier says of them.
#[derive(Debug, Clone)]
pub struct Predictions {
    /// The class of each.
    pub truth: Vec<u32>,
    /// The class that is predicted.
    pub predicted: Vec<u32>,
    /// Sample after sample, one for each machine; empty where there is none.
    pub decisions: Vec<f64>,
}

impl Predictions {
    /// What a classifier says of the samples held out, on a matrix of theirs with its features;
    /// without one it is the most frequent class of those learned from.
    pub(crate) fn of(model: Option<&Model>, design: &dyn Design, part: &TrainingPart, held: &HeldOut) -> Self {
        let truth = held.target.codes.clone();
        let Some(model) = model else {
            return Self { predicted: vec![part.most_frequent(); truth.len()], decisions: Vec::new(), truth };
        };
        let decisions = model.decisions(design);
        Self { predicted: model.votes(&decisions), decisions, truth }
    }

    /// Share of the samples classified right.
    pub fn accuracy(&self) -> f64 {
        let right = self.truth.iter().zip(&self.predicted).filter(|(t, p)| t == p).count();
        right as f64 / self.truth.len() as f64
    }

    /// How well they agree, for this number of classes.
    pub fn metrics(&self, classes: usize) -> Metrics {
        Metrics::new(&self.truth, &self.predicted, &self.decisions, classes)
    }

    /// Rows: true classes, columns: predicted ones.
    pub fn confusion(&self, classes: usize) -> Vec<Vec<u64>> {
        confusion(&self.truth, &self.predicted, classes)
    }
}
