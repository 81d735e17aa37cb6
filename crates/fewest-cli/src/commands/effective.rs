//! What is in effect for a method on prepared data: rules, limits, classes.

use fewest::method::Classes;
use fewest::{Limits, RuleList};
use fewest_data::{Dataset, Names, Note, Target};
use fewest_eval::Learnt;

use super::data_as_read::DataAsRead;
use super::reading::{tell, warn_of_repeats};
use crate::args::features::Features;
use crate::args::notation;
use crate::args::resolver::never_chosen;
use crate::args::rules::RuleSource;
use crate::failure::Failure;
use crate::method_args::{MethodOptions, Validate};
use crate::terminal::Terminal;

/// The limits of a search, but for its time.
pub(crate) fn limits(options: &MethodOptions) -> Limits {
    let none = Limits::default();
    Limits { nodes: options.value("node_limit"), gap_rel: options.value("gap").unwrap_or(none.gap_rel), ..none }
}

/// What is known of samples that a method is run on, and of their features.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// Name of the data file.
    pub(crate) source: &'a str,
    /// Names of the features.
    pub(crate) names: &'a Names,
    /// The features that each text column became.
    pub(crate) texts: &'a [Vec<usize>],
    /// Classes.
    pub(crate) target: &'a Target,
    /// What the samples say.
    pub(crate) learnt: &'a Learnt,
}

impl<'a> Known<'a> {
    /// The features by name, text columns among them.
    pub(crate) fn features(&self) -> Features<'a> {
        Features::new(self.names).with_variables(self.texts, &[&self.learnt.constant, &self.learnt.low_variance])
    }

    /// Refuses more classes than two for `who`, which needs two.
    ///
    /// # Errors
    /// The classes there are.
    pub(crate) fn needs_two_classes(&self, who: &str) -> Result<(), Failure> {
        let target = self.target;
        if target.classes.len() == 2 {
            return Ok(());
        }
        Err(Failure::Input(format!(
            "{}: {who} needs two classes, but `{}` has {} ({}); keep two of them with --classes, or use a method for more: exact, gbd, fgm, rfe, kta or info-gain",
            self.source,
            target.column,
            target.classes.len(),
            notation::some(&target.classes)
        )))
    }
}

/// Refuses more classes than a method takes, and `--multi-class` where there are two.
///
/// # Errors
/// The classes there are.
pub(crate) fn check_classes(options: &MethodOptions, known: Known<'_>) -> Result<(), Failure> {
    let target = known.target;
    if options.given("multi_class") && target.classes.len() == 2 {
        return Err(Failure::Input(format!(
            "--multi-class says how more than two classes become problems, but `{}` has two ({}); leave it out",
            target.column,
            notation::some(&target.classes)
        )));
    }
    match options.entry().info().classes {
        Classes::Two => known.needs_two_classes(options.name()),
        Classes::Any => Ok(()),
    }
}

/// Refuses what needs one classifier for all samples, where there are tasks, which have their own.
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

/// Refuses groups of samples where they have no effect: nothing is dealt, or single samples are.
pub(super) fn refuse_groups(column: Option<&str>, options: &MethodOptions, deals: bool) -> Result<(), Failure> {
    let Some(column) = column else { return Ok(()) };
    let why = if !deals {
        let or = if options.entry().has("cost") { ", or let folds choose the cost: --cost auto" } else { "" };
        format!("but nothing is dealt into folds here; leave it out (--drop {column} if it is no feature){or}")
    } else if matches!(options.value("validate"), Some(Validate::Share(_))) {
        "but --validate with a share holds out single samples; name a file of samples to hold out, or leave one of the two out".to_owned()
    } else {
        return Ok(());
    };
    Err(Failure::Input(format!("--groups {column} says which samples stay together in folds, {why}")))
}

/// Refuses a column of folds that parts a group. Tells of a column that may name groups, where
/// samples are dealt without any.
///
/// # Errors
/// The first group that is in two folds.
pub(super) fn check_groups(raw: &mut DataAsRead, deals: bool, terminal: Terminal) -> Result<(), Failure> {
    if deals && raw.folds.is_none() && raw.groups.is_none() {
        warn_of_repeats(&mut raw.data, terminal);
    }
    let (Some(names), Some(groups)) = (&raw.folds, &raw.groups) else { return Ok(()) };
    let folds = fewest_eval::folds::named(names).unwrap_or_default();
    fewest_eval::folds::check_groups(&folds, groups).map_err(|error| raw.failure(error))
}

/// The rules that were asked for.
pub(crate) fn rules(source: &RuleSource, known: Known<'_>, terminal: Terminal) -> Result<RuleList, Failure> {
    let Known { names, learnt, .. } = known;
    let list = source.resolve(&known.features())?;
    for (features, why) in
        [(&learnt.constant, "has one value only"), (&learnt.low_variance, "is below the --variance-threshold")]
    {
        if let Some(&j) = list.require.iter().find(|j| features.contains(**j)) {
            return Err(Failure::Input(format!(
                "{} is required, but {why} and is never selected; require another feature",
                names.get(j)
            )));
        }
    }
    if !learnt.low_variance.is_empty() {
        let count = notation::plural(learnt.low_variance.len(), "feature");
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

/// Warns of the rules of a source, for samples as they were read.
///
/// # Errors
/// A rule that names nothing.
pub(super) fn warn_of_source(source: &RuleSource, raw: &mut DataAsRead, terminal: Terminal) -> Result<(), Failure> {
    let constant = raw.data.features.constant();
    let list = source.resolve(&Features::new(&raw.data.names).with_variables(raw.texts(), &[&constant]))?;
    warn_of_rules(&list, &mut raw.data, terminal);
    source.weights().meaning(&raw.target).into_iter().for_each(|text| terminal.note(&text));
    Ok(())
}
