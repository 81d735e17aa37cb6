//! What is known of markers.

use fewest::model::Model;
use fewest::validation::Summary;
use fewest::{Outcome, Status, SvmSettings};
use serde::Serialize;

use super::apart::Apart;
use super::expression::Expression;
use super::judged::JudgedFolds;
use super::stable::Standing;
use crate::preparation::Learnt;

/// What time did not allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MarkersEffort {
    /// Folds that were not judged.
    pub folds_left: u64,
}

/// Markers, and what folds say of them.
#[derive(Debug)]
pub struct MarkersReport {
    /// The status at the end.
    pub status: Status,
    /// What time did not allow.
    pub effort: MarkersEffort,
    /// The selection of each fold, and the classes given to the samples held out.
    pub judged: JudgedFolds,
    /// The results of the required features alone, where some are required.
    pub required: Option<JudgedFolds>,
    /// What is left of macro F1 where a marker of the panel is lost; none where none may be.
    pub lost: Option<Lost>,
    /// Samples that the folds are made of.
    pub sampled: usize,
    /// The panel; none where time did not allow one, or the rules allow none.
    pub panel: Option<MarkerPanel>,
}

/// Macro F1 in folds without one marker of the panel, the classifier trained on the others.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Lost {
    /// Without the marker whose loss is worst in each fold.
    pub worst: Summary,
    /// Mean over the markers.
    pub mean: Summary,
}

/// The panel.
#[derive(Debug)]
pub struct MarkerPanel {
    /// Features, first the one that the elimination among them leaves last.
    pub features: Vec<usize>,
    /// Objective, bound and status of the search.
    pub outcome: Outcome,
    /// The settings of the SVM.
    pub svm: SvmSettings,
    /// The classifier, a machine for each pair of classes; its features ascend.
    pub model: Model,
    /// How samples are prepared.
    pub learnt: Learnt,
    /// In the order of `features`.
    pub table: Vec<Expression>,
    /// In the order of `features`.
    pub apart: Vec<Apart>,
    /// In the order of `features`.
    pub standing: Vec<Standing>,
}
