//! `nmmkl` on the command line.

use fewest::method::conic::NmmklSettings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::shared::{GapArg, MethodData};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

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
