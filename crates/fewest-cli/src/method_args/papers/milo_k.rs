//! `milo-k` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::milo_k::MiloKSettings;

use crate::args::svm::SvmArgs;
use crate::failure::Failure;
use crate::method_args::shared::{AlignmentArgs, MethodData, ProgramArgs, SearchArgs};

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
