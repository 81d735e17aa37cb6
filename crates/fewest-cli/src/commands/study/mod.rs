//! `fewest study`: from a file to a panel, with an honest estimate and a proof.

mod external;
mod proof;

use fewest::{Limits, RuleList, Rules, Status, SvmSettings, WeightBounds};
use fewest_eval::ClassWeights;
use fewest_eval::study::{StudyMethod, StudyReport, StudySettings, StudyState, study};
use fewest_result::{Asked, Kind, LeftOut, RulesAsked, StudyContext};
use serde_json::{Map, Value, json};

use super::data_as_read::DataAsRead;
use super::effective::{check_groups, warn_of_source};
use super::invocation::Invocation;
use super::prepare::{PrepareOptions, listed};
use super::report;
use super::sinks::PanelSinks;
use crate::args::features::Features;
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::cli::StudyArgs;
use crate::export::json::Document;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::resume::{BETWEEN_FOLDS, DATA, Resume};
use crate::terminal::Terminal;
use external::External;

/// Sizes unless others are asked for.
const SIZES: usize = 10;

/// Runs the command.
pub(crate) fn run(args: &StudyArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let methods = args.method_list().map_err(Failure::Input)?;
    let sizes = args.rules.sizes()?;
    let source = RuleSource::read(&args.rules, sizes.as_ref().and_then(|sizes| sizes.last().copied()))?;
    let sinks =
        PanelSinks::open((args.json.as_ref(), args.report.as_ref()), Some(&args.model), (args.proof.as_ref(), None))?;
    let groups = args.groups.as_deref();
    let svm = args.margin.settings(SvmSettings::default());
    let centred = StudySettings { methods: methods.clone(), svm, ..StudySettings::default() }.centred();
    let reading = PrepareOptions { centred, groups, ..PrepareOptions::new(&args.data, &args.prepare)? };
    let mut raw = reading.load(terminal)?;
    check_groups(&mut raw, true, terminal)?;
    warn_of_source(&source, &mut raw, terminal)?;
    let (rules, sizes, bounds) = rules(args, &source, sizes, &raw)?;
    let settings = StudySettings {
        sizes: Some(sizes),
        methods,
        rules,
        class_weight: class_weights(args, &raw)?,
        ..settings(args, &raw)
    };
    if let (Some(_), Some(positive)) = (args.sensitivity, raw.target.positive()) {
        terminal.note(&format!("--sensitivity is of the class {positive} (+1); --positive names the other"));
    }
    let external = External::read(args, &settings.rules, &raw, terminal)?;
    if let Some(sink) = &sinks.model {
        let kernel = if settings.methods == [StudyMethod::Kta] { "rbf" } else { "linear" };
        let scaled = settings.scale != Some(fewest_data::ScaleKind::None);
        sink.accepts(raw.target.classes.len(), kernel, scaled, false)?;
        sink.holds(args.prepare.missing)?;
        sink.takes(&args.data.reading)?;
    }
    let resume = resume(args, &settings, &raw)?;
    let state: Option<StudyState> = resume.as_ref().map_or(Ok(None), Resume::load_json)?;
    let cancel = interrupt::listen(terminal)?;
    let (time, memory) = (invocation.left(Some(args.time_limit)), raw.account().clone());
    let limits = Limits { time, gap_rel: args.gap, cancel, memory, ..Limits::default() };
    let mut watch = Watch::new(&raw.data.names, terminal, None).keeping(resume.as_ref())?;
    let found = study(&raw.samples(), &settings, &limits, state, &mut watch)?;
    watch.finish()?;
    found.faults.iter().for_each(|fault| terminal.warn(fault));
    let context = StudyContext {
        data: raw.named(),
        indicators: raw.indicators(),
        read: &raw.data.notes,
        normalized: raw.data.normalized(),
        reading: &raw.reading,
        settings: &settings,
        gap: args.gap,
        found: &found,
    };
    let left_out = context.left_out(&|_| "name it in --methods to try it".to_owned());
    for LeftOut { method, why } in &left_out {
        terminal.note(&format!("{} takes no part: {why}", method.name()));
    }
    let trained = context.trained();
    let external = match (external, trained.clone()) {
        (Some(external), Some(trained)) => Some(external.judged(trained)?),
        _ => None,
    };
    let proof = match (&args.proof, &found.panel) {
        (None, _) => None,
        (Some(path), Some(panel)) => {
            proof::write(args, path, &settings, panel, &context.data.named(&panel.selected), invocation)?
        }
        (Some(_), None) => {
            terminal.warn("no proof was written, as there is no panel");
            None
        }
    };
    let mut about = raw.about();
    about.warnings.extend(found.faults.iter().cloned());
    let asked = asked(args, &settings, &bounds, &raw);
    let took = (invocation.command_line.as_str(), invocation.elapsed().as_secs_f64());
    let mut said = context.study(about, asked, left_out, took);
    said.external = args.external.is_some().then_some(external);
    if let Some(file) = proof {
        said.proven_in(file);
    }
    let mut value = fewest_result::Document::new(Kind::Study, said).value();
    if let Some(text) = report::add_words(&mut value) {
        terminal.warn(&text);
    }
    if sinks.json.is_some() || sinks.page.is_some() {
        report::write(Document::Value(value.clone()), sinks.json.as_ref(), sinks.page.as_ref(), terminal)?;
    }
    match (&sinks.model, trained) {
        (Some(sink), Some(trained)) => sink.write(&trained, terminal)?,
        (Some(_), None) => terminal.warn("no model was written, as there is no panel"),
        (None, _) => {}
    }
    if !sinks.taken {
        terminal.out(&report::text(&value, None))?;
    }
    Ok(ending(&found, terminal))
}

/// Rules by index, without a size, the sizes, and the rules' bounds on weights.
fn rules(
    args: &StudyArgs,
    source: &RuleSource,
    sizes: Option<Vec<usize>>,
    raw: &DataAsRead,
) -> Result<(RuleList, Vec<usize>, WeightBounds), Failure> {
    let (names, p) = (&raw.data.names, raw.data.names.len());
    let constant = raw.data.features.constant();
    let mut list = source.resolve(&Features::new(names).with_variables(raw.texts(), &[&constant]))?;
    if let Some(&j) = list.require.iter().find(|j| constant.contains(**j)) {
        return Err(Failure::Input(format!(
            "{} is required, but has one value only and is never selected; require another feature",
            names.get(j)
        )));
    }
    let most = list.max_features.take();
    let default = || (1..=most.unwrap_or(SIZES).min(p.max(1))).collect::<Vec<usize>>();
    let sizes = sizes.unwrap_or_else(default);
    if let Some(&k) = sizes.iter().find(|&&k| k > p) {
        return Err(Failure::Input(format!(
            "--max-features is {}, but there are {p} features; {k} is too many",
            args.rules.max_features.as_deref().unwrap_or_default()
        )));
    }
    let largest = RuleList { max_features: sizes.last().copied(), ..list.clone() };
    let bounds = Rules::new(p, largest, listed(names))?.weight_bounds().clone();
    Ok((list, sizes, bounds))
}

/// `--class-weight`, for the classes of the data.
fn class_weights(args: &StudyArgs, raw: &DataAsRead) -> Result<ClassWeights, Failure> {
    args.margin.class_weight().weights(&raw.target)
}

/// The settings but for what needs names.
fn settings(args: &StudyArgs, raw: &DataAsRead) -> StudySettings {
    let svm = args.margin.settings(SvmSettings::default());
    let memory = raw.kernel_memory().unwrap_or(svm.memory);
    StudySettings {
        folds: args.folds,
        repeats: args.repeats,
        inner_folds: args.inner_cv,
        inner_repeats: args.inner_repeats,
        seed: args.seed,
        cost_points: args.cost_points,
        rule: args.choose,
        prefer: args.prefer,
        sensitivity: args.sensitivity,
        points: args.points,
        missing: args.prepare.missing.rule(),
        texts: raw.texts().to_vec(),
        scale: Some(args.prepare.scaling(&raw.data.features, raw.centred).0),
        variance_threshold: args.rules.variance_threshold,
        svm: SvmSettings { memory, ..svm },
        solutions: args.solutions,
        proof_nodes: args.node_limit,
        selection_seconds: args.selection_time_limit.map(|time| time.as_secs_f64()),
        ..StudySettings::default()
    }
}

/// What was asked of the data and of the command.
fn asked(args: &StudyArgs, settings: &StudySettings, bounds: &WeightBounds, raw: &DataAsRead) -> Asked {
    let mut own = Map::from_iter([("positive".to_owned(), json!(args.data.reading.positive))]);
    if args.show_samples {
        own.insert("show_samples".to_owned(), json!(true));
    }
    if let Some(path) = &args.external {
        own.insert("external".to_owned(), json!(path.display().to_string()));
    }
    Asked {
        class_weight: Some(args.margin.class_weight().text()),
        rules: Some(RulesAsked::new(&settings.rules, bounds, &raw.data.names)),
        time_limit: Some(args.time_limit.as_secs_f64()),
        own,
        ..raw.asked(&args.prepare, args.groups.as_deref())
    }
}

/// The file that keeps what is done, if asked for.
fn resume(args: &StudyArgs, settings: &StudySettings, raw: &DataAsRead) -> Result<Option<Resume>, Failure> {
    let Some(path) = &args.resume else { return Ok(None) };
    let mut options = serde_json::to_value(settings).expect("settings are numbers, lists and names");
    options["svm"]["memory"] = Value::Null;
    let run = json!({"command": "study", "options": options.to_string(), DATA: raw.check(), "gap": args.gap});
    Resume::open(path, run, BETWEEN_FOLDS).map(Some)
}

/// The exit code; says what was cut short.
fn ending(found: &StudyReport, terminal: Terminal) -> u8 {
    let effort = &found.effort;
    let left = match effort.folds_left {
        0 => "every outer fold was done, some in less time than they needed".to_owned(),
        folds => format!("{} not done", notation::plural(folds as usize, "outer fold")),
    };
    match found.status {
        Status::Completed => 0,
        Status::Cancelled => {
            terminal.note(&format!("cancelled; {left}; this is what is known so far"));
            3
        }
        _ => {
            terminal.note(&format!("stopped at the time limit; {left}; --time-limit sets another"));
            3
        }
    }
}
