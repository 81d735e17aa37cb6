//! What `fewest predict` says of samples whose classes are known, and the probabilities of more than
//! two classes.

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A short study of `d.csv`, whose model is `m.json`.
fn study(scratch: &Scratch, rest: &[&str]) {
    let words = "study d.csv --methods rfe --folds 2 --repeats 1 --inner-cv 3 --cost-points 2 --model m.json -q";
    scratch.run(&[&words.split(' ').collect::<Vec<_>>()[..], rest].concat()).code(0);
}

/// The part of a file that a fold of `evaluate` holds out, and the others.
fn parted(text: &str, held: &[usize]) -> [String; 2] {
    let mut parts = [String::new(), String::new()];
    for (at, line) in text.lines().enumerate() {
        for (part, wanted) in parts.iter_mut().zip([true, false]) {
            if at == 0 || held.contains(&(at - 1)) == wanted {
                part.extend([line, "\n"]);
            }
        }
    }
    parts
}

#[test]
fn labelled_samples_give_what_a_fold_gives() {
    let scratch = Scratch::new("predict_fold");
    for (classes, name) in [(&["a", "b"][..], "two"), (&["a", "b", "c"][..], "three")] {
        let text = generated(90, 5, classes, 11);
        scratch.file("d.csv", &text);
        let method = ["-m", "rfe", "--max-features", "3"];
        let evaluate = [&["evaluate", "d.csv", "--cv", "3", "--json", "e.json", "-q"], &method[..]].concat();
        scratch.run(&evaluate).code(0);
        let fold = scratch.json("e.json")["folds"][0].clone();
        let held: Vec<usize> = fold["test"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as usize).collect();
        assert_eq!(held.len() as u64, fold["n_test"]);
        let [test, train] = parted(&text, &held);
        scratch.file("test.csv", test).file("train.csv", train);
        scratch.run(&[&["select", "train.csv", "--model", "m.json", "-q"], &method[..]].concat()).code(0);
        let ran = scratch.run(&["predict", "m.json", "test.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
        let found = scratch.json("p.json");
        for measure in ["accuracy", "balanced_accuracy", "f1", "mcc", "auc"] {
            let (a, b) = (number(&found["metrics"][measure]), number(&fold["metrics"][measure]));
            assert!((a - b).abs() < 1e-12, "{name} {measure}: {a} {b}");
            assert!(ran.out.contains(&format!("\n{measure} ")), "{}", ran.out);
        }
        assert_eq!((&found["confusion"], &found["n_test"]), (&fold["confusion"], &fold["n_test"]), "{name}");
        assert_eq!(found["selected"], fold["selected"]);
        // The line that scripts read comes first.
        assert!(
            ran.out.starts_with("accuracy ") && ran.out.lines().next().unwrap().ends_with(" right)"),
            "{}",
            ran.out
        );
        // The predictions of the fold, sample by sample.
        let predicted: Vec<String> =
            scratch.read("p.csv").lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect();
        assert_eq!(json!(predicted), fold["predicted"]);
        let wrong: u64 = found["wrong"].as_array().unwrap().len() as u64;
        assert_eq!(number(&found["right"]) as u64 + wrong, number(&found["scored"]) as u64);
    }
}

#[test]
fn probabilities_of_three_classes_come_from_the_model_file() {
    let scratch = Scratch::new("predict_three");
    scratch.file("d.csv", generated(90, 4, &["a", "b", "c"], 5));
    study(&scratch, &["--max-features", "1..2", "--json", "s.json"]);
    let (result, model) = (scratch.json("s.json"), scratch.json("m.json"));
    let pairs = &model["model"]["probabilities"]["pairs"];
    assert_eq!((pairs.as_array().unwrap().len(), pairs), (3, &result["panel"]["probabilities"]["pairs"]));
    // The folds judge them.
    let fold = &result["folds"][0];
    assert!(
        number(&result["summary"]["log_loss"]["mean"]) < 3f64.ln() && number(&fold["metrics"]["brier"]) < 2.0 / 3.0
    );
    assert_eq!(fold["class_probabilities"].as_array().unwrap().len(), fold["test"].as_array().unwrap().len());
    assert_eq!(fold["probabilities"], Value::Null);
    let ran = scratch.run(&["predict", "m.json", "d.csv", "--out", "p.csv", "--json", "p.json"]).code(0);
    assert!(ran.out.contains("log_loss") && ran.out.contains("brier"), "{}", ran.out);
    let text = scratch.read("p.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    assert_eq!(header[4..], ["score_a", "score_b", "score_c", "probability_a", "probability_b", "probability_c", "y"]);
    let (mut loss, mut n) = (0.0, 0.0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let values: Vec<f64> = cells[1..10].iter().map(|cell| cell.parse().unwrap()).collect();
        // r[i][j]: the probability of class i among the pair.
        let mut r = [[0.0; 3]; 3];
        for (at, (i, j)) in [(0, 1), (0, 2), (1, 2)].into_iter().enumerate() {
            let second = 1.0 / (1.0 + (-(number(&pairs[at]["a"]) * values[at] + number(&pairs[at]["b"]))).exp());
            (r[i][j], r[j][i]) = (1.0 - second, second);
        }
        let p = &values[6..9];
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{line}");
        // Stationary: Q p is the same number for each class, as in Wu, Lin and Weng (20).
        let q = |i: usize| (0..3).filter(|&j| j != i).map(|j| r[j][i] * (r[j][i] * p[i] - r[i][j] * p[j])).sum::<f64>();
        assert!((q(0) - q(1)).abs() < 1e-9 && (q(0) - q(2)).abs() < 1e-9, "{line}");
        let truth = ["a", "b", "c"].iter().position(|class| *class == cells[10]).unwrap();
        (loss, n) = (loss - p[truth].ln(), n + 1.0);
    }
    assert!((number(&scratch.json("p.json")["metrics"]["log_loss"]) - loss / n).abs() < 1e-9);
    // A file with a pair too few is refused.
    let mut wrong = model.clone();
    wrong["model"]["probabilities"]["pairs"].as_array_mut().unwrap().pop();
    scratch.file("wrong.json", wrong.to_string());
    let refused = scratch.run(&["predict", "wrong.json", "d.csv"]).code(2);
    assert!(refused.err.contains("pairs"), "{}", refused.err);
}

#[test]
fn a_page_says_what_the_model_is_worth() {
    let scratch = Scratch::new("predict_page");
    scratch.file("d.csv", generated(80, 4, &["a", "b"], 5));
    study(&scratch, &["--max-features", "2"]);
    scratch.file("new.csv", generated(60, 4, &["a", "b"], 6).replace(",b\n", ",z\n").replacen(",z\n", ",b\n", 20));
    let predict = ["predict", "m.json", "new.csv", "--out", "p.csv", "--json", "p.json", "--report", "p.html"];
    let ran = scratch.run(&predict).code(0);
    let found = scratch.json("p.json");
    let unknown = number(&found["unknown_class"]);
    assert!(unknown > 0.0 && number(&found["scored"]) + unknown == 60.0, "{found}");
    assert!(
        ran.out.lines().next().unwrap().ends_with(&format!("; {unknown} of a class the model does not know")),
        "{}",
        ran.out
    );
    let page = scratch.read("p.html");
    for part in ["Right on ", "ROC curve", "Confusion matrix", "<h3>Calibration</h3>", "left out"] {
        assert!(page.contains(part), "{part}");
    }
    let calibration = &found["calibration"];
    let observed = number(&found["class_counts"]["+1"]) / number(&found["scored"]);
    assert!((number(&calibration["observed"]) - observed).abs() < 1e-12 && calibration["slope"].is_number(), "{found}");
    let (low, high) = (&found["recall"]["a"]["ci95"][0], &found["recall"]["a"]["ci95"][1]);
    let recall = number(&found["recall"]["a"]["mean"]);
    assert!(number(low) <= recall && recall <= number(high) && number(low) < number(high), "{found}");
    // The page made of the JSON is the same, byte for byte.
    scratch.run(&["report", "p.json", "-o", "again.html"]).code(0);
    assert_eq!(scratch.read("again.html"), page);
    // Without a target there is a page, too, and nothing is judged.
    let plain: Vec<String> =
        scratch.read("new.csv").lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect();
    scratch.file("plain.csv", plain.join("\n"));
    let more = ["predict", "m.json", "plain.csv", "--out", "p.csv", "--json", "q.json", "--report", "q.html"];
    scratch.run(&more).code(0);
    assert!(scratch.json("q.json").get("metrics").is_none() && scratch.read("q.html").contains("Predicted classes"));
    let both = scratch.run(&["predict", "m.json", "new.csv", "--report", "-"]).code(2).err;
    assert!(both.contains("--report") && both.contains("--out"), "{both}");
}

/// Text in Windows-1252.
fn windows(text: &str) -> Vec<u8> {
    text.chars().map(|c| if c == '€' { 0x80 } else { u8::try_from(c).expect("Latin-1") }).collect()
}

#[test]
fn files_in_windows_1252_are_those_in_utf8() {
    let scratch = Scratch::new("windows");
    let cell = |i: usize| ["Mädchen", "Mödchen", "Junge"][i * 7 % 3];
    let row = |i: usize| format!("{}.5;{};{};{}\n", i * 5 % 9, i % 4, cell(i), ["ja", "nein"][i * 3 % 7 % 2]);
    let text = format!("Größe (€);Überfällig;Kind;y\n{}", (0..40).map(row).collect::<String>());
    for (name, text) in [
        ("d.csv", text.as_str()),
        ("only.txt", "Größe (€)\nÜberfällig\nKind\n"),
        ("costs.csv", "Größe (€),2\n*,1\n"),
        ("bounds.csv", "Überfällig,,0\n"),
        ("rules.toml", "at_most = [{ count = 1, of = [\"Größe (€)\", \"Überfällig\"] }]\n"),
    ] {
        scratch.file(name, windows(text)).file(&format!("utf8-{name}"), text);
    }
    let fitted = |mark: &str, data: &str| {
        let named = |option: &str, name: &str| format!("--{option}={mark}{name}");
        let words = [
            "select".to_owned(),
            data.to_owned(),
            "-m=rfe".to_owned(),
            "--max-features=3".to_owned(),
            named("only", "only.txt"),
            named("feature-costs", "costs.csv"),
            "--budget=9".to_owned(),
            named("rules", "rules.toml"),
            named("weight-bounds", "bounds.csv"),
            "--model=m.json".to_owned(),
            "--json=r.json".to_owned(),
        ];
        let ran = scratch.run(&words.iter().map(String::as_str).collect::<Vec<_>>()).code(0);
        let result = scratch.json("r.json");
        (ran.err.contains("Windows-1252"), result["selected"].clone(), result["objective"].clone())
    };
    let expected = fitted("utf8-", "utf8-d.csv");
    let found = fitted("", "d.csv");
    assert!(found.0 && !expected.0);
    assert_eq!((found.1, found.2), (expected.1, expected.2));
    let decisions = |data: &str| scratch.run(&["predict", "m.json", data]).code(0).out;
    assert_eq!(decisions("d.csv"), decisions("utf8-d.csv"));
}

#[test]
fn a_model_keeps_what_changes_the_meaning_of_a_cell() {
    let scratch = Scratch::new("reading");
    // Each option of reading, and a table that is another one without it.
    let cell = |i: usize, code: &str| if i % 9 == 4 { code.to_owned() } else { format!("{}", i * 5 % 7) };
    let table = |cell: &dyn Fn(usize) -> String| {
        let row = |i: usize| format!("s{i};{};{};{}\n", cell(i), i * 3 % 5, ["p", "q"][i * 5 % 7 / 4]);
        format!("who;a;b;y\n{}", (0..60).map(row).collect::<String>())
    };
    let svm = |first: usize| {
        let row = |i: usize| format!("{} {first}:{} {}:{}\n", i * 5 % 7 / 4, i * 5 % 7 + 1, first + 1, i % 4 + 1);
        (0..60).map(row).collect::<String>()
    };
    for (name, text, options) in [
        ("codes.csv", table(&|i| cell(i, "-999")), &["--missing-codes=-999", "--missing=mean", "--id=who"][..]),
        (
            "thousands.csv",
            table(&|i| format!("{}.{:03}", i * 5 % 7 + 1, i)),
            &["--thousands=.", "--decimal=,", "--id=who"],
        ),
        ("decimal.csv", table(&|i| format!("{},{:03}", i * 5 % 7 + 1, i)), &["--decimal=,", "--id=who"]),
        ("text.csv", table(&|i| format!("{}", i % 3)), &["--text=a", "--id=who"]),
        ("zero.svm", svm(0), &["--zero-based"]),
    ] {
        scratch.file(name, text);
        for command in [
            &["fit", name, "--all-features"][..],
            &["select", name, "-m", "rfe", "--max-features", "2"],
            &["markers", name, "--max-features", "2"],
            &[
                "study",
                name,
                "--methods",
                "rfe",
                "--folds",
                "2",
                "--repeats",
                "1",
                "--inner-cv",
                "3",
                "--cost-points",
                "2",
            ],
        ] {
            scratch.run(&[command, options, &["--model", "m.json", "-q"]].concat()).code(0);
            let reading: Vec<&str> =
                options.iter().copied().filter(|option| !option.starts_with("--missing=")).collect();
            let said = scratch.run(&[&["predict", "m.json", name, "-q"], &reading[..]].concat()).code(0).out;
            assert_eq!(scratch.run(&["predict", "m.json", name, "-q"]).code(0).out, said, "{name}: {command:?}");
            assert_eq!(name.ends_with("csv"), said.starts_with("who") || said.starts_with("s0"), "{said}");
        }
    }
    // A file without the column of names, and one that is written in another way.
    let text = scratch
        .read("codes.csv")
        .lines()
        .map(|line| line.split_once(';').unwrap().1.to_owned() + "\n")
        .collect::<String>();
    scratch.file("nameless.csv", text.replace("-999", "NA"));
    scratch
        .run(&[
            "fit",
            "codes.csv",
            "--all-features",
            "--missing-codes=-999",
            "--missing=mean",
            "--id=who",
            "--model=m.json",
        ])
        .code(0);
    scratch.run(&["predict", "m.json", "nameless.csv"]).code(0);
    assert!(scratch.run(&["predict", "m.json", "nameless.csv", "--id=who"]).code(2).err.contains("`who`"));
}
