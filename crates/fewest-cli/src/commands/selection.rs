//! What `select` and `path` share: from the options to a run, the SVM on what it found, and the
//! words for its settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::AnyMethod;
use fewest::method::auto_cost::CostChoice;
use fewest::{Clock, FeatureSet, Limits, Report, RuleList, Rules, Subset, SvmSettings};
use fewest_eval::auto_cost::choose;
use fewest_result::{
    Asked, Few, Made, ProofFile, RuledOut, RulesAsked, Selection, Story, TrainedModel, entries, kernel_name,
};
use serde::Serialize;
use serde_json::{Map, Value};

use super::auto_cost;
use super::data_as_read::DataAsRead;
use super::effective::{check_classes, check_groups, limits, refuse_groups, refuse_with_tasks, rules, warn_of_rules};
use super::invocation::Invocation;
use super::part::Parts;
use super::prepare::{PrepareOptions, PreparedData, listed};
use super::reading::FEW;
use super::rule_words::rule_words;
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::args::svm::{ClassWeight, FIT_COST};
use crate::cli::{SelectionArgs, StoryArgs};
use crate::export::settings;
use crate::failure::Failure;
use crate::interrupt;
use crate::method_args::{Certify, MethodOptions, Validate};
use crate::progress::History;
use crate::resume::{DATA, EVERY, Resume};
use crate::terminal::Terminal;

/// How long after Ctrl-C or the time limit trainings on the selected features end: after the method's.
const REFIT: Duration = Duration::from_millis(200);

/// Time to make and write a place of a ranking.
const PLACE: Duration = Duration::from_nanos(400);

/// The options understood, before any data are read.
pub(crate) struct Plan<'a> {
    args: &'a SelectionArgs,
    story: &'a StoryArgs,
    options: &'a MethodOptions,
    invocation: &'a Invocation,
    source: RuleSource,
    limits: Limits,
    keeps_raw: bool,
}

impl<'a> Plan<'a> {
    /// As typed, to as meant. `max_features` has been read: for a path it is the largest size.
    ///
    /// # Errors
    /// A value that cannot be understood or is out of range.
    pub(crate) fn new(
        args: &'a SelectionArgs,
        story: &'a StoryArgs,
        options: &'a MethodOptions,
        invocation: &'a Invocation,
        max_features: Option<usize>,
    ) -> Result<Self, Failure> {
        let plan = Self::of_any_size(args, story, options, invocation, max_features)?;
        if !plan.source.bounds_size() && !options.args().finds_size() {
            return Err(Failure::Input(format!(
                "say how many features to keep: --max-features K (or a --budget, or --at-most{})",
                if options.entry().has("penalty") { ", or a --penalty for each" } else { "" }
            )));
        }
        Ok(plan)
    }

    /// Plan of a selection whose size nothing need bound.
    ///
    /// # Errors
    /// A value that cannot be understood or is out of range.
    pub(super) fn of_any_size(
        args: &'a SelectionArgs,
        story: &'a StoryArgs,
        options: &'a MethodOptions,
        invocation: &'a Invocation,
        max_features: Option<usize>,
    ) -> Result<Self, Failure> {
        let source = RuleSource::read(&args.rules, max_features)?;
        source.weights().obeyed_by(options.name())?;
        if options.given("certify") && options.text("kernel").is_some_and(|kernel| kernel != "linear") {
            return Err(Failure::input("--certify judges linear SVMs only; leave it out, or --kernel"));
        }
        let limits = limits(options);
        Ok(Self { args, story, options, invocation, source, limits, keeps_raw: false })
    }

    /// The task has the samples as they were read, too.
    pub(crate) fn keeping_raw(self) -> Self {
        Self { keeps_raw: true, ..self }
    }

    /// Reads the data and gives rules and settings their names; from then on Ctrl-C ends the run
    /// with what it has.
    ///
    /// # Errors
    /// Whatever is wrong with the data, or with a name in a rule.
    pub(crate) fn load(self) -> Result<Task<'a>, Failure> {
        let Self { args, story, options, invocation, source, mut limits, keeps_raw } = self;
        let terminal = invocation.terminal;
        let class_weight = options.value::<ClassWeight>("class_weight");
        let validate = options.value::<Validate>("validate");
        let deals = keeps_raw || options.chooses_cost() || options.args().deals_folds();
        refuse_groups(args.groups.as_deref(), options, deals)?;
        let (folds, tasks, categorical) = (options.text("folds"), options.text("tasks"), options.categorical());
        refuse_with_tasks(options)?;
        let reading = PrepareOptions {
            class_weight: class_weight.as_ref(),
            variance_threshold: args.rules.variance_threshold,
            validate: validate.as_ref().map(|validate| (validate, options.value("seed").unwrap_or(0))),
            folds: folds.as_deref(),
            centred: options.centres(),
            categorical: &categorical,
            tasks: tasks.as_deref(),
            groups: args.groups.as_deref(),
            ..PrepareOptions::new(&args.data, &args.prepare)?
        };
        let mut raw = reading.load(terminal)?;
        check_groups(&mut raw, deals, terminal)?;
        limits.cancel = interrupt::listen(terminal)?;
        let read = invocation.elapsed();
        let (options, choice) = if options.chooses_cost() {
            let time = invocation.left(args.time_limit).map(|left| left / 2);
            let parts = Parts::new(&raw, args, options)?;
            let (scene, selector) = (parts.scene(&limits.cancel), parts.selector(options, &source));
            let all: Vec<usize> = (0..raw.target.codes.len()).collect();
            let choice = choose(&scene, &all, &selector, time).map_err(|error| raw.failure(error))?;
            (auto_cost::with(options, choice.cost, choice.fit_cost)?, Some(choice))
        } else {
            (options.again()?, None)
        };
        let choosing = invocation.elapsed().saturating_sub(read);
        let kept = if keeps_raw { Some(raw.copy()?) } else { None };
        let mut prepared = reading.prepare(raw, terminal)?;
        limits.memory = prepared.account().clone();
        let list = rules(&source, prepared.known(), terminal)?;
        warn_of_rules(&list, &mut prepared.data, terminal);
        source.weights().meaning(&prepared.target).into_iter().for_each(|text| terminal.note(&text));
        let data = prepared.method_data();
        let (method, svm) = (options.args().method(&data)?, data.svm(options.args().svm()));
        debug_assert_eq!(options.args().finds_size(), method.finds_size(), "{}", options.name());
        check_classes(&options, prepared.known())?;
        let asked = list.clone();
        let mut list = list;
        list.forbid.extend(prepared.learnt.ruled_out().iter());
        let rules = Rules::new(prepared.data.names.len(), list, listed(&prepared.data.names))?;
        let reading = invocation.elapsed().saturating_sub(choosing);
        Ok(Task {
            args,
            story,
            options,
            choice,
            invocation,
            svm,
            method,
            limits,
            source,
            raw: kept,
            prepared,
            asked,
            rules,
            reading,
        })
    }
}

/// Data, rules and settings of a run.
pub(crate) struct Task<'a> {
    pub(super) args: &'a SelectionArgs,
    story: &'a StoryArgs,
    pub(super) options: MethodOptions,
    /// How the costs were chosen, with `--cost auto`.
    pub(crate) choice: Option<CostChoice>,
    invocation: &'a Invocation,
    svm: SvmSettings,
    /// The method.
    pub(crate) method: AnyMethod,
    /// Limits, with the flag that Ctrl-C sets.
    pub(crate) limits: Limits,
    /// The rules as typed.
    pub(super) source: RuleSource,
    /// The samples as they were read, where the plan keeps them.
    pub(super) raw: Option<DataAsRead>,
    /// The data.
    pub(crate) prepared: PreparedData,
    /// The rules as asked for.
    pub(super) asked: RuleList,
    /// The rules in effect.
    pub(crate) rules: Rules,
    /// Time that reading took.
    pub(crate) reading: Duration,
}

impl Task<'_> {
    /// Where a long run keeps its progress, if asked for. `more` tells the run from others
    /// besides its settings.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn resume(&self, options: ResumeOptions, more: Map<String, Value>) -> Result<Option<Resume>, Failure> {
        let Some(path) = options.file else { return Ok(None) };
        let mut run = entries(&self.settings(self.rules.list().max_features, None));
        run.extend(more);
        // Where the data lie and how far a run may go change nothing of what it finds.
        for free in ["data", "reading", "time_limit", "node_limit", "max_cuts", "threads", "memory", FIT_COST] {
            run.remove(free);
        }
        run.insert("method".to_owned(), self.method_name().into());
        run.insert(DATA.to_owned(), self.prepared.check().into());
        Resume::open(&path, Value::Object(run), options.every.unwrap_or(EVERY)).map(Some)
    }

    /// Whether the rules let all features be chosen.
    pub(crate) fn takes_all(&self) -> bool {
        self.rules.allows(&Subset::full(self.rules.p()))
    }

    /// Where notes go.
    pub(super) fn terminal(&self) -> Terminal {
        self.invocation.terminal
    }

    /// The method's name.
    pub(crate) fn method_name(&self) -> &'static str {
        self.options.name()
    }

    /// `--certify`, if given.
    pub(crate) fn certify(&self) -> Option<Certify> {
        self.options.value("certify")
    }

    /// The file for proofs, if asked for.
    pub(crate) fn proof_file(&self, resumes: bool) -> Option<ProofFile> {
        let path = self.options.value::<std::path::PathBuf>("proof")?;
        let file = ProofFile::of_run(&path, &self.made());
        Some(if resumes { file.lasting() } else { file })
    }

    /// The file for the proof of a size of a path, if asked for.
    pub(crate) fn proof_of(&self, size: usize) -> Option<String> {
        let path = self.options.value::<std::path::PathBuf>("proof")?;
        Some(ProofFile::sized(&path.to_string_lossy(), size))
    }

    /// What a proof says of how it was made.
    fn made(&self) -> Made {
        let (names, classes) = (&self.prepared.data.names, &self.prepared.target.classes);
        let settings = self.settings(self.rules.list().max_features, None);
        Made::new(self.method_name(), &self.invocation.command_line, names, classes, settings)
    }

    /// What is left of the time limit.
    pub(crate) fn left(&self) -> Option<Duration> {
        self.invocation.left(self.args.time_limit)
    }

    /// The limits of the method's own run: a gap and nodes are the certificate's where there can be
    /// one.
    pub(crate) fn method_limits(&self) -> Limits {
        let nodes = self.limits.nodes.filter(|_| !self.options.entry().has("certify"));
        Limits { nodes, time: self.left().map(|left| left.saturating_sub(self.writing(left))), ..self.limits.clone() }
    }

    /// What of the time that is left writing the ranking of all features will take.
    fn writing(&self, left: Duration) -> Duration {
        match self.args.json {
            Some(_) => (PLACE * self.prepared.data.names.len() as u32).min(left / 4),
            None => Duration::ZERO,
        }
    }

    /// `--fit-cost`, if given.
    pub(crate) fn fit_cost(&self) -> Option<f64> {
        self.options.fit_cost()
    }

    /// What to say where the cost was left at its default and the training samples, fewer than the
    /// features, are all classified right: the choice says little about other samples.
    pub(crate) fn separation(&self, trained: Option<&TrainedModel>) -> Option<String> {
        let (data, codes) = (&self.prepared.data, &self.prepared.target.codes);
        let (n, p) = (codes.len(), data.names.len());
        let asked = self.options.given("cost") || self.options.given("costs") || !self.options.entry().has("cost");
        if asked || p <= n || trained?.model.predict(data.features.as_design()) != *codes {
            return None;
        }
        Some(format!(
            "the classifier makes no error on its {n} training samples, fewer than the {p} features: at the default C = {} the choice may hang on a few of them; `--cost auto` chooses C by cross-validation, `fewest study` size and method, too",
            self.svm.cost
        ))
    }

    /// Settings of the SVM.
    pub(crate) fn svm(&self) -> &SvmSettings {
        &self.svm
    }

    /// Tells trainings on the selected features when to stop: soon after Ctrl-C or the time limit.
    pub(crate) fn clock(&self) -> Clock {
        interrupt::clock(self.limits.cancel.clone(), self.invocation.end(self.args.time_limit), REFIT)
    }

    /// The classifier that goes with a report; none when nothing was selected.
    ///
    /// # Errors
    /// More memory needed than allowed.
    pub(crate) fn train(&self, report: &Report, clock: &Clock) -> Result<Option<TrainedModel>, Failure> {
        if self.prepared.tasks.is_some() {
            // Each task has classifiers of its own.
            return Ok(None);
        }
        let nothing = report.selection.outcome.subset.as_ref().is_none_or(Subset::is_empty);
        let own = self.options.entry().has_own_classifier();
        debug_assert!(nothing || report.model.is_some() == own, "{}", self.options.name());
        self.prepared.classifier(report, &self.svm, (self.options.fit_cost(), &self.rules), clock)
    }

    /// Every option in effect, defaults included, for a run with this size; `report` is what was
    /// found, once that is known.
    pub(crate) fn settings(&self, max_features: Option<usize>, report: Option<&Report>) -> Asked {
        let (kernel, price) = (report.map(|report| &report.kernel), report.and_then(|report| report.penalty));
        let (args, options, names) = (self.args, &self.options, &self.prepared.data.names);
        let mut own = settings::of_method(&self.method, names, kernel, price);
        own.insert("max_features".to_owned(), max_features.into());
        own.extend(entries(&self.typed()));
        let kernel = kernel.map_or("linear", |kernel| kernel_name(*kernel));
        for (key, value) in entries(&self.svm).into_iter().chain([("kernel".to_owned(), kernel.into())]) {
            own.entry(key).or_insert(value);
        }
        Asked {
            class_weight: Some(options.text("class_weight").unwrap_or_else(|| "none".to_owned())),
            variance_threshold: args.rules.variance_threshold,
            tasks: options.text("tasks"),
            rules: Some(RulesAsked::new(&self.asked, self.rules.weight_bounds(), names)),
            time_limit: args.time_limit.map(|time| time.as_secs_f64()),
            own,
            ..self.prepared.asked(&args.prepare, args.groups.as_deref())
        }
    }

    /// Options of the method that are no settings of the library.
    fn typed(&self) -> TypedSettings {
        let (options, entry) = (&self.options, self.options.entry());
        let proves = entry.has("gap") && (self.certify().is_some() || !entry.has("certify"));
        let validate = || options.value::<Validate>("validate").map(|validate| validate.value());
        let deals = options.args().deals_folds() || options.text("folds").is_some();
        let draws = options.args().draws() || options.given("validate");
        TypedSettings {
            validate: entry.has("validate").then(validate),
            patience: entry.has("validate").then(|| options.value("patience")),
            folds: deals.then(|| options.text("folds")),
            seed: draws.then(|| options.value("seed").unwrap_or(0)),
            fit_cost: entry.has(FIT_COST).then(|| options.fit_cost()),
            cost_rule: entry.has("cost").then_some(if self.choice.is_some() { "auto" } else { "given" }),
            gap: proves.then_some(self.limits.gap_rel),
            node_limit: proves.then_some(self.limits.nodes),
            certify: self.certify().is_some(),
        }
    }

    /// What was selected at this size, none where it is one run, as results have it.
    pub(crate) fn result(
        &self,
        method: &str,
        report: &Report,
        (histories, size): (&[History], Option<usize>),
        trained: Option<&TrainedModel>,
    ) -> Selection {
        let PreparedData { data, learnt, .. } = &self.prepared;
        let few = |features: &FeatureSet| Few {
            count: features.len(),
            names: features.iter().take(FEW).map(|j| data.names.get(j).into_owned()).collect(),
        };
        let ruled_out = RuledOut { constant: few(&learnt.constant), low_variance: few(&learnt.low_variance) };
        let about = self.prepared.about();
        Selection {
            settings: self.settings(size.or(self.rules.list().max_features), Some(report)),
            model: trained.map(TrainedModel::record),
            story: Story {
                command: size.is_none().then(|| self.invocation.command_line.clone()),
                ruled_out: Some(ruled_out),
                trace: History::trace(histories, size),
                cost_choice: self.choice.clone(),
            },
            details: settings::details(&report.details, &data.names),
            ..Selection::new(method, &report.selection, about, &data.names)
        }
    }

    /// Whether the result says what a report shows of the data.
    pub(crate) fn describes(&self) -> bool {
        self.story.describe || self.args.report.is_some()
    }

    /// The rules in effect, in a few words; `size` are the words for the size rule, `selected` says
    /// how much of a budget is used.
    pub(crate) fn rules_text(&self, size: Option<&str>, selected: &[usize]) -> String {
        let all = &self.prepared.data.names;
        let mut parts = rule_words(&self.asked, all, size, selected);
        let bounded: Vec<usize> = self.rules.weight_bounds().bounded().map(|bounded| bounded.0).collect();
        if !bounded.is_empty() {
            let named: Vec<String> = bounded.into_iter().map(|j| all.get(j).into_owned()).collect();
            parts.push(format!("bounds on the weights of {}", notation::some(&named)));
        }
        if parts.is_empty() { "none".to_owned() } else { parts.join("; ") }
    }
}

/// Options of a method that are no settings of the library; none of a method that has not that option.
#[derive(Serialize)]
#[expect(clippy::option_option, reason = "what is not asked of a method that has the option is null")]
struct TypedSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    validate: Option<Option<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folds: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit_cost: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_rule: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_limit: Option<Option<u64>>,
    certify: bool,
}

/// `--resume` and `--resume-every`.
pub(crate) struct ResumeOptions {
    /// Where.
    pub(crate) file: Option<PathBuf>,
    /// How often.
    pub(crate) every: Option<Duration>,
}

impl ResumeOptions {
    /// As options of a method.
    pub(crate) fn typed(options: &MethodOptions) -> Self {
        Self { file: options.value("resume"), every: options.value("resume_every") }
    }
}
