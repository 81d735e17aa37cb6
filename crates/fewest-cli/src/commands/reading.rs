//! Reading data files, their notes, and what their columns say of samples.

use std::collections::HashSet;
use std::path::Path;

use fewest_data::{
    DataError, Dataset, Features, Indicator, Normalized, Note, ReadOptions, Target, TargetRule, class_position,
};
use fewest_eval::Groups;
use fewest_report::visible;

use crate::args::data::path_text;
use crate::args::notation;
use crate::failure::{Failure, told};
use crate::line::{self, Place, WORKING};
use crate::terminal::Terminal;

/// Features that the data rule out, by name; more are counted.
pub(crate) const FEW: usize = 5;

/// Reads the file and tells its notes.
///
/// # Errors
/// Whatever is wrong with the file.
pub(crate) fn read(path: &Path, options: &ReadOptions, terminal: Terminal) -> Result<Dataset, Failure> {
    read_or(path, options, near_class, terminal)
}

/// Reads the file and tells its notes; `failed` words an error.
fn read_or(
    path: &Path,
    options: &ReadOptions,
    failed: impl FnOnce(DataError) -> Failure,
    terminal: Terminal,
) -> Result<Dataset, Failure> {
    let name = path_text(path)?;
    line::at(Place::at(format!("reading {}", visible(name))));
    let data = fewest_data::read(name, options).map_err(failed)?;
    line::at(Place::at(WORKING));
    data.notes.iter().for_each(|note| tell(note, terminal));
    Ok(data)
}

/// Reads the data and sets columns apart; `named` are the options of the command that name these
/// columns.
pub(super) fn read_apart(
    path: &Path,
    options: &ReadOptions,
    named: &[(&'static str, Option<&str>)],
    terminal: Terminal,
) -> Result<Dataset, Failure> {
    let failed = |error| match error {
        DataError::UnknownColumn { file, name, role, available } => {
            let by = named.iter().find(|(_, column)| *column == Some(name.as_str()));
            DataError::UnknownColumn { role: by.map_or(role, |by| by.0), file, name, available }.into()
        }
        other => near_class(other),
    };
    read_or(path, options, failed, terminal)
}

/// An error, with the class that may be meant where one is named that is not there.
pub(super) fn near_class(error: DataError) -> Failure {
    let DataError::UnknownClass { name, available, .. } = &error else { return error.into() };
    match notation::closest(name, available.split(", ")) {
        Some(near) => Failure::Input(format!("{} (did you mean {near}?)", told(&error))),
        None => error.into(),
    }
}

/// Adds what may be wrong with the columns to the notes of data to learn from, and tells it.
pub(super) fn hint(data: &mut Dataset, terminal: Terminal) {
    let hints = fewest_data::hints(data);
    for note in &hints {
        tell(note, terminal);
    }
    data.notes.extend(hints);
}

/// The notes that [`tell`] says to everyone, for the `warnings` of a result.
pub(crate) fn warnings(data: &Dataset) -> Vec<String> {
    let told = |note: &&Note| match note {
        Note::Normalized(done) => is_odd(done),
        Note::TargetColumn { rule, .. } => *rule == TargetRule::Last,
        _ => true,
    };
    data.notes.iter().filter(told).map(words).collect()
}

/// Notes among [`warnings`]: those that are no warnings.
pub(crate) fn notes(data: &Dataset) -> Vec<String> {
    let noted = |note: &&Note| !matches!(note, Note::Normalized(_) | Note::TargetColumn { .. }) && !is_warning(note);
    data.notes.iter().filter(noted).map(words).collect()
}

/// Whether a note is as loud as a warning.
fn is_warning(note: &Note) -> bool {
    match note {
        Note::Normalized(done) => is_odd(done),
        Note::AlikeClasses { .. }
        | Note::Constant { .. }
        | Note::Unseen { known: true, .. }
        | Note::Counter { .. }
        | Note::Counts
        | Note::Dates { .. }
        | Note::Logged
        | Note::LoneValue { .. }
        | Note::ManyValues { .. }
        | Note::NeverChosen { .. }
        | Note::NumberClasses { .. }
        | Note::Perfect { .. }
        | Note::PositiveClass { .. }
        | Note::Repeats { .. } => true,
        _ => false,
    }
}

/// Whether totals were taken of what may be no counts.
fn is_odd(done: &Normalized) -> bool {
    done.how.total.is_some() && done.fractions
}

/// A note in words, with a few of the names only.
fn words(note: &Note) -> String {
    let Note::Constant { count, names, .. } = note else { return told(note) };
    let shown = names.iter().take(FEW).cloned().collect::<Vec<_>>().join(", ");
    let more = if *count > FEW { format!(", ... ({count} in all)") } else { String::new() };
    format!("{count} feature(s) have one value only and are never selected: {shown}{more}")
}

/// A note, as loud as it deserves.
pub(crate) fn tell(note: &Note, terminal: Terminal) {
    match note {
        loud if is_warning(loud) => terminal.warn(&words(loud)),
        Note::Normalized(_)
        | Note::TargetColumn { rule: TargetRule::Asked | TargetRule::UsualName | TargetRule::Format, .. } => {
            terminal.detail(&told(note));
        }
        other => terminal.note(&told(other)),
    }
}

/// Reads exactly these features, in this order, those that say where another one has no value among
/// them. `explain` says more of an error.
///
/// # Errors
/// Whatever is wrong with the file.
pub(crate) fn read_features(
    path: &Path,
    names: &[String],
    indicators: &[Indicator],
    options: ReadOptions,
    explain: &dyn Fn(&DataError) -> Option<&'static str>,
    terminal: Terminal,
) -> Result<Dataset, Failure> {
    let of = |name: &String| indicators.iter().find(|i| i.name == *name).map_or(name, |i| &i.of).clone();
    let mut wanted: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    wanted.extend(names.iter().map(of).filter(|name| known.insert(name.clone())));
    let options = ReadOptions { features: Some(wanted), ..options };
    let failed = |error| match explain(&error) {
        Some(more) => Failure::Input(format!("{}; {more}", told(&error))),
        None => near_class(error),
    };
    let mut data = read_or(path, &options, failed, terminal)?;
    let used: Vec<Indicator> = indicators.iter().filter(|i| names.contains(&i.name)).cloned().collect();
    data.mark(&used)?;
    data.align(names)?;
    Ok(data)
}

/// The features and labels of other samples, whose classes must be known.
///
/// # Errors
/// No target, or a class that `target` does not have.
pub(super) fn labelled(other: Dataset, target: &Target) -> Result<(Features, Vec<f64>), Failure> {
    let Some(found) = &other.target else {
        return Err(Failure::Input(format!(
            "{}: there is no target column `{}`; a file for --validate needs the class of each sample",
            other.source, target.column
        )));
    };
    if let Some(class) = found.classes.iter().find(|class| class_position(&target.classes, class).is_none()) {
        return Err(Failure::Input(format!(
            "{}: `{}` has the class {class}, but the data have {}; leave those samples out of that file",
            other.source,
            found.column,
            notation::some(&target.classes)
        )));
    }
    let codes = found.codes_in(&target.classes).into_iter().flatten().collect();
    Ok((other.features, Target { codes, ..target.clone() }.signs()))
}

/// The weight of each sample from the column set apart, 1 without one. A row of weight 0 is no
/// sample: the data keep the others alone, whose numbers are returned, too.
///
/// # Errors
/// A cell that is no weight, no weight above 0 in two classes.
pub(super) fn weighted(
    data: &mut Dataset,
    name: Option<&str>,
    terminal: Terminal,
) -> Result<(Vec<f64>, Vec<usize>), Failure> {
    let n = data.features.n_samples();
    let column = name.and_then(|name| data.apart.iter().find(|column| column.name == name));
    let Some(column) = column else { return Ok((vec![1.0; n], (0..n).collect())) };
    let place = format!("column `{}`", column.name);
    let weight = |(row, cell): (usize, &String)| match cell.trim().parse::<f64>() {
        Ok(weight) if weight >= 0.0 && weight.is_finite() => Ok(weight),
        _ => Err(Failure::Input(format!(
            "{}, data row {}, {place}: the sample weight is `{cell}`, but must be a finite number, 0 or more",
            data.source,
            row + 1,
        ))),
    };
    let weights: Vec<f64> = column.values.iter().enumerate().map(weight).collect::<Result<_, _>>()?;
    let rows: Vec<usize> = (0..n).filter(|&row| weights[row] > 0.0).collect();
    data.keep_weighted(&rows);
    data.notes.last().filter(|_| rows.len() < n).into_iter().for_each(|note| tell(note, terminal));
    if let Some(target) = &data.target
        && target.classes.len() < 2
    {
        return Err(Failure::Input(match target.classes.first() {
            None => format!("{}, {place}: no sample weight is above 0", data.source),
            Some(class) => format!(
                "{}, {place}: the samples of positive weight are all of the class {class}; two classes are needed",
                data.source
            ),
        }));
    }
    Ok((rows.iter().map(|&row| weights[row]).collect(), rows))
}

/// The groups of a column set apart; `target` is the column of the classes, `rows` are those of the
/// file that the data are.
///
/// # Errors
/// A blank cell, one group only, the classes as groups.
pub(super) fn groups(
    data: &Dataset,
    name: &str,
    target: &str,
    rows: &[usize],
    terminal: Terminal,
) -> Result<Groups, Failure> {
    if name == target {
        return Err(Failure::Input(format!(
            "{}: --groups is {name}, the column of the class, but folds need samples of every class; name the column of the person or batch",
            data.source
        )));
    }
    let groups = Groups::new(&apart_names(data, name, "group", rows)?);
    let (count, source) = (groups.count(), &data.source);
    if count < 2 {
        return Err(Failure::Input(format!(
            "{source}: the column `{name}` names one group only, {}, which cannot be in several folds or halves; leave out --groups, or name another column",
            notation::some(&groups.names)
        )));
    }
    if count == groups.codes.len() {
        terminal.warn(&format!(
            "the column `{name}` has another value in each of the {count} rows, so that no samples stay together; name a column whose values repeat"
        ));
    }
    Ok(groups)
}

/// Tells of a column that may say which samples belong together, where no groups are given although
/// samples are dealt.
pub(super) fn warn_of_repeats(data: &mut Dataset, terminal: Terminal) {
    if let Some(note) = fewest_data::repeats(data) {
        tell(&note, terminal);
        data.notes.push(note);
    }
}

/// The name of each sample's `what`, a fold, a task or a group; `rows` are those of the file that the
/// data are.
///
/// # Errors
/// A blank cell.
pub(super) fn apart_names(data: &Dataset, name: &str, what: &str, rows: &[usize]) -> Result<Vec<String>, Failure> {
    let column = data.apart.iter().find(|column| column.name == name).expect("it was asked for, and read");
    match column.values.iter().position(|cell| cell.trim().is_empty()) {
        Some(at) => Err(Failure::Input(format!(
            "{}, data row {}, column `{name}`: the cell is blank, but must name the sample's {what}",
            data.source,
            rows[at] + 1
        ))),
        None => Ok(column.values.clone()),
    }
}
