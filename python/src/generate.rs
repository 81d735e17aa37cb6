//! Synthetic data of the papers.

use fewest::Design;
use fewest_data::generate::{
    Coefficients, Composite, CompositeSettings, Correlated, CorrelatedSettings, Generator, Hyperplane,
    HyperplaneSettings, Ndcc, NdccSettings, Points, SampleSet, Text, TextSettings, check_memory,
};
use fewest_data::{DataError, Dataset};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copy::copied;
use crate::enter::sheltered;
use crate::{of_data, settings};

/// A kind of data with its settings.
#[derive(Debug, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum Kind {
    Hyperplane { features: usize, relevant: usize, normal_points: bool, signs: bool, noise_sd: f64, seed: u64 },
    Composite { noise: usize, pair_shift: f64, correlation: f64, single_shift: f64, seed: u64 },
    Correlated { features: usize, relevant: usize, correlation: f64, snr: f64, seed: u64 },
    Ndcc { features: usize, relevant: usize, expansion: f64, seed: u64 },
    Text { words: usize, length: usize, relevant: usize, topical: usize, leak: f64, exponent: f64, seed: u64 },
}

impl Kind {
    /// Features, and of sparse data the values that a sample has at most.
    fn size(&self) -> (usize, Option<u64>) {
        match *self {
            Self::Hyperplane { features, .. } | Self::Correlated { features, .. } | Self::Ndcc { features, .. } => {
                (features, None)
            }
            Self::Composite { noise, .. } => (noise.saturating_add(3), None),
            Self::Text { words, length, .. } => (words, Some(length as u64)),
        }
    }

    fn generator(self) -> Result<Box<dyn Generator>, DataError> {
        Ok(match self {
            Self::Hyperplane { features, relevant, normal_points, signs, noise_sd, seed } => {
                let points = if normal_points { Points::Normal } else { Points::Ball };
                let coefficients = if signs { Coefficients::Signs } else { Coefficients::Normal };
                let settings = HyperplaneSettings { features, relevant, points, coefficients, noise_sd, seed };
                Box::new(Hyperplane::new(settings)?)
            }
            Self::Composite { noise, pair_shift, correlation, single_shift, seed } => {
                Box::new(Composite::new(CompositeSettings { noise, pair_shift, correlation, single_shift, seed })?)
            }
            Self::Correlated { features, relevant, correlation, snr, seed } => {
                Box::new(Correlated::new(CorrelatedSettings { features, relevant, correlation, snr, seed })?)
            }
            Self::Ndcc { features, relevant, expansion, seed } => {
                Box::new(Ndcc::new(NdccSettings { features, relevant, expansion, seed })?)
            }
            Self::Text { words, length, relevant, topical, leak, exponent, seed } => {
                Box::new(Text::new(TextSettings { words, length, relevant, topical, leak, exponent, seed })?)
            }
        })
    }
}

fn refused(error: &DataError) -> PyErr {
    let text = of_data(error, "fewest.set_memory");
    if matches!(error, DataError::Memory { .. }) { PyMemoryError::new_err(text) } else { PyValueError::new_err(text) }
}

/// Draws samples: `x` (as the engine takes it), `codes` (0, 1), `support` (the features that
/// matter) and `weights` (of the true linear classifier, none where there is none). `kind`: its
/// name and settings; `part`: "training", "validation" or "test".
///
/// # Errors
/// `ValueError` for settings out of range, or samples that are all of one class, `MemoryError`.
#[pyfunction]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    kind: &Bound<'py, PyAny>,
    part: &str,
    samples: usize,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let kind: Kind = settings(kind)?;
        let part = match part {
            "training" => SampleSet::Training,
            "validation" => SampleSet::Validation,
            "test" => SampleSet::Test,
            other => {
                let text = format!("part is {other:?}, but must be \"training\", \"validation\" or \"test\"");
                return Err(PyValueError::new_err(text));
            }
        };
        let (features, stored) = kind.size();
        check_memory("the data", samples as u64, features as u64, stored, None).map_err(|error| refused(&error))?;
        let drawn = || -> Result<(Box<dyn Generator>, Dataset), DataError> {
            let generator = kind.generator()?;
            let data = generator.draw(part, samples)?;
            Ok((generator, data))
        };
        let (generator, data) = drawn().map_err(|error| refused(&error))?;
        let design: &dyn Design = data.features.as_design();
        let dict = PyDict::new(py);
        dict.set_item("x", copied(py, design, &(0..design.n_features()).collect::<Vec<usize>>())?)?;
        dict.set_item("codes", data.target.map(|target| target.codes.into_pyarray(py)))?;
        dict.set_item("support", generator.support().into_pyarray(py))?;
        dict.set_item("weights", generator.weights().map(|weights| weights.to_vec().into_pyarray(py)))?;
        Ok(dict)
    })
}
