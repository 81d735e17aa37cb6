//! `--fit-cost`: the subset is that of `--cost`, the classifier that of `fewest fit` at the other
//! cost, in every command and with every method that trains one.

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// A folder with 60 samples and 8 features.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 11));
    scratch
}

/// The method's own words for a run that ends with a JSON result.
#[track_caller]
fn selected(scratch: &Scratch, arguments: &[&str]) -> Value {
    scratch.run(&[arguments, &["--json", "r.json"]].concat()).code(0);
    scratch.json("r.json")
}

#[test]
fn the_subset_is_that_of_the_cost_and_the_classifier_that_of_the_fit_cost() {
    let scratch = scratch("two_costs_select");
    for method in ["exact", "rfe"] {
        let select = ["select", "d.csv", "-m", method, "--max-features", "3", "--cost", "0.003"];
        let one = selected(&scratch, &select);
        assert_eq!((&one["settings"]["fit_cost"], &one["model"]["cost"]), (&Value::Null, &json!(0.003)));
        let two = selected(&scratch, &[&select[..], &["--fit-cost", "2", "--model", "m.json"]].concat());
        for key in ["selected", "objective", "bound", "counts"] {
            assert_eq!(one[key], two[key], "{method}: {key}");
        }
        assert_eq!((&two["settings"]["cost"], &two["settings"]["fit_cost"]), (&json!(0.003), &json!(2.0)));
        assert_eq!(two["model"]["cost"], 2.0);
        let fit = ["fit", "d.csv", "--result", "r.json", "--cost", "2", "--json", "f.json"];
        scratch.run(&fit).code(0);
        let (weights, trained) = (&two["model"]["weights"], &scratch.json("f.json")["model"]["weights"]);
        for (name, weight) in weights.as_object().unwrap() {
            let (found, expected) = (weight.as_f64().unwrap(), trained[name].as_f64().unwrap());
            assert!((found - expected).abs() < 1e-3 * expected.abs().max(0.1), "{name}: {found}, not {expected}");
        }
        assert_ne!(one["model"]["weights"], two["model"]["weights"]);
        assert_eq!(scratch.json("m.json")["model"], two["model"]);
    }
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--cost", "0.003", "--fit-cost", "2"];
    let out = scratch.run(&select).code(0).out;
    assert!(out.contains("fit cost") && out.contains('2'), "{out}");
    scratch.run(&[&select[..], &["--json", "r.json", "--report", "r.html"]].concat()).code(0);
    let page = scratch.read("r.html");
    assert!(page.contains("slack cost C of selecting") && page.contains("slack cost C of the classifier"), "{page}");
}

#[test]
fn a_method_trains_at_the_fit_cost_or_refuses_it() {
    let scratch = Scratch::new("two_costs_methods");
    scratch.file("d.csv", generated(16, 4, &["no", "yes"], 11));
    scratch.run(&["methods", "--json", "m.json"]).code(0);
    let mut refused = Vec::new();
    for method in scratch.json("m.json")["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        let known = method["options"]
            .as_array()
            .unwrap()
            .iter()
            .any(|o| o["option"].as_str().unwrap().starts_with("--fit-cost "));
        let select = ["select", "d.csv", "-m", name, "--max-features", "2", "--fit-cost", "3"];
        let ran = scratch.run(&[&select[..], &["--json", "r.json"]].concat());
        assert_eq!(ran.code == Some(2), !known, "{name}: {ran:?}");
        if known {
            assert_eq!(scratch.json("r.json")["model"]["cost"], 3.0, "{name}");
        } else {
            assert!(ran.err.contains("ends with its own") && ran.err.contains("fewest fit"), "{}", ran.err);
            refused.push(name.to_owned());
        }
    }
    let own: &[&str] =
        if cfg!(feature = "highs") { &["l1-svm", "fgm", "mbp", "lagrangian", "fsv"] } else { &["l1-svm", "fgm"] };
    assert_eq!(refused, own);
}

#[test]
fn auto_gives_no_fit_cost_to_a_method_that_ends_with_its_own_classifier() {
    let scratch = Scratch::new("two_costs_own");
    for seed in 1..=8 {
        scratch.file("d.csv", generated(30, 4, &["no", "yes"], seed));
        for method in [&["l1-svm"][..], &["fgm", "--subset-size", "2"]] {
            let ask = ["select", "d.csv", "--cost", "auto", "--json", "r.json", "-m"];
            scratch.run(&[&ask[..], method].concat()).code(0);
            assert_eq!(scratch.json("r.json")["cost_choice"]["fit_cost"], Value::Null, "{method:?} {seed}");
        }
    }
}

#[test]
fn path_and_evaluate_train_at_the_fit_cost() {
    let scratch = scratch("two_costs_path");
    let costs = ["--cost", "0.01", "--fit-cost", "4"];
    let path = ["path", "d.csv", "-m", "exact", "--max-features", "1..3", "--json", "p.json"];
    scratch.run(&[&path[..], &costs].concat()).code(0);
    let path = scratch.json("p.json");
    let models: Vec<&Value> = path["path"].as_array().unwrap().iter().map(|r| &r["model"]["cost"]).collect();
    assert_eq!(models, [&json!(4.0), &json!(4.0), &json!(4.0)]);

    let evaluate = ["evaluate", "d.csv", "-m", "exact", "--max-features", "3", "--cv", "3", "--json", "e.json"];
    let folds = |extra: &[&str]| -> Vec<Value> {
        scratch.run(&[&evaluate[..], extra].concat()).code(0);
        scratch.json("e.json")["folds"].as_array().unwrap().clone()
    };
    let (one, two) = (folds(&costs[..2]), folds(&costs));
    for (one, two) in one.iter().zip(&two) {
        assert_eq!((&one["selected"], &one["cost"]), (&two["selected"], &two["cost"]));
        assert_eq!((&one["fit_cost"], &two["fit_cost"]), (&json!(0.01), &json!(4.0)));
    }
    let area = |folds: &[Value]| folds.iter().map(|f| f["metrics"]["auc"].clone()).collect::<Vec<_>>();
    assert_ne!(area(&one), area(&two), "another classifier orders samples in another way");

    // Chosen inside each fold: alone, and with the cost of selecting.
    for tune in [&["--tune", "fit-cost=0.01,4"][..], &["--tune", "fit-cost=0.01,4", "--tune", "C=0.01,1"]] {
        let folds = folds(&[&["--inner-cv", "3"], tune].concat());
        let fit_costs = [json!(0.01), json!(4.0)];
        assert!(folds.iter().all(|fold| fit_costs.contains(&fold["fit_cost"])), "{folds:?}");
        assert_eq!(scratch.json("e.json")["settings"]["tune"]["fit_cost"], json!([0.01, 4.0]));
    }
    for (extra, words) in [
        (&["--fit-cost", "2", "--tune", "fit-cost=1,2"][..], "--fit-cost is 2, but --tune chooses it"),
        (&["--tune", "fit-cost=1,-2"], "--tune is fit-cost=1,-2"),
        (&["--tune", "fitcost=1,2"], "must be C=VALUES, fit-cost=VALUES or gamma=VALUES"),
    ] {
        let err = scratch.run(&[&evaluate[..], extra].concat()).code(2).err;
        assert!(err.contains(words), "{err}");
    }
    let own = ["evaluate", "d.csv", "-m", "l1-svm", "--max-features", "3", "--tune", "fit-cost=1,2"];
    assert!(scratch.run(&own).code(2).err.contains("ends with its own"));
    let zero = scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--fit-cost", "0"]).code(2);
    assert!(zero.err.contains("--fit-cost is 0"), "{}", zero.err);
}
