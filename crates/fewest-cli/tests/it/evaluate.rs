//! `fewest evaluate`: folds against selections and predictions made by hand, no leak, every method,
//! choices, tests, resuming.

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Noise, Scratch, generated};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The data of `generated` with a column of folds in front.
fn with_folds(n: usize, p: usize, classes: &[&str], folds: usize, seed: u64) -> String {
    let text = generated(n, p, classes, seed);
    let fold = |(i, line): (usize, &str)| match i {
        0 => format!("fold,{line}\n"),
        _ => format!("part{},{line}\n", (i / 3) % folds),
    };
    text.lines().enumerate().map(fold).collect()
}

/// The lines for which the fold column holds, or not, this name; always with the header.
fn lines(text: &str, fold: &str, inside: bool) -> String {
    let keep = |(i, line): &(usize, &str)| *i == 0 || line.starts_with(&format!("{fold},")) == inside;
    text.lines().enumerate().filter(keep).fold(String::new(), |out, (_, line)| out + line + "\n")
}

#[test]
fn a_fold_is_select_on_one_part_and_predict_on_the_other() {
    let scratch = Scratch::new("evaluate_by_hand");
    for (classes, method) in [
        (&["a", "b"][..], &["-m", "rfe"][..]),
        (&["a", "b", "c"], &["-m", "rfe", "--kernel", "rbf", "--class-weight", "balanced"]),
        (&["a", "b"], &["-m", "kta"]),
    ] {
        let text = with_folds(48, 9, classes, 4, 3);
        scratch.file("d.csv", &text);
        let evaluate = ["evaluate", "d.csv", "--max-features", "3", "--folds", "fold", "--json", "e.json"];
        scratch.run(&[&evaluate[..], method].concat()).code(0);
        let report = scratch.json("e.json");
        let folds = report["folds"].as_array().unwrap();
        assert_eq!(folds.len(), 4);
        for (f, fold) in folds.iter().enumerate() {
            let name = format!("part{f}");
            scratch.file("train.csv", lines(&text, &name, false)).file("test.csv", lines(&text, &name, true));
            let select = ["select", "train.csv", "--drop", "fold", "--max-features", "3", "--model", "m.json"];
            scratch.run(&[&select[..], &["--json", "s.json"], method].concat()).code(0);
            scratch.run(&["predict", "m.json", "test.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
            assert_eq!(fold["selected"], scratch.json("s.json")["selected"]);
            let accuracy = number(&scratch.json("p.json")["accuracy"]);
            assert!((number(&fold["metrics"]["accuracy"]) - accuracy).abs() < 1e-12, "{fold}");
        }
        let mean = folds.iter().map(|f| number(&f["metrics"]["accuracy"])).sum::<f64>() / 4.0;
        assert!((number(&report["summary"]["accuracy"]["mean"]) - mean).abs() < 1e-12);
        let all: u64 = report["confusion"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|r| r.as_array().unwrap())
            .map(|c| c.as_u64().unwrap())
            .sum();
        assert_eq!(all, 48);
        for (name, share) in report["frequency"].as_object().unwrap() {
            let chosen = folds.iter().filter(|f| f["selected"].as_array().unwrap().contains(&json!(name))).count();
            assert_eq!(number(share), chosen as f64 / 4.0);
        }
    }
}

#[test]
fn what_is_held_out_changes_nothing_that_is_learnt() {
    let scratch = Scratch::new("evaluate_leak");
    let text = with_folds(40, 8, &["a", "b"], 4, 5);
    // The same, but all values of the samples of part0 are replaced by noise on another scale.
    let mut noise = Noise(1);
    let changed: String = text
        .lines()
        .map(|line| match line.strip_prefix("part0,") {
            Some(rest) => {
                let class = rest.rsplit(',').next().unwrap();
                let mut out = "part0".to_owned();
                for _ in 0..8 {
                    let _ = write!(out, ",{}", 1e4 * noise.next());
                }
                format!("{out},{class}\n")
            }
            None => format!("{line}\n"),
        })
        .collect();
    scratch.file("d.csv", text).file("c.csv", changed);
    let base =
        ["--max-features", "1..4", "--choose", "one-se", "--tune", "C=0.1,1,10", "--folds", "fold", "--json", "e.json"];
    for method in [&["-m", "rfe", "--kernel", "rbf"][..], &["-m", "exact"], &["-m", "info-gain"]] {
        let mut first = Vec::new();
        for file in ["d.csv", "c.csv"] {
            scratch.run(&[&["evaluate", file][..], &base, method].concat()).code(0);
            let fold = scratch.json("e.json")["folds"][0].clone();
            first.push(["selected", "cost", "max_features", "gamma"].map(|key| fold[key].clone()));
        }
        assert_eq!(first[0], first[1], "{method:?}");
    }
}

#[test]
fn every_method_can_be_evaluated() {
    let scratch = Scratch::new("evaluate_methods");
    scratch.file("d.csv", generated(40, 6, &["a", "b"], 8)).file("t.csv", generated(45, 6, &["a", "b", "c"], 8));
    let base = ["--max-features", "2", "--cv", "3", "--inner-cv", "3", "--truth", "f1,f2", "--json", "e.json"];
    for (file, method) in [
        ("d.csv", &["-m", "rfe"][..]),
        ("d.csv", &["-m", "exact"]),
        ("d.csv", &["-m", "kta"]),
        ("d.csv", &["-m", "fgm"]),
        ("d.csv", &["-m", "info-gain"]),
        ("t.csv", &["-m", "eb-rfe", "--kernel", "rbf", "--seed", "4"]),
        ("t.csv", &["-m", "rfe", "--costs", "1,10"]),
        ("t.csv", &["-m", "bit-flip"]),
        ("t.csv", &["-m", "attribute-flip", "--passes", "all"]),
        ("t.csv", &["-m", "kta", "--repeats", "2"]),
    ] {
        let ran = scratch.run(&[&["evaluate", file][..], &base, method].concat()).code(0);
        let report = scratch.json("e.json");
        let folds = report["folds"].as_array().unwrap();
        assert_eq!(folds.len(), if method.contains(&"--repeats") { 6 } else { 3 }, "{method:?}");
        // The first three features carry the classes.
        assert!(number(&report["summary"]["accuracy"]["mean"]) > 0.5, "{method:?}: {}", ran.out);
        for fold in folds {
            let selected: Vec<&str> =
                fold["selected"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
            let common = selected.iter().filter(|s| ["f1", "f2"].contains(s)).count() as f64;
            assert_eq!(number(&fold["metrics"]["set_f1"]), 2.0 * common / (selected.len() + 2) as f64);
        }
        for word in ["accuracy", "balanced_accuracy", "f1", "mcc", "auc", "set_f1", "stability", "share of folds"] {
            assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
        }
    }
    scratch
        .run(&["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--leave-one-out", "--json", "e.json"])
        .code(0);
    let report = scratch.json("e.json");
    assert_eq!((report["folds"].as_array().unwrap().len(), &report["summary"]["auc"]), (40, &Value::Null));
}

#[test]
fn two_methods_are_compared_on_the_same_folds() {
    let scratch = Scratch::new("evaluate_against");
    scratch.file("d.csv", generated(60, 10, &["a", "b"], 9));
    let arguments =
        ["evaluate", "d.csv", "-m", "exact", "--gap", "1e-3", "--max-features", "2", "--cv", "5", "--repeats", "2"];
    let ran = scratch.run(&[&arguments[..], &["--against", "info-gain", "--json", "e.json"]].concat()).code(0);
    let report = scratch.json("e.json");
    assert_eq!(report["against"]["method"], "info-gain");
    let accuracy = |r: &Value| number(&r["summary"]["accuracy"]["mean"]);
    let difference = number(&report["comparison"]["difference"]["mean"]);
    assert!((accuracy(&report) - accuracy(&report["against"]) - difference).abs() < 1e-12);
    assert!(ran.out.contains("one-sided tests that it is better"), "{}", ran.out);
    let (plain, corrected) = (&report["comparison"]["t_test"], &report["comparison"]["corrected_t_test"]);
    if !plain.is_null() {
        // Ten differences; the corrected variance is (1/10 + 1/4) / (1/10) times the plain one.
        assert!((number(&plain["t"]) / number(&corrected["t"]) - 3.5f64.sqrt()).abs() < 1e-9);
    }
    // A second method alone, with the same seed, has the same folds.
    scratch
        .run(&[
            "evaluate",
            "d.csv",
            "-m",
            "info-gain",
            "--max-features",
            "2",
            "--cv",
            "5",
            "--repeats",
            "2",
            "--json",
            "o.json",
        ])
        .code(0);
    assert_eq!(scratch.json("o.json")["summary"]["accuracy"], report["against"]["summary"]["accuracy"]);
}

#[test]
fn failures_name_the_fold_and_misuse_is_refused() {
    let scratch = Scratch::new("evaluate_refused");
    let mut text = "fold,a,b,y\n".to_owned();
    for i in 0..20 {
        // All samples of class no are in the first fold, so that nothing is left to train on.
        let _ = writeln!(
            text,
            "{},{},{},{}",
            if i < 10 { "first" } else { "second" },
            i % 7,
            i * i % 11,
            if i < 10 { "no" } else { "yes" }
        );
    }
    scratch.file("d.csv", text);
    let base = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "1"];
    for (more, words) in [
        (&["--folds", "fold"][..], &["fold first", "no sample of class no"][..]),
        (&["--cv", "1"], &["--cv is 1"]),
        (&["--cv", "30"], &["--cv is 30", "20 samples"]),
        (&["--tune", "D=1"], &["--tune is D=1", "C=VALUES"]),
        (&["--choose", "one-se"], &["--choose", "several sizes"]),
        (&["--certify"], &["--certify", "select"]),
        (&["--folds", "a", "--cv", "3"], &["--folds"]),
        (&["--leave-one-out", "--cv", "3"], &["--leave-one-out"]),
        (&["--against", "nothing"], &["no method nothing"]),
        (&["--truth", "z"], &["z"]),
        (&["--repeats", "0"], &["--repeats"]),
        (&["--inner-cv", "1"], &["--inner-cv is 1"]),
    ] {
        let ran = scratch.run(&[&base[..], more].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
        }
    }
    let none = scratch.run(&["evaluate", "d.csv", "-m", "rfe"]).code(2);
    assert!(none.err.contains("--max-features"), "{}", none.err);
}

/// The report without times, and without the command, which says where things are written.
fn timeless(mut report: Value) -> Value {
    for fold in report["folds"].as_array_mut().into_iter().flatten() {
        fold["seconds"] = Value::Null;
    }
    report["seconds"] = Value::Null;
    report["command"] = Value::Null;
    report
}

/// Starts the command, kills it once the file to resume from is there, and starts it again until it
/// ends by itself.
fn killed_and_resumed(scratch: &Scratch, arguments: &[&str]) {
    let mut kills = 0;
    loop {
        let seen = std::fs::metadata(scratch.path("state.json")).and_then(|m| m.modified()).ok();
        let mut child = scratch.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                assert!(status.success() && kills > 0, "{status} after {kills} kills");
                return;
            }
            let now = std::fs::metadata(scratch.path("state.json")).and_then(|m| m.modified()).ok();
            if now != seen && kills < 2 {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(120), "nothing is kept");
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
    }
}

#[test]
fn a_killed_run_goes_on_to_the_same_result() {
    let scratch = Scratch::new("evaluate_resume");
    scratch.file("d.csv", generated(150, 40, &["a", "b", "c"], 12));
    let select = ["select", "d.csv", "-m", "eb-rfe", "--kernel", "rbf", "--candidates", "8"];
    scratch.run(&[&select[..], &["--json", "whole.json"]].concat()).code(0);
    killed_and_resumed(&scratch, &[&select[..], &["--resume", "state.json", "--json", "parts.json"]].concat());
    let (whole, parts) = (timeless(scratch.json("whole.json")), timeless(scratch.json("parts.json")));
    for key in ["selected", "objective", "accuracy", "cost", "curve", "ranking", "trainings", "model"] {
        assert_eq!(whole[key], parts[key], "{key}");
    }
    let other = scratch.run(&[&select[..], &["--resume", "state.json", "--costs", "1,2"]].concat()).code(2);
    assert!(other.err.contains("written by a run whose costs was"), "{}", other.err);

    std::fs::remove_file(scratch.path("state.json")).unwrap();
    let evaluate =
        ["evaluate", "d.csv", "-m", "rfe", "--kernel", "rbf", "--max-features", "5", "--cv", "5", "--repeats", "3"];
    scratch.run(&[&evaluate[..], &["--json", "whole.json"]].concat()).code(0);
    killed_and_resumed(&scratch, &[&evaluate[..], &["--resume", "state.json", "--json", "parts.json"]].concat());
    assert_eq!(timeless(scratch.json("whole.json")), timeless(scratch.json("parts.json")));
}

/// A fold that time cut says nothing of the method; a search counts with the best subset it had.
#[test]
fn what_time_cut_counts_nowhere() {
    let scratch = Scratch::new("evaluate_cut");
    scratch.file("d.csv", generated(60, 6, &["no", "yes"], 4));
    for method in ["rfe", "l1-svm", "exact"] {
        let left = if method == "exact" { 0 } else { 3 };
        let asked = ["evaluate", "d.csv", "-m", method, "--cv", "3", "--time-limit", "0s", "--json", "r.json"];
        let size: &[&str] = if method == "l1-svm" { &[] } else { &["--max-features", "2"] };
        let said = scratch.run(&[&asked[..], size].concat()).code(3);
        let found = scratch.json("r.json");
        assert_eq!(found["folds"].as_array().map(Vec::len), Some(3 - left), "{method}");
        assert_eq!(found["effort"], json!({"folds_left": left}), "{method}");
        let told = said.err.contains("3 folds of 3 not done") && found["summary"] == json!({});
        assert!(told == (left == 3) && !said.out.contains("NaN"), "{} {}", said.out, said.err);
    }
}
