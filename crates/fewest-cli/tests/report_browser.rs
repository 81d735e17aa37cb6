//! Reports of real runs, opened in Debian's Chromium: every chart with all its points, no error,
//! sorting, colours, print, and names that would do harm.
//!
//! `FEWEST_BROWSER` names the browser and `FEWEST_PEERS_PYTHON` a Python with playwright;
//! `make test` brings both. Without them the test says so and passes. Screenshots and PDFs are left
//! in `$FEWEST_SCREENSHOTS`, else in the target folder under `tmp/report_browser/seen`.

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use common::{Noise, Scratch};
use fewest_testing::data_file;
use serde_json::{Value, json};

/// Browser and Python, or None with the reason printed.
fn tools() -> Option<(String, String)> {
    let named = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let found = named("FEWEST_BROWSER").zip(named("FEWEST_PEERS_PYTHON").filter(|python| {
        let imports = Command::new(python).args(["-c", "import playwright, axe_playwright_python"]).output();
        imports.is_ok_and(|out| out.status.success())
    }));
    if found.is_none() {
        let reason = "FEWEST_BROWSER and FEWEST_PEERS_PYTHON name no browser and no Python with playwright";
        let _ = writeln!(std::io::stderr(), "skipped: {reason}");
    }
    found
}

fn length(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

/// Points of the trace that are drawn: at most some 400 of each line, always the first and the
/// last, and one more at the end.
fn trace(result: &Value) -> usize {
    let drawn = |key: &str| match length(&result["trace"][key]) {
        0 => 0,
        many => (many - 1).div_ceil(many.div_ceil(400)) + 2,
    };
    drawn("incumbent") + drawn("bound")
}

/// Bars of what a bound leaves open: what is reached, and the rest, if any.
fn gap(proven: &Value) -> usize {
    if proven["gap"].as_f64() > Some(0.0) { 2 } else { 1 }
}

/// Groups of a calibration.
fn bins(result: &Value) -> usize {
    length(&result["calibration"]["bins"])
}

/// Features that more than one fold chose, or all where none was, 30 at most.
fn again(result: &Value) -> usize {
    let (folds, shares) = (length(&result["folds"]) as f64, result["frequency"].as_object().unwrap());
    let again = shares.values().filter(|share| share.as_f64().unwrap() * folds >= 1.5).count();
    if again > 0 { again.min(30) } else { shares.len().min(30) }
}

/// The marks that the charts of a selection must have.
fn of_selection(result: &Value) -> Value {
    let k = length(&result["selected"]);
    let mut marks = json!({"correlations": k.min(20) * k.min(20)});
    if result["bound"].is_number() {
        marks["gap"] = json!(gap(result));
    }
    if trace(result) > 2 {
        marks["trace"] = json!(trace(result));
    }
    marks
}

/// csv with names that would do harm, of which the first three matter.
fn harmful() -> (String, Vec<String>) {
    let names: Vec<String> = vec![
        "<script>alert('ran')</script>".to_owned(),
        "</script><img src=x onerror=alert(1)>".to_owned(),
        "\" onmouseover=\"alert(2)".to_owned(),
        format!("long{}", "x".repeat(10_000)),
        "={{ 7 * 7 }} & </svg></title>".to_owned(),
        "\u{5d0}\u{5d1}\u{5d2} (rtl)".to_owned(),
        "-->]]>'; alert(3) //".to_owned(),
        "\u{202e}backwards".to_owned(),
    ];
    let mut noise = Noise(5);
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let mut text = format!("{},y\n", quoted.join(","));
    for i in 0..80 {
        for j in 0..names.len() {
            let shift = if j < 6 { f64::from(i % 2) } else { 0.0 };
            let _ = write!(text, "{:.4},", noise.next() + shift);
        }
        let _ = writeln!(text, "{}", ["<b>no</b>", "yes & \"no\""][i as usize % 2].replace('"', "'"));
    }
    (text, names)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one session of a browser, which takes long to start")]
fn pages_of_real_runs_work_in_a_browser() {
    let Some((browser, python)) = tools() else { return };
    let scratch = Scratch::new("report_browser");
    let start = Instant::now();
    let mut plan: Vec<Value> = Vec::new();
    let made = |arguments: &[&str], name: &str| -> (PathBuf, Value) {
        let (html, json) = (format!("{name}.html"), format!("{name}.json"));
        let outputs = ["--report", html.as_str(), "--json", json.as_str(), "-q"];
        scratch.run(&[arguments, &outputs].concat()).code(0);
        (scratch.path(&html), scratch.json(&json))
    };

    let wdbc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wdbc.csv");
    let path = ["path", wdbc, "--method", "exact", "--max-features", "1..10", "--cost", "0.1", "--cv", "3"];
    let (file, path) = made(&path, "wdbc");
    let results = path["path"].as_array().unwrap();
    let chosen: usize = results.iter().map(|r| length(&r["selected"])).sum();
    let longest = results
        .iter()
        .max_by(|a, b| a["seconds"].as_f64().unwrap().total_cmp(&b["seconds"].as_f64().unwrap()))
        .unwrap();
    plan.push(json!({"name": "wdbc", "file": file, "marks": {
        "objective": 10, "accuracy": 10, "members": chosen, "trace": trace(longest), "correlations": 100
    }}));

    let study = ["study", wdbc, "--max-features", "1..4", "--folds", "3", "--repeats", "1", "--inner-cv", "3"];
    let (file, result) = made(&[&study[..], &["--cost-points", "4", "--model", "panel.json"]].concat(), "study");
    let certificate = &result["panel"]["certificate"];
    let panel = if certificate.is_object() { certificate } else { &result["panel"] };
    plan.push(json!({"name": "study", "file": file, "marks": {
        "measures": 5, "gap": gap(panel), "folds": 3, "sizes": 5, "decision-curve": 0, "roc": 0, "calibration": bins(&result),
        "confusion": 4, "frequency": again(&result)
    }}));

    let (file, result) = made(&["predict", "panel.json", wdbc, "--out", "predicted.csv"], "predict");
    let marks = json!({"measures": 5, "roc": 0, "calibration": bins(&result), "confusion": 4});
    plan.push(json!({"name": "predict", "file": file, "marks": marks}));

    if let Some(german) = data_file("german-numeric.csv") {
        let costs: String =
            (1..=24).fold("name,cost\n".to_owned(), |text, j| format!("{text}x{j},{}\n", [1.0, 2.0, 0.5, 3.0][j % 4]));
        scratch.file("costs.csv", costs);
        let arguments = [
            "select",
            german.to_str().unwrap(),
            "--method",
            "exact",
            "--cost",
            "0.1",
            "--max-features",
            "8",
            "--budget",
            "10",
            "--feature-costs",
            "costs.csv",
            "--require",
            "x1",
            "--forbid",
            "x4",
            "--implies",
            "x2:x5",
            "--at-most",
            "2:x10,x11,x12,x16",
            "--together",
            "x17,x18",
        ];
        let (file, result) = made(&arguments, "german");
        plan.push(json!({"name": "german", "file": file, "marks": of_selection(&result)}));
    }
    if let Some(genes) = data_file("leukemia_golub.csv.gz") {
        let genes = genes.to_str().unwrap();
        let arguments = [
            "evaluate",
            genes,
            "--method",
            "rfe",
            "--step",
            "half",
            "--max-features",
            "4,16,64",
            "--inner-cv",
            "3",
            "--choose",
            "one-se",
        ];
        let (file, result) = made(&arguments, "leukemia");
        plan.push(json!({"name": "leukemia", "file": file, "marks": {
            "measures": 5, "confusion": 4, "folds": 10, "sizes": 3, "frequency": again(&result)
        }}));
        let stability =
            ["stability", genes, "--method", "rfe", "--step", "half", "--max-features", "10", "--pairs", "20"];
        let (file, result) = made(&stability, "stability");
        let shown = result["frequency"].as_object().unwrap().len().min(30);
        plan.push(json!({"name": "stability", "file": file, "marks": {"shares": shown}}));
        let (file, result) = made(&["knockoffs", genes, "--method", "rfe", "--step", "half"], "knockoffs");
        let above = result["statistics"].as_object().unwrap().values().filter(|w| w.as_f64() > Some(0.0));
        plan.push(json!({"name": "knockoffs", "file": file, "marks": {"statistics": above.count().min(30)}}));
        let (file, result) =
            made(&["select", genes, "--method", "rfe", "--step", "half", "--max-features", "8"], "genes");
        plan.push(json!({"name": "genes", "file": file, "marks": of_selection(&result), "long": true}));
    }

    if let Some(cells) = data_file("cells/pbmc3k.h5ad") {
        let cells = cells.to_str().unwrap();
        let markers = ["markers", cells, "--target", "celltype", "--max-features", "12"];
        let (file, result) = made(&markers, "markers");
        let mut marks = json!({"by-class": 8, "confusion": 64, "balance-chart": 8, "means": 96, "measures": 4});
        marks["gap"] = json!(gap(&result["panel"]));
        plan.push(json!({"name": "markers", "file": file, "marks": marks}));
        let lists = ["usual=CD79A,MS4A1,NKG7,GNLY,PPBP,FCER1A", "markers.json"];
        let (file, _) = made(&[&["compare", cells, "--target", "celltype"], &lists[..]].concat(), "compare");
        plan.push(json!({"name": "compare", "file": file, "marks": {"lists": 2, "classes": 16, "balance-chart": 8}}));
    }

    let (text, names) = harmful();
    scratch.file("harmful.csv", text);
    let (file, result) = made(&["select", "harmful.csv", "--method", "rfe", "--max-features", "6"], "harmful");
    let seen: Vec<String> = names.iter().map(|name| fewest_report::visible(name)).collect();
    plan.push(json!({"name": "harmful", "file": file, "marks": of_selection(&result), "names": seen}));

    scratch.file("plan.json", json!(plan).to_string());
    let runs = start.elapsed();
    let seen = std::env::var_os("FEWEST_SCREENSHOTS").map_or_else(|| scratch.path("seen"), PathBuf::from);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser/report.py");
    let out = Command::new(python)
        .arg(script)
        .arg(browser)
        .arg(scratch.path("plan.json"))
        .arg(&seen)
        .output()
        .expect("python runs");
    let (told, failed) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{told}\n{failed}");
    let _ = writeln!(
        std::io::stderr(),
        "{told}runs {:.1} s, browser {:.1} s; screenshots: {}",
        runs.as_secs_f64(),
        start.elapsed().as_secs_f64() - runs.as_secs_f64(),
        seen.display()
    );
}
