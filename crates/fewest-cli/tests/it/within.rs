//! `--within`: all subsets within a share of the best, in the table, the JSON, the page and the
//! proof; and where it is refused.

use serde_json::Value;

use crate::common::{Scratch, generated};

/// 50 samples and 7 features, of which the first 3 carry the classes.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(50, 7, &["no", "yes"], 4));
    scratch
}

fn objectives(result: &Value) -> Vec<f64> {
    result["solutions"].as_array().expect("a list").iter().map(|s| s["objective"].as_f64().expect("a number")).collect()
}

#[test]
fn all_subsets_within_a_share_are_those_of_a_longer_list() {
    let scratch = scratch("within_all");
    let methods: &[&[&str]] = &[
        &["exact", "--max-features", "3"],
        &["kta", "--max-features", "3"],
        #[cfg(feature = "highs")]
        &["mbp", "--penalty", "0.5", "--weight-bound", "3"],
    ];
    for method in methods {
        let base = [&["select", "d.csv", "--json", "r.json", "--gap", "1e-6", "-m"][..], method].concat();
        scratch.run(&[&base[..], &["--solutions", "200"]].concat()).code(0);
        let longer = objectives(&scratch.json("r.json"));
        let maximised = scratch.json("r.json")["sense"] == "max";
        // A quarter of what the best gains over no features.
        let baseline = scratch.json("r.json")["baseline"].as_f64().expect("a number");
        let end = longer[0] + 0.25 * (baseline - longer[0]);
        let expected: Vec<f64> = longer.iter().copied().filter(|x| (*x <= end) != maximised).collect();
        assert!((2..200).contains(&expected.len()), "{method:?}: {longer:?}");
        let out = scratch.run(&[&base[..], &["--within", "25%"]].concat()).code(0).out;
        let result = scratch.json("r.json");
        let (within, found) = (&result["within"], objectives(&result));
        assert_eq!((found.len(), &within["complete"]), (expected.len(), &true.into()), "{method:?}: {within}");
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() <= 1e-6 * b.abs(), "{method:?}: {a} {b}");
        }
        assert_eq!((&result["settings"]["within"], &result["settings"]["solutions"]), (&0.25.into(), &1000.into()));
        let said = format!("{} subsets are within 25.0 % of the best gain", found.len());
        assert!(out.contains(&said) && out.contains("best without it"), "{method:?}: {out}");
        // Shares are those of the solutions, by name.
        for feature in within["features"].as_array().expect("a list") {
            let with = result["solutions"].as_array().expect("a list").iter();
            let with = with.filter(|s| s["selected"].as_array().expect("names").contains(&feature["feature"]));
            let share = with.count() as f64 / found.len() as f64;
            assert!((feature["share"].as_f64().expect("a number") - share).abs() < 1e-12, "{method:?}: {feature}");
        }
        scratch.run(&["report", "r.json", "--out", "r.html"]).code(0);
        let page = String::from_utf8(std::fs::read(scratch.path("r.html")).expect("a page")).expect("text");
        assert!(page.contains(&said) && page.contains("Features of these subsets"), "{method:?}");
        std::fs::remove_file(scratch.path("r.html")).expect("a file");
    }
}

#[test]
fn a_list_that_is_cut_says_so() {
    let scratch = scratch("within_cut");
    let base = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--json", "r.json", "--within", "0.3"];
    let out = scratch.run(&[&base[..], &["--solutions", "2"]].concat()).code(0).out;
    let within = &scratch.json("r.json")["within"];
    assert_eq!((&within["complete"], &within["subsets"], &within["most"]), (&false.into(), &2.into(), &2.into()));
    let reached = within["complete_within"].as_f64().expect("a number");
    assert!((0.0..0.3).contains(&reached), "{within}");
    assert!(out.contains("more than the 2 that may be listed"), "{out}");
    let out = scratch.run(&[&base[..], &["--node-limit", "1", "--cost", "100"]].concat()).code(3).out;
    assert_eq!(scratch.json("r.json")["within"]["complete"], false);
    assert!(out.contains("found can be within 30.0 % of the best"), "{out}");
}

#[test]
fn a_proof_holds_all_of_them() {
    let scratch = scratch("within_proof");
    for method in ["exact", "kta"] {
        let run = ["select", "d.csv", "-m", method, "--max-features", "3", "--within", "25%", "--json", "r.json"];
        scratch.run(&[&run[..], &["--proof", "x.proof"]].concat()).code(0);
        scratch.run(&["verify", "x.proof", "d.csv", "--json", "v.json"]).code(0);
        let (result, verdict) = (scratch.json("r.json"), scratch.json("v.json"));
        assert_eq!(verdict["solutions"].as_array().expect("a list").len(), objectives(&result).len(), "{method}");
    }
}

#[test]
fn it_is_refused_where_it_says_nothing() {
    let scratch = scratch("within_refused");
    let select = ["select", "d.csv", "--max-features", "2", "-m"];
    for (arguments, words) in [
        (
            &["exact", "--within=-1%"][..],
            &["--within is -1%, but must be a finite number, 0 or more, or a percentage"][..],
        ),
        (&["exact", "--within", "few"], &["--within is few, but must be"]),
        (&["rfe", "--within", "1%"], &["--within is an option of exact", "not of rfe"]),
        #[cfg(feature = "highs")]
        (&["lagrangian", "--within", "1%"], &["--within is an option of exact, kta and mbp, not of lagrangian"]),
        #[cfg(feature = "highs")]
        (&["mbp", "--within", "1%", "--plain"], &["plain is set", "left out where several subsets are wanted"]),
        #[cfg(feature = "highs")]
        (&["mbp", "--within", "1%", "--proof", "x.proof"], &["within is set", "left out where a proof is written"]),
    ] {
        let err = scratch.run(&[&select[..], arguments].concat()).code(2).err;
        assert!(words.iter().all(|word| err.contains(word)), "{arguments:?}: {err}");
    }
    for command in ["path", "evaluate"] {
        let run = [command, "d.csv", "--max-features", "2", "-m", "exact", "--within", "1%"];
        let err = scratch.run(&run).code(2).err;
        assert!(err.contains(&format!("--within is an option of select, not of {command}")), "{err}");
    }
    assert_eq!(scratch.files(), ["d.csv"]);
}
