//! Proofs about alignments: random files are true or refused, changed ones, too, and hostile ones
//! end with a fault.

use std::ops::ControlFlow;

use fewest_verify::{Error, Proof, Verdict};
use serde_json::{Value, json};

use crate::common::alignment::{Problem, Record, plain};
use crate::common::encoder::{integer, pack};
use crate::common::{Rng, Rules, check, features, untrue};

/// What rounding of the values compared may amount to.
const ROUNDING: f64 = 5e-12;

/// A random order of the features, some of them left out.
fn shuffled(p: usize, rng: &mut Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p).collect();
    (1..p).for_each(|at| order.swap(at, rng.below(at + 1)));
    order.truncate(if rng.chance(0.7) { p } else { rng.below(p + 1) });
    order
}

/// Random records, of which any tree is one, with claims of nothing.
fn random(problem: &Problem, rng: &mut Rng) -> Vec<Record> {
    let (p, none) = (problem.p(), f64::NEG_INFINITY);
    let mut values: Vec<(f64, u32)> = problem.allowed().into_iter().map(|z| (problem.value(z), z)).collect();
    values.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut records, mut open, mut made) = (Vec::new(), vec![(0u64, 0)], 0);
    while let Some((node, depth)) = open.pop() {
        if rng.chance(0.5) {
            records.push(Record::Limit { node });
        }
        let level = match rng.below(5) {
            0 => none,
            1 => f64::INFINITY,
            2 => rng.range(-0.1, 2.0),
            _ => values.get(rng.below(4)).map_or(0.1, |value| value.0),
        };
        match rng.below(6) {
            0 if depth > 0 => records.push(Record::Leave { node }),
            1 | 2 if depth < 3 => {
                records.push(Record::Split { node, feature: rng.below(p) });
                open.extend([(made + 1, depth + 1), (made + 2, depth + 1)]);
                made += 2;
            }
            _ => {
                let order = shuffled(p, rng);
                let first = (0..order.len()).filter(|_| depth < 4 && rng.chance(0.6)).collect::<Vec<usize>>();
                let child = |at: usize| {
                    let partners = (at + 1..order.len()).filter(|_| rng.chance(0.7)).collect();
                    (at, [level, f64::INFINITY, none, level + 0.05][rng.below(4)], partners)
                };
                let children: Vec<_> = first.into_iter().map(child).collect();
                open.extend((1..=children.len() as u64).map(|child| (made + child, depth + 1)));
                made += children.len() as u64;
                records.push(Record::Expand { node, exact: 2 + rng.below(3) as u64, level, order, children });
            }
        }
    }
    for (value, z) in values.iter().take(1 + rng.below(3)) {
        records.push(Record::Subset { features: features(*z), objective: ROUNDING - value, own: none });
    }
    records.push(Record::End { bound: none });
    records
}

/// What of a verdict is not true.
fn false_claim(problem: &Problem, verdict: &Verdict) -> Option<String> {
    assert!(verdict.maximised);
    let values = problem.allowed().into_iter().map(|z| (z, -problem.value(z)));
    untrue(&problem.rules, values.map(|(z, value)| (z, value - ROUNDING, value + ROUNDING)), verdict)
}

/// The records with all that was proven as their claims.
fn tight(records: &[Record], verdict: &Verdict) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        match record {
            Record::Subset { features, own, .. } => {
                *own = verdict.listed.iter().find(|one| one.features == *features).expect("listed").bound;
            }
            Record::End { bound } => *bound = verdict.rest,
            _ => {}
        }
    }
    records
}

/// Random files that are verified, with claims of all that they prove.
fn proofs(seeds: std::ops::Range<u64>) -> impl Iterator<Item = (u64, Problem, Vec<Record>, Verdict)> {
    seeds.filter_map(|seed| {
        let problem = Problem::draw(seed);
        if problem.allowed().is_empty() {
            return None;
        }
        let records = random(&problem, &mut Rng(seed));
        match check(&problem.file(&records), &problem) {
            Ok(verdict) => Some((seed, problem, tight(&records, &verdict), verdict)),
            Err(error) => {
                assert!(error.to_string().contains("are of one unit"), "seed {seed}: {error}\n{records:?}");
                None
            }
        }
    })
}

#[test]
fn what_is_proven_is_true_and_the_same_again() {
    let (mut all, mut bounded, mut exact) = (0, 0, 0);
    for (seed, problem, records, verdict) in proofs(0..1500) {
        if let Some(fault) = false_claim(&problem, &verdict) {
            panic!("seed {seed}: {fault}\n{problem:?}\n{records:?}");
        }
        assert_eq!(check(&problem.file(&records), &problem).as_ref(), Ok(&verdict), "seed {seed}");
        all += 1;
        bounded += usize::from(verdict.bound().is_finite());
        exact += usize::from(verdict.gap().is_some_and(|gap| gap < 1e-9));
    }
    assert!(all > 800 && bounded > 300 && exact > 50, "{all} proofs, {bounded} with a bound, {exact} exact");
}

#[test]
fn no_change_makes_a_proof_of_what_is_not_true() {
    let (mut changed, mut verified) = (0, 0);
    for (seed, problem, records, _) in proofs(2000..2200) {
        let (bytes, rng) = (plain(&problem.header(), &records), &mut Rng(seed));
        let start = plain(&problem.header(), &[]).len();
        for round in 0..20 {
            let (mut file, mut records) = (bytes.clone(), records.clone());
            if round % 2 == 0 {
                let at = start + rng.below(file.len() - start);
                match rng.below(4) {
                    0 => file[at] ^= 1 << rng.below(8),
                    1 => file[at] = rng.word() as u8,
                    2 => _ = file.remove(at),
                    _ => file.insert(at, rng.below(10) as u8),
                }
            } else {
                let (at, other) = (rng.below(records.len()), rng.below(records.len()));
                match rng.below(3) {
                    0 => _ = records.remove(at),
                    1 => records.swap(at, other),
                    _ => {
                        let better = 10f64.powi(-(rng.below(8) as i32));
                        for record in &mut records {
                            match record {
                                Record::Expand { level, .. } if rng.chance(0.5) => *level -= better,
                                Record::End { bound } => *bound += better,
                                Record::Subset { objective, own, .. } => {
                                    (*objective, *own) = (*objective - better, *own + better);
                                }
                                _ => {}
                            }
                        }
                    }
                }
                file = plain(&problem.header(), &records);
            }
            changed += 1;
            if let Ok(verdict) = check(&pack(&file), &problem) {
                let fault = false_claim(&problem, &verdict);
                assert_eq!(fault, None, "seed {seed}, round {round}: {problem:?}\n{records:?}");
                verified += 1;
            }
        }
        // Other data, and another gamma: what is proven is then about these.
        let mut other = problem.clone();
        other.classes.swap(0, 1);
        let fault = check(&pack(&bytes), &other).expect_err("other data").to_string();
        assert!(fault.contains("fingerprint"), "{fault}");
        other = Problem { gamma: 1.5 * problem.gamma, centre: Vec::new(), ..problem.clone() };
        if let Ok(verdict) = check(&other.file(&records), &other) {
            assert_eq!(false_claim(&other, &verdict), None, "seed {seed}: {other:?}\n{records:?}");
        }
    }
    assert!(changed > 2000 && verified > 100 && verified * 2 < changed, "{changed} changes, {verified} verified");
}

fn small(p: usize) -> Problem {
    Problem {
        columns: (0..p).map(|j| (0..6).map(|i| ((i * 7 + j * 3) % 5) as f64 - 2.0).collect()).collect(),
        classes: vec![0.0, 1.0, 2.0, 0.0, 1.0, 2.0],
        weights: vec![1.0; 6],
        gamma: 0.1,
        centre: vec![0],
        rules: Rules::default(),
    }
}

fn fault(bytes: &[u8], problem: &Problem) -> String {
    check(bytes, problem).expect_err("a fault").to_string()
}

#[test]
fn hostile_files_end_with_a_fault() {
    let problem = small(4);
    let none = f64::NEG_INFINITY;
    let expand = |order: Vec<usize>, children| Record::Expand { node: 0, exact: 2, level: 0.2, order, children };
    let with = |record: Record| fault(&problem.file(&[record, Record::End { bound: none }]), &problem);
    assert!(with(expand(vec![0, 1, 0], vec![])).contains("feature 0 and one before it are of one unit"));
    assert!(with(expand(vec![0, 9], vec![])).contains("feature 9 is not below 4"));
    assert!(with(expand(vec![0, 1], vec![(2, 0.0, vec![])])).contains("a list of positions does not ascend"));
    assert!(with(expand(vec![0, 1], vec![(1, 0.0, vec![0])])).contains("a partner comes before"));
    assert!(with(expand(vec![0, 1], vec![(0, f64::NAN, vec![1])])).contains("a number is NaN"));
    assert!(with(Record::Leave { node: 3 }).contains("node 3 is not open"));
    // A box left open, and records of another gain.
    assert!(fault(&problem.file(&[Record::End { bound: -3.0 }]), &problem).contains("node 0 was left open"));
    for kind in [2, 3, 4, 11] {
        let bytes = [plain(&problem.header(), &[]), vec![kind, 0, 0]].concat();
        let fault = fault(&pack(&bytes), &problem);
        assert!(fault.contains("another gain") || fault.contains("its kind is 11"), "{fault}");
    }
    // Lengths are checked before memory is taken.
    for head in [&[9, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &[5]] {
        let mut bytes = [&plain(&problem.header(), &[])[..], head].concat();
        integer(&mut bytes, u64::MAX);
        let fault = fault(&pack(&bytes), &problem);
        assert!(fault.contains("length") || fault.contains("file ends"), "{fault}");
    }
    // A model above whose level is everything: 2^40 subsets.
    let many = small(40);
    let whole = |exact| Record::Expand { node: 0, exact, level: none, order: vec![], children: vec![] };
    let [all, cubic, quartic] = [2, 3, 4].map(|exact| [whole(exact), Record::End { bound: none }]);
    for records in [&all, &cubic, &quartic] {
        let found = fault(&many.file(records), &many);
        let told = ["too many subsets are above the level", "takes more memory than is allowed"];
        assert!(told.iter().any(|told| found.contains(told)), "{found}");
    }
    for order in [0, 2, 5, 255] {
        let bytes = [&plain(&problem.header(), &[])[..], &[10, 0, order, 1]].concat();
        assert!(fault(&pack(&bytes), &problem).contains("order"), "{order}");
    }
    let most = small(70);
    let found = fault(&most.file(&all), &most);
    assert!(found.contains("70 units may come in, too many for a model"), "{found}");
    // Headers that say too much, too little, or what cannot be.
    for (key, value) in [
        ("gamma", json!(0.0)),
        ("gamma", json!(1e300)),
        ("gamma", json!(1e-300)),
        ("gamma", Value::Null),
        ("cost", json!(1.0)),
        ("loss", json!("hinge")),
        ("penalty", json!([1.0, 1.0, 1.0, 1.0])),
        ("centre", json!([4])),
    ] {
        let mut header = problem.header();
        header[key] = value;
        let found = fault(&pack(&plain(&header, &all)), &problem);
        assert!(found.starts_with("header: "), "{key}: {found}");
    }
    for (classes, weights) in
        [(vec![0.5; 6], vec![1.0; 6]), (vec![1.0; 6], vec![1.0; 6]), (problem.classes.clone(), vec![0.0; 6])]
    {
        let other = Problem { classes, weights, ..problem.clone() };
        assert!(fault(&other.file(&all), &other).starts_with("header: "));
    }
    let memory = Proof::open(&problem.file(&all)[..])
        .expect("a header")
        .check(&[&problem], 100, &mut |_| ControlFlow::Continue(()));
    assert!(memory.expect_err("too little").to_string().contains("more memory than is allowed"));
}

#[test]
fn every_cut_and_every_byte_is_survived() {
    let problem = small(3);
    let records = [
        Record::Limit { node: 0 },
        Record::Expand {
            node: 0,
            exact: 4,
            level: 0.4,
            order: vec![2, 0, 1],
            children: vec![(0, 9.0, vec![1, 2]), (1, 9.0, vec![2])],
        },
        Record::Split { node: 1, feature: 0 },
        Record::Leave { node: 2 },
        Record::Leave { node: 3 },
        Record::Leave { node: 4 },
        Record::Subset { features: vec![0], objective: 0.0, own: -9.0 },
        Record::End { bound: -9.0 },
    ];
    let bytes = plain(&problem.header(), &records);
    assert_eq!(check(&pack(&bytes), &problem).map(|verdict| false_claim(&problem, &verdict)), Ok(None));
    let start = plain(&problem.header(), &[]).len();
    for at in start..bytes.len() {
        assert!(check(&pack(&bytes[..at]), &problem).is_err(), "cut at {at}");
        for value in [0, 1, 7, 8, 9, 10, 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] = value;
            if let Ok(verdict) = check(&pack(&changed), &problem) {
                assert_eq!(false_claim(&problem, &verdict), None, "{value} at {at}");
            }
        }
    }
}

#[test]
fn numbers_at_the_ends_of_their_range_are_survived() {
    let mut problem = small(3);
    problem.columns = vec![
        vec![1e70, -1e70, 1e70, 1e-300, 1e69, -1e69],
        vec![1e70, f64::MIN_POSITIVE, 5e-324, 0.0, -0.0, 1e-170],
        vec![1e-170, 2e-170, 3e-170, 4e-170, 5e-170, 6e-170],
    ];
    for weights in [vec![1.0; 6], vec![1e-300, 1.0, 1e300, 1e-320, 1e-10, 5e-324]] {
        for gamma in [1e-250, 1e-141, 1e-139, 1.0, 1e250] {
            let problem = Problem { gamma, weights: weights.clone(), ..problem.clone() };
            let levels = [f64::NEG_INFINITY, 0.0, 0.5, f64::INFINITY];
            for (level, exact) in levels.into_iter().flat_map(|level| [2, 3, 4].map(|exact| (level, exact))) {
                let records = [
                    Record::Limit { node: 0 },
                    Record::Expand { node: 0, exact, level, order: vec![], children: vec![] },
                    Record::End { bound: f64::NEG_INFINITY },
                ];
                let verdict = check(&problem.file(&records), &problem).expect("a proof");
                assert_eq!(false_claim(&problem, &verdict), None, "{gamma} {level} {weights:?}");
            }
        }
    }
    // Squares of differences that overflow times a gamma that is small: nothing holds for these.
    problem.columns[0][1] = 1e155;
    assert!(fault(&problem.file(&[]), &problem).contains("above 1e70 in size"));
    problem.columns[0][1] = 0.0;
    let heavy = Problem { weights: vec![f64::MAX; 6], ..problem };
    assert!(fault(&heavy.file(&[]), &heavy).contains("finite weight"));
}

#[test]
fn verdicts_depend_neither_on_threads_nor_on_memory() {
    for (seed, problem, records, verdict) in proofs(3000..3060) {
        let file = problem.file(&records);
        let found = |threads: usize, memory: u64| -> Result<Verdict, Error> {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| Proof::open(&file[..])?.check(&[&problem], memory, &mut |_| ControlFlow::Continue(())))
        };
        assert_eq!(found(1, 1 << 24).as_ref(), Ok(&verdict), "seed {seed}");
        assert_eq!(found(3, 1 << 24).as_ref(), Ok(&verdict), "seed {seed}");
        // With little memory tiles are made again each time, and pairs are not merged.
        if let Ok(small) = found(1, 12_000) {
            assert!((small.bound() - verdict.bound()).abs() <= 1e-5 || small.bound() == verdict.bound(), "seed {seed}");
            assert_eq!(false_claim(&problem, &small), None, "seed {seed}");
        }
    }
}
