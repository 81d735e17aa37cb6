//! Pages of made-up results: escaping, size, policy, contrast. Pages of real runs are tested in a
//! browser by `fewest-cli`.

mod markers;
mod study_page;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Error, POLICY, SCRIPT, STYLE, page};

/// Names that a page must survive.
fn nasty() -> Vec<String> {
    vec![
        "<script>alert(1)</script>".to_owned(),
        "</script><img src=x onerror=alert(2)>".to_owned(),
        "\" onmouseover=\"alert(3)".to_owned(),
        "' onfocus='alert(4)".to_owned(),
        "{{ page.version }}{% raw %}".to_owned(),
        "</title></style></svg><!--".to_owned(),
        "\u{202e}gnp.exe\u{0}\u{1b}[31m".to_owned(),
        "n".repeat(10_000),
        "<".repeat(10_000),
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd} & co".to_owned(),
    ]
}

fn selection(names: &[String]) -> Value {
    let weights: serde_json::Map<String, Value> =
        names.iter().enumerate().map(|(j, n)| (n.clone(), json!(j as f64 - 2.0))).collect();
    let ranking: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(j, n)| json!({"feature": n, "index": j, "rank": j + 1, "criterion": 1.0 / (j + 1) as f64}))
        .collect();
    let strength: Vec<Value> =
        names.iter().enumerate().map(|(j, n)| json!({"feature": n, "index": j, "auc": 0.9})).collect();
    let k = names.len();
    json!({
        "schema": 1, "method": names[0], "status": "optimal", "selected": names, "selected_indices": (0..k).collect::<Vec<_>>(),
        "objective": 50.0, "bound": 49.8, "gap": 0.004, "sense": "min", "seconds": 1.5, "n_samples": 100, "n_features": 2 * k,
        "target": names[0], "classes": {"-1": names[0], "+1": names[1]}, "class_counts": {"-1": 90, "+1": 10},
        "warnings": [names[0], names[7]], "command": names[1],
        "settings": {"max_features": k, "data": names[1], "require": names, "implies": [[names[0], names[1]]], "budget": 5.0,
                     "at_most": [[2, names]], "feature_costs": {names[0].clone(): 1.0}, names[2].clone(): names[3].clone()},
        "model": {"weights": weights, "cost": 1.0, "scaling": {"kind": "standard"}}, "ranking": ranking,
        "solutions": [{"selected": names, "objective": 50.0}, {"selected": names, "objective": 51.0}],
        "trace": {"incumbent": [[0.1, 60.0], [0.2, 50.0]], "bound": [[0.1, 10.0], [1.0, 49.8]]},
        "certificate": {"objective": 50.0, "bound": 40.0, "baseline": 100.0, "best": {"objective": 45.0, "selected": names}},
        "description": {
            "strength": strength,
            "correlations": {"features": names, "matrix": vec![vec![0.5; k]; k]},
            "stand_ins": [{"feature": names[0], "stand_in": names[1], "correlation": -0.9, "objective": 55.0, "loss": 0.1}]
        },
        "version": names[0]
    })
}

fn evaluation(names: &[String]) -> Value {
    let fold = |f: usize| {
        json!({"fold": names[f], "repeat": 0, "selected": names, "metrics": {"accuracy": 0.9, names[0].clone(): 0.5}, "n_test": 10,
               "seconds": 0.1, "status": "completed", "max_features": 1 + f % 2,
               "inner": [{"max_features": 1, "accuracy": 0.8, "se": 0.05}, {"max_features": 2, "accuracy": 0.82, "se": 0.05}]})
    };
    let shares: serde_json::Map<String, Value> = names.iter().map(|n| (n.clone(), json!(0.7))).collect();
    let measure = json!({"mean": 0.9, "se": 0.02, "ci95": [0.85, 0.95]});
    json!({
        "schema": 1, "method": names[0], "n_samples": 100, "n_features": 20, "classes": {"-1": names[0], "+1": names[1]},
        "class_counts": {"-1": 95, "+1": 5}, "folds": (0..4).map(fold).collect::<Vec<_>>(),
        "summary": {"accuracy": measure, names[0].clone(): measure}, "confusion": [[9, 1], [2, 8]], "frequency": shares,
        "stability": {"index": 0.8, "ci95": [0.7, 0.9]}, "settings": {"data": names[0]}, "command": names[1], "version": names[0],
        "against": {"method": names[1], "summary": {"accuracy": measure}, "frequency": {names[1].clone(): 0.2}},
        "comparison": {"difference": measure, "t_test": {"p": 0.01}, "corrected_t_test": {"p": 0.02}, "hypothesis": names[0]}
    })
}

fn study(names: &[String]) -> Value {
    let mut value = evaluation(names);
    let panel = selection(names);
    let more = json!({
        "kind": "study", "status": "time_limit", "target": names[0], "effort": {"folds_left": 3, "splits_left": 1},
        "sizes": [{"max_features": 1, "accuracy": 0.8, "se": 0.05}, {"max_features": 2, "accuracy": 0.85, "se": 0.04}],
        "tried": [{"method": names[0], "max_features": 2, "accuracy": 0.8, "cost": 0.1, "fit_cost": 1.0, "stability": 0.5}],
        "panel": panel
    });
    for (key, entry) in more.as_object().expect("an object") {
        value[key] = entry.clone();
    }
    value["panel"]["max_features"] = json!(2);
    value["panel"]["baseline"] = json!(100.0);
    value["panel"]["cost"] = json!(0.1);
    value["panel"]["fit_cost"] = json!(1.0);
    value["panel"]["replacements"] =
        json!([{"feature": names[0], "without": 60.0, "by": [{"feature": names[1], "objective": 55.0}]}]);
    let of = |mean: f64| json!({"mean": mean, "se": 0.02, "ci95": [mean - 0.05, mean + 0.05]});
    let panel = |k: usize, mean: f64| {
        json!({"method": names[0], "max_features": k, "cost": 0.1, "fit_cost": 1.0, "selected": names[..k],
               "summary": {"accuracy": of(mean), "auc": of(0.93), "log_loss": of(0.3), "n_features": of(k as f64)},
               "stability": {"index": 0.7, "ci95": [0.6, 0.8]}})
    };
    value["prefer"] = json!("best");
    value["panels"] = json!({"best": panel(2, 0.9), "smallest": panel(1, 0.88), "difference": of(0.02)});
    value["largest_size"] = json!(true);
    value["left_out"] = json!([{"method": names[0], "why": names[1]}]);
    value["points"] = json!({
        "features": [{"feature": names[0], "levels": [{"at_least": 50.0, "points": 2}, {"at_least": 70.0, "points": 3}]},
                     {"feature": names[1], "levels": []}],
        "threshold": 3, "probabilities": [{"total": 0, "probability": 0.1}, {"total": 2, "probability": 0.4}, {"total": 3, "probability": 0.7}],
        "summary": {"accuracy": of(0.87), "auc": of(0.92)}, "difference": {"accuracy": of(0.03), "auc": of(0.01)}
    });
    value["external"] = prediction(names);
    value
}

fn prediction(names: &[String]) -> Value {
    let measure = json!({"mean": 0.8, "se": null, "ci95": [0.7, 0.9]});
    let wrong =
        json!({"row": 4, "sample": names[0], "class": names[1], "judged": 1, "wrong": 1, "predicted": [names[0]]});
    json!({
        "schema": 1, "kind": "prediction", "model": names[0], "data": names[1], "n_samples": 21, "accuracy": 0.8, "right": 16,
        "scored": 20, "unknown_class": 1, "target": names[0], "classes": {"-1": names[0], "+1": names[1]},
        "class_counts": {"-1": 12, "+1": 8}, "predicted_counts": {"-1": 11, "+1": 10}, "selected": names, "n_features": names.len(),
        "metrics": {"accuracy": 0.8, "log_loss": 0.5, "brier": 0.2}, "summary": {"accuracy": measure, "log_loss": {"mean": 0.5}, names[0].clone(): measure},
        "recall": {names[0].clone(): measure, names[1].clone(): measure}, "confusion": [[10, 2], [2, 6]],
        "calibration": {"slope": 0.9, "intercept": -0.1, "expected": 0.41, "observed": 0.4}, "wrong": [wrong],
        "settings": {"data": names[1]}, "command": names[1], "version": names[0]
    })
}

#[test]
fn predictions_say_what_the_model_is_worth_there() {
    let names: Vec<String> = ["No", "Yes"].map(String::from).to_vec();
    let text = page(&prediction(&names)).expect("a page");
    for part in [
        "Right on 80.0 % of the samples (95 % interval 70.0 % to 90.0 %).",
        "20 samples whose class is known; 1 of a class that the model does not know are left out.",
        "Probability of the class Yes: 0.410 on average, its share is 0.400; slope 0.900, intercept -0.100",
        "Log-loss 0.5000",
        "Misclassified samples",
    ] {
        assert!(text.contains(part), "{part}");
    }
    let mut unknown = prediction(&names);
    for key in ["metrics", "summary", "recall", "confusion", "calibration", "wrong", "target", "class_counts", "scored"]
    {
        unknown[key] = Value::Null;
    }
    let text = page(&unknown).expect("a page");
    assert!(text.contains("Samples that each class is predicted of") && !text.contains("Right on"));
}

#[test]
fn a_study_says_what_it_is_worth_first() {
    let names: Vec<String> =
        ["age", "income", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10"].map(String::from).to_vec();
    let text = page(&study(&names)).expect("a page");
    let at = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("{needle}"));
    let order = [
        "Right on 90.0 %",
        "Panel of 10 features",
        "Performance on samples held out",
        "Number of features",
        "Methods compared",
    ];
    assert!(order.windows(2).all(|w| at(w[0]) < text.rfind(w[1]).expect("a heading")), "{order:?}");
    assert!(text.contains("Time ran out. Not done: 3 outer folds, 1 inner split."));
    assert!(text.contains("income (+10.0 %)"), "an exchange costs 5 of the 50 gained");
    let mut none = study(&names);
    (none["panel"], none["folds"], none["summary"]) = (Value::Null, json!([]), json!({}));
    assert!(page(&none).expect("a page").contains("no outer fold was done in time"));
}

#[test]
fn a_study_shows_both_panels_points_another_file_and_the_methods_part() {
    let names: Vec<String> = ["age", "dose", "c", "d", "e", "f", "g", "h", "i", "j"].map(String::from).to_vec();
    let whole = study(&names);
    let text = page(&whole).expect("a page");
    for part in [
        "Choosing the smaller panel costs 2.00 % of accuracy (95 % interval -3.00 % to 7.00 %; the interval holds 0, so that this may be chance)",
        "The largest number of features tried (2) was chosen; more may be better. Try up to 4: --max-features 1..4 of the command, sizes=range(1, 5)",
        "Not tried: age: dose.",
        "a total of 3 or more says dose.",
        "accuracy 0.870 (0.820 to 0.920), 0.030 less than the classifier, 95 % interval -0.020 to 0.080",
        "Probability of dose at each of 3 totals",
        "without another training: 20 samples of dose; 1 of a class that the panel does not know are left out.",
        "External validation",
        "in 4 of 7 outer folds",
        "Text for the methods section",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // What is left out of the JSON is left out of the page.
    let mut less = whole.clone();
    for key in ["panels", "points", "external", "left_out", "largest_size"] {
        less[key] = Value::Null;
    }
    let text = page(&less).expect("a page");
    for part in ["Two panels", "as points", "External validation", "Not tried", "largest number"] {
        assert!(!text.contains(part), "{part}");
    }
    // The smaller one is the panel; the other one is then better by as much.
    let mut small = whole.clone();
    (small["prefer"], small["panels"]["difference"]) =
        (json!("smallest"), json!({"mean": -0.02, "ci95": [-0.03, -0.01]}));
    let text = page(&small).expect("a page");
    assert!(text.contains("Choosing the larger panel gains 2.00 % of accuracy (95 % interval 1.00 % to 3.00 %)"));
    assert!(text.contains("the panel is the smallest size that is as good as its pick"));
    let mut same = whole.clone();
    same["panels"]["smallest"] = same["panels"]["best"].clone();
    assert!(page(&same).expect("a page").contains("Within the time allowed, the smallest size that is as good"));
    same["status"] = json!("completed");
    assert!(page(&same).expect("a page").contains("both panels are the same."));
}

#[test]
fn the_text_of_a_study_has_the_words_of_its_door() {
    let names: Vec<String> = ["age", "dose", "c", "d", "e", "f", "g", "h", "i", "j"].map(String::from).to_vec();
    let words = crate::Words {
        rest: "",
        max_false: "",
        fdr: "",
        stability: "",
        sizes: |most| format!("sizes=range(1, {})", most + 1),
        rare: "WEIGH",
    };
    let door = crate::Door { style: crate::Style::default(), words: &words, scaling: None };
    let mut whole = study(&names);
    let text = crate::text(&whole, door).expect("a text");
    for part in [
        "smaller panel  1 feature: age; accuracy 0.880 (0.830 to 0.930), 0.020 less (95 % interval -0.030 to 0.070)",
        "external       accuracy 0.800 (0.700 to 0.900); 20 samples of dose; 1 of a class",
        "sizes          the largest number of features tried (2) was chosen; more may be better: sizes=range(1, 5)",
        "not tried      age: dose",
        "age        >= 50: +2, >= 70: +3",
        "Of the panel, these add nothing to the points: dose.",
        "probability of dose by total: 0: 0.100, 2: 0.400, 3: 0.700",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    (whole["folds"], whole["summary"], whole["effort"]) = (json!([]), json!({}), json!({"folds_left": 10}));
    (whole["points"]["summary"], whole["points"]["difference"]) = (Value::Null, Value::Null);
    let text = crate::text(&whole, door).expect("a text");
    assert!(text.contains("not known: 0 of 10 outer folds done"), "{text}");
    assert!(text.contains("what they lose is not known: no outer fold was done"), "{text}");
    assert!(page(&whole).expect("a page").contains("is not known: 0 of 10 outer folds were done"));
}

fn all_pages() -> Vec<String> {
    let names = nasty();
    let one = selection(&names);
    let path = json!({"schema": 1, "path": [one, one], "command": names[0], "version": names[1]});
    [one.clone(), path, evaluation(&names), study(&names), prediction(&names), markers::markers(&names)]
        .iter()
        .map(|result| page(result).expect("a page"))
        .collect()
}

/// The page without our own script and style.
fn without_ours(page: &str) -> String {
    page.replacen(SCRIPT, "", 1).replacen(STYLE, "", 1)
}

#[test]
fn names_from_files_are_text_and_nothing_else() {
    for page in all_pages() {
        let rest = without_ours(&page);
        assert_eq!(rest.matches("<script").count(), 1, "ours alone");
        assert_eq!(rest.matches("</script").count(), 1);
        assert_eq!(
            (rest.matches("<style").count(), rest.matches("<img").count(), rest.matches("<!--").count()),
            (1, 0, 0)
        );
        assert!(rest.contains("&lt;script&gt;alert(1)"));
        for attribute in [" onerror=", " onmouseover=\"", " onfocus='"] {
            assert!(rest.match_indices(attribute).all(|(at, _)| !inside_tag(&rest, at)), "{attribute}");
        }
        let control = |c: char| (c < ' ' && c != '\n') || ('\u{7f}'..='\u{9f}').contains(&c) || c == '\u{202e}';
        assert!(!rest.contains(control));
        assert!(
            rest.contains("{{ page.version }}") || rest.contains("{&#x2f;") || rest.contains("{{ page"),
            "a template is text, too"
        );
        assert!(page.len() < 1_000_000, "{}", page.len());
    }
}

/// Whether this place is in a tag, outside of quotes.
fn inside_tag(html: &str, at: usize) -> bool {
    let before = &html[..at];
    match (before.rfind('<'), before.rfind('>')) {
        (Some(open), close) if close.is_none_or(|close| close < open) => {
            before[open..].matches('"').count().is_multiple_of(2)
        }
        _ => false,
    }
}

#[test]
fn a_whole_name_is_in_the_title() {
    let long = "n".repeat(10_000);
    let page = page(&selection(&nasty())).unwrap();
    assert!(page.contains(&format!("title=\"{long}\"")));
}

#[test]
fn nothing_is_loaded() {
    for page in all_pages() {
        let rest = without_ours(&page);
        for loading in ["<link", "<iframe", "<object", "<embed", " src=", "@import", "url(", "http://", "https://"] {
            let allowed = rest.replace("xmlns=\"http://www.w3.org/2000/svg\"", "").replace("&lt;img src=x", "");
            assert!(!allowed.contains(loading), "{loading}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert!(!SCRIPT.contains("fetch") && !SCRIPT.contains("innerHTML"));
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |part: &[u8]| {
        let bits = part.iter().chain([0, 0].iter()).take(3).fold(0u32, |bits, &b| bits << 8 | u32::from(b));
        let digit =
            |at: usize| if at <= part.len() { DIGITS[(bits >> (18 - 6 * at) & 63) as usize] as char } else { '=' };
        (0..4).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(group).collect()
}

#[test]
fn the_policy_allows_our_style_and_script() {
    for (what, text) in [("style-src", STYLE), ("script-src", SCRIPT)] {
        let wanted = format!("{what} 'sha256-{}'", base64(&Sha256::digest(text)));
        assert!(POLICY.contains(&wanted), "put into POLICY: {wanted}");
    }
}

#[test]
fn any_json_is_a_page_or_refused() {
    for other in [json!(null), json!([]), json!({}), json!({"selected": 3}), json!({"kind": "model"})] {
        assert_eq!(page(&other), Err(Error::NoResult));
    }
    for poor in [
        json!({"selected": [], "status": "infeasible"}),
        json!({"selected": [1, null, "a"], "status": "completed", "objective": "x", "trace": 3, "description": {"correlations": {"features": ["a", "b"], "matrix": [[1]]}}}),
        json!({"path": []}),
        json!({"kind": "prediction"}),
        json!({"kind": "prediction", "metrics": {}, "classes": {"0": "a"}, "class_counts": {"0": 3}, "wrong": [1, {"row": u64::MAX}]}),
        json!({"path": [null, 3, {}]}),
        json!({"folds": []}),
        json!({"folds": [{}, 1], "summary": {"accuracy": {"mean": null}}, "confusion": [[1]], "classes": {"0": "a"}}),
        // Counts of any size.
        json!({"folds": [{}, 1], "confusion": [[u64::MAX, 2], [1, 1]], "classes": {"0": "a", "1": "b"}, "class_counts": {"0": u64::MAX, "1": 9}}),
    ] {
        let page = page(&poor).expect("a page");
        assert!(page.contains("</html>"));
    }
}

#[test]
fn five_thousand_features_stay_below_300_kilobytes() {
    let names: Vec<String> = (0..5000).map(|j| format!("probe_{j}_at")).collect();
    let mut result = selection(&names[..12]);
    let ranking: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(j, n)| json!({"feature": n, "index": j, "rank": j + 1, "criterion": 0.5}))
        .collect();
    let strength: Vec<Value> =
        names.iter().enumerate().map(|(j, n)| json!({"feature": n, "index": j, "auc": 0.6})).collect();
    (result["ranking"], result["description"]["strength"]) = (json!(ranking), json!(strength));
    let text = page(&result).unwrap();
    assert!(
        text.len() < 300_000 && text.contains("probe_999_at") && text.contains("more rows have no room here"),
        "{}",
        text.len()
    );
    let long: Vec<Value> = (0..50_000)
        .map(|j| json!({"feature": format!("{j}{}", "&".repeat(300)), "index": j, "rank": j + 1, "criterion": 1.0}))
        .collect();
    result["ranking"] = json!(long);
    assert!(page(&result).unwrap().len() < 1_000_000);
}

/// The colours of a block of the style sheet: `--name: #rrggbb`.
fn colours(block: &str) -> std::collections::HashMap<String, [f64; 3]> {
    let one = |entry: &str| {
        let (name, value) = entry.trim().split_once(": #")?;
        let part = |at: usize| u8::from_str_radix(value.get(at..at + 2)?, 16).ok().map(f64::from);
        Some((name.trim_start_matches("--").to_owned(), [part(0)?, part(2)?, part(4)?]))
    };
    block.split(';').filter_map(one).collect()
}

/// Contrast ratio of WCAG 2.2.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let part = |c: f64| if c / 255.0 <= 0.04045 { c / 255.0 / 12.92 } else { ((c / 255.0 + 0.055) / 1.055).powf(2.4) };
    let light = |c: [f64; 3]| 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
    let (a, b) = (light(a).max(light(b)), light(a).min(light(b)));
    (a + 0.05) / (b + 0.05)
}

#[test]
fn colours_have_the_contrast_of_wcag_aa() {
    let blocks: Vec<_> = STYLE.split('{').map(colours).filter(|c| c.contains_key("ground")).collect();
    assert_eq!(blocks.len(), 4, "light, dark by preference, dark by choice, print");
    for colour in &blocks {
        for (front, back) in [
            ("ink", "ground"),
            ("muted", "ground"),
            ("link", "ground"),
            ("ink", "panel"),
            ("ink", "good"),
            ("ink", "bad"),
            ("muted", "panel"),
        ] {
            let ratio = contrast(colour[front], colour[back]);
            assert!(ratio >= 4.5, "{front} on {back}: {ratio:.2}");
        }
        for mark in ["first", "second"] {
            assert!(contrast(colour[mark], colour["ground"]) >= 3.0, "{mark}");
            // The strongest cell of a matrix, with words on it.
            let mixed: Vec<f64> = (0..3).map(|c| 0.4 * colour[mark][c] + 0.6 * colour["ground"][c]).collect();
            assert!(contrast(colour["ink"], [mixed[0], mixed[1], mixed[2]]) >= 4.5, "words on {mark}");
        }
    }
    assert!((contrast([0.0; 3], [255.0; 3]) - 21.0).abs() < 1e-9, "the formula itself");
}

#[test]
fn what_a_page_claims_is_rounded_against_the_result() {
    let names: Vec<String> = (1..=10).map(|j| format!("x{j}")).collect();
    let mut result = selection(&names);
    for (key, value) in [("objective", json!(100.0)), ("bound", json!(49.383_996)), ("gap", json!(0.506_16))] {
        result[key] = value;
    }
    result["certificate"] =
        json!({"objective": 150.616, "bound": 100.0, "gap": 0.506_16, "best": {"objective": 150.616}});
    let path = json!({"path": [result.clone()], "command": "c", "version": "1"});
    for page in [page(&result), page(&path)] {
        let page = page.expect("a page");
        assert!(page.contains("at most 50.7 % of what") && page.contains(">50.7 %<"), "{page}");
        assert!(page.contains(">49.3839<") && !page.contains(">49.3840<"), "the bound goes down");
    }
    assert!(page(&result).expect("a page").contains("leaves out at most 50.7 % of what any of its size can gain"));
    result["sense"] = json!("max");
    result["bound"] = json!(150.616_01);
    assert!(page(&result).expect("a page").contains(">150.617<"), "the bound goes up");
}

#[test]
fn what_is_expected_at_most_is_rounded_up() {
    for (most, text) in [
        (0.067_08, "0.068"),
        (0.948_66, "0.95"),
        (1.0, "1.0"),
        (3.81, "3.9"),
        (12.0, "12"),
        (12.1, "13"),
        (131.0, "140"),
    ] {
        assert_eq!(crate::expected(most), text);
    }
}

/// What a method tells of its course is a chart with a row for each step.
#[test]
fn a_course_is_drawn() {
    let step = |at: u32| json!({"value": 1.0 + f64::from(at), "lower": 2.0 + f64::from(at), "upper": (at > 0).then_some(9.0), "serious": at != 1, "omega": at, "seconds": 0.1});
    let point = |cost: f64| json!({"cost": cost, "objective": 3.0, "bound": 2.9, "features": 10.0 * cost});
    let taken = |k: u64| json!({"step": 9 - k, "n_features": k, "cost": 0.25, "accuracy": 0.75});
    for (key, value, id, row) in [
        ("steps", json!([step(0), step(1), step(2)]), "ascent", "<td>null</td>"),
        ("grid", json!([point(0.1), point(1.0)]), "grid", ">10</td>"),
        ("tuned", json!([taken(5), taken(4), taken(3)]), "tuned", ">0.7500</td>"),
        ("curve", json!([taken(5), taken(4), taken(3)]), "curve", ">0.7500</td>"),
    ] {
        let mut result = selection(&nasty());
        assert!(!page(&result).unwrap().contains(&format!("id=\"{id}\"")), "{id}");
        result[key] = value;
        let text = page(&result).unwrap();
        assert!(text.contains(&format!("id=\"{id}\"")) && text.contains(row), "{id}");
        // A single step is no course.
        result[key] = json!([result[key][0]]);
        assert!(!page(&result).unwrap().contains(&format!("id=\"{id}\"")), "{id}");
    }
}

/// The page of a path with folds has accuracies by size.
#[test]
fn a_path_with_folds_has_accuracies() {
    let names = nasty();
    let at = |k: usize| {
        let mut result = selection(&names);
        result["settings"]["max_features"] = json!(k);
        result["cv"] = json!({"accuracy": {"mean": 0.5 + 0.1 * k as f64, "se": 0.02}});
        result
    };
    let mut path = json!({"path": [at(2), at(3)], "cv": {"folds": 5, "done": 5, "best_size": 3, "one_se_size": 2}});
    let text = page(&path).unwrap();
    assert!(text.contains("Accuracy against number of features") && text.contains("0.8000"));
    path["cv"]["best_size"] = json!(null);
    assert!(!page(&path).unwrap().contains("Accuracy against number of features"));
}
