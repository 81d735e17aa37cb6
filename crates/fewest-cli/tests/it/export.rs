//! `fewest verify --export`: both files or none, and what has no export.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{Scratch, generated};

/// The data of the repository.
const WDBC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wdbc.csv");

/// What VeriPB says of two files, where it is installed.
fn veripb(scratch: &Scratch, name: &str) -> Option<String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&paths).map(|folder| folder.join("veripb"));
    let found = std::env::var_os("VERIPB").map(PathBuf::from).or_else(|| places.find(|path| path.is_file()));
    let Some(program) = found else {
        let _ = std::io::stderr().write_all(b"skipped: there is no veripb (`cargo install veripb`; VERIPB, PATH)\n");
        return None;
    };
    let file = |ending: &str| scratch.path(&format!("{name}.{ending}"));
    let ran = Command::new(program).args([file("opb"), file("pbp")]).output().expect("VeriPB can be started");
    Some(String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr))
}

#[test]
fn five_features_of_wdbc_are_proven_by_veripb() {
    let scratch = Scratch::new("export_wdbc");
    scratch.run(&["select", WDBC, "-m", "exact", "--max-features", "5", "--proof", "w.proof"]).code(0);
    let ran = scratch.run(&["verify", "w.proof", WDBC, "--export", "w.opb"]).code(0);
    assert!(ran.out.starts_with("VERIFIED within ") && ran.err.contains("rows, without a solution"), "{}", ran.err);
    let problem = scratch.read("w.opb");
    assert!(problem.starts_with("* #variable= 30 #constraint= "), "{problem}");
    assert!(problem.contains("* x21 = worst_radius\n"), "{problem}");
    if let Some(said) = veripb(&scratch, "w") {
        assert!(said.contains("s VERIFIED UNSATISFIABLE"), "{said}");
        // One feature more is another problem.
        scratch.file("w.opb", problem.replacen(">= -5 ;", ">= -6 ;", 1));
        let said = veripb(&scratch, "w").unwrap_or_default();
        assert!(!said.contains("s VERIFIED UNSATISFIABLE"), "{said}");
    }
}

#[test]
fn rules_prices_problems_and_bounds_have_an_export() {
    let scratch = Scratch::new("export_rules");
    scratch.file("d.csv", generated(40, 7, &["a", "b"], 3));
    scratch.file("three.csv", generated(36, 6, &["2", "10", "9"], 5));
    scratch.file("prices.csv", "f1,1\nf2,0.7\nf3,2\nf4,0.1\nf5,0.1\nf6,0.1\nf7,3\n");
    for line in [
        "d.csv -m exact --max-features 3 --penalty 0.05 --require f6 --forbid f1 --at-most 1:f2,f3 --solutions 3",
        "d.csv -m exact --budget 0.3 --feature-costs prices.csv --at-least 1:f1,f2,f4,f5 --cost 0.1 --bias none",
        "d.csv -m exact --max-features 4 --together f2,f3 --implies f1:f4 --sign f1:-,f2:+ --within 0.05",
        "d.csv -m exact --max-features 3 --loss squared-hinge --bias 0.3",
        "d.csv -m mbp --penalty 0.5 --require f6 --sign f1:- --bias 2",
        "three.csv -m exact --max-features 2",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = scratch.run(&[&["select"], &words[..], &["--proof", "x.proof"]].concat());
        assert!(matches!(ran.code, Some(0 | 3)), "{line}\n{}", ran.err);
        scratch.run(&["verify", "x.proof", words[0], "--export", "x.opb"]).code(0);
        if let Some(said) = veripb(&scratch, "x") {
            assert!(said.contains("s VERIFIED UNSATISFIABLE"), "{line}\n{said}");
        }
    }
}

#[test]
fn what_cannot_be_exported_says_why_and_leaves_no_file() {
    let scratch = Scratch::new("export_refused");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3)).file("other.csv", generated(40, 5, &["no", "yes"], 4));
    scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "2", "--proof", "d.proof"]).code(0);
    scratch.run(&["select", "d.csv", "-m", "kta", "--max-features", "2", "--proof", "k.proof"]).code(0);
    for (arguments, code, reason) in [
        (&["k.proof", "d.csv", "--export", "k.opb"][..], 2, "a proof about alignments rests on models"),
        (&["d.proof", "d.csv", "--export", "-"], 2, "two files are written"),
        (&["d.proof", "d.csv", "--export", "x.pbp"], 2, "name a file such as proof.opb"),
        (&["d.proof", "d.csv", "--export", "d.csv"], 2, "that is the data, and would be written over"),
        (&["d.proof", "d.csv", "--export", "none/x.opb"], 2, "cannot be written"),
        (&["d.proof", "other.csv", "--export", "x.opb"], 1, "--export wrote nothing, as the proof is not verified"),
    ] {
        let ran = scratch.run(&[&["verify"], arguments].concat()).code(code);
        assert!(ran.err.contains(reason), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(scratch.files(), ["d.csv", "d.proof", "k.proof", "other.csv"]);
}
