//! The list of methods: every entry has a name of its own, settings that survive JSON, and keeps
//! the rules by the one door.

use fewest::{Info, Limits, Rules, Samples, Silent, Status};
use fewest_papers::AnyMethod;
use fewest_testing::RandomProblem;
use serde_json::{Value, json};

const N: usize = 16;
const P: usize = 4;

/// Settings of a method by name: its defaults, and what has none.
fn settings(info: &Info) -> Value {
    let folds = json!({"of": (0..N).map(|i| i / 2 % 3).collect::<Vec<_>>()});
    let flip = json!({
        "name": info.name, "svm": {}, "kernel": {"kind": "linear"}, "costs": [1.0], "folds": folds, "passes": 1,
        "start": {"rfe": {"step": {"count": 1}, "criterion": "weights"}},
    });
    match info.name {
        "eb-rfe" => json!({
            "name": info.name, "svm": {}, "kernel": {"kind": "linear"}, "criterion": "weights", "candidates": 2,
            "adaptive": null, "accuracy_loss": 0.0, "costs": [1.0], "folds": folds,
        }),
        "bit-flip" | "attribute-flip" => flip,
        name => json!({"name": name}),
    }
}

fn method(info: &Info) -> AnyMethod {
    serde_json::from_value(settings(info)).unwrap_or_else(|error| panic!("{}: {error}", info.name))
}

#[test]
fn every_method_is_what_its_name_says() {
    let mut names: Vec<&str> = AnyMethod::INFOS.iter().map(|info| info.name).collect();
    for info in AnyMethod::INFOS {
        assert_eq!(method(info).info(), *info);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), AnyMethod::INFOS.len());
}

#[test]
fn settings_survive_json_and_unknown_ones_are_refused() {
    for info in AnyMethod::INFOS {
        let text = serde_json::to_value(method(info)).unwrap();
        assert_eq!(text["name"], info.name);
        let again: AnyMethod = serde_json::from_value(text.clone()).unwrap();
        assert_eq!(serde_json::to_value(again).unwrap(), text, "{}", info.name);
        let mut wrong = settings(info);
        wrong["no_such_setting"] = json!(1);
        assert!(serde_json::from_value::<AnyMethod>(wrong).is_err(), "{} takes no_such_setting", info.name);
    }
}

#[test]
fn every_method_selects_and_keeps_the_size() {
    let (design, labels) = RandomProblem { n: N, p: P, density: 1.0, noise: 0.1, seed: 5 }.draw();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&design, &classes, None).unwrap();
    let rules = Rules::at_most_features(P, 2).unwrap();
    for info in AnyMethod::INFOS {
        let method = method(info);
        method.check(P).unwrap();
        let report = method.select(&samples, &rules, Limits::default(), &mut Silent).unwrap();
        let outcome = &report.selection.outcome;
        let subset = outcome.subset.as_ref().unwrap_or_else(|| panic!("{} found nothing", info.name));
        assert!(rules.allows(subset), "{}: {subset:?}", info.name);
        assert_eq!(outcome.bound.is_some(), info.bounds, "{}", info.name);
        let points = method.path(&samples, &rules, &[1, 2], &Limits::default(), &mut Silent).unwrap();
        let sizes: Vec<usize> = points.iter().map(|point| point.max_features).collect();
        assert_eq!(sizes, [1, 2], "{}", info.name);
        for point in points {
            let outcome = point.report.selection.outcome;
            assert!(outcome.subset.unwrap().len() <= point.max_features, "{}", info.name);
            assert!(!matches!(outcome.status, Status::Infeasible), "{}", info.name);
        }
    }
}
