//! Copies of features that mean nothing, and the features that stand out from them.

use fewest::Clock;
use fewest::validation::Knockoffs as Law;
use fewest_data::generate::normals;
use fewest_eval::knockoffs::KnockoffFindings;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::Columns;
use crate::settings;

/// The law of the copies of features none of which is constant.
#[pyclass(frozen, module = "fewest._core")]
pub(crate) struct Knockoffs(Law);

#[pymethods]
impl Knockoffs {
    /// Learns it; `limits`: a dictionary with the fields of [`CallLimits`].
    ///
    /// # Errors
    /// `ValueError` for an unknown feature, `MemoryError`, `TimeoutError`, and what Ctrl-C
    /// raises.
    #[new]
    fn new(py: Python<'_>, x: Columns<'_>, features: Vec<usize>, limits: &Bound<'_, PyAny>) -> PyResult<Self> {
        sheltered(|| {
            let design = &*x.design()?;
            if let Some(j) = features.iter().find(|&&j| j >= design.n_features()) {
                return Err(PyValueError::new_err(format!("feature {j} of {}, counted from 0", design.n_features())));
            }
            let (law, _) = enter(py, &settings::<CallLimits>(limits)?, None, |limits, _| {
                Law::new(design, &features, &limits.memory, &Clock::new(&limits))
            })?;
            law.map(Self).ok_or_else(too_late)
        })
    }

    /// n x 2 p: the features and their copies, but for the pairs that changed places, of which there
    /// is a list of p.
    ///
    /// # Errors
    /// `MemoryError`, `TimeoutError`, and what Ctrl-C raises.
    fn draw<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        stream: u32,
        limits: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyArray1<bool>>)> {
        sheltered(|| {
            let columns = 2 * self.0.features().len();
            let (both, _) = enter(py, &settings::<CallLimits>(limits)?, None, |limits, _| {
                let what = || format!("the copies of {} features", columns / 2);
                let _reserved = limits.memory.reserve(self.0.bytes(), what, "leave features out of the data")?;
                Ok(self.0.draw(&mut normals(seed, stream), &Clock::new(&limits)))
            })?;
            let both = both.ok_or_else(too_late)?;
            let values = PyArray1::from_slice(py, both.design.values());
            let rows: Bound<'py, PyArray2<f64>> = values.reshape([columns, values.len()? / columns])?;
            Ok((rows.getattr("T")?, PyArray1::from_slice(py, both.swapped())))
        })
    }

    /// 1 less the correlation of each feature with its copy.
    #[getter]
    fn separations<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.0.separations())
    }

    /// The share of the correlations that was given up.
    #[getter]
    fn shrinkage(&self) -> f64 {
        self.0.shrinkage()
    }
}

fn too_late() -> PyErr {
    PyTimeoutError::new_err("the time was over before the copies were drawn; give more")
}

/// What the statistics of each draw say: the fields of [`KnockoffFindings`].
///
/// # Errors
/// `ValueError` for draws of different lengths.
#[pyfunction]
pub(crate) fn knockoff_selection(py: Python<'_>, draws: Vec<Vec<f64>>, q: f64) -> PyResult<Bound<'_, PyAny>> {
    sheltered(|| {
        if draws.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(PyValueError::new_err("draws of different lengths"));
        }
        let draws: Vec<&[f64]> = draws.iter().map(Vec::as_slice).collect();
        Ok(pythonize(py, &KnockoffFindings::new(&draws, q))?)
    })
}
