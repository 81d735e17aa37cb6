//! `fewest select`: find a subset, train on it, print a table, write JSON and a model.

use std::time::{Duration, Instant};

use fewest::method::elimination::{self, Step};
use fewest::method::filter::{self, Binning};
use fewest::model::FitSettings;
use fewest::{Kernel, Limits, Problem, RuleList, Rules, Selection, Status, SvmSettings};
use serde_json::{Map, Value, json};

use super::fit::{ModelSink, explain_status};
use super::prepare::{Preparation, Prepared, listed};
use crate::args::high::{self, ClassWeight, Method};
use crate::args::low::{KernelArg, SelectArgs};
use crate::args::notation;
use crate::args::rules::{Features, RuleSource};
use crate::export::file::Sink;
use crate::export::json::{self as json_text, SelectionResult, exit_code};
use crate::export::model_json::{Trained, bias_value, loss_name};
use crate::export::table::{self, Table};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Watch;
use crate::terminal::Terminal;

/// Rows of the printed table; more go into the JSON only.
const ROWS: usize = 50;

/// What the training on the selected features may still take after Ctrl-C or the time limit.
const REFIT: Duration = Duration::from_secs(2);

/// Runs the command.
///
/// # Errors
/// Bad input, found before the run where that is possible.
pub(crate) fn run(args: &SelectArgs, terminal: Terminal) -> Result<u8, Failure> {
    // As typed, to as meant: everything that needs no data.
    let mut svm = high::svm(&args.svm)?;
    let method = high::method(args, &svm)?;
    let source = RuleSource::read(&args.rules)?;
    if !source.bounds_size() {
        return Err(Failure::input("say how many features to keep: --max-features K (or a --budget, or --at-most)"));
    }
    let class_weight = ClassWeight::read(&args.svm.class_weight)?;
    let time = high::time_limit(args.time_limit.as_deref())?;
    let json = Sink::open_if("--json", args.json.as_ref())?;
    let trace = Sink::open_if("--trace", args.trace.as_ref())?;
    let model_sink = ModelSink::open(&args.model)?;
    let to_stdout = [json.as_ref(), trace.as_ref(), model_sink.as_ref().map(ModelSink::sink)];
    let to_stdout = to_stdout.into_iter().flatten().filter(|sink| sink.is_stdout()).count();
    if to_stdout > 1 {
        return Err(Failure::input(
            "only one of --json, --model and --trace can go to standard output; name a file for the others",
        ));
    }

    // The data.
    let start = Instant::now();
    let preparation = Preparation {
        data: &args.data,
        prepare: &args.prepare,
        class_weight: &class_weight,
        variance_threshold: args.rules.variance_threshold,
    };
    let prepared = preparation.run(&mut svm, terminal)?;
    let list = rules(&source, &prepared, terminal)?;
    let rules = Rules::new(prepared.data.names.len(), list.clone(), listed(&prepared.data.names))?;
    if let Some(sink) = &model_sink {
        sink.accepts(prepared.target.classes.len(), KernelArg::Linear, true, false)?;
    }
    let reading = start.elapsed().as_secs_f64();

    // The run.
    let cancel = interrupt::listen(terminal)?;
    let limits = Limits { time, cancel: cancel.clone(), ..Limits::default() };
    let mut watch = Watch::new(&prepared.data.names, terminal, trace.as_ref());
    let selection = select(&method, &svm, &prepared, &rules, limits, &mut watch)?;
    watch.finish()?;

    // The SVM on what was selected.
    let fitting = Instant::now();
    let left = time.map(|limit| limit.saturating_sub(selection.outcome.elapsed));
    let trained = train(&selection, &prepared, &svm, &mut interrupt::stopper(cancel, left, REFIT))?;
    let fitting = fitting.elapsed().as_secs_f64();

    let result = SelectionResult {
        method: &args.method,
        selection: &selection,
        names: &prepared.data.names,
        target: &prepared.target,
        n_samples: prepared.data.features.n_samples(),
        settings: settings(args, &method, &svm, &prepared, &list),
        model: trained.as_ref(),
    };
    if let Some(sink) = &json {
        sink.write(&json_text::text(&result.value()), terminal)?;
    }
    match (&model_sink, &trained) {
        (Some(sink), Some(trained)) => sink.write(trained, terminal)?,
        (Some(_), None) => terminal.warn("no model was written, as no feature was selected"),
        (None, _) => {}
    }
    if to_stdout == 0 {
        terminal.out(&report(&result, &prepared, reading, fitting))?;
    }
    explain_status(selection.outcome.status, trained.is_some(), terminal);
    Ok(exit_code(selection.outcome.status))
}

/// The rules, with constant features and those of low variance forbidden.
fn rules(source: &RuleSource, prepared: &Prepared, terminal: Terminal) -> Result<RuleList, Failure> {
    let names = &prepared.data.names;
    let mut list = source.resolve(&Features::new(names))?;
    for (features, why) in
        [(&prepared.constant, "has one value only"), (&prepared.low_variance, "is below the --variance-threshold")]
    {
        if let Some(&j) = list.require.iter().find(|j| features.binary_search(j).is_ok()) {
            return Err(Failure::Input(format!(
                "{} is required, but {why} and is never selected; require another feature",
                names.get(j)
            )));
        }
        list.forbid.extend(features);
    }
    if !prepared.low_variance.is_empty() {
        let count = notation::plural(prepared.low_variance.len(), "feature");
        terminal.note(&format!("{count} at or below the --variance-threshold will not be selected"));
    }
    list.forbid.sort_unstable();
    list.forbid.dedup();
    Ok(list)
}

/// Calls the method.
fn select(
    method: &Method,
    svm: &SvmSettings,
    prepared: &Prepared,
    rules: &Rules,
    limits: Limits,
    watch: &mut Watch<'_>,
) -> Result<Selection, Failure> {
    let design = prepared.data.features.as_design();
    Ok(match method {
        Method::Rfe(settings) => {
            if prepared.target.classes.len() != 2 {
                return Err(Failure::Input(format!(
                    "{}: rfe needs two classes, but `{}` has {} ({}); keep two of them, or use --method info-gain",
                    prepared.data.source,
                    prepared.target.column,
                    prepared.target.classes.len(),
                    notation::some(&prepared.target.classes)
                )));
            }
            let problem = Problem::new(design, &prepared.target.signs(), Some(&prepared.weights))?;
            let settings = elimination::RfeSettings { svm: svm.clone(), ..settings.clone() };
            elimination::rfe(&problem, rules, &settings, limits, watch)?
        }
        Method::InfoGain(binning) => {
            filter::information_gain(design, &prepared.target.codes, rules, *binning, limits, watch)?
        }
    })
}

/// The SVM on the selected features; none when nothing was selected.
fn train(
    selection: &Selection,
    prepared: &Prepared,
    svm: &SvmSettings,
    stop: &mut dyn FnMut() -> Option<Status>,
) -> Result<Option<Trained>, Failure> {
    let features: Vec<usize> = selection.outcome.subset.as_ref().map_or_else(Vec::new, |s| s.iter().collect());
    if features.is_empty() {
        return Ok(None);
    }
    prepared.train(&features, &FitSettings { svm: svm.clone(), kernel: Kernel::Linear }, stop).map(Some)
}

/// Every option in force, defaults included.
fn settings(
    args: &SelectArgs,
    method: &Method,
    svm: &SvmSettings,
    prepared: &Prepared,
    list: &RuleList,
) -> Map<String, Value> {
    let name = |j: &usize| prepared.data.names.get(*j).into_owned();
    let group = |g: &Vec<usize>| g.iter().map(name).collect::<Vec<_>>();
    let counted = |g: &Vec<(usize, Vec<usize>)>| g.iter().map(|(m, g)| json!([m, group(g)])).collect::<Vec<_>>();
    let mut out = Map::new();
    let mut set = |key: &str, value: Value| out.insert(key.to_owned(), value);
    set("data", json!(prepared.data.source));
    set("format", json!(prepared.data.format.name()));
    set("target", json!(prepared.target.column));
    set("scale", json!(prepared.scale_name()));
    set("max_features", json!(list.max_features));
    match method {
        Method::Rfe(rfe) => {
            let (step, of) = match rfe.step {
                Step::Count(count) => (json!(count), "count"),
                Step::Remaining(share) => (json!(share), "remaining"),
                Step::Original(share) => (json!(share), "original"),
            };
            set("step", step);
            set("step_of", json!(of));
        }
        Method::InfoGain(binning) => {
            set(
                "binning",
                match binning {
                    Binning::Mdl => json!("mdl"),
                    Binning::EqualFrequency(bins) => json!(bins),
                },
            );
        }
    }
    set("kernel", json!("linear"));
    set("cost", json!(svm.cost));
    set("loss", json!(loss_name(svm.loss)));
    set("bias", bias_value(svm.bias));
    set("tolerance", json!(svm.tolerance));
    set("max_epochs", json!(svm.max_epochs));
    set("class_weight", json!(args.svm.class_weight));
    set("sample_weights", json!(args.prepare.sample_weights));
    set("require", json!(group(&list.require)));
    set("forbid", json!(group(&list.forbid)));
    set("implies", list.implies.iter().map(|(a, b)| json!([name(a), name(b)])).collect());
    set("at_most", json!(counted(&list.at_most)));
    set("at_least", json!(counted(&list.at_least)));
    set("together", list.together.iter().map(|g| json!(group(g))).collect());
    set("budget", json!(list.budget));
    set("variance_threshold", json!(args.rules.variance_threshold));
    let time = args.time_limit.as_deref().and_then(|t| notation::time(t).ok());
    set("time_limit", json!(time.map(|t| t.as_secs_f64())));
    set("memory", json!(svm.memory));
    set("threads", json!(rayon::current_num_threads()));
    out
}

/// The table for people.
fn report(result: &SelectionResult<'_>, prepared: &Prepared, reading: f64, fitting: f64) -> String {
    let outcome = &result.selection.outcome;
    let indices = result.indices();
    let mut lines = vec![("method", result.method.to_owned()), ("status", outcome.status.name().to_owned())];
    if let Some(objective) = outcome.objective {
        let sense = if outcome.sense == fewest::Sense::Min { "smaller is better" } else { "larger is better" };
        lines.push(("objective", format!("{} ({sense})", table::number(objective))));
    }
    if let (Some(bound), Some(gap)) = (outcome.bound, outcome.gap()) {
        lines.push(("bound", format!("{} (gap {gap:.2e})", table::number(bound))));
    }
    lines.push(("selected", format!("{} of {}", indices.len(), notation::plural(result.names.len(), "feature"))));
    let classes = prepared.classes_text();
    lines.push(("samples", result.n_samples.to_string()));
    lines.push(("target", format!("{}: {classes}", prepared.target.column)));
    lines.push(("scaling", prepared.scale_name().to_owned()));
    if let Some(trained) = result.model
        && let [machine] = trained.model.machines.as_slice()
    {
        lines.push(("intercept", table::number(machine.bias)));
    }
    let selecting = outcome.elapsed.as_secs_f64();
    let [reading, selecting, fitting] = [reading, selecting, fitting].map(table::seconds);
    lines.push(("time", format!("read {reading}, select {selecting}, fit {fitting}")));
    let mut out = table::pairs(&lines);
    if !indices.is_empty() {
        out.push('\n');
        out += &features(result, &indices);
    }
    out
}

/// The selected features, best first.
fn features(result: &SelectionResult<'_>, indices: &[usize]) -> String {
    let weight = |at: usize| match result.model?.model.machines.as_slice() {
        [machine] => machine.weights.get(at).copied(),
        _ => None,
    };
    let mut rank = vec![None; result.names.len()];
    for ranked in &result.selection.ranking {
        rank[ranked.feature] = Some(ranked);
    }
    let mut rows: Vec<_> = indices.iter().enumerate().map(|(at, &j)| (j, weight(at), rank[j])).collect();
    rows.sort_by(|a, b| {
        let by_rank = a.2.map_or(usize::MAX, |r| r.rank).cmp(&b.2.map_or(usize::MAX, |r| r.rank));
        let size = |w: Option<f64>| w.map_or(0.0, f64::abs);
        by_rank.then(size(b.1).total_cmp(&size(a.1)))
    });
    let weighted = rows.iter().all(|r| r.1.is_some());
    let ranked = rows.iter().all(|r| r.2.is_some());
    let mut headings = vec!["feature"];
    headings.extend(weighted.then_some("weight"));
    headings.extend(ranked.then_some("rank"));
    headings.extend(ranked.then_some("criterion"));
    let mut out = Table::new(&headings, 0);
    for (j, weight, ranked) in rows.iter().take(ROWS) {
        let mut cells = vec![result.names.get(*j).into_owned()];
        cells.extend(weight.filter(|_| weighted).map(table::number));
        if let Some(ranked) = ranked {
            cells.extend([ranked.rank.to_string(), table::number(ranked.criterion)]);
        }
        cells.truncate(headings.len());
        out.row(cells);
    }
    let more = rows.len().saturating_sub(ROWS);
    let rest = if more > 0 { format!("... and {more} more; --json FILE holds them all\n") } else { String::new() };
    out.render() + &rest
}
