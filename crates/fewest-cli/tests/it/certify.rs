//! `fewest certify`: against brute force through the library, its outputs, its refusals, its proof.

use std::fmt::Write as _;

use fewest::dual::train::train;
use fewest::{Clock, DenseDesign, Kernel, SvmSettings};
use serde_json::{Value, json};

use crate::common::{Scratch, generated};

const SAMPLES: usize = 40;
const FEATURES: usize = 6;

/// 40 samples and 6 features f1 to f6, of which the first 3 carry the classes.
fn small() -> String {
    generated(SAMPLES, FEATURES, &["no", "yes"], 9)
}

/// The objective on some columns of the data, as they are.
fn objective(csv: &str, features: &[usize]) -> f64 {
    let rows: Vec<Vec<&str>> = csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let columns = (0..FEATURES).flat_map(|j| rows.iter().map(move |row| row[j].parse::<f64>().expect("a number")));
    let design = DenseDesign::new(SAMPLES, FEATURES, columns.collect::<Vec<f64>>()).expect("n values each");
    let labels: Vec<f64> = rows.iter().map(|row| if row[FEATURES] == "yes" { 1.0 } else { -1.0 }).collect();
    let (weights, svm) = (vec![1.0; SAMPLES], SvmSettings { tolerance: 1e-9, ..SvmSettings::default() });
    train(&design, features, &labels, &weights, Kernel::Linear, &svm, &Clock::unlimited()).expect("valid").primal
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn close(found: &Value, expected: f64) {
    assert!((number(found) - expected).abs() <= 1.1e-4 * expected, "{found} {expected}");
}

#[test]
fn a_list_is_compared_with_all_others() {
    let scratch = Scratch::new("certify_all");
    let csv = small();
    scratch.file("d.csv", &csv);
    let run = ["certify", "d.csv", "--features", "f5,f2", "--scale", "none", "--json", "r.json", "--solutions", "4"];
    scratch.run(&run).code(0);
    let result = scratch.json("r.json");
    let own = objective(&csv, &[1, 4]);
    close(&result["objective"], own);
    assert_eq!((&result["selected"], &result["selected_indices"]), (&json!(["f2", "f5"]), &json!([1, 4])));
    assert_eq!(
        (&result["kind"], &result["status"], &result["schema"]),
        (&json!("certificate"), &json!("optimal"), &json!(1))
    );
    assert!(result["command"].as_str().is_some_and(|line| line.starts_with("fewest certify d.csv")));
    assert_eq!((&result["allowed"], &result["broken_rules"]), (&json!(true), &json!([])));
    assert_eq!((&result["settings"]["max_features"], &result["settings"]["solutions"]), (&json!(2), &json!(4)));
    assert_eq!(result["classes"], json!({"-1": "no", "+1": "yes"}));

    let mut all: Vec<(f64, Vec<usize>)> = Vec::new();
    for a in 0..FEATURES {
        all.push((objective(&csv, &[a]), vec![a]));
        all.extend((a + 1..FEATURES).map(|b| (objective(&csv, &[a, b]), vec![a, b])));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    close(&result["bound"], all[0].0);
    assert!(number(&result["bound"]) <= all[0].0 * (1.0 + 1e-9));
    assert!(number(&result["gap"]) > 0.0 && number(&result["gap"]) < 1.0);
    let better = result["better"].as_array().expect("a list");
    let expected: Vec<&(f64, Vec<usize>)> = all.iter().filter(|one| one.0 < own * (1.0 - 1e-6)).take(4).collect();
    assert!(better.len() == expected.len() && !better.is_empty(), "{better:?} {expected:?}");
    for (one, (objective, features)) in better.iter().zip(expected) {
        close(&one["objective"], *objective);
        assert_eq!(one["selected_indices"], json!(features));
    }

    for (feature, other) in [(1, 4), (4, 1)] {
        let entries = result["features"].as_array().expect("a list");
        let entry = entries.iter().find(|entry| entry["index"] == feature).expect("of the list");
        assert_eq!(entry["name"], format!("f{}", feature + 1));
        let without = objective(&csv, &[other]);
        close(&entry["without"], without);
        assert!((number(&entry["gain"]) - (without - own)).abs() <= 1e-4 * own, "{entry}");
        let outside =
            (0..FEATURES).filter(|j| ![1, 4].contains(j)).map(|j| (objective(&csv, &[j.min(other), j.max(other)]), j));
        let best = outside.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there are others");
        close(&entry["replacement"]["objective"], best.0);
        assert_eq!(entry["replacement"]["index"], best.1);
    }
}

#[test]
fn the_text_tells_what_the_json_holds_and_the_list_may_be_a_file() {
    let scratch = Scratch::new("certify_text");
    scratch.file("d.csv", small()).file("list.txt", "f5\n\n f2 \n").file("list.json", r#"{"selected": ["f2", "f5"]}"#);
    let typed = scratch.run(&["certify", "d.csv", "--features", "f2", "--features", "f5"]).code(0);
    let without_time =
        |text: &str| text.lines().filter(|line| !line.starts_with("time")).map(str::to_owned).collect::<Vec<_>>();
    for file in ["list.txt", "list.json"] {
        let ran = scratch.run(&["certify", "d.csv", "--features", file]).code(0);
        assert_eq!(without_time(&ran.out), without_time(&typed.out), "{file}");
    }
    for words in
        ["list       2 of 6 features", "best in its place", "better", "status     optimal", "of what they can gain"]
    {
        assert!(typed.out.contains(words), "`{words}` is not in: {}", typed.out);
    }
    // The best list is called the best, and nothing is better.
    scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "2", "--json", "best.json"]).code(0);
    let best = scratch.run(&["certify", "d.csv", "--features", "best.json"]).code(0);
    assert!(
        best.out.contains("is the best allowed one of at most 2 features") && !best.out.contains("\nbetter"),
        "{}",
        best.out
    );
    // Of another size, and all features.
    let three = scratch.run(&["certify", "d.csv", "--features", "best.json", "--max-features", "3"]).code(0);
    assert!(three.out.contains("at most 3 features is better than") && three.out.contains("\nbetter"), "{}", three.out);
    scratch.run(&["certify", "d.csv", "--features", "f1,f2,f3,f4,f5,f6", "--json", "all.json"]).code(0);
    assert!(scratch.json("all.json")["features"].as_array().expect("six").iter().all(|f| f["replacement"].is_null()));
    scratch.run(&["certify", "d.csv", "--features", "f3"]).code(0);
    // `fit` reads the same files.
    scratch.run(&["fit", "d.csv", "--features", "list.txt", "--json", "fit.json"]).code(0);
    assert_eq!(scratch.json("fit.json")["model"]["weights"].as_object().expect("weights").len(), 2);
}

#[test]
fn a_list_that_breaks_rules_is_judged_and_they_are_named() {
    let scratch = Scratch::new("certify_rules");
    scratch.file("d.csv", small()).file("costs.csv", "f1,1\nf2,1\nf3,1\nf4,1\nf5,1\nf6,1\n");
    scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "3", "--json", "best.json"]).code(0);
    let best = scratch.json("best.json");
    let first = best["selected"][0].as_str().expect("a name").to_owned();
    let run =
        ["certify", "d.csv", "--features", "best.json", "--forbid", &first, "--json", "r.json", "--proof", "p.proof"];
    let ran = scratch.run(&run).code(0);
    let rule = format!("{first} is forbidden, but is in it");
    assert!(ran.err.contains(&rule) && ran.out.contains(&rule), "{}{}", ran.err, ran.out);
    assert!(ran.out.contains("it is better than every subset of at most 3 features"), "{}", ran.out);
    let result = scratch.json("r.json");
    assert_eq!(
        (&result["allowed"], &result["broken_rules"], &result["gap"]),
        (&json!(false), &json!([rule]), &Value::Null)
    );
    assert!(number(&result["bound"]) > number(&result["objective"]) && result["better"] == json!([]));
    close(&result["objective"], number(&best["objective"]));
    // The proof cannot list it.
    scratch.run(&["verify", "p.proof", "d.csv", "--json", "v.json"]).code(0);
    let verdict = scratch.json("v.json");
    let listed = verdict["solutions"].as_array().expect("a list");
    assert!(!listed.is_empty() && listed.iter().all(|one| one["selected"] != result["selected"]), "{verdict}");

    for (rules, words) in [
        (&["--require", "f6"][..], "f6 is required, but is not in it"),
        (&["--at-most", "1:f1,f2"], "at most 1 of {f1, f2} may be in it, but 2 are"),
        (&["--implies", "f1:f5", "--max-features", "4"], "f1 needs f5, which is not in it"),
        (&["--budget", "1.5", "--feature-costs", "costs.csv"], "the budget is 1.5, but it costs 2"),
        (&["--max-features", "1"], "max-features is 1, but it has 2"),
    ] {
        let ran = scratch.run(&[&["certify", "d.csv", "--features", "f1,f2"][..], rules].concat()).code(0);
        assert!(ran.err.contains(words), "`{words}` is not in: {}", ran.err);
    }
    // A feature with one value is never selected, and may be in a list.
    let mut constant = String::new();
    for line in small().lines() {
        let first = if line.starts_with("f1") { "same" } else { "7" };
        writeln!(constant, "{first},{line}").expect("memory");
    }
    scratch.file("c.csv", constant);
    let ran = scratch.run(&["certify", "c.csv", "--features", "f1,same", "--json", "c.json"]).code(0);
    assert!(ran.err.contains("same has one value only and is never selected"), "{}", ran.err);
    assert_eq!(scratch.json("c.json")["allowed"], false);
}

#[test]
fn bad_lists_and_options_are_refused() {
    let scratch = Scratch::new("certify_refused");
    scratch.file("d.csv", small()).file("empty.txt", "\n");
    let tried = |more: &[&str], code: i32, words: &str| {
        let err = scratch.run(&[&["certify", "d.csv"], more].concat()).code(code).err;
        assert!(err.contains(words), "`{words}` is not in: {err}");
    };
    tried(&[], 2, "--features");
    tried(&["--features", ""], 2, "--features");
    tried(&["--features", "empty.txt"], 2, "holds no feature names");
    tried(&["--features", "f1,f22"], 2, "did you mean \"f2\"?");
    tried(&["--features", "f1,f2,f1"], 2, "--features names f1 twice");
    tried(&["--features", "f1", "--cost", "auto"], 2, "certify takes a number");
    tried(&["--features", "f1", "--cost", "0"], 2, "--cost");
    tried(&["--features", "f1", "--max-features", "9"], 2, "9");
    tried(&["--features", "f1", "--within", "2%"], 2, "--within is an option of select, not of certify");
    tried(&["--features", "f1", "--resume", "x"], 2, "--resume is an option of select, not of certify");
    tried(&["--features", "f1", "--method", "rfe"], 2, "--method is an option of select, not of certify");
    tried(&["--features", "f1", "--step", "half"], 2, "--step is an option of select, not of certify");
    tried(&["--features", "f1", "--kernel", "rbf"], 2, "linear");
    tried(&["--features", "f1", "--proof", "-"], 2, "needs a file");
    tried(&["--features", "f1", "--json", "d.csv"], 2, "the data");
    tried(&["--features", "empty.txt", "--json", "empty.txt"], 2, "empty.txt");
    tried(&["--features", "f1", "--require", "f1,f2", "--forbid", "f2"], 2, "f2 is both required and forbidden");
    // The list is too small for the rules, which were not asked to fit it.
    tried(&["--features", "f1", "--require", "f1,f2", "--json", "r.json"], 4, "no subset of at most 1 feature");
    tried(&["--features", "f1", "--require", "f1,f2", "--max-features", "1"], 2, "max-features is 1");
    assert_eq!(scratch.files(), ["d.csv", "empty.txt"]);
    let help = scratch.run(&["certify", "--help"]).code(0).out;
    for words in [
        "--features <NAMES|FILE>",
        "--solutions <N>",
        "[default: 3]",
        "--tasks <COLUMN>",
        "--proof <FILE>",
        "signature.txt",
    ] {
        assert!(help.contains(words), "`{words}` is not in: {help}");
    }
    assert!(!help.contains("--within") && !help.contains("--resume") && !help.contains("--step "), "{help}");
}

#[test]
fn limits_are_kept_and_what_is_proven_so_far_is_written() {
    let scratch = Scratch::new("certify_limits");
    scratch.file("d.csv", generated(80, 30, &["no", "yes"], 5));
    let run = ["certify", "d.csv", "--features", "f10,f11,f12,f13,f14,f15", "--cost", "100", "--json", "r.json"];
    for (limit, status) in [(&["--node-limit", "1"][..], "node_limit"), (&["--time-limit", "0s"], "time_limit")] {
        let ran = scratch.run(&[&run[..], limit, &["--proof", "p.proof"]].concat()).code(3);
        assert!(ran.err.contains("this is what is proven so far"), "{}", ran.err);
        let result = scratch.json("r.json");
        assert_eq!(result["status"], status);
        assert!(result["objective"].is_number() && result["features"].as_array().is_some_and(|all| all.len() == 6));
        assert_eq!(result["features"][0]["gain"].is_number(), status == "node_limit");
        let verified = scratch.run(&["verify", "p.proof", "d.csv"]);
        assert!(verified.out.contains("VERIFIED") && !verified.out.contains("NOT VERIFIED"), "{}", verified.out);
    }
}

#[test]
fn proofs_list_the_methods_own_subset_and_say_which_it_is() {
    let scratch = Scratch::new("certify_own");
    scratch.file("d.csv", generated(50, 7, &["no", "yes"], 4));
    let listed = |proof: &str, selected: &Value| {
        scratch.run(&["verify", proof, "d.csv", "--json", "v.json"]).code(0);
        let verdict = scratch.json("v.json");
        let listed = verdict["solutions"].as_array().expect("a list").clone();
        let own = listed.iter().find(|one| one["selected_indices"] == *selected).unwrap_or_else(|| panic!("{verdict}"));
        assert_eq!((header(&scratch, proof)["made"]["own"]).clone(), *selected);
        (verdict.clone(), own.clone())
    };
    let poor = ["--require", "f6", "--forbid", "f3", "--scale", "none"];
    let run = [
        "select",
        "d.csv",
        "-m",
        "info-gain",
        "--max-features",
        "2",
        "--certify",
        "--proof",
        "x.proof",
        "--json",
        "r.json",
    ];
    scratch.run(&[&run[..], &poor].concat()).code(0);
    let result = scratch.json("r.json");
    let (verdict, own) = listed("x.proof", &result["selected_indices"]);
    close(&own["objective"], number(&result["certificate"]["objective"]));
    assert_eq!(verdict["selected_indices"], result["certificate"]["best"]["selected_indices"]);
    close(&verdict["bound"], number(&result["certificate"]["bound"]));
    assert!(number(&verdict["gap"]) <= 1.01e-4 && verdict["status"] == "optimal");
    // Each size of a path has its own.
    scratch
        .run(&[
            "path",
            "d.csv",
            "-m",
            "rfe",
            "--max-features",
            "1,2",
            "--certify",
            "--proof",
            "y.proof",
            "--json",
            "p.json",
        ])
        .code(0);
    let path = scratch.json("p.json");
    for (at, proof) in ["y-k1.proof", "y-k2.proof"].into_iter().enumerate() {
        listed(proof, &path["path"][at]["selected_indices"]);
    }
    // The list of a user, and no better than what is listed.
    scratch.run(&["certify", "d.csv", "--features", "f6,f7", "--proof", "z.proof", "--json", "c.json"]).code(0);
    let result = scratch.json("c.json");
    assert_eq!(result["proof"], "z.proof");
    let (verdict, own) = listed("z.proof", &json!([5, 6]));
    close(&own["objective"], number(&result["objective"]));
    assert_eq!(verdict["solutions"].as_array().map(Vec::len), Some(4));
    assert_eq!(header(&scratch, "z.proof")["made"]["method"], "certify");
}

/// The header of a proof.
fn header(scratch: &Scratch, proof: &str) -> Value {
    use std::io::{BufRead as _, BufReader};
    let file = std::fs::File::open(scratch.path(proof)).expect("a proof");
    let mut line = String::new();
    BufReader::new(flate2::read::MultiGzDecoder::new(file)).read_line(&mut line).expect("gzip");
    serde_json::from_str(&line).expect("JSON")
}

#[test]
fn more_classes_tasks_and_weights_are_judged_as_selected() {
    let scratch = Scratch::new("certify_several");
    let mut sites = String::new();
    for (i, line) in generated(48, 6, &["a", "b"], 8).lines().enumerate() {
        sites += if i == 0 { "site,w," } else { ["10,1,", "2,0.3,", "1,0.7,"][i / 2 % 3] };
        sites += line;
        sites.push('\n');
    }
    scratch.file("sites.csv", sites).file("three.csv", generated(36, 6, &["2", "10", "9"], 5));
    for (data, more) in [
        ("sites.csv", &["--tasks", "site", "--sample-weights", "w"][..]),
        ("three.csv", &["--class-weight", "balanced"]),
        ("three.csv", &["--multi-class", "one-vs-rest", "--loss", "squared-hinge", "--bias", "1"]),
    ] {
        let select = ["select", data, "-m", "exact", "--max-features", "2", "--json", "s.json"];
        scratch.run(&[&select[..], more].concat()).code(0);
        let certify = ["certify", data, "--features", "s.json", "--json", "c.json", "--proof", "p.proof"];
        scratch.run(&[&certify[..], more].concat()).code(0);
        let (selected, certified) = (scratch.json("s.json"), scratch.json("c.json"));
        close(&certified["objective"], number(&selected["objective"]));
        assert_eq!((&certified["better"], &certified["status"]), (&json!([]), &json!("optimal")));
        scratch.run(&["verify", "p.proof", data]).code(0);
    }
}

#[test]
fn the_page_is_that_of_the_json() {
    let scratch = Scratch::new("certify_page");
    scratch.file("d.csv", small());
    let run = ["certify", "d.csv", "--features", "f5,f2", "--forbid", "f2", "--json", "r.json", "--report", "a.html"];
    scratch.run(&run).code(0);
    let page = scratch.read("a.html");
    for words in [
        "2 of 6 features judged",
        "What each feature of the list is worth",
        "Lists that are better",
        "f2 is forbidden, but is in it",
        "No allowed subset of at most 2",
    ] {
        assert!(page.contains(words), "`{words}` is not in the page");
    }
    scratch.run(&["report", "r.json", "-o", "b.html"]).code(0);
    assert_eq!(scratch.read("b.html"), page);
}
