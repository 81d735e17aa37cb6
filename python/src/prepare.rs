//! Missing values and scales: learnt from some samples, applied to these and to others.

use fewest::method::rfe::splits::PreparedParts;
use fewest::{Design, Error};
use fewest_data::{DataError, Features, Interval, MissingRule, ScaleKind};
use fewest_eval::Learnt;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings, sheltered};

/// What is done to samples before they are trained on.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preparation {
    /// What stands in for missing values; none: there are none.
    impute: Option<MissingRule>,
    /// Mean 0 and variance 1, or, where the matrix is sparse, largest absolute value 1.
    scale: bool,
}

impl Preparation {
    /// The parts of a split, prepared by what the first one says.
    pub(crate) fn parts(
        self,
        design: &dyn Design,
        weights: &[f64],
        training: &[usize],
        held_out: &[usize],
    ) -> Result<PreparedParts, Error> {
        let part = |rows: &[usize]| owned(&*design.select_samples(rows));
        let (mut first, mut last) = (part(training)?, part(held_out)?);
        let weights: Vec<f64> = training.iter().map(|&i| weights[i]).collect();
        let learnt = self.fit(&mut first, &weights)?;
        learnt.apply(&mut last).map_err(said)?;
        Ok((first.into_design(), last.into_design()))
    }

    /// Learns from these samples, and prepares them.
    fn fit(self, features: &mut Features, weights: &[f64]) -> Result<Learnt, Error> {
        let scale = match features {
            _ if !self.scale => ScaleKind::None,
            Features::Dense(_) => ScaleKind::Standard,
            _ => ScaleKind::MaxAbs,
        };
        let (missing, scale) = (self.impute, Some(scale));
        let how = fewest_eval::Preparation { missing, scale, ..fewest_eval::Preparation::default() };
        how.fit(features, weights).map_err(said)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn said(error: DataError) -> Error {
    Error::Data(error.to_string())
}

/// What all samples say: `fill`, `center` and `scale`, length p each, or None where nothing is done.
///
/// # Errors
/// `ValueError` for values out of range.
#[pyfunction]
pub(crate) fn preparation<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    weights: PyReadonlyArray1<'py, f64>,
    how: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let (how, design): (Preparation, _) = (settings(how)?, x.design()?);
        let weights = numbers(&weights)?;
        let learnt = owned(&*design).and_then(|mut features| how.fit(&mut features, weights)).map_err(raised)?;
        let listed = |values: Vec<f64>| (!values.is_empty()).then_some(values);
        let dict = PyDict::new(py);
        dict.set_item("fill", learnt.imputation.map(|imputation| imputation.fill))?;
        dict.set_item("center", listed(learnt.scaling.center))?;
        dict.set_item("scale", listed(learnt.scaling.scale))?;
        Ok(dict)
    })
}

/// The scaling that brings features to the range of these ends, as options and files name it.
///
/// # Errors
/// `ValueError` where that is no range.
#[pyfunction]
pub(crate) fn range_scaling(low: f64, high: f64) -> PyResult<String> {
    let ends = Interval::new(low, high).ok_or_else(|| PyValueError::new_err(format!("{low} to {high} is no range")))?;
    Ok(ScaleKind::Range(ends).to_string())
}
