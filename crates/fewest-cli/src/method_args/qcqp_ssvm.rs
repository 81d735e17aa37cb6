//! `qcqp-ssvm` on the command line.

use fewest::method::conic::QcqpSsvmSettings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::shared::{GapArg, MethodData};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct QcqpSsvmArgs {
    #[command(flatten)]
    gap: GapArg,
    #[command(flatten)]
    svm: SvmArgs,
}

impl MethodArgs for QcqpSsvmArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        Ok(QcqpSsvmSettings { svm: data.svm(self.svm()) }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(QcqpSsvmSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        false
    }
}
