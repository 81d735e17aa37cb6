//! `fewest.verify`: a proof file checked against arrays.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fewest_cli::{ProofData, verification};
use fewest_data::Names;
use fewest_verify::Proof;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::Columns;
use crate::{labels, numbers, settings};

/// Checks a proof file; `x`, `codes`, `weights` and `limits` are those of `select`, `memory` the
/// bytes that the open part of the proof may take. A dictionary with the keys of docs/verify.md.
///
/// # Errors
/// `OSError` for a file that cannot be opened, `ValueError` for one that is no proof file, or is
/// about two classes where there are more.
#[pyfunction]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: PathBuf,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    memory: u64,
    limits: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let limits: CallLimits = settings(limits)?;
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let place = path.display();
        let file = File::open(&path).map_err(|error| PyOSError::new_err(format!("{place}: {error}")))?;
        let proof = Proof::open(file).map_err(|error| PyValueError::new_err(format!("{place}: {error}")))?;
        if let Some(most) = codes.iter().max().filter(|most| **most > 1 && !proof.takes_classes()) {
            let why = format!("{place}: a proof about two classes, but y has {}; give the y of the fit", most + 1);
            return Err(PyValueError::new_err(why));
        }
        let (found, _) = enter(py, &limits, None, |limits, _| {
            let labels =
                if proof.takes_classes() { codes.iter().map(|&code| f64::from(code)).collect() } else { labels(codes) };
            let data = ProofData { design, labels: &labels, weights };
            let stop = || if limits.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Ok(proof.check(&data, memory, &mut |_| stop()))
        })?;
        Ok(pythonize(py, &verification(&found, &Names::Numbered(design.n_features())))?)
    })
}
