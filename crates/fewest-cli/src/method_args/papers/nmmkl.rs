//! `nmmkl` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::conic::NmmklSettings;

use crate::args::svm::SvmArgs;
use crate::failure::Failure;
use crate::method_args::shared::{GapArg, MethodData};

#[derive(Debug, clap::Args)]
pub(crate) struct NmmklArgs {
    #[command(flatten)]
    gap: GapArg,
    #[command(flatten)]
    svm: SvmArgs,
}

impl MethodArgs for NmmklArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        Ok(NmmklSettings { svm: data.svm(self.svm()) }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(NmmklSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        false
    }
}
