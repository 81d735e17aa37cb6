//! How far subsets and lists of features are from the best ones.

use fewest::method::certificate::{self, Certificate};
use fewest::method::certified_list;
use fewest::method::exact::ExactSettings;
use fewest::{Error, Limits, MultiClass, Observer, RuleList, Rules, Samples, Several, Solution, Subset, SvmSettings};
use fewest_papers::AnyMethod;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::enter::{CallLimits, Course, Files, enter_keeping, sheltered};
use crate::matrix::Columns;
use crate::{numbers, proof, raised, samples_of, settings};

/// What both doors are given.
struct Judged<'a, 'py> {
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &'a Bound<'py, PyAny>,
    limits: &'a Bound<'py, PyAny>,
    proof: Option<Bound<'py, PyAny>>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
    listener: Option<Py<PyAny>>,
}

impl Judged<'_, '_> {
    /// What `of` says of the samples under the rules, and the course that it took.
    fn by<T: Send>(
        self,
        py: Python<'_>,
        of: impl FnOnce(&Samples<'_>, &Rules, Limits, &mut dyn Observer) -> Result<T, Error> + Send,
    ) -> PyResult<(T, Course)> {
        let files = Files { resume: None, proof: proof::asked(self.proof.as_ref())? };
        let (rules, limits): (RuleList, CallLimits) = (settings(self.rules)?, settings(self.limits)?);
        let (design, codes, weights) = (&*self.x.design()?, numbers(&self.codes)?, numbers(&self.weights)?);
        let tasks = self.tasks.as_ref().map(numbers).transpose()?;
        enter_keeping(py, &limits, self.listener, files, |limits, observer| {
            let rules = Rules::new(design.n_features(), rules, &[])?;
            of(&samples_of(design, codes, weights, tasks)?, &rules, limits, observer)
        })
    }
}

/// How far a subset is from the best of its size: `objective`, `bound`, `gap`, `best`, `status`;
/// `proof` and `tasks` as in [`crate::select`].
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, subset, svm, limits, proof=None, tasks=None, listener=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn certify<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    subset: Vec<usize>,
    svm: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    proof: Option<Bound<'py, PyAny>>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
    listener: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let svm: SvmSettings = settings(svm)?;
        let judged = Judged { x, codes, weights, rules, limits, proof, tasks, listener };
        let (certificate, course) = judged.by(py, |samples, rules, limits, observer| {
            let several = Several::new(samples, MultiClass::default(), &limits.memory)?;
            let settings = ExactSettings { svm, ..ExactSettings::default() };
            let subset = Subset::from_indices(rules.p(), subset);
            certificate::certify_several(&several.problems(), rules, &subset, &settings, limits, observer)
        })?;
        let dict = answer(py, &certificate, &course)?;
        dict.set_item("gap", certificate.gap())?;
        Ok(dict)
    })
}

/// Certifies a list of features that the rules may forbid; `method` are the settings of `exact`.
/// Besides: `allowed`, `swaps` (each feature with its gain, the objective without it, and the
/// feature that could best take its place with the objective then), `solutions`, `better`.
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, rules, features, method, limits, proof=None, tasks=None, listener=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn certify_list<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    rules: &Bound<'py, PyAny>,
    features: Vec<usize>,
    method: &Bound<'py, PyAny>,
    limits: &Bound<'py, PyAny>,
    proof: Option<Bound<'py, PyAny>>,
    tasks: Option<PyReadonlyArray1<'py, u32>>,
    listener: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    sheltered(|| {
        let method: AnyMethod = settings(method)?;
        let AnyMethod::Exact(exact) = method else {
            return Err(PyValueError::new_err(format!("lists are judged by exact, not by {}", method.info().name)));
        };
        let judged = Judged { x, codes, weights, rules, limits, proof, tasks, listener };
        let (list, course) = judged.by(py, |samples, rules, limits, observer| {
            certified_list::certify_list(samples, &features, rules, &exact, limits, observer)
        })?;
        let dict = answer(py, &list.certificate, &course)?;
        dict.set_item("gap", list.gap())?;
        dict.set_item("allowed", list.allowed)?;
        let swaps =
            list.swaps.iter().map(|swap| (swap.feature, list.gain(swap.feature), swap.without, swap.by.first()));
        dict.set_item("swaps", swaps.collect::<Vec<_>>())?;
        dict.set_item("solutions", list.solutions.iter().map(solution).collect::<Vec<_>>())?;
        dict.set_item("better", list.better().map(solution).collect::<Vec<_>>())?;
        Ok(dict)
    })
}

/// The rules that a subset breaks, in words, by the names of the features.
///
/// # Errors
/// `ValueError` for rules that contradict each other.
#[pyfunction]
pub(crate) fn broken_rules(rules: &Bound<'_, PyAny>, names: Vec<String>, subset: Vec<usize>) -> PyResult<Vec<String>> {
    sheltered(|| {
        let rules: RuleList = settings(rules)?;
        let rules = Rules::new(names.len(), rules, &names).map_err(raised)?;
        let broken = rules.broken(&Subset::from_indices(names.len(), subset), &names);
        // The size is that of the rules here, and no parameter.
        Ok(broken.iter().map(|text| crate::in_python(&text.replace("`max_features`", "max_features"))).collect())
    })
}

fn solution(one: &Solution) -> (Vec<usize>, f64) {
    (one.subset.iter().collect(), one.objective)
}

/// What a certificate says, but for its gap.
fn answer<'py>(py: Python<'py>, certificate: &Certificate, course: &Course) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("objective", certificate.objective)?;
    dict.set_item("bound", certificate.bound)?;
    dict.set_item("baseline", certificate.yardstick.baseline)?;
    dict.set_item("objective_gap", certificate.objective_gap())?;
    dict.set_item("best_objective", certificate.best.objective)?;
    dict.set_item("best", certificate.best.subset.iter().collect::<Vec<usize>>())?;
    dict.set_item("status", certificate.status.name())?;
    dict.set_item("elapsed", certificate.elapsed.as_secs_f64())?;
    dict.set_item("interrupted", course.interrupted)?;
    dict.set_item("proof", proof::written(course)?)?;
    Ok(dict)
}
