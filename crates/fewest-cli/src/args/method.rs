//! The methods on the command line: which options each has, what they mean, how it is called, and what its settings are in
//! a result. A new method is entered here, and described in [`crate::commands::methods`]; nothing else names methods.

use std::path::Path;

#[cfg(feature = "highs")]
use fewest::method::benders::{self, GbdSettings};
use fewest::method::elimination::{self, RfeSettings, Step};
use fewest::method::filter::{self, Binning};
use fewest::method::generating::{self, FgmSettings, Mkl};
use fewest::method::path::{self, PathPoint};
use fewest::method::tree::{self, ExactSettings};
use fewest::model::Model;
use fewest::{Bias, Limits, Loss, Observer, Problem, Rules, Selection, SvmSettings};
use fewest_data::Names;
use serde_json::{Value, json};

use super::low::{KernelArg, LossArg, MklArg, OwnArgs, SelectionArgs, StepOf, SvmArgs};
use super::rules::{Features, read_values};
use super::{high, notation};
use crate::commands::methods;
use crate::commands::prepare::Prepared;
use crate::failure::Failure;

/// Methods that prove a bound.
const PROVING: &[&str] = &["exact", "gbd", "fgm"];
/// Methods that take a price per feature.
const PRICING: &[&str] = &["exact", "gbd"];

/// Options of single methods: the name, whether it is given, the methods that have it, and what else would give it a meaning.
fn own_options(args: &SelectionArgs) -> [(&'static str, bool, &'static [&'static str], &'static str); 11] {
    let (own, limits, certifies) = (&args.own, &args.limits, args.certify.is_some());
    [
        ("penalty", own.penalty.is_some(), PRICING, ""),
        ("max-cuts", own.max_cuts.is_some(), &["gbd"], ""),
        ("plain", own.plain, &["gbd", "fgm"], ""),
        ("top-b", own.top_b, &["fgm"], ""),
        ("mkl", own.mkl.is_some(), &["fgm"], ""),
        ("solutions", own.solutions.is_some(), &["exact"], ""),
        ("step", own.step.is_some(), &["rfe"], ""),
        ("step-of", own.step_of.is_some(), &["rfe"], ""),
        ("binning", own.binning.is_some(), &["info-gain"], ""),
        ("gap", limits.gap.is_some() && !certifies, PROVING, " or add --certify"),
        ("node-limit", limits.node_limit.is_some() && !certifies, &["exact"], " or add --certify"),
    ]
}

/// A method with its options, checked as far as that needs no data.
#[derive(Debug, PartialEq)]
pub(crate) enum Asked {
    /// SVM-RFE.
    Rfe(Step),
    /// Information gain.
    InfoGain(Binning),
    /// Branch and bound.
    Exact {
        /// Added per chosen feature.
        penalty: Penalty,
        /// How many best subsets.
        solutions: usize,
    },
    /// Generalized Benders Decomposition.
    #[cfg(feature = "highs")]
    Gbd {
        /// Added per chosen feature.
        penalty: Penalty,
        /// Cap on cuts.
        max_cuts: Option<u64>,
        /// The paper's text, without improvements.
        plain: bool,
    },
    /// Feature generating machine.
    Fgm {
        /// FGM-B.
        top_b: bool,
        /// Solver of multiple kernel learning.
        mkl: Mkl,
        /// The paper's text, without improvements.
        plain: bool,
    },
}

/// A method with all its settings.
#[derive(Debug)]
pub(crate) enum Method {
    /// SVM-RFE.
    Rfe(RfeSettings),
    /// Information gain.
    InfoGain(Binning),
    /// Branch and bound.
    Exact(ExactSettings),
    /// Generalized Benders Decomposition.
    #[cfg(feature = "highs")]
    Gbd(Box<GbdSettings>),
    /// Feature generating machine.
    Fgm(FgmSettings),
}

/// What a method found.
pub(crate) struct Selected {
    /// Subset, values, status.
    pub(crate) selection: Selection,
    /// The method's own classifier, where it is not the SVM trained on the subset.
    pub(crate) model: Option<Model>,
}

impl From<Selection> for Selected {
    fn from(selection: Selection) -> Self {
        Self { selection, model: None }
    }
}

impl Asked {
    /// The method asked for, with its own options.
    ///
    /// # Errors
    /// An unknown method, an option that belongs to another method, or a value out of range.
    pub(crate) fn read(args: &SelectionArgs) -> Result<Self, Failure> {
        let name = methods::find(&args.method)?.name;
        if let Some((option, _, of, or)) = own_options(args).into_iter().find(|o| o.1 && !o.2.contains(&name)) {
            let of = of.join(" and ");
            return Err(Failure::Input(format!("--{option} is an option of {of}, not of {name}; leave it out{or}")));
        }
        if args.certify.is_some() && PROVING.contains(&name) {
            return Err(Failure::Input(format!(
                "--certify looks for the best subset, but {name} does that itself and proves its bound; leave it out"
            )));
        }
        if args.svm.kernel != KernelArg::Linear {
            return Err(Failure::Input(format!(
                "{name} accepts --kernel linear only, not {}; select first, then train with `fewest fit --kernel {}`",
                high::kernel_name(args.svm.kernel),
                high::kernel_name(args.svm.kernel)
            )));
        }
        let own = &args.own;
        Ok(match name {
            "rfe" => Asked::Rfe(step(own.step.as_deref(), own.step_of)?),
            "info-gain" => Asked::InfoGain(binning(own.binning.as_deref())?),
            "exact" => Asked::Exact { penalty: Penalty::read(own)?, solutions: solutions(own)? },
            #[cfg(feature = "highs")]
            "gbd" => Asked::Gbd { penalty: Penalty::read(own)?, max_cuts: max_cuts(own)?, plain: own.plain },
            "fgm" => Asked::Fgm { top_b: own.top_b, mkl: mkl(own), plain: own.plain },
            other => unreachable!("{other} is described, but has no arm here"),
        })
    }

    /// The SVM of the method: what is typed, and the method's own defaults for what is not.
    ///
    /// # Errors
    /// A value out of range, or one that the method does not have.
    pub(crate) fn svm(&self, args: &SvmArgs) -> Result<SvmSettings, Failure> {
        let mut svm = high::svm(args)?;
        if let Asked::Fgm { .. } = self {
            if args.loss == Some(LossArg::Hinge) {
                return Err(Failure::input("fgm has --loss squared-hinge only; leave --loss out"));
            }
            svm.loss = Loss::SquaredHinge;
            if args.bias.is_none() {
                svm.bias = Bias::None;
            }
        }
        Ok(svm)
    }

    /// Whether the method finds a size by itself, so that no rule need bound it.
    pub(crate) fn finds_size(&self) -> bool {
        let penalty = match self {
            Asked::Rfe(_) | Asked::InfoGain(_) | Asked::Fgm { .. } => return false,
            Asked::Exact { penalty, .. } => penalty,
            #[cfg(feature = "highs")]
            Asked::Gbd { penalty, .. } => penalty,
        };
        !matches!(penalty, Penalty::None)
    }

    /// The settings, now that the features have names and the SVM its memory.
    ///
    /// # Errors
    /// A name that is no feature, or a feature without a penalty.
    pub(crate) fn resolve(&self, svm: &SvmSettings, features: &Features<'_>) -> Result<Method, Failure> {
        let svm = svm.clone();
        Ok(match self {
            Asked::Rfe(step) => Method::Rfe(RfeSettings { svm, step: *step }),
            Asked::InfoGain(binning) => Method::InfoGain(*binning),
            Asked::Exact { penalty, solutions } => {
                let (penalty, solutions) = (penalty.resolve(features)?, *solutions);
                Method::Exact(ExactSettings { svm, penalty, solutions, ..ExactSettings::default() })
            }
            #[cfg(feature = "highs")]
            Asked::Gbd { penalty, max_cuts, plain } => {
                let base = if *plain { GbdSettings::plain() } else { GbdSettings::default() };
                let (penalty, max_cuts) = (penalty.resolve(features)?, max_cuts.unwrap_or(base.max_cuts));
                Method::Gbd(Box::new(GbdSettings { svm, penalty, max_cuts, ..base }))
            }
            Asked::Fgm { top_b, mkl, plain } => {
                let SvmSettings { cost, bias, tolerance, memory, .. } = svm;
                Method::Fgm(FgmSettings { cost, bias, mkl: *mkl, reuse: !plain, top_b: *top_b, tolerance, memory })
            }
        })
    }
}

impl Method {
    /// Runs the method.
    ///
    /// # Errors
    /// Data that the method cannot take.
    pub(crate) fn select(
        &self,
        prepared: &Prepared,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Selected, Failure> {
        Ok(match self {
            Method::Rfe(settings) => {
                elimination::rfe(&two_classes(prepared, "rfe")?, rules, settings, limits, observer)?.into()
            }
            Method::InfoGain(binning) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                filter::information_gain(design, classes, rules, *binning, limits, observer)?.into()
            }
            Method::Exact(settings) => {
                tree::exact(&two_classes(prepared, "exact")?, rules, settings, limits, observer)?.into()
            }
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => {
                benders::gbd(&two_classes(prepared, "gbd")?, rules, settings, limits, observer)?.selection.into()
            }
            Method::Fgm(settings) => {
                let report = generating::fgm(&two_classes(prepared, "fgm")?, rules, settings, limits, observer)?;
                let model = Some(report.model()).filter(|m| !m.features.is_empty());
                Selected { selection: report.selection, model }
            }
        })
    }

    /// Runs the method for each size.
    ///
    /// # Errors
    /// Data that the method cannot take, or sizes out of range.
    pub(crate) fn path(
        &self,
        prepared: &Prepared,
        rules: &Rules,
        sizes: &[usize],
        limits: &Limits,
        observer: &mut dyn Observer,
    ) -> Result<Vec<PathPoint>, Failure> {
        Ok(match self {
            Method::Rfe(settings) => {
                path::rfe_path(&two_classes(prepared, "rfe")?, rules, sizes, settings, limits, observer)?
            }
            Method::InfoGain(binning) => {
                let (design, classes) = (prepared.data.features.as_design(), &prepared.target.codes);
                path::information_gain_path(design, classes, rules, sizes, *binning, limits, observer)?
            }
            Method::Exact(settings) => {
                path::exact_path(&two_classes(prepared, "exact")?, rules, sizes, settings, limits, observer)?
            }
            #[cfg(feature = "highs")]
            Method::Gbd(_) => {
                return Err(Failure::input(
                    "path has no gbd; use --method exact, which proves the same values, or `fewest select` for each size",
                ));
            }
            Method::Fgm(_) => {
                return Err(Failure::input("path has no fgm; use `fewest select --method fgm` for each size"));
            }
        })
    }

    /// The method's own entries in the settings of a result.
    pub(crate) fn settings(&self, names: &Names) -> Vec<(&'static str, Value)> {
        match self {
            Method::Rfe(settings) => {
                let (step, of) = match settings.step {
                    Step::Count(count) => (json!(count), "count"),
                    Step::Remaining(share) => (json!(share), "remaining"),
                    Step::Original(share) => (json!(share), "original"),
                };
                vec![("step", step), ("step_of", json!(of))]
            }
            Method::InfoGain(Binning::Mdl) => vec![("binning", json!("mdl"))],
            Method::InfoGain(Binning::EqualFrequency(bins)) => vec![("binning", json!(bins))],
            Method::Exact(settings) => {
                vec![("penalty", priced(&settings.penalty, names)), ("solutions", json!(settings.solutions))]
            }
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => vec![
                ("penalty", priced(&settings.penalty, names)),
                ("max_cuts", json!(settings.max_cuts)),
                ("warm_start", json!(settings.warm_start)),
                ("root_cuts", json!(settings.root_cuts)),
                ("core_cuts", json!(settings.core_cuts)),
                ("cutoff", json!(settings.cutoff)),
            ],
            Method::Fgm(settings) => {
                vec![("top_b", json!(settings.top_b)), ("mkl", json!(settings.mkl)), ("reuse", json!(settings.reuse))]
            }
        }
    }

    /// Whether gap and node limit mean something to it.
    pub(crate) fn proves(&self) -> bool {
        !matches!(self, Method::Rfe(_) | Method::InfoGain(_))
    }

    /// What is added to the objective for each feature, length p; empty for nothing.
    pub(crate) fn penalty(&self) -> &[f64] {
        match self {
            Method::Exact(settings) => &settings.penalty,
            #[cfg(feature = "highs")]
            Method::Gbd(settings) => &settings.penalty,
            Method::Rfe(_) | Method::InfoGain(_) | Method::Fgm(_) => &[],
        }
    }
}

/// Penalties as a result shows them: null, one number, or one by name.
fn priced(penalty: &[f64], names: &Names) -> Value {
    match penalty {
        [] => Value::Null,
        [first, rest @ ..] if rest.iter().all(|l| l == first) => json!(first),
        each => Value::Object(names.iter().zip(each).map(|(n, l)| (n.into_owned(), json!(l))).collect()),
    }
}

/// The data as a problem of two classes.
///
/// # Errors
/// More classes, or a class whose samples all have weight 0. `who` needs two.
pub(crate) fn two_classes<'a>(prepared: &'a Prepared, who: &str) -> Result<Problem<'a>, Failure> {
    let target = &prepared.target;
    if target.classes.len() != 2 {
        return Err(Failure::Input(format!(
            "{}: {who} needs two classes, but `{}` has {} ({}); keep two of them, or use --method info-gain{}",
            prepared.data.source,
            target.column,
            target.classes.len(),
            notation::some(&target.classes),
            if who == "--certify" { " without it" } else { "" }
        )));
    }
    Ok(Problem::new(prepared.data.features.as_design(), &target.signs(), Some(&prepared.weights))?)
}

/// `--penalty`.
#[derive(Debug, PartialEq)]
pub(crate) enum Penalty {
    /// Not given.
    None,
    /// The same for every feature.
    Each(f64),
    /// By name, from a file.
    ByName {
        /// The file.
        file: String,
        /// What it holds.
        values: Vec<(String, f64)>,
    },
}

impl Penalty {
    fn read(own: &OwnArgs) -> Result<Self, Failure> {
        let Some(text) = own.penalty.as_deref() else { return Ok(Penalty::None) };
        let range = "a finite number, 0 or more";
        let fits = |x: f64| x >= 0.0 && x.is_finite();
        if let Ok(number) = text.parse::<f64>() {
            return if fits(number) {
                Ok(Penalty::Each(number))
            } else {
                Err(Failure::Input(format!("--penalty is {number}, but must be {range}, or a file")))
            };
        }
        if !Path::new(text).exists() {
            return Err(Failure::Input(format!(
                "--penalty is {text}, but must be {range}, or a file, and there is no such file"
            )));
        }
        let values = read_values(Path::new(text), "penalty")?;
        if let Some((name, value)) = values.iter().find(|v| !fits(v.1)) {
            return Err(Failure::Input(format!("{text}: the penalty of {name} is {value}, but must be {range}")));
        }
        Ok(Penalty::ByName { file: text.to_owned(), values })
    }

    /// One for each feature, or none at all.
    fn resolve(&self, features: &Features<'_>) -> Result<Vec<f64>, Failure> {
        match self {
            Penalty::None => Ok(Vec::new()),
            Penalty::Each(value) => Ok(vec![*value; features.len()]),
            Penalty::ByName { file, values } => {
                let indexed: Result<Vec<(usize, f64)>, Failure> =
                    values.iter().map(|(name, value)| Ok((features.index(name, file)?, *value))).collect();
                features.complete(&indexed?, file, "penalty")
            }
        }
    }
}

/// `--mkl`, or what `--plain` means.
fn mkl(own: &OwnArgs) -> Mkl {
    match own.mkl {
        Some(MklArg::Simple) => Mkl::Simple,
        None if own.plain => Mkl::Simple,
        Some(MklArg::Fast) | None => Mkl::Fast,
    }
}

/// `--max-cuts`.
#[cfg(feature = "highs")]
fn max_cuts(own: &OwnArgs) -> Result<Option<u64>, Failure> {
    match own.max_cuts {
        Some(0) => Err(Failure::input("--max-cuts is 0, but must be at least 1")),
        count => Ok(count),
    }
}

/// `--solutions`.
fn solutions(own: &OwnArgs) -> Result<usize, Failure> {
    match own.solutions {
        Some(0) => Err(Failure::input("--solutions is 0, but must be at least 1")),
        count => Ok(count.unwrap_or(1)),
    }
}

/// `--binning`.
fn binning(text: Option<&str>) -> Result<Binning, Failure> {
    match text {
        None | Some("mdl") => Ok(Binning::Mdl),
        Some(text) => match text.parse() {
            Ok(bins) if bins >= 2 => Ok(Binning::EqualFrequency(bins)),
            _ => Err(Failure::Input(format!("--binning is {text}, but must be mdl or a number of bins, at least 2"))),
        },
    }
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
