//! SVM-RFE against a plain loop that trains from nothing at every step, its rules, and one test per
//! way to end.

use std::ops::ControlFlow;
use std::time::Duration;

use fewest::dual::train::train;
use fewest::method::rfe::{RfeSettings, Step, rfe};
use fewest::{
    Cancel, Clock, Design, Event, Kernel, Limits, Problem, RuleList, Rules, Selection, Silent, Status, Subset,
    SvmSettings,
};
use fewest_testing::{RandomProblem, Rng, obeys, random_rules};

fn settings(step: Step) -> RfeSettings {
    RfeSettings { svm: SvmSettings { tolerance: 1e-10, ..SvmSettings::default() }, step, ..RfeSettings::default() }
}

fn run(problem: &Problem<'_>, rules: &Rules, settings: &RfeSettings) -> Selection {
    rfe(problem, rules, settings, Limits::default(), &mut Silent).unwrap()
}

/// Guyon's loop, word for word: train on the survivors, drop the `step` smallest squared weights,
/// until k are left. Returns the survivors, the features in the order they left, and the smallest
/// relative distance between a criterion that left and one that stayed.
fn plain_loop(problem: &Problem<'_>, k: usize, step: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<usize>, f64) {
    let svm = SvmSettings { tolerance: 1e-12, ..SvmSettings::default() };
    let mut alive: Vec<usize> = (0..problem.n_features()).collect();
    let (mut left, mut closest) = (Vec::new(), f64::INFINITY);
    while alive.len() > k {
        let (y, weights) = (problem.labels(), problem.weights());
        let found = train(problem.design(), &alive, y, weights, Kernel::Linear, &svm, &Clock::unlimited()).unwrap();
        let mut order: Vec<usize> = (0..alive.len()).collect();
        order.sort_by(|&a, &b| found.weights[a].powi(2).total_cmp(&found.weights[b].powi(2)).then(b.cmp(&a)));
        let drop = step(alive.len()).min(alive.len() - k);
        for w in order[..=drop.min(order.len() - 1)].windows(2) {
            let (a, b) = (found.weights[w[0]].abs(), found.weights[w[1]].abs());
            closest = closest.min((b - a) / b);
        }
        left.extend(order[..drop].iter().map(|&at| alive[at]));
        alive = alive.iter().copied().filter(|j| !left.contains(j)).collect();
    }
    (alive, left, closest)
}

#[test]
fn equals_the_plain_loop_on_gram_and_on_rows() {
    let mut compared = 0;
    // p >> n works on the Gram matrix, n >> p and sparse data on rows.
    for (n, p, density) in [(20, 60, 1.0), (15, 90, 1.0), (80, 12, 1.0), (30, 40, 0.2)] {
        for seed in 0..6 {
            let draw = RandomProblem { n, p, density, noise: 0.1, seed: 100 * n as u64 + seed };
            let (dense, labels) = draw.draw();
            let (sparse, _) = draw.draw_sparse();
            let design: &dyn Design = if density < 1.0 { &sparse } else { &dense };
            let problem = Problem::new(design, &labels, None).unwrap();
            for step in [Step::Count(1), Step::Count(3), Step::Remaining(0.5), Step::Original(0.1)] {
                let drop = |now: usize| match step {
                    Step::Count(k) => k,
                    Step::Remaining(f) => ((f * now as f64) as usize).max(1),
                    Step::Original(f) => ((f * p as f64) as usize).max(1),
                };
                let (alive, left, closest) = plain_loop(&problem, 4, drop);
                if closest < 1e-4 {
                    continue;
                }
                compared += 1;
                let found = run(&problem, &Rules::at_most_features(p, 4).unwrap(), &settings(step));
                assert_eq!(found.outcome.subset.unwrap().iter().collect::<Vec<_>>(), alive, "{n} {p} {seed} {step:?}");
                let ranked: Vec<usize> = found.ranking[4..].iter().rev().map(|r| r.feature).collect();
                assert_eq!(ranked, left, "{n} {p} {seed} {step:?}");
            }
        }
    }
    assert!(compared > 40, "only {compared} runs without a tie");
}

#[test]
fn ranking_names_every_feature_once_with_the_step_it_left() {
    let (design, labels) = RandomProblem { n: 25, p: 40, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let found = run(&problem, &Rules::at_most_features(40, 7).unwrap(), &settings(Step::Count(5)));
    let mut features: Vec<usize> = found.ranking.iter().map(|r| r.feature).collect();
    assert!(found.ranking.iter().enumerate().all(|(at, r)| r.rank == at + 1));
    let steps: Vec<Option<u64>> = found.ranking.iter().map(|r| r.step).collect();
    assert_eq!(steps[..7], [None; 7]);
    // 33 features leave: six steps of 5 and one of 3; the last step comes first in the ranking.
    assert_eq!(steps[7..10], [Some(7); 3]);
    assert_eq!((steps[10], steps[39]), (Some(6), Some(1)));
    features.sort_unstable();
    assert_eq!(features, (0..40).collect::<Vec<_>>());
}

#[test]
fn every_result_obeys_random_rules_and_reports_its_own_objective() {
    let mut rng = Rng::new(77);
    let (mut runs, mut p_seen) = (0, 0);
    for seed in 0..400 {
        let p = 3 + rng.below(9);
        let list = random_rules(&mut rng, p);
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let (design, labels) = RandomProblem { n: 14, p, density: 1.0, noise: 0.2, seed }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let step = [Step::Count(1), Step::Count(2), Step::Remaining(0.5)][rng.below(3)];
        let found = run(&problem, &rules, &settings(step)).outcome;
        let subset = found.subset.unwrap_or_else(|| panic!("no subset under {list:?}"));
        assert!(obeys(&list, &subset), "{subset:?} breaks {list:?}");
        assert_eq!(found.status, Status::Completed);
        let features: Vec<usize> = subset.iter().collect();
        let svm = settings(step).svm;
        let direct =
            train(&design, &features, &labels, problem.weights(), Kernel::Linear, &svm, &Clock::unlimited()).unwrap();
        let (a, b) = (found.objective.unwrap(), direct.primal);
        assert!((a - b).abs() <= 1e-8 * b.abs(), "objective {a}, trained afresh {b}");
        runs += 1;
        p_seen += p;
    }
    assert!(runs > 150 && p_seen > 5 * runs, "{runs} runs");
}

#[test]
fn required_features_stay_and_groups_leave_together() {
    let (design, labels) = RandomProblem { n: 30, p: 20, density: 1.0, noise: 0.1, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let free = run(&problem, &Rules::at_most_features(20, 5).unwrap(), &settings(Step::Count(1)));
    let worst = free.ranking[19].feature;
    let list = RuleList {
        max_features: Some(5),
        require: vec![worst],
        together: vec![vec![0, 1, 2]],
        forbid: vec![free.ranking[0].feature].into(),
        ..RuleList::default()
    };
    let kept = run(&problem, &Rules::new(20, list.clone(), &[]).unwrap(), &settings(Step::Count(1)));
    let subset = kept.outcome.subset.unwrap();
    assert!(subset.contains(worst) && obeys(&list, &subset));
    let step_of = |j: usize| kept.ranking.iter().find(|r| r.feature == j).unwrap().step;
    assert_eq!((step_of(0), step_of(1)), (step_of(1), step_of(2)));
}

fn medium() -> (fewest::DenseDesign<'static>, Vec<f64>) {
    RandomProblem { n: 40, p: 300, density: 1.0, noise: 0.1, seed: 6 }.draw()
}

#[test]
fn a_limit_of_zero_still_gives_an_allowed_subset() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(300, 6).unwrap();
    let cancelled = Cancel::default();
    cancelled.cancel();
    for (limits, status) in [
        (Limits { time: Some(Duration::ZERO), ..Limits::default() }, Status::TimeLimit),
        (Limits { oracle_calls: Some(0), ..Limits::default() }, Status::CallLimit),
        (Limits { oracle_calls: Some(10), ..Limits::default() }, Status::CallLimit),
        (Limits { cancel: cancelled, ..Limits::default() }, Status::Cancelled),
    ] {
        let found = rfe(&problem, &rules, &settings(Step::Count(1)), limits, &mut Silent).unwrap();
        assert_eq!(found.outcome.status, status);
        assert_eq!(found.outcome.subset.as_ref().map(Subset::len), Some(6), "{status:?}");
        assert_eq!(found.ranking.len(), 300);
        assert!(found.outcome.objective.unwrap().is_finite());
    }
}

#[test]
fn an_observer_can_stop_it() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(300, 6).unwrap();
    let mut left = 0;
    let mut observer = |event: &Event<'_>| {
        left += u32::from(matches!(event, Event::Eliminated { .. }));
        if left >= 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = rfe(&problem, &rules, &settings(Step::Count(1)), Limits::default(), &mut observer).unwrap();
    assert_eq!((found.outcome.status, found.outcome.subset.map(|s| s.len())), (Status::Cancelled, Some(6)));
    assert_eq!(left, 20);
}

#[test]
fn threads_do_not_change_the_result() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(300, 6).unwrap();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&problem, &rules, &settings(Step::Count(1))))
    };
    let (one, four) = (with(1), with(4));
    assert_eq!(one.ranking, four.ranking);
    assert_eq!(one.outcome.objective, four.outcome.objective);
}

#[test]
fn settings_out_of_range_are_named() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(300, 6).unwrap();
    for (step, what) in
        [(Step::Count(0), "step is 0"), (Step::Remaining(1.0), "step is 1"), (Step::Original(-0.5), "step is -0.5")]
    {
        let error = rfe(&problem, &rules, &settings(step), Limits::default(), &mut Silent).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    let negative = RfeSettings { svm: SvmSettings { cost: -1.0, ..SvmSettings::default() }, ..RfeSettings::default() };
    let error = rfe(&problem, &rules, &negative, Limits::default(), &mut Silent).unwrap_err().to_string();
    assert!(error.contains("cost is -1"), "{error}");
}

#[test]
fn an_elimination_from_some_features_is_one_on_their_columns() {
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.1, seed: 5 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let start = [0, 3, 4, 6, 9, 11];
    let columns: Vec<f64> = start.iter().flat_map(|&j| design.column(j).to_vec()).collect();
    let part = fewest::DenseDesign::new(40, start.len(), columns).unwrap();
    let alone = Problem::new(&part, &labels, None).unwrap();
    let expected = run(&alone, &Rules::at_most_features(6, 2).unwrap(), &settings(Step::Count(1)));
    let begun = RfeSettings { start: Some(start.into_iter().rev().collect()), ..settings(Step::Count(1)) };
    let found = run(&problem, &Rules::at_most_features(12, 2).unwrap(), &begun);
    let order = |list: &Selection| list.ranking[..6].iter().map(|r| (r.feature, r.step)).collect::<Vec<_>>();
    let named: Vec<_> = order(&expected).into_iter().map(|(at, step)| (start[at], step)).collect();
    assert_eq!(order(&found), named);
    // Those that never entered come last.
    assert!(found.ranking[6..].iter().all(|r| r.step == Some(0) && !start.contains(&r.feature)));
    let path = fewest::method::rfe::path::rfe_path(
        &problem,
        &Rules::none(12),
        &[2, 5],
        &begun,
        &Limits::default(),
        &mut Silent,
    );
    assert_eq!(path.unwrap()[0].selection.outcome.subset, found.outcome.subset);
}

#[test]
fn a_start_that_the_rules_do_not_go_with_is_refused() {
    let (design, labels) = RandomProblem { n: 20, p: 5, density: 1.0, noise: 0.1, seed: 6 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let refused = |start: &[usize]| {
        let begun = RfeSettings { start: Some(start.to_vec()), ..settings(Step::Count(1)) };
        let list = RuleList { require: vec![1], max_features: Some(2), ..RuleList::default() };
        let rules = Rules::new(5, list, &[]).unwrap();
        rfe(&problem, &rules, &begun, Limits::default(), &mut Silent).unwrap_err().to_string()
    };
    assert!(refused(&[0, 5]).contains("start is 5"));
    assert!(refused(&[0, 2]).contains("2 features to start from"));
}
