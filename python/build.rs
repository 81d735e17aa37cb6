//! The module finds the shared library of HiGHS that it was linked to, wherever it is started.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(folder) = std::env::var_os("DEP_HIGHS_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}
