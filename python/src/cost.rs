//! `C="auto"`: the library's choice of a cost, for the method that Python names at each cost.

use fewest::{Limits, RuleList, Rules, SvmSettings};
use fewest_data::{ScaleKind, Target};
use fewest_eval::auto_cost::choose;
use fewest_eval::{Ask, ClassWeights, Data, EvalError, PartSelector, Preparation, Scene, SomeMethod, TrainingPart};
use fewest_papers::AnyMethod;
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pythonize::pythonize;

use crate::enter::{CallLimits, enter, sheltered};
use crate::matrix::{Columns, owned};
use crate::{numbers, raised, settings};

/// What a selector of Python is, besides its method.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    rules: RuleList,
    class_weight: ClassWeights,
    fit_cost: Option<f64>,
    has_own_classifier: bool,
}

/// A selector of Python at some cost; it is asked for its method and SVM at others.
struct AtCost<'a> {
    asked: &'a Py<PyAny>,
    about: &'a About,
    method: SomeMethod,
    svm: SvmSettings,
}

impl<'a> AtCost<'a> {
    /// The selector at this cost.
    ///
    /// # Errors
    /// An exception of Python.
    fn new(asked: &'a Py<PyAny>, about: &'a About, cost: f64) -> PyResult<Self> {
        Python::attach(|py| {
            let (method, svm): (Bound<'_, PyAny>, Bound<'_, PyAny>) = asked.call1(py, (cost,))?.extract(py)?;
            let (method, svm) = (SomeMethod::new(settings::<AnyMethod>(&method)?), settings(&svm)?);
            Ok(Self { asked, about, method, svm })
        })
    }
}

impl PartSelector for AtCost<'_> {
    /// As the estimator fits all samples: features of one value are not ruled out.
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError> {
        let rules = Rules::new(part.design().n_features(), self.about.rules.clone(), &[])?;
        let (method, svm) = (self.method.clone(), self.svm.clone());
        Ok(Ask { method, task_svm: svm.clone(), svm, rules, limits: Limits::default() })
    }

    fn fit_cost(&self) -> Option<f64> {
        self.about.fit_cost
    }

    fn has_own_classifier(&self) -> bool {
        self.about.has_own_classifier
    }

    fn at_cost(&self, cost: f64, _: Option<f64>) -> Result<Box<dyn PartSelector + '_>, EvalError> {
        let selector = Self::new(self.asked, self.about, cost);
        Ok(Box::new(selector.map_err(|error| EvalError::Caller(Box::new(error)))?))
    }
}

/// Chooses the cost of a method, and of the classifier unless `about` gives it. `weights`: that of each
/// sample, without class weights; `method`: called with a cost, returns the method and the SVM at
/// it. Returns the fields of [`fewest::method::auto_cost::CostChoice`].
///
/// # Errors
/// As [`crate::select`].
#[pyfunction]
#[pyo3(signature = (x, codes, weights, classes, about, method, limits, groups=None))]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn choose_cost<'py>(
    py: Python<'py>,
    x: Columns<'py>,
    codes: PyReadonlyArray1<'py, u32>,
    weights: PyReadonlyArray1<'py, f64>,
    classes: Vec<String>,
    about: &Bound<'py, PyAny>,
    method: Py<PyAny>,
    limits: &Bound<'py, PyAny>,
    groups: Option<PyReadonlyArray1<'py, u32>>,
) -> PyResult<Bound<'py, PyAny>> {
    sheltered(|| {
        let (about, limits): (About, CallLimits) = (settings(about)?, settings(limits)?);
        let target = Target { column: "y".to_owned(), classes, codes: numbers(&codes)?.to_vec() };
        let features = owned(&*x.design()?).map_err(raised)?;
        let groups = groups.as_ref().map(numbers).transpose()?;
        let data = Data { groups, ..Data::new(&features, &target, numbers(&weights)?) };
        let class_weight = about.class_weight.clone();
        let preparation = Preparation { scale: Some(ScaleKind::None), class_weight, ..Preparation::default() };
        let selector = AtCost::new(&method, &about, 1.0)?;
        let (choice, _) = enter(py, &limits, None, |limits, _| {
            let (memory, cancel) = (limits.memory.clone(), limits.cancel.clone());
            let scene = Scene { data, preparation: &preparation, memory, cancel };
            let all: Vec<usize> = (0..target.codes.len()).collect();
            choose(&scene, &all, &selector, limits.time).map_err(in_python)
        })?;
        Ok(pythonize(py, &choice)?)
    })
}

/// An error of the choice in Python's words.
fn in_python(error: EvalError) -> fewest::Error {
    fewest::Error::Data(match error {
        EvalError::Method(error) => return error,
        EvalError::FewSamples { samples } => format!(
            "C=\"auto\" holds out samples of each class, but a class has {samples} only; add samples, or give a number for C"
        ),
        EvalError::FewGroups { .. } => "C=\"auto\" holds out groups with samples of each class, but a class is in one group only; add groups, give a number, or leave groups out".to_owned(),
        other => other.to_string(),
    })
}
