//! Folds: samples of weight 0 are none, each training part has each class, nothing is NaN.

use crate::common::{Noise, Scratch};

/// Forty samples in folds of ten: in order of the class, or mixed; those of fold 0 have weight 0.
fn table(sorted: bool) -> String {
    let mut noise = Noise(6);
    let row = |i: usize| {
        let class = if sorted { usize::from(i >= 20) } else { i % 2 };
        format!("{:.3},{:.3},{},{},{class}\n", noise.next() + class as f64, noise.next(), i / 10, usize::from(i >= 10))
    };
    format!("a,b,f,w,y\n{}", (0..40).map(row).collect::<String>())
}

#[test]
fn a_fold_without_weight_takes_no_part() {
    let scratch = Scratch::new("fold_weight");
    scratch.file("d.csv", table(false));
    let weighted = ["--folds", "f", "--sample-weights", "w", "--max-features", "2"];
    let said =
        scratch.run(&[&["evaluate", "d.csv", "-m", "rfe", "--json", "r.json"][..], &weighted].concat()).code(0).err;
    assert!(said.contains("10 row(s) of weight 0 are left out"), "{said}");
    assert_eq!(scratch.json("r.json")["folds"].as_array().map(Vec::len), Some(3));
    for method in ["eb-rfe", "bit-flip", "attribute-flip"] {
        let run = |data: &str, more: &[&str]| {
            scratch
                .run(
                    &[&["select", data, "-m", method, "--json", "r.json"][..], &weighted[..2], &weighted[4..], more]
                        .concat(),
                )
                .code(0);
            let result = scratch.json("r.json");
            (result["selected"].clone(), result["objective"].clone())
        };
        // As if its samples were not there.
        let text = table(false);
        let kept: Vec<&str> = text.lines().take(1).chain(text.lines().skip(11)).collect();
        scratch.file("kept.csv", kept.join("\n"));
        assert_eq!(run("d.csv", &["--sample-weights", "w"]), run("kept.csv", &["--sample-weights", "w"]), "{method}");
    }
    // One fold alone has weight.
    scratch.file("one.csv", table(false).replace(",1,1,", ",1,0,").replace(",2,1,", ",2,0,"));
    for method in ["rfe", "eb-rfe"] {
        let command = if method == "rfe" { "evaluate" } else { "select" };
        let said = scratch.run(&[&[command, "one.csv", "-m", method][..], &weighted].concat()).code(2).err;
        assert!(said.contains("at least 2"), "{said}");
    }
}

#[test]
fn a_training_part_without_a_class_is_refused() {
    let scratch = Scratch::new("fold_class");
    let halves =
        table(true).lines().map(|line| line.replace(",1,", ",0,").replace(",3,", ",2,") + "\n").collect::<String>();
    scratch.file("d.csv", halves);
    for (command, method) in
        [("evaluate", "rfe"), ("select", "eb-rfe"), ("select", "bit-flip"), ("select", "attribute-flip")]
    {
        let said = scratch
            .run(&[command, "d.csv", "-m", method, "--max-features", "1", "--folds", "f", "--drop", "w"])
            .code(2)
            .err;
        assert!(said.contains("no sample of class") && said.contains("is left to train on"), "{method}: {said}");
    }
}

#[test]
fn measures_without_a_value_are_counted() {
    let scratch = Scratch::new("fold_measures");
    scratch.file("d.csv", table(true));
    let line = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "1", "--folds", "f", "--drop", "w"];
    let said = scratch.run(&[&line[..], &["--json", "r.json"]].concat()).code(0).out;
    assert!(said.contains("auc has no value in 4 of 4 folds"), "{said}");
    let result = scratch.json("r.json");
    assert_eq!(result["undefined"]["auc"], 4);
    let text = std::fs::read_to_string(scratch.path("r.json")).expect("read");
    assert!(!text.contains("NaN") && result["summary"].get("auc").is_none());
}

#[test]
fn libsvm_holds_a_kernel_model_of_all_columns_in_any_order() {
    let scratch = Scratch::new("libsvm_all");
    scratch.file("d.csv", table(false));
    let line = |size: &'static str| {
        [
            "select",
            "d.csv",
            "-m",
            "rfe",
            "--kernel",
            "rbf",
            "--scale",
            "none",
            "--drop",
            "f,w",
            "--model",
            "m.txt",
            "--model-format",
            "libsvm",
            "--max-features",
            size,
        ]
    };
    scratch.run(&line("2")).code(0);
    let model = std::fs::read_to_string(scratch.path("m.txt")).expect("a model");
    assert!(model.contains("kernel_type rbf") && model.contains(" 1:") && model.contains(" 2:"), "{model}");
    let said = scratch.run(&line("1")).code(2).err;
    assert!(said.contains("over all columns"), "{said}");
}
