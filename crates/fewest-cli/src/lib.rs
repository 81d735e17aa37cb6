//! The `fewest` command: parse, give meaning, run, exit code. All else is in the modules. It is a library, so that the Python
//! package can bring the command along.

mod args;
mod commands;
mod export;
mod failure;
mod interrupt;
mod progress;
mod terminal;

use std::ffi::OsString;

use clap::Parser;

use args::low::{Command, Global, Low};
use failure::Failure;
use terminal::{Level, Terminal};

/// Runs the command with its arguments, the first of them its own name; returns the exit code.
pub fn run_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let low = match Low::try_parse_from(arguments) {
        Ok(low) => low,
        Err(error) => return usage(&error),
    };
    let terminal = Terminal::new(match &low.global {
        Global { quiet: true, .. } => Level::Quiet,
        Global { verbose: true, .. } => Level::Verbose,
        Global { .. } => Level::Normal,
    });
    match run(&low, terminal) {
        Ok(code) => code,
        Err(Failure::Input(text)) => {
            terminal.error(&text);
            2
        }
        Err(Failure::Broken(text)) => {
            terminal.error(&text);
            1
        }
        Err(Failure::ReaderGone) => 0,
    }
}

/// Runs the command; returns its exit code.
fn run(low: &Low, terminal: Terminal) -> Result<u8, Failure> {
    if let Some(threads) = low.global.threads {
        if threads == 0 {
            return Err(Failure::input("--threads is 0, but must be at least 1"));
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::Broken(format!("cannot start {threads} threads: {error}")))?;
    }
    match &low.command {
        Command::Select(args) => commands::select::run(args, terminal),
        Command::Path(args) => commands::path::run(args, terminal),
        Command::Evaluate(args) => commands::evaluate::run(args, terminal),
        Command::Fit(args) => commands::fit::run(args, terminal),
        Command::Predict(args) => commands::predict::run(args, terminal),
        Command::Report(args) => commands::report::run(args, terminal),
        Command::Check(args) => commands::check::run(args, terminal),
        Command::Convert(args) => commands::convert::run(args, terminal),
        Command::Generate(args) => commands::generate::run(args, terminal),
        Command::Methods(args) => commands::methods::run(args, terminal),
        Command::Completions { shell } => commands::completions::completions(*shell, terminal),
        Command::Man { command } => commands::completions::man(command.as_deref(), terminal),
    }
}

/// Prints what clap has to say: help and version on standard output, mistakes as one message of ours.
fn usage(error: &clap::Error) -> u8 {
    use clap::error::ErrorKind;
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return 0;
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    Terminal::new(Level::Normal).error(text.trim_end());
    2
}
