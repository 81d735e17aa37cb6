//! `--missing`: refused by default, filled in by the training part alone, stored in the model; and
//! the default scaling of text.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// The lines of `generated`, every cell of the first two features that `holes` picks being `?`.
fn with_holes(n: usize, seed: u64, holes: impl Fn(usize, usize) -> bool) -> String {
    let text = generated(n, 5, &["no", "yes"], seed);
    let line = |(i, line): (usize, &str)| {
        let cell = |(j, cell): (usize, &str)| if i > 0 && j < 2 && holes(i, j) { "?" } else { cell }.to_owned();
        line.split(',').enumerate().map(cell).collect::<Vec<_>>().join(",") + "\n"
    };
    text.lines().enumerate().map(line).collect()
}

/// A file with some holes, and the same with their means, medians or most frequent values typed in.
fn filled(text: &str, fill: impl Fn(&mut [f64]) -> f64) -> String {
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let stand_in = |j: usize| fill(&mut rows.iter().filter_map(|row| row[j].parse().ok()).collect::<Vec<f64>>());
    let stand_ins: Vec<f64> = (0..2).map(stand_in).collect();
    let mut out = text.lines().next().unwrap().to_owned() + "\n";
    for row in &rows {
        let cell = |(j, cell): (usize, &&str)| if *cell == "?" { stand_ins[j].to_string() } else { (*cell).to_owned() };
        out += &(row.iter().enumerate().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    out
}

fn mean(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2])
}

#[test]
fn a_file_with_holes_is_refused_with_a_remedy_and_checked() {
    let scratch = Scratch::new("missing_refused");
    scratch.file("d.csv", with_holes(30, 3, |i, j| i % 7 == j));
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "2"];
    let err = scratch.run(&select).code(2).err;
    assert!(err.contains("d.csv, line 2, column `f2`") && err.contains("--missing mean"), "{err}");
    let ran = scratch.run(&["check", "d.csv", "--json", "c.json"]).code(2);
    assert!(ran.err.contains("9 value(s) are missing in 2 column(s): f1 (4), f2 (5)"), "{}", ran.err);
    assert!(ran.err.contains("--missing mean, median, most-frequent or indicator"), "{}", ran.err);
    assert!(ran.out.contains("missing") && ran.out.contains("f5"), "the report is there as well: {}", ran.out);
    let features = scratch.json("c.json")["features"].clone();
    assert_eq!(
        (&features[0]["missing"], &features[1]["missing"], &features[2]["missing"]),
        (&4.into(), &5.into(), &0.into())
    );
    let text = scratch.read("d.csv");
    let there: Vec<f64> = text.lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    let expected = there.iter().sum::<f64>() / there.len() as f64;
    assert!((features[0]["mean"].as_f64().unwrap() - expected).abs() < 1e-9, "of the values that are there");
    scratch.run(&["check", "d.csv", "--missing", "median"]).code(0);
    let err = scratch.run(&[&select[..], &["--missing", "zero"]].concat()).code(2).err;
    assert!(err.contains("--missing") && err.contains("most-frequent"), "{err}");
}

#[test]
fn a_rule_is_the_file_with_the_values_typed_in() {
    let scratch = Scratch::new("missing_rules");
    let text = with_holes(40, 5, |i, j| i % 6 == j);
    scratch.file("d.csv", &text).file("mean.csv", filled(&text, mean)).file("median.csv", filled(&text, median));
    let numbers = |result: &Value| {
        let weights = result["model"]["weights"].as_object().unwrap().clone();
        (result["selected"].clone(), result["objective"].as_f64().unwrap(), weights)
    };
    for rule in ["mean", "median"] {
        let select = ["-m", "exact", "--max-features", "3", "--json", "r.json", "--model", "m.json"];
        scratch.run(&[&["select", &format!("{rule}.csv")], &select[..]].concat()).code(0);
        let typed = scratch.json("r.json");
        let out =
            scratch.run(&[&["select", "d.csv", "--missing", rule], &select[..], &["--report", "r.html"]].concat());
        let out = out.code(0);
        let found = scratch.json("r.json");
        let ((a, b, weights), (c, d, others)) = (numbers(&found), numbers(&typed));
        assert_eq!((&a, b.to_string()[..8].to_owned()), (&c, d.to_string()[..8].to_owned()), "{rule}");
        for (name, weight) in weights {
            assert!((weight.as_f64().unwrap() - others[&name].as_f64().unwrap()).abs() < 1e-4, "{rule}: {name}");
        }
        assert_eq!(found["settings"]["missing"], rule);
        assert!(out.out.contains("missing") && out.out.contains(&format!("--missing {rule}")), "{}", out.out);
        let warned = found["warnings"].to_string();
        assert!(warned.contains("value(s) are missing"), "{warned}");
        assert!(scratch.read("r.html").contains("value(s) are missing"));
        assert_eq!(found["model"]["imputation"]["rule"], rule);
    }
    let fit = ["fit", "d.csv", "--features", "f1,f2", "--missing", "mean", "--json", "f.json", "--model", "m.json"];
    scratch.run(&fit).code(0);
    assert_eq!(scratch.json("f.json")["settings"]["missing"], "mean");
    for format in ["liblinear", "libsvm"] {
        let err = scratch.run(&[&fit[..], &["--model-format", format]].concat()).code(2).err;
        assert!(err.contains("stand in for missing") && err.contains("json"), "{err}");
    }
    scratch.run(&["convert", "d.csv", "filled.csv", "--missing", "mean"]).code(0);
    scratch.run(&["select", "filled.csv", "-m", "rfe", "--max-features", "3"]).code(0);
}

#[test]
fn the_model_fills_in_what_it_learnt_and_marks_what_is_missing() {
    let scratch = Scratch::new("missing_predict");
    // Where `f1` is missing the class is always yes: the mark is the best feature there is.
    let text = with_holes(60, 7, |i, j| j == 0 && i % 2 == 0 && i % 3 != 0);
    scratch.file("d.csv", &text);
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--missing", "indicator"];
    let rule = ["--require", "f1 (missing)", "--json", "r.json", "--model", "m.json"];
    scratch.run(&[&select[..], &rule].concat()).code(0);
    let result = scratch.json("r.json");
    let selected: Vec<&str> = result["selected"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(selected.contains(&"f1 (missing)"), "{selected:?}");
    let mark = &result["model"]["imputation"]["features"]["f1 (missing)"];
    assert_eq!(mark["indicates"], "f1");
    scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);

    // By hand: one new sample with and one without a value of f1.
    let row = |cells: &str| format!("f1,f2,f3,f4,f5\n{cells}\n");
    scratch.file("a.csv", row("?,1,2,3,4")).file("b.csv", row("1.5,1,2,3,4"));
    let decision = |file: &str| -> f64 {
        scratch.run(&["predict", "m.json", file, "--out", "q.csv"]).code(0);
        scratch.read("q.csv").lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap()
    };
    let expected = |cells: &[(&str, f64)]| {
        let model = &result["model"];
        let part = |name: &&str| {
            let given = cells.iter().find(|cell| cell.0 == *name).map(|cell| cell.1);
            let value = given.unwrap_or_else(|| model["imputation"]["features"][name]["fill"].as_f64().unwrap());
            let scaling = &model["scaling"]["features"][name];
            let scaled = (value - scaling["centre"].as_f64().unwrap()) / scaling["scale"].as_f64().unwrap();
            model["weights"][name].as_f64().unwrap() * scaled
        };
        selected.iter().map(part).sum::<f64>() + model["intercept"].as_f64().unwrap()
    };
    let others = [("f2", 1.0), ("f3", 2.0), ("f4", 3.0), ("f5", 4.0)];
    let lacking = expected(&[&others[..], &[("f1 (missing)", 1.0)]].concat());
    let there = expected(&[&others[..], &[("f1", 1.5), ("f1 (missing)", 0.0)]].concat());
    assert!((decision("a.csv") - lacking).abs() < 1e-9 && (decision("b.csv") - there).abs() < 1e-9);

    // A model that was trained without the rule says so.
    scratch.file("full.csv", generated(40, 5, &["no", "yes"], 1));
    let plain = ["select", "full.csv", "-m", "rfe", "--require", "f1", "--max-features", "1", "--model", "n.json"];
    scratch.run(&plain).code(0);
    let err = scratch.run(&["predict", "n.json", "a.csv"]).code(2).err;
    assert!(err.contains("a.csv, line 2, column `f1`") && err.contains("trained without --missing"), "{err}");
}

#[test]
fn nothing_is_learnt_from_samples_held_out() {
    let scratch = Scratch::new("missing_folds");
    let text = with_holes(48, 9, |i, j| (i + 3 * j) % 5 == 0);
    // Folds p0 to p3; `wild` has huge values in the samples of p0, where a value is there at all.
    let fold = |i: usize| (i - 1) / 2 % 4;
    let with_folds = |wild: bool| -> String {
        let line = |(i, line): (usize, &str)| match i {
            0 => format!("fold,{line}\n"),
            _ if wild && fold(i) == 0 => {
                let cell = |cell: &str| cell.parse::<f64>().map_or(cell.to_owned(), |x| (1e6 * x).to_string());
                format!("p0,{}\n", line.split(',').map(cell).collect::<Vec<_>>().join(","))
            }
            _ => format!("p{},{line}\n", fold(i)),
        };
        text.lines().enumerate().map(line).collect()
    };
    scratch.file("d.csv", with_folds(false)).file("wild.csv", with_folds(true));
    for (rule, scale) in
        [("mean", "standard"), ("median", "maxabs"), ("most-frequent", "range"), ("indicator", "range:0..1")]
    {
        let how = ["-m", "exact", "--max-features", "2", "--missing", rule, "--scale", scale];
        let evaluate = |file: &str| {
            scratch.run(&[&["evaluate", file], &how[..], &["--folds", "fold", "--json", "e.json"]].concat()).code(0);
            let result = scratch.json("e.json");
            assert_eq!(result["settings"]["missing"], rule);
            result["folds"].as_array().unwrap().clone()
        };
        let (plain, wild) = (evaluate("d.csv"), evaluate("wild.csv"));
        // The fold whose held-out samples are wild learns the same; by hand, too.
        assert_eq!(plain[0]["selected"], wild[0]["selected"], "{rule}");
        let all = with_folds(false);
        let part = |inside: bool| -> String {
            let keep = |(i, line): &(usize, &str)| *i == 0 || line.starts_with("p0,") == inside;
            all.lines().enumerate().filter(keep).fold(String::new(), |mut out, (_, line)| {
                let _ = writeln!(out, "{line}");
                out
            })
        };
        scratch.file("train.csv", part(false)).file("test.csv", part(true));
        let select = ["select", "train.csv", "--drop", "fold", "--model", "m.json", "--json", "s.json"];
        scratch.run(&[&select[..], &how].concat()).code(0);
        scratch.run(&["predict", "m.json", "test.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
        assert_eq!(plain[0]["selected"], scratch.json("s.json")["selected"], "{rule}");
        assert_eq!(plain[0]["metrics"]["accuracy"], scratch.json("p.json")["accuracy"], "{rule}");
    }
}

#[test]
fn text_is_not_scaled_by_default() {
    let scratch = Scratch::new("missing_text");
    let generate = ["generate", "text", "--samples", "200", "--words", "500", "--length", "60", "--out"];
    scratch.run(&[&generate[..], &["t.svm"]].concat()).code(0);
    let select = ["select", "t.svm", "-m", "exact", "--max-features", "5", "--time-limit", "20s", "--gap", "0.2"];
    let kind = |extra: &[&str]| {
        let ran = scratch.run(&[&select[..], &["--json", "r.json"], extra].concat());
        assert!(matches!(ran.code, Some(0 | 3)), "{ran:?}");
        let settings = scratch.json("r.json")["settings"].clone();
        (settings["scale"].clone(), settings["scale_reason"].as_str().unwrap().to_owned())
    };
    let (scale, reason) = kind(&[]);
    assert_eq!(scale, "none");
    assert!(reason.contains("rows have length 1"), "{reason}");
    assert_eq!(kind(&["--scale", "maxabs"]), (json!("maxabs"), "as asked".to_owned()));
    let out = scratch.run(&select).out;
    assert!(out.contains("none (the default for sparse data whose rows have length 1, such as text)"), "{out}");
    // Rows of another length: the largest value of each feature.
    let doubled: String = scratch.read("t.svm").lines().fold(String::new(), |mut out, line| {
        let pair = |word: &str| match word.split_once(':') {
            Some((j, x)) => format!("{j}:{}", 2.0 * x.parse::<f64>().unwrap()),
            None => word.to_owned(),
        };
        let _ = writeln!(out, "{}", line.split(' ').map(pair).collect::<Vec<_>>().join(" "));
        out
    });
    scratch.file("t.svm", doubled);
    let (scale, reason) = kind(&[]);
    assert_eq!((scale, reason.as_str()), (json!("maxabs"), "the default for sparse data"));
}

#[test]
fn a_study_fills_in_inside_its_folds() {
    let scratch = Scratch::new("missing_study");
    scratch.file("d.csv", with_holes(60, 13, |i, j| (i + j) % 6 == 0));
    let few = ["--folds", "2", "--repeats", "1", "--inner-cv", "2", "--cost-points", "3", "--methods", "rfe"];
    let study = ["study", "d.csv", "--max-features", "1..2", "--json", "s.json", "--model", "m.json"];
    assert!(scratch.run(&[&study[..], &few].concat()).code(2).err.contains("--missing mean"));
    let filled = ["--missing", "indicator", "--require", "f1"];
    scratch.run(&[&study[..], &few, &filled].concat()).code(0);
    let result = scratch.json("s.json");
    assert_eq!((&result["settings"]["missing"], &result["n_features"]), (&"indicator".into(), &7.into()));
    let imputation = &result["panel"]["model"]["imputation"];
    let values: Vec<f64> =
        scratch.read("d.csv").lines().skip(1).filter_map(|line| line.split(',').next()?.parse().ok()).collect();
    let expected = values.iter().sum::<f64>() / values.len() as f64;
    let fill = imputation["features"]["f1"]["fill"].as_f64().unwrap();
    assert!((fill - expected).abs() < 1e-9, "the panel learns from all samples: {fill}, not {expected}");
    scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv"]).code(0);
    assert_eq!(scratch.read("p.csv").lines().count(), 61);
}
