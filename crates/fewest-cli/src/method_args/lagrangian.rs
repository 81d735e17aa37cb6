//! `lagrangian` on the command line.

use fewest::method::lagrangian::LagrangianSettings;
use fewest::method::mbp::MbpSettings;
use fewest::{AnyMethod, SvmSettings};

use super::MethodArgs;
use super::mbp::PricedArgs;
use super::shared::{GapArg, MethodData};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct LagrangianArgs {
    #[command(flatten)]
    priced: PricedArgs,
    /// The paper's text: no reweighting, no bound before the ascent
    #[arg(long, help_heading = "Method")]
    plain: bool,
    #[command(flatten)]
    gap: GapArg,
}

impl MethodArgs for LagrangianArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let program = MbpSettings { plain: self.plain, ..self.priced.settings(data)? };
        Ok(LagrangianSettings { program, ..LagrangianSettings::default() }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.priced.svm()
    }

    fn finds_size(&self) -> bool {
        self.priced.penalty.is_some()
    }
}
