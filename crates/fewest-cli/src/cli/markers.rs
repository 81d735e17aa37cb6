//! `fewest markers` and `fewest compare` on the command line.

use std::path::PathBuf;
use std::time::Duration;

use fewest::Loss;
use fewest_eval::markers::MarkersSettings;

use super::ModelArgs;
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::rules::RuleArgs;
use crate::args::svm::{ClassWeight, CostChoice, LOSSES};
use crate::args::values;
use crate::method_args::MultiClassChoice;

/// `fewest markers`.
#[derive(Debug, clap::Args)]
#[command(after_help = super::help::MARKERS_EXAMPLES)]
pub(crate) struct MarkersArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Rules.
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// At least this many markers are high in each class: their mean there is the largest of all
    /// classes
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::count, help_heading = "Markers")]
    pub(crate) per_class: u64,
    /// Number of markers that may be lost, such as probes that fail: each pair of classes is told apart by one
    /// marker more by themselves, each at least half as well as the best feature for this pair
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = values::count, help_heading = "Markers")]
    pub(crate) robust: u64,
    /// Leave out features whose largest mean of a class, in units of the data, is outside these
    /// limits: LOW..HIGH, LOW.. or ..HIGH; such as what a probe is too dim or too bright for
    #[arg(long, value_name = "LOW..HIGH", value_parser = values::limits, allow_hyphen_values = true, help_heading = "Markers")]
    pub(crate) expression: Option<[Option<f64>; 2]>,
    /// Share of the gain that the panel may miss: of the panels within it of the best known one, take the one whose
    /// features come back most on halves of the samples: 1% or 0.01; 0 takes the best
    /// [default: 1%; with --proof 0]
    #[arg(long, value_name = "SHARE", value_parser = values::small_share, help_heading = "Markers")]
    pub(crate) slack: Option<f64>,
    /// Halves of the samples that say how often a feature comes back; 0: none
    #[arg(long, value_name = "N", default_value_t = MarkersSettings::default().halves, value_parser = values::halves, help_heading = "Markers")]
    pub(crate) halves: usize,
    /// Folds and classifiers.
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
    /// Nodes that the search may take [default: no limit]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Limits")]
    pub(crate) node_limit: Option<u64>,
    /// Model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Write the panel as a table for those who make it, gene, rank, type, role, recurs, replaceable_by and
    /// price, to this file
    #[arg(long, value_name = "FILE.csv", help_heading = "Output")]
    pub(crate) panel: Option<PathBuf>,
    /// Write the proof of the panel to this file, for `fewest verify`: a search of all subsets, whose bound
    /// is then the panel's, also where the data are large; the panel is the best one found
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) proof: Option<PathBuf>,
}

/// `fewest compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = super::help::COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The lists, two to ten, each as NAME=LIST or LIST: a file with one name per line, a table whose
    /// first column is named gene or feature, a result of fewest, or a,b,c; the first is what the others
    /// are compared with
    #[arg(value_name = "LIST", num_args = 2..=10, required = true)]
    pub(crate) lists: Vec<String>,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Folds and classifiers.
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// How panels and lists are judged, and where that goes.
#[derive(Debug, clap::Args)]
pub(crate) struct JudgeArgs {
    /// How more classes than two become two-class problems, whose objectives add
    #[arg(long, value_name = "HOW", default_value = "one-vs-one", help_heading = "Folds")]
    pub(crate) multi_class: MultiClassChoice,
    /// Columns from coarse to fine that say which classes belong together, such as lineage; the last may be
    /// the target. Pairs of classes weigh by the level at which they part, and each level is judged. The
    /// columns are set apart and never selected
    #[arg(long, value_name = "COLUMNS", help_heading = "Folds")]
    pub(crate) hierarchy: Vec<String>,
    /// What the pairs of each level of --hierarchy weigh together, those of the classes themselves last:
    /// 1,2 [default: 1 each]
    #[arg(long, value_name = "WEIGHTS", value_delimiter = ',', value_parser = values::positive, requires = "hierarchy", help_heading = "Folds")]
    pub(crate) level_weights: Vec<f64>,
    /// Number of stratified folds, by which panels are judged
    #[arg(long, alias = "cv", value_name = "F", default_value_t = MarkersSettings::default().folds, value_parser = values::folds, help_heading = "Folds")]
    pub(crate) folds: usize,
    /// Column that names the group of each sample, such as a donor: samples of one group stay
    /// together in all folds; the column is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Folds")]
    pub(crate) groups: Option<String>,
    /// Make the folds of this many samples at most, of rare classes all of them; objective and
    /// bound are of all samples
    #[arg(long, value_name = "N", default_value_t = MarkersSettings::default().sample, value_parser = values::size, help_heading = "Folds")]
    pub(crate) sample: usize,
    /// How samples are dealt into folds
    #[arg(long, value_name = "N", default_value_t = MarkersSettings::default().seed, value_parser = values::count, help_heading = "Folds")]
    pub(crate) seed: u64,
    /// Slack cost C, or auto: 0.3 k / W for k classes and samples whose weights sum up to W
    #[arg(long, value_name = "C|auto", default_value = "auto", value_parser = CostChoice::read, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) cost: CostChoice,
    /// Loss
    #[arg(long, value_name = "LOSS", default_value = "squared-hinge", value_parser = values::choice::<Loss>(LOSSES), help_heading = "SVM")]
    pub(crate) loss: Loss,
    /// Multiply the cost by class: none, balanced = n / (k n_c), cw2 = 1 / n_c, cw3 = 1 / n_c + k
    /// (n_c of n samples are of the class, one of k), or NAME=W,NAME=W,...
    #[arg(long, value_name = "WEIGHTS", default_value = "balanced", value_parser = ClassWeight::read, allow_hyphen_values = true, help_heading = "SVM")]
    pub(crate) class_weight: ClassWeight,
    /// Stop after this long with what is known by then, reading included: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Duration,
    /// The search for a better panel ends when at most this share of what features can gain is left
    /// open
    #[arg(long, value_name = "GAP", default_value_t = 0.01, value_parser = values::below_one, help_heading = "Limits")]
    pub(crate) gap: f64,
    /// Write the result as JSON to this file, or - for standard output (the summary is then left
    /// out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output; one file, nothing is loaded
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
}
