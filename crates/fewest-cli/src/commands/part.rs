//! Methods on some of the samples, which are prepared by themselves: what an evaluation asks of the
//! options that were typed.

use std::borrow::Borrow;

use fewest::Cancel;
use fewest_eval::{Ask, EvalError, PartSelector, Preparation, Scene, SomeMethod, TrainingPart};

use super::auto_cost;
use super::data_as_read::DataAsRead;
use super::effective::{Known, check_classes, check_groups, limits, rules};
use super::prepare::{PrepareOptions, listed};
use crate::args::rules::RuleSource;
use crate::args::svm::ClassWeight;
use crate::cli::SelectionArgs;
use crate::failure::Failure;
use crate::method_args::{MethodData, MethodOptions};
use crate::terminal::{Level, Terminal};

/// Reads the data of a method; `folds` names the column with the fold of each sample.
pub(crate) fn load(
    selection: &SelectionArgs,
    options: &MethodOptions,
    folds: Option<&str>,
    terminal: Terminal,
) -> Result<DataAsRead, Failure> {
    let tasks = options.text("tasks");
    let (tasks, groups) = (tasks.as_deref(), selection.groups.as_deref());
    let centred = options.centres();
    let reading =
        PrepareOptions { folds, centred, tasks, groups, ..PrepareOptions::new(&selection.data, &selection.prepare)? };
    let mut raw = reading.load(terminal)?;
    check_groups(&mut raw, true, terminal)?;
    Ok(raw)
}

/// Samples, and how each part of them is prepared for a method.
pub(crate) struct Parts<'a> {
    raw: &'a DataAsRead,
    pub(crate) preparation: Preparation,
    /// Bytes allowed in all.
    memory: u64,
}

impl<'a> Parts<'a> {
    /// For a method.
    pub(crate) fn new(
        raw: &'a DataAsRead,
        selection: &SelectionArgs,
        options: &MethodOptions,
    ) -> Result<Self, Failure> {
        let (class_weight, categorical): (Option<ClassWeight>, _) =
            (options.value("class_weight"), options.categorical());
        let prepare = PrepareOptions {
            class_weight: class_weight.as_ref(),
            variance_threshold: selection.rules.variance_threshold,
            categorical: &categorical,
            ..PrepareOptions::new(&selection.data, &selection.prepare)?
        };
        Ok(Self { raw, preparation: prepare.preparation(raw)?, memory: selection.data.read_options()?.memory() })
    }

    /// What an evaluation is made on.
    pub(crate) fn scene(&self, cancel: &Cancel) -> Scene<'_> {
        let (memory, cancel) = (self.raw.account().clone(), cancel.clone());
        Scene { data: self.raw.samples(), preparation: &self.preparation, memory, cancel }
    }

    /// The method with its options and rules.
    pub(crate) fn selector<'b>(
        &'b self,
        options: &'b MethodOptions,
        source: &'b RuleSource,
    ) -> TypedSelector<'b, &'b MethodOptions> {
        TypedSelector { parts: self, options, source }
    }
}

/// A method with its options, as typed or with others.
pub(crate) struct TypedSelector<'a, O> {
    parts: &'a Parts<'a>,
    options: O,
    source: &'a RuleSource,
}

impl<O: Borrow<MethodOptions> + Sync> TypedSelector<'_, O> {
    fn asked(&self, part: &TrainingPart) -> Result<Ask, Failure> {
        let (Parts { raw, preparation, memory }, options) = (self.parts, self.options.borrow());
        let (source, names) = (&raw.data.source, &raw.data.names);
        let known = Known { source, names, texts: &preparation.texts, target: &part.target, learnt: &part.learnt };
        check_classes(options, known)?;
        let list = rules(self.source, known, Terminal::new(Level::Quiet))?;
        let data = MethodData {
            source,
            names,
            target: &part.target,
            class_weights: &preparation.class_weight,
            sample_weights: &part.sample_weights,
            folds: None,
            groups: part.groups.as_deref(),
            held_out: None,
            categorical: &preparation.categorical,
            kernel_memory: raw.kernel_memory(),
            memory: *memory,
        };
        let args = options.args();
        let (svm, task_svm) = (data.svm(args.svm()), data.svm(args.task_svm()));
        let rules = part.rules(list, listed(names))?;
        let method = SomeMethod::new(args.method(&data)?);
        Ok(Ask { method, svm, task_svm, rules, limits: limits(options) })
    }
}

impl<O: Borrow<MethodOptions> + Sync> PartSelector for TypedSelector<'_, O> {
    fn ask(&self, part: &TrainingPart) -> Result<Ask, EvalError> {
        Ok(self.asked(part)?)
    }

    fn fit_cost(&self) -> Option<f64> {
        self.options.borrow().fit_cost()
    }

    fn has_own_classifier(&self) -> bool {
        self.options.borrow().entry().has_own_classifier()
    }

    fn chooses_cost(&self) -> bool {
        self.options.borrow().chooses_cost()
    }

    fn at_cost(&self, cost: f64, fit_cost: Option<f64>) -> Result<Box<dyn PartSelector + '_>, EvalError> {
        let options = auto_cost::with(self.options.borrow(), cost, fit_cost)?;
        Ok(Box::new(TypedSelector { parts: self.parts, options, source: self.source }))
    }
}
