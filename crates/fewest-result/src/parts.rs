//! What results of several kinds say.

use std::collections::BTreeMap;

use fewest::method::certificate::Certificate as Found;
use fewest::validation::{Metrics, recall};
use fewest::{Counts, Outcome, Status, Subset};
use fewest_data::{Names, Summed, Target, TextColumn};
use serde::{Deserialize, Serialize};

use crate::{ByName, ClassNames};

/// The samples that are listed as wrong at most: the first of them, as tables of many samples hold
/// the rest.
const MOST_WRONG: usize = 1000;

/// The data of a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// Number of samples.
    pub n_samples: usize,
    /// What was summed up to these samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summed: Option<Summed>,
    /// Number of features.
    pub n_features: usize,
    /// The column of the classes.
    pub target: String,
    /// The classes.
    pub classes: ClassNames,
    /// Samples of each class, under the same keys.
    pub class_counts: ByName<u64>,
    /// The class that is +1, of two.
    pub positive: Option<String>,
    /// What may be wrong.
    pub warnings: Vec<String>,
    /// What of `warnings` is to be known only.
    pub notes: Vec<String>,
}

impl About {
    /// Data of these features and classes.
    pub(crate) fn new(names: &Names, target: &Target, warnings: Vec<String>, notes: Vec<String>) -> Self {
        Self {
            n_samples: target.codes.len(),
            summed: None,
            n_features: names.len(),
            target: target.column.clone(),
            classes: ClassNames(target.classes.clone()),
            class_counts: ByName::by_class_key(target.counts().into_iter().map(|count| count as u64)),
            positive: positive(&target.classes),
            warnings,
            notes,
        }
    }
}

/// The class that is +1, of two.
pub(crate) fn positive(classes: &[String]) -> Option<String> {
    (classes.len() == 2).then(|| classes[1].clone())
}

/// Measures by name; null where one is not defined.
pub type Measures = ByName<Option<f64>>;

/// The measures of samples that took no part, of two classes with the shares of the second and of the
/// first that are classified right. Rows of `confusion`: true classes, columns: predicted ones.
pub(crate) fn measures(metrics: &Metrics, confusion: &[Vec<u64>]) -> Measures {
    let share = |name, class| (name, recall(confusion, class));
    let of_two = (confusion.len() == 2).then(|| [share("sensitivity", 1), share("specificity", 0)]);
    metrics.named().into_iter().chain(of_two.into_iter().flatten()).collect()
}

/// [`measures`] with the losses of the probabilities; null where there are none.
pub(crate) fn measures_and_losses(
    metrics: &Metrics,
    confusion: &[Vec<u64>],
    [log_loss, brier]: [Option<f64>; 2],
) -> Measures {
    let mut all = measures(metrics, confusion);
    all.0.extend([("log_loss".to_owned(), log_loss), ("brier".to_owned(), brier)]);
    all
}

/// A subset and what it is worth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Solution {
    /// Names, in the order of the indices.
    pub selected: Vec<String>,
    /// Indices from 0, ascending.
    pub selected_indices: Vec<usize>,
    /// Objective.
    pub objective: Option<f64>,
}

impl Solution {
    /// A subset with its names.
    pub fn new(subset: &Subset, objective: Option<f64>, names: &Names) -> Self {
        let selected_indices: Vec<usize> = subset.iter().collect();
        let selected = selected_indices.iter().map(|&j| names.get(j).into_owned()).collect();
        Self { selected, selected_indices, objective }
    }
}

/// What a search proved of a subset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proven {
    /// How it ended.
    pub status: Status,
    /// Objective of the subset.
    #[serde(default)]
    pub objective: Option<f64>,
    /// Proven bound on the objective of every allowed subset.
    #[serde(default)]
    pub bound: Option<f64>,
    /// Objective without any feature.
    #[serde(default)]
    pub baseline: Option<f64>,
    /// Share of what can be gained that is left out at most.
    #[serde(default)]
    pub gap: Option<f64>,
    /// Distance to the bound as a share of the objective.
    #[serde(default)]
    pub objective_gap: Option<f64>,
    /// Time it took, in seconds.
    #[serde(default)]
    pub seconds: f64,
    /// What it did.
    #[serde(default)]
    pub counts: Counts,
}

impl From<&Outcome> for Proven {
    fn from(outcome: &Outcome) -> Self {
        Self {
            status: outcome.status,
            objective: outcome.objective,
            bound: outcome.bound,
            baseline: outcome.yardstick.map(|yardstick| yardstick.baseline),
            gap: outcome.gap(),
            objective_gap: outcome.objective_gap(),
            seconds: outcome.elapsed.as_secs_f64(),
            counts: outcome.counts,
        }
    }
}

/// How far a subset is from the best of its size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The size.
    #[serde(default)]
    pub max_features: usize,
    /// What is proven of the subset among those of the size.
    #[serde(flatten)]
    pub proven: Proven,
    /// The best subset that was found.
    #[serde(default)]
    pub best: Solution,
}

impl Certificate {
    /// A certificate among subsets of at most `max_features`, with names.
    pub fn new(found: &Found, max_features: usize, names: &Names) -> Self {
        let proven = Proven {
            status: found.status,
            objective: Some(found.objective),
            bound: found.bound,
            baseline: Some(found.yardstick.baseline),
            gap: found.gap(),
            objective_gap: found.objective_gap(),
            seconds: found.elapsed.as_secs_f64(),
            counts: found.counts,
        };
        Self { max_features, proven, best: Solution::new(&found.best.subset, Some(found.best.objective), names) }
    }
}

/// A sample that was taken for another class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WrongSample {
    /// Row in the file, from 0.
    pub row: usize,
    /// Name; null where samples have none.
    pub sample: Option<String>,
    /// Class.
    pub class: String,
    /// How often it was judged.
    pub judged: u64,
    /// How often it was taken for another class.
    pub wrong: usize,
    /// The classes that it was taken for.
    pub predicted: Vec<String>,
}

impl WrongSample {
    /// The samples that were taken for another class, most often first, 1000 at most. Each part has
    /// samples and the class predicted of each; `row_of` is the row of a sample in the file.
    pub fn all<'a>(
        classes: &[String],
        class_of: &dyn Fn(usize) -> u32,
        samples: Option<&TextColumn>,
        row_of: &dyn Fn(usize) -> usize,
        parts: impl IntoIterator<Item = (&'a [usize], &'a [u32])>,
    ) -> Vec<Self> {
        // By row: how often it was judged, and what it was taken for.
        let mut judged: BTreeMap<usize, (u64, Vec<u32>)> = BTreeMap::new();
        for (&row, &predicted) in parts.into_iter().flat_map(|(rows, predicted)| rows.iter().zip(predicted)) {
            let entry = judged.entry(row).or_default();
            entry.0 += 1;
            if predicted != class_of(row) {
                entry.1.push(predicted);
            }
        }
        let mut wrong: Vec<(usize, u64, Vec<u32>)> =
            judged.into_iter().filter(|entry| !entry.1.1.is_empty()).map(|(row, (n, taken))| (row, n, taken)).collect();
        wrong.sort_by_key(|(row, _, taken)| (std::cmp::Reverse(taken.len()), *row));
        let one = |(row, judged, mut taken): (usize, u64, Vec<u32>)| {
            let wrong = taken.len();
            taken.sort_unstable();
            taken.dedup();
            Self {
                row: row_of(row),
                sample: samples.map(|samples| samples.values[row].clone()),
                class: classes[class_of(row) as usize].clone(),
                judged,
                wrong,
                predicted: taken.iter().map(|&class| classes[class as usize].clone()).collect(),
            }
        };
        wrong.into_iter().take(MOST_WRONG).map(one).collect()
    }
}

/// The names of samples; none where the data have no names.
pub(crate) fn sample_names(samples: Option<&TextColumn>, rows: &[usize]) -> Option<Vec<String>> {
    samples.map(|samples| rows.iter().map(|&row| samples.values[row].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_are_wrong_most_often_come_first() {
        let classes = ["a", "b", "c"].map(String::from);
        let samples = TextColumn { name: String::new(), values: ["S1", "S2", "S3", "S4"].map(String::from).to_vec() };
        let truth = [0, 1, 2, 1];
        let parts: [(&[usize], &[u32]); 3] = [(&[0, 2], &[0, 1]), (&[1, 2], &[0, 0]), (&[1, 3], &[1, 1])];
        let found = WrongSample::all(&classes, &|row| truth[row], Some(&samples), &|row| row, parts);
        let one = |row, sample: &str, class: &str, wrong, predicted: &[&str]| WrongSample {
            row,
            sample: Some(sample.to_owned()),
            class: class.to_owned(),
            judged: 2,
            wrong,
            predicted: predicted.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(found, [one(2, "S3", "c", 2, &["a", "b"]), one(1, "S2", "b", 1, &["a"])]);
        assert_eq!(WrongSample::all(&classes, &|row| truth[row], None, &|row| row, parts)[0].sample, None);
        assert_eq!(sample_names(Some(&samples), &[3, 0]), Some(vec!["S4".to_owned(), "S1".to_owned()]));
        assert_eq!(sample_names(None, &[3]), None);
        let (rows, taken): (Vec<usize>, Vec<u32>) = ((0..1200).collect(), vec![1; 1200]);
        let many = WrongSample::all(&classes, &|_| 0, None, &|row| row, [(&rows[..], &taken[..])]);
        assert_eq!(many.len(), 1000);
    }
}
