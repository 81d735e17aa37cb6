//! Options of the SVM, for `fit` and for the methods.

use clap::ValueEnum as _;
use fewest::{Bias, Gamma, Kernel, KernelRule, Loss, SvmSettings};
use fewest_data::{Target, class_position};
use fewest_eval::ClassWeights;

use super::{notation, values};
use crate::failure::Failure;

/// The losses by name.
pub(crate) const LOSSES: &[(&str, &str)] =
    &[("hinge", "C max(0, 1 - m), m the margin of the sample"), ("squared-hinge", "C max(0, 1 - m)^2")];

/// Name of the option that [`fit_cost_argument`] makes.
pub(crate) const FIT_COST: &str = "fit_cost";

/// `--cost`.
#[derive(Debug, clap::Args)]
pub(crate) struct CostArg {
    /// Slack cost C, or auto: chosen by cross-validation
    #[arg(long, value_name = "C|auto", default_value_t = CostChoice::Number(SvmSettings::default().cost),
        value_parser = CostChoice::read, allow_negative_numbers = true, help_heading = "SVM")]
    cost: CostChoice,
}

impl CostArg {
    /// The cost. `auto` is replaced by a number before anything is run with it.
    pub(crate) fn number(&self) -> f64 {
        match self.cost {
            CostChoice::Number(cost) => cost,
            CostChoice::Auto => SvmSettings::default().cost,
        }
    }
}

/// A cost, or that it is to be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CostChoice {
    /// This one.
    Number(f64),
    /// Chosen by cross-validation.
    Auto,
}

impl CostChoice {
    /// Reads it.
    ///
    /// # Errors
    /// What it must be.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(CostChoice::Auto),
            _ => values::positive(text).map(CostChoice::Number).map_err(|why| format!("{why}, or auto")),
        }
    }
}

impl std::fmt::Display for CostChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CostChoice::Number(cost) => write!(f, "{cost}"),
            CostChoice::Auto => f.write_str("auto"),
        }
    }
}

/// `--fit-cost`, of every method that has no classifier of its own.
pub(crate) fn fit_cost_argument() -> clap::Arg {
    clap::Arg::new(FIT_COST)
        .long("fit-cost")
        .value_name("C")
        .value_parser(values::positive)
        .allow_negative_numbers(true)
        .help("Slack cost of the classifier on the chosen features [default: the cost of selecting; with --cost auto chosen as well]")
        .help_heading("SVM")
}

/// `--bias`.
#[derive(Debug, clap::Args)]
pub(crate) struct BiasArg {
    /// Bias: free (LIBSVM), none, or the value of a constant feature whose weight is penalised
    /// (LIBLINEAR's -B) [default: free; fgm none]
    #[arg(long, value_name = "BIAS", value_parser = bias, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) bias: Option<Bias>,
}

/// `--tolerance`.
#[derive(Debug, clap::Args)]
pub(crate) struct ToleranceArg {
    /// Stop a training when (primal - dual) / primal is at most this [default: 1e-6; rfe 1e-9]
    #[arg(long, value_name = "T", value_parser = values::share, allow_negative_numbers = true, help_heading = "SVM")]
    pub(crate) tolerance: Option<f64>,
}

/// `--class-weight`.
#[derive(Debug, clap::Args)]
pub(crate) struct ClassWeightArg {
    /// Multiply the cost by class: none, balanced = n / (k n_c), cw2 = 1 / n_c, cw3 = 1 / n_c + k
    /// (n_c of n samples are of the class, one of k), or NAME=W,NAME=W,...
    #[arg(long, value_name = "WEIGHTS", default_value = "none", value_parser = ClassWeight::read, allow_hyphen_values = true, help_heading = "SVM")]
    pub(crate) class_weight: ClassWeight,
}

/// An SVM, all but its cost.
#[derive(Debug, clap::Args)]
pub(crate) struct MarginArgs {
    /// Loss [default: hinge; nmmkl squared-hinge]
    #[arg(long, value_name = "LOSS", value_parser = values::choice::<Loss>(LOSSES), help_heading = "SVM")]
    pub(crate) loss: Option<Loss>,
    #[command(flatten)]
    bias: BiasArg,
    #[command(flatten)]
    tolerance: ToleranceArg,
    #[command(flatten)]
    class_weight: ClassWeightArg,
}

impl MarginArgs {
    /// The settings, with those of `base` where nothing is typed.
    pub(crate) fn settings(&self, mut base: SvmSettings) -> SvmSettings {
        base.loss = self.loss.unwrap_or(base.loss);
        base.bias = self.bias.bias.unwrap_or(base.bias);
        base.tolerance = self.tolerance.tolerance.unwrap_or(base.tolerance);
        base
    }

    /// `--class-weight`.
    pub(crate) fn class_weight(&self) -> &ClassWeight {
        &self.class_weight.class_weight
    }
}

/// An SVM.
#[derive(Debug, clap::Args)]
pub(crate) struct SvmArgs {
    #[command(flatten)]
    cost: CostArg,
    #[command(flatten)]
    margin: MarginArgs,
}

impl SvmArgs {
    /// The settings, with those of `base` where nothing is typed.
    pub(crate) fn settings(&self, base: SvmSettings) -> SvmSettings {
        SvmSettings { cost: self.cost.number(), ..self.margin.settings(base) }
    }

    /// Refuses `--cost auto` where nothing is selected.
    pub(crate) fn given_cost(&self) -> Result<(), Failure> {
        match self.cost.cost {
            CostChoice::Number(_) => Ok(()),
            CostChoice::Auto => Err(Failure::input(
                "--cost is auto, but fit takes a number; `fewest select --cost auto --json RESULT.json` chooses one and trains at it",
            )),
        }
    }

    /// Refuses `--cost auto` where the method has costs to choose from by itself.
    ///
    /// # Errors
    /// The two options.
    pub(crate) fn one_way_to_choose(&self, costs: bool) -> Result<(), Failure> {
        match self.cost.cost {
            CostChoice::Auto if costs => {
                Err(Failure::input("--cost auto and --costs both choose the cost; leave one of them out"))
            }
            _ => Ok(()),
        }
    }

    /// `--class-weight`.
    pub(crate) fn class_weight(&self) -> &ClassWeight {
        &self.margin.class_weight.class_weight
    }
}

pub(crate) fn bias(text: &str) -> Result<Bias, String> {
    text.parse().map_err(range)
}

/// `--gamma`.
pub(crate) fn gamma(text: &str) -> Result<Gamma, String> {
    text.parse().map_err(range)
}

/// What a setting must be, of an error of the library.
pub(crate) fn range(error: fewest::Error) -> String {
    match error {
        fewest::Error::Setting { range, .. } => format!("must be {range}"),
        other => other.to_string(),
    }
}

/// A kernel by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum KernelName {
    /// x.x'
    #[default]
    Linear,
    /// exp(-gamma |x - x'|^2)
    Rbf,
    /// exp(-gamma sum |x_j - x'_j|)
    Laplace,
    /// (gamma x.x' + coef0)^degree
    Poly,
    /// tanh(gamma x.x' + coef0)
    Sigmoid,
}

impl KernelName {
    /// The name in options and results.
    pub(crate) fn text(self) -> &'static str {
        match self {
            KernelName::Linear => "linear",
            KernelName::Rbf => "rbf",
            KernelName::Laplace => "laplace",
            KernelName::Poly => "poly",
            KernelName::Sigmoid => "sigmoid",
        }
    }

    /// The kernel, with a gamma that is not used.
    fn kernel(self, coef0: f64, degree: u32) -> Kernel {
        let gamma = 1.0;
        match self {
            KernelName::Linear => Kernel::Linear,
            KernelName::Rbf => Kernel::Rbf { gamma },
            KernelName::Laplace => Kernel::Laplace { gamma },
            KernelName::Poly => Kernel::Poly { gamma, coef0, degree },
            KernelName::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
        }
    }
}

/// Whether a machine of this bias and a kernel of this name makes up for a constant in a feature.
/// Names that are none of these are of alignments, which are of distances.
pub(crate) fn absorbs_constants(bias: Bias, kernel: &str) -> bool {
    let known = KernelName::from_str(kernel, false);
    known.map_or(true, |kernel| bias.absorbs_constants(&kernel.kernel(0.0, 1)))
}

/// `--kernel` and its parameters.
#[derive(Debug, clap::Args)]
pub(crate) struct KernelArgs {
    /// Kernel
    #[arg(long, value_name = "KERNEL", value_enum, default_value_t, help_heading = "SVM")]
    pub(crate) kernel: KernelName,
    /// gamma of the kernel: a number, scale = 1 / (K Var(X)), of laplace 1 / (K sd(X)),
    /// sigest[:BETA] = BETA / median squared distance, of laplace BETA / median sum of absolute
    /// differences, all for K features, or 1/p, p the features trained on [default: 1/p; fit scale]
    #[arg(long, value_name = "GAMMA", value_parser = gamma, allow_negative_numbers = true, help_heading = "SVM")]
    gamma: Option<Gamma>,
    /// Constant of the poly and sigmoid kernels [default: 0]
    #[arg(long, value_name = "R", value_parser = values::finite, allow_negative_numbers = true, help_heading = "SVM")]
    coef0: Option<f64>,
    /// Degree of the poly kernel [default: 3]
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u32).range(1..), help_heading = "SVM")]
    degree: Option<u32>,
}

impl KernelArgs {
    /// Refuses a parameter that the kernel does not have.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        let kernel = self.kernel;
        let typed = [
            ("gamma", self.gamma.is_some(), kernel != KernelName::Linear),
            ("coef0", self.coef0.is_some(), matches!(kernel, KernelName::Poly | KernelName::Sigmoid)),
            ("degree", self.degree.is_some(), kernel == KernelName::Poly),
        ];
        match typed.into_iter().find(|(_, typed, used)| *typed && !used) {
            Some((option, ..)) => Err(Failure::Input(format!(
                "--{option} has no meaning for the {} kernel; leave it out or choose another --kernel",
                kernel.text()
            ))),
            None => Ok(()),
        }
    }

    /// The kernel, with this gamma where none is typed.
    pub(crate) fn rule(&self, gamma: Gamma) -> KernelRule {
        // The rule has a gamma of its own.
        let kernel = self.kernel.kernel(self.coef0.unwrap_or(0.0), self.degree.unwrap_or(3));
        KernelRule::new(kernel, self.gamma.unwrap_or(gamma))
    }
}

/// `--class-weight`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClassWeight {
    /// All 1.
    None,
    /// n / (k n_c)
    Balanced,
    /// 1 / n_c
    Inverse,
    /// 1 / n_c + k
    Softened,
    /// The weight of each class by name; others 1.
    Each(Vec<(String, f64)>),
}

impl ClassWeight {
    /// As typed.
    pub(crate) fn text(&self) -> String {
        match self {
            ClassWeight::None => "none".to_owned(),
            ClassWeight::Balanced => "balanced".to_owned(),
            ClassWeight::Inverse => "cw2".to_owned(),
            ClassWeight::Softened => "cw3".to_owned(),
            ClassWeight::Each(pairs) => {
                let pairs: Vec<String> = pairs.iter().map(|(name, weight)| format!("{name}={weight}")).collect();
                pairs.join(",")
            }
        }
    }

    /// Reads the option.
    ///
    /// # Errors
    /// A weight that is no finite number above 0, a class that is named twice.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        match text {
            "none" | "cw1" => return Ok(ClassWeight::None),
            "cw2" => return Ok(ClassWeight::Inverse),
            "cw3" => return Ok(ClassWeight::Softened),
            "balanced" => return Ok(ClassWeight::Balanced),
            _ => {}
        }
        let pairs = notation::weighted(text).map_err(|why| format!("{why}; or write none, balanced, cw2 or cw3"))?;
        for (at, (name, weight)) in pairs.iter().enumerate() {
            if !(*weight > 0.0 && weight.is_finite()) {
                return Err(format!("the weight of class {name} is {weight}, but must be a finite number above 0"));
            }
            if pairs[..at].iter().any(|earlier| earlier.0 == *name) {
                return Err(format!("class {name} has two weights; leave one out"));
            }
        }
        Ok(ClassWeight::Each(pairs))
    }

    /// As the library takes it, by class.
    ///
    /// # Errors
    /// A class that the target does not have.
    pub(crate) fn weights(&self, target: &Target) -> Result<ClassWeights, Failure> {
        Ok(match self {
            ClassWeight::None => ClassWeights::None,
            ClassWeight::Balanced => ClassWeights::Balanced,
            ClassWeight::Inverse => ClassWeights::Inverse,
            ClassWeight::Softened => ClassWeights::Softened,
            ClassWeight::Each(pairs) => {
                let mut weights = vec![None; target.classes.len()];
                for (name, weight) in pairs {
                    let at = class_position(&target.classes, name).ok_or_else(|| {
                        Failure::Input(format!(
                            "--class-weight: there is no class {name}; the classes are {}",
                            notation::some(&target.classes)
                        ))
                    })?;
                    if weights[at].replace(*weight).is_some() {
                        return Err(Failure::Input(format!(
                            "--class-weight: class {} has two weights; leave one out",
                            target.classes[at]
                        )));
                    }
                }
                ClassWeights::Each(weights.into_iter().map(|weight| weight.unwrap_or(1.0)).collect())
            }
        })
    }
}
