//! `fit --categorical`: codes count as equal or not, whatever their numbers are.

use std::fmt::Write as _;

use crate::common::{Noise, Scratch};

/// A category `c` of four codes, by `code`, and a number `a`; the class is of both.
fn table(code: [u32; 4]) -> String {
    let mut noise = Noise(11);
    let mut text = "a,c,y\n".to_owned();
    for i in 0..80 {
        let (a, c) = (noise.next(), i % 4);
        let class = (a > 0.0) != (c % 3 == 0);
        writeln!(text, "{a:.4},{},{}", code[c], ["no", "yes"][usize::from(class)]).expect("memory");
    }
    text
}

#[test]
fn the_numbers_of_codes_change_nothing() {
    let scratch = Scratch::new("fit_categories");
    scratch.file("d.csv", table([0, 1, 2, 3]));
    scratch.file("other.csv", table([7, 2, 30, 1]));
    for kernel in ["rbf", "laplace"] {
        for gamma in ["scale", "0.7", "sigest"] {
            let fit = |data: &str, categories: bool| {
                let all = ["fit", data, "--all-features", "--kernel", kernel, "--gamma", gamma, "--cost", "10"];
                let out = ["--json", "r.json", "--model", "m.json"];
                let named: &[&str] = if categories { &["--categorical", "c"] } else { &[] };
                let said = scratch.run(&[&all[..], &out, named].concat()).code(0).out;
                assert_eq!(said.contains("1 of 2 features categories"), categories, "{said}");
                let result = scratch.json("r.json");
                let listed = result["model"]["categorical"].as_array().map_or(0, Vec::len);
                assert_eq!(listed, usize::from(categories));
                let judged = scratch.run(&["predict", "m.json", data, "--out", "p.csv", "--json", "s.json"]).code(0);
                assert!(judged.err.is_empty(), "{}", judged.err);
                let share = scratch.json("s.json")["accuracy"].as_f64().expect("a number");
                (result["objective"].as_f64().expect("a number"), share)
            };
            let ((own, right), (other, as_right)) = (fit("d.csv", true), fit("other.csv", true));
            assert!((own - other).abs() <= 1e-6 * own, "{kernel} {gamma}: {own} {other}");
            assert_eq!(right, as_right, "{kernel} {gamma}");
            assert!(right > 0.9, "{kernel} {gamma}: {right}");
            let (plain, others) = (fit("d.csv", false).0, fit("other.csv", false).0);
            assert!((plain - others).abs() > 1e-3 * plain, "{kernel} {gamma}: {plain} {others}");
        }
    }
}

#[test]
fn categories_that_are_not_used_are_refused() {
    let scratch = Scratch::new("fit_categories_refused");
    scratch.file("d.csv", table([0, 1, 2, 3]));
    for (line, words) in [
        ("fit d.csv --all-features --categorical c", "--categorical has no meaning for the linear kernel"),
        ("fit d.csv --all-features --kernel poly --categorical c", "--kernel rbf or laplace"),
        ("fit d.csv --features a --kernel rbf --categorical c", "names c, which is not trained on"),
        ("fit d.csv --all-features --kernel rbf --categorical d", "--categorical"),
        (
            "fit d.csv --all-features --kernel rbf --scale none --categorical c --model m --model-format libsvm",
            "--model-format holds no categories",
        ),
    ] {
        let said = scratch.run(&line.split(' ').collect::<Vec<_>>()).code(2).err;
        assert!(said.contains(words), "{line}: {said}");
    }
}
