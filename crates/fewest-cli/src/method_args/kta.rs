//! `kta` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::kta::KtaSettings;

use super::MethodArgs;
use super::shared::{AlignmentArgs, DistanceArgs, MethodData, ProofArg, ResumeArgs, SearchArgs, SolutionsArgs};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct KtaArgs {
    #[command(flatten)]
    distances: DistanceArgs,
    #[command(flatten)]
    alignment: AlignmentArgs,
    #[command(flatten)]
    solutions: SolutionsArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    proof: ProofArg,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for KtaArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let base = KtaSettings::default();
        let memory = data.kernel_memory.unwrap_or(base.memory);
        let (gamma, solutions, within) = (self.alignment.gamma, self.solutions.most(), self.solutions.within);
        let (kernel, categorical) = (self.distances.kernel, data.categorical.to_vec());
        Ok(KtaSettings { kernel, gamma, categorical, solutions, within, memory, ..base }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }
}
