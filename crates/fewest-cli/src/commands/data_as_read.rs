//! Data as read.

use fewest::{Memory, Reserved};
use fewest_data::{Dataset, Indicator, Note, ReadOptions, Target};
use fewest_eval::markers::Level;
use fewest_eval::{Data as Samples, EvalError, Groups};
use fewest_result::{About, NamedData};

use super::eval_words::failure;
use super::reading::{apart_names, notes, warnings};
use super::scaling_words::scaling_text;
use crate::args::data::PrepareArgs;
use crate::failure::Failure;
use crate::resume::fingerprint;

/// Data as read.
pub(crate) struct DataAsRead {
    /// Features as in the file, names.
    pub(crate) data: Dataset,
    /// Classes.
    pub(crate) target: Target,
    /// Weight of each sample.
    pub(super) weights: Vec<f64>,
    /// The row of each sample among those that were read, of which some may have weight 0.
    pub(super) rows: Vec<usize>,
    /// The name of each sample's fold, where a column of the data says it.
    pub(crate) folds: Option<Vec<String>>,
    /// The name of each sample's task, where a column of the data says it.
    pub(super) tasks: Option<Vec<String>>,
    /// The groups that stay together, where a column of the data says them.
    pub(crate) groups: Option<Groups>,
    /// The features that each text column became.
    pub(super) texts: Vec<Vec<usize>>,
    /// Features that say where another one has no value.
    pub(super) indicators: Vec<Indicator>,
    /// Whether sparse data are centred, too ([`fewest_eval::Preparation`]).
    pub(super) centred: bool,
    /// How the file was read.
    pub(crate) reading: ReadOptions,
    /// Bytes that `--memory` leaves for kernel values.
    pub(super) kernel_memory: Option<u64>,
    /// What is taken of the memory beside the data.
    pub(super) account: Memory,
    /// The memory of samples that are a copy.
    pub(super) taken: Option<Reserved>,
}

impl DataAsRead {
    /// The samples, as evaluations take them.
    pub(crate) fn samples(&self) -> Samples<'_> {
        let (features, tasks) = (&self.data.features, self.tasks.as_deref());
        let groups = self.groups.as_ref().map(|groups| groups.codes.as_slice());
        Samples { features, target: &self.target, weights: &self.weights, tasks, groups }
    }

    /// Features, classes and samples by name.
    pub(crate) fn named(&self) -> NamedData<'_> {
        let samples = self.data.samples.as_ref();
        NamedData { names: &self.data.names, target: &self.target, samples, rows: Some(&self.rows) }
    }

    /// What results say of them.
    pub(crate) fn about(&self) -> About {
        About { summed: self.data.summed().cloned(), ..self.named().about(warnings(&self.data), notes(&self.data)) }
    }

    /// How features are scaled in each part, in words.
    pub(crate) fn scaling_text(&self, prepare: &PrepareArgs) -> String {
        scaling_text(prepare.scaling(&self.data.features, self.centred), &self.data)
    }

    /// The level of a column that was set apart, or of the target.
    ///
    /// # Errors
    /// A blank cell, a class in two classes of the level.
    pub(super) fn level(&self, name: &str) -> Result<Level, Failure> {
        if self.reading.is_target(name) || name == self.target.column {
            return Ok(Level { name: self.target.column.clone(), of: self.target.classes.clone() });
        }
        let values = apart_names(&self.data, name, "class of a level", &self.rows)?;
        Level::of_samples(name, &values, &self.target).map_err(|error| self.failure(error))
    }

    /// An error of an evaluation of these samples.
    pub(crate) fn failure(&self, error: EvalError) -> Failure {
        failure(error, &self.data.source)
    }

    /// A copy.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn copy(&self) -> Result<Self, Failure> {
        let n = self.target.codes.len();
        let what = || format!("a copy of {n} samples");
        let taken =
            self.account.reserve(self.data.features.bytes(), what, "fewer --threads, which work on a copy each")?;
        let data = Dataset {
            features: self.data.features.rows(&(0..n).collect::<Vec<usize>>()),
            names: self.data.names.clone(),
            target: None,
            samples: self.data.samples.clone(),
            apart: Vec::new(),
            notes: self.data.notes.iter().filter(|note| matches!(note, Note::Normalized(_))).cloned().collect(),
            source: self.data.source.clone(),
            format: self.data.format,
        };
        Ok(Self {
            data,
            target: self.target.clone(),
            weights: self.weights.clone(),
            rows: self.rows.clone(),
            folds: self.folds.clone(),
            tasks: self.tasks.clone(),
            groups: self.groups.clone(),
            texts: self.texts.clone(),
            indicators: self.indicators.clone(),
            reading: self.reading.clone(),
            centred: self.centred,
            kernel_memory: self.kernel_memory,
            account: self.account.clone(),
            taken: Some(taken),
        })
    }

    /// A number that changes with any value, class, weight, fold, task or group.
    pub(crate) fn check(&self) -> u64 {
        let groups = self.groups.as_ref().map(Groups::by_sample);
        let named = [self.folds.as_deref(), self.tasks.as_deref(), groups.as_deref()];
        check(&self.data, &self.target, &self.weights, named)
    }

    /// The features that each text column became.
    pub(crate) fn texts(&self) -> &[Vec<usize>] {
        &self.texts
    }

    /// Features that say where another one has no value.
    pub(crate) fn indicators(&self) -> &[Indicator] {
        &self.indicators
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
pub(super) fn check(data: &Dataset, target: &Target, weights: &[f64], named: [Option<&[String]>; 3]) -> u64 {
    let classes = target.codes.iter().map(|&code| u64::from(code));
    let names = named.into_iter().flatten().flatten().flat_map(|name| name.bytes()).map(u64::from);
    let words = classes.chain(weights.iter().map(|weight| weight.to_bits())).chain(names);
    fingerprint(data.features.as_design(), words)
}
