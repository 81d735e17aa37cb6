//! The options of each method: what it takes and nothing else, in a file named as the method.
//!
//! To add one: its file, and its lines in `METHODS` and above. Help, refusals, `fewest methods`
//! and completions read them here.

#[cfg(feature = "highs")]
mod lagrangian;
#[cfg(feature = "highs")]
mod mbp;

mod defaults;
mod eb_rfe;
mod elimination;
mod exact;
mod fgm;
mod info_gain;
mod kta;
mod l1_svm;
mod options;
#[cfg(feature = "papers")]
mod papers;
mod penalty;
mod rfe;
mod shared;
mod validate;

use clap::{Arg, ArgMatches, Command};
use fewest::{Info, SvmSettings};

use crate::AnyMethod;
use crate::args::svm::{FIT_COST, fit_cost_argument};
use crate::failure::Failure;
pub(crate) use defaults::settings;
pub(crate) use options::MethodOptions;
pub(crate) use penalty::PenaltyArg;
pub(crate) use shared::{CERTIFICATE, Certify, HeldOutSamples, MethodData, MultiClassChoice, listed};
pub(crate) use validate::Validate;

/// The options of a method, as typed.
pub(crate) trait MethodArgs: std::fmt::Debug + Send + Sync {
    /// The method with its settings, now that there are data.
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure>;

    /// Refuses options that do not go together.
    fn check(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// The SVM that is trained on the subset, and that a certificate judges by.
    fn svm(&self) -> SvmSettings;

    /// The SVM that is trained on the subset for each task.
    fn task_svm(&self) -> SvmSettings {
        self.svm()
    }

    /// Whether the method finds a size by itself; what [`AnyMethod::finds_size`] will say once
    /// there are data.
    fn finds_size(&self) -> bool {
        true
    }

    /// Whether the method deals samples into folds of its own.
    fn deals_folds(&self) -> bool {
        false
    }

    /// Whether it draws by `--seed`.
    fn draws(&self) -> bool {
        self.deals_folds()
    }
}

/// A method on the command line.
pub(crate) struct Entry {
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Result<Box<dyn MethodArgs>, clap::Error>,
    name: &'static str,
    /// Whether the method ends with a classifier of its own, so that none is trained afterwards.
    own_classifier: bool,
}

/// The entry of a method whose options are these.
const fn entry<A: clap::Args + MethodArgs + 'static>(name: &'static str) -> Entry {
    let read = |matches: &ArgMatches| -> Result<Box<dyn MethodArgs>, clap::Error> {
        Ok(Box::new(A::from_arg_matches(matches)?))
    };
    Entry { augment: A::augment_args, read, name, own_classifier: false }
}

/// Entry of a method that ends with a classifier of its own.
const fn own<A: clap::Args + MethodArgs + 'static>(name: &'static str) -> Entry {
    Entry { own_classifier: true, ..entry::<A>(name) }
}

/// The methods of the library, in the order of [`AnyMethod::INFOS`].
const METHODS: &[Entry] = &[
    entry::<exact::ExactArgs>("exact"),
    entry::<kta::KtaArgs>("kta"),
    entry::<rfe::RfeArgs>("rfe"),
    own::<l1_svm::L1SvmArgs>("l1-svm"),
    own::<fgm::FgmArgs>("fgm"),
    #[cfg(feature = "highs")]
    own::<mbp::MbpArgs>("mbp"),
    #[cfg(feature = "highs")]
    own::<lagrangian::LagrangianArgs>("lagrangian"),
    entry::<eb_rfe::EbRfeArgs>("eb-rfe"),
    entry::<info_gain::InfoGainArgs>("info-gain"),
];

/// The programs of papers.
#[cfg(feature = "papers")]
const PAPERS: &[Entry] = papers::METHODS;
#[cfg(not(feature = "papers"))]
const PAPERS: &[Entry] = &[];

/// All methods, in the order of [`AnyMethod::INFOS`].
pub(crate) fn methods() -> impl Iterator<Item = &'static Entry> {
    METHODS.iter().chain(PAPERS)
}

/// What papers call methods, in small letters, and the names here.
const PAPER_NAMES: &[(&str, &str)] = &[
    ("fsp-m", "exact"),
    ("fsp-lambda", "exact"),
    ("inlo-k", "kta"),
    ("svm-rfe", "rfe"),
    ("rfe-k", "rfe"),
    ("msvm-rfe", "rfe"),
    ("onsvm", "l1-svm"),
    ("lpsvm", "l1-svm"),
    ("fgm-b", "fgm"),
    ("gbd-m", "gbd"),
    ("gbd-lambda", "gbd"),
    ("milo-l", "milp2"),
];

/// What papers call a method.
pub(crate) fn paper_names(method: &str) -> impl Iterator<Item = &'static str> {
    PAPER_NAMES.iter().filter(move |known| known.1 == method).map(|known| known.0)
}

/// The method that papers call so.
pub(crate) fn of_paper(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    PAPER_NAMES.iter().find(|known| known.0 == name).map(|known| known.1)
}

/// A method by name.
pub(crate) fn find(name: &str) -> Result<&'static Entry, Failure> {
    methods().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = methods().map(|entry| entry.name).collect();
        let near = match of_paper(name) {
            Some(ours) => format!(" (its name here is {ours})"),
            None => shared::did_you_mean(name, &known),
        };
        Failure::Input(format!("there is no method {name}{near}; available are {}", known.join(", ")))
    })
}

/// What to say where no method is named.
pub(crate) fn unnamed() -> Failure {
    Failure::input("say which method: --method METHOD; `fewest methods` lists them")
}

/// The methods that have an option, other than for the search of a certificate.
pub(crate) fn owners(option: &str) -> Vec<&'static str> {
    let has = |entry: &&Entry| entry.arguments().iter().any(|arg| arg.get_id() == option && !certifies(arg));
    methods().filter(|entry| has(entry)).map(|entry| entry.name).collect()
}

/// Whether an option has a meaning with `--certify` only.
fn certifies(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(CERTIFICATE)
}

/// Refuses an option that a method does not have, where it is one of other methods.
pub(crate) fn foreign(option: &str, entry: &Entry) -> Option<Failure> {
    let name = entry.name;
    if option == "certify" {
        return Some(Failure::Input(format!(
            "--certify searches for the best subset, but {name} does that itself and proves its bound; leave it out"
        )));
    }
    if option == FIT_COST && entry.own_classifier {
        return Some(Failure::Input(format!(
            "--fit-cost is the cost of a classifier that is trained on the chosen features, but {name} ends with its own; leave it out, or train one with `fewest fit --result RESULT.json --cost C`"
        )));
    }
    let owners = owners(option);
    let or = if entry.has("certify") && entry.has(option) { ", or add --certify" } else { "" };
    (!owners.is_empty()).then(|| {
        let (option, owners) = (option.replace('_', "-"), listed(&owners));
        Failure::Input(format!("--{option} is an option of {owners}, not of {name}; leave it out{or}"))
    })
}

impl Entry {
    /// What is to be known of the method.
    pub(crate) fn info(&self) -> &'static Info {
        let info = AnyMethod::INFOS.iter().find(|info| info.name == self.name);
        info.expect("the library has every method of the list")
    }

    /// Whether the method ends with a classifier of its own.
    pub(crate) fn has_own_classifier(&self) -> bool {
        self.own_classifier
    }

    /// The kernel of a method that has one only.
    pub(crate) fn only_kernel(&self) -> &'static str {
        if self.info().kernels == "rbf" { "rbf" } else { "linear" }
    }

    /// The options alone.
    pub(crate) fn command(&self) -> Command {
        let mut command = (self.augment)(Command::new(self.name).no_binary_name(true));
        if !self.own_classifier {
            command = command.arg(fit_cost_argument());
        }
        if command.get_arguments().any(|arg| arg.get_id() == "kernel") {
            return command;
        }
        command.arg(kernel_argument(self))
    }

    /// Each option.
    pub(crate) fn arguments(&self) -> Vec<Arg> {
        self.command().get_arguments().cloned().collect()
    }

    /// Whether it has an option.
    pub(crate) fn has(&self, option: &str) -> bool {
        self.arguments().iter().any(|arg| arg.get_id() == option)
    }
}

/// `--kernel` of a method that has one only.
fn kernel_argument(entry: &Entry) -> Arg {
    let (only, name) = (entry.only_kernel(), entry.name);
    let parse = move |text: &str| -> Result<String, String> {
        if text == only {
            return Ok(text.to_owned());
        }
        Err(format!("must be {only} with {name}; select first, then train with `fewest fit --kernel {text}`"))
    };
    let help = format!("Kernel: {only}, {name} has no other [default: {only}]");
    Arg::new("kernel").long("kernel").value_name("KERNEL").value_parser(parse).help(help).help_heading("SVM")
}

#[cfg(test)]
mod tests {
    use super::methods;
    use crate::AnyMethod;

    #[test]
    fn every_method_of_the_library_has_options() {
        let names: Vec<&str> = methods().map(|entry| entry.name).collect();
        let known: Vec<&str> = AnyMethod::INFOS.iter().map(|info| info.name).collect();
        assert_eq!(names, known);
    }

    #[test]
    fn the_options_of_every_method_make_a_command() {
        for entry in methods() {
            entry.command().debug_assert();
            assert!(entry.arguments().iter().all(|arg| arg.get_help().is_some()), "{}", entry.name);
        }
    }
}
