//! Rules name variables: a text column means all columns of 0 and 1 that it became.

use serde_json::Value;

use crate::common::{Noise, Scratch};

/// A text column of six values that tells the classes apart by three of them, and two numbers.
fn table() -> String {
    let mut noise = Noise(3);
    let row = |i: usize| {
        let value = i % 6;
        let class = usize::from(value >= 3) ^ usize::from(i % 29 == 7);
        format!("{},v{value},{:.3},{:.3}\n", class, noise.next(), noise.next() + 0.3 * class as f64)
    };
    format!("y,smoke,a,b\n{}", (0..120).map(row).collect::<String>())
}

/// What is selected with these options.
fn selected(scratch: &Scratch, options: &[&str]) -> Vec<String> {
    let select = ["select", "d.csv", "-m", "exact", "--json", "r.json"];
    scratch.run(&[&select[..], options].concat()).code(0);
    let names = |list: &Value| {
        list.as_array().expect("a list").iter().map(|n| n.as_str().expect("a name").to_owned()).collect()
    };
    names(&scratch.json("r.json")["selected"])
}

#[test]
fn a_variable_means_all_its_columns() {
    let scratch = Scratch::new("rule_variables");
    scratch.file("d.csv", table());
    let smoke: Vec<String> = (0..6).map(|v| format!("smoke=v{v}")).collect();
    let of = |options: &[&str]| selected(&scratch, options);
    assert_eq!(of(&["--max-features", "6", "--require", "smoke"]), smoke);
    assert!(of(&["--max-features", "3", "--forbid", "smoke"]).iter().all(|name| !name.starts_with("smoke")));
    assert_eq!(of(&["--max-features", "6", "--together", "smoke"]), smoke);
    assert_eq!(of(&["--max-features", "7", "--implies", "smoke=v1:smoke", "--require", "smoke=v1"])[..6], smoke[..]);
    // One variable of three, whatever number of columns it has.
    assert_eq!(of(&["--max-variables", "1"]), smoke);
    assert_eq!(of(&["--max-variables", "1", "--forbid", "smoke"]).len(), 1);
    assert_eq!(of(&["--at-most", "1:smoke,a,b"]), smoke);
    assert_eq!(of(&["--max-features", "7", "--at-least", "2:smoke,a,b", "--forbid", "a"]).len(), 7);
    // Its price is paid once, and one by one where its columns have prices of their own.
    scratch.file("costs.csv", "name,cost\nsmoke,2\na,1\nb,1\n");
    assert_eq!(of(&["--budget", "2", "--feature-costs", "costs.csv"]), smoke);
    assert!(of(&["--budget", "1.5", "--feature-costs", "costs.csv"]).iter().all(|name| !name.starts_with("smoke")));
    // A pattern prices each column that it fits; `*` those that nothing else names.
    scratch.file("rest.csv", "*,1\nsmoke,2\n");
    assert_eq!(of(&["--budget", "2", "--feature-costs", "rest.csv"]), smoke);
    scratch.file("each.csv", "smoke=*,2\n\"/^[ab]$/\",1\n");
    assert_eq!(of(&["--budget", "2", "--feature-costs", "each.csv"]), ["smoke=v3"]);
    scratch.file("both.csv", "smoke,2\na,1\nb,1\nsmoke=v1,1\n");
    let both = ["select", "d.csv", "-m", "exact", "--budget", "2", "--feature-costs", "both.csv"];
    let said = scratch.run(&both).code(2).err;
    assert!(said.contains("\"smoke=v1\" has two cost entries"), "{said}");
    scratch.file("r.toml", "max_variables = 1\nforbid = [\"a\"]\n[[rule]]\nrequire = [\"smoke\"]\n");
    assert_eq!(of(&["--rules", "r.toml"]), smoke);
    scratch.file("r.toml", "budget = 2\n[costs]\nsmoke = 2\n\"*\" = 1\n");
    assert_eq!(of(&["--rules", "r.toml"]), smoke);
    assert_eq!(of(&["--max-features", "6", "--require", "smoke", "--sign", "smoke:+"]).len(), 6);
    // By other methods, and inside folds.
    let rfe = ["select", "d.csv", "-m", "rfe", "--max-variables", "1", "--json", "r.json"];
    scratch.run(&rfe).code(0);
    assert_eq!(scratch.json("r.json")["selected"].as_array().map(Vec::len), Some(6));
    let folds = ["evaluate", "d.csv", "-m", "exact", "--max-variables", "1", "--cv", "3", "--json", "e.json"];
    scratch.run(&folds).code(0);
    assert_eq!(scratch.json("e.json")["frequency"]["smoke=v1"], 1.0);
    for line in ["select d.csv -m exact --max-variables 4", "select d.csv -m exact --max-features 2 --forbid smok"] {
        scratch.run(&line.split(' ').collect::<Vec<_>>()).code(2);
    }
}

#[test]
fn what_can_never_be_chosen_is_said() {
    let scratch = Scratch::new("never_chosen");
    scratch.file("d.csv", table());
    scratch.file("costs.csv", "smoke,9\na,1\nb,1\n");
    for (options, words) in [
        (&["--max-features", "3", "--together", "smoke"][..], "6 features, more than --max-features 3"),
        (&["--max-features", "2", "--together", "a,b", "--together", "b,smoke=v1"], "3 features, more than"),
        (&["--budget", "2", "--feature-costs", "costs.csv"], "they cost 9, more than --budget 2"),
    ] {
        for command in [&["select", "d.csv"][..], &["evaluate", "d.csv", "--cv", "3"]] {
            let line = [command, &["-m", "exact", "--json", "r.json"], options].concat();
            let said = scratch.run(&line).code(0).err;
            assert!(said.contains("never can be") && said.contains(words), "{said}");
            assert!(scratch.json("r.json")["warnings"].to_string().contains(words), "{line:?}");
        }
    }
    let fits = ["select", "d.csv", "-m", "exact", "--max-features", "6", "--together", "smoke"];
    let said = scratch.run(&fits).code(0).err;
    assert!(!said.contains("never can be"), "{said}");
}

#[test]
fn an_archive_keeps_what_was_text() {
    let scratch = Scratch::new("rule_variables_npz");
    // Two values make one column, of which the archive names the other value.
    let two = |line: (usize, &str)| format!("{},{}\n", line.1, ["sex", "m", "f"][line.0.min(1 + line.0 % 2)]);
    scratch.file("d.csv", table().lines().enumerate().map(two).collect::<String>());
    scratch.run(&["convert", "d.csv", "d.npz"]).code(0);
    let of = |data: &str, options: &[&str]| {
        let select = ["select", data, "-m", "exact", "--json", "r.json", "--model", "m.json"];
        scratch.run(&[&select[..], options].concat()).code(0);
        (scratch.json("r.json")["selected"].clone(), scratch.json("m.json")["model"]["levels"].clone())
    };
    for options in [&["--max-variables", "2", "--require", "sex"][..], &["--max-features", "3", "--forbid", "smoke"]] {
        let (there, levels) = of("d.csv", options);
        let mut here = of("d.npz", options);
        here.0.as_array_mut().expect("names").sort_by_key(ToString::to_string);
        let mut sorted = there.clone();
        sorted.as_array_mut().expect("names").sort_by_key(ToString::to_string);
        assert_eq!(here, (sorted, levels));
    }
    let (_, levels) = of("d.npz", &["--max-variables", "2", "--require", "sex"]);
    assert_eq!(levels["sex"], serde_json::json!(["f", "m"]));
    let predicted = ["d.csv", "d.npz"].map(|data| {
        scratch.run(&["predict", "m.json", data, "--out", "p.csv"]).code(0);
        scratch.read("p.csv")
    });
    assert_eq!(predicted[0], predicted[1]);
}
