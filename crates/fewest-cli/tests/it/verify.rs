//! `fewest verify` on proofs that the library wrote: verdicts, faults, exit codes, and data that
//! are read as the proof says.

use std::io::Read;

use fewest::method::exact::{ExactSettings, exact};
use fewest::{Limits, Problem, Rules};
use fewest_data::{ReadOptions, ScaleKind, Scaling};
use fewest_testing::{KeptProofs, packed_proof};
use serde_json::{Value, json};

use crate::common::{Scratch, generated};

/// The proof of the best 2 of 5 features of a csv file, with this in its header's `made`.
fn proof(scratch: &Scratch, file: &str, options: &ReadOptions, scale: ScaleKind, made: &Value) -> Vec<u8> {
    let mut data = fewest_data::read(scratch.path(file).to_str().unwrap(), options).unwrap();
    let target = data.target.take().unwrap();
    Scaling::fit(scale, &data.features).unwrap().apply(&mut data.features).unwrap();
    let labels = target.signs();
    let problem = Problem::new(data.features.as_design(), &labels, None).unwrap();
    let rules = Rules::at_most_features(data.names.len(), 2).unwrap();
    let settings = ExactSettings { solutions: 2, ..ExactSettings::default() };
    let mut files = KeptProofs::default();
    exact(&problem, &rules, &settings, Limits::default(), &mut files).unwrap();
    let bytes = &files.files[0];
    let end = bytes.iter().position(|b| *b == b'\n').unwrap();
    let mut header: Value = serde_json::from_slice(&bytes[..end]).unwrap();
    header["made"] = made.clone();
    packed_proof(&[header.to_string().as_bytes(), &bytes[end..]].concat())
}

#[test]
fn a_proof_is_verified_with_names_numbers_and_json() {
    let scratch = Scratch::new("verify_json");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3));
    let file = proof(&scratch, "d.csv", &ReadOptions::default(), ScaleKind::None, &Value::Null);
    scratch.file("d.proof", file);
    let ran = scratch.run(&["verify", "d.proof", "d.csv"]).code(0);
    for word in [
        " % of the objective\n",
        "selected    2 of 5 features: f",
        "objective   at most ",
        "bound       ",
        "gap         ",
        "all others",
    ] {
        assert!(ran.out.contains(word), "`{word}` is not in: {}", ran.out);
    }
    let claimed = "claimed     the file says of itself (not checked): \"optimal\"\n";
    assert!(ran.out.starts_with("VERIFIED within ") && ran.out.contains(claimed), "{}", ran.out);
    let ran = scratch.run(&["verify", "d.proof", "d.csv", "--json", "-"]).code(0);
    let verdict: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&verdict["verified"], &verdict["reason"], &verdict["schema"]), (&json!(true), &Value::Null, &json!(1)));
    assert_eq!((&verdict["verdict"], &verdict["status"]), (&json!("verified"), &json!("optimal")));
    let number = |key: &str| verdict[key].as_f64().unwrap();
    assert!(number("bound") <= number("objective") && number("gap") <= 1e-4 && number("rest") >= number("bound"));
    assert_eq!(verdict["selected"].as_array().unwrap().len(), 2);
    assert_eq!(verdict["solutions"].as_array().unwrap().len(), 2);
    assert!(verdict["counts"]["points"].as_u64().unwrap() > 0);
}

#[test]
fn data_are_read_as_the_proof_says() {
    let scratch = Scratch::new("verify_made");
    scratch.file("d.csv", generated(40, 6, &["no", "yes"], 3).replace(",y\n", ",outcome\n"));
    let options =
        ReadOptions { target: Some("outcome".to_owned()), drop: vec!["f6".to_owned()], ..ReadOptions::default() };
    let made = json!({
        "method": "exact",
        "settings": { "target": "outcome", "scale": "standard", "class_weight": "none", "format": "csv" },
        "read": { "drop": ["f6"] },
    });
    scratch.file("d.proof", proof(&scratch, "d.csv", &options, ScaleKind::Standard, &made));
    let ran = scratch.run(&["verify", "d.proof", "d.csv"]).code(0);
    assert!(ran.out.starts_with("VERIFIED within "), "{}", ran.out);
    for (options, reason) in [
        (&["--scale", "none"][..], "header: the data's fingerprint is sha256:"),
        (&["--class-weight", "yes=2"], "header: the data's fingerprint is sha256:"),
        (&["--drop", "f1"], "header: the data's fingerprint is sha256:"),
        (&["--drop", "f1,f2"], "header: the data have 40 samples and 4 features, the proof is about 40 and 5"),
    ] {
        let ran = scratch.run(&[&["verify", "d.proof", "d.csv"], options].concat()).code(1);
        assert!(ran.out.starts_with("NOT VERIFIED  ") && ran.out.contains(reason), "{options:?}: {}", ran.out);
    }
}

#[test]
fn what_fails_exits_with_the_code_of_its_kind() {
    let scratch = Scratch::new("verify_faults");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3));
    scratch.file("other.csv", generated(40, 5, &["no", "yes"], 4));
    let file = proof(&scratch, "d.csv", &ReadOptions::default(), ScaleKind::None, &Value::Null);
    scratch.file("cut.proof", &file[..file.len() - 12]).file("d.proof", &file);
    let ran = scratch.run(&["verify", "d.proof", "other.csv", "--json", "v.json"]).code(1);
    assert!(ran.out.starts_with("NOT VERIFIED  header: "), "{}", ran.out);
    let verdict = scratch.json("v.json");
    assert_eq!((&verdict["verified"], verdict.get("objective")), (&json!(false), None));
    assert_eq!(verdict["verdict"], "not_verified");
    assert!(verdict["reason"].as_str().unwrap().contains("fingerprint"));
    let ran = scratch.run(&["verify", "cut.proof", "d.csv"]).code(1);
    assert!(ran.out.starts_with("NOT VERIFIED  record "), "{}", ran.out);
    for (arguments, reason) in [
        (&["none.proof", "d.csv"][..], "none.proof: cannot be read: no such file"),
        (&["d.csv", "d.csv"], "d.csv: not a proof file: "),
        (&["d.proof", "none.csv"], "none.csv"),
        (&["d.proof", "d.csv", "--target", "f1"], "name another --target"),
        (&["d.proof", "d.csv", "--json", "d.csv"], "that is the data, and would be written over"),
    ] {
        let ran = scratch.run(&[&["verify"], arguments].concat()).code(2);
        assert!(ran.err.contains(reason), "{arguments:?}: {}", ran.err);
    }
}

/// A file with the header of a proof and this body.
fn with_body(file: &[u8], body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    let end = bytes.iter().position(|b| *b == b'\n').unwrap();
    packed_proof(&[&bytes[..=end], body].concat())
}

/// The last record: no bound, and this status.
fn end(status: &str) -> Vec<u8> {
    [&[6][..], &f64::NEG_INFINITY.to_le_bytes(), &[status.len() as u8], status.as_bytes()].concat()
}

#[test]
fn the_first_words_say_what_is_proven() {
    let scratch = Scratch::new("verify_strength");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3));
    let file = proof(&scratch, "d.csv", &ReadOptions::default(), ScaleKind::None, &json!({ "method": "optimal!" }));
    // The subset of no feature at b = 0 costs C n = 40.
    let mut subset = vec![5, 0];
    for x in [40.0, f64::NEG_INFINITY] {
        subset.extend(x.to_le_bytes());
    }
    subset.push(0);
    subset.extend(0.0f64.to_le_bytes());
    let bodies = [end("optimal"), [subset, end("optimal")].concat()];
    let words = [
        ("nothing", "VERIFIED nothing: no subset is listed and no bound is proven\n"),
        ("objective_only", "VERIFIED objective only: nothing is proven of other subsets\n"),
    ];
    for (body, (word, said)) in bodies.iter().zip(words) {
        scratch.file("d.proof", with_body(&file, body));
        let ran = scratch.run(&["verify", "d.proof", "d.csv", "--json", "v.json"]).code(1);
        assert!(ran.out.starts_with(said) && ran.out.contains("  none\n"), "{}", ran.out);
        assert!(!ran.out.contains("optimal!"), "{}", ran.out);
        let verdict = scratch.json("v.json");
        assert_eq!((&verdict["verdict"], &verdict["verified"]), (&json!(word), &json!(false)));
        assert!(said.ends_with(&format!("{}\n", verdict["reason"].as_str().unwrap())));
        let ran = scratch.run(&["verify", "d.proof", "d.csv", "--allow-unproven"]).code(0);
        assert!(ran.out.starts_with(said), "{}", ran.out);
    }
    // A bound of 0, by a point of nothing.
    let closed = [2, 0, 1, 0, 0, 0, 0, 0];
    let ended = [&[6][..], &0.0f64.to_le_bytes(), &[7], b"optimal"].concat();
    let mut subset = vec![5, 0];
    for x in [40.0, 0.0] {
        subset.extend(f64::to_le_bytes(x));
    }
    subset.push(0);
    subset.extend(0.0f64.to_le_bytes());
    scratch.file("d.proof", with_body(&file, &[&closed[..], &subset, &ended].concat()));
    let out = scratch.run(&["verify", "d.proof", "d.csv"]).code(1).out;
    let open = "VERIFIED objective only: the bound leaves 100.0 % of the gain and 100.0 % of the objective open";
    assert!(out.starts_with(open), "{out}");
    let out = scratch.run(&["verify", "d.proof", "d.csv", "--gap", "0.5"]).code(1).out;
    assert!(out.starts_with("NOT VERIFIED  the gap proven is "), "{out}");
    for status in ["", "optimal, gap 1e-9: proven by the checker", "Optimal"] {
        scratch.file("d.proof", with_body(&file, &end(status)));
        let ran = scratch.run(&["verify", "d.proof", "d.csv", "--allow-unproven"]).code(1);
        assert!(ran.out.starts_with("NOT VERIFIED  record 1 (end): its status is none of optimal, "), "{}", ran.out);
    }
}

#[test]
fn a_check_that_takes_long_is_stopped() {
    let scratch = Scratch::new("verify_limits");
    scratch.file("d.csv", generated(40, 5, &["no", "yes"], 3));
    let file = proof(&scratch, "d.csv", &ReadOptions::default(), ScaleKind::None, &Value::Null);
    // The first feature is fixed by a point of zeros, and then again and again.
    let first = [3, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0];
    let body = [&first[..], &[3, 0, 0, 1, 0, 0].repeat(4_000_000)].concat();
    scratch.file("d.proof", with_body(&file, &body));
    let ran = scratch.run(&["verify", "d.proof", "d.csv", "--json", "v.json"]).code(3);
    assert!(ran.out.starts_with("NOT VERIFIED  record ") && ran.out.contains("give --time-limit"), "{}", ran.out);
    let verdict = scratch.json("v.json");
    assert_eq!((&verdict["verdict"], &verdict["verified"]), (&json!("stopped"), &json!(false)));
    let ran = scratch.run(&["verify", "d.proof", "d.csv", "--time-limit", "300ms"]).code(3);
    assert!(ran.out.starts_with("NOT VERIFIED  stopped before the end of the file"), "{}", ran.out);
    assert!(ran.err.contains("stopped at the time limit"), "{}", ran.err);
}
