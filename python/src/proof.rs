//! The proof of a run as a file.

use fewest_result::{ProofFile, check_proof_path};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use crate::enter::Course;
use crate::settings;

/// Where a proof goes, and what its header says of the run.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ProofRequest {
    path: String,
    made: serde_json::Value,
}

/// The file that a dictionary asks for.
///
/// # Errors
/// `OSError` where it cannot be written.
pub(crate) fn asked(request: Option<&Bound<'_, PyAny>>) -> PyResult<Option<ProofFile>> {
    let Some(request) = request else { return Ok(None) };
    let ProofRequest { path, made } = settings(request)?;
    check_proof_path(&path).map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(Some(ProofFile::new(&path, made)))
}

/// Whether a run has written its proof.
///
/// # Errors
/// `OSError` where it could not.
pub(crate) fn written(course: &Course) -> PyResult<bool> {
    course.proof.as_ref().copied().map_err(|error| PyOSError::new_err(error.to_string()))
}
