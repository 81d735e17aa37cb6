//! What the command line means: settings checked against their ranges before any data are read.

use std::path::Path;
use std::time::Duration;

use fewest::method::elimination::{RfeSettings, Step};
use fewest::method::filter::Binning;
use fewest::{Bias, Kernel, Loss, SvmSettings};
use fewest_data::{Format, ReadOptions, Target};

use super::low::{DataArgs, KernelArg, KernelArgs, LossArg, SelectArgs, StepOf, SvmArgs};
use super::notation;
use crate::commands::methods;
use crate::failure::Failure;

/// The data path as the readers take it.
pub(crate) fn path_text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| Failure::Input(format!("{}: the path is not valid UTF-8; rename it", path.display())))
}

/// A format by its name in an option.
///
/// # Errors
/// An unknown name, with the list of names.
pub(crate) fn format(option: &str, name: &str) -> Result<Format, Failure> {
    Format::by_name(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|f| f.name()).collect();
        Failure::Input(format!("{option} is {name}, but must be one of {}", known.join(", ")))
    })
}

/// The format to write a data file in: as named by `--out-format`, else by the ending of the path.
///
/// # Errors
/// An unknown name, or an ending that tells nothing.
pub(crate) fn out_format(path: &str, named: Option<&str>) -> Result<Format, Failure> {
    match named {
        Some(name) => format("--out-format", name),
        None => Format::of_path(path).ok_or_else(|| {
            Failure::Input(format!(
                "{path}: the ending tells no format; use .csv, .tsv, .svm, .libsvm, .arff, .parquet or .npz (also with .gz, .zst, .bz2), or name one with --out-format"
            ))
        }),
    }
}

/// The names in all values of a repeatable option.
///
/// # Errors
/// A list that cannot be understood.
pub(crate) fn names(option: &str, lists: &[String]) -> Result<Vec<String>, Failure> {
    let lists: Result<Vec<_>, _> = lists.iter().map(|l| notation::names(l)).collect();
    Ok(lists.map_err(|why| Failure::Input(format!("{option}: {why}")))?.concat())
}

/// How to read the data.
///
/// # Errors
/// An unknown format, or a value that cannot be understood.
pub(crate) fn read_options(args: &DataArgs) -> Result<ReadOptions, Failure> {
    Ok(ReadOptions {
        target: args.target.clone(),
        format: args.format.as_deref().map(|name| format("--format", name)).transpose()?,
        memory_limit: memory(args)?,
        drop: names("--drop", &args.drop)?,
        text: names("--text", &args.text)?,
        no_header: args.no_header,
        index_limit: args.index_limit,
        ..ReadOptions::default()
    })
}

/// `--memory` in bytes.
///
/// # Errors
/// When it is no size.
pub(crate) fn memory(args: &DataArgs) -> Result<Option<u64>, Failure> {
    let size = args.memory.as_deref().map(notation::size).transpose();
    size.map_err(|why| Failure::Input(format!("--memory: {why}")))
}

/// `--time-limit`.
///
/// # Errors
/// When it is no time.
pub(crate) fn time_limit(text: Option<&str>) -> Result<Option<Duration>, Failure> {
    text.map(notation::time).transpose().map_err(|why| Failure::Input(format!("--time-limit: {why}")))
}

/// Settings of the SVM, checked; the memory for kernel values is set once the size of the data is known.
///
/// # Errors
/// A number out of range.
pub(crate) fn svm(args: &SvmArgs) -> Result<SvmSettings, Failure> {
    let bias = match args.bias.as_str() {
        "free" => Bias::Free,
        "none" => Bias::None,
        number => match number.parse::<f64>() {
            Ok(value) if value > 0.0 && value.is_finite() => Bias::Penalised(value),
            _ => {
                return Err(Failure::Input(format!("--bias is {number}, but must be free, none, or a number above 0")));
            }
        },
    };
    let loss = match args.loss {
        LossArg::Hinge => Loss::Hinge,
        LossArg::SquaredHinge => Loss::SquaredHinge,
    };
    let settings = SvmSettings { cost: args.cost, loss, bias, tolerance: args.tolerance, ..SvmSettings::default() };
    settings.check()?;
    Ok(settings)
}

/// Kernel with gamma perhaps still to be found from the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct KernelMeaning {
    kind: KernelArg,
    gamma: Gamma,
    coef0: f64,
    degree: u32,
}

/// `--gamma`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Gamma {
    /// 1 / (p Var(X))
    Scale,
    /// 1 / p
    PerFeature,
    /// This.
    Number(f64),
}

/// The kernel asked for.
///
/// # Errors
/// A parameter out of range, or one the kernel does not have.
pub(crate) fn kernel(kind: KernelArg, args: &KernelArgs) -> Result<KernelMeaning, Failure> {
    let name = kernel_name(kind);
    let given = [
        ("gamma", args.gamma.is_some(), kind != KernelArg::Linear),
        ("coef0", args.coef0.is_some(), matches!(kind, KernelArg::Poly | KernelArg::Sigmoid)),
        ("degree", args.degree.is_some(), kind == KernelArg::Poly),
    ];
    if let Some((option, ..)) = given.into_iter().find(|(_, given, used)| *given && !used) {
        return Err(Failure::Input(format!(
            "--{option} has no meaning for the {name} kernel; leave it out or choose another --kernel"
        )));
    }
    let gamma =
        match args.gamma.as_deref() {
            None | Some("scale") => Gamma::Scale,
            Some("1/p") => Gamma::PerFeature,
            Some(text) => Gamma::Number(text.parse().map_err(|_| {
                Failure::Input(format!("--gamma is {text}, but must be a number above 0, scale, or 1/p"))
            })?),
        };
    let meaning = KernelMeaning { kind, gamma, coef0: args.coef0.unwrap_or(0.0), degree: args.degree.unwrap_or(3) };
    meaning.at(if let Gamma::Number(gamma) = gamma { gamma } else { 1.0 }).check()?;
    Ok(meaning)
}

impl KernelMeaning {
    fn at(self, gamma: f64) -> Kernel {
        let (coef0, degree) = (self.coef0, self.degree);
        match self.kind {
            KernelArg::Linear => Kernel::Linear,
            KernelArg::Rbf => Kernel::Rbf { gamma },
            KernelArg::Poly => Kernel::Poly { gamma, coef0, degree },
            KernelArg::Sigmoid => Kernel::Sigmoid { gamma, coef0 },
        }
    }

    /// The kernel for these columns of the (scaled) data.
    pub(crate) fn resolve(self, design: &dyn fewest::Design, features: &[usize]) -> Kernel {
        let gamma = match self.gamma {
            Gamma::Number(gamma) => gamma,
            Gamma::PerFeature => 1.0 / features.len().max(1) as f64,
            Gamma::Scale => {
                let (mut sum, mut squares) = (0.0, 0.0);
                for &j in features {
                    design.each_in_column(j, &mut |_, x| {
                        sum += x;
                        squares += x * x;
                    });
                }
                let count = (design.n_samples() * features.len()).max(1) as f64;
                let variance = squares / count - (sum / count) * (sum / count);
                let scale = 1.0 / (features.len().max(1) as f64 * variance);
                if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
            }
        };
        self.at(gamma)
    }
}

/// The name of a kernel in options and results.
pub(crate) fn kernel_name(kind: KernelArg) -> &'static str {
    match kind {
        KernelArg::Linear => "linear",
        KernelArg::Rbf => "rbf",
        KernelArg::Poly => "poly",
        KernelArg::Sigmoid => "sigmoid",
    }
}

/// `--class-weight`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ClassWeight {
    /// All 1.
    None,
    /// n / (k n_c)
    Balanced,
    /// By class name; others 1.
    Each(Vec<(String, f64)>),
}

impl ClassWeight {
    /// Reads the option.
    ///
    /// # Errors
    /// A weight that is no finite number above 0.
    pub(crate) fn read(text: &str) -> Result<Self, Failure> {
        match text {
            "none" => Ok(ClassWeight::None),
            "balanced" => Ok(ClassWeight::Balanced),
            _ => {
                let pairs = notation::weighted(text)
                    .map_err(|why| Failure::Input(format!("--class-weight: {why}; or write none or balanced")))?;
                match pairs.iter().find(|(_, w)| !(*w > 0.0 && w.is_finite())) {
                    Some((name, weight)) => Err(Failure::Input(format!(
                        "--class-weight: the weight of class {name} is {weight}, but must be a finite number above 0"
                    ))),
                    None => Ok(ClassWeight::Each(pairs)),
                }
            }
        }
    }

    /// The weight of each class.
    ///
    /// # Errors
    /// A class that the target does not have.
    pub(crate) fn resolve(&self, target: &Target) -> Result<Vec<f64>, Failure> {
        let (n, k) = (target.codes.len() as f64, target.classes.len());
        match self {
            ClassWeight::None => Ok(vec![1.0; k]),
            ClassWeight::Balanced => Ok(target.counts().iter().map(|&c| n / (k as f64 * c.max(1) as f64)).collect()),
            ClassWeight::Each(pairs) => {
                let mut weights = vec![1.0; k];
                for (name, weight) in pairs {
                    let at = target.classes.iter().position(|c| c == name).ok_or_else(|| {
                        Failure::Input(format!(
                            "--class-weight: there is no class {name}; the classes are {}",
                            notation::some(&target.classes)
                        ))
                    })?;
                    weights[at] = *weight;
                }
                Ok(weights)
            }
        }
    }
}

/// A method with its settings.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Method {
    /// SVM-RFE.
    Rfe(RfeSettings),
    /// Information gain.
    InfoGain(Binning),
}

/// The method asked for, with its own options.
///
/// # Errors
/// An unknown method, an option that belongs to another method, or a value out of range.
pub(crate) fn method(args: &SelectArgs, svm: &SvmSettings) -> Result<Method, Failure> {
    let name = methods::find(&args.method)?.name;
    let own = [
        ("step", args.step.is_some(), "rfe"),
        ("step-of", args.step_of.is_some(), "rfe"),
        ("binning", args.binning.is_some(), "info-gain"),
    ];
    if let Some((option, _, of)) = own.into_iter().find(|(_, given, of)| *given && *of != name) {
        return Err(Failure::Input(format!("--{option} is an option of {of}, not of {name}; leave it out")));
    }
    if args.svm.kernel != KernelArg::Linear {
        return Err(Failure::Input(format!(
            "{name} accepts --kernel linear only, not {}; select first, then train with `fewest fit --kernel {}`",
            kernel_name(args.svm.kernel),
            kernel_name(args.svm.kernel)
        )));
    }
    if name == "rfe" {
        return Ok(Method::Rfe(RfeSettings { svm: svm.clone(), step: step(args.step.as_deref(), args.step_of)? }));
    }
    let binning = match args.binning.as_deref() {
        None | Some("mdl") => Binning::Mdl,
        Some(text) => match text.parse() {
            Ok(bins) if bins >= 2 => Binning::EqualFrequency(bins),
            _ => {
                return Err(Failure::Input(format!(
                    "--binning is {text}, but must be mdl or a number of bins, at least 2"
                )));
            }
        },
    };
    Ok(Method::InfoGain(binning))
}

/// `--step` and `--step-of`.
fn step(text: Option<&str>, of: Option<StepOf>) -> Result<Step, Failure> {
    let share = |share: f64| if of == Some(StepOf::Original) { Step::Original(share) } else { Step::Remaining(share) };
    let text = text.unwrap_or("1");
    let step = if text == "half" {
        share(0.5)
    } else if let Ok(count) = text.parse::<usize>() {
        Step::Count(count)
    } else {
        share(text.parse().unwrap_or(f64::NAN))
    };
    match step {
        Step::Count(0) | Step::Remaining(_) | Step::Original(_) if !fraction_fits(step) => Err(Failure::Input(
            format!("--step is {text}, but must be a whole number, at least 1, a fraction between 0 and 1, or half"),
        )),
        Step::Count(_) if of.is_some() => Err(Failure::Input(format!(
            "--step-of says what a fraction is a fraction of, but --step is {text}; leave it out"
        ))),
        _ => Ok(step),
    }
}

fn fraction_fits(step: Step) -> bool {
    match step {
        Step::Count(count) => count > 0,
        Step::Remaining(share) | Step::Original(share) => share > 0.0 && share < 1.0,
    }
}
