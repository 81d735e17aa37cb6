//! `milp1` and `milp2` against full enumeration, with and without bounds on weights, their
//! statuses, refusals.

use std::time::Duration;

use fewest::backend::highs::{Column, Effort, Program};
use fewest::{Clock, Interval, Limits, Problem, RuleList, Rules, Sense, Silent, Status, Subset, WeightBound};
use fewest_papers::milp::{Formulation, MilpSettings, milp, write_model};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, dense_copy, random_bounds, random_rules};

/// The best objective on a subset, by a linear program of its own: w = positive - negative part, no
/// v.
fn on_subset(problem: &Problem<'_>, subset: &Subset, formulation: Formulation, bounds: &[Interval]) -> f64 {
    let rows = dense_copy(problem.design());
    let features: Vec<usize> = subset.iter().collect();
    let q = features.len();
    let mut lp = Program::new().expect("HiGHS");
    let (bound, price) = match formulation {
        Formulation::Milp1 { weight_bound } => (weight_bound, 1.0),
        Formulation::Milp2 { cost } => (1.0, cost),
    };
    let free = f64::INFINITY;
    let mut add = |cost: f64, lower: f64, upper: f64| {
        lp.add_column(Column { cost, lower, upper, integer: false }).expect("a column");
    };
    (0..2 * q).for_each(|_| add(0.0, 0.0, bound));
    add(0.0, -free, free);
    problem.weights().iter().for_each(|weight| add(price * weight, 0.0, free));
    let margin = matches!(formulation, Formulation::Milp2 { .. });
    if margin {
        add(-1.0, 0.0, free);
    }
    for (i, (row, y)) in rows.iter().zip(problem.labels()).enumerate() {
        let mut entries = vec![(2 * q, *y), (2 * q + 1 + i, 1.0)];
        for (k, &j) in features.iter().enumerate() {
            entries.extend([(k, y * row[j]), (q + k, -y * row[j])]);
        }
        entries.extend(margin.then_some((2 * q + 1 + rows.len(), -1.0)));
        lp.add_row(&entries, if margin { 0.0 } else { 1.0 }, free).expect("a row");
    }
    for (k, &j) in features.iter().enumerate() {
        // Also where both parts are positive.
        let Interval { lower, upper } = bounds[j];
        lp.add_row(&[(k, 1.0), (q + k, -1.0)], lower.max(-bound), upper.min(bound)).expect("a row");
    }
    let objective = lp.solve(&Effort::default(), &Clock::unlimited()).expect("solved").objective;
    if margin { -objective } else { objective }
}

#[test]
fn both_programs_equal_enumeration_on_random_problems_with_random_rules() {
    let mut rng = Rng::new(8);
    let mut compared = 0;
    let mut dearer = 0;
    for case in 0..260 {
        let p = 2 + rng.below(5);
        let drawn = RandomProblem { n: 6 + rng.below(12), p, density: 0.8, noise: 0.2, seed: case };
        let (design, labels) = drawn.draw();
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.2) { 0.2 + rng.unit() } else { 1.0 }).collect();
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let free = vec![Interval::FREE; p];
        let bounds = if case % 3 == 0 { free.clone() } else { random_bounds(&mut rng, p) };
        let stated = bounds.iter().enumerate().map(|(j, interval)| WeightBound::within(j, *interval)).collect();
        let list = RuleList { weights: stated, ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        for formulation in [
            Formulation::Milp1 { weight_bound: [0.3, 1.0, 10.0][rng.below(3)] },
            Formulation::Milp2 { cost: [0.5, 1.0, 2.0][rng.below(3)] },
        ] {
            let sign = if matches!(formulation, Formulation::Milp1 { .. }) { 1.0 } else { -1.0 };
            let enumerated = |bounds: &[Interval]| {
                let value = |s: &Subset| sign * on_subset(&problem, s, formulation, bounds);
                allowed_subsets(&rules).iter().map(value).fold(f64::INFINITY, f64::min)
            };
            let truth = enumerated(&bounds);
            dearer += usize::from(truth > enumerated(&free) + 1e-3);
            let settings = MilpSettings { formulation, start: case % 2 == 0, ..MilpSettings::default() };
            let outcome = milp(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid").outcome;
            let about = format!("case {case}: {formulation:?}, {:?}", rules.list());
            assert_eq!(outcome.status, Status::Optimal, "{about} {outcome:?}");
            let subset = outcome.subset.expect("a subset");
            assert!(rules.allows(&subset), "{about}");
            let (objective, bound) = (outcome.objective.expect("a value"), outcome.bound.expect("a bound"));
            assert!(
                (sign * objective - truth).abs() <= 1e-5 * (1.0 + truth.abs()),
                "{about}: {objective}, but {truth}"
            );
            assert!((bound - objective).abs() <= 1e-5 * (1.0 + truth.abs()), "{about}: bound {bound} of {objective}");
            // The objective is that of a classifier on the subset, so no better than the best one
            // there.
            let best = sign * on_subset(&problem, &subset, formulation, &bounds);
            assert!(sign * objective >= best - 1e-6 * (1.0 + best.abs()), "{about}: {objective} beats {best}");
        }
        compared += 1;
    }
    assert!(compared >= 150, "only {compared} rules are without contradiction");
    assert!(dearer > 50, "bounds bind in {dearer} programs alone");
}

#[test]
fn limits_leave_a_subset_and_a_true_bound() {
    let (design, labels) = RandomProblem { n: 150, p: 30, density: 1.0, noise: 0.3, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("two classes");
    let rules = Rules::at_most_features(30, 5).expect("valid");
    let settings = MilpSettings { formulation: Formulation::Milp1 { weight_bound: 1.0 }, ..MilpSettings::default() };
    let run = |limits: Limits| milp(&problem, &rules, &settings, limits, &mut Silent).expect("valid").outcome;
    let none = run(Limits { time: Some(Duration::ZERO), ..Limits::default() });
    assert_eq!((none.status, none.subset), (Status::TimeLimit, None));
    let some = run(Limits { nodes: Some(1), ..Limits::default() });
    assert_eq!((some.status, some.sense), (Status::NodeLimit, Sense::Min));
    assert!(some.bound.expect("a bound") <= some.objective.expect("a subset"), "{some:?}");
}

#[test]
fn bad_input_is_refused_by_name() {
    let (design, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("two classes");
    let ask = |formulation: Formulation, memory: u64, p: usize| {
        let settings = MilpSettings { formulation, memory, ..MilpSettings::default() };
        milp(&problem, &Rules::none(p), &settings, Limits::default(), &mut Silent).expect_err("refused").to_string()
    };
    for (words, text) in [
        ("weight_bound is 0", ask(Formulation::Milp1 { weight_bound: 0.0 }, 1 << 33, 4)),
        ("cost is NaN", ask(Formulation::Milp2 { cost: f64::NAN }, 1 << 33, 4)),
        ("cost is 0.04, but must be at least 0.0", ask(Formulation::Milp2 { cost: 0.04 }, 1 << 33, 4)),
        ("but only 100 are allowed", ask(Formulation::Milp2 { cost: 1.0 }, 100, 4)),
        ("the rules are for 5", ask(Formulation::Milp2 { cost: 1.0 }, 1 << 33, 5)),
    ] {
        assert!(text.contains(words), "{text}");
    }
    let nowhere = std::path::Path::new("/nowhere/at/all.lp");
    assert!(write_model(&problem, &Rules::none(4), &MilpSettings::default(), nowhere).is_err());
}
