//! `--scale range`: the interval in every command, its model on data as they are, sparse data, and
//! what is refused.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// Both forms, and the ends.
const RANGES: [(&str, f64, f64); 3] = [("range", -1.0, 1.0), ("range:0..1", 0.0, 1.0), ("range:-2.5..1e3", -2.5, 1e3)];

/// The cells of a column of numbers.
fn column(table: &str, name: &str) -> Vec<f64> {
    let at = table.lines().next().and_then(|head| head.split(',').position(|of| of == name)).expect("a column");
    let cell = |line: &str| line.split(',').nth(at).and_then(|cell| cell.parse().ok()).expect("a number");
    table.lines().skip(1).map(cell).collect()
}

#[test]
fn a_model_of_scaled_data_is_one_of_data_as_they_are() {
    let scratch = Scratch::new("range_model");
    scratch.file("d.csv", generated(60, 5, &["no", "yes"], 21));
    // Values beyond the ends of the training data.
    scratch.file("new.csv", generated(40, 5, &["no", "yes"], 22).replace(".0", "1.0"));
    let (table, new) = (scratch.read("d.csv"), scratch.read("new.csv"));
    for (scale, low, high) in RANGES {
        for more in [&["--bias", "none"][..], &["--kernel", "poly", "--gamma", "0.1"]] {
            let fit = ["fit", "d.csv", "--all-features", "--tolerance", "1e-10", "--scale", scale, "--model", "m.json"];
            scratch.run(&[&fit[..], more].concat()).code(0);
            let of = scratch.json("m.json")["model"]["scaling"].clone();
            assert_eq!(of["kind"], scale.replace("1e3", "1000"));
            // By hand: the least value becomes the low end, the largest the high end.
            let mut by_hand = new.lines().next().expect("a head").to_owned() + "\n";
            let mut columns = Vec::new();
            for j in 1..=5 {
                let name = format!("f{j}");
                let entry = &of["features"][&name];
                let (centre, by) = (entry["centre"].as_f64().expect("one"), entry["scale"].as_f64().expect("one"));
                let known = column(&table, &name);
                let least = known.iter().copied().fold(f64::INFINITY, f64::min);
                let most = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                for (value, end) in [(least, low), (most, high)] {
                    assert!(((value - centre) / by - end).abs() <= 1e-12 * (high - low), "{scale} {name}");
                }
                columns.push(column(&new, &name).iter().map(|x| (x - centre) / by).collect::<Vec<f64>>());
            }
            assert!(columns.concat().iter().any(|x| *x > high + 0.1), "nothing is cut");
            for (i, line) in new.lines().skip(1).enumerate() {
                let cells: Vec<String> = columns.iter().map(|column| column[i].to_string()).collect();
                let _ = writeln!(by_hand, "{},{}", cells.join(","), line.rsplit(',').next().expect("a class"));
            }
            scratch.file("scaled.csv", by_hand);
            scratch.run(&["convert", "d.csv", "train.csv", "--scale", scale]).code(0);
            let fit = ["fit", "train.csv", "--all-features", "--tolerance", "1e-10", "--scale", "none"];
            scratch.run(&[&fit[..], &["--model", "s.json"], more].concat()).code(0);
            let decisions = |model: &str, data: &str| {
                scratch.run(&["predict", model, data, "--out", "p.csv"]).code(0);
                column(&scratch.read("p.csv"), "decision")
            };
            let (ours, theirs) = (decisions("m.json", "new.csv"), decisions("s.json", "scaled.csv"));
            let size = theirs.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            for (a, b) in ours.iter().zip(&theirs) {
                assert!((a - b).abs() <= 1e-5 * size, "{scale} {more:?}: {a} {b}");
            }
        }
    }
}

#[test]
fn every_command_takes_it_and_says_so() {
    let scratch = Scratch::new("range_commands");
    scratch.file("d.csv", generated(48, 6, &["no", "yes"], 23));
    scratch.file("three.csv", generated(60, 6, &["a", "b", "c"], 24));
    for line in [
        "select d.csv -m rfe --max-features 2",
        "path d.csv -m exact --max-features 1..2",
        "evaluate d.csv -m rfe --max-features 2 --cv 3",
        "fit d.csv --features f1,f2",
        "study d.csv --max-features 2 --methods rfe --folds 2 --repeats 1 --inner-cv 2 --cost-points 2",
        "stability d.csv -m rfe --max-features 2 --pairs 2",
        "knockoffs d.csv -m rfe --draws 1",
        "certify d.csv --features f1,f2",
        "markers three.csv --max-features 2",
        "compare three.csv f1,f2 f3,f4",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let page = if line.starts_with("fit") { &[][..] } else { &["--report", "r.html"] };
        let ran = scratch.run(&[&words[..], &["--scale", "range:0..1", "--json", "r.json"], page].concat());
        // A study says it on its page.
        assert!(line.starts_with("study") || ran.out.contains("range:0..1"), "{line}: {ran:?}");
        let found = scratch.json("r.json");
        let settings = if line.starts_with("path") { &found["path"][0]["settings"] } else { &found["settings"] };
        assert_eq!(
            (&settings["scale"], &settings["scale_reason"]),
            (&json!("range:0..1"), &json!("as asked")),
            "{line}"
        );
        assert!(page.is_empty() || scratch.read("r.html").contains("range:0..1"), "{line}");
    }
    let html = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        scratch.run(&[&words[..], &["--report", "r.html"]].concat()).code(0);
        scratch.read("r.html")
    };
    assert!(
        html("select d.csv -m rfe --max-features 2 --scale range").contains("weights of features scaled to [-1, 1]")
    );
    let study = "study d.csv --max-features 2 --methods rfe --folds 2 --repeats 1 --inner-cv 2 --cost-points 2";
    assert!(
        html(&format!("{study} --scale range:0..1")).contains("Features were scaled to [0, 1], as learnt from each")
    );
}

#[test]
fn sparse_data_stay_sparse_in_files() {
    let scratch = Scratch::new("range_sparse");
    // Every feature has a zero, and no value is below 0.
    scratch.file("d.svm", "1 1:2 3:4\n0 2:1 3:1\n1 1:5\n0 2:3 3:2\n1 1:4 2:1\n0 3:3\n");
    scratch.file("d.csv", "x1,x2,x3,y\n2,0,4,1\n0,1,1,0\n5,0,0,1\n0,3,2,0\n4,1,0,1\n0,0,3,0\n");
    scratch.run(&["convert", "d.svm", "d.csc"]).code(0);
    let of = |file: &str, scale: &str| -> Value {
        let select = ["select", file, "-m", "exact", "--max-features", "2", "--bias", "none", "--gap", "1e-9"];
        scratch.run(&[&select[..], &["--scale", scale, "--json", "r.json"]].concat()).code(0);
        scratch.json("r.json")
    };
    for file in ["d.svm", "d.csc"] {
        let (sparse, dense) = (of(file, "range:0..1"), of("d.csv", "range:0..1"));
        assert_eq!(sparse["selected"], dense["selected"]);
        assert_eq!(sparse["model"]["scaling"], dense["model"]["scaling"], "{file}");
        for scale in ["range", "range:-3..7"] {
            assert_eq!(of(file, scale)["selected"], of("d.csv", scale)["selected"]);
        }
    }
    scratch.run(&["convert", "d.svm", "s.svm", "--scale", "range:0..1"]).code(0);
    assert!(scratch.read("s.svm").lines().next().expect("a row").contains("1:0.4 3:1"), "{}", scratch.read("s.svm"));
    let ran = scratch.run(&["convert", "d.svm", "t.svm", "--scale", "range"]).code(2);
    let parts =
        ["d.svm, column `x1`: --scale range makes -1 of 0", "fill in the zeros of sparse data", "--scale maxabs"];
    assert!(parts.iter().all(|part| ran.err.contains(part)), "{}", ran.err);
    assert!(!scratch.path("t.svm").exists());
}

#[test]
fn what_is_no_range_is_refused() {
    let scratch = Scratch::new("range_refused");
    scratch.file("d.csv", generated(12, 2, &["no", "yes"], 25));
    for wrong in
        ["range:", "range:1", "range:1..1", "range:2..1", "range:0..inf", "range:nan..1", "range:0..1e71", "Range"]
    {
        for words in [&["select", "d.csv", "-m", "rfe"][..], &["convert", "d.csv", "e.csv"]] {
            let ran = scratch.run(&[words, &["--scale", wrong]].concat()).code(2);
            let parts = [&format!("--scale: `{wrong}` is no scaling"), "range:A..B from A to B above it"];
            assert!(parts.iter().all(|part| ran.err.contains(part)), "{}", ran.err);
        }
    }
}
