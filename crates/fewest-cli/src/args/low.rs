//! The command line as typed. Nothing here is checked beyond its shape; [`super::high`] gives it meaning.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::generate::GenerateArgs;

/// Examples shown under `fewest --help`.
const EXAMPLES: &str = "\
Examples:
  fewest check wdbc.csv                                    what is in the file, and what is wrong with it
  fewest select wdbc.csv --method rfe --max-features 5     keep the five best features, print a table
  fewest select genes.csv.gz --method rfe --max-features 10 --step half --require TP53 --json result.json
  fewest select wdbc.csv --method exact --max-features 5   the best five, proven
  fewest path wdbc.csv --method exact --max-features 1..8  the best one, two, ... eight
  fewest path wdbc.csv --method exact --max-features 1..8 --report path.html    a page with charts, for people
  fewest select wdbc.csv --method kta --max-features 5     the best five for a Gaussian kernel, proven
  fewest fit wdbc.csv --result result.json --model wdbc.model
  fewest predict wdbc.model new.csv --out predictions.csv
  fewest generate hyperplane --samples 500 --features 20 --relevant 5 --out d.csv    data with a known truth
  fewest methods rfe                                       what the method solves, its options, its paper

Names that contain a comma: repeat the option, quote the name (--require '\"a,b\",c') or escape the comma (--require 'a\\,b').
A colon or equals sign inside a name of --implies, --at-most, --class-weight is quoted or escaped in the same way.

Exit codes: 0 finished, 1 failure, 2 usage or bad input, 3 stopped at a limit or by Ctrl-C with the best subset so far
written, 4 no subset satisfies the rules.";

/// Format of the rules file, shown under `fewest select --help`.
const RULES_FORMAT: &str = "\
Rules file (--rules FILE.toml), every key optional:
  max_features = 5                     budget = 12.5
  require = [\"age\"]                    forbid = [\"id\"]
  implies = [[\"a\", \"b\"]]               together = [[\"c\", \"d\"]]
  at_most = [{ count = 2, of = [\"a\", \"b\", \"c\"] }]
  at_least = [{ count = 1, of = [\"a\", \"b\"] }]
  [costs]                              # cost of each feature for the budget
  age = 1.0
or one table per rule, in any order and number:
  [[rule]]
  implies = [\"a\", \"b\"]                 # a needs b
  [[rule]]
  at_most = 2
  of = [\"a\", \"b\", \"c\"]
Options on the command line are added to those of the file.

Examples:
  fewest select wdbc.csv --method rfe --max-features 5
  fewest select wdbc.csv --method rfe --max-features 5 --require mean_area --at-most 1:mean_radius,worst_radius
  fewest select wdbc.csv --method rfe --max-features 5 --certify          how far this is from the best five
  fewest select wdbc.csv --method exact --penalty 2 --solutions 3         size by a price per feature; the three best
  fewest select wdbc.csv --method rfe --budget 12.5 --feature-costs costs.csv --json -
  fewest select a9a.svm.gz --method info-gain --max-features 20";

/// Shown under `fewest path --help`.
const PATH_EXAMPLES: &str = "\
Each size starts from what the sizes before it found. The time limit is for the whole path.

Examples:
  fewest path wdbc.csv --method exact --max-features 1..10
  fewest path wdbc.csv --method rfe --max-features 1,2,5,10 --certify --json path.json
  fewest path genes.csv.gz --method exact --max-features 2..20:2 --cost 0.01 --time-limit 10m";

/// Shown under `fewest evaluate --help`.
const EVALUATE_EXAMPLES: &str = "\
Scaling, constant and low-variance features, class weights, gammas, tuning and selection are all found on the training part of each
fold. The time limit is for each selection. Ranges of --max-features make the size a choice inside the folds.

Examples:
  fewest evaluate wdbc.csv --method rfe --max-features 5 --cv 10 --repeats 5
  fewest evaluate wdbc.csv --method exact --max-features 1..8 --choose one-se --tune C=0.1,1,10
  fewest evaluate wdbc.csv --method exact --max-features 5 --against rfe --json report.json
  fewest evaluate d.csv --method rfe --max-features 5 --truth x1,x7,x9";

/// Feature selection for support vector machines, with proof of how good the answer is.
#[derive(Debug, Parser)]
#[command(name = "fewest", version, after_help = EXAMPLES, max_term_width = 110, propagate_version = true)]
pub(crate) struct Low {
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
    /// Say more: settings in force, timings of each part
    #[arg(long, short = 'v', global = true, help_heading = "Display")]
    pub(crate) verbose: bool,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", global = true, help_heading = "Limits")]
    pub(crate) threads: Option<usize>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find a subset; print a table, write JSON or a model
    Select(Box<SelectArgs>),
    /// Find a subset for each of several sizes
    Path(Box<PathArgs>),
    /// Say how well a method does on samples it has not seen, by cross-validation with everything inside the folds
    Evaluate(Box<EvaluateArgs>),
    /// Train the SVM on given features
    Fit(Box<FitArgs>),
    /// Classify samples with a trained model
    Predict(PredictArgs),
    /// Make a page for people from the JSON of select, path or evaluate
    Report(ReportArgs),
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

/// The data file and how to read it.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataArgs {
    /// Data file (.csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz, each also .gz; .csc), or - for standard input
    pub(crate) data: PathBuf,
    /// Format of the data [default: by the file's ending]
    #[arg(long, value_name = "FORMAT", help_heading = "Data")]
    pub(crate) format: Option<String>,
    /// Column that holds the class [default: y, label, class or target, else the last column]
    #[arg(long, value_name = "NAME", help_heading = "Data")]
    pub(crate) target: Option<String>,
    /// Columns to leave out: a,b
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) drop: Vec<String>,
    /// Columns to read as categories even where they hold numbers: a,b
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) text: Vec<String>,
    /// The csv file has no header line: features are x1, x2, ... and the last column is the class
    #[arg(long, help_heading = "Data")]
    pub(crate) no_header: bool,
    /// Largest svmlight feature number to accept [default: about the bytes of the file]
    #[arg(long, value_name = "N", help_heading = "Data")]
    pub(crate) index_limit: Option<u64>,
    /// Memory to keep within, e.g. 500M or 2G [default: three quarters of the machine's; 1G for kernel values]
    #[arg(long, value_name = "SIZE", help_heading = "Limits")]
    pub(crate) memory: Option<String>,
}

/// How features are prepared.
#[derive(Debug, Clone, Args)]
pub(crate) struct PrepareArgs {
    /// Column with a weight for each sample; it is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Data")]
    pub(crate) sample_weights: Option<String>,
    /// Feature scaling [default: standard for dense data, maxabs for sparse data]
    #[arg(long, value_name = "KIND", help_heading = "Data")]
    pub(crate) scale: Option<ScaleArg>,
}

/// Feature scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleArg {
    /// Centre at the mean, divide by the standard deviation (population variance)
    Standard,
    /// Divide by the largest absolute value
    Maxabs,
    /// As in the file
    None,
}

/// The SVM that is trained.
#[derive(Debug, Clone, Args)]
pub(crate) struct SvmArgs {
    /// Slack cost C
    #[arg(long, value_name = "C", default_value_t = 1.0, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) cost: f64,
    /// Loss [default: hinge; squared-hinge for nmmkl; fgm has squared-hinge only]
    #[arg(long, value_name = "LOSS", help_heading = "SVM")]
    pub(crate) loss: Option<LossArg>,
    /// Bias: free (LIBSVM), none, or the value of a constant feature whose weight is penalised (LIBLINEAR's -B)
    /// [default: free; none for fgm]
    #[arg(long, value_name = "BIAS", allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) bias: Option<String>,
    /// Stop a training when (primal - dual) / primal is at most this
    #[arg(long, value_name = "T", default_value_t = 1e-6, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) tolerance: f64,
    /// Multiply the cost by class: none, balanced = n / (k n_c), cw2 = 1 / n_c, cw3 = 1 / n_c + k (n_c of n samples are of the
    /// class, one of k), or NAME=W,NAME=W,...
    #[arg(long, value_name = "WEIGHTS", default_value = "none", help_heading = "SVM")]
    pub(crate) class_weight: String,
    /// Kernel [default: linear; rbf with kta, milo-k and rmilo-k; select: rfe, eb-rfe and the flips have all, other methods one]
    #[arg(long, value_name = "KERNEL", help_heading = "SVM")]
    pub(crate) kernel: Option<KernelArg>,
}

/// Loss of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossArg {
    /// C max(0, 1 - m)
    Hinge,
    /// C max(0, 1 - m)^2
    SquaredHinge,
}

/// Kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelArg {
    /// x.x'
    Linear,
    /// exp(-gamma |x - x'|^2)
    Rbf,
    /// (gamma x.x' + coef0)^degree
    Poly,
    /// tanh(gamma x.x' + coef0)
    Sigmoid,
}

/// Parameters of the kernels other than linear.
#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// Kernel gamma: a number, scale = 1 / (p Var(X)), or 1/p, over the features used [default: scale]
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) gamma: Option<String>,
    /// Constant of the poly and sigmoid kernels [default: 0]
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) coef0: Option<f64>,
    /// Degree of the poly kernel [default: 3]
    #[arg(long, value_name = "D", help_heading = "SVM")]
    pub(crate) degree: Option<u32>,
}

/// Rules on the chosen features.
#[derive(Debug, Clone, Args)]
pub(crate) struct RuleArgs {
    /// Keep at most this many features; path takes several sizes: 1..20, 1..20:2 or 1,2,5
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Rules")]
    pub(crate) max_features: Option<String>,
    /// Features that must be chosen: a,b (repeat freely)
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    pub(crate) require: Vec<String>,
    /// Features that must not be chosen: a,b
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    pub(crate) forbid: Vec<String>,
    /// a:b - whoever takes a must take b; a:b,c needs both
    #[arg(long, value_name = "A:B", help_heading = "Rules")]
    pub(crate) implies: Vec<String>,
    /// 2:a,b,c - at most 2 of these
    #[arg(long, value_name = "N:NAMES", help_heading = "Rules")]
    pub(crate) at_most: Vec<String>,
    /// 1:a,b - at least 1 of these
    #[arg(long, value_name = "N:NAMES", help_heading = "Rules")]
    pub(crate) at_least: Vec<String>,
    /// a,b,c - all of these or none
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    pub(crate) together: Vec<String>,
    /// The costs of the chosen features sum to at most this; needs --feature-costs or [costs] in --rules
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = "Rules")]
    pub(crate) budget: Option<f64>,
    /// Cost of each feature: a csv file with lines name,cost or a .json object {"name": cost}
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    pub(crate) feature_costs: Option<PathBuf>,
    /// All of these rules in one TOML file; `fewest select --help` shows its format
    #[arg(long, value_name = "FILE.toml", help_heading = "Rules")]
    pub(crate) rules: Option<PathBuf>,
    /// Never choose features whose variance, as in the file, is at most this
    #[arg(long, value_name = "V", allow_negative_numbers = true, help_heading = "Rules")]
    pub(crate) variance_threshold: Option<f64>,
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
    /// LIBSVM's text format; for data as in the file (other kernels than linear need --scale none, rbf all columns)
    Libsvm,
}

/// The options that `select` and `path` share.
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
    /// SVM.
    #[command(flatten)]
    pub(crate) svm: SvmArgs,
    /// Options of single methods.
    #[command(flatten)]
    pub(crate) own: OwnArgs,
    /// Limits.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Say how far the subset found is from the best of its size, by the search of exact; it never changes the subset.
    /// Takes what is left of the time limit, 60s without one, and no more than TIME
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Output")]
    pub(crate) certify: Option<String>,
    /// Write the result as JSON to this file, or - for standard output (the table is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write every event of the run to this file, one JSON object per line
    #[arg(long, value_name = "FILE.jsonl", help_heading = "Output")]
    pub(crate) trace: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output: charts, tables, the gap in words; one file, nothing is loaded
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Add to the JSON what a report shows of the data: strength of each feature alone, correlations, stand-ins; --report does it, too
    #[arg(long, help_heading = "Output")]
    pub(crate) describe: bool,
}

/// Options of single methods; [`super::method`] says which method has which.
#[derive(Debug, Clone, Args)]
pub(crate) struct OwnArgs {
    /// exact, gbd: add this to the objective for each chosen feature: one number, or a csv file with lines name,penalty or a .json
    /// object
    #[arg(long, value_name = "L|FILE", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) penalty: Option<String>,
    /// kta, milo-k, rmilo-k, rfe, eb-rfe, flips: gamma of the kernel: a number, sigest[:BETA] = BETA / median squared distance, or
    /// scale = 1 / (K Var(X)), both for K features on average; for the last three also 1/p, p the surviving features
    /// [default: 1/p for those, sigest for the others]
    #[arg(long, value_name = "GAMMA", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) gamma: Option<String>,
    /// exact, kta: find and prove this many best subsets [default: 1]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) solutions: Option<u64>,
    /// gbd: stop after this many cuts [default: 250]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) max_cuts: Option<u64>,
    /// gbd: judge the classifier of every subset tried on these samples as well: a file, or a fraction of each class of the data,
    /// which is then not trained on; reports the one of smallest error beside the one of best objective
    #[arg(long, value_name = "FILE|FRACTION", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) validate: Option<String>,
    /// gbd with --validate: stop after this many subsets in a row without a smaller error [default: never]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) patience: Option<u64>,
    /// gbd with --validate FRACTION: which samples are set apart; --cv: which fold each sample is in; fsv: random starts [default: 0]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) seed: Option<u64>,
    /// gbd, fgm, milo-k, rmilo-k, milp1, milp2, mbp, lagrangian: the paper's text, without our improvements
    #[arg(long, help_heading = "Method")]
    pub(crate) plain: bool,
    /// milo-k, rmilo-k, milp1, milp2, mbp with --plain: how linear programs are solved [default: simplex]
    #[arg(long, value_name = "SOLVER", help_heading = "Method")]
    pub(crate) lp: Option<LpArg>,
    /// rmilo-k: the big-M [default: padded]
    #[arg(long, value_name = "WHICH", help_heading = "Method")]
    pub(crate) big_m: Option<BigMArg>,
    /// milp1, mbp, lagrangian: largest absolute weight of a feature [default: milp1 1; the others find one for each feature]
    #[arg(long, value_name = "U", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) weight_bound: Option<f64>,
    /// milo-k, rmilo-k, milp1, milp2, mbp: before solving it, write the mixed-integer program to this file for another solver
    #[arg(long, value_name = "FILE.mps|.lp", help_heading = "Method")]
    pub(crate) write_model: Option<PathBuf>,
    /// fsv: weight of the number of features beside that of errors, 0 to below 1 [default: 0.05]
    #[arg(long, value_name = "L", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) lambda: Option<f64>,
    /// fsv: starts, the first at no weights, the others at random ones from --seed [default: 5]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) starts: Option<u64>,
    /// fgm: size of each generated subset; without --max-features every feature of their mixture is kept [default: --max-features]
    #[arg(long, value_name = "B", help_heading = "Method")]
    pub(crate) subset_size: Option<usize>,
    /// fgm: solver of multiple kernel learning [default: fast; simple, the paper's SimpleMKL, with --plain]
    #[arg(long, value_name = "SOLVER", help_heading = "Method")]
    pub(crate) mkl: Option<MklArg>,
    /// rfe: features that leave per step: a number, a fraction such as 0.1, or half [default: 1]
    #[arg(long, value_name = "N|FRACTION|half", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) step: Option<String>,
    /// rfe, eb-rfe, flips: constant of the poly and sigmoid kernels [default: 0]
    #[arg(long, value_name = "R", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) coef0: Option<f64>,
    /// rfe, eb-rfe, flips: degree of the poly kernel [default: 3]
    #[arg(long, value_name = "D", help_heading = "Method")]
    pub(crate) degree: Option<u32>,
    /// rfe, eb-rfe: what features are ranked by [default: weights for a linear kernel, margin for others]
    #[arg(long, value_name = "WHAT", help_heading = "Method")]
    pub(crate) criterion: Option<CriterionArg>,
    /// rfe, eb-rfe, flips: choose the cost among these by cross-validation: 0.25,1,4 [default: rfe and flips --cost alone; eb-rfe
    /// 0.0625,0.25,1,4,16,64]; l1-svm: take the largest of these at which the rules are kept [default: --cost alone]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) costs: Option<String>,
    /// rfe with --costs: choose the cost anew every N steps [default: 1]
    #[arg(long, value_name = "N", help_heading = "Method")]
    pub(crate) retune: Option<u64>,
    /// rfe with --costs, eb-rfe, flips: number of stratified folds; --seed deals the samples [default: 5]
    #[arg(long, value_name = "F", help_heading = "Method")]
    pub(crate) cv: Option<usize>,
    /// rfe with --costs, eb-rfe, flips: column with the fold of each sample; it is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Method", conflicts_with = "cv")]
    pub(crate) folds: Option<String>,
    /// eb-rfe: candidates per step [default: 3]
    #[arg(long, value_name = "K", help_heading = "Method")]
    pub(crate) candidates: Option<u64>,
    /// eb-rfe: only features whose criterion exceeds the smallest by at most (RATIO - 1) times its size are candidates
    #[arg(long, value_name = "RATIO", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) adaptive: Option<f64>,
    /// bit-flip, attribute-flip: start from the features of this result [default: the result of rfe]
    #[arg(long, value_name = "RESULT.json", help_heading = "Method")]
    pub(crate) start: Option<PathBuf>,
    /// bit-flip, attribute-flip: most passes over all neighbours, or all: until nothing improves [default: 1]
    #[arg(long, value_name = "N|all", help_heading = "Method")]
    pub(crate) passes: Option<String>,
    /// eb-rfe: keep here how far the run has come, and go on from there when started again
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    pub(crate) resume: Option<PathBuf>,
    /// rfe: what a fraction in --step is a fraction of [default: remaining]
    #[arg(long, value_name = "WHICH", help_heading = "Method")]
    pub(crate) step_of: Option<StepOf>,
    /// info-gain: how numeric features are cut: mdl (Fayyad and Irani), or a number of equally filled bins [default: mdl]
    #[arg(long, value_name = "mdl|N", help_heading = "Method")]
    pub(crate) binning: Option<String>,
}

/// What features are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CriterionArg {
    /// w_j^2; linear kernel
    Weights,
    /// How much alpha'H alpha / 2 falls without the feature (Guyon et al. 2002)
    Margin,
    /// (sum_i beta_i x_ij)^2 (Krupka 2016)
    InputWeights,
}

/// Solver of multiple kernel learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MklArg {
    /// Newton's method on the weights of the subsets
    Fast,
    /// SimpleMKL: reduced gradient
    Simple,
}

/// Solver of linear programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LpArg {
    /// Simplex
    Simplex,
    /// Interior point, as in the paper
    Interior,
}

/// Big-M of rmilo-k.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BigMArg {
    /// 1 - kernel, eq. (50)
    Tight,
    /// 0.1 more, at most 1, eq. (53)
    Padded,
}

/// When to stop a search.
#[derive(Debug, Clone, Args)]
pub(crate) struct LimitArgs {
    /// Stop after this long with the best so far: 500ms, 60s, 5m, 1h; path shares it out among its sizes
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) time_limit: Option<String>,
    /// all that prove a bound, --certify: proven best means |objective - bound| is at most this share of the objective [default: 1e-4]
    #[arg(long, value_name = "G", allow_negative_numbers = true, help_heading = "Limits")]
    pub(crate) gap: Option<f64>,
    /// methods that search a tree, --certify: stop after this many nodes of the search
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub(crate) node_limit: Option<u64>,
}

/// `fewest select`.
#[derive(Debug, Args)]
#[command(after_help = RULES_FORMAT)]
pub(crate) struct SelectArgs {
    /// What `path` takes too.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
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
}

/// `fewest evaluate`.
#[derive(Debug, Args)]
#[command(after_help = EVALUATE_EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// What `select` takes too; --cv, --folds, --seed and --resume are the evaluation's.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Repeat the folds this many times, dealt anew [default: 1]
    #[arg(long, value_name = "R", help_heading = "Evaluation")]
    pub(crate) repeats: Option<u64>,
    /// A fold for each sample
    #[arg(long, help_heading = "Evaluation", conflicts_with_all = ["cv", "folds", "repeats"])]
    pub(crate) leave_one_out: bool,
    /// Choose inside each fold among these: C=0.25,1,4 or gamma=0.1,1 (repeat for several); sizes are given by --max-features 1..20
    #[arg(long, value_name = "NAME=VALUES", help_heading = "Evaluation")]
    pub(crate) tune: Vec<String>,
    /// Number of stratified folds inside each fold, for --tune, sizes, and methods that cross-validate [default: 5]
    #[arg(long, value_name = "F", help_heading = "Evaluation")]
    pub(crate) inner_cv: Option<usize>,
    /// Which of several sizes to choose: best, one-se (the smallest within one standard error of the best), or a share such as
    /// 0.02 (the smallest within that share of the best) [default: best]
    #[arg(long, value_name = "RULE", help_heading = "Evaluation")]
    pub(crate) choose: Option<String>,
    /// Evaluate this method on the same folds, too, and test whether the first is better
    #[arg(long, value_name = "METHOD", help_heading = "Evaluation")]
    pub(crate) against: Option<String>,
    /// The features that should be found: a,b,c or a file with one name per line or JSON {"selected": [...]}; reports SetF1
    #[arg(long, value_name = "NAMES|FILE", help_heading = "Evaluation")]
    pub(crate) truth: Option<String>,
}

/// What a step fraction is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StepOf {
    /// The features that remain
    Remaining,
    /// The features at the start (scikit-learn's rule)
    Original,
}

/// `fewest fit`.
#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Features to train on: a,b,c (repeat freely)
    #[arg(long, value_name = "NAMES", required_unless_present_any = ["result", "all_features"])]
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
    /// Model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after this long with the best model so far: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub(crate) time_limit: Option<String>,
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
    /// Write accuracy and counts as JSON to this file, or - for standard output (needs --out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// Shown under `fewest report --help`.
const REPORT_EXAMPLES: &str = "\
The page is one file, loads nothing, and is the one that --report writes. Stand-ins, correlations and the strength of single features are
in it where the JSON was written with --describe or --report.

Examples:
  fewest select wdbc.csv --method exact --max-features 5 --describe --json result.json
  fewest report result.json -o result.html";

/// `fewest report`.
#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct ReportArgs {
    /// JSON that select, path or evaluate wrote
    pub(crate) result: PathBuf,
    /// Write the page to this file, or - for standard output
    #[arg(long, short = 'o', value_name = "FILE.html", help_heading = "Output")]
    pub(crate) out: PathBuf,
}

/// `fewest check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Write what was found as JSON to this file, or - for standard output (the table is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// `fewest convert`.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// File to write; its ending says the format (.csc: columns that are mapped, for data larger than memory)
    pub(crate) out: PathBuf,
    /// Format to write [default: by the ending]
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    pub(crate) out_format: Option<String>,
    /// Write these features only, in this order: a,b,c
    #[arg(long, value_name = "NAMES", help_heading = "Data")]
    pub(crate) features: Vec<String>,
    /// Scale the features on the way
    #[arg(long, value_name = "KIND", default_value = "none", help_heading = "Data")]
    pub(crate) scale: ScaleArg,
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
