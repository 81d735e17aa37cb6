//! Exported problems against enumeration, and their proofs by VeriPB where it is installed.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use fewest::method::exact::{ExactSettings, exact};
use fewest::{Limits, Rules, Subset};
use fewest_testing::{HardCase, KeptProofs, all_subsets, bracket, obeys, tell_proof, verify_proof};
use fewest_verify::{Told, Verdict};

use super::{Goal, Refusal};

/// An exported proof.
struct Exported {
    goal: Goal,
    verdict: Verdict,
    problem: String,
    proof: String,
}

/// `sum of numbers of literals >= right`: by feature the number where it is in, and where it is out.
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
    fn slack(&self, subset: &Subset) -> i128 {
        let term = |(j, numbers): (&usize, &[i128; 2])| numbers[usize::from(!subset.contains(*j))];
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

/// The proof of a case, exported; none where the rules contradict each other, or nothing is proven.
fn exported(case: &HardCase, gap: f64) -> Option<Exported> {
    let rules = Rules::new(case.features(), case.rules.clone(), &[]).ok()?;
    let (problem, mut files) = (case.problem(), KeptProofs::default());
    let settings = ExactSettings {
        svm: case.svm.clone(),
        penalty: case.penalty.clone(),
        solutions: case.solutions,
        ..ExactSettings::default()
    };
    exact(&problem, &rules, &settings, Limits { gap_rel: gap, ..Limits::default() }, &mut files).ok()?;
    let file = files.files.first()?;
    let verdict = verify_proof(file, &problem).ok()?;
    let mut pass = |told: &mut Told<'_>| tell_proof(file, &problem, told);
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

/// The rules are those of the claim, no point has a solution, and each row is true.
fn judge(case: &HardCase, exported: &Exported) {
    let ([rules, listed, points], seed) = (lines(exported), case.seed);
    let (bound, scale) = (exported.goal.bound, exported.goal.scale);
    let problem = case.problem();
    for subset in all_subsets(case.features()) {
        let holds = |lines: &[Line]| lines.iter().all(|line| line.slack(&subset) >= 0);
        let allowed = holds(&rules) && representatives(exported, &subset);
        assert_eq!(allowed, obeys(&case.rules, &subset), "seed {seed}: {subset:?}");
        if !allowed {
            continue;
        }
        let features: Vec<usize> = subset.iter().collect();
        let is_listed = exported.verdict.listed.iter().any(|one| one.features == features);
        assert_eq!(!holds(&listed), is_listed, "seed {seed}: {subset:?}");
        assert!(is_listed || !holds(&points), "seed {seed}: {subset:?} is a solution");
        if subset.is_empty() {
            continue;
        }
        let most = bracket(&problem, &subset, &case.svm, &case.penalty).upper;
        for line in points.iter().filter(|line| line.slack(&subset) < 0) {
            let least = bound + (-line.slack(&subset) - 1) as f64 / scale;
            assert!(least <= most + 1e-9 * most.abs(), "seed {seed}: {subset:?} has {most}, a row says {least}");
        }
    }
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

#[test]
fn exported_problems_are_true_and_have_no_solution() {
    let mut seen = 0;
    for seed in 0..150 {
        let case = HardCase::draw(seed);
        if let Some(exported) = exported(&case, [1e-4, 1e-2, 1e-6][seed as usize % 3]) {
            judge(&case, &exported);
            seen += 1;
        }
    }
    assert!(seen > 100, "only {seen} of 150 cases have an export");
}

#[test]
fn veripb_accepts_what_is_exported_and_nothing_else() {
    let Some(veripb) = veripb() else {
        let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: there is no veripb (VERIPB, PATH)\n");
        return;
    };
    let (mut seen, mut refused) = (0, 0);
    for seed in 0..150 {
        let case = HardCase::draw(seed);
        let Some(exported) = exported(&case, 1e-4) else { continue };
        let (problem, proof) = (&exported.problem, &exported.proof);
        assert!(accepts(&veripb, "true", problem, proof), "seed {seed}:\n{problem}\n{proof}");
        seen += 1;
        // Without its first point, or with the step of another row, it proves nothing.
        let weaker = weakened(&exported);
        if has_solution(&case, &exported, &weaker) {
            assert!(!accepts(&veripb, "weak", &weaker, proof), "seed {seed}: a false proof is accepted");
            refused += 1;
        }
    }
    assert!(seen > 100 && refused > 30, "{seen} accepted, {refused} refused");
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
    let fulfils = |subset: &Subset| lines.iter().all(|line| line.slack(subset) >= 0);
    all_subsets(case.features()).any(|subset| representatives(exported, &subset) && fulfils(&subset))
}
