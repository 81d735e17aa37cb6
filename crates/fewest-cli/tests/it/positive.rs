//! `--positive`, the measures of two classes, `study --sensitivity` and the decision curve.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::common::Scratch;

/// Cases and controls that two of four features tell apart, not quite; larger in controls, so that
/// weights speak for these.
fn samples(n: usize) -> String {
    let mut state = 7u64;
    let mut unit = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    };
    let mut text = "age,b,c,d,group\n".to_owned();
    for i in 0..n {
        let is_case = i % 3 == 0;
        let shift = if is_case { -0.3 } else { 0.3 };
        let [a, b, c, d] = [shift + unit(), shift + unit(), unit(), unit()];
        let _ = writeln!(text, "{a},{b},{c},{d},{}", if is_case { "case" } else { "control" });
    }
    text
}

fn near(a: &Value, b: f64) -> bool {
    (a.as_f64().unwrap() - b).abs() < 1e-9
}

const SELECT: [&str; 8] = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--cost", "0.1"];

#[test]
fn the_class_named_is_the_second_one_everywhere() {
    let scratch = Scratch::new("positive_select");
    scratch.file("d.csv", samples(60));
    let run = |more: &[&str]| scratch.run(&[&SELECT[..], more].concat());
    let plain = run(&["--json", "a.json", "--model", "ma.json"]).code(0);
    assert!(plain.err.contains("the class control is the positive one (+1)"), "{}", plain.err);
    assert!(plain.err.contains("--positive case"), "{}", plain.err);
    let named = run(&["--positive", "case", "--json", "b.json", "--model", "mb.json"]).code(0);
    assert!(!named.err.contains("positive"), "{}", named.err);
    let (a, b) = (scratch.json("a.json"), scratch.json("b.json"));
    assert_eq!(a["classes"], json!({"-1": "case", "+1": "control"}));
    assert_eq!(b["classes"], json!({"-1": "control", "+1": "case"}));
    assert_eq!(b["settings"]["reading"]["positive"], "case");
    assert_eq!(a["selected"], b["selected"]);
    for name in a["selected"].as_array().unwrap() {
        let weight = |of: &Value| of["model"]["weights"][name.as_str().unwrap()].as_f64().unwrap();
        assert!((weight(&a) + weight(&b)).abs() < 1e-4 && weight(&a) > 0.0, "{name}");
    }
    // Signs are of weights that speak for the class named.
    run(&["--positive", "case", "--sign", "age:+", "--require", "age", "--quiet"]).code(0);
    let weight = |file: &str| scratch.json(file)["model"]["weights"]["age"].as_f64().unwrap();
    run(&["--positive", "case", "--sign", "age:+", "--require", "age", "--json", "s.json"]).code(0);
    run(&["--positive", "case", "--sign", "age:-", "--require", "age", "--json", "t.json"]).code(0);
    assert!(weight("s.json") >= 0.0 && weight("t.json") < 0.0);

    // The model keeps it: decision values speak for it, and the same samples are right.
    for model in ["ma", "mb"] {
        scratch
            .run(&[
                "predict",
                &format!("{model}.json"),
                "d.csv",
                "--out",
                &format!("{model}.csv"),
                "--json",
                &format!("{model}_w.json"),
            ])
            .code(0);
    }
    let rows = |file: &str| -> Vec<(String, f64)> {
        let text = scratch.read(file);
        let cells = text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        cells.map(|cells| (cells[0].clone(), cells[1].parse().unwrap())).collect()
    };
    for (a, b) in rows("ma.csv").iter().zip(rows("mb.csv")) {
        assert!(a.0 == b.0 && (a.1 + b.1).abs() < 1e-3, "{a:?} {b:?}");
    }
    let (a, b) = (scratch.json("ma_w.json"), scratch.json("mb_w.json"));
    assert_eq!((&a["positive"], &b["positive"]), (&json!("control"), &json!("case")));
    assert_eq!(a["recall"], b["recall"]);
    assert_eq!(a["summary"]["sensitivity"], b["summary"]["specificity"]);
    assert_eq!(b["summary"]["sensitivity"], b["recall"]["case"]);
    assert_eq!(b["metrics"]["sensitivity"], b["recall"]["case"]["mean"]);
    assert!(
        (a["summary"]["auc"]["mean"].as_f64().unwrap() - b["summary"]["auc"]["mean"].as_f64().unwrap()).abs() < 1e-3
    );
    let told = scratch.run(&["predict", "mb.json", "d.csv", "--positive", "case", "--out", "x.csv"]).code(2).err;
    assert!(told.contains("in the model it is case"), "{told}");
}

#[test]
fn a_proof_carries_the_class_and_is_verified_with_it() {
    let scratch = Scratch::new("positive_proof");
    scratch.file("d.csv", samples(60));
    scratch
        .run(
            &[&SELECT[..], &["--positive", "case", "--sign", "age:-", "--proof", "p.proof", "--json", "r.json"]]
                .concat(),
        )
        .code(0);
    let said = scratch.run(&["verify", "p.proof", "d.csv", "--json", "v.json"]).code(0);
    assert!(said.out.contains("VERIFIED"), "{}", said.out);
    let verdict = scratch.json("v.json");
    assert_eq!(verdict["question"]["reading"]["positive"], "case", "{verdict}");
    scratch.run(&["verify", "p.proof", "d.csv", "--as", "r.json"]).code(0);
    let own = scratch.run(&["verify", "p.proof", "d.csv", "--positive", "case"]).code(0);
    assert!(own.out.contains("VERIFIED"), "{}", own.out);
    // The other class turns the sign of the rule around.
    let other = scratch.run(&["verify", "p.proof", "d.csv", "--positive", "control"]);
    assert!(other.code != Some(0) || other.out.contains("control"), "{}\n{}", other.out, other.err);
}

#[test]
fn a_class_that_cannot_be_positive_is_refused() {
    let scratch = Scratch::new("positive_refused");
    let three = "x,y\n1,a\n2,b\n3,c\n4,a\n5,b\n6,c\n";
    scratch.file("d.csv", samples(30)).file("t.csv", three);
    let said = scratch.run(&["check", "d.csv", "--positive", "cases"]).code(2).err;
    assert!(said.contains("there is no class cases; the classes are case, control (did you mean case?)"), "{said}");
    let said = scratch.run(&[&SELECT[..], &["--positive", "nobody"]].concat()).code(2).err;
    assert!(said.contains("the classes are case, control") && !said.contains("did you mean"), "{said}");
    let said = scratch.run(&["check", "t.csv", "--positive", "b"]).code(2).err;
    assert!(said.contains("b was to be the positive class of two, but there are 3: a, b, c"), "{said}");
    scratch.run(&["check", "t.csv", "--positive", "b", "--classes", "b,c"]).code(0);
    let said = scratch.run(&["convert", "d.csv", "e.csv", "--positive", "case"]).code(2).err;
    assert!(said.contains("--positive"), "{said}");
}

#[test]
fn check_and_evaluate_say_which_class_is_positive() {
    let scratch = Scratch::new("positive_evaluate");
    scratch.file("d.csv", samples(60));
    let said = scratch.run(&["check", "d.csv", "--json", "c.json"]).code(0).out;
    assert!(said.contains("positive") && said.contains("say --positive case"), "{said}");
    assert_eq!(scratch.json("c.json")["target"]["positive"], "control");
    let said = scratch.run(&["check", "d.csv", "--positive", "case"]).code(0).out;
    assert!(said.contains("-1 = control (40), +1 = case (20)"), "{said}");
    let evaluate = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--cv", "4", "--positive", "case"];
    let said = scratch.run(&[&evaluate[..], &["--json", "e.json", "--report", "e.html"]].concat()).code(0).out;
    for word in ["positive class", "sensitivity", "specificity", "recall"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    let result = scratch.json("e.json");
    assert_eq!((&result["positive"], &result["settings"]["positive"]), (&json!("case"), &json!("case")));
    assert_eq!(result["summary"]["sensitivity"], result["recall"]["case"]);
    assert_eq!(result["summary"]["specificity"], result["recall"]["control"]);
    let folds = result["folds"].as_array().unwrap();
    let share = |fold: &Value| {
        let counts = |at: usize| fold["confusion"][1][at].as_f64().unwrap();
        counts(1) / (counts(0) + counts(1))
    };
    let mean = folds.iter().map(share).sum::<f64>() / 4.0;
    assert!(near(&result["summary"]["sensitivity"]["mean"], mean));
    assert!(folds.iter().all(|fold| near(&fold["metrics"]["sensitivity"], share(fold))));
    assert!(scratch.read("e.html").contains("<td>sensitivity</td>"));
}

const STUDY: [&str; 14] = [
    "study",
    "d.csv",
    "--max-features",
    "1..2",
    "--folds",
    "3",
    "--repeats",
    "2",
    "--inner-cv",
    "3",
    "--cost-points",
    "2",
    "--methods",
    "rfe",
];

#[test]
fn a_study_cuts_where_enough_cases_are_found() {
    let scratch = Scratch::new("positive_study");
    scratch.file("d.csv", samples(90));
    let run = |more: &[&str]| scratch.run(&[&STUDY[..], &["--positive", "case"], more].concat());
    let outputs = ["--json", "s.json", "--model", "m.json", "--report", "s.html"];
    let said = run(&[&["--sensitivity", "0.95"][..], &outputs].concat()).code(0).out;
    assert!(said.contains("positive class") && said.contains("threshold"), "{said}");
    run(&["--json", "plain.json", "--model", "plain_m.json"]).code(0);
    let (cut, plain) = (scratch.json("s.json"), scratch.json("plain.json"));
    let of = |of: &Value, name: &str| of["summary"][name]["mean"].as_f64().unwrap();
    assert!(of(&cut, "sensitivity") > of(&plain, "sensitivity"), "{} {}", cut["summary"], plain["summary"]);
    assert!(of(&cut, "sensitivity") > 0.85 && of(&cut, "specificity") < of(&plain, "specificity"));
    // The order of samples is as before, and so are probabilities and what is proven.
    assert!(
        (of(&cut, "auc") - of(&plain, "auc")).abs() < 1e-9 && (of(&cut, "brier") - of(&plain, "brier")).abs() < 1e-6
    );
    assert_eq!(cut["panel"]["objective"], plain["panel"]["objective"]);
    assert_eq!(cut["panel"]["model"]["weights"], plain["panel"]["model"]["weights"]);
    let threshold = &cut["panel"]["threshold"];
    assert_eq!(threshold["sensitivity"], 0.95);
    assert_eq!(threshold["trained_intercept"], plain["panel"]["model"]["intercept"]);
    let shift = plain["panel"]["model"]["intercept"].as_f64().unwrap() - threshold["value"].as_f64().unwrap();
    assert!(near(&cut["panel"]["model"]["intercept"], shift) && plain["panel"]["threshold"].is_null());
    assert_eq!(cut["settings"]["sensitivity"], 0.95);
    // The model file goes by it, with the probabilities of the other.
    for (model, out) in [("m.json", "p.csv"), ("plain_m.json", "q.csv")] {
        scratch.run(&["predict", model, "d.csv", "--out", out]).code(0);
    }
    let rows = |file: &str| -> Vec<Vec<f64>> {
        let number = |cell: &str| cell.parse().unwrap_or(f64::NAN);
        scratch.read(file).lines().skip(1).map(|line| line.split(',').map(number).collect()).collect()
    };
    for (a, b) in rows("p.csv").iter().zip(rows("q.csv")) {
        assert!((a[1] - (b[1] - threshold["value"].as_f64().unwrap())).abs() < 1e-9);
        assert!((a[2] - b[2]).abs() < 1e-5, "{} {}", a[2], b[2]);
    }
    let page = scratch.read("s.html");
    for words in ["Decision curve", "ROC curve", "Calibration", "sensitivity", "positive class"] {
        assert!(page.contains(words), "{words}");
    }
    for wrong in ["0", "1.01", "-0.5", "NaN"] {
        run(&["--sensitivity", wrong]).code(2);
    }
}

#[test]
fn a_decision_curve_is_that_of_the_probabilities_of_the_folds() {
    let scratch = Scratch::new("positive_curve");
    scratch.file("d.csv", samples(60));
    let outputs = ["--json", "s.json", "--quiet"];
    scratch.run(&[&STUDY[..], &["--positive", "case"], &outputs].concat()).code(0);
    let result = scratch.json("s.json");
    let curve = result["decision_curve"].as_array().unwrap();
    assert_eq!(curve.len(), 99);
    let (mut found, mut alarms, mut n) = (0.0, 0.0, 0.0);
    for fold in result["folds"].as_array().unwrap() {
        let rows = fold["test"].as_array().unwrap().iter().zip(fold["probabilities"].as_array().unwrap());
        for (row, p) in rows {
            n += 1.0;
            let acted = p.as_f64().unwrap() >= 0.3;
            match row.as_u64().unwrap() % 3 {
                0 => found += f64::from(u8::from(acted)),
                _ => alarms += f64::from(u8::from(acted)),
            }
        }
    }
    let at = &curve[29];
    assert!(near(&at["threshold"], 0.3) && near(&at["net_benefit"], found / n - alarms / n * 0.3 / 0.7), "{at}");
    assert!(near(&at["treat_all"], 1.0 / 3.0 - 2.0 / 3.0 * 0.3 / 0.7) && near(&at["treat_none"], 0.0));
    // Intervals of losses are there, and no shorter than those of independent samples.
    let losses = |name: &str| result["summary"][name].clone();
    assert!(losses("log_loss")["ci95"].is_array() && losses("brier")["ci95"].is_array());

    // Three classes have neither, but a share of each.
    let text = samples(90).lines().enumerate().fold(String::new(), |mut text, (i, line)| {
        let _ = writeln!(text, "{}", if i % 4 == 1 { line.replace("control", "other") } else { line.to_owned() });
        text
    });
    scratch.file("t.csv", text);
    let three: Vec<&str> = STUDY.iter().map(|word| if *word == "d.csv" { "t.csv" } else { word }).collect();
    let said = scratch.run(&[&three[..], &["--json", "t.json"]].concat()).code(0).out;
    let result = scratch.json("t.json");
    assert!(result["decision_curve"].is_null() && result["positive"].is_null(), "{result}");
    assert!(result["summary"]["sensitivity"].is_null());
    assert!(result["recall"]["other"]["ci95"].is_array() && said.contains("recall"), "{said}");
    let said = scratch.run(&[&three[..], &["--sensitivity", "0.9"]].concat()).code(2).err;
    assert!(said.contains("there are 3"), "{said}");
}

#[test]
fn the_class_that_signs_speak_for_is_said() {
    let scratch = Scratch::new("positive_words");
    let table = |classes: [&str; 2], share: usize| {
        let row = |i: usize| format!("{},{},{}\n", i * 7 % 5, i % 3, classes[usize::from(i % 10 >= share)]);
        format!("a,b,Ausfall\n{}", (0..40).map(row).collect::<String>())
    };
    let fit = |more: &[&str]| scratch.run(&[&["fit", "d.csv", "--all-features"][..], more].concat()).code(0).err;
    let warned = |classes, share| {
        scratch.file("d.csv", table(classes, share));
        fit(&[]).contains("is the positive one (+1)")
    };
    // Words for what is not searched for, in other languages; then a class that is much more frequent.
    for (classes, share, told) in [
        (["ja", "nein"], 5, true),
        (["malade", "sain"], 5, true),
        (["não", "sim"], 5, false),
        (["a", "b"], 5, false),
        (["a", "b"], 2, true),
        (["a", "b"], 8, false),
        (["no", "yes"], 2, false),
    ] {
        assert_eq!(warned(classes, share), told, "{classes:?} {share}");
    }
    scratch.file("d.csv", table(["ja", "nein"], 5));
    let said = |class: &str| format!("are of scores for the class {class} (+1)");
    assert!(fit(&["--sign", "a:+"]).contains(&said("nein")));
    assert!(fit(&["--sign", "a:+", "--positive", "ja"]).contains(&said("ja")));
    assert!(!fit(&[]).contains("are of scores"));
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "1", "--sign", "a:+"];
    assert!(scratch.run(&select).code(0).err.contains(&said("nein")));

    let near = scratch.run(&["check", "d.csv", "--target", "ausfall"]).code(2).err;
    assert!(near.contains("did you mean `Ausfall`?"), "{near}");
    let alike = table(["Yes", "no"], 5) + "1,2,yes\n2,1,yes\n3,3,yes\n";
    let alike = scratch.file("d.csv", alike).run(&["check", "d.csv"]).code(0).out;
    assert!(
        alike.split_whitespace().collect::<Vec<_>>().join(" ").contains("the classes `Yes` and `yes` of `Ausfall`"),
        "{alike}"
    );
}
