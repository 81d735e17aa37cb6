//! Column files (`.csc`, docs/column-file.md): a matrix that stays on the disk.

use std::sync::Arc;

use fewest::Design;
use fewest_data::{Features, Format, MappedDesign, Names, ReadOptions, Target};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::copy::copied;
use crate::enter::sheltered;
use crate::in_python;

/// Name of the target column, its classes, and the class of each row.
type Classes<'py> = (String, Vec<String>, Bound<'py, PyArray1<u32>>);

/// A column file, mapped and checked.
#[pyclass(frozen, module = "fewest._core")]
pub(crate) struct ColumnFile {
    path: String,
    design: Arc<MappedDesign>,
    names: Names,
    target: Option<Target>,
}

impl ColumnFile {
    /// The matrix.
    pub(crate) fn design(&self) -> &MappedDesign {
        &self.design
    }
}

/// An error about a file as Python's.
pub(crate) fn raised(error: &fewest_data::DataError) -> PyErr {
    use fewest_data::DataError;
    let text = in_python(&error.to_string());
    match error {
        DataError::NotFound { .. } | DataError::Io { .. } | DataError::Output { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

#[pymethods]
impl ColumnFile {
    /// Maps a file and checks every byte of it once. `memory`: bytes that may stay in memory, three
    /// quarters of the machine's for none.
    #[new]
    #[pyo3(signature = (path, memory=None))]
    fn new(py: Python<'_>, path: String, memory: Option<u64>) -> PyResult<Self> {
        sheltered(|| {
            let options = ReadOptions {
                format: Some(Format::Csc),
                memory_limit: memory,
                target_optional: true,
                ..ReadOptions::default()
            };
            let data = py.detach(|| fewest_data::read(&path, &options)).map_err(|error| raised(&error))?;
            let Features::Mapped(design) = data.features else {
                return Err(PyValueError::new_err(format!("{path} is no column file")));
            };
            Ok(Self { path, design: Arc::new(design), names: data.names, target: data.target })
        })
    }

    /// Samples, features, stored values.
    #[getter]
    fn shape(&self) -> (usize, usize, usize) {
        (self.design.n_samples(), self.design.n_features(), self.design.stored())
    }

    /// Names of the features; none where they are numbered.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        match &self.names {
            Names::Listed(names) => Some(names.clone()),
            Names::Numbered(_) => None,
        }
    }

    /// What the file says of the rows' classes.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Option<Classes<'py>> {
        let Target { column, classes, codes } = self.target.as_ref()?;
        Some((column.clone(), classes.clone(), codes.clone().into_pyarray(py)))
    }

    /// Columns in memory, as the parts of a CSC matrix.
    fn columns<'py>(&self, py: Python<'py>, features: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
        sheltered(|| {
            let p = self.design.n_features();
            if let Some(j) = features.iter().find(|&&j| j >= p) {
                return Err(PyValueError::new_err(format!("column {j} of {p}, counted from 0")));
            }
            copied(py, &*self.design, &features)
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, (String,)) {
        (py.get_type::<Self>().into_any(), (self.path.clone(),))
    }
}
