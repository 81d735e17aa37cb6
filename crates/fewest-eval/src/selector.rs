//! A method on a part: what is run, made again for each part, and what it selects.

use fewest::method::path::SizeReport;
use fewest::{Cancel, Error, Limits, Memory, Report, RuleList, Rules, Silent, SvmSettings};

use crate::error::EvalError;
use crate::method::SomeMethod;
use crate::part::{Data, HeldOut, TrainingPart};
use crate::preparation::Preparation;
use crate::time::FoldTime;

/// Scene of an evaluation: its data, and all that its parts share.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The samples.
    pub data: Data<'a>,
    /// How each part of them is prepared.
    pub preparation: &'a Preparation,
    /// The memory that all parts take from.
    pub memory: Memory,
    /// Stops all.
    pub cancel: Cancel,
}

impl<'a> Scene<'a> {
    /// A scene without limits.
    pub fn new(data: Data<'a>, preparation: &'a Preparation) -> Self {
        Self { data, preparation, memory: Memory::unlimited(), cancel: Cancel::default() }
    }

    /// These samples, prepared to learn from.
    pub fn part(&self, rows: &[usize]) -> Result<TrainingPart, EvalError> {
        TrainingPart::new(&self.data, rows, self.preparation, &self.memory)
    }

    /// These samples, prepared as those of a part.
    pub fn hold_out(&self, part: &TrainingPart, rows: &[usize]) -> Result<HeldOut, EvalError> {
        part.hold_out(&self.data, rows, &self.memory)
    }
}

/// Question to a method on a part.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The method.
    pub method: SomeMethod,
    /// The SVM of the method, which is trained on what it selects.
    pub svm: SvmSettings,
    /// The SVM that is trained for each task.
    pub task_svm: SvmSettings,
    /// The rules, with what the part rules out.
    pub rules: Rules,
    /// Limits of a selection, but for time, memory and cancellation.
    pub limits: Limits,
}

/// What selects, made again for each part: gamma, folds of its own and rules may depend on the
/// samples.
///
/// Implement [`PartSelector::ask`]; the other functions have a meaning where costs are chosen, or
/// where the classifier has a cost of its own.
pub trait PartSelector: Sync {
    /// What is run on these samples.
    ///
    /// # Errors
    /// Samples that it cannot be run on.
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError>;

    /// The cost of the classifier on what is selected; none: that of the selection.
    fn fit_cost(&self) -> Option<f64> {
        None
    }

    /// Whether the method ends with a classifier of its own.
    fn has_own_classifier(&self) -> bool {
        false
    }

    /// Whether costs are chosen by cross-validation of each part ([`crate::auto_cost`]).
    fn chooses_cost(&self) -> bool {
        false
    }

    /// The selector at this cost, and at this cost of the classifier; asked for where costs are
    /// chosen.
    ///
    /// # Errors
    /// Unless it chooses costs.
    fn at_cost(&self, cost: f64, fit_cost: Option<f64>) -> Result<Box<dyn PartSelector + '_>, EvalError> {
        let _ = fit_cost;
        Err(Error::setting("cost", cost, "left as it is: this selector has no other").into())
    }
}

/// Selector with one method, settings and rules for every part.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// The method.
    pub method: SomeMethod,
    /// The SVM of the method, which is trained on what it selects.
    pub svm: SvmSettings,
    /// The rules.
    pub rules: RuleList,
    /// The cost of the classifier on what is selected; none: that of the selection.
    pub fit_cost: Option<f64>,
}

impl PartSelector for Fixed {
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError> {
        let (svm, rules) = (self.svm.clone(), part.rules(self.rules.clone(), &[])?);
        Ok(Ask { method: self.method.clone(), task_svm: svm.clone(), svm, rules, limits: Limits::default() })
    }

    fn fit_cost(&self) -> Option<f64> {
        self.fit_cost
    }
}

/// Selection of a method, with the question.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The selection.
    pub report: Report,
    /// The question.
    pub ask: Ask,
}

impl Selected {
    /// The features, ascending.
    pub fn features(&self) -> Vec<usize> {
        self.report.selection.outcome.features()
    }
}

impl Ask {
    /// The limits of the next selection.
    fn within(&self, scene: &Scene<'_>, time: &mut FoldTime) -> Limits {
        let (cancel, memory) = (scene.cancel.clone(), scene.memory.clone());
        Limits { cancel, memory, time: time.next_limit(), ..self.limits.clone() }
    }

    /// Notes how a selection ended, and whether what a search found by then stands.
    fn note(&self, report: &Report, time: &mut FoldTime) {
        let outcome = &report.selection.outcome;
        let found = fewest::Selector::info(&self.method).searches && !outcome.features().is_empty();
        time.note(outcome.status, found);
    }

    /// Selects on a part.
    ///
    /// # Errors
    /// Samples that the method cannot learn from.
    pub fn select(self, scene: &Scene<'_>, part: &TrainingPart, time: &mut FoldTime) -> Result<Selected, EvalError> {
        let limits = self.within(scene, time);
        let report = fewest::Selector::select(&self.method, &part.samples()?, &self.rules, limits, &mut Silent)?;
        self.note(&report, time);
        Ok(Selected { report, ask: self })
    }

    /// Selects once for each size, ascending; the rules have the largest.
    ///
    /// # Errors
    /// Samples that the method cannot learn from.
    pub fn path(
        self,
        scene: &Scene<'_>,
        part: &TrainingPart,
        sizes: &[usize],
        time: &mut FoldTime,
    ) -> Result<Vec<Selected>, EvalError> {
        let limits = self.within(scene, time);
        let points = fewest::Selector::path(&self.method, &part.samples()?, &self.rules, sizes, &limits, &mut Silent)?;
        for point in &points {
            self.note(&point.report, time);
        }
        let selected = |point: SizeReport| Selected { report: point.report, ask: self.clone() };
        Ok(points.into_iter().map(selected).collect())
    }
}
