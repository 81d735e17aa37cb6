//! A study of Python's data: the library's, as one dictionary.

use std::time::Instant;

use fewest::method::certificate::Certificate;
use fewest::{Limits, WeightBounds};
use fewest_data::{ReadOptions, ScaleKind, ScaleReason};
use fewest_eval::study::{Panel, StudyReport, StudySettings, study as study_of};
use fewest_result::{Asked, Document, Kind, RulesAsked, StudyContext};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::table::WORDS;
use crate::{numbers, raised, settings};

/// Chooses method, costs and size inside folds, judges that on the samples held out, and does the
/// same on all samples. `weights`: that of each sample, without class weights; `classes`: their names;
/// `given`: the fields of [`StudySettings`]; `caller`: what [`Caller`] is made of; `groups`: that of each sample,
/// where some stay together in folds. Returns `said`: what `fewest study --json` writes, and `verdict`:
/// what a reader of it must know first; and by index `panel` (none where time did not allow a choice),
/// `panels` (the two choices), `folds`, `recall`, `frequency`, `tried`; `scale`, `faults`, `status`,
/// `interrupted`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, given, caller, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn study<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    given: &Bound<'py, PyAny>,
    caller: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let begun = Instant::now();
        let (wanted, limits): (StudySettings, CallLimits) = (settings(given)?, settings(limits)?);
        let caller = Caller::new(caller, classes, numbers(&codes)?)?;
        let features = owned(&*x.design()?).map_err(raised)?;
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data =
            fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &caller.target, numbers(&weights)?) };
        let (report, course) =
            enter(py, &limits, listener, |limits, observer| study_of(&data, &wanted, &limits, None, observer))?;
        let scale = wanted.scale_kind(&features);
        let gap = limits.gap().unwrap_or(Limits::default().gap_rel);
        let (said, verdict) = say(&caller, (&wanted, gap), &report, scale, begun)?;
        let value = json!({
            "status": report.status, "interrupted": course.interrupted, "faults": report.faults,
            "panel": report.panel.as_ref().map(|panel| panel_value(panel, wanted.sensitivity)),
            "panels": report.choices(wanted.prefer), "folds": report.folds, "recall": report.recall(),
            "frequency": report.frequency(), "tried": report.tried, "scale": scale.0, "said": said, "verdict": verdict,
        });
        Ok(pythonize(py, &value)?)
    })
}

/// The study as `fewest study --json` writes it, and what its reader must know first.
fn say(
    caller: &Caller,
    (wanted, gap): (&StudySettings, f64),
    report: &StudyReport,
    scale: (ScaleKind, ScaleReason),
    begun: Instant,
) -> PyResult<(Value, Option<String>)> {
    let (data, names) = (caller.named(), &caller.names);
    let context = StudyContext {
        data,
        indicators: &[],
        read: &caller.read,
        normalized: None,
        reading: &ReadOptions::default(),
        settings: wanted,
        gap,
        found: report,
    };
    let bounds = WeightBounds::new(names.len(), &wanted.rules.weights, &|j| data.name(j));
    let rules = RulesAsked::new(&wanted.rules, &bounds.map_err(raised)?, names);
    let asked = Asked { rules: Some(rules), ..caller.asked(wanted.missing, scale) };
    let left_out = context.left_out(&|method| {
        let all: Vec<String> =
            report.methods.iter().chain([&method]).map(|method| format!("'{}'", method.name())).collect();
        format!("methods=[{}] tries it nevertheless", all.join(", "))
    });
    let took = (caller.command.as_str(), begun.elapsed().as_secs_f64());
    let study = context.study(caller.about(&report.faults), asked, left_out, took);
    let mut said = Document::new(Kind::Study, study).value();
    let verdict = fewest_report::add_words(&mut said, &WORDS);
    Ok((said, verdict))
}

/// The panel; `center`, `scale` and `fill` are those of its features, in their order, `threshold` is
/// that of the sensitivity asked for.
fn panel_value(panel: &Panel, sensitivity: Option<f64>) -> Value {
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
