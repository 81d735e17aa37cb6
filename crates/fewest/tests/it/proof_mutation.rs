//! Random changes to the proofs that `exact` and `kta` write on hard small problems: none is
//! verified with a better claim than is true. (`crates/fewest-verify/tests/it/mutation.rs` changes
//! headers and rules, too, on proofs that are made by hand.)

use fewest::method::exact::{ExactSettings, exact, exact_several};
use fewest::method::kta::{KtaSettings, kta};
use fewest::{DenseDesign, Gamma, Limits, Problem, Rules, Subset};
use fewest_testing::{
    Bracket, HardCase, KeptProofs, Rng, alignment_value, allowed_subsets, bracket, verify_alignment, verify_proof,
    verify_several,
};
use fewest_verify::{Error, Verdict};
use rayon::prelude::*;

/// What rounding of the values compared may amount to.
const ROUNDING: f64 = 1e-9;

/// A case with its proof and the values of all allowed subsets that are not empty.
struct Proven {
    case: HardCase,
    file: Vec<u8>,
    /// Where the records begin.
    records: usize,
    values: Vec<(Subset, Bracket)>,
}

fn proven(seed: u64) -> Option<Proven> {
    let case = HardCase::draw(seed);
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone().into(),
        solutions: case.solutions,
        ..ExactSettings::default()
    };
    let mut files = KeptProofs::default();
    exact(&case.problem(), &rules, &settings, Limits::default(), &mut files).expect("valid settings");
    let file = files.files.pop()?;
    let records = 1 + file.iter().position(|byte| *byte == b'\n')?;
    let subsets = allowed_subsets(&rules).into_iter().filter(|subset| !subset.is_empty());
    let value = |s: &Subset| bracket(&case.problem(), s, &case.svm, &case.penalty);
    let values = subsets.map(|s| (s.clone(), value(&s))).collect();
    Some(Proven { case, file, records, values })
}

/// The classes of a case.
fn classes(case: &HardCase) -> Vec<u32> {
    case.labels.iter().map(|&y| u32::from(y > 0.0)).collect()
}

/// A proof of `kta`; values are minus alignments.
fn aligned(seed: u64) -> Option<Proven> {
    let case = HardCase::draw(seed);
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let gamma = [0.01, 0.3, 1.0, 5.0][seed as usize % 4];
    let settings = KtaSettings { gamma: Gamma::Number(gamma), solutions: case.solutions, ..KtaSettings::default() };
    let (classes, mut files) = (classes(&case), KeptProofs::default());
    kta(&case.design, &classes, &case.weights, &rules, &settings, Limits::default(), &mut files).expect("settings");
    let file = files.files.pop()?;
    let records = 1 + file.iter().position(|byte| *byte == b'\n')?;
    let value = |s: &Subset| {
        let value = -alignment_value(&case.design, &classes, &case.weights, s, gamma);
        // Sums of up to 36^2 terms of size 1 cancel.
        Bracket { lower: value - 1e-12, upper: value + 1e-12 }
    };
    let values = allowed_subsets(&rules).into_iter().map(|s| (s.clone(), value(&s))).collect();
    Some(Proven { case, file, records, values })
}

impl Proven {
    /// What of a verdict is not true.
    fn false_claim(&self, verdict: &Verdict) -> Option<String> {
        for (subset, value) in &self.values {
            let listed = verdict.listed.iter().find(|one| subset.iter().eq(one.features.iter().copied()));
            let (objective, bound) = listed.map_or((f64::INFINITY, verdict.rest), |one| (one.objective, one.bound));
            let room = ROUNDING * value.upper.abs();
            if bound > value.upper + room || objective < value.lower - room {
                return Some(format!("{subset:?}: objective {objective}, bound {bound}, truth {value:?}"));
            }
        }
        None
    }
}

/// One random change of the bytes of the records, or of a number among them.
fn change(bytes: &mut Vec<u8>, records: usize, rng: &mut Rng) {
    let at = records + rng.below(bytes.len() - records);
    match rng.below(7) {
        0 => bytes[at] ^= 1 << rng.below(8),
        1 => bytes[at] = rng.word() as u8,
        2 => bytes[at] = bytes[at].wrapping_add(1),
        3 => _ = bytes.remove(at),
        4 => bytes.insert(at, rng.word() as u8),
        5 => {
            let other = records + rng.below(bytes.len() - records);
            let (low, high) = (at.min(other), at.max(other));
            bytes.drain(low..high.min(low + 40));
        }
        _ => {
            // The claims stand near the end, after the last subset: the bound, then a short text.
            let back = (9 + rng.below(40)).min(bytes.len() - records);
            let at = bytes.len() - back;
            let number = bytes.get(at..at + 8).map(|b| f64::from_le_bytes(b.try_into().expect("eight bytes")));
            if let Some(number) = number.filter(|x| x.is_normal()) {
                let better = number * (1.0 + 10f64.powi(-(rng.below(10) as i32)));
                bytes[at..at + 8].copy_from_slice(&better.to_le_bytes());
            }
        }
    }
}

/// Changes a proof 40 times: how many changes there were, and how many were verified.
fn survive(seed: u64, proven: &Proven, check: &dyn Fn(&[u8]) -> Result<Verdict, Error>) -> (usize, usize) {
    let rng = &mut Rng::new(seed);
    let verdict = check(&proven.file).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(proven.false_claim(&verdict), None, "seed {seed}");
    let mut verified = 0;
    for round in 0..40 {
        let mut bytes = proven.file.clone();
        (0..=rng.below(2)).for_each(|_| change(&mut bytes, proven.records, rng));
        if let Ok(verdict) = check(&bytes) {
            let fault = proven.false_claim(&verdict);
            assert_eq!(fault, None, "seed {seed}, round {round}: {verdict:?}");
            verified += 1;
        }
    }
    (40, verified)
}

/// The labels of the second of two problems on the matrix of a case.
fn others(case: &HardCase) -> Vec<f64> {
    let mut labels = case.labels.clone();
    labels.rotate_left(1);
    labels
}

/// A proof of `exact` on two problems that share their matrix.
fn of_two(seed: u64) -> Option<Proven> {
    let case = HardCase::draw(seed);
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone().into(),
        solutions: case.solutions,
        ..ExactSettings::default()
    };
    let labels = others(&case);
    let problems = [case.problem(), Problem::new(&case.design, &labels, None).expect("both classes")];
    let mut files = KeptProofs::default();
    exact_several(&problems, &rules, &settings, Limits::default(), &mut files).expect("valid settings");
    let file = files.files.pop()?;
    let records = 1 + file.iter().position(|byte| *byte == b'\n')?;
    let subsets = allowed_subsets(&rules).into_iter().filter(|subset| !subset.is_empty());
    let value = |s: &Subset| {
        let first = bracket(&problems[0], s, &case.svm, &case.penalty);
        let second = bracket(&problems[1], s, &case.svm, &[]);
        Bracket { lower: first.lower + second.lower, upper: first.upper + second.upper }
    };
    let values = subsets.map(|s| (s.clone(), value(&s))).collect();
    Some(Proven { case, file, records, values })
}

/// The case's matrix with one value changed.
fn other_data(case: &HardCase, seed: u64) -> DenseDesign<'static> {
    let (n, p) = (case.labels.len(), case.features());
    let mut columns: Vec<f64> = (0..p).flat_map(|j| case.design.column(j).to_vec()).collect();
    let at = Rng::new(seed).below(n * p);
    columns[at] = columns[at] * 1.5 + 0.25;
    DenseDesign::new(n, p, columns).expect("n p values")
}

/// Enough was changed, some of it without harm.
fn enough(counts: &[(usize, usize)]) {
    let (changed, verified) = counts.iter().fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
    assert!(changed >= 1000, "{changed} changes");
    assert!(verified * 2 < changed && verified > 0, "{verified} of {changed} verified");
}

#[test]
fn no_change_makes_a_proof_of_what_is_not_true() {
    let prove = |seed: u64| {
        let proven = proven(seed)?;
        let problem = proven.case.problem();
        let counts = survive(seed, &proven, &|file| verify_proof(file, &problem));
        let design = other_data(&proven.case, seed);
        let other = Problem::new(&design, &proven.case.labels, Some(&proven.case.weights)).expect("a problem");
        let fault = verify_proof(&proven.file, &other).expect_err("other data").to_string();
        assert!(fault.contains("fingerprint"), "{fault}");
        Some(counts)
    };
    enough(&(5000..5060u64).into_par_iter().filter_map(prove).collect::<Vec<_>>());
}

#[test]
fn no_change_makes_a_proof_of_several_problems_that_is_not_true() {
    let prove = |seed: u64| {
        let proven = of_two(seed)?;
        let labels = others(&proven.case);
        let second = Problem::new(&proven.case.design, &labels, None).expect("both classes");
        let problems = [proven.case.problem(), second];
        let counts = survive(seed, &proven, &|file| verify_several(file, &problems));
        let [first, second] = problems;
        let alone = verify_proof(&proven.file, &first).expect_err("one of two").to_string();
        assert_eq!(alone, "header: the data are of 1 problem, the proof is about 2");
        let fault = verify_several(&proven.file, &[second, first]).expect_err("another order").to_string();
        assert!(fault.contains("fingerprint"), "{fault}");
        Some(counts)
    };
    enough(&(5000..5060u64).into_par_iter().filter_map(prove).collect::<Vec<_>>());
}

#[test]
fn no_change_makes_a_proof_of_an_alignment_that_is_not_true() {
    let prove = |seed: u64| {
        let proven = aligned(seed)?;
        let (case, classes) = (&proven.case, classes(&proven.case));
        let counts = survive(seed, &proven, &|file| verify_alignment(file, &case.design, &classes, &case.weights));
        let fault = verify_alignment(&proven.file, &other_data(case, seed), &classes, &case.weights);
        let fault = fault.expect_err("other data").to_string();
        assert!(fault.contains("fingerprint"), "{fault}");
        Some(counts)
    };
    enough(&(5000..5060u64).into_par_iter().filter_map(prove).collect::<Vec<_>>());
}
