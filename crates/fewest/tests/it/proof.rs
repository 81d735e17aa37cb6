//! Proofs on hard small problems against enumeration: never a false `optimal`, a bound beyond the
//! optimum or a forbidden subset; and every proof file that a run writes is verified.
//!
//! `FEWEST_PROOF_CASES` is the number of cases (default 2,000), `FEWEST_PROOF_FIRST` the first
//! seed, `FEWEST_PROOF_METHODS` the methods, separated by commas: each then runs on every seed,
//! where without it some run on some. `make fuzz-proof` runs many.

#[cfg(feature = "highs")]
mod programs;
mod truth;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use fewest::dual::BoxDual;
use fewest::kernel::DistanceKernel;
use fewest::method::certificate::certify;
use fewest::method::exact::path::exact_path;
use fewest::method::exact::{ExactSettings, exact};
use fewest::method::kta::{KtaSettings, kta};
use fewest::model::{FitSettings, fit};
use fewest::{
    Clock, Counts, DenseDesign, Design, Interval, Limits, Outcome, RuleList, Rules, Sense, Solution, Status, Subset,
    SvmSettings, WeightBound,
};
use fewest_testing::{
    Bracket, HardCase, KeptProofs, Rng, alignment_by, allowed_subsets, bounded_bracket, bracket, kernel_distance,
    random_bounds, verify_alignment, verify_proof,
};
use fewest_verify::{Error, Verdict};
use rayon::prelude::*;
use truth::Truth;

/// What rounding of the values compared may amount to.
const ROUNDING: f64 = 1e-9;
/// A gain up to this share of the baseline is none; `gbd` knows no better.
const NOTHING: f64 = 1e-8;
/// Rounding of alignments, which lie between 0 and 2: sums over pairs that cancel.
const ALIGNMENT_ROUNDING: f64 = 1e-12;

/// Seeds beyond the default ones that had a fault: pairs of categories merged by distances in single
/// precision, which no checker merges.
const KNOWN: [u64; 1] = [700_075];

/// A number from the environment.
fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var_os(name).and_then(|v| v.to_str()?.parse().ok()).unwrap_or(default)
}

/// Whether a method runs on a seed: on one of `every`, or on all of them if it was asked for by
/// name.
fn runs(method: &str, seed: u64, every: u64) -> bool {
    match std::env::var_os("FEWEST_PROOF_METHODS") {
        Some(names) => names.to_string_lossy().split(',').any(|name| name.trim() == method),
        None => seed.is_multiple_of(every),
    }
}

/// The values of a case's subsets, each bracketed once.
struct Values<'c> {
    case: &'c HardCase,
    known: RefCell<HashMap<Subset, Bracket>>,
}

impl Values<'_> {
    fn of(&self, subset: &Subset) -> Bracket {
        if let Some(value) = self.known.borrow().get(subset) {
            return *value;
        }
        let case = self.case;
        let value =
            if subset.is_empty() { empty(case) } else { bracket(&case.problem(), subset, &case.svm, &case.penalty) };
        self.known.borrow_mut().insert(subset.clone(), value);
        value
    }

    /// The truth under rules.
    fn under(&self, rules: &Rules, gap: f64) -> Truth {
        let values = allowed_subsets(rules).into_iter().map(|s| (s.clone(), self.of(&s))).collect();
        let Bracket { lower, upper } = empty(self.case);
        let price = cheapest(&self.case.penalty);
        Truth { sense: Sense::Min, baseline: upper, width: upper - lower, price, values, gap }
    }
}

/// What happened: (kind of data, method), status or fault.
type Events = Vec<(String, &'static str, Result<Status, String>)>;

struct Judged {
    events: Events,
    /// Relative width of the widest bracket.
    width: f64,
}

fn judge(seed: u64) -> Option<Judged> {
    let case = HardCase::draw(seed);
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let problem = case.problem();
    let limits = Limits { gap_rel: [1e-4, 1e-3, 1e-6][seed as usize % 3], ..Limits::default() };
    let known = Values { case: &case, known: RefCell::default() };
    let truth = known.under(&rules, limits.gap_rel);
    let width = |v: &Bracket| (v.upper - v.lower) / v.upper.abs().max(1e-300);
    let width = truth.values.iter().map(|v| width(&v.1)).fold(0.0, f64::max);
    let mut events = Events::new();
    let kind = format!("{:?}", case.data);
    let mut note = |method: &'static str, outcome: &Outcome, solutions: &[Solution], wanted: usize, truth: &Truth| {
        let faults = truth.faults(outcome, solutions, wanted);
        if faults.is_empty() {
            events.push((kind.clone(), method, Ok(outcome.status)));
        }
        for fault in faults {
            events.push((
                kind.clone(),
                method,
                Err(format!("seed {seed} {method} {:?} {:?}: {fault}", case.data, case.kind)),
            ));
        }
    };
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone().into(),
        solutions: case.solutions,
        ..ExactSettings::default()
    };
    if runs("exact", seed, 1) {
        let mut files = KeptProofs::default();
        let found = exact(&problem, &rules, &settings, limits.clone(), &mut files).expect("valid settings");
        note("exact", &found.outcome, &found.solutions, case.solutions, &truth);
        proven(&files, 0, &check(&problem), &found.outcome, case.solutions, &truth, &mut note);
    }
    if runs("certify", seed, 1)
        && let Some(subset) = truth.values.iter().map(|v| &v.0).find(|s| !s.is_empty())
    {
        let mut files = KeptProofs::default();
        let certificate =
            certify(&problem, &rules, subset, &settings, limits.clone(), &mut files).expect("an allowed subset");
        let sized: Vec<(Subset, Bracket)> =
            truth.values.iter().filter(|v| v.0.len() <= subset.len()).cloned().collect();
        let truth = Truth { values: sized, ..truth };
        let outcome = Outcome {
            status: certificate.status,
            subset: Some(certificate.best.subset.clone()),
            objective: Some(certificate.best.objective),
            sense: Sense::Min,
            bound: certificate.bound,
            yardstick: Some(certificate.yardstick),
            elapsed: Duration::ZERO,
            counts: Counts::default(),
        };
        note("certify", &outcome, &[], 1, &truth);
        if !files.files.is_empty() {
            proven_beside(Some(subset), &files, 0, &check(&problem), &outcome, 1, &truth, &mut note);
            if let Ok(verdict) = check(&problem)(&files.files[0])
                && !is_listed(&verdict, subset, &truth)
            {
                let nothing = Outcome { status: Status::Cancelled, subset: None, objective: None, ..outcome };
                note("proof: the subset asked about is not listed", &nothing, &[], 1, &truth);
            }
        }
    }
    if runs("path", seed, 4) {
        let features = case.features();
        let sizes: Vec<usize> = (1..=features).step_by(2).collect();
        let mut files = KeptProofs::default();
        let path = exact_path(&problem, &rules, &sizes, &settings, &limits, &mut files).expect("valid settings");
        let feasible = path.iter().filter(|point| point.selection.outcome.status != Status::Infeasible);
        for (at, point) in feasible.enumerate() {
            let mut list = rules.list().clone();
            list.max_features = Some(point.max_features);
            let sized = Rules::new(features, list, &[]).expect("feasible");
            let truth = known.under(&sized, limits.gap_rel);
            note("path", &point.selection.outcome, &point.selection.solutions, case.solutions, &truth);
            proven(&files, at, &check(&problem), &point.selection.outcome, case.solutions, &truth, &mut note);
        }
    }
    if runs("kta", seed, 1) {
        alignment(&case, &rules, &limits, &mut note);
    }
    if runs("bounded", seed, 3) {
        bounded(&known, &rules, &limits, &settings, &mut note);
    }
    #[cfg(feature = "highs")]
    {
        programs::benders(&case, &rules, &limits, &known, &mut note);
        programs::mixed_binary(&case, &rules, &limits, &mut note);
    }
    Some(Judged { events, width })
}

/// Rules with random bounds on weights; as small as the weights are where columns are large.
fn with_bounds(case: &HardCase, rules: &Rules) -> (Rules, Vec<Interval>) {
    let bounds = random_bounds(&mut Rng::new(case.seed), case.features());
    let size = |j: usize| (case.design.squared_norm(j) / case.labels.len() as f64).sqrt();
    let scaled = |(j, bound): (usize, Interval)| {
        let over = |end: f64| if end.is_finite() { end / size(j).max(1e-300) } else { end };
        if size(j) > 0.0 { Interval { lower: over(bound.lower), upper: over(bound.upper) } } else { bound }
    };
    let bounds: Vec<Interval> = bounds.into_iter().enumerate().map(scaled).collect();
    let weights = bounds.iter().enumerate().map(|(j, bound)| WeightBound::within(j, *bound)).collect();
    let list = RuleList { weights, ..rules.list().clone() };
    (Rules::new(case.features(), list, &[]).expect("bounds that hold 0 forbid nothing"), bounds)
}

/// Values of all allowed subsets within bounds on weights.
fn bounded_truth(known: &Values<'_>, rules: &Rules, bounds: &[Interval], gap: f64) -> Truth {
    let case = known.case;
    let classes: Vec<u32> = case.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let value = |subset: &Subset| {
        if subset.is_empty() {
            return known.of(subset);
        }
        let features: Vec<usize> = subset.iter().collect();
        let price: f64 = features.iter().filter_map(|&j| case.penalty.get(j)).sum();
        let columns: Vec<f64> = features.iter().flat_map(|&j| case.design.column(j).to_vec()).collect();
        let columns = DenseDesign::new(case.labels.len(), features.len(), columns).expect("n values each");
        let svm = SvmSettings { tolerance: 1e-9, ..case.svm.clone() };
        let weight_bounds = rules.weight_bounds().of_all(&features);
        let settings = FitSettings { svm: svm.clone(), weight_bounds, ..FitSettings::default() };
        let all: Vec<usize> = (0..features.len()).collect();
        let mut model =
            fit(&columns, &all, &classes, &case.weights, &settings, &Clock::unlimited()).expect("valid settings");
        let mut solution = model.machines.remove(0).solution;
        // Samples without weight were left out.
        let mut beta = vec![0.0; case.labels.len()];
        let counted = (0..beta.len()).filter(|&i| case.weights[i] > 0.0).zip(&solution.beta);
        counted.for_each(|(i, b)| beta[i] = *b);
        solution.beta = beta;
        let bounds: Vec<Interval> = features.iter().map(|&j| bounds[j]).collect();
        let dual = BoxDual::new(&case.labels, &case.weights, &svm);
        let found = bounded_bracket(&columns, &bounds, &dual, &solution);
        Bracket { lower: found.lower + price, upper: found.upper + price }
    };
    let values = allowed_subsets(rules).into_iter().map(|s| (s.clone(), value(&s))).collect();
    Truth { values, ..known.under(rules, gap) }
}

/// `exact` within bounds on weights.
fn bounded(known: &Values<'_>, rules: &Rules, limits: &Limits, settings: &ExactSettings, note: &mut Note<'_>) {
    let case = known.case;
    let (rules, bounds) = with_bounds(case, rules);
    let truth = bounded_truth(known, &rules, &bounds, limits.gap_rel);
    let mut files = KeptProofs::default();
    let problem = case.problem();
    let found = exact(&problem, &rules, settings, limits.clone(), &mut files).expect("valid settings");
    note("bounded", &found.outcome, &found.solutions, case.solutions, &truth);
    proven(&files, 0, &check(&problem), &found.outcome, case.solutions, &truth, note);
}

/// A checker of proofs about a problem.
fn check<'p>(problem: &'p fewest::Problem<'p>) -> impl Fn(&[u8]) -> Result<Verdict, Error> + 'p {
    |file| verify_proof(file, problem)
}

/// What the proof file of a run proves, against the values of all subsets: a proof that fails is a
/// fault, and one of a run that ended as optimal proves the gap.
fn proven(
    files: &KeptProofs,
    at: usize,
    check: &dyn Fn(&[u8]) -> Result<Verdict, Error>,
    outcome: &Outcome,
    wanted: usize,
    truth: &Truth,
    note: &mut Note<'_>,
) {
    proven_beside(None, files, at, check, outcome, wanted, truth, note);
}

/// Checks a proof that lists a subset besides those that are wanted.
#[expect(clippy::too_many_arguments, reason = "one more than of `proven`, which most call")]
fn proven_beside(
    beside: Option<&Subset>,
    files: &KeptProofs,
    at: usize,
    check: &dyn Fn(&[u8]) -> Result<Verdict, Error>,
    outcome: &Outcome,
    wanted: usize,
    truth: &Truth,
    note: &mut Note<'_>,
) {
    let broken = |status| Outcome { status, subset: None, objective: None, ..outcome.clone() };
    let Some(file) = files.files.get(at).filter(|_| files.complete == files.files.len()) else {
        note("proof: none written", &broken(Status::Cancelled), &[], wanted, truth);
        return;
    };
    let verdict = match check(file) {
        Ok(verdict) => verdict,
        Err(error) => {
            // The words of the fault are part of its name in the table.
            let name: &'static str = Box::leak(format!("proof: {error}").into_boxed_str());
            note(name, &broken(Status::Cancelled), &[], wanted, truth);
            return;
        }
    };
    assert_eq!(verdict.maximised, truth.sense == Sense::Max);
    let (p, sign) = (truth.values[0].0.p(), truth.sign());
    let subset = |one: &fewest_verify::Listed| Subset::from_indices(p, one.features.iter().copied());
    let solution = |one: &fewest_verify::Listed| Solution { subset: subset(one), objective: sign * one.objective };
    // The subset asked about is listed beside those that are wanted, or as one of them.
    let others = verdict.listed.iter().filter(|one| !beside.is_some_and(|beside| same(beside, one))).count();
    let wished = |one: &&fewest_verify::Listed| others < wanted || !beside.is_some_and(|beside| same(beside, one));
    let listed: Vec<Solution> = verdict.listed.iter().filter(wished).map(solution).collect();
    let best = listed.first().cloned();
    let claimed = Outcome {
        subset: best.as_ref().map(|best| best.subset.clone()),
        objective: best.as_ref().map(|best| best.objective),
        bound: Some(sign * verdict.bound()).filter(|bound| bound.is_finite()),
        ..outcome.clone()
    };
    note("proof", &claimed, &listed, wanted, truth);
    if let (Some(best), Some(gap)) = (verdict.best(), verdict.gap()) {
        let (open, gain) = (best.objective - verdict.bound(), (truth.baseline - best.objective).abs());
        let of_loss = if best.objective > truth.baseline { truth.price } else { 0.0 };
        let scale = (truth.baseline - verdict.bound()).abs().max(gain).max(of_loss);
        if gain > 2.0 * NOTHING * truth.baseline.abs()
            && (gap - open.max(0.0) / scale).abs()
                > 1e-6 * gap + 1e-8 + (1e-11 * truth.baseline.abs() + truth.width) / scale
        {
            let name: &'static str = Box::leak(format!("proof: gap {gap}, not {open} of {scale}").into_boxed_str());
            note(name, &broken(Status::Cancelled), &[], wanted, truth);
        }
    }
    let most = |value: &Bracket| {
        let upper = truth.cost(value).upper;
        upper + ROUNDING * upper.abs()
    };
    for (one, value) in
        verdict.listed.iter().flat_map(|one| truth.values.iter().filter(|v| same(&v.0, one)).map(move |v| (one, v.1)))
    {
        if one.bound > most(&value) {
            note("proof: an own bound above the value", &broken(Status::Cancelled), &[], wanted, truth);
        }
    }
    let unlisted = truth.values.iter().filter(|v| !verdict.listed.iter().any(|one| same(&v.0, one)));
    let least = unlisted.map(|v| most(&v.1)).fold(f64::INFINITY, f64::min);
    if verdict.rest > least {
        note("proof: the rest is bounded too high", &broken(Status::Cancelled), &[], wanted, truth);
    }
    let known = if verdict.maximised { ALIGNMENT_ROUNDING } else { 0.0 };
    let within = |objective: f64| truth.gap * (1.0 + 1e-6) * objective.abs().max(1e-10) + known;
    if outcome.status == Status::Optimal
        && wanted == 1
        && !verdict.best().is_some_and(|best| best.objective - verdict.bound() <= within(best.objective))
    {
        note("proof: the gap is not proven", &broken(Status::Cancelled), &[], wanted, truth);
    }
}

/// Whether a verdict lists this subset, at no less than its value.
fn is_listed(verdict: &Verdict, subset: &Subset, truth: &Truth) -> bool {
    let value = truth.values.iter().find(|v| v.0 == *subset).map_or(f64::NAN, |v| v.1.lower);
    verdict.listed.iter().any(|one| same(subset, one) && one.objective >= value - ROUNDING * value.abs())
}

fn same(subset: &Subset, one: &fewest_verify::Listed) -> bool {
    subset.iter().eq(one.features.iter().copied())
}

type Note<'n> = dyn FnMut(&'static str, &Outcome, &[Solution], usize, &Truth) + 'n;

/// `kta` on the same data.
fn alignment(case: &HardCase, rules: &Rules, limits: &Limits, note: &mut Note<'_>) {
    let classes: Vec<u32> = case.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let gamma = [0.01, 0.3, 1.0, 5.0][case.seed as usize % 4];
    // Every kernel, with and without categories.
    let kernel = [DistanceKernel::Rbf, DistanceKernel::Laplace][case.seed as usize / 4 % 2];
    let categories =
        (0..case.features()).filter(|j| case.seed / 8 % 2 == 1 && !(case.seed as usize + j).is_multiple_of(3));
    let settings = KtaSettings {
        kernel,
        gamma: fewest::Gamma::Number(gamma),
        categorical: categories.collect(),
        solutions: case.solutions,
        ..KtaSettings::default()
    };
    let distance = kernel_distance(gamma, kernel == DistanceKernel::Laplace, &settings.categorical);
    let mut files = KeptProofs::default();
    let found = kta(&case.design, &classes, &case.weights, rules, &settings, limits.clone(), &mut files)
        .expect("valid settings");
    let value = |s: &Subset| {
        let value = alignment_by(&case.design, &classes, &case.weights, s, &distance);
        // Sums of up to 36^2 terms of size 1 cancel.
        Bracket { lower: value - 1e-13, upper: value + 1e-13 }
    };
    let values = allowed_subsets(rules).into_iter().map(|s| (s.clone(), value(&s))).collect();
    let truth = Truth { sense: Sense::Max, baseline: 0.0, width: 0.0, price: 0.0, values, gap: limits.gap_rel };
    note("kta", &found.outcome, &found.solutions, case.solutions, &truth);
    let check = |file: &[u8]| verify_alignment(file, &case.design, &classes, &case.weights);
    // What the checker says is right to some 1e-13, whatever the sizes of alignments.
    let widened = |(s, v): (Subset, Bracket)| {
        (s, Bracket { lower: v.lower - ALIGNMENT_ROUNDING, upper: v.upper + ALIGNMENT_ROUNDING })
    };
    let truth = Truth { values: truth.values.into_iter().map(widened).collect(), ..truth };
    proven(&files, 0, &check, &found.outcome, case.solutions, &truth, note);
}

/// The smallest price; 0 without prices.
fn cheapest(penalty: &[f64]) -> f64 {
    penalty.iter().copied().reduce(f64::min).unwrap_or(0.0)
}

/// The value without any feature: the best constant, by trying every kink and every vertex of the
/// loss.
fn empty(case: &HardCase) -> Bracket {
    let zeros = DenseDesign::new(case.labels.len(), 1, vec![0.0; case.labels.len()]).expect("a column");
    let problem = fewest::Problem::new(&zeros, &case.labels, Some(&case.weights)).expect("valid");
    bracket(&problem, &Subset::full(1), &case.svm, &[])
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of a long run")]
fn no_answer_claims_more_than_is_true() {
    let (cases, first) = (from_environment("FEWEST_PROOF_CASES", 2000), from_environment("FEWEST_PROOF_FIRST", 0));
    let seeds: Vec<u64> = (first..first + cases).chain(KNOWN).collect();
    let judged: Vec<Judged> = seeds.into_par_iter().filter_map(judge).collect();
    let mut table: BTreeMap<(String, &str), (usize, usize, usize)> = BTreeMap::new();
    let mut faults = Vec::new();
    for (kind, method, result) in judged.iter().flat_map(|j| &j.events) {
        let entry = table.entry((kind.clone(), method)).or_default();
        match result {
            Ok(Status::Optimal) => entry.0 += 1,
            Ok(_) => entry.1 += 1,
            Err(fault) => {
                entry.2 += 1;
                faults.push(fault.clone());
            }
        }
    }
    println!("{:10} {:11} {:>8} {:>8} {:>8}", "data", "method", "optimal", "stalled", "faults");
    for ((kind, method), (optimal, stalled, wrong)) in &table {
        println!("{kind:10} {method:11} {optimal:8} {stalled:8} {wrong:8}");
    }
    let unsure = judged.iter().filter(|j| j.width > 1e-6).count();
    println!("{} cases, {unsure} with a value known to no better than 1e-6", judged.len());
    assert!(judged.len() as u64 * 2 > cases, "too few cases have rules that allow a subset");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let (optimal, stalled) = table.values().fold((0, 0), |sum, t| (sum.0 + t.0, sum.1 + t.1));
    assert!(stalled * 16 <= optimal, "{stalled} of {optimal} answers stalled");
}
