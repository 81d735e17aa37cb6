//! `fewest markers`: its JSON, page, model and tables; rules, groups, limits, refusals; sparse.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::{Noise, Ran, Scratch};

const CLASSES: [&str; 3] = ["B cell", "NK", "T cell"];
/// Names of the features; g1 to g6 and both MT- are high in one class each, two or more of each
/// class.
const FEATURES: [&str; 10] = ["g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8", "MT-1", "MT-2"];

/// 90 cells of 6 donors, of which half of the values are 0, as csv and as svmlight.
fn files(scratch: &Scratch) {
    let mut noise = Noise(5);
    let (mut table, mut sparse) = (FEATURES.join(",") + ",donor,kind\n", String::new());
    for i in 0..90 {
        let class = [0, 1, 2, 2, 0, 2][i % 6];
        let _ = write!(sparse, "{class}");
        for j in 0..FEATURES.len() {
            let high = j != 6 && j != 7 && j % 3 == class;
            let raw = noise.next() + if high { 1.4 - j as f64 / 20.0 } else { 0.0 };
            let value = if raw > 0.3 { (raw * 1e4).round() / 1e4 } else { 0.0 };
            let _ = write!(table, "{value},");
            if value > 0.0 {
                let _ = write!(sparse, " {}:{value}", j + 1);
            }
        }
        let _ = writeln!(table, "d{},{}", i / 15, CLASSES[class]);
        sparse.push('\n');
    }
    let plain: String = table.lines().fold(String::new(), |out, line| {
        let cells: Vec<&str> = line.split(',').collect();
        out + &[&cells[..10], &cells[11..]].concat().join(",") + "\n"
    });
    scratch.file("d.csv", plain).file("donors.csv", table).file("d.svm", sparse);
}

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    files(&scratch);
    scratch
}

/// `fewest markers d.csv --max-features 4` and more.
fn ran(scratch: &Scratch, more: &[&str]) -> Ran {
    scratch.run(&[&["markers", "d.csv", "--max-features", "4"], more].concat())
}

/// The JSON of a run.
fn result(scratch: &Scratch, more: &[&str]) -> Value {
    let ran = ran(scratch, &[&["--json", "-"], more].concat()).code(0);
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().expect("text")).collect()
}

/// The result without times, threads and the command.
fn timeless(mut result: Value) -> Value {
    for key in ["/seconds", "/command", "/panel/seconds", "/settings/threads"] {
        *result.pointer_mut(key).expect(key) = Value::Null;
    }
    result
}

#[test]
fn the_tables_and_the_json_hold_panel_bound_and_judgement() {
    let scratch = scratch("markers_whole");
    let said = ran(&scratch, &[]).code(0).out;
    let found = result(&scratch, &[]);
    assert_eq!(
        (&found["kind"], &found["schema"], &found["status"]),
        (&json!("markers"), &json!(1), &json!("completed"))
    );
    let panel = &found["panel"];
    let markers = panel["markers"].as_array().expect("markers");
    assert!((1..=4).contains(&markers.len()), "{panel}");
    for (at, marker) in markers.iter().enumerate() {
        assert_eq!((&marker["rank"], &marker["feature"]), (&json!(at + 1), &panel["features"][at]));
        for key in ["mean", "share", "weight"] {
            let named = marker[key].as_object().expect("an entry for each class");
            assert_eq!(named.keys().collect::<Vec<_>>(), CLASSES, "{key}: {marker}");
        }
        for pair in marker["tells_apart"].as_array().expect("pairs") {
            assert!(pair["high"].is_string() && pair["low"].is_string() && number(&pair["share"]) > 0.0, "{pair}");
        }
        let name = marker["feature"].as_str().expect("a name");
        assert!(said.contains(name) && !["g7", "g8"].contains(&name), "{name}: {said}");
    }
    let (objective, bound) = (number(&panel["objective"]), number(&panel["bound"]));
    assert!(bound <= objective && objective < number(&panel["baseline"]), "{panel}");
    // The best panel is within 1 %, and the one taken within 1 % of the best.
    assert!(number(&panel["gap"]) <= 0.02, "{panel}");
    let f1 = number(&found["macro_f1"]["mean"]);
    assert!(f1 > 0.8, "{}", found["macro_f1"]);
    for part in [&format!("{f1:.3}"), "macro F1", "proven", "samples that took no part", "one-vs-one", "B cell"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(found["classes"], json!({"0": CLASSES[0], "1": CLASSES[1], "2": CLASSES[2]}));
    assert_eq!(found["class_counts"], json!({"0": 30, "1": 15, "2": 45}));
    assert_eq!(found["by_class"].as_array().map(Vec::len), Some(3));
    let held: f64 = found["by_class"].as_array().unwrap().iter().map(|class| number(&class["samples"])).sum();
    assert_eq!(held, 90.0);
    assert!(found["confused"].is_array() && found["required"].is_null());
    // C = class cost times k / W, the weights of balanced classes add to 90.
    assert_eq!(panel["class_cost"], json!(0.3));
    assert!((number(&panel["cost"]) - 0.3 * 3.0 / 90.0).abs() < 1e-12, "{panel}");
    for (key, value) in [
        ("max_features", json!(4)),
        ("folds", json!(3)),
        ("loss", json!("squared-hinge")),
        ("class_weight", json!("balanced")),
        ("scale", json!("standard")),
        ("sample", json!(20_000)),
        ("expression", json!([null, null])),
        ("slack", json!(0.01)),
        ("halves", json!(20)),
        ("robust", json!(0)),
    ] {
        assert_eq!(found["settings"][key], value, "{key}");
    }
}

#[test]
fn the_page_of_the_run_is_that_of_its_json() {
    let scratch = scratch("markers_page");
    ran(&scratch, &["--json", "markers.json", "--report", "a.html", "--require", "g7"]).code(0);
    scratch.run(&["report", "markers.json", "-o", "b.html"]).code(0);
    let page = scratch.read("a.html");
    assert_eq!(page, scratch.read("b.html"));
    for part in ["markers of 3 classes", "NK", "g7", "Macro F1", "replaceable by"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_model_classifies() {
    let scratch = scratch("markers_model");
    ran(&scratch, &["--model", "m.json", "--json", "r.json"]).code(0);
    scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
    let (found, predicted) = (scratch.json("r.json"), scratch.json("p.json"));
    assert!(number(&predicted["accuracy"]) > 0.85, "{}", predicted["accuracy"]);
    let (mut chosen, mut used) = (texts(&found["panel"]["features"]), texts(&predicted["selected"]));
    chosen.sort_unstable();
    used.sort_unstable();
    assert_eq!(chosen, used);
    assert_eq!(scratch.read("p.csv").lines().count(), 91);
}

#[test]
fn the_proof_is_of_the_panel_and_its_bound() {
    let scratch = scratch("markers_proof");
    let question = "markers donors.csv --target kind --groups donor --max-features 3 --per-class 1 --gap 0.02";
    let words: Vec<&str> = question.split(' ').collect();
    scratch.run(&[&words[..], &["--proof", "m.proof", "--json", "r.json"]].concat()).code(0);
    let found = scratch.json("r.json");
    let panel = &found["panel"];
    assert_eq!((&panel["proof"], &found["status"]), (&json!("m.proof"), &json!("completed")));
    scratch.run(&["verify", "m.proof", "donors.csv", "--json", "v.json"]).code(0);
    let verdict = scratch.json("v.json");
    let mut features = texts(&panel["features"]);
    features.sort_unstable();
    assert_eq!(texts(&verdict["selected"]), features);
    // What the file proves is never less than what the result says.
    let [proven, said] = [&verdict, panel].map(|of| number(&of["bound"]));
    assert!(proven >= said - 1e-9 * said.abs() && number(&verdict["gap"]) <= 0.02, "{proven} {said}");
    assert!((number(&verdict["objective"]) - number(&panel["objective"])).abs() <= 1e-6 * number(&panel["objective"]));
    // Samples of another file are others.
    scratch.file("other.csv", scratch.read("donors.csv").replacen("0,", "0.5,", 1));
    scratch.run(&["verify", "m.proof", "other.csv"]).code(1);
    // Time that is up leaves no panel and no proof, and says so.
    let late = ran(&scratch, &["--time-limit", "0s", "--proof", "late.proof"]).code(3);
    assert!(late.err.contains("no proof was written") && !scratch.path("late.proof").exists(), "{}", late.err);
}

#[test]
fn rules_are_kept() {
    let scratch = scratch("markers_rules");
    let free = result(&scratch, &["--forbid", "MT-*"]);
    assert!(texts(&free["panel"]["features"]).iter().all(|name| name.starts_with('g')), "{}", free["panel"]);
    for fold in free["folds"].as_array().expect("folds") {
        assert!(texts(&fold["features"]).iter().all(|name| name.starts_with('g')), "{fold}");
    }

    let each = result(&scratch, &["--per-class", "1"]);
    let highest: Vec<&Value> = each["panel"]["markers"].as_array().unwrap().iter().map(|m| &m["highest"]).collect();
    assert!(CLASSES.iter().all(|class| highest.contains(&&json!(class))), "{highest:?}");
    assert_eq!(each["settings"]["per_class"], 1);

    let largest = |marker: &Value| number(&marker["mean"][marker["highest"].as_str().unwrap()]);
    let most = each["panel"]["markers"].as_array().unwrap().iter().map(largest).fold(0.0, f64::max);
    let limit = format!("..{}", 0.99 * most);
    let dim = result(&scratch, &["--expression", &limit]);
    for marker in dim["panel"]["markers"].as_array().unwrap() {
        assert!(largest(marker) <= 0.99 * most, "{marker}");
    }
    assert_eq!(dim["settings"]["expression"], json!([null, 0.99 * most]));

    let required = result(&scratch, &["--require", "g7,g8"]);
    assert_eq!(required["settings"]["require"], json!(["g7", "g8"]));
    let names = texts(&required["panel"]["features"]);
    assert!(names.contains(&"g7") && names.contains(&"g8"), "{names:?}");
    let alone = &required["required"];
    assert_eq!(texts(&alone["features"]), ["g7", "g8"]);
    let whole = number(&required["macro_f1"]["mean"]) - number(&alone["macro_f1"]["mean"]);
    assert!(number(&alone["difference"]["mean"]) > 0.2, "{alone}");
    assert!((number(&alone["difference"]["mean"]) - whole).abs() < 1e-9, "{alone}");
    let said = ran(&scratch, &["--require", "g7,g8"]).code(0).out;
    assert!(said.contains("required alone") && said.contains("the others bring"), "{said}");
}

#[test]
fn groups_stay_together() {
    let scratch = scratch("markers_groups");
    let base = ["markers", "donors.csv", "--target", "kind", "--max-features", "3", "--groups", "donor"];
    let said = scratch.run(&[&base[..], &["--json", "r.json", "--report", "r.html"]].concat()).code(0);
    assert!(said.out.contains("samples of one donor stay together (6 groups)"), "{}", said.out);
    let found = scratch.json("r.json");
    assert_eq!(found["settings"]["groups"], json!({"column": "donor", "count": 6}));
    assert_eq!(found["n_features"], 10);
    // Donors have 15 cells each.
    for fold in found["folds"].as_array().expect("folds") {
        assert_eq!(fold["samples"].as_u64().expect("a count") % 15, 0, "{fold}");
    }
    assert!(scratch.read("r.html").contains("samples of one donor stay together"));
}

#[test]
fn what_is_wrong_is_named_with_a_remedy() {
    let scratch = scratch("markers_refused");
    let mut lonely = scratch.read("d.csv");
    lonely += "1,0,0,0,0,0,0,0,0,0,rare\n";
    scratch.file("lonely.csv", lonely).file("one.csv", "x,y\n1,a\n2,a\n");
    scratch.file("bounds.csv", "name,lower,upper\ng1,0,\n");
    let sized = ["--max-features", "4"];
    for (words, needles) in [
        (&["d.csv"][..], &["--max-features K"][..]),
        (&["d.csv", "--expression", "5..1"], &["--expression", "LOW..HIGH", "smaller one first"]),
        (&["d.csv", "--sign", "g1:+"], &["bounds on weights", "leave them out"]),
        (&["d.csv", "--weight-bounds", "bounds.csv"], &["bounds on weights", "leave them out"]),
        (&["lonely.csv"], &["class rare", "one sample", "--classes"]),
        (&["one.csv"], &["two classes"]),
        (&["d.csv", "--require", "g99"], &["no feature \"g99\"", "--require"]),
        (&["d.csv", "--per-class", "2"], &["--per-class is 2", "at most 1", "3 classes share 4 markers"]),
        (
            &["d.csv", "--per-class", "9", "--max-features", "30"],
            &["--per-class is 9", "class B cell", "ask for fewer"],
        ),
        (&["d.csv", "--folds", "1"], &["--folds"]),
        (
            &["d.csv", "--require", "g8", "--expression", "1.."],
            &["g8 is required", "outside --expression 1..", "widen"],
        ),
        (&["d.csv", "--expression", "100.."], &["--expression is 100..", "largest means of a class are from 0."]),
        (&["d.csv", "--json", "d.csv"], &["d.csv"]),
    ] {
        let with: Vec<&str> = if words == ["d.csv"] || words.contains(&"--max-features") {
            [&["markers"], words].concat()
        } else {
            [&["markers"], words, &sized].concat()
        };
        let ran = scratch.run(&with).code(2);
        for needle in needles {
            assert!(ran.err.contains(needle) && ran.out.is_empty(), "{words:?}: `{needle}` is not in: {}", ran.err);
        }
    }
}

#[test]
fn a_panel_is_a_table_for_those_who_make_it() {
    let scratch = scratch("markers_table");
    let found = {
        ran(&scratch, &["--panel", "panel.csv", "--json", "r.json", "--require", "MT-1"]).code(0);
        scratch.json("r.json")
    };
    let table = scratch.read("panel.csv");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "gene,rank,type,role,recurs,replaceable_by,price");
    let markers = found["panel"]["markers"].as_array().expect("markers");
    assert_eq!(lines.len(), 1 + markers.len());
    for (line, marker) in lines[1..].iter().zip(markers) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(
            (cells.len(), json!(cells[0]), json!(cells[2])),
            (7, marker["feature"].clone(), marker["highest"].clone())
        );
        assert_eq!(cells[3] == "required", cells[0] == "MT-1", "{line}");
        assert_eq!(cells[4], format!("{:.4}", number(&marker["recurs"])));
        assert_eq!(cells[5], marker["replaceable_by"][0]["feature"].as_str().unwrap_or_default());
    }
    // The table is a list of features, and so is the result.
    for list in ["panel.csv", "r.json"] {
        scratch.run(&["fit", "d.csv", "--target", "kind", "--features", list, "--json", "fit.json"]).code(0);
        let mut names = texts(&found["panel"]["features"]);
        names.sort_by_key(|name| FEATURES.iter().position(|known| known == name));
        let model = &scratch.json("fit.json")["model"];
        assert!(names.iter().all(|name| model.to_string().contains(&format!("\"{name}\""))), "{model}");
        assert!(!model.to_string().contains("\"g7\""), "{model}");
    }
}

#[test]
fn the_best_panel_is_proven_and_others_are_taken_within_the_slack() {
    let scratch = scratch("markers_slack");
    let best = result(&scratch, &["--slack", "0"]);
    let taken = result(&scratch, &["--slack", "20%"]);
    let of = |found: &Value, key: &str| number(&found["panel"][key]);
    let most = of(&best, "objective") + 0.2 * (of(&best, "baseline") - of(&best, "objective"));
    assert!(of(&taken, "objective") <= most * (1.0 + 1e-3), "{most} {}", of(&taken, "objective"));
    let recurs = |found: &Value| -> f64 {
        found["panel"]["markers"].as_array().unwrap().iter().map(|marker| number(&marker["recurs"])).sum()
    };
    assert!(recurs(&taken) >= recurs(&best));
    let none = result(&scratch, &["--halves", "0"]);
    assert_eq!(
        (&none["panel"]["features"], &none["panel"]["markers"][0]["recurs"]),
        (&best["panel"]["features"], &Value::Null)
    );
    let refused = ran(&scratch, &["--proof", "x.proof", "--slack", "1%"]).code(2);
    assert!(refused.err.contains("leave one of them out"), "{}", refused.err);
    assert!(ran(&scratch, &["--proof", "x.proof", "--robust", "1"]).code(2).err.contains("--robust takes another"));
    assert!(ran(&scratch, &["--halves", "5"]).code(2).err.contains("even"));
    let few = scratch.run(&["markers", "d.csv", "--max-features", "2", "--robust", "2"]).code(2);
    assert!(few.err.contains("--robust 2"), "{}", few.err);
    let robust = result(&scratch, &["--robust", "1"]);
    let left = &robust["without_one"];
    assert!(number(&left["worst"]["mean"]) <= number(&left["mean"]["mean"]), "{left}");
}

#[test]
fn lists_are_compared_and_their_page_is_that_of_the_json() {
    let scratch = scratch("compare");
    scratch.file("bad.txt", "g7\ng8\nnot-there\n");
    ran(&scratch, &["--json", "ours.json"]).code(0);
    let words = [
        "compare",
        "d.csv",
        "--target",
        "kind",
        "ours.json",
        "bad.txt",
        "one=g1",
        "--json",
        "c.json",
        "--report",
        "a.html",
    ];
    let said = scratch.run(&words).code(0);
    assert!(said.err.contains("bad: 1 of 3 features are not in the data"), "{}", said.err);
    let found = scratch.json("c.json");
    let lists = found["lists"].as_array().expect("lists");
    let name = |at: usize| lists[at]["name"].as_str().unwrap();
    assert_eq!((found["kind"].as_str(), [name(0), name(1), name(2)]), (Some("comparison"), ["ours", "bad", "one"]));
    assert_eq!((&lists[1]["missing"], &lists[0]["difference"]), (&json!(["not-there"]), &Value::Null));
    assert!(number(&lists[1]["difference"]["mean"]) < 0.0 && number(&lists[0]["gap"]) < number(&lists[1]["gap"]));
    let markers = scratch.json("ours.json");
    assert!((number(&lists[0]["objective"]) - number(&markers["panel"]["objective"])).abs() < 1e-6);
    assert_eq!(found["common"].as_array().map(Vec::len), Some(3));
    for part in ["macro F1", "NMI of clusters", "In common", "argest macro F1: ours", "2, 1 missing"] {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    scratch.run(&["report", "c.json", "-o", "b.html"]).code(0);
    assert_eq!(scratch.read("a.html"), scratch.read("b.html"));
    let again = |threads: &str| {
        scratch.run(&[&words[..7], &["--threads", threads, "--json", "t.json"]].concat()).code(0);
        let mut found = scratch.json("t.json");
        for key in ["seconds", "command", "settings"] {
            found[key] = Value::Null;
        }
        found
    };
    assert_eq!(again("1"), again("2"));
    for (lists, why) in
        [(["g1,g2", "x=none"], "none"), (["g1,g1", "g2"], "twice"), (["a=g1", "a=g2"], "two lists are named a")]
    {
        let said = scratch.run(&["compare", "d.csv", "--target", "kind", lists[0], lists[1]]).code(2);
        assert!(said.err.contains(why), "{why}: {}", said.err);
    }
    scratch.run(&[&words[..7], &["--time-limit", "0s", "--json", "t.json"]].concat()).code(3);
    assert_eq!(scratch.json("t.json")["lists"][0]["macro_f1"], Value::Null);
}

#[test]
fn a_time_limit_leaves_what_is_known() {
    let scratch = scratch("markers_limits");
    let words = ["--json", "r.json", "--report", "r.html", "--model", "m.json"];
    let said = ran(&scratch, &[&["--time-limit", "0s"], &words[..]].concat()).code(3);
    assert!(said.err.contains("stopped at the time limit; there is no panel yet"), "{}", said.err);
    assert!(said.err.contains("no model was written"), "{}", said.err);
    assert!(said.out.contains("3 of kind") && said.out.contains("time_limit"), "{}", said.out);
    let found = scratch.json("r.json");
    assert_eq!((&found["status"], &found["panel"]), (&json!("time_limit"), &Value::Null));
    let folds = found["settings"]["folds"].as_u64().expect("a number");
    assert_eq!(found["effort"], json!({"folds_left": folds}));
    assert_eq!((&found["macro_f1"], &found["folds"]), (&Value::Null, &json!([])), "no fold is none that time cut");
    assert_eq!((&found["folds"], &found["macro_f1"]), (&json!([]), &Value::Null));
    scratch.run(&["report", "r.json", "-o", "again.html"]).code(0);
    assert_eq!(scratch.read("r.html"), scratch.read("again.html"));
    assert!(scratch.read("r.html").contains("No fold was done") && !scratch.path("m.json").exists());
    // A panel so far has its bound.
    ran(&scratch, &["--time-limit", "3ms", "--json", "r.json"]).code(3);
    let panel = &scratch.json("r.json")["panel"];
    assert!(panel.is_null() || panel["bound"].as_f64() <= panel["objective"].as_f64(), "{panel}");
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let scratch = scratch("markers_threads");
    let one = timeless(result(&scratch, &["--threads", "1"]));
    assert_eq!(one, timeless(result(&scratch, &["--threads", "2"])));
    assert_ne!(one["confusion"], timeless(result(&scratch, &["--seed", "7"]))["confusion"]);
}

#[test]
fn sparse_data_give_the_panel_of_dense_data() {
    let scratch = scratch("markers_sparse");
    let dense = result(&scratch, &["--cost", "0.05"]);
    let run = ["markers", "d.svm", "--max-features", "4", "--cost", "0.05", "--scale", "standard", "--json", "r.json"];
    let said = scratch.run(&run).code(0).out;
    assert!(said.contains("not centred"), "{said}");
    let sparse = scratch.json("r.json");
    let index = |of: &Value| -> Vec<Value> {
        of["panel"]["markers"].as_array().unwrap().iter().map(|marker| marker["index"].clone()).collect()
    };
    assert_eq!(index(&dense), index(&sparse));
    for key in ["objective", "baseline"] {
        let (a, b) = (number(&dense["panel"][key]), number(&sparse["panel"][key]));
        assert!((a - b).abs() <= 1e-9 * a, "{key}: {a} {b}");
    }
    assert_eq!((&dense["confusion"], &dense["panel"]["class_cost"]), (&sparse["confusion"], &Value::Null));
}

/// Counts of 240 cells: 8 genes, columns of the cells, four types of which two are of one lineage.
fn counts() -> String {
    let mut noise = Noise(3);
    let mut text = "g1,g2,g3,g4,g5,g6,g7,g8,donor,batch,lineage,kind\n".to_owned();
    for i in 0..240 {
        let class = [0, 1, 2, 3, 2, 1][i % 6];
        for j in 0..8 {
            let high = if j % 4 == class || j == 4 && class < 2 { 6.0 } else { 1.0 };
            let _ = write!(text, "{},", ((1.0 + noise.next()) * high).round().max(0.0));
        }
        let donor = i / 40;
        let lineage = ["lymphoid", "lymphoid", "myeloid", "other"][class];
        let _ = writeln!(text, "d{donor},b{},{lineage},{}", donor % 2, ["B", "T", "mono", "stem"][class]);
    }
    text
}

#[test]
fn cells_of_a_donor_are_summed_up_before_totals_and_logarithms() {
    let scratch = Scratch::new("markers_sums");
    scratch.file("c.csv", counts()).file("bad.csv", counts().replacen("kind\n", "kind\n0.5", 1));
    let own = ["markers", "c.csv", "--max-features", "3", "--drop", "batch,lineage", "--sum-by", "donor"];
    let counted = ["--normalize-total", "1000", "--log1p"];
    let more = ["--json", "r.json", "--report", "r.html", "--model", "m.json", "--proof", "x.proof"];
    scratch.run(&[&own[..], &counted, &more].concat()).code(0);
    let found = scratch.json("r.json");
    assert_eq!((&found["n_samples"], &found["n_features"]), (&json!(24), &json!(8)));
    assert_eq!(found["summed"], json!({"by": ["donor"], "samples": 240, "smallest": 6}));
    assert_eq!(found["settings"]["reading"]["sum_by"], json!(["donor"]));
    let means = found["panel"]["markers"][0]["mean"].as_object().expect("classes");
    assert!(means.values().all(|mean| number(mean) > 1.0), "{means:?}");
    // The proof is of the sums, and verify sums up again.
    let verified = scratch.run(&["verify", "x.proof", "c.csv"]).code(0);
    assert!(verified.out.contains("VERIFIED"), "{}", verified.out);
    let said = scratch.run(&[&own[..], &counted, &["--groups", "donor"]].concat()).code(0);
    let line = "240 summed up to 24, those of one donor and class to one; the smallest sum is of 6";
    assert!(
        said.out.contains(line) && said.out.contains("samples of one donor stay together (6 groups)"),
        "{}",
        said.out
    );
    let lists = ["compare", "c.csv", "--drop", "batch,lineage", "--sum-by", "donor", "a=g1,g2", "b=g3"];
    assert!(scratch.run(&[&lists[..], &counted].concat()).code(0).out.contains("240 summed up to 24"));
    // The same as on a file of the sums.
    scratch.run(&["convert", "c.csv", "s.csv", "--drop", "batch,lineage", "--sum-by", "donor"]).code(0);
    let plain = ["markers", "s.csv", "--max-features", "3", "--slack", "0", "--json", "s.json"];
    scratch.run(&[&plain[..], &counted].concat()).code(0);
    assert_eq!(scratch.json("s.json")["panel"]["features"], found["panel"]["features"]);
    assert_eq!(scratch.json("s.json")["panel"]["objective"], found["panel"]["objective"]);
    let single = scratch.run(&["predict", "m.json", "c.csv", "--out", "p.csv"]).code(0);
    assert!(single.err.contains("trained on sums of samples by donor"), "{}", single.err);
    let sums = scratch.run(&["predict", "m.json", "c.csv", "--sum-by", "donor", "--drop", "batch,lineage"]).code(0);
    let of_file = scratch.run(&["predict", "m.json", "s.csv"]).code(0);
    let predicted =
        |text: &str| text.lines().map(|line| line.split(',').next_back().map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(predicted(&sums.out), predicted(&of_file.out));

    let refused = |words: &[&str]| scratch.run(&[&["markers"], words, &["--max-features", "3"]].concat()).code(2).err;
    let halves = refused(&["bad.csv", "--drop", "batch,lineage", "--sum-by", "donor"]);
    assert!(halves.contains("sums are of counts") && halves.contains("leave out --sum-by"), "{halves}");
    let unknown = refused(&["c.csv", "--drop", "batch,lineage", "--sum-by", "Donor"]);
    assert!(unknown.contains("column of --sum-by (did you mean `donor`?)"), "{unknown}");
    let crossed = refused(&["c.csv", "--drop", "lineage", "--sum-by", "batch", "--groups", "donor"]);
    assert!(crossed.contains("of the same sum; name the column in --sum-by, too"), "{crossed}");
}

#[test]
fn pairs_weigh_by_level_and_each_level_is_judged() {
    let scratch = Scratch::new("markers_levels");
    scratch.file("c.csv", counts());
    let own = ["--target", "kind", "--drop", "batch,donor", "--normalize-total", "10", "--log1p"];
    let run = |words: &[&str]| scratch.run(&[&["markers", "c.csv", "--max-features", "2"], &own[..], words].concat());
    let said = run(&["--hierarchy", "lineage", "--level-weights", "5,1"]).code(0);
    assert!(said.out.contains("macro F1 of  lineage, 3 classes: "), "{}", said.out);
    run(&["--hierarchy", "lineage", "--level-weights", "5,1", "--json", "r.json", "--report", "r.html"]).code(0);
    let found = scratch.json("r.json");
    let levels = found["levels"].as_array().expect("levels");
    assert_eq!((&levels[0]["name"], &levels[1]["name"], levels.len()), (&json!("lineage"), &json!("kind"), 2));
    assert_eq!(levels[0]["classes"], json!(["lymphoid", "myeloid", "other"]));
    assert_eq!(levels[1]["classes"], json!(["B", "T", "mono", "stem"]));
    assert_eq!(levels[1]["macro_f1"], found["macro_f1"]);
    assert_ne!(levels[0]["macro_f1"], found["macro_f1"]);
    let settings = &found["settings"];
    assert_eq!((&settings["hierarchy"], &settings["level_weights"]), (&json!(["lineage"]), &json!([5.0, 1.0])));
    // The target may be the last level, and other weights make another objective.
    run(&["--hierarchy", "lineage,kind", "--level-weights", "5,1", "--json", "t.json"]).code(0);
    assert_eq!(scratch.json("t.json")["panel"]["objective"], found["panel"]["objective"]);
    run(&["--hierarchy", "lineage", "--json", "t.json"]).code(0);
    assert_ne!(scratch.json("t.json")["panel"]["objective"], found["panel"]["objective"]);
    run(&["--drop", "lineage", "--json", "t.json"]).code(0);
    assert!(scratch.json("t.json")["levels"].is_null());
    let words = ["compare", "c.csv", "a=g1,g2", "b=g3,g5", "--hierarchy", "lineage", "--json", "l.json"];
    scratch.run(&[&words[..], &own].concat()).code(0);
    for list in scratch.json("l.json")["lists"].as_array().expect("lists") {
        assert_eq!(list["levels"][1]["macro_f1"], list["macro_f1"]);
    }
    let said = scratch.run(&[&words[..6], &own].concat()).code(0);
    assert!(said.out.contains("macro F1 of level") && said.out.contains("lineage"), "{}", said.out);

    let refused = |words: &[&str]| run(words).code(2).err;
    let two = refused(&["--hierarchy", "batch", "--drop", "lineage"]);
    assert!(two.contains("of batch, but a class is in one"), "{two}");
    let rest = refused(&["--hierarchy", "lineage", "--multi-class", "one-vs-rest"]);
    assert!(rest.contains("--hierarchy is lineage") && rest.contains("one-vs-rest"), "{rest}");
    let proof = refused(&["--hierarchy", "lineage", "--proof", "x.proof"]);
    assert!(proof.contains("--hierarchy weighs them"), "{proof}");
    let unknown = refused(&["--hierarchy", "Lineage"]);
    assert!(unknown.contains("column of --hierarchy (did you mean `lineage`?)"), "{unknown}");
    assert!(refused(&["--level-weights", "1,2", "--drop", "lineage"]).contains("--hierarchy"));
    let weights = refused(&["--hierarchy", "lineage", "--level-weights", "1,2,3"]);
    assert!(weights.contains("--level-weights is 1,2,3") && weights.contains("2 numbers above 0"), "{weights}");
}
