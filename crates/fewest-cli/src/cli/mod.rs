//! The command line: the commands and their options. [`parse`] adds those of the method.

mod certify;
mod guard;
mod help;
mod markers;
mod parse;
mod study;
mod verify;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fewest::validation::ShareLaw;
use fewest_data::{Format, ScaleKind};
use fewest_eval::knockoffs::KnockoffSettings;
use fewest_eval::sizes::Reach;
use fewest_eval::stability::StabilitySettings;

use crate::args::data::{DataArgs, MissingArg, PrepareArgs, ScaleParser};
use crate::args::generate::GenerateArgs;
use crate::args::notation::NameList;
use crate::args::rules::RuleArgs;
use crate::args::svm::{KernelArgs, SvmArgs};
use crate::args::values;
use crate::args::weights::WeightArgs;
pub(crate) use certify::{CertifyArgs, SOLUTIONS};
use help::{
    EVALUATE_EXAMPLES, EXAMPLES, KNOCKOFF_EXAMPLES, PATH_EXAMPLES, REPORT_EXAMPLES, RULES_FORMAT, STABILITY_EXAMPLES,
};
pub(crate) use markers::{CompareArgs, JudgeArgs, MarkersArgs};
pub(crate) use parse::{CommandLine, ParseEnd, parse, with_all_methods};
pub(crate) use study::StudyArgs;
pub(crate) use verify::VerifyArgs;

/// Feature selection for support vector machines, with proof of how good the answer is.
#[derive(Debug, Parser)]
#[command(name = "fewest", version, after_help = EXAMPLES, max_term_width = 110, propagate_version = true)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
}

/// Options of every command.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print errors only: no notes, warnings or progress bar
    #[arg(long, short = 'q', global = true, help_heading = "Display", conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more: settings in effect, timings of each part
    #[arg(long, short = 'v', global = true, help_heading = "Display")]
    pub(crate) verbose: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = values::size, global = true, help_heading = "Limits")]
    pub(crate) threads: Option<usize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find a subset; print a table, write JSON or a model
    Select(Box<SelectArgs>),
    /// Find a subset for each of several sizes
    Path(Box<PathArgs>),
    /// Say how well a method does on samples it has not seen, by cross-validation with everything
    /// inside the folds
    Evaluate(Box<EvaluateArgs>),
    /// Say which features a method selects on halves of the samples again and again, with a bound on
    /// how many of them are false
    Stability(Box<StabilityArgs>),
    /// Tell features from random copies of them, with a bound on the share of false ones
    Knockoffs(Box<KnockoffArgs>),
    /// From a file to a panel: method, costs and size chosen inside folds, an honest accuracy, a
    /// proof
    Study(Box<StudyArgs>),
    /// Find the few features that tell all classes apart, such as genes that tell cell types: what each
    /// is in each class, which classes it tells apart, how well the panel does, a proof
    Markers(Box<MarkersArgs>),
    /// Put lists of features side by side on the same samples held out: macro F1, each class, clusters,
    /// what they share, and how far each is from the best of its size
    Compare(Box<CompareArgs>),
    /// Say how far a given list of features is from the best one of its size, and what each of them
    /// is worth
    Certify(Box<CertifyArgs>),
    /// Train the SVM on given features
    Fit(Box<FitArgs>),
    /// Classify samples with a trained model, and say what it is worth where their classes are known
    Predict(PredictArgs),
    /// Make a page for people from the JSON of select, path, certify, evaluate, stability, knockoffs,
    /// study, markers, compare or predict
    Report(ReportArgs),
    /// Check a proof file by a program of its own: VERIFIED with what it proves, or the first fault
    Verify(Box<VerifyArgs>),
    /// Say what is in a data file, and what is wrong with it
    Check(CheckArgs),
    /// Convert between data formats
    Convert(ConvertArgs),
    /// Write synthetic data with a known truth, seeded
    Generate(Box<GenerateArgs>),
    /// List the methods, or describe one: what it solves, proves and accepts; its paper
    Methods(MethodsArgs),
    /// Print a completion script for a shell
    Completions {
        /// Shell to write for
        shell: clap_complete::Shell,
    },
    /// Print the manual page (roff) of fewest or of one command
    #[command(hide = true)]
    Man {
        /// Command to describe
        command: Option<String>,
    },
}

/// Where a model goes.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// Write the trained SVM to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) model: Option<PathBuf>,
    /// Format of the model file; liblinear and libsvm files are read by those programs' own predict
    #[arg(long, value_name = "FORMAT", default_value = "json", help_heading = "Output")]
    pub(crate) model_format: ModelFormat,
}

/// Format of a model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModelFormat {
    /// Our own, read by fewest predict
    Json,
    /// LIBLINEAR's text format: linear, two classes; for data as in the file (scaling is folded in)
    Liblinear,
    /// LIBSVM's text format; for data as in the file (other kernels than linear need --scale none,
    /// rbf all columns; there is no laplace)
    Libsvm,
}

/// Time limit of a search or a study that was given none: no answer takes longer.
pub(crate) const TIME_LIMIT: &str = "10m";

/// The options that `select`, `path`, `evaluate` and `stability` share.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelectionArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Method; `fewest methods` lists them
    #[arg(long, short = 'm', value_name = "METHOD")]
    pub(crate) method: String,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Rules.
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Column that names the group of each sample, such as a person or a batch: samples of one group
    /// stay together in folds and halves; the column is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Evaluation")]
    pub(crate) groups: Option<String>,
    /// Stop after this long with the best so far, reading included: 500ms, 60s, 5m, 1h; path shares
    /// it out among its sizes, evaluate and stability among all their selections
    #[arg(long, value_name = "TIME", default_value = TIME_LIMIT, value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Write the result as JSON to this file, or - for standard output (the table is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output: charts, tables, the gap in
    /// words; one file, nothing is loaded
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// What `select` and `path` tell besides the result.
#[derive(Debug, Args)]
pub(crate) struct StoryArgs {
    /// Write every event of the run to this file, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl", help_heading = "Output")]
    pub(crate) trace: Option<PathBuf>,
    /// Add to the JSON what a report shows of the data: strength of each feature alone,
    /// correlations, stand-ins; --report does it, too
    #[arg(long, help_heading = "Output")]
    pub(crate) describe: bool,
}

/// `fewest select`.
#[derive(Debug, Args)]
#[command(after_help = RULES_FORMAT)]
pub(crate) struct SelectArgs {
    /// What `path` takes too.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Trace and description.
    #[command(flatten)]
    pub(crate) story: StoryArgs,
    /// Model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
}

/// `fewest path`.
#[derive(Debug, Args)]
#[command(after_help = PATH_EXAMPLES)]
pub(crate) struct PathArgs {
    /// What `select` takes too.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Trace and description.
    #[command(flatten)]
    pub(crate) story: StoryArgs,
    /// Deal the samples into F stratified folds as well: the path again on the training part of
    /// each, and how well each size does on the samples held out. Half of the time limit is for it
    #[arg(long, value_name = "F", value_parser = values::folds, help_heading = "Evaluation", conflicts_with = "resume")]
    pub(crate) cv: Option<usize>,
    /// Repeat the folds of --cv this many times, dealt again [default: 1]
    #[arg(long, value_name = "R", value_parser = values::size, help_heading = "Evaluation", requires = "cv")]
    pub(crate) repeats: Option<usize>,
    /// The smallest size whose classifier reaches these on the samples held out, both or one, such as
    /// sensitivity=0.9,specificity=0.8
    #[arg(long, value_name = "NAME=SHARE,...", value_parser = values::reach, help_heading = "Evaluation", requires = "cv")]
    pub(crate) reach: Option<Reach>,
    /// How samples are dealt into folds [default: 0]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Evaluation")]
    pub(crate) seed: Option<u64>,
    /// Number of stratified folds of methods that cross-validate [default: 5]
    #[arg(long, value_name = "F", value_parser = values::folds, help_heading = "Evaluation")]
    pub(crate) inner_cv: Option<usize>,
    /// Keep here the sizes that are done and the progress of the current one, and resume from there
    /// when started again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
    /// Time between two writings of the file of --resume [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = values::time, requires = "resume", help_heading = "Output")]
    pub(crate) resume_every: Option<Duration>,
}

/// `fewest evaluate`.
#[derive(Debug, Args)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// What `select` takes too.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Number of stratified folds [default: 10]
    #[arg(long, value_name = "F", value_parser = values::folds, help_heading = "Evaluation")]
    pub(crate) cv: Option<usize>,
    /// Column with the fold of each sample; it is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Evaluation", conflicts_with = "cv")]
    pub(crate) folds: Option<String>,
    /// How samples are dealt into folds
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::count, help_heading = "Evaluation")]
    pub(crate) seed: u64,
    /// Repeat the folds this many times, dealt again [default: 1]
    #[arg(long, value_name = "R", value_parser = values::size, help_heading = "Evaluation", conflicts_with = "folds")]
    pub(crate) repeats: Option<usize>,
    /// A fold for each sample, with --groups one for each group
    #[arg(long, help_heading = "Evaluation", conflicts_with_all = ["cv", "folds", "repeats"])]
    pub(crate) leave_one_out: bool,
    /// Choose inside each fold among these: C=0.25,1,4, fit-cost=0.1,1 or gamma=0.1,1 (repeat for
    /// several); sizes are given by --max-features 1..20
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Evaluation")]
    pub(crate) tune: Vec<String>,
    /// Choose cost, gamma and size inside each fold; it is always so
    #[arg(long, hide = true)]
    nested: bool,
    /// Number of stratified folds inside each fold, for --tune, sizes, and methods that
    /// cross-validate
    #[arg(long, value_name = "F", default_value_t = 5, value_parser = values::folds, help_heading = "Evaluation")]
    pub(crate) inner_cv: usize,
    /// Which of several sizes to choose: best, one-se (the smallest within one standard error of
    /// the best), or a share such as 0.02 (the smallest within that share of the best)
    /// [default: best]
    #[arg(long, value_name = "RULE", help_heading = "Evaluation")]
    pub(crate) choose: Option<String>,
    /// Evaluate this method on the same folds, too, and test whether the first is better; it runs
    /// with the options of the first as far as it has them
    #[arg(long, value_name = "METHOD", help_heading = "Evaluation")]
    pub(crate) against: Option<String>,
    /// The features that should be found: a,b,c or a file with one name per line or JSON
    /// {"selected": [...]}; reports SetF1
    #[arg(long, value_name = "NAMES|FILE", help_heading = "Evaluation")]
    pub(crate) truth: Option<String>,
    /// Stop each selection after this long with the best so far
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) selection_time_limit: Option<Duration>,
    /// Keep the results of folds here, and resume from there when started again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

/// `fewest stability`.
#[derive(Debug, Args)]
#[command(after_help = STABILITY_EXAMPLES)]
pub(crate) struct StabilityArgs {
    /// What `select` takes too.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Number of pairs of halves; the method runs twice as often
    #[arg(long, value_name = "B", default_value_t = StabilitySettings::default().pairs, value_parser = values::size, help_heading = "Stability")]
    pub(crate) pairs: usize,
    /// Features that at least this share of the halves select are stable: above 0.5, up to 1
    /// [default: the smallest that keeps --max-false]
    #[arg(long, value_name = "SHARE", value_parser = values::more_than_half, help_heading = "Stability", conflicts_with = "max_false")]
    pub(crate) threshold: Option<f64>,
    /// Expected number of false features that may be among the stable ones
    #[arg(long, value_name = "E", default_value_t = StabilitySettings::default().max_false, value_parser = values::positive, help_heading = "Stability")]
    pub(crate) max_false: f64,
    /// What the bound assumes of the shares of halves that select features without a meaning: any
    /// (nothing), unimodal, r-concave (smallest bound)
    #[arg(long, value_name = "LAW", default_value = "r-concave", value_parser = values::choice::<ShareLaw>(SHARE_LAWS), help_heading = "Stability")]
    pub(crate) assume: ShareLaw,
    /// How samples are dealt into halves
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::count, help_heading = "Stability")]
    pub(crate) seed: u64,
    /// Stop each selection after this long with the best so far
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) selection_time_limit: Option<Duration>,
    /// Keep the pairs that are done here, and resume from there when started again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

/// `fewest knockoffs`.
#[derive(Debug, Clone, Args)]
#[command(after_help = KNOCKOFF_EXAMPLES)]
pub(crate) struct KnockoffArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Method that says how important features and copies are: rfe, fgm, l1-svm or info-gain
    #[arg(long, short = 'm', value_name = "METHOD")]
    pub(crate) method: String,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Share of the selected features that may be false, on average
    #[arg(long, value_name = "Q", default_value_t = KnockoffSettings::default().fdr, value_parser = values::share, help_heading = "Knockoffs")]
    pub(crate) fdr: f64,
    /// Draw the copies this many times and average the evidence: less depends on chance, but fewer
    /// features may be selected than in one draw
    #[arg(long, value_name = "M", default_value_t = KnockoffSettings::default().draws, value_parser = values::size, help_heading = "Knockoffs")]
    pub(crate) draws: usize,
    /// Refused in words of its own: nothing is dealt.
    #[arg(long, value_name = "COLUMN", hide = true)]
    pub(crate) groups: Option<String>,
    /// How the copies are drawn
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::count, help_heading = "Knockoffs")]
    pub(crate) seed: u64,
    /// Stop after this long, reading included, with the draws that are done: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Write the result as JSON to this file, or - for standard output (the table is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// What `--assume` may be.
const SHARE_LAWS: &[(&str, &str)] = &[
    ("any", "nothing"),
    ("unimodal", "they have one mode"),
    ("r-concave", "they fall off as in all experiments of Shah and Samworth (2013)"),
];

/// `fewest fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Features to train on: a,b,c or a file with one name per line (repeat freely)
    #[arg(long, value_name = "NAMES|FILE", required_unless_present_any = ["result", "all_features"])]
    pub(crate) features: Vec<String>,
    /// Take the features from the JSON that `fewest select` wrote
    #[arg(long, value_name = "RESULT.json", conflicts_with = "features")]
    pub(crate) result: Option<PathBuf>,
    /// Train on every feature that is not constant
    #[arg(long, conflicts_with_all = ["features", "result"])]
    pub(crate) all_features: bool,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// SVM.
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Kernel parameters.
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
    /// Columns of numbers that are categories, separated by commas: their distance in the rbf or
    /// laplace kernel is 1 where two values differ, else 0. They are not scaled
    #[arg(long, value_name = "NAMES", value_parser = NameList::read, help_heading = "SVM")]
    pub(crate) categorical: Option<NameList>,
    /// Bounds on weights.
    #[command(flatten)]
    pub(crate) weights: WeightArgs,
    /// Model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after this long with the best model so far: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Write objective, settings and model as JSON to this file, or - for standard output
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// `fewest predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictArgs {
    /// Model written by `fewest fit`, or the JSON result of `fewest select`
    pub(crate) model: PathBuf,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write predictions and decision values as csv to this file [default: standard output]
    #[arg(long, short = 'o', value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,
    /// Write what the model is worth on these samples (where their classes are known: measures with
    /// intervals, confusion, calibration) and counts as JSON to this file, or - for standard output
    /// (needs --out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write the same as a page for people to this file, or - for standard output (needs --out)
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}

/// `fewest report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// JSON that select, path, certify, evaluate, stability, knockoffs, study, markers, compare or predict wrote
    pub(crate) result: PathBuf,
    /// Write the page to this file, or - for standard output
    #[arg(long, short = 'o', value_name = "FILE.html", help_heading = "Output")]
    pub(crate) out: PathBuf,
    /// Name samples on the page where there are more than 100, too: names may be those of persons
    #[arg(long, help_heading = "Output")]
    pub(crate) show_samples: bool,
}

/// `fewest check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Missing values.
    #[command(flatten)]
    pub(crate) missing: MissingArg,
    /// Write what was found as JSON to this file, or - for standard output (the table is then left
    /// out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// `fewest convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write; its ending says the format (.csc: columns that are mapped, for data larger
    /// than memory)
    pub(crate) out: PathBuf,
    /// Format to write [default: by the ending]
    #[arg(long, value_name = "FORMAT", value_parser = fewest_data::format_of, help_heading = "Output")]
    pub(crate) out_format: Option<Format>,
    /// Write these features only, in this order: a,b,c
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) features: Vec<String>,
    /// Missing values.
    #[command(flatten)]
    pub(crate) missing: MissingArg,
    /// Scale the features on the way
    #[arg(long, value_name = "KIND", value_parser = ScaleParser, default_value = "none", help_heading = "Data")]
    pub(crate) scale: ScaleKind,
}

/// `fewest methods`.
#[derive(Debug, Args)]
pub(crate) struct MethodsArgs {
    /// Method to describe
    pub(crate) method: Option<String>,
    /// Write the list as JSON to this file, or - for standard output
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}
