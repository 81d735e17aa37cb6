//! What is in force for a method on prepared data: rules, limits, classes.

use fewest::method::Classes;
use fewest::{Limits, Report, RuleList};
use fewest_data::{Dataset, Note};

use super::prepare::PreparedData;
use super::raw::Raw;
use super::reading::tell;
use crate::args::features::Features;
use crate::args::notation;
use crate::args::resolver::never_chosen;
use crate::args::rules::RuleSource;
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::terminal::Terminal;

/// The limits of a search, but for its time.
pub(crate) fn limits(options: &MethodOptions) -> Limits {
    let none = Limits::default();
    Limits { nodes: options.value("node_limit"), gap_rel: options.value("gap").unwrap_or(none.gap_rel), ..none }
}

/// Refuses more classes than a method takes, and `--multi-class` where there are two.
///
/// # Errors
/// The classes there are.
pub(crate) fn check_classes(options: &MethodOptions, prepared: &PreparedData) -> Result<(), Failure> {
    let target = &prepared.target;
    if options.given("multi_class") && target.classes.len() == 2 {
        return Err(Failure::Input(format!(
            "--multi-class says how more than two classes become problems, but `{}` has two ({}); leave it out",
            target.column,
            notation::some(&target.classes)
        )));
    }
    match options.entry().info().classes {
        Classes::Two => prepared.needs_two_classes(options.name()),
        Classes::Any => Ok(()),
    }
}

/// Refuses what needs one classifier for all samples, where there are tasks, which have their own.
///
/// # Errors
/// The option, and what to do.
pub(crate) fn refuse_with_tasks(options: &MethodOptions) -> Result<(), Failure> {
    let why = if !options.given("tasks") {
        return Ok(());
    } else if options.chooses_cost() {
        "--cost auto judges one classifier for all samples; give a number"
    } else if options.given("validate") {
        "--validate judges one classifier for all samples; leave it out"
    } else {
        return Ok(());
    };
    Err(Failure::Input(format!("with --tasks each task has classifiers of its own, but {why}")))
}

/// The rules that were asked for.
///
/// # Errors
/// An unknown name, a feature that is required and that the data rule out.
pub(crate) fn rules(source: &RuleSource, prepared: &PreparedData, terminal: Terminal) -> Result<RuleList, Failure> {
    let names = &prepared.data.names;
    let list = source.resolve(&prepared.features())?;
    for (features, why) in
        [(&prepared.constant, "has one value only"), (&prepared.low_variance, "is below the --variance-threshold")]
    {
        if let Some(&j) = list.require.iter().find(|j| features.contains(**j)) {
            return Err(Failure::Input(format!(
                "{} is required, but {why} and is never selected; require another feature",
                names.get(j)
            )));
        }
    }
    if !prepared.low_variance.is_empty() {
        let count = notation::plural(prepared.low_variance.len(), "feature");
        terminal.note(&format!("{count} at or below the --variance-threshold will not be selected"));
    }
    Ok(list)
}

/// Tells of features that the rules keep together and that can never be chosen, and adds it to the
/// notes.
pub(super) fn warn_of_rules(list: &RuleList, data: &mut Dataset, terminal: Terminal) {
    for text in never_chosen(list, &data.names) {
        let note = Note::NeverChosen { text };
        tell(&note, terminal);
        data.notes.push(note);
    }
}

/// The same for samples as they were read.
///
/// # Errors
/// A rule that names nothing.
pub(super) fn warn_of_source(source: &RuleSource, raw: &mut Raw, terminal: Terminal) -> Result<(), Failure> {
    let constant = raw.data.features.constant();
    let list = source.resolve(&Features::new(&raw.data.names).with_variables(raw.texts(), &[&constant]))?;
    warn_of_rules(&list, &mut raw.data, terminal);
    Ok(())
}

/// The rules, with constant features and those of low variance forbidden.
pub(crate) fn ruled_out(mut list: RuleList, prepared: &PreparedData) -> RuleList {
    list.forbid.extend(prepared.constant.iter().chain(prepared.low_variance.iter()));
    list
}

/// The features of a report, ascending.
pub(crate) fn selected(report: &Report) -> Vec<usize> {
    report.selection.outcome.subset.as_ref().map_or_else(Vec::new, |subset| subset.iter().collect())
}
