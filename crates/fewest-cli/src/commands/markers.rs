//! `fewest markers`: the few features that tell all classes apart ([`fewest_eval::markers`]), and what it
//! shares with `fewest compare`.

use fewest::{Limits, RuleList, Status};
use fewest_data::{Note, ScaleKind, ScaleReason};
use fewest_eval::Preparation;
use fewest_eval::markers::{MarkersReport, MarkersSettings, markers};
use fewest_result::{
    Asked, FeatureImputation, FeatureScaling, Kind, Made, MarkersContext, ProofFile, TrainedModel, levels_of,
};

use super::data_as_read::DataAsRead;
use super::effective::{check_groups, warn_of_source};
use super::invocation::Invocation;
use super::prepare::{PrepareOptions, listed};
use super::reading::tell;
use super::report;
use super::scaling_words::scaling_text;
use super::sinks::PanelSinks;
use crate::args::data::{DataArgs, PrepareArgs, names};
use crate::args::features::Features;
use crate::args::rules::RuleSource;
use crate::args::svm::CostChoice;
use crate::cli::{JudgeArgs, MarkersArgs};
use crate::export::json::Document;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &MarkersArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let (terminal, judge) = (invocation.terminal, &args.judge);
    let another = [("--slack", args.slack.is_some_and(|slack| slack > 0.0)), ("--robust", args.robust > 0)];
    if let Some((option, _)) = another.iter().find(|option| args.proof.is_some() && option.1) {
        return Err(Failure::Input(format!(
            "--proof proves the best panel that the search finds, and {option} takes another one; leave one of them out"
        )));
    }
    if args.proof.is_some() && !judge.hierarchy.is_empty() {
        return Err(Failure::input(
            "--proof is of pairs of classes that weigh the same, and --hierarchy weighs them; leave one of them out",
        ));
    }
    let source = RuleSource::read(&args.rules, args.rules.max_features()?)?;
    if args.rules.max_features()?.is_none() && !source.bounds_size() {
        return Err(Failure::input("say how many markers there may be: --max-features K"));
    }
    let sinks = PanelSinks::open(
        (judge.json.as_ref(), judge.report.as_ref()),
        Some(&args.model),
        (args.proof.as_ref(), args.panel.as_ref()),
    )?;
    let mut raw = judge.load(&args.data, &args.prepare, terminal)?;
    warn_of_source(&source, &mut raw, terminal)?;
    let settings = settings(args, &source, &raw)?;
    if let Some(sink) = &sinks.model {
        sink.accepts(raw.target.classes.len(), "linear", settings.preparation.scale != Some(ScaleKind::None), false)?;
        sink.holds(args.prepare.missing)?;
        sink.takes(&args.data.reading)?;
    }
    let cancel = interrupt::listen(terminal)?;
    let limits = Limits { nodes: args.node_limit, cancel, ..judge.limits(&raw, invocation) };
    let context =
        MarkersContext { data: raw.named(), settings: &settings, gap: judge.gap, node_limit: args.node_limit };
    let asked = context.asked(judge.asked(&args.prepare, &raw));
    let mut proof = args.proof.as_ref().map(|path| {
        let (line, classes) = (invocation.command_line.as_str(), raw.target.classes.as_slice());
        let mut settings = asked.clone();
        // Of a proof a column of the data.
        settings.own.remove("folds");
        ProofFile::of_run(path, &Made::new("markers", line, &raw.data.names, classes, settings))
    });
    let mut watch = Watch::new(&raw.data.names, terminal, None).proving(None, proof.as_mut())?;
    let found = markers(&raw.samples(), &settings, listed(&raw.data.names), &limits, &mut watch);
    let found = found.map_err(|error| raw.failure(error))?;
    watch.finish()?;
    let proof = proof.map_or(Ok(Vec::new()), ProofFile::finish)?.pop();
    if args.proof.is_some() && proof.is_none() {
        terminal.warn("no proof was written, as there is no panel");
    }
    let took = (invocation.command_line.as_str(), invocation.elapsed().as_secs_f64());
    let mut said = context.markers(&found, raw.about(), asked, took);
    if let Some(file) = proof {
        said.proven_in(file);
    }
    let value = fewest_result::Document::new(Kind::Markers, said).value();
    if sinks.json.is_some() || sinks.page.is_some() {
        report::write(Document::Value(value.clone()), sinks.json.as_ref(), sinks.page.as_ref(), terminal)?;
    }
    match (&sinks.panel, fewest_report::panel_table(&value)) {
        (Some(sink), Some(table)) => sink.write(&table, terminal)?,
        (Some(_), None) => terminal.warn("no table was written, as there is no panel"),
        (None, _) => {}
    }
    match (&sinks.model, trained(&raw, &settings, &found)) {
        (Some(sink), Some(trained)) => sink.write(&trained, terminal)?,
        (Some(_), None) => terminal.warn("no model was written, as there is no panel"),
        (None, _) => {}
    }
    if !sinks.taken {
        let scaling = scaling_text(scale_of(&args.prepare, &raw), &raw.data);
        terminal.out(&report::text(&value, Some(&scaling)))?;
    }
    Ok(ending(&found, terminal))
}

/// The scaling asked for, or the standard one, and what that is for these data.
pub(super) fn scale_of(prepare: &PrepareArgs, raw: &DataAsRead) -> (ScaleKind, ScaleReason) {
    let kind = prepare.scale.unwrap_or(ScaleKind::Standard);
    (kind, kind.asked_for(&raw.data.features, raw.centred))
}

/// The settings, rules by index.
fn settings(args: &MarkersArgs, source: &RuleSource, raw: &DataAsRead) -> Result<MarkersSettings, Failure> {
    let (names, constant) = (&raw.data.names, raw.data.features.constant());
    let rules: RuleList = source.resolve(&Features::new(names).with_variables(raw.texts(), &[&constant]))?;
    let judged = args.judge.settings(&args.prepare, raw)?;
    let preparation = Preparation { variance_threshold: args.rules.variance_threshold, ..judged.preparation };
    let slack = if args.proof.is_some() { 0.0 } else { args.slack.unwrap_or(judged.slack) };
    Ok(MarkersSettings {
        rules,
        per_class: args.per_class as usize,
        robust: args.robust as usize,
        expression: args.expression.unwrap_or_default(),
        halves: args.halves,
        slack,
        preparation,
        ..judged
    })
}

impl JudgeArgs {
    /// The data as read.
    ///
    /// # Errors
    /// Whatever is wrong with the file.
    pub(super) fn load(
        &self,
        data: &DataArgs,
        prepare: &PrepareArgs,
        terminal: Terminal,
    ) -> Result<DataAsRead, Failure> {
        let groups = self.groups.as_deref();
        let hierarchy = &self.levels()?;
        let mut raw = PrepareOptions { groups, hierarchy, ..PrepareOptions::new(data, prepare)? }.load(terminal)?;
        check_groups(&mut raw, true, terminal)?;
        if raw.data.normalized().is_none() && raw.data.has_counts() {
            tell(&Note::Counts, terminal);
            raw.data.notes.push(Note::Counts);
        }
        Ok(raw)
    }

    /// The columns of the hierarchy.
    fn levels(&self) -> Result<Vec<String>, Failure> {
        names("--hierarchy", &self.hierarchy)
    }

    /// The settings without those of a panel.
    ///
    /// # Errors
    /// Weights of classes that the data do not have, a class in two classes of a level.
    pub(super) fn settings(&self, prepare: &PrepareArgs, raw: &DataAsRead) -> Result<MarkersSettings, Failure> {
        let default = MarkersSettings::default();
        let preparation = Preparation {
            missing: prepare.missing.rule(),
            texts: raw.texts().to_vec(),
            scale: Some(scale_of(prepare, raw).0),
            class_weight: self.class_weight.weights(&raw.target)?,
            ..Preparation::default()
        };
        Ok(MarkersSettings {
            cost: match self.cost {
                CostChoice::Number(cost) => Some(cost),
                CostChoice::Auto => None,
            },
            loss: self.loss,
            multi_class: self.multi_class.into(),
            hierarchy: self.levels()?.iter().map(|name| raw.level(name)).collect::<Result<_, _>>()?,
            level_weights: self.level_weights.clone(),
            preparation,
            folds: self.folds,
            seed: self.seed,
            sample: self.sample,
            memory: raw.kernel_memory().unwrap_or(default.memory),
            ..default
        })
    }

    /// The limits.
    pub(super) fn limits(&self, raw: &DataAsRead, invocation: &Invocation) -> Limits {
        let (time, memory) = (invocation.left(Some(self.time_limit)), raw.account().clone());
        Limits { time, gap_rel: self.gap, memory, ..Limits::default() }
    }

    /// What was asked of the data and of the command.
    pub(super) fn asked(&self, prepare: &PrepareArgs, raw: &DataAsRead) -> Asked {
        let (kind, reason) = scale_of(prepare, raw);
        Asked {
            scale: Some(kind.to_string()),
            scale_reason: Some(reason.text().to_owned()),
            class_weight: Some(self.class_weight.text()),
            time_limit: Some(self.time_limit.as_secs_f64()),
            ..raw.asked(prepare, self.groups.as_deref())
        }
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
