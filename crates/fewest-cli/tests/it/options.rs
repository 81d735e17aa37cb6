//! Which options a command takes with a method, what is refused and in which words, and what is
//! never done to files.

use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// A folder with 40 samples and 6 features.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(40, 6, &["no", "yes"], 4));
    scratch
}

/// Runs a command that must be refused with these words, leaving every file as it was.
#[track_caller]
fn refused(scratch: &Scratch, arguments: &[&str], words: &[&str]) {
    let before: Vec<(String, Vec<u8>)> =
        scratch.files().into_iter().map(|name| (name.clone(), std::fs::read(scratch.path(&name)).unwrap())).collect();
    let ran = scratch.run(arguments).code(2);
    for word in words {
        assert!(ran.err.contains(word), "{arguments:?}: `{word}` is not in: {}", ran.err);
    }
    let after = scratch.files().into_iter().map(|name| (name.clone(), std::fs::read(scratch.path(&name)).unwrap()));
    assert_eq!(before, after.collect::<Vec<_>>(), "{arguments:?}: no file may change");
}

#[test]
fn help_shows_the_options_of_the_method_and_no_others() {
    let scratch = scratch("options_help");
    let common = scratch.run(&["select", "--help"]).code(0).out;
    assert!(common.contains("--max-features") && common.contains("fewest select --method exact --help"), "{common}");
    assert!(!common.contains("--penalty <") && !common.contains("--candidates <"), "{common}");
    let exact = scratch.run(&["select", "--method", "exact", "--help"]).code(0).out;
    for option in ["--max-features <", "--penalty <", "--solutions <", "--gap <", "--node-limit <", "--cost <"] {
        assert!(exact.contains(option), "{option}: {exact}");
    }
    assert!(!exact.contains("--candidates <") && !exact.contains("--certify["), "{exact}");
    assert!(exact.contains("Find a subset; print a table"), "the command keeps its own text: {exact}");
    let evaluate = scratch.run(&["evaluate", "-m", "rfe", "--help"]).code(0).out;
    assert!(evaluate.contains("--step <") && !evaluate.contains("--certify["), "{evaluate}");
    // The same source.
    let methods = scratch.run(&["methods", "eb-rfe"]).code(0).out;
    assert!(methods.contains("--candidates K") && methods.contains("[default: 3]"), "{methods}");
    scratch.run(&["methods", "--json", "m.json"]).code(0);
    let list = scratch.json("m.json")["methods"].as_array().unwrap().clone();
    assert!(list.iter().all(|m| m["options"].as_array().unwrap().iter().all(|o| o["meaning"] != "")), "{list:?}");
    let tamura = list.iter().find(|m| m["name"] == "kta").unwrap()["paper"].as_str().unwrap();
    assert!(tamura.starts_with("R. Tamura"), "{tamura}");
}

#[test]
fn the_method_is_found_wherever_it_stands() {
    let scratch = scratch("options_method");
    for method in [
        &["-m", "rfe"][..],
        &["-mrfe"],
        &["--method=rfe"],
        &["--method", "rfe"],
        &["-qm", "rfe"],
        &["--threads", "1", "-m", "rfe"],
    ] {
        scratch.run(&[&["select"], method, &["d.csv", "--max-features", "2", "--step", "half"]].concat()).code(0);
        scratch.run(&[&["select", "d.csv", "--step", "half", "--max-features", "2"], method].concat()).code(0);
    }
    scratch.run(&["--threads", "1", "select", "d.csv", "-m", "rfe", "--max-features", "2", "--step", "2"]).code(0);
    refused(
        &scratch,
        &["select", "d.csv", "--max-features", "2", "--step", "2"],
        &["--method METHOD", "fewest methods"],
    );
    refused(&scratch, &["select", "d.csv", "-m", "ref", "--max-features", "2"], &["no method ref", "did you mean rfe"]);
}

#[test]
fn an_option_that_a_method_does_not_use_is_refused() {
    let scratch = scratch("options_foreign");
    let select = |method: &'static str| ["select", "d.csv", "-m", method, "--max-features", "2"];
    for (method, extra, words) in [
        ("rfe", &["--candidates", "2"][..], &["--candidates is an option of eb-rfe, not of rfe; leave it out"][..]),
        ("exact", &["--subset-size", "2"], &["--subset-size is an option of fgm", "not of exact"]),
        ("eb-rfe", &["--cost", "2"], &["--cost is an option of", "not of eb-rfe"]),
        ("rfe", &["--node-limit", "5"], &["--node-limit is an option of", "or add --certify"]),
        ("exact", &["--certify"], &["--certify searches for the best subset, but exact does that itself"]),
        ("rfe", &["--loss", "huber"], &["--loss is huber, but must be hinge or squared-hinge"]),
        ("rfe", &["--max-cuts", "5"], if cfg!(feature = "highs") { &["--max-cuts is an option of gbd"] } else { &[] }),
    ] {
        refused(&scratch, &[&select(method)[..], extra].concat(), words);
    }
    #[cfg(feature = "highs")]
    for extra in [["--cost", "5"], ["--class-weight", "no=2"], ["--bias", "none"], ["--loss", "squared-hinge"]] {
        let words = [&format!("{} is an option of", extra[0]), "not of fsv", "or add --certify"];
        refused(&scratch, &[&select("fsv")[..], &extra].concat(), &words);
        let certified = [&select("fsv")[..], &extra, &["--certify=5s", "--json", "c.json"]].concat();
        scratch.run(&certified).code(0);
        assert!(scratch.json("c.json")["certificate"]["objective"].is_number());
        std::fs::remove_file(scratch.path("c.json")).unwrap();
    }
}

#[test]
fn a_second_method_runs_with_the_options_that_it_has() {
    let scratch = scratch("options_against");
    let base = ["evaluate", "d.csv", "--max-features", "2", "--cv", "3", "--json", "e.json"];
    let against = ["-m", "rfe", "--step", "2", "--cost", "5", "--kernel", "rbf", "--against", "info-gain"];
    scratch.run(&[&base[..], &against].concat()).code(0);
    let folds = scratch.json("e.json")["against"]["folds"].as_array().unwrap().clone();
    assert!(folds.iter().all(|fold| fold["cost"] == 5.0 && fold["gamma"].is_null()), "{folds:?}");
    refused(&scratch, &[&base[..], &["-m", "exact", "--tune", "gamma=1,2"]].concat(), &["--gamma is an option of"]);
    refused(
        &scratch,
        &[&base[..], &["-m", "rfe", "--cost", "4", "--tune", "C=1,2"]].concat(),
        &["--cost is 4, but --tune chooses it"],
    );
    refused(&scratch, &[&base[..], &["-m", "rfe", "--tune", "C=1,x"]].concat(), &["--tune is C=1,x", "`x`"]);
}

#[test]
fn inner_folds_are_those_of_inner_cv() {
    let scratch = Scratch::new("options_inner");
    let text = generated(40, 4, &["no", "yes"], 6);
    let line =
        |(i, line): (usize, &str)| if i == 0 { format!("fold,{line}\n") } else { format!("p{},{line}\n", i / 2 % 4) };
    scratch.file("d.csv", text.lines().enumerate().map(line).collect::<String>());
    let evaluate = ["evaluate", "d.csv", "-m", "rfe", "--costs", "0.01,1", "--max-features", "2", "--folds", "fold"];
    scratch.run(&[&evaluate[..], &["--inner-cv", "2", "--json", "e.json"]].concat()).code(0);
    assert_eq!(scratch.json("e.json")["folds"].as_array().unwrap().len(), 4);
    refused(&scratch, &[&evaluate[..], &["--inner-cv", "35"]].concat(), &["--cv is 35, but there are 30 samples"]);
    let blank = scratch.read("d.csv").replacen("p1,", " ,", 1);
    scratch.file("b.csv", blank);
    refused(
        &scratch,
        &["evaluate", "b.csv", "-m", "rfe", "--max-features", "2", "--folds", "fold"],
        &["b.csv, data row 2, column `fold`: the cell is blank"],
    );
}

#[test]
fn a_time_limit_is_for_the_whole_evaluation() {
    let scratch = Scratch::new("options_time");
    scratch.file("d.csv", generated(200, 60, &["no", "yes"], 5));
    // Alone, each selection would take its whole limit.
    let evaluate = ["evaluate", "d.csv", "-m", "exact", "--max-features", "20", "--cost", "100", "--threads", "1"];
    let total = |extra: &[&str]| {
        scratch.run(&[&evaluate[..], &["--cv", "8", "--json", "e.json"], extra].concat()).code(3);
        let folds = scratch.json("e.json")["folds"].as_array().unwrap().clone();
        assert_eq!(folds.len(), 8);
        assert!(folds.iter().all(|fold| fold["status"] == "time_limit"), "{folds:?}");
        folds.iter().map(|fold| fold["seconds"].as_f64().unwrap()).sum::<f64>()
    };
    let shared = total(&["--time-limit", "4s"]);
    assert!(shared < 16.0, "{shared} s of folds in a command of 4 s");
    let each = total(&["--selection-time-limit", "1s"]);
    assert!(each > 6.0, "{each} s in 8 folds of 1 s each");
}

#[test]
fn files_are_never_written_over_each_other() {
    let scratch = scratch("options_files");
    scratch.file("costs.csv", "f1,1\nf2,1\nf3,1\nf4,1\nf5,1\nf6,1\n");
    std::fs::hard_link(scratch.path("d.csv"), scratch.path("twin.csv")).unwrap();
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "2"];
    for (extra, words) in [
        (&["--json", "d.csv"][..], &["--json", "that is the data"][..]),
        (&["--json", "./d.csv"], &["that is the data"]),
        (&["--trace", "twin.csv"], &["--trace", "that is the data"]),
        (
            &["--budget", "2", "--feature-costs", "costs.csv", "--model", "costs.csv"],
            &["that is the file of --feature-costs"],
        ),
        (&["--json", "x", "--model", "x"], &["--json and --model are both", "two files"]),
        (&["--json", "x", "--report", "./x"], &["--json and --report are both"]),
    ] {
        refused(&scratch, &[&select[..], extra].concat(), words);
    }
    let evaluate = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "2", "--json", "d.csv"];
    refused(&scratch, &evaluate, &["that is the data"]);
    refused(&scratch, &["fit", "d.csv", "--features", "f1", "--model", "d.csv"], &["that is the data"]);
}

#[test]
fn what_is_given_twice_is_refused() {
    let scratch = scratch("options_twice");
    scratch.file("r.toml", "max_features = 3\nbudget = 4\n[costs]\nf1 = 1\nf2 = 1\nf3 = 1\nf4 = 1\nf5 = 1\nf6 = 1\n");
    let select = ["select", "d.csv", "-m", "rfe"];
    for (extra, words) in [
        (
            &["--rules", "r.toml", "--max-features", "2"][..],
            &["--max-features is given", "r.toml has max_features"][..],
        ),
        (&["--rules", "r.toml", "--budget", "2"], &["--budget is given", "r.toml has budget"]),
        (
            &["--max-features", "2", "--class-weight", "no=2,no=3"],
            &["--class-weight is no=2,no=3: class no has two weights"],
        ),
    ] {
        refused(&scratch, &[&select[..], extra].concat(), words);
    }
    scratch.run(&[&select[..], &["--rules", "r.toml"]].concat()).code(0);
}

#[test]
fn settings_hold_what_was_asked_and_the_data_rule_out_a_count() {
    let scratch = Scratch::new("options_ruled_out");
    let text = generated(30, 4, &["no", "yes"], 7);
    let names: Vec<String> = (0..8).map(|j| format!("k{j}")).collect();
    let line = |(i, line): (usize, &str)| {
        let flat = if i == 0 { names.join(",") } else { ["7"; 8].join(",") };
        format!("{flat},{line}\n")
    };
    scratch.file("d.csv", text.lines().enumerate().map(line).collect::<String>());
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "2", "--forbid", "f1", "--json", "r.json"];
    scratch.run(&select).code(0);
    let result = scratch.json("r.json");
    assert_eq!(result["settings"]["forbid"], json!(["f1"]));
    let constant = &result["ruled_out"]["constant"];
    assert_eq!((&constant["count"], constant["names"].as_array().unwrap().len()), (&8.into(), 5));
    let warning = result["warnings"].to_string();
    assert!(warning.contains("8 in all") && warning.matches('k').count() == 5, "{warning}");
}

#[test]
fn names_cannot_act_on_the_terminal() {
    let scratch = scratch("options_escapes");
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "2"];
    for extra in [["--require", "\u{1b}[31mred"], ["--class-weight", "\u{1b}]0;x\u{7}=2"], ["--target", "\u{1b}[2J"]] {
        let ran = scratch.run(&[&select[..], &extra].concat()).code(2);
        assert!(!ran.err.contains('\u{1b}') && ran.err.contains('\u{241b}'), "{:?}", ran.err);
    }
}

#[test]
fn a_mark_before_the_text_is_no_part_of_it() {
    let scratch = scratch("options_mark");
    scratch.file("p.csv", "\u{feff}f1,1\nf2,1\nf3,1\nf4,1\nf5,1\nf6,1\n");
    scratch.run(&["select", "d.csv", "-m", "exact", "--penalty", "p.csv", "--json", "r.json"]).code(0);
    assert_eq!(scratch.json("r.json")["settings"]["penalty"], 1.0);
}

#[test]
fn a_file_without_features_fails_its_check() {
    let scratch = Scratch::new("options_no_features");
    scratch.file("d.csv", "y\nno\nyes\nno\n");
    let ran = scratch.run(&["check", "d.csv"]).code(2);
    assert!(ran.err.contains("d.csv") && ran.err.contains("feature"), "{}", ran.err);
}

#[test]
fn the_command_of_a_result_is_what_was_typed() {
    let scratch = scratch("options_command_line");
    let (data, out) = (scratch.path("d.csv"), scratch.path("r.json"));
    // As from Python: the arguments of the process are others.
    let words =
        ["/usr/bin/fewest", "select", data.to_str().unwrap(), "-q", "-m", "rfe", "--max-features", "2", "--json"];
    let words = words.into_iter().chain([out.to_str().unwrap()]).map(std::ffi::OsString::from);
    assert_eq!(fewest_cli::run_with(words), 0);
    let command = scratch.json("r.json")["command"].as_str().unwrap().to_owned();
    assert!(command.starts_with("fewest select ") && command.contains("-m rfe --max-features 2 --json "), "{command}");
}

#[test]
fn the_weights_that_a_model_shows_are_those_it_uses() {
    let scratch = scratch("options_model");
    scratch.run(&["fit", "d.csv", "--features", "f1,f2", "--model", "m.json"]).code(0);
    let model = scratch.json("m.json");
    for change in ["weights", "intercept"] {
        let mut other = model.clone();
        let place =
            if change == "weights" { &mut other["model"]["weights"]["f2"] } else { &mut other["model"][change] };
        *place = json!(place.as_f64().unwrap() + 1.0);
        scratch.file("o.json", other.to_string());
        let ran = scratch.run(&["predict", "o.json", "d.csv"]).code(2);
        assert!(ran.err.contains("o.json") && ran.err.contains("not that of its machine"), "{}", ran.err);
    }
    scratch.run(&["predict", "m.json", "d.csv"]).code(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_fault_of_the_input() {
    let scratch = scratch("options_full");
    let ran = scratch.run(&["select", "d.csv", "-m", "rfe", "--max-features", "2", "--json", "/dev/full"]).code(1);
    assert!(ran.err.contains("/dev/full"), "{}", ran.err);
    let ran = scratch.run(&["convert", "d.csv", "/dev/full", "--out-format", "csv"]).code(1);
    assert!(ran.err.contains("/dev/full"), "{}", ran.err);
}

#[test]
fn evaluate_chooses_inside_the_folds_whether_told_or_not() {
    let scratch = scratch("options_nested");
    let evaluate =
        ["evaluate", "d.csv", "-m", "rfe", "--max-features", "1..2", "--cv", "3", "--inner-cv", "2", "--json"];
    let report = |extra: &[&str]| -> Value {
        scratch.run(&[&evaluate[..], &["e.json"], extra].concat()).code(0);
        scratch.json("e.json")["summary"].clone()
    };
    assert_eq!(report(&[]), report(&["--nested"]));
}

/// Texts of the library name settings as fields, in backticks, and each door has its own words for
/// them: no option of the command stands in its sources.
#[test]
fn the_library_speaks_no_command_line() {
    fn look(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                look(&entry, found);
            } else if entry.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&entry).unwrap();
                let options = |line: &&str| line.split("--").skip(1).any(|end| end.starts_with(char::is_lowercase));
                found.extend(text.lines().filter(options).map(|line| format!("{}: {line}", entry.display())));
            }
        }
    }
    let mut found = Vec::new();
    for library in ["fewest", "fewest-eval", "fewest-papers", "fewest-svm"] {
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(library).join("src");
        if sources.is_dir() {
            look(&sources, &mut found);
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
