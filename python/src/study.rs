//! A study of Python's data: the library's, as one dictionary.

use fewest::RowMatrix;
use fewest::method::certificate::Certificate;
use fewest::model::Model;
use fewest_data::Target;
use fewest_eval::scale_kind;
use fewest_eval::study::{ChoiceReport, Panel, StudyReport, StudySettings, study as study_of};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Map, Value, json};

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings};

/// Chooses method, costs and size inside folds, judges that on the samples held out, and does the
/// same on all samples. `weights`: that of each sample, without class weights; `classes`: their names,
/// for messages; `settings`: the fields of [`StudySettings`]; `groups`: that of each sample, where some
/// stay together in folds. Returns `panel` (none where time did not allow a choice), `panels` (the two
/// choices and their `difference`), `folds`, `summary`, `recall`, `decision_curve`, `frequency`,
/// `stability`, `tried`, `inner`, `effort`, `grid` (`methods`, `left_out`, `sizes`, `took_largest`,
/// `rule`, `scale` and why), `status`, `interrupted`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, given, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn study<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
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
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data = fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &target, numbers(&weights)?) };
        let (report, course) =
            enter(py, &limits, listener, |limits, observer| study_of(&data, &wanted, &limits, None, observer))?;
        let mut value = report_value(&report, &wanted, &target.codes);
        let (scale, why) = scale_kind(wanted.scale, &features);
        value["grid"]["scale"] = json!([scale, why.text()]);
        value.insert("interrupted".to_owned(), json!(course.interrupted));
        Ok(pythonize(py, &Value::Object(value))?)
    })
}

fn report_value(report: &StudyReport, wanted: &StudySettings, codes: &[u32]) -> Map<String, Value> {
    let value = json!({
        "status": report.status.name(),
        "panel": report.panel.as_ref().map(|panel| panel_value(panel, wanted.sensitivity)),
        "panels": report.choices(wanted.prefer).map(|choices| panels_value(&choices, report)),
        "folds": report.folds, "faults": report.faults,
        "summary": report.summary().into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect::<Map<_, _>>(),
        "recall": report.recall(),
        "decision_curve": report.decision_curve(codes),
        "points": report.points, "points_worth": report.points_worth(),
        "frequency": report.frequency(),
        "stability": report.stability(),
        "tried": report.tried,
        "inner": report.inner,
        "effort": report.effort,
        "grid": {
            "methods": report.methods, "left_out": report.left_out, "sizes": report.sizes,
            "took_largest": report.took_largest(), "rule": wanted.rule
        },
    });
    let Value::Object(value) = value else { unreachable!("it is written as an object") };
    value
}

/// The two choices, the result of each in the outer folds, and how far apart they are.
fn panels_value([best, smallest]: &[ChoiceReport; 2], report: &StudyReport) -> Value {
    json!({"best": best, "smallest": smallest, "difference": report.difference()})
}

/// The panel; `center`, `scale` and `fill` are those of its features, in their order, `threshold` is
/// that of the sensitivity asked for.
fn panel_value(panel: &Panel, sensitivity: Option<f64>) -> Value {
    let (outcome, selection) = (panel.outcome(), &panel.report.selection);
    let of = |values: &Vec<f64>, default: f64| -> Vec<f64> {
        panel.selected.iter().map(|&j| values.get(j).copied().unwrap_or(default)).collect()
    };
    let solutions: Vec<(Vec<usize>, f64)> =
        panel.solutions.iter().map(|solution| (solution.subset.iter().collect(), solution.objective)).collect();
    let intercept = panel.model.as_ref().and_then(|model| model.machines.first()).map(|machine| machine.solution.bias);
    let threshold = panel
        .threshold
        .map(|value| json!({"sensitivity": sensitivity, "value": value, "trained_intercept": intercept}));
    json!({
        "threshold": threshold,
        "choice": panel.choice, "selected": panel.selected,
        "kernel": fewest::KernelRule::from(panel.report.kernel),
        "model": panel.model.as_ref().map(model_value),
        "sense": outcome.sense, "objective": outcome.objective, "bound": outcome.bound, "gap": outcome.gap(),
        "baseline": outcome.yardstick.map(|yardstick| yardstick.baseline), "objective_gap": outcome.objective_gap(), "status": outcome.status.name(),
        "seconds": outcome.elapsed.as_secs_f64(), "counts": outcome.counts,
        "ranking": selection.ranking.iter().map(|of| json!([of.feature, of.rank, of.step, of.criterion])).collect::<Vec<_>>(),
        "center": of(&panel.scaling.center, 0.0), "scale": of(&panel.scaling.scale, 1.0),
        "fill": panel.imputation.as_ref().map(|imputation| of(&imputation.fill, 0.0)),
        "calibration": panel.calibration, "certificate": panel.certificate.as_ref().map(certificate_value),
        "solutions": solutions, "swaps": panel.swaps,
    })
}

/// How far the panel is from the best subset; features are indices.
fn certificate_value(certificate: &Certificate) -> Value {
    json!({
        "status": certificate.status.name(), "objective": certificate.objective, "bound": certificate.bound,
        "baseline": certificate.yardstick.baseline, "gap": certificate.gap(), "objective_gap": certificate.objective_gap(),
        "best": certificate.best.subset.iter().collect::<Vec<usize>>(), "best_objective": certificate.best.objective,
        "seconds": certificate.elapsed.as_secs_f64(), "counts": certificate.counts
    })
}

/// The machines of a classifier, as model files have them; classes are codes.
fn model_value(model: &Model) -> Value {
    let linear = model.kernel == fewest::Kernel::Linear;
    let machine = |machine: &fewest::model::Machine| {
        let solution = &machine.solution;
        json!({
            "negative": machine.negative, "positive": machine.positive, "intercept": machine.bias,
            "weights": linear.then_some(&machine.weights), "coefficients": (!linear).then_some(&machine.coefficients),
            "primal": solution.primal, "dual": solution.dual, "gap": solution.gap(), "kkt_residual": solution.kkt_residual,
            "iterations": solution.iterations, "status": solution.status
        })
    };
    let vectors: Option<Vec<Vec<f64>>> = (!linear).then(|| rows(&model.support_vectors));
    json!({"machines": model.machines.iter().map(machine).collect::<Vec<_>>(), "support_vectors": vectors})
}

/// Rows with their zeros.
fn rows(of: &RowMatrix) -> Vec<Vec<f64>> {
    let row = |i: usize| {
        let mut values = vec![0.0; of.n_features()];
        of.row(i).add_to(1.0, &mut values);
        values
    };
    (0..of.n_samples()).map(row).collect()
}
