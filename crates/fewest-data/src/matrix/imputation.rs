//! Missing values: NaN where [`crate::ReadOptions::missing`] lets them in, filled in by what is
//! learnt from other values of the same feature.
//!
//! Nothing is learnt from a sample that [`Imputation::fit`] does not see: fit on the training part
//! of a fold, apply to both parts.

use std::collections::HashMap;

use fewest_svm::DenseDesign;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::matrix::sample_weights::{Present, SampleWeights, stored};
use crate::matrix::scaling::mean;
use crate::{DataError, Dataset, Features, Names, Note};

/// Rule for missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingRule {
    /// The mean of the values that are there; of a column of 0 and 1, the share of ones.
    Mean,
    /// Their median, the mean of the two middle ones of an even number.
    Median,
    /// The one that occurs most often, the smallest of several.
    MostFrequent,
    /// The mean; and each feature with missing values gets a feature of 0 and 1 beside it that says
    /// where ([`Dataset::add_indicators`]).
    Indicator,
}

impl MissingRule {
    /// The name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            MissingRule::Mean => "mean",
            MissingRule::Median => "median",
            MissingRule::MostFrequent => "most-frequent",
            MissingRule::Indicator => "indicator",
        }
    }
}

/// A fitted imputation: NaN in feature j becomes `fill[j]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Imputation {
    /// The rule that was fitted.
    pub rule: MissingRule,
    /// Put in place of NaN, length p, all finite. 0 for a feature without any value.
    pub fill: Vec<f64>,
}

impl Imputation {
    /// Learns from the values that are there, features in parallel. `texts` are the features that
    /// one text column became, for each such column ([`Dataset::text_columns`]; may be empty): with
    /// `Median` and `MostFrequent` they are filled in with its most frequent value, all at once.
    pub fn fit(rule: MissingRule, features: &Features, texts: &[Vec<usize>]) -> Self {
        Self::weighted(rule, features, texts, SampleWeights::ONES)
    }

    /// [`Imputation::fit`], where a sample counts as many times as its weight says.
    pub fn weighted(rule: MissingRule, features: &Features, texts: &[Vec<usize>], weights: SampleWeights<'_>) -> Self {
        let one = |j| fill(rule, features, j, weights);
        let mut fill: Vec<f64> = (0..features.n_features()).into_par_iter().map(one).collect();
        if matches!(rule, MissingRule::Median | MissingRule::MostFrequent) {
            for text in texts {
                let ones = |&j: &usize| {
                    let counted = Present::of(features, j, weights).counted();
                    counted.iter().find(|value| value.0 == 1.0).map_or(0.0, |value| value.1)
                };
                let counts: Vec<f64> = text.iter().map(ones).collect();
                let most = (0..text.len()).rev().max_by(|&a, &b| counts[a].total_cmp(&counts[b]));
                for (at, &j) in text.iter().enumerate() {
                    // A text column of two values is one feature, which has a most frequent value
                    // of its own.
                    fill[j] = if text.len() == 1 { fill[j] } else { f64::from(u8::from(Some(at) == most)) };
                }
            }
        }
        Self { rule, fill }
    }

    /// With the most frequent value for features that hold categories, whose mean or median says
    /// nothing.
    #[must_use]
    pub fn with_categories(mut self, features: &Features, categorical: &[usize], weights: SampleWeights<'_>) -> Self {
        for &j in categorical {
            self.fill[j] = fill(MissingRule::MostFrequent, features, j, weights);
        }
        self
    }

    /// Fills in place. A mapped file has no missing values, nor have scaled features.
    ///
    /// # Errors
    /// [`DataError::ImputationShape`] when fitted on another number of features.
    pub fn apply(&self, features: &mut Features) -> Result<(), DataError> {
        let (expected, found) = (self.fill.len(), features.n_features());
        if expected != found {
            return Err(DataError::ImputationShape { expected, found });
        }
        let put = |values: &mut [f64], fill: f64| values.iter_mut().filter(|x| x.is_nan()).for_each(|x| *x = fill);
        match features {
            Features::Dense(design) => (0..found).for_each(|j| put(design.column_mut(j), self.fill[j])),
            Features::Sparse(design) => (0..found).for_each(|j| put(design.values_mut(j), self.fill[j])),
            Features::Mapped(_) | Features::Centred(_) => {}
        }
        Ok(())
    }
}

/// What stands in for the missing values of feature j.
fn fill(rule: MissingRule, features: &Features, j: usize, weights: SampleWeights<'_>) -> f64 {
    let present = Present::of(features, j, weights).without_missing();
    if present.total() == 0.0 {
        return 0.0;
    }
    match rule {
        MissingRule::Mean | MissingRule::Indicator => mean(&present),
        MissingRule::Median => median(&present.counted()),
        MissingRule::MostFrequent => {
            let best = present.counted().into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a });
            best.map_or(0.0, |(value, _)| value)
        }
    }
}

/// The middle of distinct values, ascending, with how many times each counts: where half of the
/// total ends at a value, the mean of this and the next.
fn median(counted: &[(f64, f64)]) -> f64 {
    let half = counted.iter().map(|value| value.1).sum::<f64>() / 2.0;
    let near = half * 1e-12;
    let mut below = 0.0;
    for (at, &(value, times)) in counted.iter().enumerate() {
        below += times;
        if below >= half - near {
            let next = counted.get(at + 1).filter(|_| below <= half + near);
            // Halved first: the sum of two large values may be beyond doubles.
            return next.map_or(value, |next| value / 2.0 + next.0 / 2.0);
        }
    }
    0.0
}

/// The features with missing values, ascending, and how many values each lacks.
pub fn missing_counts(features: &Features) -> Vec<(usize, usize)> {
    if features.as_design().largest_value().is_some() {
        return Vec::new();
    }
    let count = |j| stored(features, j).iter().filter(|x| x.is_nan()).count();
    let lacking = |j| Some((j, count(j))).filter(|found| found.1 > 0);
    (0..features.n_features()).into_par_iter().filter_map(lacking).collect()
}

/// A feature of 0 and 1 that says where another one has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indicator {
    /// The indicator's name: `NAME (missing)`, of a text column with the name of that.
    pub name: String,
    /// A feature that is missing where this one is 1.
    pub of: String,
}

/// 1 where feature j has no value, for each sample.
fn marks(features: &Features, j: usize) -> Vec<f64> {
    let mut values = vec![0.0; features.n_samples()];
    features.as_design().each_in_column(j, &mut |i, x| values[i] = f64::from(u8::from(x.is_nan())));
    values
}

impl Dataset {
    /// Positions of the features that each text column became, one list for each.
    pub fn text_columns(&self) -> Vec<Vec<usize>> {
        let finder = self.names.finder();
        let made = |note: &Note| match note {
            Note::Dummies { made, .. } => Some(made.iter().filter_map(|name| finder.position(name)).collect()),
            _ => None,
        };
        self.notes.iter().filter_map(made).collect()
    }

    /// The columns that lack values: name, first feature made of it, number of values.
    fn lacking(&self) -> Vec<(String, usize, usize)> {
        let counts = missing_counts(&self.features);
        if counts.is_empty() {
            return Vec::new();
        }
        let finder = self.names.finder();
        let mut of_text = HashMap::new();
        for note in &self.notes {
            let Note::Dummies { column, made, .. } = note else { continue };
            of_text.extend(made.iter().filter_map(|name| finder.position(name)).map(|j| (j, column)));
        }
        let name = |j| of_text.get(&j).map_or_else(|| self.names.get(j).into_owned(), |&column| column.clone());
        let mut found: Vec<_> = counts.into_iter().map(|(j, count)| (name(j), j, count)).collect();
        // The features of a text column stand together.
        found.dedup_by(|later, first| later.0 == first.0);
        found
    }

    /// Adds `NAME (missing)` for each feature with missing values, one for all features of a text
    /// column; a function of each sample alone, so that it may precede any split. Call it before
    /// the values are filled in.
    ///
    /// # Errors
    /// [`DataError::DuplicateName`] where a feature has one of these names already.
    pub fn add_indicators(&mut self) -> Result<Vec<Indicator>, DataError> {
        let indicator =
            |(column, j, _)| Indicator { name: format!("{column} (missing)"), of: self.names.get(j).into_owned() };
        let added: Vec<Indicator> = self.lacking().into_iter().map(indicator).collect();
        for (at, indicator) in added.iter().enumerate() {
            if let Some(first) = self.names.position(&indicator.name) {
                let (file, name) = (self.source.clone(), indicator.name.clone());
                return Err(DataError::DuplicateName {
                    file,
                    name,
                    first: first + 1,
                    second: self.names.len() + at + 1,
                });
            }
        }
        self.mark(&added)?;
        Ok(added)
    }

    /// Adds these features of 0 and 1, as a model has them.
    ///
    /// # Errors
    /// [`DataError::MissingFeature`] where a feature that one of them marks is not there.
    pub fn mark(&mut self, indicators: &[Indicator]) -> Result<(), DataError> {
        if indicators.is_empty() {
            return Ok(());
        }
        let finder = self.names.finder();
        let column = |indicator: &Indicator| match finder.position(&indicator.of) {
            Some(j) => Ok(marks(&self.features, j)),
            None => Err(DataError::MissingFeature {
                file: self.source.clone(),
                name: indicator.of.clone(),
                missing: 1,
                needed: indicators.len(),
            }),
        };
        let values: Vec<Vec<f64>> = indicators.iter().map(column).collect::<Result<_, _>>()?;
        let mut names = self.names.to_vec();
        names.extend(indicators.iter().map(|indicator| indicator.name.clone()));
        self.features = self.features.with_columns(&values);
        self.names = Names::Listed(names);
        Ok(())
    }

    /// Adds the note on missing values, if there are any.
    pub(crate) fn note_missing(&mut self) {
        let lacking = self.lacking();
        if !lacking.is_empty() {
            let values = lacking.iter().map(|(.., count)| count).sum();
            let columns = lacking.len();
            let names = lacking.into_iter().take(10).map(|(column, _, count)| (column, count)).collect();
            self.notes.push(Note::Missing { values, columns, names });
        }
    }

    /// The columns that lack values and how many each of them lacks, and the number of rows.
    pub(crate) fn lacking_columns(&self) -> crate::LackingColumns {
        let each = self.lacking().into_iter().map(|(column, _, count)| (column, count));
        (each.collect(), self.features.n_samples())
    }
}

impl Features {
    /// The matrix with these columns, each of n values, after its own.
    fn with_columns(&self, columns: &[Vec<f64>]) -> Features {
        let (n, p) = (self.n_samples(), self.n_features());
        match self {
            Features::Dense(design) => {
                let values = [design.values(), &columns.concat()].concat();
                Features::Dense(DenseDesign::new(n, p + columns.len(), values).expect("n p values"))
            }
            Features::Sparse(_) | Features::Mapped(_) | Features::Centred(_) => {
                let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
                let design = self.as_design();
                for j in 0..p {
                    design.each_in_column(j, &mut |i, x| {
                        rows.push(i as u32);
                        values.push(x);
                    });
                    start.push(rows.len());
                }
                for column in columns {
                    let ones = column.iter().enumerate().filter(|(_, x)| **x != 0.0);
                    ones.for_each(|(i, &x)| {
                        rows.push(i as u32);
                        values.push(x);
                    });
                    start.push(rows.len());
                }
                let made = fewest_svm::SparseDesign::new(n, start, rows, values);
                Features::Sparse(made.expect("columns of a valid matrix"))
            }
        }
    }
}
