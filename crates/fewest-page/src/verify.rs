//! `fewest verify` as a program of its own, which a page runs: `make page` compiles it to
//! WebAssembly and puts it into the page of `page/`. Its arguments are those after the word
//! `verify`; files come from the system, which in a page is `page/worker.js`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fewest_page::run(|arguments| fewest_cli::verify_alone(arguments.skip(1)))
}
