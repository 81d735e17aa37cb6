//! Data as read, and copies of some of their samples.

use std::borrow::Cow;

use fewest::{Memory, Reserved};
use fewest_data::{Dataset, Imputation, Indicator, Names, Target};

use crate::export::model_json::FeatureImputation;
use crate::failure::Failure;
use crate::resume::fingerprint;

/// Data as read.
pub(crate) struct Raw {
    /// Features as in the file, names.
    pub(crate) data: Dataset,
    /// Classes.
    pub(crate) target: Target,
    /// Weight of each sample.
    pub(super) weights: Vec<f64>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// The name of each sample's task, where a column of the data says it.
    pub(super) tasks: Option<Vec<String>>,
    /// The features that each text column became.
    pub(super) texts: Vec<Vec<usize>>,
    /// Features that say where another one has no value.
    pub(super) indicators: Vec<Indicator>,
    /// Bytes that `--memory` leaves for kernel values.
    pub(super) kernel_memory: Option<u64>,
    /// What is taken of the memory beside the data.
    pub(super) account: Memory,
    /// That of samples which are a copy.
    pub(super) taken: Option<Reserved>,
}

impl Raw {
    /// What samples are dealt by: their class, and with tasks task and class.
    pub(crate) fn strata(&self) -> Cow<'_, Target> {
        let Some(tasks) = &self.tasks else { return Cow::Borrowed(&self.target) };
        let each = tasks.iter().zip(&self.target.codes);
        let cells: Vec<(&String, u32)> = each.map(|(task, &class)| (task, class)).collect();
        let mut known = cells.clone();
        known.sort_unstable();
        known.dedup();
        let codes = cells.iter().map(|cell| known.binary_search(cell).expect("listed above") as u32).collect();
        let name = |(task, class): &(&String, u32)| format!("{} of task {task}", self.target.classes[*class as usize]);
        Cow::Owned(Target { codes, classes: known.iter().map(name).collect(), ..self.target.clone() })
    }

    /// These samples alone, ascending; all classes keep their names.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn rows(&self, rows: &[usize]) -> Result<Self, Failure> {
        let share = rows.len() as f64 / self.data.features.n_samples().max(1) as f64;
        let bytes = (self.data.features.bytes() as f64 * share) as u64;
        let what = || format!("a copy of {} samples", rows.len());
        let taken = Some(self.account.reserve(bytes, what, "fewer --threads, which work on a copy each")?);
        let features = self.data.features.rows(rows);
        let data = Dataset {
            features,
            names: self.data.names.clone(),
            target: None,
            apart: Vec::new(),
            notes: Vec::new(),
            source: self.data.source.clone(),
            format: self.data.format,
        };
        let weights = rows.iter().map(|&i| self.weights[i]).collect();
        let folds = self.folds.as_ref().map(|folds| rows.iter().map(|&i| folds[i].clone()).collect());
        let tasks = self.tasks.as_ref().map(|tasks| rows.iter().map(|&i| tasks[i].clone()).collect());
        let (texts, indicators) = (self.texts.clone(), self.indicators.clone());
        let target = self.target.rows(rows);
        let (kernel_memory, account) = (self.kernel_memory, self.account.clone());
        Ok(Self { data, target, weights, folds, tasks, texts, indicators, kernel_memory, account, taken })
    }

    /// A number that changes with any value, class, weight or fold.
    pub(crate) fn check(&self) -> u64 {
        check(&self.data, &self.target, &self.weights, [self.folds.as_deref(), self.tasks.as_deref()])
    }

    /// The features that each text column became.
    pub(crate) fn texts(&self) -> &[Vec<usize>] {
        &self.texts
    }

    /// What stands in for missing values of these features.
    pub(crate) fn imputation_of(&self, imputation: &Imputation, features: &[usize]) -> FeatureImputation {
        feature_imputation(imputation, &self.indicators, &self.data.names, features)
    }

    /// Weight of each sample.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Bytes that `--memory` leaves for kernel values.
    pub(crate) fn kernel_memory(&self) -> Option<u64> {
        self.kernel_memory
    }

    /// What is taken of the memory beside the data.
    pub(crate) fn account(&self) -> &Memory {
        &self.account
    }
}

/// [`fingerprint`] of values, classes, weights, and columns that name things.
pub(super) fn check(data: &Dataset, target: &Target, weights: &[f64], named: [Option<&[String]>; 2]) -> u64 {
    let classes = target.codes.iter().map(|&code| u64::from(code));
    let names = named.into_iter().flatten().flatten().flat_map(|name| name.bytes()).map(u64::from);
    let words = classes.chain(weights.iter().map(|weight| weight.to_bits())).chain(names);
    fingerprint(data.features.as_design(), words)
}

/// What stands in for missing values of these features, in their order.
pub(super) fn feature_imputation(
    imputation: &Imputation,
    indicators: &[Indicator],
    names: &Names,
    features: &[usize],
) -> FeatureImputation {
    let of = |&j: &usize| indicators.iter().find(|i| i.name == *names.get(j)).map(|i| i.of.clone());
    FeatureImputation {
        rule: imputation.rule.name().to_owned(),
        fill: features.iter().map(|&j| imputation.fill[j]).collect(),
        indicates: features.iter().map(of).collect(),
    }
}
