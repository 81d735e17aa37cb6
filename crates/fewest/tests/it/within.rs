//! All subsets within a share of the best against enumeration, on hard small problems with random
//! rules: what a list claims is true wherever a run was stopped, and a run that ends lists all.
//!
//! `FEWEST_WITHIN_CASES` is the number of cases (default 300), `FEWEST_WITHIN_FIRST` the first seed.

use std::collections::BTreeMap;

use fewest::method::exact::ExactSettings;
use fewest::method::kta::KtaSettings;
#[cfg(feature = "highs")]
use fewest::method::mbp::{MbpSettings, WeightRule};
use fewest::{Clock, DenseDesign, Gamma, Limits, Problem, Report, Rules, Samples, Sense, Silent, Status, Subset};
use fewest_papers::AnyMethod;
use fewest_testing::{
    Bracket, HardCase, HardData, KeptProofs, alignment_value, allowed_subsets, bracket, verify_alignment, verify_proof,
};
use fewest_verify::Verdict;
use rayon::prelude::*;

/// What rounding of the values compared may amount to, as a share of them.
const ROUNDING: f64 = 1e-9;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var_os(name).and_then(|v| v.to_str()?.parse().ok()).unwrap_or(default)
}

/// A run that was asked for all subsets within a share of the best.
struct Asked<'t> {
    within: f64,
    most: usize,
    gap: f64,
    sense: Sense,
    /// The value without features.
    baseline: f64,
    /// Every allowed subset with its value.
    truth: &'t [(Subset, Bracket)],
}

impl Asked<'_> {
    /// As costs: smaller is better.
    fn cost(&self, value: f64) -> f64 {
        if self.sense == Sense::Min { value } else { -value }
    }

    /// The least and the largest cost that a subset may have.
    fn costs(&self, value: &Bracket) -> (f64, f64) {
        let (a, b) = (self.cost(value.lower), self.cost(value.upper));
        (a.min(b), a.max(b))
    }

    /// What is wrong with a report.
    fn faults(&self, report: &Report) -> Vec<String> {
        let (near, solutions) = (&report.details["within"], &report.selection.solutions);
        let (status, mut faults) = (report.selection.outcome.status, Vec::new());
        let number = |key: &str| near[key].as_f64();
        let best = solutions[0].objective;
        let room = ROUNDING * best.abs().max(self.baseline.abs());
        let threshold = number("threshold").expect("a number");
        let gain = (self.baseline - best).abs();
        let expected = if self.sense == Sense::Min { best + self.within * gain } else { best - self.within * gain };
        let off = (threshold - expected).abs() > ROUNDING * self.baseline.abs();
        if near["subsets"] != solutions.len() || off || solutions.len() > self.most {
            faults.push(format!("{} subsets up to {threshold}, expected {expected}: {near}", solutions.len()));
        }
        if report.selection.outcome.subset.as_ref() != Some(&solutions[0].subset) {
            faults.push("the first subset is not the one selected".to_owned());
        }
        let end = self.cost(threshold);
        let slack = 0.11 * self.gap * end.abs() + room;
        for (k, solution) in solutions.iter().enumerate() {
            let Some((_, value)) = self.truth.iter().find(|t| t.0 == solution.subset) else {
                faults.push(format!("forbidden subset {:?}", solution.subset));
                continue;
            };
            let (cost, (lower, upper)) = (self.cost(solution.objective), self.costs(value));
            if cost < lower - room || (status == Status::Optimal && cost > upper + slack) {
                faults.push(format!("{cost} is not the value of {:?}, {lower} to {upper}", solution.subset));
            }
            if cost > end + slack || (k > 0 && cost < self.cost(solutions[k - 1].objective)) {
                faults.push(format!("{cost} at place {k}, up to {end}"));
            }
            if solutions[..k].iter().any(|before| before.subset == solution.subset) {
                faults.push(format!("{:?} is listed twice", solution.subset));
            }
        }
        let complete = near["complete"] == true;
        let reached = number("complete_within").map(|share| self.cost(best) + share * gain);
        if complete && reached != Some(end) && (reached.unwrap_or(f64::NAN) - end).abs() > room {
            faults.push(format!("complete, but within {reached:?}, not {end}"));
        }
        let others = number("others").map(|others| self.cost(others));
        for (subset, value) in self.truth.iter().filter(|t| solutions.iter().all(|s| s.subset != t.0)) {
            let (_, upper) = self.costs(value);
            if others.is_some_and(|others| upper + room < others) {
                faults.push(format!("{subset:?} has at most {upper}, but others at least {others:?}"));
            }
            if complete && upper <= end {
                faults.push(format!("{subset:?} of at most {upper} is not among all up to {end}"));
            }
            if reached.is_some_and(|reached| upper + room < reached) {
                faults.push(format!("{subset:?} of at most {upper} is missing up to {reached:?}"));
            }
            if complete && number("others").is_none() {
                faults.push(format!("{subset:?} is not listed, but the others are not mentioned"));
            }
            let last = self.cost(solutions[solutions.len() - 1].objective);
            if status == Status::Optimal && !complete && upper + self.gap * last.abs() + room < last {
                faults.push(format!("{subset:?} of at most {upper} is better than the last, {last}"));
            }
        }
        if status == Status::Optimal && !complete && solutions.len() < self.most {
            faults.push(format!("optimal with {} of {}, but not complete: {near}", solutions.len(), self.most));
        }
        faults
    }

    /// What is wrong with the proof of a report.
    fn proof_faults(&self, report: &Report, files: &KeptProofs, check: impl Fn(&[u8]) -> Verdict) -> Vec<String> {
        let [file] = &files.files[..] else { return vec![format!("{} proofs", files.files.len())] };
        let (verdict, solutions, mut faults) = (check(file), &report.selection.solutions, Vec::new());
        let listed = |subset: &Subset| verdict.listed.iter().any(|one| subset.iter().eq(one.features.iter().copied()));
        let optimal = report.selection.outcome.status == Status::Optimal;
        if optimal && solutions.iter().any(|solution| !listed(&solution.subset)) {
            faults.push(format!("the proof lists {} of {}", verdict.listed.len(), solutions.len()));
        }
        for (subset, value) in self.truth.iter().filter(|t| !listed(&t.0)) {
            let (_, upper) = self.costs(value);
            if verdict.rest > upper + ROUNDING * upper.abs() + 1e-12 {
                faults.push(format!("proven {} of the others, but {subset:?} has {upper}", verdict.rest));
            }
        }
        let end = self.cost(report.details["within"]["threshold"].as_f64().expect("a number"));
        if optimal && report.details["within"]["complete"] == true && verdict.rest < end - self.gap * end.abs() - 1e-11
        {
            faults.push(format!("the proof of all up to {end} reaches {} only", verdict.rest));
        }
        faults
    }
}

/// Results by method, status and whether the list is complete; and what is wrong.
type Events = Vec<(String, Vec<String>)>;

fn judge(seed: u64) -> Option<Events> {
    let case = HardCase::draw(seed);
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let subsets = allowed_subsets(&rules);
    (!subsets.is_empty()).then_some(())?;
    let gap = [1e-4, 1e-3, 1e-6][seed as usize % 3];
    let (within, most) = ([0.0, 0.01, 0.1, 0.5][seed as usize % 4], [1000, 1000, 1000, 3, 1][seed as usize % 5]);
    let nodes = seed.is_multiple_of(7).then_some(1 + seed % 5);
    let limits = Limits { gap_rel: gap, nodes, ..Limits::default() };
    let classes: Vec<u32> = case.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&case.design, &classes, Some(&case.weights)).expect("valid");
    let mut events = Events::new();
    let mut note = |name: &str, asked: &Asked<'_>, report: &Report, proof: Vec<String>| {
        let (status, complete) = (report.selection.outcome.status, report.details["within"]["complete"] == true);
        let faults = asked.faults(report).into_iter().chain(proof);
        let about =
            |fault| format!("seed {seed} {name} {:?} {:?} within {within}, {most}: {fault}", case.data, case.kind);
        events.push((format!("{name:6} {:10} complete {complete}", status.name()), faults.map(about).collect()));
        // A limit on nodes is the only one there is.
        assert!(nodes.is_some() || matches!(status, Status::Optimal | Status::Stalled), "seed {seed} {name}: {status}");
    };
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone().into(),
        solutions: most,
        within: Some(within),
        ..ExactSettings::default()
    };
    let truth: Vec<(Subset, Bracket)> = subsets.iter().map(|s| (s.clone(), value(&case, s))).collect();
    let baseline = value(&case, &Subset::empty(case.features())).upper;
    let asked = Asked { within, most, gap, sense: Sense::Min, baseline, truth: &truth };
    let mut files = KeptProofs::default();
    let method = AnyMethod::from(settings);
    let report = method.select(&samples, &rules, limits.clone(), &mut files).expect("valid settings");
    let check =
        |file: &[u8]| verify_proof(file, &case.problem()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    note("exact", &asked, &report, asked.proof_faults(&report, &files, check));
    if seed.is_multiple_of(4) {
        // Without a proof the gap is the one asked for.
        let report = method.select(&samples, &rules, limits.clone(), &mut Silent).expect("valid settings");
        note("exact", &asked, &report, Vec::new());
    }

    let gamma = [0.01, 0.3, 1.0, 5.0][seed as usize / 3 % 4];
    let settings =
        KtaSettings { gamma: Gamma::Number(gamma), solutions: most, within: Some(within), ..KtaSettings::default() };
    let value = |s: &Subset| alignment_value(&case.design, &classes, &case.weights, s, gamma);
    // Sums of up to 36^2 terms of size 1 cancel.
    let around = |value: f64| Bracket { lower: value - 1e-12, upper: value + 1e-12 };
    let truth: Vec<(Subset, Bracket)> = subsets.iter().map(|s| (s.clone(), around(value(s)))).collect();
    let asked = Asked { within, most, gap, sense: Sense::Max, baseline: 0.0, truth: &truth };
    let mut files = KeptProofs::default();
    let method = AnyMethod::from(settings);
    let report = method.select(&samples, &rules, limits.clone(), &mut files).expect("valid settings");
    let check = |file: &[u8]| {
        verify_alignment(file, &case.design, &classes, &case.weights)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"))
    };
    note("kta", &asked, &report, asked.proof_faults(&report, &files, check));

    #[cfg(feature = "highs")]
    if matches!(case.data, HardData::Plain | HardData::Ties | HardData::Integer) {
        let (cost, bound) = (case.svm.cost.clamp(0.01, 100.0), [0.5, 5.0][seed as usize / 2 % 2]);
        let penalty: Vec<f64> = (0..case.features()).map(|j| 0.1 * cost * (j % 3) as f64).collect();
        let settings = MbpSettings {
            cost,
            bias: case.svm.bias,
            penalty: penalty.clone(),
            weight_bound: Some(WeightRule::Number(bound)),
            solutions: most,
            within: Some(within),
            ..MbpSettings::default()
        };
        let value = |s: &Subset| one_norm(&case, cost, bound, &penalty, s);
        let truth: Vec<(Subset, Bracket)> = subsets.iter().map(|s| (s.clone(), value(s))).collect();
        // Linear programs are solved to 1e-9.
        let gap = gap.max(1e-6);
        let baseline = value(&Subset::empty(case.features())).upper;
        let asked = Asked { within, most, gap, sense: Sense::Min, baseline, truth: &truth };
        let limits = Limits { gap_rel: gap, ..limits };
        let report = AnyMethod::from(settings).select(&samples, &rules, limits, &mut Silent).expect("valid settings");
        note("mbp", &asked, &report, Vec::new());
    }
    Some(events)
}

/// The value of a subset for `exact`.
fn value(case: &HardCase, subset: &Subset) -> Bracket {
    if !subset.is_empty() {
        return bracket(&case.problem(), subset, &case.svm, &case.penalty);
    }
    let zeros = DenseDesign::new(case.labels.len(), 1, vec![0.0; case.labels.len()]).expect("a column");
    let problem = Problem::new(&zeros, &case.labels, Some(&case.weights)).expect("valid");
    bracket(&problem, &Subset::full(1), &case.svm, &[])
}

/// min |w|_1 + sum C_i xi_i with |w_j| <= u on a subset, and its prices.
#[cfg(feature = "highs")]
fn one_norm(case: &HardCase, cost: f64, bound: f64, penalty: &[f64], subset: &Subset) -> Bracket {
    let problem = case.problem();
    let costs = case.weights.iter().map(|weight| cost * weight).collect();
    let bounds = (0..case.features()).map(|j| if subset.contains(j) { bound } else { 0.0 }).collect();
    let mut oracle = fewest::l1_oracle::L1Oracle::new(&problem, costs, case.svm.bias, bounds).expect("HiGHS");
    let point = oracle.solve(1e-10, &Clock::unlimited()).expect("solved");
    let price: f64 = subset.iter().map(|j| penalty[j]).sum();
    Bracket { lower: point.dual + price, upper: point.primal + price }
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of a long run")]
fn lists_hold_all_that_they_claim() {
    let (cases, first) = (from_environment("FEWEST_WITHIN_CASES", 300), from_environment("FEWEST_WITHIN_FIRST", 0));
    let judged: Vec<Events> = (first..first + cases).into_par_iter().filter_map(judge).collect();
    let mut table: BTreeMap<&str, usize> = BTreeMap::new();
    let mut faults: Vec<&str> = Vec::new();
    for (name, wrong) in judged.iter().flatten() {
        *table.entry(name).or_default() += 1;
        faults.extend(wrong.iter().map(String::as_str));
    }
    for (name, count) in &table {
        println!("{name} {count:8}");
    }
    println!("{} problems", judged.len());
    assert!(judged.len() as u64 * 2 > cases, "too few cases have rules that allow a subset");
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    let of = |part: &str| table.iter().filter(|e| e.0.contains(part)).map(|e| e.1).sum::<usize>();
    for name in if cfg!(feature = "highs") { &["exact", "kta", "mbp"][..] } else { &["exact", "kta"] } {
        assert!(table.iter().any(|e| e.0.starts_with(name) && e.0.contains("optimal    complete true")), "{name}");
    }
    assert!(of("optimal    complete true") > 2 * of("stalled"), "{table:?}");
    assert!(of("optimal    complete false") > 0 && of("node_limit") > 0, "{table:?}");
}

/// Feature 2 is feature 0 again, feature 3 is feature 1 with the other sign.
#[test]
fn what_is_as_good_is_listed_without_any_room() {
    let (plain, labels) = fewest_testing::RandomProblem { n: 30, p: 2, density: 1.0, noise: 0.2, seed: 3 }.draw();
    let columns = [plain.column(0).to_vec(), plain.column(1).to_vec()];
    let opposite: Vec<f64> = columns[1].iter().map(|x| -x).collect();
    let design =
        DenseDesign::new(30, 4, [&columns[0][..], &columns[1], &columns[0], &opposite].concat()).expect("fits");
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&design, &classes, None).expect("valid");
    // One of each pair: a size of 2 alone would allow the same feature twice.
    let list = fewest::RuleList { at_most: vec![(1, vec![0, 2]), (1, vec![1, 3])], ..fewest::RuleList::default() };
    let rules = Rules::new(4, list, &[]).expect("valid");
    let most = 9;
    let within = Some(0.0);
    let methods: Vec<AnyMethod> = vec![
        ExactSettings { solutions: most, within, ..ExactSettings::default() }.into(),
        KtaSettings { solutions: most, within, ..KtaSettings::default() }.into(),
        #[cfg(feature = "highs")]
        MbpSettings { solutions: most, within, weight_bound: Some(WeightRule::Number(5.0)), ..MbpSettings::default() }
            .into(),
    ];
    for method in methods {
        let report = method.select(&samples, &rules, Limits::default(), &mut Silent).expect("valid settings");
        let name = method.info().name;
        let best = &report.selection.solutions;
        let near = &report.details["within"];
        assert_eq!((report.selection.outcome.status, &near["complete"]), (Status::Optimal, &true.into()), "{name}");
        let twin = |j: usize| (j + 2) % 4;
        for solution in best {
            let other = Subset::from_indices(4, solution.subset.iter().map(twin));
            assert!(best.iter().any(|s| s.subset == other), "{name}: {best:?} lack {other:?}");
        }
        assert!(best.len() == 2 || best.len() == 4, "{name}: {best:?}");
    }
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let (design, labels) = fewest_testing::RandomProblem { n: 12, p: 3, density: 1.0, noise: 0.2, seed: 1 }.draw();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&design, &classes, None).expect("valid");
    let rules = Rules::none(3);
    let asked = |within: f64| -> Vec<AnyMethod> {
        let within = Some(within);
        vec![
            ExactSettings { within, ..ExactSettings::default() }.into(),
            KtaSettings { within, ..KtaSettings::default() }.into(),
            #[cfg(feature = "highs")]
            MbpSettings { within, ..MbpSettings::default() }.into(),
        ]
    };
    for method in [-0.1, f64::NAN, f64::INFINITY].into_iter().flat_map(asked) {
        let error = method.select(&samples, &rules, Limits::default(), &mut Silent).expect_err("refused");
        assert!(error.to_string().starts_with("within is "), "{error}");
    }
    for method in asked(0.1) {
        let error = method.path(&samples, &rules, &[1, 2], &Limits::default(), &mut Silent).expect_err("refused");
        assert!(error.to_string().contains("left out of a path"), "{error}");
    }
    #[cfg(feature = "highs")]
    for (settings, words) in [
        (MbpSettings { within: Some(0.1), plain: true, ..MbpSettings::default() }, "plain is set"),
        (MbpSettings { solutions: 2, plain: true, ..MbpSettings::default() }, "plain is set"),
    ] {
        let method = AnyMethod::from(settings);
        let error = method.select(&samples, &rules, Limits::default(), &mut Silent).expect_err("refused");
        assert!(error.to_string().contains(words), "{error}");
    }
    #[cfg(feature = "highs")]
    for (settings, words) in [
        (MbpSettings { within: Some(0.1), ..MbpSettings::default() }, "within is set"),
        (MbpSettings { solutions: 2, ..MbpSettings::default() }, "solutions is set"),
    ] {
        let method = AnyMethod::from(settings);
        let mut files = KeptProofs::default();
        let error = method.select(&samples, &rules, Limits::default(), &mut files).expect_err("refused");
        assert!(error.to_string().contains(words) && error.to_string().contains("proof"), "{error}");
    }
}
