//! `milo-k` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::milo_k::MiloKSettings;

use crate::args::svm::SvmArgs;
use crate::failure::Failure;
use crate::method_args::shared::{AlignmentArgs, DistanceArgs, MethodData, ProgramArgs, SearchArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct MiloKArgs {
    #[command(flatten)]
    distances: DistanceArgs,
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
        let (gamma, memory) = (self.alignment.gamma, data.memory);
        let (kernel, categorical) = (self.distances.kernel, data.categorical.to_vec());
        Ok(MiloKSettings { kernel, categorical, gamma, start, lp, memory }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }
}
