//! The `fewest` command; see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(fewest_cli::run_with(std::env::args_os()))
}
