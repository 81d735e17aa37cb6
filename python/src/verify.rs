//! `fewest.verify`: a proof file checked against arrays.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fewest::MultiClass;
use fewest_cli::{ProofSamples, verification};
use fewest_data::Names;
use fewest_verify::Proof;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::Columns;
use crate::{numbers, samples_of, settings};

/// Checks a proof file; `x`, `codes`, `weights`, `limits` and `tasks` are those of `select`, `memory`
/// the bytes that the open part of the proof may take, `multi_class` how classes became problems. A
/// dictionary with the keys of docs/verify.md.
///
/// # Errors
/// `OSError` for a file that cannot be opened, `ValueError` for one that is no proof file, or is
/// about two classes where there are more.
#[pyfunction]
#[pyo3(signature = (path, x, codes, weights, memory, limits, multi_class, tasks=None))]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: PathBuf,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    memory: u64,
    limits: &Bound<'py, PyAny>,
    multi_class: &Bound<'py, PyAny>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (limits, multi_class): (CallLimits, MultiClass) = (settings(limits)?, settings(multi_class)?);
        let tasks = tasks.as_ref().map(numbers).transpose()?;
        let (design, codes, weights) = (&*x.design()?, numbers(&codes)?, numbers(&weights)?);
        let place = path.display();
        let file = File::open(&path).map_err(|error| PyOSError::new_err(format!("{place}: {error}")))?;
        let proof = Proof::open(file).map_err(|error| PyValueError::new_err(format!("{place}: {error}")))?;
        if let Some(most) =
            codes.iter().max().filter(|most| **most > 1 && !proof.takes_classes() && proof.problems() == 1)
        {
            let why = format!("{place}: a proof about two classes, but y has {}; give the y of the fit", most + 1);
            return Err(PyValueError::new_err(why));
        }
        let (found, _) = enter(py, &limits, None, |limits, _| {
            let samples = samples_of(design, codes, weights, tasks)?;
            let data = ProofSamples::new(&samples, multi_class, proof.takes_classes(), &limits.memory)?;
            let stop = || if limits.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Ok(data.check(proof, memory, &mut |_| stop()))
        })?;
        Ok(pythonize(py, &verification(&found, &Names::Numbered(design.n_features())))?)
    })
}
