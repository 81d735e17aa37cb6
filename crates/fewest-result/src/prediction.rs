//! What a model is worth on samples whose classes are known. docs/use/predict.md says what each
//! entry is.

use fewest::validation::Summary;
use fewest_data::{Dataset, ReadOptions};
use fewest_eval::ExternalValidation;
use fewest_eval::study::{Calibration, RocPoint};
use serde::Serialize;

use crate::{Asked, ByName, ClassNames, Measures, WrongSample, measures_and_losses, positive};

/// Predictions of a model on samples.
#[derive(Debug, Clone, Serialize)]
pub struct Prediction {
    model: String,
    #[serde(flatten)]
    judged: JudgedSamples,
    settings: Asked,
    command: String,
}

/// Samples of a file, and what a classifier makes of them.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedSamples {
    data: String,
    n_samples: usize,
    /// Share of those scored that are right; none without one.
    pub accuracy: Option<f64>,
    /// How many are of the class that was predicted; none where the data have no target.
    pub right: Option<usize>,
    /// How many are of a class that the classifier knows; none where the data have no target.
    pub scored: Option<usize>,
    /// How many are of another class; none where the data have no target.
    pub unknown_class: Option<usize>,
    target: Option<String>,
    classes: ClassNames,
    positive: Option<String>,
    class_counts: Option<ByName<u64>>,
    predicted_counts: ByName<u64>,
    selected: Vec<String>,
    n_features: usize,
    #[serde(flatten)]
    worth: Option<Worth>,
}

/// How well the predictions agree with the classes.
#[derive(Debug, Clone, Serialize)]
struct Worth {
    n_test: usize,
    metrics: Measures,
    summary: ByName<Summary>,
    recall: ByName<Option<Summary>>,
    confusion: Vec<Vec<u64>>,
    calibration: Option<Calibration>,
    roc: Option<Vec<RocPoint>>,
    wrong: Vec<WrongSample>,
}

impl Prediction {
    /// The predictions of the model of a file.
    pub fn new(model: String, judged: JudgedSamples, reading: &ReadOptions, command: &str) -> Self {
        let settings = Asked {
            data: Some(judged.data.clone()),
            target: judged.target.clone(),
            reading: reading.clone(),
            own: [("model".to_owned(), model.clone().into())].into_iter().collect(),
            ..Asked::default()
        };
        Self { model, judged, settings, command: command.to_owned() }
    }
}

impl JudgedSamples {
    /// Samples of `data` that a classifier of these classes and features takes for the classes
    /// `predicted`. `known` is the class of each, none where it is another one; `found` is what the
    /// agreement comes to. Both are missing where the data have no target.
    pub fn new(
        [classes, features]: [&[String]; 2],
        data: &Dataset,
        predicted: &[u32],
        known: Option<&[Option<u32>]>,
        found: Option<&ExternalValidation>,
    ) -> Self {
        let counts = |codes: &mut dyn Iterator<Item = u32>| {
            let mut counts = vec![0; classes.len()];
            codes.for_each(|code| counts[code as usize] += 1);
            ByName::by_class_key(counts)
        };
        let right = |known: &[Option<u32>]| known.iter().zip(predicted).filter(|(k, p)| **k == Some(**p)).count();
        let scored = known.map(|known| known.iter().flatten().count());
        Self {
            data: data.source.clone(),
            n_samples: predicted.len(),
            accuracy: found.map(|found| found.metrics.accuracy),
            right: known.map(right),
            scored,
            unknown_class: scored.map(|scored| predicted.len() - scored),
            target: data.target.as_ref().map(|target| target.column.clone()),
            classes: ClassNames(classes.to_vec()),
            positive: positive(classes),
            class_counts: known.map(|known| counts(&mut known.iter().flatten().copied())),
            predicted_counts: counts(&mut predicted.iter().copied()),
            selected: features.to_vec(),
            n_features: features.len(),
            worth: found.zip(known).map(|(found, known)| Worth::new(classes, data, predicted, known, found)),
        }
    }
}

impl Worth {
    fn new(
        classes: &[String],
        data: &Dataset,
        predicted: &[u32],
        known: &[Option<u32>],
        found: &ExternalValidation,
    ) -> Self {
        let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i].is_some()).collect();
        let of_rows: Vec<u32> = rows.iter().map(|&i| predicted[i]).collect();
        let class = |i: usize| known[i].unwrap_or_default();
        let parts = [(&rows[..], &of_rows[..])];
        let (log_loss, brier) = found.losses.map(|losses| (losses.log_loss, losses.brier)).unzip();
        Self {
            n_test: rows.len(),
            metrics: measures_and_losses(&found.metrics, &found.confusion, [log_loss, brier]),
            summary: found.summary.iter().copied().collect(),
            recall: ByName::new(classes.iter().cloned(), found.recall.iter().copied()),
            confusion: found.confusion.clone(),
            calibration: found.calibration.clone(),
            roc: found.roc.clone(),
            wrong: WrongSample::all(classes, &class, data.samples.as_ref(), &|row| row, parts),
        }
    }
}
