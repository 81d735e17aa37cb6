//! The question that `fewest verify` says a proof answers, and the one that a user asks.

use std::collections::BTreeSet;

use fewest_testing::data_file;
use serde_json::{Value, json};

use crate::common::{Ran, Scratch, generated};
use crate::second_checker::{put_together, taken_apart};

/// 60 samples: f1 to f6, of which the first three carry the classes, `milk` of two values, `dose`
/// above 0, `fold`.
fn table() -> String {
    let text = generated(60, 6, &["no", "yes"], 3);
    let rows = text.lines().enumerate().map(|(i, line)| {
        let (features, class) = line.rsplit_once(',').expect("columns");
        match i {
            0 => format!("{features},milk,dose,fold,{class}\n"),
            _ => format!("{features},{},{},{},{class}\n", u8::from(i % 3 == 0), 1 + i % 4, i % 5),
        }
    });
    rows.collect()
}

/// Files of a selection by this name: `NAME.proof` and `NAME.json`.
#[track_caller]
fn select(scratch: &Scratch, name: &str, options: &[&str]) {
    let (proof, json) = (format!("{name}.proof"), format!("{name}.json"));
    let method = if options.contains(&"-m") { &[][..] } else { &["-m", "exact"] };
    scratch.run(&[&["select", "d.csv", "--proof", &proof, "--json", &json], method, options].concat()).code(0);
}

fn verify(scratch: &Scratch, name: &str, options: &[&str]) -> Ran {
    scratch.run(&[&["verify", &format!("{name}.proof"), "d.csv"], options].concat())
}

/// The lines that say which question was answered, without the fingerprint.
fn question(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with("model "));
    lines.take_while(|line| !line.starts_with("data ")).map(str::to_owned).collect()
}

/// One honest run each, with a line that only its verdict has.
const RUNS: &[(&str, &[&str], &str)] = &[
    ("plain", &[], "rules      at most 2 features (as the file says)"),
    (
        "forbidden",
        &["--forbid", "f1,f2,f4,f5,f6,milk,dose"],
        "rules      at most 2 features; forbid f1, f2, f4, f5, f6, ... (7 in all) (as the file says); not shown in full: --json",
    ),
    (
        "signs",
        &["--sign", "f1:-,f2:-"],
        "rules      at most 2 features; no weight above 0 of f1, f2 (as the file says)",
    ),
    (
        "cost",
        &["--cost", "1e-6"],
        "model      min |w|^2 / 2 + C sum of hinge losses, C = 1e-6, bias free (as the file says)",
    ),
    ("classes", &["--class-weight", "yes=1e-6"], "weights    classes yes=1e-6 (as the file says)"),
    ("unscaled", &["--scale", "none"], "scaling    none (as the file says)"),
    (
        "a_tenth",
        &["-m", "gbd", "--validate", "0.9", "--seed", "1"],
        "samples    6: -1 = no (3), +1 = yes (3); 54 more are held out by --validate 0.9 (as the file says) --seed 1 (as the file says)",
    ),
    ("weighted", &["--sample-weights", "dose"], "weights    samples by column dose (as the file says)"),
    ("target", &["--target", "milk"], "target     milk (as the file says)"),
    ("positive", &["--positive", "no"], "read       --drop fold (as the file says); --positive no (as the file says)"),
    ("maxabs", &["--scale", "maxabs"], "scaling    maxabs (as the file says)"),
    ("range", &["--scale", "range:-1..1"], "scaling    range (as the file says)"),
    ("between", &["--scale", "range:0..1"], "scaling    range:0..1 (as the file says)"),
];

#[cfg(feature = "highs")]
#[test]
fn honest_runs_of_other_questions_have_other_verdicts() {
    let scratch = Scratch::new("question_runs");
    scratch.file("d.csv", table());
    let mut seen = BTreeSet::new();
    for (name, options, line) in RUNS {
        select(&scratch, name, &[&["--max-features", "2", "--drop", "fold"], *options].concat());
        let out = verify(&scratch, name, &[]).code(0).out;
        // The label "milk" cannot be predicted from any feature here.
        let nothing =
            matches!(*name, "target") && out.contains(" % of the objective: no allowed subset gains more than");
        let within = out.starts_with("VERIFIED within ") && out.contains(" % of the gain and ");
        assert!(within || nothing, "{name}: {out}");
        assert!(out.lines().any(|found| found == *line), "{name}: {out}");
        assert!(seen.insert(question(&out)), "{name}: {out}");
        // As its own result, and not as any of the others.
        for (other, ..) in RUNS {
            let asked = format!("{other}.json");
            if !scratch.path(&asked).exists() {
                continue;
            }
            let ran = verify(&scratch, name, &["--as", &asked]).code(i32::from(name != other));
            assert_eq!(ran.out.starts_with("NOT VERIFIED"), name != other, "{name} as {other}: {}", ran.out);
        }
    }
    assert_eq!(seen.len(), RUNS.len());
}

#[test]
fn a_label_among_the_features_is_seen_in_real_data() {
    let Some(path) = data_file("zoo.csv") else { return };
    let scratch = Scratch::new("question_zoo");
    scratch.file("d.csv", std::fs::read(path).expect("a file"));
    select(&scratch, "milk", &["--max-features", "2", "--target", "milk"]);
    let out = verify(&scratch, "milk", &[]).code(0).out;
    assert!(out.contains("\ntarget     milk (as the file says)\n"), "{out}");
    let ran = verify(&scratch, "milk", &["--target", "y"]).code(if out.contains("y\n") { 1 } else { 2 });
    assert!(
        ran.out.contains("target: the file says milk, asked is y (as typed)") || ran.code == Some(2),
        "{}",
        ran.out
    );
}

#[test]
fn the_question_is_in_the_json() {
    let scratch = Scratch::new("question_json");
    scratch.file("d.csv", table());
    let rules = ["--forbid", "f4", "--require", "f1", "--implies", "f2:f3", "--at-most", "1:f5,f6", "--sign", "f1:+"];
    let data = ["--drop", "fold", "--class-weight", "yes=2", "--max-features", "3", "--penalty", "0.5"];
    select(&scratch, "x", &[&rules[..], &data].concat());
    verify(&scratch, "x", &["--json", "v.json", "--scale", "standard", "--cost", "1"]).code(0);
    let verdict = scratch.json("v.json");
    assert_eq!(verdict["differences"], json!([]));
    let question = &verdict["question"];
    for (key, value) in [
        ("gain", json!("ridge")),
        ("loss", json!("hinge")),
        ("cost", json!(1.0)),
        ("bias", json!("free")),
        ("penalty", json!(0.5)),
        ("max_features", json!(3)),
        ("require", json!(["f1"])),
        ("forbid", json!(["f4"])),
        ("implies", json!([["f2", "f3"]])),
        ("at_most", json!([[1, ["f5", "f6"]]])),
        ("weight_bounds", json!({"f1": [0.0, null]})),
        ("n_samples", json!(60)),
        ("n_features", json!(8)),
        ("classes", json!({"-1": "no", "+1": "yes"})),
        ("class_counts", json!({"-1": 30, "+1": 30})),
        ("class_totals", json!({"-1": 30.0, "+1": 60.0})),
        ("target", json!("y")),
        ("scale", json!("standard")),
        ("class_weight", json!("yes=2")),
        ("sample_weights", Value::Null),
        ("reading", json!({"drop": ["fold"]})),
    ] {
        assert_eq!(question[key], value, "{key}: {question}");
    }
    assert!(question["fingerprint"].as_str().expect("a text").starts_with("sha256:"));
    for (key, by) in [("scale", "typed"), ("cost", "typed"), ("loss", "file"), ("class_weight", "file")] {
        assert_eq!(question["origin"][key], by, "{key}");
    }
}

#[test]
fn what_is_typed_is_held_against_the_proof() {
    let scratch = Scratch::new("question_typed");
    scratch
        .file("d.csv", table())
        .file("rules.toml", "forbid = [\"f4\", \"f5\"]\nat_least = [{ count = 1, of = [\"f1\", \"f2\"] }]\n");
    let drop = ["--drop", "fold", "--max-features", "3"];
    select(
        &scratch,
        "x",
        &[&drop[..], &["--rules", "rules.toml", "--penalty", "0.5", "--loss", "squared-hinge"]].concat(),
    );
    for options in [
        &["--max-features", "3", "--cost", "1", "--loss", "squared-hinge", "--bias", "free", "-m", "exact"][..],
        &["--rules", "rules.toml", "--penalty", "0.5"],
        &["--forbid", "f5", "--forbid", "f4", "--at-least", "1:f2,f1"],
        &["--drop", "fold", "--text", "none", "--sample-weights", "none", "--tasks", "none", "--validate", "none"],
        &["--missing", "error", "--folds", "none", "--class-weight", "none", "--categorical", "none"],
    ] {
        let ran = verify(&scratch, "x", options).code(0);
        assert!(ran.out.contains("as typed") || options[0] == "--drop" || options[0] == "--missing", "{}", ran.out);
    }
    for (options, line) in [
        (&["--max-features", "2"][..], "max features: the file says 3, asked is 2 (as typed)"),
        (&["--cost", "2"], "cost: the file says 1, asked is 2 (as typed)"),
        (&["--loss", "hinge"], "loss: the file says squared-hinge, asked is hinge (as typed)"),
        (&["--bias", "none"], "bias: the file says free, asked is none (as typed)"),
        (&["--penalty", "0.25"], "penalty: the file says 0.5, asked is 0.25 (as typed)"),
        (&["--forbid", "f4,f6"], "forbid: only the file has f5, only what is asked has f6 (as typed)"),
        (&["--require", "f1"], "require: the file says none, asked is f1 (as typed)"),
        (&["--sign", "f2:+"], "weight bounds: the file says none, asked is f2 0 to any (as typed)"),
        (&["-m", "kta"], "gain: the file says ridge, asked is alignment (as typed)"),
        (&["--gamma", "2"], "gamma: the file says none, asked is 2 (as typed)"),
        (&["--weight-bound", "2"], "weight bound: the file says none, asked is 2 (as typed)"),
        (&["--drop", "none"], "drop: the file says fold, asked is none (as typed); header: "),
        (&["--scale", "none"], "scale: the file says standard, asked is none (as typed); header: "),
        (&["--sample-weights", "dose"], "sample weights: the file says none, asked is dose (as typed); header: "),
    ] {
        let ran = verify(&scratch, "x", &[options, &["--json", "v.json"]].concat()).code(1);
        assert!(ran.out.starts_with("NOT VERIFIED  ") && ran.out.contains(line), "{options:?}: {}", ran.out);
        let verdict = scratch.json("v.json");
        assert_eq!((&verdict["verified"], verdict.get("bound")), (&json!(false), None), "{verdict}");
        assert_eq!(verdict["differences"][0]["by"], "typed");
        let fault = ran.out.contains("header: ");
        assert_eq!(verdict["verdict"], if fault { "not_verified" } else { "other_question" });
    }
    for (options, why) in [
        (&["--forbid", "none_such"][..], "there is no feature \"none_such\""),
        (&["-m", "none_such"], "there is no method none_such"),
        (&["--as", "d.csv"], "d.csv: not the result of one selection; give the file"),
        (&["--as", "x.json", "--json", "x.json"], "that is the file of --as, and would be written over"),
    ] {
        let ran = verify(&scratch, "x", options).code(2);
        assert!(ran.err.contains(why), "{options:?}: {}", ran.err);
    }
}

#[test]
fn strict_takes_defaults_for_what_is_not_typed() {
    let scratch = Scratch::new("question_strict");
    scratch.file("d.csv", table());
    select(&scratch, "x", &["--max-features", "2", "--drop", "fold"]);
    select(&scratch, "y", &["--max-features", "2", "--drop", "fold", "--cost", "0.1", "--scale", "none"]);
    let all = ["--strict", "--max-features", "2", "--drop", "fold"];
    let out = verify(&scratch, "x", &all).code(0).out;
    assert!(
        out.contains("\ntarget     y (by default)\n") && out.contains("\nscaling    standard (by default)\n"),
        "{out}"
    );
    assert!(out.contains("rules      at most 2 features (max features as typed; the rest by default)\n"), "{out}");
    assert!(out.contains("bias free (gain as the file says; the rest by default)"), "{out}");
    let out = verify(&scratch, "x", &["--strict", "--drop", "fold"]).code(1).out;
    assert!(out.contains("max features: the file says 2, asked is none (by default)"), "{out}");
    assert!(verify(&scratch, "x", &["--strict", "--max-features", "2"]).code(1).out.contains("header: "));
    assert!(verify(&scratch, "y", &all).code(1).out.starts_with("NOT VERIFIED  header: the data's fingerprint"));
    let out = verify(&scratch, "y", &[&all[..], &["--scale", "none"]].concat()).code(1).out;
    assert!(out.contains("cost: the file says 0.1, asked is 1 (by default)"), "{out}");
    verify(&scratch, "y", &[&all[..], &["--scale", "none", "--cost", "0.1"]].concat()).code(0);
}

#[test]
fn a_gap_that_is_not_proven_is_not_verified() {
    let scratch = Scratch::new("question_gap");
    scratch.file("d.csv", table());
    select(&scratch, "x", &["--max-features", "2", "--gap", "0.01"]);
    let verdict = |options: &[&str], code| {
        let out = verify(&scratch, "x", &[options, &["--json", "v.json"]].concat()).code(code).out;
        (out, scratch.json("v.json"))
    };
    let (out, found) = verdict(&["--gap", "1%"], 0);
    assert!(out.starts_with("VERIFIED within ") && found["verdict"] == "verified", "{out}");
    let gap = found["gap"].as_f64().expect("a gap");
    let (out, found) = verdict(&["--gap", &(gap / 2.0).to_string()], 1);
    assert!(out.starts_with("NOT VERIFIED  the gap proven is ") && out.contains("\nmodel "), "{out}");
    assert_eq!((&found["verdict"], &found["verified"]), (&json!("not_within"), &json!(false)));
    assert_eq!(found["gap"].as_f64(), Some(gap));
    assert!(verify(&scratch, "x", &["--gap", "-1"]).code(2).err.contains("--gap is -1, but must be"));
}

#[cfg(feature = "highs")]
#[test]
fn proofs_within_other_weights_do_not_contradict_each_other() {
    let scratch = Scratch::new("question_within");
    scratch.file("d.csv", table());
    let common = ["-m", "mbp", "--penalty", "0.5", "--drop", "fold"];
    select(&scratch, "narrow", &[&common[..], &["--weight-bound", "0.05"]].concat());
    select(&scratch, "wide", &[&common[..], &["--weight-bound", "50"]].concat());
    let number = |name: &str, key: &str| scratch.json(&format!("{name}.json"))[key].as_f64().expect("a number");
    assert!(number("narrow", "bound") > number("wide", "objective"), "the two bounds differ");
    for (name, u) in [("narrow", "0.05"), ("wide", "50")] {
        let out = verify(&scratch, name, &[]).code(0).out;
        let first = out.lines().next().expect("a line");
        assert!(
            first.starts_with("VERIFIED within ") && first.ends_with(" % of the objective, with weights within u"),
            "{out}"
        );
        assert!(
            out.lines().any(|line| line.starts_with("bound ") && line.ends_with(", with weights within u")),
            "{out}"
        );
        assert!(out.contains(&format!("bias free, weights within u = {u}")), "{out}");
        verify(&scratch, name, &["--weight-bound", u, "-m", "mbp"]).code(0);
        verify(&scratch, name, &["--as", &format!("{name}.json")]).code(0);
    }
    let out = verify(&scratch, "narrow", &["--weight-bound", "50"]).code(1).out;
    assert!(out.contains("weights within: the file says 0.05, asked is 50 (as typed)"), "{out}");
    let out = verify(&scratch, "narrow", &["--as", "wide.json"]).code(1).out;
    assert!(out.contains("weights within: the file says 0.05, asked is 50 (as the result says)"), "{out}");
    // u as the method finds it leaves features without a weight, which no rule forbids.
    select(&scratch, "found", &common);
    let found = verify(&scratch, "found", &["--as", "found.json", "--json", "v.json"]).code(0).out;
    assert!(found.contains("weights within u = "), "{found}");
    assert_eq!(scratch.json("v.json")["question"]["origin"]["weights_within"], "file");
}

#[test]
fn certificates_and_alignments_are_held_against_their_results() {
    let scratch = Scratch::new("question_methods");
    scratch.file("d.csv", table());
    select(&scratch, "rfe", &["-m", "rfe", "--certify", "--max-features", "2", "--cost", "0.5", "--drop", "fold"]);
    select(&scratch, "kta", &["-m", "kta", "--max-features", "2", "--categorical", "milk", "--drop", "fold"]);
    for name in ["rfe", "kta"] {
        verify(&scratch, name, &["--as", &format!("{name}.json")]).code(0);
    }
    let out = verify(&scratch, "kta", &["--kernel", "rbf", "--categorical", "milk"]).code(0).out;
    assert!(out.starts_with("VERIFIED within ") && out.contains(" % of the bound and "), "{out}");
    assert!(out.contains("categories milk (gain, gamma as the file says; kernel, categorical as typed)"), "{out}");
    let out = verify(&scratch, "kta", &["--kernel", "laplace"]).code(1).out;
    assert!(out.contains("kernel: the file says rbf, asked is laplace (as typed)"), "{out}");
    let out = verify(&scratch, "kta", &["--cost", "3"]).code(1).out;
    assert!(out.contains("cost: the file says none, asked is 3 (as typed)"), "{out}");
    // Categories are not scaled: the data are others.
    let out = verify(&scratch, "rfe", &["--as", "kta.json"]).code(1).out;
    assert!(out.contains("categorical: the file says none, asked is milk (as the result says); header: "), "{out}");
    select(&scratch, "kta", &["-m", "kta", "--max-features", "2", "--drop", "fold"]);
    let out = verify(&scratch, "rfe", &["--as", "kta.json"]).code(1).out;
    assert!(out.contains("gain: the file says ridge, asked is alignment (as the result says)"), "{out}");
}

#[test]
fn a_result_with_another_subset_is_not_verified() {
    let scratch = Scratch::new("question_selected");
    scratch.file("d.csv", table());
    select(&scratch, "x", &["--max-features", "2"]);
    let mut result = scratch.json("x.json");
    result["selected"] = json!(["f5", "f6"]);
    scratch.file("edited.json", result.to_string());
    let out = verify(&scratch, "x", &["--as", "edited.json"]).code(1).out;
    assert!(out.contains("\ndiffers  selected: only the file has "), "{out}");
}

#[test]
fn a_result_says_how_its_data_were_read() {
    let scratch = Scratch::new("question_reading");
    scratch.file("d.csv", table());
    select(&scratch, "x", &["--max-features", "2", "--drop", "f6"]);
    select(&scratch, "y", &["--max-features", "2", "--drop", "f5"]);
    select(&scratch, "all", &["--max-features", "2"]);
    assert_eq!(scratch.json("x.json")["settings"]["reading"], json!({"drop": ["f6"]}));
    verify(&scratch, "x", &["--strict", "--as", "x.json"]).code(0);
    for (other, line) in [
        ("y.json", "drop: only the file has f6, only what is asked has f5 (as the result says); header: "),
        ("all.json", "drop: the file says f6, asked is none (as the result says); header: "),
    ] {
        let out = verify(&scratch, "x", &["--as", other]).code(1).out;
        assert!(out.contains(line), "{out}");
    }
    let mut result = scratch.json("x.json");
    result["class_counts"]["-1"] = json!(7);
    scratch.file("edited.json", result.to_string());
    let out = verify(&scratch, "x", &["--as", "edited.json"]).code(1).out;
    assert!(
        out.contains("class counts: the file says -1 30, +1 30, asked is -1 7, +1 30 (as the result says)"),
        "{out}"
    );
}

#[test]
fn columns_that_the_data_rule_out_are_no_other_question() {
    let scratch = Scratch::new("question_constant");
    let text = table();
    let lines = text.lines().enumerate().map(|(i, line)| format!("{},{line}\n", if i == 0 { "same" } else { "7" }));
    scratch.file("d.csv", lines.collect::<String>());
    select(&scratch, "x", &["--max-features", "2", "--forbid", "f6"]);
    let out = verify(&scratch, "x", &["--forbid", "f6", "--max-features", "2"]).code(0).out;
    assert!(out.contains("forbid f6; without 1 feature that the data rule out (same) ("), "{out}");
    verify(&scratch, "x", &["--as", "x.json"]).code(0);
}

#[test]
fn groups_that_follow_from_text_columns_are_no_other_question() {
    let scratch = Scratch::new("question_together");
    let text = generated(60, 4, &["no", "yes"], 3);
    let colours = ["red", "green", "blue"];
    let lines = text.lines().enumerate();
    let rows = lines.map(|(i, line)| format!("{},{line}\n", if i == 0 { "colour" } else { colours[i % 3] }));
    scratch.file("d.csv", rows.collect::<String>()).file("costs.csv", "colour,2\nf1,1\nf2,1\nf3,1\nf4,1\n");
    let prices = ["--budget", "3", "--feature-costs", "costs.csv"];
    select(&scratch, "x", &[&prices[..], &["--together", "f1,f4"]].concat());
    verify(&scratch, "x", &["--as", "x.json"]).code(0);
    verify(&scratch, "x", &prices).code(0);
    let out = verify(&scratch, "x", &[&prices[..], &["--together", "f1,f3"]].concat()).code(1).out;
    let line = "together: only the file has [f1, f4], only what is asked has [f1, f3] (as typed)";
    assert!(out.contains(line), "{out}");
}

/// A proof with another header.
fn with_header(scratch: &Scratch, name: &str, change: impl Fn(&mut Value)) {
    let (mut header, records) = taken_apart(&scratch.path(&format!("{name}.proof")));
    change(&mut header);
    put_together(&scratch.path("forged.proof"), &header, &records);
}

#[test]
fn bounds_of_weights_are_shown_whatever_else_the_header_says() {
    let scratch = Scratch::new("question_bounds");
    scratch.file("d.csv", table());
    let all = "2:f1,f2,f3,f4,f5,f6,milk,dose";
    select(&scratch, "x", &["--at-most", all, "--sign", "f3:-", "--drop", "fold"]);
    // As many as a checker takes for all features, and more than a method does.
    with_header(&scratch, "x", |header| header["rules"]["max_features"] = json!(99));
    let out = verify(&scratch, "forged", &["--json", "v.json"]).code(0).out;
    assert!(out.contains("no weight above 0 of f3"), "{out}");
    assert_eq!(scratch.json("v.json")["question"]["weight_bounds"]["f3"], json!([null, 0.0]));
    with_header(&scratch, "x", |header| header["rules"]["costs"] = json!(vec![1.0; 99]));
    let out = verify(&scratch, "forged", &[]).code(1).out;
    assert!(out.starts_with("NOT VERIFIED") && out.contains("costs are not as many as features"), "{out}");
}

#[test]
fn all_that_prepares_the_data_is_shown_or_refused() {
    let scratch = Scratch::new("question_prepared");
    let without = |text: &str| -> String {
        text.lines().map(|line| line.split_once(',').expect("columns").1.to_owned() + "\n").collect()
    };
    // A proof without the first column, whose header has another name for that.
    scratch.file("d.csv", without(&table()));
    select(&scratch, "x", &["--max-features", "2", "--drop", "fold"]);
    scratch.file("d.csv", table());
    let settings = |key: &'static str, value: Value| {
        with_header(&scratch, "x", move |header| header["made"]["settings"][key] = value.clone());
    };
    for (key, value, line) in [
        ("groups", json!({"column": "f1", "count": 60}), "groups     f1 (as the file says)"),
        ("tasks", json!("f1"), ""),
        ("folds", json!("f1"), "set apart  f1 (as the file says)"),
    ] {
        settings(key, value);
        let ran = verify(&scratch, "forged", &[]);
        assert!(if line.is_empty() { !ran.out.starts_with("VERIFIED") } else { ran.out.contains(line) }, "{}", ran.out);
    }
    scratch.file("d.csv", without(&table()));
    settings("categorical", json!(["milk"]));
    let out = verify(&scratch, "forged", &[]).code(1).out;
    assert!(out.contains("header: its settings leave categories unscaled (milk)"), "{out}");
    for (key, value) in
        [("multi_class", json!("bogus")), ("seed", json!("x")), ("folds", json!(3)), ("scale", json!(3))]
    {
        settings(key, value);
        let err = verify(&scratch, "forged", &[]).code(2).err;
        assert!(err.contains("what the proof says of its making cannot be read"), "{key}: {err}");
    }
    settings("reading", json!({"labels": "/dev/zero"}));
    let err = verify(&scratch, "forged", &[]).code(2).err;
    assert!(err.contains("verify opens none that a proof names; give --labels"), "{err}");
    with_header(&scratch, "x", |header| header["penalty"] = json!(vec![-1.0; 7]));
    let out = verify(&scratch, "forged", &[]).code(1).out;
    assert!(out.starts_with("NOT VERIFIED"), "{out}");
    // A long name makes no line of its own.
    with_header(&scratch, "x", |header| {
        header["made"]["method"] = json!(format!("rfe){}bound  0", " ".repeat(90)));
        header["made"]["own"] = json!([1, 6]);
    });
    let out = verify(&scratch, "forged", &[]).code(0).out;
    assert!(out.lines().filter(|line| line.contains("bound  0")).all(|line| line.starts_with("judged")), "{out}");
}

/// The paths of all entries of an object, and of those in it, but for lists.
fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    for (key, entry) in value.as_object().into_iter().flatten() {
        out.push(format!("{at}/{key}"));
        paths(entry, &format!("{at}/{key}"), out);
    }
}

#[test]
fn another_header_is_refused_or_asks_another_question_or_says_the_same() {
    let scratch = Scratch::new("question_headers");
    scratch.file("d.csv", table());
    let rules =
        ["--max-features", "2", "--at-most", "1:f1,f2", "--implies", "f4:f5", "--sign", "f3:-", "--drop", "fold"];
    select(&scratch, "x", &rules);
    with_header(&scratch, "x", |_| ());
    let honest = verify(&scratch, "forged", &[]).code(0).out;
    let mut all = Vec::new();
    paths(&taken_apart(&scratch.path("x.proof")).0, "", &mut all);
    for key in ["/made/settings/validate", "/made/settings/categorical", "/made/settings/multi_class", "/rules/costs"] {
        all.push(key.to_owned());
    }
    let values = [
        Value::Null,
        json!(0),
        json!(-1),
        json!(1e300),
        json!(0.25),
        json!(99),
        json!([]),
        json!([0]),
        json!([1, 1]),
        json!("milk"),
        json!("none"),
        json!(true),
        json!({"column": "milk"}),
    ];
    let numbers = |out: &str| -> Vec<String> {
        out.lines()
            .filter(|line| line.starts_with("objective") || line.starts_with("bound"))
            .map(str::to_owned)
            .collect()
    };
    let mut verified = 0;
    for path in &all {
        for value in &values {
            with_header(&scratch, "x", |header| {
                let (parent, key) = path.rsplit_once('/').expect("a path");
                header.pointer_mut(parent).expect("an object")[key] = value.clone();
            });
            let ran = verify(&scratch, "forged", &[]);
            assert!(matches!(ran.code, Some(0..=2)), "{path} {value}: {:?} {}{}", ran.code, ran.out, ran.err);
            if ran.code == Some(0) && question(&ran.out) == question(&honest) {
                assert_eq!(numbers(&ran.out), numbers(&honest), "{path} {value}: {}", ran.out);
                verified += 1;
            }
        }
    }
    assert!(verified > 20, "{verified}");
}

#[test]
fn problems_of_several_classes_say_how_they_were_made() {
    let scratch = Scratch::new("made");
    scratch.file("d.csv", generated(60, 5, &["a", "b", "c"], 3));
    for (name, options, said) in [
        ("rfe", &["-m", "rfe", "--certify", "--max-features", "2"][..], "one-vs-one (by default)"),
        ("rest", &["--max-features", "2", "--multi-class", "one-vs-rest"], "one-vs-rest (as the file says)"),
    ] {
        select(&scratch, name, options);
        let text = verify(&scratch, name, &[]).code(0).out.clone();
        assert!(text.contains(&format!("3, whose objectives add: {said}")), "{text}");
    }
}
