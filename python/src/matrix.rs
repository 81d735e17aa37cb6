//! Python's matrices as designs. Nothing is copied but the pointers and row indices of sparse
//! matrices whose integers are 64-bit or signed; rows become columns (CSR) in Python.

use std::borrow::Cow;

use fewest::{DenseDesign, Design, Error, SparseDesign, StridedDesign};
use fewest_data::Features;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::file::ColumnFile;
use crate::{numbers, raised};

/// A matrix of the caller.
#[derive(FromPyObject)]
pub(crate) enum Columns<'py> {
    /// n x p, C or F order.
    Double(PyReadonlyArray2<'py, f64>),
    /// n x p, C or F order.
    Single(PyReadonlyArray2<'py, f32>),
    /// A file that stays on the disk.
    File(Bound<'py, ColumnFile>),
    /// n, column starts, row indices and values of a CSC matrix, rows ascending.
    Sparse(usize, PyReadonlyArray1<'py, i64>, Indices<'py>, PyReadonlyArray1<'py, f64>),
}

/// Row indices.
#[derive(FromPyObject)]
pub(crate) enum Indices<'py> {
    /// As scipy keeps them below 2^31 stored values.
    Short(PyReadonlyArray1<'py, i32>),
    /// And above.
    Long(PyReadonlyArray1<'py, i64>),
}

/// A contiguous array in either order: values and the distances of rows and columns.
fn strided<'a, T: numpy::Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<(&'a [T], [usize; 4])> {
    let values = array.as_slice().map_err(|_| PyValueError::new_err("the matrix is not contiguous"))?;
    let [n, p] = [array.shape()[0], array.shape()[1]];
    // With one row or column both flags are set, and the strides of the other direction say
    // nothing.
    let (row, column) = if array.is_c_contiguous() { (p, 1) } else { (1, n) };
    Ok((values, [n, p, row, column]))
}

impl Columns<'_> {
    /// The design, borrowing the arrays.
    pub(crate) fn design(&self) -> PyResult<Box<dyn Design + '_>> {
        match self {
            Columns::Double(array) => {
                let (values, [n, p, row, column]) = strided(array)?;
                if column == n || p <= 1 {
                    return Ok(Box::new(DenseDesign::new(n, p, values).map_err(raised)?));
                }
                Ok(Box::new(StridedDesign::new(n, p, row, column, values).map_err(raised)?))
            }
            Columns::Single(array) => {
                let (values, [n, p, row, column]) = strided(array)?;
                Ok(Box::new(StridedDesign::new(n, p, row, column, values).map_err(raised)?))
            }
            Columns::File(file) => Ok(Box::new(file.get().design().clone())),
            Columns::Sparse(n, starts, rows, values) => {
                let wrong = |what: &str| PyValueError::new_err(format!("{what} of the sparse matrix out of range"));
                let start: Option<Vec<usize>> = numbers(starts)?.iter().map(|&s| usize::try_from(s).ok()).collect();
                let rows: Cow<'_, [u32]> = match rows {
                    // Negative numbers become large ones, which the design refuses.
                    Indices::Short(rows) => Cow::Borrowed(bytemuck::cast_slice(numbers(rows)?)),
                    Indices::Long(rows) => {
                        let short: Option<Vec<u32>> = numbers(rows)?.iter().map(|&i| u32::try_from(i).ok()).collect();
                        Cow::Owned(short.ok_or_else(|| wrong("row indices"))?)
                    }
                };
                let start = start.ok_or_else(|| wrong("column starts"))?;
                Ok(Box::new(SparseDesign::new(*n, start, rows, numbers(values)?).map_err(raised)?))
            }
        }
    }
}

/// A copy of a matrix, to be prepared in place.
pub(crate) fn owned(design: &dyn Design) -> Result<Features, Error> {
    let (n, p) = (design.n_samples(), design.n_features());
    if design.is_sparse() {
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..p {
            design.each_in_column(j, &mut |i, x| {
                rows.push(i as u32);
                values.push(x);
            });
            start.push(rows.len());
        }
        return SparseDesign::new(n, start, rows, values).map(Features::Sparse);
    }
    let mut values = vec![0.0; n * p];
    for (j, column) in values.chunks_mut(n.max(1)).enumerate().take(p) {
        design.each_in_column(j, &mut |i, x| column[i] = x);
    }
    DenseDesign::new(n, p, values).map(Features::Dense)
}
