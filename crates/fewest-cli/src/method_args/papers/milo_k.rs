//! `milo-k` and `rmilo-k` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::milo_k::{BigM, MiloKSettings};
use fewest_papers::rmilo_k::RmiloKSettings;

use crate::args::svm::SvmArgs;
use crate::args::values;
use crate::failure::Failure;
use crate::method_args::shared::{AlignmentArgs, DistanceArgs, MethodData, ProgramArgs, SearchArgs};

/// The big-Ms by name.
const BIG_MS: &[(&str, &str)] = &[("padded", "0.1 more, at most 1, eq. (53)"), ("tight", "1 - kernel, eq. (50)")];

/// `milo-k`.
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

impl MiloKArgs {
    fn settings(&self, data: &MethodData<'_>) -> MiloKSettings {
        let (start, lp) = (!self.program.plain, self.program.lp());
        let (gamma, memory) = (self.alignment.gamma, data.memory);
        let (kernel, categorical) = (self.distances.kernel, data.categorical.to_vec());
        MiloKSettings { kernel, categorical, gamma, start, lp, memory }
    }
}

impl MethodArgs for MiloKArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        Ok(self.settings(data).into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }
}

/// `rmilo-k`.
#[derive(Debug, clap::Args)]
pub(crate) struct RmiloKArgs {
    /// The big-M
    #[arg(long, value_name = "WHICH", default_value = "padded", value_parser = values::choice::<BigM>(BIG_MS), help_heading = "Method")]
    big_m: BigM,
    #[command(flatten)]
    milo: MiloKArgs,
}

impl MethodArgs for RmiloKArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let MiloKSettings { kernel, categorical, gamma, start, lp, memory } = self.milo.settings(data);
        Ok(RmiloKSettings { kernel, categorical, gamma, big_m: self.big_m, start, lp, memory }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.milo.svm()
    }
}
