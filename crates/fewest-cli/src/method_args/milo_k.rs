//! `milo-k` on the command line.

use fewest::method::milo_k::MiloKSettings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::shared::{AlignmentArgs, MethodData, ProgramArgs, SearchArgs};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct MiloKArgs {
    #[command(flatten)]
    alignment: AlignmentArgs,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    svm: SvmArgs,
}

impl MethodArgs for MiloKArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (start, lp) = (!self.program.plain, self.program.lp());
        Ok(MiloKSettings { gamma: self.alignment.gamma, start, lp, memory: data.memory }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }
}
