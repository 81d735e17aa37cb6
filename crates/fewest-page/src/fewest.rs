//! The whole command as a program that a page runs: `make page` compiles it to WebAssembly and puts
//! it into the page of `page/`. Files come from the system, which in a page is `page/worker.js`.

use std::process::ExitCode;

fn main() -> ExitCode {
    fewest_page::run(fewest_cli::run_with)
}

/// Asks the command to finish with the best so far; returns whether it can. The system of the page calls it while the
/// command waits for an answer of that system, such as the time.
#[cfg(target_family = "wasm")]
#[expect(unsafe_code, reason = "the page finds it by its name, of which there is one")]
#[unsafe(no_mangle)]
pub extern "C" fn interrupt() -> bool {
    fewest_cli::interrupt()
}
