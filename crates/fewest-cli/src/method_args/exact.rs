//! `exact` on the command line.

use fewest::method::exact::ExactSettings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::shared::{MethodData, PenaltyArg, ProofArg, SearchArgs, SolutionsArg};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct ExactArgs {
    #[command(flatten)]
    penalty: PenaltyArg,
    #[command(flatten)]
    solutions: SolutionsArg,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    proof: ProofArg,
    #[command(flatten)]
    svm: SvmArgs,
}

impl MethodArgs for ExactArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (svm, penalty) = (data.svm(self.svm()), self.penalty.resolve(data)?);
        let solutions = self.solutions.solutions;
        Ok(ExactSettings { svm, penalty, solutions, ..ExactSettings::default() }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(ExactSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        self.penalty.is_some()
    }
}
