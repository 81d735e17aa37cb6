//! `--groups`: which samples are held out, what results and pages say, what is refused, and the
//! warning where a column may name groups.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fewest_data::{Target, grouped_halves};
use serde_json::Value;

use crate::common::{Noise, Ran, Scratch};

/// Samples of 20 persons, of two classes and five features; `a` tells the classes apart.
fn table(column: &str) -> (String, Vec<usize>, Vec<u32>) {
    let (mut noise, mut text) = (Noise(7), format!("a,b,c,d,e,{column},y\n"));
    let (mut persons, mut codes) = (Vec::new(), Vec::new());
    for i in 0..90 {
        let person = i * 13 % 90 / 5 % 20 + usize::from(i % 11 == 0) * 2 % 20;
        let class = person % 2;
        let values: Vec<String> =
            (0..5).map(|j| format!("{:.4}", noise.next() + if j == 0 { class as f64 } else { 0.0 })).collect();
        writeln!(text, "{},p{person:02},{}", values.join(","), ["no", "yes"][class]).expect("memory");
        persons.push(person);
        codes.push(class as u32);
    }
    (text, persons, codes)
}

fn run(scratch: &Scratch, line: &str) -> Ran {
    scratch.run(&line.split(' ').collect::<Vec<_>>())
}

fn numbers(value: &Value) -> Vec<usize> {
    value.as_array().expect("a list").iter().map(|i| i.as_u64().expect("a number") as usize).collect()
}

fn count(persons: &[usize]) -> usize {
    persons.iter().collect::<std::collections::BTreeSet<_>>().len()
}

/// Each repetition holds out every sample once, and all samples of a person in one fold.
fn holds_together(result: &Value, persons: &[usize]) {
    let mut fold_of: BTreeMap<(u64, usize), &str> = BTreeMap::new();
    let mut times = vec![0; persons.len()];
    for fold in result["folds"].as_array().expect("folds") {
        let (repeat, name) = (fold["repeat"].as_u64().unwrap(), fold["fold"].as_str().unwrap());
        for i in numbers(&fold["test"]) {
            times[i] += 1;
            assert_eq!(*fold_of.entry((repeat, persons[i])).or_insert(name), name);
        }
    }
    assert!(times.iter().all(|&count| count == times[0] && count > 0), "{times:?}");
    let settings = &result["settings"]["groups"];
    assert_eq!((&settings["column"], &settings["count"]), (&"person".into(), &count(persons).into()));
}

#[test]
fn evaluate_and_study_hold_out_whole_groups_and_say_so() {
    let (scratch, (text, persons, _)) = (Scratch::new("groups_folds"), table("person"));
    scratch.file("d.csv", text);
    let words = format!("samples of one person stay together ({} groups)", count(&persons));
    for command in [
        "evaluate d.csv -m rfe --max-features 2 --cv 4 --repeats 2",
        "evaluate d.csv -m rfe --max-features 1..2 --cv 4 --inner-cv 3",
        "evaluate d.csv -m rfe --max-features 2 --cv 4 --cost auto",
        "evaluate d.csv -m eb-rfe --max-features 2 --cv 4 --inner-cv 3 --costs 1,4",
        "evaluate d.csv -m info-gain --max-features 2 --leave-one-out",
        "study d.csv --max-features 1..2 --folds 3 --repeats 1 --inner-cv 3 --cost-points 2",
    ] {
        let said = run(&scratch, &format!("{command} --groups person --json r.json --report r.html")).code(0);
        let result = scratch.json("r.json");
        holds_together(&result, &persons);
        assert!(scratch.read("r.html").contains(&words), "{command}");
        assert!(result["n_features"] == 5 && said.err.is_empty(), "{command}: {}", said.err);
        let said = run(&scratch, &format!("{command} --groups person")).code(0).out;
        assert!(said.contains("samples of one person stay together"), "{said}");
    }
    run(&scratch, "evaluate d.csv -m rfe --max-features 2 --leave-one-out --groups person --json r.json").code(0);
    let left = scratch.json("r.json");
    assert_eq!(left["folds"].as_array().unwrap().len(), count(&persons));
    assert_eq!(left["folds"][0]["fold"], "fold p00");
}

#[test]
fn path_and_stability_deal_whole_groups() {
    let (scratch, (text, persons, codes)) = (Scratch::new("groups_path"), table("person"));
    scratch.file("d.csv", &text);
    // As evaluate, size by size.
    let folds = "d.csv -m rfe --groups person --cv 4 --repeats 2 --seed 3";
    run(&scratch, &format!("path {folds} --max-features 1..3 --json p.json --report p.html")).code(0);
    let path = scratch.json("p.json");
    for (at, result) in path["path"].as_array().unwrap().iter().enumerate() {
        run(&scratch, &format!("evaluate {folds} --max-features {} --json e.json", at + 1)).code(0);
        assert_eq!(result["cv"]["accuracy"]["mean"], scratch.json("e.json")["summary"]["accuracy"]["mean"]);
        assert_eq!(result["settings"]["groups"]["column"], "person");
    }
    assert!(scratch.read("p.html").contains("samples of one person stay together"));
    // Each half is a selection on the rows of its groups.
    let base = "-m rfe --max-features 2 --pairs 3 --seed 5 --threshold 0.75";
    run(&scratch, &format!("stability d.csv {base} --groups person --json s.json --report s.html")).code(0);
    let (result, lines): (Value, Vec<&str>) = (scratch.json("s.json"), text.lines().collect());
    assert!(scratch.read("s.html").contains("samples of one person stay together"));
    assert_eq!(result["settings"]["groups"]["count"], count(&persons));
    let target = Target { column: "y".into(), classes: vec!["no".into(), "yes".into()], codes };
    let groups: Vec<u32> = persons.iter().map(|&person| person as u32).collect();
    let pairs = grouped_halves(&target, &groups, 3, 5).unwrap();
    for (pair, halves) in result["pairs"].as_array().unwrap().iter().zip(&pairs) {
        for (half, rows) in halves.iter().enumerate() {
            let part = rows.iter().fold(format!("{}\n", lines[0]), |out, &i| out + lines[i + 1] + "\n");
            scratch.file("half.csv", part);
            run(&scratch, "select half.csv -m rfe --max-features 2 --drop person --json h.json").code(0);
            assert_eq!(pair["selected"][half], scratch.json("h.json")["selected"]);
        }
    }
}

#[test]
fn a_cost_is_chosen_by_whole_groups_and_a_proof_tells_the_column() {
    let (scratch, (text, ..)) = (Scratch::new("groups_cost"), table("person"));
    scratch.file("d.csv", text);
    let select = "select d.csv -m exact --max-features 2 --cost auto --groups person --json r.json --proof p.proof";
    let said = run(&scratch, select).code(0).out;
    assert!(said.contains("samples of one person stay together"), "{said}");
    let result = scratch.json("r.json");
    assert_eq!(result["settings"]["groups"]["column"], "person");
    assert_eq!(result["n_features"], 5);
    let said = run(&scratch, "verify p.proof d.csv").code(0).out;
    assert!(said.contains("VERIFIED"), "{said}");
    run(&scratch, "verify p.proof d.csv --groups none").code(1);
    run(&scratch, "select d.csv -m eb-rfe --max-features 2 --groups person --cv 4 --costs 1,4 --json r.json").code(0);
    assert_eq!(scratch.json("r.json")["settings"]["groups"]["column"], "person");
}

#[test]
fn groups_come_from_the_file_of_labels_too() {
    let (scratch, (text, persons, _)) = (Scratch::new("groups_labels"), table("person"));
    let (mut values, mut labels) = ("id,a,b,c,d,e\n".to_owned(), "id,person,y\n".to_owned());
    for (i, line) in text.lines().skip(1).enumerate() {
        let (cells, person) = line.split_once(",p").expect("a person");
        writeln!(values, "s{i},{cells}").expect("memory");
        writeln!(labels, "s{i},p{person}").expect("memory");
    }
    scratch.file("v.csv", values).file("l.csv", labels).file("d.csv", text);
    let line = "-m rfe --max-features 2 --cv 4 --groups person --json";
    run(&scratch, &format!("evaluate v.csv --id id --labels l.csv:y {line} l.json")).code(0);
    run(&scratch, &format!("evaluate d.csv {line} d.json")).code(0);
    let (labelled, plain) = (scratch.json("l.json"), scratch.json("d.json"));
    holds_together(&labelled, &persons);
    assert_eq!(labelled["summary"], plain["summary"]);
}

#[test]
fn what_groups_cannot_do_is_refused() {
    let (scratch, (text, ..)) = (Scratch::new("groups_refused"), table("person"));
    let split = text.lines().enumerate().map(|(i, line)| match i {
        0 => format!("fold,one,each,{line}\n"),
        _ => format!("{},x,r{i},{line}\n", i % 3),
    });
    scratch.file("d.csv", split.collect::<String>());
    let mut lines: Vec<&str> = text.lines().collect();
    lines[3] = "1,1,1,1,1,,yes";
    scratch.file("blank.csv", lines.join("\n"));
    for (line, words) in [
        ("select d.csv -m rfe --max-features 2 --groups person", "nothing is dealt into folds here; leave it out"),
        ("path d.csv -m rfe --max-features 1..2 --groups person", "nothing is dealt into folds here"),
        ("knockoffs d.csv -m rfe --groups person", "knockoffs deals no folds or halves"),
        ("certify d.csv --features a --groups person", "--groups is an option of select, not of certify"),
        ("evaluate d.csv -m rfe --max-features 2 --groups person --cv 30", "--cv is 30, but there are"),
        (
            "evaluate d.csv -m rfe --max-features 1..2 --groups person --inner-cv 25",
            "--inner-cv is 25, but the training part",
        ),
        ("evaluate d.csv -m rfe --max-features 2 --groups person --folds fold", "the samples of group p"),
        ("evaluate d.csv -m rfe --max-features 2 --groups one", "names one group only, x"),
        ("evaluate d.csv -m rfe --max-features 2 --target y --groups y", "the column of the class"),
        ("evaluate d.csv -m rfe --max-features 2 --groups nobody", "no column `nobody` to be the column of --groups"),
        (
            "evaluate blank.csv -m rfe --max-features 2 --groups person",
            "data row 3, column `person`: the cell is blank, but must name the sample's group",
        ),
        ("study d.csv --max-features 2 --groups person --folds 30", "at most the number of groups"),
    ] {
        // The other columns that name something are no features.
        let others = ["fold", "one", "each"].into_iter().filter(|name| !line.contains(&format!("s {name}")));
        let drop = format!(" --drop {}", others.collect::<Vec<_>>().join(","));
        let line = format!("{line}{}", if line.contains("blank") { "" } else { &drop });
        let said = run(&scratch, &line).code(2).err;
        assert!(said.contains(words), "{line}: {said}");
    }
    let said =
        run(&scratch, "evaluate d.csv -m rfe --max-features 2 --groups each --cv 3 --drop fold,one,person").code(0).err;
    assert!(said.contains("another value in each of the 90 rows"), "{said}");
}

#[test]
fn a_file_of_other_groups_is_not_gone_on_from() {
    let (scratch, (text, ..)) = (Scratch::new("groups_resume"), table("person"));
    let with = text.lines().enumerate().map(|(i, line)| match i {
        0 => format!("site,{line}\n"),
        _ => format!("s{},{line}\n", i % 9),
    });
    scratch.file("d.csv", with.collect::<String>());
    for command in [
        "evaluate d.csv -m rfe --max-features 2 --cv 3",
        "stability d.csv -m rfe --max-features 2 --pairs 3 --threshold 0.8",
        // Stopped soon, so that there is something to resume from.
        "study d.csv --max-features 1..5 --methods exact --cost-points 40 --repeats 9 --time-limit 1s",
        "path d.csv -m exact --max-features 1..4 --cost auto --resume-every 1ms",
    ] {
        let file = format!("{}.state", command.split(' ').next().unwrap());
        for _ in 0..2 {
            let code = if command.contains("--time-limit") { 3 } else { 0 };
            run(&scratch, &format!("{command} --drop site --groups person --resume {file}")).code(code);
            assert!(scratch.path(&file).exists(), "{command}");
        }
        run(&scratch, &format!("{command} --drop person --groups site --resume {file}")).code(2);
        run(&scratch, &format!("{command} --drop site,person --resume {file}")).code(2);
    }
}

#[test]
fn a_column_that_may_name_groups_is_told_where_samples_are_dealt() {
    let scratch = Scratch::new("groups_hint");
    scratch.file("d.csv", table("person").0).file("c.csv", table("colour").0);
    let told = |line: &str| run(&scratch, line).code(0).err.contains("--groups person keeps them together");
    assert!(told("evaluate d.csv -m rfe --max-features 2 --cv 3"));
    assert!(told("stability d.csv -m rfe --max-features 2 --pairs 2 --threshold 0.8"));
    assert!(told("path d.csv -m rfe --max-features 1..2 --cv 3"));
    assert!(told("select d.csv -m rfe --max-features 2 --cost auto"));
    assert!(told("study d.csv --max-features 2 --folds 3 --repeats 1 --inner-cv 2 --cost-points 2"));
    assert!(!told("select d.csv -m rfe --max-features 2"));
    assert!(!told("evaluate d.csv -m rfe --max-features 2 --cv 3 --groups person"));
    assert!(!told("evaluate c.csv -m rfe --max-features 2 --cv 3"));
    run(&scratch, "evaluate d.csv -m rfe --max-features 2 --cv 3 --json r.json").code(0);
    let warnings = scratch.json("r.json")["warnings"].to_string();
    assert!(warnings.contains("column `person` has"), "{warnings}");
}
