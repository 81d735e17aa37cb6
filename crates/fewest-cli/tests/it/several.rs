//! `--multi-class` and `--tasks`: what they find, what they say, what they refuse.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Noise, Ran, Scratch};

/// Three classes and two sites; `a` and `b` tell the classes apart, `c` and `d` do not.
fn table() -> String {
    let mut noise = Noise(5);
    let mut text = "a,b,c,d,site,y\n".to_owned();
    for i in 0..60 {
        let class = i % 3;
        let (a, b) = (f64::from(class == 1), f64::from(class == 2));
        let noise: Vec<f64> = (0..4).map(|_| 0.5 * noise.next()).collect();
        let site = ["north", "south"][i / 3 % 2];
        let line = [a + noise[0], b + noise[1], noise[2], noise[3]].map(|x| format!("{x:.4}")).join(",");
        writeln!(text, "{line},{site},{}", ["red", "green", "blue"][class]).expect("memory");
    }
    text
}

/// Runs a command line of words.
fn run(scratch: &Scratch, line: &str) -> Ran {
    scratch.run(&line.split(' ').collect::<Vec<_>>())
}

fn selected(result: &Value) -> Vec<&str> {
    result["selected"].as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

#[test]
fn many_classes_are_proven_and_it_is_said_how_they_were_taken_apart() {
    let scratch = Scratch::new("several_classes");
    scratch.file("d.csv", table());
    for (method, how, number) in
        [("exact", "one-vs-one", 3), ("exact", "one-vs-rest", 3), ("gbd", "one-vs-one", 3), ("gbd", "one-vs-rest", 3)]
    {
        let line = format!(
            "select d.csv --drop site --method {method} --multi-class {how} --max-features 2 --json r.json --report r.html"
        );
        let said = run(&scratch, &line).code(0).out;
        assert!(said.contains(&format!("{number}, whose objectives add ({how})")), "{said}");
        let result = scratch.json("r.json");
        assert_eq!((selected(&result), result["status"].as_str()), (vec!["a", "b"], Some("optimal")), "{line}");
        assert_eq!(result["problems"]["number"], number, "{line}");
        assert_eq!(result["problems"]["multi_class"], how, "{line}");
        assert_eq!(result["settings"]["multi_class"], how);
        assert!(scratch.read("r.html").contains(&format!("{number}, whose objectives add ({how})")));
        assert_eq!(result["model"]["machines"].as_array().map(Vec::len), Some(3), "one for each pair");
    }
}

#[test]
fn tasks_share_one_subset_and_have_classifiers_of_their_own() {
    let scratch = Scratch::new("several_tasks");
    scratch.file("d.csv", table());
    let line = "select d.csv --tasks site --method exact --max-features 2 --json r.json";
    let Ran { out: said, err, .. } = run(&scratch, line).code(0);
    assert!(said.contains("6, whose objectives add (one-vs-one; 2 tasks of site)"), "{said}");
    assert!(err.contains("each task has classifiers of its own"), "{err}");
    let result = scratch.json("r.json");
    assert_eq!((selected(&result), result["status"].as_str()), (vec!["a", "b"], Some("optimal")));
    assert_eq!(result["problems"]["tasks"], 2);
    assert_eq!(result["settings"]["tasks"], "site");
    assert!(result["model"].is_null());
    // Its bound is that of the sum, so that it is above what one site alone costs.
    let path = "path d.csv --tasks site --method exact --max-features 1..2 --json p.json";
    run(&scratch, path).code(0);
    let path = scratch.json("p.json");
    let last = path["path"].as_array().and_then(|sizes| sizes.last()).expect("two sizes").clone();
    let (a, b) = (last["objective"].as_f64().expect("a number"), result["objective"].as_f64().expect("a number"));
    assert!((a - b).abs() <= 2e-4 * b, "{a} {b}");
}

#[test]
fn what_is_for_one_classifier_is_refused_by_name() {
    let scratch = Scratch::new("several_refused");
    scratch.file("d.csv", table());
    scratch.file("one.csv", "a,b,site,y\n1,2,n,u\n2,1,n,v\n3,1,s,u\n4,4,s,u\n");
    for (line, words) in [
        ("select d.csv --tasks site --method exact --max-features 2 --model m.json", "--model is for one classifier"),
        ("select d.csv --tasks site --method exact --max-features 2 --cost auto", "--cost auto"),
        ("select d.csv --tasks site --method exact --max-features 2 --fit-cost 1", "--fit-cost"),
        ("select d.csv --tasks site --method gbd --max-features 2 --validate 0.3", "--validate"),
        (
            "select d.csv --tasks site --method rfe --max-features 2",
            "--tasks is an option of exact and gbd, not of rfe",
        ),
        ("select d.csv --tasks nowhere --method exact --max-features 2", "nowhere"),
        ("select one.csv --tasks site --method exact --max-features 1", "the task s are of one class"),
        ("select d.csv --drop site --method exact --max-features 2 --proof p.fwp", "a proof file speaks of one"),
        ("select d.csv --drop site --method gbd --max-features 2 --validate 0.3", "leave --validate out"),
        ("select d.csv --drop site --method exact --max-features 2 --sign a:+", "bounds on weights need two classes"),
        ("evaluate d.csv --tasks site --method exact --max-features 2", "--tasks"),
        ("select d.csv --drop site --method exact --max-features 2 --multi-class all", "one-vs-rest"),
    ] {
        let Ran { err: said, code, .. } = run(&scratch, line);
        assert_eq!(code, Some(2), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn any_method_is_certified_for_many_classes() {
    let scratch = Scratch::new("several_certified");
    scratch.file("d.csv", table());
    let line = "select d.csv --drop site --method rfe --max-features 2 --certify --json r.json";
    run(&scratch, line).code(0);
    let rfe = scratch.json("r.json");
    let line = "select d.csv --drop site --method exact --max-features 2 --json r.json";
    run(&scratch, line).code(0);
    let exact = scratch.json("r.json");
    assert_eq!(rfe["certificate"]["status"], "optimal");
    let of = |value: &Value| value.as_f64().expect("a number");
    let (best, certified) = (of(&exact["objective"]), of(&rfe["certificate"]["best"]["objective"]));
    assert!((best - certified).abs() <= 2e-4 * best, "{best} {certified}");
}
