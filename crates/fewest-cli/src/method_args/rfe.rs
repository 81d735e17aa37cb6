//! `rfe` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::rfe::{RfeSettings, Tuning};

use super::MethodArgs;
use super::elimination::{RankingArgs, StepArgs};
use super::shared::{CertifyArgs, FoldsArgs, MethodData, ResumeArgs, StartNames, needs};
use crate::args::svm::SvmArgs;
use crate::args::values::{self, Costs};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct RfeArgs {
    #[command(flatten)]
    step: StepArgs,
    #[command(flatten)]
    ranking: RankingArgs,
    /// Begin with these features alone, or with those of a result: a,b,c [default: all]
    #[arg(long, value_name = "A,B,...|RESULT.json", value_parser = StartNames::read, help_heading = "Method")]
    start: Option<StartNames>,
    /// Choose the cost among these by cross-validation: 0.25,1,4 [default: --cost alone]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    costs: Option<Costs>,
    /// With --costs: choose the cost anew every N steps [default: 1]
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    retune: Option<u64>,
    #[command(flatten)]
    folds: FoldsArgs,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    certify: CertifyArgs,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for RfeArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let tuning = match &self.costs {
            Some(Costs(costs)) => {
                let (costs, folds) = (costs.clone(), self.folds.resolve(data)?);
                let retune = self.retune.unwrap_or(Tuning::default().retune);
                Some(Tuning { costs, folds, retune })
            }
            None => None,
        };
        let (svm, kernel, criterion) = (data.svm(self.svm()), self.ranking.kernel(), self.ranking.criterion());
        let start = self.start.as_ref().map(|names| names.indices(data.names)).transpose()?;
        Ok(RfeSettings { svm, kernel, criterion, step: self.step.step(), tuning, start }.into())
    }

    fn check(&self) -> Result<(), Failure> {
        let typed = self.folds.typed().or(self.retune.map(|_| "retune"));
        if let (Some(option), None) = (typed, &self.costs) {
            return Err(needs(option, "costs"));
        }
        self.svm.one_way_to_choose(self.costs.is_some())?;
        self.ranking.check()?;
        self.step.check()
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(RfeSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        false
    }

    fn deals_folds(&self) -> bool {
        self.costs.is_some()
    }
}
