//! A classifier on samples that took no part in its making, another file or another site: what a
//! fold says of the samples it held out.
//!
//! Given    the class of each sample, what the classifier says of it, and its probabilities.
//! Returns  the measures of [`crate::evaluate`] and [`crate::study`] by the same functions, each
//!          with an interval where independent samples give one: Wilson's for shares, these
//!          together for balanced accuracy, F1 and MCC, Newcombe's for the area of two classes,
//!          Student's for mean losses.

use fewest::validation::{FoldMetrics, Metrics, Summary, loss_summary, recalls, summaries};

use crate::classifier::Predictions;
use crate::study::{Calibration, Losses, Probabilities, RocPoint, roc};

/// Accuracy of a classifier on other samples.
#[derive(Debug, Clone)]
pub struct ExternalValidation {
    /// Agreement with the truth.
    pub metrics: Metrics,
    /// Each measure by name that has a value, with its interval.
    pub summary: Vec<(&'static str, Summary)>,
    /// Share of each class that is classified right; none for a class without samples.
    pub recall: Vec<Option<Summary>>,
    /// Rows: true classes, columns: predicted ones.
    pub confusion: Vec<Vec<u64>>,
    /// The losses of the probabilities, where there are some.
    pub losses: Option<Losses>,
    /// Whether they mean what they say; two classes.
    pub calibration: Option<Calibration>,
    /// Whether they put the samples in order; two classes.
    pub roc: Option<Vec<RocPoint>>,
}

impl ExternalValidation {
    /// Validation on samples of `n_classes` classes; none without a sample.
    pub fn new(of: &Predictions, n_classes: usize, probabilities: Option<&Probabilities>) -> Option<Self> {
        if of.truth.is_empty() {
            return None;
        }
        let (metrics, confusion) = (of.metrics(n_classes), of.confusion(n_classes));
        let fold = [FoldMetrics { repeat: 0, metrics: &metrics, confusion: &confusion }];
        let (mut summary, recall) = (summaries(&fold, 0.0), recalls(&fold, 0.0));
        let probabilities = probabilities.filter(|_| !of.decisions.is_empty());
        let each = probabilities.map(|known| known.each_loss(of));
        let losses = each.as_ref().map(|each| Losses::mean(each));
        if let (Some(each), Some(mean)) = (&each, losses) {
            let of = |name, mean, own: fn(&Losses) -> f64| {
                (name, loss_summary(name, &[mean], 0.0, &each.iter().map(own).collect::<Vec<f64>>()))
            };
            summary.extend([
                of("log_loss", mean.log_loss, |loss| loss.log_loss),
                of("brier", mean.brier, |loss| loss.brier),
            ]);
        }
        let second = probabilities.and_then(|known| known.second(of));
        let calibration = second.as_deref().and_then(Calibration::new);
        let positives = of.truth.iter().filter(|&&class| class == 1).count();
        let roc = second.map(|second| roc(&[second], positives, 0.0));
        Some(Self { metrics, summary, recall, confusion, losses, calibration, roc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_are_those_of_a_fold_and_intervals_those_of_independent_samples() {
        let truth: Vec<u32> = (0..40).map(|i| u32::from(i % 4 == 0)).collect();
        let decisions: Vec<f64> =
            (0..40).map(|i| f64::from(i * 7 % 11) / 5.0 - 1.2 + f64::from(truth[i as usize])).collect();
        let predicted: Vec<u32> = decisions.iter().map(|&f| u32::from(f > 0.0)).collect();
        let probabilities = Probabilities::fit(&decisions, &truth, 2);
        let of = Predictions { truth, predicted, decisions };
        let found = ExternalValidation::new(&of, 2, probabilities.as_ref()).unwrap();
        assert_eq!((found.metrics, &found.confusion), (of.metrics(2), &of.confusion(2)));
        let value = |name: &str| found.summary.iter().find(|entry| entry.0 == name).unwrap().1;
        assert_eq!(value("accuracy").mean, of.accuracy());
        // Wilson's interval, by its equation.
        let z = 1.959_963_984_540_054f64;
        let near = |p: f64, t: f64, n: f64| ((p - t).abs() - z * (t * (1.0 - t) / n).sqrt()).abs() < 1e-12;
        let [low, high] = value("accuracy").ci95.unwrap();
        assert!(near(of.accuracy(), low, 40.0) && near(of.accuracy(), high, 40.0));
        let second = found.recall[1].unwrap();
        let right = found.confusion[1][1] as f64;
        assert_eq!(second.mean, right / 10.0);
        assert!(near(second.mean, second.ci95.unwrap()[0], 10.0));
        let [low, high] = value("auc").ci95.unwrap();
        assert!(low < value("auc").mean && value("auc").mean < high);
        assert_eq!(value("log_loss").mean, found.losses.unwrap().log_loss);
        assert_eq!((value("sensitivity"), value("specificity")), (second, found.recall[0].unwrap()));
        let [low, high] = value("brier").ci95.unwrap();
        assert!(low < value("brier").mean && value("brier").mean < high && value("log_loss").ci95.is_some());
        assert!((found.calibration.unwrap().observed - 0.25).abs() < 1e-12);
        assert!(found.losses.unwrap().brier > 0.0 && found.losses.unwrap().brier < 0.25);
    }

    #[test]
    fn a_class_without_samples_has_no_recall() {
        let of = Predictions { truth: vec![0, 0, 2], predicted: vec![0, 2, 2], decisions: vec![0.0; 9] };
        let found = ExternalValidation::new(&of, 3, None).unwrap();
        assert_eq!(found.recall[0].unwrap().mean, 0.5);
        assert!(found.recall[1].is_none() && found.losses.is_none());
        let none = Predictions { truth: vec![], predicted: vec![], decisions: vec![] };
        assert!(ExternalValidation::new(&none, 3, None).is_none());
    }
}
