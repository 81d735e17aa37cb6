//! `fewest predict`: classify samples with a trained model, and say what it is worth where their
//! classes are known.

mod decisions;

use fewest_data::{DataError, Dataset, Features, Imputation, Indicator, MissingRule, ReadOptions, ScaleKind, Scaling};
use fewest_result::{Classifiers, JudgedSamples, Kind, Prediction, TaskModels, TrainedModel};

use super::invocation::Invocation;
use super::normalized::check_totals;
use super::reading::{self, apart_names};
use super::report;
use crate::args::notation;
use crate::cli::PredictArgs;
use crate::export::file::Sink;
use crate::export::json::Document;
use crate::export::table;
use crate::failure::{Failure, plain};
use decisions::SampleDecisions;

/// Runs the command.
///
/// # Errors
/// A file that is no model, or data without a feature the model needs.
pub(crate) fn run(args: &PredictArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let place = args.model.display();
    let content = std::fs::read_to_string(&args.model)
        .map_err(|error| Failure::Input(format!("{place}: cannot be read: {}", plain(&error))))?;
    let classifiers = fewest_result::read(&content).map_err(|why| Failure::Input(format!("{place}: {why}")))?;
    let trained = classifiers.first();
    let sinks = Sinks::open(args)?;

    if let Some(class) = &args.data.reading.positive {
        let said = match classifiers.classes() {
            [_, positive] => format!("in the model it is {positive}"),
            classes => format!("the model has {} classes", classes.len()),
        };
        return Err(Failure::Input(format!(
            "--positive {class}: the model says which class is positive, {said}; leave it out, or train with it"
        )));
    }
    let mut options = args.data.read_options()?;
    options.target_optional = true;
    options.missing = trained.imputation.is_some();
    if options.target.is_none() && !trained.target.is_empty() {
        options.target = Some(trained.target.clone());
    }
    if let Classifiers::Tasks(tasks) = &classifiers {
        options.apart.push(tasks.column.clone());
    }
    options.levels.clone_from(&trained.levels);
    options.as_read_before(&trained.reading, &args.data.data);
    normalize(&mut options, trained)?;
    if options.sum_by.is_empty() && !trained.reading.sum_by.is_empty() {
        let by = trained.reading.sum_by.join(",");
        terminal.warn(&format!(
            "the model was trained on sums of samples by {by}; single samples may differ from them (--sum-by)"
        ));
    }
    let indicators = indicators(trained);
    let not_imputed = |error: &DataError| {
        let lacks = trained.imputation.is_none() && matches!(error, DataError::NotFinite { .. });
        lacks.then_some(
            "the model was trained without --missing, so that it cannot fill them in: train it again with that option",
        )
    };
    let path = &args.data.data;
    let mut data = reading::read_features(path, &trained.names, &indicators, options.clone(), &not_imputed, terminal)?;
    check_totals(&data, trained.normalized.as_ref(), terminal)?;
    if let Some(name) = &args.data.target
        && data.target.as_ref().is_none_or(|target| target.column != *name)
    {
        return Err(Failure::Input(format!(
            "{}: there is no column `{name}` with classes to be the target; leave out --target, or name another",
            data.source
        )));
    }
    impute(trained, &mut data.features)?;
    scale(trained, &mut data.features)?;
    let said = match &classifiers {
        Classifiers::One(trained) => SampleDecisions::by_one(trained, &data),
        Classifiers::Tasks(tasks) => by_task(tasks, &data)?,
    };
    sinks.out.write(&said.csv(&data), terminal)?;

    let judged = said.judged(&trained.names, &data);
    let line = line(&judged);
    let prediction = Prediction::new(place.to_string(), judged, &options, &invocation.command_line);
    let value = fewest_result::Document::new(Kind::Prediction, prediction).value();
    if sinks.json.is_some() || sinks.page.is_some() {
        report::write(Document::Value(value.clone()), sinks.json.as_ref(), sinks.page.as_ref(), terminal)?;
    }
    match line {
        Some(line) if sinks.taken() => terminal.note(&line),
        Some(line) => terminal.out(&format!("{line}\n{}", report::text(&value, None)))?,
        None if sinks.taken() => {}
        None => {
            let n = said.predicted.len();
            terminal.out(&format!("{n} samples classified; the data have no target to compare with\n"))?;
        }
    }
    Ok(0)
}

/// How many predictions are right; none where the data have no target.
fn line(judged: &JudgedSamples) -> Option<String> {
    let (right, scored) = (judged.right?, judged.scored?);
    let unknown = match judged.unknown_class? {
        0 => String::new(),
        count => format!("; {count} of a class the model does not know"),
    };
    Some(match judged.accuracy {
        Some(accuracy) => {
            let share = table::number(100.0 * accuracy);
            format!("accuracy {share} % ({right} of {scored} right){unknown}")
        }
        None => format!("no sample has a class that the model knows{unknown}"),
    })
}

/// Reads values as those that the model was trained on; what is typed must be the same.
fn normalize(options: &mut ReadOptions, trained: &TrainedModel) -> Result<(), Failure> {
    let Some(done) = &trained.normalized else { return Ok(()) };
    let (typed, learnt) = (&options.normalize, &done.how);
    if !typed.is_none() && (typed.total, typed.log1p) != (learnt.total, learnt.log1p) {
        return Err(Failure::Input(format!(
            "{}: the model was trained with {}, which it does to new values by itself; leave it out",
            crate::failure::in_option_words(&typed.options()),
            crate::failure::in_option_words(&learnt.options())
        )));
    }
    options.normalize.clone_from(learnt);
    Ok(())
}

/// What a classifier is worth on samples whose classes are known; `data` have its features as read.
///
/// # Errors
/// Another number of features.
pub(super) fn judged(trained: &TrainedModel, data: &mut Dataset) -> Result<JudgedSamples, Failure> {
    impute(trained, &mut data.features)?;
    scale(trained, &mut data.features)?;
    Ok(SampleDecisions::by_one(trained, data).judged(&trained.names, data))
}

/// Where the results go.
struct Sinks {
    out: Sink,
    json: Option<Sink>,
    page: Option<Sink>,
}

impl Sinks {
    fn open(args: &PredictArgs) -> Result<Self, Failure> {
        let out = Sink::open_if("--out", args.out.as_ref())?.unwrap_or(Sink::Stdout);
        let json = Sink::open_if("--json", args.json.as_ref())?;
        let page = Sink::open_if("--report", args.report.as_ref())?;
        for (name, sink) in [("--json", &json), ("--report", &page)] {
            if out.is_stdout() && sink.as_ref().is_some_and(Sink::is_stdout) {
                return Err(Failure::Input(format!(
                    "the predictions and {name} - cannot both go to standard output; add --out FILE"
                )));
            }
        }
        Sink::apart(&[("--out", Some(&out)), ("--json", json.as_ref()), ("--report", page.as_ref())])?;
        Ok(Self { out, json, page })
    }

    /// Whether something else than the words goes to standard output.
    fn taken(&self) -> bool {
        self.out.is_stdout() || [&self.json, &self.page].into_iter().flatten().any(Sink::is_stdout)
    }
}

/// Each sample by the classifier of its task.
fn by_task<'a>(tasks: &'a TaskModels, data: &Dataset) -> Result<SampleDecisions<'a>, Failure> {
    let names = apart_names(data, &tasks.column, "task", &(0..data.features.n_samples()).collect::<Vec<_>>())?;
    let judged = tasks.judge(data.features.as_design(), &names).map_err(|(row, task)| {
        let known: Vec<String> = tasks.each.iter().map(|(task, _)| task.clone()).collect();
        Failure::Input(format!(
            "{}, data row {}, column `{}`: the model has no classifier of the task {task}, but of {}; leave those \
             samples out, or train with samples of that task",
            data.source,
            row + 1,
            tasks.column,
            notation::some(&known)
        ))
    })?;
    Ok(SampleDecisions::by_task(tasks, names, judged))
}

/// The model's features that say where a column has no value.
fn indicators(trained: &TrainedModel) -> Vec<Indicator> {
    let Some(imputation) = &trained.imputation else { return Vec::new() };
    let each = trained.names.iter().zip(&imputation.indicates);
    each.filter_map(|(name, of)| Some(Indicator { name: name.clone(), of: of.clone()? })).collect()
}

/// What stands in for missing values in the model, on the aligned features.
fn impute(trained: &TrainedModel, features: &mut Features) -> Result<(), Failure> {
    let Some(imputation) = &trained.imputation else { return Ok(()) };
    // The rule is of no account once it is fitted.
    Ok(Imputation { rule: MissingRule::Mean, fill: imputation.fill.clone() }.apply(features)?)
}

/// The model's scaling on the aligned features.
fn scale(trained: &TrainedModel, features: &mut Features) -> Result<(), Failure> {
    let (centre, scale) = (&trained.scaling.centre, &trained.scaling.scale);
    let centred = centre.iter().any(|&c| c != 0.0);
    if !centred && scale.iter().all(|&s| s == 1.0) {
        return Ok(());
    }
    let kind = if centred { ScaleKind::Standard } else { ScaleKind::MaxAbs };
    let center = if centred { centre.clone() } else { vec![] };
    Ok(Scaling { kind, center, scale: scale.clone() }.apply(features)?)
}
