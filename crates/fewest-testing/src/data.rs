//! The way to the shared data folder.

use std::path::{Path, PathBuf};

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
    None
}
