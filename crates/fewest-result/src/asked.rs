//! What was asked, as the `settings` of a result and of a proof's `made` have it: enough to read the
//! data again and to ask the same again.

use fewest::{RuleList, WeightBounds};
use fewest_data::{Names, ReadOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::ByName;

/// What was asked, under the names of the options.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// The data file; none where the data are arrays.
    pub data: Option<String>,
    /// Format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The column of the classes; none where the data are arrays.
    pub target: Option<String>,
    /// How the file was read, where not by default.
    #[serde(skip_serializing_if = "is_default", serialize_with = "said")]
    pub reading: ReadOptions,
    /// What stands in for missing values.
    pub missing: Option<String>,
    /// Scaling.
    pub scale: Option<String>,
    /// Why features are scaled so.
    pub scale_reason: Option<String>,
    /// Weights of classes.
    pub class_weight: Option<String>,
    /// The column of sample weights.
    pub sample_weights: Option<String>,
    /// Features of at most this variance are left out.
    pub variance_threshold: Option<f64>,
    /// The column of tasks.
    pub tasks: Option<String>,
    /// Samples that stay together.
    pub groups: Option<GroupsAsked>,
    /// Rules, of what selects.
    #[serde(flatten)]
    pub rules: Option<RulesAsked>,
    /// Most time, in seconds.
    pub time_limit: Option<f64>,
    /// Threads, where a run may end at a limit; nothing else depends on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Settings of the command and of its method.
    #[serde(flatten)]
    pub own: Map<String, Value>,
}

/// What the header of a proof says of how it was made, which is not checked: enough to read the data
/// again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Made {
    /// The method.
    pub method: String,
    /// Version of the program.
    pub version: String,
    /// The command line.
    pub command: String,
    /// Names of the features.
    pub names: Vec<String>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// What was asked.
    pub settings: Asked,
    /// How the data were read, in proofs before 0.1.0.
    #[serde(skip_serializing)]
    read: ReadOptions,
    /// The subset that the method chose, or that was to be judged, where the file lists better ones,
    /// too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<usize>,
}

impl Made {
    /// What made a proof.
    pub fn new(method: &str, command: &str, names: &Names, classes: &[String], settings: Asked) -> Self {
        Self {
            method: method.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            names: names.iter().map(Into::into).collect(),
            classes: classes.to_vec(),
            settings,
            ..Self::default()
        }
    }

    /// How the data were read.
    pub fn reading(&self) -> &ReadOptions {
        if is_default(&self.settings.reading) { &self.read } else { &self.settings.reading }
    }
}

/// How samples were kept together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupsAsked {
    /// The column that names the groups.
    pub column: Option<String>,
    /// How many it names.
    pub count: usize,
}

/// Rules as asked for, by name; the size is a setting of the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RulesAsked {
    /// Features that must be selected.
    pub require: Vec<String>,
    /// Features that must not.
    pub forbid: Vec<String>,
    /// The first needs the second.
    pub implies: Vec<[String; 2]>,
    /// At most this many of each group.
    pub at_most: Vec<(usize, Vec<String>)>,
    /// At least this many of each group.
    pub at_least: Vec<(usize, Vec<String>)>,
    /// Groups selected as a whole.
    pub together: Vec<Vec<String>>,
    /// What features may cost in all.
    pub budget: Option<f64>,
    /// What features cost, where not nothing.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub feature_costs: ByName<f64>,
    /// Bounds on weights, lower and upper; null where there is none.
    #[serde(skip_serializing_if = "ByName::is_empty")]
    pub weight_bounds: ByName<[Option<f64>; 2]>,
}

impl Asked {
    /// A setting of the command or of its method; none where there is none, or one of another kind.
    pub fn own<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.own.get(key).and_then(|value| serde_json::from_value(value.clone()).ok())
    }
}

impl RulesAsked {
    /// Rules on these features; of the costs those that are not 0.
    pub fn new(list: &RuleList, bounds: &WeightBounds, names: &Names) -> Self {
        let name = |j: usize| names.get(j).into_owned();
        let group = |group: &Vec<usize>| group.iter().map(|&j| name(j)).collect::<Vec<_>>();
        let counted = |all: &Vec<(usize, Vec<usize>)>| all.iter().map(|(m, of)| (*m, group(of))).collect();
        Self {
            require: group(&list.require),
            forbid: list.forbid.iter().map(name).collect(),
            implies: list.implies.iter().map(|&(a, b)| [name(a), name(b)]).collect(),
            at_most: counted(&list.at_most),
            at_least: counted(&list.at_least),
            together: list.together.iter().map(group).collect(),
            budget: list.budget,
            feature_costs: list
                .costs
                .iter()
                .enumerate()
                .filter(|(_, cost)| **cost != 0.0)
                .map(|(j, &cost)| (name(j), cost))
                .collect(),
            weight_bounds: bounds_by_name(bounds, names),
        }
    }
}

/// Bounds on weights by name, lower and upper; none where there is none.
pub fn bounds_by_name(bounds: &WeightBounds, names: &Names) -> ByName<[Option<f64>; 2]> {
    let finite = |x: f64| x.is_finite().then_some(x);
    let bounded = bounds.bounded();
    bounded.map(|(j, weight)| (names.get(j).into_owned(), [finite(weight.lower), finite(weight.upper)])).collect()
}

/// A record as the entries of an object.
pub fn entries<T: Serialize>(record: &T) -> Map<String, Value> {
    match serde_json::to_value(record) {
        Ok(Value::Object(entries)) => entries,
        other => unreachable!("a record is an object: {other:?}"),
    }
}

fn is_default(reading: &ReadOptions) -> bool {
    reading.said().is_empty()
}

fn said<S: Serializer>(reading: &ReadOptions, to: S) -> Result<S::Ok, S::Error> {
    reading.said().serialize(to)
}
