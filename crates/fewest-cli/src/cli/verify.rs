//! `fewest verify`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use fewest::Loss;

use super::help::VERIFY_NOTES;
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::notation::NameList;
use crate::args::rules::RuleArgs;
use crate::args::svm::{BiasArg, ClassWeight, KernelName, LOSSES};
use crate::args::values;
use crate::method_args::{MultiClassChoice, PenaltyArg, Validate};

/// `fewest verify`.
#[derive(Debug, Args)]
#[command(after_help = VERIFY_NOTES)]
pub(crate) struct VerifyArgs {
    /// Proof that select, path, certify or study wrote with --proof
    pub(crate) proof: PathBuf,
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Ask for all that this result of `fewest select --json` says: the proof is not verified where
    /// it answers another question
    #[arg(long = "as", value_name = "RESULT.json", help_heading = "Question")]
    pub(crate) result: Option<PathBuf>,
    /// Take nothing from what the proof says of how it was made: what is not typed has its default
    /// as in select
    #[arg(long, help_heading = "Question")]
    pub(crate) strict: bool,
    /// The problem that is asked about.
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// Rules that are asked for.
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Not verified unless both gaps proven, of the gain and of the objective, are at most G
    #[arg(long, value_name = "G", value_parser = values::percentage, allow_negative_numbers = true, help_heading = "Verdict")]
    pub(crate) gap: Option<f64>,
    /// Exit with 0 also where nothing is proven of the subsets that the proof does not list
    #[arg(long, help_heading = "Verdict", conflicts_with = "gap")]
    pub(crate) allow_unproven: bool,
    /// Stop the check after this long: 500ms, 60s, 5m, 1h; then no other limit on its work holds
    /// [default: work in proportion to the size of the proof]
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Write the verdict as JSON to this file, or - for standard output (the text is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
}

/// The problem that is asked about, besides its rules: what is not typed is as the proof says.
#[derive(Debug, Args)]
pub(crate) struct AskedArgs {
    /// Method whose objective is asked for, with --strict also whose defaults
    #[arg(long, short = 'm', value_name = "METHOD", help_heading = "Question")]
    pub(crate) method: Option<String>,
    /// Slack cost C
    #[arg(long, value_name = "C", value_parser = values::positive, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) cost: Option<f64>,
    /// Loss
    #[arg(long, value_name = "LOSS", value_parser = values::choice::<Loss>(LOSSES), help_heading = "SVM")]
    pub(crate) loss: Option<Loss>,
    #[command(flatten)]
    pub(crate) bias: BiasArg,
    /// Multiply the cost by class, as in select
    #[arg(long, value_name = "WEIGHTS", value_parser = ClassWeight::read, allow_hyphen_values = true, help_heading = "SVM")]
    pub(crate) class_weight: Option<ClassWeight>,
    #[command(flatten)]
    pub(crate) penalty: PenaltyArg,
    /// Largest absolute weight of a feature (mbp)
    #[arg(long, value_name = "U", value_parser = values::positive, allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) weight_bound: Option<f64>,
    /// Kernel: linear, or that of kta
    #[arg(long, value_name = "KERNEL", value_enum, help_heading = "SVM")]
    pub(crate) kernel: Option<KernelName>,
    /// gamma of the kernel of kta, as a number
    #[arg(long, value_name = "GAMMA", value_parser = values::positive, allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) gamma: Option<f64>,
    /// Columns of numbers that are categories, a,b, or none
    #[arg(long, value_name = "NAMES", value_parser = NameList::read, help_heading = "Method")]
    pub(crate) categorical: Option<NameList>,
    /// How more classes than two become two-class problems
    #[arg(long, value_name = "HOW", help_heading = "Method")]
    pub(crate) multi_class: Option<MultiClassChoice>,
    /// Column that names the task of each sample, or none
    #[arg(long, value_name = "COLUMN", help_heading = "Method")]
    pub(crate) tasks: Option<String>,
    /// Share of the samples that was held out (gbd), or none
    #[arg(long, value_name = "SHARE", value_parser = HeldOut::read, help_heading = "Method")]
    pub(crate) validate: Option<HeldOut>,
    /// How samples were drawn that are held out
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Method")]
    pub(crate) seed: Option<u64>,
    /// Column with groups that was set apart, or none
    #[arg(long, value_name = "COLUMN", help_heading = "Method")]
    pub(crate) groups: Option<String>,
    /// Column with folds that was set apart, or none
    #[arg(long, value_name = "COLUMN", help_heading = "Method")]
    pub(crate) folds: Option<String>,
}

/// Samples that were held out, if any.
#[derive(Debug, Clone)]
pub(crate) struct HeldOut(pub(crate) Option<Validate>);

impl HeldOut {
    fn read(text: &str) -> Result<Self, String> {
        if text == "none" { Ok(Self(None)) } else { Validate::read(text).map(|validate| Self(Some(validate))) }
    }
}
