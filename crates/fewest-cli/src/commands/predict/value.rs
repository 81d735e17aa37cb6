//! What a model is worth on samples whose classes are known; docs/use/predict.md lists
//! the keys.

use fewest_data::{Dataset, ReadOptions, by_class_key};
use fewest_eval::{ExternalValidation, Predictions};
use fewest_result::{Asked, Kind, WrongSample, classes_value, document, entries, measures, positive};
use serde_json::{Map, Value, json};

use super::decisions::SampleDecisions;
use crate::export::classes::by_class;
use crate::export::table;

/// What a model is worth on samples.
pub(super) struct Worth<'a> {
    /// What the model is called.
    model: String,
    classes: &'a [String],
    /// Names of the features.
    features: &'a [String],
    said: &'a SampleDecisions<'a>,
    data: &'a Dataset,
    /// How the data were read.
    reading: &'a ReadOptions,
    /// The class of each sample as the model counts them; none where it does not know it.
    known: Option<Vec<Option<u32>>>,
    found: Option<ExternalValidation>,
}

impl<'a> Worth<'a> {
    /// Judges the predictions, where the data have a target; of a model its name, classes and
    /// features.
    pub(super) fn new(
        model: String,
        [classes, features]: [&'a [String]; 2],
        said: &'a SampleDecisions<'a>,
        (data, reading): (&'a Dataset, &'a ReadOptions),
    ) -> Self {
        let known = data.target.as_ref().map(|target| target.codes_in(classes));
        let of: Option<Predictions> = known.as_ref().map(|known| said.of_known(known));
        let found = of.and_then(|of| ExternalValidation::new(&of, classes.len(), said.probabilities));
        Self { model, classes, features, said, data, reading, known, found }
    }

    /// How many predictions are right; none where the data have no target.
    pub(super) fn line(&self) -> Option<String> {
        let known = self.known.as_ref()?;
        let (right, scored) = (self.right()?, self.scored()?);
        let unknown = match known.len() as u64 - scored {
            0 => String::new(),
            count => format!("; {count} of a class the model does not know"),
        };
        Some(match &self.found {
            Some(found) => {
                let share = table::number(100.0 * found.metrics.accuracy);
                format!("accuracy {share} % ({right} of {scored} right){unknown}")
            }
            None => format!("no sample has a class that the model knows{unknown}"),
        })
    }

    fn right(&self) -> Option<u64> {
        let known = self.known.as_ref()?;
        Some(known.iter().zip(&self.said.predicted).filter(|(k, p)| **k == Some(**p)).count() as u64)
    }

    fn scored(&self) -> Option<u64> {
        Some(self.known.as_ref()?.iter().flatten().count() as u64)
    }

    /// The JSON.
    pub(super) fn value(&self, command_line: &str) -> Value {
        let (data, features, classes) = (self.data, self.features, self.classes);
        let (model, found) = (&self.model, self.found.as_ref());
        let n = data.features.n_samples();
        let counts = |codes: &mut dyn Iterator<Item = u32>| {
            let mut counts = vec![0u64; classes.len()];
            codes.for_each(|code| counts[code as usize] += 1);
            Value::Object(by_class_key(counts.into_iter()))
        };
        let known = self.known.as_deref();
        let unknown = self.scored().map(|scored| n as u64 - scored);
        let about = json!({
            "model": model, "data": data.source, "n_samples": n,
            "accuracy": found.map(|found| found.metrics.accuracy), "right": self.right(), "scored": self.scored(),
            "unknown_class": unknown, "target": data.target.as_ref().map(|target| &target.column),
            "classes": classes_value(classes), "positive": positive(classes),
            "class_counts": known.map(|known| counts(&mut known.iter().flatten().copied())),
            "predicted_counts": counts(&mut self.said.predicted.iter().copied()),
            "selected": features, "n_features": features.len(),
        });
        let mut value = document(Kind::Prediction, about);
        if let Some(found) = found {
            let mut metrics = measures(&found.metrics, &found.confusion);
            let (log_loss, brier) = found.losses.map(|losses| (losses.log_loss, losses.brier)).unzip();
            metrics.0.extend([("log_loss".to_owned(), log_loss), ("brier".to_owned(), brier)]);
            let summary: Map<String, Value> =
                found.summary.iter().map(|(name, summary)| ((*name).to_owned(), json!(summary))).collect();
            value["n_test"] = json!(self.scored());
            value["metrics"] = json!(metrics);
            value["summary"] = Value::Object(summary);
            value["recall"] = by_class(classes, &found.recall);
            value["confusion"] = json!(found.confusion);
            value["calibration"] = json!(found.calibration);
            value["wrong"] = json!(self.wrong());
        }
        value["settings"] = json!(Asked {
            data: Some(data.source.clone()),
            target: data.target.as_ref().map(|target| target.column.clone()),
            reading: self.reading.clone(),
            own: entries(&json!({"model": model})),
            ..Asked::default()
        });
        value["command"] = json!(command_line);
        value
    }

    /// The samples that are taken for another class.
    fn wrong(&self) -> Vec<WrongSample> {
        let known = self.known.as_deref().unwrap_or_default();
        let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i].is_some()).collect();
        let predicted: Vec<u32> = rows.iter().map(|&i| self.said.predicted[i]).collect();
        let class = |i: usize| known[i].unwrap_or_default();
        WrongSample::all(self.classes, &class, self.data.samples.as_ref(), &|row| row, [(&rows[..], &predicted[..])])
    }
}
