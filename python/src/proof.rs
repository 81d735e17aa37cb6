//! The proof of a run as a file.

use std::ops::ControlFlow;

use fewest::{Event, Observer, ProofSink};
use fewest_data::{ProofFile, check_proof_path};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

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

/// Ends the file. Whether there is one now.
///
/// # Errors
/// `OSError` where it could not be written.
pub(crate) fn written(file: Option<ProofFile>) -> PyResult<bool> {
    let Some(file) = file else { return Ok(false) };
    let files = file.finish().map_err(|error| PyOSError::new_err(error.to_string()))?;
    Ok(!files.is_empty())
}

/// An observer whose run has a proof, if asked for.
pub(crate) struct Proving<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) file: Option<&'a mut ProofFile>,
}

impl Observer for Proving<'_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        self.observer.on(event)
    }

    fn proof(&mut self) -> Option<&mut dyn ProofSink> {
        self.file.as_mut().map(|file| &mut **file as &mut dyn ProofSink)
    }
}
