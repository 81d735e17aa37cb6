//! `fewest generate`: files that read back and agree with the truth, the same for the same seed;
//! refusals; and the experiments of aytug2015 that are built on it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::Scratch;

const SIZES: [&str; 8] = ["generate", "hyperplane", "--samples", "60", "--features", "8", "--relevant", "3"];

/// Runs `fewest generate hyperplane` of 60 samples, 3 of 8 features.
fn generate(scratch: &Scratch, extra: &[&str]) -> crate::common::Ran {
    scratch.run(&[&SIZES[..], extra].concat())
}

/// Rows of a csv file with header x1..xp,y: features and label.
fn samples(text: &str) -> Vec<(Vec<f64>, f64)> {
    let row = |line: &str| {
        let mut values: Vec<f64> = line.split(',').map(|v| v.parse().expect("a number")).collect();
        let label = values.pop().expect("a label");
        (values, label)
    };
    text.lines().skip(1).map(row).collect()
}

/// The true weights, length p.
fn weights(truth: &Value) -> Vec<f64> {
    let mut weights = vec![0.0; truth["n_features"].as_u64().expect("p") as usize];
    let indices = truth["support_indices"].as_array().expect("a list");
    for (j, name) in indices.iter().zip(truth["support"].as_array().expect("a list")) {
        weights[j.as_u64().unwrap() as usize] = truth["weights"][name.as_str().unwrap()].as_f64().expect("a weight");
    }
    weights
}

#[test]
fn three_sets_agree_with_the_truth_that_is_written_beside() {
    let scratch = Scratch::new("generate_sets");
    let files = ["--out", "t.csv", "--validation", "v.csv", "--test", "e.csv", "--test-samples", "25"];
    let ran = generate(&scratch, &[&files[..], &["--truth", "truth.json", "--seed", "9", "-v"]].concat()).code(0);
    assert_eq!(ran.out, "");
    assert!(ran.err.contains("wrote 25 samples of the test set to e.csv (csv)"), "{}", ran.err);
    assert_eq!(scratch.files(), ["e.csv", "t.csv", "truth.json", "v.csv"]);

    let truth = scratch.json("truth.json");
    assert_eq!(
        (&truth["generator"], &truth["seed"], &truth["intercept"]),
        (&"hyperplane".into(), &9.into(), &0.0.into())
    );
    let settings = &truth["settings"];
    assert_eq!((&settings["points"], &settings["coefficients"]), (&"ball".into(), &"normal".into()));
    assert_eq!((&settings["validation_samples"], &settings["test_samples"]), (&60.into(), &25.into()));
    let weights = weights(&truth);
    assert_eq!((weights.len(), weights.iter().filter(|w| **w != 0.0).count()), (8, 3));
    for (file, n) in [("t.csv", 60), ("v.csv", 60), ("e.csv", 25)] {
        let rows = samples(&scratch.read(file));
        assert_eq!(rows.len(), n);
        for (x, y) in rows {
            let side: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
            assert!(side.signum() == y && x.iter().map(|x| x * x).sum::<f64>() <= 1.0 + 1e-12, "{side} {y}");
        }
    }

    // Other sets change nothing about the first; another seed changes all of it.
    let first = scratch.read("t.csv");
    generate(&scratch, &["--out", "again.csv", "--seed", "9"]).code(0);
    assert_eq!(scratch.read("again.csv"), first);
    generate(&scratch, &["--out", "other.csv", "--seed", "10"]).code(0);
    assert_ne!(scratch.read("other.csv"), first);
}

#[test]
fn every_format_and_standard_output_hold_the_same_set() {
    let scratch = Scratch::new("generate_formats");
    generate(&scratch, &["--out", "d.csv"]).code(0);
    let wanted = scratch.read("d.csv");
    for file in ["d.tsv", "d.svm.gz", "d.arff", "d.parquet", "d.npz", "d.csc"] {
        generate(&scratch, &["--out", file]).code(0);
        scratch.run(&["convert", file, "back.csv"]).code(0);
        assert_eq!(scratch.read("back.csv"), wanted, "{file}");
    }
    assert_eq!(generate(&scratch, &["--out", "-", "--out-format", "csv"]).code(0).out, wanted);
    generate(&scratch, &["--out", "named", "--out-format", "csv"]).code(0);
    assert_eq!(scratch.read("named"), wanted);
}

#[test]
fn noise_signs_and_normal_points() {
    let scratch = Scratch::new("generate_noise");
    let options = ["--points", "normal", "--coefficients", "signs", "--out", "d.csv", "--truth", "t.json"];
    generate(&scratch, &[&options[..], &["--noise-sd", "2"]].concat()).code(0);
    let (noisy, truth) = (samples(&scratch.read("d.csv")), scratch.json("t.json"));
    assert_eq!(truth["settings"]["noise_sd"], 2.0);
    assert!(weights(&truth).iter().all(|w| [-1.0, 0.0, 1.0].contains(w)));
    generate(&scratch, &options).code(0);
    let exact = samples(&scratch.read("d.csv"));
    assert!(noisy.iter().zip(&exact).all(|(a, b)| a.0 == b.0), "noise moves no point");
    let turned = noisy.iter().zip(&exact).filter(|(a, b)| a.1 != b.1).count();
    assert!((5..30).contains(&turned), "{turned} of 60");
    assert!(exact.iter().any(|(x, _)| x.iter().map(|x| x * x).sum::<f64>() > 1.0), "not in the unit ball");
}

#[track_caller]
fn refused(scratch: &Scratch, arguments: &[&str], words: &[&str]) {
    let before = scratch.files();
    let ran = scratch.run(arguments).code(2);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
    assert!(ran.err.starts_with("fewest: ") && !ran.err.contains("os error"), "{}", ran.err);
    assert_eq!((ran.out.as_str(), scratch.files()), ("", before), "nothing may be left behind");
}

#[test]
fn bad_input_is_refused_with_name_value_and_remedy() {
    let scratch = Scratch::new("generate_refused");
    let with = |option: &str, value: &str| {
        let mut all: Vec<String> = SIZES.iter().map(|s| (*s).to_owned()).collect();
        match all.iter().position(|a| a == option) {
            Some(at) => value.clone_into(&mut all[at + 1]),
            None => all.extend([option.to_owned(), value.to_owned()]),
        }
        if option != "--out" {
            all.extend(["--out".to_owned(), "d.csv".to_owned()]);
        }
        all
    };
    let cases: [(&str, &str, &[&str]); 17] = [
        ("--samples", "0", &["--samples is 0", "at least 2"]),
        ("--samples", "-5", &["--samples is -5", "integer"]),
        ("--samples", "many", &["--samples is many", "integer"]),
        ("--features", "0", &["--features is 0", "at least 1"]),
        ("--relevant", "0", &["--relevant is 0", "from 1 to the number of features, 8"]),
        ("--relevant", "9", &["--relevant is 9", "8"]),
        ("--noise-sd", "-1", &["--noise-sd is -1", "0 or more"]),
        ("--noise-sd", "inf", &["--noise-sd is inf", "finite"]),
        ("--points", "cube", &["--points is cube, but must be", "ball", "normal"]),
        ("--coefficients", "big", &["--coefficients is big, but must be", "signs"]),
        ("--seed", "-1", &["--seed", "-1", "from 0 to"]),
        ("--out", "d.xyz", &["d.xyz", "ending", "--out-format"]),
        ("--out-format", "xls", &["--out-format is xls", "csv", "npz"]),
        ("--out", "no/where/d.csv", &["--out no/where/d.csv", "cannot be written", "existing folder"]),
        ("--truth", "no/t.json", &["--truth no/t.json", "cannot be written"]),
        ("--validation", "./d.csv", &["--out and --validation are both ./d.csv", "name another"]),
        ("--memory", "1K", &["d.csv", "60 samples of 8 features", "3.75 KiB", "1.00 KiB", "--memory"]),
    ];
    for (option, value, words) in cases {
        let arguments = with(option, value);
        refused(&scratch, &arguments.iter().map(String::as_str).collect::<Vec<_>>(), words);
    }
    let base = [&SIZES[..], &["--out", "d.csv"]].concat();
    refused(&scratch, &[&base[..], &["--test-samples", "5"]].concat(), &["--test <FILE>"]);
    let few = [&base[..], &["--validation", "v.csv", "--validation-samples", "1"]].concat();
    refused(&scratch, &few, &["--validation-samples is 1", "at least 2"]);
    refused(&scratch, &["generate", "spiral"], &["spiral"]);
    refused(&scratch, &["generate", "hyperplane", "--samples", "5"], &["--features", "--relevant", "--out"]);
}

/// A column file is written a range of columns at a time, and is the one that the rows make.
#[test]
fn a_column_file_of_text_does_not_depend_on_memory_and_threads() {
    let scratch = Scratch::new("generate_columns");
    let text = ["generate", "text", "--samples", "700", "--words", "300", "--test-samples", "40", "--test", "t.csc"];
    let bytes = |name: &str| std::fs::read(scratch.path(name)).expect("a file");
    let make = |out: &str, more: &[&str]| {
        scratch.run(&[&text[..], &["--out", out, "--truth", "t.json"], more].concat()).code(0);
        bytes("t.csc")
    };
    let tests = [
        make("a.csc", &[]),
        make("b.csc", &["--memory", "16K", "--threads", "1"]),
        make("c.csc", &["--memory", "16K", "--threads", "2"]),
    ];
    assert!(tests[1] == tests[0] && tests[2] == tests[0]);
    make("d.svm", &["--threads", "2"]);
    scratch.run(&["convert", "d.svm", "d.csc"]).code(0);
    for other in ["b.csc", "c.csc", "d.csc"] {
        assert!(bytes("a.csc") == bytes(other), "{other}");
    }
    let refused = scratch.run(&[&text[..], &["--out", "e.csc", "--memory", "4K"]].concat()).code(2).err;
    assert!(refused.contains("counts of 300 features") && refused.contains("--memory"), "{refused}");
}

/// Two samples are often on one side; then nothing is written, not even the sets that would do.
#[test]
fn a_set_of_one_class_is_refused_before_anything_is_written() {
    let mut refusals = 0;
    for seed in 0..10 {
        let scratch = Scratch::new("generate_one_class");
        let sets = ["--out", "d.csv", "--test", "e.csv", "--test-samples", "2", "--truth", "t.json"];
        let ran = generate(&scratch, &[&sets[..], &["--seed", &seed.to_string()]].concat());
        if ran.code == Some(0) {
            assert_eq!(scratch.files(), ["d.csv", "e.csv", "t.json"]);
            continue;
        }
        refusals += 1;
        let err = ran.code(2).err;
        for word in ["all 2 samples of the test set are of class", "needs both classes", "--seed"] {
            assert!(err.contains(word), "`{word}` is not in: {err}");
        }
        assert!(scratch.files().is_empty(), "{:?}", scratch.files());
    }
    assert!((1..10).contains(&refusals), "{refusals} of 10");
}

/// The script of the paper's experiments, end to end at its smallest; and that it goes on where it
/// stopped.
#[test]
fn the_experiments_of_aytug2015_run_and_go_on_where_they_stopped() {
    if Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_err() {
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3");
        return;
    }
    let scratch = Scratch::new("aytug2015");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/aytug2015/run.py");
    let run = || {
        let mut command = Command::new("python3");
        command.arg("-B").arg(&script).args(["--quick", "--only", "1/n500-p20/2", "--methods", "RFE,InfoGain"]);
        command.args(["--fewest", env!("CARGO_BIN_EXE_fewest"), "--out"]).arg(scratch.path("out"));
        let ran: crate::common::Ran = command.output().expect("python3 runs").into();
        ran.code(0).out
    };
    let rows = || {
        let unpack = "import lzma, sys; print(lzma.open(sys.argv[1], 'rt', encoding='utf-8').read(), end='')";
        let mut command = Command::new("python3");
        let ran: crate::common::Ran =
            command.args(["-c", unpack]).arg(scratch.path("out/rows.jsonl.xz")).output().expect("python3 runs").into();
        ran.code(0).out
    };
    let solves = |out: &str| out.lines().filter(|l| l.starts_with("1/")).count();
    assert_eq!(solves(&run()), 4, "two methods at two costs");
    let log = rows();
    let records: Vec<Value> = log.lines().map(|l| serde_json::from_str(l).expect("a JSON line")).collect();
    for r in &records {
        assert_eq!((&r["n"], &r["p"], &r["n_selected"]), (&500.into(), &20.into(), &r["M"]));
        let (overlap, inner) = (r["overlap"].as_i64().unwrap(), r["inner_product"].as_f64().unwrap());
        assert!((0..=20).contains(&overlap) && overlap % 2 == 0, "supports of one size differ in pairs: {r}");
        assert!(inner > 0.5 && inner <= 1.0 + 1e-12, "{r}");
        assert!(r["test_error"].as_f64().unwrap() < 0.3, "{r}");
    }
    let report = scratch.read("out/experiment1.md");
    for words in ["# aytug2015, experiment 1", "**Total**", "RFE against", "0.9959"] {
        assert!(report.contains(words), "`{words}` is not in: {report}");
    }

    // Half a line, as a killed run leaves it: that solve is done again, the others are not.
    std::fs::remove_file(scratch.path("out/rows.jsonl.xz")).expect("the packed rows");
    scratch.file("out/rows.jsonl", &log[..log.len() - 40]);
    assert_eq!(solves(&run()), 1);
    assert_eq!(rows().lines().count(), 4);
    assert_eq!(solves(&run()), 0);
}

#[test]
fn clusters_on_cubes_are_written_with_their_truth() {
    let scratch = Scratch::new("generate_ndcc");
    let with = |relevant: &'static str| {
        let sizes = ["generate", "ndcc", "--samples", "40", "--features", "8", "--expansion", "100"];
        [&sizes[..], &["--relevant", relevant, "--out", "d.csv", "--truth", "t.json"]].concat()
    };
    refused(&scratch, &with("9"), &["--relevant is 9", "from 1 to"]);
    scratch.run(&with("2")).code(0);
    let truth = scratch.json("t.json");
    assert_eq!((truth["generator"].as_str(), truth["settings"]["expansion"].as_f64()), (Some("ndcc"), Some(100.0)));
    assert_eq!((truth["support"].as_array().map(Vec::len), truth["weights"].is_null()), (Some(2), true));
    assert_eq!(samples(&scratch.read("d.csv")).len(), 40);
}
