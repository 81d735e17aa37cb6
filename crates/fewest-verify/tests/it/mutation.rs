//! Random changes to valid proofs: none is verified with a better claim than is true.

use serde_json::{Value, json};

use crate::common::encoder::{Point, Record, file, pack, plain};
use crate::common::prover::{Proved, prove};
use crate::common::{Bias, Problem, Rng, Rules, check, false_claim};

/// A proof that claims all it proves.
fn tight(problem: &Problem, rng: &mut Rng) -> Proved {
    let mut proved = prove(problem, 1 + rng.below(3), 150, rng);
    let verdict = check(&file(&problem.header(), &proved.records), problem).expect("a proof");
    for record in &mut proved.records {
        match record {
            Record::Subset { features, own, .. } => {
                *own = verdict.listed.iter().find(|one| one.features == *features).expect("listed").bound;
            }
            Record::End { bound, .. } => *bound = verdict.rest,
            _ => {}
        }
    }
    proved
}

/// The problem that a header states on the data of another.
fn stated(header: &Value, problem: &Problem) -> Option<Problem> {
    let rules = &header["rules"];
    let list = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(|j| j.as_u64().map(|j| j as usize)).collect()
    };
    let groups = |value: &Value| -> Option<Vec<(usize, Vec<usize>)>> {
        value.as_array()?.iter().map(|g| Some((g[0].as_u64()? as usize, list(&g[1])?))).collect()
    };
    let numbers =
        |value: &Value| value.as_array().map(|list| list.iter().filter_map(Value::as_f64).collect::<Vec<f64>>());
    Some(Problem {
        cost: header["cost"].as_f64()?,
        l1: match header["gain"].as_str()? {
            "l1" => Some(numbers(&header["weight_bounds"])?),
            _ => None,
        },
        squared: header["loss"].as_str()? == "squared-hinge",
        bias: match header["bias"].as_str() {
            Some("free") => Bias::Free,
            Some(_) => Bias::None,
            None => Bias::Penalised(header["bias"]["penalised"].as_f64()?),
        },
        penalty: numbers(&header["penalty"])?,
        rules: Rules {
            max_features: rules["max_features"].as_u64().map(|k| k as usize),
            require: list(&rules["require"])?,
            forbid: list(&rules["forbid"])?,
            implies: rules["implies"]
                .as_array()?
                .iter()
                .map(|pair| Some((pair[0].as_u64()? as usize, pair[1].as_u64()? as usize)))
                .collect::<Option<_>>()?,
            at_most: groups(&rules["at_most"])?,
            at_least: groups(&rules["at_least"])?,
            together: rules["together"].as_array()?.iter().map(list).collect::<Option<_>>()?,
            budget: rules["budget"].as_f64(),
            costs: numbers(&rules["costs"])?,
            weights: rules["weights"]
                .as_array()?
                .iter()
                .map(|w| {
                    let (lower, upper) = (w["lower"].as_f64(), w["upper"].as_f64());
                    let infinite = f64::INFINITY;
                    Some((w["feature"].as_u64()? as usize, lower.unwrap_or(-infinite), upper.unwrap_or(infinite)))
                })
                .collect::<Option<_>>()?,
        },
        ..problem.clone()
    })
}

fn point_of(record: &mut Record) -> Option<&mut Point> {
    match record {
        Record::Close { point, .. } | Record::Fix { point, .. } | Record::Tighten { point, .. } => point.as_mut(),
        _ => None,
    }
}

/// One random change of the records.
pub(crate) fn change_records(records: &mut Vec<Record>, problem: &Problem, rng: &mut Rng) {
    let (at, other) = (rng.below(records.len()), rng.below(records.len()));
    let (p, n) = (problem.p(), problem.n());
    match rng.below(9) {
        0 => _ = records.remove(at),
        1 => records.insert(other, records[at].clone()),
        2 => records.swap(at, other),
        3 | 4 => {
            let Some(point) = point_of(&mut records[at]) else { return };
            match rng.below(5) {
                0 => point.e += [-1, 1, 2, 10][rng.below(4)],
                1 => point.prices = vec![(rng.below(3), rng.range(-0.1, 1.0))],
                2 => point.k.iter_mut().for_each(|k| *k *= 2),
                3 => point.k.swap(0, 1),
                _ => {
                    let i = rng.below(n);
                    point.k[i] = point.k[i].wrapping_add(1u64 << rng.below(40));
                }
            }
        }
        5 => match &mut records[at] {
            Record::Split { feature, .. } => *feature = rng.below(p),
            Record::Fix { inside, outside, .. } => std::mem::swap(inside, outside),
            Record::Tighten { bounds, .. } => bounds.iter_mut().for_each(|b| b.1 *= rng.range(0.0, 1.0)),
            Record::Subset { features, weights, .. } => {
                features.truncate(1);
                weights.truncate(features.len());
            }
            _ => {}
        },
        6 => match &mut records[at] {
            Record::Split { node, .. } | Record::Close { node, .. } => *node = rng.below(12) as u64,
            Record::Fix { inside, .. } => *inside = (0..p).filter(|_| rng.chance(0.3)).collect(),
            Record::Subset { weights, .. } => weights.iter_mut().for_each(|w| *w *= rng.range(0.9, 1.1)),
            _ => {}
        },
        7 => {
            // A fact of its own: some features in and some out, by the point before.
            let inside = (0..p).filter(|_| rng.chance(0.2)).collect();
            let outside = (0..p).filter(|_| rng.chance(0.2)).collect();
            records.insert(other, Record::Fix { node: rng.below(8) as u64, point: None, inside, outside });
        }
        _ => {
            let better =
                |x: &mut f64, rng: &mut Rng| *x += x.abs() * rng.range(0.0, 1.0) * 10f64.powi(-(rng.below(9) as i32));
            for record in records {
                match record {
                    Record::End { bound, .. } => better(bound, rng),
                    Record::Subset { own, objective, .. } => {
                        better(own, rng);
                        let mut less = -*objective;
                        better(&mut less, rng);
                        *objective = -less;
                    }
                    _ => {}
                }
            }
        }
    }
}

/// One random change of the header.
fn change_header(header: &mut Value, problem: &Problem, rng: &mut Rng) {
    let p = problem.p();
    let j = rng.below(p);
    match rng.below(11) {
        0 => header["rules"]["max_features"] = json!(1 + rng.below(p)),
        1 => header["rules"]["require"] = json!([j]),
        2 => header["rules"]["forbid"] = json!([j]),
        3 => header["rules"]["implies"] = json!([[j, rng.below(p)]]),
        4 => header["rules"]["together"] = json!([]),
        5 => header["rules"]["at_most"] = json!([]),
        6 => header["cost"] = json!(problem.cost * rng.range(0.5, 2.0)),
        7 => header["rules"]["weights"] = json!([]),
        8 => header["rules"]["weights"] = json!([{ "feature": j, "lower": -rng.range(0.0, 1.0), "upper": null }]),
        9 => header["penalty"] = json!((0..p).map(|_| rng.range(0.0, 1.0)).collect::<Vec<f64>>()),
        _ => header["rules"] = Rules::draw(rng, p).json(),
    }
}

#[test]
fn no_change_makes_a_proof_of_what_is_not_true() {
    let (mut changed, mut verified, mut refused) = (0, 0, [0; 5]);
    for seed in 1000..1080 {
        let problem = Problem::draw(seed);
        if problem.allowed().is_empty() {
            continue;
        }
        let rng = &mut Rng(seed);
        let proved = tight(&problem, rng);
        let bytes = plain(&problem.header(), &proved.records);
        for round in 0..50 {
            let (mut records, mut header, mut data) = (proved.records.clone(), problem.header(), problem.clone());
            let kind = round % 5;
            let file = match kind {
                0 | 1 => {
                    (0..=rng.below(3)).for_each(|_| change_records(&mut records, &problem, rng));
                    file(&header, &records)
                }
                2 => {
                    change_header(&mut header, &problem, rng);
                    file(&header, &records)
                }
                3 => {
                    let mut bytes = bytes.clone();
                    for _ in 0..=rng.below(3) {
                        let at = rng.below(bytes.len());
                        match rng.below(4) {
                            0 => bytes[at] ^= 1 << rng.below(8),
                            1 => bytes[at] = rng.word() as u8,
                            2 => _ = bytes.remove(at),
                            _ => bytes.truncate(at.max(1)),
                        }
                    }
                    pack(&bytes)
                }
                _ => {
                    // Other data; half of the time under a fingerprint that fits.
                    let (i, j) = (rng.below(problem.n()), rng.below(problem.p()));
                    match rng.below(3) {
                        0 => data.y.swap(0, 1),
                        1 => data.weights[i] += 0.25,
                        _ => data.columns[j][i] *= 1.0 + rng.range(0.0, 1.0),
                    }
                    if rng.chance(0.5) {
                        header = data.header();
                    }
                    crate::common::encoder::file(&header, &records)
                }
            };
            changed += 1;
            match check(&file, &data) {
                Err(_) => refused[kind] += 1,
                Ok(verdict) => {
                    let proof = fewest_verify::Proof::open(&file[..]).expect("it was verified");
                    let header: Value = serde_json::from_str(proof.header()).expect("JSON");
                    let problem = stated(&header, &data).expect("it was verified");
                    if let Some(fault) = false_claim(&problem, &verdict) {
                        panic!("seed {seed}, round {round}: {fault}\n{problem:?}\n{records:?}");
                    }
                    verified += 1;
                }
            }
        }
    }
    assert!(changed >= 2000 && verified > 100, "{changed} changes, {verified} verified");
    assert!(refused.iter().all(|count| *count > 100), "{refused:?}");
}
