//! The way to the shared data folder.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Adds the name of the current test to the file that `FEWEST_SKIPPED` names: the list of tests
/// that `make test-data` runs again, with the folder.
fn note_skipped() {
    let Some(list) = std::env::var_os("FEWEST_SKIPPED") else { return };
    let thread = std::thread::current();
    let test = std::env::var("NEXTEST_TEST_NAME").ok().or_else(|| thread.name().map(str::to_owned));
    let test = test.expect("a test has a name");
    let mut list = OpenOptions::new().create(true).append(true).open(list).expect("FEWEST_SKIPPED can be written");
    writeln!(list, "{test}").expect("FEWEST_SKIPPED can be written");
}

/// The file of this name in the data folder: `$FEWEST_DATA`, else `../shared/data` beside the
/// repository. When it is absent the reason is printed, so that a skipped test says why it was
/// skipped.
#[expect(clippy::print_stderr, reason = "a test that is skipped must say so")]
pub fn data_file(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::var_os("FEWEST_DATA").map_or_else(|| root.join("../shared/data"), PathBuf::from);
    let path = folder.join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!("skipped: {} is not there; set FEWEST_DATA to the folder that holds {name}", path.display());
    note_skipped();
    None
}
