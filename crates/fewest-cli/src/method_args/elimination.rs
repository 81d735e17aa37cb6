//! What the methods that eliminate features share: the kernel with what features are ranked by, and
//! the step.

use fewest::kernel_oracle::Criterion;
use fewest::method::rfe::Step;
use fewest::{Gamma, KernelRule};

use crate::args::svm::{KernelArgs, KernelName};
use crate::args::values;
use crate::failure::Failure;

/// The criteria by name.
const CRITERIA: &[(&str, &str)] = &[
    ("weights", "w_j^2; linear kernel"),
    ("margin", "how much alpha'H alpha / 2 falls without the feature (Guyon et al. 2002)"),
    ("input-weights", "(sum_i beta_i x_ij)^2 (Krupka 2016)"),
];

/// The kernel, and what features are ranked by.
#[derive(Debug, clap::Args)]
pub(crate) struct RankingArgs {
    #[command(flatten)]
    kernel: KernelArgs,
    /// What features are ranked by [default: weights for a linear kernel, margin for others]
    #[arg(long, value_name = "WHAT", value_parser = values::choice::<Criterion>(CRITERIA), help_heading = "Method")]
    pub(crate) criterion: Option<Criterion>,
}

impl RankingArgs {
    /// Refuses what does not go together.
    ///
    /// # Errors
    /// A parameter that the kernel does not have, weights of a kernel that has none.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.criterion == Some(Criterion::Weights) && self.kernel.kernel != KernelName::Linear {
            return Err(Failure::input(
                "--criterion is weights, but only a linear kernel has weights; use margin or input-weights",
            ));
        }
        self.kernel.check()
    }

    /// The kernel; gamma is 1 / p unless another is typed.
    pub(crate) fn kernel(&self) -> KernelRule {
        self.kernel.rule(Gamma::PerFeature)
    }

    /// `--criterion`, or what suits the kernel.
    pub(crate) fn criterion(&self) -> Criterion {
        let suited = if self.kernel.kernel == KernelName::Linear { Criterion::Weights } else { Criterion::Margin };
        self.criterion.unwrap_or(suited)
    }
}

/// How many features leave in one step.
#[derive(Debug, clap::Args)]
pub(crate) struct StepArgs {
    /// Features that leave per step: a number, a fraction such as 0.1, or half [default: 1]
    #[arg(long, value_name = "N|FRACTION|half", allow_negative_numbers = true, help_heading = "Method")]
    pub(crate) step: Option<StepText>,
    /// What a fraction in --step is a fraction of [default: remaining]
    #[arg(long, value_name = "WHICH", help_heading = "Method")]
    step_of: Option<StepOf>,
}

/// What a step fraction is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum StepOf {
    /// The features that remain
    Remaining,
    /// The features at the start (scikit-learn's rule)
    Original,
}

/// `--step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StepText {
    /// This many.
    Count(usize),
    /// This fraction.
    Share(f64),
}

impl std::str::FromStr for StepText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "half" {
            return Ok(Self::Share(0.5));
        }
        let count = values::size(text).map(Self::Count);
        count
            .or_else(|_| values::share(text).map(Self::Share))
            .map_err(|_| "must be an integer, at least 1, a fraction between 0 and 1, or half".to_owned())
    }
}

impl StepArgs {
    /// Refuses a fraction's base without a fraction.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match (self.step, self.step_of) {
            (None | Some(StepText::Count(_)), Some(_)) => Err(Failure::input(
                "--step-of says what a fraction in --step is a fraction of, but --step is no fraction; leave --step-of out",
            )),
            _ => Ok(()),
        }
    }

    /// The step.
    pub(crate) fn step(&self) -> Step {
        match (self.step, self.step_of) {
            (None, _) => Step::Count(1),
            (Some(StepText::Count(count)), _) => Step::Count(count),
            (Some(StepText::Share(share)), Some(StepOf::Original)) => Step::Original(share),
            (Some(StepText::Share(share)), _) => Step::Remaining(share),
        }
    }
}
