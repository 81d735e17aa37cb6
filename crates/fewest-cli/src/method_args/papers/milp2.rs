//! `milp2` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::milp2::Milp2Settings;

use crate::args::svm::SvmArgs;
use crate::failure::Failure;
use crate::method_args::shared::{MethodData, ProgramArgs, SearchArgs};

#[derive(Debug, clap::Args)]
pub(crate) struct Milp2Args {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    svm: SvmArgs,
}

impl MethodArgs for Milp2Args {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (start, lp) = (!self.program.plain, self.program.lp());
        Ok(Milp2Settings { cost: self.svm().cost, start, lp, memory: data.memory }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }
}
