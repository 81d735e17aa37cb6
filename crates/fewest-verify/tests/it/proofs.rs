//! Proofs of tiny problems against the value of every subset.

use fewest_verify::{Error, Proof};

use crate::common::encoder::{Point, Record, ascending, file, number, numbers, pack, plain, text};
use crate::common::prover::prove;
use crate::common::{Bias, Problem, Rng, Rules, bits, check, check_all, false_claim};

/// With the claims that the check itself proved.
fn with_claims(records: &[Record], verdict: &fewest_verify::Verdict) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        match record {
            Record::Subset { features, own, objective, .. } => {
                let one = verdict.listed.iter().find(|one| one.features == *features).expect("listed");
                (*own, *objective) = (one.bound, one.objective);
            }
            Record::End { bound, .. } => *bound = verdict.rest,
            _ => {}
        }
    }
    records
}

#[test]
fn what_is_proven_is_true_and_no_less_than_plain_arithmetic_says() {
    let (mut proofs, mut kinds) = (0, [0; 5]);
    for seed in 0..400 {
        let problem = Problem::draw(seed);
        if problem.allowed().is_empty() {
            continue;
        }
        let rng = &mut Rng(seed);
        let proved = prove(&problem, 1 + rng.below(3), 300, rng);
        let header = problem.header();
        let verdict = check(&file(&header, &proved.records), &problem);
        let verdict = verdict.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{problem:?}\n{:?}", proved.records));
        if let Some(fault) = false_claim(&problem, &verdict) {
            panic!("seed {seed}: {fault}\n{problem:?}\n{:?}", proved.records);
        }
        // Relaxing the rules within a box can only lower a bound; with a size alone nothing is
        // relaxed.
        let weights = problem.rules.weights.clone();
        let bounded = !weights.is_empty();
        let size_alone = Rules { max_features: problem.rules.max_features, weights, ..Rules::default() };
        let exact = format!("{size_alone:?}") == format!("{:?}", problem.rules);
        let listed: Vec<u32> = verdict.listed.iter().map(|one| bits(&one.features)).collect();
        let unlisted = proved.alone.iter().filter(|(z, _)| !listed.contains(z));
        let rest = unlisted.map(|(_, bound)| *bound).fold(proved.rest, f64::min);
        let room = 1e-9 * (1.0 + rest.abs());
        if rest.is_finite() {
            // What is alone to the checker, after it followed the rules, may not be alone here.
            assert!(verdict.rest.min(verdict.bound()) <= rest + room || !exact, "seed {seed}");
            assert!(!exact || verdict.rest >= rest - room, "seed {seed}: {} below {rest}", verdict.rest);
        }
        let claimed = with_claims(&proved.records, &verdict);
        assert_eq!(check(&file(&header, &claimed), &problem).as_ref(), Ok(&verdict), "seed {seed}");
        proofs += 1;
        for (count, found) in kinds.iter_mut().zip([
            exact,
            problem.l1.is_some(),
            problem.squared,
            bounded && problem.l1.is_some(),
            bounded && problem.l1.is_none(),
        ]) {
            *count += usize::from(found);
        }
    }
    assert!(proofs > 300 && kinds.iter().all(|count| *count > 25), "{proofs} proofs, {kinds:?}");
}

#[test]
fn better_claims_than_proven_are_refused() {
    let mut refused = 0;
    for seed in 0..100 {
        let problem = Problem::draw(seed);
        if problem.allowed().is_empty() {
            continue;
        }
        let rng = &mut Rng(seed);
        let proved = prove(&problem, 1 + rng.below(3), 100, rng);
        let header = problem.header();
        let verdict = check(&file(&header, &proved.records), &problem).expect("a proof");
        let best = verdict.best().expect("one is listed").objective;
        let more = 2e-7 * best + 1e-300;
        let claimed = with_claims(&proved.records, &verdict);
        for at in 0..claimed.len() {
            let mut better = claimed.clone();
            let expected = match &mut better[at] {
                Record::Subset { own, .. } if own.is_finite() => {
                    *own += more;
                    "own bound"
                }
                Record::End { bound, .. } if bound.is_finite() => {
                    *bound += more;
                    "bound proven"
                }
                _ => continue,
            };
            let fault = check(&file(&header, &better), &problem).expect_err("a better claim");
            assert!(fault.to_string().contains(expected), "{fault}");
            refused += 1;
        }
        for at in 0..claimed.len() {
            let mut better = claimed.clone();
            if let Record::Subset { objective, .. } = &mut better[at]
                && *objective > 0.0
            {
                *objective *= 1.0 - 2e-7;
                let fault = check(&file(&header, &better), &problem).expect_err("a better objective");
                assert!(fault.to_string().contains("above the"), "{fault}");
                refused += 1;
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

/// Two samples, one feature, x = y: v = 1/2 with w = 1 and b = 0 while C >= 1/2; alpha = 1/2 each.
fn two_points() -> (Problem, Vec<Record>) {
    let problem = Problem {
        columns: vec![vec![1.0, -1.0], vec![0.0, 0.0]],
        y: vec![1.0, -1.0],
        weights: vec![1.0; 2],
        cost: 1.0,
        l1: None,
        squared: false,
        bias: Bias::Free,
        penalty: Vec::new(),
        rules: Rules { max_features: Some(1), ..Rules::default() },
    };
    let point = Some(Point { e: -1, k: vec![1, 1], prices: Vec::new() });
    let records = vec![
        Record::Split { node: 0, feature: 0 },
        Record::Close { node: 1, point },
        Record::Close { node: 2, point: Some(Point { e: 0, k: vec![1, 1], prices: Vec::new() }) },
        Record::Subset { features: vec![0], objective: 0.5, own: 0.5, weights: vec![1.0], bias: 0.0 },
        Record::End { bound: 2.0, status: "optimal".to_owned() },
    ];
    (problem, records)
}

#[test]
fn a_proof_by_hand_is_verified_to_the_last_digits() {
    let (problem, records) = two_points();
    let verdict = check(&file(&problem.header(), &records), &problem).expect("a proof");
    assert!((verdict.listed[0].bound - 0.5).abs() < 1e-14 && verdict.listed[0].objective < 0.5 + 1e-14);
    assert!((verdict.rest - 2.0).abs() < 1e-14 && verdict.gap().is_some_and(|gap| gap < 1e-13));
    assert_eq!((verdict.progress.parts, verdict.progress.points, verdict.progress.records), (2, 2, 5));
}

#[test]
fn a_bound_on_a_weight_raises_what_is_proven() {
    // With w <= 1/2: 1/8 + 2 (1 - 1/2) at alpha = C, where c = 2 and g(c) = 1/2 (2 - 1/4). With
    // w <= 0 nothing is gained.
    for (upper, value) in [(0.5, 1.125), (0.0, 2.0)] {
        let (mut problem, mut records) = two_points();
        problem.rules.weights = vec![(0, f64::NEG_INFINITY, upper)];
        let beyond = check(&file(&problem.header(), &records), &problem).expect_err("w = 1").to_string();
        assert!(beyond.starts_with("record 4 (subset): the weight 1 of feature 0 is beyond its bound"), "{beyond}");
        records[1] = Record::Close { node: 1, point: Some(Point { e: 0, k: vec![1, 1], prices: Vec::new() }) };
        let (features, weights) = (vec![0], vec![upper]);
        records[3] = Record::Subset { features, objective: value, own: value, weights, bias: 0.0 };
        let verdict = check(&file(&problem.header(), &records), &problem).expect("a proof");
        assert!((verdict.listed[0].bound - value).abs() < 1e-14, "{verdict:?}");
        // The same file without the bound claims too much.
        problem.rules.weights.clear();
        let free = check(&file(&problem.header(), &records), &problem).expect_err("a free weight").to_string();
        assert!(free.contains("the own bound proven for [0] is"), "{free}");
    }
}

#[test]
fn bounds_of_several_problems_add() {
    // The second has x = 2 y: v = 1/8 with w = 1/2, at alpha = 1/8 each.
    let (first, records) = two_points();
    let columns = vec![vec![2.0, -2.0], vec![0.0, 0.0]];
    let second = Problem { columns, ..first.clone() };
    let mut header = first.header();
    header["n"] = serde_json::json!(4);
    header["problems"] = serde_json::json!(2);
    header["fingerprint"] = serde_json::json!(fewest_verify::fingerprint(&[&first, &second]).expect("valid data"));
    let point = |e, k: [u64; 4]| Some(Point { e, k: k.to_vec(), prices: Vec::new() });
    let closed = |k: [u64; 4]| {
        vec![
            records[0].clone(),
            Record::Close { node: 1, point: point(-3, k) },
            Record::Close { node: 2, point: point(0, [1; 4]) },
        ]
    };
    let value = 0.625;
    let with = |k: [u64; 4], w: [f64; 2]| {
        let mut bytes = plain(&header, &closed(k));
        bytes.push(5);
        ascending(&mut bytes, [0].into_iter());
        for x in [value, value] {
            number(&mut bytes, x);
        }
        for w in w {
            numbers(&mut bytes, [w].into_iter());
            number(&mut bytes, 0.0);
        }
        bytes.push(6);
        number(&mut bytes, 4.0);
        text(&mut bytes, "optimal");
        check_all(&pack(&bytes), &[&first, &second])
    };
    let verdict = with([4, 4, 1, 1], [1.0, 0.5]).expect("a proof");
    assert!((verdict.listed[0].bound - value).abs() < 1e-14 && verdict.listed[0].objective < value + 1e-14);
    assert!((verdict.rest - 4.0).abs() < 1e-14, "{verdict:?}");
    for (k, w, reason) in [
        // Balanced over both problems, not in each.
        ([4, 3, 1, 2], [1.0, 0.5], "the sum of y alpha is not 0"),
        ([4, 4, 2, 2], [1.0, 0.5], "the own bound proven for [0] is 0.4999"),
        ([4, 4, 1, 1], [1.0, 1.0], "its objective is 1"),
        ([4, 4, 16, 16], [1.0, 0.5], "alpha of sample 2 is 2, above its cost 1"),
    ] {
        let fault = with(k, w).expect_err(reason).to_string();
        assert!(fault.contains(reason), "{fault}");
    }
    // One of them alone, and another gain.
    let fault = check(&file(&header, &records), &first).expect_err("one problem").to_string();
    assert_eq!(fault, "header: the data are of 1 problem, the proof is about 2");
    header["gain"] = serde_json::json!("l1");
    let fault = check_all(&file(&header, &records), &[&first, &second]).expect_err("gain l1").to_string();
    assert!(fault.contains("do not go together"), "{fault}");
}

#[test]
fn prices_of_rows_close_what_features_alone_do_not() {
    // Both features equal: without the row `at most 1`, D - g_1 - g_2 would be 2/2 - 2 (1/2).
    let (mut problem, _) = two_points();
    problem.columns[1] = problem.columns[0].clone();
    problem.rules = Rules { implies: vec![(1, 0)], at_most: vec![(1, vec![0, 1, 1])], ..Rules::default() };
    let bound_at = |prices: Vec<(usize, f64)>| {
        let point = Some(Point { e: -1, k: vec![1, 1], prices });
        let records = [Record::Close { node: 0, point }, Record::End { bound: -9.0, status: "stalled".to_owned() }];
        check(&file(&problem.header(), &records), &problem).expect("a proof").rest
    };
    // The implication alone makes no unit, and the at-most group holds all features, so K = 1.
    assert!((bound_at(Vec::new()) - 0.5).abs() < 1e-14);
    // Row 0 is the implication z_1 <= z_0, row 1 the group: value_0 = -1/2 - tau_0 + tau_1 and
    // value_1 = -1/2 + tau_0 + tau_1.
    assert!((bound_at(vec![(1, 0.5)]) - 0.5).abs() < 1e-14);
    assert!((bound_at(vec![(0, 0.75)]) + 0.25).abs() < 1e-14);
    for prices in [vec![(2, 1.0)], vec![(0, -1.0)], vec![(0, f64::INFINITY)], vec![(0, f64::NAN)]] {
        let point = Some(Point { e: -1, k: vec![1, 1], prices });
        let records = [Record::Close { node: 0, point }, Record::End { bound: -9.0, status: "stalled".to_owned() }];
        assert!(check(&file(&problem.header(), &records), &problem).is_err());
    }
}

/// A change of the records.
type Change = Box<dyn Fn(&mut Vec<Record>)>;

#[test]
fn each_fault_is_named_with_its_record() {
    let (problem, records) = two_points();
    let header = problem.header();
    let fault = |change: &dyn Fn(&mut Vec<Record>)| {
        let mut changed = records.clone();
        change(&mut changed);
        check(&file(&header, &changed), &problem).expect_err("a fault").to_string()
    };
    let point = |e, k: [u64; 2]| Some(Point { e, k: k.to_vec(), prices: Vec::new() });
    let cases: Vec<(&str, Change)> = vec![
        (
            "record 4 (end): the bound proven is -inf, below the 2 claimed; node 1 was left open",
            Box::new(|r| {
                r.remove(1);
            }),
        ),
        ("record 3 (close): node 1 is not open", Box::new(|r| r[2] = r[1].clone())),
        (
            "record 2 (close): alpha of sample 0 is 2, above its cost 1",
            Box::new(move |r| {
                r[1] = Record::Close { node: 1, point: point(1, [1, 1]) };
            }),
        ),
        (
            "record 2 (close): the sum of y alpha is not 0",
            Box::new(move |r| {
                r[1] = Record::Close { node: 1, point: point(-3, [4, 3]) };
            }),
        ),
        (
            "record 2 (close): its point has kind 0, not 1, or 0 after a point",
            Box::new(|r| {
                r[1] = Record::Close { node: 1, point: None };
            }),
        ),
        (
            "record 2 (close): the exponent 972 of a point is not between",
            Box::new(move |r| {
                r[1] = Record::Close { node: 1, point: point(972, [1, 1]) };
            }),
        ),
        (
            "record 2 (close): sample 0 has the multiple 9007199254740992, not between",
            Box::new(move |r| {
                r[1] = Record::Close { node: 1, point: point(-60, [1 << 53, 1 << 53]) };
            }),
        ),
        (
            "record 5 (end): the own bound proven for [0] is 0.37",
            Box::new(move |r| {
                r[1] = Record::Close { node: 1, point: point(-2, [1, 1]) };
            }),
        ),
        ("record 1 (split): feature 2 is not below 2", Box::new(|r| r[0] = Record::Split { node: 0, feature: 2 })),
        (
            "record 1 (tighten): the gain is not `l1`",
            Box::new(move |r| {
                r.insert(0, Record::Tighten { node: 0, point: point(-1, [1, 1]), bounds: vec![(0, 0.5)] });
            }),
        ),
        (
            "record 4 (subset): the rules forbid its subset",
            Box::new(|r| {
                let (features, weights) = (vec![0, 1], vec![1.0, 0.0]);
                r[3] = Record::Subset { features, objective: 0.5, own: 0.5, weights, bias: 0.0 };
            }),
        ),
        (
            "record 4 (subset): its objective is 0.5",
            Box::new(|r| {
                let (features, weights) = (vec![0], vec![1.0]);
                r[3] = Record::Subset { features, objective: 0.4, own: 0.4, weights, bias: 0.0 };
            }),
        ),
        (
            "record 4 (subset): the weight inf of feature 0 is beyond its bound",
            Box::new(|r| {
                let (features, weights) = (vec![0], vec![f64::INFINITY]);
                r[3] = Record::Subset { features, objective: 0.5, own: 0.5, weights, bias: 0.0 };
            }),
        ),
        ("record 6 (end): the subset [0] is listed twice", Box::new(|r| r.insert(3, r[3].clone()))),
        ("record 4 (end): bytes follow the last record", Box::new(|r| r.swap(3, 4))),
        (
            "record 5 (of no kind): the file ends here",
            Box::new(|r| {
                r.pop();
            }),
        ),
    ];
    for (expected, change) in cases {
        let found = fault(&*change);
        assert!(found.starts_with(expected), "{found}\nexpected: {expected}");
    }
}

#[test]
fn other_data_and_other_headers_are_refused() {
    let (problem, records) = two_points();
    let header = problem.header();
    let bytes = file(&header, &records);
    let mut other = problem.clone();
    other.columns[1][0] = 1e-300;
    let fault = check(&bytes, &other).expect_err("other data").to_string();
    assert!(fault.starts_with("header: the data's fingerprint is sha256:"), "{fault}");
    let mut more = problem.clone();
    more.columns.push(vec![0.0; 2]);
    let fault = check(&bytes, &more).expect_err("more data").to_string();
    assert_eq!(fault, "header: the data have 2 samples and 3 features, the proof is about 2 and 2");
    let changed = |key: &str, value: serde_json::Value| {
        let mut header = header.clone();
        header[key] = value;
        check(&file(&header, &records), &problem).expect_err(key)
    };
    let no_proof = [
        ("version", serde_json::json!(2)),
        ("format", serde_json::json!("other")),
        ("gain", serde_json::json!("l2")),
        ("bias", serde_json::json!({ "penalised": "x" })),
        ("bias", serde_json::json!({ "free": null })),
        ("loss", serde_json::json!({ "hinge": null })),
        ("rules", serde_json::json!([2])),
        ("rules", serde_json::json!({ "weights": [[0, null, 1.0]] })),
        ("rules", serde_json::json!({ "at_least_one": [] })),
        ("rules", serde_json::json!({ "weights": [{ "feature": 0, "sign": 1 }] })),
        ("weight_bound", serde_json::json!([])),
    ];
    for (key, value) in no_proof {
        assert!(matches!(changed(key, value), Error::NotAProof(_)), "{key}");
    }
    let twice = header.to_string().replacen(r#""made":{"#, r#""made":{"x":[{"b":1,"b":2}],"#, 1);
    let fault = check(&pack(format!("{twice}\n").as_bytes()), &problem).expect_err("a key twice");
    assert!(matches!(&fault, Error::NotAProof(why) if why.contains("duplicate field `b`")), "{fault}");
    let out_of_range = [
        ("cost", serde_json::json!(0.0)),
        ("bias", serde_json::json!({ "penalised": -1.0 })),
        ("penalty", serde_json::json!([1.0])),
        ("weight_bounds", serde_json::json!([1.0, 1.0])),
        ("rules", serde_json::json!({ "require": [2] })),
        ("rules", serde_json::json!({ "budget": 1.0 })),
        ("rules", serde_json::json!({ "weights": [{ "feature": 2 }] })),
        ("rules", serde_json::json!({ "weights": [{ "feature": 0, "lower": 0.5 }] })),
        ("rules", serde_json::json!({ "weights": [{ "feature": 0, "upper": -0.5 }] })),
        ("rules", serde_json::json!({ "budget": 1.0, "costs": [1.0, -1.0] })),
    ];
    for (key, value) in out_of_range {
        let fault = changed(key, value).to_string();
        assert!(fault.starts_with("header: "), "{key}: {fault}");
    }
}

#[test]
fn a_contradiction_in_the_rules_leaves_nothing_to_prove() {
    let (mut problem, _) = two_points();
    problem.rules.require = vec![0, 1];
    let records = [Record::End { bound: f64::INFINITY, status: "infeasible".to_owned() }];
    let verdict = check(&file(&problem.header(), &records), &problem).expect("a proof");
    assert_eq!((verdict.rest, verdict.gap(), verdict.listed.len()), (f64::INFINITY, None, 0));
}

#[test]
fn a_check_can_be_stopped_and_knows_its_header() {
    let (problem, records) = two_points();
    let bytes = pack(&plain(&problem.header(), &records));
    let proof = Proof::open(&bytes[..]).expect("a proof");
    assert!(proof.header().starts_with("{\"format\":\"fewest-proof\""));
    let mut calls = 0;
    let stopped = proof.check(&[&problem], 1 << 20, &mut |progress| {
        calls += 1;
        if progress.records == 2 { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) }
    });
    assert_eq!((stopped, calls), (Err(Error::Stopped), 3));
}
