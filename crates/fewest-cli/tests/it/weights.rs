//! `--sign`, `--weight-bounds` and `[weights]`: kept by the classifier of every command that takes
//! them, said in the JSON, refused by name elsewhere.

use fewest_testing::packed_proof;
use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// 60 samples and 6 features f0 to f5, of which the first 3 carry the classes.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(60, 6, &["no", "yes"], 4));
    scratch
}

fn weights(result: &Value) -> Vec<(String, f64)> {
    let weights = result["model"]["weights"].as_object().expect("weights by name");
    weights.iter().map(|(name, weight)| (name.clone(), weight.as_f64().expect("a number"))).collect()
}

/// The largest weight of a training without bounds, its name and its sign.
fn strongest(scratch: &Scratch) -> (String, f64) {
    scratch.run(&["fit", "d.csv", "--all-features", "--json", "free.json"]).code(0);
    let by_size = |a: &(String, f64), b: &(String, f64)| a.1.abs().total_cmp(&b.1.abs());
    weights(&scratch.json("free.json")).into_iter().max_by(by_size).expect("six weights")
}

#[test]
fn fit_keeps_signs_and_bounds_from_options_files_and_a_table() {
    let scratch = scratch("weights_fit");
    let (name, weight) = strongest(&scratch);
    let against = if weight > 0.0 { "-" } else { "+" };
    let half = 0.5 * weight.abs();
    let ways: [(&str, String, [f64; 2]); 4] = [
        (
            "--sign",
            format!("{name}:{against}"),
            if weight > 0.0 { [f64::NEG_INFINITY, 0.0] } else { [0.0, f64::INFINITY] },
        ),
        ("--weight-bounds", format!("name,lower,upper\n{name},-{half},{half}\n"), [-half, half]),
        ("--weight-bounds", format!("{{\"{name}\": [-{half}, null]}}"), [-half, f64::INFINITY]),
        ("--weight-bounds", format!("{name},,{half}\n"), [f64::NEG_INFINITY, half]),
    ];
    for (option, text, [lower, upper]) in ways {
        let value = if option == "--sign" {
            text
        } else {
            let file = if text.starts_with('{') { "w.json" } else { "w.csv" };
            scratch.file(file, &text);
            file.to_owned()
        };
        let args = ["fit", "d.csv", "--all-features", option, &value, "--tolerance", "1e-8", "--json", "r.json"];
        scratch.run(&args).code(0);
        let result = scratch.json("r.json");
        let found = weights(&result).into_iter().find(|w| w.0 == name).expect("its weight").1;
        assert!(found >= lower && found <= upper, "{option} {value}: {found}");
        assert!(result["gap"].as_f64().expect("a gap") <= 1e-8, "{option} {value}: {}", result["gap"]);
        assert_eq!(result["settings"]["weight_bounds"], json!({ &name: [lower, upper] }), "{option} {value}");
    }
    assert!(scratch.json("free.json")["settings"].get("weight_bounds").is_none());
}

#[test]
fn selections_keep_the_bounds_in_objective_and_classifier() {
    let scratch = scratch("weights_select");
    let (name, weight) = strongest(&scratch);
    let sign = if weight > 0.0 { "-" } else { "+" };
    scratch.file(
        "rules.toml",
        format!("max_features = 2\nrequire = [\"{name}\"]\n[weights]\n{name} = \"{sign}\"\nf5 = [-0.1, inf]\n"),
    );
    let base = ["select", "d.csv", "-m", "exact", "--json", "r.json", "--gap", "1e-6"];
    let out = scratch.run(&[&base[..], &["--rules", "rules.toml"]].concat()).code(0).out;
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "optimal");
    assert!(out.contains("bounds on the weights of"), "{out}");
    let bounds = &result["settings"]["weight_bounds"];
    assert_eq!((&bounds["f5"], bounds.as_object().map(serde_json::Map::len)), (&json!([-0.1, null]), Some(2)));
    let its = weights(&result).into_iter().find(|w| w.0 == name).expect("it is required").1;
    assert_eq!(its, 0.0, "the bound takes its weight");
    // The objective is that of the classifier's weights, as the same subset trained alone has it.
    let fit = [
        "fit",
        "d.csv",
        "--result",
        "r.json",
        "--sign",
        &format!("{name}:{sign}"),
        "--tolerance",
        "1e-8",
        "--json",
        "f.json",
    ];
    scratch.run(&fit).code(0);
    let (own, alone) = (
        result["objective"].as_f64().expect("a number"),
        scratch.json("f.json")["objective"].as_f64().expect("a number"),
    );
    assert!((own - alone).abs() <= 1e-5 * alone, "{own} {alone}");
    scratch.run(&[&base[..], &["--max-features", "2", "--require", &name]].concat()).code(0);
    let free = scratch.json("r.json")["objective"].as_f64().expect("a number");
    assert!(own > 1.01 * free, "the bound costs something: {own} {free}");
    // gbd proves the same, and rfe ends within it.
    #[cfg(feature = "highs")]
    {
        let gbd = ["select", "d.csv", "-m", "gbd", "--json", "r.json", "--gap", "1e-6", "--rules", "rules.toml"];
        scratch.run(&gbd).code(0);
        let objective = scratch.json("r.json")["objective"].as_f64().expect("a number");
        assert!((objective - own).abs() <= 3e-6 * own, "{objective} {own}");
    }
    let rfe = ["select", "d.csv", "-m", "rfe", "--json", "r.json", "--rules", "rules.toml", "--certify"];
    scratch.run(&rfe).code(0);
    let result = scratch.json("r.json");
    let (objective, bound) = (&result["objective"], &result["certificate"]["bound"]);
    let (objective, bound) = (objective.as_f64().expect("a number"), bound.as_f64().expect("a bound"));
    assert!(objective >= own * (1.0 - 1e-5) && bound <= own * (1.0 + 1e-5), "{objective} {bound} {own}");
    assert_eq!(weights(&result).into_iter().find(|w| w.0 == name).expect("it is required").1, 0.0);
    // The commands that select again and again.
    let sign = format!("{name}:{sign}");
    scratch
        .run(&["path", "d.csv", "-m", "exact", "--max-features", "1..3", "--sign", &sign, "--json", "p.json"])
        .code(0);
    for result in scratch.json("p.json")["path"].as_array().expect("a path") {
        let of = |w: &(String, f64)| w.0 != name || if weight > 0.0 { w.1 <= 0.0 } else { w.1 >= 0.0 };
        assert!(weights(result).iter().all(of), "{result}");
    }
    let evaluate =
        ["evaluate", "d.csv", "-m", "exact", "--max-features", "2", "--cv", "3", "--sign", &sign, "--json", "e.json"];
    scratch.run(&evaluate).code(0);
    let bounded = scratch.json("e.json");
    scratch.run(&[&evaluate[..8], &["--json", "e.json"]].concat()).code(0);
    let accuracy = |value: &Value| value["summary"]["accuracy"]["mean"].as_f64().expect("a number");
    assert!(accuracy(&bounded) < accuracy(&scratch.json("e.json")), "the strongest feature is taken away");
}

/// The methods whose programs are linear: every weight keeps its sign, at a price.
#[cfg(feature = "highs")]
#[test]
fn linear_programs_keep_the_signs() {
    let scratch = scratch("weights_linear");
    scratch.run(&["fit", "d.csv", "--all-features", "--json", "free.json"]).code(0);
    let against: Vec<(String, f64)> = weights(&scratch.json("free.json"));
    let lines = against.iter().map(|(name, w)| if *w > 0.0 { format!("{name},,0\n") } else { format!("{name},0,\n") });
    scratch.file("against.csv", lines.collect::<String>());
    for method in ["milp1", "milp2", "l1-svm", "fsv", "mbp", "lagrangian", "fgm"] {
        let base = ["select", "d.csv", "-m", method, "--max-features", "3", "--json", "r.json"];
        scratch.run(&base).code(0);
        let free = scratch.json("r.json")["objective"].as_f64().expect("a number");
        scratch.run(&[&base[..], &["--weight-bounds", "against.csv"]].concat()).code(0);
        let result = scratch.json("r.json");
        let bounded = result["objective"].as_f64().expect("a number");
        // The margin less slack of milp2, which is maximised, is 0 here either way.
        let dearer = if method == "milp2" { free - bounded >= 0.0 } else { bounded - free > 1e-6 };
        assert!(dearer, "{method}: {free} {bounded}");
        assert_eq!(result["settings"]["weight_bounds"].as_object().map(serde_json::Map::len), Some(6), "{method}");
        let Some(found) = result["model"]["weights"].as_object() else { continue };
        for (name, weight) in found {
            let free = against.iter().find(|e| e.0 == *name).expect("a feature").1;
            assert!(weight.as_f64().expect("a number") * free <= 0.0, "{method}: {name} {weight}");
        }
    }
}

/// Bounds against every weight of a free training: lines of a file, and those weights by name.
fn against(scratch: &Scratch) -> (String, Vec<(String, f64)>) {
    scratch.run(&["fit", "d.csv", "--all-features", "--json", "free.json"]).code(0);
    let free = weights(&scratch.json("free.json"));
    let lines =
        free.iter().map(|(name, w)| if *w > 0.0 { format!("{name},-1,0.1\n") } else { format!("{name},-0.1,1\n") });
    (lines.collect(), free)
}

#[test]
fn proofs_of_bounded_problems_are_verified_and_claim_nothing_of_free_ones() {
    let scratch = scratch("weights_proof");
    scratch.file("box.csv", against(&scratch).0);
    for (method, more) in [
        ("exact", &["--max-features", "3"][..]),
        ("gbd", &["--max-features", "3"]),
        ("rfe", &["--max-features", "3", "--certify"]),
        ("mbp", &["--penalty", "0.3"]),
    ] {
        let base = [&["select", "d.csv", "-m", method, "--proof", "p.proof", "--json", "r.json"], more].concat();
        scratch.run(&[&base[..], &["--weight-bounds", "box.csv"]].concat()).code(0);
        let ran = scratch.run(&["verify", "p.proof", "d.csv", "--json", "v.json"]).code(0);
        assert!(ran.out.contains("VERIFIED"), "{method}: {}", ran.out);
        let (result, verdict) = (scratch.json("r.json"), scratch.json("v.json"));
        let of = |value: &Value| value.as_f64().expect("a number");
        let (best, proven) = (if method == "rfe" { &result["certificate"]["best"] } else { &result }, &verdict);
        assert!((of(&best["objective"]) - of(&proven["objective"])).abs() <= 1e-3 * of(&best["objective"]), "{method}");
        assert!(of(&proven["gap"]) <= 1.1e-3, "{method}: {proven}");
        // Bounds that are only in the header make another claim: weights beyond them are named.
        scratch.run(&base).code(0);
        let file = scratch.path("p.proof");
        let mut text = Vec::new();
        let packed = std::fs::File::open(&file).expect("written");
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(packed), &mut text).expect("gzip");
        let end = text.iter().position(|b| *b == b'\n').expect("a header");
        let mut header: Value = serde_json::from_slice(&text[..end]).expect("JSON");
        assert!(header["rules"].get("weights").is_none());
        let none = (0..6).map(|j| json!({ "feature": j, "lower": 0, "upper": 0 })).collect::<Vec<_>>();
        header["rules"]["weights"] = json!(none);
        std::fs::write(&file, packed_proof(&[header.to_string().as_bytes(), &text[end..]].concat())).expect("written");
        let ran = scratch.run(&["verify", "p.proof", "d.csv"]).code(1);
        assert!(ran.out.contains("NOT VERIFIED") && ran.out.contains("beyond its bound"), "{method}: {}", ran.out);
    }
}

#[test]
fn a_study_keeps_signs_in_every_classifier() {
    let scratch = scratch("weights_study");
    let (name, weight) = strongest(&scratch);
    let sign = format!("{name}:{}", if weight > 0.0 { "-" } else { "+" });
    let short = ["study", "d.csv", "--max-features", "1..3", "--folds", "3", "--repeats", "1", "--inner-cv", "3"];
    let more = ["--cost-points", "3", "--sign", &sign, "--require", &name, "--json", "s.json"];
    let said = scratch.run(&[&short[..], &more[..]].concat()).code(0).err;
    for method in ["info-gain", "kta"] {
        assert!(said.contains(&format!("{method} takes no part: it keeps no bounds on weights")), "{said}");
    }
    let result = scratch.json("s.json");
    assert_eq!(result["settings"]["methods"], json!(["exact", "rfe"]));
    assert_eq!(result["settings"]["weight_bounds"][&name].as_array().map(Vec::len), Some(2));
    let held = result["panel"]["model"]["weights"][&name].as_f64().expect("it is required");
    assert!(held * weight <= 0.0, "{held} for {weight}");
    // Without the sign the weight has the other one.
    scratch.run(&[&short[..], &["--cost-points", "3", "--require", &name, "--json", "s.json"]].concat()).code(0);
    let free = scratch.json("s.json")["panel"]["model"]["weights"][&name].as_f64().expect("it is required");
    assert!(free * weight > 0.0, "{free} for {weight}");
}

#[test]
fn what_cannot_be_kept_is_refused_by_name() {
    let scratch = scratch("weights_refused");
    scratch.file("box.csv", "f1,0,0.5\n");
    let refused = |args: &[&str], parts: &[&str]| {
        let err = scratch.run(args).code(2).err;
        for part in parts {
            assert!(err.contains(part), "{args:?}: {part:?} is not in {err}");
        }
    };
    for method in ["kta", "info-gain", "eb-rfe"] {
        let args = ["select", "d.csv", "-m", method, "--max-features", "2", "--sign", "f1:+"];
        refused(
            &args,
            &["--sign bounds the weight of f1", &format!("--method {method} obeys no bounds"), "--method exact"],
        );
    }
    refused(
        &["select", "d.csv", "-m", "fgm", "--max-features", "2", "--weight-bounds", "box.csv"],
        &["fgm keeps signs of weights", "0 and 0.5", "signs alone"],
    );
    for command in ["path", "evaluate", "stability"] {
        let args = [command, "d.csv", "-m", "info-gain", "--max-features", "2", "--sign", "f1:+"];
        refused(&args, &["--method info-gain obeys no bounds"]);
    }
    refused(
        &["study", "d.csv", "--sign", "f1:+", "--methods", "exact,info-gain"],
        &["info-gain does not obey signs of weights", "exact and rfe alone"],
    );
    let fit = ["fit", "d.csv", "--all-features"];
    let fitted = |more: &[&str], parts: &[&str]| refused(&[&fit[..], more].concat(), parts);
    fitted(&["--kernel", "rbf", "--sign", "f1:+"], &["--kernel rbf obeys no bounds", "--kernel linear"]);
    fitted(&["--sign", "f1"], &["--sign", "no colon", "NAME:+"]);
    fitted(&["--sign", "f1:up"], &["the sign of f1 is \"up\"", "must be +"]);
    fitted(&["--sign", "f11:+"], &["--sign", "no feature \"f11\""]);
    scratch.file("w.csv", "f1,0.5,2\n");
    fitted(
        &["--weight-bounds", "w.csv"],
        &["the lower bound on the weight of f1 is 0.5, but must be 0 or less", "require it"],
    );
    scratch.file("w.csv", "f1,0\n");
    fitted(&["--weight-bounds", "w.csv"], &["w.csv, line 1", "2 fields", "name,lower,upper"]);
    scratch.file("w.csv", "f1,0,1\nf2,x,1\n");
    fitted(&["--weight-bounds", "w.csv"], &["w.csv, line 2", "\"x\"", "numbers"]);
    scratch.file("w.json", "{\"f1\": 2}");
    fitted(&["--weight-bounds", "w.json"], &["w.json", "[lower, upper]"]);
    let margin = ["select", "d.csv", "-m", "rfe", "--max-features", "2", "--sign", "f1:+", "--criterion", "margin"];
    refused(&margin, &["rfe obeys bounds on weights with the linear kernel", "select by exact"]);
    scratch.file("three.csv", generated(60, 4, &["a", "b", "c"], 4));
    refused(&["fit", "three.csv", "--all-features", "--sign", "f1:+"], &["two classes", "there are 3"]);
    refused(&["study", "three.csv", "--sign", "f1:+"], &["two classes", "there are 3"]);
}
