//! `milo-k` and `rmilo-k` on the command line: the values of `kta`, the file for other solvers,
//! limits, texts.

#![cfg(feature = "highs")]

use crate::common::{Scratch, generated};

const RMILO: [&str; 6] = ["select", "d.csv", "-m", "rmilo-k", "--max-features", "2"];

#[test]
fn both_find_the_value_of_kta() {
    let scratch = Scratch::new("milo_value");
    scratch.file("d.csv", generated(16, 4, &["no", "yes"], 3));
    let value = |method: &str, extra: &[&str]| {
        let arguments = ["select", "d.csv", "-m", method, "--max-features", "2", "--json", "r.json"];
        scratch.run(&[&arguments[..], extra].concat()).code(0);
        let result = scratch.json("r.json");
        assert_eq!((result["status"].as_str(), result["sense"].as_str()), (Some("optimal"), Some("max")));
        assert_eq!(result["model"]["kernel"], result["settings"]["kernel"]);
        (result["objective"].as_f64().expect("f"), result["settings"].clone())
    };
    let (best, _) = value("kta", &[]);
    for (method, extra, entries) in [
        ("milo-k", &["--lp", "interior"][..], [("start", "true"), ("lp", "\"interior\""), ("big_m", "null")]),
        ("rmilo-k", &["--plain"], [("start", "false"), ("lp", "\"simplex\""), ("big_m", "\"padded\"")]),
        ("rmilo-k", &["--big-m", "tight"], [("start", "true"), ("lp", "\"simplex\""), ("big_m", "\"tight\"")]),
    ] {
        let (found, settings) = value(method, extra);
        assert!((found - best).abs() <= 1e-4 * best, "{method} {extra:?}: {found}, but {best}");
        for (key, entry) in entries {
            assert_eq!(settings[key].to_string(), entry, "{method} {extra:?}: {key}");
        }
    }
    let other = ["--kernel", "laplace", "--categorical", "f2,f4"];
    let (best, _) = value("kta", &other);
    for method in ["milo-k", "rmilo-k"] {
        let (found, settings) = value(method, &other);
        assert!((found - best).abs() <= 1e-4 * best, "{method}: {found}, but {best}");
        assert_eq!((&settings["kernel"], &settings["categorical"]), (&"laplace".into(), &vec!["f2", "f4"].into()));
    }
}

#[test]
fn the_program_is_written_before_it_is_solved() {
    let scratch = Scratch::new("milo_model");
    scratch.file("d.csv", generated(30, 8, &["no", "yes"], 3));
    for file in ["p.lp", "p.mps"] {
        let ran = scratch.run(&[&RMILO[..], &["--write-model", file, "--time-limit", "1ms"]].concat()).code(3);
        assert!(ran.err.contains("time limit"), "{}", ran.err);
        let text = scratch.read(file);
        assert!(text.contains("z8") && text.contains("e1_2_9"), "{file}");
    }
    assert_eq!(scratch.files(), ["d.csv", "p.lp", "p.mps"]);
}

#[test]
fn what_cannot_be_is_refused() {
    let scratch = Scratch::new("milo_refused");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 3));
    for (extra, words) in [
        (&["--write-model", "p.txt"][..], ".mps or .lp"),
        (&["--write-model", "nowhere/p.lp"], "--write-model nowhere/p.lp"),
        (&["--write-model", "-"], ".mps or .lp"),
        (&["--memory", "1M"], "but only"),
        (&["--solutions", "2"], "--solutions is an option of exact"),
        (&["--kernel", "linear"], "--kernel is linear, but must be rbf or laplace"),
        (&["--gamma", "0"], "--gamma is 0"),
    ] {
        let ran = scratch.run(&[&RMILO[..], extra].concat()).code(2);
        assert!(ran.err.contains(words), "{extra:?}: {}", ran.err);
        assert_eq!(scratch.files(), ["d.csv"]);
    }
    let ran = scratch.run(&["select", "d.csv", "-m", "kta", "--max-features", "2", "--write-model", "p.lp"]).code(2);
    assert!(
        ran.err.contains("--write-model is an option of mbp, milo-k, rmilo-k, milp1 and milp2, not of kta"),
        "{}",
        ran.err
    );
}

#[test]
fn milp1_and_milp2_prove_a_subset_and_write_their_program() {
    let scratch = Scratch::new("milp_value");
    scratch.file("d.csv", generated(30, 6, &["no", "yes"], 3));
    for (method, extra, sense) in [("milp1", ["--weight-bound", "2"], "min"), ("milp2", ["--cost", "0.1"], "max")] {
        let arguments = ["select", "d.csv", "-m", method, "--max-features", "2", "--json", "r.json"];
        scratch.run(&[&arguments[..], &extra, &["--write-model", "p.lp"]].concat()).code(0);
        let result = scratch.json("r.json");
        assert_eq!((result["status"].as_str(), result["sense"].as_str()), (Some("optimal"), Some(sense)));
        assert!(result["gap"].as_f64().expect("a gap") <= 1e-4 && result["model"]["weights"].is_object());
        let text = scratch.read("p.lp");
        assert!(text.contains("v6") && text.contains("w6") && text.contains("xi30"), "{text}");
    }
    let ran = scratch.run(&["select", "d.csv", "-m", "milp2", "--max-features", "2", "--cost", "0.01"]).code(2);
    assert!(ran.err.contains("1 / (2 x weight of the smaller class)"), "{}", ran.err);
}

#[test]
fn evaluate_takes_them_beside_other_methods() {
    let scratch = Scratch::new("milp_evaluate");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3));
    let arguments = ["evaluate", "d.csv", "-m", "milp2", "--max-features", "2", "--cost", "0.2", "--cv", "2"];
    let ran =
        scratch.run(&[&arguments[..], &["--lp", "interior", "--against", "rfe", "--truth", "f1"]].concat()).code(0);
    assert!(ran.out.contains("set_f1") && ran.out.contains("than rfe"), "{}", ran.out);
    let ran = scratch.run(&[&arguments[..], &["--write-model", "p.lp"]].concat()).code(2);
    assert!(ran.err.contains("--write-model is an option of select"), "{}", ran.err);
}
