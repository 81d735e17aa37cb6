//! Finds HiGHS as a shared library and has it linked, unless the feature `build` builds it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names of the library. The linker wants the last of a system's two, the loader mostly the first.
const NAMES: [&str; 4] = ["libhighs.so.1", "libhighs.so", "libhighs.1.dylib", "libhighs.dylib"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FEWEST_HIGHS");
    println!("cargo::rerun-if-env-changed=PKG_CONFIG_PATH");
    // highs-sys tells cargo what to link.
    if env::var_os("CARGO_FEATURE_BUILD").is_some() {
        return;
    }
    if let Err(why) = find().and_then(|library| link(&library)) {
        println!(
            "cargo::error={why}. Run `make tools`, which puts the library of HiGHS 1.15 into .venv; or set FEWEST_HIGHS to the \
             folder that holds libhighs; or build it from its source, which needs cmake and libclang: \
             `--features highs-build`; or leave it out: `--no-default-features`"
        );
    }
}

fn find() -> Result<PathBuf, String> {
    let folder = match env::var_os("FEWEST_HIGHS") {
        Some(folder) => PathBuf::from(folder),
        None => {
            installed().ok_or("HiGHS was not found: FEWEST_HIGHS is not set, and pkg-config knows no highs 1.15")?
        }
    };
    let name = NAMES.into_iter().find(|name| folder.join(name).is_file());
    let name = name.ok_or_else(|| format!("{} holds no libhighs", folder.display()))?;
    std::path::absolute(folder.join(name)).map_err(|error| error.to_string())
}

/// The folder of the library that the system has, if pkg-config knows one of the right version.
fn installed() -> Option<PathBuf> {
    let ask = |what: &str| {
        let answer = Command::new("pkg-config").args([what, "highs"]).output().ok().filter(|a| a.status.success())?;
        Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
    };
    ask("--modversion").filter(|version| version.starts_with("1.15."))?;
    ask("--variable=libdir").map(PathBuf::from)
}

/// Has the library linked by links of both names in `OUT_DIR`, where cargo lets tests load from.
/// What depends on this package directly reads `DEP_HIGHS_RPATH`, for programs that run elsewhere.
fn link(library: &Path) -> Result<(), String> {
    println!("cargo::rerun-if-changed={}", library.display());
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo says no OUT_DIR")?);
    let apple = env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
    for name in if apple { &NAMES[2..] } else { &NAMES[..2] } {
        let place = out.join(name);
        if place.is_symlink() {
            std::fs::remove_file(&place).map_err(|error| error.to_string())?;
        }
        symlink(library, &place).map_err(|error| format!("{}: {error}", place.display()))?;
    }
    println!("cargo::rustc-link-search=native={}", out.display());
    println!("cargo::rustc-link-lib=dylib=highs");
    println!("cargo::metadata=rpath={}", library.parent().unwrap_or(library).display());
    Ok(())
}

#[cfg(unix)]
fn symlink(to: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, at)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "only Unix links to a shared library"))
}
