//! `fewest knockoffs`: what is found where there is something and where there is nothing, refusals,
//! limits, what does not change the result.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Noise, Scratch};

/// Samples of uniform features, and a class that the first `relevant` of them say.
fn sampled(n: usize, p: usize, relevant: usize, seed: u64) -> String {
    let mut noise = Noise(seed);
    let names: Vec<String> = (0..p).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..n {
        let row: Vec<f64> = (0..p).map(|_| noise.next()).collect();
        for x in &row {
            let _ = write!(text, "{x:.4},");
        }
        let sum: f64 = row[..relevant].iter().sum::<f64>() + 0.3 * noise.next();
        let class = if relevant == 0 { i % 2 == 0 } else { sum > 0.0 };
        let _ = writeln!(text, "{}", if class { "a" } else { "b" });
    }
    text
}

fn indices(result: &Value) -> Vec<u64> {
    result["selected_indices"].as_array().unwrap().iter().map(|j| j.as_u64().unwrap()).collect()
}

/// The result without times and the command.
fn timeless(mut result: Value) -> Value {
    for draw in result["draws"].as_array_mut().into_iter().flatten() {
        draw["seconds"] = Value::Null;
    }
    (result["seconds"], result["command"]) = (Value::Null, Value::Null);
    result
}

const METHODS: [&[&str]; 4] = [
    &["-m", "rfe", "--cost", "0.1"],
    &["-m", "fgm", "--subset-size", "10", "--cost", "0.1"],
    &["-m", "l1-svm", "--cost", "0.1"],
    &["-m", "info-gain", "--binning", "4"],
];

#[test]
fn what_matters_is_found_by_every_method_and_little_else() {
    let scratch = Scratch::new("knockoffs_found");
    let runs = 8;
    for method in METHODS {
        let (mut power, mut false_share) = (0.0, 0.0);
        for seed in 0..runs {
            scratch.file("d.csv", sampled(400, 30, 8, seed));
            let options = ["knockoffs", "d.csv", "--fdr", "0.2", "--json", "k.json"];
            let ran = scratch.run(&[&options[..], method].concat()).code(0);
            assert!(ran.out.contains("20 % false on average") && ran.out.contains("x0"), "{}", ran.out);
            let result = scratch.json("k.json");
            let found = indices(&result);
            let false_ones = found.iter().filter(|j| **j >= 8).count();
            power += (found.len() - false_ones) as f64 / 8.0 / runs as f64;
            false_share += false_ones as f64 / found.len().max(1) as f64 / runs as f64;
            // The threshold is that of the statistics.
            let statistics = result["statistics"].as_object().unwrap().values();
            let statistics: Vec<f64> = statistics.map(|w| w.as_f64().unwrap()).collect();
            let t = result["draws"][0]["threshold"].as_f64().unwrap_or(f64::INFINITY);
            let above: Vec<u64> = (0..30).filter(|&j| statistics[j as usize] >= t).collect();
            assert_eq!(found, above);
            let below = statistics.iter().filter(|w| **w <= -t).count();
            assert!(found.is_empty() || (1 + below) as f64 <= 0.2 * found.len() as f64 + 1e-9);
        }
        // The share of one selection has a deviation of some 0.15, their mean one of 0.05.
        assert!(power >= 0.8 && false_share <= 0.35, "{method:?}: {power} found, {false_share} false");
    }
}

#[test]
fn where_nothing_is_to_be_found_little_is() {
    let scratch = Scratch::new("knockoffs_null");
    let mut runs = 0;
    for seed in 0..20 {
        scratch.file("d.csv", sampled(60, 30, 0, seed));
        scratch.run(&["knockoffs", "d.csv", "-m", "rfe", "--step", "half", "--json", "k.json"]).code(0);
        runs += u32::from(!indices(&scratch.json("k.json")).is_empty());
    }
    // 4 expected at most; 10 or more by chance in 1 of 400 such tests.
    assert!(runs < 10, "{runs} of 20 selections without a meaning");
}

#[test]
fn threads_do_not_change_the_draws_and_seeds_do() {
    let scratch = Scratch::new("knockoffs_threads");
    scratch.file("d.csv", sampled(120, 40, 6, 5));
    let of = |more: &[&str]| {
        let base = ["knockoffs", "d.csv", "-m", "rfe", "--step", "half", "--json", "k.json"];
        scratch.run(&[&base[..], more].concat()).code(0);
        timeless(scratch.json("k.json"))
    };
    let two = of(&["--draws", "2", "--threads", "1"]);
    assert_eq!(two, of(&["--draws", "2", "--threads", "2"]));
    assert_eq!(two["least_selected"], 10);
    assert_ne!(two["statistics"], of(&["--draws", "2", "--seed", "1"])["statistics"]);
    // More features than samples: copies by the other route.
    scratch.file("d.csv", sampled(40, 60, 6, 6));
    let one = of(&[]);
    assert!(one["shrinkage"].as_f64().unwrap() > 0.1, "{}", one["shrinkage"]);
    assert_eq!(one["statistics"].as_object().unwrap().len(), 60);
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let scratch = Scratch::new("knockoffs_refused");
    scratch.file("d.csv", sampled(30, 6, 2, 0));
    scratch.file("same.csv", "a,b,y\n1,2,u\n1,2,v\n1,2,u\n1,2,v\n");
    let cases: [(&[&str], &[&str]); 8] = [
        (&["d.csv", "-m", "exact"], &["exact gives no importance", "rfe, fgm, l1-svm and info-gain"]),
        (&["d.csv", "-m", "fgm"], &["--subset-size B"]),
        (&["d.csv", "-m", "rfe", "--cost", "auto"], &["--cost auto", "give a number"]),
        (&["d.csv", "-m", "rfe", "--fdr", "1"], &["--fdr", "between 0 and 1"]),
        (&["d.csv", "-m", "rfe", "--draws", "0"], &["--draws", "at least 1"]),
        (&["d.csv", "-m", "rfe", "--max-features", "2"], &["--max-features", "not of knockoffs"]),
        (&["d.csv", "-m", "rfe", "--costs", "0.1,1"], &["--costs", "not of knockoffs"]),
        (&["same.csv", "-m", "rfe"], &["every feature has one value only"]),
    ];
    for (arguments, words) in cases {
        let ran = scratch.run(&[&["knockoffs"], arguments].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "{arguments:?}: {} misses {word}", ran.err);
        }
    }
    let ran = scratch.run(&["knockoffs", "d.csv", "-m", "rfe", "--memory", "3k"]).code(2);
    assert!(ran.err.contains("memory"), "{}", ran.err);
}

#[test]
fn a_limit_leaves_draws_out_and_says_so() {
    let scratch = Scratch::new("knockoffs_limit");
    scratch.file("d.csv", sampled(200, 200, 5, 2));
    let ran = scratch
        .run(&["knockoffs", "d.csv", "-m", "rfe", "--draws", "100000", "--time-limit", "1s", "--json", "k.json"])
        .code(3);
    assert!(ran.err.contains("of 100000 not done"), "{}", ran.err);
    let result = scratch.json("k.json");
    assert_eq!(result["status"], "time_limit");
    assert!(result["draws"].as_array().unwrap().len() < 100_000);
    // No time for the copies themselves.
    let none = ["knockoffs", "d.csv", "-m", "rfe", "--time-limit", "0s", "--json", "k.json", "--report", "k.html"];
    scratch.run(&none).code(3);
    let result = scratch.json("k.json");
    assert_eq!((&result["status"], &result["separation"]), (&"time_limit".into(), &Value::Null));
    assert_eq!(indices(&result), Vec::<u64>::new());
    assert!(scratch.read("k.html").contains("No feature stands out from its copy"));
}

#[test]
fn the_page_of_the_run_is_that_of_its_json() {
    let scratch = Scratch::new("knockoffs_page");
    scratch.file("d.csv", sampled(300, 20, 8, 3));
    let options = ["knockoffs", "d.csv", "-m", "rfe", "--fdr", "0.3", "--json", "k.json", "--report", "a.html"];
    scratch.run(&options).code(0);
    scratch.run(&["report", "k.json", "-o", "b.html"]).code(0);
    let page = scratch.read("a.html");
    assert_eq!(page, scratch.read("b.html"));
    assert!(page.contains("What rfe tells from random copies") && page.contains("30.0 % of those selected are false"));
    // Nothing selected has a page, too.
    scratch.file("d.csv", sampled(30, 4, 0, 3));
    scratch.run(&["knockoffs", "d.csv", "-m", "rfe", "--report", "a.html"]).code(0);
    assert!(scratch.read("a.html").contains("No feature stands out from its copy"));
}
