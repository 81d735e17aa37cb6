//! A checked proof as a pseudo-Boolean problem without a solution, and a cutting-plane proof of that,
//! for VeriPB: `fewest-veripb FILE.opb PROOF DATA [options of fewest verify]`.
//!
//! | file | subject |
//! | --- | --- |
//! | `files.rs` | where both go |
//! | `goal.rs` | what is exported, and the head of the problem |
//! | `bound.rs` | the bound with room for rounding |
//! | `row.rs` | numbers as integers, rounded to the safe side |
//! | `rules.rs` | the rules as rows |
//! | `need.rs` | which decisions make a row false |
//! | `tree.rs` | the steps of the proof |
//! | `writer.rs` | both files in one pass |
//!
//! docs/use/export.md has formats and argument.

mod bound;
mod files;
mod goal;
mod need;
mod row;
mod rules;
#[cfg(test)]
mod tests;
mod tree;
mod writer;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use fewest_cli::{Failure, Verified};
use files::Files;

/// How the program is called.
const USAGE: &str = "\
Usage: fewest-veripb FILE.opb PROOF DATA [options of fewest verify]

Checks a proof as `fewest verify PROOF DATA` does. If it is verified, writes what it proves as a
pseudo-Boolean problem to FILE.opb, and beside it, with the ending .pbp, a cutting-plane proof for
VeriPB that it has no solution (not of kta).
";

/// Exit code of usage and bad input.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let Some(path) = arguments.next().filter(|first| !first.to_string_lossy().starts_with('-')) else {
        say(USAGE);
        return ExitCode::from(BAD_INPUT);
    };
    let rest: Vec<OsString> = arguments.collect();
    let mut files = match Files::open(Path::new(&path), &rest) {
        Ok(files) => Some(files),
        Err(failure) => {
            say(&format!("error: {}\n", failure.into_text()));
            return ExitCode::from(BAD_INPUT);
        }
    };
    let mut export = |verified: &mut Verified<'_>| match files.take() {
        Some(files) => files.write(verified),
        None => Err(Failure::Broken("a proof is verified once".to_owned())),
    };
    let code = fewest_cli::verify_with(rest, &mut export);
    if files.is_some() {
        say("note: nothing is exported, as the proof is not verified\n");
    }
    ExitCode::from(code)
}

/// Writes to standard error.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
