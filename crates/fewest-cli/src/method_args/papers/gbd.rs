//! `gbd` on the command line.

use std::sync::Arc;

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::gbd::{GbdSettings, Validation};

use crate::args::svm::SvmArgs;
use crate::args::values;
use crate::failure::Failure;
use crate::method_args::penalty::AutoPenaltyArg;
use crate::method_args::shared::{GapArg, HeldOutSamples, MethodData, ProblemsArgs, ProofArg, ResumeArgs, needs};
use crate::method_args::validate::Validate;

#[derive(Debug, clap::Args)]
pub(crate) struct GbdArgs {
    #[command(flatten)]
    penalty: AutoPenaltyArg,
    /// Stop after this many cuts
    #[arg(long, value_name = "N", default_value_t = GbdSettings::default().max_cuts, value_parser = values::at_least_one, help_heading = "Method")]
    max_cuts: u64,
    /// Judge the classifier of every subset tried on these samples as well: a file, or a fraction
    /// of each class of the data, which is then not trained on; reports the one of smallest error
    /// beside the one of best objective
    #[arg(long, value_name = "FILE|FRACTION", value_parser = Validate::read, allow_negative_numbers = true, help_heading = "Method")]
    validate: Option<Validate>,
    /// With --validate: stop after this many subsets in a row without a smaller error
    /// [default: never]
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    patience: Option<u64>,
    /// With --validate FRACTION: which samples are set apart [default: 0]
    #[arg(long, value_name = "N", value_parser = values::count, help_heading = "Method")]
    seed: Option<u64>,
    /// The paper's text, without our improvements
    #[arg(long, help_heading = "Method")]
    plain: bool,
    #[command(flatten)]
    gap: GapArg,
    #[command(flatten)]
    proof: ProofArg,
    #[command(flatten)]
    problems: ProblemsArgs,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for GbdArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let base = if self.plain { GbdSettings::plain() } else { GbdSettings::default() };
        let judge = |held: &HeldOutSamples| Validation {
            design: Arc::clone(&held.design),
            labels: held.labels.clone(),
            patience: self.patience,
        };
        let (penalty, validation) = (self.penalty.resolve(data)?, data.held_out.map(judge));
        let (svm, max_cuts, multi_class) = (data.svm(self.svm()), self.max_cuts, self.problems.multi_class());
        Ok(GbdSettings { svm, penalty, max_cuts, validation, multi_class, ..base }.into())
    }

    fn check(&self) -> Result<(), Failure> {
        match &self.validate {
            None if self.patience.is_some() => Err(needs("patience", "validate")),
            None if self.seed.is_some() => Err(needs("seed", "validate")),
            Some(Validate::File(_)) if self.seed.is_some() => Err(Failure::input(
                "--seed draws the samples of --validate FRACTION, but --validate names a file; leave out --seed",
            )),
            _ => Ok(()),
        }
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(GbdSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        self.penalty.is_some()
    }
}
