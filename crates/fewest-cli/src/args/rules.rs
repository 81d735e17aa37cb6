//! Rules on features: from names, in options and in a TOML file, to indices.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use fewest::RuleList;

use super::data::{SmallTable, read_text};
use super::features::Features;
use super::resolver::Resolver;
use super::weights::{WeightArgs, WeightEntry, WeightSource};
use super::{notation, values};
use crate::failure::Failure;

/// The rules file as written; every key optional.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RulesFile {
    max_features: Option<usize>,
    max_variables: Option<usize>,
    budget: Option<f64>,
    require: Vec<String>,
    forbid: Vec<String>,
    implies: Vec<(String, String)>,
    together: Vec<Vec<String>>,
    at_most: Vec<Counted>,
    at_least: Vec<Counted>,
    costs: BTreeMap<String, f64>,
    weights: BTreeMap<String, WeightEntry>,
    rule: Vec<Rule>,
}

/// A group with a count.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Counted {
    count: usize,
    of: Vec<String>,
}

/// One `[[rule]]` table.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Rule {
    require: Vec<String>,
    forbid: Vec<String>,
    implies: Option<(String, String)>,
    together: Vec<String>,
    at_most: Option<usize>,
    at_least: Option<usize>,
    of: Option<Vec<String>>,
}

/// Rules on the chosen features.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RuleArgs {
    /// Keep at most this many features; path and evaluate take several sizes: 1..20, 1..20:2 or
    /// 1,2,5
    #[arg(long, value_name = "K", allow_negative_numbers = true, help_heading = "Rules")]
    pub(crate) max_features: Option<String>,
    /// Keep the columns of at most this many variables: a text column is one, whatever number of
    /// columns of 0 and 1 it became, and these are chosen together
    #[arg(long, value_name = "K", value_parser = values::size, allow_negative_numbers = true, help_heading = "Rules")]
    max_variables: Option<usize>,
    /// Features that must be chosen: a,b (repeat freely); here and below the name of a text column
    /// means all columns that it became, and 'MT-*' or '/^RP[SL]/' all names that fit the pattern
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    require: Vec<String>,
    /// Features that must not be chosen: a,b
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    forbid: Vec<String>,
    /// a:b - a subset with a must have b; a:b,c needs both
    #[arg(long, value_name = "A:B", help_heading = "Rules")]
    implies: Vec<String>,
    /// 2:a,b,c - at most 2 of these
    #[arg(long, value_name = "N:NAMES", help_heading = "Rules")]
    at_most: Vec<String>,
    /// 1:a,b - at least 1 of these
    #[arg(long, value_name = "N:NAMES", help_heading = "Rules")]
    at_least: Vec<String>,
    /// a,b,c - all of these or none
    #[arg(long, value_name = "NAMES", help_heading = "Rules")]
    together: Vec<String>,
    /// The costs of the chosen features sum to at most this; needs --feature-costs or [costs] in
    /// --rules
    #[arg(long, value_name = "X", value_parser = values::finite, allow_negative_numbers = true, help_heading = "Rules")]
    budget: Option<f64>,
    /// Cost of each feature: a csv file with lines name,cost or a .json object {"name": cost}; a name
    /// may be a pattern, and * is all others; that of a text column is paid once, and its columns are
    /// chosen together
    #[arg(long, value_name = "FILE", help_heading = "Rules")]
    feature_costs: Option<PathBuf>,
    /// All of these rules in one TOML file; `fewest select --help` shows its format
    #[arg(long, value_name = "FILE.toml", help_heading = "Rules")]
    rules: Option<PathBuf>,
    /// Never choose features whose variance, as in the file, is at most this
    #[arg(long, value_name = "V", value_parser = values::not_negative, allow_negative_numbers = true, help_heading = "Rules")]
    pub(crate) variance_threshold: Option<f64>,
    /// Bounds on weights.
    #[command(flatten)]
    weights: WeightArgs,
}

impl RuleArgs {
    /// `--max-features` of one size.
    pub(crate) fn max_features(&self) -> Result<Option<usize>, Failure> {
        let Some(text) = &self.max_features else { return Ok(None) };
        match (text.parse(), notation::sizes(text)) {
            (Ok(k), _) => Ok(Some(k)),
            (Err(_), Ok(_)) => Err(Failure::Input(format!(
                "--max-features is {text}, but select takes one size; `fewest path` takes several"
            ))),
            (Err(_), Err(_)) => {
                Err(Failure::Input(format!("--max-features is {text}, but must be an integer, at least 1")))
            }
        }
    }

    /// `--max-features` of several sizes, ascending; none where it is not typed.
    pub(crate) fn sizes(&self) -> Result<Option<Vec<usize>>, Failure> {
        let Some(text) = &self.max_features else { return Ok(None) };
        let sizes = notation::sizes(text);
        sizes.map(Some).map_err(|why| Failure::Input(format!("--max-features is {text}, but {why}")))
    }
}

/// What the rules need to know of the command line before the data are read.
#[derive(Debug)]
pub(crate) struct RuleSource {
    args: RuleOptions,
    file: RulesFile,
    file_name: String,
    weights: WeightSource,
}

/// The rule options after their notation has been read.
#[derive(Debug)]
struct RuleOptions {
    max_features: Option<usize>,
    max_variables: Option<usize>,
    require: Vec<String>,
    forbid: Vec<String>,
    implies: Vec<(String, Vec<String>)>,
    at_most: Vec<(usize, Vec<String>)>,
    at_least: Vec<(usize, Vec<String>)>,
    together: Vec<Vec<String>>,
    budget: Option<f64>,
    costs: Option<(String, Vec<(String, f64)>)>,
}

impl RuleSource {
    /// Reads the notations, the rules file and the file of costs; `max_features` has been read from
    /// its option.
    pub(crate) fn read(args: &RuleArgs, max_features: Option<usize>) -> Result<Self, Failure> {
        let under = |option: &'static str| move |why: String| Failure::Input(format!("--{option}: {why}"));
        let list = |option, values: &[String]| -> Result<Vec<String>, Failure> {
            let lists: Result<Vec<_>, _> = values.iter().map(|v| notation::names(v)).collect();
            Ok(lists.map_err(under(option))?.concat())
        };
        let counted = |option, values: &[String]| -> Result<Vec<(usize, Vec<String>)>, Failure> {
            values.iter().map(|v| notation::counted(v)).collect::<Result<_, _>>().map_err(under(option))
        };
        let options = RuleOptions {
            max_features,
            max_variables: args.max_variables,
            require: list("require", &args.require)?,
            forbid: list("forbid", &args.forbid)?,
            implies: args
                .implies
                .iter()
                .map(|v| notation::implication(v))
                .collect::<Result<_, _>>()
                .map_err(under("implies"))?,
            at_most: counted("at-most", &args.at_most)?,
            at_least: counted("at-least", &args.at_least)?,
            together: args
                .together
                .iter()
                .map(|v| notation::names(v))
                .collect::<Result<_, _>>()
                .map_err(under("together"))?,
            budget: args.budget,
            costs: args
                .feature_costs
                .as_deref()
                .map(|path| Ok::<_, Failure>((path.display().to_string(), read_values(path, "cost")?)))
                .transpose()?,
        };
        let (file, file_name) = match args.rules.as_deref() {
            None => (RulesFile::default(), String::new()),
            Some(path) => (read_file(path)?, path.display().to_string()),
        };
        let twice = [
            ("max-features", "max_features", max_features.is_some() && file.max_features.is_some()),
            ("max-variables", "max_variables", args.max_variables.is_some() && file.max_variables.is_some()),
            ("budget", "budget", args.budget.is_some() && file.budget.is_some()),
        ];
        if let Some((option, key, _)) = twice.into_iter().find(|rule| rule.2) {
            return Err(Failure::Input(format!(
                "--{option} is given, and {file_name} has {key}, too; leave one of them out"
            )));
        }
        let mut weights = args.weights.read()?;
        weights.add_table(&file_name, &file.weights)?;
        Ok(Self { args: options, file, file_name, weights })
    }

    /// The bounds on weights.
    pub(crate) fn weights(&self) -> &WeightSource {
        &self.weights
    }

    /// Whether groups that are chosen together are named.
    pub(crate) fn names_together(&self) -> bool {
        let file = &self.file;
        !self.args.together.is_empty()
            || !file.together.is_empty()
            || file.rule.iter().any(|rule| !rule.together.is_empty())
    }

    /// Whether anything bounds the number of features from above.
    pub(crate) fn bounds_size(&self) -> bool {
        let (args, file) = (&self.args, &self.file);
        let budget = args.budget.or(file.budget).is_some();
        let groups = !args.at_most.is_empty() || !file.at_most.is_empty();
        args.max_features.or(file.max_features).is_some()
            || args.max_variables.or(file.max_variables).is_some()
            || budget
            || groups
            || file.rule.iter().any(|r| r.at_most.is_some())
    }

    /// Names to indices. The name of a variable means all its columns: where features are counted or
    /// have a price, they are chosen together and count, or cost, once. Constant features and others
    /// set apart are not in here; the caller adds them.
    pub(crate) fn resolve(&self, features: &Features<'_>) -> Result<RuleList, Failure> {
        let (args, file) = (&self.args, &self.file);
        let list = RuleList {
            max_features: args.max_features.or(file.max_features),
            budget: args.budget.or(file.budget),
            weights: self.weights.resolve(features)?,
            ..RuleList::default()
        };
        let mut rules = Resolver { features, list };
        rules.require(&args.require, "--require")?;
        rules.forbid(&args.forbid, "--forbid")?;
        for (a, needed) in &args.implies {
            rules.implies(a, needed, "--implies")?;
        }
        for (count, group) in &args.at_most {
            let group = rules.counted(group, "--at-most")?;
            rules.list.at_most.push((*count, group));
        }
        for (count, group) in &args.at_least {
            let group = rules.counted(group, "--at-least")?;
            rules.list.at_least.push((*count, group));
        }
        for group in &args.together {
            rules.together(group, "--together")?;
        }
        self.add_file(&mut rules)?;
        self.add_costs(&mut rules)?;
        if let Some(most) = args.max_variables.or(file.max_variables) {
            rules.max_variables(most)?;
        }
        Ok(rules.list)
    }

    fn add_file(&self, rules: &mut Resolver<'_>) -> Result<(), Failure> {
        let (file, place) = (&self.file, &self.file_name);
        for (at, rule) in file.rule.iter().enumerate() {
            add_rule(rules, rule, &format!("{place}: rule {}", at + 1))?;
        }
        rules.require(&file.require, &format!("{place}: require"))?;
        rules.forbid(&file.forbid, &format!("{place}: forbid"))?;
        for (a, b) in &file.implies {
            rules.implies(a, std::slice::from_ref(b), &format!("{place}: implies"))?;
        }
        for group in &file.together {
            rules.together(group, &format!("{place}: together"))?;
        }
        for group in &file.at_most {
            let of = rules.counted(&group.of, &format!("{place}: at_most"))?;
            rules.list.at_most.push((group.count, of));
        }
        for group in &file.at_least {
            let of = rules.counted(&group.of, &format!("{place}: at_least"))?;
            rules.list.at_least.push((group.count, of));
        }
        Ok(())
    }

    fn add_costs(&self, rules: &mut Resolver<'_>) -> Result<(), Failure> {
        let mut given = Vec::new();
        let place = format!("{}: costs", self.file_name);
        for (name, cost) in &self.file.costs {
            given.push(rules.priced(name, *cost, &place)?);
        }
        if let Some((file, costs)) = &self.args.costs {
            for (name, cost) in costs {
                given.push(rules.priced(name, *cost, file)?);
            }
        }
        if given.is_empty() {
            return match rules.list.budget {
                None => Ok(()),
                Some(budget) => Err(Failure::Input(format!(
                    "--budget is {budget}, but no feature has a cost; give them with --feature-costs FILE or [costs] in --rules"
                ))),
            };
        }
        let from = self.args.costs.as_ref().map_or(self.file_name.as_str(), |c| c.0.as_str());
        rules.list.costs = rules.features.complete(&given, from, "cost")?;
        Ok(())
    }
}

/// A `[[rule]]` table of a rules file.
fn add_rule(rules: &mut Resolver<'_>, rule: &Rule, at: &str) -> Result<(), Failure> {
    rules.require(&rule.require, &format!("{at}: require"))?;
    rules.forbid(&rule.forbid, &format!("{at}: forbid"))?;
    if let Some((a, b)) = &rule.implies {
        rules.implies(a, std::slice::from_ref(b), &format!("{at}: implies"))?;
    }
    if !rule.together.is_empty() {
        rules.together(&rule.together, &format!("{at}: together"))?;
    }
    let of = |key: &str| match &rule.of {
        Some(of) => Ok((of.as_slice(), format!("{at}: {key}"))),
        None => Err(Failure::Input(format!("{at}: {key} needs the key `of` with the names of the group"))),
    };
    if let Some(count) = rule.at_most {
        let (of, place) = of("at_most")?;
        let group = rules.counted(of, &place)?;
        rules.list.at_most.push((count, group));
    }
    if let Some(count) = rule.at_least {
        let (of, place) = of("at_least")?;
        let group = rules.counted(of, &place)?;
        rules.list.at_least.push((count, group));
    }
    if rule.of.is_some() && rule.at_most.or(rule.at_least).is_none() {
        return Err(Failure::Input(format!(
            "{at}: the key `of` has a meaning with at_most or at_least only; leave it out"
        )));
    }
    let empty = rule.require.is_empty()
        && rule.forbid.is_empty()
        && rule.together.is_empty()
        && rule.implies.is_none()
        && rule.at_most.or(rule.at_least).is_none();
    if empty {
        return Err(Failure::Input(format!(
            "{at} states nothing; give it require, forbid, implies, together, at_most or at_least"
        )));
    }
    Ok(())
}

fn read_file(path: &Path) -> Result<RulesFile, Failure> {
    let text = read_text(path)?;
    toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or_else(String::new, |line| format!(", line {line}"));
        Failure::Input(format!(
            "{}{place}: {}; `fewest select --help` shows the format",
            path.display(),
            error.message().trim().replace('\n', " ")
        ))
    })
}

/// Values by name, from csv lines `name,value` (a first line whose second field is no number is a
/// header) or a JSON object. `what` is the kind of the values, for messages.
pub(crate) fn read_values(path: &Path, what: &str) -> Result<Vec<(String, f64)>, Failure> {
    let text = read_text(path)?;
    let file = path.display();
    let (mut values, mut seen) = (Vec::new(), HashSet::new());
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let Pairs(pairs) = serde_json::from_str(&text)
            .map_err(|error| Failure::Input(format!("{file}: {error}; write an object {{\"name\": {what}, ...}}")))?;
        for (name, value) in pairs {
            let Some(number) = value.as_f64() else {
                return Err(Failure::Input(format!(
                    "{file}: the {what} of \"{name}\" is {value}, but must be a number"
                )));
            };
            if !seen.insert(name.clone()) {
                return Err(Failure::Input(format!("{file}: \"{name}\" has a {what} already; keep one entry for it")));
            }
            values.push((name, number));
        }
        return Ok(values);
    }
    let table = SmallTable::of(&text).map_err(|why| Failure::Input(format!("{file}, {why}")))?;
    let first = table.lines.first().map(|line| line.0);
    for (at, fields) in &table.lines {
        let place = format!("{file}, line {at}");
        if fields.iter().any(String::is_empty) {
            return Err(Failure::Input(format!("{place}: a field is empty; write name,{what}")));
        }
        let [name, value] = fields.as_slice() else {
            return Err(Failure::Input(format!("{place}: {} fields, but each line must be name,{what}", fields.len())));
        };
        match table.number(value) {
            Some(number) => {
                if !seen.insert(name.clone()) {
                    return Err(Failure::Input(format!(
                        "{place}: \"{name}\" has a {what} already; keep one line for it"
                    )));
                }
                values.push((name.clone(), number));
            }
            None if Some(*at) == first => {}
            None => return Err(Failure::Input(format!("{place}: the {what} \"{value}\" of {name} is not a number"))),
        }
    }
    if values.is_empty() {
        return Err(Failure::Input(format!("{file}: there is no {what}; write lines name,{what}")));
    }
    Ok(values)
}

/// The entries of a JSON object, names that stand twice included.
struct Pairs(Vec<(String, serde_json::Value)>);

impl<'de> serde::Deserialize<'de> for Pairs {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> serde::de::Visitor<'de> for Object {
            type Value = Pairs;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Object)
    }
}
