//! Predictions of a model on samples, and their table.

use fewest::model::class_scores;
use fewest_data::Dataset;
use fewest_eval::study::Probabilities;
use fewest_eval::{ExternalValidation, Predictions};
use fewest_result::{Judged, JudgedSamples, TaskModels, TrainedModel};

/// Predictions of a model on samples.
pub(super) struct SampleDecisions<'a> {
    classes: &'a [String],
    /// The column that names the task of each sample, and these names.
    tasks: Option<(&'a str, Vec<String>)>,
    /// The class of each.
    pub(super) predicted: Vec<u32>,
    /// The pairs of classes that have decision values; positive ones speak for the second.
    pairs: Vec<[String; 2]>,
    /// Sample after sample, one for each pair; none where the sample's task has not that pair.
    decisions: Vec<Option<f64>>,
    /// From decision values to the probability of each class.
    pub(super) probabilities: Option<&'a Probabilities>,
}

impl<'a> SampleDecisions<'a> {
    /// Predictions of one classifier for all samples, whose features are prepared.
    pub(super) fn by_one(trained: &'a TrainedModel, data: &Dataset) -> Self {
        let decisions = trained.model.decisions(data.features.as_design());
        let name = |class: u32| trained.classes[class as usize].clone();
        Self {
            classes: &trained.classes,
            tasks: None,
            predicted: trained.model.votes(&decisions),
            pairs: trained.model.machines.iter().map(|m| [name(m.negative), name(m.positive)]).collect(),
            decisions: decisions.into_iter().map(Some).collect(),
            probabilities: trained.calibration.as_ref(),
        }
    }

    /// Predictions of a classifier for each task.
    pub(super) fn by_task(tasks: &'a TaskModels, names: Vec<String>, judged: Judged) -> Self {
        Self {
            classes: &tasks.classes,
            tasks: Some((&tasks.column, names)),
            predicted: judged.predicted,
            pairs: judged.pairs,
            decisions: judged.decisions.concat(),
            probabilities: None,
        }
    }

    fn decisions(&self, i: usize) -> &[Option<f64>] {
        &self.decisions[i * self.pairs.len()..(i + 1) * self.pairs.len()]
    }

    /// What they are worth: `data` have the classes that they are judged by, if any, and `features` are
    /// those of the classifier.
    pub(super) fn judged(&self, features: &[String], data: &Dataset) -> JudgedSamples {
        let known = data.target.as_ref().map(|target| target.codes_in(self.classes));
        let found = known
            .as_ref()
            .and_then(|known| ExternalValidation::new(&self.of_known(known), self.classes.len(), self.probabilities));
        JudgedSamples::new([self.classes, features], data, &self.predicted, known.as_deref(), found.as_ref())
    }

    /// Predictions of the samples whose class is known, as a fold has its samples held out.
    /// Decision values of several tasks are of two classes alone.
    fn of_known(&self, known: &[Option<u32>]) -> Predictions {
        let rows: Vec<usize> = (0..known.len()).filter(|&i| known[i].is_some()).collect();
        let two = self.tasks.is_none() || self.classes.len() == 2;
        let decisions = rows.iter().filter(|_| two).flat_map(|&i| self.decisions(i)).copied().flatten();
        Predictions {
            truth: known.iter().flatten().copied().collect(),
            predicted: rows.iter().map(|&i| self.predicted[i]).collect(),
            decisions: decisions.collect(),
        }
    }

    /// The name of each sample where it has one, its task, `prediction`, a decision value for each
    /// pair of classes, a score for each of more than two classes, the probability of the second of
    /// two classes or of each of more where the model knows it, and the class in the data where
    /// there is one.
    pub(super) fn csv(&self, data: &Dataset) -> String {
        let mut out = line(&self.header(data));
        let scored = self.is_scored();
        for (i, &class) in self.predicted.iter().enumerate() {
            let mut cells: Vec<String> = data.samples.iter().map(|samples| samples.values[i].clone()).collect();
            cells.extend(self.tasks.as_ref().map(|tasks| tasks.1[i].clone()));
            cells.push(self.classes[class as usize].clone());
            let values = self.decisions(i);
            cells.extend(values.iter().map(|value| value.map_or_else(String::new, |value| value.to_string())));
            let values: Vec<f64> = values.iter().copied().flatten().collect();
            if scored {
                cells.extend(class_scores(self.classes.len() as u32, &values).iter().map(f64::to_string));
            }
            if let Some(probabilities) = self.probabilities {
                let each = probabilities.of(&values);
                cells.extend(each.iter().skip(self.first_probability()).map(f64::to_string));
            }
            cells.extend(data.target.as_ref().map(|t| t.classes[t.codes[i] as usize].clone()));
            out += &line(&cells);
        }
        out
    }

    fn header(&self, data: &Dataset) -> Vec<String> {
        let mut header: Vec<String> = data.samples.iter().map(|samples| named(&samples.name)).collect();
        header.extend(self.tasks.as_ref().map(|tasks| tasks.0.to_owned()));
        header.push("prediction".to_owned());
        match &self.pairs[..] {
            [_] => header.push("decision".to_owned()),
            pairs => header.extend(pairs.iter().map(|[negative, positive]| format!("decision_{negative}_{positive}"))),
        }
        if self.is_scored() {
            header.extend(self.classes.iter().map(|class| format!("score_{class}")));
        }
        if self.probabilities.is_some() {
            let classes = self.classes.iter().skip(self.first_probability());
            header.extend(classes.map(|class| format!("probability_{class}")));
        }
        header.extend(data.target.as_ref().map(|t| t.column.clone()));
        header
    }

    fn is_scored(&self) -> bool {
        self.tasks.is_none() && self.classes.len() > 2
    }

    /// The first class that has a column of probabilities: of two classes the second alone.
    fn first_probability(&self) -> usize {
        usize::from(self.classes.len() == 2)
    }
}

/// The heading of names of samples, whose column may have none of its own.
fn named(column: &str) -> String {
    if column.is_empty() { "sample".to_owned() } else { column.to_owned() }
}

/// A csv line; cells are quoted where they must be.
fn line(cells: &[String]) -> String {
    let quote = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    cells.iter().map(quote).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use fewest::DenseDesign;
    use fewest_data::{Features, Format, Names, Target, TextColumn};
    use fewest_eval::study::Probabilities;

    use super::*;

    /// Three samples with names, of classes that the model knows but for the last.
    fn data(samples: &str) -> Dataset {
        let text = |name: &str, values: [&str; 3]| TextColumn {
            name: name.to_owned(),
            values: values.map(String::from).to_vec(),
        };
        Dataset {
            features: Features::Dense(DenseDesign::new(3, 1, vec![0.0; 3]).unwrap()),
            names: Names::Listed(vec!["x".to_owned()]),
            target: Some(Target {
                column: "y".to_owned(),
                classes: ["c", "b", "z"].map(String::from).to_vec(),
                codes: vec![0, 1, 2],
            }),
            samples: Some(text(samples, ["P-1", "P,2", "P-3"])),
            apart: vec![],
            notes: vec![],
            source: "d.csv".to_owned(),
            format: Format::Csv,
        }
    }

    fn said<'a>(classes: &'a [String], probabilities: Option<&'a Probabilities>) -> SampleDecisions<'a> {
        let pair = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        SampleDecisions {
            classes,
            tasks: None,
            predicted: vec![2, 1, 0],
            pairs: vec![pair("a", "b"), pair("a", "c"), pair("b", "c")],
            decisions: [-1.0, 2.0, 1.0, 2.0, -1.0, -1.0, -1.0, -2.0, 0.5].map(Some).to_vec(),
            probabilities,
        }
    }

    #[test]
    fn samples_keep_their_names_and_classes_have_scores_and_probabilities() {
        let classes = ["a", "b", "c"].map(String::from);
        let fitted: Vec<f64> = (0..27).map(|at| f64::from(at * 7 % 5) - 2.0).collect();
        let codes = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        let probabilities = Probabilities::fit(&fitted, &codes, 3).unwrap();
        let text = said(&classes, Some(&probabilities)).csv(&data("patient"));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "patient,prediction,decision_a_b,decision_a_c,decision_b_c,score_a,score_b,score_c,\
             probability_a,probability_b,probability_c,y"
        );
        assert!(lines[1].starts_with("P-1,c,-1,2,1,") && lines[1].ends_with(",c"), "{}", lines[1]);
        assert!(lines[2].starts_with("\"P,2\",b,"), "{}", lines[2]);
        let cells: Vec<f64> = lines[1].split(',').skip(5).take(6).map(|cell| cell.parse().unwrap()).collect();
        // Votes a 1, b 0, c 2; sums -1, -2, 3, each s giving s / (3 (|s| + 1)).
        for (score, expected) in cells.iter().zip([1.0 - 1.0 / 6.0, -2.0 / 9.0, 2.0 + 3.0 / 12.0]) {
            assert!((score - expected).abs() < 1e-12, "{score} {expected}");
        }
        assert_eq!(cells[3..], probabilities.of(&[-1.0, 2.0, 1.0]));
        assert!(said(&classes, None).csv(&data("")).starts_with("sample,prediction,decision_a_b,"));
    }

    #[test]
    fn samples_of_unknown_classes_are_left_aside() {
        let classes = ["a", "b", "c"].map(String::from);
        let known = data("").target.unwrap().codes_in(&classes);
        let of = said(&classes, None).of_known(&known);
        assert_eq!((of.truth, of.predicted), (vec![2, 1], vec![2, 1]));
        assert_eq!(of.decisions, [-1.0, 2.0, 1.0, 2.0, -1.0, -1.0]);
    }
}
