//! `--report`, `--describe` and `fewest report`: the same page from a run and from its JSON, what
//! the JSON says for it, and bad input.

use std::process::Command;

use serde_json::Value;

use crate::common::{Scratch, generated};

#[test]
fn a_page_from_the_json_is_the_page_of_the_run() {
    let scratch = Scratch::new("report_same");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 3));
    let runs: [&[&str]; 4] = [
        &["select", "d.csv", "--method", "exact", "--max-features", "3"],
        &["select", "d.csv", "--method", "rfe", "--max-features", "3", "--certify=1s"],
        &["path", "d.csv", "--method", "exact", "--max-features", "1..4"],
        &[
            "evaluate",
            "d.csv",
            "--method",
            "rfe",
            "--max-features",
            "1..3",
            "--cv",
            "3",
            "--inner-cv",
            "2",
            "--against",
            "info-gain",
        ],
    ];
    for run in runs {
        scratch.run(&[run, &["--report", "a.html", "--json", "a.json", "-q"]].concat()).code(0);
        let page = scratch.read("a.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{run:?}");
        assert!(page.contains("fewest ") && page.contains(&format!("{} d.csv", run[0])), "the command: {run:?}");
        scratch.run(&["report", "a.json", "-o", "b.html"]).code(0);
        assert_eq!(scratch.read("b.html"), page, "{run:?}");
        assert_eq!(scratch.run(&["report", "a.json", "-o", "-"]).code(0).out, page);
    }
    assert_eq!(scratch.files(), ["a.html", "a.json", "b.html", "d.csv"], "nothing half-written is left");
}

#[test]
fn the_json_tells_the_story_of_the_run() {
    let scratch = Scratch::new("report_story");
    scratch
        .file("d.csv", generated(60, 8, &["no", "yes"], 3))
        .file("c.csv", "f1,2\nf2,1\nf3,1\nf4,1\nf5,1\nf6,1\nf7,1\nf8,1\n");
    let select = [
        "select",
        "d.csv",
        "--method",
        "exact",
        "--max-features",
        "3",
        "--budget",
        "4",
        "--feature-costs",
        "c.csv",
        "--forbid",
        "f4",
    ];
    scratch.run(&[&select[..], &["--json", "plain.json", "-q"]].concat()).code(0);
    let result = scratch.json("plain.json");
    assert!(result.get("description").is_none(), "only where it is asked for");
    assert_eq!(result["class_counts"], serde_json::json!({"-1": 30, "+1": 30}));
    assert!(result["command"].as_str().unwrap().starts_with("fewest select d.csv --method exact"));
    assert_eq!(result["settings"]["feature_costs"]["f1"], 2.0);
    let last = |key: &str| result["trace"][key].as_array().unwrap().last().unwrap()[1].clone();
    assert_eq!((&last("incumbent"), &last("bound")), (&result["objective"], &result["bound"]));

    scratch.run(&[&select[..], &["--describe", "--json", "told.json", "-q"]].concat()).code(0);
    let result = scratch.json("told.json");
    assert_eq!(result["selected"], scratch.json("plain.json")["selected"]);
    let strength = result["description"]["strength"].as_array().unwrap();
    let aucs: Vec<f64> = strength.iter().map(|s| s["auc"].as_f64().unwrap()).collect();
    assert!(
        aucs.len() == 8 && aucs.windows(2).all(|w| w[0] >= w[1]) && aucs.iter().all(|a| (0.5..=1.0).contains(a)),
        "{aucs:?}"
    );
    assert_eq!(strength[0]["feature"], "f3", "it is shifted most");
    let correlations = &result["description"]["correlations"];
    assert_eq!((&correlations["features"], &correlations["matrix"][1][1]), (&result["selected"], &1.0.into()));
    assert_eq!(correlations["matrix"][0][1], correlations["matrix"][1][0]);

    // A stand-in obeys the rules, and its price is that of the training.
    let selected: Vec<&str> = result["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    let stand_ins = result["description"]["stand_ins"].as_array().unwrap();
    assert!(!stand_ins.is_empty());
    for entry in stand_ins {
        let (out, other) = (entry["feature"].as_str().unwrap(), entry["stand_in"].as_str().unwrap());
        assert!(selected.contains(&out) && !selected.contains(&other) && other != "f4");
        let exchanged: Vec<&str> = selected.iter().map(|&name| if name == out { other } else { name }).collect();
        let cost: usize = exchanged.iter().map(|&name| if name == "f1" { 2 } else { 1 }).sum();
        assert!(cost <= 4, "{exchanged:?}");
        let fit = scratch.run(&["fit", "d.csv", "--features", &exchanged.join(","), "--json", "-", "-q"]).code(0).out;
        let objective = serde_json::from_str::<Value>(&fit).unwrap()["objective"].as_f64().unwrap();
        let told = entry["objective"].as_f64().unwrap();
        assert!((told - objective).abs() < 1e-4 * objective, "{told} {objective}");
        let now = result["objective"].as_f64().unwrap();
        let gain = result["baseline"].as_f64().unwrap() - now;
        assert!((entry["loss"].as_f64().unwrap() - (told - now) / gain).abs() < 1e-4);
    }
}

#[test]
fn sizes_are_scored_inside_the_folds() {
    let scratch = Scratch::new("report_inner");
    scratch.file("d.csv", generated(60, 6, &["no", "yes"], 5));
    let arguments = [
        "evaluate",
        "d.csv",
        "--method",
        "rfe",
        "--max-features",
        "1,3",
        "--cv",
        "3",
        "--inner-cv",
        "2",
        "--json",
        "e.json",
        "-q",
    ];
    scratch.run(&arguments).code(0);
    let result = scratch.json("e.json");
    for fold in result["folds"].as_array().unwrap() {
        let inner = fold["inner"].as_array().unwrap();
        let sizes: Vec<u64> = inner.iter().map(|i| i["max_features"].as_u64().unwrap()).collect();
        assert_eq!(sizes, [1, 3]);
        let accuracy = |at: usize| inner[at]["accuracy"].as_f64().unwrap();
        let best = if accuracy(1) > accuracy(0) + 1e-12 { 3 } else { 1 };
        assert_eq!(fold["max_features"], best, "the size chosen is that of best mean");
    }
}

#[test]
fn every_kind_of_run_has_a_page() {
    let scratch = Scratch::new("report_kinds");
    scratch.file("d.csv", generated(60, 6, &["no", "yes"], 3)).file("three.csv", generated(60, 5, &["a", "b", "c"], 7));
    let runs: [(&[&str], i32); 6] = [
        (&["select", "d.csv", "--method", "kta", "--max-features", "2"], 0),
        (&["select", "d.csv", "--method", "eb-rfe", "--candidates", "2", "--costs", "1", "--cv", "3"], 0),
        (&["select", "d.csv", "--method", "exact", "--penalty", "1", "--solutions", "3"], 0),
        (&["select", "d.csv", "--method", "exact", "--max-features", "2", "--time-limit", "0s"], 3),
        (&["select", "three.csv", "--method", "info-gain", "--max-features", "2"], 0),
        (
            &[
                "select",
                "d.csv",
                "--method",
                "exact",
                "--max-features",
                "3",
                "--at-least",
                "2:f1,f2",
                "--budget",
                "1",
                "--feature-costs",
                "c.csv",
            ],
            4,
        ),
    ];
    scratch.file("c.csv", "f1,1\nf2,1\nf3,1\nf4,1\nf5,1\nf6,1\n");
    for (run, code) in runs {
        let ran = scratch.run(&[run, &["--report", "r.html", "-q"]].concat());
        if code == 4 && ran.code == Some(2) {
            // Contradictions that are seen when the rules are built are bad input, and leave no
            // page.
            continue;
        }
        ran.code(code);
        assert!(scratch.read("r.html").contains("</html>"), "{run:?}");
    }
    let page =
        scratch.run(&["select", "three.csv", "-m", "info-gain", "--max-features", "2", "--report", "-"]).code(0).out;
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("60 samples (a: 20, b: 20, c: 20), 5 features"),
        "the page alone is on standard output"
    );
}

#[test]
fn bad_input_is_named_and_nothing_is_written() {
    let scratch = Scratch::new("report_bad");
    scratch
        .file("d.csv", generated(40, 4, &["no", "yes"], 3))
        .file("text.json", "no json")
        .file("m.json", "{\"kind\": \"model\"}");
    let cases: [(&[&str], &str); 7] = [
        (&["report", "none.json", "-o", "x.html"], "none.json: cannot be read: no such file"),
        (&["report", "text.json", "-o", "x.html"], "text.json: no JSON"),
        (
            &["report", "m.json", "-o", "x.html"],
            "m.json: no result of `fewest select`, `path`, `certify`, `evaluate`, `stability`, `knockoffs`, `study`, `markers`, `compare` or `predict`",
        ),
        (&["report", "m.json", "-o", "nowhere/x.html"], "--out nowhere/x.html: cannot be written"),
        (
            &["select", "d.csv", "-m", "rfe", "--max-features", "2", "--report", "nowhere/x.html"],
            "--report nowhere/x.html",
        ),
        (&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--report", "-", "--json", "-"], "only one of"),
        (&["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--describe"], "--describe is an option of select"),
    ];
    for (arguments, message) in cases {
        let ran = scratch.run(arguments).code(2);
        assert!(ran.err.contains(message), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(scratch.files(), ["d.csv", "m.json", "text.json"]);
}

/// Standard output of the command at a terminal of this width.
fn at_a_terminal(scratch: &Scratch, columns: usize, no_colour: bool, arguments: &[&str]) -> Option<String> {
    let python = std::env::var("FEWEST_PEERS_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = "import os, pty, sys\ncode = pty.spawn(sys.argv[1:])\nsys.exit(os.waitstatus_to_exitcode(code))";
    let mut command = Command::new(&python);
    command.args(["-c", script, env!("CARGO_BIN_EXE_fewest")]).args(arguments).current_dir(scratch.path(""));
    command.env("COLUMNS", columns.to_string()).env("LANG", "C.UTF-8").env("TERM", "xterm");
    command.env_remove("LC_ALL").env_remove("LC_CTYPE").env_remove("NO_COLOR");
    if no_colour {
        command.env("NO_COLOR", "1");
    }
    let Ok(out) = command.output() else {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "skipped: {python} is not there, which opens a terminal");
        return None;
    };
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    Some(String::from_utf8(out.stdout).unwrap().replace('\r', ""))
}

#[test]
fn the_terminal_tells_the_story_in_its_width() {
    let scratch = Scratch::new("report_terminal");
    scratch.file(
        "d.csv",
        generated(60, 8, &["no", "yes"], 3).replace("f2,", "f2\u{1b}[31m_with_a_name_much_longer_than_others,"),
    );
    for columns in [64, 100] {
        let path = ["path", "d.csv", "--method", "exact", "--max-features", "1..5", "-q"];
        let Some(text) = at_a_terminal(&scratch, columns, true, &path) else { return };
        assert!(!text.contains('\u{1b}'), "NO_COLOR, and no escape of a name: {text:?}");
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}\n{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").contains("can gain is left out") && text.contains('\u{2588}'), "{text}");
    }
    let select = ["select", "d.csv", "--method", "exact", "--max-features", "2", "-q"];
    let Some(text) = at_a_terminal(&scratch, 100, false, &select) else { return };
    assert!(text.contains("\u{1b}[1mmethod\u{1b}[0m"), "bold without NO_COLOR: {text:?}");
    assert!(text.contains("of what any 2 features can gain is left out"), "{text}");
    let piped = scratch.run(&select).code(0).out;
    assert!(!piped.contains('\u{1b}') && piped.contains("proof      at most "), "{piped}");
}
