//! Every result says how its file was read, so that the file can be read again by the result alone.

use std::fmt::Write as _;

use fewest_data::{Dataset, Features, ReadOptions};
use serde_json::Value;

use crate::common::{Noise, Scratch};

/// Options of reading.
const TYPED: [&str; 16] = [
    "--delimiter",
    ";",
    "--decimal",
    ",",
    "--thousands",
    ".",
    "--missing-codes",
    "-9,none",
    "--drop",
    "\"left, out\"",
    "--id",
    "patient",
    "--target",
    "sick",
    "--positive",
    "yes",
];

/// Sixty patients with five measurements, as a spreadsheet of Germany writes them.
fn german() -> String {
    let mut noise = Noise(11);
    let mut text = "patient;a;b;c;d;e;left, out;sick\n".to_owned();
    for i in 0..60 {
        let sick = i % 2;
        let _ = write!(text, "P{i}");
        for j in 0..5 {
            let x = noise.next() + if j < 2 { 0.7 * f64::from(sick) } else { 0.0 };
            let cell = match (i + j) % 29 {
                0 => "-9".to_owned(),
                1 => "1.234,5".to_owned(),
                _ => format!("{x:.3}").replace('.', ","),
            };
            let _ = write!(text, ";{cell}");
        }
        let _ = writeln!(text, ";{i};{}", ["no", "yes"][sick as usize]);
    }
    text
}

fn values(data: &Dataset) -> Vec<f64> {
    let Features::Dense(design) = &data.features else { panic!("a table") };
    design.values().iter().map(|x| if x.is_nan() { -1e300 } else { *x }).collect()
}

/// The place of `reading` in a result.
fn reading(result: &Value) -> ReadOptions {
    // Each size of a path has settings of its own.
    let result = result.get("path").map_or(result, |path| &path[0]);
    let settings = result.get("settings").unwrap_or(result);
    serde_json::from_value(settings["reading"].clone()).expect("how it was read")
}

#[test]
fn a_file_is_read_again_by_each_result_alone() {
    let scratch = Scratch::new("read_again");
    scratch.file("d.csv", german());
    let path = scratch.path("d.csv");
    let path = path.to_str().expect("UTF-8");
    let commands: [&[&str]; 9] = [
        &["select", "-m", "rfe", "--max-features", "2"],
        &["path", "-m", "rfe", "--max-features", "1..2"],
        &["certify", "--features", "a,b", "--node-limit", "1"],
        &["evaluate", "-m", "rfe", "--max-features", "2", "--cv", "3"],
        &["stability", "-m", "rfe", "--max-features", "2", "--pairs", "5"],
        &["knockoffs", "-m", "l1-svm"],
        &["study", "--max-features", "2", "--repeats", "1", "--cv", "3", "--methods", "rfe", "--time-limit", "20s"],
        &["markers", "--max-features", "2", "--time-limit", "20s"],
        &["fit", "--features", "a,b", "--model", "m.json"],
    ];
    let mut first: Option<Dataset> = None;
    let mut check = |result: &Value, command: &str| {
        let options = ReadOptions { missing: true, ..reading(result) };
        let again = fewest_data::read(path, &options).unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(again.names.iter().collect::<Vec<_>>(), ["a", "b", "c", "d", "e"], "{command}");
        let found = first.get_or_insert_with(|| fewest_data::read(path, &options).expect("read before"));
        assert_eq!(values(&again), values(found), "{command}");
        assert_eq!(again.target, found.target, "{command}");
        assert_eq!(again.samples.map(|column| column.values), found.samples.as_ref().map(|c| c.values.clone()));
    };
    for command in commands {
        let asked = [&[command[0], "d.csv", "--missing", "median", "--json", "r.json"], &command[1..], &TYPED].concat();
        let ran = scratch.run(&asked);
        assert!(matches!(ran.code, Some(0 | 3)), "{}: {}", command[0], ran.err);
        check(&scratch.json("r.json"), command[0]);
    }
    // A model says it, too, and a file to predict is read so where nothing else is typed.
    check(&scratch.json("m.json")["model"], "the model");
    let rest = ["predict", "m.json", "d.csv", "--json", "p.json", "--delimiter", ";", "--drop", "\"left, out\""];
    scratch.run(&rest).code(0);
    let said = reading(&scratch.json("p.json"));
    assert_eq!((said.decimal, said.thousands, said.samples.as_deref()), (Some(','), Some('.'), Some("patient")));
    assert_eq!(said.missing_codes, ["-9", "none"]);
}
