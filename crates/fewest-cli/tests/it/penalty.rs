//! `--penalty auto`: the number that the result states is that of the SVM on all features, each
//! fold finds its own on its training part, and what cannot be is refused.

use serde_json::Value;

use crate::common::{Scratch, generated, with_folds};

const AUTO: [&str; 8] = ["-m", "exact", "--penalty", "auto", "--max-features", "3", "--json", "r.json"];

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 21));
    scratch
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Half the squared weights of the SVM on all features, the largest first.
fn gains(scratch: &Scratch) -> Vec<f64> {
    scratch.run(&["fit", "d.csv", "--all-features", "--tolerance", "1e-9", "--json", "f.json"]).code(0);
    let fitted = scratch.json("f.json");
    let weights = fitted["model"]["weights"].as_object().expect("by name").values();
    let mut gains: Vec<f64> = weights.map(|w| 0.5 * number(w) * number(w)).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    gains
}

#[test]
fn the_result_states_what_was_asked_and_the_number_found() {
    let scratch = scratch("penalty_found");
    let gains = gains(&scratch);
    let accurate = ["--tolerance", "1e-9", "--proof", "x.proof"];
    let ran = scratch.run(&[&["select", "d.csv"], &AUTO[..], &accurate].concat()).code(0);
    let result = scratch.json("r.json");
    let price = number(&result["settings"]["penalty"]);
    assert!((price - gains[2]).abs() <= 1e-5 * gains[2], "{price}, but {gains:?}");
    assert_eq!(result["settings"]["penalty_rule"], "auto");
    assert!(ran.out.contains(" (auto: from the SVM on all features)"), "{}", ran.out);
    // The price of the features is in the objective, as if the number had been typed.
    let typed = price.to_string();
    let given = ["-m", "exact", "--penalty", &typed, "--max-features", "3", "--json", "t.json", "--tolerance", "1e-9"];
    scratch.run(&[&["select", "d.csv"], &given[..]].concat()).code(0);
    let of_number = scratch.json("t.json");
    assert_eq!((&of_number["objective"], &of_number["selected"]), (&result["objective"], &result["selected"]));
    assert_eq!(of_number["settings"]["penalty_rule"], "given");
    // The proof speaks of the number.
    let verified = scratch.run(&["verify", "x.proof", "d.csv", "--as", "r.json", "--json", "v.json"]).code(0);
    assert!(verified.out.contains("for each chosen feature"), "{}", verified.out);
    scratch.run(&["verify", "x.proof", "d.csv", "--penalty", &typed]).code(0);
    let refused = scratch.run(&["verify", "x.proof", "d.csv", "--penalty", "auto"]).code(2).err;
    assert!(refused.contains("auto is of exact and gbd"), "{refused}");
    let path = [&["path", "d.csv"], &AUTO[..4], &["--max-features", "1..3", "--json", "p.json"]].concat();
    scratch.run(&path).code(0);
    let path = scratch.json("p.json")["path"].clone();
    for (at, size) in path.as_array().expect("sizes").iter().enumerate() {
        let price = number(&size["settings"]["penalty"]);
        assert!((price - gains[at]).abs() <= 1e-2 * gains[at], "size {}: {price}, but {gains:?}", at + 1);
    }
}

#[test]
#[cfg(feature = "highs")]
fn gbd_finds_the_same_number() {
    let scratch = scratch("penalty_gbd");
    scratch.run(&[&["select", "d.csv"], &AUTO[..]].concat()).code(0);
    let exact = scratch.json("r.json");
    for extra in [&[][..], &["--plain"]] {
        let gbd = ["select", "d.csv", "-m", "gbd", "--penalty", "auto", "--max-features", "3", "--json", "g.json"];
        scratch.run(&[&gbd[..], extra].concat()).code(0);
        let gbd = scratch.json("g.json");
        assert_eq!(gbd["settings"]["penalty"], exact["settings"]["penalty"]);
        let (a, b) = (number(&gbd["objective"]), number(&exact["objective"]));
        assert!((a - b).abs() <= 2.1e-4 * b, "{a}, but {b}");
    }
}

#[test]
fn a_fold_finds_its_own_on_its_training_part_alone() {
    let scratch = Scratch::new("penalty_folds");
    let with_folds = with_folds(&generated(48, 6, &["no", "yes"], 5));
    scratch.file("d.csv", &with_folds);
    let options = ["-m", "exact", "--max-features", "2", "--penalty", "auto"];
    scratch.run(&[&["evaluate", "d.csv", "--folds", "fold", "--json", "e.json"], &options[..]].concat()).code(0);
    let folds = scratch.json("e.json")["folds"].as_array().expect("three").clone();
    let mut prices = Vec::new();
    for (part, fold) in ["p0,", "p1,", "p2,"].into_iter().zip(&folds) {
        let train = with_folds.lines().enumerate().filter(|(i, line)| *i == 0 || !line.starts_with(part));
        let train: String = train.flat_map(|(_, line)| [line, "\n"]).collect();
        scratch.file("train.csv", train);
        scratch.run(&[&["select", "train.csv", "--drop", "fold", "--json", "s.json"], &options[..]].concat()).code(0);
        let found = scratch.json("s.json");
        assert_eq!((&fold["penalty"], &fold["selected"]), (&found["settings"]["penalty"], &found["selected"]));
        prices.push(number(&fold["penalty"]));
    }
    assert!(prices[0] != prices[1] && prices[1] != prices[2], "{prices:?}");
}

#[test]
fn what_has_no_price_to_find_is_refused() {
    let scratch = scratch("penalty_refused");
    let err = scratch.run(&["select", "d.csv", "-m", "exact", "--penalty", "auto"]).code(2).err;
    assert!(err.contains("--penalty is auto, but must be a number, or come with --max-features"), "{err}");
    let list = ["certify", "d.csv", "--features", "f1,f2", "--penalty", "auto"];
    let err = scratch.run(&list).code(2).err;
    assert!(err.contains("--penalty is auto, but must be a number for a certificate"), "{err}");
    #[cfg(feature = "highs")]
    for method in ["mbp", "lagrangian"] {
        let err =
            scratch.run(&["select", "d.csv", "-m", method, "--penalty", "auto", "--max-features", "2"]).code(2).err;
        assert!(err.contains("--penalty") && err.contains("auto is of exact and gbd"), "{err}");
    }
    let err = scratch.run(&["select", "d.csv", "-m", "exact", "--penalty", "automatic"]).code(2).err;
    assert!(err.contains("a finite number, 0 or more, auto, or a file"), "{err}");
}
