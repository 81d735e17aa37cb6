//! Forged bodies under true headers: none proves more than the objectives of all subsets, which are
//! enumerated in double-double arithmetic, allow.
//!
//! `FEWEST_FORGED=10000 cargo test -p fewest-verify --test it bodies` makes that many;
//! `FEWEST_SEED` is where their seeds begin.

use fewest_verify::Verdict;

use crate::common::encoder::{Point, Record, pack, plain};
use crate::common::exact::{Twice, primal};
use crate::common::prover::prove;
use crate::common::{Bias, Problem, Rng, bits, check};
use crate::mutation::change_records;

/// Bodies of one problem.
const OF_PROBLEM: usize = 25;
const NUMBERS: [f64; 14] = [
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    f64::MIN_POSITIVE,
    1e-300,
    0.5,
    1.0,
    -1.0,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().map_or(default, |text| text.parse().expect("a number"))
}

/// A problem as the other tests draw it; half of them with columns and a cost at the ends of their
/// range.
fn draw(seed: u64, rng: &mut Rng) -> Problem {
    let mut problem = Problem::draw(seed);
    if rng.chance(0.5) {
        for column in &mut problem.columns {
            let scale = 2f64.powi([0, 0, -1000, -500, 500, 1000][rng.below(6)]);
            for x in column {
                *x *= scale;
            }
        }
        let cost = [problem.cost, 1e-40, 1e-20, 1e20, 1e40][rng.below(5)];
        problem.penalty.iter_mut().for_each(|price| *price *= cost / problem.cost);
        problem.cost = cost;
    }
    problem
}

/// Objectives at some weights of each allowed subset, none of them below its value.
fn objectives(problem: &Problem) -> Vec<(u32, Vec<Twice>)> {
    let of = |z| {
        let value = problem.value(z);
        let none = vec![0.0; problem.p()];
        let fits = |j: usize| {
            let [down, up] = problem.range(j);
            (-down..=up).contains(&value.w[j])
        };
        let mut all = vec![primal(problem, z, &none, 0.0)];
        if value.b.is_finite() && (0..problem.p()).all(fits) {
            all.push(primal(problem, z, &value.w, value.b));
        }
        if problem.bias != Bias::None {
            all.extend([1.0, -1.0].map(|b| primal(problem, z, &none, b)));
        }
        (z, all)
    };
    problem.allowed().into_iter().map(of).collect()
}

fn number(rng: &mut Rng) -> f64 {
    NUMBERS[rng.below(NUMBERS.len())]
}

/// A point of numbers at the ends of their range.
fn point(problem: &Problem, rng: &mut Rng) -> Option<Point> {
    let e = [-1075, -1074, -1022, -500, -60, -53, -1, 0, 60, 900, 971, 972][rng.below(12)];
    let multiple = |rng: &mut Rng| [0, 1, 1, 2, 3, (1 << 53) - 1, 1 << 53, 1 << 30][rng.below(8)];
    let k = match multiple(rng) {
        same if rng.chance(0.5) => vec![same; problem.n()],
        _ => (0..problem.n()).map(|_| multiple(rng)).collect(),
    };
    let rows: Vec<usize> = (0..4).filter(|_| rng.chance(0.2)).collect();
    let prices = rows.into_iter().map(|row| (row, number(rng))).collect();
    rng.chance(0.9).then_some(Point { e, k, prices })
}

/// A record of any kind with numbers of any kind.
fn record(problem: &Problem, rng: &mut Rng) -> Record {
    let p = problem.p();
    let some = |rng: &mut Rng| (0..p).filter(|_| rng.chance(0.4)).collect::<Vec<usize>>();
    let node = rng.below(7) as u64;
    match rng.below(7) {
        0 | 1 => Record::Split { node, feature: rng.below(p) },
        2 => Record::Close { node, point: point(problem, rng) },
        3 => Record::Fix { node, point: point(problem, rng), inside: some(rng), outside: some(rng) },
        4 | 5 => {
            let bounds = some(rng).into_iter().map(|j| (j, number(rng))).collect();
            Record::Tighten { node, point: point(problem, rng), bounds }
        }
        _ => {
            let features = some(rng);
            let weights = features.iter().map(|_| number(rng)).collect();
            Record::Subset { features, objective: f64::MAX, own: f64::NEG_INFINITY, weights, bias: number(rng) }
        }
    }
}

/// One number or point of a record is another.
fn extreme(record: &mut Record, problem: &Problem, rng: &mut Rng) {
    match record {
        Record::Close { point: at, .. } | Record::Fix { point: at, .. } => match at {
            Some(at) if rng.chance(0.5) => at.prices = vec![(rng.below(4), number(rng))],
            _ => *at = point(problem, rng),
        },
        Record::Tighten { point: at, bounds, .. } => match bounds.first_mut() {
            Some(bound) if rng.chance(0.5) => bound.1 = number(rng),
            _ => *at = point(problem, rng),
        },
        Record::Subset { objective, own, weights, bias, .. } => match rng.below(4) {
            0 => *objective = number(rng),
            1 => *own = number(rng),
            2 => *bias = number(rng),
            _ => weights.iter_mut().for_each(|w| *w = number(rng)),
        },
        Record::End { bound, .. } => *bound = number(rng),
        Record::Split { node, .. } => *node = u64::MAX,
    }
}

/// The bytes of a forged file.
fn forge(problem: &Problem, proved: &[Record], rng: &mut Rng) -> Vec<u8> {
    let mut records = proved.to_vec();
    let kind = rng.below(5);
    if kind == 0 {
        records = (0..=rng.below(8)).map(|_| record(problem, rng)).collect();
        records.push(Record::End { bound: f64::NEG_INFINITY, status: "optimal".to_owned() });
    }
    for _ in 0..rng.below(4) {
        let at = rng.below(records.len());
        match rng.below(4) {
            0 => extreme(&mut records[at], problem, rng),
            1 => records.insert(at, record(problem, rng)),
            _ if records.len() > 1 => change_records(&mut records, problem, rng),
            _ => {}
        }
    }
    if rng.chance(0.7) {
        // What it claims hides nothing of what it proves.
        for record in &mut records {
            match record {
                Record::Subset { own, .. } => *own = f64::NEG_INFINITY,
                Record::End { bound, .. } => *bound = f64::NEG_INFINITY,
                _ => {}
            }
        }
    }
    let mut bytes = plain(&problem.header(), &records);
    let start = plain(&problem.header(), &[]).len();
    for _ in 0..if kind == 1 { 1 + rng.below(3) } else { 0 } {
        let at = start + rng.below(bytes.len() - start);
        match rng.below(3) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.word() as u8,
            _ => bytes.insert(at, rng.word() as u8),
        }
    }
    pack(&bytes)
}

/// What a verdict says that an objective contradicts.
fn false_bound(problem: &Problem, all: &[(u32, Vec<Twice>)], verdict: &Verdict) -> Option<String> {
    if let Some(one) = verdict.listed.iter().find(|one| !problem.rules.allow(bits(&one.features))) {
        return Some(format!("{:?} is forbidden", one.features));
    }
    all.iter().find_map(|(z, objectives)| {
        let listed = verdict.listed.iter().find(|one| bits(&one.features) == *z);
        let bound = listed.map_or(verdict.rest, |one| one.bound);
        let beaten = objectives.iter().find(|objective| objective.is_below(bound))?;
        Some(format!("the bound {bound} of {z:b} is above its objective {beaten:?}"))
    })
}

#[test]
#[expect(clippy::print_stdout, reason = "the count is reported")]
fn no_forged_body_proves_more_than_plain_enumeration_allows() {
    let (count, first) = (setting("FEWEST_FORGED", 400), setting("FEWEST_SEED", 50_000) as u64);
    let (mut made, mut verified, mut bounded, mut impossible) = (0, 0, 0, 0);
    for seed in first.. {
        if made >= count {
            break;
        }
        let rng = &mut Rng(seed);
        let problem = draw(seed, rng);
        if problem.allowed().is_empty() {
            continue;
        }
        let all = objectives(&problem);
        let proved = prove(&problem, 1 + rng.below(3), 60, rng).records;
        for _ in 0..OF_PROBLEM {
            let file = forge(&problem, &proved, rng);
            made += 1;
            match check(&file, &problem) {
                Ok(verdict) => {
                    let fault = false_bound(&problem, &all, &verdict);
                    assert_eq!(fault, None, "seed {seed}, body {made}: {problem:?}\n{verdict:?}");
                    verified += 1;
                    bounded += usize::from(verdict.bound() > f64::NEG_INFINITY);
                }
                Err(fault) => impossible += usize::from(fault.to_string().contains("the checker is wrong")),
            }
        }
    }
    println!("{made} forged bodies from seed {first}: {verified} verified, {bounded} of them with a bound");
    assert_eq!(impossible, 0, "verdicts that cannot be");
    assert!(verified * 10 > made && bounded * 20 > made, "{made} forged, {verified} verified, {bounded} with a bound");
}
