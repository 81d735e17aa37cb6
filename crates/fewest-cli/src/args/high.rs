//! What the command line means: settings checked against their ranges before any data are read.

use std::path::Path;
use std::time::Duration;

use fewest::{Bias, Kernel, Limits, Loss, SvmSettings};
use fewest_data::{Format, ReadOptions, Target};

use super::low::{DataArgs, KernelArg, KernelArgs, LimitArgs, LossArg, RuleArgs, SvmArgs};
use super::notation;
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
                "{path}: the ending tells no format; use .csv, .tsv, .svm, .libsvm, .arff, .parquet, .npz (also with .gz, .zst, .bz2) or .csc, or name one with --out-format"
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

/// The limits of a run, without the flag that cancels it.
///
/// # Errors
/// A value that cannot be understood or is out of range.
pub(crate) fn limits(args: &LimitArgs) -> Result<Limits, Failure> {
    let none = Limits::default();
    let limits = Limits {
        time: time_limit(args.time_limit.as_deref())?,
        nodes: args.node_limit,
        gap_rel: args.gap.unwrap_or(none.gap_rel),
        ..none
    };
    limits.check()?;
    Ok(limits)
}

/// `--max-features` of `select`: one size.
///
/// # Errors
/// When it is no whole number.
pub(crate) fn max_features(args: &RuleArgs) -> Result<Option<usize>, Failure> {
    let Some(text) = &args.max_features else { return Ok(None) };
    match (text.parse(), notation::sizes(text)) {
        (Ok(k), _) => Ok(Some(k)),
        (Err(_), Ok(_)) => Err(Failure::Input(format!(
            "--max-features is {text}, but select takes one size; `fewest path` takes several"
        ))),
        (Err(_), Err(_)) => {
            Err(Failure::Input(format!("--max-features is {text}, but must be a whole number, at least 1")))
        }
    }
}

/// `--max-features` of `path`: sizes, ascending.
///
/// # Errors
/// When it is missing or no list of sizes.
pub(crate) fn sizes(args: &RuleArgs) -> Result<Vec<usize>, Failure> {
    let text = args.max_features.as_deref();
    let text = text.ok_or_else(|| Failure::input("say for which sizes: --max-features 1..20, or 1..20:2, or 1,2,5"))?;
    notation::sizes(text).map_err(|why| Failure::Input(format!("--max-features is {text}, but {why}")))
}

/// Settings of the SVM, checked; the memory for kernel values is set once the size of the data is known.
///
/// # Errors
/// A number out of range.
pub(crate) fn svm(args: &SvmArgs) -> Result<SvmSettings, Failure> {
    let bias = match args.bias.as_deref().unwrap_or("free") {
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
        None | Some(LossArg::Hinge) => Loss::Hinge,
        Some(LossArg::SquaredHinge) => Loss::SquaredHinge,
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

/// The kind of a kernel.
pub(crate) fn kernel_arg(kernel: &Kernel) -> KernelArg {
    match kernel {
        Kernel::Linear | Kernel::Precomputed => KernelArg::Linear,
        Kernel::Rbf { .. } => KernelArg::Rbf,
        Kernel::Poly { .. } => KernelArg::Poly,
        Kernel::Sigmoid { .. } => KernelArg::Sigmoid,
    }
}

/// Costs: a list of numbers above 0, ascending.
///
/// # Errors
/// An entry that is no such number.
pub(crate) fn costs(text: &str) -> Result<Vec<f64>, Failure> {
    let number = |entry: &str| match entry.trim().parse::<f64>() {
        Ok(cost) if cost > 0.0 && cost.is_finite() => Ok(cost),
        _ => Err(Failure::Input(format!("--costs holds `{entry}`, but must be numbers above 0 with commas between"))),
    };
    let mut costs = text.split(',').map(number).collect::<Result<Vec<f64>, Failure>>()?;
    costs.sort_by(f64::total_cmp);
    costs.dedup();
    Ok(costs)
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
    /// 1 / n_c
    Inverse,
    /// 1 / n_c + k
    Softened,
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
            "none" | "cw1" => Ok(ClassWeight::None),
            "cw2" => Ok(ClassWeight::Inverse),
            "cw3" => Ok(ClassWeight::Softened),
            "balanced" => Ok(ClassWeight::Balanced),
            _ => {
                let pairs = notation::weighted(text).map_err(|why| {
                    Failure::Input(format!("--class-weight: {why}; or write none, balanced, cw2 or cw3"))
                })?;
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
            ClassWeight::Inverse => Ok(target.counts().iter().map(|&c| 1.0 / c.max(1) as f64).collect()),
            ClassWeight::Softened => Ok(target.counts().iter().map(|&c| 1.0 / c.max(1) as f64 + k as f64).collect()),
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
