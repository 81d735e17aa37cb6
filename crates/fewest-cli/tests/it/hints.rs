//! What the commands tell of columns that may be wrong, and options for how text is read.

use crate::common::{Noise, Scratch};

/// Rows sorted by class: a counter, a code for missing values, three numbers.
fn table() -> String {
    let mut noise = Noise(4);
    let row = |i: usize| {
        let age = if i % 13 == 5 { -999 } else { 20 + i as i64 * 7 % 50 };
        format!(
            "{},{age},{:.3},{:.3},{:.3},{}\n",
            i + 1,
            noise.next(),
            noise.next(),
            noise.next(),
            usize::from(i >= 30)
        )
    };
    format!("id,age,a,b,c,y\n{}", (0..60).map(row).collect::<String>())
}

#[test]
fn counters_leaks_and_codes_are_told_of_in_check_select_and_study() {
    let scratch = Scratch::new("hints");
    scratch.file("d.csv", table());
    let words =
        ["`id` counts the rows", "--drop id", "id alone tells the classes apart (AUC 1.000)", "--missing-codes -999"];
    let all = |text: &str| words.iter().all(|word| text.contains(word));
    scratch.run(&["check", "d.csv", "--json", "c.json"]).code(0);
    assert!(all(&scratch.json("c.json")["notes"].to_string()));
    let report = scratch.run(&["check", "d.csv"]).code(0).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all(&report), "{report}");
    let out = ["--json", "r.json", "--report", "r.html"];
    for command in [
        &["select", "d.csv", "-m", "rfe", "--max-features", "2"][..],
        &["study", "d.csv", "--max-features", "2", "--folds", "3", "--repeats", "1", "--methods", "info-gain"],
        &["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--cv", "3"],
    ] {
        let said = scratch.run(&[command, &out[..]].concat()).code(0).err;
        assert!(all(&said), "{said}");
        assert!(all(&scratch.json("r.json")["warnings"].to_string()), "{command:?}");
        let page = std::fs::read_to_string(scratch.path("r.html")).expect("a page");
        assert!(page.contains("counts the rows") && page.contains("AUC 1.000"), "{command:?}");
    }
    let quiet = [
        "select",
        "d.csv",
        "-m",
        "rfe",
        "--max-features",
        "2",
        "--drop",
        "id",
        "--missing-codes",
        "-999",
        "--missing",
        "mean",
    ];
    let said = scratch.run(&quiet).code(0).err;
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn proofs_are_checked_on_data_read_in_the_same_way() {
    let scratch = Scratch::new("proof_reading");
    let mut noise = Noise(8);
    let mut number = || format!("\"{:.3}\"", noise.next()).replace('.', ",");
    let row = |i: usize| format!("{},{},{},{}\n", number(), number(), number(), ["no", "yes", "other", ""][i % 4]);
    scratch.file("d.csv", format!("10,20,30,y\n{}", (0..40).map(row).collect::<String>()));
    let reading = ["--decimal", ",", "--classes", "no,yes", "--drop-unlabelled", "--header"];
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--proof", "p.proof", "--json", "r.json"];
    scratch.run(&[&select[..], &reading].concat()).code(0);
    assert_eq!(scratch.json("r.json")["n_samples"], 20);
    let said = scratch.run(&["verify", "p.proof", "d.csv"]).code(0).out;
    assert!(said.contains("VERIFIED"), "{said}");
}

#[test]
fn options_of_reading_are_checked() {
    let scratch = Scratch::new("reading_options");
    scratch.file("d.csv", "a,b,y\n1,2,0\n3,4,1\n2,2,0\n5,4,1\n");
    for (line, words) in [
        ("check d.csv --decimal ;", "must be . or ,"),
        ("check d.csv --thousands x", "must be one of"),
        ("check d.csv --thousands .", "that is the decimal sign"),
        ("check d.csv --header --no-header", "cannot be used with"),
        ("check d.csv --index-limit 5000000000", "from 1 to 4294967295"),
        ("check d.csv --classes 2", "there is no class 2; the classes are 0, 1"),
        ("check d.csv --classes 0", "every row has `y` = 0"),
    ] {
        let said = scratch.run(&line.split(' ').collect::<Vec<_>>()).code(2).err;
        assert!(said.contains(words), "{line}: {said}");
    }
    scratch.file("d.svm", "1 1:1 4294967295:2\n-1 1:2 5000000000:1\n");
    let said = scratch.run(&["check", "d.svm", "--index-limit", "4294967295"]).code(2).err;
    assert!(said.contains("the largest that can be read") && !said.contains("--index-limit"), "{said}");
}

#[test]
fn costs_beyond_what_costs_can_be_are_told_of_the_data() {
    let scratch = Scratch::new("huge");
    let mut noise = Noise(5);
    let row = |i: usize| format!("{:.3}e60,{:.3}e60,{}\n", noise.next() + (i % 2) as f64, noise.next(), i % 2);
    scratch.file("d.csv", format!("a,b,y\n{}", (0..40).map(row).collect::<String>()));
    let select = ["select", "d.csv", "-m", "exact", "--max-features", "1", "--cost", "auto"];
    scratch.run(&select).code(0);
    let said = scratch.run(&[&select[..], &["--scale", "none"]].concat()).code(2).err;
    assert!(said.contains("values of the features are too large") && said.contains("--scale standard"), "{said}");
}
