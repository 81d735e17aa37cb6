//! `C="auto"`: the library's choice of a cost, for the method that Python names at each cost.

use fewest::{Cancel, RuleList, SvmSettings};
use fewest_data::{ScaleKind, Target};
use fewest_eval::auto_cost::choose;
use fewest_eval::{Ask, ClassWeights, Data, EvalError, Fixed, PartSelector, Preparation, Scene, TrainingPart};
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

/// A selector of Python, which is asked for its method and SVM at a cost.
struct AtCosts<'a> {
    method: &'a Py<PyAny>,
    about: &'a About,
    /// At some cost.
    first: Fixed,
}

impl AtCosts<'_> {
    /// The method at a cost.
    ///
    /// # Errors
    /// An exception of Python.
    fn fixed(method: &Py<PyAny>, about: &About, cost: f64) -> PyResult<Fixed> {
        Python::attach(|py| {
            let (method, svm): (Bound<'_, PyAny>, Bound<'_, PyAny>) = method.call1(py, (cost,))?.extract(py)?;
            let (method, svm): (AnyMethod, SvmSettings) = (settings(&method)?, settings(&svm)?);
            let method = fewest_eval::SomeMethod::new(method);
            Ok(Fixed { method, svm, rules: about.rules.clone(), fit_cost: about.fit_cost })
        })
    }
}

impl PartSelector for AtCosts<'_> {
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError> {
        self.first.ask(part)
    }

    fn fit_cost(&self) -> Option<f64> {
        self.about.fit_cost
    }

    fn has_own_classifier(&self) -> bool {
        self.about.has_own_classifier
    }

    fn chooses_cost(&self) -> bool {
        true
    }

    fn at_cost(&self, cost: f64, _: Option<f64>) -> Result<Box<dyn PartSelector + '_>, EvalError> {
        let fixed = Self::fixed(self.method, self.about, cost);
        Ok(Box::new(fixed.map_err(|error| EvalError::Caller(Box::new(error)))?))
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
        let selector = AtCosts { method: &method, about: &about, first: AtCosts::fixed(&method, &about, 1.0)? };
        let (choice, _) = enter(py, &limits, None, |limits, _| {
            let (memory, cancel): (_, Cancel) = (limits.memory.clone(), limits.cancel.clone());
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
        EvalError::FewGroups { groups } => format!(
            "C=\"auto\" holds out groups with samples of each class, but a class is in {groups} group only; add groups, give a number, or leave groups out"
        ),
        other => other.to_string(),
    })
}
