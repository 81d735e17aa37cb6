//! Column files (`.csc`, docs/formats/column-file.md): a matrix that stays on the disk.

use std::sync::Arc;

use fewest::Design;
use fewest_data::{EntrySums, Features, Format, MappedDesign, Names, ReadOptions, Target, column_part};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::copy::copied;
use crate::enter::sheltered;
use crate::of_data;

/// Name of the target column, its classes, and the class of each row.
pub(crate) type Classes<'py> = (String, Vec<String>, Bound<'py, PyArray1<u32>>);

/// Stored values, and the checksums of row indices and values.
type Sums = (u64, u32, u32);

/// What opens a file again: its path, [`ColumnFile`]'s memory, and columns.
type Opening = (String, Option<u64>, Option<(usize, usize)>);

/// Cuts, names, target and sums of a file.
type Outline<'py> = (Vec<usize>, Option<Vec<String>>, Option<Classes<'py>>, Sums);

/// A column file, or some of its columns, mapped and checked.
#[pyclass(frozen, module = "fewest._core")]
pub(crate) struct ColumnFile {
    path: String,
    memory: Option<u64>,
    /// First column and the one behind the last, where it is some of them.
    columns: Option<(usize, usize)>,
    design: Arc<MappedDesign>,
    names: Names,
    target: Option<Target>,
    sums: Option<EntrySums>,
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
    let text = of_data(error, "max_memory");
    match error {
        DataError::NotFound { .. } => PyFileNotFoundError::new_err(text),
        DataError::Io { .. } | DataError::Output { .. } => PyOSError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

#[pymethods]
impl ColumnFile {
    /// Maps a file and checks every byte of it once. `memory`: bytes that may stay in memory, three
    /// quarters of the machine's for none. `columns`: only those from the first to before the
    /// second, without names and classes.
    #[new]
    #[pyo3(signature = (path, memory=None, columns=None))]
    fn new(py: Python<'_>, path: String, memory: Option<u64>, columns: Option<(usize, usize)>) -> PyResult<Self> {
        sheltered(|| {
            if let Some((first, last)) = columns {
                let memory = memory.unwrap_or_else(|| ReadOptions::default().memory());
                let part = py.detach(|| column_part(&path, first..last, memory)).map_err(|error| raised(&error))?;
                let (design, names, sums) = (Arc::new(part.design), Names::Numbered(last - first), Some(part.sums));
                return Ok(Self { path, memory: Some(memory), columns, design, names, target: None, sums });
            }
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
            let (design, names, target) = (Arc::new(design), data.names, data.target);
            Ok(Self { path, memory, columns, design, names, target, sums: None })
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
        listed(&self.names)
    }

    /// What the file says of the rows' classes.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> Option<Classes<'py>> {
        self.target.as_ref().map(|target| classes(py, target))
    }

    /// Stored values of some of the columns, and the checksums of their row indices and values.
    #[getter]
    fn sums(&self) -> Option<Sums> {
        self.sums.map(|sums| (sums.stored, sums.rows, sums.values))
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

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyAny>, Opening) {
        (py.get_type::<Self>().into_any(), (self.path.clone(), self.memory, self.columns))
    }
}

fn listed(names: &Names) -> Option<Vec<String>> {
    match names {
        Names::Listed(names) => Some(names.clone()),
        Names::Numbered(_) => None,
    }
}

pub(crate) fn classes<'py>(py: Python<'py>, target: &Target) -> Classes<'py> {
    (target.column.clone(), target.classes.clone(), target.codes.clone().into_pyarray(py))
}

/// Where the columns of a file are best cut into at most this many parts, from 0 to their number;
/// names, target and [`ColumnFile::sums`] of the file. Its entries are not read.
///
/// # Errors
/// As [`ColumnFile`].
#[pyfunction]
pub(crate) fn column_outline(py: Python<'_>, path: String, pieces: usize) -> PyResult<Outline<'_>> {
    sheltered(|| {
        let found = py.detach(|| fewest_data::column_outline(&path, pieces)).map_err(|error| raised(&error))?;
        let target = found.target.as_ref().map(|target| classes(py, target));
        Ok((found.cuts, listed(&found.names), target, (found.sums.stored, found.sums.rows, found.sums.values)))
    })
}

/// [`ColumnFile::sums`] of all columns, from those of the parts in order.
#[pyfunction]
pub(crate) fn joined_sums(parts: Vec<Sums>) -> Sums {
    let parts: Vec<EntrySums> =
        parts.into_iter().map(|(stored, rows, values)| EntrySums { stored, rows, values }).collect();
    let EntrySums { stored, rows, values } = EntrySums::joined(&parts);
    (stored, rows, values)
}
