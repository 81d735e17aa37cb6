//! `milp2` on the command line.

use fewest::method::milp2::Milp2Settings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::shared::{MethodData, ProgramArgs, SearchArgs};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

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
