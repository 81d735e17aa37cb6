//! Missing values and scales: learnt from some samples, applied to these and to others.

use fewest::method::rfe::splits::PreparedParts;
use fewest::{DenseDesign, Design, Error, SparseDesign};
use fewest_data::{DataError, Features, Imputation, MissingRule, ScaleKind, Scaling};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::matrix::Columns;
use crate::{raised, settings, sheltered};

/// What is done to samples before they are trained on.
#[derive(Debug, Clone, Copy, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Preparation {
    /// What stands in for missing values; none: there are none.
    impute: Option<MissingRule>,
    /// Mean 0 and variance 1, or, where the matrix is sparse, largest absolute value 1.
    scale: bool,
}

/// What was learnt.
struct Learnt {
    imputation: Option<Imputation>,
    scaling: Scaling,
}

impl Preparation {
    /// The parts of a split, prepared by what the first one says.
    pub(crate) fn parts(
        self,
        design: &dyn Design,
        training: &[usize],
        held_out: &[usize],
    ) -> Result<PreparedParts, Error> {
        let (mut first, mut last) = (features(design, training)?, features(design, held_out)?);
        let said = |error: DataError| Error::Data(error.to_string());
        let learnt = self.learn(&mut first).map_err(said)?;
        learnt.apply(&mut last).map_err(said)?;
        Ok((boxed(first), boxed(last)))
    }

    /// Learns from these samples, and prepares them.
    fn learn(self, features: &mut Features) -> Result<Learnt, DataError> {
        let imputation = self.impute.map(|rule| Imputation::fit(rule, features, &[]));
        if let Some(imputation) = &imputation {
            imputation.apply(features)?;
        }
        let kind = match features {
            _ if !self.scale => ScaleKind::None,
            Features::Dense(_) => ScaleKind::Standard,
            _ => ScaleKind::MaxAbs,
        };
        let scaling = Scaling::fit(kind, features)?;
        scaling.apply(features)?;
        Ok(Learnt { imputation, scaling })
    }
}

impl Learnt {
    fn apply(&self, features: &mut Features) -> Result<(), DataError> {
        if let Some(imputation) = &self.imputation {
            imputation.apply(features)?;
        }
        self.scaling.apply(features)
    }
}

/// A copy of some samples.
fn features(design: &dyn Design, samples: &[usize]) -> Result<Features, Error> {
    let part = design.select_samples(samples);
    let (n, p) = (part.n_samples(), part.n_features());
    if !part.is_sparse() {
        let mut values = vec![0.0; n * p];
        for (j, column) in values.chunks_mut(n.max(1)).enumerate().take(p) {
            part.each_in_column(j, &mut |i, x| column[i] = x);
        }
        return DenseDesign::new(n, p, values).map(Features::Dense);
    }
    let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..p {
        part.each_in_column(j, &mut |i, x| {
            rows.push(i as u32);
            values.push(x);
        });
        starts.push(rows.len());
    }
    SparseDesign::new(n, starts, rows, values).map(Features::Sparse)
}

fn boxed(features: Features) -> Box<dyn Design> {
    match features {
        Features::Dense(design) => Box::new(design),
        Features::Sparse(design) => Box::new(design),
        Features::Mapped(design) => Box::new(design),
    }
}

/// What all samples say: `fill`, `center` and `scale`, length p each, or None where nothing is done.
///
/// # Errors
/// `ValueError` for values out of range.
#[pyfunction]
pub(crate) fn preparation<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    how: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let (how, design): (Preparation, _) = (settings(how)?, x.design()?);
        let all: Vec<usize> = (0..design.n_samples()).collect();
        let mut features = features(&*design, &all).map_err(raised)?;
        let learnt = how.learn(&mut features).map_err(|error| raised(Error::Data(error.to_string())))?;
        let listed = |values: Vec<f64>| (!values.is_empty()).then_some(values);
        let dict = PyDict::new(py);
        dict.set_item("fill", learnt.imputation.map(|imputation| imputation.fill))?;
        dict.set_item("center", listed(learnt.scaling.center))?;
        dict.set_item("scale", listed(learnt.scaling.scale))?;
        Ok(dict)
    })
}
