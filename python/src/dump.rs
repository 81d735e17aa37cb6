//! Column files written from Python's matrices.

use fewest_data::{Dataset, Format, Names, Target};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::enter::sheltered;
use crate::file::raised;
use crate::matrix::{Columns, owned};
use crate::numbers;

/// Writes a column file of a matrix and the classes of its rows. `names`: of the features, none for
/// x1, x2, ...
///
/// # Errors
/// `OSError` for a path that cannot be written, `ValueError` for names that are not distinct.
#[pyfunction]
pub(crate) fn write_columns<'py>(
    py: Python<'py>,
    path: String,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    target: String,
    names: Option<Vec<String>>,
) -> PyResult<()> {
    sheltered(|| {
        let features = owned(&*x.design()?).map_err(crate::raised)?;
        let names = names.map_or_else(|| Names::Numbered(features.n_features()), Names::Listed);
        let target = Some(Target { column: target, classes, codes: numbers(&codes)?.to_vec() });
        let source = path.clone();
        let data = Dataset {
            features,
            names,
            target,
            samples: None,
            apart: vec![],
            notes: vec![],
            source,
            format: Format::Csc,
        };
        py.detach(|| fewest_data::write_as(&path, &data, Format::Csc)).map(drop).map_err(|error| raised(&error))
    })
}
