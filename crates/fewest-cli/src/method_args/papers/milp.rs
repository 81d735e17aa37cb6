//! `milp1` and `milp2` on the command line.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::SvmSettings;
use fewest_papers::milp1::Milp1Settings;
use fewest_papers::milp2::Milp2Settings;

use crate::args::svm::SvmArgs;
use crate::args::values;
use crate::failure::Failure;
use crate::method_args::shared::{MethodData, ProgramArgs, SearchArgs};

/// `milp2`.
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

/// `milp1`.
#[derive(Debug, clap::Args)]
pub(crate) struct Milp1Args {
    /// Largest absolute weight of a feature
    #[arg(long, value_name = "U", default_value_t = Milp1Settings::default().weight_bound, value_parser = values::positive,
        allow_negative_numbers = true, help_heading = "Method")]
    weight_bound: f64,
    #[command(flatten)]
    milp: Milp2Args,
}

impl MethodArgs for Milp1Args {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (start, lp) = (!self.milp.program.plain, self.milp.program.lp());
        Ok(Milp1Settings { weight_bound: self.weight_bound, start, lp, memory: data.memory }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.milp.svm()
    }
}
