//! What folds say of a panel, or of a list.

use fewest::validation::{Stability, Summary, class_f1, macro_f1, measure_summary, recall, stability};
use serde::Serialize;

use crate::evaluate::{Evaluation, FoldResult};

/// Folds in which a panel, or a list, was judged.
#[derive(Debug, Clone)]
pub struct JudgedFolds {
    /// The features of each fold, and the classes given to the samples held out.
    pub folds: Vec<FoldResult>,
    /// Held out over learned from.
    pub(crate) test_share: f64,
    /// Number of features.
    pub(crate) p: usize,
    /// Number of classes.
    pub(crate) n_classes: usize,
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

impl JudgedFolds {
    fn evaluation(&self) -> Evaluation<'_> {
        Evaluation { folds: self.folds.iter().collect(), test_share: self.test_share, p: self.p }
    }

    /// The measures of the folds by name.
    pub fn summaries(&self) -> Vec<(&'static str, Summary)> {
        self.evaluation().summaries()
    }

    /// Macro F1 in each fold.
    pub fn by_fold(&self) -> Vec<f64> {
        self.folds.iter().map(|fold| macro_f1(&fold.confusion)).collect()
    }

    /// Macro F1 of the folds; none without a fold.
    pub fn macro_f1(&self) -> Option<Summary> {
        self.mean_of("f1", &self.by_fold())
    }

    /// Macro F1 of a level above the classes, where a class taken for another one of the same class of the
    /// level is no error; `of` is the place of each class there.
    pub fn macro_f1_of(&self, of: &[usize]) -> Option<Summary> {
        let count = of.iter().max().map_or(0, |last| last + 1);
        let of_fold = |fold: &FoldResult| {
            let mut joined = vec![vec![0; count]; count];
            for (row, &class) in fold.confusion.iter().zip(of) {
                row.iter().zip(of).for_each(|(samples, &taken_for)| joined[class][taken_for] += samples);
            }
            macro_f1(&joined)
        };
        self.mean_of("f1", &self.folds.iter().map(of_fold).collect::<Vec<f64>>())
    }

    /// Mean recall of these classes, fold by fold; none without one of them.
    pub fn recall_of(&self, classes: &[usize]) -> Option<Summary> {
        let of_fold = |fold: &FoldResult| {
            let known: Vec<f64> = classes.iter().filter_map(|&class| recall(&fold.confusion, class)).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        self.mean_of("balanced_accuracy", &self.folds.iter().filter_map(of_fold).collect::<Vec<f64>>())
    }

    /// Macro F1 less that of others in the same folds, fold by fold.
    pub fn less(&self, others: &Self) -> Option<Summary> {
        self.difference(others, |fold| Some(macro_f1(&fold.confusion)))
    }

    /// F1 of a class less that of others in the same folds, over the folds in which both have one.
    pub fn less_in_class(&self, others: &Self, class: usize) -> Option<Summary> {
        self.difference(others, |fold| class_f1(&fold.confusion, class))
    }

    fn difference(&self, others: &Self, of: impl Fn(&FoldResult) -> Option<f64>) -> Option<Summary> {
        let pairs = self.folds.iter().zip(&others.folds);
        let differences: Vec<f64> = pairs.filter_map(|(ours, theirs)| Some(of(ours)? - of(theirs)?)).collect();
        self.mean_of("difference", &differences)
    }

    fn mean_of(&self, measure: &str, values: &[f64]) -> Option<Summary> {
        (!values.is_empty()).then(|| measure_summary(measure, values, self.test_share, &[]))
    }

    /// Samples held out by true class (rows) and predicted class.
    pub fn confusion(&self) -> Vec<Vec<u64>> {
        self.evaluation().confusion(self.n_classes)
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
        self.evaluation().frequency()
    }

    /// How alike the panels of the folds are.
    pub fn stability(&self) -> Option<Stability> {
        stability(&self.folds.iter().map(|fold| fold.selected.clone()).collect::<Vec<_>>(), self.p)
    }
}
