//! A method with its options, as typed, and the same with others.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches};
use serde_json::{Map, Value, json};

use super::{Entry, MethodArgs, certifies, foreign};
use crate::args::notation::NameList;
use crate::args::svm::{CostChoice, FIT_COST, absorbs_constants};
use crate::args::usage;
use crate::failure::Failure;

/// An option that was typed: its name and its values, none for a flag.
type TypedOption = (String, Vec<OsString>);

/// A method with its options.
pub(crate) struct MethodOptions {
    entry: &'static Entry,
    typed: Vec<TypedOption>,
    matches: ArgMatches,
    args: Box<dyn MethodArgs>,
}

impl MethodOptions {
    /// Options of a method out of a command line, but for those that `without` names.
    ///
    /// # Errors
    /// Options that do not go together.
    pub(crate) fn of(entry: &'static Entry, all: &ArgMatches, without: &[&str]) -> Result<Self, Failure> {
        let mut typed = Vec::new();
        for arg in entry.arguments() {
            let id = arg.get_id().as_str();
            if without.contains(&id) || !matches!(all.try_contains_id(id), Ok(true)) {
                continue;
            }
            if all.value_source(id) == Some(ValueSource::CommandLine) {
                let flag = matches!(arg.get_action(), ArgAction::SetTrue);
                let values = all.get_raw(id).filter(|_| !flag).into_iter().flatten();
                typed.push((id.to_owned(), values.map(OsString::from).collect()));
            }
        }
        Self::new(entry, typed)
    }

    fn new(entry: &'static Entry, typed: Vec<TypedOption>) -> Result<Self, Failure> {
        let matches = entry.command().try_get_matches_from(words(&typed)).map_err(|error| refusal(&error))?;
        let certifying = given(&matches, "certify");
        let idle = |arg: &&clap::Arg| certifies(arg) && !certifying && given(&matches, arg.get_id().as_str());
        if let Some(failure) = entry.arguments().iter().find(idle).and_then(|arg| foreign(arg.get_id().as_str(), entry))
        {
            return Err(failure);
        }
        let args = (entry.read)(&matches).map_err(|error| refusal(&error))?;
        args.check()?;
        Ok(Self { entry, typed, matches, args })
    }

    /// Options read once more from the same command line.
    ///
    /// # Errors
    /// None: what was read once is read again.
    pub(crate) fn again(&self) -> Result<Self, Failure> {
        Self::new(self.entry, self.typed.clone())
    }

    /// Options with one of them set to this value.
    ///
    /// # Errors
    /// A method without it, a value that it does not take.
    pub(crate) fn with(&self, option: &str, value: &str) -> Result<Self, Failure> {
        if !self.entry.has(option)
            && let Some(failure) = foreign(option, self.entry)
        {
            return Err(failure);
        }
        let mut typed = self.typed.clone();
        typed.retain(|(id, _)| id != option);
        typed.push((option.to_owned(), vec![value.into()]));
        Self::new(self.entry, typed)
    }

    /// Another method with these options, as far as it has them and takes their values.
    ///
    /// # Errors
    /// Options that do not go together.
    pub(crate) fn of_other(&self, entry: &'static Entry) -> Result<Self, Failure> {
        let takes = |option: &TypedOption| {
            let unfit = [ErrorKind::UnknownArgument, ErrorKind::InvalidValue, ErrorKind::ValueValidation];
            let alone = entry.command().try_get_matches_from(words(std::slice::from_ref(option)));
            let idle = entry.arguments().iter().any(|arg| *arg.get_id() == *option.0 && certifies(arg));
            !idle && alone.map_or_else(|error| !unfit.contains(&error.kind()), |_| true)
        };
        Self::new(entry, self.typed.iter().filter(|option| takes(option)).cloned().collect())
    }

    /// Which method.
    pub(crate) fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The method's name.
    pub(crate) fn name(&self) -> &'static str {
        self.entry.name
    }

    /// The method's own options.
    pub(crate) fn args(&self) -> &dyn MethodArgs {
        self.args.as_ref()
    }

    /// The value of an option, if the method has it and it has one.
    pub(crate) fn value<T: Clone + Send + Sync + 'static>(&self, option: &str) -> Option<T> {
        self.matches.try_get_one::<T>(option).ok().flatten().cloned()
    }

    /// Whether the cost is to be chosen by cross-validation: `--cost auto`.
    pub(crate) fn chooses_cost(&self) -> bool {
        self.value("cost") == Some(CostChoice::Auto)
    }

    /// `--fit-cost`, if the method has it and it was typed.
    pub(crate) fn fit_cost(&self) -> Option<f64> {
        self.value(FIT_COST)
    }

    /// Whether sparse data are centred for it: its machines do not make up for a constant in a
    /// feature.
    pub(crate) fn centres(&self) -> bool {
        let kernel = self.text("kernel").unwrap_or_else(|| self.entry.only_kernel().to_owned());
        !absorbs_constants(self.args.svm().bias, &kernel)
    }

    /// Names of the features that hold categories: `--categorical`.
    pub(crate) fn categorical(&self) -> Vec<String> {
        self.value::<NameList>("categorical").map_or_else(Vec::new, |names| names.0)
    }

    /// The value of an option as typed, or its default as text.
    pub(crate) fn text(&self, option: &str) -> Option<String> {
        let mut values = self.matches.try_get_raw(option).ok().flatten()?;
        values.next_back().map(|value| value.to_string_lossy().into_owned())
    }

    /// Each option that has a value, as typed or by default, by its name in JSON.
    pub(crate) fn settings(&self) -> Map<String, Value> {
        let value = |text: String| text.parse::<f64>().map_or_else(|_| json!(text), |number| json!(number));
        let ids = self.entry.arguments().into_iter().map(|argument| argument.get_id().to_string());
        ids.filter_map(|id| self.text(&id).map(|text| (id, value(text)))).collect()
    }

    /// Whether an option was typed.
    pub(crate) fn given(&self, option: &str) -> bool {
        given(&self.matches, option)
    }

    /// The options as typed, in one order: what a result depends on.
    pub(crate) fn typed(&self) -> &[TypedOption] {
        &self.typed
    }
}

fn given(matches: &ArgMatches, option: &str) -> bool {
    matches!(matches.try_contains_id(option), Ok(true))
        && matches.value_source(option) == Some(ValueSource::CommandLine)
}

/// Options as words of a command line.
fn words(typed: &[TypedOption]) -> Vec<OsString> {
    let word = |(id, values): &TypedOption| {
        let mut word = OsString::from(format!("--{}", id.replace('_', "-")));
        if let Some(value) = values.last() {
            word.push("=");
            word.push(value);
        }
        word
    };
    typed.iter().map(word).collect()
}

fn refusal(error: &clap::Error) -> Failure {
    Failure::Input(usage::text(error))
}
