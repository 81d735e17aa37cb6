//! `fewest fit`: train the SVM on given features. And where models of any command go.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use fewest::kernel::Distances;
use fewest::model::{FitSettings, Model};
use fewest::{
    Clock, DenseDesign, Design, DualSolution, Gamma, Kernel, KernelRule, Limits, RuleList, Rules, Sense, SparseDesign,
    Status, SvmSettings, WeightBounds,
};
use fewest_data::{Names, ScaleKind};
use fewest_result::{Asked, Document, Fit, Kind, TaskModels, TrainedModel, bounds_by_name, entries};
use serde_json::{Value, to_value};

use super::invocation::Invocation;
use super::prepare::{PrepareOptions, PreparedData, listed};
use crate::args::data::{self, MissingArg};
use crate::args::notation::NameList;
use crate::args::reading::ReadingArgs;
use crate::args::svm::{KernelName, absorbs_constants};
use crate::cli::{FitArgs, ModelArgs, ModelFormat};
use crate::export::file::Sink;
use crate::export::table::{self, Table};
use crate::export::{json as json_text, liblinear, libsvm, result};
use crate::failure::Failure;
use crate::interrupt;
use crate::terminal::Terminal;

/// A model file to be written.
pub(crate) struct ModelSink {
    sink: Sink,
    format: ModelFormat,
}

impl ModelSink {
    /// Where `--model` points, if given.
    ///
    /// # Errors
    /// A path that cannot be written, or a format without a file.
    pub(crate) fn open(args: &ModelArgs) -> Result<Option<Self>, Failure> {
        let sink = Sink::open_if("--model", args.model.as_ref())?;
        if sink.is_none() && args.model_format != ModelFormat::Json {
            return Err(Failure::input("--model-format needs a file: add --model FILE"));
        }
        Ok(sink.map(|sink| Self { sink, format: args.model_format }))
    }

    /// Where it goes.
    pub(crate) fn sink(&self) -> &Sink {
        &self.sink
    }

    /// Refuses before the run what the format cannot hold: a model of this many classes with this
    /// kernel, on features that are scaled or not, and are all columns of the data or not.
    ///
    /// # Errors
    /// The remedy.
    pub(crate) fn accepts(&self, classes: usize, kernel: &str, scaled: bool, whole: bool) -> Result<(), Failure> {
        let linear = kernel == "linear";
        let why = match self.format {
            ModelFormat::Liblinear if !linear => "liblinear has no kernels; use --model-format libsvm, or json",
            ModelFormat::Liblinear if classes > 2 => {
                "liblinear trains one class against the rest, fewest each pair of classes; use --model-format libsvm"
            }
            ModelFormat::Libsvm if kernel == "laplace" => "libsvm has no laplace kernel; use json",
            ModelFormat::Libsvm if !linear && scaled => {
                "libsvm reads data as in the file, but the support vectors of this kernel are scaled; add --scale none (or scale the file first with `fewest convert --scale`)"
            }
            ModelFormat::Libsvm if kernel == "rbf" && !whole => libsvm::ALL_COLUMNS,
            _ => return Ok(()),
        };
        Err(Failure::Input(format!("--model-format {why}")))
    }

    /// Refuses before the run a format that cannot say what stands in for missing values.
    ///
    /// # Errors
    /// The remedy.
    pub(crate) fn holds(&self, missing: MissingArg) -> Result<(), Failure> {
        match (missing.rule(), self.format) {
            (None, _) | (_, ModelFormat::Json) => Ok(()),
            (Some(_), _) => Err(Failure::input(
                "--model-format holds no values that stand in for missing ones; use json, or fill them in first with `fewest convert --missing RULE`",
            )),
        }
    }

    /// Refuses before the run a format that cannot say what is done to values as they are read.
    ///
    /// # Errors
    /// The remedy.
    pub(crate) fn takes(&self, reading: &ReadingArgs) -> Result<(), Failure> {
        if self.format == ModelFormat::Json || reading.normalize_total.is_none() && !reading.log1p {
            return Ok(());
        }
        Err(Failure::input(
            "--model-format holds no --normalize-total and no --log1p; use json, or make a file of such values first with `fewest convert`",
        ))
    }

    /// Refuses before the run a format of other programs, which holds no more than theirs; `what` is
    /// what it does not hold.
    ///
    /// # Errors
    /// The remedy.
    pub(crate) fn holds_more(&self, what: &str) -> Result<(), Failure> {
        match self.format {
            ModelFormat::Json => Ok(()),
            _ => Err(Failure::Input(format!("--model-format holds {what}; use json"))),
        }
    }

    /// Writes the classifiers of tasks.
    ///
    /// # Errors
    /// A failed write.
    pub(crate) fn write_tasks(&self, tasks: &TaskModels, terminal: Terminal) -> Result<(), Failure> {
        self.sink.write(&json_text::text(&tasks.file()), terminal)
    }

    /// Writes the model.
    ///
    /// # Errors
    /// A model the format cannot hold, or a failed write.
    pub(crate) fn write(&self, trained: &TrainedModel, terminal: Terminal) -> Result<(), Failure> {
        let fail = |why: String| Failure::Input(format!("--model-format: {why}"));
        let text = match self.format {
            ModelFormat::Json => json_text::text(&trained.file()),
            ModelFormat::Liblinear => liblinear::text(trained).map_err(fail)?,
            ModelFormat::Libsvm => libsvm::text(trained).map_err(fail)?,
        };
        if self.format != ModelFormat::Json {
            let (_, changed) = liblinear::labels(&trained.classes);
            if !changed.is_empty() {
                let list: Vec<String> = changed.iter().map(|(name, label)| format!("{label} for {name}")).collect();
                terminal.note(&format!("the model file holds numbers for the classes: {}", list.join(", ")));
            }
        }
        self.sink.write(&text, terminal)
    }
}

/// How long after Ctrl-C or the time limit judging a model on its training samples ends.
const JUDGING: Duration = Duration::from_millis(100);

/// Says what a status means for the result, where it is not plain.
pub(crate) fn explain_status(status: Status, found: bool, terminal: Terminal) {
    let what = if found { "this is the best subset so far" } else { "no subset was found yet" };
    match status {
        Status::TimeLimit => terminal.note(&format!("stopped at the time limit; {what}; --time-limit sets another")),
        Status::MemoryLimit => terminal.note(&format!("stopped at the memory limit; {what}; more --memory leads on")),
        Status::Cancelled => terminal.note(&format!("cancelled; {what}")),
        Status::Infeasible => terminal.warn("no subset satisfies the rules"),
        status if status.is_limit() => terminal.note(&format!("stopped ({status}); {what}")),
        _ => {}
    }
}

/// Runs the command.
///
/// # Errors
/// Bad input, found before the training where that is possible.
pub(crate) fn run(args: &FitArgs, invocation: &Invocation) -> Result<u8, Failure> {
    let (terminal, kernel) = (invocation.terminal, args.kernel.kernel.text());
    args.kernel.check()?;
    args.svm.given_cost()?;
    let weights = args.weights.read()?;
    if kernel != "linear" {
        weights.refused_by(&format!("--kernel {kernel}"), "use --kernel linear")?;
    }
    let categories = categories(args)?;
    let wanted = wanted(args)?;
    let json = Sink::open_if("--json", args.json.as_ref())?;
    let model_sink = ModelSink::open(&args.model)?;
    let outputs = [("--json", json.as_ref()), ("--model", model_sink.as_ref().map(ModelSink::sink))];
    Sink::apart(&outputs)?;
    let taken = outputs.iter().filter_map(|output| output.1).any(Sink::is_stdout);

    let options = PrepareOptions {
        class_weight: Some(args.svm.class_weight()),
        centred: !absorbs_constants(args.svm.settings(SvmSettings::default()).bias, kernel),
        categorical: &categories,
        ..PrepareOptions::new(&args.data, &args.prepare)?
    };
    let prepared = options.run(terminal)?;
    let features = features(&wanted, &prepared)?;
    let names = &prepared.data.names;
    let bounds = RuleList { weights: weights.resolve(&prepared.features())?, ..RuleList::default() };
    weights.meaning(&prepared.target).into_iter().for_each(|text| terminal.note(&text));
    let rules = Rules::new(names.len(), bounds, listed(names))?;
    let weight_bounds: &WeightBounds = rules.weight_bounds();
    if let Some(sink) = &model_sink {
        let whole = features.len() == prepared.data.names.len();
        sink.accepts(prepared.target.classes.len(), kernel, prepared.scale() != ScaleKind::None, whole)?;
        sink.holds(args.prepare.missing)?;
        sink.takes(&args.data.reading)?;
        if !categories.is_empty() {
            sink.holds_more("no categories")?;
        }
    }
    let categorical = used_categories(&prepared, &features)?;
    let reading = invocation.elapsed().as_secs_f64();

    let start = Instant::now();
    let design = prepared.data.features.as_design();
    let svm = prepared.method_data().svm(args.svm.settings(SvmSettings::default()));
    let cancel = interrupt::listen(terminal)?;
    let mut kernel = args.kernel.rule(Gamma::Scale);
    if matches!(kernel.gamma(), Gamma::Scale | Gamma::Sigest(_)) && !kernel.is_linear() {
        let limits = Limits { time: invocation.left(args.time_limit), cancel: cancel.clone(), ..Limits::default() };
        let chosen = columns(design, &features)?;
        let place = |j: &usize| features.binary_search(j).expect("they are among these");
        let distances = Distances::new(kernel.kernel(), &categorical.iter().map(place).collect::<Vec<usize>>());
        let (clock, counts) = (Clock::new(&limits), Some(prepared.sample_weights.as_slice()));
        let found = kernel.gamma().number_within(chosen.as_ref(), counts, features.len(), &distances, &clock)?;
        let Some(gamma) = found else {
            terminal.note("stopped before gamma was found; there is no model. Give --gamma a number, or scale");
            return Ok(3);
        };
        kernel = KernelRule::new(*kernel.kernel(), Gamma::Number(gamma));
    }
    let kernel = kernel.at(features.len());
    let end = invocation.end(args.time_limit);
    let clock = interrupt::clock(cancel, end, Duration::ZERO);
    let settings = FitSettings { svm, kernel, categorical, weight_bounds: weight_bounds.clone() };
    let trained = prepared.train(&features, &settings, &clock)?;
    let fitting = start.elapsed().as_secs_f64();
    let clock = interrupt::clock(interrupt::listen(terminal)?, end, JUDGING);
    let decisions = trained.model.decisions_until(design, &clock);
    let accuracy = decisions.map(|values| accuracy(&trained.model.votes(&values), &prepared));
    if let Some(sink) = &json {
        let value = value(args, &trained, (&prepared, weight_bounds), accuracy, fitting);
        sink.write(&json_text::text(&value), terminal)?;
    }
    if let Some(sink) = &model_sink {
        sink.write(&trained, terminal)?;
    }
    if !taken {
        terminal.out(&report(&trained, &prepared, accuracy, [reading, fitting]))?;
    }
    let status = status(&trained);
    if status.is_limit() {
        terminal.note(&format!("the training was stopped ({status}); the model is the best so far, see its gap"));
    }
    Ok(result::exit_code(status))
}

/// The names of the features that hold categories.
///
/// # Errors
/// A kernel that is not made of distances.
fn categories(args: &FitArgs) -> Result<Vec<String>, Failure> {
    let Some(NameList(names)) = &args.categorical else { return Ok(Vec::new()) };
    match args.kernel.kernel {
        KernelName::Rbf | KernelName::Laplace => Ok(names.clone()),
        kernel => Err(Failure::Input(format!(
            "--categorical has no meaning for the {} kernel, which is not made of distances; leave it out, or use \
             --kernel rbf or laplace",
            kernel.text()
        ))),
    }
}

/// The categories among the features that are trained on.
///
/// # Errors
/// None of those named is.
fn used_categories(prepared: &PreparedData, features: &[usize]) -> Result<Vec<usize>, Failure> {
    let named = &prepared.preparation.categorical;
    let used: Vec<usize> = named.iter().copied().filter(|j| features.binary_search(j).is_ok()).collect();
    match named.first().filter(|_| used.is_empty()) {
        None => Ok(used),
        Some(&first) => Err(Failure::Input(format!(
            "--categorical names {}, which is not trained on; leave it out, or add it to the features",
            prepared.data.names.get(first)
        ))),
    }
}

/// The features asked for: names, or none for all.
pub(super) enum FeatureChoice {
    All,
    Named(Vec<String>, String),
}

impl FeatureChoice {
    /// Choice of `--features`: names, or files of names.
    ///
    /// # Errors
    /// A list that cannot be understood, a file without names.
    pub(super) fn listed(typed: &[String]) -> Result<Self, Failure> {
        Ok(Self::Named(data::names_or_file("--features", typed)?, "--features".to_owned()))
    }
}

fn wanted(args: &FitArgs) -> Result<FeatureChoice, Failure> {
    if args.all_features {
        return Ok(FeatureChoice::All);
    }
    match &args.result {
        Some(path) => Ok(FeatureChoice::Named(data::selected(path)?, path.display().to_string())),
        None => Ok(FeatureChoice::listed(&args.features)?),
    }
}

/// Names to columns, ascending.
///
/// # Errors
/// An unknown name, one that is named twice.
pub(super) fn features(wanted: &FeatureChoice, prepared: &PreparedData) -> Result<Vec<usize>, Failure> {
    let names: &Names = &prepared.data.names;
    let mut features = match wanted {
        FeatureChoice::All => (0..names.len()).filter(|j| !prepared.learnt.constant.contains(*j)).collect(),
        FeatureChoice::Named(list, place) => prepared.features().all_meant(list, place)?,
    };
    features.sort_unstable();
    if let Some(pair) = features.windows(2).find(|w| w[0] == w[1]) {
        return Err(Failure::Input(format!("--features names {} twice; leave one out", names.get(pair[0]))));
    }
    if features.is_empty() {
        return Err(Failure::Input(format!(
            "{}: every feature has one value only; there is nothing to train on",
            prepared.data.source
        )));
    }
    Ok(features)
}

/// Some columns of a design, as a design of their own.
///
/// # Errors
/// None for columns of a valid design.
fn columns(design: &dyn Design, features: &[usize]) -> Result<Box<dyn Design>, Failure> {
    let n = design.n_samples();
    if !design.is_sparse() {
        let mut values = vec![0.0; n * features.len()];
        for (column, &j) in values.chunks_mut(n.max(1)).zip(features) {
            design.add_column(j, 1.0, column);
        }
        return Ok(Box::new(DenseDesign::new(n, features.len(), values)?));
    }
    let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for &j in features {
        design.each_in_column(j, &mut |i, x| {
            rows.push(i as u32);
            values.push(x);
        });
        start.push(rows.len());
    }
    Ok(Box::new(SparseDesign::new(n, start, rows, values)?))
}

/// Share of the training samples that the model classifies right.
fn accuracy(predicted: &[u32], prepared: &PreparedData) -> f64 {
    let right = predicted.iter().zip(&prepared.target.codes).filter(|(a, b)| a == b).count();
    right as f64 / prepared.target.codes.len().max(1) as f64
}

/// How the training ended: the first machine that stopped early decides.
fn status(trained: &TrainedModel) -> Status {
    let mut statuses = trained.model.machines.iter().map(|m| m.solution.status);
    statuses.find(|s| s.is_limit()).unwrap_or(Status::Optimal)
}

fn value(
    args: &FitArgs,
    trained: &TrainedModel,
    (prepared, weight_bounds): (&PreparedData, &WeightBounds),
    accuracy: Option<f64>,
    seconds: f64,
) -> Value {
    let sum = |value: fn(&DualSolution) -> f64| trained.model.machines.iter().map(|m| value(&m.solution)).sum::<f64>();
    let (objective, bound) = (sum(|s| s.primal), sum(|s| s.dual));
    let mut own = entries(&trained.svm);
    own.insert("kernel".to_owned(), args.kernel.kernel.text().into());
    if !weight_bounds.is_free() {
        let bounds = bounds_by_name(weight_bounds, &prepared.data.names);
        own.insert("weight_bounds".to_owned(), to_value(bounds).expect("bounds are numbers by name"));
    }
    let time_limit = args.time_limit.map(|time| time.as_secs_f64());
    let class_weight = Some(args.svm.class_weight().text());
    let asked = Asked { class_weight, time_limit, own, ..prepared.asked(&args.prepare, None) };
    let found = Fit {
        about: prepared.about(),
        status: status(trained),
        objective,
        sense: Sense::Min,
        bound,
        gap: fewest_report::relative_gap(objective, bound),
        seconds,
        training_accuracy: accuracy,
        settings: asked,
        model: trained.record(),
    };
    Document::new(Kind::Fit, found).value()
}

/// The kernel with its numbers.
pub(crate) fn kernel_text(model: &Model) -> String {
    let text = match model.kernel {
        Kernel::Rbf { gamma } => format!("rbf, gamma {}", table::number(gamma)),
        Kernel::Laplace { gamma } => format!("laplace, gamma {}", table::number(gamma)),
        Kernel::Poly { gamma, coef0, degree } => {
            format!("poly, gamma {}, coef0 {coef0}, degree {degree}", table::number(gamma))
        }
        Kernel::Sigmoid { gamma, coef0 } => format!("sigmoid, gamma {}, coef0 {coef0}", table::number(gamma)),
        Kernel::Linear | Kernel::Precomputed => "linear".to_owned(),
    };
    match model.categorical.len() {
        0 => text,
        categories => format!("{text}, {categories} of {} features categories", model.features.len()),
    }
}

fn report(trained: &TrainedModel, prepared: &PreparedData, accuracy: Option<f64>, times: [f64; 2]) -> String {
    let model = &trained.model;
    let worst = model.machines.iter().map(|m| m.solution.gap()).fold(0.0, f64::max);
    let [reading, fitting] = times.map(table::seconds);
    let mut lines = vec![
        ("kernel", kernel_text(model)),
        ("cost", trained.svm.cost.to_string()),
        ("target", format!("{}: {}", trained.target, prepared.classes_text())),
        ("scaling", prepared.scaling_text()),
        ("features", trained.names.len().to_string()),
        ("objective", table::number(model.machines.iter().map(|m| m.solution.primal).sum())),
        ("gap", table::gap(worst)),
        (
            "accuracy",
            accuracy.map_or("not known: the time was over".to_owned(), |share| {
                format!("{:.2} % of the {} training samples", 100.0 * share, prepared.target.codes.len())
            }),
        ),
    ];
    if model.kernel != Kernel::Linear {
        lines.push(("vectors", format!("{} support vectors", model.support_vectors.n_samples())));
    }
    lines.extend(prepared.missing_text().map(|text| ("missing", text)));
    lines.push(("time", format!("read {reading}, fit {fitting}")));
    let mut out = table::pairs(&lines);
    if let ([machine], Kernel::Linear) = (model.machines.as_slice(), model.kernel) {
        let mut weights = Table::new(&["feature", "weight"], 0);
        for (name, weight) in trained.names.iter().zip(&machine.weights).take(50) {
            weights.row(vec![name.clone(), table::number(*weight)]);
        }
        weights.row(vec!["(intercept)".to_owned(), table::number(machine.bias)]);
        let _ = write!(out, "\n{}", weights.render(table::style()));
    }
    out
}
