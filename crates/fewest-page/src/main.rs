//! `fewest verify` as a program of its own, which a page runs: `make page` compiles it to
//! WebAssembly and puts it into the page of `page/`. Its arguments are those after the word
//! `verify`; files come from the system, which in a page is `page/worker.js`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // WebAssembly has no folder for temporary files; the page has one folder in all.
    if cfg!(target_family = "wasm") {
        let _ = tempfile::env::override_temp_dir(Path::new("/"));
    }
    ExitCode::from(fewest_cli::verify_alone(std::env::args_os().skip(1)))
}
