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

/// `--reach` names the smallest size whose means reach both shares, and that of the lower ends.
#[test]
fn a_size_that_reaches_a_sensitivity_and_a_specificity() {
    let scratch = Scratch::new("path_reach");
    scratch.file("d.csv", generated(90, 9, &["a", "b"], 5)).file("three.csv", generated(60, 7, &["a", "b", "c"], 6));
    let path = ["path", "d.csv", "-m", "rfe", "--max-features", "1..6", "--cv", "5", "--repeats", "2"];
    let files = ["--json", "path.json", "--report", "path.html"];
    scratch.run(&[&path[..], &files].concat()).code(0);
    let plain = scratch.json("path.json");
    assert!(plain["cv"].get("reach").is_none());
    let of = |at: usize, name: &str, low: bool| {
        let summary = &plain["path"][at]["cv"][name];
        number(if low { &summary["ci95"][0] } else { &summary["mean"] })
    };
    for (sensitivity, specificity) in
        [(Some(0.5), Some(0.5)), (Some(0.8), None), (None, Some(0.75)), (Some(1.0), Some(1.0))]
    {
        let each = [("sensitivity", sensitivity), ("specificity", specificity)];
        let shares = || each.into_iter().filter_map(|(name, share)| Some((name, share?)));
        let typed: Vec<String> = shares().map(|(name, share)| format!("{name}={share}")).collect();
        let typed = typed.join(",");
        let ran = scratch.run(&[&path[..], &files, &["--reach", &typed]].concat()).code(0);
        let found = &scratch.json("path.json")["cv"]["reach"];
        assert_eq!((found["sensitivity"].as_f64(), found["specificity"].as_f64()), (sensitivity, specificity));
        for (key, low) in [("size", false), ("certain_size", true)] {
            let known =
                (0..6).find(|&at| shares().all(|(name, share)| of(at, name, low) >= share)).map(|at| at as u64 + 1);
            assert_eq!(found[key].as_u64(), known, "{typed} {key}");
        }
        let words = if found["size"].is_null() { "no number of features reaches it" } else { "is not proven" };
        for text in [ran.out.split_whitespace().collect::<Vec<_>>().join(" "), scratch.read("path.html")] {
            assert!(text.contains(words), "{typed}: {text}");
        }
        assert!(
            ran.out.lines().any(|line| line.contains(" sensitivity ") && line.contains(" specificity ")),
            "{}",
            ran.out
        );
    }
    for (wrong, why) in [
        ("sensitivity=0", "sensitivity must be above 0 and at most 1"),
        ("specificity=1.5", "specificity must be above 0 and at most 1"),
        ("recall=0.5", "`recall` is neither sensitivity nor specificity"),
        ("sensitivity=0.5,sensitivity=0.6", "sensitivity is given twice"),
        ("0.9", "has no ="),
    ] {
        let ran = scratch.run(&[&path[..], &["--reach", wrong]].concat()).code(2);
        assert!(ran.err.contains(why), "{wrong}: {}", ran.err);
    }
    let without = scratch.run(&["path", "d.csv", "-m", "rfe", "--max-features", "1..3", "--reach", "sensitivity=0.9"]);
    assert!(without.code(2).err.contains("--cv"));
    let three = ["path", "three.csv", "-m", "rfe", "--max-features", "1..3", "--cv", "3", "--reach", "sensitivity=0.9"];
    assert!(scratch.run(&three).code(2).err.contains("--reach is of two classes, but there are 3"));
}
