//! `bit-flip` and `attribute-flip` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::flip::{FlipSearch, FlipStart};
use fewest_papers::flips::FlipMethod;

use crate::args::svm::SvmArgs;
use crate::args::values::{self, Costs};
use crate::failure::Failure;
use crate::method_args::elimination::{RankingArgs, StepArgs};
use crate::method_args::shared::{CertifyArgs, FoldsArgs, MethodData, StartNames};

/// A search among the neighbours of a subset: of `bit-flip`, or of `attribute-flip` where it swaps.
#[derive(Debug, clap::Args)]
pub(crate) struct FlipArgs<const SWAPS: bool> {
    /// Start from these features, or from those of a result: a,b,c [default: the result of rfe]
    #[arg(long, value_name = "A,B,...|RESULT.json", value_parser = StartNames::read, help_heading = "Method")]
    start: Option<StartNames>,
    /// Most passes over all neighbours, or all: until nothing improves
    #[arg(long, value_name = "N|all", default_value = "1", help_heading = "Method")]
    passes: Passes,
    /// Choose the cost among these by cross-validation [default: --cost alone]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    costs: Option<Costs>,
    #[command(flatten)]
    folds: FoldsArgs,
    #[command(flatten)]
    step: StepArgs,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    certify: CertifyArgs,
}

/// `--passes`: at least 1, or none for all.
#[derive(Debug, Clone, Copy)]
struct Passes(Option<u64>);

impl std::str::FromStr for Passes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self(None));
        }
        let passes = values::at_least_one(text).map_err(|_| "must be a number, at least 1, or all".to_owned())?;
        Ok(Self(Some(passes)))
    }
}

impl<const SWAPS: bool> MethodArgs for FlipArgs<SWAPS> {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let start = match &self.start {
            None => FlipStart::Rfe { step: self.step.step(), criterion: self.ranking.criterion() },
            Some(names) => FlipStart::Features(names.indices(data.names)?),
        };
        let svm = data.svm(self.svm());
        let costs = self.costs.as_ref().map_or_else(|| vec![svm.cost], |costs| costs.0.clone());
        let (kernel, folds) = (self.ranking.kernel(), self.folds.resolve(data)?);
        let search = FlipSearch { svm, kernel, costs, folds, passes: self.passes.0, start };
        Ok(if SWAPS { FlipMethod::<true>(search).into() } else { FlipMethod::<false>(search).into() })
    }

    fn check(&self) -> Result<(), Failure> {
        let used = [("step", self.step.step.is_some()), ("criterion", self.ranking.criterion.is_some())];
        if let (Some((option, _)), Some(_)) = (used.into_iter().find(|o| o.1), &self.start) {
            return Err(Failure::Input(format!(
                "--{option} is for the rfe that finds the start, but --start names one; leave one of them out"
            )));
        }
        self.svm.one_way_to_choose(self.costs.is_some())?;
        self.ranking.check()?;
        self.step.check()
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }

    fn finds_size(&self) -> bool {
        self.start.is_some()
    }

    fn deals_folds(&self) -> bool {
        true
    }
}
