//! `rfe` with kernels, classes and tuned costs on the command line.

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

#[test]
fn kernels_classes_and_gammas() {
    let scratch = Scratch::new("rfe_kernels");
    scratch.file("d.csv", generated(45, 8, &["a", "b", "c"], 4));
    scratch.file("t.csv", generated(40, 8, &["a", "b"], 4));
    let base = ["select", "--method", "rfe", "--max-features", "3", "--json", "r.json"];
    for (file, kernel, gamma, rule) in [
        ("d.csv", "rbf", None, json!("1/p")),
        ("d.csv", "rbf", Some("0.25"), json!(0.25)),
        ("t.csv", "rbf", Some("sigest:0.5"), json!(null)),
        ("t.csv", "poly", Some("scale"), json!(null)),
        ("d.csv", "linear", None, json!(null)),
    ] {
        let gamma_args: Vec<&str> = gamma.iter().flat_map(|g| ["--gamma", g]).collect();
        scratch.run(&[&base[..], &[file, "--kernel", kernel], &gamma_args].concat()).code(0);
        let result = scratch.json("r.json");
        let classes = if file == "d.csv" { 3 } else { 1 };
        assert_eq!(result["selected"].as_array().unwrap().len(), 3);
        assert_eq!(result["settings"]["kernel"], json!(kernel));
        assert_eq!(result["model"]["machines"].as_array().map_or(1, Vec::len), classes, "{}", result["model"]);
        if !rule.is_null() {
            assert_eq!(result["settings"]["gamma"], rule);
            let used = result["model"]["gamma"].as_f64().unwrap();
            let wanted = rule.as_f64().unwrap_or(1.0 / 3.0);
            assert!((used - wanted).abs() < 1e-12, "{used}");
        }
    }
}

#[test]
fn a_tuned_cost_is_the_cost_of_the_model() {
    let scratch = Scratch::new("rfe_tuned");
    let text = generated(60, 8, &["a", "b", "c"], 4);
    let folds: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("fold,{line}") } else { format!("part{},{line}", i % 4) })
        .collect();
    scratch.file("d.csv", folds.join("\n"));
    let base = ["select", "d.csv", "-m", "rfe", "--max-features", "2", "--kernel", "rbf", "--json", "r.json"];
    for class_weight in ["none", "cw2", "cw3", "balanced"] {
        let tuned = ["--costs", "0.1,1,10,100", "--folds", "fold", "--retune", "3", "--class-weight", class_weight];
        scratch.run(&[&base[..], &tuned].concat()).code(0);
        let result = scratch.json("r.json");
        assert!(result["ranking"].as_array().unwrap().iter().all(|r| r["feature"] != "fold"));
        let sizes: Vec<u64> =
            result["tuned"].as_array().unwrap().iter().map(|t| t["n_features"].as_u64().unwrap()).collect();
        assert_eq!(sizes, [8, 5, 2]);
        assert_eq!(result["cost"], result["tuned"][2]["cost"]);
        assert_eq!(result["model"]["cost"], result["cost"]);
        assert_eq!(result["settings"]["cv"], json!(4));
    }
    let one = scratch.run(&[&base[..], &["--costs", "1,2", "--cv", "4", "--drop", "fold"]].concat()).code(0);
    assert!(one.err.is_empty() || !one.err.contains("error"), "{}", one.err);
    let first = scratch.read("r.json");
    scratch.run(&[&base[..], &["--costs", "1,2", "--cv", "4", "--drop", "fold", "--seed", "7"]].concat()).code(0);
    assert_ne!(scratch.read("r.json"), first, "another seed deals other folds");
}

#[test]
fn resamples_rank_by_draws_or_by_a_column_of_folds() {
    let scratch = Scratch::new("rfe_resamples");
    let rows = generated(30, 9, &["a", "b"], 4);
    let folds: Vec<String> = rows
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 0 { format!("fold,{line}") } else { format!("f{},{line}", i % 5) })
        .collect();
    scratch.file("d.csv", folds.join("\n"));
    let base = ["select", "d.csv", "-m", "rfe", "--max-features", "2", "--json", "r.json", "--halve-above", "6"];
    let run = |more: &[&str]| {
        scratch.run(&[&base[..], more].concat()).code(0);
        scratch.json("r.json")
    };
    let fixed = run(&["--folds", "fold"]);
    let order =
        |result: &Value| result["ranking"].as_array().unwrap().iter().map(|r| r["index"].clone()).collect::<Vec<_>>();
    assert_eq!(fixed["settings"]["resamples"], json!(5));
    assert_eq!(fixed["settings"]["folds"], json!("fold"));
    assert_eq!(fixed["settings"]["halve_above"], json!(6));
    assert!(fixed["certain_steps"].is_null());
    assert!(fixed["ranking"].as_array().unwrap().iter().all(|r| r["feature"] != "fold"));
    assert_eq!(order(&run(&["--folds", "fold", "--resamples", "5"])), order(&fixed));
    let ran = scratch.run(&[&base[..], &["--folds", "fold", "--resamples", "4"]].concat()).code(2);
    assert!(ran.err.contains("--resamples is 4") && ran.err.contains("5 folds"), "{}", ran.err);
    for resampling in ["folds", "fixed-folds", "bootstrap"] {
        let drawn = ["--drop", "fold", "--resamples", "5", "--resampling", resampling, "--seed", "3"];
        let found = run(&drawn);
        assert_eq!(found["settings"]["resampling"], json!(resampling));
        assert_eq!((&found["settings"]["seed"], &found["settings"]["resamples"]), (&json!(3), &json!(5)));
        assert_eq!(order(&run(&[&drawn[..], &["--threads", "2"]].concat())), order(&found));
        let path = [
            &["path", "d.csv", "-m", "rfe", "--max-features", "2,5", "--json", "p.json", "--halve-above", "6"],
            &drawn[..],
        ];
        scratch.run(&path.concat()).code(0);
        assert_eq!(scratch.json("p.json")["path"][0]["selected"], found["selected"]);
        let judged = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--cv", "3"];
        scratch.run(&[&judged[..], &drawn].concat()).code(0);
        let halves = ["stability", "d.csv", "-m", "rfe", "--max-features", "2", "--pairs", "3"];
        scratch.run(&[&halves[..], &drawn].concat()).code(0);
    }
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let scratch = Scratch::new("rfe_refused");
    scratch.file("d.csv", generated(30, 4, &["a", "b"], 4));
    let base = ["select", "d.csv", "-m", "rfe", "--max-features", "2"];
    for (more, words) in [
        (&["--gamma", "1"][..], &["--gamma", "linear"][..]),
        (&["--kernel", "rbf", "--gamma", "-1"], &["--gamma is -1", "1/p"]),
        (&["--kernel", "rbf", "--criterion", "weights"], &["--criterion is weights", "margin"]),
        (&["--kernel", "rbf", "--degree", "2"], &["--degree", "rbf"]),
        (&["--kernel", "rbf", "--certify"], &["--certify", "linear"]),
        (&["--cv", "3"], &["--cv", "--costs"]),
        (&["--seed", "3"], &["--seed", "--costs or --resamples"]),
        (&["--resamples", "1"], &["--resamples is 1"]),
        (&["--resamples", "31"], &["--resamples is 31", "at most 30"]),
        (&["--resampling", "bootstrap"], &["--resampling", "--resamples"]),
        (&["--resamples", "3", "--cv", "3"], &["--cv", "--costs"]),
        (&["--resamples", "3", "--costs", "1,2"], &["--resamples", "--costs"]),
        (&["--resamples", "3", "--kernel", "rbf"], &["--resamples", "linear"]),
        (&["--resamples", "3", "--criterion", "margin"], &["--resamples", "--criterion"]),
        (&["--resamples", "3", "--sign", "f1:+"], &["resamples", "bounds"]),
        (&["--resamples", "3", "--groups", "y"], &["--groups"]),
        (&["--halve-above", "0"], &["--halve-above is 0"]),
        (&["--costs", "1,0"], &["--costs is 1,0", "`0` is none"]),
        (&["--costs", "1,2", "--cv", "1"], &["--cv is 1"]),
        (&["--costs", "1,2", "--cv", "31"], &["--cv is 31", "30 samples"]),
        (&["--costs", "1,2", "--folds", "none"], &["none"]),
        (&["--costs", "1,2", "--retune", "0"], &["--retune is 0"]),
    ] {
        let ran = scratch.run(&[&base[..], more].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
        }
    }
    scratch.run(&["path", "d.csv", "-m", "rfe", "--max-features", "1..3", "--kernel", "rbf"]).code(0);
}

#[test]
fn eb_rfe_returns_the_best_of_its_curve() {
    let scratch = Scratch::new("eb_rfe");
    scratch.file("d.csv", generated(45, 9, &["a", "b", "c"], 4));
    let base = ["select", "d.csv", "-m", "eb-rfe", "--kernel", "rbf", "--costs", "1,10", "--json", "r.json"];
    for (more, most) in [(&[][..], 9), (&["--max-features", "4", "--adaptive", "2", "--candidates", "5"], 4)] {
        let ran = scratch.run(&[&base[..], more].concat()).code(0);
        let result = scratch.json("r.json");
        let curve = result["curve"].as_array().unwrap();
        let sizes: Vec<u64> = curve.iter().map(|s| s["n_features"].as_u64().unwrap()).collect();
        assert_eq!(sizes, (1..=9).rev().collect::<Vec<_>>());
        let allowed = || curve.iter().filter(|s| s["n_features"].as_u64().unwrap() <= most);
        let best = allowed().map(|s| s["accuracy"].as_f64().unwrap()).fold(0.0, f64::max);
        let smallest = allowed().rfind(|s| s["accuracy"].as_f64() == Some(best)).unwrap();
        assert_eq!(result["accuracy"].as_f64(), Some(best));
        assert_eq!(result["selected"].as_array().unwrap().len() as u64, smallest["n_features"].as_u64().unwrap());
        assert_eq!((&result["cost"], &result["model"]["cost"]), (&smallest["cost"], &smallest["cost"]));
        assert!(ran.out.contains("larger is better") && ran.out.contains("tuned"), "{}", ran.out);
    }
    // Three deals of five folds; within a standard error of the best the subset is not larger.
    let size = |more: &[&str]| {
        scratch.run(&[&base[..], &["--deals", "3"], more].concat()).code(0);
        let result = scratch.json("r.json");
        assert_eq!(result["curve"][0]["folds"].as_array().unwrap().len(), 15);
        result["selected"].as_array().unwrap().len()
    };
    assert!(size(&["--accuracy-loss", "se"]) <= size(&[]));
    let stopped = scratch.run(&[&base[..], &["--max-features", "2", "--time-limit", "0s"]].concat()).code(3);
    assert!(stopped.out.contains("time_limit"), "{}", stopped.out);
    assert_eq!(scratch.json("r.json")["selected"].as_array().unwrap().len(), 2);
}

#[test]
fn flips_start_from_rfe_or_a_result_and_tell_their_cost() {
    let scratch = Scratch::new("flips");
    scratch.file("d.csv", generated(45, 7, &["a", "b", "c"], 4));
    scratch.run(&["select", "d.csv", "-m", "info-gain", "--max-features", "3", "--json", "s.json"]).code(0);
    // 7 subsets differ by one feature, 3 x 4 by a swap; 4 folds, 2 costs, 3 pairs of classes.
    for (method, plan) in [
        ("bit-flip", "7 subsets by cross-validation, at most 168"),
        ("attribute-flip", "12 subsets by cross-validation, at most 288"),
    ] {
        let base = ["select", "d.csv", "-m", method, "--costs", "1,10", "--cv", "4", "--json", "r.json"];
        let ran = scratch.run(&[&base[..], &["--start", "s.json"]].concat()).code(0);
        assert!(ran.err.contains(plan), "{}", ran.err);
        let result = scratch.json("r.json");
        assert_eq!(result["start"]["selected_indices"], scratch.json("s.json")["selected_indices"]);
        assert!(result["accuracy"].as_f64() >= result["start"]["accuracy"].as_f64());
        scratch.run(&[&base[..], &["--max-features", "2", "--passes", "all"]].concat()).code(0);
        assert!(scratch.json("r.json")["selected"].as_array().unwrap().len() <= 2);
    }
    let named: Vec<String> = scratch.json("s.json")["selected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let names = named.join(",");
    scratch.run(&["select", "d.csv", "-m", "bit-flip", "--cv", "4", "--start", &names, "--json", "n.json"]).code(0);
    assert_eq!(scratch.json("n.json")["start"]["selected_indices"], scratch.json("s.json")["selected_indices"]);
    // Eliminations begin with what they are given: nothing else can be selected.
    for method in ["rfe", "eb-rfe"] {
        for start in ["s.json", &names] {
            let base = ["select", "d.csv", "-m", method, "--max-features", "2", "--json", "e.json"];
            scratch.run(&[&base[..], &["--start", start]].concat()).code(0);
            let selected = scratch.json("e.json")["selected"].clone();
            assert!(selected.as_array().unwrap().iter().all(|name| named.iter().any(|n| name == n)), "{selected}");
            assert_eq!(scratch.json("e.json")["settings"]["start"], scratch.json("s.json")["selected"]);
        }
        let ran = scratch.run(&["select", "d.csv", "-m", method, "--max-features", "2", "--start", "nobody"]).code(2);
        assert!(ran.err.contains("--start") && ran.err.contains("nobody"), "{}", ran.err);
    }
    scratch.file("bad.json", "{}");
    for (more, words) in [
        (&["--start", "bad.json"][..], &["bad.json", "selected"][..]),
        (&["--start", "none.json"], &["none.json", "no such file"]),
        (&["--start", "s.json", "--step", "2"], &["--step", "--start"]),
        (&["--start", "s.json", "--max-features", "2"], &["breaks the rules"]),
        (&["--passes", "0", "--max-features", "2"], &["--passes is 0"]),
        (&["--candidates", "2", "--max-features", "2"], &["--candidates is an option of eb-rfe"]),
        (&[], &["--max-features"]),
    ] {
        let ran = scratch.run(&[&["select", "d.csv", "-m", "bit-flip"][..], more].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
        }
    }
}

#[test]
fn steps_say_how_many_are_certain() {
    let scratch = Scratch::new("rfe_certain");
    scratch.file("d.csv", generated(45, 8, &["a", "b"], 4));
    let base = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "--json", "r.json"];
    let ran = scratch.run(&base).code(0);
    assert!(ran.out.contains("steps      5, all certain\n"), "{}", ran.out);
    let result = scratch.json("r.json");
    assert_eq!((&result["elimination_steps"], &result["certain_steps"]), (&json!(5), &json!(5)));
    // A loose training leaves them open, and says so.
    let ran = scratch.run(&[&base[..], &["--tolerance", "0.9"]].concat()).code(0);
    assert!(ran.out.contains(" of them certain, the others ties within the tolerance"), "{}", ran.out);
    assert!(scratch.json("r.json")["certain_steps"].as_u64().unwrap() < 5);
    scratch.run(&[&base[..], &["--kernel", "rbf"]].concat()).code(0);
    let result = scratch.json("r.json");
    assert!(result.get("certain_steps").is_none() && result["elimination_steps"] == json!(5));
}
