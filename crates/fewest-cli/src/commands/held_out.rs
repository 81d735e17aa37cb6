//! A classifier trained on what a method selected on the samples of a fold, and the samples that it
//! has not seen: what `evaluate` and `path --cv` do in a fold.

use fewest::model::Model;
use fewest::validation::{Metrics, confusion};
use fewest::{Cancel, Status};
use fewest_data::Features;

use super::part::PartSelection;
use super::prepare::PreparedData;
use super::raw::Raw;
use crate::export::task_models::{Judged, TaskModels};
use crate::failure::Failure;
use crate::method_args::MethodOptions;

/// Samples to judge, scaled as those learned from.
pub(crate) struct HeldOut {
    features: Features,
    truth: Vec<u32>,
    /// The task of each, where there are tasks.
    tasks: Vec<String>,
}

impl HeldOut {
    /// These samples, prepared as those that were learned from.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn new(raw: &Raw, rows: &[usize], prepared: &PreparedData) -> Result<Self, Failure> {
        let part = raw.rows(rows)?;
        let tasks = part.tasks.unwrap_or_default();
        Ok(Self { truth: part.target.codes, features: prepared.prepared_alike(part.data.features)?, tasks })
    }
}

/// Samples and what a classifier says of them.
pub(crate) struct Predictions {
    truth: Vec<u32>,
    predicted: Vec<u32>,
    /// Sample after sample, one for each machine; empty where the most frequent class is predicted.
    decisions: Vec<f64>,
}

impl Predictions {
    /// Share of the samples classified right.
    pub(crate) fn accuracy(&self) -> f64 {
        let right = self.truth.iter().zip(&self.predicted).filter(|(t, p)| t == p).count();
        right as f64 / self.truth.len() as f64
    }

    /// How well they agree, for this number of classes.
    pub(crate) fn metrics(&self, classes: usize) -> Metrics {
        Metrics::new(&self.truth, &self.predicted, &self.decisions, classes)
    }

    /// Rows: true classes, columns: predicted ones.
    pub(crate) fn confusion(&self, classes: usize) -> Vec<Vec<u64>> {
        confusion(&self.truth, &self.predicted, classes)
    }
}

/// A classifier, or one for each task; none where no feature was selected.
pub(crate) enum FoldModel {
    /// The most frequent class is predicted.
    None,
    /// One for all samples.
    One(Model),
    /// One for each task.
    Tasks(TaskModels),
}

impl FoldModel {
    /// The classifier on what was selected, at this cost of its own if there is one.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn train(
        prepared: &PreparedData,
        found: &PartSelection,
        (options, fit_cost): (&MethodOptions, Option<f64>),
        cancel: &Cancel,
    ) -> Result<Self, Failure> {
        let mut stop = || cancel.is_cancelled().then_some(Status::Cancelled);
        if let Some(column) = options.text("tasks") {
            let svm = prepared.method_data().svm(options.args().task_svm());
            let settings = found.report.fit_settings(&svm, fit_cost, &found.rules);
            let trained = prepared.task_classifiers(&column, &found.report, settings, &mut stop)?;
            return Ok(trained.map_or(Self::None, Self::Tasks));
        }
        let trained = prepared.classifier(&found.report, &found.svm, (fit_cost, &found.rules), &mut stop)?;
        Ok(trained.map_or(Self::None, |trained| Self::One(trained.model)))
    }

    /// The gamma of its kernel.
    pub(crate) fn gamma(&self) -> Option<f64> {
        if let Self::One(model) = self { model.kernel.gamma() } else { None }
    }

    /// Judges samples; `prepared` are those it learned from.
    ///
    /// # Errors
    /// A task that none of those is of.
    pub(crate) fn predict(&self, prepared: &PreparedData, held: &HeldOut) -> Result<Predictions, Failure> {
        let (truth, design) = (held.truth.clone(), held.features.as_design());
        Ok(match self {
            Self::None => {
                let counts = prepared.target.counts();
                let most = counts.iter().max().copied().unwrap_or(0);
                let class = counts.iter().position(|&count| count == most).unwrap_or(0) as u32;
                Predictions { predicted: vec![class; truth.len()], decisions: Vec::new(), truth }
            }
            Self::One(model) => {
                let decisions = model.decisions(design);
                let predicted = model.votes(&decisions);
                Predictions { truth, predicted, decisions }
            }
            Self::Tasks(tasks) => {
                let Judged { predicted, decisions, .. } = tasks.judge(design, &held.tasks).map_err(|(_, task)| {
                    Failure::Input(format!(
                        "all samples of the task {task} are held out, so that it has no classifier; deal each task into \
                         several folds"
                    ))
                })?;
                // One value for each sample, of two classes alone.
                let two = prepared.target.classes.len() == 2;
                let decisions = if two { decisions.into_iter().flatten().flatten().collect() } else { Vec::new() };
                Predictions { truth, predicted, decisions }
            }
        })
    }
}
