//! `--penalty`, the price of a feature.

use std::path::Path;

use fewest::method::penalty::Penalty as Prices;

use super::shared::MethodData;
use crate::args::features::{Features, Valued};
use crate::args::rules::read_values;
use crate::args::values;
use crate::failure::Failure;

/// The word for a price that is found.
const AUTO: &str = "auto";

/// `--penalty` of a method that takes numbers.
#[derive(Debug, clap::Args)]
pub(crate) struct PenaltyArg {
    /// Add this to the objective for each chosen feature: one number, or a csv file with lines
    /// name,penalty or a .json object
    #[arg(long, value_name = "L|FILE", value_parser = Penalty::read, allow_negative_numbers = true, help_heading = "Method")]
    penalty: Option<Penalty>,
}

/// `--penalty` of a method that finds one, too.
#[derive(Debug, clap::Args)]
pub(crate) struct AutoPenaltyArg {
    /// Add this to the objective for each chosen feature: one number, or a csv file with lines
    /// name,penalty or a .json object; "auto": the number at which about --max-features features
    /// are worth it, found from the SVM on all features
    #[arg(long, value_name = "L|FILE|auto", value_parser = Penalty::read_or_auto, allow_negative_numbers = true, help_heading = "Method")]
    penalty: Option<Penalty>,
}

/// Prices of features.
#[derive(Debug, Clone)]
enum Penalty {
    /// One price for every feature.
    Each(f64),
    /// Prices by name, from a file.
    ByName { file: String, values: Vec<(String, f64)> },
    /// Found from the data.
    Auto,
}

impl Penalty {
    fn read_or_auto(text: &str) -> Result<Self, String> {
        if text == AUTO {
            Ok(Penalty::Auto)
        } else {
            Self::read_as(text, "a finite number, 0 or more, auto, or a file")
        }
    }

    fn read(text: &str) -> Result<Self, String> {
        if text == AUTO {
            return Err(
                "auto is of exact and gbd, which find the price of a ridge SVM and say it; give a number, or a file"
                    .to_owned(),
            );
        }
        Self::read_as(text, "a finite number, 0 or more, or a file")
    }

    fn read_as(text: &str, allowed: &str) -> Result<Self, String> {
        if text.parse::<f64>().is_ok() {
            return values::not_negative(text).map(Penalty::Each).map_err(|_| format!("must be {allowed}"));
        }
        if !Path::new(text).exists() {
            return Err(format!("must be {allowed}, and there is no such file"));
        }
        let values = read_values(Path::new(text), "penalty").map_err(Failure::into_text)?;
        if let Some((name, value)) = values.iter().find(|v| !(v.1 >= 0.0 && v.1.is_finite())) {
            return Err(format!("{text}: the penalty of {name} is {value}, but must be a finite number, 0 or more"));
        }
        Ok(Penalty::ByName { file: text.to_owned(), values })
    }
}

/// One price for each feature, none at all, or one to be found.
fn prices(penalty: Option<&Penalty>, data: &MethodData<'_>) -> Result<Prices, Failure> {
    Ok(match penalty {
        None => Prices::NONE,
        Some(Penalty::Auto) => Prices::Auto,
        Some(Penalty::Each(value)) => vec![*value; data.names.len()].into(),
        Some(Penalty::ByName { file, values }) => {
            let features = Features::new(data.names);
            let valued = values.iter().map(|(name, value)| {
                let found = match features.fitting(name, file)? {
                    Some(found) => found,
                    None => vec![features.index(name, file)?],
                };
                Ok(Valued::new(name, *value, &found))
            });
            features.complete(&valued.collect::<Result<Vec<_>, Failure>>()?, file, "penalty")?.into()
        }
    })
}

impl PenaltyArg {
    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.penalty.is_some()
    }

    /// One for each feature, or none at all.
    pub(crate) fn resolve(&self, data: &MethodData<'_>) -> Result<Vec<f64>, Failure> {
        Ok(prices(self.penalty.as_ref(), data)?.prices().to_vec())
    }
}

impl AutoPenaltyArg {
    /// Whether there is one.
    pub(crate) fn is_some(&self) -> bool {
        self.penalty.is_some()
    }

    /// One for each feature, none at all, or one to be found.
    pub(crate) fn resolve(&self, data: &MethodData<'_>) -> Result<Prices, Failure> {
        prices(self.penalty.as_ref(), data)
    }
}
