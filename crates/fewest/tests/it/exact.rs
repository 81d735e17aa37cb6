//! `exact` against full enumeration, its bounds against `v(z)`, its statuses.

use fewest::method::exact::{ExactSettings, RootPoint, exact, exact_from};
use fewest::{
    Bias, Clock, Error, Kernel, Limits, Loss, Memory, Problem, Rules, Selection, Silent, Status, Subset, SvmSettings,
};
use fewest_testing::{KeptProofs, RandomProblem, Rng, allowed_subsets, random_rules, verify_proof};

/// Objective of a subset by an independent training at a tight gap.
fn value(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings, penalty: &[f64]) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let svm = SvmSettings { tolerance: 1e-9, ..svm.clone() };
    let trained = fewest::dual::train::train(
        problem.design(),
        &features,
        problem.labels(),
        problem.weights(),
        Kernel::Linear,
        &svm,
        &Clock::unlimited(),
    );
    trained.expect("valid settings").primal + features.iter().map(|&j| penalty.get(j).unwrap_or(&0.0)).sum::<f64>()
}

fn run(problem: &Problem<'_>, rules: &Rules, settings: &ExactSettings, limits: Limits) -> Selection {
    exact(problem, rules, settings, limits, &mut Silent).expect("valid settings")
}

#[test]
fn equals_enumeration_on_random_problems_with_random_rules() {
    let mut rng = Rng::new(7);
    for case in 0..300 {
        let p = 2 + rng.below(6);
        let drawn = RandomProblem { n: 8 + rng.below(30), p, density: 0.8, noise: 0.15, seed: case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let design: &dyn fewest::Design = if case % 2 == 0 { &dense } else { &sparse };
        let problem = Problem::new(design, &labels, Some(&weights)).expect("valid");
        let list = random_rules(&mut rng, p);
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let svm = SvmSettings {
            cost: [0.03, 0.3, 1.0, 10.0][rng.below(4)],
            loss: if rng.chance(0.5) { Loss::Hinge } else { Loss::SquaredHinge },
            bias: [Bias::Free, Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(4)],
            ..SvmSettings::default()
        };
        let penalty: Vec<f64> =
            if rng.chance(0.5) { (0..p).map(|_| 0.3 * rng.below(4) as f64).collect() } else { Vec::new() };
        let mut all: Vec<(f64, Subset)> =
            allowed_subsets(&rules).into_iter().map(|s| (value(&problem, &s, &svm, &penalty), s)).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let wanted = 1 + rng.below(3);
        let settings = ExactSettings {
            svm: svm.clone(),
            penalty: penalty.clone().into(),
            solutions: wanted,
            ..ExactSettings::default()
        };
        let found = run(&problem, &rules, &settings, Limits { gap_rel: 1e-6, ..Limits::default() });
        let about = format!("case {case}: p {p}, {svm:?}, penalty {penalty:?}, {:?}", rules.list());
        assert_eq!(found.outcome.status, Status::Optimal, "{about}");
        let objective = found.outcome.objective.expect("a subset");
        let best = all[0].0;
        assert!((objective - best).abs() <= 2e-6 * best.abs().max(1e-6), "{about}: {objective} against {best}");
        let bound = found.outcome.bound.expect("a bound");
        assert!(bound <= best * (1.0 + 1e-7) + 1e-9, "{about}: bound {bound} above {best}");
        assert!(bound >= best * (1.0 - 3e-6) - 1e-9, "{about}: bound {bound} far below {best}");
        assert_eq!(found.solutions.len(), wanted.min(all.len()), "{about}");
        for (solution, truth) in found.solutions.iter().zip(&all) {
            assert!(rules.allows(&solution.subset), "{about}");
            assert!((solution.objective - truth.0).abs() <= 3e-6 * truth.0.max(1e-6), "{about}: {:?}", found.solutions);
        }
    }
}

#[test]
fn a_search_from_the_root_of_another_finds_what_it_finds_alone() {
    for seed in 0..12 {
        let mut root = RootPoint::default();
        // The last one has other samples, and the point is left alone.
        for (n, cost) in [(30, 0.3), (30, 30.0), (25, 1.0)] {
            let (x, labels) = RandomProblem { n, p: 7, density: 0.8, noise: 0.15, seed }.draw();
            let problem = Problem::new(&x, &labels, None).expect("valid");
            for size in 1..=4 {
                let rules = Rules::at_most_features(7, size).expect("valid");
                let svm = SvmSettings { cost, tolerance: 1e-9, ..SvmSettings::default() };
                let settings = ExactSettings { svm, ..ExactSettings::default() };
                let limits = Limits { gap_rel: 1e-7, ..Limits::default() };
                let alone = run(&problem, &rules, &settings, limits.clone()).outcome;
                let problems = std::slice::from_ref(&problem);
                let found = exact_from(&mut root, problems, &rules, &settings, limits, &mut Silent);
                let found = found.expect("valid settings").outcome;
                let about = format!("{seed}: {n}, {cost}, {size}: {found:?} for {alone:?}");
                assert_eq!((found.status, &found.subset), (Status::Optimal, &alone.subset), "{about}");
                let (objective, best) = (found.objective.expect("one"), alone.objective.expect("one"));
                assert!((objective - best).abs() <= 1e-6 * best, "{about}");
                assert!(found.bound.is_some_and(|bound| bound <= best * (1.0 + 1e-9)), "{about}");
            }
        }
    }
}

/// A problem that takes some hundred nodes: small coefficients, many near ties.
fn hard(seed: u64) -> (fewest::DenseDesign<'static>, Vec<f64>) {
    RandomProblem { n: 120, p: 24, density: 1.0, noise: 0.1, seed }.draw()
}

fn hard_settings() -> ExactSettings {
    ExactSettings { svm: SvmSettings { cost: 0.3, ..SvmSettings::default() }, ..ExactSettings::default() }
}

#[test]
fn no_bound_lies_above_the_optimum_wherever_the_run_is_stopped() {
    for seed in 0..6 {
        let (design, labels) = hard(seed);
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let rules = Rules::at_most_features(24, 8).expect("valid");
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let svm = SvmSettings { loss, ..hard_settings().svm };
            let settings = ExactSettings { svm: svm.clone(), ..ExactSettings::default() };
            let proven = run(&problem, &rules, &settings, Limits { gap_rel: 1e-6, ..Limits::default() }).outcome;
            assert_eq!(proven.status, Status::Optimal);
            let best = value(&problem, proven.subset.as_ref().expect("a subset"), &svm, &[]);
            let mut before = f64::NEG_INFINITY;
            for nodes in [0, 1, 2, 5, 11, 30] {
                let stopped =
                    run(&problem, &rules, &settings, Limits { nodes: Some(nodes), ..Limits::default() }).outcome;
                let (bound, objective) = (stopped.bound.expect("a bound"), stopped.objective.expect("a subset"));
                assert!(bound <= best * (1.0 + 1e-7), "seed {seed}, {nodes} nodes: bound {bound} above {best}");
                assert!(objective >= best * (1.0 - 1e-6), "seed {seed}, {nodes} nodes: {objective} below {best}");
                let truth = value(&problem, stopped.subset.as_ref().expect("a subset"), &svm, &[]);
                assert!((objective - truth).abs() <= 1e-6 * truth, "seed {seed}: objective {objective} is {truth}");
                assert!(bound >= before - 1e-4 * best, "seed {seed}: more nodes, a lower bound");
                before = bound;
            }
        }
    }
}

#[test]
fn each_limit_ends_with_its_status_and_a_subset() {
    let (design, labels) = hard(1);
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(24, 8).expect("valid");
    let cancelled = fewest::Cancel::default();
    cancelled.cancel();
    let none = Limits { gap_rel: 1e-7, ..Limits::default() };
    for (limits, status) in [
        (Limits { time: Some(std::time::Duration::ZERO), ..none.clone() }, Status::TimeLimit),
        (Limits { nodes: Some(0), ..none.clone() }, Status::NodeLimit),
        (Limits { oracle_calls: Some(1), ..none.clone() }, Status::CallLimit),
        (Limits { cancel: cancelled, ..none.clone() }, Status::Cancelled),
        (none, Status::Optimal),
    ] {
        let outcome = run(&problem, &rules, &hard_settings(), limits).outcome;
        assert_eq!(outcome.status, status);
        assert!(rules.allows(&outcome.subset.expect("a subset")), "{status}");
        assert!(outcome.bound.expect("a bound") <= outcome.objective.expect("an objective"), "{status}");
    }
}

#[test]
fn one_thread_and_four_grow_the_same_tree() {
    let (design, labels) = hard(2);
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(24, 8).expect("valid");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| run(&problem, &rules, &hard_settings(), Limits::default()).outcome)
    };
    let (one, four) = (with(1), with(4));
    assert_eq!((one.subset, one.objective, one.bound), (four.subset, four.objective, four.bound));
    assert_eq!(one.counts, four.counts);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    let (design, labels) = hard(3);
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(24, 3).expect("valid");
    for (settings, words) in [
        (ExactSettings { solutions: 0, ..ExactSettings::default() }, "solutions"),
        (ExactSettings { penalty: vec![1.0; 3].into(), ..ExactSettings::default() }, "penalty"),
        (ExactSettings { penalty: vec![f64::NAN; 24].into(), ..ExactSettings::default() }, "penalty"),
    ] {
        let error = exact(&problem, &rules, &settings, Limits::default(), &mut Silent).expect_err("refused");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn open_nodes_beyond_the_memory_change_nothing_but_the_time() {
    let (design, labels) = hard(4);
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(24, 8).expect("valid");
    let plenty = run(&problem, &rules, &hard_settings(), Limits::default()).outcome;
    let svm = SvmSettings { memory: 1, ..hard_settings().svm };
    let none = run(&problem, &rules, &ExactSettings { svm, ..hard_settings() }, Limits::default()).outcome;
    assert_eq!((none.status, none.subset), (Status::Optimal, plenty.subset));
}

#[test]
fn relaxations_are_taken_from_the_account_of_memory() {
    let (design, labels) = hard(4);
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(24, 8).expect("valid");
    let limits = |memory: &Memory| Limits { memory: memory.clone(), nodes: Some(20), ..Limits::default() };
    let enough = Memory::new(1 << 20);
    let selection = run(&problem, &rules, &hard_settings(), limits(&enough));
    assert!(selection.outcome.bound.is_some_and(|bound| bound > 0.0), "{:?}", selection.outcome);
    assert_eq!(enough.left(), 1 << 20, "all is given back");
    // What is kept for each of 24 features, and some more.
    let little = Memory::new(80 * 24 + 2000);
    let refused = exact(&problem, &rules, &hard_settings(), limits(&little), &mut Silent).expect_err("too little");
    assert!(matches!(&refused, Error::Memory { needed, allowed: 2000, .. } if *needed > 2000), "{refused}");
    let said = refused.to_string();
    assert!(said.starts_with("a relaxation over ") && said.contains("`memory`, or select among fewer"), "{said}");
    assert_eq!(little.left(), 80 * 24 + 2000);
    let none = exact(&problem, &rules, &hard_settings(), limits(&Memory::new(1900)), &mut Silent).expect_err("less");
    assert!(none.to_string().starts_with("exact on 24 features needs 1920 bytes"), "{none}");
}

#[test]
fn a_budget_of_equal_costs_is_a_size() {
    let mut decided = 0;
    for seed in 0..12 {
        let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed }.draw();
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let costs = vec![0.1; 12];
        let budget = fewest::RuleList { budget: Some(0.1 + 0.1 + 0.1), costs, ..fewest::RuleList::default() };
        let group = fewest::RuleList { at_most: vec![(3, (0..12).collect())], ..fewest::RuleList::default() };
        let sized = Rules::at_most_features(12, 3).expect("valid");
        let settings = ExactSettings::default();
        let truth = run(&problem, &sized, &settings, Limits::default()).outcome;
        for list in [budget, group] {
            let rules = Rules::new(12, list, &[]).expect("valid");
            assert_eq!(rules.shape(), fewest::Shape::Size(3));
            let found = run(&problem, &rules, &settings, Limits::default()).outcome;
            assert_eq!((found.status, &found.subset), (Status::Optimal, &truth.subset), "seed {seed}");
            assert_eq!(found.counts.nodes, truth.counts.nodes, "seed {seed}: the same tree");
            decided += 1;
        }
    }
    assert_eq!(decided, 24);
}

#[test]
fn optimal_is_earned_by_an_allowed_incumbent_and_a_closed_gap() {
    let rules = Rules::at_most_features(4, 1).expect("valid");
    let end = |subset: Option<&[usize]>, bound: Option<f64>| {
        let mut silent = Silent;
        let limits = Limits { gap_rel: 0.01, ..Limits::default() };
        let mut run = fewest::Run::new(&rules, limits, fewest::Sense::Min, &mut silent).expect("valid");
        if let Some(features) = subset {
            run.offer(&Subset::from_indices(4, features.iter().copied()), 100.0);
        }
        if let Some(bound) = bound {
            run.raise_bound(bound);
        }
        run.finish(Status::Optimal).status
    };
    assert_eq!(end(Some(&[2]), Some(99.5)), Status::Optimal);
    assert_eq!(end(Some(&[2]), Some(98.0)), Status::Stalled, "the gap is open");
    assert_eq!(end(Some(&[2]), None), Status::Stalled, "nothing is proven");
    assert_eq!(end(None, Some(99.5)), Status::Stalled, "there is no subset");
    assert_eq!(end(Some(&[1, 2]), Some(99.5)), Status::Stalled, "the rules forbid the subset");
}

/// With this many features, lines of probing are first evaluated among a few of them: what is
/// proven is checked by another program, and the subset is no worse than that of the strong
/// features alone.
#[test]
fn a_search_among_thousands_of_features_is_proven() {
    let mut rng = Rng::new(11);
    for (case, loss) in [Loss::Hinge, Loss::SquaredHinge, Loss::Hinge, Loss::SquaredHinge].into_iter().enumerate() {
        let (n, strong, weak) = (40, 12, 2500);
        let drawn = RandomProblem { n, p: strong, density: 1.0, noise: 0.2, seed: 50 + case as u64 };
        let (few, labels) = drawn.draw();
        let mut values = few.values().to_vec();
        for j in 0..weak {
            let size = 0.02 + 0.1 * (j % 7) as f64 / 7.0;
            values.extend((0..n).map(|_| if rng.chance(0.3) { size } else { 0.0 }));
        }
        let many = fewest::DenseDesign::new(n, strong + weak, values).expect("columns");
        let svm = SvmSettings { cost: [0.1, 0.3][case / 2], loss, ..SvmSettings::default() };
        let settings = ExactSettings { svm, ..ExactSettings::default() };
        let found = |design: &fewest::DenseDesign<'_>, p: usize, kept: &mut KeptProofs| {
            let problem = Problem::new(design, &labels, None).expect("valid");
            let rules = Rules::at_most_features(p, 4).expect("valid");
            let found = exact(&problem, &rules, &settings, Limits::default(), kept).expect("valid settings");
            assert_eq!(found.outcome.status, Status::Optimal, "case {case}");
            let verdict = verify_proof(&kept.files[0], &problem).expect("a proof");
            let objective = found.outcome.objective.expect("a subset");
            assert!(verdict.listed[0].objective <= objective * (1.0 + 1e-6), "case {case}");
            (objective, found.outcome.counts.nodes)
        };
        let (best, nodes) = found(&many, strong + weak, &mut KeptProofs::default());
        let (alone, _) = found(&few, strong, &mut KeptProofs::default());
        assert!(nodes > 3, "case {case}: {nodes} nodes");
        assert!(best <= alone * (1.0 + 1e-4), "case {case}: {best} of all, {alone} of the strong ones");
    }
}

/// At small costs nearly every alpha is at C, and correlated features gain alike: the interior point
/// starts with shares that fill the rule of the size, and must not leave it at that.
#[test]
fn few_nodes_prove_a_small_cost_on_correlated_features() {
    let (n, p) = (60, 100);
    for (seed, cost) in [(1, 0.0005), (2, 0.001), (3, 0.002), (4, 0.005), (5, 0.0005), (6, 0.005)] {
        let mut rng = Rng::new(seed);
        let mut columns = vec![vec![0.0; n]; p];
        for i in 0..n {
            let mut before = rng.normal();
            for column in &mut columns {
                before = 0.9 * before + 0.19_f64.sqrt() * rng.normal();
                column[i] = before;
            }
        }
        let margin = |i: usize| (0..5).map(|k| columns[20 * k][i]).sum::<f64>();
        let labels: Vec<f64> = (0..n).map(|i| (margin(i) + rng.normal()).signum()).collect();
        let design = fewest::DenseDesign::new(n, p, columns.concat()).expect("columns");
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let rules = Rules::at_most_features(p, 5).expect("valid");
        let svm = SvmSettings { cost, ..SvmSettings::default() };
        let settings = ExactSettings { svm, ..ExactSettings::default() };
        let mut kept = KeptProofs::default();
        let limits = Limits { nodes: Some(100), ..Limits::default() };
        let found = exact(&problem, &rules, &settings, limits, &mut kept).expect("valid settings");
        assert_eq!(found.outcome.status, Status::Optimal, "cost {cost}: {:?}", found.outcome.counts);
        verify_proof(&kept.files[0], &problem).expect("a proof");
    }
}
