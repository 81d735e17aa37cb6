//! `fsv` on the command line. It trains no SVM of its own: the options of one are those of
//! `--certify`.

use crate::AnyMethod;
use crate::method_args::MethodArgs;
use fewest::{Bias, Loss, SvmSettings};
use fewest_papers::fsv::FsvSettings;

use crate::args::svm::{ClassWeight, LOSSES, bias};
use crate::args::values;
use crate::failure::Failure;
use crate::method_args::shared::{CERTIFICATE, CertifyArgs, MethodData};

#[derive(Debug, clap::Args)]
pub(crate) struct FsvArgs {
    /// How much features count beside errors, 0 to below 1
    #[arg(long, value_name = "L", default_value_t = FsvSettings::default().lambda, value_parser = values::below_one,
        allow_negative_numbers = true, help_heading = "Method")]
    lambda: f64,
    /// Starts, the first at no weights, the others at random ones from --seed
    #[arg(long, value_name = "N", default_value_t = FsvSettings::default().starts, value_parser = values::size, help_heading = "Method")]
    starts: usize,
    /// Random starts
    #[arg(long, value_name = "N", default_value_t = FsvSettings::default().seed, value_parser = values::count, help_heading = "Method")]
    seed: u64,
    #[command(flatten)]
    certify: CertifyArgs,
    /// Slack cost C of the SVM [default: 1]
    #[arg(long, value_name = "C", value_parser = values::positive, allow_negative_numbers = true, help_heading = CERTIFICATE)]
    cost: Option<f64>,
    /// Loss of the SVM [default: hinge]
    #[arg(long, value_name = "LOSS", value_parser = values::choice::<Loss>(LOSSES), help_heading = CERTIFICATE)]
    loss: Option<Loss>,
    /// Bias of the SVM: free, none, or the value of a constant feature [default: free]
    #[arg(long, value_name = "BIAS", value_parser = bias, allow_negative_numbers = true, help_heading = CERTIFICATE)]
    bias: Option<Bias>,
    /// Stop a training when (primal - dual) / primal is at most this [default: 1e-6]
    #[arg(long, value_name = "T", value_parser = values::share, allow_negative_numbers = true, help_heading = CERTIFICATE)]
    tolerance: Option<f64>,
    /// Multiply the cost by class: none, balanced, cw2, cw3 or NAME=W,NAME=W,... [default: none]
    #[arg(long, value_name = "WEIGHTS", value_parser = ClassWeight::read, help_heading = CERTIFICATE)]
    class_weight: Option<ClassWeight>,
}

impl MethodArgs for FsvArgs {
    fn method(&self, _data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let &Self { lambda, starts, seed, .. } = self;
        Ok(FsvSettings { lambda, starts, seed, ..FsvSettings::default() }.into())
    }

    fn svm(&self) -> SvmSettings {
        let base = SvmSettings::default();
        SvmSettings {
            cost: self.cost.unwrap_or(base.cost),
            loss: self.loss.unwrap_or(base.loss),
            bias: self.bias.unwrap_or(base.bias),
            tolerance: self.tolerance.unwrap_or(base.tolerance),
            ..base
        }
    }
}
