//! The data of a proof, read and prepared: each setting as typed, else as a result says, else as
//! the proof says, else by default.

use std::collections::BTreeSet;

use fewest::MultiClass;
use fewest_data::{Format, Names, ReadOptions, ScaleKind};
use fewest_result::{Asked, Made};
use serde::Serialize;
use serde_json::{Map, Value};

use super::asked::{Difference, Origin};
use crate::args::data::{MissingArg, PrepareArgs, path_text};
use crate::args::notation::some;
use crate::args::svm::{ClassWeight, absorbs_constants};
use crate::cli::VerifyArgs;
use crate::commands::prepare::{PrepareOptions, PreparedData};
use crate::failure::Failure;
use crate::method_args::Validate;
use crate::terminal::Terminal;

/// A part of how data were prepared, and who says it.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    pub(super) key: String,
    pub(super) value: Value,
    pub(super) origin: Origin,
    /// What the proof says, where it says how it was made.
    file: Option<Value>,
    /// Whether it is a setting of reading.
    pub(super) is_of_reading: bool,
}

impl Fact {
    /// Without a proof that says it.
    pub(super) fn new(key: String, value: Value, origin: Origin) -> Self {
        Self { key, value, origin, file: None, is_of_reading: false }
    }

    /// What the proof says, where that is something else.
    pub(super) fn difference(&self) -> Option<Difference> {
        let file = self.file.as_ref().filter(|file| **file != self.value && self.origin != Origin::File)?;
        let (key, asked) = (self.key.clone(), self.value.clone());
        Some(Difference { key, file: file.clone(), asked, origin: self.origin })
    }
}

/// What someone says of a setting.
enum Stated<T> {
    /// Nothing.
    Unsaid,
    /// This, or that there is none.
    Said(Option<T>),
}

impl<T> Stated<T> {
    /// What was typed, if anything.
    fn typed(value: Option<T>) -> Self {
        value.map_or(Self::Unsaid, |value| Self::Said(Some(value)))
    }
}

/// Where settings come from.
struct Sources<'a> {
    result: Option<&'a Asked>,
    /// None where nothing is taken from it.
    made: Option<&'a Made>,
    /// Whether the proof says how its data were prepared: those of Python are about arrays.
    stated: bool,
    facts: Vec<Fact>,
}

impl Sources<'_> {
    /// A setting: what was typed, if anything was, else what a result has, else what the proof says.
    fn choose<T>(&mut self, key: &'static str, typed: Stated<T>, of: impl Fn(&Asked) -> Option<T>) -> Option<T>
    where
        T: Clone + Serialize,
    {
        let made = self.made.filter(|_| self.stated);
        let file = made.map_or(Stated::Unsaid, |made| Stated::Said(of(&made.settings)));
        let result = self.result.map_or(Stated::Unsaid, |result| Stated::Said(of(result)));
        self.pick(key, [typed, result, file])
    }

    /// Whether sparse data are centred, too, by the bias and the kernel of the claim.
    fn centred(&self, args: &VerifyArgs) -> bool {
        let made = self.made.filter(|_| self.stated).map(|made| &made.settings);
        let said = || self.result.into_iter().chain(made);
        let bias =
            args.asked.bias.bias.or_else(|| said().find_map(|settings| settings.own("bias"))).unwrap_or_default();
        let kernel = args.asked.kernel.map(|kernel| kernel.text().to_owned());
        let kernel = kernel.or_else(|| said().find_map(|settings| settings.own("kernel")));
        !absorbs_constants(bias, kernel.as_deref().unwrap_or("linear"))
    }

    fn pick<T: Clone + Serialize>(&mut self, key: &str, said: [Stated<T>; 3]) -> Option<T> {
        let shown = |value: &Option<T>| serde_json::to_value(value).unwrap_or_default();
        let file = if let Stated::Said(value) = &said[2] { Some(shown(value)) } else { None };
        let by = [Origin::Typed, Origin::Result, Origin::File].into_iter().zip(said);
        let mut by = by.filter_map(|(origin, said)| match said {
            Stated::Said(value) => Some((origin, value)),
            Stated::Unsaid => None,
        });
        let (origin, value) = by.next().unwrap_or((Origin::Default, None));
        self.facts.push(Fact { file, ..Fact::new(key.to_owned(), shown(&value), origin) });
        value
    }

    /// The last part, where the data decide what is not stated.
    fn decided(&mut self, value: &str) {
        if let Some(fact) = self.facts.last_mut() {
            fact.value = value.into();
        }
    }
}

/// A column as typed; `none` stands for none, and `"none"` for a column of this name.
fn column(typed: Option<&String>) -> Stated<String> {
    typed.map_or(Stated::Unsaid, |name| {
        Stated::Said(match name.as_str() {
            "none" => None,
            "\"none\"" => Some("none".to_owned()),
            _ => Some(name.clone()),
        })
    })
}

/// A list that holds something.
fn filled(names: &[String]) -> Option<Vec<String>> {
    Some(names.to_vec()).filter(|names| !names.is_empty())
}

/// Data ready to be checked against a proof.
pub(super) struct Prepared {
    pub(super) data: PreparedData,
    pub(super) multi_class: MultiClass,
    pub(super) facts: Vec<Fact>,
}

/// Reads and prepares the data.
///
/// # Errors
/// An unknown setting, and whatever is wrong with the data.
pub(super) fn read(
    args: &VerifyArgs,
    result: Option<&Asked>,
    made: Option<&Made>,
    terminal: Terminal,
) -> Result<Prepared, Failure> {
    let stated = made.is_some_and(|made| made.settings.target.is_some());
    let mut sources = Sources { result, made, stated, facts: Vec::new() };
    let reading = reading(args, &mut sources)?;
    let missing = missing(args, &mut sources)?;
    let class_weight = class_weight(args, &mut sources)?;
    let typed = column(args.prepare.sample_weights.as_ref());
    let sample_weights = sources.choose("sample_weights", typed, |s| s.sample_weights.clone());
    let folds = sources.choose("folds", column(args.asked.folds.as_ref()), |s| s.own("folds"));
    let tasks = sources.choose("tasks", column(args.asked.tasks.as_ref()), |s| s.tasks.clone());
    let of = |s: &Asked| s.groups.as_ref().and_then(|groups| groups.column.clone());
    let groups = sources.choose("groups", column(args.asked.groups.as_ref()), of);
    let typed = Stated::typed(args.asked.multi_class.map(MultiClass::from));
    let multi_class = sources.choose("multi_class", typed, |s| s.own::<MultiClass>("multi_class"));
    let typed = args
        .asked
        .categorical
        .as_ref()
        .map_or(Stated::Unsaid, |names| Stated::Said(filled(&names.0).filter(|names| names != &["none"])));
    let categorical = sources
        .choose("categorical", typed, |s| filled(&s.own::<Vec<String>>("categorical").unwrap_or_default()))
        .unwrap_or_default();
    let validate = validate(args, &mut sources);
    let centred = sources.centred(args);
    let scale = scale(args, &mut sources)?;
    let prepare = PrepareArgs { sample_weights, scale, missing };
    let options = PrepareOptions {
        path: &args.data.data,
        reading,
        prepare: &prepare,
        class_weight: class_weight.as_ref(),
        variance_threshold: args.rules.variance_threshold.or_else(|| result?.variance_threshold),
        validate: validate.as_ref().map(|(validate, seed)| (validate, *seed)),
        folds: folds.as_deref(),
        centred,
        categorical: &categorical,
        tasks: tasks.as_deref(),
        groups: groups.as_deref(),
        hierarchy: &[],
    };
    let data = options.run(terminal)?;
    sources.decided(&data.scale().to_string());
    let mut facts = sources.facts;
    if let Some(target) = facts.iter_mut().find(|fact| fact.key == "target") {
        target.value = data.target.column.as_str().into();
    }
    Ok(Prepared { data, multi_class: multi_class.unwrap_or_default(), facts })
}

/// How the file is read: each setting as typed, else as a result says, else as the proof says.
fn reading(args: &VerifyArgs, sources: &mut Sources<'_>) -> Result<ReadOptions, Failure> {
    let (typed, path) = (args.data.typed()?, path_text(&args.data.data)?);
    let target = sources.choose("target", Stated::typed(args.data.target.clone()), |s| s.target.clone());
    let stated =
        |s: &Asked| s.format.clone().filter(|name| Format::by_name(name).is_some() && Format::of_path(path).is_none());
    let typed_format = Stated::typed(args.data.format.map(|format| format.name().to_owned()));
    let format = sources.choose("format", typed_format, stated).and_then(|name| Format::by_name(&name));
    let result = sources.result.map(|result| result.reading.said());
    let file = sources.made.filter(|_| sources.stated).map(|made| made.reading().said());
    // A path is opened only where a user says so.
    let elsewhere = |said: &Option<Map<String, Value>>| said.as_ref().is_some_and(|said| said.contains_key("labels"));
    if elsewhere(&file) && !elsewhere(&result) && !typed.contains_key("labels") {
        return Err(Failure::input(
            "the classes of this proof stand in a second file, and verify opens none that a proof names; give --labels FILE[:COLUMN]",
        ));
    }
    let mut read = Map::new();
    for key in ReadOptions::names().filter(|key| !["format", "target"].contains(&key.as_str())) {
        let stated = |said: &Option<Map<String, Value>>| {
            said.as_ref().map_or(Stated::Unsaid, |said| Stated::Said(said.get(&key).cloned()))
        };
        let typed = typed.get(&key).map_or(Stated::Unsaid, |value| {
            Stated::Said(
                Some(value.clone())
                    .filter(|value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty())),
            )
        });
        let said = [typed, stated(&result), stated(&file)];
        read.extend(sources.pick(&key, said).map(|value| (key.clone(), value)));
        sources.facts.last_mut().into_iter().for_each(|fact| fact.is_of_reading = true);
    }
    let read: ReadOptions =
        serde_json::from_value(Value::Object(read)).map_err(|why| Failure::Input(why.to_string()))?;
    Ok(ReadOptions { format, target, memory_limit: args.data.memory, ..read })
}

fn missing(args: &VerifyArgs, sources: &mut Sources<'_>) -> Result<MissingArg, Failure> {
    let typed =
        Some(args.prepare.missing).filter(|missing| missing.is_typed()).map(|missing| missing.name().to_owned());
    let name = sources.choose("missing", Stated::typed(typed), |s| s.missing.clone());
    let name = name.unwrap_or_else(|| MissingArg::default().name().to_owned());
    sources.decided(&name);
    MissingArg::named(&name)
        .ok_or_else(|| Failure::Input(format!("unknown rule on missing values: {name}; give --missing")))
}

fn class_weight(args: &VerifyArgs, sources: &mut Sources<'_>) -> Result<Option<ClassWeight>, Failure> {
    let typed = args
        .asked
        .class_weight
        .as_ref()
        .map_or(Stated::Unsaid, |weights| Stated::Said(Some(weights.text()).filter(|text| text != "none")));
    let some = |s: &Asked| s.class_weight.clone().filter(|text| text != "none");
    let text = sources.choose("class_weight", typed, some);
    // As typed, where names of classes may need their quotes.
    if let Some(typed) = &args.asked.class_weight {
        return Ok(Some(typed.clone()));
    }
    let read = text.as_deref().map(ClassWeight::read).transpose();
    read.map_err(|why| Failure::Input(format!("the class weights of the proof: {why}; give --class-weight")))
}

/// The samples that are held out: their share, and the seed.
fn validate(args: &VerifyArgs, sources: &mut Sources<'_>) -> Option<(Validate, u64)> {
    // A file of other samples leaves those of the data as they are.
    let typed = args.asked.validate.as_ref().map_or(Stated::Unsaid, |typed| {
        Stated::Said(match &typed.0 {
            Some(Validate::Share(share)) => Some(*share),
            Some(Validate::File(_)) | None => None,
        })
    });
    let share = sources.choose("validate", typed, |s| s.own("validate"))?;
    let seed = sources.choose("seed", Stated::typed(args.asked.seed), |s| s.own("seed"));
    Some((Validate::Share(share), seed.unwrap_or(0)))
}

/// The scaling; none: the default for the data.
fn scale(args: &VerifyArgs, sources: &mut Sources<'_>) -> Result<Option<ScaleKind>, Failure> {
    let typed = Stated::typed(args.prepare.scale.map(|kind| kind.to_string()));
    let said = sources.choose("scale", typed, |s| s.scale.clone());
    match said {
        Some(said) => {
            said.parse().map(Some).map_err(|_| Failure::Input(format!("unknown scaling: {said}; give --scale")))
        }
        // A proof of Python is about the arrays as they were given.
        None => Ok(sources.made.filter(|_| !sources.stated).map(|_| ScaleKind::None)),
    }
}

/// Checks that the settings that prepare data are of the kinds that the commands write.
///
/// # Errors
/// The setting, and what it is.
pub(super) fn check_settings(settings: &Asked) -> Result<(), String> {
    let texts = |value: &Value| value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    let fits = |key: &str, value: &Value| match key {
        "folds" => value.is_string(),
        "multi_class" => serde_json::from_value::<MultiClass>(value.clone()).is_ok(),
        "categorical" => texts(value),
        // A file of other samples leaves those of the data as they are.
        "validate" => value.is_number() || value.is_string(),
        "seed" => value.is_u64(),
        _ => true,
    };
    // Those of Python are about arrays, and prepare nothing.
    let prepares = settings.target.is_some();
    let wrong = settings.own.iter().find(|(key, value)| prepares && !value.is_null() && !fits(key, value));
    wrong.map_or(Ok(()), |(key, value)| Err(format!("{key} is {value}")))
}

/// Why data were prepared as no method would for the problem in the header: features that hold categories
/// are left unscaled, which an SVM has none of, and an alignment those that its kernel compares.
pub(super) fn contradiction(facts: &[Fact], header: &str, names: &Names) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Categories {
        #[serde(default)]
        categorical: Vec<usize>,
    }
    let fact = facts.iter().find(|fact| fact.key == "categorical" && fact.origin == Origin::File)?;
    let left: BTreeSet<&str> = fact.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Categories { categorical } = serde_json::from_str(header).unwrap_or(Categories { categorical: Vec::new() });
    let compared: Vec<_> = categorical.iter().filter(|j| **j < names.len()).map(|&j| names.get(j)).collect();
    let compared: BTreeSet<&str> = compared.iter().map(AsRef::as_ref).collect();
    let list = |names: &BTreeSet<&str>| if names.is_empty() { "none".to_owned() } else { some(&Vec::from_iter(names)) };
    (left != compared).then(|| {
        let (left, compared) = (list(&left), list(&compared));
        format!("its settings leave categories unscaled ({left}), the problem compares others as such ({compared})")
    })
}

/// All that differs from what the proof says of its data, in words.
pub(super) fn differences(facts: &[Fact]) -> Vec<Difference> {
    facts.iter().filter_map(Fact::difference).collect()
}

/// Facts as JSON: how the table was read is an object of its own.
pub(super) fn entries(facts: &[Fact]) -> Map<String, Value> {
    let (read, prepared): (Vec<&Fact>, Vec<&Fact>) = facts.iter().partition(|fact| fact.is_of_reading);
    let of = |facts: Vec<&Fact>| facts.into_iter().map(|fact| (fact.key.clone(), fact.value.clone())).collect();
    let read: Map<String, Value> = of(read.into_iter().filter(|fact| !fact.value.is_null()).collect());
    let mut out: Map<String, Value> = of(prepared);
    out.insert("reading".to_owned(), Value::Object(read));
    out
}
