//! `mbp` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::mbp::{MbpSettings, WeightRule};

use super::MethodArgs;
use super::penalty::PenaltyArg;
use super::shared::{MethodData, ProgramArgs, ProofArg, ResumeArgs, SearchArgs, SolutionsArgs, needs};
use crate::args::svm::{BiasArg, ClassWeightArg, CostArg, LOSSES, range};
use crate::args::values;
use crate::failure::Failure;

/// The program of `mbp` and `lagrangian`.
#[derive(Debug, clap::Args)]
pub(crate) struct PricedArgs {
    #[command(flatten)]
    pub(crate) penalty: PenaltyArg,
    /// Largest absolute weight of a feature: a number; auto[:K] = K times (1) the largest of the
    /// L1-SVM; none = beyond those of any best classifier; paper = of each feature the largest in
    /// four L1-SVMs [default: auto; with --plain paper]
    #[arg(long, value_name = "U", value_parser = weight_rule, allow_negative_numbers = true, help_heading = "Method")]
    weight_bound: Option<WeightRule>,
    #[command(flatten)]
    cost: CostArg,
    /// Loss
    #[arg(long, value_name = "LOSS", default_value = "hinge", value_parser = values::choice::<fewest::Loss>(&LOSSES[..1]), help_heading = "SVM")]
    loss: fewest::Loss,
    #[command(flatten)]
    bias: BiasArg,
    #[command(flatten)]
    class_weight: ClassWeightArg,
}

/// `--weight-bound`.
fn weight_rule(text: &str) -> Result<WeightRule, String> {
    text.parse().map_err(range)
}

impl PricedArgs {
    /// The program.
    pub(crate) fn settings(&self, data: &MethodData<'_>) -> Result<MbpSettings, Failure> {
        let (SvmSettings { cost, bias, .. }, weight_bound) = (self.svm(), self.weight_bound);
        let (penalty, memory) = (self.penalty.resolve(data)?, data.memory);
        Ok(MbpSettings { cost, bias, penalty, weight_bound, memory, ..MbpSettings::default() })
    }

    /// The SVM with the same cost and bias.
    pub(crate) fn svm(&self) -> SvmSettings {
        let bias = self.bias.bias.unwrap_or(MbpSettings::default().bias);
        SvmSettings { cost: self.cost.number(), bias, loss: self.loss, ..SvmSettings::default() }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct MbpArgs {
    #[command(flatten)]
    priced: PricedArgs,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    solutions: SolutionsArgs,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    proof: ProofArg,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for MbpArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let (plain, lp) = (self.program.plain, self.program.lp());
        let (solutions, within) = (self.solutions.most(), self.solutions.within);
        Ok(MbpSettings { plain, lp, solutions, within, ..self.priced.settings(data)? }.into())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.program.lp.is_some() && !self.program.plain { Err(needs("lp", "plain")) } else { Ok(()) }
    }

    fn svm(&self) -> SvmSettings {
        self.priced.svm()
    }

    fn finds_size(&self) -> bool {
        self.priced.penalty.is_some()
    }
}
