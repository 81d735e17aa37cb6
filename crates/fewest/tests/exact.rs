//! `exact` against full enumeration, its bounds against `v(z)`, its statuses.

use fewest::method::tree::{ExactSettings, exact};
use fewest::{Bias, Kernel, Limits, Loss, Problem, Rules, Selection, Silent, Status, Subset, SvmSettings};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, random_rules};

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
        &mut || None,
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
        let settings =
            ExactSettings { svm: svm.clone(), penalty: penalty.clone(), solutions: wanted, start: Vec::new() };
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
