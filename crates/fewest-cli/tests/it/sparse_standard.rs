//! `--scale standard` and `range` on sparse data: divided alone where the bias is free, which changes
//! nothing, else centred without a zero being filled in. The result is that of dense data.

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

/// The decision values of a prediction.
fn decisions(text: &str) -> Vec<f64> {
    let cell = |line: &str| line.split(',').nth(1).and_then(|cell| cell.parse().ok()).expect("a number");
    text.lines().skip(1).map(cell).collect()
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
            let why = "as asked; sparse data: divided alone, not centred";
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
    scratch.run(&["convert", "d.svm", "e.svm", "--scale", "standard"]).code(0);
}

#[test]
fn without_a_free_bias_sparse_data_are_centred() {
    let scratch = Scratch::new("sparse_centred");
    files(&scratch);
    let none = ["--bias", "none"];
    for (method, more) in [
        (&["exact", "--gap", "1e-9", "--tolerance", "1e-11"][..], &none[..]),
        (&["exact", "--loss", "squared-hinge", "--gap", "1e-9", "--tolerance", "1e-11"], &["--bias", "2"]),
        (&["rfe", "--tolerance", "1e-12"], &none),
        (&["rfe", "--kernel", "poly", "--gamma", "0.1", "--coef0", "1", "--tolerance", "1e-12"], &[]),
        (&["fgm", "--tolerance", "1e-12"], &[]),
        (&["l1-svm", "--tolerance", "1e-12"], &["--bias", "0.5"]),
        (&["info-gain"], &none),
    ] {
        for scale in ["standard", "range"] {
            let of = |file: &str| -> Value {
                let common = ["--max-features", "3", "--scale", scale, "--json", "r.json"];
                let ran = scratch.run(&[&["select", file, "-m"], method, more, &common].concat()).code(0);
                assert!(!ran.out.contains("not centred"), "{}", ran.out);
                scratch.json("r.json")
            };
            let dense = of("d.csv");
            for file in ["d.svm", "d.csc"] {
                let sparse = of(file);
                assert_eq!(sparse["selected"], dense["selected"], "{method:?} {scale} {file}");
                let objective = |found: &Value| found["model"]["machines"][0]["objective"].clone();
                let (a, b) = match (sparse["objective"].as_f64(), dense["objective"].as_f64()) {
                    (Some(a), Some(b)) => (a, b),
                    _ => (objective(&sparse).as_f64().unwrap_or(0.0), objective(&dense).as_f64().unwrap_or(0.0)),
                };
                assert!((a - b).abs() <= 1e-8 * b.abs(), "{method:?} {scale} {file}: {a} {b}");
                assert_eq!(sparse["settings"]["scale_reason"], "as asked");
                let scaling =
                    |found: &Value| found["model"]["scaling"]["features"].as_object().expect("scaling").clone();
                for (name, entry) in scaling(&sparse) {
                    for key in ["centre", "scale"] {
                        let (a, b) =
                            (entry[key].as_f64().expect("one"), scaling(&dense)[&name][key].as_f64().expect("one"));
                        assert!((a - b).abs() <= 1e-13 * (1.0 + b.abs()), "{name} {key}: {a} {b}");
                    }
                }
            }
        }
    }
}

#[test]
fn proofs_and_folds_of_centred_data() {
    let scratch = Scratch::new("sparse_centred_doors");
    files(&scratch);
    for scale in ["standard", "range:0..2"] {
        let asked = ["--max-features", "2", "--bias", "none", "--scale", scale];
        let select = ["select", "d.svm", "-m", "exact", "--proof", "s.proof", "--model", "s.json", "--json", "r.json"];
        scratch.run(&[&select, &asked[..]].concat()).code(0);
        for file in ["d.svm", "d.csc"] {
            for more in [&[][..], &["--as", "r.json"]] {
                let verified = scratch.run(&[&["verify", "s.proof", file], more].concat()).code(0);
                assert!(verified.out.contains("VERIFIED"), "{}", verified.out);
            }
        }
        // The model is of data as they are, whatever file they come from.
        let on = |file: &str| scratch.run(&["predict", "s.json", file]).code(0).out;
        let (sparse, dense) = (decisions(&on("d.svm")), decisions(&on("d.csv")));
        assert!(sparse.iter().zip(&dense).all(|(a, b)| (a - b).abs() <= 1e-12 * (1.0 + a.abs())));
        // Folds and halves learn the centres from their own samples.
        for command in [&["evaluate", "--cv", "4"][..], &["stability", "--pairs", "2"]] {
            let of = |file: &str| -> Value {
                let method = ["-m", "rfe", "--json", "e.json"];
                scratch.run(&[&command[..1], &[file], &command[1..], &method, &asked].concat()).code(0);
                scratch.json("e.json")
            };
            let (sparse, dense) = (of("d.svm"), of("d.csv"));
            let folds = |found: &Value| -> Vec<[Value; 2]> {
                let folds = found["folds"].as_array().into_iter().flatten();
                folds.map(|fold| [fold["selected"].clone(), fold["predicted"].clone()]).collect()
            };
            assert_eq!((folds(&sparse), &sparse["frequency"]), (folds(&dense), &dense["frequency"]), "{command:?}");
            assert!(sparse["settings"]["scale_reason"] == "as asked");
        }
        let study = ["study", "--methods", "rfe,exact", "--folds", "3", "--repeats", "1", "--json", "t.json"];
        let of = |file: &str| -> Value {
            let proof = ["--proof", "t.proof"];
            let ran = scratch.run(&[&study[..1], &[file], &study[1..], &asked, &proof].concat());
            assert!(ran.code == Some(0), "{ran:?}");
            if scratch.path("t.proof").exists() {
                scratch.run(&["verify", "t.proof", file]).code(0);
            }
            scratch.json("t.json")
        };
        let (sparse, dense) = (of("d.svm"), of("d.csv"));
        assert_eq!(sparse["panel"]["selected"], dense["panel"]["selected"]);
        assert_eq!(sparse["settings"]["scale_reason"], "as asked");
    }
}
