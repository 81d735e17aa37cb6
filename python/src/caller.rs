//! What only Python knows of the data and of the call.

use fewest_data::{MissingRule, Names, Note, ScaleKind, ScaleReason, Summed, Target, TextColumn};
use fewest_result::{About, Asked, NamedData};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::settings;

/// What only Python knows of the data and of the call, as the dictionary has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    /// Names of the features.
    names: Vec<String>,
    /// The column of the classes.
    target: String,
    /// Names of the samples as they were given.
    samples: Option<Vec<String>>,
    /// Row of each sample among those that were given.
    rows: Vec<usize>,
    /// What reading warned of.
    notes: Vec<String>,
    /// Text columns: name, the features made of it, its values.
    texts: Vec<(String, Vec<String>, Vec<String>)>,
    /// What was summed up to the samples.
    summed: Option<Summed>,
    /// What was asked of the data.
    asked: Asked,
    /// The call.
    command: String,
}

/// What only Python knows of the data and of the call.
#[derive(Debug)]
pub(crate) struct Caller {
    /// Names of the features.
    pub(crate) names: Names,
    /// Classes of the samples, which have names.
    pub(crate) target: Target,
    samples: Option<TextColumn>,
    rows: Vec<usize>,
    notes: Vec<String>,
    /// The values of text columns.
    pub(crate) read: Vec<Note>,
    summed: Option<Summed>,
    asked: Asked,
    /// The call.
    pub(crate) command: String,
}

impl Caller {
    /// The dictionary with the fields of [`Given`], and the classes: their names and that of each sample.
    pub(crate) fn new(given: &Bound<'_, PyAny>, classes: Vec<String>, codes: &[u32]) -> PyResult<Self> {
        let Given { names, target, samples, rows, notes, texts, summed, asked, command } = settings(given)?;
        let values = |given: Vec<String>| rows.iter().map(|&row| given[row].clone()).collect();
        let column = |(column, made, values)| Note::Dummies { column, made, values };
        Ok(Self {
            names: Names::Listed(names),
            target: Target { column: target, classes, codes: codes.to_vec() },
            samples: samples.map(|given| TextColumn { name: String::new(), values: values(given) }),
            read: texts.into_iter().map(column).collect(),
            rows,
            notes,
            summed,
            asked,
            command,
        })
    }

    /// Features, classes and samples by name.
    pub(crate) fn named(&self) -> NamedData<'_> {
        let rows = Some(self.rows.as_slice());
        NamedData { names: &self.names, target: &self.target, samples: self.samples.as_ref(), rows }
    }

    /// What was asked of the data: how missing values are filled in, how features are scaled, and why.
    pub(crate) fn asked(&self, missing: Option<MissingRule>, (scale, why): (ScaleKind, ScaleReason)) -> Asked {
        Asked {
            missing: Some(missing.map_or("error", MissingRule::name).to_owned()),
            scale: Some(scale.to_string()),
            scale_reason: Some(why.text().to_owned()),
            ..self.asked.clone()
        }
    }

    /// What results say of them; `faults` are warnings of the run.
    pub(crate) fn about(&self, faults: &[String]) -> About {
        let about = self.named().about([&self.notes, faults].concat(), self.notes.clone());
        About { summed: self.summed.clone(), ..about }
    }
}
