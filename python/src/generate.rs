//! Synthetic data of the papers.

use fewest::Design;
use fewest_data::generate::{Generator, GeneratorSettings, SampleSet, check_memory};
use fewest_data::{DataError, Dataset};
use numpy::IntoPyArray;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::copy::copied;
use crate::enter::sheltered;
use crate::{of_data, settings};

fn refused(error: &DataError) -> PyErr {
    let text = of_data(error, "fewest.set_memory");
    if matches!(error, DataError::Memory { .. }) { PyMemoryError::new_err(text) } else { PyValueError::new_err(text) }
}

/// Draws samples: `x` (as the engine takes it), `codes` (0, 1), `support` (the features that
/// matter) and `weights` (of the true linear classifier, none where there is none). `kind`: its
/// name and settings, [`GeneratorSettings`]; `part`: "training", "validation" or "test".
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
        let kind: GeneratorSettings = settings(kind)?;
        let part = match part {
            "training" => SampleSet::Training,
            "validation" => SampleSet::Validation,
            "test" => SampleSet::Test,
            other => {
                let text = format!("part is {other:?}, but must be \"training\", \"validation\" or \"test\"");
                return Err(PyValueError::new_err(text));
            }
        };
        check_memory("the data", samples as u64, kind.features() as u64, kind.stored(), None)
            .map_err(|error| refused(&error))?;
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
