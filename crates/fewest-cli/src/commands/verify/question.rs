//! The question that a proof answers: the claim of its checked header, the data, and who says what.

use std::collections::HashSet;
use std::fmt::Write as _;

use fewest::{Bias, FeatureSet, Loss, MultiClass, RuleList};
use fewest_data::Names;
use fewest_result::{ByName, ClassNames, entries};
use serde::Serialize;
use serde_json::{Map, Value};

use super::asked::{Compared, Difference, Layers, Origin, exact, words};
use super::claim::{Claim, Gain};
use super::preparation::{self, Fact};
use crate::args::notation;
use crate::commands::rule_words::{leaves_out, rule_words};

/// The preparations that have a line of their own, and the label of it.
const LINES: [(&str, &str); 4] =
    [("target", "target"), ("scaling", "scale"), ("set apart", "folds"), ("groups", "groups")];
/// The weights of samples, and what the line says before each.
const WEIGHTS: [(&str, &str); 2] = [("classes", "class_weight"), ("samples by column", "sample_weights")];

/// Parts of a question that are no longer listed, where one says this many.
const LISTED: usize = 3;

/// The data of a question, and who says each part of it.
#[derive(Serialize)]
struct AboutQuestion<'a> {
    n_samples: usize,
    n_features: usize,
    held_out: usize,
    classes: ClassNames,
    class_counts: ByName<usize>,
    class_totals: ByName<f64>,
    problems: usize,
    fingerprint: &'a str,
    origin: ByName<&'static str>,
}

/// The data of a proof, as far as the question is about them.
pub struct AskedData<'a> {
    /// Names of the features.
    pub names: &'a Names,
    /// Names of the classes; of two the second one is +1.
    pub classes: &'a [String],
    /// The class of each sample.
    pub codes: &'a [u32],
    /// The weight of each sample: that of its class times its own.
    pub weights: &'a [f64],
    /// Features that the data rule out: of one value only, or of too little variance.
    pub ruled_out: &'a FeatureSet,
    /// Samples that were held out.
    pub held_out: usize,
}

/// The question that a proof answers.
pub(super) struct Question<'a> {
    claim: Claim,
    /// The claim by the names of settings.
    entries: Map<String, Value>,
    data: AskedData<'a>,
    facts: Vec<Fact>,
    compared: Compared,
}

impl<'a> Question<'a> {
    /// Question of a header that the checker has accepted.
    ///
    /// # Errors
    /// What cannot be shown.
    pub(super) fn new(header: &str, data: AskedData<'a>, facts: Vec<Fact>, asked: &Layers) -> Result<Self, String> {
        let claim = Claim::read(header, data.names)?;
        let entries = claim.entries(data.names);
        let compared = asked.compared(&claim, &entries, data.names, data.ruled_out);
        Ok(Self { claim, entries, data, facts, compared })
    }

    /// Where it is not the one that was asked.
    pub(super) fn differences(&self) -> &[Difference] {
        &self.compared.differences
    }

    /// Adds what is not as asked.
    pub(super) fn add(&mut self, differences: impl IntoIterator<Item = Difference>) {
        self.compared.differences.extend(differences);
    }

    /// What the bound holds for, where not for all weights.
    pub(super) fn condition(&self) -> &'static str {
        if self.claim.weight_bounds.is_empty() { "" } else { ", with weights within u" }
    }

    /// The sum of the weights of each class, and its samples.
    fn totals(&self) -> Vec<(usize, f64)> {
        let mut totals = vec![(0, 0.0); self.data.classes.len()];
        for (&code, weight) in self.data.codes.iter().zip(self.data.weights) {
            let total = &mut totals[code as usize];
            *total = (total.0 + 1, total.1 + weight);
        }
        totals
    }

    /// As JSON; docs/formats/verdict.md lists the keys.
    pub(super) fn value(&self) -> Value {
        let totals = self.totals();
        let mut out = preparation::entries(&self.facts);
        out.extend(self.entries.clone());
        let prepared = self.facts.iter().map(|fact| (fact.key.as_str(), fact.origin.name()));
        let claimed = self.compared.origins.iter().map(|(key, origin)| (key.as_str(), origin.name()));
        out.extend(entries(&AboutQuestion {
            n_samples: self.data.codes.len(),
            n_features: self.claim.p,
            held_out: self.data.held_out,
            classes: ClassNames(self.data.classes.to_vec()),
            class_counts: ByName::by_class_key(totals.iter().map(|total| total.0).collect::<Vec<_>>()),
            class_totals: ByName::by_class_key(totals.iter().map(|total| total.1).collect::<Vec<_>>()),
            problems: self.claim.problems,
            fingerprint: &self.claim.fingerprint,
            origin: prepared.chain(claimed).collect(),
        }));
        Value::Object(out)
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("model", self.model()), ("rules", self.rules())];
        lines.extend(self.prices().map(|prices| ("prices", prices)));
        lines.push(("samples", self.samples()));
        lines.extend(self.problems().map(|problems| ("problems", problems)));
        for (label, key) in LINES {
            lines.extend(self.fact(key).map(|fact| (label, fact)));
        }
        lines.extend(self.fact("missing").filter(|text| !text.starts_with("error")).map(|fact| ("missing", fact)));
        let weights = WEIGHTS.iter().filter_map(|(label, key)| Some(format!("{label} {}", self.fact(key)?)));
        let weights: Vec<String> = weights.collect();
        lines.extend((!weights.is_empty()).then(|| ("weights", weights.join("; "))));
        lines.extend(self.reading().map(|reading| ("read", reading)));
        lines.extend(self.others().map(|others| ("prepared", others)));
        lines.push(("data", self.claim.fingerprint.clone()));
        lines
    }

    /// The objective.
    fn model(&self) -> String {
        let claim = &self.claim;
        if claim.gain == Gain::Alignment {
            let entries = &self.entries;
            let mut text = format!("largest alignment of the {} kernel with the classes", words(&entries["kernel"]));
            let _ = write!(text, ", gamma = {}", words(&entries["gamma"]));
            if entries["categorical"].as_array().is_some_and(|names| !names.is_empty()) {
                let _ = write!(text, ", categories {}", words(&entries["categorical"]));
            }
            return text
                + &self.mark(&["gain", "kernel", "gamma", "categorical"])
                + in_full(!is_long(&entries["categorical"]));
        }
        let size = if claim.gain == Gain::L1 { "sum |w_j|" } else { "|w|^2 / 2" };
        let loss = if claim.loss == Some(Loss::SquaredHinge) { "squared hinge" } else { "hinge" };
        let bias = match claim.bias() {
            Some(Bias::Free) => "free".to_owned(),
            Some(Bias::Penalised(value)) => format!("penalised (of a constant feature {})", exact(value)),
            Some(Bias::None) | None => "none".to_owned(),
        };
        let cost = exact(claim.cost.unwrap_or_default());
        let mut text = format!("min {size} + C sum of {loss} losses, C = {cost}, bias {bias}");
        let mut keys = vec!["gain", "loss", "cost", "bias"];
        if !claim.weight_bounds.is_empty() {
            keys.push("weights_within");
            let _ = write!(text, ", {}", self.within());
        }
        text + &self.mark(&keys) + in_full(!self.entries.get("weights_within").is_some_and(Value::is_object))
    }

    /// The weights that an L1 claim is about.
    fn within(&self) -> String {
        let positive: Vec<f64> = self.claim.weight_bounds.iter().copied().filter(|u| *u > 0.0).collect();
        let (least, most) = positive.iter().fold((f64::INFINITY, 0.0f64), |(a, b), u| (a.min(*u), b.max(*u)));
        let size = match positive.as_slice() {
            [] => "0".to_owned(),
            _ if least == most => exact(most),
            _ => format!("{} to {}", fewest_report::number(least), fewest_report::number(most)),
        };
        let out = match self.claim.weightless() {
            0 => String::new(),
            1 => "; 1 feature that no rule forbids has u = 0".to_owned(),
            count => format!("; {count} features that no rule forbids have u = 0"),
        };
        format!("weights within u = {size}{out}")
    }

    fn rules(&self) -> String {
        let (list, names) = (said(&self.claim.rules), self.data.names);
        let by_data = |j: &usize| self.data.ruled_out.contains(*j);
        let (out, forbidden): (Vec<usize>, Vec<usize>) = list.forbid.iter().partition(by_data);
        let typed = RuleList { forbid: forbidden.into_iter().collect(), ..list };
        let size = typed.max_features.map(|size| format!("at most {}", notation::plural(size, "feature")));
        let mut parts = rule_words(&typed, names, size.as_deref(), &[]);
        let mut cut = leaves_out(&typed) || out.len() > notation::SOME;
        let entries = &self.entries;
        if typed.budget.is_some() {
            let (costs, is_cut) = ranged(&entries["feature_costs"]);
            cut |= is_cut;
            parts.push(format!("costs {costs}"));
        }
        let (weights, is_cut) = self.weights();
        parts.extend(weights);
        if !out.is_empty() {
            let features = notation::plural(out.len(), "feature");
            parts.push(format!("without {features} that the data rule out ({})", self.named(&out)));
        }
        let text = if parts.is_empty() { "none".to_owned() } else { parts.join("; ") };
        let stated = |key: &&str| words(&entries[*key]) != "none" || self.origin(key) != Origin::File;
        let kinds: Vec<&str> = entries.keys().skip_while(|key| *key != "max_features").map(String::as_str).collect();
        let stated: Vec<&str> = kinds.iter().copied().filter(stated).collect();
        text + &self.mark(if stated.is_empty() { &kinds } else { &stated }) + in_full(!(cut || is_cut))
    }

    /// Signs and bounds of weights in words, and whether some are left out.
    fn weights(&self) -> (Vec<String>, bool) {
        let bounded: Vec<_> = self.claim.bounds.bounded().collect();
        let of = |lower: f64, upper: f64| -> Vec<usize> {
            bounded.iter().filter(|(_, w)| (w.lower, w.upper) == (lower, upper)).map(|(j, _)| *j).collect()
        };
        let signs = [
            (of(0.0, f64::INFINITY), "no weight below 0 of"),
            (of(f64::NEG_INFINITY, 0.0), "no weight above 0 of"),
            (of(0.0, 0.0), "weight 0 of"),
        ];
        let signs = signs.into_iter().filter(|(features, _)| !features.is_empty());
        let mut cut = false;
        let mut parts: Vec<String> = Vec::new();
        for (features, how) in signs {
            cut |= features.len() > notation::SOME;
            parts.push(format!("{how} {}", self.named(&features)));
        }
        let end = |x: f64| x == 0.0 || x.is_infinite();
        let boxed: Vec<_> = bounded.iter().filter(|(_, w)| !(end(w.lower) && end(w.upper))).collect();
        if boxed.len() > notation::SOME {
            cut = true;
            let lower: Vec<f64> = boxed.iter().map(|(_, w)| w.lower).collect();
            let upper: Vec<f64> = boxed.iter().map(|(_, w)| w.upper).collect();
            let count = boxed.len();
            parts.push(format!("weights of {count} features: lower {}, upper {}", range(&lower), range(&upper)));
        } else if !boxed.is_empty() {
            let all = boxed.iter().map(|(j, w)| format!("{} {} to {}", self.data.names.get(*j), w.lower, w.upper));
            parts.push(format!("weights of {}", all.collect::<Vec<_>>().join(", ")));
        }
        (parts, cut)
    }

    fn prices(&self) -> Option<String> {
        let penalty = self.entries.get("penalty").filter(|penalty| !matches!(words(penalty).as_str(), "none" | "0"))?;
        let each = if penalty.is_number() { " for each chosen feature" } else { "" };
        let (prices, cut) = ranged(penalty);
        Some(format!("{prices}{each}{}{}", self.mark(&["penalty"]), in_full(!cut)))
    }

    fn samples(&self) -> String {
        let weighted = self.data.weights.iter().any(|weight| *weight != 1.0);
        let class = |(at, (name, (count, total))): (usize, (&String, (usize, f64)))| {
            let sign = match (self.data.classes.len(), at, name.as_str()) {
                (2, 0, "-1") | (2, 1, "1" | "+1") => "",
                (2, 0, _) => "-1 = ",
                (2, _, _) => "+1 = ",
                _ => "",
            };
            let weight = if weighted { format!(", weight {}", fewest_report::brief(total)) } else { String::new() };
            format!("{sign}{name} ({count}{weight})")
        };
        let classes: Vec<String> = self.data.classes.iter().zip(self.totals()).enumerate().map(class).collect();
        let mut text = format!("{}: {}", self.data.codes.len(), classes.join(", "));
        if self.data.held_out > 0 {
            let share = self.fact("validate").unwrap_or_default();
            let _ = write!(text, "; {} more are held out by --validate {share}", self.data.held_out);
            let _ = self.fact("seed").map_or(Ok(()), |seed| write!(text, " --seed {seed}"));
        }
        text
    }

    fn problems(&self) -> Option<String> {
        let tasks = self.fact("tasks").map(|tasks| format!("tasks by column {tasks}"));
        // Where no one says how classes become problems, they do as samples were prepared for the check.
        let default = || format!("{} ({})", MultiClass::default().text(), Origin::Default.words());
        let how = (self.data.classes.len() > 2).then(|| self.fact("multi_class").unwrap_or_else(default));
        let how: Vec<String> = how.into_iter().chain(tasks).collect();
        let several = self.claim.problems > 1;
        several.then(|| format!("{}, whose objectives add: {}", self.claim.problems, how.join("; ")))
    }

    fn reading(&self) -> Option<String> {
        let said = self.facts.iter().filter(|fact| fact.is_of_reading && !fact.value.is_null());
        let option = |key: &str| key.replace('_', "-");
        let said = said.map(|fact| match &fact.value {
            Value::Bool(_) => format!("--{} ({})", option(&fact.key), fact.origin.words()),
            value => format!("--{} {} ({})", option(&fact.key), words(value), fact.origin.words()),
        });
        let said: Vec<String> = said.collect();
        let cut = self.facts.iter().any(|fact| fact.is_of_reading && is_long(&fact.value));
        (!said.is_empty()).then(|| said.join("; ") + in_full(!cut))
    }

    /// All that prepared the data and stands in no line of its own.
    fn others(&self) -> Option<String> {
        let several = self.claim.problems > 1;
        let is_said = |key: &str| match key {
            "missing" => true,
            "tasks" => several,
            // Of two classes there is one problem.
            "multi_class" => several || self.data.classes.len() == 2,
            "validate" | "seed" => self.data.held_out > 0,
            // The header's, in the line of the model.
            "categorical" => self.claim.gain == Gain::Alignment,
            key => LINES.iter().chain(&WEIGHTS).any(|line| line.1 == key),
        };
        let others = self.facts.iter().filter(|fact| {
            !fact.is_of_reading && !fact.value.is_null() && fact.origin != Origin::Default && !is_said(&fact.key)
        });
        let others: Vec<String> = others
            .map(|fact| format!("{} {}", fact.key.replace('_', " "), self.fact(&fact.key).unwrap_or_default()))
            .collect();
        (!others.is_empty()).then(|| others.join("; "))
    }

    /// A fact with who says it, where there is something to say.
    fn fact(&self, key: &str) -> Option<String> {
        let fact = self.facts.iter().find(|fact| fact.key == key && !fact.value.is_null())?;
        Some(format!("{} ({})", words(&fact.value), fact.origin.words()))
    }

    fn origin(&self, key: &str) -> Origin {
        self.compared.origins.iter().find(|one| one.0 == key).map_or(Origin::File, |one| one.1)
    }

    /// Who says these parts.
    fn mark(&self, keys: &[&str]) -> String {
        let mut by: Vec<(Origin, Vec<String>)> = Vec::new();
        for key in keys {
            let (origin, word) = (self.origin(key), key.replace('_', " "));
            match by.iter_mut().find(|one| one.0 == origin) {
                Some(one) => one.1.push(word),
                None => by.push((origin, vec![word])),
            }
        }
        // Who says most of it comes last, without a list.
        by.sort_by_key(|one| if one.1.len() < LISTED { 0 } else { one.1.len() });
        let several = by.len() > 1;
        let words = by.iter().enumerate().map(|(at, (origin, keys))| match (several, at + 1 == by.len()) {
            (false, _) => origin.words().to_owned(),
            (true, true) if keys.len() >= LISTED => format!("the rest {}", origin.words()),
            _ => format!("{} {}", keys.join(", "), origin.words()),
        });
        let said = words.collect::<Vec<_>>().join("; ");
        format!(" ({said})")
    }

    fn named(&self, features: &[usize]) -> String {
        let names: Vec<String> = features.iter().map(|&j| self.data.names.get(j).into_owned()).collect();
        notation::some(&names)
    }
}

/// The end of a line that may leave something out.
fn in_full(whole: bool) -> &'static str {
    if whole { "" } else { "; not shown in full: --json" }
}

/// Whether [`words`] leaves out some of a list.
fn is_long(value: &Value) -> bool {
    value.as_array().is_some_and(|list| list.len() > notation::SOME)
}

/// Rules without those that say nothing: of a feature by itself, or of a group that no subset breaks.
fn said(list: &RuleList) -> RuleList {
    let mut list = list.clone();
    list.implies.retain(|(a, b)| a != b);
    list.at_most.retain(|(most, group)| *most < group.iter().collect::<HashSet<_>>().len());
    list.at_least.retain(|(least, _)| *least > 0);
    list.together.retain(|group| group.iter().collect::<HashSet<_>>().len() > 1);
    list
}

/// The ends of some numbers.
fn range(numbers: &[f64]) -> String {
    let (least, most) = numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
    if least == most { exact(least) } else { format!("{} to {}", exact(least), exact(most)) }
}

/// A number by name in words, of many their values; and whether names are left out.
fn ranged(value: &Value) -> (String, bool) {
    let entries: Vec<f64> = value.as_object().into_iter().flatten().filter_map(|(_, number)| number.as_f64()).collect();
    if entries.len() <= notation::SOME {
        return (words(value), false);
    }
    let mut values = entries.clone();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let count = |value: &f64| entries.iter().filter(|other| *other == value).count();
    let text = if values.len() <= LISTED {
        let each: Vec<String> =
            values.iter().map(|x| format!("{} of {}", exact(*x), notation::plural(count(x), "feature"))).collect();
        each.join(", ")
    } else {
        format!("{} of {}", range(&entries), notation::plural(entries.len(), "feature"))
    };
    (text, true)
}
