//! Values of the options of single methods, from text to meaning.

use std::path::Path;

use fewest::Design;
use fewest::method::fgm::Mkl;
use fewest::method::info_gain::Binning;
use fewest::method::kta;
#[cfg(feature = "highs")]
use fewest::method::milo_k::{BigM, Formulation, MiloSettings};
use fewest_data::Names;
use serde_json::{Value, json};

#[cfg(feature = "highs")]
use super::low::{BigMArg, LpArg};
use super::low::{MklArg, OwnArgs};
use super::rules::{Features, read_values};
use crate::failure::Failure;

/// `--gamma`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Gamma {
    /// This.
    Number(f64),
    /// This share of 1 / median squared distance, for as many features as may be chosen.
    Sigest(f64),
    /// 1 / (K Var(X)).
    Scale,
    /// 1 / features trained on.
    PerFeature,
}

impl Gamma {
    pub(super) fn read(text: Option<&str>) -> Result<Self, Failure> {
        let (gamma, number) = match text {
            None | Some("sigest") => return Ok(Gamma::Sigest(1.0)),
            Some("scale") => return Ok(Gamma::Scale),
            Some(text) => match text.strip_prefix("sigest:") {
                Some(beta) => (Gamma::Sigest as fn(f64) -> Self, beta),
                None => (Gamma::Number as fn(f64) -> Self, text),
            },
        };
        match number.parse::<f64>() {
            Ok(number) if number > 0.0 && number.is_finite() => Ok(gamma(number)),
            _ => Err(Failure::Input(format!(
                "--gamma is {}, but must be a number above 0, sigest, sigest:BETA with BETA above 0, or scale",
                text.unwrap_or_default()
            ))),
        }
    }

    /// The number, when at most `theta` features are chosen.
    pub(super) fn find(self, design: &dyn Design, theta: usize) -> Result<f64, Failure> {
        Ok(match self {
            Gamma::Number(gamma) => gamma,
            Gamma::Sigest(beta) => beta * kta::sigest(design, theta)?,
            Gamma::Scale => kta::scale(design, theta)?,
            Gamma::PerFeature => 1.0 / theta as f64,
        })
    }

    /// As typed.
    pub(super) fn text(self) -> String {
        match self {
            Gamma::Number(_) => "number".to_owned(),
            Gamma::Sigest(beta) => format!("sigest:{beta}"),
            Gamma::Scale => "scale".to_owned(),
            Gamma::PerFeature => "1/p".to_owned(),
        }
    }
}

/// Penalties as a result shows them: null, one number, or one by name.
pub(super) fn priced(penalty: &[f64], names: &Names) -> Value {
    match penalty {
        [] => Value::Null,
        [first, rest @ ..] if rest.iter().all(|l| l == first) => json!(first),
        each => Value::Object(names.iter().zip(each).map(|(n, l)| (n.into_owned(), json!(l))).collect()),
    }
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
    pub(super) fn read(own: &OwnArgs) -> Result<Self, Failure> {
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
    pub(super) fn resolve(&self, features: &Features<'_>) -> Result<Vec<f64>, Failure> {
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
pub(super) fn mkl(own: &OwnArgs) -> Mkl {
    match own.mkl {
        Some(MklArg::Simple) => Mkl::Simple,
        None if own.plain => Mkl::Simple,
        Some(MklArg::Fast) | None => Mkl::Fast,
    }
}

/// As typed.
#[cfg(feature = "highs")]
pub(super) fn lp_name(interior: bool) -> &'static str {
    if interior { "interior" } else { "simplex" }
}

/// The program of `milo-k` or `rmilo-k`.
#[cfg(feature = "highs")]
pub(super) fn milo(name: &str, own: &OwnArgs) -> MiloSettings {
    let formulation = match own.big_m {
        _ if name == "milo-k" => Formulation::Milo,
        Some(BigMArg::Tight) => Formulation::Reduced(BigM::Tight),
        Some(BigMArg::Padded) | None => Formulation::Reduced(BigM::Padded),
    };
    MiloSettings {
        formulation,
        start: !own.plain,
        interior: own.lp == Some(LpArg::Interior),
        ..MiloSettings::default()
    }
}

/// The number of an option that may not be 0.
pub(super) fn at_least_one(option: &str, count: Option<u64>) -> Result<Option<u64>, Failure> {
    match count {
        Some(0) => Err(Failure::Input(format!("--{option} is 0, but must be at least 1"))),
        count => Ok(count),
    }
}

/// `--solutions`.
pub(super) fn solutions(own: &OwnArgs) -> Result<usize, Failure> {
    Ok(at_least_one("solutions", own.solutions)?.unwrap_or(1) as usize)
}

/// `--binning`.
pub(super) fn binning(text: Option<&str>) -> Result<Binning, Failure> {
    match text {
        None | Some("mdl") => Ok(Binning::Mdl),
        Some(text) => match text.parse() {
            Ok(bins) if bins >= 2 => Ok(Binning::EqualFrequency(bins)),
            _ => Err(Failure::Input(format!("--binning is {text}, but must be mdl or a number of bins, at least 2"))),
        },
    }
}
