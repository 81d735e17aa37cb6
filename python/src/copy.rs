//! Columns of a design as Python's arrays.

use fewest::Design;
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// n, column starts, row indices and values of a CSC matrix.
type Csc<'py> = (usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i32>>, Bound<'py, PyArray1<f64>>);

/// Columns of a design in the form that the engine takes: an array in F order, or the parts of a
/// CSC matrix.
pub(crate) fn copied<'py>(py: Python<'py>, design: &dyn Design, features: &[usize]) -> PyResult<Bound<'py, PyAny>> {
    let n = design.n_samples();
    if !design.is_sparse() {
        let mut values = vec![0.0; n * features.len()];
        for (&j, column) in features.iter().zip(values.chunks_mut(n.max(1))) {
            design.add_column(j, 1.0, column);
        }
        let shape = [n, features.len()];
        let array = values.into_pyarray(py).reshape_with_order(shape, numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER)?;
        return Ok(array.into_any());
    }
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for &j in features {
        design.each_in_column(j, &mut |i, x| {
            rows.push(i as i32);
            values.push(x);
        });
        starts.push(rows.len() as i64);
    }
    let csc: Csc<'py> = (n, starts.into_pyarray(py), rows.into_pyarray(py), values.into_pyarray(py));
    Ok(csc.into_pyobject(py)?.into_any())
}
