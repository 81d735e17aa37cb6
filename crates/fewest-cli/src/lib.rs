//! The `fewest` command: parse, give meaning, run, exit code. All else is in the modules. It is a
//! library, so that the Python package can bring the command along.

mod args;
mod cli;
mod commands;
mod export;
mod failure;
mod interrupt;
mod line;
mod method_args;
mod progress;
pub mod resume;
mod terminal;

use std::ffi::OsString;

use cli::{Command, CommandLine, Global, ParseEnd};
use commands::invocation::Invocation;
pub use commands::verify::{Again, ArrayRequest, Asked, AskedData, OnVerified, ProofSamples, Verified, verification};
pub use failure::Failure;
#[cfg(not(feature = "papers"))]
use fewest::AnyMethod;
#[cfg(feature = "papers")]
use fewest_papers::AnyMethod;
pub use interrupt::interrupt;
use line::{Place, WORKING};
use terminal::{Level, Terminal};

/// Runs the command with its arguments, the first of them its own name; returns the exit code.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    run_then(&arguments.into_iter().collect::<Vec<_>>(), None)
}

/// Runs `fewest verify` with these arguments, those after the word `verify`, then tells of a verified
/// proof; returns the exit code.
pub fn verify_with(arguments: impl IntoIterator<Item = OsString>, then: &mut OnVerified<'_>) -> u8 {
    run_then(&of_verify(arguments), Some(then))
}

/// Runs `fewest verify` with these arguments, those after the word `verify`; returns the exit code. A program that
/// calls nothing else of this library has no other command linked in.
pub fn verify_alone(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    begin(&of_verify(arguments), |parsed, invocation| match &parsed.cli.command {
        Command::Verify(args) => commands::verify::run(args, invocation, None),
        _ => Err(Failure::input("this program has the command verify and no other; run fewest")),
    })
}

/// The words of a command line.
fn of_verify(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    ["fewest", "verify"].map(OsString::from).into_iter().chain(arguments).collect()
}

fn run_then(arguments: &[OsString], then: Option<&mut OnVerified<'_>>) -> u8 {
    begin(arguments, |parsed, invocation| run(parsed, invocation, then))
}

/// Parses the arguments and runs what they say; returns the exit code.
fn begin(arguments: &[OsString], run: impl FnOnce(&CommandLine, &Invocation) -> Result<u8, Failure>) -> u8 {
    let parsed = match cli::parse(arguments) {
        Ok(parsed) => parsed,
        Err(ParseEnd::Display(text)) => {
            let _ = text.print();
            return 0;
        }
        Err(ParseEnd::Refused(failure)) => return refused(&failure, Terminal::new(Level::Normal)),
    };
    let terminal = Terminal::new(match &parsed.cli.global {
        Global { quiet: true, .. } => Level::Quiet,
        Global { verbose: true, .. } => Level::Verbose,
        Global { .. } => Level::Normal,
    });
    terminal.begin_line(Place::at(WORKING));
    let code =
        run(&parsed, &Invocation::new(arguments, terminal)).unwrap_or_else(|failure| refused(&failure, terminal));
    line::end();
    code
}

/// Says why the command ended early; returns its exit code.
fn refused(failure: &Failure, terminal: Terminal) -> u8 {
    match failure {
        Failure::Input(text) => {
            terminal.error(text);
            2
        }
        Failure::Broken(text) => {
            terminal.error(text);
            1
        }
        Failure::ReaderGone => 0,
    }
}

/// Runs the command; returns its exit code.
fn run(parsed: &CommandLine, invocation: &Invocation, then: Option<&mut OnVerified<'_>>) -> Result<u8, Failure> {
    let (cli, terminal) = (&parsed.cli, invocation.terminal);
    if let Some(threads) = cli.global.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::Broken(format!("cannot start {threads} threads: {error}")))?;
    }
    let method = || parsed.method.as_ref().ok_or_else(method_args::unnamed);
    match &cli.command {
        Command::Select(args) => commands::select::run(args, method()?, invocation),
        Command::Path(args) => commands::path::run(args, method()?, invocation),
        Command::Evaluate(args) => commands::evaluate::run(args, method()?, invocation),
        Command::Stability(args) => commands::stability::run(args, method()?, invocation),
        Command::Knockoffs(args) => commands::knockoffs::run(args, method()?, invocation),
        Command::Study(args) => commands::study::run(args, invocation),
        Command::Markers(args) => commands::markers::run(args, invocation),
        Command::Compare(args) => commands::compare::run(args, invocation),
        Command::Certify(args) => commands::certify_list::run(args, method()?, invocation),
        Command::Fit(args) => commands::fit::run(args, invocation),
        Command::Predict(args) => commands::predict::run(args, invocation),
        Command::Report(args) => commands::report::run(args, terminal),
        Command::Verify(args) => commands::verify::run(args, invocation, then),
        Command::Check(args) => commands::check::run(args, terminal),
        Command::Convert(args) => commands::convert::run(args, terminal),
        Command::Generate(args) => commands::generate::run(args, terminal),
        Command::Methods(args) => commands::methods::run(args, terminal),
        Command::Completions { shell } => commands::completions::completions(*shell, terminal),
        Command::Man { command } => commands::completions::man(command.as_deref(), terminal),
    }
}
