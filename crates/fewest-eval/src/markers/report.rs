//! What is known of markers.

use fewest::model::Model;
use fewest::validation::{Summary, class_f1, macro_f1, measure_summary, recall};
use fewest::{Outcome, Status, SvmSettings};
use serde::Serialize;

use super::apart::Apart;
use super::expression::Expression;
use crate::evaluate::{Evaluation, FoldResult};
use crate::preparation::Learnt;

/// A cost that was tried.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TriedCost {
    /// The cost of all samples of a class together ([`super::MarkersSettings::class_costs`]); none
    /// where a cost was given.
    pub class_cost: Option<f64>,
    /// Macro F1 in each fold that was done at it.
    pub f1: Vec<f64>,
}

impl TriedCost {
    /// The mean over the folds; none without a fold.
    pub fn mean(&self) -> Option<f64> {
        (!self.f1.is_empty()).then(|| self.f1.iter().sum::<f64>() / self.f1.len() as f64)
    }
}

/// What time did not allow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct MarkersEffort {
    /// Folds that were not judged.
    pub folds_left: u64,
    /// Costs that were not tried in all folds that were, and could not be chosen.
    pub costs_left: u64,
}

/// Markers, and what folds say of them.
#[derive(Debug)]
pub struct MarkersReport {
    /// The status at the end.
    pub status: Status,
    /// Costs tried; one where a cost was given.
    pub tried: Vec<TriedCost>,
    /// Position of the one chosen.
    pub chosen: usize,
    /// What time did not allow.
    pub effort: MarkersEffort,
    /// The selection of each fold at that cost, and the classes given to the samples held out.
    pub folds: Vec<FoldResult>,
    /// The results of the required features alone, where some are required.
    pub required: Option<Vec<FoldResult>>,
    /// Samples that the folds are made of.
    pub sampled: usize,
    /// Held out over learned from.
    pub(crate) test_share: f64,
    /// Number of features.
    pub(crate) p: usize,
    /// Number of classes.
    pub(crate) n_classes: usize,
    /// The panel; none where time did not allow one, or the rules allow none.
    pub panel: Option<MarkerPanel>,
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
}

/// A class in the folds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassReport {
    /// Share of its samples that are classified right.
    pub recall: Option<f64>,
    /// Share of the samples classified as it that are of it.
    pub precision: Option<f64>,
    /// Their harmonic mean.
    pub f1: Option<f64>,
    /// Samples held out.
    pub samples: u64,
}

/// A pair of classes that is told apart poorly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Confused {
    /// True class.
    pub class: u32,
    /// The class its samples were taken for.
    pub taken_for: u32,
    /// How many.
    pub samples: u64,
    /// Over the samples of the class that were held out.
    pub share: f64,
}

/// Pairs with a smaller share are not listed.
const POOR: f64 = 0.1;

impl MarkersReport {
    fn evaluation<'a>(&self, folds: &'a [FoldResult]) -> Evaluation<'a> {
        Evaluation { folds: folds.iter().collect(), test_share: self.test_share, p: self.p }
    }

    /// The measures of the folds by name.
    pub fn summaries(&self) -> Vec<(&'static str, Summary)> {
        self.evaluation(&self.folds).summaries()
    }

    /// Macro F1 of the folds.
    pub fn macro_f1(&self) -> Option<Summary> {
        self.summary_of(&self.folds)
    }

    /// Macro F1 of the required features alone.
    pub fn required_f1(&self) -> Option<Summary> {
        self.summary_of(self.required.as_ref()?)
    }

    fn summary_of(&self, folds: &[FoldResult]) -> Option<Summary> {
        let values: Vec<f64> = folds.iter().map(|fold| macro_f1(&fold.confusion)).collect();
        (!values.is_empty()).then(|| measure_summary("f1", &values, self.test_share, &[]))
    }

    /// Macro F1 with the panel less that with the required features alone, fold by fold.
    pub fn brought(&self) -> Option<Summary> {
        let f1 = |fold: &FoldResult| macro_f1(&fold.confusion);
        let pairs = self.folds.iter().zip(self.required.as_ref()?);
        let differences: Vec<f64> = pairs.map(|(with, without)| f1(with) - f1(without)).collect();
        (!differences.is_empty()).then(|| measure_summary("difference", &differences, self.test_share, &[]))
    }

    /// The measures of the required features alone.
    pub fn required_summaries(&self) -> Option<Vec<(&'static str, Summary)>> {
        Some(self.evaluation(self.required.as_ref()?).summaries())
    }

    /// Samples held out by true class (rows) and predicted class.
    pub fn confusion(&self) -> Vec<Vec<u64>> {
        self.evaluation(&self.folds).confusion(self.n_classes)
    }

    /// Each class in the folds.
    pub fn classes(&self) -> Vec<ClassReport> {
        let confusion = self.confusion();
        let of = |class: usize| {
            let predicted: u64 = confusion.iter().map(|row| row[class]).sum();
            ClassReport {
                recall: recall(&confusion, class),
                precision: (predicted > 0).then(|| confusion[class][class] as f64 / predicted as f64),
                f1: class_f1(&confusion, class),
                samples: confusion[class].iter().sum(),
            }
        };
        (0..confusion.len()).map(of).collect()
    }

    /// The pairs of classes that are told apart worst, the worst first.
    pub fn confused(&self) -> Vec<Confused> {
        let mut out = Vec::new();
        for (class, row) in self.confusion().iter().enumerate() {
            let all: u64 = row.iter().sum();
            for (taken_for, &samples) in row.iter().enumerate().filter(|(other, _)| *other != class) {
                let share = samples as f64 / all.max(1) as f64;
                if share >= POOR {
                    out.push(Confused { class: class as u32, taken_for: taken_for as u32, samples, share });
                }
            }
        }
        out.sort_by(|x, y| y.share.total_cmp(&x.share).then((x.class, x.taken_for).cmp(&(y.class, y.taken_for))));
        out
    }

    /// Share of the folds that selected each feature, largest first.
    pub fn frequency(&self) -> Vec<(usize, f64)> {
        self.evaluation(&self.folds).frequency()
    }

    /// How alike the panels of the folds are.
    pub fn stability(&self) -> Option<fewest::validation::Stability> {
        self.evaluation(&self.folds).stability()
    }
}
