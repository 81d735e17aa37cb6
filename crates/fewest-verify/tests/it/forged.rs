//! Files that were made to have a false claim verified, or to take time and memory, with what they
//! come to: counts, not times.

use std::io::{Read, Write};
use std::ops::ControlFlow;

use fewest_verify::{Error, Listed, Progress, Proof, Strength, Verdict};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::encoder::{Point, Record, file, integer, pack, plain};
use crate::common::{Bias, Problem, Rules, check};
use crate::hostile::problem as wide;

/// 2^27: with columns of 1e300 a product of alpha and x is 0.75 of the largest double.
const COST: f64 = 134_217_728.0;

/// One feature of two samples at +1e300 and five at -1e300 (times y), which only a weight of 0 or
/// less may have, and one of zeros. The best weight is -1e-300, with the value 4 C.
fn overflowing() -> Problem {
    let y = vec![1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
    let signs = [1.0, -1.0, 1.0, -1.0, -1.0, -1.0, -1.0];
    Problem {
        columns: vec![signs.iter().zip(&y).map(|(s, y)| s * y * 1e300).collect(), vec![0.0; 7]],
        y,
        weights: vec![1.0; 7],
        cost: COST,
        l1: Some(vec![1.0; 2]),
        squared: false,
        bias: Bias::None,
        penalty: Vec::new(),
        rules: Rules { max_features: Some(1), weights: vec![(0, f64::NEG_INFINITY, 0.0)], ..Rules::default() },
    }
}

fn ended(bound: f64) -> Record {
    Record::End { bound, status: "optimal".to_owned() }
}

#[test]
fn a_score_whose_parts_overflow_proves_nothing() {
    let problem = overflowing();
    let point = |quarters: [u64; 7]| Some(Point { e: 25, k: quarters.to_vec(), prices: Vec::new() });
    // In quarters of C. The second sample left out, the partial sum of the first and the third is
    // infinite, and the sum, which is -2 C 1e300, would be proven to be positive.
    let overflow = point([4, 0, 4, 4, 4, 4, 4]);
    let plain = point([4, 4, 4, 4, 4, 1, 0]);
    let proof = |weight: f64, objective: f64, bound: f64| {
        let records = [
            Record::Tighten { node: 0, point: overflow.clone(), bounds: vec![(0, 1e-301)] },
            Record::Close { node: 0, point: plain.clone() },
            Record::Subset { features: vec![0], objective, own: bound, weights: vec![weight], bias: 0.0 },
            ended(bound),
        ];
        check(&file(&problem.header(), &records), &problem)
    };
    // An objective of 7 C and a bound of 5 C, though the best is 4 C; and a bound of 5 C above the
    // objective of 4 C that the file itself proves.
    for (weight, objective) in [(0.0, 7.0 * COST), (-1e-300, 4.0 * COST * (1.0 + 1e-9))] {
        let fault = proof(weight, objective, 5.0 * COST).expect_err("a false claim").to_string();
        assert!(fault.starts_with("record 4 (end): the bound proven is -inf, below the"), "{fault}");
        let honest = proof(weight, objective, f64::NEG_INFINITY).expect("no claim");
        assert_eq!((honest.rest, honest.strength()), (f64::NEG_INFINITY, Strength::ObjectiveOnly));
    }
    // The partial sums that do not overflow still prove their bound.
    let records = [Record::Close { node: 0, point: point([1, 1, 1, 1, 1, 1, 0]) }, ended(f64::NEG_INFINITY)];
    let free = Problem { l1: Some(vec![1e-301, 1.0]), ..problem };
    let verdict = check(&file(&free.header(), &records), &free).expect("a proof");
    assert!(verdict.rest > COST && verdict.strength() == Strength::Bound, "{verdict:?}");
}

#[test]
fn costs_and_weights_are_those_that_the_library_takes() {
    let problem = overflowing();
    for cost in [0.0, -1.0, 1e-41, 1e41, 1e308] {
        let other = Problem { cost, ..problem.clone() };
        let fault = check(&file(&other.header(), &[ended(0.0)]), &other).expect_err("a cost").to_string();
        assert!(fault.starts_with("header: its cost is ") && fault.ends_with("from 1e-40 to 1e40"), "{fault}");
    }
    let mut header = problem.header();
    header["cost"] = Value::Null;
    let fault = check(&file(&header, &[ended(0.0)]), &problem).expect_err("no cost").to_string();
    assert!(fault.starts_with("header: its cost is 0.0, not"), "{fault}");
    let heavy = Problem { weights: vec![1e31; 7], ..problem };
    let fault = check(&file(&heavy.header(), &[ended(0.0)]), &heavy).expect_err("a weight").to_string();
    assert_eq!(fault, "header: the data hold the weight 1e31, above 1e30");
}

/// The end of a check, and its progress.
fn counted(bytes: &[u8], problem: &Problem, memory: u64) -> (Result<Verdict, Error>, Progress) {
    let mut last = Progress::default();
    let found = Proof::open(bytes).and_then(|proof| {
        proof.check(&[problem], memory, &mut |progress| {
            last = *progress;
            ControlFlow::Continue(())
        })
    });
    (found, last)
}

/// Counts what is read of a file.
struct Counted<'b>(&'b [u8], usize);

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(out)?;
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn headers_are_as_long_as_their_features_need() {
    let problem = wide(3);
    let with = |made: String| {
        let mut bytes = serde_json::to_vec(&problem.header()).expect("JSON");
        bytes.truncate(bytes.len() - 1);
        let at = bytes.windows(6).position(|w| w == b"\"made\"").expect("made");
        let name = if made.is_empty() { "\"made\"" } else { "\"none\"" };
        bytes[at..at + 6].copy_from_slice(name.as_bytes());
        [&bytes[..], b",\"made\":", made.as_bytes(), b"}\n"].concat()
    };
    for part in ["0,", "[],", "{\"a\":[0]},", "\"\\u0000\","] {
        let made = format!("[{}0]", part.repeat((1 << 21) / part.len()));
        let fault = Proof::open(&pack(&with(made))[..]).err().expect("too long").to_string();
        assert!(fault.contains("bytes, above 1049344 for 3 features"), "{fault}");
    }
    // A file that states more features than the data have is refused before its lists are read,
    // and a long line is read to its limit only.
    let mut header = problem.header();
    header["p"] = json!(1_000_000);
    header["rules"]["together"] = json!(vec![[0; 0]; 1 << 19]);
    let fault = check(&file(&header, &[]), &problem).expect_err("features").to_string();
    assert_eq!(fault, "header: the data have 4 samples and 3 features, the proof is about 4 and 1000000");
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    (0..200).for_each(|_| out.write_all(&vec![b'0'; 1 << 20]).expect("to memory"));
    let bytes = out.finish().expect("to memory");
    let mut read = Counted(&bytes, 0);
    assert!(Proof::open(&mut read).is_err());
    assert!(read.1 < bytes.len() / 2, "{} of {} bytes", read.1, bytes.len());
}

#[test]
fn rules_are_on_the_account_and_repeated_implications_are_one() {
    // As many as the header may hold; all say nothing, or the same.
    let problem = wide(40);
    let close = Record::Close { node: 0, point: Some(Point { e: 0, k: vec![1; 4], prices: vec![(99_999, 0.5)] }) };
    for pair in [[0, 0], [3, 1]] {
        let mut header = problem.header();
        header["rules"]["implies"] = json!(vec![pair; 100_000]);
        let records = [close.clone(), ended(f64::NEG_INFINITY)];
        let (found, progress) = counted(&file(&header, &records), &problem, 1 << 20);
        assert!(found.is_ok_and(|verdict| verdict.rest.is_finite()), "{pair:?}");
        assert!(progress.work <= 2 * 43 && progress.bytes < 420_000, "{progress:?}");
    }
    // Rows that differ take what they take.
    let mut header = problem.header();
    header["rules"]["at_most"] = json!(vec![(1, [0; 0]); 100_000]);
    let (found, progress) = counted(&file(&header, std::slice::from_ref(&close)), &problem, 1 << 20);
    assert_eq!(found.expect_err("memory").to_string(), "header: its rules take more memory than is allowed");
    assert_eq!(progress, Progress::default());
    let (_, progress) = counted(&file(&header, &[close]), &problem, 1 << 26);
    assert!(progress.bytes > 5_000_000 && progress.work > 100_000, "{progress:?}");
}

/// A file of a header and as many records.
fn repeated(problem: &Problem, record: &[u8], count: usize) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(&plain(&problem.header(), &[])).expect("to memory");
    (0..count).for_each(|_| out.write_all(record).expect("to memory"));
    out.finish().expect("to memory")
}

#[test]
fn records_that_say_nothing_are_faults() {
    let mut problem = wide(5);
    let point = || Some(Point { e: 0, k: vec![0; 4], prices: Vec::new() });
    let fix = Record::Fix { node: 0, point: point(), inside: vec![], outside: vec![] };
    let tighten = Record::Tighten { node: 0, point: point(), bounds: vec![] };
    let fault = |problem: &Problem, record: &Record| {
        check(&file(&problem.header(), std::slice::from_ref(record)), problem).expect_err("empty").to_string()
    };
    assert_eq!(fault(&problem, &fix), "record 1 (fix): it names no feature");
    problem.l1 = Some(vec![1.0; 5]);
    assert_eq!(fault(&problem, &tighten), "record 1 (tighten): it names no feature");
    for status in ["", "optimal, gap 0", "VERIFIED"] {
        let record = Record::End { bound: f64::NEG_INFINITY, status: status.to_owned() };
        assert!(fault(&problem, &record).starts_with("record 1 (end): its status is none of optimal, "), "{status}");
    }
}

#[test]
fn work_is_in_proportion_to_the_file() {
    // A fix of what is fixed already, again and again: 7 bytes each, and far fewer when packed.
    let problem = wide(2000);
    let fix = [3, 0, 0, 1, 0, 0];
    let mut first = vec![3, 0, 1, 0, 1, 0, 1];
    integer(&mut first, 1);
    first.extend([0, 0, 1, 0, 0]);
    let bytes = {
        let head = plain(&problem.header(), &[]);
        pack(&[&head[..], &first, &fix.repeat(100_000)].concat())
    };
    let (found, progress) = counted(&bytes, &problem, 1 << 24);
    let most = (1 << 22) + 2001 * bytes.len() as u64 / 16;
    assert!(matches!(found, Err(Error::TooMuchWork { .. })), "{found:?}");
    assert!(progress.work <= most && progress.records < 2 + most / 2000, "{progress:?}");
    // The caller lets it go on, and stops it at will.
    let proof = Proof::open(&bytes[..]).expect("a header").without_work_limit();
    let mut records = 0;
    let found = proof.check(&[&problem], 1 << 24, &mut |progress| {
        records = progress.records;
        if records < 30_000 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!((found, records), (Err(Error::Stopped), 30_000));
    // Splits: boxes that are open are counted, too.
    let bytes = repeated(&wide(2000), &[1, 0, 0], 2);
    assert!(counted(&bytes, &problem, 1 << 24).0.expect_err("open once").to_string().contains("is not open"));
}

#[test]
fn a_file_that_proves_nothing_says_so() {
    let problem = wide(3);
    let verdict = check(&file(&problem.header(), &[ended(f64::NEG_INFINITY)]), &problem).expect("no claim");
    assert_eq!((verdict.strength(), verdict.gap()), (Strength::Nothing, None));
    let subset =
        Record::Subset { features: vec![0], objective: 4.0, own: f64::NEG_INFINITY, weights: vec![0.0], bias: 0.0 };
    let verdict = check(&file(&problem.header(), &[subset, ended(f64::NEG_INFINITY)]), &problem).expect("no claim");
    assert_eq!((verdict.strength(), verdict.gap()), (Strength::ObjectiveOnly, None));
}

#[test]
fn a_bound_above_an_objective_is_a_fault_of_the_checker() {
    let problem = wide(3);
    let verdict = check(&file(&problem.header(), &[ended(f64::NEG_INFINITY)]), &problem).expect("no claim");
    let one = |objective: f64, bound| Listed { features: vec![3], objective, bound };
    let said = |listed: [Listed; 2]| Verdict { listed: listed.to_vec(), ..verdict.clone() }.contradiction();
    assert_eq!(said([one(2.0, 2.0), one(7.5, f64::NEG_INFINITY)]), None);
    for bound in [24.0, f64::INFINITY, 7.5f64.next_up()] {
        let said = said([one(2.0, 2.0), one(7.5, bound)]).expect("a contradiction");
        assert!(said.contains("the checker is wrong; please report it"), "{said}");
    }
}
