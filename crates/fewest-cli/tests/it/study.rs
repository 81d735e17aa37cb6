//! `fewest study`: its JSON, page, model and summary; limits, resuming, rules, bad input.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// A short study of `d.csv`.
const SHORT: [&str; 12] = [
    "study",
    "d.csv",
    "--max-features",
    "1..3",
    "--folds",
    "3",
    "--repeats",
    "1",
    "--inner-cv",
    "3",
    "--cost-points",
    "3",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], more].concat()
}

/// What must not depend on time, threads or the command line.
fn essence(mut result: Value) -> Value {
    let object = result.as_object_mut().unwrap();
    for key in ["command", "seconds", "effort", "settings", "methods_text"] {
        object.remove(key);
    }
    let panel = object["panel"].as_object_mut().unwrap();
    panel.remove("seconds");
    panel.remove("counts");
    if let Some(certificate) = panel.get_mut("certificate").and_then(Value::as_object_mut) {
        certificate.remove("seconds");
    }
    for fold in object["folds"].as_array_mut().unwrap() {
        fold.as_object_mut().unwrap().remove("seconds");
    }
    result
}

#[test]
fn a_study_is_a_panel_an_estimate_and_a_proof() {
    let scratch = Scratch::new("study_whole");
    scratch.file("d.csv", generated(60, 8, &["a", "b"], 1));
    let ran = scratch
        .run(&with(&["--json", "s.json", "--model", "m.json", "--report", "s.html", "--methods", "exact,rfe"]))
        .code(0);
    for word in ["panel", "accuracy", "95 % interval", "proof", "in folds", "could be replaced by", "tried"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    assert!(ran.out.lines().count() <= 40, "one screen: {}", ran.out);
    let result = scratch.json("s.json");
    assert_eq!(
        (&result["schema"], &result["kind"], &result["status"]),
        (&json!(1), &json!("study"), &json!("completed"))
    );
    assert_eq!(result["folds"].as_array().unwrap().len(), 3);
    // The estimate comes from the folds.
    let accuracies: Vec<f64> =
        result["folds"].as_array().unwrap().iter().map(|f| f["metrics"]["accuracy"].as_f64().unwrap()).collect();
    let mean = accuracies.iter().sum::<f64>() / 3.0;
    assert!((result["summary"]["accuracy"]["mean"].as_f64().unwrap() - mean).abs() < 1e-12);
    assert!(mean > 0.7, "{mean}");
    let tested: usize = result["folds"].as_array().unwrap().iter().map(|f| f["test"].as_array().unwrap().len()).sum();
    assert_eq!(tested, 60);
    let panel = &result["panel"];
    let size = panel["selected"].as_array().unwrap().len();
    assert!((1..=3).contains(&size) && panel["model"]["features"] == panel["selected"], "{panel}");
    let fit = panel["fit_cost"].as_f64().unwrap();
    assert!(panel["model"]["cost"] == fit && fit >= panel["cost"].as_f64().unwrap());
    assert_eq!(panel["replacements"].as_array().unwrap().len(), size);

    // The panel's objective is that of the same selection by `select`.
    if panel["method"] == "exact" {
        let cost = panel["cost"].to_string();
        let k = panel["max_features"].to_string();
        let select = ["select", "d.csv", "-m", "exact", "--max-features", &k, "--cost", &cost, "--json", "e.json"];
        scratch.run(&select).code(0);
        let exact = scratch.json("e.json");
        assert_eq!(exact["selected"], panel["selected"]);
        let (a, b) = (exact["objective"].as_f64().unwrap(), panel["objective"].as_f64().unwrap());
        assert!((a - b).abs() <= 2e-4 * a, "{a} {b}");
    }
    // The model classifies, with probabilities.
    scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);
    let text = scratch.read("p.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("prediction,decision,probability_b,y"));
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let (decision, probability): (f64, f64) = (cells[1].parse().unwrap(), cells[2].parse().unwrap());
        let sigmoid = &panel["probabilities"];
        let x = sigmoid["a"].as_f64().unwrap() * decision + sigmoid["b"].as_f64().unwrap();
        assert!((probability - 1.0 / (1.0 + (-x).exp())).abs() < 1e-12, "{line}");
    }
    // A page made afterwards is the same, byte for byte.
    scratch.run(&["report", "s.json", "-o", "again.html"]).code(0);
    assert_eq!(scratch.read("again.html"), scratch.read("s.html"));
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let scratch = Scratch::new("study_threads");
    scratch.file("d.csv", generated(45, 6, &["a", "b"], 2));
    let study = |name: &str, more: &[&str]| {
        scratch.run(&with(&[&["--json", name, "--quiet"], more].concat())).code(0);
        essence(scratch.json(name))
    };
    let one = study("one.json", &["--threads", "1"]);
    assert_eq!(one, study("two.json", &["--threads", "3"]));
    assert_ne!(one["folds"], study("seed.json", &["--seed", "5"])["folds"]);
}

#[test]
fn a_killed_study_goes_on() {
    let scratch = Scratch::new("study_killed");
    scratch.file("d.csv", generated(90, 30, &["a", "b"], 3));
    let more = ["--repeats", "4", "--json", "s.json", "--resume", "state.json", "--quiet"];
    let words: Vec<&str> =
        ["study", "d.csv", "--max-features", "1..4", "--folds", "4"].into_iter().chain(more).collect();
    let mut child = scratch.command(&words).stdout(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !scratch.path("state.json").exists() && begun.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    scratch.run(&words).code(0);
    let resumed = essence(scratch.json("s.json"));
    scratch.run(&words[..words.len() - 3]).code(0);
    assert_eq!(resumed, essence(scratch.json("s.json")));
    // The file of another study is refused.
    let other = [&words[..], &["--seed", "9"]].concat();
    let refused = scratch.run(&other).code(2);
    assert!(refused.err.contains("written by a run whose"), "{}", refused.err);
}

#[test]
fn a_time_limit_leaves_what_is_known() {
    let scratch = Scratch::new("study_limits");
    scratch.file("d.csv", generated(80, 60, &["a", "b"], 4));
    let ran = scratch.run(&["study", "d.csv", "--repeats", "500", "--time-limit", "2s", "--json", "s.json"]).code(3);
    assert!(ran.err.contains("stopped at the time limit"), "{}", ran.err);
    let result = scratch.json("s.json");
    assert_eq!(result["status"], "time_limit");
    assert!(result["effort"]["folds_left"].as_u64().unwrap() > 0);
    let ran = scratch.run(&with(&["--time-limit", "0s", "--json", "none.json"])).code(3);
    assert!(ran.out.contains("not known: 0 of 3 outer folds done"), "{}", ran.out);
    assert_eq!(scratch.json("none.json")["folds"], json!([]));
    scratch.run(&["report", "none.json", "-o", "none.html"]).code(0);
}

#[test]
fn rules_are_kept() {
    let scratch = Scratch::new("study_rules");
    scratch.file("d.csv", generated(60, 8, &["a", "b"], 5));
    scratch.run(&with(&["--require", "f8", "--forbid", "f1", "--at-most", "1:f2,f3", "--json", "s.json"])).code(0);
    let result = scratch.json("s.json");
    let subsets =
        result["folds"].as_array().unwrap().iter().map(|f| &f["selected"]).chain([&result["panel"]["selected"]]);
    for selected in subsets {
        let names: Vec<&str> = selected.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        assert!(names.contains(&"f8") && !names.contains(&"f1"), "{names:?}");
        assert!(names.iter().filter(|n| ["f2", "f3"].contains(n)).count() <= 1, "{names:?}");
    }
}

#[test]
fn more_classes_have_a_probability_for_each_pair() {
    let scratch = Scratch::new("study_classes");
    scratch.file("d.csv", generated(60, 5, &["a", "b", "c"], 6));
    let ran = scratch.run(&with(&["--json", "s.json", "--report", "s.html"])).code(0);
    assert!(ran.out.contains("rfe"), "{}", ran.out);
    let result = scratch.json("s.json");
    assert_eq!(result["panel"]["probabilities"]["pairs"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_wrong_is_named() {
    let scratch = Scratch::new("study_wrong");
    scratch.file("d.csv", generated(30, 4, &["a", "b"], 7));
    scratch.file("one.csv", "x,y\n1,a\n");
    scratch.file("few.csv", "x,z,y\n1,2,a\n2,3,a\n3,1,a\n4,2,b\n5,2,b\n");
    scratch.file("hole.csv", "x,z,y\n1,2,a\n2,,a\n3,1,a\n4,2,b\n5,2,b\n6,1,b\n");
    for (words, needle) in [
        (&["study", "one.csv"][..], "two classes"),
        (&["study", "few.csv"], "class b has 2 samples"),
        (&["study", "hole.csv"], "hole.csv"),
        (&["study", "d.csv", "--methods", "exact,magic"], "`magic` is none of exact, rfe, info-gain, kta"),
        (&["study", "d.csv", "--methods", "rfe,rfe"], "names rfe twice"),
        (&["study", "d.csv", "--max-features", "1..9"], "there are 4 features"),
        (&["study", "d.csv", "--choose", "luck"], "must be a score"),
        (&["study", "d.csv", "--folds", "40"], "folds is 40"),
        (&["study", "d.csv", "--require", "f1", "--forbid", "f1"], "both required and forbidden"),
        (&["study", "d.csv", "--require", "f99"], "no feature \"f99\""),
        (&["study", "d.csv", "--class-weight", "zz=2"], "there is no class zz"),
        (&["study", "d.csv", "--json", "d.csv"], "d.csv"),
        (&["study", "none.csv"], "none.csv"),
    ] {
        let ran = scratch.run(words).code(2);
        assert!(ran.err.contains(needle) && ran.out.is_empty(), "{words:?}: {}", ran.err);
    }
}

#[test]
fn another_file_is_judged_as_predict_judges_it() {
    let scratch = Scratch::new("study_external");
    scratch.file("d.csv", generated(60, 4, &["a", "b"], 1));
    scratch.file("e.csv", generated(40, 6, &["a", "b"], 2));
    let more =
        ["--methods", "rfe", "--external", "e.csv", "--json", "s.json", "--model", "m.json", "--report", "s.html"];
    let ran = scratch.run(&with(&more)).code(0);
    assert!(ran.out.contains("external") && ran.out.contains("40 samples of e.csv"), "{}", ran.out);
    scratch.run(&["predict", "m.json", "e.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
    let (study, predicted) = (scratch.json("s.json"), scratch.json("p.json"));
    for key in
        ["summary", "metrics", "recall", "confusion", "calibration", "roc", "wrong", "right", "scored", "selected"]
    {
        assert_eq!(study["external"][key], predicted[key], "{key}");
    }
    assert_eq!(study["external"]["data"], "e.csv");
    assert!(scratch.read("s.html").contains("External validation"));
    let said = study["methods_text"].as_array().unwrap().iter().map(|of| of["text"].as_str().unwrap());
    let said: Vec<&str> = said.collect();
    assert!(said.iter().any(|text| text.contains("External validation without retraining")), "{said:?}");

    // A class that the data do not have is counted, what cannot be judged is reported before the
    // study.
    scratch.file("more.csv", scratch.read("e.csv") + "1,2,3,4,5,6,c\n");
    let ran = scratch.run(&with(&["--methods", "rfe", "--external", "more.csv", "--json", "s.json"])).code(0);
    assert!(ran.err.contains("1 sample of a class that the data do not have are left out"), "{}", ran.err);
    assert_eq!(scratch.json("s.json")["external"]["unknown_class"], 1);
    scratch.file("less.csv", generated(40, 3, &["a", "b"], 2));
    scratch.file("none.csv", generated(40, 4, &["u", "v"], 2));
    scratch.file("plain.csv", generated(40, 4, &["a", "b"], 2).replacen(",y", ",z", 1));
    for (file, why) in [
        ("less.csv", "f4"),
        ("less.csv", "the study may choose any feature of its data"),
        ("none.csv", "no sample has a class of the data"),
        ("plain.csv", "needs the class of each sample"),
        ("gone.csv", "gone.csv"),
        ("d.csv", "the data of the study; name a file of other samples"),
    ] {
        let begun = Instant::now();
        let ran = scratch.run(&with(&["--external", file, "--json", "no.json"])).code(2);
        assert!(ran.err.contains(why), "{file}: {}", ran.err);
        assert!(begun.elapsed() < Duration::from_secs(20) && !scratch.path("no.json").exists());
    }
    // What may not be chosen need not be there.
    scratch.run(&with(&["--methods", "rfe", "--external", "less.csv", "--forbid", "f4"])).code(0);
}

#[test]
fn points_are_written_with_what_they_lose() {
    let scratch = Scratch::new("study_points");
    scratch.file("d.csv", generated(90, 4, &["a", "b"], 1));
    let ran = scratch.run(&with(&["--points", "--json", "s.json", "--report", "s.html"])).code(0);
    for word in ["points of", "or more says b; accuracy", "than the classifier", "by total", "not tried"] {
        assert!(ran.out.contains(word), "{word}: {}", ran.out);
    }
    let result = scratch.json("s.json");
    let points = &result["points"];
    let named: Vec<&Value> = points["features"].as_array().unwrap().iter().map(|of| &of["feature"]).collect();
    assert_eq!(json!(named), result["panel"]["selected"]);
    for level in points["features"].as_array().unwrap().iter().flat_map(|of| of["levels"].as_array().unwrap()) {
        assert!(level["points"].as_i64().unwrap().abs() <= 10 && level["at_least"].is_f64(), "{level}");
    }
    let mean = |of: &Value| of["accuracy"]["mean"].as_f64().unwrap();
    let lost = mean(&result["summary"]) - mean(&points["summary"]);
    assert!((lost - mean(&points["difference"])).abs() < 1e-12 && points["difference"]["auc"]["ci95"].is_array());
    assert!(points["probabilities"].as_array().unwrap().len() > 1 && points["threshold"].is_i64());
    assert_eq!(result["settings"]["points"], true);
    assert!(scratch.read("s.html").contains("The panel as points"));

    let ran = scratch.run(&with(&["--points", "--methods", "kta"])).code(2);
    assert!(ran.err.contains("linear") && ran.err.contains("--points"), "{}", ran.err);
    scratch.file("d.csv", generated(60, 4, &["a", "b", "c"], 1));
    let ran = scratch.run(&with(&["--points"])).code(2);
    assert!(ran.err.contains("points are for two classes, but there are 3"), "{}", ran.err);
}

#[test]
fn the_proof_of_a_panel_is_checked_from_its_data() {
    let scratch = Scratch::new("study_proof");
    // With groups beside the features, rules and weights of classes: the question is the panel's.
    let table = generated(60, 8, &["a", "b"], 1);
    let grouped = |(at, line): (usize, &str)| {
        if at == 0 { format!("site,{line}\n") } else { format!("{},{line}\n", at / 2) }
    };
    scratch.file("d.csv", table.lines().enumerate().map(grouped).collect::<String>());
    for methods in ["exact", "rfe"] {
        let more = ["--methods", methods, "--class-weight", "balanced", "--groups", "site", "--forbid", "f8"];
        let outputs = ["--proof", "s.proof", "--json", "s.json", "--quiet"];
        scratch.run(&with(&[&more[..], &outputs].concat())).code(0);
        let panel = &scratch.json("s.json")["panel"];
        assert_eq!(panel["proof"], "s.proof");
        let judged = if methods == "rfe" { &panel["certificate"] } else { panel };
        let said = scratch.run(&["verify", "s.proof", "d.csv", "--json", "v.json"]).code(0).out;
        assert!(said.starts_with("VERIFIED"), "{said}");
        for name in panel["selected"].as_array().unwrap() {
            assert!(said.contains(name.as_str().unwrap()), "{name}: {said}");
        }
        let (proven, bound) = (scratch.json("v.json")["bound"].as_f64().unwrap(), judged["bound"].as_f64().unwrap());
        assert!((proven - bound).abs() <= 2e-4 * bound, "{proven} {bound}");
    }
    let refused = scratch.run(&with(&["--proof", "d.csv"])).code(2).err;
    assert!(refused.contains("--proof"), "{refused}");
    let kernel = scratch.run(&with(&["--methods", "kta", "--proof", "k.proof"])).code(0).err;
    assert!(kernel.contains("has a kernel"), "{kernel}");
    assert!(!scratch.path("k.proof").exists());
}
