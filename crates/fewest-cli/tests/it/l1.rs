//! The L1 family on the command line: results, options, the file for other solvers, refusals.

use crate::common::{Scratch, generated};

#[test]
fn l1_svm_gives_its_own_classifier_and_a_grid() {
    let scratch = Scratch::new("l1_svm");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 3));
    let arguments = ["select", "d.csv", "-m", "l1-svm", "--loss", "squared-hinge", "--json", "r.json"];
    scratch.run(&arguments).code(0);
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "optimal");
    assert!(result["bound"].as_f64() <= result["objective"].as_f64());
    assert_eq!(result["settings"]["costs"], serde_json::Value::Null);
    scratch.run(&[&arguments[..], &["--costs", "0.001,0.01,0.1,10", "--max-features", "7"]].concat()).code(0);
    let result = scratch.json("r.json");
    assert_eq!(result["grid"].as_array().map(Vec::len), Some(4));
    assert!(result["selected"].as_array().expect("names").len() <= 7);
    let chosen = result["grid"].as_array().expect("a grid").iter().rev().find(|g| g["features"].as_u64() <= Some(7));
    assert_eq!(result["cost"], chosen.expect("a small cost")["cost"]);
    assert_eq!(result["model"]["cost"], result["cost"], "the classifier is the one of that cost");
    scratch.run(&[&arguments[..], &["--costs", "0.1"]].concat()).code(0);
    assert_eq!(scratch.json("r.json")["model"]["cost"], 0.1);
}

#[cfg(feature = "highs")]
#[test]
fn the_programs_agree_with_each_other_and_are_written() {
    let scratch = Scratch::new("mbp");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 3));
    let solve = |extra: &[&str]| {
        let base = ["select", "d.csv", "-m", "mbp", "--penalty", "0.5", "--json", "r.json"];
        scratch.run(&[&base[..], extra].concat()).code(0);
        scratch.json("r.json")
    };
    let (ours, plain) = (solve(&["--write-model", "p.lp"]), solve(&["--plain", "--lp", "interior"]));
    assert!(scratch.read("p.lp").contains("wm8"));
    let value = |result: &serde_json::Value| result["objective"].as_f64().expect("a value");
    assert!((value(&ours) - value(&plain)).abs() <= 1e-4 * value(&ours), "{ours} {plain}");
    assert_eq!((ours["status"].as_str(), plain["status"].as_str()), (Some("optimal"), Some("optimal")));
    assert!(ours["relaxation"].as_f64().expect("solved") <= value(&ours) + 1e-9);
    scratch.run(&["select", "d.csv", "-m", "lagrangian", "--penalty", "0.5", "--json", "l.json"]).code(0);
    let bundle = scratch.json("l.json");
    assert!(value(&bundle) >= value(&ours) * (1.0 - 1e-4));
    assert!(bundle["bound"].as_f64().expect("a bound") <= value(&ours) + 1e-9);
    assert!(!bundle["steps"].as_array().expect("steps").is_empty());
    // As the paper prints it: restricted programs without a limit, on the features in use alone.
    let plain = ["--plain", "--epsilon", "0.01", "--max-steps", "50", "--gap", "0"];
    scratch
        .run(&[&["select", "d.csv", "-m", "lagrangian", "--penalty", "0.5", "--json", "l.json"][..], &plain].concat())
        .code(0);
    let printed = scratch.json("l.json");
    assert!(printed["relaxation"].is_null() && printed["steps"].as_array().expect("steps").len() <= 50);
    assert!(value(&printed) >= value(&ours) * (1.0 - 1e-4));
    let omega = printed["steps"].as_array().expect("steps").iter().filter_map(|step| step["omega"].as_u64());
    assert!(omega.max().expect("a restricted program") <= 8);
    scratch.run(&["select", "d.csv", "-m", "fsv", "--lambda", "0.2", "--starts", "3", "--json", "f.json"]).code(0);
    let fsv = scratch.json("f.json");
    assert_eq!((fsv["status"].as_str(), fsv["starts"].as_array().map(Vec::len)), (Some("completed"), Some(3)));
    // Any of them can be asked how far it is from the best SVM.
    scratch.run(&["select", "d.csv", "-m", "fsv", "--max-features", "2", "--certify", "--json", "c.json"]).code(0);
    assert!(scratch.json("c.json")["certificate"]["bound"].is_number());
}

#[cfg(feature = "highs")]
#[test]
fn what_cannot_be_is_refused() {
    let scratch = Scratch::new("l1_refused");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 3));
    for (arguments, words) in [
        (&["-m", "mbp"][..], "say how many features to keep"),
        (&["-m", "mbp", "--penalty", "1", "--loss", "squared-hinge"], "--loss is squared-hinge, but must be hinge"),
        (&["-m", "mbp", "--penalty", "1", "--lp", "simplex"], "--lp has a meaning"),
        (&["-m", "mbp", "--penalty", "1", "--weight-bound", "0"], "--weight-bound is 0"),
        (&["-m", "lagrangian", "--penalty", "-1"], "--penalty is -1"),
        (&["-m", "lagrangian", "--penalty", "1", "--node-limit", "5"], "--node-limit is an option of"),
        (&["-m", "fsv", "--bias", "none"], "--bias is an option of"),
        (&["-m", "fsv", "--lambda", "1"], "lambda is 1"),
        (&["-m", "fsv", "--starts", "0"], "--starts is 0"),
        (&["-m", "l1-svm", "--costs", "1,x"], "--costs"),
        (&["-m", "l1-svm", "--gap", "0.1"], "--gap is an option of"),
        (&["-m", "l1-svm", "--kernel", "rbf"], "--kernel is rbf, but must be linear with l1-svm"),
    ] {
        let ran = scratch.run(&[&["select", "d.csv"], arguments].concat()).code(2);
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
    }
    let ran = scratch.run(&["path", "d.csv", "-m", "mbp", "--max-features", "1..2", "--write-model", "p.lp"]).code(2);
    assert!(ran.err.contains("--write-model is an option of select, not of path"), "{}", ran.err);
    let path = ["path", "d.csv", "-m", "l1-svm", "--max-features", "1..3", "--json", "p.json"];
    scratch.run(&path).code(0);
    for (result, size) in scratch.json("p.json")["path"].as_array().expect("a list").iter().zip(1..) {
        assert!(result["selected"].as_array().expect("names").len() <= size && result["model"].is_object());
    }
}
