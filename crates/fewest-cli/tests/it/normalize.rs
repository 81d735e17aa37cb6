//! `--normalize-total` and `--log1p`: said in results, kept in models and proofs, done to new samples.

use std::fmt::Write as _;

use crate::common::{Noise, Scratch};

const ASKED: [&str; 3] = ["--normalize-total", "10000", "--log1p"];

/// Counts of 60 cells and 10 genes, with a column `batch` of text or not.
fn counts(genes: usize) -> String {
    let mut noise = Noise(5);
    let mut text = (1..=genes).map(|j| format!("g{j}")).collect::<Vec<_>>().join(",") + ",y\n";
    for i in 0..60 {
        let (class, depth) = (i % 2, 20.0 + 100.0 * (1.0 + noise.next()));
        for j in 0..genes {
            let share = if j < 2 { 1.0 + 2.0 * f64::from(class) } else { 1.5 };
            let _ = write!(text, "{},", (depth * share * (1.0 + 0.6 * noise.next())).round());
        }
        let _ = writeln!(text, "{}", ["no", "yes"][class as usize]);
    }
    text
}

#[test]
fn results_models_and_proofs_hold_it() {
    let scratch = Scratch::new("normalize_doors");
    scratch.file("d.csv", counts(10));
    let own = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--drop", "g9,g10"];
    let more = ["--proof", "d.proof", "--json", "r.json", "--model", "m.json", "--report", "r.html"];
    let ran = scratch.run(&[&own[..], &ASKED, &more].concat()).code(0);
    assert!(ran.out.contains("total 10000, then ln(1 + x); standard"), "{}", ran.out);
    assert!(scratch.read("r.html").contains("total 10000, then ln(1 + x); standard"));
    let result = scratch.json("r.json");
    assert_eq!(result["settings"]["reading"]["normalize_total"], 10000.0);
    assert_eq!(result["settings"]["reading"]["log1p"], true);
    let kept = &result["model"]["normalization"];
    assert_eq!((&kept["total"], &kept["log1p"], &kept["n_features"]), (&10000.0.into(), &true.into(), &10.into()));
    let verified = scratch.run(&["verify", "d.proof", "d.csv"]).code(0);
    assert!(verified.out.contains("VERIFIED"), "{}", verified.out);
    scratch.run(&["verify", "d.proof", "d.csv", "--normalize-total", "100"]).code(1);
    // The same as on a file of such values.
    scratch.run(&[&["convert", "d.csv", "n.csv"][..], &ASKED].concat()).code(0);
    let plain = ["select", "n.csv", "-m", "exact", "--max-features", "2", "--drop", "g9,g10"];
    scratch.run(&[&plain[..], &["--json", "n.json", "--model", "nm.json"]].concat()).code(0);
    assert_eq!(scratch.json("n.json")["selected"], result["selected"]);
    assert_eq!(scratch.json("n.json")["objective"], result["objective"]);
    let predicted = scratch.run(&["predict", "m.json", "d.csv"]).code(0).out;
    assert_eq!(predicted, scratch.run(&["predict", "nm.json", "n.csv"]).code(0).out);
    assert_eq!(predicted, scratch.run(&["predict", "r.json", "d.csv"]).code(0).out);
    assert_eq!(predicted, scratch.run(&[&["predict", "m.json", "d.csv"][..], &ASKED].concat()).code(0).out);
    let other = scratch.run(&["predict", "m.json", "d.csv", "--log1p"]).code(2).err;
    assert!(other.contains("the model was trained with --normalize-total 10000 --log1p"), "{other}");
    scratch.run(&[&plain[..], &ASKED, &["--model", "l.txt", "--model-format", "liblinear"]].concat()).code(2);
    // A panel's model, too, whose format cannot hold it.
    for command in ["study", "markers"] {
        let panel = [command, "n.csv", "--max-features", "2", "--model", "l.txt", "--model-format", "libsvm"];
        let refused = scratch.run(&[&panel[..], &ASKED].concat()).code(2).err;
        assert!(refused.contains("--model-format holds no --normalize-total"), "{refused}");
    }
}

#[test]
fn totals_over_fewer_features_are_told_or_refused() {
    let scratch = Scratch::new("normalize_totals");
    scratch.file("d.csv", counts(10));
    let own = ["fit", "d.csv", "--features", "g1,g2", "--model", "m.json", "--json", "f.json"];
    scratch.run(&[&own[..], &ASKED].concat()).code(0);
    assert_eq!(scratch.json("f.json")["settings"]["reading"]["log1p"], true);
    scratch.run(&["convert", "d.csv", "eight.csv", "--drop", "g9,g10"]).code(0);
    scratch.run(&["convert", "d.csv", "three.csv", "--only", "g1,g2,g3"]).code(0);
    let told = scratch.run(&["predict", "m.json", "eight.csv"]).code(0).err;
    assert!(told.contains("over the 8 features of this file, in training it was over 10"), "{told}");
    let refused = scratch.run(&["predict", "m.json", "three.csv"]).code(2).err;
    assert!(refused.contains("give a file with all features"), "{refused}");
    // Logarithms alone need no other features.
    scratch.run(&["fit", "d.csv", "--features", "g1,g2", "--model", "l.json", "--log1p"]).code(0);
    scratch.run(&["predict", "l.json", "three.csv"]).code(0);
}

#[test]
fn every_command_that_learns_says_it() {
    let scratch = Scratch::new("normalize_commands");
    scratch.file("d.csv", counts(6));
    for command in [
        &["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--cv", "3"][..],
        &["stability", "d.csv", "-m", "rfe", "--max-features", "2", "--pairs", "4"],
        &["knockoffs", "d.csv", "-m", "rfe", "--draws", "2"],
    ] {
        let ran = scratch.run(&[command, &ASKED, &["--json", "r.json"]].concat()).code(0);
        assert_eq!(scratch.json("r.json")["settings"]["reading"]["normalize_total"], 10000.0, "{}", command[0]);
        assert!(ran.out.contains("total 10000, then ln(1 + x); "), "{}: {}", command[0], ran.out);
    }
    scratch.run(&["convert", "d.csv", "e.csv"]).code(0);
    let study = ["study", "d.csv", "--max-features", "2", "--methods", "rfe", "--folds", "3", "--repeats", "1"];
    let more = ["--json", "s.json", "--report", "s.html", "--external", "e.csv"];
    scratch.run(&[&study[..], &ASKED, &more].concat()).code(0);
    assert_eq!(scratch.json("s.json")["settings"]["reading"]["log1p"], true);
    assert!(scratch.read("s.html").contains("normalised as they were read (total 10000, then ln(1 + x))"));
    for wrong in ["0", "-1", "x", "inf"] {
        scratch.run(&["check", "d.csv", "--normalize-total", wrong]).code(2);
    }
}
