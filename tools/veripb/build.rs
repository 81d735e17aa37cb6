//! The program finds the shared library of HiGHS where it was linked from.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(folder) = std::env::var_os("DEP_HIGHS_RPATH") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}
