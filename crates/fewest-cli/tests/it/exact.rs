//! `exact`, `path` and `--certify` on the command line: results against brute force through the
//! library, texts, limits.

use fewest::dual::train::train;
use fewest::{Clock, Kernel, Problem, Subset, SvmSettings};
use fewest_data::ReadOptions;
use fewest_testing::all_subsets;
use serde_json::Value;

use crate::common::{Scratch, generated};

/// 50 samples and 7 features, of which the first 3 carry the classes.
fn small() -> String {
    generated(50, 7, &["no", "yes"], 4)
}

/// Every subset of 1 to `most` features of a csv file as it is, with the SVM's objective plus its
/// penalty, best first.
fn by_brute_force(scratch: &Scratch, file: &str, most: usize, penalty: impl Fn(usize) -> f64) -> Vec<(f64, Subset)> {
    let mut data = fewest_data::read(scratch.path(file).to_str().unwrap(), &ReadOptions::default()).unwrap();
    let (target, svm) = (data.target.take().unwrap(), SvmSettings { tolerance: 1e-9, ..SvmSettings::default() });
    let design = data.features.as_design();
    let problem = Problem::new(design, &target.signs(), None).unwrap();
    let value = |subset: &Subset| {
        let features: Vec<usize> = subset.iter().collect();
        let (y, weights) = (problem.labels(), problem.weights());
        let solution = train(design, &features, y, weights, Kernel::Linear, &svm, &Clock::unlimited()).unwrap();
        solution.primal + features.iter().map(|&j| penalty(j)).sum::<f64>()
    };
    let subsets = all_subsets(data.names.len()).filter(|s| !s.is_empty() && s.len() <= most);
    let mut all: Vec<(f64, Subset)> = subsets.map(|s| (value(&s), s)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

fn indices(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as usize).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1.1e-4 * b.abs(), "{a} {b}");
}

#[test]
fn json_of_exact_is_the_best_of_all_subsets() {
    let scratch = Scratch::new("exact_json");
    scratch.file("d.csv", small());
    let truth = by_brute_force(&scratch, "d.csv", 3, |_| 0.0);
    let arguments = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--scale", "none", "--json", "r.json"];
    let ran = scratch.run(&[&arguments[..], &["--solutions", "4", "--gap", "1e-6"]].concat()).code(0);
    for word in
        ["optimal", "bound", "3 of 7 features", "rules      at most 3", "weight", "solution  objective  selected"]
    {
        assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
    }
    let result = scratch.json("r.json");
    assert_eq!((&result["method"], &result["status"]), (&"exact".into(), &"optimal".into()));
    assert_eq!(indices(&result["selected_indices"]), truth[0].1.iter().collect::<Vec<_>>());
    close(number(&result["objective"]), truth[0].0);
    assert!(number(&result["bound"]) <= truth[0].0 * (1.0 + 1e-6) && number(&result["gap"]) <= 1e-6);
    close(number(&result["model"]["machines"][0]["primal"]), truth[0].0);
    let solutions = result["solutions"].as_array().unwrap();
    assert_eq!(solutions.len(), 4);
    for (solution, (value, subset)) in solutions.iter().zip(&truth) {
        assert_eq!(indices(&solution["selected_indices"]), subset.iter().collect::<Vec<_>>());
        let names: Vec<String> = subset.iter().map(|j| format!("f{}", j + 1)).collect();
        assert_eq!(solution["selected"], serde_json::json!(names));
        close(number(&solution["objective"]), *value);
    }
    let settings = &result["settings"];
    assert_eq!((&settings["gap"], &settings["solutions"]), (&1e-6.into(), &4.into()));
    assert!(settings["penalty"].is_null() && settings["node_limit"].is_null());
    // The result is a model, and a list of features, as that of any method.
    scratch.run(&["predict", "r.json", "d.csv", "-q"]).code(0);
    scratch.run(&["fit", "d.csv", "--result", "r.json", "-q"]).code(0);
}

#[test]
fn a_penalty_takes_the_place_of_a_size() {
    let scratch = Scratch::new("exact_penalty");
    scratch.file("d.csv", small());
    let run = |extra: &[&str]| {
        let base = ["select", "d.csv", "-m", "exact", "--scale", "none", "--json", "r.json"];
        (scratch.run(&[&base[..], extra].concat()).code(0).out, scratch.json("r.json"))
    };
    let truth = by_brute_force(&scratch, "d.csv", 7, |_| 1.5);
    let (out, result) = run(&["--penalty", "1.5"]);
    close(number(&result["objective"]), truth[0].0);
    assert_eq!(indices(&result["selected_indices"]), truth[0].1.iter().collect::<Vec<_>>());
    assert_eq!(result["settings"]["penalty"], 1.5);
    let penalty = 1.5 * truth[0].1.len() as f64;
    assert!(out.contains(&format!("{penalty} of it penalty")) && out.contains("rules      none"), "{out}");

    let prices = [4.0, 4.0, 4.0, 0.0, 0.1, 0.5, 9.0];
    scratch.file("p.csv", "name,penalty\n/^f[1-2]$/,4\nf4,0\nf5,0.1\nf6,0.5\nf7,9\n*,4\n");
    let truth = by_brute_force(&scratch, "d.csv", 3, |j| prices[j]);
    let (_, result) = run(&["--penalty", "p.csv", "--max-features", "3"]);
    close(number(&result["objective"]), truth[0].0);
    assert_eq!(result["settings"]["penalty"]["f5"], 0.1);
}

#[test]
fn rules_are_obeyed_and_shown() {
    let scratch = Scratch::new("exact_rules");
    scratch.file("d.csv", small());
    let rules = "max_features = 4\nbudget = 6\nforbid = [\"f2\"]\n[costs]\nf1 = 2.5\nf2 = 1\nf3 = 1\nf4 = 1\nf5 = 1\nf6 = 1\nf7 = 1\n\
                 [[rule]]\nrequire = [\"f7\"]\n[[rule]]\nat_most = 1\nof = [\"f3\", \"f4\"]\n[[rule]]\nimplies = [\"f1\", \"f5\"]\n";
    scratch.file("r.toml", rules);
    let arguments = ["select", "d.csv", "-m", "exact", "--rules", "r.toml", "--json", "r.json", "--scale", "none"];
    let ran = scratch.run(&arguments).code(0);
    for words in ["at most 4; require f7; forbid f2; f1 needs f5; at most 1 of f3, f4; budget ", " of 6\n"] {
        assert!(ran.out.contains(words), "`{words}` is not in: {}", ran.out);
    }
    let cost = |s: &Subset| s.iter().map(|j| if j == 0 { 2.5 } else { 1.0 }).sum::<f64>();
    let allowed = |s: &Subset| {
        let has = |j: usize| s.contains(j - 1);
        has(7) && !has(2) && !(has(3) && has(4)) && (!has(1) || has(5)) && cost(s) <= 6.0
    };
    let truth = by_brute_force(&scratch, "d.csv", 4, |_| 0.0);
    let best = truth.iter().find(|t| allowed(&t.1)).unwrap();
    let result = scratch.json("r.json");
    close(number(&result["objective"]), best.0);
    assert_eq!(indices(&result["selected_indices"]), best.1.iter().collect::<Vec<_>>());
    assert!(ran.out.contains(&format!("budget {} of 6\n", cost(&best.1))), "{}", ran.out);
}

#[test]
fn limits_end_with_a_subset_and_exit_3() {
    let scratch = Scratch::new("exact_limits");
    // More than a start can prove.
    scratch.file("d.csv", generated(60, 16, &["no", "yes"], 4));
    for (option, value, status) in [("--node-limit", "0", "node_limit"), ("--time-limit", "0s", "time_limit")] {
        let arguments = ["select", "d.csv", "-m", "exact", "--max-features", "6", option, value, "--json", "r.json"];
        let ran = scratch.run(&arguments).code(3);
        assert!(ran.out.contains(status) && ran.err.contains("best subset so far"), "{} {}", ran.out, ran.err);
        let result = scratch.json("r.json");
        assert_eq!(result["status"], status);
        let size = result["selected"].as_array().unwrap().len();
        assert!((1..=6).contains(&size), "{size} features");
        assert!(result["model"]["weights"].is_object());
        assert!(result["bound"].is_null() || number(&result["bound"]) <= number(&result["objective"]));
    }
}

#[test]
fn a_path_has_a_result_for_every_size() {
    let scratch = Scratch::new("path");
    scratch.file("d.csv", small());
    let truth = by_brute_force(&scratch, "d.csv", 7, |_| 0.0);
    let best = |k: usize| truth.iter().find(|t| t.1.len() <= k).unwrap();
    let path = |method: &str, sizes: &str, extra: &[&str]| {
        let base = ["path", "d.csv", "-m", method, "--max-features", sizes, "--scale", "none", "--json", "p.json"];
        let ran = scratch.run(&[&base[..], &["--trace", "t.jsonl"], extra].concat()).code(0);
        let file = scratch.json("p.json");
        assert_eq!(file["schema"], 1);
        (ran.out, file["path"].as_array().unwrap().clone())
    };
    let (out, results) = path("exact", "1..7:2,2", &[]);
    assert_eq!(results.len(), 5);
    for (result, k) in results.iter().zip([1, 2, 3, 5, 7]) {
        assert_eq!((&result["status"], &result["settings"]["max_features"]), (&"optimal".into(), &k.into()));
        close(number(&result["objective"]), best(k).0);
        assert!(number(&result["bound"]) <= best(k).0 * (1.0 + 1e-6) && number(&result["gap"]) <= 1e-4);
        assert_eq!(indices(&result["model"]["feature_indices"]), indices(&result["selected_indices"]));
    }
    assert!(out.contains("size  status") && out.contains("bound") && out.contains("sizes 1..7:2,2"), "{out}");
    assert_eq!(scratch.read("t.jsonl").matches("\"event\":\"size\"").count(), 5);

    let alone = |k: &str| {
        let select = ["select", "d.csv", "-m", "rfe", "--max-features", k, "--scale", "none", "--json", "r.json"];
        scratch.run(&select).code(0);
        scratch.json("r.json")
    };
    let (out, results) = path("rfe", "1,2,5", &[]);
    assert!(!out.contains("bound") && out.contains("\n   2  completed") && out.contains("  + f"), "{out}");
    for (result, k) in results.iter().zip(["1", "2", "5"]) {
        let alone = alone(k);
        assert_eq!(result["selected"], alone["selected"]);
        close(number(&result["objective"]), number(&alone["objective"]));
        assert_eq!(result["ranking"].as_array().unwrap().len(), 7);
    }
    let (_, results) = path("info-gain", "2..3", &[]);
    assert_eq!(results.iter().map(|r| r["selected"].as_array().unwrap().len()).collect::<Vec<_>>(), [2, 3]);

    // A size too small for the other rules is a result of its own.
    let (out, results) = path("exact", "1..3", &["--require", "f6,f7"]);
    assert_eq!((&results[0]["status"], &results[0]["objective"]), (&"infeasible".into(), &Value::Null));
    assert!(results[0]["model"].is_null() && results[2]["status"] == "optimal");
    assert!(out.contains("infeasible") && out.contains("require f6, f7"), "{out}");
}

#[test]
fn the_time_of_a_path_is_for_all_of_it() {
    let scratch = Scratch::new("path_time");
    scratch.file("d.csv", generated(80, 16, &["no", "yes"], 4));
    let base = ["path", "d.csv", "-m", "exact", "--max-features", "5..8", "--json", "p.json"];
    for (limit, status) in [(["--time-limit", "0s"], "time_limit"), (["--node-limit", "0"], "node_limit")] {
        let ran = scratch.run(&[&base[..], &limit].concat()).code(3);
        assert!(ran.err.contains("4 sizes stopped at a limit"), "{}", ran.err);
        let results = scratch.json("p.json")["path"].as_array().unwrap().clone();
        assert_eq!(results.len(), 4);
        for result in results {
            assert_eq!(result["status"], status);
            assert!(!result["selected"].as_array().unwrap().is_empty());
        }
    }
}

#[test]
fn a_certificate_says_how_far_the_best_is() {
    let scratch = Scratch::new("certify");
    scratch.file("d.csv", small());
    let truth = by_brute_force(&scratch, "d.csv", 7, |_| 0.0);
    let run = |extra: &[&str]| {
        let base = ["select", "d.csv", "-m", "rfe", "--scale", "none", "--json", "r.json"];
        let ran = scratch.run(&[&base[..], extra].concat()).code(0);
        (ran.out, scratch.json("r.json"))
    };
    // Forced to a poor subset by the rules: the certificate obeys them too.
    let poor = ["--max-features", "2", "--require", "f6"];
    let (plain, without) = run(&poor);
    assert!(without.get("certificate").is_none() && !plain.contains("certificate"));
    let (out, result) = run(&[&poor[..], &["--certify"]].concat());
    assert_eq!(result["selected"], without["selected"], "the certificate never changes the subset");
    let certificate = &result["certificate"];
    let best = truth.iter().find(|t| t.1.len() <= 2 && t.1.contains(5)).unwrap();
    assert_eq!((&certificate["status"], &certificate["max_features"]), (&"optimal".into(), &2.into()));
    close(number(&certificate["objective"]), number(&result["objective"]));
    close(number(&certificate["best"]["objective"]), best.0);
    assert_eq!(indices(&certificate["best"]["selected_indices"]), best.1.iter().collect::<Vec<_>>());
    let (bound, objective) = (number(&certificate["bound"]), number(&certificate["objective"]));
    assert!(bound <= best.0 * (1.0 + 1e-6));
    assert!((number(&certificate["objective_gap"]) - (objective - bound) / objective).abs() < 1e-12);
    let gain = number(&certificate["baseline"]) - bound;
    assert!((number(&certificate["gap"]) - (objective - bound) / gain).abs() < 1e-12);
    let said = out.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_best = certificate["best"]["selected_indices"] == result["selected_indices"];
    let words = if is_best {
        "is the best allowed one of at most 2 features"
    } else {
        "no allowed subset of at most 2 features is better than"
    };
    assert!(said.contains(words), "{out}");

    // info-gain keeps other features than the best, and its own objective.
    let arguments =
        ["select", "d.csv", "-m", "info-gain", "--binning", "3", "--max-features", "1", "--forbid", "f1,f2,f3"];
    let ran = scratch.run(&[&arguments[..], &["--scale", "none", "--certify", "--json", "r.json"]].concat()).code(0);
    let result = scratch.json("r.json");
    let (found, certificate) = (indices(&result["selected_indices"]), &result["certificate"]);
    let own = truth.iter().find(|t| t.1.iter().eq(found.iter().copied())).unwrap();
    let best = truth.iter().find(|t| t.1.len() == 1 && t.1.iter().all(|j| j > 2)).unwrap();
    close(number(&certificate["objective"]), own.0);
    close(number(&certificate["best"]["objective"]), best.0);
    let text = ran.out.replace('\n', " ");
    if own.1 == best.1 {
        assert!(text.contains("is the best allowed one of at most 1 feature"), "{text}");
    } else {
        assert!(text.contains(" % of what they can gain (a better one: f"), "{text}");
    }
}

#[test]
fn a_certificate_ends_at_its_own_limit() {
    let scratch = Scratch::new("certify_limit");
    scratch.file("d.csv", generated(60, 16, &["no", "yes"], 4));
    let base = ["select", "d.csv", "-m", "rfe", "--max-features", "6", "--json", "r.json"];
    // The selection is finished, so that the exit code is 0 whatever the certificate came to.
    for (extra, status) in [(&["--certify=0s"][..], "time_limit"), (&["--certify", "--node-limit", "0"], "node_limit")]
    {
        let ran = scratch.run(&[&base[..], extra].concat()).code(0);
        let result = scratch.json("r.json");
        assert_eq!((&result["status"], &result["certificate"]["status"]), (&"completed".into(), &status.into()));
        assert!(ran.out.contains("certificate: "), "{}", ran.out);
    }
    // With a path: one for each size, in the table and in the file.
    let base = ["path", "d.csv", "-m", "rfe", "--max-features", "1..3", "--json", "p.json"];
    let ran = scratch.run(&[&base[..], &["--certify=5s"]].concat()).code(0);
    assert!(ran.out.contains("  best  "), "{}", ran.out);
    let file = scratch.json("p.json");
    for result in file["path"].as_array().unwrap() {
        let certificate = &result["certificate"];
        assert!(number(&certificate["best"]["objective"]) <= number(&certificate["objective"]));
        assert!(number(&certificate["bound"]) <= number(&certificate["best"]["objective"]));
    }
}

#[test]
fn values_that_cannot_be_are_refused() {
    let scratch = Scratch::new("exact_refused");
    scratch.file("d.csv", generated(20, 4, &["no", "yes"], 4)).file("three.csv", generated(30, 4, &["a", "b", "c"], 5));
    scratch.file("less.csv", "f1,1\nf2,2\n").file("minus.csv", "f1,1\nf2,2\nf3,-3\nf4,0\n").file("other.csv", "g,1\n");
    let files = scratch.files();
    let exact = ["select", "d.csv", "-m", "exact", "--max-features", "2"];
    let path = |sizes| ["path", "d.csv", "-m", "exact", "--max-features", sizes];
    let rfe = ["select", "d.csv", "-m", "rfe", "--max-features", "2"];
    for (base, extra, words) in [
        (&exact[..], &["--gap", "-1"][..], &["--gap is -1", "0 or more"][..]),
        (&exact, &["--gap", "nan"], &["--gap is nan"]),
        (&exact, &["--node-limit", "few"], &["--node-limit", "few"]),
        (&exact, &["--penalty", "nan"], &["--penalty is nan", "0 or more"]),
        (&exact, &["--penalty", "-0.5"], &["--penalty is -0.5", "0 or more"]),
        (&exact, &["--penalty", "absent.csv"], &["--penalty is absent.csv", "no such file"]),
        (&exact, &["--penalty", "less.csv"], &["less.csv: no penalty for f3, f4", "an entry \"*\""]),
        (&exact, &["--penalty", "minus.csv"], &["minus.csv: the penalty of f3 is -3", "0 or more"]),
        (&exact, &["--penalty", "other.csv"], &["other.csv: there is no feature \"g\""]),
        (&exact, &["--solutions", "0"], &["--solutions is 0", "at least 1"]),
        (&exact, &["--certify"], &["--certify", "exact does that itself"]),
        (&exact, &["--step", "2"], &["--step is an option of rfe, bit-flip and attribute-flip, not of exact"]),
        (&["select", "d.csv", "-m", "exact"], &[], &["--max-features K", "--penalty"]),
        (&["select", "d.csv", "-m", "exact", "--max-features", "1..3"], &[], &["1..3", "one size", "fewest path"]),
        (
            &["select", "three.csv", "-m", "milp1", "--max-features", "2"],
            &[],
            &["milp1 needs two classes", "3 (a, b, c)"],
        ),
        (&rfe, &["--penalty", "1"], &["--penalty is an option of exact, mbp, lagrangian and gbd, not of rfe"]),
        (&rfe, &["--solutions", "2"], &["--solutions is an option of exact"]),
        (&rfe, &["--gap", "0.1"], &["--gap is an option of exact, kta, ", "not of rfe", "--certify"]),
        (&rfe, &["--node-limit", "5"], &["--node-limit is an option of exact", "not of rfe", "--certify"]),
        (&rfe, &["--certify=soon"], &["--certify", "\"soon\"", "60s"]),
        (&path("5..2"), &[], &["--max-features is 5..2", "2..5"]),
        (&path("0..2"), &[], &["--max-features is 0..2", "at least 1"]),
        (&path("1,x"), &[], &["--max-features is 1,x", "1..20"]),
        (&path("1..5"), &[], &["max-features is 5", "between 1 and", "4"]),
        (&path("1..3"), &["--require", "f1,f2,f3,f4"], &["max-features is 3 but 4", "at least 4"]),
        (&path("1..3"), &["--trace", "-", "--json", "-"], &["standard output"]),
        (&["path", "d.csv", "-m", "rfe"], &[], &["--max-features 1..20"]),
    ] {
        let outputs = ["--json", "out.json"];
        let outputs = if extra.contains(&"--json") { &[][..] } else { &outputs };
        let ran = scratch.run(&[base, extra, outputs].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "{base:?} {extra:?}: `{word}` is not in: {}", ran.err);
        }
        assert_eq!((ran.out.as_str(), ran.err.matches("fewest: ").count()), ("", 1), "{}", ran.err);
    }
    assert_eq!(scratch.files(), files, "nothing may be left behind");
}
