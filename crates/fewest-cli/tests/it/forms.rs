//! Files as people have them, through the commands: features in rows, labels in a second file, names
//! of samples, patterns, several faults at once.

use serde_json::json;

use crate::common::{Scratch, generated};

/// A table with features in rows, its labels in another order, and the same as rows of samples.
fn turned(scratch: &Scratch, n: usize) {
    let text = generated(n, 5, &["a", "b"], 5);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let names: Vec<String> = (0..n).map(|i| format!("\"s{i}\"")).collect();
    let mut expression = format!("\"\",{}\n", names.join(","));
    for (j, name) in rows[0].iter().enumerate().take(5) {
        let values: Vec<&str> = rows[1..].iter().map(|row| row[j]).collect();
        expression.extend(["\"", name, "\",", &values.join(","), "\n"]);
    }
    let sheet: Vec<String> = (0..n).rev().map(|i| format!("{},s{i},{}\n", i % 3, rows[i + 1][5])).collect();
    scratch
        .file("expression.csv", expression)
        .file("sheet.csv", format!("part,id,kind\n{}", sheet.concat()))
        .file("plain.csv", &text);
}

#[test]
fn features_in_rows_from_select_to_verify_and_predict() {
    let scratch = Scratch::new("forms_turned");
    turned(&scratch, 40);
    let method = ["-m", "exact", "--max-features", "2", "-q"];
    let form = ["--transpose", "--labels", "sheet.csv:kind"];
    let turned =
        [&["select", "expression.csv", "--json", "t.json", "--proof", "t.proof", "--model", "t.model"], &form[..]];
    scratch.run(&[&turned.concat()[..], &method].concat()).code(0);
    scratch.run(&[&["select", "plain.csv", "--json", "p.json"], &method[..]].concat()).code(0);
    let (turned, plain) = (scratch.json("t.json"), scratch.json("p.json"));
    for key in ["selected", "objective", "classes"] {
        assert_eq!(turned[key], plain[key], "{key}");
    }
    // The proof says how the data are read.
    let verify = ["verify", "t.proof", "expression.csv", "--json", "v.json"];
    // All but a second file, which only its user names.
    let refused = scratch.run(&verify).code(2);
    assert!(refused.err.contains("give --labels FILE[:COLUMN]"), "{}", refused.err);
    let verified = scratch.run(&[&verify[..], &["--labels", "sheet.csv:kind"]].concat()).code(0);
    assert!(verified.out.contains("VERIFIED"), "{}", verified.out);
    let reading = scratch.json("v.json")["question"]["reading"].clone();
    assert_eq!((&reading["labels"], &reading["transpose"]), (&json!("sheet.csv:kind"), &json!(true)), "{reading}");
    // Predictions have the names of the samples, with labels or without.
    let predicted = scratch.run(&["predict", "t.model", "expression.csv", "--transpose"]).code(0);
    let lines: Vec<&str> = predicted.out.lines().collect();
    assert!(lines[0].starts_with("sample,prediction,") && lines[3].starts_with("s2,"), "{}", predicted.out);
    let judged = [&["predict", "t.model", "expression.csv", "--out", "o.csv", "--json", "o.json"], &form[..]].concat();
    scratch.run(&judged).code(0);
    assert_eq!(scratch.json("o.json")["scored"], 40);
    let wrong = scratch.run(&["predict", "t.model", "expression.csv"]).code(2);
    assert!(wrong.err.contains("f1") || wrong.err.contains("--transpose"), "{}", wrong.err);
}

#[test]
fn names_of_samples_are_kept() {
    let scratch = Scratch::new("forms_names");
    let text = generated(60, 5, &["a", "b"], 3);
    let named: String = text
        .lines()
        .enumerate()
        .map(|(at, line)| if at == 0 { format!(",{line}\n") } else { format!("cell {at},{line}\n") })
        .collect();
    let keyed = named.replacen(',', "who,", 1);
    scratch.file("d.csv", named).file("k.csv", keyed);
    for data in [&["d.csv"][..], &["k.csv", "--id", "who"]] {
        let run = |rest: &[&str]| scratch.run(&[&rest[..1], data, &rest[1..]].concat()).code(0);
        run(&["evaluate", "-m", "rfe", "--max-features", "2", "--cv", "3", "--json", "e.json", "-q"]);
        let fold = scratch.json("e.json")["folds"][0].clone();
        let (rows, names) = (fold["test"].as_array().unwrap(), fold["test_samples"].as_array().unwrap());
        assert_eq!(rows.len(), names.len());
        for (row, name) in rows.iter().zip(names) {
            assert_eq!(*name, format!("cell {}", row.as_u64().unwrap() + 1));
        }
        run(&["study", "--methods", "rfe", "--max-features", "3", "--json", "s.json", "--time-limit", "20s", "-q"]);
        let study = scratch.json("s.json").to_string();
        assert!(study.contains("\"test_samples\"") && study.contains("\"cell 7\""), "{}", &study[..400]);
    }
}

#[test]
fn check_goes_on_behind_a_fault() {
    let scratch = Scratch::new("forms_faults");
    let row = |i: usize| format!("p{i},{},{},{},{}\n", i % 7, i % 5, i * i % 11, ["a", "b"][i % 2]);
    let mut lines: Vec<String> = (0..40).map(row).collect();
    lines[5] = lines[5].replace(",a", ",").replace(",b", ",");
    lines[9] = "p9,0,none of it,4,b\n".into();
    lines.insert(20, "# half of it\n".into());
    scratch.file("d.csv", format!("name,TP53,x,TP53,y\n{}", lines.concat()));
    let ran = scratch.run(&["check", "d.csv", "--json", "c.json"]).code(2);
    let options =
        "--unique-names --comment '#' --missing-codes 'none of it' --drop-unlabelled --id name --missing mean";
    assert!(ran.err.contains(&format!("the file opens with {options}")), "{}", ran.err);
    assert!(ran.err.contains("1. ") && ran.err.contains("6. ") && !ran.err.contains("7. "), "{}", ran.err);
    assert_eq!(scratch.json("c.json")["faults"].as_array().map(Vec::len), Some(5));
    // It does.
    let opened = "check d.csv --unique-names --comment # --drop-unlabelled --id name --missing mean --missing-codes";
    let words: Vec<&str> = opened.split(' ').chain(["none of it"]).collect();
    scratch.run(&words).code(0);
    // One fault has the same text in all commands.
    scratch.file("one.csv", "a,b,a,y\n1,2,3,0\n4,5,6,1\n");
    let (check, select) =
        (scratch.run(&["check", "one.csv"]).code(2), scratch.run(&["convert", "one.csv", "o.npz"]).code(2));
    let first = select.err.lines().next().unwrap();
    assert!(
        check.err.starts_with(first) && check.err.trim_end().ends_with("opens with --unique-names"),
        "{}",
        check.err
    );
    // Nothing gets past a quote that is never closed.
    scratch.file("open.csv", "a,b,a,y\n1,2,3,0\n4,\"5,6,1\n");
    let open = scratch.run(&["check", "open.csv"]).code(2);
    assert!(open.err.contains("never closed") && !open.err.contains("opens with"), "{}", open.err);
}

#[test]
fn patterns_in_options() {
    let scratch = Scratch::new("forms_patterns");
    let text = generated(60, 6, &["a", "b"], 3);
    scratch.file("d.csv", &text).file("panel.txt", "f1\nf2\nf5\n");
    let selected = |rest: &[&str]| {
        let base = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--json", "r.json", "-q"];
        scratch.run(&[&base, rest].concat()).code(0);
        scratch.json("r.json")
    };
    let few = selected(&["--only", "panel.txt"]);
    assert_eq!(few["n_features"], 3);
    for name in selected(&["--forbid", "/[13456]$/", "--only", "f*"])["selected"].as_array().unwrap() {
        assert_eq!(*name, "f2");
    }
    let counted = selected(&["--at-most", "0:/^f[1-5]/"]);
    assert!(counted["selected"].as_array().unwrap().iter().all(|name| *name == "f6"));
    let unknown = scratch.run(&["select", "d.csv", "-m", "exact", "--max-features", "2", "--require", "z*"]).code(2);
    assert!(unknown.err.contains("no feature fits the pattern \"z*\""), "{}", unknown.err);
}
