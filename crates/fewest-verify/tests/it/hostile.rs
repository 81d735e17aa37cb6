//! Files made to break the checker: it refuses them without a panic and without the memory they ask
//! for.

use std::ops::ControlFlow;

use fewest_verify::Proof;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

use crate::common::encoder::{Point, Record, file, integer, number, pack, plain};
use crate::common::{Bias, Problem, Rng, Rules, check};

/// 4 samples, p features.
pub(crate) fn problem(p: usize) -> Problem {
    Problem {
        columns: (0..p).map(|j| (0..4).map(|i| ((i * 7 + j * 3) % 5) as f64 - 2.0).collect()).collect(),
        y: vec![1.0, -1.0, 1.0, -1.0],
        weights: vec![1.0; 4],
        cost: 1.0,
        l1: None,
        squared: false,
        bias: Bias::None,
        penalty: Vec::new(),
        rules: Rules::default(),
    }
}

/// A file of these bytes after the header.
fn with_body(problem: &Problem, body: &[u8]) -> Vec<u8> {
    pack(&[plain(&problem.header(), &[]), body.to_vec()].concat())
}

fn fault(bytes: &[u8], problem: &Problem) -> String {
    check(bytes, problem).expect_err("a fault").to_string()
}

#[test]
fn lengths_are_checked_before_memory_is_taken() {
    let problem = problem(3);
    let long = |head: &[u8]| {
        let mut body = head.to_vec();
        integer(&mut body, u64::MAX);
        with_body(&problem, &body)
    };
    // Samples of a point; features of a fix; features of a subset; the text of the end.
    assert!(fault(&long(&[2, 0, 1, 0]), &problem).contains("the length of a list, 18446744073709551615 is not below"));
    assert!(fault(&long(&[3, 0, 1, 0, 0, 0, 0, 0]), &problem).contains("the length of a list"));
    assert!(fault(&long(&[5]), &problem).contains("the length of a list"));
    let mut end = vec![6];
    number(&mut end, 0.0);
    assert!(fault(&long(&end), &problem).contains("a text has 18446744073709551615 bytes"));
    // An integer that never ends, and one of more than 64 bits.
    assert!(
        fault(&with_body(&problem, &[1; 1].iter().chain(&[0x80; 40]).copied().collect::<Vec<u8>>()), &problem)
            .contains("more than 64 bits")
    );
    assert!(
        fault(&with_body(&problem, &[&[1][..], &[0xff; 9], &[2]].concat()), &problem).contains("more than 64 bits")
    );
}

#[test]
fn every_cut_and_every_byte_is_survived() {
    let problem = problem(3);
    let point = Some(Point { e: -2, k: vec![1, 2, 3, 4], prices: Vec::new() });
    let records = [
        Record::Fix { node: 0, point: point.clone(), inside: vec![0], outside: vec![2] },
        Record::Split { node: 0, feature: 1 },
        Record::Close { node: 1, point },
        Record::Close { node: 2, point: None },
        Record::Subset { features: vec![0], objective: 9.0, own: -9.0, weights: vec![0.1], bias: 0.0 },
        Record::End { bound: -9.0, status: "time_limit".to_owned() },
    ];
    let bytes = plain(&problem.header(), &records);
    assert!(check(&pack(&bytes), &problem).is_ok());
    for cut in 0..bytes.len() {
        assert!(check(&pack(&bytes[..cut]), &problem).is_err(), "cut at {cut}");
    }
    let packed = pack(&bytes);
    for cut in 0..packed.len() {
        assert!(check(&packed[..cut], &problem).is_err(), "cut at {cut}");
    }
    assert!(check(&[&packed[..], b"more"].concat(), &problem).is_err());
    // Whatever is found of a changed file is found without a panic.
    let start = plain(&problem.header(), &[]).len();
    for at in start..bytes.len() {
        for value in [0, 1, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            let _ = check(&pack(&changed), &problem);
        }
    }
    let rng = &mut Rng(7);
    for _ in 0..2000 {
        let mut body: Vec<u8> = (0..rng.below(60)).map(|_| rng.word() as u8).collect();
        if let Some(first) = body.first_mut() {
            *first = 1 + *first % 6;
        }
        let _ = check(&with_body(&problem, &body), &problem);
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_are_survived() {
    let mut problem = problem(2);
    problem.columns = vec![vec![1e300, -1e300, 1e300, 1e-300], vec![f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.0]];
    problem.cost = 1e40;
    for (e, k) in [(971, (1 << 53) - 1), (900, 1), (-1074, 1), (-1074, (1 << 53) - 1), (-60, 1 << 30)] {
        let point = Some(Point { e, k: vec![k; 4], prices: Vec::new() });
        let records =
            [Record::Close { node: 0, point }, Record::End { bound: f64::NEG_INFINITY, status: "stalled".to_owned() }];
        if let Ok(verdict) = check(&file(&problem.header(), &records), &problem) {
            assert!(verdict.rest < 1e41, "{verdict:?}");
        }
    }
    for w in [1e308, -1e308, 5e-324] {
        let subset = Record::Subset {
            features: vec![0, 1],
            objective: f64::MAX,
            own: f64::NEG_INFINITY,
            weights: vec![w, w],
            bias: 0.0,
        };
        let records = [subset, Record::End { bound: f64::NEG_INFINITY, status: "stalled".to_owned() }];
        if let Ok(verdict) = check(&file(&problem.header(), &records), &problem) {
            assert!(verdict.listed[0].objective > 1e39, "{verdict:?}");
        }
    }
}

#[test]
fn a_file_that_unpacks_to_many_boxes_stays_within_memory() {
    // Each split is a few bytes that pack well, and leaves one more box open.
    let problem = problem(40);
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(&plain(&problem.header(), &[])).expect("to memory");
    let mut node: u64 = 0;
    for k in 0..2_000_000u64 {
        let mut record = vec![1];
        integer(&mut record, node);
        record.push((k % 40) as u8);
        out.write_all(&record).expect("to memory");
        node = 2 * k + 1 + k % 2;
    }
    let bytes = out.finish().expect("to memory");
    let mut most = 0;
    let found = Proof::open(&bytes[..]).expect("a header").check(&[&problem], 1 << 20, &mut |progress| {
        most = most.max(progress.open);
        ControlFlow::Continue(())
    });
    let fault = found.expect_err("too many boxes").to_string();
    assert!(fault.contains("open boxes take more memory than is allowed"), "{fault}");
    assert!(most < 10_000, "{most}");
}

#[test]
fn a_header_without_end_is_refused() {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    let part = vec![b' '; 1 << 20];
    (0..80).for_each(|_| out.write_all(&part).expect("to memory"));
    let bytes = out.finish().expect("to memory");
    let fault = Proof::open(&bytes[..]).err().expect("no header").to_string();
    assert_eq!(fault, "not a proof file: its first line is above 67108864 bytes");
    for bytes in [&b""[..], b"plain text", b"\x1f\x8b"] {
        let fault = Proof::open(bytes).err().expect("no header").to_string();
        assert!(fault.starts_with("not a proof file: "), "{fault}");
    }
}

#[test]
fn long_chains_of_rules_take_time_in_proportion() {
    // Each feature implies the next: one decision decides all 20,000.
    let p = 20_000;
    let mut problem = problem(2);
    problem.columns = vec![vec![1.0, -1.0, 0.0, 0.0]; p];
    problem.rules.implies = (1..p).map(|j| (j - 1, j)).collect();
    problem.rules.at_most = vec![(p - 1, (0..p).collect())];
    let records = [
        Record::Split { node: 0, feature: p / 2 },
        Record::Close {
            node: 1,
            point: Some(Point { e: -1, k: vec![1, 1, 0, 0], prices: vec![(0, 1.0), (p - 1, 2.0)] }),
        },
        Record::Close { node: 2, point: None },
        Record::End { bound: -1e9, status: "stalled".to_owned() },
    ];
    let start = std::time::Instant::now();
    let verdict = check(&file(&problem.header(), &records), &problem).expect("a proof");
    assert_eq!(verdict.progress.parts, 2);
    // One chain that goes round is one unit.
    problem.rules.implies.push((p - 1, 0));
    let verdict = check(&file(&problem.header(), &records[3..]), &problem);
    assert!(verdict.is_err(), "the root is open");
    let alone = [Record::Split { node: 0, feature: 7 }, records[2].clone(), records[3].clone()];
    assert!(check(&file(&problem.header(), &alone), &problem).is_err(), "no point came before");
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
