//! `fewest markers`: the few features that tell all classes apart ([`fewest_eval::markers`]).

use fewest::{Limits, RuleList, Status, WeightBounds};
use fewest_data::{Note, ScaleKind, ScaleReason};
use fewest_eval::Preparation;
use fewest_eval::markers::{MarkersReport, MarkersSettings, markers};
use fewest_result::{
    Asked, FeatureImputation, FeatureScaling, Kind, RulesAsked, TrainedModel, counts_value, document, entries,
    levels_of,
};
use serde_json::{Value, json};

use super::data_as_read::DataAsRead;
use super::effective::{check_groups, warn_of_source};
use super::invocation::Invocation;
use super::prepare::{PrepareOptions, listed};
use super::reading::{notes, tell, warnings};
use super::report;
use super::scaling_words::scaling_text;
use super::sinks::PanelSinks;
use crate::args::data::ScaleArg;
use crate::args::features::Features;
use crate::args::rules::RuleSource;
use crate::args::svm::CostChoice;
use crate::cli::MarkersArgs;
use crate::export::json::Document;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &MarkersArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let source = RuleSource::read(&args.rules, args.rules.max_features()?)?;
    if args.rules.max_features()?.is_none() && !source.bounds_size() {
        return Err(Failure::input("say how many markers there may be: --max-features K"));
    }
    let sinks = PanelSinks::open((args.json.as_ref(), args.report.as_ref()), &args.model, None)?;
    let groups = args.groups.as_deref();
    let mut raw = PrepareOptions { groups, ..PrepareOptions::new(&args.data, &args.prepare)? }.load(terminal)?;
    check_groups(&mut raw, true, terminal)?;
    if raw.data.normalized().is_none() && raw.data.has_counts() {
        tell(&Note::Counts, terminal);
        raw.data.notes.push(Note::Counts);
    }
    warn_of_source(&source, &mut raw, terminal)?;
    let settings = settings(args, &source, &raw)?;
    if let Some(sink) = &sinks.model {
        sink.accepts(raw.target.classes.len(), "linear", settings.preparation.scale != Some(ScaleKind::None), false)?;
        sink.holds(args.prepare.missing)?;
        sink.takes(&args.data.reading)?;
    }
    let cancel = interrupt::listen(terminal)?;
    let (time, memory) = (invocation.left(Some(args.time_limit)), raw.account().clone());
    let limits = Limits { time, gap_rel: args.gap, nodes: args.node_limit, cancel, memory, ..Limits::default() };
    let mut watch = Watch::new(&raw.data.names, terminal, None).keeping(None)?;
    let found = markers(&raw.samples(), &settings, listed(&raw.data.names), &limits, &mut watch);
    let found = found.map_err(|error| raw.failure(error))?;
    watch.finish()?;
    let value = value(args, &raw, &settings, &found, invocation);
    if sinks.json.is_some() || sinks.page.is_some() {
        report::write(Document::Value(value.clone()), sinks.json.as_ref(), sinks.page.as_ref(), terminal)?;
    }
    match (&sinks.model, trained(&raw, &settings, &found)) {
        (Some(sink), Some(trained)) => sink.write(&trained, terminal)?,
        (Some(_), None) => terminal.warn("no model was written, as there is no panel"),
        (None, _) => {}
    }
    if !sinks.taken {
        let scaling = scaling_text(scale_of(args, &raw), &raw.data);
        terminal.out(&report::text(&value, Some(&scaling)))?;
    }
    Ok(ending(&found, terminal))
}

/// The scaling asked for, or the standard one, and what that is for these data.
fn scale_of(args: &MarkersArgs, raw: &DataAsRead) -> (ScaleKind, ScaleReason) {
    let kind = args.prepare.scale.map_or(ScaleKind::Standard, ScaleArg::kind);
    (kind, kind.asked_for(&raw.data.features))
}

/// The settings, rules by index.
fn settings(args: &MarkersArgs, source: &RuleSource, raw: &DataAsRead) -> Result<MarkersSettings, Failure> {
    let (names, constant) = (&raw.data.names, raw.data.features.constant());
    let rules: RuleList = source.resolve(&Features::new(names).with_variables(raw.texts(), &[&constant]))?;
    let preparation = Preparation {
        missing: args.prepare.missing.rule(),
        texts: raw.texts().to_vec(),
        variance_threshold: args.rules.variance_threshold,
        scale: Some(scale_of(args, raw).0),
        class_weight: args.class_weight.weights(&raw.target)?,
        ..Preparation::default()
    };
    let default = MarkersSettings::default();
    Ok(MarkersSettings {
        rules,
        per_class: args.per_class as usize,
        expression: args.expression.unwrap_or_default(),
        cost: match args.cost {
            CostChoice::Number(cost) => Some(cost),
            CostChoice::Auto => None,
        },
        loss: args.loss,
        multi_class: args.multi_class.into(),
        preparation,
        folds: args.folds,
        seed: args.seed,
        sample: args.sample,
        memory: raw.kernel_memory().unwrap_or(default.memory),
        ..default
    })
}

/// The whole result.
fn value(
    args: &MarkersArgs,
    raw: &DataAsRead,
    settings: &MarkersSettings,
    found: &MarkersReport,
    invocation: &Invocation,
) -> Value {
    let names: Vec<String> = (0..raw.data.names.len()).map(|j| raw.data.names.get(j).into_owned()).collect();
    let own = found.value(settings, &names, &raw.target.classes);
    let about = json!({
        "n_samples": raw.target.codes.len(), "n_features": names.len(), "target": raw.target.column,
        "class_counts": counts_value(&raw.target),
        "warnings": warnings(&raw.data), "notes": notes(&raw.data),
        "settings": settings_value(args, raw, settings),
        "command": invocation.command_line, "seconds": invocation.elapsed().as_secs_f64(),
    });
    let mut value = document(Kind::Markers, about);
    value.as_object_mut().expect("it is written as an object").extend(own);
    value
}

fn settings_value(args: &MarkersArgs, raw: &DataAsRead, settings: &MarkersSettings) -> Asked {
    let own = json!({
        "max_features": settings.rules.max_features, "per_class": settings.per_class, "expression": settings.expression,
        "multi_class": settings.multi_class.text(), "folds": settings.folds, "sample": settings.sample, "seed": settings.seed,
        "cost": settings.cost, "class_costs": settings.class_costs, "loss": settings.loss,
        "gap": args.gap, "node_limit": args.node_limit,
    });
    let (kind, reason) = scale_of(args, raw);
    Asked {
        scale: Some(kind.name().to_owned()),
        scale_reason: Some(reason.text().to_owned()),
        class_weight: Some(args.class_weight.text()),
        variance_threshold: settings.preparation.variance_threshold,
        rules: Some(RulesAsked::new(&settings.rules, &WeightBounds::default(), &raw.data.names)),
        time_limit: Some(args.time_limit.as_secs_f64()),
        own: entries(&own),
        ..raw.asked(&args.prepare, args.groups.as_deref())
    }
}

/// The classifier of the panel with its names and scaling; none without a panel.
fn trained(raw: &DataAsRead, settings: &MarkersSettings, found: &MarkersReport) -> Option<TrainedModel> {
    let panel = found.panel.as_ref()?;
    let features = &panel.model.features;
    let names: Vec<String> = features.iter().map(|&j| raw.data.names.get(j).into_owned()).collect();
    let imputation = panel.learnt.imputation.as_ref();
    Some(TrainedModel {
        scaling: FeatureScaling::new(&panel.learnt.scaling, features),
        levels: levels_of(&raw.data.notes, &names),
        imputation: imputation.map(|i| FeatureImputation::new(i, raw.indicators(), &raw.data.names, features)),
        model: panel.model.clone(),
        classes: raw.target.classes.clone(),
        target: raw.target.column.clone(),
        n_columns: raw.data.names.len(),
        svm: fewest::SvmSettings { memory: settings.memory, ..panel.svm.clone() },
        normalized: raw.data.normalized().cloned(),
        reading: raw.reading.clone(),
        calibration: None,
        names,
    })
}

/// The exit code; says what was cut short.
fn ending(found: &MarkersReport, terminal: Terminal) -> u8 {
    let what = match &found.panel {
        None => "there is no panel yet",
        Some(panel) if panel.outcome.bound.is_none() => "the panel has no bound yet",
        Some(_) => "the bound says how far the panel is from the best at most",
    };
    match found.status {
        Status::Completed => 0,
        Status::Cancelled => {
            terminal.note(&format!("cancelled; {what}"));
            3
        }
        Status::NodeLimit => {
            terminal.note(&format!("stopped at the node limit; {what}; --node-limit sets another"));
            3
        }
        _ => {
            terminal.note(&format!("stopped at the time limit; {what}; --time-limit sets another"));
            3
        }
    }
}
