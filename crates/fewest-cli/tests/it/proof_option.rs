//! `--proof`: what each method writes is verified, what cannot be written is refused.

use crate::common::{Scratch, generated};

/// 50 samples and 7 features, of which the first 3 carry the classes.
fn small() -> String {
    generated(50, 7, &["no", "yes"], 4)
}

#[track_caller]
fn verified(scratch: &Scratch, proof: &str, data: &str) -> String {
    let out = scratch.run(&["verify", proof, data]).code(0).out;
    assert!(out.contains("VERIFIED") && !out.contains("NOT VERIFIED"), "{out}");
    out
}

#[test]
fn a_proof_reads_the_data_as_the_run_did() {
    let scratch = Scratch::new("proof_select");
    let blanks = small().replacen(",yes\n", ",\"yes\"\n", 3);
    let mut lines: Vec<String> = blanks.lines().map(str::to_owned).collect();
    // A missing value in the second line.
    let at = lines[2].find(',').expect("cells");
    lines[2].replace_range(..at, "");
    scratch.file("d.csv", lines.join("\n"));
    let run = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--drop", "f7", "--missing", "mean"];
    let more = ["--class-weight", "balanced", "--solutions", "2", "--proof", "x.proof", "--json", "r.json"];
    scratch.run(&[&run[..], &more[..]].concat()).code(0);
    let result = scratch.json("r.json");
    assert_eq!(result["proof"], "x.proof");
    assert_eq!(scratch.files(), ["d.csv", "r.json", "x.proof"]);
    let out = verified(&scratch, "x.proof", "d.csv");
    for name in result["selected"].as_array().expect("names") {
        assert!(out.contains(name.as_str().expect("a name")), "{out}");
    }
    scratch.file("other.csv", lines.join("\n").replacen(",no", ",yes", 1));
    scratch.run(&["verify", "x.proof", "other.csv"]).code(1);
}

#[test]
fn a_run_that_was_stopped_proves_its_bound() {
    let scratch = Scratch::new("proof_stopped");
    scratch.file("d.csv", small());
    let run = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--node-limit", "1", "--cost", "100"];
    scratch.run(&[&run[..], &["--proof", "x.proof", "--json", "r.json"]].concat()).code(3);
    assert_eq!(scratch.json("r.json")["status"], "node_limit");
    verified(&scratch, "x.proof", "d.csv");
}

#[test]
fn a_path_has_a_proof_for_each_size() {
    let scratch = Scratch::new("proof_path");
    scratch.file("d.csv", small());
    let run = ["path", "d.csv", "-m", "exact", "--max-features", "1..3", "--proof", "x.proof", "--json", "r.json"];
    scratch.run(&run).code(0);
    assert_eq!(scratch.files(), ["d.csv", "r.json", "x-k1.proof", "x-k2.proof", "x-k3.proof"]);
    for (at, size) in (1..=3).enumerate() {
        let name = format!("x-k{size}.proof");
        assert_eq!(scratch.json("r.json")["path"][at]["proof"], name.as_str());
        verified(&scratch, &name, "d.csv");
    }
}

#[test]
fn certificates_have_proofs() {
    let scratch = Scratch::new("proof_certify");
    scratch.file("d.csv", small());
    scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--certify", "--proof", "x.proof"]).code(0);
    verified(&scratch, "x.proof", "d.csv");
    scratch.run(&["path", "d.csv", "-m", "rfe", "--max-features", "1,2", "--certify", "--proof", "y.proof"]).code(0);
    verified(&scratch, "y-k1.proof", "d.csv");
    verified(&scratch, "y-k2.proof", "d.csv");
}

#[cfg(feature = "highs")]
#[test]
fn gbd_and_mbp_write_proofs() {
    let scratch = Scratch::new("proof_programs");
    scratch.file("d.csv", small());
    scratch.run(&["select", "d.csv", "-m", "gbd", "--max-features", "2", "--proof", "x.proof"]).code(0);
    verified(&scratch, "x.proof", "d.csv");
    scratch.run(&["select", "d.csv", "-m", "mbp", "--penalty", "0.5", "--require", "f6", "--proof", "y.proof"]).code(0);
    verified(&scratch, "y.proof", "d.csv");
    let run = ["select", "d.csv", "-m", "mbp", "--penalty", "0.5", "--proof", "z.proof"];
    let err = scratch.run(&[&run[..], &["--max-features", "2"]].concat()).code(2).err;
    assert!(err.contains("select with exact"), "{err}");
    let err = scratch.run(&[&run[..], &["--plain"]].concat()).code(2).err;
    assert!(err.contains("plain"), "{err}");
    assert_eq!(scratch.files(), ["d.csv", "x.proof", "y.proof"]);
}

#[test]
fn alignments_have_proofs() {
    let scratch = Scratch::new("proof_kta");
    scratch.file("d.csv", generated(60, 7, &["a", "b", "c"], 4));
    let run = ["-m", "kta", "--solutions", "2", "--proof", "x.proof", "--json", "r.json"];
    scratch.run(&[&["select", "d.csv", "--max-features", "3"], &run[..]].concat()).code(0);
    let out = verified(&scratch, "x.proof", "d.csv");
    let result = scratch.json("r.json");
    assert!(out.contains("objective   at least ") && out.contains(" models, "), "{out}");
    scratch.run(&["verify", "x.proof", "d.csv", "--json", "v.json"]).code(0);
    let verdict = scratch.json("v.json");
    let number = |value: &serde_json::Value, key: &str| value[key].as_f64().expect("a number");
    assert_eq!((&verdict["sense"], &verdict["selected"]), (&result["sense"], &result["selected"]));
    let (objective, bound) = (number(&verdict, "objective"), number(&verdict, "bound"));
    assert!(
        (objective - number(&result, "objective")).abs() <= 1e-9 && (objective..objective * 1.0002).contains(&bound)
    );
    assert!(number(&verdict, "rest") <= bound && number(&verdict, "gap") <= 1e-4);
    assert_eq!(verdict["solutions"].as_array().expect("two").len(), 2);
    // Stopped, and a path.
    let limit = ["select", "d.csv", "--max-features", "4", "--node-limit", "1", "--gap", "0"];
    scratch.run(&[&limit[..], &run[..]].concat()).code(3);
    verified(&scratch, "x.proof", "d.csv");
    scratch.run(&[&["path", "d.csv", "--max-features", "1..3"], &run[..]].concat()).code(0);
    for (at, size) in (1..=3).enumerate() {
        let name = format!("x-k{size}.proof");
        assert_eq!(scratch.json("r.json")["path"][at]["proof"], name.as_str());
        verified(&scratch, &name, "d.csv");
    }
    // Classes are part of the data.
    let other = std::fs::read_to_string(scratch.path("d.csv")).expect("there").replacen(",a\n", ",b\n", 1);
    scratch.file("other.csv", other);
    scratch.run(&["verify", "x.proof", "other.csv"]).code(1);
}

#[test]
fn what_writes_no_proof_refuses_it() {
    let scratch = Scratch::new("proof_refused");
    scratch.file("d.csv", small());
    let tried = |arguments: &[&str], words: &str| {
        let err = scratch.run(arguments).code(2).err;
        assert!(err.contains(words), "`{words}` is not in: {err}");
    };
    let with = ["--max-features", "2", "--proof"];
    tried(&[&["select", "d.csv", "-m", "fgm"], &with[..], &["x"]].concat(), "--proof is an option of exact");
    tried(&[&["select", "d.csv", "-m", "rfe"], &with[..], &["x"]].concat(), "add --certify");
    tried(&[&["select", "d.csv", "-m", "exact"], &with[..], &["-"]].concat(), "needs a file");
    tried(&[&["select", "d.csv", "-m", "exact"], &with[..], &["no/x"]].concat(), "cannot be written");
    tried(&[&["select", "d.csv", "-m", "exact"], &with[..], &["d.csv"]].concat(), "the data");
    tried(&[&["evaluate", "d.csv", "-m", "exact"], &with[..], &["x"]].concat(), "--proof");
    assert_eq!(scratch.files(), ["d.csv"]);
}
