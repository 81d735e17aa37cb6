//! What `select` and `path` share: from the options to a run, the SVM on what it found, and the words for its settings.

use std::time::{Duration, Instant};

use fewest::model::FitSettings;
use fewest::{Kernel, Limits, RuleList, Rules, Selection, Status, SvmSettings};
use serde_json::{Map, Value, json};

use super::certify::Certify;
use super::prepare::{Preparation, Prepared, Validate, listed, warnings};
use super::report::command_line;
use super::resume::Resume;
use crate::args::high::{self, ClassWeight};
use crate::args::low::SelectionArgs;
use crate::args::method::{Asked, Method, two_classes};
use crate::args::notation;
use crate::args::rules::{Features, RuleSource};
use crate::export::file::Sink;
use crate::export::model_json::{Trained, bias_value, kernel_entries, loss_name};
use crate::export::table;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::History;
use crate::terminal::Terminal;

/// What the training on the selected features may still take after Ctrl-C or the time limit.
const REFIT: Duration = Duration::from_secs(2);

/// Rules of one kind that are spelt out; more are counted.
const SPELT_OUT: usize = 3;

/// Where the result goes besides the table.
pub(crate) struct Sinks {
    /// `--json`.
    pub(crate) json: Option<Sink>,
    /// `--trace`.
    pub(crate) trace: Option<Sink>,
    /// `--report`.
    pub(crate) report: Option<Sink>,
    /// `--write-model`.
    pub(crate) program: Option<Sink>,
    /// Whether something else than the table goes to standard output, so that the table is left out.
    pub(crate) taken: bool,
}

impl Sinks {
    /// Opens them; `model` is the place of `--model`, if there is one.
    ///
    /// # Errors
    /// A path that cannot be written, or several outputs on standard output.
    pub(crate) fn open(args: &SelectionArgs, model: Option<&Sink>) -> Result<Self, Failure> {
        let json = Sink::open_if("--json", args.json.as_ref())?;
        let trace = Sink::open_if("--trace", args.trace.as_ref())?;
        let report = Sink::open_if("--report", args.report.as_ref())?;
        let program = args.own.write_model.as_ref();
        if let Some(path) = program.filter(|path| !path.extension().is_some_and(|e| e == "mps" || e == "lp")) {
            return Err(Failure::Input(format!(
                "--write-model {}: the ending says the format; name a file that ends in .mps or .lp",
                path.display()
            )));
        }
        let program = Sink::open_if("--write-model", program)?;
        let all = [json.as_ref(), trace.as_ref(), report.as_ref(), model];
        let to_stdout = all.into_iter().flatten().filter(|sink| sink.is_stdout()).count();
        if to_stdout > 1 {
            return Err(Failure::input(
                "only one of --json, --model, --report and --trace can go to standard output; name a file for the others",
            ));
        }
        Ok(Self { json, trace, report, program, taken: to_stdout > 0 })
    }
}

/// The options understood, before any data are read.
pub(crate) struct Plan<'a> {
    args: &'a SelectionArgs,
    svm: SvmSettings,
    asked: Asked,
    source: RuleSource,
    class_weight: ClassWeight,
    limits: Limits,
    certify: Option<Certify>,
    validate: Option<Validate>,
}

impl<'a> Plan<'a> {
    /// As typed, to as meant. `max_features` has been read: for a path it is the largest size.
    ///
    /// # Errors
    /// A value that cannot be understood or is out of range.
    pub(crate) fn new(args: &'a SelectionArgs, max_features: Option<usize>) -> Result<Self, Failure> {
        let asked = Asked::read(args)?;
        let svm = asked.svm(&args.svm)?;
        let source = RuleSource::read(&args.rules, max_features)?;
        if !source.bounds_size() && !asked.finds_size() {
            return Err(Failure::Input(format!(
                "say how many features to keep: --max-features K (or a --budget, or --at-most{})",
                if args.method == "exact" { ", or a --penalty for each" } else { "" }
            )));
        }
        let class_weight = ClassWeight::read(&args.svm.class_weight)?;
        let limits = high::limits(&args.limits)?;
        let certify = Certify::read(args.certify.as_deref())?;
        let validate = Validate::read(&args.own, asked.deals_folds())?;
        Ok(Self { args, svm, asked, source, class_weight, limits, certify, validate })
    }

    /// Reads the data and gives rules and settings their names; from then on Ctrl-C ends the run with what it has.
    ///
    /// # Errors
    /// Whatever is wrong with the data, or with a name in a rule.
    pub(crate) fn load(mut self, terminal: Terminal) -> Result<Task<'a>, Failure> {
        let start = Instant::now();
        let preparation = Preparation {
            data: &self.args.data,
            prepare: &self.args.prepare,
            class_weight: &self.class_weight,
            variance_threshold: self.args.rules.variance_threshold,
            validate: self.validate.as_ref(),
            folds: self.args.own.folds.as_deref(),
        };
        let prepared = preparation.run(&mut self.svm, terminal)?;
        let list = rules(&self.source, &prepared, terminal)?;
        let method = self.asked.resolve(&self.svm, &prepared, list.max_features)?;
        if self.certify.is_some() {
            if method.kernel(1) != Kernel::Linear {
                return Err(Failure::input("--certify judges linear SVMs only; leave it out, or --kernel"));
            }
            two_classes(&prepared, "--certify")?;
        }
        let rules = Rules::new(prepared.data.names.len(), list, listed(&prepared.data.names))?;
        self.limits.cancel = interrupt::listen(terminal)?;
        let (args, svm, limits, certify, reading) = (self.args, self.svm, self.limits, self.certify, start.elapsed());
        let validate = self.validate;
        Ok(Task { args, svm, method, limits, certify, validate, prepared, rules, reading, start: Instant::now() })
    }
}

/// The rules, with constant features and those of low variance forbidden.
pub(crate) fn rules(source: &RuleSource, prepared: &Prepared, terminal: Terminal) -> Result<RuleList, Failure> {
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

/// Data, rules and settings of a run.
pub(crate) struct Task<'a> {
    args: &'a SelectionArgs,
    svm: SvmSettings,
    /// The method.
    pub(crate) method: Method,
    /// Limits, with the flag that Ctrl-C sets.
    pub(crate) limits: Limits,
    /// What `--certify` asks for.
    pub(crate) certify: Option<Certify>,
    validate: Option<Validate>,
    /// The data.
    pub(crate) prepared: Prepared,
    /// The rules.
    pub(crate) rules: Rules,
    /// Time that reading took.
    pub(crate) reading: Duration,
    start: Instant,
}

impl Task<'_> {
    /// Where a long run keeps how far it has come, if asked for.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn resume(&self, terminal: Terminal) -> Result<Option<Resume>, Failure> {
        let Some(path) = &self.args.own.resume else { return Ok(None) };
        let mut run = self.settings(self.rules.list().max_features);
        for free in ["time_limit", "threads", "memory"] {
            run.remove(free);
        }
        run.insert("method".to_owned(), json!(self.args.method));
        run.insert("data_check".to_owned(), json!(self.prepared.check()));
        Ok(Some(Resume::open(path, Value::Object(run), terminal)?))
    }

    /// The method's name.
    pub(crate) fn method_name(&self) -> &str {
        &self.args.method
    }

    /// What is left of the time limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.limits.time.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// The limits of the method's own run: a node limit is for the certificate where the method has no nodes.
    pub(crate) fn method_limits(&self) -> Limits {
        Limits { nodes: self.limits.nodes.filter(|_| self.method.proves()), ..self.limits.clone() }
    }

    /// Settings of the SVM.
    pub(crate) fn svm(&self) -> &SvmSettings {
        &self.svm
    }

    /// Tells trainings on the selected features when to stop: soon after Ctrl-C or the time limit.
    pub(crate) fn stopper(&self) -> impl FnMut() -> Option<Status> + use<> {
        interrupt::stopper(self.limits.cancel.clone(), self.left(), REFIT)
    }

    /// The SVM on the selected features, with the cost that was tuned where one was; none when nothing was selected.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn train(
        &self,
        selection: &Selection,
        cost: Option<f64>,
        stop: &mut dyn FnMut() -> Option<Status>,
    ) -> Result<Option<Trained>, Failure> {
        let features: Vec<usize> = selection.outcome.subset.as_ref().map_or_else(Vec::new, |s| s.iter().collect());
        if features.is_empty() {
            return Ok(None);
        }
        let svm = SvmSettings { cost: cost.unwrap_or(self.svm.cost), ..self.svm.clone() };
        let kernel = self.method.kernel(features.len());
        self.prepared.train(&features, &FitSettings { svm, kernel }, stop).map(Some)
    }

    /// Every option in force, defaults included, for a run with this size.
    pub(crate) fn settings(&self, max_features: Option<usize>) -> Map<String, Value> {
        let (args, prepared, svm, list) = (self.args, &self.prepared, &self.svm, self.rules.list());
        let name = |j: &usize| prepared.data.names.get(*j).into_owned();
        let group = |g: &Vec<usize>| g.iter().map(name).collect::<Vec<_>>();
        let counted = |g: &Vec<(usize, Vec<usize>)>| g.iter().map(|(m, g)| json!([m, group(g)])).collect::<Vec<_>>();
        let mut out = Map::new();
        let mut set = |key: &str, value: Value| out.insert(key.to_owned(), value);
        set("data", json!(prepared.data.source));
        set("format", json!(prepared.data.format.name()));
        set("target", json!(prepared.target.column));
        set("scale", json!(prepared.scale_name()));
        set("max_features", json!(max_features));
        for (key, value) in self.method.settings(&prepared.data.names) {
            set(key, value);
        }
        if let Some(validate) = &self.validate {
            set("validate", validate.value());
            set("seed", json!(self.args.own.seed.unwrap_or(0)));
        }
        set("kernel", json!(kernel_entries(self.method.kernel(1)).0));
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
        let priced = list.costs.iter().enumerate().filter(|(_, cost)| **cost != 0.0);
        let costs: Map<String, Value> = priced.map(|(j, cost)| (name(&j), json!(cost))).collect();
        if !costs.is_empty() {
            set("feature_costs", Value::Object(costs));
        }
        set("variance_threshold", json!(args.rules.variance_threshold));
        set("time_limit", json!(self.limits.time.map(|t| t.as_secs_f64())));
        if self.method.proves() || self.certify.is_some() {
            set("gap", json!(self.limits.gap_rel));
            set("node_limit", json!(self.limits.nodes));
        }
        set("certify", json!(self.certify.is_some()));
        set("memory", json!(svm.memory));
        set("threads", json!(rayon::current_num_threads()));
        out
    }

    /// The story of the run, for the result: the command, warnings, and how incumbent and bound of this size moved.
    pub(crate) fn story(&self, histories: &[History], max_features: Option<usize>) -> Map<String, Value> {
        let mut out = Map::new();
        out.insert("command".to_owned(), json!(command_line()));
        out.insert("warnings".to_owned(), json!(warnings(&self.prepared.data)));
        out.insert("trace".to_owned(), History::value(histories, max_features));
        out
    }

    /// Whether the result says what a report shows of the data.
    pub(crate) fn describes(&self) -> bool {
        self.args.describe || self.args.report.is_some()
    }

    /// The rules in force, in a few words; `size` are the words for the size rule, `selected` says how much of a budget is
    /// used.
    pub(crate) fn rules_text(&self, size: Option<&str>, selected: &[usize]) -> String {
        let (list, prepared) = (self.rules.list(), &self.prepared);
        let names = |group: &[usize]| {
            let named: Vec<String> = group.iter().map(|&j| prepared.data.names.get(j).into_owned()).collect();
            notation::some(&named)
        };
        let by_hand =
            |j: &&usize| prepared.constant.binary_search(j).is_err() && prepared.low_variance.binary_search(j).is_err();
        let forbid: Vec<usize> = list.forbid.iter().filter(by_hand).copied().collect();
        let mut parts: Vec<String> = size.map(str::to_owned).into_iter().collect();
        for (word, group) in [("require", &list.require), ("forbid", &forbid)] {
            if !group.is_empty() {
                parts.push(format!("{word} {}", names(group)));
            }
        }
        let counted = |words: &str, group: &(usize, Vec<usize>)| format!("{words} {} of {}", group.0, names(&group.1));
        let kinds: [(&str, Vec<String>); 4] = [
            (
                "implications",
                list.implies.iter().map(|&(a, b)| format!("{} needs {}", names(&[a]), names(&[b]))).collect(),
            ),
            ("groups together", list.together.iter().map(|g| format!("{} together", names(g))).collect()),
            ("at-most groups", list.at_most.iter().map(|g| counted("at most", g)).collect()),
            ("at-least groups", list.at_least.iter().map(|g| counted("at least", g)).collect()),
        ];
        for (kind, rules) in kinds {
            let more = rules.len().saturating_sub(SPELT_OUT);
            parts.extend(rules.into_iter().take(SPELT_OUT));
            if more > 0 {
                parts.push(format!("{more} more {kind}"));
            }
        }
        if let Some(budget) = list.budget {
            let used: f64 = selected.iter().map(|&j| list.costs[j]).sum();
            parts.push(match selected {
                [] => format!("budget {budget}"),
                _ => format!("budget {} of {budget}", table::brief(used)),
            });
        }
        if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
    }
}
