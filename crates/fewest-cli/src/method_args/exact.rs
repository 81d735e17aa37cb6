//! `exact` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::exact::ExactSettings;

use super::MethodArgs;
use super::penalty::AutoPenaltyArg;
use super::shared::{MethodData, ProblemsArgs, ProofArg, ResumeArgs, SearchArgs, SolutionsArgs};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ExactArgs {
    #[command(flatten)]
    penalty: AutoPenaltyArg,
    #[command(flatten)]
    solutions: SolutionsArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    proof: ProofArg,
    #[command(flatten)]
    problems: ProblemsArgs,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for ExactArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (svm, penalty) = (data.svm(self.svm()), self.penalty.resolve(data)?);
        let (solutions, within) = (self.solutions.most(), self.solutions.within);
        let multi_class = self.problems.multi_class();
        Ok(ExactSettings { svm, penalty, solutions, within, multi_class, ..ExactSettings::default() }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(ExactSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        self.penalty.is_some()
    }
}
