//! `l1-svm` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::l1_svm::L1Settings;

use super::MethodArgs;
use super::shared::{CertifyArgs, MethodData};
use crate::args::svm::SvmArgs;
use crate::args::values::Costs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct L1SvmArgs {
    /// Several costs, each from the solution of the one before: the result is that of the largest
    /// at which the rules are kept [default: --cost alone]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    costs: Option<Costs>,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    certify: CertifyArgs,
}

impl MethodArgs for L1SvmArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let costs = self.costs.as_ref().map_or_else(Vec::new, |costs| costs.0.clone());
        Ok(L1Settings { svm: data.svm(self.svm()), costs }.into())
    }

    fn check(&self) -> Result<(), Failure> {
        self.svm.one_way_to_choose(self.costs.is_some())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(L1Settings::default().svm)
    }
}
