//! `fewest predict`: classify samples with a trained model.

use fewest_data::{Dataset, Features, Imputation, Indicator, MissingRule, ScaleKind, Scaling};
use serde_json::json;

use super::reading::{self, apart_names};
use crate::args::notation;
use crate::cli::PredictArgs;
use crate::export::file::Sink;
use crate::export::model_json::{SCHEMA, TrainedModel};
use crate::export::task_models::{self, Classifiers, TaskModels};
use crate::export::{json as json_text, table};
use crate::failure::{Failure, plain};
use crate::terminal::Terminal;

/// Runs the command.
///
/// # Errors
/// A file that is no model, or data without a feature the model needs.
pub(crate) fn run(args: &PredictArgs, terminal: Terminal) -> Result<u8, Failure> {
    let place = args.model.display();
    let content = std::fs::read_to_string(&args.model)
        .map_err(|error| Failure::Input(format!("{place}: cannot be read: {}", plain(&error))))?;
    let classifiers = task_models::read(&content).map_err(|why| Failure::Input(format!("{place}: {why}")))?;
    let trained = classifiers.first();
    let out = Sink::open_if("--out", args.out.as_ref())?.unwrap_or(Sink::Stdout);
    let json = Sink::open_if("--json", args.json.as_ref())?;
    if out.is_stdout() && json.as_ref().is_some_and(Sink::is_stdout) {
        return Err(Failure::input("the predictions and --json - cannot both go to standard output; add --out FILE"));
    }
    let inputs = [("the model", args.model.as_path()), ("the data", args.data.data.as_path())];
    Sink::apart(&[("--out", Some(&out)), ("--json", json.as_ref())], &inputs)?;

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
    let indicators = indicators(trained);
    let read = reading::read_features(&args.data.data, &trained.names, &indicators, options, terminal);
    let mut data = read.map_err(|failure| not_imputed(failure, trained))?;
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
    let (predicted, text) = match &classifiers {
        Classifiers::One(trained) => {
            let design = data.features.as_design();
            let predicted = trained.model.predict(design);
            let decisions = trained.model.decisions(design);
            let text = csv(trained, &data, &predicted, &decisions);
            (predicted, text)
        }
        Classifiers::Tasks(tasks) => by_task(tasks, &data)?,
    };
    out.write(&text, terminal)?;

    let known = known(classifiers.classes(), &data);
    let score = known.as_ref().map(|known| Score::of(known, &predicted));
    if let Some(sink) = &json {
        let score = score.as_ref();
        sink.write(
            &json_text::text(&json!({
                "schema": SCHEMA, "kind": "prediction", "model": args.model.display().to_string(),
                "data": data.source, "n_samples": predicted.len(),
                "accuracy": score.and_then(Score::accuracy), "right": score.map(|s| s.right),
                "scored": score.map(|s| s.scored), "unknown_class": score.map(|s| s.unknown),
                "version": env!("CARGO_PKG_VERSION"),
            })),
            terminal,
        )?;
    }
    if let Some(score) = score {
        let line = score.text();
        if out.is_stdout() || json.as_ref().is_some_and(Sink::is_stdout) {
            terminal.note(&line);
        } else {
            terminal.out(&format!("{line}\n"))?;
        }
    } else if !out.is_stdout() && !json.as_ref().is_some_and(Sink::is_stdout) {
        terminal.out(&format!("{} samples classified; the data have no target to compare with\n", predicted.len()))?;
    }
    Ok(0)
}

/// The model's features that say where a column has no value.
fn indicators(trained: &TrainedModel) -> Vec<Indicator> {
    let Some(imputation) = &trained.imputation else { return Vec::new() };
    let each = trained.names.iter().zip(&imputation.indicates);
    each.filter_map(|(name, of)| Some(Indicator { name: name.clone(), of: of.clone()? })).collect()
}

/// Tells of a model that was trained without `--missing` what to do about missing values.
fn not_imputed(failure: Failure, trained: &TrainedModel) -> Failure {
    match failure {
        Failure::Input(text) if trained.imputation.is_none() && text.contains("--missing") => Failure::Input(format!(
            "{text}; the model was trained without --missing, so that it cannot fill them in: train it again with that option"
        )),
        other => other,
    }
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
    Ok(fewest_eval::rescale(&Scaling { kind, center, scale: scale.clone() }, features)?)
}

/// The class of each row as the model counts them, where the data have a target.
fn known(classes: &[String], data: &Dataset) -> Option<Vec<Option<u32>>> {
    data.target.as_ref().map(|target| target.codes_in(classes))
}

/// Each sample by the classifier of its task: the class as all samples have it, and the lines: the
/// task, the class, a decision value for each pair of classes that some task has, empty where the
/// sample's has not, and the class in the data where there is one.
fn by_task(tasks: &TaskModels, data: &Dataset) -> Result<(Vec<u32>, String), Failure> {
    let names = apart_names(data, &tasks.column, "task")?;
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
    let mut header = vec![tasks.column.clone(), "prediction".to_owned()];
    match &judged.pairs[..] {
        [_] => header.push("decision".to_owned()),
        pairs => header.extend(pairs.iter().map(|[negative, positive]| format!("decision_{negative}_{positive}"))),
    }
    header.extend(data.target.as_ref().map(|t| t.column.clone()));
    let mut out = line(&header);
    for (i, &class) in judged.predicted.iter().enumerate() {
        let mut cells = vec![names[i].clone(), tasks.classes[class as usize].clone()];
        cells.extend(judged.decisions[i].iter().map(|value| value.map_or(String::new(), |value| value.to_string())));
        cells.extend(data.target.as_ref().map(|t| t.classes[t.codes[i] as usize].clone()));
        out += &line(&cells);
    }
    Ok((judged.predicted, out))
}

/// How many predictions are right.
struct Score {
    right: usize,
    scored: usize,
    unknown: usize,
}

impl Score {
    fn of(known: &[Option<u32>], predicted: &[u32]) -> Self {
        let scored = known.iter().flatten().count();
        let right = known.iter().zip(predicted).filter(|(k, p)| **k == Some(**p)).count();
        Self { right, scored, unknown: known.len() - scored }
    }

    fn accuracy(&self) -> Option<f64> {
        (self.scored > 0).then(|| self.right as f64 / self.scored as f64)
    }

    fn text(&self) -> String {
        let unknown = match self.unknown {
            0 => String::new(),
            count => format!("; {count} of a class the model does not know"),
        };
        match self.accuracy() {
            Some(share) => {
                format!(
                    "accuracy {} % ({} of {} right){unknown}",
                    table::number(100.0 * share),
                    self.right,
                    self.scored
                )
            }
            None => format!("no sample has a class that the model knows{unknown}"),
        }
    }
}

/// `prediction`, one decision column per machine, the probability of the second class where the
/// model knows it, and the class in the data where there is one.
fn csv(trained: &TrainedModel, data: &Dataset, predicted: &[u32], decisions: &[f64]) -> String {
    let machines = &trained.model.machines;
    let name = |class: u32| trained.classes[class as usize].as_str();
    let mut header = vec!["prediction".to_owned()];
    match machines.len() {
        1 => header.push("decision".to_owned()),
        _ => header.extend(machines.iter().map(|m| format!("decision_{}_{}", name(m.negative), name(m.positive)))),
    }
    header.extend(trained.calibration.as_ref().map(|_| format!("probability_{}", name(1))));
    header.extend(data.target.as_ref().map(|t| t.column.clone()));
    let mut out = line(&header);
    for (i, &class) in predicted.iter().enumerate() {
        let mut cells = vec![name(class).to_owned()];
        cells.extend(decisions[i * machines.len()..(i + 1) * machines.len()].iter().map(f64::to_string));
        cells.extend(trained.calibration.as_ref().map(|calibration| calibration.probability(decisions[i]).to_string()));
        cells.extend(data.target.as_ref().map(|t| t.classes[t.codes[i] as usize].clone()));
        out += &line(&cells);
    }
    out
}

/// A csv line; cells are quoted where they must be.
fn line(cells: &[String]) -> String {
    let quote = |cell: &String| {
        if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.clone() }
    };
    cells.iter().map(quote).collect::<Vec<_>>().join(",") + "\n"
}
