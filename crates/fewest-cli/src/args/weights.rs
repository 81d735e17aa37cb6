//! Signs and bounds of weights: from names, in options and in files, to indices.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::AnyMethod;
use fewest::WeightBound;
use fewest_data::Target;

use super::data::{SmallTable, read_text};
use super::features::Features;
use super::notation;
use crate::failure::Failure;

/// Bounds on the weights of a linear SVM.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct WeightArgs {
    /// age:+,income:- - the weight of age is never below 0, that of income never above: more income
    /// never speaks for the class +1 (repeat freely)
    #[arg(long, value_name = "NAME:SIGN", allow_hyphen_values = true, help_heading = "Rules")]
    sign: Vec<String>,
    /// Bounds on the weights of features, as the SVM sees them (of scaled columns): a csv file with
    /// lines name,lower,upper or a .json object {"name": [lower, upper]}
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    weight_bounds: Option<PathBuf>,
}

/// A bound with the name of its feature, and where it is stated.
#[derive(Debug)]
struct Named {
    place: String,
    name: String,
    lower: Option<f64>,
    upper: Option<f64>,
}

/// Bounds by name.
#[derive(Debug, Default)]
pub(crate) struct WeightSource(Vec<Named>);

/// One key of `[weights]` in a rules file: "+", "-" or `[lower, upper]`.
#[derive(Debug, serde::Deserialize)]
#[serde(untagged)]
pub(crate) enum WeightEntry {
    Sign(String),
    Bounds([f64; 2]),
}

impl WeightArgs {
    /// Reads the notation and the file.
    pub(crate) fn read(&self) -> Result<WeightSource, Failure> {
        let mut source = WeightSource::default();
        for text in &self.sign {
            let signs = notation::signs(text).map_err(|why| Failure::Input(format!("--sign: {why}")))?;
            for (name, sign) in signs {
                source.add_sign("--sign", name, &sign)?;
            }
        }
        if let Some(path) = &self.weight_bounds {
            let before = source.0.len();
            source.add_file(path)?;
            if source.0.len() == before {
                return Err(Failure::Input(format!("{}: there is no bound; write name,lower,upper", path.display())));
            }
        }
        Ok(source)
    }
}

impl WeightSource {
    fn add_sign(&mut self, place: &str, name: String, sign: &str) -> Result<(), Failure> {
        let (lower, upper) = match sign {
            "+" => (Some(0.0), None),
            "-" => (None, Some(0.0)),
            _ => {
                return Err(Failure::Input(format!(
                    "{place}: the sign of {name} is \"{sign}\", but must be + (the weight is 0 or more) or - (0 or less)"
                )));
            }
        };
        self.0.push(Named { place: place.to_owned(), name, lower, upper });
        Ok(())
    }

    fn add(&mut self, place: String, name: String, [lower, upper]: [Option<f64>; 2]) {
        self.0.push(Named { place, name, lower, upper });
    }

    /// Adds `[weights]` of a rules file.
    pub(crate) fn add_table(&mut self, file: &str, table: &BTreeMap<String, WeightEntry>) -> Result<(), Failure> {
        let place = format!("{file}: weights");
        for (name, entry) in table {
            match entry {
                WeightEntry::Sign(sign) => self.add_sign(&place, name.clone(), sign)?,
                WeightEntry::Bounds(bounds) => self.add(place.clone(), name.clone(), bounds.map(Some)),
            }
        }
        Ok(())
    }

    /// Adds the file of `--weight-bounds`.
    fn add_file(&mut self, path: &Path) -> Result<(), Failure> {
        let (text, file) = (read_text(path)?, path.display());
        if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
            let map: BTreeMap<String, [Option<f64>; 2]> = serde_json::from_str(&text).map_err(|error| {
                Failure::Input(format!(
                    "{file}: {error}; write an object {{\"name\": [lower, upper], ...}}, null for no bound"
                ))
            })?;
            for (name, bounds) in map {
                self.add(file.to_string(), name, bounds);
            }
            return Ok(());
        }
        let table = SmallTable::of(&text).map_err(|why| Failure::Input(format!("{file}, {why}")))?;
        let first = table.lines.first().map(|line| line.0);
        for (at, fields) in &table.lines {
            let place = format!("{file}, line {at}");
            let [name, lower, upper] = fields.as_slice() else {
                let count = fields.len();
                return Err(Failure::Input(format!(
                    "{place}: {count} fields, but each line must be name,lower,upper, empty where there is no bound"
                )));
            };
            let number = |text: &String| if text.is_empty() { Some(None) } else { table.number(text).map(Some) };
            match (number(lower), number(upper)) {
                (Some(lower), Some(upper)) => self.add(place, name.clone(), [lower, upper]),
                _ if Some(*at) == first => {}
                _ => {
                    return Err(Failure::Input(format!(
                        "{place}: the bounds of {name} are \"{lower}\" and \"{upper}\", but must be numbers, or empty"
                    )));
                }
            }
        }
        Ok(())
    }

    /// What the signs and bounds are of, where there are any and two classes.
    pub(crate) fn meaning(&self, target: &Target) -> Option<String> {
        let positive = target.positive().filter(|_| !self.0.is_empty())?;
        Some(format!(
            "signs and bounds of weights are of scores for the class {positive} (+1); --positive names the other"
        ))
    }

    /// Refuses what `who` does not obey; `instead` is the remedy besides leaving the bounds out.
    pub(crate) fn refused_by(&self, who: &str, instead: &str) -> Result<(), Failure> {
        match self.0.first() {
            None => Ok(()),
            Some(Named { place, name, .. }) => Err(Failure::Input(format!(
                "{place} bounds the weight of {name}, but {who} obeys no bounds on weights; leave them out, or {instead}"
            ))),
        }
    }

    /// Refuses bounds that a method does not obey.
    pub(crate) fn obeyed_by(&self, method: &str) -> Result<(), Failure> {
        let methods = AnyMethod::bounding();
        if methods.contains(&method) {
            return Ok(());
        }
        self.refused_by(&format!("--method {method}"), &format!("use --method {}", methods.join(" or ")))
    }

    /// Names to indices; that of a variable means all its columns.
    pub(crate) fn resolve(&self, features: &Features<'_>) -> Result<Vec<WeightBound>, Failure> {
        let mut bounds = Vec::new();
        for Named { place, name, lower, upper } in &self.0 {
            let bound = |feature| WeightBound { feature, lower: *lower, upper: *upper };
            bounds.extend(features.meant(name, place)?.into_iter().map(bound));
        }
        Ok(bounds)
    }
}
