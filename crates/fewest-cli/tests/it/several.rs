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
    for (method, how, number) in [
        ("exact", "one-vs-one", 3),
        ("exact", "one-vs-rest", 3),
        ("gbd", "one-vs-one", 3),
        ("gbd", "one-vs-rest", 3),
        ("fgm", "one-vs-one", 3),
        ("fgm", "one-vs-rest", 3),
    ] {
        let line = format!(
            "select d.csv --drop site --method {method} --multi-class {how} --max-features 2 --json r.json --report r.html"
        );
        let said = run(&scratch, &line).code(0).out;
        assert!(said.contains(&format!("{number}, whose objectives add ({how})")), "{said}");
        let result = scratch.json("r.json");
        assert_eq!(selected(&result), vec!["a", "b"], "{line}");
        assert!(method == "fgm" || result["status"] == "optimal", "{line}");
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
    let said = run(&scratch, line).code(0).out;
    assert!(said.contains("6, whose objectives add (one-vs-one; 2 tasks of site)"), "{said}");
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

/// The classifiers of tasks are in the result and in the model file; each sample is judged by that of
/// its task.
#[test]
fn each_task_has_a_classifier_that_predicts_its_samples() {
    let scratch = Scratch::new("several_models");
    scratch.file("d.csv", table());
    // One site has two of the classes only.
    let without: String =
        table().lines().filter(|line| !line.ends_with("south,blue")).map(|line| line.to_owned() + "\n").collect();
    scratch.file("e.csv", without);
    for (data, method, machines) in [("d.csv", "exact", [3, 3]), ("e.csv", "gbd", [3, 1]), ("e.csv", "fgm", [3, 1])] {
        let cost = if method == "fgm" { "2" } else { "1 --loss squared-hinge" };
        let line = format!(
            "select {data} --tasks site --method {method} --max-features 2 --cost {cost} --bias free --json r.json --model m.json"
        );
        run(&scratch, &line).code(0);
        let (result, model) = (scratch.json("r.json"), scratch.json("m.json"));
        assert_eq!(result["task_models"], model["task_models"], "{method}");
        assert_eq!(
            (model["kind"].as_str(), model["task_models"]["column"].as_str()),
            (Some("task-models"), Some("site"))
        );
        let each = model["task_models"]["models"].as_array().expect("a list");
        let names: Vec<_> = each.iter().filter_map(|one| one["task"].as_str()).collect();
        assert_eq!(names, ["north", "south"]);
        let mut total = 0.0;
        for (one, machines) in each.iter().zip(machines) {
            let list = one["model"]["machines"].as_array().expect("a list");
            assert_eq!(list.len(), machines, "{method}");
            total += list.iter().map(|machine| machine["primal"].as_f64().expect("a number")).sum::<f64>();
        }
        // The objective is the sum over the machines, which are those of the tasks.
        let objective = result["objective"].as_f64().expect("a number");
        let value = if method == "fgm" { -0.25 / objective } else { objective };
        assert!((total - value).abs() <= 2e-4 * value, "{method}: {total} {value}");
        for from in ["m.json", "r.json"] {
            let said = run(&scratch, &format!("predict {from} {data} --out p.csv")).code(0).out;
            let predicted = scratch.read("p.csv");
            assert!(predicted.starts_with("site,prediction,decision_"), "{predicted}");
            assert_eq!(predicted.lines().count(), scratch.read(data).lines().count());
            let share: f64 = said
                .split("accuracy ")
                .nth(1)
                .and_then(|s| s.split(' ').next())
                .expect("said")
                .parse()
                .expect("a number");
            assert!(share > 70.0, "{said}");
        }
    }
    // A pair that the task has not has no decision value.
    let predicted = scratch.read("p.csv");
    let south = predicted.lines().find(|line| line.starts_with("south,")).expect("a sample");
    assert!(south.contains(",,"), "{south}");
    scratch.file("west.csv", table().replace("south", "west"));
    let said = run(&scratch, "predict m.json west.csv").code(2).err;
    assert!(said.contains("no classifier of the task west") && said.contains("of north, south"), "{said}");
    scratch.file("none.csv", "a,b,y\n1,2,red\n");
    let said = run(&scratch, "predict m.json none.csv").code(2).err;
    assert!(said.contains("site"), "{said}");
}

/// Two sites in which `a` and `b` say the opposite of each other.
fn opposed() -> String {
    let mut noise = Noise(9);
    let mut text = "a,b,c,d,e,f,site,y\n".to_owned();
    for i in 0..160 {
        let (south, class) = (i % 2 == 1, i / 2 % 2 == 1);
        let at = if south == class { 1.0 } else { -1.0 };
        let mut x: Vec<f64> = (0..6).map(|_| noise.next()).collect();
        x[0] += 0.8 * at;
        x[1] += 0.8 * at;
        let line = x.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(",");
        writeln!(text, "{line},{},{}", if south { "south" } else { "north" }, if class { "ill" } else { "well" })
            .expect("memory");
    }
    text
}

/// Folds and halves have samples of each task and class, and each sample is judged by the classifier
/// of its task.
#[test]
fn evaluate_and_stability_take_tasks() {
    let scratch = Scratch::new("several_evaluate");
    scratch.file("d.csv", opposed());
    for method in ["exact --cost 0.1", "fgm --cost 0.2", "gbd --cost 0.1"] {
        let accuracy = |tasks: &str| {
            let line = format!("evaluate d.csv {tasks} --method {method} --max-features 2 --cv 4 --json e.json");
            run(&scratch, &line).code(0);
            scratch.json("e.json")["summary"]["accuracy"]["mean"].as_f64().expect("a number")
        };
        let (alone, apart) = (accuracy("--drop site"), accuracy("--tasks site"));
        assert!(apart > 0.75 && alone < 0.65, "{method}: {apart} with tasks, {alone} without");
    }
    assert_eq!(scratch.json("e.json")["settings"]["tasks"], "site");
    let line = "evaluate d.csv --tasks site --method exact --tune C=0.01,0.1 --max-features 1..2 --cv 3 --json e.json";
    run(&scratch, line).code(0);
    let line = "stability d.csv --tasks site --method exact --cost 0.1 --max-features 2 --pairs 10 --threshold 0.9 --json s.json";
    run(&scratch, line).code(0);
    let result = scratch.json("s.json");
    assert_eq!((selected(&result), result["settings"]["tasks"].as_str()), (vec!["a", "b"], Some("site")));
    scratch.file("few.csv", "a,b,site,y\n1,2,n,u\n2,1,n,v\n2,2,n,u\n1,1,n,v\n3,1,s,u\n4,4,s,v\n5,1,s,v\n");
    let said = run(&scratch, "stability few.csv --tasks site --method exact --max-features 1 --pairs 4").code(2).err;
    assert!(said.contains("class u of task s has fewer than 2 samples"), "{said}");
}

#[test]
fn what_is_for_one_classifier_is_refused_by_name() {
    let scratch = Scratch::new("several_refused");
    scratch.file("d.csv", table());
    scratch.file("one.csv", "a,b,site,y\n1,2,n,u\n2,1,n,v\n3,1,s,u\n4,4,s,u\n");
    for (line, words) in [
        (
            "select d.csv --tasks site --method exact --max-features 2 --model m.txt --model-format libsvm",
            "--model-format holds one classifier",
        ),
        ("select d.csv --tasks site --method exact --max-features 2 --cost auto", "--cost auto"),
        ("select d.csv --tasks site --method gbd --max-features 2 --validate 0.3", "--validate"),
        (
            "select d.csv --tasks site --method rfe --max-features 2",
            "--tasks is an option of exact, fgm and gbd, not of rfe",
        ),
        (
            "select d.csv --tasks nowhere --method exact --max-features 2",
            "d.csv: there is no column `nowhere` to be the column of --tasks; the columns are a, b, c, d, site, y",
        ),
        (
            "evaluate d.csv --folds nowhere --method rfe --max-features 2",
            "there is no column `nowhere` to be the column of --folds",
        ),
        (
            "select d.csv --sample-weights nowhere --method rfe --max-features 2",
            "there is no column `nowhere` to be the column of --sample-weights",
        ),
        (
            "select one.csv --drop site --method exact --max-features 1 --multi-class one-vs-rest",
            "--multi-class says how more than two classes become problems, but `y` has two",
        ),
        ("select one.csv --tasks site --method exact --max-features 1", "the task s are of one class"),
        ("select d.csv --drop site --method gbd --max-features 2 --validate 0.3", "leave --validate out"),
        ("select d.csv --drop site --method exact --max-features 2 --sign a:+", "bounds on weights need two classes"),
        (
            "evaluate d.csv --tasks site --method exact --max-features 2 --cost auto",
            "--cost auto judges one classifier for all samples",
        ),
        (
            "evaluate d.csv --tasks site --method exact --max-features 2 --against rfe",
            "--against rfe selects for one task",
        ),
        ("stability d.csv --tasks site --method rfe --max-features 2", "not of rfe"),
        ("knockoffs d.csv --tasks site --method fgm", "--tasks"),
        ("select d.csv --drop site --method exact --max-features 2 --multi-class all", "one-vs-rest"),
    ] {
        let Ran { err: said, code, .. } = run(&scratch, line);
        assert_eq!(code, Some(2), "{line}: {said}");
        assert!(said.contains(words), "{line}: {said}");
    }
}

#[test]
fn proofs_of_classes_and_tasks_are_verified() {
    let scratch = Scratch::new("several_proofs");
    scratch.file("d.csv", table());
    scratch.file("other.csv", table().replacen(",north,", ",south,", 1));
    for line in [
        "--drop site --method exact --multi-class one-vs-rest --solutions 2",
        "--drop site --method gbd",
        "--drop site --method rfe --certify",
        "--tasks site --method exact",
    ] {
        run(&scratch, &format!("select d.csv {line} --max-features 2 --proof p.proof --json r.json")).code(0);
        let said = run(&scratch, "verify p.proof d.csv --json v.json").code(0).out;
        assert!(said.starts_with("VERIFIED"), "{line}: {said}");
        let (result, verdict) = (scratch.json("r.json"), scratch.json("v.json"));
        let best =
            if line.contains("rfe") { &result["certificate"]["best"]["objective"] } else { &result["objective"] };
        let of = |value: &Value| value.as_f64().expect("a number");
        assert!((of(best) - of(&verdict["objective"])).abs() <= 1e-4 * of(best), "{line}: {best} {verdict}");
        assert!(of(&verdict["gap"]) <= 1e-4, "{line}: {verdict}");
    }
    // Another task for one sample is another problem.
    let said = run(&scratch, "verify p.proof other.csv").code(1).out;
    assert!(said.starts_with("NOT VERIFIED  header: "), "{said}");
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
