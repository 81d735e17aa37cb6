//! `--scale standard` on sparse data: divided, not centred, which changes nothing where the bias is
//! free.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Noise, Scratch};

/// Writes 80 samples of 8 features as csv, svmlight and a column file; half of the values are 0.
fn files(scratch: &Scratch) {
    let mut noise = Noise(11);
    let mut table = (1..=8).map(|j| format!("x{j}")).collect::<Vec<_>>().join(",") + ",y\n";
    let mut sparse = String::new();
    for i in 0..80 {
        let class = i % 2;
        let _ = write!(sparse, "{class}");
        for j in 0..8 {
            let shift = if j < 3 { f64::from(class) * 0.9 } else { 0.0 };
            let there = noise.next() + shift > 0.1;
            let value = f64::from(1 << j) * (3.0 + noise.next() + shift);
            let value = if there { (value * 1e4).round() / 1e4 } else { 0.0 };
            let _ = write!(table, "{value},");
            if there {
                let _ = write!(sparse, " {}:{value}", j + 1);
            }
        }
        let _ = writeln!(table, "{class}");
        sparse.push('\n');
    }
    scratch.file("d.csv", table).file("d.svm", sparse);
    scratch.run(&["convert", "d.svm", "d.csc"]).code(0);
}

#[test]
fn with_a_free_bias_the_result_is_that_of_dense_data() {
    let scratch = Scratch::new("sparse_standard");
    files(&scratch);
    for method in [
        &["exact", "--gap", "1e-9", "--tolerance", "1e-11"][..],
        &["rfe", "--tolerance", "1e-12"],
        &["fgm", "--bias", "free", "--tolerance", "1e-12"],
    ] {
        let of = |file: &str| -> Value {
            let common = ["--max-features", "3", "--scale", "standard", "--json", "r.json"];
            let ran = scratch.run(&[&["select", file, "-m"], method, &common].concat()).code(0);
            assert_eq!(ran.out.contains("not centred"), file != "d.csv", "{}", ran.out);
            scratch.json("r.json")
        };
        let dense = of("d.csv");
        assert_eq!(dense["settings"]["scale_reason"], "as asked");
        for file in ["d.svm", "d.csc"] {
            let sparse = of(file);
            assert_eq!(sparse["selected"], dense["selected"], "{method:?} {file}");
            let (a, b) = (sparse["objective"].as_f64().expect("one"), dense["objective"].as_f64().expect("one"));
            assert!((a - b).abs() <= 1e-9 * b.abs(), "{method:?} {file}: {a} {b}");
            assert_eq!(sparse["settings"]["scale"], "standard");
            let why = "as asked; sparse data: divided by standard deviations, not centred";
            assert_eq!(sparse["settings"]["scale_reason"], why);
            let entries = sparse["model"]["scaling"]["features"].as_object().expect("scaling").clone();
            for (name, entry) in entries {
                assert_eq!(entry["centre"], 0.0);
                let other = dense["model"]["scaling"]["features"][&name]["scale"].as_f64().expect("one");
                assert!((entry["scale"].as_f64().expect("one") - other).abs() <= 1e-14 * other);
            }
        }
    }
}

#[test]
fn proofs_models_and_other_commands_know_it() {
    let scratch = Scratch::new("sparse_standard_doors");
    files(&scratch);
    let standard = ["--scale", "standard"];
    let select = |file: &str, more: &[&str]| {
        let own = ["select", file, "-m", "exact", "--max-features", "2"];
        scratch.run(&[&own, &standard[..], more].concat()).code(0)
    };
    select("d.svm", &["--proof", "s.proof", "--model", "s.json", "--json", "r.json", "--report", "r.html"]);
    assert!(scratch.read("r.html").contains("standard (sparse data: not centred)"));
    for file in ["d.svm", "d.csc"] {
        let verified = scratch.run(&["verify", "s.proof", file]).code(0);
        assert!(verified.out.contains("VERIFIED"), "{}", verified.out);
    }
    select("d.csv", &["--model", "d.json"]);
    for model in ["s.json", "d.json"] {
        let on = |file: &str| scratch.run(&["predict", model, file]).code(0).out;
        let decisions = |text: &str| -> Vec<f64> {
            text.lines()
                .skip(1)
                .map(|line| line.split(',').nth(1).expect("a cell").parse().expect("a number"))
                .collect()
        };
        let (dense, sparse) = (decisions(&on("d.csv")), decisions(&on("d.svm")));
        assert_eq!(dense.len(), 80);
        assert!(dense.iter().zip(&sparse).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())), "{model}");
    }
    let evaluated =
        scratch.run(&[&["evaluate", "d.svm", "-m", "rfe", "--max-features", "2", "--cv", "4"], &standard[..]].concat());
    assert!(evaluated.code(0).out.contains("standard (as asked; sparse data"));
    let studied = ["study", "d.svm", "--max-features", "2", "--methods", "rfe", "--folds", "3", "--repeats", "1"];
    let studied = scratch.run(&[&studied, &standard[..], &["--json", "st.json", "--report", "st.html"]].concat());
    studied.code(0);
    assert!(scratch.json("st.json")["settings"]["scale_reason"].as_str().expect("why").contains("not centred"));
    assert!(scratch.read("st.html").contains("not centred, as the data are sparse"));
    // Where the bias is not free the fact is reported even so.
    let none = ["select", "d.svm", "-m", "fgm", "--bias", "none", "--max-features", "2"];
    assert!(scratch.run(&[&none, &standard[..]].concat()).code(0).out.contains("not centred"));
    scratch.run(&["convert", "d.svm", "e.svm", "--scale", "standard"]).code(0);
}
