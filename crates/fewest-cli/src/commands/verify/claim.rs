//! What a proof claims, from the header that the checker has accepted, under the names that results
//! have for it.

use fewest::kernel::DistanceKernel;
use fewest::{Bias, Loss, RuleList, Rules, WeightBounds};
use fewest_data::Names;
use fewest_result::{RulesAsked, entries};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::export::settings;

/// What a weight gains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Gain {
    Ridge,
    L1,
    Alignment,
}

impl Gain {
    /// The gain of a method's proofs; that of a certificate where the method proves nothing itself.
    pub(super) fn of_method(method: &str) -> Self {
        match method {
            "mbp" => Self::L1,
            "kta" => Self::Alignment,
            _ => Self::Ridge,
        }
    }
}

/// A bias as the header has it.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum HeaderBias {
    Free,
    None,
    Penalised(f64),
}

/// The header, without what made the proof: what the checker has read, shown as it stands there.
#[derive(Debug, Deserialize)]
pub(super) struct Claim {
    pub(super) p: usize,
    #[serde(default = "one")]
    pub(super) problems: usize,
    pub(super) fingerprint: String,
    pub(super) gain: Gain,
    pub(super) loss: Option<Loss>,
    bias: Option<HeaderBias>,
    pub(super) cost: Option<f64>,
    #[serde(default)]
    penalty: Vec<f64>,
    /// u of each feature (gain `l1`); empty where there is none.
    #[serde(default)]
    pub(super) weight_bounds: Vec<f64>,
    kernel: Option<DistanceKernel>,
    pub(super) gamma: Option<f64>,
    #[serde(default)]
    categorical: Vec<usize>,
    pub(super) rules: RuleList,
    /// Bounds on weights, of a feature that is named twice the tighter ends.
    #[serde(skip)]
    pub(super) bounds: WeightBounds,
}

fn one() -> usize {
    1
}

impl Claim {
    /// Reads a header that the checker has accepted; names are for messages.
    ///
    /// # Errors
    /// What cannot be shown: then nothing is verified.
    pub(super) fn read(header: &str, names: &Names) -> Result<Self, String> {
        let mut claim: Self = serde_json::from_str(header).map_err(|error| error.to_string())?;
        let name = |j: usize| names.get(j).into_owned();
        claim.bounds = WeightBounds::new(claim.p, &claim.rules.weights, &name).map_err(|error| error.to_string())?;
        Ok(claim)
    }

    /// The bias, of an SVM.
    pub(super) fn bias(&self) -> Option<Bias> {
        self.bias.map(|bias| match bias {
            HeaderBias::Free => Bias::Free,
            HeaderBias::None => Bias::None,
            HeaderBias::Penalised(value) => Bias::Penalised(value),
        })
    }

    /// The features that the rules leave no way in; none where the rules contradict each other.
    pub(super) fn ruled_out(&self) -> Vec<usize> {
        let size = self.rules.max_features.map(|size| size.min(self.p));
        let Ok(rules) = Rules::new(self.p, RuleList { max_features: size, ..self.rules.clone() }, &[]) else {
            return Vec::new();
        };
        (0..self.p).filter(|&j| rules.root()[rules.unit_of(j)] == fewest::Choice::Out).collect()
    }

    /// Features that no rule forbids and whose u is 0: they can have no weight.
    pub(super) fn weightless(&self) -> usize {
        let zero = self.weight_bounds.iter().enumerate().filter(|(_, u)| **u == 0.0);
        zero.filter(|(j, _)| !self.rules.forbid.contains(*j)).count()
    }

    /// All of it that a user can ask for, by the names of settings.
    pub(super) fn entries(&self, names: &Names) -> Map<String, Value> {
        let said = if self.gain == Gain::Alignment {
            let kernel = KernelName::OfDistances(self.kernel.unwrap_or_default());
            Said {
                kernel: Some(kernel),
                gamma: self.gamma,
                categorical: Some(named(&self.categorical, names)),
                ..Said::default()
            }
        } else {
            Said { kernel: Some(LINEAR), loss: self.loss, cost: self.cost, bias: self.bias(), ..Said::default() }
        };
        let mut out = Said { gain: Some(self.gain), ..said }.parts();
        let mut set = |key: &str, value: Value| _ = out.insert(key.to_owned(), value);
        if self.gain != Gain::Alignment {
            set("penalty", settings::priced(&self.penalty, names));
        }
        if self.gain == Gain::L1 {
            set("weights_within", settings::priced(&self.weight_bounds, names));
        }
        set("max_features", self.rules.max_features.into());
        out.extend(rule_entries(&self.rules, &self.bounds, names));
        out
    }
}

/// A kernel as settings name it.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum KernelName<'a> {
    Typed(&'a str),
    OfDistances(DistanceKernel),
}

/// The only kernel of a proof of an SVM.
pub(super) const LINEAR: KernelName<'static> = KernelName::Typed("linear");

/// Parts of a question besides rules and prices, by the names of settings; null where one is left open.
#[derive(Default, Serialize)]
pub(super) struct Said<'a> {
    pub(super) gain: Option<Gain>,
    pub(super) kernel: Option<KernelName<'a>>,
    pub(super) loss: Option<Loss>,
    pub(super) cost: Option<f64>,
    pub(super) bias: Option<Bias>,
    pub(super) weight_bound: Option<f64>,
    pub(super) gamma: Option<f64>,
    pub(super) categorical: Option<Vec<String>>,
    pub(super) max_features: Option<usize>,
}

impl Said<'_> {
    /// Parts that are not left open.
    pub(super) fn parts(&self) -> Map<String, Value> {
        let mut all = entries(self);
        all.retain(|_, value| !value.is_null());
        all
    }
}

/// Names of these features.
pub(super) fn named(features: &[usize], names: &Names) -> Vec<String> {
    features.iter().map(|&j| names.get(j).into_owned()).collect()
}

/// Rules by name; all kinds are there, null or empty where there are none.
pub(super) fn rule_entries(list: &RuleList, bounds: &WeightBounds, names: &Names) -> Map<String, Value> {
    let mut out = entries(&RulesAsked::new(list, bounds, names));
    for key in ["feature_costs", "weight_bounds"] {
        out.entry(key).or_insert(Value::Null);
    }
    out
}
