//! A weight is a number of samples, whatever is learnt from them: a file with weights and one with
//! copies of its rows, none of those of weight 0, have one answer. `FEWEST_WEIGHT_CASES` is how many
//! random files are drawn.

use std::fmt::Write as _;

use fewest_testing::Rng;
use serde_json::Value;

use crate::common::Scratch;

/// Selections that deal no folds.
const METHODS: [&str; 11] = [
    "info-gain --max-features 2",
    "rfe --max-features 2",
    "exact --max-features 2",
    "exact --max-features 2 --loss squared-hinge",
    "l1-svm --tolerance 1e-9",
    "fgm --max-features 2",
    "kta --max-features 2",
    "mbp --max-features 2",
    "gbd --max-features 2",
    "milp1 --max-features 2",
    "fsv",
];

/// A table with weights, and the same with copies: values of two scales, some of them missing, a
/// column of 0 and 1, one of text; rows of weight 0 are far out.
fn tables(rng: &mut Rng) -> [String; 2] {
    let mut tables = ["a,b,c,d,t,y,w\n".to_owned(), "a,b,c,d,t,y\n".to_owned()];
    for i in 0..24 {
        let class = i % 2;
        // Two of each class are there in any case.
        let weight = if i < 4 { 1 } else { rng.below(4) };
        let far = if weight == 0 { 1e4 } else { 1.0 };
        let shift = 1.5 * f64::from(class as u8);
        let mut cell = |value: f64| {
            if i >= 4 && rng.chance(0.1) { String::new() } else { format!("{:.3}", far * value) }
        };
        let cells = [
            cell(shift + f64::from(i * 7 % 11) / 5.0),
            cell(100.0 * (f64::from(i * 5 % 13) - 3.0 * shift)),
            cell(f64::from(i * 3 % 8)),
            cell(f64::from(u8::from(i % 3 == 0))),
        ];
        let text = ["red", "blue", "green"][if i < 3 { i as usize } else { rng.below(3) }];
        let row = format!("{},{text},{}", cells.join(","), ["no", "yes"][class as usize]);
        let _ = writeln!(tables[0], "{row},{weight}");
        for _ in 0..weight {
            let _ = writeln!(tables[1], "{row}");
        }
    }
    tables
}

/// All numbers under a key, in order.
fn numbers(value: &Value, key: &str, found: &mut Vec<f64>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, field)| match field.as_f64() {
            Some(number) if name == key => found.push(number),
            _ => numbers(field, key, found),
        }),
        Value::Array(items) => items.iter().for_each(|item| numbers(item, key, found)),
        _ => {}
    }
}

fn close(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() <= share * a.abs().max(b.abs()).max(1e-3)
}

fn cases() -> u64 {
    std::env::var("FEWEST_WEIGHT_CASES").map_or(12, |cases| cases.parse().expect("a number"))
}

#[test]
fn weights_are_numbers_of_samples() {
    let scratch = Scratch::new("sample_weights");
    let mut compared = 0;
    for seed in 0..cases() {
        let mut rng = Rng::new(seed);
        let [weighted, copied] = tables(&mut rng);
        scratch.file("w.csv", &weighted);
        scratch.file("c.csv", &copied);
        let mut of = |choices: &[&'static str]| choices[rng.below(choices.len())];
        let options = format!(
            "-m {} --scale {} --class-weight {} --missing {} --gap 1e-9",
            METHODS[seed as usize % METHODS.len()],
            of(&["standard", "maxabs", "range", "range:0..1", "none"]),
            of(&["none", "balanced", "cw2", "cw3", "yes=3"]),
            of(&["mean", "median", "most-frequent", "indicator"]),
        );
        let options = if options.contains("info-gain") || options.contains("fsv") || options.contains("l1-svm") {
            options.replace(" --gap 1e-9", "")
        } else {
            options
        };
        let ask = |file: &str, more: &[&str]| {
            let args: Vec<&str> = options.split(' ').collect();
            let asked =
                [&["select", file, "--target", "y"], &args[..], more, &["--json", "r.json", "--quiet"]].concat();
            scratch.run(&asked);
            scratch.json("r.json")
        };
        let (a, b) = (ask("w.csv", &["--sample-weights", "w"]), ask("c.csv", &[]));
        let what = format!("seed {seed}: {options}\n{weighted}");
        if a["status"] == "stalled" || b["status"] == "stalled" {
            continue;
        }
        compared += 1;
        // Under the L1 penalty the columns of a text share a weight as they like.
        let same = a["selected"] == b["selected"] || options.contains("l1-svm");
        assert!(same && a["status"] == b["status"], "{what}: {} {}", a["selected"], b["selected"]);
        let objective = |result: &Value| result["objective"].as_f64().unwrap_or(0.0);
        assert!(close(objective(&a), objective(&b), 1e-6), "{what}: {} {}", objective(&a), objective(&b));
        if a["selected"] != b["selected"] {
            continue;
        }
        for key in ["centre", "scale", "fill"] {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            numbers(&a["model"], key, &mut x);
            numbers(&b["model"], key, &mut y);
            let same = x.len() == y.len() && x.iter().zip(&y).all(|(x, y)| close(*x, *y, 1e-9));
            assert!(same, "{what}: {key} {x:?} {y:?}");
        }
    }
    assert!(2 * compared > cases(), "{compared} compared");
}

/// The documented cases: a row of weight 0 that is far out, and balanced classes.
#[test]
fn no_row_of_weight_0_moves_a_choice_and_balanced_classes_are_by_weight() {
    let scratch = Scratch::new("sample_weights_known");
    let row = |i: usize| {
        format!("{:.1},{:.1},{}", (i % 2) as f64 + (i % 5) as f64 * 0.3, (i * 7 % 10) as f64 * 0.1, ["n", "p"][i % 2])
    };
    let rows: Vec<String> = (0..20).map(row).collect();
    scratch.file("plain.csv", format!("a,b,y\n{}\n", rows.join("\n")));
    scratch.file("zero.csv", format!("a,b,y,w\n{},1\n1000,0.1,p,0\n", rows.join(",1\n")));
    for (file, more) in [("plain.csv", &[][..]), ("zero.csv", &["--sample-weights", "w"])] {
        let asked = ["select", file, "--target", "y", "-m", "exact", "--max-features", "1", "--json", "r.json"];
        scratch.run(&[&asked[..], more].concat()).code(0);
        let found = scratch.json("r.json");
        assert_eq!(found["selected"][0], "a", "{file}");
        assert!(close(found["objective"].as_f64().expect("a number"), 8.06, 1e-3), "{file}: {}", found["objective"]);
    }
    scratch.file("w.csv", "a,y,w\n0,n,3\n1,p,1\n2,p,1\n");
    scratch.file("c.csv", "a,y\n0,n\n0,n\n0,n\n1,p\n2,p\n");
    for (file, more) in [("w.csv", &["--sample-weights", "w"][..]), ("c.csv", &[])] {
        let asked = ["fit", file, "--target", "y", "--all-features", "--scale", "none", "--cost", ".1"];
        scratch.run(&[&asked[..], &["--class-weight", "balanced", "--json", "r.json"], more].concat()).code(0);
        let objective = scratch.json("r.json")["objective"].as_f64().expect("a number");
        assert!(close(objective, 0.4297, 1e-3), "{file}: {objective}");
    }
}

/// A class without weight is not there, in words and in numbers.
#[test]
fn a_class_of_weight_0_is_none() {
    let scratch = Scratch::new("sample_weights_class");
    let rows: Vec<String> = (0..12).map(|i| format!("{},{},{}", i, i * 5 % 7, ["u", "v", "z"][i % 3])).collect();
    let weighted: Vec<String> = rows.iter().map(|row| format!("{row},{}", u8::from(!row.ends_with('z')))).collect();
    scratch.file("w.csv", format!("a,b,y,w\n{}\n", weighted.join("\n")));
    let out = scratch.run(&["fit", "w.csv", "--target", "y", "--all-features", "--sample-weights", "w"]).code(0);
    assert!(
        out.out.contains("+1 = v") && out.err.contains("4 row(s) of weight 0 are left out"),
        "{} {}",
        out.out,
        out.err
    );
    scratch.file("one.csv", format!("a,b,y,w\n{}\n", weighted.join("\n").replace("v,1", "v,0")));
    let one = scratch.run(&["fit", "one.csv", "--target", "y", "--all-features", "--sample-weights", "w"]).code(2);
    assert!(one.err.contains("the samples of positive weight are all of the class u"), "{}", one.err);
}
