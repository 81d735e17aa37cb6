//! `fewest path --cv`: how well each size does on samples that took no part.

use serde_json::Value;

use crate::common::{Scratch, generated};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// The results of sizes 1 to 4 have the accuracy that `evaluate` has at each size by itself.
#[test]
fn a_size_is_judged_as_evaluate_judges_it() {
    let scratch = Scratch::new("path_folds");
    scratch.file("d.csv", generated(70, 9, &["a", "b"], 5)).file("m.csv", generated(60, 7, &["a", "b", "c"], 6));
    let fit_cost = ["-m", "rfe", "--cost", "0.1", "--fit-cost", "2"];
    for (data, method) in [
        ("d.csv", &["-m", "rfe"][..]),
        ("d.csv", &fit_cost),
        ("d.csv", &["-m", "exact", "--gap", "1e-6"]),
        ("m.csv", &["-m", "info-gain"]),
    ] {
        let folds = ["--cv", "5", "--repeats", "2", "--seed", "3"];
        let path = ["path", data, "--max-features", "1..4", "--json", "path.json", "--report", "path.html"];
        scratch.run(&[&path[..], &folds, method].concat()).code(0);
        let path = scratch.json("path.json");
        let mut means = Vec::new();
        for (at, result) in path["path"].as_array().unwrap().iter().enumerate() {
            let size = (at + 1).to_string();
            let evaluate = ["evaluate", data, "--max-features", &size, "--json", "e.json"];
            scratch.run(&[&evaluate[..], &folds, method].concat()).code(0);
            let summary = &scratch.json("e.json")["summary"];
            for measure in ["accuracy", "balanced_accuracy", "mcc"] {
                for of in ["mean", "se"] {
                    let (here, there) = (number(&result["cv"][measure][of]), number(&summary[measure][of]));
                    assert!((here - there).abs() < 1e-12, "{data} {method:?} {size} {measure}: {here} {there}");
                }
            }
            means.push((number(&summary["accuracy"]["mean"]), number(&summary["accuracy"]["se"])));
        }
        // The smallest size within one standard error of the best.
        let cv = &path["cv"];
        assert_eq!(
            (&cv["folds"], &cv["repeats"], &cv["done"], &cv["missing"]),
            (&5.into(), &2.into(), &10.into(), &0.into())
        );
        let best = (0..4).fold(0, |best, at| if means[at].0 > means[best].0 + 1e-12 { at } else { best });
        let one_se = means.iter().position(|mean| mean.0 >= means[best].0 - means[best].1).unwrap();
        assert_eq!((&cv["best_size"], &cv["one_se_size"]), (&(best + 1).into(), &(one_se + 1).into()), "{method:?}");
        let page = std::fs::read_to_string(scratch.path("path.html")).unwrap();
        assert!(page.contains("Accuracy against number of features"), "{method:?}");
    }
}

/// `--cost auto` chooses inside each fold, at the largest size: there it is what `evaluate` does.
#[test]
fn a_cost_is_chosen_without_the_samples_held_out() {
    let scratch = Scratch::new("path_folds_auto");
    scratch.file("d.csv", generated(70, 9, &["a", "b"], 5));
    let settings = ["d.csv", "-m", "rfe", "--cost", "auto", "--cv", "5", "--seed", "3"];
    scratch.run(&[&["path", "--max-features", "1,4", "--json", "path.json"], &settings[..]].concat()).code(0);
    scratch.run(&[&["evaluate", "--max-features", "4", "--json", "e.json"], &settings[..]].concat()).code(0);
    let (here, there) = (&scratch.json("path.json")["path"][1]["cv"], &scratch.json("e.json")["summary"]);
    for measure in ["accuracy", "balanced_accuracy", "mcc"] {
        let (here, there) = (number(&here[measure]["mean"]), number(&there[measure]["mean"]));
        assert!((here - there).abs() < 1e-12, "{measure}: {here} {there}");
    }
}

#[test]
fn the_table_marks_the_smallest_size_within_one_standard_error() {
    let scratch = Scratch::new("path_folds_table");
    scratch.file("d.csv", generated(70, 9, &["a", "b"], 5));
    let ran = scratch.run(&["path", "d.csv", "-m", "rfe", "--max-features", "1..4", "--cv", "5"]).code(0);
    assert_eq!(ran.out.matches("+- ").count(), 4, "{}", ran.out);
    let marked = |line: &&str| line.contains("+- ") && line.contains(" * ");
    assert_eq!(ran.out.lines().filter(marked).count(), 1, "{}", ran.out);
}

#[test]
fn what_has_no_effect_is_refused() {
    let scratch = Scratch::new("path_folds_refused");
    scratch.file("d.csv", generated(30, 4, &["a", "b"], 5));
    let path = ["path", "d.csv", "-m", "rfe", "--max-features", "1,2"];
    for (options, word) in [
        (&["--repeats", "2"][..], "--cv"),
        (&["--seed", "1"], "there is no --cv"),
        (&["--inner-cv", "3"], "rfe does not"),
        (&["--cv", "3", "--resume", "s"], "--resume"),
        (&["--cv", "31"], "there are 30 samples"),
        (&["--cv", "1"], "--cv"),
    ] {
        let ran = scratch.run(&[&path[..], options].concat()).code(2);
        assert!(ran.err.contains(word), "{options:?}: {}", ran.err);
    }
}

#[test]
fn a_limit_leaves_folds_out_and_says_so() {
    let scratch = Scratch::new("path_folds_limit");
    scratch.file("d.csv", generated(120, 40, &["a", "b"], 5));
    let path = ["path", "d.csv", "-m", "exact", "--max-features", "1..4", "--cv", "10", "--repeats", "50"];
    let ran = scratch.run(&[&path[..], &["--time-limit", "0.5s", "--json", "p.json"]].concat()).code(3);
    let result = scratch.json("p.json");
    let (done, missing) = (number(&result["cv"]["done"]), number(&result["cv"]["missing"]));
    assert!(done + missing == 500.0, "{done} {missing}");
    assert!(missing == 0.0 || ran.err.contains("not done in time"), "{}", ran.err);
    assert_eq!(result["path"].as_array().unwrap().len(), 4);
}
