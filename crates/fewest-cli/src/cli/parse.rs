//! From the words of the command line to options: the method is found first, so that its options,
//! and no others, are those of the command.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::certify::{SEARCH, of_search};
use super::{Cli, guard};
use crate::args::usage;
use crate::failure::Failure;
use crate::method_args::{self, Entry, MethodOptions, methods};

/// The commands that run a method.
const WITH_METHOD: [&str; 6] = ["select", "path", "evaluate", "stability", "knockoffs", CERTIFY];

/// The command whose method is always the same.
const CERTIFY: &str = "certify";

/// Options of methods that `path` does not take.
const NOT_OF_PATH: &[&str] = &["write_model", "within"];

/// Options of methods that `evaluate` does not take.
const NOT_OF_EVALUATE: &[&str] = &["certify", "validate", "patience", "write_model", "resume_every", "proof", "within"];

/// Options of methods that `stability` does not take.
const NOT_OF_STABILITY: &[&str] =
    &["certify", "validate", "patience", "write_model", "resume_every", "proof", "within", "folds", "fit_cost"];

/// Options of methods that `knockoffs` does not take.
const NOT_OF_KNOCKOFFS: &[&str] = &[
    "certify",
    "validate",
    "patience",
    "write_model",
    "resume",
    "resume_every",
    "costs",
    "retune",
    "fit_cost",
    "tasks",
];

/// Options of methods that `certify` does not take.
const NOT_OF_CERTIFY: &[&str] = &["within", "resume", "resume_every", "fit_cost"];

/// Options of methods that a command has as its own.
fn own(command: &str) -> &'static [&'static str] {
    match command {
        "path" => &["resume", "resume_every", "cv", "seed"],
        "evaluate" => &["cv", "folds", "seed", "resume"],
        "stability" => &["seed", "resume"],
        "knockoffs" => &["seed"],
        _ => &[],
    }
}

/// What was typed.
pub(crate) struct CommandLine {
    /// The command with its options.
    pub(crate) cli: Cli,
    /// The method with its options, for commands that run one.
    pub(crate) method: Option<MethodOptions>,
}

/// Why there is nothing to run.
pub(crate) enum ParseEnd {
    /// Help or the version was asked for.
    Display(Box<clap::Error>),
    /// A mistake.
    Refused(Failure),
}

impl From<Failure> for ParseEnd {
    fn from(failure: Failure) -> Self {
        ParseEnd::Refused(failure)
    }
}

/// Reads the command line.
///
/// # Errors
/// Help, or whatever does not fit.
pub(crate) fn parse(arguments: &[OsString]) -> Result<CommandLine, ParseEnd> {
    let (name, method) = command_and_method(arguments);
    let entry = method.as_deref().map(method_args::find).transpose()?;
    let mut command = Cli::command();
    if let (Some(name), Some(entry)) = (name, entry) {
        command = command.mut_subcommand(name, |command| with_method(command, entry));
    }
    let matches = command.try_get_matches_from_mut(arguments).map_err(|error| unparsed(error, name, entry))?;
    if let Some((name, matches)) = matches.subcommand()
        && let Some(command) = command.find_subcommand(name)
    {
        guard::check(command, matches)?;
    }
    let cli = Cli::from_arg_matches(&matches).map_err(|error| unparsed(error, name, entry))?;
    let method = match (matches.subcommand(), entry) {
        (Some((name, matches)), Some(entry)) => Some(method_options(name, entry, matches)?),
        _ => None,
    };
    Ok(CommandLine { cli, method })
}

/// The command that runs a method, and the method, as far as they can be seen.
fn command_and_method(arguments: &[OsString]) -> (Option<&'static str>, Option<String>) {
    let words: Vec<&str> = arguments.iter().skip(1).map(|word| word.to_str().unwrap_or_default()).collect();
    let takes_value = |at: usize| at > 0 && words[at - 1] == "--threads";
    let Some(at) = (0..words.len()).find(|&at| !words[at].starts_with('-') && !takes_value(at)) else {
        return (None, None);
    };
    let name = WITH_METHOD.into_iter().find(|name| *name == words[at]);
    let rest = &words[at + 1..];
    let end = rest.iter().position(|word| *word == "--").unwrap_or(rest.len());
    if name == Some(CERTIFY) {
        return (name, Some(SEARCH.to_owned()));
    }
    let method = name.and_then(|_| (0..end).find_map(|at| method_at(&rest[at..end])));
    (name, method.map(str::to_owned))
}

/// The method, if it is named here: `--method NAME`, `--method=NAME`, `-m NAME`, `-mNAME`, with
/// flags before the m.
fn method_at<'a>(words: &[&'a str]) -> Option<&'a str> {
    let value = if words[0] == "--method" {
        Some("")
    } else if let Some(value) = words[0].strip_prefix("--method=") {
        return Some(value);
    } else {
        let short = words[0].strip_prefix('-').map(|flags| flags.trim_start_matches(['q', 'v']));
        short.and_then(|flags| flags.strip_prefix('m'))
    };
    match value? {
        "" => words.get(1).copied(),
        value => Some(value.strip_prefix('=').unwrap_or(value)),
    }
}

/// A command with the options of a method: those that it does not take are known but not shown, so
/// that they are refused in words of ours.
fn with_method(mut command: clap::Command, entry: &Entry) -> clap::Command {
    let certifies = matches!(command.get_name(), "select" | "path");
    for arg in entry.arguments() {
        let id = arg.get_id().as_str();
        if own(command.get_name()).contains(&id) {
            continue;
        }
        let hidden = not_taken(command.get_name()).contains(&id)
            || (!certifies && arg.get_help_heading() == Some(method_args::CERTIFICATE));
        let arg = if command.get_name() == CERTIFY { of_search(arg) } else { arg };
        command = command.arg(arg.hide(hidden));
    }
    command
}

/// Options of methods that a command does not take.
fn not_taken(command: &str) -> &'static [&'static str] {
    match command {
        "path" => NOT_OF_PATH,
        "evaluate" => NOT_OF_EVALUATE,
        "stability" => NOT_OF_STABILITY,
        "knockoffs" => NOT_OF_KNOCKOFFS,
        CERTIFY => NOT_OF_CERTIFY,
        _ => &[],
    }
}

/// Every command with the options of all methods, for completions.
pub(crate) fn with_all_methods() -> clap::Command {
    let mut command = Cli::command();
    for name in WITH_METHOD {
        command = command.mut_subcommand(name, |mut command| {
            let methods = methods().filter(|entry| name != CERTIFY || entry.info().name == SEARCH);
            for arg in methods.flat_map(Entry::arguments) {
                let known = command.get_arguments().any(|other| other.get_id() == arg.get_id());
                if !known && !not_taken(name).contains(&arg.get_id().as_str()) {
                    command = command.arg(arg);
                }
            }
            command
        });
    }
    command
}

/// The method with its options, of a command that takes them.
fn method_options(name: &str, entry: &'static Entry, matches: &ArgMatches) -> Result<MethodOptions, Failure> {
    for option in not_taken(name) {
        let typed = matches!(matches.try_contains_id(option), Ok(true));
        if typed && matches.value_source(option) == Some(clap::parser::ValueSource::CommandLine) {
            return Err(not_of(&option.replace('_', "-"), name));
        }
    }
    MethodOptions::of(entry, matches, own(name))
}

fn not_of(option: &str, command: &str) -> Failure {
    Failure::Input(format!("--{option} is an option of select, not of {command}; leave it out"))
}

/// An error of clap: help, or a refusal in our words.
fn unparsed(error: clap::Error, name: Option<&str>, entry: Option<&Entry>) -> ParseEnd {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return ParseEnd::Display(Box::new(error));
    }
    let failure = match (name, entry) {
        (Some(_), None) => Some(method_args::unnamed()),
        (Some(name), Some(entry)) if error.kind() == ErrorKind::UnknownArgument => unknown(&error, name, entry),
        _ => None,
    };
    ParseEnd::Refused(failure.unwrap_or_else(|| Failure::Input(usage::text(&error))))
}

/// An option that the method or the command does not have, but another one has.
fn unknown(error: &clap::Error, name: &str, entry: &Entry) -> Option<Failure> {
    let option = usage::option(error)?;
    let of_a_method = || name == CERTIFY && !method_args::owners(&option.replace('-', "_")).is_empty();
    if name != "select" && (has_option("select", &option) || of_a_method()) {
        return Some(not_of(&option, name));
    }
    method_args::foreign(&option.replace('-', "_"), entry)
}

/// Whether a command has an option, whatever the method.
fn has_option(command: &str, option: &str) -> bool {
    let all = Cli::command();
    all.find_subcommand(command).is_some_and(|c| c.get_arguments().any(|arg| arg.get_long() == Some(option)))
}
