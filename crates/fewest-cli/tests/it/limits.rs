//! Limits that a run keeps from its first second, and memory that is asked for before it is taken.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Noise, Ran, Scratch, generated};

/// Runs the command in a process that may have this many KiB of address space.
fn within(scratch: &Scratch, kibibytes: u64, arguments: &[&str]) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -v {kibibytes}; exec \"$@\""), "bash", env!("CARGO_BIN_EXE_fewest")]);
    command.args(arguments).current_dir(scratch.path("."));
    command.output().expect("bash can be started").into()
}

/// svmlight text of n dense samples with p features.
fn wide(n: usize, p: usize) -> String {
    let mut noise = Noise(5);
    let row = |i: usize| {
        let values: Vec<String> = (1..=p).map(|j| format!("{j}:{:.3}", noise.next())).collect();
        format!("{} {}\n", if i.is_multiple_of(2) { "+1" } else { "-1" }, values.join(" "))
    };
    (0..n).map(row).collect()
}

#[test]
fn kta_refuses_what_does_not_fit_before_it_takes_anything() {
    let scratch = Scratch::new("limits_kta_wide");
    scratch.file("wide.svm", wide(12, 30_000));
    // The sums of one node would take 30 001^2 times 20 bytes.
    let arguments = ["select", "wide.svm", "-m", "kta", "--max-features", "3", "--threads", "1"];
    let ran = within(&scratch, 1 << 20, &arguments).code(2);
    assert!(ran.err.contains("30000 features") && ran.err.contains("--memory"), "{}", ran.err);
    assert!(ran.err.contains("bytes, but only 1073741824 are allowed"), "{}", ran.err);
    // One feature needs no such sums.
    let single = ["select", "wide.svm", "-m", "kta", "--max-features", "1", "--threads", "1", "--memory", "100M"];
    within(&scratch, 1 << 20, &single).code(0);
}

#[test]
fn kta_keeps_to_little_memory_with_the_same_answer() {
    let scratch = Scratch::new("limits_kta_small");
    scratch.file("d.csv", generated(60, 60, &["no", "yes"], 8));
    let select = |memory: &str, json: &str| {
        let arguments = ["select", "d.csv", "-m", "kta", "--max-features", "4", "--memory", memory, "--json", json];
        scratch.run(&arguments).code(0);
        scratch.json(json)
    };
    let (much, little) = (select("1G", "much.json"), select("800K", "little.json"));
    assert_eq!(much["selected"], little["selected"]);
    assert_eq!(little["status"], "optimal");
}

#[test]
fn gbd_refuses_more_cuts_than_fit() {
    let scratch = Scratch::new("limits_gbd");
    scratch.file("d.csv", generated(40, 100, &["no", "yes"], 8));
    let gbd = ["select", "d.csv", "-m", "gbd", "--max-features", "3", "--memory", "1M"];
    let ran = scratch.run(&gbd).code(2);
    assert!(ran.err.contains("250 cuts of 100 features") && ran.err.contains("--max-cuts"), "{}", ran.err);
    let ran = scratch.run(&[&gbd[..], &["--max-cuts", "3"]].concat());
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.err);
}

/// Seconds until a command with a time limit of one second ends.
fn seconds(scratch: &Scratch, arguments: &[&str]) -> (f64, Ran) {
    let start = Instant::now();
    let ran = scratch.run(&[arguments, &["--time-limit", "1s"]].concat());
    (start.elapsed().as_secs_f64(), ran)
}

#[test]
fn sigest_and_the_first_sums_of_kta_are_within_the_limit() {
    let scratch = Scratch::new("limits_sigest");
    // The distances of all pairs alone take many seconds.
    scratch.file("d.csv", generated(9000, 60, &["no", "yes"], 4));
    let (took, ran) = seconds(&scratch, &["select", "d.csv", "-m", "kta", "--max-features", "5", "--json", "r.json"]);
    let ran = ran.code(3);
    // Other tests run beside this one: the limit itself is measured by `make limits`.
    assert!(took < 8.0, "{took} s of 1 s\n{}", ran.err);
    assert_eq!(scratch.json("r.json")["status"], "time_limit");
}

/// HiGHS checks the clock between steps of its presolve, of which one takes a minute here.
#[test]
fn the_programs_of_gbd_are_left_behind_at_the_limit() {
    let scratch = Scratch::new("limits_presolve");
    scratch.file("d.svm", wide(60, 12_000));
    let gbd = ["select", "d.svm", "-m", "gbd", "--plain", "--max-features", "5", "--json", "r.json"];
    let start = Instant::now();
    let ran = scratch.run(&[&gbd[..], &["--time-limit", "2s"]].concat()).code(3);
    assert!(start.elapsed() < Duration::from_secs(12), "{:?} of 2 s\n{}", start.elapsed(), ran.err);
    assert_eq!(scratch.json("r.json")["status"], "time_limit");
}

#[test]
fn a_kernel_machine_is_cut_short_without_scoring_all_samples() {
    let scratch = Scratch::new("limits_fit");
    scratch.file("d.csv", generated(20_000, 30, &["no", "yes"], 4));
    let fit = ["fit", "d.csv", "--all-features", "--kernel", "rbf", "--cost", "1000", "--json", "r.json"];
    let (took, ran) = seconds(&scratch, &fit);
    let ran = ran.code(3);
    assert!(took < 8.0, "{took} s of 1 s\n{}", ran.err);
}

#[test]
fn eb_rfe_is_interrupted_before_its_first_score() {
    let scratch = Scratch::new("limits_eb_rfe");
    scratch.file("d.csv", generated(1500, 60, &["no", "yes"], 4));
    let arguments = ["select", "d.csv", "-m", "eb-rfe", "--max-features", "3", "--json", "r.json"];
    let child = scratch.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    std::thread::sleep(Duration::from_secs(1));
    let start = Instant::now();
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill can be run");
    assert!(sent.success());
    let ran = Ran::from(child.wait_with_output().expect("ended")).code(3);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}\n{}", start.elapsed(), ran.err);
    let result = scratch.json("r.json");
    assert_eq!(result["status"], "cancelled");
    assert_eq!(result["selected"].as_array().map(Vec::len), Some(3));
}

#[test]
fn the_proof_of_mbp_says_which_weights_it_holds_for() {
    let scratch = Scratch::new("limits_mbp");
    scratch.file("d.csv", generated(30, 6, &["no", "yes"], 8));
    let mbp = ["select", "d.csv", "-m", "mbp", "--max-features", "2", "--json", "r.json"];
    let words = |extra: &[&str]| {
        scratch.run(&[&mbp[..], extra].concat()).code(0);
        scratch.json("r.json")["proof_condition"].as_str().map(str::to_owned)
    };
    assert_eq!(words(&["--weight-bound", "none"]), None);
    let words = |extra: &[&str]| words(extra).expect("a condition");
    assert_eq!(words(&["--weight-bound", "5"]), "no weight is larger than the weight bound 5");
    for extra in [&["--weight-bound", "paper"][..], &["--plain"]] {
        assert!(words(extra).starts_with("no weight is larger than its weight bound"), "{}", words(extra));
    }
    for (extra, times) in
        [(&[][..], ""), (&["--weight-bound", "auto"], ""), (&["--weight-bound", "auto:2"], "2 times ")]
    {
        let said = format!("no weight is larger than {times}the largest of the L1-SVM of the same cost");
        assert_eq!(words(extra), said);
    }
    let table = scratch.run(&["select", "d.csv", "-m", "mbp", "--max-features", "2", "--weight-bound", "5"]).code(0);
    let joined: String = table.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("as long as no weight is larger than the weight bound 5"), "{}", table.out);
}
