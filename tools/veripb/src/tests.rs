//! Exported problems against enumeration, and their proofs by VeriPB where it is installed.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use fewest::method::exact::{ExactSettings, exact};
use fewest::method::mbp::{MbpSettings, WeightRule, mbp};
use fewest::{FeatureSet, Limits, RuleList, Rules, Silent, Subset, WeightBound};
use fewest_testing::{HardCase, KeptProofs, Rng, all_subsets, bracket, obeys, random_bounds, tell_proof, verify_proof};
use fewest_verify::{OnStep, Verdict};

use super::goal::{Goal, Refusal};

/// An exported proof.
struct Exported {
    goal: Goal,
    verdict: Verdict,
    problem: String,
    proof: String,
}

/// `sum of numbers of literals >= right`: by variable the number where it is in, and where it is out.
struct Line {
    terms: HashMap<usize, [i128; 2]>,
    right: i128,
}

impl Line {
    fn read(text: &str) -> Self {
        let (left, right) = text.trim_end_matches(" ;").split_once(">= ").expect("a row");
        let words: Vec<&str> = left.split_whitespace().collect();
        let mut terms = HashMap::<usize, [i128; 2]>::new();
        for term in words.chunks(2) {
            let (out, name) = (term[1].starts_with('~'), term[1].trim_start_matches(['~', 'x']));
            let feature: usize = name.parse().expect("a variable");
            terms.entry(feature - 1).or_default()[usize::from(out)] += term[0].parse::<i128>().expect("a number");
        }
        Self { terms, right: right.parse().expect("a number") }
    }

    /// The left side less the right side.
    fn slack(&self, holds: &dyn Fn(usize) -> bool) -> i128 {
        let term = |(j, numbers): (&usize, &[i128; 2])| numbers[usize::from(!holds(*j))];
        self.terms.iter().map(term).sum::<i128>() - self.right
    }
}

/// The lines of a problem: rules, listed subsets, points.
fn lines(exported: &Exported) -> [Vec<Line>; 3] {
    let text = |line: &&str| !line.starts_with('*');
    let mut all: Vec<Line> = exported.problem.lines().filter(text).map(Line::read).collect();
    let points = all.split_off(all.len() - exported.goal.points as usize);
    let listed = all.split_off(all.len() - exported.verdict.listed.len());
    [all, listed, points]
}

/// How a case is solved.
#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Exact,
    /// With bounds on weights.
    Bounded,
    Mbp,
}

/// A case; `mbp` writes proofs of one subset, where rules say what is in and out.
fn drawn(seed: u64, by: By) -> HardCase {
    let mut case = HardCase::draw(seed);
    if by == By::Mbp {
        let RuleList { require, forbid, .. } = case.rules;
        case.rules = RuleList { require, forbid, ..RuleList::default() };
        case.solutions = 1;
    }
    case
}

/// Rules of a case, some with bounds on weights; none where they contradict each other.
fn rules(case: &HardCase, by: By, list: RuleList) -> Option<Rules> {
    let bounds = random_bounds(&mut Rng::new(case.seed), case.features());
    let weights = || bounds.iter().enumerate().map(|(j, bound)| WeightBound::within(j, *bound)).collect();
    let bounded = by == By::Bounded || (by == By::Mbp && case.seed % 2 == 1);
    let list = if bounded { RuleList { weights: weights(), ..list } } else { list };
    Rules::new(case.features(), list, &[]).ok()
}

/// Solves a case and keeps its proof.
fn solved(case: &HardCase, by: By, gap: f64) -> Option<Vec<u8>> {
    let (rules, problem, mut files) = (rules(case, by, case.rules.clone())?, case.problem(), KeptProofs::default());
    let limits = Limits { gap_rel: gap, ..Limits::default() };
    let (svm, penalty, solutions) = (case.svm.clone(), case.penalty.clone(), case.solutions);
    if by == By::Mbp {
        mbp(&problem, &rules, &mbp_settings(case), limits, &mut files).ok()?;
    } else {
        let settings = ExactSettings { svm, penalty: penalty.into(), solutions, ..ExactSettings::default() };
        exact(&problem, &rules, &settings, limits, &mut files).ok()?;
    }
    files.files.into_iter().next()
}

fn mbp_settings(case: &HardCase) -> MbpSettings {
    MbpSettings {
        cost: case.svm.cost.clamp(0.1, 10.0),
        bias: case.svm.bias,
        penalty: if case.penalty.is_empty() { Vec::new() } else { vec![0.1; case.features()] },
        weight_bound: Some(WeightRule::Number(1.5)),
        ..MbpSettings::default()
    }
}

/// The proof of a case, exported; none where the rules contradict each other, or nothing is proven.
fn exported(case: &HardCase, by: By, gap: f64) -> Option<Exported> {
    let (file, problem) = (solved(case, by, gap)?, case.problem());
    let verdict = verify_proof(&file, &problem).ok()?;
    let mut pass = |on_step: &mut OnStep<'_>| tell_proof(&file, &problem, on_step);
    let goal = match Goal::find(&verdict, Vec::new(), &mut pass) {
        Ok(goal) => goal,
        Err(Refusal::Check(error)) => panic!("seed {}: {error}", case.seed),
        Err(Refusal::Failure(_)) if verdict.rest == f64::NEG_INFINITY => return None,
        Err(Refusal::Failure(failure)) => panic!("seed {}: {}", case.seed, failure.into_text()),
    };
    let (mut opb, mut pbp) = (Vec::new(), Vec::new());
    assert!(goal.write(&mut opb, &mut pbp, &mut pass).is_ok(), "seed {}", case.seed);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Some(Exported { goal, verdict, problem: text(opb), proof: text(pbp) })
}

/// What variables beside those of features can be: all weights are within their bounds, or one is
/// the first that is beyond: bounds before it hold, those after it do not.
fn beside(exported: &Exported) -> Vec<HashMap<usize, bool>> {
    let names = &exported.goal.meanings;
    let all = names.iter().map(|(k, name)| (k - 1, !name.starts_with("the weight"))).collect();
    let first = |at: usize| {
        let of = |(k, name): &(usize, String)| (k - 1, *k == at || (*k < at && !name.starts_with("the weight")));
        names.iter().map(of).collect()
    };
    let ones = names.iter().filter(|name| name.1.starts_with("the weight")).map(|name| first(name.0));
    [all].into_iter().chain(ones).collect()
}

/// The rules are those of the claim, and no point is a solution.
fn judge(case: &HardCase, exported: &Exported) {
    let ([rules, listed, points], seed, p) = (lines(exported), case.seed, case.features());
    let others = beside(exported);
    for subset in all_subsets(p) {
        let with = |others: &HashMap<usize, bool>, lines: &[Line]| {
            let holds = |j: usize| if j < p { subset.contains(j) } else { others[&j] };
            lines.iter().all(|line| line.slack(&holds) >= 0)
        };
        let allowed = with(&others[0], &rules) && representatives(exported, &subset);
        assert_eq!(allowed, obeys(&case.rules, &subset), "seed {seed}: {subset:?}");
        if !allowed {
            continue;
        }
        let features: Vec<usize> = subset.iter().collect();
        let is_listed = exported.verdict.listed.iter().any(|one| one.features == features);
        assert_eq!(!with(&others[0], &listed), is_listed, "seed {seed}: {subset:?}");
        let solution = !is_listed && others.iter().any(|others| with(others, &points));
        assert!(!solution, "seed {seed}: {subset:?} is a solution");
    }
}

/// Each row is true of each allowed subset: of an objective that is known, and the weights there.
fn judge_rows(case: &HardCase, exported: &Exported, by: By) {
    let ([_, _, points], p) = (lines(exported), case.features());
    let (bound, scale) = (exported.goal.bound, exported.goal.scale);
    for subset in all_subsets(p).filter(|subset| !subset.is_empty() && obeys(&case.rules, subset)) {
        let (most, weights) = match by {
            By::Mbp => l1(case, &subset),
            _ => (bracket(&case.problem(), &subset, &case.svm, &case.penalty).upper, Vec::new()),
        };
        let mut within = true;
        let mut others = HashMap::new();
        for (k, name) in &exported.goal.meanings {
            let words: Vec<&str> = name.split(' ').collect();
            let is = if name.starts_with("the weight") {
                let j = words[3][1..].parse::<usize>().expect("a feature") - 1;
                let beyond = weights[j] > words[6].parse::<f64>().expect("a number") + 1e-12;
                within &= !beyond;
                beyond
            } else {
                within
            };
            others.insert(k - 1, is);
        }
        let holds = |j: usize| if j < p { subset.contains(j) } else { others[&j] };
        for slack in points.iter().map(|line| line.slack(&holds)).filter(|slack| *slack < 0) {
            let least = bound + (-slack - 1) as f64 / scale;
            let room = if by == By::Mbp { 1e-6 } else { 1e-9 } * most.abs();
            assert!(least <= most + room, "seed {}: {subset:?} has {most}, a row says {least}", case.seed);
        }
    }
}

/// The objective of `mbp` on one subset, and the sizes of its weights.
fn l1(case: &HardCase, subset: &Subset) -> (f64, Vec<f64>) {
    let p = case.features();
    let list = RuleList {
        require: subset.iter().collect(),
        forbid: FeatureSet::of(p, |j| !subset.contains(j)),
        ..RuleList::default()
    };
    let rules = rules(case, By::Mbp, list).expect("one subset");
    let report = mbp(&case.problem(), &rules, &mbp_settings(case), Limits::default(), &mut Silent).expect("solved");
    let mut weights = vec![0.0; p];
    if let Some(model) = report.model() {
        model.features.iter().zip(&model.machines[0].weights).for_each(|(&j, w)| weights[j] = w.abs());
    }
    (report.selection.outcome.objective.unwrap_or(f64::INFINITY), weights)
}

/// Whether features that stand for each other are in or out together.
fn representatives(exported: &Exported, subset: &Subset) -> bool {
    let together = exported.problem.lines().filter(|line| line.ends_with("in or out together"));
    let names = |line: &str| -> Vec<usize> {
        let numbers = line.split_whitespace().filter_map(|word| word.trim_end_matches(',').strip_prefix('x'));
        numbers.filter_map(|number| number.parse().ok()).collect()
    };
    together.map(names).all(|unit| unit.iter().all(|j| subset.contains(j - 1) == subset.contains(unit[0] - 1)))
}

/// VeriPB, as the variable VERIPB names it or as PATH has it.
fn veripb() -> Option<PathBuf> {
    let there = |path: &PathBuf| path.is_file();
    let named = std::env::var_os("VERIPB").map(PathBuf::from);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    named.or_else(|| std::env::split_paths(&paths).map(|folder| folder.join("veripb")).find(there)).filter(there)
}

/// Whether VeriPB accepts a problem and a proof.
fn accepts(veripb: &PathBuf, name: &str, problem: &str, proof: &str) -> bool {
    let folder = std::env::temp_dir();
    let at = |ending: &str| folder.join(format!("fewest-export-{}-{name}.{ending}", std::process::id()));
    let (opb, pbp) = (at("opb"), at("pbp"));
    std::fs::write(&opb, problem).and_then(|()| std::fs::write(&pbp, proof)).expect("to a temporary folder");
    let ran = Command::new(veripb).arg(&opb).arg(&pbp).output().expect("VeriPB can be started");
    let _ = std::fs::remove_file(&opb).and_then(|()| std::fs::remove_file(&pbp));
    ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("VERIFIED UNSATISFIABLE")
}

const ALL: [By; 3] = [By::Exact, By::Bounded, By::Mbp];

#[test]
fn exported_problems_are_true_and_have_no_solution() {
    for by in ALL {
        let (mut seen, mut tightened) = (0, 0);
        for seed in 0..80 {
            let case = drawn(seed, by);
            let Some(exported) = exported(&case, by, [1e-4, 1e-2, 1e-6][seed as usize % 3]) else { continue };
            judge(&case, &exported);
            if by != By::Bounded {
                judge_rows(&case, &exported, by);
            }
            seen += 1;
            tightened += u32::from(!exported.goal.meanings.is_empty());
        }
        assert!(seen > 40, "only {seen} of 80 cases of {by:?} have an export");
        assert!(by != By::Mbp || tightened > 10, "only {tightened} cases bound weights more closely");
    }
}

#[test]
fn veripb_accepts_what_is_exported_and_nothing_else() {
    let Some(veripb) = veripb() else {
        let _ = std::io::stderr().write_all(b"skipped: there is no veripb (`cargo install veripb`; VERIPB, PATH)\n");
        return;
    };
    for by in ALL {
        let (mut seen, mut refused) = (0, 0);
        for seed in 0..40 {
            let case = drawn(seed, by);
            let Some(exported) = exported(&case, by, 1e-4) else { continue };
            let (problem, proof) = (&exported.problem, &exported.proof);
            assert!(accepts(&veripb, "true", problem, proof), "seed {seed}, {by:?}:\n{problem}\n{proof}");
            seen += 1;
            // Rows that ask for less have a solution, and no proof.
            let weaker = weakened(&exported);
            if has_solution(&case, &exported, &weaker) {
                assert!(!accepts(&veripb, "weak", &weaker, proof), "seed {seed}: a false proof is accepted");
                refused += 1;
            }
        }
        assert!(seen > 20 && refused > 5, "{by:?}: {seen} accepted, {refused} refused");
    }
}

/// The problem with right sides of all points that are smaller by a tenth.
fn weakened(exported: &Exported) -> String {
    let count = exported.problem.lines().count() - exported.goal.points as usize;
    let line = |(at, line): (usize, &str)| match line.split_once(">= ") {
        Some((left, right)) if at >= count => {
            let right: i128 = right.trim_end_matches(" ;").parse().expect("a number");
            format!("{left}>= {} ;\n", right - right.abs() / 10 - 1)
        }
        _ => format!("{line}\n"),
    };
    exported.problem.lines().enumerate().map(line).collect()
}

/// Whether a subset fulfils all rows of a changed problem.
fn has_solution(case: &HardCase, exported: &Exported, problem: &str) -> bool {
    let lines: Vec<Line> = problem.lines().filter(|line| !line.starts_with('*')).map(Line::read).collect();
    let (p, others) = (case.features(), beside(exported));
    let fulfils = |subset: &Subset, others: &HashMap<usize, bool>| {
        let holds = |j: usize| if j < p { subset.contains(j) } else { others[&j] };
        lines.iter().all(|line| line.slack(&holds) >= 0)
    };
    let of = |subset: &Subset| representatives(exported, subset) && others.iter().any(|one| fulfils(subset, one));
    all_subsets(p).any(|subset| of(&subset))
}
