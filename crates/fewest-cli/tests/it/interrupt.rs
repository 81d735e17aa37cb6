//! Ctrl-C: once to finish with the best so far, twice to leave.
#![cfg(unix)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ran, Scratch, generated};

/// A run long enough to be interrupted: it would take minutes.
fn long_run(scratch: &Scratch, extra: &[&str]) -> Child {
    scratch.file("d.csv", generated(1500, 700, &["no", "yes"], 21));
    let arguments = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "--cost", "100", "--trace", "t.jsonl"];
    scratch
        .command(&[&arguments[..], extra].concat())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("fewest can be started")
}

/// Waits until the trace holds these words.
fn wait_for(words: &str, scratch: &Scratch, child: &mut Child) {
    let start = Instant::now();
    while !std::fs::read_to_string(scratch.path("t.jsonl")).is_ok_and(|trace| trace.contains(words)) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be interrupted");
        assert!(start.elapsed() < Duration::from_secs(300), "no such event within five minutes");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
}

#[test]
fn once_ends_with_the_best_subset_so_far() {
    ends_with_a_subset("interrupt_once", "\"call\":2");
}

#[test]
fn once_during_the_first_training_ends_with_a_subset() {
    for attempt in 0..5 {
        ends_with_a_subset(&format!("interrupt_early_{attempt}"), "progress");
    }
}

#[test]
fn a_path_ends_with_what_is_done() {
    let scratch = Scratch::new("interrupt_path");
    scratch.file("d.csv", generated(300, 60, &["no", "yes"], 5));
    let arguments = ["path", "d.csv", "-m", "exact", "--max-features", "1,25,26", "--cost", "100"];
    let outputs = ["--trace", "t.jsonl", "--json", "p.json"];
    let mut command = scratch.command(&[&arguments[..], &outputs].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("\"max_features\":25", &scratch, &mut child);
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap()).code(3);
    assert!(ran.err.contains("cancelled; 1 size of 3 not begun"), "{}", ran.err);
    let results = scratch.json("p.json")["path"].as_array().unwrap().clone();
    let statuses: Vec<&str> = results.iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["optimal", "cancelled"]);
    assert!(ran.out.contains("\n   1  optimal") && ran.out.contains("\n  25  cancelled"), "{}", ran.out);
}

#[test]
fn an_evaluation_goes_on_to_the_result_of_an_uninterrupted_one() {
    let scratch = Scratch::new("interrupt_evaluate");
    scratch.file("d.csv", generated(200, 60, &["a", "b", "c"], 12));
    let evaluate =
        ["evaluate", "d.csv", "-m", "rfe", "--kernel", "rbf", "--max-features", "5", "--cv", "5", "--repeats", "3"];
    scratch.run(&[&evaluate[..], &["--json", "whole.json"]].concat()).code(0);
    let resumed = [&evaluate[..], &["--resume", "state.json", "--json", "parts.json", "--threads", "1"]].concat();
    let mut command = scratch.command(&resumed);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while !scratch.path("state.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be interrupted");
        assert!(start.elapsed() < Duration::from_secs(300), "no fold within five minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap()).code(3);
    assert!(ran.err.contains("of 15 not done"), "{}", ran.err);
    let done = scratch.json("parts.json")["folds"].as_array().unwrap().len();
    assert!((1..15).contains(&done), "{done} folds");
    scratch.run(&resumed).code(0);
    let timeless = |name: &str| {
        let mut report = scratch.json(name);
        report["folds"].as_array_mut().unwrap().iter_mut().for_each(|fold| fold["seconds"] = 0.into());
        report["command"] = 0.into();
        report
    };
    assert_eq!(timeless("whole.json"), timeless("parts.json"));
}

#[test]
fn a_certificate_that_is_interrupted_leaves_the_selection() {
    let scratch = Scratch::new("interrupt_certificate");
    scratch.file("d.csv", generated(300, 60, &["no", "yes"], 5));
    let arguments = ["select", "d.csv", "-m", "rfe", "--max-features", "25", "--cost", "100", "--certify=10m"];
    let outputs = ["--trace", "t.jsonl", "--json", "r.json"];
    let mut command = scratch.command(&[&arguments[..], &outputs].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("\"event\":\"certificate\"", &scratch, &mut child);
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap()).code(3);
    let result = scratch.json("r.json");
    assert_eq!((&result["status"], &result["certificate"]["status"]), (&"completed".into(), &"cancelled".into()));
    assert_eq!(result["selected"].as_array().unwrap().len(), 25);
    // Lines are broken between words.
    let words = ran.out.replace('\n', " ");
    assert!(words.contains("certificate: ") && words.contains("; cancelled"), "{}", ran.out);
}

#[test]
fn a_list_is_told_what_is_proven_until_then() {
    let scratch = Scratch::new("interrupt_list");
    scratch.file("d.csv", generated(300, 60, &["no", "yes"], 5));
    let list: Vec<String> = (21..46).map(|j| format!("f{j}")).collect();
    scratch.file("list.txt", list.join("\n"));
    let arguments = ["certify", "d.csv", "--features", "list.txt", "--cost", "100", "--proof", "p.proof"];
    let outputs = ["--trace", "t.jsonl", "--json", "r.json"];
    let mut command = scratch.command(&[&arguments[..], &outputs].concat());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("\"event\":\"bound\"", &scratch, &mut child);
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap()).code(3);
    let result = scratch.json("r.json");
    assert_eq!((&result["status"], &result["max_features"]), (&"cancelled".into(), &25.into()));
    assert!(result["bound"].as_f64().unwrap() < result["objective"].as_f64().unwrap());
    assert!(result["features"].as_array().unwrap().iter().all(|one| one["gain"].is_number()));
    assert!(ran.err.contains("this is what is proven so far"), "{}", ran.err);
    assert!(scratch.run(&["verify", "p.proof", "d.csv"]).code(0).out.starts_with("VERIFIED"));
}

/// Interrupts when the trace holds `words`; the run must end with exit 3 and a subset that
/// satisfies the rules.
fn ends_with_a_subset(test: &str, words: &str) {
    let scratch = Scratch::new(test);
    let mut child = long_run(&scratch, &["--json", "r.json"]);
    wait_for(words, &scratch, &mut child);
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap()).code(3);
    assert!(ran.err.contains("cancelled"), "{}", ran.err);
    assert!(ran.out.contains("cancelled"), "{}", ran.out);
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "cancelled");
    let size = result["selected"].as_array().unwrap().len();
    assert!((1..=3).contains(&size), "{size} features");
    assert!(result["model"]["weights"].is_object());
}

#[test]
fn twice_leaves_at_once() {
    let scratch = Scratch::new("interrupt_twice");
    let mut child = long_run(&scratch, &["--json", "r.json"]);
    wait_for("progress", &scratch, &mut child);
    // Both are sent before the run can act on the first: it is stopped meanwhile.
    let stop = |signal: &str| Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    stop("-STOP");
    interrupt(&child);
    stop("-CONT");
    interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    // Where the run was quicker than the second signal, it ended as after the first.
    assert!(matches!(ran.code, Some(130 | 3)), "{:?}", ran.code);
    assert!(ran.code == Some(3) || !scratch.path("r.json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn what_has_nothing_to_keep_ends_by_the_signal_and_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt as _;
    let scratch = Scratch::new("interrupt_generate");
    let big =
        ["generate", "hyperplane", "--samples", "200000", "--features", "2000", "--relevant", "5", "--out", "d.csv"];
    // A shell without job control lets what it starts ignore the signal; `env` takes that back.
    let plain = scratch.command(&big);
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(plain.get_program()).args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap());
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    interrupt(&child);
    let start = Instant::now();
    let ended = child.wait_with_output().unwrap().status;
    assert_eq!((ended.code(), ended.signal()), (None, Some(2)));
    assert!(start.elapsed() < Duration::from_secs(2) && scratch.files().is_empty(), "{:?}", scratch.files());
}

/// A program that reads standard error gets lines of progress when it asks for them.
#[test]
fn progress_comes_in_lines_where_a_program_asks() {
    let scratch = Scratch::new("progress_lines");
    scratch.file("d.csv", generated(200, 120, &["no", "yes"], 22));
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "12"];
    let run = |value: &str, extra: &[&str]| {
        let mut command = scratch.command(&[&select[..], extra].concat());
        Ran::from(command.env("FEWEST_PROGRESS", value).output().expect("fewest can be started")).code(3).err
    };
    let lines = run("lines", &["--time-limit", "5s"]);
    // One within two seconds; the next would come ten seconds later.
    let [line] = lines.lines().filter(|line| line.starts_with("progress: ")).collect::<Vec<_>>()[..] else {
        panic!("{lines}");
    };
    assert!(line.contains(" s of at most 5s, ") && line.contains("incumbent") && line.contains("bound"), "{line}");
    assert!(line.contains(", at most ") && line.ends_with(" s left"), "{line}");
    assert!(!run("", &["--time-limit", "2500ms"]).contains("progress: "));
    assert!(!run("lines", &["--quiet", "--time-limit", "2500ms"]).contains("progress: "));
}
