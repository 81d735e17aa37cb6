//! What each command prints, writes and returns when all is well.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::common::{Scratch, generated};

/// 60 samples, 8 features of which the first 3 matter, and one constant column.
fn two_classes() -> String {
    let text = generated(60, 8, &["benign", "malignant"], 11);
    let mut lines = text.lines();
    let header = lines.next().unwrap().replace(",y", ",flat,y");
    let rows = lines.map(|l| {
        let (values, class) = l.rsplit_once(',').unwrap();
        format!("{values},4,{class}\n")
    });
    std::iter::once(format!("{header}\n")).chain(rows).collect()
}

fn names(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap().to_owned()).collect()
}

#[test]
fn select_writes_the_result_of_the_contract() {
    let scratch = Scratch::new("select");
    scratch.file("d.csv", two_classes());
    let arguments =
        ["select", "d.csv", "--method", "rfe", "--max-features", "3", "--json", "r.json", "--trace", "t.jsonl"];
    let ran = scratch.run(&arguments).code(0);
    assert!(ran.err.contains("warning: 1 feature(s) have one value only and are never selected: flat"), "{}", ran.err);
    for word in
        ["rfe", "completed", "3 of 9 features", "-1 = benign (30 samples), +1 = malignant (30 samples)", "weight"]
    {
        assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
    }
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'), "plain when piped");

    let result = scratch.json("r.json");
    for key in [
        "schema",
        "method",
        "status",
        "selected",
        "selected_indices",
        "objective",
        "sense",
        "bound",
        "gap",
        "seconds",
        "n_samples",
        "n_features",
        "classes",
        "settings",
        "counts",
        "model",
        "ranking",
        "solutions",
        "version",
    ] {
        assert!(result.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(
        (&result["schema"], &result["status"], &result["sense"]),
        (&1.into(), &"completed".into(), &"min".into())
    );
    assert!(result["bound"].is_null() && result["gap"].is_null());
    assert_eq!((&result["n_samples"], &result["n_features"]), (&60.into(), &9.into()));
    assert_eq!(result["classes"], serde_json::json!({"-1": "benign", "+1": "malignant"}));
    let selected = names(&result["selected"]);
    assert_eq!(selected.len(), 3);
    let indices: Vec<u64> =
        result["selected_indices"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    assert!(indices.windows(2).all(|w| w[0] < w[1]));
    assert_eq!(selected, indices.iter().map(|j| format!("f{}", j + 1)).collect::<Vec<_>>());

    let model = &result["model"];
    assert_eq!((&model["kernel"], &model["cost"]), (&"linear".into(), &1.0.into()));
    for name in &selected {
        assert!(model["weights"][name].is_number() && model["scaling"]["features"][name]["centre"].is_number());
    }
    let objective = result["objective"].as_f64().unwrap();
    let refitted = model["machines"][0]["primal"].as_f64().unwrap();
    assert!((objective - refitted).abs() <= 1e-4 * objective, "{objective} {refitted}");

    let ranking = result["ranking"].as_array().unwrap();
    let ranks: Vec<u64> = ranking.iter().map(|r| r["rank"].as_u64().unwrap()).collect();
    assert_eq!(ranks, (1..=9).collect::<Vec<_>>());
    assert!(
        ranking[..3].iter().all(|r| r["step"].is_null() && selected.contains(&r["feature"].as_str().unwrap().into()))
    );

    let settings = &result["settings"];
    for (key, value) in [("scale", "standard"), ("loss", "hinge"), ("bias", "free"), ("kernel", "linear")] {
        assert_eq!(settings[key], value, "{key}");
    }
    assert_eq!((&settings["cost"], &settings["step"], &settings["max_features"]), (&1.0.into(), &1.into(), &3.into()));
    assert!(names(&settings["forbid"]).is_empty(), "settings hold what was asked for");
    assert_eq!(result["ruled_out"]["constant"], serde_json::json!({"count": 1, "names": ["flat"]}));

    let trace = scratch.read("t.jsonl");
    let events: Vec<Value> = trace.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect();
    assert!(events.iter().any(|e| e["event"] == "eliminated" && e["feature"].is_string()), "{trace}");
    assert_eq!(scratch.files(), ["d.csv", "r.json", "t.jsonl"]);
}

#[test]
fn rules_are_obeyed() {
    let scratch = Scratch::new("rules_obeyed");
    scratch.file("d.csv", two_classes());
    let select = |extra: &[&str]| {
        let base = ["select", "d.csv", "--method", "rfe", "--max-features", "4", "-q", "--json", "-"];
        let ran = scratch.run(&[&base[..], extra].concat()).code(0);
        names(&serde_json::from_str::<Value>(&ran.out).unwrap()["selected"])
    };
    let has = |s: &[String], name: &str| s.iter().any(|n| n == name);
    let s = select(&["--require", "f7,f8", "--forbid", "f1"]);
    assert!(has(&s, "f7") && has(&s, "f8") && !has(&s, "f1") && s.len() <= 4, "{s:?}");
    let s = select(&["--require", "f6", "--implies", "f6:f5"]);
    assert!(has(&s, "f5") && has(&s, "f6"), "{s:?}");
    let s = select(&["--at-most", "1:f1,f2,f3"]);
    assert!(s.iter().filter(|n| ["f1", "f2", "f3"].contains(&n.as_str())).count() <= 1, "{s:?}");
    let s = select(&["--at-least", "2:f6,f7,f8"]);
    assert!(s.iter().filter(|n| ["f6", "f7", "f8"].contains(&n.as_str())).count() >= 2, "{s:?}");
    let s = select(&["--together", "f1,f8"]);
    assert_eq!(has(&s, "f1"), has(&s, "f8"), "{s:?}");

    let rules = "budget = 3\nforbid = [\"f8\"]\n[costs]\nf1 = 2\nf2 = 2\nf3 = 1\nf4 = 1\nf5 = 1\nf6 = 1\nf7 = 1\nf8 = 1\nflat = 0\n\
                 [[rule]]\nrequire = [\"f7\"]\n[[rule]]\nat_most = 1\nof = [\"f3\", \"f4\"]\n";
    scratch.file("r.toml", rules);
    let s = select(&["--rules", "r.toml"]);
    let cost: u32 = s.iter().map(|n| if n == "f1" || n == "f2" { 2 } else { 1 }).sum();
    assert!(cost <= 3 && has(&s, "f7") && !(has(&s, "f3") && has(&s, "f4")), "{s:?}");
}

#[test]
fn fit_then_predict_gives_back_class_names() {
    let scratch = Scratch::new("fit_predict");
    scratch.file("d.csv", two_classes());
    for kernel in ["linear", "rbf", "poly", "sigmoid"] {
        let fit = ["fit", "d.csv", "--features", "f1,f2", "--features", "f3", "--kernel", kernel, "--model", "m.json"];
        let ran = scratch.run(&fit).code(0);
        assert!(ran.out.contains(kernel) && ran.out.contains("accuracy"), "{}", ran.out);
        let ran = scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
        assert!(ran.out.contains("accuracy"), "{}", ran.out);
        let table = scratch.read("p.csv");
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("prediction,decision,y"));
        let mut right = 0;
        for line in lines {
            let cells: Vec<&str> = line.split(',').collect();
            let expected = if cells[1].parse::<f64>().unwrap() > 0.0 { "malignant" } else { "benign" };
            assert_eq!(cells[0], expected);
            right += usize::from(cells[0] == cells[2]);
        }
        assert_eq!(scratch.json("p.json")["right"], right);
        assert!(kernel == "sigmoid" || right >= 50, "{kernel}: {right} of 60");
    }
}

#[test]
fn predict_matches_features_by_name() {
    let scratch = Scratch::new("by_name");
    scratch.file("d.csv", "a,b,y\n1,2,no\n2,1,yes\n1.5,3,no\n4,1,yes\n");
    scratch.run(&["fit", "d.csv", "--features", "a,b", "--model", "m.json"]).code(0);
    scratch.file("same.csv", "a,b\n1,2\n4,1\n").file("moved.csv", "extra,b,other,a\n9,2,x,1\n9,1,z,4\n");
    let same = scratch.run(&["predict", "m.json", "same.csv"]).code(0).out;
    let moved = scratch.run(&["predict", "m.json", "moved.csv"]).code(0).out;
    assert_eq!(same, moved);
    assert!(same.starts_with("prediction,decision\nno,"), "{same}");
    scratch.file("less.csv", "a,c\n1,2\n4,1\n");
    let ran = scratch.run(&["predict", "m.json", "less.csv"]).code(2);
    assert!(ran.err.contains("less.csv") && ran.err.contains("`b`"), "{}", ran.err);
}

#[test]
fn a_selection_is_a_model_and_a_list_of_features() {
    let scratch = Scratch::new("selection_as_model");
    scratch.file("d.csv", two_classes());
    scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "3", "--json", "r.json", "-q"]).code(0);
    scratch.run(&["fit", "d.csv", "--result", "r.json", "--model", "m.json", "--tolerance", "1e-9", "-q"]).code(0);
    let (a, b) =
        (scratch.run(&["predict", "r.json", "d.csv", "-q"]), scratch.run(&["predict", "m.json", "d.csv", "-q"]));
    assert_eq!(a.code(0).out, b.code(0).out);
}

#[test]
fn more_than_two_classes() {
    let scratch = Scratch::new("three_classes");
    scratch.file("d.csv", generated(90, 6, &["a", "b", "c"], 7));
    let arguments =
        ["select", "d.csv", "-m", "info-gain", "--max-features", "3", "--json", "r.json", "--model", "m.json"];
    scratch.run(&arguments).code(0);
    let result = scratch.json("r.json");
    assert_eq!(result["classes"], serde_json::json!({"0": "a", "1": "b", "2": "c"}));
    assert_eq!((&result["sense"], result["model"]["machines"].as_array().unwrap().len()), (&"max".into(), 3));
    let ran = scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);
    assert!(ran.out.starts_with("accuracy "), "{}", ran.out);
    assert!(
        scratch
            .read("p.csv")
            .starts_with("prediction,decision_a_b,decision_a_c,decision_b_c,score_a,score_b,score_c,y\n")
    );
}

#[test]
fn weights_of_samples_and_classes_count() {
    let scratch = Scratch::new("weights");
    let text = generated(40, 4, &["no", "yes"], 9);
    let weighted: String = text
        .lines()
        .enumerate()
        .map(|(at, l)| if at == 0 { format!("w,{l}\n") } else { format!("{},{l}\n", at % 3) })
        .collect();
    let repeated: String = text
        .lines()
        .enumerate()
        .map(|(at, l)| if at == 0 { format!("{l}\n") } else { format!("{l}\n").repeat(at % 3) })
        .collect();
    scratch.file("w.csv", weighted).file("r.csv", repeated);
    let objective = |arguments: &[&str]| {
        let base = [
            "fit",
            arguments[0],
            "--features",
            "f1,f2,f3",
            "--scale",
            "none",
            "-q",
            "--json",
            "-",
            "--tolerance",
            "1e-9",
        ];
        let ran = scratch.run(&[&base[..], &arguments[1..]].concat()).code(0);
        serde_json::from_str::<Value>(&ran.out).unwrap()["objective"].as_f64().unwrap()
    };
    let (a, b) = (objective(&["w.csv", "--sample-weights", "w"]), objective(&["r.csv"]));
    assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
    let (a, b) = (objective(&["r.csv", "--class-weight", "no=2,yes=2"]), objective(&["r.csv", "--cost", "2"]));
    assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
    assert!((objective(&["r.csv", "--class-weight", "yes=3"]) - b).abs() > 1e-3 * b);
}

#[test]
fn a_time_limit_of_nothing_ends_with_a_subset_and_exit_3() {
    let scratch = Scratch::new("time_limit");
    scratch.file("d.csv", two_classes());
    let arguments = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "--time-limit", "0s", "--json", "r.json"];
    let ran = scratch.run(&arguments).code(3);
    assert!(ran.err.contains("time limit"), "{}", ran.err);
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "time_limit");
    let size = result["selected"].as_array().unwrap().len();
    assert!((1..=3).contains(&size), "{size}");
}

#[test]
fn json_on_standard_output_is_alone() {
    let scratch = Scratch::new("json_alone");
    scratch.file("d.csv", two_classes());
    let ran = scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--json", "-"]).code(0);
    serde_json::from_str::<Value>(&ran.out).expect("nothing but JSON");
    let ran = scratch.run(&["check", "d.csv", "--json", "-"]).code(0);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["constant"], serde_json::json!(["flat"]));
}

#[test]
fn check_and_convert_agree() {
    let scratch = Scratch::new("check_convert");
    scratch.file("d.csv", two_classes());
    let ran = scratch.run(&["check", "d.csv"]).code(0);
    for word in ["60", "9", "-1 = benign (30)", "+1 = malignant (30)", "flat", "one value only"] {
        assert!(ran.out.contains(word), "`{word}`: {}", ran.out);
    }
    let ran = scratch.run(&["convert", "d.csv", "d.svm.gz"]).code(0);
    assert!(ran.err.contains("names were dropped"), "{}", ran.err);
    scratch.run(&["convert", "d.csv", "d.tsv", "--scale", "standard", "-q"]).code(0);
    let check = |file: &str| {
        scratch.run(&["check", file, "--json", "c.json"]).code(0);
        scratch.json("c.json")
    };
    let (csv, svm, tsv) = (check("d.csv"), check("d.svm.gz"), check("d.tsv"));
    assert_eq!((&csv["n_samples"], &csv["n_features"]), (&svm["n_samples"], &svm["n_features"]));
    assert_eq!(csv["features"][0]["max"], svm["features"][0]["max"]);
    let scaled = tsv["features"][0]["standard_deviation"].as_f64().unwrap();
    assert!((scaled - 1.0).abs() < 1e-9, "{scaled}");
    scratch.file("bad.csv", "a,y\n1,no\nx,yes\n2,no\n");
    scratch.run(&["check", "bad.csv"]).code(2);
}

#[test]
fn standard_input_is_read() {
    let scratch = Scratch::new("stdin");
    let mut child = scratch
        .command(&["check", "-", "--json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(two_classes().as_bytes()).unwrap();
    let ran = crate::common::Ran::from(child.wait_with_output().unwrap()).code(0);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap()["n_samples"], 60);
}

#[test]
fn methods_completions_and_manual() {
    let scratch = Scratch::new("methods");
    let list = scratch.run(&["methods"]).code(0).out;
    assert!(list.contains("rfe") && list.contains("info-gain") && list.contains("exact"));
    let exact = scratch.run(&["methods", "exact"]).code(0).out;
    assert!(exact.contains("--penalty") && exact.contains("--solutions") && exact.contains("within --gap"));
    let rfe = scratch.run(&["methods", "rfe"]).code(0).out;
    assert!(rfe.contains("Guyon") && rfe.contains("--step"));
    scratch.run(&["methods", "nothing"]).code(2);
    // The names of papers lead to the method.
    for (paper, name) in [("MILO-L", "milp2"), ("inlo-k", "kta"), ("svm-rfe", "rfe"), ("onsvm", "l1-svm")] {
        assert!(scratch.run(&["methods", paper]).code(0).out.starts_with(&format!("{name} - ")));
        let said = scratch.run(&["select", "d.csv", "-m", paper, "--max-features", "1"]).code(2).err;
        assert!(said.contains(&format!("there is no method {paper} (its name here is {name})")), "{said}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(scratch.run(&["completions", shell]).code(0).out.contains("fewest"));
    }
    assert!(scratch.run(&["man"]).code(0).out.starts_with(".ie"));
    assert!(scratch.run(&["man", "select"]).code(0).out.contains("max\\-features"));
    for arguments in [&["--help"][..], &["select", "--help"], &["--version"]] {
        let ran = scratch.run(arguments).code(0);
        assert!(ran.err.is_empty() && ran.out.contains("fewest"));
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let scratch = Scratch::new("broken_pipe");
    scratch.file("d.csv", generated(3000, 3, &["a", "b"], 1));
    let mut child = scratch
        .command(&["convert", "d.csv", "-", "--out-format", "csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = crate::common::Ran::from(child.wait_with_output().unwrap()).code(0);
    assert_eq!(ran.err, "");
}
