//! `lagrangian` on the command line.

use std::time::Duration;

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::lagrangian::LagrangianSettings;
use fewest::method::mbp::MbpSettings;

use super::MethodArgs;
use super::mbp::PricedArgs;
use super::shared::{GapArg, MethodData};
use crate::args::values;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct LagrangianArgs {
    #[command(flatten)]
    priced: PricedArgs,
    /// The paper's text: no reweighting, no bound before the ascent
    #[arg(long, help_heading = "Method")]
    plain: bool,
    /// A feature is in the restricted program when its weight is above this share of its largest
    /// one
    #[arg(long, value_name = "E", default_value_t = LagrangianSettings::default().epsilon, value_parser = values::below_one, allow_negative_numbers = true, help_heading = "Method")]
    epsilon: f64,
    /// Time for one restricted program [default: 250ms; no limit with --plain]
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Method")]
    restricted_time: Option<Duration>,
    /// Steps of the ascent, at most
    #[arg(long, value_name = "N", default_value_t = LagrangianSettings::default().max_steps, value_parser = values::at_least_one, help_heading = "Method")]
    max_steps: u64,
    #[command(flatten)]
    gap: GapArg,
}

impl MethodArgs for LagrangianArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let program = MbpSettings { plain: self.plain, ..self.priced.settings(data)? };
        let &Self { epsilon, restricted_time, max_steps, .. } = self;
        Ok(LagrangianSettings { program, epsilon, restricted_time, max_steps, ..LagrangianSettings::default() }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.priced.svm()
    }

    fn finds_size(&self) -> bool {
        self.priced.penalty.is_some()
    }
}
