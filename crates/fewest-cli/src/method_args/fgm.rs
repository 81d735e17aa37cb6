//! `fgm` on the command line.

use crate::AnyMethod;
use fewest::method::fgm::{FgmSettings, Improve, Mkl};
use fewest::{Loss, SvmSettings};

use super::MethodArgs;
use super::shared::{GapArg, MethodData, ProblemsArgs};
use crate::args::svm::{BiasArg, ClassWeightArg, CostArg, LOSSES, ToleranceArg};
use crate::args::values;
use crate::failure::Failure;

/// The solvers of multiple kernel learning by name.
const MKLS: &[(&str, &str)] =
    &[("fast", "Newton's method on the weights of the subsets"), ("simple", "SimpleMKL: reduced gradient")];

/// What improves the subset by name.
const IMPROVEMENTS: &[(&str, &str)] = &[
    (
        "auto",
        "both where the smaller class has 16 samples or more for each feature, else rankings; nothing with --plain",
    ),
    ("none", "nothing: the paper's FGM-B, the best features by score"),
    ("rankings", "the better one of that and the best features by weight"),
    ("rfe", "SVM-RFE from the largest features of the mixture"),
    ("exchanges", "exchanges of features"),
    ("both", "SVM-RFE, then exchanges"),
];

#[derive(Debug, clap::Args)]
pub(crate) struct FgmArgs {
    /// Size of each generated subset; without --max-features every feature of their mixture is kept
    /// [default: --max-features]
    #[arg(long, value_name = "B", value_parser = values::size, help_heading = "Method")]
    subset_size: Option<usize>,
    /// Solver of multiple kernel learning [default: fast; with --plain simple, the paper's]
    #[arg(long, value_name = "SOLVER", value_parser = values::choice::<Mkl>(MKLS), help_heading = "Method")]
    mkl: Option<Mkl>,
    /// What improves the subset of --max-features at the end
    #[arg(long, value_name = "HOW", default_value = "auto", value_parser = values::choice::<Improve>(IMPROVEMENTS), help_heading = "Method")]
    improve: Improve,
    /// The paper's text: a pass over all features for every subset, SimpleMKL, and nothing that
    /// improves the subset
    #[arg(long, help_heading = "Method")]
    plain: bool,
    #[command(flatten)]
    gap: GapArg,
    #[command(flatten)]
    problems: ProblemsArgs,
    #[command(flatten)]
    cost: CostArg,
    /// Loss
    #[arg(long, value_name = "LOSS", default_value = "squared-hinge", value_parser = values::choice::<Loss>(&LOSSES[1..]), help_heading = "SVM")]
    loss: Loss,
    #[command(flatten)]
    bias: BiasArg,
    #[command(flatten)]
    tolerance: ToleranceArg,
    #[command(flatten)]
    class_weight: ClassWeightArg,
}

impl MethodArgs for FgmArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let SvmSettings { cost, bias, tolerance, memory, .. } = data.svm(self.svm());
        let mkl = self.mkl.unwrap_or(if self.plain { Mkl::Simple } else { Mkl::Fast });
        let (reuse, subset_size, improve) = (!self.plain, self.subset_size, self.improve);
        let multi_class = self.problems.multi_class();
        Ok(FgmSettings { cost, bias, mkl, reuse, improve, subset_size, tolerance, memory, multi_class }.into())
    }

    fn svm(&self) -> SvmSettings {
        let base = FgmSettings::default();
        SvmSettings {
            cost: self.cost.number(),
            loss: self.loss,
            bias: self.bias.bias.unwrap_or(base.bias),
            tolerance: self.tolerance.tolerance.unwrap_or(base.tolerance),
            memory: base.memory,
            ..SvmSettings::default()
        }
    }

    fn task_svm(&self) -> SvmSettings {
        // Its cost is that of C / 2 sum xi_i^2.
        let svm = self.svm();
        SvmSettings { cost: 0.5 * svm.cost, ..svm }
    }

    fn finds_size(&self) -> bool {
        self.subset_size.is_some()
    }
}
