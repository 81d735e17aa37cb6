//! The page of a study: whose names it has, what is a note, and points of missing values.

use serde_json::json;

use super::{prediction, study};
use crate::page;

#[test]
fn samples_of_many_are_named_on_request_alone() {
    let names: Vec<String> = (0..10).map(|at| format!("f{at}")).collect();
    let mut value = study(&names);
    value["wrong"] =
        json!([{"row": 17, "sample": "Meier", "class": "f0", "judged": 2, "wrong": 1, "predicted": ["f1"]}]);
    value["external"] = prediction(&names);
    value["external"]["n_samples"] = json!(101);
    value["external"]["wrong"] =
        json!([{"row": 3, "sample": "Huber", "class": "f0", "judged": 1, "wrong": 1, "predicted": ["f1"]}]);
    let made = |n: u64, shown: bool| {
        let mut value = value.clone();
        value["n_samples"] = json!(n);
        value["settings"]["show_samples"] = json!(shown);
        page(&value).expect("a page")
    };
    let (few, many, asked) = (made(100, false), made(101, false), made(101, true));
    assert!(few.contains("Meier") && !few.contains("Huber"));
    assert!(!many.contains("Meier") && many.contains("row 18") && many.contains("--show-samples"));
    assert!(asked.contains("Meier") && asked.contains("Huber") && !asked.contains("--show-samples"));
}

#[test]
fn notes_are_no_warnings() {
    let names: Vec<String> = (0..10).map(|at| format!("f{at}")).collect();
    let mut value = study(&names);
    value["warnings"] = json!(["a column is constant", "semicolons"]);
    value["notes"] = json!(["semicolons"]);
    let page = page(&value).expect("a page");
    let count = |text: &str| page.matches(text).count();
    let warned = |text: &str| count(&format!("<li><bdi>{text}</bdi></li>"));
    assert_eq!((warned("a column is constant"), count("class=\"cautions\""), count("semicolons")), (1, 1, 1));
}

#[test]
fn a_missing_value_scores_what_stands_in_for_it() {
    let names: Vec<String> = (0..10).map(|at| format!("f{at}")).collect();
    let mut value = study(&names);
    // Levels of f0: 2 points from 50 on, 3 from 70 on.
    for (fill, points) in [(40.0, "+0"), (50.0, "+2"), (100.0, "+3")] {
        value["panel"]["model"] = json!({"imputation": {"rule": "mean", "features": {"f0": {"fill": fill}}}});
        let words =
            crate::Words { rest: "", max_false: "", fdr: "", stability: "", sizes: |_| String::new(), rare: "" };
        let door = crate::Door { style: crate::Style::default(), words: &words, scaling: None };
        let text = crate::text(&value, door).expect("a text");
        assert!(text.contains(&format!(">= 70: +3; missing: {points}")), "{text}");
        assert!(page(&value).expect("a page").contains("missing"));
    }
}
