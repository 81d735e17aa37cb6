//! `fgm` with signs of weights: its relaxation and what it keeps against enumeration, trainings
//! within the signs by another solver, its own solvers against each other.

use fewest::method::fgm::{FgmReport, FgmSettings, Improve, Mkl, fgm};
use fewest::saddle::AlphaHalf;
use fewest::{
    Bias, Clock, Design, Limits, Problem, RuleList, Rules, Silent, Status, Subset, SvmSettings, WeightBound,
    WeightBounds,
};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, random_rules};

/// A sign for most of p weights; of some both, so that they are 0.
fn random_signs(rng: &mut Rng, p: usize) -> Vec<WeightBound> {
    let mut signs = Vec::new();
    for j in 0..p {
        if rng.chance(0.4) {
            signs.push(WeightBound::positive(j));
        }
        if rng.chance(0.4) {
            signs.push(WeightBound::negative(j));
        }
    }
    signs
}

/// The paper's value of the SVM within the signs on columns `sqrt(z_j) x_j`, z of length p, and its
/// weights `z_j c_j` up to scale, by the interior-point method.
fn value(problem: &Problem<'_>, z: &[f64], bounds: &WeightBounds, settings: &FgmSettings) -> (f64, Vec<f64>) {
    let svm = SvmSettings { tolerance: 1e-9, ..settings.svm() };
    let mut half = AlphaHalf::new(problem, &svm, false).expect("valid settings").within(bounds.clone());
    let found = half.at_weights(z, &Clock::unlimited()).solution;
    let mut u = found.weights.iter();
    let w = z.iter().map(|z| if *z > 0.0 { z.sqrt() * u.next().expect("one for each share") } else { 0.0 });
    (-0.25 / found.primal, w.collect())
}

fn of_subset(problem: &Problem<'_>, subset: &Subset, rules: &Rules, settings: &FgmSettings) -> f64 {
    let z: Vec<f64> = (0..rules.p()).map(|j| f64::from(u8::from(subset.contains(j)))).collect();
    value(problem, &z, rules.weight_bounds(), settings).0
}

fn best_of(problem: &Problem<'_>, rules: &Rules, settings: &FgmSettings) -> f64 {
    allowed_subsets(rules).iter().map(|s| of_subset(problem, s, rules, settings)).fold(f64::INFINITY, f64::min)
}

fn run(problem: &Problem<'_>, rules: &Rules, settings: &FgmSettings, gap: f64) -> FgmReport {
    let limits = Limits { gap_rel: gap, ..Limits::default() };
    fgm(problem, rules, settings, limits, &mut Silent).expect("valid settings")
}

fn keeps_signs(report: &FgmReport, rules: &Rules) -> bool {
    report.kept.iter().all(|k| rules.weight_bounds().of(k.feature).weight(k.weight) == k.weight)
}

#[test]
fn the_relaxation_is_solved_and_bounds_every_allowed_subset() {
    let mut rng = Rng::new(61);
    let (mut cases, mut dearer) = (0, 0);
    for case in 0..200 {
        let p = 2 + rng.below(6);
        let drawn = RandomProblem { n: 8 + rng.below(30), p, density: 0.8, noise: 0.15, seed: 700 + case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        let problem = Problem::new(design, &labels, Some(&weights)).expect("valid");
        let rest = random_rules(&mut rng, p);
        let list = RuleList {
            max_features: None,
            budget: None,
            at_most: vec![],
            weights: random_signs(&mut rng, p),
            ..if rng.chance(0.5) { rest } else { RuleList::default() }
        };
        let size = 1 + rng.below(p);
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let sized = RuleList { max_features: Some(size), ..list.clone() };
        let Ok(generated) = Rules::new(p, sized, &[]) else { continue };
        let settings = FgmSettings {
            subset_size: Some(size),
            cost: [0.05, 1.0, 20.0][rng.below(3)],
            bias: [Bias::None, Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(4)],
            reuse: rng.chance(0.7),
            improve: Improve::Both,
            mkl: if rng.chance(0.1) { Mkl::Simple } else { Mkl::Fast },
            ..FgmSettings::default()
        };
        cases += 1;
        let about = format!("case {case}: {settings:?}, {:?}", rules.list());
        let best = best_of(&problem, &generated, &settings);
        let found = run(&problem, &rules, &settings, 1e-5);
        let outcome = &found.selection.outcome;
        let (objective, bound) = (outcome.objective.expect("a mixture"), outcome.bound.expect("a bound"));
        assert!(bound <= best + 1e-8 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        assert!(objective <= best + 2e-5 * best.abs(), "{about}: mixture {objective} above the best subset, {best}");
        assert!(outcome.gap().expect("both") <= 1e-5, "{about}: {outcome:?}");
        let subset = outcome.subset.as_ref().expect("the features kept");
        let status = if generated.allows(subset) { Status::Optimal } else { Status::Completed };
        assert_eq!(outcome.status, status, "{about}");
        assert!(keeps_signs(&found, &rules), "{about}: {:?}", found.kept);

        // The mixture has the objective reported, by another solver, and its weights are those.
        let mut z = vec![0.0; p];
        found.kept.iter().for_each(|k| z[k.feature] = k.share);
        let (truth, w) = value(&problem, &z, rules.weight_bounds(), &settings);
        assert!((objective - truth).abs() <= 1e-5 * truth.abs(), "{about}: {objective} against {truth}");
        let mut ours = vec![0.0; p];
        found.kept.iter().for_each(|k| ours[k.feature] = k.weight);
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (own, other) = (dot(&ours, &ours).sqrt(), dot(&w, &w).sqrt());
        assert!(other < 1e-6 || dot(&ours, &w) > (1.0 - 1e-3) * own * other, "{about}: {ours:?} against {w:?}");

        let free = Rules::new(p, RuleList { weights: Vec::new(), ..list }, &[]).expect("as before");
        let free = run(&problem, &free, &settings, 1e-5).selection.outcome.objective.expect("a mixture");
        dearer += usize::from(objective > free + 1e-3 * free.abs());
    }
    assert!(cases > 120 && dearer > cases / 2, "{cases} cases, {dearer} of them dearer than without signs");
}

#[test]
fn what_is_kept_has_its_signs_and_is_the_best_where_that_is_said() {
    let mut rng = Rng::new(62);
    let (mut cases, mut optimal) = (0, 0);
    for case in 0..200 {
        let p = 2 + rng.below(6);
        let drawn = RandomProblem { n: 8 + rng.below(30), p, density: 0.8, noise: 0.15, seed: 900 + case };
        let (x, labels) = drawn.draw();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let (size, signs) = (1 + rng.below(p), random_signs(&mut rng, p));
        let drawn = if rng.chance(0.5) { random_rules(&mut rng, p) } else { RuleList::default() };
        let list = RuleList { max_features: Some(size), weights: signs, ..drawn };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let settings = FgmSettings {
            cost: [0.05, 1.0, 20.0][rng.below(3)],
            bias: [Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(3)],
            reuse: rng.chance(0.7),
            improve: Improve::Both,
            mkl: if rng.chance(0.1) { Mkl::Simple } else { Mkl::Fast },
            ..FgmSettings::default()
        };
        cases += 1;
        let about = format!("case {case}: {settings:?}, {:?}", rules.list());
        let found = run(&problem, &rules, &settings, 1e-5);
        let outcome = &found.selection.outcome;
        let subset = outcome.subset.as_ref().expect("a subset");
        assert!(rules.allows(subset) && keeps_signs(&found, &rules), "{about}: {:?}", found.kept);
        let (objective, bound) = (outcome.objective.expect("a value"), outcome.bound.expect("a bound"));
        let truth = of_subset(&problem, subset, &rules, &settings);
        assert!((objective - truth).abs() <= 2e-5 * truth.abs(), "{about}: {objective}, but trained {truth}");
        let best = best_of(&problem, &rules, &settings);
        assert!(bound <= best + 1e-8 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        if outcome.status == Status::Optimal {
            optimal += 1;
            assert!((objective - best).abs() <= 2e-5 * best.abs(), "{about}: optimal at {objective}, best {best}");
        }
    }
    assert!(cases > 120 && optimal > 30, "{cases} cases, {optimal} optimal");
}

#[test]
fn all_solvers_give_the_same_value_on_more_features_than_a_subset_has() {
    for seed in 0..3 {
        let (x, labels) = RandomProblem { n: 40, p: 20, density: 0.5, noise: 0.1, seed }.draw_sparse();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let sign = |j: usize| if j.is_multiple_of(2) { WeightBound::positive(j) } else { WeightBound::negative(j) };
        let weights = (0..20).filter(|j| j % 5 != 0).map(sign).collect();
        let rules = Rules::new(20, RuleList { weights, ..RuleList::default() }, &[]).expect("valid");
        let mut values = Vec::new();
        for (mkl, reuse) in [(Mkl::Fast, true), (Mkl::Fast, false), (Mkl::Simple, true), (Mkl::Simple, false)] {
            let settings = FgmSettings { cost: 2.0, mkl, reuse, subset_size: Some(3), ..FgmSettings::default() };
            let gap = if mkl == Mkl::Fast { 1e-7 } else { 1e-3 };
            let found = run(&problem, &rules, &settings, gap);
            let outcome = &found.selection.outcome;
            assert!(outcome.gap().expect("both") <= gap, "{settings:?}: {outcome:?}");
            assert!(found.kept.len() > 3 && keeps_signs(&found, &rules), "{:?}", found.kept);
            values.push(outcome.objective.expect("a mixture"));
        }
        let spread = values.iter().map(|v| (v - values[0]).abs()).fold(0.0, f64::max);
        assert!(spread <= 1e-3 * values[0].abs(), "seed {seed}: {values:?}");
        assert!((values[1] - values[0]).abs() <= 1e-7 * values[0].abs(), "seed {seed}: {values:?}");
    }
}

/// Signs against which no feature has anything to say leave the classifier without features.
#[test]
fn signs_that_no_feature_can_keep_give_the_value_of_no_feature() {
    let x = fewest::DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, -1.0, -1.0, 1.0, 1.0]).expect("valid");
    let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None).expect("valid");
    let weights = vec![WeightBound::negative(0), WeightBound::negative(1)];
    let rules = Rules::new(2, RuleList { max_features: Some(1), weights, ..RuleList::default() }, &[]).expect("valid");
    for mkl in [Mkl::Fast, Mkl::Simple] {
        let settings = FgmSettings { mkl, ..FgmSettings::default() };
        let found = run(&problem, &rules, &settings, 1e-6);
        let outcome = &found.selection.outcome;
        // V = sum of C/2 = 2.
        assert!((outcome.objective.expect("a value") + 0.125).abs() < 1e-6, "{outcome:?}");
        assert_eq!(outcome.status, Status::Optimal);
        assert!(found.kept.iter().all(|k| k.weight == 0.0), "{:?}", found.kept);
    }
}

#[test]
fn bounds_other_than_signs_are_refused_with_the_reason() {
    let (x, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let bound = WeightBound { feature: 2, lower: Some(0.0), upper: Some(0.5) };
    let list = RuleList { max_features: Some(2), weights: vec![bound], ..RuleList::default() };
    let rules = Rules::new(4, list, &[]).expect("valid");
    let why = fgm(&problem, &rules, &FgmSettings::default(), Limits::default(), &mut Silent).expect_err("a box");
    for words in ["feature 2", "0 and 0.5", "signs alone", "exact"] {
        assert!(why.to_string().contains(words), "{why}");
    }
}
