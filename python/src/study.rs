//! A study of Python's data: the library's, as one dictionary.

use std::time::Instant;

use fewest::method::certificate::Certificate;
use fewest::{Limits, WeightBounds};
use fewest_data::{Names, Note, ReadOptions, Target, TextColumn};
use fewest_eval::scale_kind;
use fewest_eval::study::{Panel, StudyReport, StudySettings, study as study_of};
use fewest_result::{About, Asked, Document, Kind, RulesAsked, StudyContext};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::table::WORDS;
use crate::{numbers, raised, settings};

/// What only Python knows of the data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    /// Names of the features.
    names: Vec<String>,
    /// The column of the classes.
    target: String,
    /// Names of the samples as they were given.
    samples: Option<Vec<String>>,
    /// Row of each sample among those that were given.
    rows: Vec<usize>,
    /// What reading warned of.
    notes: Vec<String>,
    /// Text columns: name, the features made of it, its values.
    texts: Vec<(String, Vec<String>, Vec<String>)>,
    /// What was asked of the data.
    asked: Asked,
    /// The call.
    command: String,
}

/// Chooses method, costs and size inside folds, judges that on the samples held out, and does the
/// same on all samples. `weights`: that of each sample, without class weights; `classes`: their names;
/// `given`: the fields of [`StudySettings`]; `told`: those of [`Told`]; `groups`: that of each sample,
/// where some stay together in folds. Returns `said`: what `fewest study --json` writes, and `verdict`:
/// what a reader of it must know first; and by index `panel` (none where time did not allow a choice),
/// `panels` (the two choices), `folds`, `recall`, `frequency`, `tried`; `scale`, `faults`, `status`,
/// `interrupted`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, given, told, limits, listener, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn study<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    given: &Bound<'py, PyAny>,
    told: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    listener: Option<Py<PyAny>>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let begun = Instant::now();
        let (wanted, limits): (StudySettings, CallLimits) = (settings(given)?, settings(limits)?);
        let told: Told = settings(told)?;
        let target = Target { column: told.target.clone(), classes, codes: numbers(&codes)?.to_vec() };
        let features = owned(&*x.design()?).map_err(raised)?;
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data = fewest_eval::Data { groups, ..fewest_eval::Data::new(&features, &target, numbers(&weights)?) };
        let (report, course) =
            enter(py, &limits, listener, |limits, observer| study_of(&data, &wanted, &limits, None, observer))?;
        let (scale, why) = scale_kind(wanted.scale, &features);
        let gap = limits.gap().unwrap_or(Limits::default().gap_rel);
        let (said, verdict) = told.say((&wanted, gap), &report, &target, (scale.name(), why.text()), begun)?;
        let value = json!({
            "status": report.status, "interrupted": course.interrupted, "faults": report.faults,
            "panel": report.panel.as_ref().map(|panel| panel_value(panel, wanted.sensitivity)),
            "panels": report.choices(wanted.prefer), "folds": report.folds, "recall": report.recall(),
            "frequency": report.frequency(), "tried": report.tried, "scale": scale, "said": said, "verdict": verdict,
        });
        Ok(pythonize(py, &value)?)
    })
}

impl Told {
    /// The study as `fewest study --json` writes it, and what its reader must know first.
    fn say(
        self,
        (wanted, gap): (&StudySettings, f64),
        report: &StudyReport,
        target: &Target,
        (scale, why): (&str, &str),
        begun: Instant,
    ) -> PyResult<(Value, Option<String>)> {
        let (names, rows) = (Names::Listed(self.names), self.rows);
        let read: Vec<Note> =
            self.texts.into_iter().map(|(column, made, values)| Note::Dummies { column, made, values }).collect();
        let samples = self.samples.map(|given| TextColumn {
            name: String::new(),
            values: rows.iter().map(|&row| given[row].clone()).collect(),
        });
        let context = StudyContext {
            names: &names,
            target,
            samples: samples.as_ref(),
            row_of: &|sample| rows[sample],
            indicators: &[],
            read: &read,
            normalized: None,
            reading: &ReadOptions::default(),
            settings: wanted,
            gap,
            found: report,
        };
        let bounds = WeightBounds::new(names.len(), &wanted.rules.weights, &|j| names.get(j).into_owned());
        let asked = Asked {
            missing: Some(wanted.missing.map_or("error", |rule| rule.name()).to_owned()),
            scale: Some(scale.to_owned()),
            scale_reason: Some(why.to_owned()),
            rules: Some(RulesAsked::new(&wanted.rules, &bounds.map_err(raised)?, &names)),
            ..self.asked
        };
        let left_out = context.left_out(&|method| {
            let all: Vec<String> =
                report.methods.iter().chain([&method]).map(|method| format!("'{}'", method.name())).collect();
            format!("methods=[{}] tries it nevertheless", all.join(", "))
        });
        let about = About::new(&names, target, [self.notes.clone(), report.faults.clone()].concat(), self.notes);
        let took = (self.command.as_str(), begun.elapsed().as_secs_f64());
        let mut said = Document::new(Kind::Study, context.study(about, asked, left_out, took)).value();
        let verdict = fewest_report::add_words(&mut said, &WORDS);
        Ok((said, verdict))
    }
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
