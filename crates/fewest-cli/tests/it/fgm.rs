//! `fgm` on the command line: results, the model of section 2.5, refusals.

use serde_json::Value;

use crate::common::{Scratch, generated};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// `fewest select d.svm -m fgm --max-features 5 ...` on 150 generated documents.
fn select(scratch: &Scratch, extra: &[&str]) -> crate::common::Ran {
    run(scratch, "--max-features", extra, "5")
}

/// Runs the selection with `--subset-size 5`: the paper's mixture.
fn mixture(scratch: &Scratch, extra: &[&str]) -> crate::common::Ran {
    run(scratch, "--subset-size", extra, "5")
}

fn run(scratch: &Scratch, option: &str, extra: &[&str], size: &str) -> crate::common::Ran {
    if !scratch.path("d.svm").exists() {
        let sizes = ["--samples", "150", "--words", "800", "--length", "40", "--relevant", "10"];
        scratch.run(&[&["generate", "text", "--out", "d.svm", "--truth", "truth.json"], &sizes[..]].concat()).code(0);
    }
    scratch.run(&[&["select", "d.svm", "-m", "fgm", option, size], extra].concat())
}

#[test]
fn the_model_written_is_that_of_the_mixture() {
    let scratch = Scratch::new("fgm_model");
    let ran = mixture(&scratch, &["--gap", "1e-3", "--json", "r.json", "--model", "m.json"]).code(0);
    assert!(ran.out.contains("completed") && ran.out.contains("bound"), "{}", ran.out);
    let result = scratch.json("r.json");
    assert_eq!((&result["method"], &result["status"]), (&"fgm".into(), &"completed".into()));
    let (objective, bound) = (number(&result["objective"]), number(&result["bound"]));
    assert!(bound <= objective && objective < 0.0 && number(&result["gap"]) <= 1e-3, "{objective} {bound}");
    let settings = &result["settings"];
    assert_eq!((&settings["loss"], &settings["bias"]), (&"squared-hinge".into(), &"none".into()));
    assert_eq!(
        (&settings["mkl"], &settings["subset_size"], &settings["reuse"]),
        (&"fast".into(), &5.into(), &true.into())
    );
    let selected = result["selected"].as_array().unwrap();
    assert!(selected.len() > 5, "a mixture of several subsets keeps more than one of them: {}", selected.len());

    // Shares add up to the size, and the primal of a machine on sqrt(z) x is 1/2 sum w^2 / z and
    // its slacks: with alpha summing to 1 the value is -1/2 (sum w^2 / z + |alpha|^2 / C), so sum
    // w^2 / z is below twice the value's size.
    let ranking = result["ranking"].as_array().unwrap();
    let shares: f64 = ranking.iter().map(|r| number(&r["criterion"])).sum();
    assert!((shares - 5.0).abs() < 1e-6, "{shares}");
    let weights = &result["model"]["weights"];
    let norm: f64 = ranking
        .iter()
        .map(|r| number(&weights[r["feature"].as_str().unwrap()]).powi(2) / number(&r["criterion"]))
        .sum();
    assert!(norm > 0.0 && norm <= -2.0 * objective * (1.0 + 1e-3), "{norm} {objective}");

    // `predict` on the training data uses these weights.
    scratch.run(&["predict", "m.json", "d.svm", "--out", "p.csv", "--json", "a.json"]).code(0);
    let accuracy = number(&scratch.json("a.json")["accuracy"]);
    assert!(accuracy > 0.7, "{accuracy}");
}

#[test]
fn a_size_is_a_promise() {
    let scratch = Scratch::new("fgm_size");
    select(&scratch, &["--require", "x3", "--json", "r.json"]).code(0);
    let result = scratch.json("r.json");
    let selected: Vec<&str> = result["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert!(selected.len() <= 5 && selected.contains(&"x3"), "{selected:?}");
    assert!(number(&result["bound"]) <= number(&result["objective"]));
}

#[test]
fn exchanges_come_with_many_samples_for_each_feature() {
    let scratch = Scratch::new("fgm_improve");
    // Some 75 samples of the smaller class: enough for 3 features, too few for 20.
    let by = |size: &str, extra: &[&str], words: &str| {
        let ran = run(&scratch, "--max-features", &[&["--json", "r.json"], extra].concat(), size).code(0);
        assert!(ran.out.contains(words), "{}", ran.out);
        scratch.json("r.json")["improved"]["by"].as_str().unwrap().to_owned()
    };
    assert_eq!(by("3", &[], "improved   by SVM-RFE and exchanges ("), "both");
    assert_eq!(by("20", &[], "improved   by the better of two rankings ("), "rankings");
    assert_eq!(by("20", &["--improve", "exchanges"], "improved   by exchanges ("), "exchanges");
    assert_eq!(by("3", &["--plain"], "improved   by nothing ("), "none");
}

#[test]
fn the_papers_own_steps_reach_the_same_value() {
    let scratch = Scratch::new("fgm_plain");
    let value = |file: &str| number(&scratch.json(file)["objective"]);
    mixture(&scratch, &["--gap", "1e-3", "--json", "fast.json"]).code(0);
    mixture(&scratch, &["--gap", "1e-3", "--plain", "--json", "plain.json"]).code(0);
    let settings = &scratch.json("plain.json")["settings"];
    assert_eq!((&settings["mkl"], &settings["reuse"]), (&"simple".into(), &false.into()));
    let (fast, plain) = (value("fast.json"), value("plain.json"));
    assert!((fast - plain).abs() <= 1e-3 * fast.abs(), "{fast} {plain}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let scratch = Scratch::new("fgm_refused");
    scratch.file("d.csv", generated(30, 4, &["a", "b"], 2));
    for (extra, words) in [
        (&["-m", "fgm", "--max-features", "2", "--loss", "hinge"][..], "--loss is hinge, but must be squared-hinge"),
        (&["-m", "fgm"], "--max-features"),
        (&["-m", "fgm", "--max-features", "2", "--certify"], "--certify"),
        (&["-m", "rfe", "--max-features", "2", "--subset-size", "2"], "--subset-size is an option of fgm"),
        (&["-m", "rfe", "--max-features", "2", "--mkl", "fast"], "--mkl is an option of fgm"),
        (&["-m", "fgm", "--max-features", "2", "--cost", "0"], "cost is 0"),
    ] {
        let ran = scratch.run(&[&["select", "d.csv"], extra].concat()).code(2);
        assert!(ran.err.contains(words), "{extra:?}: {}", ran.err);
    }
    let ran = scratch.run(&["path", "d.csv", "-m", "fgm", "--max-features", "1..2"]).code(0);
    assert!(ran.out.contains("size  status"), "{}", ran.out);
}

#[test]
fn a_time_limit_ends_with_a_mixture() {
    let scratch = Scratch::new("fgm_time");
    select(&scratch, &["--plain", "--time-limit", "1ms", "--gap", "1e-9", "--json", "r.json"]).code(3);
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "time_limit");
    assert!(!result["selected"].as_array().unwrap().is_empty());
}

#[test]
fn a_column_file_gives_what_its_source_gives() {
    let scratch = Scratch::new("fgm_columns");
    select(&scratch, &["--json", "svm.json"]).code(0);
    scratch.run(&["convert", "d.svm", "d.csc"]).code(0);
    // The matrix takes about 70 kB: pages are given back on the way.
    scratch.run(&["convert", "d.svm", "small.csc", "--memory", "40k"]).code(0);
    assert_eq!(std::fs::read(scratch.path("d.csc")).unwrap(), std::fs::read(scratch.path("small.csc")).unwrap());
    for memory in ["1G", "4M"] {
        let words = ["select", "d.csc", "-m", "fgm", "--max-features", "5", "--memory", memory];
        scratch.run(&[&words[..], &["--json", "csc.json", "--model", "m.json"]].concat()).code(0);
        let (svm, csc) = (scratch.json("svm.json"), scratch.json("csc.json"));
        assert_eq!(svm["selected"], csc["selected"], "{memory}");
        let (a, b) = (number(&svm["objective"]), number(&csc["objective"]));
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
    }
    scratch.run(&["predict", "m.json", "d.csc", "--out", "p.csv"]).code(0);
    scratch.run(&["predict", "m.json", "d.svm", "--out", "q.csv"]).code(0);
    assert_eq!(scratch.read("p.csv"), scratch.read("q.csv"));
    assert!(scratch.run(&["check", "d.csc"]).code(0).out.contains("csc"));
    let refused = scratch.run(&["convert", "d.svm", "d.csc.gz"]).code(2).err;
    assert!(refused.contains("cannot be compressed") && refused.contains(".csc"), "{refused}");
    let mut bytes = std::fs::read(scratch.path("d.csc")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(scratch.path("bad.csc"), bytes).unwrap();
    let refused = scratch.run(&["check", "bad.csc"]).code(2).err;
    assert!(refused.contains("bad.csc") && refused.contains("damaged"), "{refused}");
}

#[test]
fn the_baselines_bound_what_they_select() {
    let scratch = Scratch::new("fgm_baselines");
    select(&scratch, &["--json", "fgm.json", "--cost", "2", "--gap", "1e-6"]).code(0);
    for method in ["qcqp-ssvm", "nmmkl"] {
        let words = ["select", "d.svm", "-m", method, "--max-features", "5", "--bias", "none", "--json", "r.json"];
        scratch.run(&[&words[..], &["--loss", "squared-hinge"]].concat()).code(0);
        let result = scratch.json("r.json");
        let (objective, bound) = (number(&result["objective"]), number(&result["bound"]));
        assert!(bound <= objective && bound > 0.0, "{method}: {bound} {objective}");
        assert_eq!(result["selected"].as_array().unwrap().len(), 5, "{method}");
        // With V the value of margins of 1 and cost C/2, that of fgm is -1 / (4 V).
        let whole = -0.25 / number(&scratch.json("fgm.json")["bound"]);
        assert!(bound <= whole * (1.0 + 1e-5), "{method}: {bound} above the tighter relaxation, {whole}");
        if method == "nmmkl" {
            assert!((bound - whole).abs() <= 1e-4 * whole, "{bound} {whole}");
        }
        let small = ["select", "d.svm", "-m", method, "--max-features", "5", "--memory", "200k"];
        let refused = scratch.run(&small).code(2).err;
        assert!(refused.contains(method) && refused.contains("fgm"), "{refused}");
    }
}
