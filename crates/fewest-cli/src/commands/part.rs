//! A method on some of the samples, which are prepared by themselves: what `evaluate` does in a fold
//! and `stability` in a half; `knockoffs` runs a method in the same way.

use crate::AnyMethod;
use fewest::method::path::SizeReport;
use fewest::{Cancel, Limits, Report, Rules, Samples, Silent, SvmSettings};

use super::auto_cost;
use super::in_force::{check_classes, limits, ruled_out, rules};
use super::prepare::{Preparation, PreparedData, listed};
use super::raw::Raw;
use super::share::FoldTime;
use crate::args::rules::RuleSource;
use crate::args::svm::ClassWeight;
use crate::cli::SelectionArgs;
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::terminal::{Level, Terminal};

/// How parts are read and prepared.
pub(crate) struct PartLearner<'a> {
    selection: &'a SelectionArgs,
    class_weight: Option<ClassWeight>,
    categorical: Vec<String>,
    tasks: Option<String>,
}

/// What a method selected, and at which settings.
pub(crate) struct PartSelection {
    /// What was selected.
    pub(crate) report: Report,
    /// The SVM of the method.
    pub(crate) svm: SvmSettings,
    /// The rules that it obeys.
    pub(crate) rules: Rules,
}

impl<'a> PartLearner<'a> {
    /// Nothing is read yet.
    pub(crate) fn new(selection: &'a SelectionArgs, options: &MethodOptions) -> Self {
        let (class_weight, categorical) = (options.value("class_weight"), options.categorical());
        Self { selection, class_weight, categorical, tasks: options.text("tasks") }
    }

    fn preparation<'b>(&'b self, folds: Option<&'b str>) -> Preparation<'b> {
        Preparation {
            data: &self.selection.data,
            prepare: &self.selection.prepare,
            class_weight: self.class_weight.as_ref(),
            variance_threshold: self.selection.rules.variance_threshold,
            validate: None,
            folds,
            categorical: &self.categorical,
            tasks: self.tasks.as_deref(),
        }
    }

    /// Reads the data; `folds` names the column with the fold of each sample.
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub(crate) fn load(&self, folds: Option<&str>, terminal: Terminal) -> Result<Raw, Failure> {
        self.preparation(folds).load(terminal)
    }

    /// The method's options, with the costs that `--cost auto` chooses on these samples.
    ///
    /// # Errors
    /// Data that the choice cannot be made on.
    pub(crate) fn with_costs(
        &self,
        raw: &Raw,
        rows: &[usize],
        options: &MethodOptions,
        source: &RuleSource,
        time: &mut FoldTime,
        cancel: &Cancel,
    ) -> Result<MethodOptions, Failure> {
        if !options.chooses_cost() {
            return options.again();
        }
        let (part, preparation) = (raw.rows(rows)?, self.preparation(None));
        let choice = auto_cost::choose(&part, &preparation, options, source, time.next(), cancel)?;
        auto_cost::with(options, &choice)
    }

    /// These samples alone, prepared.
    ///
    /// # Errors
    /// A class of which none of them is.
    pub(crate) fn prepare(&self, raw: &Raw, rows: &[usize]) -> Result<PreparedData, Failure> {
        let prepared = self.preparation(None).prepare(raw.rows(rows)?, Terminal::new(Level::Quiet))?;
        match prepared.target.counts().iter().position(|&count| count == 0) {
            Some(class) => Err(Failure::no_sample_left(&prepared.target.classes[class])),
            None => Ok(prepared),
        }
    }

    /// Selects on prepared samples alone.
    ///
    /// # Errors
    /// Data that the method cannot learn from.
    pub(crate) fn select(
        prepared: &PreparedData,
        options: &MethodOptions,
        source: &RuleSource,
        time: &mut FoldTime,
        cancel: &Cancel,
    ) -> Result<PartSelection, Failure> {
        let (svm, rules) = in_force_of(prepared, options, source)?;
        let report = run(prepared, &prepared.samples()?, &rules, options, time, cancel)?;
        Ok(PartSelection { report, svm, rules })
    }

    /// Selects once for each size, ascending, on prepared samples alone; `source` has the largest.
    ///
    /// # Errors
    /// Data that the method cannot learn from.
    pub(crate) fn path(
        prepared: &PreparedData,
        options: &MethodOptions,
        source: &RuleSource,
        sizes: &[usize],
        time: &mut FoldTime,
        cancel: &Cancel,
    ) -> Result<Vec<PartSelection>, Failure> {
        let (svm, rules) = in_force_of(prepared, options, source)?;
        let (method, limits) = method_of(prepared, options, time, cancel)?;
        let points = method.path(&prepared.samples()?, &rules, sizes, &limits, &mut Silent)?;
        for point in &points {
            time.note(point.report.selection.outcome.status);
        }
        let selection =
            |point: SizeReport| PartSelection { report: point.report, svm: svm.clone(), rules: rules.clone() };
        Ok(points.into_iter().map(selection).collect())
    }
}

/// The SVM of the method on these samples, and the rules that it obeys.
fn in_force_of(
    prepared: &PreparedData,
    options: &MethodOptions,
    source: &RuleSource,
) -> Result<(SvmSettings, Rules), Failure> {
    check_classes(options, prepared)?;
    let list = ruled_out(rules(source, prepared, Terminal::new(Level::Quiet))?, prepared);
    let svm = prepared.method_data().svm(options.args().svm());
    Ok((svm, Rules::new(prepared.data.names.len(), list, listed(&prepared.data.names))?))
}

/// The method and the limits of its next run.
fn method_of(
    prepared: &PreparedData,
    options: &MethodOptions,
    time: &mut FoldTime,
    cancel: &Cancel,
) -> Result<(AnyMethod, Limits), Failure> {
    let method = options.args().method(&prepared.method_data())?;
    let memory = prepared.account().clone();
    Ok((method, Limits { cancel: cancel.clone(), time: time.next(), memory, ..limits(options) }))
}

/// Runs the method on samples of prepared data, in the time of its part.
///
/// # Errors
/// Samples that the method cannot learn from.
pub(super) fn run(
    prepared: &PreparedData,
    samples: &Samples<'_>,
    rules: &Rules,
    options: &MethodOptions,
    time: &mut FoldTime,
    cancel: &Cancel,
) -> Result<Report, Failure> {
    let (method, limits) = method_of(prepared, options, time, cancel)?;
    let report = method.select(samples, rules, limits, &mut Silent)?;
    time.note(report.selection.outcome.status);
    Ok(report)
}
