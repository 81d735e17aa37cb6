//! Results as the command's tables and pages.

use fewest_report::{Door, Style, Words};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::enter::sheltered;
use crate::settings;

/// What users of Python call things.
pub(crate) const WORDS: Words = Words {
    rest: "the result holds them all",
    max_false: "max_false",
    fdr: "fdr",
    stability: "`fewest.stability`",
    sizes: |most| format!("sizes=range(1, {})", most + 1),
    rare: "class_weight=\"balanced\" weighs the classes alike, scoring=\"roc_auc\" goes by the order of the samples",
};

/// The tables of a result: a dictionary with the keys that the command's JSON has.
///
/// # Errors
/// `ValueError` for another dictionary.
#[pyfunction]
pub(crate) fn table(result: &Bound<'_, PyAny>) -> PyResult<String> {
    sheltered(|| {
        let door = Door { style: Style::default(), words: &WORDS, scaling: None };
        let text = fewest_report::text(&settings::<Value>(result)?, door);
        text.ok_or_else(|| PyValueError::new_err("no result that has tables"))
    })
}

/// The panel of markers as a table with commas.
///
/// # Errors
/// `ValueError` for another dictionary, or one without a panel.
#[pyfunction]
pub(crate) fn panel_table(result: &Bound<'_, PyAny>) -> PyResult<String> {
    sheltered(|| {
        let text = fewest_report::panel_table(&settings::<Value>(result)?);
        text.ok_or_else(|| PyValueError::new_err("no markers with a panel"))
    })
}

/// The HTML page of a result: a dictionary with the keys that the command's JSON has.
///
/// # Errors
/// `ValueError` for another dictionary.
#[pyfunction]
pub(crate) fn page(result: &Bound<'_, PyAny>) -> PyResult<String> {
    sheltered(|| {
        let made = fewest_report::page(&settings::<Value>(result)?);
        made.map_err(|error| PyValueError::new_err(error.to_string()))
    })
}
