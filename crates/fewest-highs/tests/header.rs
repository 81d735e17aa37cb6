//! Every declaration of `src/lib.rs` is that of HiGHS's own headers. They come with the source of
//! highs-sys, which cargo fetches where it is not there yet.
#![expect(clippy::print_stderr, reason = "says that it was skipped")]

use std::path::{Path, PathBuf};
use std::process::Command;

const OURS: &str = include_str!("../src/lib.rs");

/// The folder of HiGHS that holds its headers.
fn headers() -> Option<PathBuf> {
    let mut ask = Command::new(env!("CARGO"));
    ask.args(["metadata", "--locked", "--all-features", "--format-version", "1"]);
    let answer = ask.current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let answer: serde_json::Value = serde_json::from_slice(&answer.stdout).ok()?;
    let package = answer["packages"].as_array()?.iter().find(|package| package["name"] == "highs-sys")?;
    Some(Path::new(package["manifest_path"].as_str()?).parent()?.join("HiGHS"))
}

/// Text without comments, with one space where there was any.
fn plain(text: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let lines = out.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ").replace("( ", "(").replace(", )", ")").replace(" )", ")")
}

/// A type of C as Rust writes it.
fn rust_type(c: &str) -> String {
    let (constant, c) = c.trim().strip_prefix("const ").map_or((false, c.trim()), |rest| (true, rest));
    let (pointer, name) = c.strip_suffix('*').map_or((false, c), |rest| (true, rest));
    let name = match name.trim() {
        "double" => "c_double",
        "int" => "c_int",
        "char" => "c_char",
        "void" => "c_void",
        "int64_t" => "i64",
        other => other,
    };
    match (pointer, constant) {
        (false, _) => name.to_owned(),
        (true, true) => format!("*const {name}"),
        (true, false) => format!("*mut {name}"),
    }
}

/// `double* value` as `value: *mut c_double`.
fn rust_field(c: &str) -> String {
    let (of, name) = c.trim().rsplit_once(' ').expect("a type and a name");
    format!("{name}: {}", rust_type(of))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let at = text.find(before).unwrap_or_else(|| panic!("{before} is not there")) + before.len();
    text[at..].split_once(after).unwrap_or_else(|| panic!("{before} has no {after}")).0
}

fn list(parts: &str, between: char, of: fn(&str) -> String) -> String {
    let parts = parts.split(between).map(str::trim).filter(|part| !part.is_empty() && *part != "void");
    parts.map(of).collect::<Vec<_>>().join(", ")
}

#[test]
fn declarations_are_those_of_the_headers() {
    let Some(folder) = headers() else {
        eprintln!("SKIPPED: cargo has no source of highs-sys and could not fetch it");
        return;
    };
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let (ours, functions) = (plain(OURS), plain(&read("highs/interfaces/highs_c_api.h")));
    let structs = plain(&read("highs/lp_data/HighsCallbackStruct.h"));

    let (major, minor) = fewest_highs::VERSION;
    assert!(read("Version.txt").starts_with(&format!("HIGHS_MAJOR={major}\nHIGHS_MINOR={minor}\n")));
    assert!(read("highs/util/HighsInt.h").contains("typedef int HighsInt;"));

    let declared: Vec<&str> = ours.split("pub fn ").skip(1).map(|text| text.split_once(';').unwrap().0).collect();
    assert!(declared.len() > 20);
    for ours in declared {
        let name = ours.split_once('(').unwrap().0;
        let head = format!(" {name}(");
        let result = functions.split(&head).next().unwrap().rsplit(';').next().unwrap();
        // What stands before the first function is no part of its type.
        let result = rust_type(result.rsplit(['}', '"', '{']).next().unwrap());
        let parameters = list(between(&functions, &head, ");"), ',', rust_field);
        let result = if result == "c_void" { String::new() } else { format!(" -> {result}") };
        assert_eq!(ours, format!("{name}({parameters}){result}"));
    }

    let constants: Vec<&str> = ours.split("pub const k").skip(1).map(|text| text.split_once(';').unwrap().0).collect();
    assert!(constants.len() > 10);
    for constant in constants {
        let (name, value) = constant.split_once(": HighsInt = ").unwrap();
        assert!(functions.contains(&format!("static const HighsInt k{name} = {value};")), "k{constant}");
    }

    for name in ["HighsCallbackDataOut", "HighsCallbackDataIn"] {
        let theirs = list(between(&structs, &format!("typedef struct {name} {{"), "}"), ';', rust_field);
        let ours = list(between(&ours, &format!("pub struct {name} {{"), "}"), ',', |field| {
            field.strip_prefix("pub ").unwrap().to_owned()
        });
        assert_eq!(ours, theirs, "{name}");
    }
    let theirs = list(between(&structs, "typedef void (*HighsCCallbackType)(", ")"), ',', rust_type);
    let ours = between(&ours, "pub type HighsCCallbackType = Option<", ">;");
    assert_eq!(ours.trim().trim_end_matches(','), format!("unsafe extern \"C\" fn({theirs})"));
}
