//! Two checkers of proof files, `fewest verify` and `tools/check_proof.py`, say the same.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::Value;

use crate::common::{Scratch, generated};

/// The second checker.
const SECOND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/check_proof.py");
/// The data of the repository.
const WDBC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wdbc.csv");

/// Whether there is Python to run the second checker; says so if not.
fn python() -> bool {
    python_with("sys")
}

/// Whether there is Python with this module; says so if not.
fn python_with(module: &str) -> bool {
    let code = format!("import {module}");
    let found = Command::new("python3").args(["-c", &code]).output().is_ok_and(|ran| ran.status.success());
    if !found {
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3 with {module}");
    }
    found
}

/// What follows this word at the start of a line.
fn after<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(word)).map(str::trim)
}

/// Whether both checkers verify a proof; fails where they differ, in the verdict, the subset or the
/// numbers.
#[track_caller]
fn both(scratch: &Scratch, proof: &str, data: &str) -> bool {
    both_with(scratch, proof, data, &[])
}

/// The words of a line without its numbers.
fn words(line: Option<&str>) -> String {
    line.unwrap_or_default().split(' ').filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect()
}

/// As [`both`], with options for both.
#[track_caller]
fn both_with(scratch: &Scratch, proof: &str, data: &str, options: &[&str]) -> bool {
    let first = scratch.run(&[&["verify", proof, data, "--json", "v.json"], options].concat());
    let mut second = Command::new("python3");
    second.arg(SECOND).arg(scratch.path(proof)).arg(scratch.path(data)).args(options).current_dir(scratch.path("."));
    let second = second.output().expect("python3 can be started");
    let said = String::from_utf8_lossy(&second.stdout).into_owned();
    let all = format!("{}{}{said}{}", first.out, first.err, String::from_utf8_lossy(&second.stderr));
    assert_eq!(first.code, second.status.code(), "{all}");
    if first.code != Some(0) {
        assert!(first.code == Some(2) || said.starts_with("NOT VERIFIED"), "{all}");
        return false;
    }
    assert_eq!(words(first.out.lines().next()), words(said.lines().next()), "{all}");
    let verdict: Value = scratch.json("v.json");
    for (key, word) in [("objective", "objective  at"), ("bound", "bound")] {
        let Some(one) = verdict[key].as_f64() else { continue };
        let last = after(&said, word).and_then(|text| text.split(' ').next_back());
        let other: f64 = last.and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{all}"));
        // A bound on models may be weaker than that of more digits.
        if verdict["sense"] == "max" && key == "bound" {
            assert!(other <= one * (1.0 + 1e-11), "{key}: {one}, {other}\n{all}");
            continue;
        }
        assert!((one - other).abs() <= 1e-9 * one.abs().max(other.abs()), "{key}: {one}, {other}\n{all}");
    }
    if let Some(names) = verdict["selected"].as_array() {
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        assert!(after(&said, "selected").is_some_and(|text| text.ends_with(&names.join(", "))), "{all}");
    }
    true
}

/// The header and the records of a proof.
pub(crate) fn taken_apart(path: &Path) -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).expect("a proof");
    MultiGzDecoder::new(file).read_to_end(&mut bytes).expect("gzip");
    let end = bytes.iter().position(|&byte| byte == b'\n').expect("a header");
    let records = bytes.split_off(end + 1);
    (serde_json::from_slice(&bytes).expect("JSON"), records)
}

/// A proof of this header and these records.
pub(crate) fn put_together(path: &Path, header: &Value, records: &[u8]) {
    let mut file = GzEncoder::new(std::fs::File::create(path).expect("a file"), Compression::fast());
    writeln!(file, "{header}").and_then(|()| file.write_all(records)).and_then(|()| file.finish()).expect("written");
}

#[test]
fn a_second_checker_agrees_on_proofs_of_every_kind() {
    if !python() {
        return;
    }
    let scratch = Scratch::new("second_checker");
    scratch.file("d.csv", generated(40, 7, &["a", "b"], 3));
    scratch.file("three.csv", generated(36, 6, &["2", "10", "9"], 5));
    scratch.file("prices.csv", "f1,1\nf2,0.7\nf3,2\nf4,0.1\nf5,0.1\nf6,0.1\nf7,3\n");
    let mut sites = String::new();
    for (i, line) in generated(40, 6, &["a", "b"], 8).lines().enumerate() {
        sites += if i == 0 { "site,w," } else { ["10,1,", "2,0.3,", "1,0.7,"][i / 2 % 3] };
        sites += line;
        sites.push('\n');
    }
    scratch.file("sites.csv", sites);
    // A column of one value, one that is there for all, some that are not.
    let row = |i: usize| {
        let own = (2..6).filter(|j| (i * j + i / 3) % 4 > 1).map(|j| format!(" {j}:{}", (i * i + j) % 7 + j));
        format!("{} 1:3{} 6:{}\n", i % 2, own.collect::<String>(), (i * 5) % 11)
    };
    scratch.file("sparse.svm", (0..40).map(row).collect::<String>());
    for line in [
        "sparse.svm -m exact --max-features 2 --scale standard",
        "sparse.svm -m exact --max-features 2 --scale standard --bias none",
        "sparse.svm -m exact --max-features 3 --scale range --bias 2 --loss squared-hinge",
        "sparse.svm -m exact --max-features 2 --scale range:0.5..3",
        "sparse.svm -m mbp --penalty 0.5 --scale standard --bias none",
        "d.csv -m exact --max-features 3 --loss squared-hinge --bias 0.3 --class-weight balanced",
        "d.csv -m exact --max-features 3 --penalty 0.05 --require f6 --forbid f1 --at-most 1:f2,f3 --solutions 3",
        "d.csv -m exact --budget 0.3 --feature-costs prices.csv --at-least 1:f1,f2,f4,f5 --cost 0.1 --bias none",
        "d.csv -m exact --max-features 4 --together f2,f3 --implies f1:f4 --sign f1:-,f2:+ --within 0.05",
        "d.csv -m gbd --max-features 2 --scale maxabs",
        "d.csv -m exact --max-features 2 --scale range --bias none",
        "sites.csv -m exact --max-features 2 --scale range:-0.5..3 --sample-weights w",
        "d.csv -m mbp --penalty 0.5 --require f6 --sign f1:- --bias 2",
        "d.csv -m rfe --max-features 2 --certify --scale none",
        "d.csv -m exact --max-features 4 --cost 100 --node-limit 1",
        "three.csv -m exact --max-features 2 --class-weight cw3",
        "three.csv -m exact --max-features 2 --multi-class one-vs-rest",
        "sites.csv -m exact --max-features 2 --tasks site --sample-weights w",
        "d.csv -m exact --max-features 3 --positive a --sign f1:-,f2:+",
        "sites.csv -m exact --max-features 2 --tasks site --positive a --class-weight a=2,b=1",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let ran = scratch.run(&[&["select"], &words[..], &["--proof", "x.proof"]].concat());
        assert!(matches!(ran.code, Some(0 | 3)), "{line}\n{}", ran.err);
        assert!(both(&scratch, "x.proof", words[0]), "{line}");
    }
    // Lists that are among the best or not, and one that breaks the rules and is not in the proof.
    for line in [
        "d.csv --features f5,f6 --class-weight balanced",
        "d.csv --features f1,f2,f3 --solutions 1",
        "d.csv --features f1,f6 --forbid f1 --max-features 3",
        "three.csv --features f4,f5",
        "sites.csv --features f4 --tasks site --sample-weights w",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        scratch.run(&[&["certify"], &words[..], &["--proof", "x.proof"]].concat()).code(0);
        assert!(both(&scratch, "x.proof", words[0]), "{line}");
    }
    for line in [
        "three.csv --max-features 3 --at-least 1:f1,f2 --class-weight cw2",
        "three.csv --max-features 3 --multi-class one-vs-rest --loss hinge --forbid f1",
        "d.csv --max-features 2 --per-class 1 --cost 0.1 --scale maxabs",
        "sparse.svm --max-features 2 --scale range",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        scratch.run(&[&["markers"], &words[..], &["--gap", "0.1", "--proof", "x.proof"]].concat()).code(0);
        assert!(both(&scratch, "x.proof", words[0]), "{line}");
    }
}

#[test]
fn a_second_checker_refuses_damaged_proofs_too() {
    if !python() {
        return;
    }
    let scratch = Scratch::new("second_checker_damaged");
    scratch.run(&["select", WDBC, "-m", "exact", "--max-features", "3", "--proof", "x.proof"]).code(0);
    assert!(both(&scratch, "x.proof", WDBC));
    let (header, records) = taken_apart(&scratch.path("x.proof"));
    let write = |header: &Value, records: &[u8]| put_together(&scratch.path("y.proof"), header, records);

    // The same, written again, is verified; another question in the header is not.
    write(&header, &records);
    assert!(both(&scratch, "y.proof", WDBC));
    for (path, value) in [
        ("/rules/max_features", Value::from(4)),
        ("/rules/forbid", serde_json::json!([21])),
        ("/cost", Value::from(1.5)),
        ("/loss", Value::from("squared-hinge")),
        ("/penalty", serde_json::json!(vec![-1.0; 30])),
        ("/rules/costs", serde_json::json!([1.0, 2.0])),
        ("/fingerprint", Value::from(format!("sha256:{}", "0".repeat(64)))),
    ] {
        let mut other = header.clone();
        *other.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
        write(&other, &records);
        assert!(!both(&scratch, "y.proof", WDBC), "{path}");
    }

    // Bits turned in points, the file cut off, something after its end.
    for at in [0, 1, 40, records.len() / 3, records.len() / 2] {
        let mut other = records.clone();
        other[at] ^= 0x11;
        write(&header, &other);
        assert!(!both(&scratch, "y.proof", WDBC), "byte {at}");
    }
    write(&header, &records[..records.len() - 3]);
    assert!(!both(&scratch, "y.proof", WDBC));
    write(&header, &[&records[..], b"x"].concat());
    assert!(!both(&scratch, "y.proof", WDBC));

    // A weaker point: all multipliers halved (the exponent of the first point, in the first
    // record that is no split) leave it feasible, and prove less.
    let after_integer = |from: usize| from + 1 + records[from..].iter().take_while(|&&byte| byte >= 128).count();
    let mut first = 0;
    while records[first] == 1 {
        first = after_integer(after_integer(first + 1));
    }
    let point = after_integer(first + 1);
    assert!(matches!(records[first], 2 | 3) && records[point] == 1 && records[point + 1] % 2 == 1);
    let mut other = records.clone();
    other[point + 1] += 2;
    write(&header, &other);
    assert!(!both(&scratch, "y.proof", WDBC));

    // A better bound claimed, that of the last record, in front of the text "optimal".
    let place = records.len() - "optimal".len() - 9;
    let bound = f64::from_le_bytes(records[place..place + 8].try_into().expect("eight bytes"));
    let mut other = records.clone();
    other[place..place + 8].copy_from_slice(&(1.001 * bound).to_le_bytes());
    write(&header, &other);
    assert!(!both(&scratch, "y.proof", WDBC));
}

#[test]
fn a_second_checker_prepares_data_as_the_command_does() {
    if !python() {
        return;
    }
    let scratch = Scratch::new("second_checker_data");
    let (mut patients, mut genes, mut labels) = (String::new(), String::new(), "who,kind\n".to_owned());
    for (i, line) in generated(40, 5, &["a", "b"], 4).lines().enumerate() {
        let colour = if i == 0 { "colour" } else { ["red", "NA", "blue", "None", "red"][i % 5] };
        let smoke = if i == 0 { "smoke" } else { ["yes", "no", "yes"][i % 3] };
        let (first, rest) = line.split_once(',').expect("cells");
        let first = if i > 0 && i % 7 == 3 { "?" } else { first };
        let _ = writeln!(patients, "{colour},{smoke},{first},{rest}");
        let (_, class) = line.rsplit_once(',').expect("a class");
        if i > 0 {
            let _ = writeln!(labels, "cell{i},{class}");
        }
        let counts = |j: usize| if i == 0 { format!("g{j}") } else { (i * (j + 3) % 11 * (i % 2 + j % 3)).to_string() };
        let name = if i == 0 { String::new() } else { format!("cell{i}") };
        let _ = writeln!(genes, "{name},{},{},{},{}", counts(0), counts(1), counts(2), counts(3));
    }
    scratch.file("p.csv", patients);
    scratch.file("g.csv", genes);
    scratch.file("l.csv", labels);
    for line in [
        "p.csv -m exact --max-features 3 --missing indicator",
        "p.csv -m exact --max-features 3 --missing median --drop smoke --loss squared-hinge",
        "p.csv -m kta --max-features 3 --missing most-frequent --kernel laplace",
        "p.csv -m kta --max-features 2 --missing mean --categorical smoke=yes --gamma 0.5 --solutions 3",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        scratch.run(&[&["select"], &words[..], &["--proof", "x.proof"]].concat()).code(0);
        assert!(both(&scratch, "x.proof", words[0]), "{line}");
    }
    // Classes in a second file, which no checker opens because a proof names it.
    let line = "g.csv -m exact --max-features 2 --labels l.csv:kind --normalize-total 10 --log1p --proof x.proof";
    scratch.run(&[&["select"], &line.split(' ').collect::<Vec<_>>()[..]].concat()).code(0);
    assert!(both_with(&scratch, "x.proof", "g.csv", &["--labels", "l.csv:kind"]));
    assert!(!both(&scratch, "x.proof", "g.csv"));
    if python_with("numpy") {
        scratch.run(&["convert", "g.csv", "--labels", "l.csv:kind", "g.npz"]).code(0);
        let line = "g.npz -m kta --max-features 2 --scale maxabs --node-limit 3 --proof x.proof";
        scratch.run(&[&["select"], &line.split(' ').collect::<Vec<_>>()[..]].concat());
        assert!(both(&scratch, "x.proof", "g.npz"));
    }
    if python_with("h5py") {
        let cells = concat!(env!("CARGO_MANIFEST_DIR"), "/../fewest-data/tests/files/latest.h5ad");
        let line = "-m exact --max-features 2 --target cell_type --drop-unlabelled --missing mean --proof x.proof";
        scratch.run(&[&["select", cells], &line.split(' ').collect::<Vec<_>>()[..]].concat()).code(0);
        assert!(both(&scratch, "x.proof", cells));
    }
}

#[test]
fn a_header_has_one_form_for_both_checkers() {
    if !python() {
        return;
    }
    let scratch = Scratch::new("second_checker_form");
    scratch.file("d.csv", generated(30, 5, &["a", "b"], 6));
    scratch.run(&["select", "d.csv", "-m", "kta", "--max-features", "3", "--proof", "k.proof"]).code(0);
    scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "2", "--proof", "x.proof"]).code(0);
    for proof in ["k.proof", "x.proof"] {
        let (header, records) = taken_apart(&scratch.path(proof));
        let put = |line: &str| {
            let bytes = [line.as_bytes(), b"\n", &records].concat();
            let mut file =
                GzEncoder::new(std::fs::File::create(scratch.path("y.proof")).expect("a file"), Compression::fast());
            file.write_all(&bytes).and_then(|()| file.finish()).expect("written");
        };
        let line = header.to_string();
        put(&line);
        assert!(both(&scratch, "y.proof", "d.csv"), "{proof}");
        for (from, to) in [
            ("\"rules\":{", "\"rules\":[3],\"x\":{"),
            ("\"gain\":", "\"gain\":null,\"gain\":"),
            ("\"made\":{", "\"made\":{\"version\":\"0\","),
            ("\"made\":{", "\"made\":{\"method\":7,\"x\":{\"a\":1,\"a\":1},"),
            ("\"made\":{", "\"made\":{\"other\":[{\"a\":1,\"a\":1}],"),
            ("\"version\":1", "\"version\":1.0"),
            ("\"costs\":[]", "\"costs\":null"),
            ("\"p\":5", "\"p\":-5"),
        ] {
            assert!(line.contains(from), "{from} {line}");
            put(&line.replacen(from, to, 1));
            assert!(!both(&scratch, "y.proof", "d.csv"), "{proof} {to}");
        }
        put(&line.replacen("\"made\":{", "\"made\":{\"other\":[{\"a\":1}],", 1));
        assert!(both(&scratch, "y.proof", "d.csv"), "{proof}: other keys of its making");
        // Zeros behind the stream are bytes, too.
        let mut zeros = std::fs::read(scratch.path(proof)).expect("a proof");
        zeros.extend([0; 3]);
        scratch.file("z.proof", zeros);
        assert!(!both(&scratch, "z.proof", "d.csv"), "{proof}: zeros");
        for at in [0, records.len() / 3, records.len() / 2, records.len() - 9] {
            let mut other = records.clone();
            other[at] ^= 0x21;
            put_together(&scratch.path("y.proof"), &header, &other);
            both(&scratch, "y.proof", "d.csv");
        }
    }
}
