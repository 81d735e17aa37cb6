//! What a user asks of a proof, and where the proof answers another question.

use std::collections::HashSet;

use fewest::kernel::DistanceKernel;
use fewest::{Bias, FeatureSet, Loss, RuleList, Rules, SvmSettings};
use fewest_data::Names;
use fewest_result::QuestionDifference;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::claim::{Claim, Gain, KernelName, LINEAR, Said, named, rule_entries};
use crate::args::notation;
use crate::export::settings;
use crate::failure::Failure;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The user, in options or arguments.
    Typed,
    /// The result of `--as`.
    Result,
    /// The proof.
    File,
    /// None of them: the default holds.
    Default,
}

impl Origin {
    /// The name in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Result => "result",
            Self::File => "file",
            Self::Default => "default",
        }
    }

    /// In words.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Typed => "as typed",
            Self::Result => "as the result says",
            Self::File => "as the file says",
            Self::Default => "by default",
        }
    }
}

/// Options of the problem that were typed; none where one was not.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    /// Name of a method: which objective.
    pub method: Option<String>,
    /// `linear`, `rbf` or `laplace`.
    pub kernel: Option<String>,
    /// Loss.
    pub loss: Option<Loss>,
    /// C.
    pub cost: Option<f64>,
    /// Bias.
    pub bias: Option<Bias>,
    /// Price of each feature; empty for none.
    pub penalty: Option<Vec<f64>>,
    /// u of every feature.
    pub weight_bound: Option<f64>,
    /// gamma.
    pub gamma: Option<f64>,
    /// Features that hold categories.
    pub categorical: Option<Vec<usize>>,
    /// Rules; those kinds are asked for that are not empty.
    pub rules: RuleList,
    /// Whether groups of `together` only follow from other rules: there may be more of them.
    #[serde(skip)]
    pub(super) more_together: bool,
}

impl Asked {
    /// The settings by name.
    ///
    /// # Errors
    /// Rules that contradict each other.
    fn entries(&self, names: &Names) -> Result<Map<String, Value>, Failure> {
        let mut all = Said {
            gain: self.method.as_deref().map(Gain::of_method),
            kernel: self.kernel.as_deref().map(KernelName::Typed),
            loss: self.loss,
            cost: self.cost,
            bias: self.bias,
            weight_bound: self.weight_bound,
            gamma: self.gamma,
            categorical: self.categorical.as_ref().map(|features| named(features, names)),
            max_features: self.rules.max_features,
        }
        .parts();
        // No price is something that is asked for, too.
        all.extend(self.penalty.as_ref().map(|prices| ("penalty".to_owned(), settings::priced(prices, names))));
        let rules = Rules::new(names.len(), self.rules.clone(), crate::commands::prepare::listed(names))?;
        let kinds = rule_entries(&self.rules, rules.weight_bounds(), names);
        all.extend(kinds.into_iter().filter(|(_, value)| !is_none(value)));
        Ok(all)
    }
}

/// What is asked, by whom, the first of them first.
#[derive(Default)]
pub(super) struct Layers {
    all: Vec<(Origin, Map<String, Value>)>,
    more_together: bool,
}

impl Layers {
    /// What was typed.
    ///
    /// # Errors
    /// Rules that contradict each other.
    pub(super) fn typed(asked: &Asked, names: &Names) -> Result<Self, Failure> {
        Ok(Self { all: vec![(Origin::Typed, asked.entries(names)?)], more_together: asked.more_together })
    }

    /// The settings of a result, whose options have defaults where nothing else was asked.
    pub(super) fn add_result(&mut self, result: &Map<String, Value>) {
        let setting = |key: &str| result.get("settings").and_then(|settings| settings.get(key)).cloned();
        let certificate = result.get("certificate").filter(|certificate| certificate.is_object());
        let method = result.get("method").and_then(Value::as_str).unwrap_or_default();
        let gain = if certificate.is_some() { Gain::Ridge } else { Gain::of_method(method) };
        let mut out = no_rules();
        for key in RULES.iter().chain(&["max_features", "kernel", "loss", "cost", "bias", "penalty"]) {
            out.insert((*key).to_owned(), setting(key).unwrap_or(Value::Null));
        }
        match gain {
            Gain::Alignment => {
                for key in ["gamma", "categorical"] {
                    out.insert(key.to_owned(), setting(key).unwrap_or(Value::Null));
                }
            }
            Gain::L1 => _ = out.insert("weight_bound".to_owned(), setting("weight_bound").unwrap_or(Value::Null)),
            Gain::Ridge => {}
        }
        out.extend(Said { gain: Some(gain), kernel: certificate.map(|_| LINEAR), ..Said::default() }.parts());
        if let Some(certificate) = certificate {
            // A search of its own, by the SVM alone, among subsets of this size.
            out.insert("penalty".to_owned(), Value::Null);
            out.insert("max_features".to_owned(), certificate["max_features"].clone());
        }
        self.all.push((Origin::Result, out));
    }

    /// The defaults of `select`; `svm` are those of the method.
    pub(super) fn add_defaults(&mut self, svm: &SvmSettings) {
        let mut out = no_rules();
        let kernel = Some(KernelName::OfDistances(DistanceKernel::default()));
        let (loss, cost, bias) = (Some(svm.loss), Some(svm.cost), Some(svm.bias));
        out.extend(Said { kernel, loss, cost, bias, ..Said::default() }.parts());
        out.insert("categorical".to_owned(), Value::Null);
        self.all.push((Origin::Default, out));
    }

    /// The part that is asked for first, and by what.
    fn of(&self, key: &str) -> Option<(Origin, &Value)> {
        self.all.iter().find_map(|(origin, asked)| Some((*origin, asked.get(key)?)))
    }

    /// Who says each part of a claim, by the names of settings, and where it is not as asked. `out`
    /// are features that the data rule out.
    pub(super) fn compared(
        &self,
        claim: &Claim,
        said: &Map<String, Value>,
        names: &Names,
        out: &FeatureSet,
    ) -> Compared {
        let out: HashSet<String> = out.iter().map(|j| names.get(j).into_owned()).collect();
        let ruled_out = |name: &str| out.contains(name);
        let mut compared = Compared::default();
        for (key, value) in said {
            let within = key == "weights_within";
            let Some((origin, asked)) = self.of(if within { "weight_bound" } else { key }) else {
                compared.origins.push((key.clone(), Origin::File));
                continue;
            };
            // The method finds u itself where no number is asked for.
            let found = within && !asked.is_number();
            compared.origins.push((key.clone(), if found { Origin::File } else { origin }));
            // An SVM of a proof has no other kernel, whatever the default of alignments is.
            let only = key == "kernel" && origin == Origin::Default && claim.gain != Gain::Alignment;
            let same = match (within, asked.as_f64()) {
                _ if only => true,
                (true, Some(u)) => is_within(claim, u),
                (true, None) => true,
                _ if key == "together" && self.more_together && origin == Origin::Typed => {
                    let [file, asked] = [value, asked].map(|groups| canonical(key, groups, &ruled_out));
                    let file = file.as_array();
                    asked.as_array().into_iter().flatten().all(|group| file.is_some_and(|all| all.contains(group)))
                }
                _ => canonical(key, value, &ruled_out) == canonical(key, asked, &ruled_out),
            };
            if !same {
                compared.add(key, &left(key, value, &ruled_out), &left(key, asked, &ruled_out), origin);
            }
        }
        for key in ["loss", "cost", "bias", "penalty", "weight_bound", "gamma", "categorical"] {
            // What the objective does not have.
            let strange = !(said.contains_key(key) || (key == "weight_bound" && claim.gain == Gain::L1));
            if let Some((origin @ Origin::Typed, asked)) = self.of(key).filter(|asked| strange && !is_none(asked.1)) {
                compared.add(key, &Value::Null, asked, origin);
            }
        }
        compared
    }
}

/// Whether u is the largest size of each weight, as far as the rules allow weights.
fn is_within(claim: &Claim, u: f64) -> bool {
    let out: HashSet<usize> = claim.ruled_out().into_iter().collect();
    let whole = |j: usize| {
        let range = claim.bounds.of(j);
        u.min(range.upper.max(-range.lower))
    };
    let mut found = claim.weight_bounds.iter().enumerate();
    !claim.weight_bounds.is_empty() && found.all(|(j, found)| *found == whole(j) || (out.contains(&j) && *found == 0.0))
}

/// The kinds of rules besides the size.
const RULES: [&str; 10] = [
    "require",
    "forbid",
    "implies",
    "at_most",
    "at_least",
    "together",
    "budget",
    "feature_costs",
    "weight_bounds",
    "max_features",
];

/// That there is no rule and no price.
fn no_rules() -> Map<String, Value> {
    RULES.iter().chain(&["penalty"]).map(|key| ((*key).to_owned(), Value::Null)).collect()
}

/// Whether a setting says nothing.
fn is_none(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A setting in one form: numbers are doubles, and what has no order is sorted.
fn canonical(key: &str, value: &Value, ruled_out: &dyn Fn(&str) -> bool) -> Value {
    let sorted = |mut list: Vec<Value>| {
        list.sort_by_key(Value::to_string);
        list.dedup();
        if list.is_empty() { Value::Null } else { Value::Array(list) }
    };
    match (key, value) {
        (_, Value::Number(number)) if key == "penalty" && number.as_f64() == Some(0.0) => Value::Null,
        (_, Value::Number(number)) => number.as_f64().into(),
        ("forbid", _) => canonical("group", &left(key, value, ruled_out), ruled_out),
        ("together", Value::Array(list)) => {
            sorted(list.iter().map(|group| canonical("group", group, ruled_out)).collect())
        }
        ("at_most" | "at_least", Value::Array(list)) => {
            let counted = |rule: &Value| Value::Array(vec![rule[0].clone(), canonical("group", &rule[1], ruled_out)]);
            sorted(list.iter().map(counted).collect())
        }
        ("require" | "implies" | "categorical" | "group", Value::Array(list)) => sorted(list.clone()),
        (_, Value::Array(list)) => list.iter().map(|one| canonical("", one, ruled_out)).collect(),
        (_, Value::Object(entries)) if entries.is_empty() => Value::Null,
        (_, Value::Object(entries)) => {
            entries.iter().map(|(name, one)| (name.clone(), canonical("", one, ruled_out))).collect()
        }
        (_, other) => other.clone(),
    }
}

/// A setting, of what is forbidden without what the data rule out.
fn left(key: &str, value: &Value, ruled_out: &dyn Fn(&str) -> bool) -> Value {
    let kept = |name: &&Value| name.as_str().is_none_or(|name| !ruled_out(name));
    match value {
        Value::Array(list) if key == "forbid" => list.iter().filter(kept).cloned().collect(),
        other => other.clone(),
    }
}

/// A part of the question that is not as asked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    pub(super) key: String,
    pub(super) file: Value,
    pub(super) asked: Value,
    pub(super) origin: Origin,
}

impl Difference {
    /// For a result.
    pub(super) fn record(&self) -> QuestionDifference {
        let (key, file, asked) = (self.key.clone(), self.file.clone(), self.asked.clone());
        QuestionDifference { key, file, asked, by: self.origin.name() }
    }

    /// In words.
    pub(super) fn text(&self) -> String {
        let (key, by) = (self.key.replace('_', " "), self.origin.words());
        if let (Value::Array(file), Value::Array(asked)) = (&self.file, &self.asked) {
            let only = |who: &str, one: &[Value], other: &[Value]| {
                let other: HashSet<String> = other.iter().map(Value::to_string).collect();
                let more = one.iter().filter(|entry| !other.contains(&entry.to_string()));
                let more: Vec<Value> = more.cloned().collect();
                (!more.is_empty()).then(|| format!("only {who} has {}", words(&Value::Array(more))))
            };
            if !file.is_empty() && !asked.is_empty() {
                let parts = [only("the file", file, asked), only("what is asked", asked, file)];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                return format!("{key}: {} ({by})", parts.join(", "));
            }
        }
        format!("{key}: the file says {}, asked is {} ({by})", words(&self.file), words(&self.asked))
    }
}

/// A value in words, the first of many.
pub(super) fn words(value: &Value) -> String {
    match value {
        value if is_none(value) => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or_else(|| number.to_string(), exact),
        Value::Array(list) => {
            let entry = |one: &Value| if one.is_array() { format!("[{}]", words(one)) } else { words(one) };
            notation::some(&list.iter().map(entry).collect::<Vec<_>>())
        }
        Value::Object(entries) => {
            let end = |end: &Value| if end.is_null() { "any".to_owned() } else { words(end) };
            let one = |one: &Value| match one.as_array().map(Vec::as_slice) {
                // The bounds of a weight.
                Some([lower, upper]) => format!("{} to {}", end(lower), end(upper)),
                _ => words(one),
            };
            let each: Vec<String> = entries.iter().map(|(name, value)| format!("{name} {}", one(value))).collect();
            notation::some(&each)
        }
        other => other.to_string(),
    }
}

/// A number with all its digits.
pub(super) fn exact(x: f64) -> String {
    if x == 0.0 || (1e-4..1e7).contains(&x.abs()) { x.to_string() } else { format!("{x:e}") }
}

/// A claim held against what is asked.
#[derive(Debug, Default)]
pub(super) struct Compared {
    /// Who says each part.
    pub(super) origins: Vec<(String, Origin)>,
    /// What is not as asked.
    pub(super) differences: Vec<Difference>,
}

impl Compared {
    fn add(&mut self, key: &str, file: &Value, asked: &Value, origin: Origin) {
        let (file, asked) = (file.clone(), asked.clone());
        self.differences.push(Difference { key: key.to_owned(), file, asked, origin });
    }
}
