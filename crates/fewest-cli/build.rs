//! The command finds the shared library of HiGHS in `../lib`, where `make install` puts it, or where
//! it was linked from.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Some(folder) = std::env::var_os("DEP_HIGHS_RPATH") {
        let apple = std::env::var("CARGO_CFG_TARGET_VENDOR").is_ok_and(|vendor| vendor == "apple");
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}/../lib", if apple { "@loader_path" } else { "$ORIGIN" });
        println!("cargo::rustc-link-arg=-Wl,-rpath,{}", folder.display());
    }
}
