//! Paths and certificates against the methods themselves and against enumeration, and one test per
//! way to end.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use fewest::dual::train::train;
use fewest::method::certificate::certify;
use fewest::method::exact::ExactSettings;
use fewest::method::exact::path::exact_path;
use fewest::method::info_gain::path::information_gain_path;
use fewest::method::info_gain::{Binning, information_gain};
use fewest::method::path::PathPoint;
use fewest::method::rfe::path::rfe_path;
use fewest::method::rfe::{RfeSettings, Step, rfe};
use fewest::{
    Bias, Cancel, Clock, Error, Event, Kernel, Limits, Loss, Observer, Problem, RuleList, Rules, Silent, Status,
    Subset, SvmSettings,
};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, random_rules};

fn tight() -> SvmSettings {
    SvmSettings { tolerance: 1e-9, ..SvmSettings::default() }
}

/// v(z) of a subset, by a training of its own.
fn value(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let (y, weights) = (problem.labels(), problem.weights());
    train(problem.design(), &features, y, weights, Kernel::Linear, svm, &Clock::unlimited()).unwrap().primal
}

/// Rules at size k; none where the rest needs more.
fn at(rules: &Rules, k: usize) -> Option<Rules> {
    Rules::new(rules.p(), RuleList { max_features: Some(k), ..rules.list().clone() }, &[]).ok()
}

/// Random rules that some subset satisfies.
fn satisfiable(rng: &mut Rng, p: usize, change: impl Fn(&mut RuleList)) -> Rules {
    loop {
        let mut list = random_rules(rng, p);
        list.max_features = None;
        change(&mut list);
        if let Ok(rules) = Rules::new(p, list, &[]) {
            return rules;
        }
    }
}

fn sizes(points: &[PathPoint]) -> Vec<usize> {
    points.iter().map(|point| point.max_features).collect()
}

/// The smallest `v(z) + sum lambda_j z_j` among the allowed subsets that have features.
fn best_by_enumeration(problem: &Problem<'_>, rules: &Rules, settings: &ExactSettings) -> f64 {
    let price = |z: &Subset| z.iter().filter_map(|j| settings.penalty.prices().get(j)).sum::<f64>();
    allowed_subsets(rules).iter().map(|z| value(problem, z, &settings.svm) + price(z)).fold(f64::INFINITY, f64::min)
}

#[test]
fn an_exact_path_is_the_best_of_the_enumeration_at_every_size() {
    let mut rng = Rng::new(5);
    for round in 0..12 {
        let (design, labels) = RandomProblem { n: 25, p: 6, density: 1.0, noise: 0.2, seed: 40 + round }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let rules = if round % 3 == 0 { Rules::none(6) } else { satisfiable(&mut rng, 6, |_| {}) };
        let (loss, bias) = [(Loss::Hinge, Bias::Free), (Loss::SquaredHinge, Bias::Penalised(1.0))][round as usize % 2];
        let penalty = if round % 4 == 3 { (0..6).map(f64::from).map(|j| j / 10.0).collect() } else { Vec::new() };
        let svm = SvmSettings { loss, bias, ..tight() };
        let settings = ExactSettings { svm, penalty: penalty.into(), ..ExactSettings::default() };
        let points = exact_path(&problem, &rules, &[1, 2, 4, 6], &settings, &Limits::default(), &mut Silent).unwrap();
        assert_eq!(sizes(&points), [1, 2, 4, 6]);
        for PathPoint { max_features, selection } in points {
            let outcome = selection.outcome;
            let Some(rules) = at(&rules, max_features) else {
                assert_eq!((outcome.status, outcome.subset), (Status::Infeasible, None));
                continue;
            };
            let best = best_by_enumeration(&problem, &rules, &settings);
            assert_eq!(outcome.status, Status::Optimal);
            let (objective, bound) = (outcome.objective.unwrap(), outcome.bound.unwrap());
            assert!(rules.allows(&outcome.subset.unwrap()));
            assert!(
                (objective - best).abs() <= 1.1e-4 * best,
                "round {round}, size {max_features}: {objective}, {best}"
            );
            assert!(bound <= best * (1.0 + 1e-7), "round {round}, size {max_features}: {bound} above {best}");
        }
    }
}

#[test]
fn an_rfe_path_holds_what_rfe_finds_at_each_size() {
    let mut rng = Rng::new(9);
    let (mut compared, mut shared) = (0, 0);
    for round in 0..40 {
        let p = 14;
        let (design, labels) = RandomProblem { n: 30, p, density: 1.0, noise: 0.1, seed: 900 + round }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let rules = if round % 4 == 0 { Rules::none(p) } else { satisfiable(&mut rng, p, |_| {}) };
        let step = [Step::Count(1), Step::Count(4), Step::Remaining(0.5)][round as usize % 3];
        let settings = RfeSettings { svm: tight(), step, ..RfeSettings::default() };
        let asked = [1, 2, 3, 5, 8, 14];
        let mut calls = 0;
        let mut count = |event: &Event<'_>| {
            calls += u64::from(matches!(event, Event::Answered { .. }));
            ControlFlow::Continue(())
        };
        let points = rfe_path(&problem, &rules, &asked, &settings, &Limits::default(), &mut count).unwrap();
        assert_eq!(sizes(&points), asked);
        let mut apart = 0;
        for PathPoint { max_features, selection } in points {
            let Some(rules) = at(&rules, max_features) else {
                assert_eq!(selection.outcome.status, Status::Infeasible);
                continue;
            };
            let alone = rfe(&problem, &rules, &settings, Limits::default(), &mut Silent).unwrap();
            apart += alone.outcome.counts.oracle_calls;
            assert_eq!(selection.outcome.subset, alone.outcome.subset, "round {round}, size {max_features}, {step:?}");
            let (a, b) = (selection.outcome.objective.unwrap(), alone.outcome.objective.unwrap());
            assert!((a - b).abs() <= 1e-6 * b.abs(), "round {round}, size {max_features}: {a}, {b}");
            assert_eq!(selection.outcome.status, Status::Completed);
            compared += 1;
        }
        shared += usize::from(calls < apart);
    }
    assert!(compared > 150 && shared > 10, "{compared} subsets compared, {shared} paths cheaper than their sizes");
}

#[test]
fn an_information_gain_path_holds_what_the_filter_finds_at_each_size() {
    let mut rng = Rng::new(3);
    for round in 0..10 {
        let (design, labels) = RandomProblem { n: 60, p: 9, density: 1.0, noise: 0.1, seed: round }.draw();
        let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
        let rules = satisfiable(&mut rng, 9, |_| {});
        let (binning, limits) = (Binning::EqualFrequency(4), Limits::default());
        let points =
            information_gain_path(&design, &classes, &[1.0; 60], &rules, &[1, 3, 9], binning, &limits, &mut Silent)
                .unwrap();
        assert_eq!(sizes(&points), [1, 3, 9]);
        for PathPoint { max_features, selection } in points {
            let Some(rules) = at(&rules, max_features) else { continue };
            let alone =
                information_gain(&design, &classes, &[1.0; 60], &rules, binning, Limits::default(), &mut Silent)
                    .unwrap();
            assert_eq!(selection.outcome.subset, alone.outcome.subset);
            assert_eq!(selection.outcome.objective, alone.outcome.objective);
            assert_eq!(selection.ranking, alone.ranking);
        }
    }
}

#[test]
fn a_certificate_bounds_every_subset_of_the_size() {
    let mut rng = Rng::new(17);
    let mut worse = 0;
    for round in 0..12 {
        let (design, labels) = RandomProblem { n: 30, p: 7, density: 1.0, noise: 0.2, seed: 70 + round }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let rules = if round % 2 == 0 { Rules::none(7) } else { satisfiable(&mut rng, 7, |_| {}) };
        let settings = ExactSettings { svm: tight(), ..ExactSettings::default() };
        let all = allowed_subsets(&rules);
        let Some(subset) = all.iter().filter(|z| !z.is_empty()).nth(rng.below(all.len())) else { continue };
        let found = certify(&problem, &rules, subset, &settings, Limits::default(), &mut Silent).unwrap();
        let same_size = at(&rules, subset.len()).unwrap();
        let best = best_by_enumeration(&problem, &same_size, &settings);
        let own = value(&problem, subset, &settings.svm);
        assert!((found.objective - own).abs() <= 1e-6 * own, "{} {own}", found.objective);
        assert!((found.best.objective - best).abs() <= 1.1e-4 * best, "{} {best}", found.best.objective);
        assert!(same_size.allows(&found.best.subset) && found.best.objective <= found.objective);
        let bound = found.bound.unwrap();
        assert!(bound <= best * (1.0 + 1e-7) && found.status == Status::Optimal, "{bound} above {best}");
        let positive = labels.iter().filter(|y| **y > 0.0).count();
        let nothing = 2.0 * settings.svm.cost * positive.min(30 - positive) as f64;
        let gap = if own < nothing * (1.0 - 1e-8) || bound < nothing * (1.0 - 1e-8) {
            (own - bound) / (nothing - bound)
        } else {
            0.0
        };
        assert!((found.gap().unwrap() - gap).abs() < 1e-6, "{found:?}, not {gap}");
        assert!((found.objective_gap().unwrap() - (own - bound) / own).abs() < 1e-6);
        worse += usize::from(found.best.subset != *subset);
    }
    assert!(worse > 4, "only {worse} subsets could be improved: the test shows little");
}

#[test]
fn a_certificate_without_time_says_what_it_has() {
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let subset = Subset::from_indices(12, [3, 4, 5]);
    let settings = ExactSettings::default();
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let found = certify(&problem, &Rules::none(12), &subset, &settings, limits, &mut Silent).unwrap();
    assert_eq!(found.status, Status::TimeLimit);
    assert!(found.best.objective <= found.objective && found.bound.is_none_or(|b| b <= found.best.objective));
    let refuse = |rules: &Rules, subset: &Subset| {
        certify(&problem, rules, subset, &settings, Limits::default(), &mut Silent).unwrap_err().to_string()
    };
    assert!(refuse(&Rules::none(12), &Subset::empty(12)).contains("it is empty"));
    assert!(refuse(&Rules::at_most_features(12, 2).unwrap(), &subset).contains("the rules forbid it"));
}

/// Runs a path of each kind on one problem and checks it.
fn each_path(limits: &Limits, observer: &mut dyn Observer, check: impl Fn(&str, &[PathPoint])) {
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let (rules, sizes) = (Rules::none(12), [1, 2, 3]);
    check("exact", &exact_path(&problem, &rules, &sizes, &ExactSettings::default(), limits, observer).unwrap());
    check("rfe", &rfe_path(&problem, &rules, &sizes, &RfeSettings::default(), limits, observer).unwrap());
    let binning = Binning::Mdl;
    check(
        "gain",
        &information_gain_path(&design, &classes, &vec![1.0; classes.len()], &rules, &sizes, binning, limits, observer)
            .unwrap(),
    );
}

#[test]
fn without_time_every_size_is_there_and_says_so() {
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    each_path(&limits, &mut Silent, |method, points| {
        assert_eq!(sizes(points), [1, 2, 3], "{method}");
        assert!(points.iter().all(|p| p.selection.outcome.status == Status::TimeLimit), "{method}");
        let subsets = points.iter().filter_map(|p| p.selection.outcome.subset.as_ref());
        assert!(subsets.clone().zip(1..).all(|(z, k)| z.len() <= k), "{method}");
        assert_eq!(subsets.count(), if method == "gain" { 0 } else { 3 }, "{method}");
    });
}

#[test]
fn a_node_limit_holds_for_each_size() {
    let limits = Limits { nodes: Some(0), ..Limits::default() };
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let (rules, settings) = (Rules::none(12), ExactSettings::default());
    let points = exact_path(&problem, &rules, &[2, 3, 4], &settings, &limits, &mut Silent).unwrap();
    for PathPoint { max_features, selection } in &points {
        assert_eq!(selection.outcome.status, Status::NodeLimit);
        let size = selection.outcome.subset.as_ref().unwrap().len();
        assert!((1..=*max_features).contains(&size), "{size} of {max_features}");
    }
    assert_eq!(points.len(), 3);
}

#[test]
fn cancelled_paths_end_with_what_is_done() {
    let cancel = Cancel::default();
    cancel.cancel();
    let limits = Limits { cancel, ..Limits::default() };
    each_path(&limits, &mut Silent, |method, points| {
        assert!(points.iter().all(|p| p.selection.outcome.status == Status::Cancelled), "{method}");
    });
    // Cancelled when the second size begins: the first is there, and at most the second as far as
    // it came.
    let cancel = Cancel::default();
    let limits = Limits { cancel: cancel.clone(), ..Limits::default() };
    let mut at_second = |event: &Event<'_>| {
        if matches!(event, Event::Size { max_features: 2 }) {
            cancel.cancel();
        }
        ControlFlow::Continue(())
    };
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let settings = ExactSettings::default();
    let points = exact_path(&problem, &Rules::none(12), &[1, 2, 3], &settings, &limits, &mut at_second).unwrap();
    let statuses: BTreeMap<usize, Status> =
        points.iter().map(|p| (p.max_features, p.selection.outcome.status)).collect();
    assert_eq!(statuses, BTreeMap::from([(1, Status::Optimal), (2, Status::Cancelled)]));
}

#[test]
fn later_sizes_are_never_worse() {
    let (design, labels) = RandomProblem { n: 60, p: 14, density: 1.0, noise: 0.2, seed: 8 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    // Nothing but the starts: what one size found must reach the next, grown.
    let limits = Limits { nodes: Some(0), ..Limits::default() };
    let sizes: Vec<usize> = (1..=14).collect();
    let settings = ExactSettings::default();
    let points = exact_path(&problem, &Rules::none(14), &sizes, &settings, &limits, &mut Silent).unwrap();
    let values: Vec<f64> = points.iter().map(|p| p.selection.outcome.objective.unwrap()).collect();
    assert!(values.windows(2).all(|w| w[1] <= w[0]), "{values:?}");
    let grown = points.windows(2).filter(|w| {
        let [a, b] = [0, 1].map(|at| w[at].selection.outcome.subset.as_ref().unwrap());
        b.len() > a.len()
    });
    assert!(grown.count() >= 12, "the subsets hardly grow");
}

#[test]
fn sizes_out_of_range_are_refused() {
    let (design, labels) = RandomProblem { n: 10, p: 4, density: 1.0, noise: 0.0, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    for (sizes, words) in [
        (vec![0, 1], "max_features is 0, but must be between 1 and the number of features, 4"),
        (vec![1, 5], "max_features is 5"),
        (vec![2, 2], "max_features is 2 before 2"),
    ] {
        let (rules, settings) = (Rules::none(4), RfeSettings::default());
        let error = rfe_path(&problem, &rules, &sizes, &settings, &Limits::default(), &mut Silent).unwrap_err();
        assert!(matches!(&error, Error::Setting { .. }) && error.to_string().contains(words), "{error}");
    }
}
