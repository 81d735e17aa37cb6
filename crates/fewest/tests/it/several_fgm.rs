//! `fgm` of several problems: relaxation and what is kept against enumeration of the sum, the
//! block-diagonal problem written out, its solvers against each other.

use fewest::method::fgm::{FgmSettings, FgmSeveralReport, Improve, Mkl, fgm, fgm_several};
use fewest::saddle::AlphaHalf;
use fewest::{
    Bias, Clock, DenseDesign, Design, Limits, Memory, Method, MultiClass, Problem, RuleList, Rules, Samples, Several,
    Silent, SparseDesign, Status, Subset, SvmSettings, WeightBound,
};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, random_rules};

/// A matrix with labels.
type Drawn = (DenseDesign<'static>, Vec<f64>);

/// Problems of different sizes on p features.
fn draw(rng: &mut Rng, count: usize, p: usize, seed: u64) -> Vec<Drawn> {
    let one = |t: usize, rng: &mut Rng| {
        RandomProblem { n: 8 + rng.below(20), p, density: 0.8, noise: 0.15, seed: 50 * seed + t as u64 }.draw()
    };
    (0..count).map(|t| one(t, rng)).collect()
}

fn problems(drawn: &[Drawn]) -> Vec<Problem<'_>> {
    drawn.iter().map(|(x, labels)| Problem::new(x, labels, None).expect("valid")).collect()
}

/// V at z of length p: the sum of independent trainings on columns `sqrt(z_j) x_j`, in the paper's
/// scale.
fn value(problems: &[Problem<'_>], z: &[f64], rules: &Rules, settings: &FgmSettings) -> f64 {
    let svm = SvmSettings { tolerance: 1e-9, ..settings.svm() };
    let one = |problem| {
        let half = AlphaHalf::new(problem, &svm, false).expect("valid settings");
        half.within(rules.weight_bounds().clone()).at_weights(z, &Clock::unlimited()).solution.primal
    };
    -0.25 / problems.iter().map(one).sum::<f64>()
}

fn of_subset(problems: &[Problem<'_>], subset: &Subset, rules: &Rules, settings: &FgmSettings) -> f64 {
    let z: Vec<f64> = (0..rules.p()).map(|j| f64::from(u8::from(subset.contains(j)))).collect();
    value(problems, &z, rules, settings)
}

fn best_of(problems: &[Problem<'_>], rules: &Rules, settings: &FgmSettings) -> f64 {
    allowed_subsets(rules).iter().map(|s| of_subset(problems, s, rules, settings)).fold(f64::INFINITY, f64::min)
}

fn run(problems: &[Problem<'_>], rules: &Rules, settings: &FgmSettings, gap: f64) -> FgmSeveralReport {
    let limits = Limits { gap_rel: gap, ..Limits::default() };
    fgm_several(problems, rules, settings, limits, &mut Silent).expect("valid settings")
}

fn draw_settings(rng: &mut Rng) -> FgmSettings {
    FgmSettings {
        cost: [0.05, 1.0, 20.0][rng.below(3)],
        bias: [Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(3)],
        reuse: rng.chance(0.7),
        improve: Improve::Both,
        mkl: if rng.chance(0.1) { Mkl::Simple } else { Mkl::Fast },
        ..FgmSettings::default()
    }
}

fn draw_signs(rng: &mut Rng, p: usize) -> Vec<WeightBound> {
    let sign = |rng: &mut Rng, j| if rng.chance(0.5) { WeightBound::positive(j) } else { WeightBound::negative(j) };
    let signed: Vec<usize> = (0..p).filter(|_| rng.chance(0.6)).collect();
    signed.into_iter().map(|j| sign(rng, j)).collect()
}

#[test]
fn the_relaxation_of_the_sum_is_solved_and_bounds_every_subset() {
    let mut rng = Rng::new(71);
    let (mut cases, mut mixtures) = (0, 0);
    for case in 0..200 {
        let (p, count, size) = (2 + rng.below(5), 2 + rng.below(3), 1 + rng.below(3));
        let drawn = draw(&mut rng, count, p, case);
        let problems = problems(&drawn);
        let weights = if rng.chance(0.3) { draw_signs(&mut rng, p) } else { Vec::new() };
        let some = if rng.chance(0.4) { random_rules(&mut rng, p) } else { RuleList::default() };
        let list = RuleList { max_features: None, budget: None, at_most: vec![], weights, ..some };
        let size = size.min(p);
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let Ok(generated) = Rules::new(p, RuleList { max_features: Some(size), ..list }, &[]) else { continue };
        let settings = FgmSettings { subset_size: Some(size), ..draw_settings(&mut rng) };
        cases += 1;
        let about = format!("case {case}: {count} problems, {settings:?}, {:?}", rules.list());
        let best = best_of(&problems, &generated, &settings);
        let found = run(&problems, &rules, &settings, 1e-5);
        let outcome = &found.selection.outcome;
        let (objective, bound) = (outcome.objective.expect("a mixture"), outcome.bound.expect("a bound"));
        assert!(bound <= best + 1e-8 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        assert!(outcome.gap().expect("both") <= 1e-5, "{about}: {outcome:?}");
        let mut z = vec![0.0; p];
        found.kept.iter().for_each(|k| z[k.feature] = k.share);
        let truth = value(&problems, &z, &rules, &settings);
        assert!((objective - truth).abs() <= 1e-5 * truth.abs(), "{about}: {objective} against {truth}");
        mixtures += usize::from(found.kept.iter().any(|k| k.share < 1.0));

        // The machines are those of the mixture: their values add, and so do their squares.
        assert_eq!(found.machines.len(), count, "{about}");
        let sum: f64 = found.machines.iter().map(|machine| machine.primal).sum();
        assert!((-0.25 / sum - objective).abs() <= 1e-6 * objective.abs(), "{about}: {sum} for {objective}");
        for (at, k) in found.kept.iter().enumerate() {
            let own: Vec<f64> = found.machines.iter().map(|machine| machine.weights[at]).collect();
            let length = own.iter().map(|w| w * w).sum::<f64>().sqrt();
            assert!((length - k.weight).abs() <= 1e-12 * length.max(1e-300), "{about}");
            assert!(own.iter().all(|w| rules.weight_bounds().of(k.feature).weight(*w) == *w), "{about}: {own:?}");
        }
    }
    assert!(cases > 100 && mixtures > 30, "{cases} cases, {mixtures} mixtures");
}

#[test]
fn what_is_kept_is_the_best_of_the_sum_where_that_is_said() {
    let mut rng = Rng::new(72);
    let (mut cases, mut optimal) = (0, 0);
    for case in 0..200 {
        let (p, count) = (2 + rng.below(5), 2 + rng.below(3));
        let drawn = draw(&mut rng, count, p, 1000 + case);
        let problems = problems(&drawn);
        let some = if rng.chance(0.5) { random_rules(&mut rng, p) } else { RuleList::default() };
        let list = RuleList { max_features: Some(1 + rng.below(p)), ..some };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let settings = draw_settings(&mut rng);
        cases += 1;
        let about = format!("case {case}: {count} problems, {settings:?}, {:?}", rules.list());
        let found = run(&problems, &rules, &settings, 1e-5);
        let outcome = &found.selection.outcome;
        let subset = outcome.subset.as_ref().expect("a subset");
        assert!(rules.allows(subset), "{about}: {subset:?}");
        let (objective, bound) = (outcome.objective.expect("a value"), outcome.bound.expect("a bound"));
        let truth = of_subset(&problems, subset, &rules, &settings);
        assert!((objective - truth).abs() <= 2e-5 * truth.abs(), "{about}: {objective}, but trained {truth}");
        let best = best_of(&problems, &rules, &settings);
        assert!(bound <= best + 1e-8 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        if outcome.status == Status::Optimal {
            optimal += 1;
            assert!((objective - best).abs() <= 2e-5 * best.abs(), "{about}: optimal at {objective}, best {best}");
        }
    }
    assert!(cases > 120 && optimal > 30, "{cases} cases, {optimal} optimal");
}

/// Several problems are one whose matrix is block-diagonal, in which the columns of a feature are in
/// or out together.
#[test]
fn the_block_diagonal_problem_written_out_has_the_same_value() {
    let mut rng = Rng::new(73);
    for case in 0..12 {
        let (p, count, size) = (12, 2 + case % 2, 3);
        let drawn = draw(&mut rng, count, p, 3000 + case as u64);
        let problems = problems(&drawn);
        let n: usize = problems.iter().map(Problem::n_samples).sum();
        let (mut values, mut labels, mut first) = (vec![0.0; n * p * count], Vec::new(), 0);
        for (t, (x, y)) in drawn.iter().enumerate() {
            for j in 0..p {
                let column = &mut values[(j * count + t) * n..][..n];
                x.add_column(j, 1.0, &mut column[first..first + y.len()]);
            }
            labels.extend(y);
            first += y.len();
        }
        let block = DenseDesign::new(n, p * count, values).expect("n values a column");
        let block = Problem::new(&block, &labels, None).expect("valid");
        let together = (0..p).map(|j| (0..count).map(|t| j * count + t).collect()).collect();
        let list = RuleList { max_features: Some(size * count), together, ..RuleList::default() };
        let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
        for reuse in [true, false] {
            let settings = FgmSettings { reuse, ..FgmSettings::default() };
            let rules = Rules::new(p * count, list.clone(), &[]).expect("valid");
            let written = fgm(&block, &rules, &settings, limits.clone(), &mut Silent).expect("valid");
            let found = run(&problems, &Rules::at_most_features(p, size).expect("valid"), &settings, 1e-6);
            let last = |rounds: &[fewest::method::fgm::Round]| rounds.last().map(|r| (r.lower, r.upper)).expect("some");
            let ((a, b), (c, d)) = (last(&written.rounds), last(&found.rounds));
            assert!((a - c).abs().max((b - d).abs()) <= 3e-6 * b.abs(), "case {case}: {a} {b} against {c} {d}");
        }
    }
}

#[test]
fn all_solvers_of_the_sum_agree_on_more_features_than_a_subset_has() {
    let mut rng = Rng::new(74);
    for case in 0..5 {
        let drawn: Vec<Drawn> = (0..3)
            .map(|t| RandomProblem { n: 40, p: 30, density: 0.6, noise: 0.1, seed: 400 + 10 * case + t }.draw())
            .collect();
        let problems = problems(&drawn);
        let weights = if case % 2 == 0 { Vec::new() } else { draw_signs(&mut rng, 30) };
        // SimpleMKL within signs trains again at every step.
        let solvers = if weights.is_empty() { 4 } else { 2 };
        let rules = Rules::new(30, RuleList { weights, ..RuleList::default() }, &[]).expect("valid");
        let mut values = Vec::new();
        for (mkl, reuse) in
            [(Mkl::Fast, true), (Mkl::Fast, false), (Mkl::Simple, true), (Mkl::Simple, false)].into_iter().take(solvers)
        {
            let settings = FgmSettings { cost: 2.0, mkl, reuse, subset_size: Some(3), ..FgmSettings::default() };
            let gap = if mkl == Mkl::Fast { 1e-7 } else { 1e-4 };
            let found = run(&problems, &rules, &settings, gap);
            let outcome = &found.selection.outcome;
            assert!(outcome.gap().expect("both") <= gap, "{settings:?}: {outcome:?}");
            assert!(found.kept.len() > 3, "{:?}", found.kept);
            values.push(outcome.objective.expect("a mixture"));
        }
        let spread = values.iter().map(|v| (v - values[0]).abs()).fold(0.0, f64::max);
        assert!(spread <= 1e-4 * values[0].abs(), "case {case}: {values:?}");
        assert!((values[1] - values[0]).abs() <= 2e-7 * values[0].abs(), "case {case}: {values:?}");
    }
}

#[test]
fn one_problem_is_the_sum_of_one() {
    let (x, labels) = RandomProblem { n: 50, p: 20, density: 0.7, noise: 0.1, seed: 9 }.draw();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(20, 4).expect("valid");
    let settings = FgmSettings::default();
    let limits = || Limits { gap_rel: 1e-4, ..Limits::default() };
    let one = fgm(&problem, &rules, &settings, limits(), &mut Silent).expect("valid");
    let sum = run(std::slice::from_ref(&problem), &rules, &settings, 1e-4);
    assert_eq!(one.selection.outcome.objective, sum.selection.outcome.objective);
    assert_eq!(one.selection.outcome.bound, sum.selection.outcome.bound);
    assert_eq!(one.selection.outcome.subset, sum.selection.outcome.subset);
}

/// More classes than two come back with a machine for each pair; tasks with none.
#[test]
fn classes_have_a_classifier_and_tasks_their_own() {
    let (n, p) = (90, 6);
    let mut rng = Rng::new(75);
    let mut values = vec![0.0; n * p];
    let classes: Vec<u32> = (0..n).map(|i| (i % 3) as u32).collect();
    for (at, value) in values.iter_mut().enumerate() {
        let (j, i) = (at / n, at % n);
        // Features 1 and 4 say the class.
        let own = f64::from(u8::from(j == 1 && classes[i] == 1 || j == 4 && classes[i] == 2));
        *value = 3.0 * own + 0.5 * rng.normal();
    }
    let x = DenseDesign::new(n, p, values).expect("n values a column");
    let samples = Samples::new(&x, &classes, None).expect("valid");
    let rules = Rules::at_most_features(p, 2).expect("valid");
    for multi_class in [MultiClass::OneVsOne, MultiClass::OneVsRest] {
        let settings = FgmSettings { multi_class, bias: Bias::Penalised(1.0), ..FgmSettings::default() };
        let report = settings.select(&samples, &rules, Limits::default(), &mut Silent).expect("valid");
        let subset = report.selection.outcome.subset.as_ref().expect("a subset");
        assert_eq!(subset.iter().collect::<Vec<_>>(), [1, 4]);
        assert_eq!(report.details["problems"]["number"], 3);
        let model = report.model.expect("a classifier");
        assert_eq!((model.n_classes, model.machines.len()), (3, 3));
        let wrong = model.predict(&x).iter().zip(&classes).filter(|(a, b)| a != b).count();
        assert!(wrong < n / 10, "{multi_class:?}: {wrong} of {n} wrong");
    }
    let tasks: Vec<u32> = (0..n).map(|i| u32::from(i >= n / 2)).collect();
    let samples = samples.with_tasks(&tasks).expect("valid");
    let settings = FgmSettings { bias: Bias::Free, ..FgmSettings::default() };
    let report = settings.select(&samples, &rules, Limits::default(), &mut Silent).expect("valid");
    let subset = report.selection.outcome.subset.as_ref().expect("a subset");
    assert_eq!(subset.iter().collect::<Vec<_>>(), [1, 4]);
    assert_eq!(
        (report.details["problems"]["number"].as_u64(), report.details["problems"]["tasks"].as_u64()),
        (Some(6), Some(2))
    );
    assert!(report.model.is_none());
}

/// The columns of a matrix without their zeros.
fn sparse(x: &DenseDesign<'_>) -> SparseDesign<'static> {
    let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for j in 0..x.n_features() {
        x.each_in_column(j, &mut |i, value| {
            if value != 0.0 {
                rows.push(i as u32);
                values.push(value);
            }
        });
        start.push(rows.len());
    }
    SparseDesign::new(x.n_samples(), start, rows, values).expect("in order")
}

/// What problems give that share the matrix of their samples is what they give with one each.
#[test]
fn problems_on_one_matrix_are_those_on_copies() {
    let mut rng = Rng::new(76);
    let mut cases = 0;
    for case in 0..60 {
        let (p, k) = (5 + rng.below(20), 3 + case % 3);
        let tasked = case % 4 == 3;
        let (drawn, _) = RandomProblem { n: 60, p, density: 0.5, noise: 0.1, seed: 700 + case as u64 }.draw();
        // With tasks two classes, which may have signs.
        let k = if tasked { 2 } else { k };
        let classes: Vec<u32> = (0..60).map(|i| if i < k { i } else { rng.below(k) } as u32).collect();
        let tasks: Vec<u32> = (0..60)
            .map(|i| {
                if i < 2 {
                    0
                } else if i < 4 {
                    1
                } else {
                    rng.below(2) as u32
                }
            })
            .collect();
        let classes: Vec<u32> =
            if tasked { (0..60).map(|i| if i < 4 { i % 2 } else { classes[i as usize] }).collect() } else { classes };
        let case_weights: Vec<f64> = (0..60).map(|_| 0.5 + rng.below(3) as f64).collect();
        let weights = if tasked { draw_signs(&mut rng, p) } else { Vec::new() };
        let some = if rng.chance(0.4) { random_rules(&mut rng, p) } else { RuleList::default() };
        let list = RuleList { max_features: Some(1 + rng.below(p.min(4))), weights, ..some };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let multi_class = [MultiClass::OneVsOne, MultiClass::OneVsRest][case % 2];
        let settings = FgmSettings { multi_class, mkl: Mkl::Fast, ..draw_settings(&mut rng) };
        let compressed = sparse(&drawn);
        for design in [&drawn as &dyn Design, &compressed] {
            cases += 1;
            let about = format!("case {case}: {settings:?}, {:?}", rules.list());
            let samples = Samples::new(design, &classes, Some(&case_weights)).expect("valid");
            let samples = if tasked { samples.with_tasks(&tasks).expect("valid") } else { samples };
            let limits = || Limits { gap_rel: 1e-6, ..Limits::default() };
            let report = settings.select(&samples, &rules, limits(), &mut Silent).expect("valid");
            let several = Several::new(&samples, multi_class, &Memory::unlimited()).expect("valid");
            let found = fgm_several(&several.problems(), &rules, &settings, limits(), &mut Silent).expect("valid");
            let (one, other) = (&report.selection.outcome, &found.selection.outcome);
            assert_eq!(one.subset, other.subset, "{about}");
            let near = |a: Option<f64>, b: Option<f64>| {
                let (a, b) = (a.expect("a value"), b.expect("a value"));
                (a - b).abs() <= 1e-9 * b.abs()
            };
            assert!(near(one.objective, other.objective), "{about}: {one:?} and {other:?}");
            assert!(near(one.bound, other.bound), "{about}: {one:?} and {other:?}");
        }
    }
    assert!(cases > 80, "{cases} cases");
}
