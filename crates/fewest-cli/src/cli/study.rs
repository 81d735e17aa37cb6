//! `fewest study` on the command line.

use std::path::PathBuf;
use std::time::Duration;

use fewest_eval::study::{Prefer, Score, StudyMethod, StudySettings};

use super::ModelArgs;
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::rules::RuleArgs;
use crate::args::svm::MarginArgs;
use crate::args::values;

/// What `--prefer` may be.
const PREFERRED: &[(&str, &str)] =
    &[("best", "what --choose takes"), ("smallest", "the smallest size that is as good inside the folds")];

/// `fewest study`.
#[derive(Debug, clap::Args)]
#[command(after_help = super::help::STUDY_EXAMPLES)]
pub(crate) struct StudyArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Rules.
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Methods to choose from: auto, or a list of exact, rfe, info-gain, kta
    #[arg(long, value_name = "LIST", default_value = "auto", help_heading = "Study")]
    pub(crate) methods: String,
    /// Number of stratified outer folds, whose samples take no part in any choice
    #[arg(long, alias = "cv", value_name = "F", default_value_t = StudySettings::default().folds, value_parser = values::folds, help_heading = "Study")]
    pub(crate) folds: usize,
    /// Repeat the outer folds this many times, dealt again
    #[arg(long, value_name = "R", default_value_t = StudySettings::default().repeats, value_parser = values::size, help_heading = "Study")]
    pub(crate) repeats: usize,
    /// Number of stratified folds inside each training part, by which everything is chosen
    #[arg(long, value_name = "F", default_value_t = StudySettings::default().inner_folds, value_parser = values::folds, help_heading = "Study")]
    pub(crate) inner_cv: usize,
    /// Repeat the inner folds this many times, dealt again
    #[arg(long, value_name = "R", default_value_t = StudySettings::default().inner_repeats, value_parser = values::size, help_heading = "Study")]
    pub(crate) inner_repeats: usize,
    /// Column that names the group of each sample, such as a person or a batch: samples of one
    /// group stay together in all folds; the column is set apart and never selected
    #[arg(long, value_name = "COLUMN", help_heading = "Study")]
    pub(crate) groups: Option<String>,
    /// How samples are dealt into folds
    #[arg(long, value_name = "N", default_value_t = StudySettings::default().seed, value_parser = values::count, help_heading = "Study")]
    pub(crate) seed: u64,
    /// Costs of the selection to choose from, from 1e-4 to 1e2 times 1 / mean |x|^2
    #[arg(long, value_name = "N", default_value_t = StudySettings::default().cost_points, value_parser = values::size, help_heading = "Study")]
    pub(crate) cost_points: usize,
    /// How method, costs and size are chosen: by the best mean of a score (combined, the mean of
    /// accuracy, auc and 1 - hinge; accuracy; auc) with its neighbours, towards costs that need no
    /// data
    #[arg(long, value_name = "SCORE", default_value_t, help_heading = "Study")]
    pub(crate) choose: Score,
    /// Which of the two panels that are judged is the panel: what --choose takes, or the smallest
    /// size within one standard error of it that loses at most 1 % of accuracy inside the folds
    #[arg(long, value_name = "WHICH", default_value = "best", value_parser = values::choice::<Prefer>(PREFERRED), help_heading = "Study")]
    pub(crate) prefer: Prefer,
    /// Find this share of the positive class (see --positive), above 0, up to 1: decision values are
    /// cut where this share of the samples held out inside the folds is found; the outer folds say
    /// what comes of it [default: they are cut at 0]
    #[arg(long, value_name = "SHARE", value_parser = values::share_up_to_one, help_heading = "Study")]
    pub(crate) sensitivity: Option<f64>,
    /// Make the panel a points score of two classes, too: whole numbers that are added by hand, with
    /// the probability at each total; what they lose is measured on the outer folds
    #[arg(long, help_heading = "Study")]
    pub(crate) points: bool,
    /// Judge the panel, as it is, on the samples of this file, too; it is read as the data are, and
    /// needs their target
    #[arg(long, value_name = "FILE", help_heading = "Study")]
    pub(crate) external: Option<PathBuf>,
    /// SVM, but for its cost.
    #[command(flatten)]
    pub(crate) margin: MarginArgs,
    /// Stop after this long with what is known by then, reading included: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = super::TIME_LIMIT, value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Duration,
    /// Stop each selection after this long with the best so far
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) selection_time_limit: Option<Duration>,
    /// The proof of the panel ends when at most this share of what features can gain is left open
    #[arg(long, value_name = "GAP", default_value_t = 1e-4, value_parser = values::below_one, help_heading = "Limits")]
    pub(crate) gap: f64,
    /// Nodes that the proof of the panel may take
    #[arg(long, value_name = "N", default_value_t = StudySettings::default().proof_nodes, value_parser = values::count, help_heading = "Limits")]
    pub(crate) node_limit: u64,
    /// List this many best subsets beside the panel, where they can be proven quickly
    #[arg(long, value_name = "N", default_value_t = StudySettings::default().solutions, value_parser = values::size, help_heading = "Output")]
    pub(crate) solutions: usize,
    /// Model.
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Write the result as JSON to this file, or - for standard output (the summary is then left
    /// out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output; one file, nothing is loaded
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Name samples on the page where there are more than 100, too: names may be those of persons
    #[arg(long, help_heading = "Output")]
    pub(crate) show_samples: bool,
    /// Write the proof of the panel to this file, for `fewest verify`: that of `fewest certify` for the same
    /// list, rules and cost
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) proof: Option<PathBuf>,
    /// Keep what is done here, and resume from there when started again
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) resume: Option<PathBuf>,
}

impl StudyArgs {
    /// `--methods`; empty for auto.
    pub(crate) fn method_list(&self) -> Result<Vec<StudyMethod>, String> {
        if self.methods.trim() == "auto" {
            return Ok(Vec::new());
        }
        let mut list = Vec::new();
        for name in self.methods.split(',').map(str::trim) {
            let known = StudyMethod::ALL.into_iter().find(|method| method.name() == name);
            let Some(method) = known else {
                let all: Vec<&str> = StudyMethod::ALL.iter().map(|method| method.name()).collect();
                return Err(format!("--methods: `{name}` is none of {}; or write auto", all.join(", ")));
            };
            if list.contains(&method) {
                return Err(format!("--methods names {name} twice; leave one out"));
            }
            list.push(method);
        }
        Ok(list)
    }
}
