//! The data of a result by name: features, classes and samples.

use fewest_data::{Names, Target, TextColumn};

use crate::{About, WrongSample, sample_names};

/// Features, classes and samples, which a result has by name.
#[derive(Debug, Clone, Copy)]
pub struct NamedData<'a> {
    /// Names of the features.
    pub names: &'a Names,
    /// Classes of the samples.
    pub target: &'a Target,
    /// Names of the samples; none where they have none.
    pub samples: Option<&'a TextColumn>,
    /// Row of each sample in the file, from 0; none where every row is a sample.
    pub rows: Option<&'a [usize]>,
}

impl NamedData<'_> {
    /// What a result says of the data.
    pub fn about(&self, warnings: Vec<String>, notes: Vec<String>) -> About {
        About::new(self.names, self.target, warnings, notes)
    }

    /// The name of a feature.
    pub fn name(&self, feature: usize) -> String {
        self.names.get(feature).into_owned()
    }

    /// Names of features.
    pub fn named(&self, features: &[usize]) -> Vec<String> {
        features.iter().map(|&j| self.name(j)).collect()
    }

    /// The name of a class.
    pub fn class(&self, code: u32) -> String {
        self.target.classes[code as usize].clone()
    }

    /// Names of classes by their codes.
    pub fn classes(&self, codes: &[u32]) -> Vec<String> {
        codes.iter().map(|&code| self.class(code)).collect()
    }

    fn row(&self, sample: usize) -> usize {
        self.rows.map_or(sample, |rows| rows[sample])
    }

    /// Rows of samples in the file.
    pub fn rows(&self, samples: &[usize]) -> Vec<usize> {
        samples.iter().map(|&sample| self.row(sample)).collect()
    }

    /// Names of samples; none where they have none.
    pub fn sample_names(&self, samples: &[usize]) -> Option<Vec<String>> {
        sample_names(self.samples, samples)
    }

    /// The samples that were taken for another class ([`WrongSample::all`]).
    pub fn wrong<'p>(&self, parts: impl IntoIterator<Item = (&'p [usize], &'p [u32])>) -> Vec<WrongSample> {
        WrongSample::all(&self.target.classes, &|row| self.target.codes[row], self.samples, &|row| self.row(row), parts)
    }
}
