//! What the programs of both pages begin with.

use std::path::Path;
use std::process::ExitCode;

/// Runs a command with the arguments of the program, the first of them its own name.
pub fn run(command: impl FnOnce(std::env::ArgsOs) -> u8) -> ExitCode {
    // WebAssembly has no folder for temporary files; a page has one folder in all.
    if cfg!(target_family = "wasm") {
        let _ = tempfile::env::override_temp_dir(Path::new("/"));
    }
    ExitCode::from(command(std::env::args_os()))
}
