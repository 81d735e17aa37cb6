//! Wrong files of every kind that the command writes and reads again: models, results, rules,
//! states and proofs. They are changed part by part, in their own form, so that the changes reach
//! the code behind the first checks; check sums and compression are made right again.
//!
//! What is proved of each case: the command ends by itself within [`SECONDS`] and [`KIBIBYTES`] of
//! address space, without a panic, with the exit code of a result or of a refusal.
//! `cargo test` runs a few cases of each; `FEWEST_FUZZ_SECONDS=600 cargo test --release -p
//! fewest-cli --test it -- fuzz_files::model` one kind that long. A case that fails stays in the
//! scratch folder, whose path the failure names; it then belongs into `tests/corpus`, whose files
//! are read by every run.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{Ran, Scratch, generated};

/// Cases of each kind in `cargo test`.
const CASES: usize = 40;
/// A case may take no longer.
const SECONDS: f64 = 10.0;
/// And no more address space.
const KIBIBYTES: u64 = 2 << 20;

/// Random choices; the same seed makes the same cases.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// A value that does not belong there.
fn strange(dice: &mut Dice) -> Value {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1e308),
        json!(-1e-320),
        json!(u64::MAX),
        json!(1u64 << 53),
        json!(0.5),
        json!(""),
        json!("x\u{1b}[31m\u{0}\u{202e}"),
        json!("linear"),
        json!([]),
        json!({}),
        json!([[], [[]], {}]),
        json!([1, 2, 3, 4, 5, 6, 7]),
        deep,
    ];
    dice.pick(&values).clone()
}

/// Changes one place in a value: replaces, drops, doubles or swaps what is there.
fn change(value: &mut Value, dice: &mut Dice) {
    let inside = match value {
        Value::Array(list) => list.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    // Down, four times out of five, where there is a down.
    if inside > 0 && dice.below(5) > 0 {
        let at = dice.below(inside);
        return match value {
            Value::Array(list) => change(&mut list[at], dice),
            Value::Object(map) => change(map.values_mut().nth(at).expect("counted"), dice),
            _ => unreachable!("nothing is inside"),
        };
    }
    match value {
        Value::Array(list) if !list.is_empty() && dice.below(2) == 0 => match dice.below(3) {
            0 => drop(list.remove(dice.below(list.len()))),
            1 => list.push(list[dice.below(list.len())].clone()),
            _ => list.reverse(),
        },
        Value::Object(map) if !map.is_empty() && dice.below(2) == 0 => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let (key, other) = (dice.pick(&keys).clone(), dice.pick(&keys).clone());
            match dice.below(3) {
                0 => drop(map.remove(&key)),
                1 => drop(map.insert("unknown".to_owned(), json!(1))),
                _ => drop(map.insert(key, map[&other].clone())),
            }
        }
        Value::Number(number) if dice.below(2) == 0 => {
            let x = number.as_f64().unwrap_or(0.0);
            *value = [json!(-x), json!(x + 1.0), json!((x as i64).saturating_add(1)), json!(x * 1e300)][dice.below(4)]
                .clone();
        }
        _ => *value = strange(dice),
    }
}

/// The text of a JSON document with some places changed, in seldom cases also its bytes.
fn json_text(good: &Value, dice: &mut Dice) -> Vec<u8> {
    let mut value = good.clone();
    (0..=dice.below(3)).for_each(|_| change(&mut value, dice));
    let mut bytes = serde_json::to_vec(&value).expect("JSON");
    if dice.below(8) == 0 {
        damage(&mut bytes, dice);
    }
    bytes
}

/// Changes some bytes.
fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        let at = dice.below(bytes.len().max(1)).min(bytes.len().saturating_sub(1));
        match (bytes.is_empty(), dice.below(5)) {
            (true, _) | (false, 0) => bytes.insert(at, dice.below(256) as u8),
            (_, 1) => drop(bytes.remove(at)),
            (_, 2) => bytes.truncate(at),
            (_, 3) => bytes[at] ^= 1 << dice.below(8),
            _ => bytes[at] = *dice.pick(&[0, 0xff, 0x80, 0x7f]),
        }
    }
}

/// FNV-1a, 64 bits: the check sum of a state.
fn sum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}

/// A kind of file.
struct Kind {
    name: &'static str,
    /// What the case is called in the scratch folder.
    file: &'static str,
    /// The command that reads it.
    command: &'static [&'static str],
    /// Exit codes that a case may end with.
    codes: &'static [i32],
}

impl Kind {
    /// Reads one case.
    fn check(&self, scratch: &Scratch, bytes: &[u8]) -> Result<bool, String> {
        scratch.file(self.file, bytes);
        let mut command = Command::new("bash");
        let limits = format!("ulimit -v {KIBIBYTES}; exec timeout -s KILL {SECONDS} \"$@\"");
        command.args(["-c", &limits, "bash", env!("CARGO_BIN_EXE_fewest")]).args(self.command);
        command.env("RAYON_NUM_THREADS", "1").current_dir(scratch.path("."));
        let ran: Ran = command.output().expect("bash can be started").into();
        let code = ran.code.filter(|code| self.codes.contains(code));
        if code.is_none() || ran.err.contains("panicked") || ran.err.len() > 10_000 {
            let place = scratch.path(self.file);
            return Err(format!("{}: {:?} for {}\n{}", self.name, ran.code, place.display(), ran.err));
        }
        Ok(code == Some(0))
    }

    /// The kept cases, then new ones made from `seed` on: a few, or as many as the seconds allow.
    fn fuzz(&self, scratch: &Scratch, make: impl Fn(&mut Dice) -> Vec<u8>) {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(self.name);
        for entry in std::fs::read_dir(&kept).into_iter().flatten() {
            let bytes = std::fs::read(entry.expect("an entry").path()).expect("a kept case");
            self.check(scratch, &bytes).expect("a kept case");
        }
        let seconds = std::env::var("FEWEST_FUZZ_SECONDS").ok().map(|s| s.parse().expect("seconds"));
        let (end, from) = match seconds {
            None => (None, 0),
            Some(seconds) => {
                let now = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a clock").as_secs();
                (Some(Instant::now() + Duration::from_secs(seconds)), now << 24)
            }
        };
        let (mut cases, mut read) = (0, 0);
        while end.map_or(cases < CASES, |end| Instant::now() < end) {
            let bytes = make(&mut Dice(from + cases as u64));
            read += usize::from(self.check(scratch, &bytes).unwrap_or_else(|fault| panic!("{fault}")));
            cases += 1;
        }
        if end.is_some() {
            report(self.name, cases, read);
        }
    }
}

#[allow(clippy::print_stderr, reason = "the count of cases is the result of a long run")]
fn report(name: &str, cases: usize, read: usize) {
    eprintln!("{name}: {cases} cases, {read} of them read without an objection");
}

/// A scratch folder with data, and what a command on them wrote.
fn prepared(name: &str, command: &[&str]) -> Scratch {
    let scratch = Scratch::new(name);
    scratch.file("d.csv", generated(40, 6, &["no", "yes"], 8));
    let ran = scratch.run(command);
    assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.err);
    scratch
}

#[test]
fn models() {
    let kind = Kind {
        name: "model",
        file: "case.json",
        command: &["predict", "case.json", "d.csv", "--out", "out.csv"],
        codes: &[0, 2],
    };
    let fit = ["fit", "d.csv", "--features", "f1,f2,f4", "--kernel", "rbf", "--model", "rbf.json"];
    let scratch = prepared("fuzz_model", &fit);
    scratch.run(&["fit", "d.csv", "--features", "f1,f3", "--model", "linear.json"]).code(0);
    let good = [scratch.json("rbf.json"), scratch.json("linear.json")];
    kind.fuzz(&scratch, |dice| {
        let model = dice.pick(&good).clone();
        json_text(&model, dice)
    });
}

#[test]
fn results() {
    let select = ["select", "d.csv", "-m", "rfe", "--max-features", "3", "--json", "good.json"];
    let scratch = prepared("fuzz_result", &select);
    let evaluate = ["evaluate", "d.csv", "-m", "rfe", "--max-features", "3", "--cv", "2", "--json", "folds.json"];
    scratch.run(&evaluate).code(0);
    let path = ["path", "d.csv", "-m", "exact", "--max-features", "1..3", "--json", "path.json"];
    scratch.run(&path).code(0);
    let good = [scratch.json("good.json"), scratch.json("folds.json"), scratch.json("path.json")];
    let make = |dice: &mut Dice| {
        let result = dice.pick(&good).clone();
        json_text(&result, dice)
    };
    let page: &[&str] = &["report", "case.json", "-o", "out.html"];
    Kind { name: "result", file: "case.json", command: page, codes: &[0, 2] }.fuzz(&scratch, make);
    let fit: &[&str] = &["fit", "d.csv", "--result", "case.json", "--model", "out.json"];
    Kind { name: "result_fit", file: "case.json", command: fit, codes: &[0, 2] }.fuzz(&scratch, make);
}

/// Keys of a rules file, and values that some of them may have.
const KEYS: [&str; 12] = [
    "max_features",
    "budget",
    "require",
    "forbid",
    "implies",
    "together",
    "at_most",
    "at_least",
    "of",
    "count",
    "costs",
    "unknown",
];
const VALUES: [&str; 22] = [
    "1",
    "3",
    "-1",
    "0",
    "99999999999999999999",
    "1e400",
    "nan",
    "\"f1\"",
    "[]",
    "[\"f1\", \"f2\"]",
    "[\"f1\"]",
    "[\"f9\"]",
    "[[\"f1\", \"f2\"]]",
    "[[\"f1\"], [\"f2\", \"f3\"]]",
    "{ count = 1, of = [\"f1\", \"f2\"] }",
    "[{ count = 2, of = [\"f1\", \"f2\", \"f3\"] }]",
    "{ f1 = 1, f2 = 2.5 }",
    "{}",
    "{ f1 = -1 }",
    "true",
    "\"\\u001b[2J\"",
    "1979-05-27",
];

#[test]
fn rules() {
    let kind = Kind {
        name: "rules",
        file: "case.toml",
        command: &["select", "d.csv", "-m", "info-gain", "--rules", "case.toml"],
        codes: &[0, 2, 4],
    };
    let scratch = prepared("fuzz_rules", &["check", "d.csv"]);
    kind.fuzz(&scratch, |dice| {
        let mut text = String::new();
        for _ in 0..dice.below(5) {
            if dice.below(3) == 0 {
                let parts = ["[[rule]]\n", "[costs]\n", "[rule]\n", "[[at_most]]\n", "[a.b]\n", "# f1\n"];
                text += dice.pick::<&str>(&parts);
            }
            text.extend([*dice.pick(&KEYS), " = ", *dice.pick(&VALUES), "\n"]);
        }
        if dice.below(2) == 0 {
            text = format!("max_features = 3\n{text}");
        }
        let mut bytes = text.into_bytes();
        if dice.below(4) == 0 {
            damage(&mut bytes, dice);
        }
        bytes
    });
}

#[test]
fn states() {
    let command: &[&str] = &["select", "d.csv", "-m", "exact", "--max-features", "3", "--resume", "case"];
    // A search that resumes from wrong numbers may stall.
    let kind = Kind { name: "state", file: "case", command, codes: &[0, 2, 3] };
    let scratch = prepared("fuzz_state", &[command, &["--node-limit", "2"]].concat());
    let good = std::fs::read(scratch.path("case")).expect("a state");
    let body = good[..good.len() - 8].to_vec();
    // The state begins after the first two lines.
    let lines = body.iter().enumerate().filter(|b| *b.1 == b'\n').map(|b| b.0).take(2).last().expect("two lines");
    kind.fuzz(&scratch, |dice| {
        let mut head = body[..=lines].to_vec();
        let mut state = body[lines + 1..].to_vec();
        damage(if dice.below(6) == 0 { &mut head } else { &mut state }, dice);
        let mut bytes = [head, state].concat();
        let sum = sum(&bytes).to_le_bytes();
        bytes.extend(sum);
        if dice.below(10) == 0 {
            damage(&mut bytes, dice);
        }
        bytes
    });
}

#[test]
fn proofs() {
    let kind =
        Kind { name: "proof", file: "case.proof", command: &["verify", "case.proof", "d.csv"], codes: &[0, 1, 2] };
    let prove = ["select", "d.csv", "-m", "exact", "--max-features", "2", "--proof", "good.proof"];
    let scratch = prepared("fuzz_proof", &prove);
    let mut plain = Vec::new();
    let packed = std::fs::read(scratch.path("good.proof")).expect("a proof");
    MultiGzDecoder::new(&packed[..]).read_to_end(&mut plain).expect("gzip");
    let line = plain.iter().position(|b| *b == b'\n').expect("a header");
    let header: Value = serde_json::from_slice(&plain[..line]).expect("JSON");
    kind.fuzz(&scratch, |dice| {
        let mut records = plain[line + 1..].to_vec();
        let head = if dice.below(2) == 0 { json_text(&header, dice) } else { plain[..line].to_vec() };
        if dice.below(3) > 0 {
            damage(&mut records, dice);
        }
        let mut out = GzEncoder::new(Vec::new(), Compression::fast());
        out.write_all(&[&head[..], b"\n", &records[..]].concat()).expect("to memory");
        let mut bytes = out.finish().expect("to memory");
        if dice.below(8) == 0 {
            damage(&mut bytes, dice);
        }
        bytes
    });
}
