//! `qcqp-ssvm` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::conic::QcqpSsvmSettings;

use crate::args::svm::SvmArgs;
use crate::failure::Failure;
use crate::method_args::shared::{GapArg, MethodData};

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
