//! `kta` on the command line: results against brute force from the definition, gamma, models,
//! limits, texts.

use fewest_data::ReadOptions;
use fewest_testing::{all_subsets, dense_copy};
use serde_json::Value;

use crate::common::{Scratch, generated};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// gamma by eq. (54) for `theta` features, and the best alignment of at most `theta` of them, each
/// from its definition, after standardisation by eq. (25). Two classes.
fn by_brute_force(scratch: &Scratch, file: &str, theta: usize, beta: f64) -> (f64, f64) {
    let mut data = fewest_data::read(scratch.path(file).to_str().unwrap(), &ReadOptions::default()).unwrap();
    let y = data.target.take().unwrap().signs();
    let mut rows = dense_copy(data.features.as_design());
    let (n, p) = (rows.len(), rows[0].len());
    for j in 0..p {
        let mean = rows.iter().map(|r| r[j]).sum::<f64>() / n as f64;
        let deviation = (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        for row in &mut rows {
            row[j] = (row[j] - mean) / deviation;
        }
    }
    let part = |i: usize, h: usize, j: usize| (rows[i][j] - rows[h][j]).powi(2);
    let mut all: Vec<f64> = (0..n)
        .flat_map(|i| (i + 1..n).map(move |h| (i, h)))
        .map(|(i, h)| theta as f64 / p as f64 * (0..p).map(|j| part(i, h, j)).sum::<f64>())
        .collect();
    all.sort_by(f64::total_cmp);
    let gamma = beta * 2.0 / (all[(all.len() - 1) / 2] + all[all.len() / 2]);
    let size = |label: f64| y.iter().filter(|&&l| l == label).count() as f64;
    let value = |chosen: Vec<usize>| {
        let kernel = |i: usize, h: usize| (-gamma * chosen.iter().map(|&j| part(i, h, j)).sum::<f64>()).exp();
        (0..n)
            .flat_map(|i| (0..n).map(move |h| (i, h)))
            .map(|(i, h)| y[i] / size(y[i]) * y[h] / size(y[h]) * kernel(i, h))
            .sum()
    };
    let subsets = all_subsets(p).filter(|s| s.len() <= theta);
    (gamma, subsets.map(|s| value(s.iter().collect())).fold(0.0, f64::max))
}

#[test]
fn result_and_model_are_those_of_the_definition() {
    let scratch = Scratch::new("kta_json");
    scratch.file("d.csv", generated(50, 7, &["no", "yes"], 4));
    let arguments = ["select", "d.csv", "-m", "kta", "--max-features", "3", "--gap", "0", "--solutions", "4"];
    for (gamma, beta) in [(&[][..], 1.0), (&["--gamma", "sigest:0.5"][..], 0.5)] {
        let (truth, best) = by_brute_force(&scratch, "d.csv", 3, beta);
        let outputs = ["--json", "r.json", "--model", "m.json"];
        let ran = scratch.run(&[&arguments[..], gamma, &outputs].concat()).code(0);
        for word in ["optimal", "larger is better", "rbf, gamma", "solution  objective  selected"] {
            assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
        }
        let result = scratch.json("r.json");
        assert_eq!((result["sense"].as_str(), result["status"].as_str()), (Some("max"), Some("optimal")));
        assert!((number(&result["objective"]) - best).abs() <= 1e-12, "{} {best}", result["objective"]);
        assert!((number(&result["bound"]) - best).abs() <= 1e-12, "{}", result["bound"]);
        assert!((number(&result["settings"]["gamma"]) - truth).abs() <= 1e-12 * truth);
        assert_eq!(result["settings"]["kernel"], "rbf");
        assert_eq!(result["solutions"].as_array().unwrap().len(), 4);
        let model = scratch.json("m.json");
        let trained = model.get("model").unwrap_or(&model);
        assert_eq!(trained["kernel"], "rbf");
        assert_eq!(trained["gamma"], result["settings"]["gamma"]);
        scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);
    }
}

#[test]
fn three_classes_and_rules_are_obeyed() {
    let scratch = Scratch::new("kta_three");
    scratch.file("d.csv", generated(60, 6, &["a", "b", "c"], 5));
    let arguments =
        ["select", "d.csv", "-m", "kta", "--max-features", "2", "--gamma", "scale", "--forbid", "f1", "--json", "-"];
    let result: Value = serde_json::from_str(&scratch.run(&arguments).code(0).out).expect("JSON");
    let selected: Vec<&str> = result["selected"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert!(!selected.is_empty() && selected.len() <= 2 && !selected.contains(&"f1"), "{selected:?}");
}

#[test]
fn limits_and_misuse_are_named() {
    let scratch = Scratch::new("kta_limits");
    scratch.file("d.csv", generated(60, 8, &["no", "yes"], 6));
    let start = ["select", "d.csv", "-m", "kta", "--max-features", "4"];
    let stopped = scratch.run(&[&start[..], &["--node-limit", "0", "--json", "-"]].concat()).code(3);
    let result: Value = serde_json::from_str(&stopped.out).expect("JSON");
    assert_eq!(result["status"], "node_limit");
    assert!(number(&result["bound"]) >= number(&result["objective"]));
    for (options, words) in [
        (&["--gamma", "0"][..], "--gamma is 0, but must be a number above 0"),
        (&["--gamma", "sigest:x"], "--gamma is sigest:x"),
        (&["--kernel", "linear"], "--kernel is linear, but must be rbf or laplace"),
        (&["--penalty", "1"], "--penalty is an option of exact, mbp, lagrangian and gbd, not of kta"),
        (&["--certify"], "leave it out"),
        (&["--model", "m", "--model-format", "libsvm"], "add --scale none"),
    ] {
        let ran = scratch.run(&[&start[..], options].concat()).code(2);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    let other = scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "2", "--gamma", "1"]).code(2);
    assert!(other.err.contains("--gamma is an option of kta"), "{}", other.err);
}

#[test]
fn a_path_has_the_values_of_each_size_at_the_gamma_of_the_largest() {
    let scratch = Scratch::new("kta_path");
    scratch.file("d.csv", generated(40, 6, &["no", "yes"], 4));
    let ran = scratch.run(&["path", "d.csv", "-m", "kta", "--max-features", "1..4", "--gap", "0", "--json", "p.json"]);
    assert!(ran.code(0).out.contains("optimal"));
    let path = scratch.json("p.json");
    let points = path["path"].as_array().expect("a list");
    assert_eq!(points.len(), 4);
    let gamma = points[3]["settings"]["gamma"].to_string();
    for (at, point) in points.iter().enumerate() {
        let size = (at + 1).to_string();
        let alone = ["select", "d.csv", "-m", "kta", "--max-features", &size, "--gamma", &gamma, "--gap", "0"];
        scratch.run(&[&alone[..], &["--json", "s.json"]].concat()).code(0);
        let alone = scratch.json("s.json");
        assert_eq!(point["settings"]["gamma"].to_string(), gamma);
        assert_eq!((&point["status"], &point["selected"]), (&alone["status"], &alone["selected"]), "size {size}");
        assert!((number(&point["objective"]) - number(&alone["objective"])).abs() <= 1e-12);
    }
}

/// A path that has no time to find its gamma has no subsets, and ends as any run at its limit.
#[test]
fn a_path_without_time_ends_at_its_limit() {
    let scratch = Scratch::new("kta_path_limit");
    scratch.file("d.csv", generated(80, 40, &["a", "b"], 7));
    for more in [&[][..], &["--cv", "3"]] {
        let asked = ["path", "d.csv", "-m", "kta", "--max-features", "1..3", "--require", "f5", "--time-limit", "0s"];
        let said = scratch.run(&[&asked[..], more, &["--json", "r.json"]].concat()).code(3);
        assert!(!said.err.contains("NaN"), "{}", said.err);
        let path = scratch.json("r.json")["path"].as_array().expect("a list").clone();
        assert!(path.iter().all(|size| size["status"] == "time_limit"), "{path:?}");
    }
}
