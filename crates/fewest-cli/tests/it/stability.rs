//! `fewest stability`: halves against selections made by hand, what is counted, the bound on labels
//! without a meaning, refusals, limits, resuming, the page.

use std::fmt::Write as _;

use fewest_data::{Target, stratified_halves};
use serde_json::{Value, json};

use crate::common::{Noise, Scratch, generated};

const BASE: [&str; 6] = ["stability", "d.csv", "-m", "rfe", "--max-features", "3"];

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The result without times, threads and the command.
fn timeless(mut result: Value) -> Value {
    for pair in result["pairs"].as_array_mut().into_iter().flatten() {
        pair["seconds"] = Value::Null;
    }
    (result["seconds"], result["command"]) = (Value::Null, Value::Null);
    result
}

#[test]
fn a_half_is_select_on_its_samples_alone() {
    let scratch = Scratch::new("stability_by_hand");
    let text = generated(41, 8, &["a", "b"], 3);
    scratch.file("d.csv", &text);
    scratch
        .run(&[&BASE[..], &["--pairs", "4", "--seed", "5", "--json", "s.json", "--threshold", "0.75"]].concat())
        .code(0);
    let result = scratch.json("s.json");
    let lines: Vec<&str> = text.lines().collect();
    let codes = lines[1..].iter().map(|line| u32::from(line.ends_with('b'))).collect();
    let target = Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes };
    let mut times = std::collections::BTreeMap::<String, (usize, usize)>::new();
    for (pair, halves) in result["pairs"].as_array().unwrap().iter().zip(stratified_halves(&target, 4, 5)) {
        for (half, rows) in halves.iter().enumerate() {
            assert_eq!(rows.len(), 20);
            let part = rows.iter().fold(format!("{}\n", lines[0]), |out, &i| out + lines[i + 1] + "\n");
            scratch.file("half.csv", part);
            scratch.run(&["select", "half.csv", "-m", "rfe", "--max-features", "3", "--json", "h.json"]).code(0);
            assert_eq!(pair["selected"][half], scratch.json("h.json")["selected"]);
            for name in texts(&pair["selected"][half]) {
                times.entry(name).or_default().0 += 1;
            }
        }
        let (first, second) = (texts(&pair["selected"][0]), texts(&pair["selected"][1]));
        first.into_iter().filter(|name| second.contains(name)).for_each(|name| times.get_mut(&name).unwrap().1 += 1);
    }
    assert_eq!(result["frequency"].as_object().unwrap().len(), times.len());
    for (name, (halves, both)) in &times {
        assert_eq!(number(&result["frequency"][name]), *halves as f64 / 8.0);
        assert_eq!(number(&result["both_halves"][name]), *both as f64 / 4.0);
    }
    let stable: Vec<&String> = times.iter().filter(|(_, (halves, _))| *halves >= 6).map(|(name, _)| name).collect();
    assert_eq!(texts(&result["selected"]).iter().collect::<Vec<_>>(), stable);
    assert_eq!(number(&result["threshold"]), 0.75);
    // 3^2 / (2 * 0.75 - 1) / 8, more than all features there are.
    assert_eq!(number(&result["false_selections"]["by_assumption"]["any"]), (2.25f64).min(8.0));
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let scratch = Scratch::new("stability_threads");
    scratch.file("d.csv", generated(60, 12, &["a", "b", "c"], 3));
    let of = |more: &[&str]| {
        scratch.run(&[&BASE[..], &["--pairs", "6", "--max-false", "3", "--json", "s.json"], more].concat()).code(0);
        timeless(scratch.json("s.json"))
    };
    let one = of(&["--threads", "1"]);
    assert_eq!(one, of(&["--threads", "2"]));
    assert_ne!(one["pairs"], of(&["--seed", "1"])["pairs"]);
    assert!(texts(&one["selected"]).iter().all(|name| ["f1", "f2", "f3"].contains(&name.as_str())), "{one}");
    assert!(number(&one["false_selections"]["bound"]) <= 3.0);
}

#[test]
fn labels_without_a_meaning_give_no_more_false_features_than_the_bound() {
    let scratch = Scratch::new("stability_null");
    let (mut stable, mut bound) = (0, 0.0);
    for seed in 0..12 {
        let mut noise = Noise(seed);
        let names: Vec<String> = (0..20).map(|j| format!("x{j}")).collect();
        let mut text = format!("{},y\n", names.join(","));
        for i in 0..40 {
            (0..20).for_each(|_| _ = write!(text, "{:.4},", noise.next()));
            let _ = writeln!(text, "{}", i % 2);
        }
        scratch.file("d.csv", text);
        scratch.run(&["stability", "d.csv", "-m", "info-gain", "--max-features", "4", "--json", "s.json"]).code(0);
        let result = scratch.json("s.json");
        stable += result["selected"].as_array().unwrap().len();
        bound += number(&result["false_selections"]["bound"]);
    }
    // Far from the bound, so that chance has no say.
    assert!(stable as f64 <= bound, "{stable} stable features, at most {bound} expected");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let scratch = Scratch::new("stability_refused");
    scratch.file("d.csv", generated(30, 8, &["a", "b"], 3));
    scratch.file("one.csv", generated(30, 8, &["a", "b"], 3) + "1,2,3,4,5,6,7,8,c\n");
    for (arguments, words) in [
        (&["d.csv", "-m", "rfe"][..], &["--max-features K"][..]),
        (&["d.csv", "-m", "rfe", "--max-features", "1..3"], &["--max-features is 1..3", "one size"]),
        (&["d.csv", "-m", "rfe", "--max-features", "2", "--threshold", "0.5"], &["--threshold is 0.5", "above 0.5"]),
        (
            &["d.csv", "-m", "rfe", "--max-features", "4", "--assume", "any"],
            &["--max-false is 1", "4 of 8", "--max-features 2"],
        ),
        (
            &["d.csv", "-m", "rfe", "--max-features", "2", "--threshold", "0.9", "--max-false", "1"],
            &["--threshold", "--max-false"],
        ),
        (&["d.csv", "-m", "rfe", "--max-features", "2", "--certify"], &["--certify", "not of stability"]),
        (&["d.csv", "-m", "rfe", "--max-features", "2", "--fit-cost", "1"], &["--fit-cost", "not of stability"]),
        (&["d.csv", "-m", "rfe", "--max-features", "2", "--cv", "3"], &["--cv"]),
        (&["one.csv", "-m", "rfe", "--max-features", "2"], &["class c", "fewer than 2 samples"]),
        (&["d.csv", "-m", "rfe", "--max-features", "1", "--require", "zz"], &["zz"]),
    ] {
        let ran = scratch.run(&[&["stability"], arguments].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "{arguments:?}: `{word}` is not in: {}", ran.err);
        }
    }
    assert_eq!(scratch.files(), ["d.csv", "one.csv"]);
}

#[test]
fn a_limit_ends_with_the_pairs_that_are_done_and_resuming_goes_on() {
    let scratch = Scratch::new("stability_resume");
    scratch.file("d.csv", generated(80, 40, &["a", "b"], 3));
    let base = [&BASE[..], &["--pairs", "12", "--max-false", "2", "--json", "s.json"]].concat();
    scratch.run(&[&base[..], &["--resume", "state"]].concat()).code(0);
    let whole = scratch.json("s.json");
    // All pairs are kept, so that nothing is selected again, and the answer is the same.
    scratch.run(&[&base[..], &["--resume", "state"]].concat()).code(0);
    assert_eq!(scratch.json("s.json")["pairs"], whole["pairs"]);
    let other = scratch.run(&[&base[..], &["--resume", "state", "--seed", "1"]].concat()).code(2);
    assert!(other.err.contains("--resume"), "{}", other.err);
    // What is read off the shares is not part of a pair.
    let kept = ["--resume", "state", "--max-false", "4", "--assume", "unimodal"];
    scratch.run(&[&BASE[..], &["--pairs", "12", "--json", "s.json"], &kept].concat()).code(0);
    assert_eq!(scratch.json("s.json")["pairs"], whole["pairs"]);
    let ran = scratch.run(&[&base[..], &["--time-limit", "1ms"]].concat()).code(3);
    let cut = scratch.json("s.json");
    assert_eq!(cut["status"], "time_limit", "{}", ran.err);
}

#[test]
fn the_page_of_the_run_is_that_of_its_json() {
    let scratch = Scratch::new("stability_page");
    scratch.file("d.csv", generated(40, 9, &["a", "b"], 3));
    let more = ["--pairs", "5", "--threshold", "0.8", "--json", "s.json", "--report", "a.html"];
    scratch.run(&[&BASE[..], &more].concat()).code(0);
    scratch.run(&["report", "s.json", "-o", "b.html"]).code(0);
    let page = scratch.read("a.html");
    assert_eq!(page, scratch.read("b.html"));
    assert!(page.contains("What rfe selects again and again") && page.contains("80") && page.contains("f2"));
    let out = scratch.run(&[&BASE[..], &["--pairs", "5", "--threshold", "0.8"]].concat()).code(0).out;
    assert!(out.contains("10 of 20 samples each, 5 pairs") && out.contains("what 8 of 10 halves select"), "{out}");
    assert_eq!(scratch.json("s.json")["settings"]["max_features"], json!(3));
}
