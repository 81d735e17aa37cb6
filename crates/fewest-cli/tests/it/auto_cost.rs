//! `--cost auto`: a table of inner scores, the rule that chooses from it, the same answer for any
//! number of threads, nothing learnt from what is held out; and the note that proposes it.

use serde_json::Value;

use crate::common::{Noise, Scratch, generated, with_folds};

/// A folder with 60 samples and 8 features.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 21));
    scratch
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn the_cost_is_chosen_by_the_table_that_the_result_holds() {
    let scratch = scratch("auto_cost_table");
    for method in ["exact", "rfe", "info-gain", "l1-svm"] {
        let select = ["select", "d.csv", "-m", method, "--max-features", "3", "--cost", "auto", "--json", "r.json"];
        let out = scratch.run(&select).code(0).err;
        assert_eq!(out, "");
        let result = scratch.json("r.json");
        let (choice, settings) = (&result["cost_choice"], &result["settings"]);
        let costs = choice["costs"].as_array().unwrap();
        let l1 = method == "l1-svm";
        assert_eq!((costs.len(), &choice["splits"]), (if l1 { 9 } else { 13 }, &10.into()), "{method}");
        // Standard scaling of 8 features: the mean squared length is 8. The costs of an L1-SVM begin
        // where features get weight.
        assert!(!l1 || costs.iter().all(|row| number(&row["n_features"]) > 0.0), "{costs:?}");
        let first = if l1 { number(&costs[0]["cost"]) } else { 1e-4 / 8.0 };
        for (at, row) in costs.iter().enumerate() {
            let expected = 10f64.powf(at as f64 / 2.0) * first;
            assert!((number(&row["cost"]) / expected - 1.0).abs() < 1e-9, "{row}");
            assert!((0.0..=1.0).contains(&number(&row["auc"])), "{row}");
        }
        let best = costs.iter().max_by(|a, b| number(&a["auc"]).total_cmp(&number(&b["auc"]))).unwrap();
        let least = number(&best["auc"]) - number(&best["se"]);
        // Not below the cost up to which the subset stays the same.
        let filter = choice["filter_up_to"].as_f64().unwrap_or(0.0);
        let allowed = |row: &&Value| number(&row["auc"]) >= least - 1e-9 && number(&row["cost"]) >= filter;
        let chosen = costs.iter().find(allowed).unwrap();
        if matches!(method, "exact" | "rfe") {
            assert!(filter > number(&costs[0]["cost"]), "few features: {choice}");
        } else if method == "info-gain" {
            assert_eq!(choice["filter_up_to"], Value::Null, "it does not depend on the cost");
        }
        assert_eq!(chosen["cost"], settings["cost"], "{method}: {costs:?}");
        assert_eq!((&choice["cost"], &settings["cost_rule"]), (&settings["cost"], &"auto".into()));
        let fits = choice["fit_costs"].as_array().unwrap();
        if method == "l1-svm" {
            assert!(fits.is_empty() && choice["fit_cost"].is_null());
        } else {
            // The cost of selecting, and what is larger of 0.01 to 10 over the squared length of
            // three features.
            let larger = (0..7).map(|half| 10f64.powf(f64::from(half) / 2.0 - 2.0) / 3.0);
            let larger: Vec<f64> = larger.filter(|cost| *cost > number(&settings["cost"])).collect();
            assert_eq!((fits.len(), &fits[0]["cost"]), (1 + larger.len(), &settings["cost"]));
            for (fit, expected) in fits[1..].iter().zip(larger) {
                assert!((number(&fit["cost"]) / expected - 1.0).abs() < 1e-9, "{fit}");
            }
            let best = fits.iter().min_by(|a, b| number(&a["hinge"]).total_cmp(&number(&b["hinge"]))).unwrap();
            assert_eq!(best["cost"], settings["fit_cost"], "{method}: {fits:?}");
            assert_eq!(result["model"]["cost"], settings["fit_cost"]);
        }
        // As if the numbers had been typed.
        let (cost, fit_cost) = (settings["cost"].to_string(), settings["fit_cost"].to_string());
        let mut typed =
            vec!["select", "d.csv", "-m", method, "--max-features", "3", "--cost", &cost, "--json", "t.json"];
        typed.extend(if method == "l1-svm" { vec![] } else { vec!["--fit-cost", &fit_cost] });
        scratch.run(&typed).code(0);
        let typed = scratch.json("t.json");
        assert_eq!((&typed["selected"], &typed["model"]), (&result["selected"], &result["model"]), "{method}");
        assert_eq!(typed["settings"]["cost_rule"], "given");
    }
    let out = scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "3", "--cost", "auto"]).code(0).out;
    assert!(out.contains("chosen by the AUC of 10 inner splits") && out.contains("fit cost"), "{out}");
    let fixed = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "--cost", "auto", "--fit-cost", "0.5"];
    scratch.run(&[&fixed[..], &["--json", "r.json"]].concat()).code(0);
    let result = scratch.json("r.json");
    assert_eq!((&result["model"]["cost"], &result["cost_choice"]["fit_cost"]), (&0.5.into(), &Value::Null));
}

#[test]
fn threads_change_nothing_and_path_takes_it() {
    let scratch = scratch("auto_cost_threads");
    let path = ["path", "d.csv", "-m", "exact", "--max-features", "1..3", "--cost", "auto", "--json", "p.json"];
    let run = |threads: &str| {
        scratch.run(&[&path[..], &["--threads", threads]].concat()).code(0);
        let path = scratch.json("p.json")["path"].clone();
        path.as_array().unwrap().iter().map(|r| (r["selected"].clone(), r["cost_choice"].clone())).collect::<Vec<_>>()
    };
    let (one, four) = (run("1"), run("4"));
    assert_eq!(one, four);
    assert!(one.iter().all(|(_, choice)| *choice == one[0].1 && choice["costs"].is_array()));
}

#[test]
fn a_fold_chooses_on_its_training_part_alone() {
    let scratch = Scratch::new("auto_cost_folds");
    let with_folds = with_folds(&generated(48, 6, &["no", "yes"], 5));
    scratch.file("d.csv", &with_folds);
    let keep = |inside: bool| -> String {
        let keep = |(i, line): &(usize, &str)| *i == 0 || line.starts_with("p0,") == inside;
        with_folds.lines().enumerate().filter(keep).flat_map(|(_, line)| [line, "\n"]).collect()
    };
    scratch.file("train.csv", keep(false)).file("test.csv", keep(true));
    let options = ["-m", "exact", "--max-features", "2", "--cost", "auto"];
    scratch.run(&[&["evaluate", "d.csv", "--folds", "fold", "--json", "e.json"], &options[..]].concat()).code(0);
    let fold = scratch.json("e.json")["folds"][0].clone();
    let select = ["select", "train.csv", "--drop", "fold", "--json", "s.json", "--model", "m.json"];
    scratch.run(&[&select[..], &options].concat()).code(0);
    scratch.run(&["predict", "m.json", "test.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
    let found = scratch.json("s.json");
    assert_eq!((&fold["cost"], &fold["fit_cost"]), (&found["settings"]["cost"], &found["settings"]["fit_cost"]));
    assert_eq!(fold["selected"], found["selected"]);
    assert_eq!(fold["metrics"]["accuracy"], scratch.json("p.json")["accuracy"]);
    for extra in [&["--max-features", "1..2"][..], &["--max-features", "2", "--tune", "fit-cost=1,2"]] {
        let evaluate = ["evaluate", "d.csv", "--drop", "fold", "-m", "rfe", "--cost", "auto"];
        let err = scratch.run(&[&evaluate[..], extra].concat()).code(2).err;
        assert!(err.contains("--cost auto") && err.contains("--tune C="), "{err}");
    }
    let tuned = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--cost", "auto", "--tune", "C=1,2"];
    assert!(scratch.run(&tuned).code(2).err.contains("--cost is auto, but --tune chooses it"));
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    let scratch = scratch("auto_cost_refused");
    scratch.file("few.csv", "a,b,y\n1,2,no\n2,1,no\n3,5,no\n4,1,yes\n");
    for (arguments, words) in [
        (&["select", "few.csv", "-m", "rfe", "--max-features", "1", "--cost", "auto"][..], "a class has 1 only"),
        (&["fit", "d.csv", "--features", "f1", "--cost", "auto"], "fit takes a number"),
        (
            &["select", "d.csv", "-m", "rfe", "--max-features", "2", "--cost", "auto", "--costs", "1,2"],
            "--cost auto and --costs both choose the cost",
        ),
        (&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--cost", "automatic"], "--cost is automatic"),
        (&["select", "d.csv", "-m", "eb-rfe", "--max-features", "2", "--cost", "auto"], "--cost is an option of"),
    ] {
        let err = scratch.run(arguments).code(2).err;
        assert!(err.contains(words), "{arguments:?}: {err}");
    }
}

#[test]
fn a_time_limit_is_shared_with_the_choice_and_ends_it() {
    let scratch = Scratch::new("auto_cost_time");
    scratch.file("d.csv", generated(150, 60, &["no", "yes"], 5));
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "15", "--cost", "auto", "--time-limit", "2s"];
    let start = std::time::Instant::now();
    let ran = scratch.run(&[&select[..], &["--json", "r.json"]].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
    assert!(start.elapsed().as_secs_f64() < 20.0, "{:?}", start.elapsed());
    assert!(scratch.json("r.json")["cost_choice"]["cost"].is_number());
}

#[test]
fn samples_separated_by_many_features_are_a_reason_to_choose_the_cost() {
    let scratch = Scratch::new("auto_cost_note");
    // 20 samples, 40 features of noise: five of them are enough for no error.
    let mut noise = Noise(3);
    let header: Vec<String> = (1..=40).map(|j| format!("f{j}")).collect();
    let mut text = format!("{},y\n", header.join(","));
    for i in 0..20 {
        let cells: Vec<String> = (0..40).map(|_| format!("{:.4}", noise.next())).collect();
        text += &cells.join(",");
        text += [",no\n", ",yes\n"][i % 2];
    }
    scratch.file("d.csv", text);
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "8", "--json", "r.json", "--report", "r.html"];
    let err = scratch.run(&select).code(0).err;
    assert!(err.contains("no error on its 20 training samples") && err.contains("--cost auto"), "{err}");
    let warnings = scratch.json("r.json")["warnings"].to_string();
    assert!(warnings.contains("--cost auto"), "{warnings}");
    assert!(scratch.read("r.html").contains("makes no error on its 20 training samples"));
    for extra in [["--cost", "1"], ["--cost", "auto"]] {
        let err = scratch.run(&[&select[..], &extra].concat()).code(0).err;
        assert!(!err.contains("no error"), "{err}");
    }
}
