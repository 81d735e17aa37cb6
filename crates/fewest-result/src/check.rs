//! What a data file holds, as `fewest check` writes it.

use fewest_data::{Dataset, Summary, Target};
use serde::Serialize;

use crate::{ByName, ClassNames, positive};

/// A data file in numbers.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    data: String,
    format: &'static str,
    n_samples: usize,
    n_features: usize,
    sparse: bool,
    density: f64,
    bytes: u64,
    target: Option<CheckedTarget>,
    constant: Vec<String>,
    duplicates: Vec<Duplicate>,
    notes: Vec<String>,
    faults: Vec<Fault>,
    features: Vec<CheckedFeature>,
}

/// The classes of a file; counts by name.
#[derive(Debug, Clone, Serialize)]
struct CheckedTarget {
    column: String,
    classes: ClassNames,
    counts: ByName<usize>,
    positive: Option<String>,
}

/// A feature that repeats an earlier one.
#[derive(Debug, Clone, Serialize)]
struct Duplicate {
    feature: String,
    of: String,
}

/// Something wrong with a file, and the option with which it is read even so; empty where none does.
#[derive(Debug, Clone, Serialize)]
pub struct Fault {
    /// What is wrong.
    #[serde(rename = "fault")]
    pub text: String,
    /// The option.
    pub option: String,
}

/// One feature in numbers, those of the values that are there.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Column {
    /// The smallest value.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The largest value.
    pub max: f64,
    /// The standard deviation.
    #[serde(rename = "standard_deviation")]
    pub deviation: f64,
    /// Values that are not 0.
    pub nonzero: usize,
    /// Samples without a value.
    pub missing: usize,
}

#[derive(Debug, Clone, Serialize)]
struct CheckedFeature {
    name: String,
    #[serde(flatten)]
    column: Column,
    constant: bool,
}

impl Check {
    /// The file's features in numbers, with names.
    pub fn new(data: &Dataset, columns: &[Column], summary: &Summary, notes: Vec<String>, faults: &[Fault]) -> Self {
        let name = |j: usize| data.names.get(j).into_owned();
        let of_class = |target: &Target| CheckedTarget {
            column: target.column.clone(),
            classes: ClassNames(target.classes.clone()),
            counts: ByName::new(target.classes.iter().cloned(), target.counts()),
            positive: positive(&target.classes),
        };
        let constant = &summary.constant;
        let features = columns.iter().enumerate().map(|(j, &column)| CheckedFeature {
            name: name(j),
            column,
            constant: constant.binary_search(&j).is_ok(),
        });
        Self {
            data: data.source.clone(),
            format: data.format.name(),
            n_samples: data.features.n_samples(),
            n_features: columns.len(),
            sparse: data.features.as_design().is_sparse(),
            density: summary.density,
            bytes: data.features.bytes(),
            target: data.target.as_ref().map(of_class),
            constant: constant.iter().map(|&j| name(j)).collect(),
            duplicates: summary
                .duplicates
                .iter()
                .map(|d| Duplicate { feature: name(d.feature), of: name(d.of) })
                .collect(),
            notes,
            faults: faults.to_vec(),
            features: features.collect(),
        }
    }
}
