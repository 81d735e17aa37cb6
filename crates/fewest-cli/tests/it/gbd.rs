//! `gbd` on the command line: it finds what `exact` finds, and judges classifiers on samples held
//! out.
#![cfg(feature = "highs")]

use serde_json::Value;

use crate::common::{Scratch, generated};

const GBD: [&str; 8] = ["select", "d.csv", "-m", "gbd", "--max-features", "3", "--json", "r.json"];

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(60, 7, &["no", "yes"], 4)).file("v.csv", generated(40, 7, &["no", "yes"], 9));
    scratch
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn gbd_finds_what_exact_finds() {
    let scratch = scratch("gbd_exact");
    for extra in [&[][..], &["--penalty", "0.5"], &["--loss", "squared-hinge", "--require", "f7"], &["--plain"]] {
        let ran = scratch.run(&[&GBD[..], extra].concat()).code(0);
        assert!(ran.out.contains("status     optimal"), "{}", ran.out);
        let ours = scratch.json("r.json");
        let exact = ["select", "d.csv", "-m", "exact", "--max-features", "3", "--json", "e.json"];
        let extra: Vec<&str> = extra.iter().copied().filter(|e| *e != "--plain").collect();
        scratch.run(&[&exact[..], &extra].concat()).code(0);
        let exact = scratch.json("e.json");
        let (a, b) = (number(&ours["objective"]), number(&exact["objective"]));
        assert!((a - b).abs() <= 2.1e-4 * b, "{a} {b}");
        assert!(number(&ours["bound"]) <= b * (1.0 + 1e-9) && ours["counts"]["cuts"].as_u64() > Some(0));
    }
}

#[test]
fn a_cap_on_cuts_exits_with_3() {
    let scratch = scratch("gbd_cap");
    scratch.run(&[&GBD[..], &["--plain", "--max-cuts", "2"]].concat()).code(3);
    let result = scratch.json("r.json");
    assert_eq!((&result["status"], &result["counts"]["cuts"]), (&"call_limit".into(), &2.into()));
    assert!(number(&result["bound"]) < number(&result["objective"]));
}

/// The error that the JSON states is that of a model fitted on the training samples and tested on
/// the others.
#[test]
fn the_validation_error_is_that_of_the_model() {
    let scratch = scratch("gbd_validate");
    let ran = scratch.run(&[&GBD[..], &["--validate", "v.csv", "--plain"]].concat()).code(0);
    let result = scratch.json("r.json");
    assert!(ran.out.contains("validation: of ") && ran.out.contains("judged on 40 samples"), "{}", ran.out);
    let validated = &result["validated"];
    assert!(number(&validated["error"]) <= number(&validated["error_of_best_objective"]));
    assert!(number(&validated["objective"]) >= number(&result["objective"]) * (1.0 - 1e-5));
    for (selected, error) in
        [(&validated["selected"], &validated["error"]), (&result["selected"], &validated["error_of_best_objective"])]
    {
        let names: Vec<&str> = selected.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
        scratch.run(&["fit", "d.csv", "--features", &names.join(","), "--model", "m.json"]).code(0);
        scratch.run(&["predict", "m.json", "v.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
        let accuracy = number(&scratch.json("p.json")["accuracy"]);
        assert!((1.0 - accuracy - number(error)).abs() < 1e-12, "{accuracy} {error}");
    }
}

#[test]
fn a_fraction_is_held_out_before_scaling_and_training() {
    let scratch = scratch("gbd_fraction");
    let shared = &[&GBD[..], &["--validate", "0.25", "--patience", "3"]].concat();
    let ran = scratch.run(&[shared, &["--seed", "1"][..]].concat()).code(0);
    let first = scratch.json("r.json");
    assert!(ran.out.contains("judged on 16 samples"), "{}", ran.out);
    assert_eq!((&first["n_samples"], &first["settings"]["validate"]), (&44.into(), &0.25.into()));
    scratch.run(&[shared, &["--seed", "2"][..]].concat()).code(0);
    assert_ne!(scratch.json("r.json")["model"], first["model"]);
    scratch.run(&[shared, &["--seed", "1"][..]].concat()).code(0);
    assert_eq!(scratch.json("r.json")["model"], first["model"]);
}

#[test]
fn validation_that_cannot_be_is_refused() {
    let scratch = scratch("gbd_refused");
    scratch
        .file("other.csv", generated(9, 7, &["no", "maybe"], 4))
        .file("less.csv", generated(9, 5, &["no", "yes"], 4));
    for (extra, words) in [
        (&["--validate", "1.5"][..], &["--validate is 1.5", "between 0 and 1"][..]),
        (&["--validate", "nan"], &["--validate is nan"]),
        (&["--validate", "absent.csv"], &["--validate is absent.csv", "no such file"]),
        (&["--validate", "other.csv"], &["other.csv: `y` has the class maybe", "no, yes"]),
        (&["--validate", "less.csv"], &["less.csv", "f6"]),
        (&["--validate", "0.001"], &["holds out no sample"]),
        (&["--validate", "v.csv", "--seed", "3"], &["--seed", "names a file"]),
        (&["--validate", "v.csv", "--patience", "0"], &["--patience is 0", "at least 1"]),
        (&["--patience", "4"], &["--patience has a meaning with --validate only"]),
        (&["--max-cuts", "0"], &["--max-cuts is 0"]),
    ] {
        let ran = scratch.run(&[&GBD[..], extra].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "{extra:?}: `{word}` is not in: {}", ran.err);
        }
    }
    let ran = scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--validate", "0.2"]).code(2);
    assert!(ran.err.contains("--validate is an option of gbd, not of rfe"), "{}", ran.err);
}
