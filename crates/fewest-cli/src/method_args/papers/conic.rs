//! `qcqp-ssvm` and `nmmkl` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::conic::{NmmklSettings, QcqpSsvmSettings};

use crate::args::svm::SvmArgs;
use crate::args::values;
use crate::failure::Failure;
use crate::method_args::shared::{GapArg, MethodData};

/// A cone program: `qcqp-ssvm`, or `nmmkl` where each feature has a kernel.
#[derive(Debug, clap::Args)]
pub(crate) struct ConicArgs<const KERNELS: bool> {
    /// B, where --max-features is left out: every feature of weight in the relaxation is kept
    #[arg(long, value_name = "B", value_parser = values::size, help_heading = "Method")]
    subset_size: Option<usize>,
    #[command(flatten)]
    gap: GapArg,
    #[command(flatten)]
    svm: SvmArgs,
}

impl<const KERNELS: bool> MethodArgs for ConicArgs<KERNELS> {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let svm = data.svm(self.svm());
        let subset_size = self.subset_size;
        Ok(if KERNELS {
            NmmklSettings { svm, subset_size }.into()
        } else {
            QcqpSsvmSettings { svm, subset_size }.into()
        })
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(if KERNELS { NmmklSettings::default().svm } else { QcqpSsvmSettings::default().svm })
    }

    fn finds_size(&self) -> bool {
        self.subset_size.is_some()
    }
}
