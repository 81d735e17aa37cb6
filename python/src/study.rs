//! A study of Python's data: the library's, as one dictionary.

use fewest_data::Target;
use fewest_eval::study::{Panel, StudyReport, StudySettings, study as study_of};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Map, Value, json};

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings};

/// Chooses method, costs and size inside folds, judges that on the samples held out, and does the
/// same on all samples. `classes`: their names, for messages; `settings`: the fields of
/// [`StudySettings`]; `groups`: that of each sample, where some stay together in folds. Returns
/// `panel` (none where time did not allow a choice), `folds`, `summary`, `recall`,
/// `decision_curve`, `frequency`, `stability`, `tried`, `inner`, `effort`, `status`,
/// `interrupted`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, classes, given, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn study<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    classes: Vec<String>,
    given: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (wanted, limits): (StudySettings, CallLimits) = (settings(given)?, settings(limits)?);
        let target = Target { column: "y".to_owned(), classes, codes: numbers(&codes)?.to_vec() };
        let features = owned(&*x.design()?).map_err(raised)?;
        let weights = vec![1.0; target.codes.len()];
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data = fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &target, &weights) };
        let (report, course) =
            enter(py, &limits, listener, |limits, observer| study_of(&data, &wanted, &limits, None, observer))?;
        let mut value = report_value(&report, wanted.sensitivity, &target.codes);
        value.insert("interrupted".to_owned(), json!(course.interrupted));
        Ok(pythonize(py, &Value::Object(value))?)
    })
}

fn report_value(report: &StudyReport, sensitivity: Option<f64>, codes: &[u32]) -> Map<String, Value> {
    let value = json!({
        "status": report.status.name(),
        "panel": report.panel.as_ref().map(|panel| panel_value(panel, sensitivity)),
        "folds": report.folds,
        "summary": report.summary().into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect::<Map<_, _>>(),
        "recall": report.recall(),
        "decision_curve": report.decision_curve(codes),
        "frequency": report.frequency(),
        "stability": report.stability(),
        "tried": report.tried,
        "inner": report.inner,
        "effort": report.effort,
    });
    let Value::Object(value) = value else { unreachable!("it is written as an object") };
    value
}

/// The panel; `center`, `scale` and `fill` are those of its features, in their order, `threshold` is
/// that of the sensitivity asked for.
fn panel_value(panel: &Panel, sensitivity: Option<f64>) -> Value {
    let outcome = panel.outcome();
    let of = |values: &Vec<f64>, default: f64| -> Vec<f64> {
        panel.selected.iter().map(|&j| values.get(j).copied().unwrap_or(default)).collect()
    };
    let solutions: Vec<(Vec<usize>, f64)> =
        panel.solutions.iter().map(|solution| (solution.subset.iter().collect(), solution.objective)).collect();
    let certificate = panel.certificate.as_ref().map(|certificate| {
        json!({
            "objective": certificate.objective, "bound": certificate.bound, "baseline": certificate.yardstick.baseline,
            "gap": certificate.gap(), "status": certificate.status.name()
        })
    });
    let weights = panel.model.as_ref().and_then(|model| match model.machines.as_slice() {
        [machine] if machine.weights.len() == panel.selected.len() => Some(machine.weights.as_slice()),
        _ => None,
    });
    let intercept = panel.model.as_ref().and_then(|model| model.machines.first()).map(|machine| machine.solution.bias);
    let threshold = panel
        .threshold
        .map(|value| json!({"sensitivity": sensitivity, "value": value, "trained_intercept": intercept}));
    json!({
        "threshold": threshold,
        "choice": panel.choice, "selected": panel.selected,
        "kernel": fewest::KernelRule::from(panel.report.kernel),
        "weights": weights, "sense": outcome.sense, "objective": outcome.objective, "bound": outcome.bound, "gap": outcome.gap(),
        "baseline": outcome.yardstick.map(|yardstick| yardstick.baseline), "objective_gap": outcome.objective_gap(), "status": outcome.status.name(),
        "center": of(&panel.scaling.center, 0.0), "scale": of(&panel.scaling.scale, 1.0),
        "fill": panel.imputation.as_ref().map(|imputation| of(&imputation.fill, 0.0)),
        "calibration": panel.calibration, "certificate": certificate, "solutions": solutions, "swaps": panel.swaps,
    })
}
