//! `--resume`: runs that are killed, interrupted or stopped at a limit go on to the result of a run
//! that is not; states of other runs and damaged ones are refused.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// The data that the project ships.
const WDBC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/wdbc.csv");

/// What a result has in common with that of a run that was not stopped.
fn answer(result: &Value) -> Value {
    let mut keys = serde_json::Map::new();
    let all = ["status", "selected", "objective", "bound", "solutions", "counts"];
    // Trainings of rfe start elsewhere: numbers may differ in their last digits.
    let rfe = result["method"] == "rfe";
    for key in if rfe { &all[..2] } else { &all[..] } {
        keys.insert((*key).to_owned(), result[key].clone());
    }
    let ranked = result["ranking"].as_array().into_iter().flatten();
    keys.insert("ranking".to_owned(), ranked.map(|r| json!([r["feature"], r["step"]])).collect());
    keys.into()
}

/// Runs with `--resume`, killed this often at a random moment after it has kept something, within a
/// third of what the run takes when it is left alone; then to its end. The answer must be the same.
fn killed_at_random(scratch: &Scratch, arguments: &[&str], kills: usize, seed: u64) {
    let start = Instant::now();
    scratch.run(&[arguments, &["--json", "whole.json"]].concat()).code(0);
    let third = start.elapsed().as_micros() as u64 / 3;
    let resume = [arguments, &["--resume", "state", "--resume-every", "2ms", "--json", "parts.json"]].concat();
    let written = || std::fs::metadata(scratch.path("state")).and_then(|file| file.modified()).ok();
    let (mut random, mut killed) = (seed, 0);
    for _ in 0..kills {
        let before = written();
        let mut child = scratch.command(&resume).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let start = Instant::now();
        while written() == before && child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(300), "nothing is kept");
            std::thread::sleep(Duration::from_millis(1));
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros((random >> 40) % third.clamp(1, 20_000)));
        killed += usize::from(child.try_wait().unwrap().is_none());
        // It may have ended just now.
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(killed > 0, "each ended before it was killed");
    scratch.run(&resume).code(0);
    assert_eq!(answer(&scratch.json("parts.json")), answer(&scratch.json("whole.json")), "{killed} kills");
}

/// Runs once for each of these lives, in milliseconds, and kills; how many had not ended by then.
fn killed_after(scratch: &Scratch, arguments: &[&str], lives: &[u64]) -> usize {
    let killed = |life: &&u64| {
        let mut child = scratch.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(**life));
        let alive = child.try_wait().unwrap().is_none();
        // It may have ended just now.
        let _ = child.kill();
        child.wait().unwrap();
        alive
    };
    lives.iter().filter(killed).count()
}

#[test]
fn exact_killed_twenty_times_gives_the_same_answer() {
    let scratch = Scratch::new("resume_exact");
    let arguments = ["select", WDBC, "-m", "exact", "--max-features", "8", "--cost", "1", "--threads", "1"];
    killed_at_random(&scratch, &[&arguments[..], &["--proof", "x.proof"]].concat(), 20, 1);
    scratch.run(&["verify", "x.proof", WDBC, "--json", "verdict.json"]).code(0);
    let (verdict, whole) = (scratch.json("verdict.json"), scratch.json("whole.json"));
    let gap = verdict["gap"].as_f64().unwrap();
    assert!(gap <= 1e-4 && verdict["objective"].as_f64() >= whole["objective"].as_f64(), "{verdict}");
    assert!(!scratch.path(".x.proof.part").exists());
}

#[test]
fn rfe_killed_twenty_times_gives_the_same_answer() {
    let scratch = Scratch::new("resume_rfe");
    scratch.file("d.csv", generated(300, 120, &["no", "yes"], 12));
    let arguments = ["select", "d.csv", "-m", "rfe", "--kernel", "rbf", "--max-features", "3", "--threads", "1"];
    killed_at_random(&scratch, &arguments, 20, 2);
}

#[test]
fn a_path_killed_ten_times_gives_the_same_answers() {
    let scratch = Scratch::new("resume_path");
    let path = ["path", WDBC, "-m", "exact", "--max-features", "1..5", "--cost", "0.1", "--proof", "x.proof"];
    scratch.run(&[&path[..], &["--json", "whole.json"]].concat()).code(0);
    let resume = [&path[..], &["--resume", "state", "--resume-every", "5ms", "--json", "parts.json"]].concat();
    killed_after(&scratch, &resume, &[100, 150, 250, 400, 200, 300, 500, 150, 250, 350]);
    scratch.run(&resume).code(0);
    let answers = |name: &str| scratch.json(name)["path"].as_array().unwrap().iter().map(answer).collect::<Vec<_>>();
    assert_eq!(answers("parts.json"), answers("whole.json"));
    for size in 1..=5 {
        scratch.run(&["verify", &format!("x-k{size}.proof"), WDBC]).code(0);
    }
}

#[test]
fn kta_killed_ten_times_gives_the_same_answer_and_proof() {
    let scratch = Scratch::new("resume_kta");
    scratch.file("d.csv", generated(500, 24, &["a", "b", "c"], 12));
    let arguments = ["select", "d.csv", "-m", "kta", "--max-features", "10", "--gap", "0", "--threads", "1"];
    killed_at_random(&scratch, &[&arguments[..], &["--proof", "x.proof"]].concat(), 10, 3);
    scratch.run(&["verify", "x.proof", "d.csv", "--json", "verdict.json"]).code(0);
    let (verdict, whole) = (scratch.json("verdict.json"), scratch.json("whole.json"));
    assert!(verdict["gap"].as_f64().unwrap() <= 1e-9, "{verdict}");
    assert_eq!(verdict["selected"], whole["selected"]);
}

#[cfg(feature = "highs")]
#[test]
fn mbp_killed_ten_times_proves_the_same_answer() {
    let scratch = Scratch::new("resume_mbp");
    scratch.file("d.csv", generated(60, 40, &["no", "yes"], 12));
    let arguments =
        ["select", "d.csv", "-m", "mbp", "--penalty", "0.1", "--weight-bound", "3", "--gap", "1e-6", "--threads", "1"];
    let arguments = [&arguments[..], &["--proof", "x.proof", "--resume", "state", "--resume-every", "2ms"]].concat();
    let lives: Vec<u64> = (1..=10).map(|life| 60 * life).collect();
    assert!(killed_after(&scratch, &arguments, &lives) > 0, "each ended before it was killed");
    scratch.run(&[&arguments[..], &["--json", "parts.json"]].concat()).code(0);
    scratch.run(&["verify", "x.proof", "d.csv", "--json", "verdict.json"]).code(0);
    let (verdict, parts) = (scratch.json("verdict.json"), scratch.json("parts.json"));
    assert_eq!((&verdict["selected"], parts["status"].as_str()), (&parts["selected"], Some("optimal")));
    assert!(verdict["gap"].as_f64().unwrap() <= 1e-6, "{verdict}");
}

/// On a path every size that a limit ended resumes from its own state, and so does its proof.
#[test]
fn proofs_of_a_path_that_limits_stopped_go_on() {
    let scratch = Scratch::new("resume_path_proof");
    let path = ["path", WDBC, "-m", "exact", "--max-features", "4..6", "--proof", "x.proof", "--resume", "state"];
    scratch.run(&[&path[..], &["--node-limit", "60"]].concat()).code(3);
    let gap = |size: usize| {
        let proof = format!("x-k{size}.proof");
        scratch.run(&["verify", &proof, WDBC, "--json", "verdict.json"]).code(0);
        scratch.json("verdict.json")["gap"].as_f64().unwrap()
    };
    assert!((4..=6).all(|size| gap(size) > 1e-4));
    scratch.run(&path).code(0);
    assert!((4..=6).all(|size| gap(size) <= 1e-4));
}

/// Stops a run with these options, and goes on without them.
fn stopped_and_resumed(name: &str, arguments: &[&str], stop: &[&str]) -> (Value, Value) {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(40, 14, &["no", "yes"], 12));
    let resume = [arguments, &["--resume", "state", "--json", "parts.json"]].concat();
    scratch.run(&[arguments, &["--json", "whole.json"]].concat()).code(0);
    scratch.run(&[&resume[..], stop].concat()).code(3);
    let stopped = scratch.json("parts.json");
    scratch.run(&resume).code(0);
    let (parts, whole) = (scratch.json("parts.json"), scratch.json("whole.json"));
    assert_ne!(stopped["status"], parts["status"]);
    for key in ["status", "selected"] {
        assert_eq!(parts[key], whole[key], "{name}: {key}");
    }
    let value = |result: &Value| result["objective"].as_f64().unwrap();
    // gbd trains to a gap of 1e-6.
    assert!((value(&parts) - value(&whole)).abs() <= 1e-5 * value(&whole).abs(), "{name}");
    // Started once more, there is nothing left to do, and the same to say.
    scratch.run(&resume).code(0);
    assert_eq!(answer(&scratch.json("parts.json"))["selected"], answer(&parts)["selected"]);
    (parts, whole)
}

#[test]
fn what_a_limit_stopped_goes_on_to_the_same_answer() {
    let select = |method| ["select", "d.csv", "-m", method, "--max-features", "4"];
    let (parts, whole) = stopped_and_resumed("resume_nodes_exact", &select("exact"), &["--node-limit", "9"]);
    assert_eq!(answer(&parts), answer(&whole));
    let (parts, whole) = stopped_and_resumed("resume_nodes_kta", &select("kta"), &["--node-limit", "2"]);
    assert_eq!(answer(&parts), answer(&whole));
}

#[cfg(feature = "highs")]
#[test]
fn what_a_limit_stopped_goes_on_where_highs_solves_the_programs() {
    let gbd = ["select", "d.csv", "-m", "gbd", "--max-features", "2", "--cost", "0.3"];
    let mbp = ["select", "d.csv", "-m", "mbp", "--penalty", "0.3", "--weight-bound", "3"];
    stopped_and_resumed("resume_cuts_gbd", &gbd, &["--max-cuts", "6"]);
    stopped_and_resumed("resume_nodes_mbp", &mbp, &["--node-limit", "3"]);
}

#[test]
fn states_of_other_runs_and_damaged_ones_are_refused() {
    let scratch = Scratch::new("resume_refused");
    scratch.file("d.csv", generated(40, 12, &["no", "yes"], 12));
    scratch.file("other.csv", generated(40, 12, &["no", "yes"], 13));
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--resume", "state"];
    scratch.run(&select).code(0);
    let kept = std::fs::read(scratch.path("state")).unwrap();
    let refused = |arguments: &[&str], words: &[&str]| {
        let ran = scratch.run(arguments).code(2);
        for word in words {
            assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
        }
        assert!(std::fs::metadata(scratch.path("state")).is_ok_and(|file| file.len() > 0), "the state is kept");
    };
    let with = |more: &[&'static str]| [&select[..], more].concat();
    refused(&with(&["--cost", "2"]), &["--resume", "state", "whose cost was 1.0, but it is 2.0 now"]);
    refused(&with(&["--require", "f1"]), &["whose require was []"]);
    refused(&with(&["--gap", "1e-3"]), &["whose gap was"]);
    refused(&["select", "other.csv", "-m", "exact", "--max-features", "3", "--resume", "state"], &["other data"]);
    refused(&["select", "d.csv", "-m", "kta", "--max-features", "3", "--resume", "state"], &["whose"]);
    refused(&["path", "d.csv", "-m", "exact", "--max-features", "3", "--resume", "state"], &["whose"]);
    refused(&["select", "d.csv", "-m", "exact", "--max-features", "3", "--resume-every", "1s"], &["--resume"]);
    refused(&["select", "d.csv", "-m", "exact", "--max-features", "3", "--resume", "d.csv"], &["d.csv"]);
    // Limits and the place of the data may be others.
    std::fs::copy(scratch.path("d.csv"), scratch.path("moved.csv")).unwrap();
    let moved = ["select", "moved.csv", "-m", "exact", "--max-features", "3", "--resume", "state"];
    scratch.run(&[&moved[..], &["--node-limit", "100000", "--memory", "1G"]].concat()).code(0);
    // A byte changed anywhere, or an end that is missing.
    let mut at = 0;
    while at < kept.len() {
        let mut changed = kept.clone();
        changed[at] ^= 0x20;
        scratch.file("state", &changed);
        let ran = scratch.run(&select).code(2);
        assert!(ran.err.contains("--resume"), "byte {at}: {}", ran.err);
        scratch.file("state", &kept[..at]);
        let ran = scratch.run(&select).code(2);
        assert!(ran.err.contains("--resume"), "cut at {at}: {}", ran.err);
        at += kept.len().div_ceil(12);
    }
    scratch.file("state", "{\"run\": {}, \"state\": {}}\n");
    refused(&select, &["not a file that --resume wrote"]);
    scratch.file("state", "fewest state 99\n0123456789");
    refused(&select, &["another version"]);
    scratch.file("state", &kept);
    scratch.run(&select).code(0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_state() {
    let scratch = Scratch::new("resume_interrupt");
    scratch.file("d.csv", generated(300, 60, &["no", "yes"], 5));
    let arguments = ["select", "d.csv", "-m", "exact", "--max-features", "25", "--cost", "100"];
    let outputs = ["--resume", "state", "--trace", "t.jsonl", "--json", "r.json"];
    let run = [&arguments[..], &outputs].concat();
    let mut child = scratch.command(&run).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !std::fs::read_to_string(scratch.path("t.jsonl")).is_ok_and(|trace| trace.contains("\"progress\"")) {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be interrupted");
        assert!(start.elapsed() < Duration::from_secs(300), "no node within five minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success() && child.wait().unwrap().code() == Some(3));
    let before = scratch.json("r.json");
    assert!(scratch.path("state").exists() && before["status"] == "cancelled");
    let nodes = before["counts"]["nodes"].as_u64().unwrap();
    let limit = (nodes + 40).to_string();
    scratch.run(&[&run[..], &["--node-limit", &limit]].concat()).code(3);
    let after = scratch.json("r.json");
    assert_eq!(after["status"], "node_limit");
    let value = |result: &Value, key: &str| result[key].as_f64().unwrap();
    assert!(value(&after, "objective") <= value(&before, "objective") && value(&after, "bound") > 0.0);
    assert!(value(&after, "seconds") > value(&before, "seconds"), "the time is that of both calls");
}
