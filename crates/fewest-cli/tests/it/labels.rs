//! Labels and categories go through a model file and come back the same, whatever form they have in
//! the file that is predicted.

use crate::common::{Noise, Scratch};

/// Two numbers and a class, `label` of 0 and 1; the class is that of the first number.
fn table(seed: u64, delimiter: char, label: impl Fn(usize, usize) -> String) -> String {
    let mut noise = Noise(seed);
    let row = |i: usize| {
        let (class, a) = (i % 2, noise.next());
        let label = label(class, i);
        format!("{:.4}{delimiter}{:.4}{delimiter}{label}\n", a.abs() + 2.0 * class as f64, i as f64 / 7.0)
    };
    format!("a{delimiter}b{delimiter}y\n{}", (0..40).map(row).collect::<String>())
}

#[test]
fn labels_come_back_the_same_in_every_format() {
    let scratch = Scratch::new("labels");
    let forms: [[&[&str]; 2]; 6] = [
        [&["0", "0.0", "-0", " 0"], &["1", "1.0", "+1", "1 "]],
        [&["0.5", ".5"], &["1.5", "15e-1"]],
        [&["False", " False"], &["True", "True "]],
        [&["False", "FALSE"], &["True", "TRUE"]],
        [&["a", " a"], &["b", "b "]],
        [&["1", "01"], &["2", "02", "2.00"]],
    ];
    let formats = ["csv", "tsv", "arff", "parquet", "npz"];
    for form in forms {
        // Of truth values a file has one spelling.
        let spelt = |class: usize, i: usize| match form[class][1] {
            "FALSE" | "TRUE" => form[class][1],
            _ => form[class][i / 2 % form[class].len()],
        };
        scratch.file("train.csv", table(1, ',', |class, _| form[class][0].to_owned()));
        scratch.file("other.csv", table(2, ',', |class, i| format!("\"{}\"", spelt(class, i))));
        for (name, format) in formats[1..].iter().flat_map(|to| [("train", to), ("other", to)]) {
            scratch.run(&["convert", &format!("{name}.csv"), &format!("{name}.{format}")]).code(0);
        }
        for train in formats.map(|format| format!("train.{format}")) {
            scratch.run(&["fit", &train, "--all-features", "--model", "m.json"]).code(0);
            for other in formats.map(|format| format!("other.{format}")) {
                scratch.run(&["predict", "m.json", &other, "--out", "p.csv", "--json", "s.json"]).code(0);
                let score = scratch.json("s.json");
                assert_eq!((&score["scored"], &score["unknown_class"]), (&40.into(), &0.into()), "{train} {other}");
                assert!(score["accuracy"].as_f64().is_some_and(|share| share > 0.9), "{train} {other}: {score}");
            }
        }
    }
    // A model of svmlight, whose labels are numbers, on a table of 1.0 and -1.0.
    scratch.file("t.csv", table(3, ',', |class, _| ["-1.0", "1.0"][class].to_owned()));
    scratch.run(&["convert", "t.csv", "t.svm"]).code(0);
    scratch.run(&["select", "t.svm", "-m", "rfe", "--max-features", "1", "--model", "m.json"]).code(0);
    scratch.file("x.csv", table(3, ',', |class, _| ["-1", "+1"][class].to_owned()).replacen("a,b", "x1,x2", 1));
    scratch.run(&["predict", "m.json", "x.csv", "--out", "p.csv", "--json", "s.json"]).code(0);
    assert_eq!(scratch.json("s.json")["scored"], 40);
    // A model that others wrote, with labels that are not in this form.
    let model =
        std::fs::read_to_string(scratch.path("m.json")).expect("read").replace("\"-1\": \"-1\"", "\"-1\": \"-1.0\"");
    let model = model.replace("\"negative\": \"-1\"", "\"negative\": \"-1.0\"");
    scratch.file("m2.json", model);
    scratch.run(&["predict", "m2.json", "x.csv", "--out", "p.csv", "--json", "s.json"]).code(0);
    assert_eq!(scratch.json("s.json")["scored"], 40);
    // The same names of classes in options.
    let weights = ["select", "t.csv", "-m", "rfe", "--max-features", "1", "--class-weight", "-1=2,+1=1"];
    scratch.run(&weights).code(0);
    let twice = scratch.run(&["fit", "t.csv", "--all-features", "--class-weight", "1=2,1.0=1"]).code(2).err;
    assert!(twice.contains("class 1 has two weights"), "{twice}");
}

#[test]
fn predict_warns_of_what_training_has_not_seen_and_of_nothing_else() {
    let scratch = Scratch::new("unseen");
    let rows = "M,red,pos\nM,green,pos\nF,red,pos\nF,green,neg\nF,blue,neg\nM,red,pos\nF,blue,neg\nM,blue,neg\n";
    scratch.file("f.csv", format!("sex,col,y\n{rows}"));
    scratch.file("t.csv", "sex,col\nX,red\nM,blue\nF,violet\n");
    scratch.file("one.csv", "sex,col\nM,blue\nM,blue\n");
    let select = ["select", "f.csv", "-m", "exact", "--max-features", "3", "--require", "sex=M,col=red,col=green"];
    scratch.run(&[&select[..], &["--model", "f.json", "--json", "r.json"]].concat()).code(0);
    for model in ["f.json", "r.json"] {
        let seen = scratch.run(&["predict", model, "f.csv"]).code(0).err;
        assert!(!seen.contains("warning"), "{seen}");
        let same = scratch.run(&["predict", model, "one.csv"]).code(0).err;
        assert!(!same.contains("warning"), "{same}");
        let new = scratch.run(&["predict", model, "t.csv"]).code(0).err;
        assert!(new.contains("`sex` has values the model has not seen on 1 row(s), the first is `X`"), "{new}");
        assert!(new.contains("`col` has values the model has not seen on 1 row(s), the first is `violet`"), "{new}");
    }
    // A column none of whose values was chosen is of no account.
    scratch.run(&["fit", "f.csv", "--features", "col", "--model", "c.json"]).code(0);
    let new = scratch.run(&["predict", "c.json", "t.csv"]).code(0).err;
    assert!(new.contains("`violet`") && !new.contains("`X`"), "{new}");
    let study = [
        "study",
        "f.csv",
        "--max-features",
        "2",
        "--folds",
        "2",
        "--repeats",
        "1",
        "--inner-cv",
        "2",
        "--model",
        "s.json",
    ];
    scratch.run(&study).code(0);
    let seen = scratch.run(&["predict", "s.json", "f.csv"]).code(0).err;
    assert!(!seen.contains("warning"), "{seen}");
}

#[test]
fn a_target_that_is_not_there_is_refused() {
    let scratch = Scratch::new("no_target");
    scratch.file("t.csv", table(1, ',', |class, _| class.to_string()));
    scratch.run(&["fit", "t.csv", "--all-features", "--model", "m.json"]).code(0);
    let said = scratch.run(&["predict", "m.json", "t.csv", "--target", "nope"]).code(2).err;
    assert!(said.contains("`nope`"), "{said}");
    let said = scratch.run(&["predict", "m.json", "t.csv", "--classes", "nope"]).code(2).err;
    assert!(said.contains("there is no class nope"), "{said}");
    scratch.run(&["convert", "t.csv", "t.svm"]).code(0);
    let said = scratch.run(&["check", "t.svm", "--target", "nope"]).code(2).err;
    assert!(said.contains("`nope`"), "{said}");
}
