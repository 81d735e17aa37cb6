//! The selection methods: a file or folder each, named as on the command line; their list.
//!
//! To add one: its file with settings and `impl Method`, and a line in `methods_and!` (`list.rs`).

#[doc(hidden)]
pub mod auto_cost;
pub mod certificate;
pub mod certified_list;
pub mod eb_rfe;
pub mod exact;
pub mod fgm;
pub mod info_gain;
#[doc(hidden)]
pub mod kernel_setup;
pub mod kta;
pub mod l1_svm;
#[cfg(feature = "highs")]
pub mod lagrangian;
#[doc(hidden)]
#[macro_use]
pub mod list;
#[cfg(feature = "highs")]
pub mod mbp;
pub mod path;
pub mod penalty;
pub mod rfe;
#[cfg(feature = "highs")]
mod seconds;
pub mod swaps;

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::design::Recentred;
use crate::kernel::{Kernel, KernelRule};
use crate::model::{FitSettings, Model};
use crate::search::NearBest;
use crate::several::summary;
use crate::{
    Error, Limits, MultiClass, Observer, Rules, Samples, Selection, Settings, Several, SubProblem, Subset, SvmSettings,
};
pub use list::Selector;
use path::SizeReport;
#[doc(hidden)]
pub use penalty::check_penalty;

/// A selection method. The implementer is the struct of its settings, which are JSON as well.
///
/// The caller goes through [`AnyMethod`], which refuses tasks and weight bounds
/// that the method does not take, and hands over features near 0 where
/// [`Method::absorbs_constants`] allows it. The implementer
///
/// - checks its settings at the start of [`Method::select`], by [`Method::check`];
/// - reads constraints from [`Rules`] alone, and offers allowed subsets only;
/// - asks the limits between steps, and ends with the best subset so far: a limit is a status;
/// - gives the same report for any number of threads, and for the same seed;
/// - prints nothing: events go to the observer, results into the report.
pub trait Method: std::fmt::Debug + Clone + Settings + Serialize + DeserializeOwned {
    /// Name, title, formula, limits and paper of the method, as `fewest methods` shows them.
    const INFO: Info;

    /// Whether it obeys bounds on weights ([`Rules::weight_bounds`]); rules that have some are
    /// refused otherwise.
    const WEIGHT_BOUNDS: bool = false;

    /// Whether it takes tasks ([`Samples::with_tasks`]), which are refused otherwise.
    const TASKS: bool = false;

    /// Whether a constant that is added to a feature changes nothing but the bias of the
    /// classifier. Features far from 0 are then taken less a constant, so that no digits are lost.
    fn absorbs_constants(&self) -> bool {
        false
    }

    /// Checks every setting against its range, for p features.
    fn check(&self, p: usize) -> Result<(), Error>;

    /// Selects features. A limit is a status of the report, not an error.
    ///
    /// # Errors
    /// Settings out of range, data that the method cannot take, more memory needed than allowed, a
    /// failure of a solver.
    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error>;

    /// Selects features once for each size, ascending. The time is shared out among the sizes.
    ///
    /// # Errors
    /// Sizes that do not ascend from 1 to p, and those of [`Method::select`].
    fn path(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<SizeReport>, Error> {
        path::each(self, samples, rules, sizes, limits, observer)
    }

    /// Whether the method finds a size by itself, so that no rule need bound it.
    fn finds_size(&self) -> bool {
        true
    }

    /// What is added to the objective for each chosen feature, length p; empty for nothing, and
    /// for what [`Report::penalty`] says.
    fn penalty(&self) -> &[f64] {
        &[]
    }

    /// Writes the method's program for other solvers to a file that ends in .mps or .lp.
    ///
    /// # Errors
    /// [`Error::Data`] for a method that is no mixed-integer program; a file that cannot be
    /// written.
    fn write_program(&self, _samples: &Samples<'_>, _rules: &Rules, _path: &Path) -> Result<(), Error> {
        Err(Error::Data(format!("{} is no mixed-integer program", Self::INFO.name)))
    }
}

/// Facts of a method, as `fewest methods` shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Name, on the command line and of its file.
    pub name: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// The problem that it solves, in a sentence or a few.
    pub solves: &'static str,
    /// The formula.
    pub formula: &'static str,
    /// The statement that its result proves.
    pub proves: &'static str,
    /// Whether its result has a bound.
    pub bounds: bool,
    /// Whether it searches a tree, whose nodes can be limited.
    pub searches: bool,
    /// Kernels it takes.
    pub kernels: &'static str,
    /// Numbers of classes it takes.
    pub classes: Classes,
    /// Rules it obeys.
    pub rules: &'static str,
    /// Cost of a run.
    pub cost: &'static str,
    /// Paper.
    pub paper: &'static str,
}

macro_rules! all_rules {
    () => {
        "all: `max_features` `require` `forbid` `implies` `at_most` `at_least` `together` `budget`"
    };
}

/// The rules that nearly every method obeys.
pub const ALL_RULES: &str = all_rules!();

/// [`ALL_RULES`] of a method that obeys bounds on weights as well.
pub const RULES_AND_BOUNDS: &str = concat!(all_rules!(), "; bounds on weights: `signs` `weight_bounds`");

/// [`ALL_RULES`] of a method that obeys signs of weights as well.
pub const RULES_AND_SIGNS: &str = concat!(all_rules!(), "; signs of weights: `signs`");

/// Numbers of classes that a method takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Classes {
    /// Two.
    #[serde(rename = "two")]
    Two,
    /// Two or more.
    #[serde(rename = "two or more")]
    Any,
}

impl Classes {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Classes::Two => "two",
            Classes::Any => "two or more",
        }
    }
}

/// Result of a method.
#[derive(Debug, Clone)]
pub struct Report {
    /// Subset, objective, bound, status, ranking.
    pub selection: Selection,
    /// The method's own classifier; without one it is the SVM trained on the subset.
    pub model: Option<Model>,
    /// Kernel of the SVM on the subset.
    pub kernel: Kernel,
    /// Features that hold categories, whose distance in that kernel is 1 where they differ, else 0.
    pub categorical: Vec<usize>,
    /// Cost of the SVM on the subset, where the method chose it.
    pub cost: Option<f64>,
    /// Price of each feature, where the method found it.
    pub penalty: Option<f64>,
    /// Facts that only this method has, by name. Features are indices.
    pub details: Map<String, Value>,
}

impl Report {
    /// A selection, on which an SVM with this kernel is to be trained.
    pub fn new(selection: Selection, kernel: Kernel) -> Self {
        Self { selection, model: None, kernel, categorical: Vec::new(), cost: None, penalty: None, details: Map::new() }
    }

    /// A selection, with the kernel that a rule has for its size.
    #[doc(hidden)]
    pub fn of_rule(selection: Selection, kernel: &KernelRule) -> Self {
        let kernel = kernel.at(selection.outcome.subset.as_ref().map_or(0, Subset::len));
        Self::new(selection, kernel)
    }

    /// With the method's own classifier, which is none where it has no feature.
    #[must_use]
    pub fn with_model(self, model: Option<Model>) -> Self {
        Self { model: model.filter(|m| !m.features.is_empty()), ..self }
    }

    /// With the classifier that decides on the data before they were recentred as this one does
    /// after.
    fn restored(self, recentred: &Recentred<'_>) -> Self {
        Self { model: self.model.map(|model| model.restored(recentred)), ..self }
    }

    /// With features that hold categories.
    #[must_use]
    #[doc(hidden)]
    pub fn with_categorical(self, categorical: Vec<usize>) -> Self {
        Self { categorical, ..self }
    }

    /// With what the subsets within a share of the best tell, where these were wanted, as the
    /// detail `within`.
    #[must_use]
    pub(crate) fn with_near(self, near: Option<NearBest>) -> Self {
        match near {
            Some(near) => self.detail("within", near),
            None => self,
        }
    }

    /// With what was taken together, where it is more than one problem, as the detail `problems`.
    #[must_use]
    #[doc(hidden)]
    pub fn with_several(self, several: &Several<'_>, multi_class: MultiClass) -> Self {
        self.with_parts(several.parts(), multi_class)
    }

    /// With what several problems tell apart.
    #[must_use]
    pub(crate) fn with_parts(self, parts: &[SubProblem], multi_class: MultiClass) -> Self {
        match summary(parts, multi_class) {
            Some(summary) => self.detail("problems", summary),
            None => self,
        }
    }

    /// With the cost that the method chose.
    #[must_use]
    pub fn with_cost(self, cost: f64) -> Self {
        Self { cost: Some(cost), ..self }
    }

    /// With the price of each feature that the method found, if it was to find one.
    #[must_use]
    pub fn with_penalty(self, penalty: Option<f64>) -> Self {
        Self { penalty, ..self }
    }

    /// The prices of some features together: of that which the method found, else of `given`, one
    /// for each feature of the data or none.
    pub fn price(&self, features: &[usize], given: &[f64]) -> f64 {
        match self.penalty {
            Some(each) => each * features.len() as f64,
            None => features.iter().filter_map(|&j| given.get(j)).sum(),
        }
    }

    /// What to train on the subset where the method has no classifier of its own: the SVM of
    /// `svm` with this report's kernel, at `fit_cost`, else at the cost that the method chose,
    /// else at that of `svm`; its weights within the bounds of the rules.
    pub fn fit_settings(&self, svm: &SvmSettings, fit_cost: Option<f64>, rules: &Rules) -> FitSettings {
        let cost = fit_cost.or(self.cost).unwrap_or(svm.cost);
        let weight_bounds = rules.weight_bounds().clone();
        let categorical = self.categorical.clone();
        FitSettings { svm: SvmSettings { cost, ..svm.clone() }, kernel: self.kernel, categorical, weight_bounds }
    }

    /// With something that the method alone tells.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Serialize) -> Self {
        let value = serde_json::to_value(value).expect("details are numbers, lists and names");
        self.details.insert(name.to_owned(), value);
        self
    }
}

/// Name of the detail that says, in words, which classifiers a bound holds for, where it does not
/// hold for all.
pub const PROOF_CONDITION: &str = "proof_condition";

methods_and! {}

/// Subsets to start from, of as many features as the rules have.
fn subsets(start: &[Subset], rules: &Rules) -> Result<Vec<Subset>, Error> {
    let p = rules.p();
    let fit = |subset: &Subset| match subset.iter().last() {
        Some(last) if last >= p => Err(Error::setting("start", last, format!("features below {p}"))),
        _ => Ok(Subset::from_indices(p, subset.iter())),
    };
    start.iter().map(fit).collect()
}
