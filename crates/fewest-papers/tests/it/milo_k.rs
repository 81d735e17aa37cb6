//! `milo-k` and `rmilo-k` against full enumeration and `kta`, their statuses, the file for other
//! solvers.

use std::time::Duration;

use fewest::kernel::DistanceKernel;
use fewest::method::kta::{KtaSettings, kta};
use fewest::{Cancel, DenseDesign, Design, Event, Gamma, Limits, Lp, Rules, Selection, Silent, Status, Subset};
use fewest_papers::milo_k::{BigM, Formulation, MiloSettings, milo, write_model};
use fewest_testing::{
    RandomProblem, Rng, alignment_by, alignment_value, allowed_subsets, kernel_distance, random_rules,
};

const FORMULATIONS: [Formulation; 3] =
    [Formulation::Milo, Formulation::Reduced(BigM::Tight), Formulation::Reduced(BigM::Padded)];

fn classes(labels: &[f64]) -> Vec<u32> {
    labels.iter().map(|&y| u32::from(y > 0.0)).collect()
}

fn run(design: &DenseDesign<'_>, classes: &[u32], rules: &Rules, settings: &MiloSettings, limits: Limits) -> Selection {
    milo(design, classes, &vec![1.0; classes.len()], rules, settings, limits, &mut Silent).expect("valid settings")
}

#[test]
fn both_programs_equal_enumeration_on_random_problems_with_random_rules() {
    let mut rng = Rng::new(5);
    let mut compared = 0;
    for case in 0..340 {
        let p = 2 + rng.below(4);
        let (design, labels) = RandomProblem { n: 4 + rng.below(4), p, density: 1.0, noise: 0.2, seed: case }.draw();
        let mut class = classes(&labels);
        if rng.chance(0.2) {
            class[0] = 2;
        }
        let weights: Vec<f64> = class.iter().map(|_| if rng.chance(0.2) { 0.1 + rng.unit() } else { 1.0 }).collect();
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let gamma = [0.03, 0.3, 1.0, 4.0][rng.below(4)];
        let truth = allowed_subsets(&rules)
            .iter()
            .map(|s| alignment_value(&design, &class, &weights, s, gamma))
            .fold(f64::NEG_INFINITY, f64::max);
        for formulation in FORMULATIONS {
            let settings = MiloSettings { formulation, gamma, start: case % 2 == 0, ..MiloSettings::default() };
            let limits = Limits::default();
            let found = milo(&design, &class, &weights, &rules, &settings, limits, &mut Silent).expect("valid");
            let about = format!("case {case}: p {p}, gamma {gamma}, {formulation:?}, {:?}", rules.list());
            assert_eq!(found.outcome.status, Status::Optimal, "{about} {:?}", found.outcome);
            let (subset, objective) = (found.outcome.subset.expect("a subset"), found.outcome.objective.expect("f"));
            assert!(rules.allows(&subset), "{about}");
            let own = alignment_value(&design, &class, &weights, &subset, gamma);
            assert!((objective - own).abs() <= 1e-12 * (1.0 + own), "{about}: {objective}, but {own}");
            // HiGHS's tolerances are 1e-6.
            assert!((objective - truth).abs() <= 1e-5 + 1.1e-4 * truth.abs(), "{about}: {objective}, but {truth}");
            let bound = found.outcome.bound.expect("a bound");
            assert!(
                (bound - objective).abs() <= 1e-5 + 1.1e-4 * objective.abs(),
                "{about}: bound {bound}, objective {objective}"
            );
        }
        compared += 1;
    }
    assert!(compared >= 200, "only {compared} rules are without contradiction");
}

/// A problem that takes HiGHS more than a moment.
fn hard() -> (DenseDesign<'static>, Vec<u32>, Rules) {
    let (design, labels) = RandomProblem { n: 24, p: 10, density: 1.0, noise: 0.25, seed: 1 }.draw();
    (design, classes(&labels), Rules::at_most_features(10, 4).expect("valid"))
}

#[test]
fn other_kernels_and_categories_equal_enumeration_and_kta() {
    let (mut rng, mut compared) = (Rng::new(6), 0);
    for case in 0..200 {
        let p = 2 + rng.below(4);
        let (numbers, labels) =
            RandomProblem { n: 5 + rng.below(4), p, density: 1.0, noise: 0.2, seed: 900 + case }.draw();
        let categorical: Vec<usize> = (0..p).filter(|_| rng.chance([0.0, 0.5, 1.0][case as usize % 3])).collect();
        let value = |j: usize, x: f64| if categorical.contains(&j) { x.round() } else { x };
        let values = (0..p).flat_map(|j| numbers.column(j).iter().map(move |x| (j, *x))).map(|(j, x)| value(j, x));
        let design = DenseDesign::new(numbers.n_samples(), p, values.collect::<Vec<f64>>()).expect("n p values");
        let (class, ones) = (classes(&labels), vec![1.0; labels.len()]);
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let (kernel, gamma) = (DistanceKernel::Laplace, [0.03, 0.3, 1.0, 4.0][rng.below(4)]);
        let kernel = if case % 4 == 0 { DistanceKernel::Rbf } else { kernel };
        let distance = kernel_distance(gamma, kernel == DistanceKernel::Laplace, &categorical);
        let value = |s: &Subset| alignment_by(&design, &class, &ones, s, &distance);
        let truth = allowed_subsets(&rules).iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let own = KtaSettings {
            kernel,
            gamma: Gamma::Number(gamma),
            categorical: categorical.clone(),
            ..KtaSettings::default()
        };
        let proven = kta(&design, &class, &ones, &rules, &own, Limits::default(), &mut Silent).expect("valid").outcome;
        for formulation in FORMULATIONS {
            let (start, categorical) = (case % 2 == 0, categorical.clone());
            let settings = MiloSettings { formulation, kernel, categorical, gamma, start, ..MiloSettings::default() };
            let outcome = run(&design, &class, &rules, &settings, Limits::default()).outcome;
            let about = format!("case {case}: p {p}, {settings:?}, {:?}", rules.list());
            assert_eq!(outcome.status, Status::Optimal, "{about} {outcome:?}");
            let (subset, objective) = (outcome.subset.expect("a subset"), outcome.objective.expect("f"));
            let (own, kta) = (value(&subset), proven.objective.expect("f"));
            assert!((objective - own).abs() <= 1e-12 * (1.0 + own), "{about}: {objective}, but {own}");
            for best in [truth, kta] {
                assert!((objective - best).abs() <= 1e-5 + 1.1e-4 * best.abs(), "{about}: {objective}, but {best}");
            }
        }
        compared += 1;
    }
    assert!(compared >= 100, "only {compared} rules are without contradiction");
}

#[test]
fn a_bound_stopped_anywhere_is_above_the_optimum() {
    let (design, class, rules) = hard();
    let best = allowed_subsets(&rules)
        .iter()
        .map(|s| alignment_value(&design, &class, &vec![1.0; class.len()], s, 0.3))
        .fold(f64::NEG_INFINITY, f64::max);
    for milliseconds in [0, 30, 300, 1000] {
        for lp in [Lp::Simplex, Lp::Interior] {
            let settings = MiloSettings { gamma: 0.3, lp, ..MiloSettings::default() };
            let limits = Limits { time: Some(Duration::from_millis(milliseconds)), ..Limits::default() };
            let outcome = run(&design, &class, &rules, &settings, limits).outcome;
            assert!(outcome.bound.is_none_or(|b| b >= best - 1e-6), "{outcome:?} of {best}");
            assert!(outcome.objective.is_none_or(|f| f <= best + 1e-12), "{outcome:?} of {best}");
            assert_eq!(outcome.status == Status::TimeLimit, outcome.gap().is_none_or(|g| g > 1e-4), "{outcome:?}");
        }
    }
}

#[test]
fn each_limit_ends_with_its_status_and_the_subset_to_start_from() {
    let (design, class, rules) = hard();
    let cancelled = Cancel::default();
    cancelled.cancel();
    let settings = MiloSettings { gamma: 0.3, ..MiloSettings::default() };
    for (limits, status) in [
        (Limits { time: Some(Duration::ZERO), ..Limits::default() }, Status::TimeLimit),
        (Limits { nodes: Some(0), ..Limits::default() }, Status::NodeLimit),
        (Limits { oracle_calls: Some(0), ..Limits::default() }, Status::CallLimit),
        (Limits { cancel: cancelled, ..Limits::default() }, Status::Cancelled),
    ] {
        let outcome = run(&design, &class, &rules, &settings, limits).outcome;
        assert_eq!(outcome.status, status);
        assert!(rules.allows(&outcome.subset.expect("a subset")), "{status}");
    }
    // Stopped from outside at the first bound, while HiGHS runs.
    let mut watch = |event: &Event<'_>| match event {
        Event::Bound { .. } => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let ones = vec![1.0; class.len()];
    let found = milo(&design, &class, &ones, &rules, &settings, Limits::default(), &mut watch).expect("valid");
    assert_eq!(found.outcome.status, Status::Cancelled);
    assert!(found.outcome.bound.expect("a bound") >= found.outcome.objective.expect("f"));
}

#[test]
fn bad_input_is_refused_by_name() {
    let (design, class, rules) = hard();
    let ones = vec![1.0; 24];
    let ask = |class: &[u32], settings: MiloSettings| {
        milo(&design, class, &ones, &rules, &settings, Limits::default(), &mut Silent).expect_err("refused").to_string()
    };
    for (words, text) in [
        ("categorical is 10", ask(&class, MiloSettings { categorical: vec![10], ..MiloSettings::default() })),
        ("gamma is 0", ask(&class, MiloSettings { gamma: 0.0, ..MiloSettings::default() })),
        ("1 class has", ask(&[1; 24], MiloSettings::default())),
        ("but only 1000 are allowed", ask(&class, MiloSettings { memory: 1000, ..MiloSettings::default() })),
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test examines what HiGHS wrote")]
fn the_program_is_written_with_its_names() {
    let design = DenseDesign::new(3, 2, vec![0.0, 1.0, 2.0, 1.0, 0.0, 1.0]).expect("6 values");
    let rules = Rules::at_most_features(2, 1).expect("valid");
    let path = std::env::temp_dir().join(format!("fewest-milo-{}.lp", std::process::id()));
    for (formulation, products, rows) in [(Formulation::Milo, 27, 1 + 9 * 2 * 4), (FORMULATIONS[1], 9, 1 + 3 * 2 * 2)] {
        let settings = MiloSettings { formulation, ..MiloSettings::default() };
        write_model(&design, &[0, 1, 1], &[1.0; 3], &rules, &settings, &path).expect("writable");
        let (text, _) = (std::fs::read_to_string(&path).expect("written"), std::fs::remove_file(&path));
        let words = |start: char| {
            let mut words: Vec<&str> = text.split_whitespace().filter(|w| w.starts_with(start)).collect();
            words.sort_unstable();
            words.dedup();
            words.into_iter().filter(|w| w[1..].starts_with(|c: char| c.is_ascii_digit())).count()
        };
        assert_eq!((words('e'), words('z')), (products, 2), "{text}");
        assert!(text.contains("e1_2_3"), "{text}");
        // One row for the size, the others of the formulation.
        assert_eq!(text.matches(" con").count().max(text.matches("\n r").count()), rows, "{text}");
    }
}
