//! `fewest.verify`: a proof file checked against arrays.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::PathBuf;

use fewest::{Design, FeatureSet, MultiClass};
use fewest_cli::{ArrayRequest, AskedData, ProofSamples, verification};
use fewest_data::Names;
use fewest_verify::Proof;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::Columns;
use crate::{numbers, samples_of, settings};

/// What the arrays are called, and how they are to be taken.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    multi_class: MultiClass,
    /// Names of the features; empty where they have none.
    names: Vec<String>,
    /// Names of the classes.
    classes: Vec<String>,
}

/// Checks a proof file; `x`, `codes`, `weights`, `limits` and `tasks` are those of `select`, `memory`
/// the bytes that the open part of the proof may take, `about` says how classes became problems, and
/// the names of features and classes, `request` what is asked of the proof. A dictionary with the
/// keys of docs/formats/verdict.md.
///
/// # Errors
/// `OSError` for a file that cannot be opened, `ValueError` for one that is no proof file, or is
/// about two classes where there are more, and for a question that contradicts itself.
#[pyfunction]
#[pyo3(signature = (path, x, codes, weights, memory, limits, about, request, tasks=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn verify<'py>(
    py: Python<'py>,
    path: PathBuf,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    memory: u64,
    limits: &Bound<'py, PyAny>,
    about: &Bound<'py, PyAny>,
    request: &Bound<'py, PyAny>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (limits, About { multi_class, names, classes }): (CallLimits, About) =
            (settings(limits)?, settings(about)?);
        let request: ArrayRequest = settings(request)?;
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
        let header = proof.header().to_owned();
        let (found, _) = enter(py, &limits, None, |limits, _| {
            let samples = samples_of(design, codes, weights, tasks)?;
            let data = ProofSamples::new(&samples, multi_class, proof.takes_classes(), &limits.memory)?;
            let stop = || if limits.cancel.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            Ok(data.check(proof, memory, &mut |_| stop()))
        })?;
        let names = if names.is_empty() { Names::Numbered(design.n_features()) } else { Names::Listed(names) };
        let ruled_out = FeatureSet::of(design.n_features(), |j| is_constant(design, j));
        let (ruled_out, held_out) = (&ruled_out, 0);
        let data = AskedData { names: &names, classes: &classes, codes, weights, ruled_out, held_out };
        let verdict = verification(found, &header, data, request);
        let verdict = verdict.map_err(|failure| PyValueError::new_err(format!("{place}: {}", failure.into_text())))?;
        Ok(pythonize(py, &verdict)?)
    })
}

/// Whether a column has one value only.
fn is_constant(design: &dyn Design, j: usize) -> bool {
    let (mut entries, mut least, mut most) = (0, f64::INFINITY, f64::NEG_INFINITY);
    design.each_in_column(j, &mut |_, x| {
        entries += 1;
        (least, most) = (least.min(x), most.max(x));
    });
    if entries < design.n_samples() {
        (least, most) = (least.min(0.0), most.max(0.0));
    }
    least >= most
}
