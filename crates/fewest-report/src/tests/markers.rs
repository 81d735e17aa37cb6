//! The page and the tables of markers.

use serde_json::{Value, json};

use super::{nasty, without_ours};
use crate::page;

/// A result of `fewest markers`: features and classes bear these names.
pub(super) fn markers(names: &[String]) -> Value {
    let measure = |mean: f64| json!({"mean": mean, "se": 0.02, "ci95": [mean - 0.05, mean + 0.05]});
    let marker = |(at, name): (usize, &String)| {
        json!({"feature": name, "index": at, "rank": at + 1, "highest": names[1], "mean": {&names[0]: 0.5, &names[1]: 2.25},
               "share": {&names[0]: 0.1, &names[1]: 0.75}, "weight": {&names[0]: -0.2, &names[1]: 0.2}, "frequency": 2.0 / 3.0, "recurs": 0.85, "replaceable_by": [{"feature": names[0], "price": 0.004}], "tells_apart": [{"high": names[1], "low": names[0], "share": 0.4}]})
    };
    let fold = |f: usize| json!({"fold": names[f], "samples": 30, "macro_f1": 0.9, "features": names});
    json!({
        "schema": 1, "kind": "markers", "status": "completed", "n_samples": 90, "n_features": 500, "target": names[2],
        "classes": {"-1": names[0], "+1": names[1]}, "class_counts": {"-1": 80, "+1": 10}, "warnings": [names[3]],
        "panel": {
            "features": names, "objective": 1.5, "bound": 1.25, "baseline": 2.5, "gap": 0.2, "status": "completed", "cost": 0.02,
            "class_cost": 1.0, "loss": "squared-hinge", "multi_class": "one-vs-one", "scale": "standard",
            "markers": names.iter().enumerate().map(marker).collect::<Vec<_>>()
        },
        "macro_f1": measure(0.9), "summary": {"accuracy": measure(0.92)}, "confusion": [[70, 10], [1, 9]],
        "by_class": [{"class": names[0], "samples": 80, "recall": 0.875, "precision": 0.986, "f1": 0.927},
                     {"class": names[1], "samples": 10, "recall": 0.9, "precision": 0.474, "f1": null}],
        "confused": [{"class": names[0], "taken_for": names[1], "samples": 10, "share": 0.125}],
        "folds": (0..3).map(fold).collect::<Vec<_>>(), "stability": {"index": 0.7, "ci95": [0.6, 0.8]},
        "required": {"features": [names[0]], "macro_f1": measure(0.6), "difference": measure(0.3)},
        "settings": {"max_features": names.len(), "data": names[1], "groups": {"column": names[2], "count": 6}},
        "command": names[1], "seconds": 1.5, "version": names[0]
    })
}

fn plain() -> Value {
    markers(&["CD3D", "MS4A1", "kind", "d", "e", "f"].map(String::from))
}

fn text(result: &Value) -> String {
    let words = crate::Words { rest: "", max_false: "", fdr: "", stability: "", sizes: |_| String::new(), rare: "" };
    let door = crate::Door { style: crate::Style::default(), words: &words, scaling: None };
    crate::text(result, door).expect("a text")
}

#[test]
fn the_page_says_panel_bound_and_judgement() {
    let page = page(&plain()).expect("a page");
    for part in [
        "6 markers of 2 classes of kind",
        "Macro F1 0.900 (0.850 to 0.950) on samples that took no part in the choice of the markers: 3 folds",
        "samples of one kind stay together (6 groups)",
        "At most 20.0 % of what any 6 features can gain is left out",
        "MS4A1 from CD3D (40.0 %)",
        "macro F1 of the required features alone",
        "0.300 (0.250 to 0.350)",
        "Expression of the markers by class",
        "F1 by class",
        "Most frequent confusions",
        "12.5 % of CD3D are taken for MS4A1",
        "replaceable by, share of the gain lost",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_tables_say_the_same() {
    let text = text(&plain());
    for part in [
        "classes         2 of kind",
        "macro F1        0.900 (0.850 to 0.950) on samples that took no part in the choice, 3 folds; samples of one kind",
        "required alone  0.600 (0.550 to 0.650); the others bring 0.300 (0.250 to 0.350)",
        "objective       1.50000 (2.50000 without features)",
        "proven          at most 20.0 % of what any 6 features can gain is left out",
        "class  samples  recall  precision     F1",
        "12.5 % of CD3D taken for MS4A1",
        "model           one-vs-one, squared-hinge, cost 0.02, 1 for each class",
        "MS4A1 | CD3D",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn lists_of_older_results_say_the_same() {
    let (found, mut older) = (plain(), plain());
    for marker in older["panel"]["markers"].as_array_mut().expect("markers") {
        for key in ["mean", "share", "weight"] {
            marker[key] = marker[key].as_object().expect("classes").values().cloned().collect();
        }
    }
    assert!(text(&found).contains("2.25") && older != found);
    assert_eq!((text(&found), page(&found)), (text(&older), page(&older)));
}

#[test]
fn without_a_panel_folds_and_classes_there_is_a_page_and_a_text() {
    let mut result = plain();
    for key in ["panel", "macro_f1", "required", "stability"] {
        result[key] = Value::Null;
    }
    for key in ["folds", "confusion", "by_class", "confused"] {
        result[key] = json!([]);
    }
    result["status"] = json!("time_limit");
    let found = page(&result).expect("a page");
    assert!(
        found.contains("No fold was done: how well the panel does is not known.") && !found.contains("id=\"means\"")
    );
    assert!(text(&result).contains("time_limit"));
    for poor in [
        json!({"kind": "markers"}),
        json!({"kind": "markers", "panel": {"markers": [1, null, {}]}, "by_class": [3, {}], "confused": [null]}),
        json!({"kind": "markers", "classes": {"0": "a", "1": 3}, "panel": {"markers": [{"mean": [1, "x"], "share": []}], "bound": "x"}}),
        json!({"kind": "markers", "confusion": [[u64::MAX, 2], [1, 1]], "classes": {"-1": "a", "+1": "b"}, "folds": [{}]}),
    ] {
        assert!(page(&poor).expect("a page").contains("</html>"));
        text(&poor);
    }
}

#[test]
fn names_are_shown_and_do_nothing() {
    let result = markers(&nasty());
    let control = |c: char| (c < ' ' && c != '\n') || ('\u{7f}'..='\u{9f}').contains(&c) || c == '\u{202e}';
    let told = text(&result);
    assert!(!told.contains(control) && told.contains("<script>alert(1)"), "{told}");
    let page = page(&result).expect("a page");
    let rest = without_ours(&page);
    assert!(rest.contains("&lt;script&gt;alert(1)") && rest.matches("<script").count() == 1);
}
