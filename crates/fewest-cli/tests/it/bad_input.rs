//! Every bad input of the contract: exit 2, one message that names the things, nothing left behind.

use crate::common::{Scratch, generated};

const GOOD: &str = "a,b,c,y\n1,2,0.5,no\n2,1,0.1,yes\n3,5,0.2,no\n4,3,0.9,yes\n";

/// Runs `fewest select data ...` that must be refused: exit 2, `words` in one message, and no file
/// that was not there.
#[track_caller]
fn refused(test: &str, data: (&str, &str), extra: &[&str], words: &[&str]) {
    let scratch = Scratch::new(test);
    scratch.file(data.0, data.1);
    refused_in(&scratch, data.0, extra, words);
}

#[track_caller]
fn refused_in(scratch: &Scratch, data: &str, extra: &[&str], words: &[&str]) {
    let before = scratch.files();
    let mut arguments = vec!["select", data, "--method", "rfe", "--json", "out.json", "--model", "out.model"];
    if !extra.iter().any(|a| a.starts_with("--max-features")) {
        arguments.extend(["--max-features", "2"]);
    }
    arguments.extend(["--trace", "out.jsonl"]);
    arguments.extend(extra);
    let ran = scratch.run(&arguments).code(2);
    assert_eq!(ran.err.matches("fewest: ").count(), 1, "one message: {}", ran.err);
    assert!(ran.err.lines().last().unwrap().starts_with("fewest: "), "{}", ran.err);
    for word in words {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
    assert!(!ran.err.contains("os error") && !ran.err.contains("Error {"), "{}", ran.err);
    assert_eq!(ran.out, "");
    assert_eq!(scratch.files(), before, "nothing may be left behind");
}

#[test]
fn missing_file() {
    refused_in(&Scratch::new("missing_file"), "absent.csv", &[], &["absent.csv", "no such file"]);
}

#[test]
fn empty_file() {
    refused("empty_file", ("e.csv", ""), &[], &["e.csv", "empty"]);
}

#[test]
fn header_only() {
    refused("header_only", ("h.csv", "a,b,y\n"), &[], &["h.csv", "header", "no row"]);
}

#[test]
fn ragged_row() {
    let data = "a,b,y\n1,2,no\n1,yes\n2,3,no\n";
    refused("ragged_row", ("r.csv", data), &[], &["r.csv", "line 3", "2 cells", "3"]);
}

#[test]
fn cell_that_is_no_number() {
    let data = "a,b,y\n1,2,no\n1,x7,yes\n2,3,no\n4,4,yes\n";
    refused("no_number", ("n.csv", data), &[], &["n.csv", "line 3", "`b`", "`x7`", "--text"]);
}

#[test]
fn nan_and_infinity_are_counted() {
    let data = "a,b,y\n1,2,no\n1,nan,yes\n2,?,no\n3,4,yes\n";
    refused("nan", ("n.csv", data), &[], &["n.csv", "line 3", "`b`", "2 such", "--missing mean"]);
    let data = "a,b,y\n1,2,no\n1,nan,yes\n2,3,no\ninf,4,yes\n";
    refused("inf", ("n.csv", data), &["--missing", "mean"], &["n.csv", "line 5", "`a`", "not finite", "1 such"]);
}

#[test]
fn one_class_only() {
    refused("one_class", ("o.csv", "a,b,y\n1,2,no\n2,1,no\n"), &[], &["o.csv", "`y`", "no", "two classes"]);
}

#[test]
fn duplicate_feature_names() {
    refused("duplicate", ("d.csv", "a,b,a,y\n1,2,3,no\n3,2,1,yes\n"), &[], &["d.csv", "`a`", "1", "3", "rename"]);
}

#[test]
fn svmlight_indices_must_ascend_from_one() {
    let second = |row: &str| format!("+1 1:1 2:3\n{row}\n");
    let unordered = second("-1 3:1 2:1");
    refused("unordered", ("u.svm", &unordered), &[], &["u.svm", "line 2", "index 2", "ascend"]);
    let zero = second("-1 0:1 2:1");
    refused("zero_index", ("z.svm", &zero), &[], &["z.svm", "line 2", "index 0", "from 1"]);
    let repeated = second("-1 2:1 2:1");
    refused("repeated", ("r.svm", &repeated), &[], &["r.svm", "line 2", "index 2", "twice"]);
}

#[test]
fn truncated_gzip() {
    let scratch = Scratch::new("truncated");
    scratch.file("whole.csv", generated(200, 6, &["a", "b"], 1));
    scratch.run(&["convert", "whole.csv", "cut.csv.gz"]).code(0);
    let bytes = std::fs::read(scratch.path("cut.csv.gz")).unwrap();
    scratch.file("cut.csv.gz", &bytes[..bytes.len() / 2]);
    refused_in(&scratch, "cut.csv.gz", &[], &["cut.csv.gz", "cut short"]);
}

#[test]
fn sizes_that_cannot_be() {
    refused("k0", ("g.csv", GOOD), &["--max-features", "0"], &["max-features is 0", "between 1 and", "3"]);
    refused("k4", ("g.csv", GOOD), &["--max-features", "4"], &["max-features is 4", "between 1 and", "3"]);
    refused("kx", ("g.csv", GOOD), &["--max-features", "few"], &["--max-features is few", "integer"]);
    refused("kneg", ("g.csv", GOOD), &["--max-features", "-1"], &["--max-features is -1", "at least 1"]);
}

#[test]
fn costs_that_cannot_be() {
    refused("c_negative", ("g.csv", GOOD), &["--cost", "-1"], &["--cost is -1", "above 0"]);
    refused("c_zero", ("g.csv", GOOD), &["--cost", "0"], &["--cost is 0", "above 0"]);
    refused("c_nan", ("g.csv", GOOD), &["--cost", "nan"], &["--cost is nan", "above 0"]);
    refused("c_huge", ("g.csv", GOOD), &["--cost", "1e308"], &["--cost is 1e308", "from 1e-40 to 1e40"]);
    refused("c_tiny", ("g.csv", GOOD), &["--cost", "1e-300"], &["--cost is 1e-300", "from 1e-40 to 1e40"]);
}

#[test]
fn rules_that_contradict_each_other() {
    let both = &["--require", "a", "--forbid", "a"];
    refused("in_and_out", ("g.csv", GOOD), both, &["a is both required and forbidden"]);
    let chain = &["--require", "a", "--implies", "a:b", "--forbid", "b"];
    refused("chain", ("g.csv", GOOD), chain, &["a", "b", "drop one"]);
    let size = &["--max-features=1", "--require", "a,b"];
    refused("size", ("g.csv", GOOD), size, &["max-features is 1 but 2", "a, b", "at least 2"]);
    let group = &["--at-least", "2:a,b", "--at-most", "1:a,b"];
    refused("group", ("g.csv", GOOD), group, &["a", "b"]);
}

#[test]
fn unknown_feature_in_a_rule() {
    let data = ("g.csv", "mean_area,texture,y\n1,2,no\n2,1,yes\n3,1,no\n1,1,yes\n");
    refused("typo", data, &["--require", "mean_aera"], &["--require", "\"mean_aera\"", "did you mean \"mean_area\"?"]);
    refused("number", data, &["--forbid", "3"], &["--forbid", "\"3\"", "by name"]);
    for (at, option) in ["--implies=texture:none", "--at-most=1:none", "--at-least=1:none", "--together=texture,none"]
        .into_iter()
        .enumerate()
    {
        let name = option.split('=').next().unwrap();
        refused(&format!("unknown{at}"), data, &[option], &[name, "\"none\""]);
    }
}

#[test]
fn rule_notation_is_explained() {
    refused("no_colon", ("g.csv", GOOD), &["--implies", "a"], &["--implies", "\"a\" has no colon", "A:B"]);
    refused("no_count", ("g.csv", GOOD), &["--at-most", "x:a"], &["--at-most", "\"x\"", "N:A,B,C"]);
    refused("empty_name", ("g.csv", GOOD), &["--require", "a,,b"], &["--require", "empty name"]);
    refused("no_costs", ("g.csv", GOOD), &["--budget", "2"], &["--budget is 2", "--feature-costs"]);
}

#[test]
fn rules_file_is_explained() {
    let scratch = Scratch::new("rules_file_bad");
    scratch.file("g.csv", GOOD);
    scratch.file("r.toml", "max_features = 2\nrequired = [\"a\"]\n");
    refused_in(&scratch, "g.csv", &["--rules", "r.toml"], &["r.toml, line 2", "required", "require"]);
    scratch.file("r.toml", "[[rule]]\nat_most = 1\nof = [\"a\", \"zz\"]\n");
    refused_in(&scratch, "g.csv", &["--rules", "r.toml"], &["r.toml: rule 1", "\"zz\""]);
    scratch.file("r.toml", "[[rule]]\nat_most = 1\n");
    refused_in(&scratch, "g.csv", &["--rules", "r.toml"], &["rule 1", "`of`"]);
    refused_in(&scratch, "g.csv", &["--rules", "absent.toml"], &["absent.toml", "no such file"]);
    scratch.file("costs.csv", "name,cost\na,1\nb,x\n");
    let costs = &["--budget", "2", "--feature-costs", "costs.csv"];
    refused_in(&scratch, "g.csv", costs, &["costs.csv, line 3", "\"x\"", "not a number"]);
    scratch.file("costs.csv", "name,cost\na,1\nb,2\n");
    refused_in(&scratch, "g.csv", costs, &["costs.csv", "no cost for c", "an entry \"*\" is for all others"]);
    scratch.file("costs.csv", "a,1\n*,2\n\"/^[ab]$/\",2\n");
    refused_in(&scratch, "g.csv", costs, &["costs.csv", "\"a\" has two cost entries, \"a\" and \"/^[ab]$/\""]);
    scratch.file("costs.csv", "*,1\nz*,2\n");
    refused_in(&scratch, "g.csv", costs, &["costs.csv", "no feature fits the pattern \"z*\""]);
    scratch.file("costs.csv", "a,1\n*,2\n").file("r.toml", "[costs]\n\"*\" = 1\n");
    scratch.file("costs.json", r#"{"a": 1, "*": 2, "a": 3}"#);
    let twice = &["--budget", "2", "--feature-costs", "costs.json"];
    refused_in(&scratch, "g.csv", twice, &["costs.json", "\"a\" has a cost already"]);
    let both = &["--budget", "2", "--feature-costs", "costs.csv", "--rules", "r.toml"];
    refused_in(&scratch, "g.csv", both, &["\"*\" has two cost entries; leave one"]);
    scratch.file("costs.csv", "a,1\nb,-2\nc,0\n");
    refused_in(&scratch, "g.csv", costs, &["cost of b is -2", "0 or more"]);
}

#[test]
fn unwritable_output_is_found_before_the_run() {
    for (test, option) in [("json", "--json"), ("model", "--model"), ("trace", "--trace")] {
        let scratch = Scratch::new(&format!("unwritable_{test}"));
        scratch.file("g.csv", GOOD);
        let rest = ["select", "g.csv", "--method", "rfe", "--max-features", "2", option, "no/such/folder/out"];
        let ran = scratch.run(&rest).code(2);
        for word in [option, "no/such/folder/out", "cannot be written", "no such file or directory"] {
            assert!(ran.err.contains(word), "{word}: {}", ran.err);
        }
        assert_eq!(scratch.files(), ["g.csv"]);
    }
    let scratch = Scratch::new("unwritable_folder");
    scratch.file("g.csv", GOOD);
    let ran = scratch.run(&["convert", "g.csv", "no/such/out.svm"]).code(2);
    assert!(ran.err.contains("no/such/out.svm") && ran.err.contains("cannot be written"), "{}", ran.err);
    let ran = scratch.run(&["check", "g.csv", "--json", "."]).code(2);
    assert!(ran.err.contains("it is a folder"), "{}", ran.err);
}

#[test]
fn more_memory_than_allowed() {
    refused("memory", ("m.csv", &generated(400, 40, &["a", "b"], 3)), &["--memory", "20k"], &["m.csv", "--memory"]);
    refused("memory_text", ("g.csv", GOOD), &["--memory", "lots"], &["--memory", "\"lots\"", "2G"]);
}

#[test]
fn method_and_its_options() {
    let scratch = Scratch::new("method_options");
    scratch.file("g.csv", GOOD);
    for (arguments, words) in [
        (vec!["--method", "fewest", "--max-features", "2"], vec!["no method fewest", "rfe", "info-gain"]),
        (vec!["--method", "info-gian", "--max-features", "2"], vec!["did you mean info-gain"]),
        (vec!["--method", "info-gain", "--max-features", "2", "--step", "2"], vec!["--step", "rfe"]),
        (vec!["--method", "exact", "--max-features", "2", "--kernel", "rbf"], vec!["--kernel", "linear", "fewest fit"]),
        (vec!["--method", "rfe", "--max-features", "2", "--step", "0"], vec!["--step is 0"]),
        (vec!["--method", "rfe", "--max-features", "2", "--step", "1.5"], vec!["--step is 1.5"]),
        (vec!["--method", "rfe", "--max-features", "2", "--step", "2", "--step-of", "original"], vec!["--step-of"]),
        (vec!["--method", "info-gain", "--max-features", "2", "--binning", "1"], vec!["--binning is 1"]),
        (vec!["--method", "rfe"], vec!["--max-features"]),
        (
            vec!["--method", "rfe", "--max-features", "2", "--class-weight", "maybe=2"],
            vec!["no class maybe", "no, yes"],
        ),
        (vec!["--method", "rfe", "--max-features", "2", "--class-weight", "no=-2"], vec!["class no is -2"]),
        (vec!["--method", "rfe", "--max-features", "2", "--bias", "some"], vec!["--bias is some"]),
        (vec!["--method", "rfe", "--max-features", "2", "--tolerance", "2"], vec!["--tolerance is 2"]),
        (vec!["--method", "rfe", "--max-features", "2", "--time-limit", "soon"], vec!["--time-limit", "60s"]),
        (vec!["--method", "rfe", "--max-features", "2", "--threads", "0"], vec!["--threads is 0"]),
        (vec!["--method", "rfe", "--max-features", "2", "--model-format", "libsvm"], vec!["--model FILE"]),
        (vec!["--method", "rfe", "--max-features", "2", "--target", "z"], vec!["`z`", "target"]),
        (vec!["--method", "rfe", "--max-features", "2", "--sample-weights", "z"], vec!["`z`"]),
        (vec!["--method", "rfe", "--max-features", "2", "--json", "-", "--model", "-"], vec!["standard output"]),
        (vec!["--method", "rfe", "--max-features", "2", "--no-such"], vec!["--no-such"]),
    ] {
        let ran = scratch.run(&[vec!["select", "g.csv"], arguments.clone()].concat()).code(2);
        for word in words {
            assert!(ran.err.contains(word), "{arguments:?}: `{word}` is not in: {}", ran.err);
        }
    }
    assert_eq!(scratch.files(), ["g.csv"]);
}

#[test]
fn three_classes_are_too_many_for_mbp() {
    let scratch = Scratch::new("three");
    scratch.file("t.csv", generated(30, 5, &["a", "b", "c"], 5));
    let ran = scratch.run(&["select", "t.csv", "--method", "mbp", "--max-features", "2"]).code(2);
    for word in ["mbp needs two classes", "3", "info-gain"] {
        assert!(ran.err.contains(word), "`{word}` is not in: {}", ran.err);
    }
}

#[test]
fn constant_features_cannot_be_required() {
    let data = ("c.csv", "a,b,k,y\n1,2,7,no\n2,1,7,yes\n3,5,7,no\n4,3,7,yes\n");
    refused("constant_required", data, &["--require", "k"], &["k is required", "one value only"]);
}

#[test]
fn models_that_are_none() {
    let scratch = Scratch::new("no_model");
    scratch.file("g.csv", GOOD).file("m.json", "{\"schema\": 9}").file("t.model", "svm_type c_svc\n");
    for (model, word) in [("absent.json", "cannot be read"), ("m.json", "`schema` is 9"), ("t.model", "not JSON")] {
        let ran = scratch.run(&["predict", model, "g.csv", "--out", "p.csv"]).code(2);
        assert!(ran.err.contains(model) && ran.err.contains(word), "{}", ran.err);
    }
    assert_eq!(scratch.files(), ["g.csv", "m.json", "t.model"]);
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let scratch = Scratch::new("eaten");
    scratch.file("d.csv", generated(40, 6, &["no", "yes"], 3));
    let made = ["select", "d.csv", "-m", "rfe", "--max-features", "2", "--json", "r.json", "--model", "m.json"];
    scratch.run(&made).code(0);
    let read = |name: &str| std::fs::read(scratch.path(name)).unwrap();
    let before = ["d.csv", "m.json", "r.json"].map(read);
    let files = scratch.files();
    for (command, what) in [
        ("select d.csv -m rfe --max-features 2 --json ./d.csv", "the data"),
        ("path d.csv -m rfe --max-features 1,2 --report d.csv", "the data"),
        ("evaluate d.csv -m rfe --max-features 2 --cv 3 --json d.csv", "the data"),
        ("study d.csv --max-features 1,2 --model d.csv", "the data"),
        ("fit d.csv --features f1,f2 --model d.csv", "the data"),
        ("predict m.json d.csv --out d.csv", "the data"),
        ("predict m.json d.csv --out m.json", "the model"),
        ("predict m.json d.csv --out p.csv --json ./m.json", "the model"),
        ("check d.csv --json d.csv", "the data"),
        ("convert d.csv d.csv", "the data"),
        ("report r.json -o r.json", "the result"),
    ] {
        let ran = scratch.run(&command.split(' ').collect::<Vec<_>>()).code(2);
        assert!(ran.err.contains(&format!("that is {what}, and would be written over")), "{command}: {}", ran.err);
    }
    let both = ["predict", "m.json", "d.csv", "--out", "p.csv", "--json", "./p.csv"];
    assert!(scratch.run(&both).code(2).err.contains("--out and --json are both"));
    assert_eq!((["d.csv", "m.json", "r.json"].map(read), scratch.files()), (before, files), "nothing was touched");
}

#[test]
fn what_is_blank_or_weighs_nothing_is_named() {
    let scratch = Scratch::new("blank");
    let row = |i: usize| format!("{},{},{},{}\n", i % 5, ["p", "q", "r"][i % 3], usize::from(i % 3 < 2), "");
    scratch.file("d.csv", format!("a,class of,w,leer\n{}", (0..30).map(row).collect::<String>()));
    for more in [&[][..], &["--drop-unlabelled"]] {
        let said = ["d.csv, column `leer`", "blank throughout", "--target", "--drop leer"];
        refused_in(&scratch, "d.csv", more, &said);
    }
    scratch.file("old.feather", "FEA1....");
    refused_in(&scratch, "old.feather", &[], &["version 1 of feather", "parquet"]);
    let newest = concat!(env!("CARGO_MANIFEST_DIR"), "/../fewest-data/tests/files/newest.h5ad");
    let ran = scratch.run(&["check", newest]).code(2);
    assert!(ran.out.contains("TP53") && ran.err.contains("cell/type (3 values)"), "{} {}", ran.out, ran.err);
}

#[test]
fn costs_and_bounds_are_read_as_spreadsheets_write_them() {
    let scratch = Scratch::new("prices");
    let row = |i: usize| format!("{},{},{}\n", i * 5 % 7, i * 3 % 4, usize::from(i * 5 % 7 + i % 2 > 3));
    scratch.file("d.csv", format!("a,b,y\n{}", (0..40).map(row).collect::<String>()));
    let select = |costs: &str, bounds: &str| {
        scratch.file("c.csv", costs).file("b.csv", bounds);
        let words = "select d.csv -m exact --budget 2 --feature-costs c.csv --weight-bounds b.csv --json r.json";
        scratch.run(&words.split(' ').collect::<Vec<_>>()).code(0);
        let result = scratch.json("r.json");
        (result["selected"].clone(), result["objective"].clone())
    };
    let plain = select("name,cost\na,1.5\nb,0.75\n", "a,,0.25\n");
    assert_eq!(select("Name;Preis\r\na;1,5\r\nb;0,75\r\n", "a;;0,25\r\n"), plain);
    assert_eq!(select("a\t1.5\nb\t0,75\n", "a\t\t0.25\n"), plain);
}
