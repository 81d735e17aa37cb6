//! GBD against full enumeration under random rules, its cuts against the values they bound, and one
//! test per way to end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use fewest::dual::BoxDual;
use fewest::dual::train::train;
use fewest::saddle::{AlphaHalf, Cut};
use fewest::{
    Bias, Cancel, Clock, Design, Error, Event, Kernel, Limits, Loss, Memory, Method, Problem, RuleList, Rules, Silent,
    Status, Subset, SvmSettings,
};
use fewest_papers::gbd::{GbdReport, GbdSettings, Validation, gbd};
use fewest_testing::{RandomProblem, Rng, all_subsets, allowed_subsets, random_rules};

/// v of a subset, trained from nothing.
fn value(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let (y, weights) = (problem.labels(), problem.weights());
    train(problem.design(), &features, y, weights, Kernel::Linear, svm, &Clock::unlimited()).unwrap().primal
}

fn price(penalty: &[f64], subset: &Subset) -> f64 {
    subset.iter().filter_map(|j| penalty.get(j)).sum()
}

fn run(problem: &Problem<'_>, rules: &Rules, settings: &GbdSettings) -> GbdReport {
    gbd(problem, rules, settings, Limits::default(), &mut Silent).unwrap()
}

/// The settings a random problem is solved with: every loss, bias and improvement in turn, and each
/// improvement left out.
fn drawn_settings(rng: &mut Rng, p: usize, case: u64) -> GbdSettings {
    let loss = [Loss::SquaredHinge, Loss::Hinge, Loss::Hinge][case as usize % 3];
    let bias = [Bias::Free, Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(4)];
    let cost = [0.01, 0.3, 1.0, 30.0][rng.below(4)];
    let penalty = match rng.below(3) {
        0 => Vec::new(),
        1 => vec![0.2 * cost * rng.unit(); p],
        _ => (0..p).map(|_| if rng.chance(0.2) { 0.0 } else { 2.0 * cost * rng.unit() }).collect(),
    };
    let mut settings = match case % 5 {
        0 => GbdSettings::plain(),
        1..=3 => GbdSettings { list: rng.chance(0.5), ..GbdSettings::default() },
        _ => GbdSettings {
            warm_start: rng.chance(0.5),
            root_cuts: rng.chance(0.5),
            core_cuts: rng.chance(0.5),
            cutoff: rng.chance(0.5),
            list: false,
            ..GbdSettings::default()
        },
    };
    settings.svm = SvmSettings { cost, loss, bias, tolerance: 1e-8, ..SvmSettings::default() };
    settings.penalty = penalty.into();
    settings.max_cuts = 5000;
    settings
}

#[test]
fn equals_enumeration_under_random_rules() {
    let mut rng = Rng::new(2015);
    let (mut solved, mut constrained, mut priced, mut plain) = (0, 0, 0, 0);
    for case in 0..260 {
        let p = 2 + rng.below(7);
        let list = if rng.chance(0.25) {
            RuleList { max_features: Some(1 + rng.below(p)), ..RuleList::default() }
        } else {
            random_rules(&mut rng, p)
        };
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let draw = RandomProblem { n: 12 + rng.below(20), p, density: 0.9, noise: 0.2, seed: case };
        let (dense, labels) = draw.draw();
        let (sparse, _) = draw.draw_sparse();
        let design: &dyn Design = if rng.chance(0.5) { &dense } else { &sparse };
        let weights: Vec<f64> = labels.iter().map(|_| 0.5 + rng.unit()).collect();
        let problem = Problem::new(design, &labels, (case % 3 == 1).then_some(&weights[..])).unwrap();
        let settings = drawn_settings(&mut rng, p, case);

        let all = allowed_subsets(&rules);
        let objective = |s: &Subset| value(&problem, s, &settings.svm) + price(settings.penalty.prices(), s);
        let best = all.iter().map(objective).fold(f64::INFINITY, f64::min);

        let what = format!("case {case}: {settings:?} under {list:?}");
        let report = run(&problem, &rules, &settings);
        let outcome = &report.selection.outcome;
        assert_eq!(outcome.status, Status::Optimal, "{what}");
        let (found, bound) = (outcome.objective.unwrap(), outcome.bound.unwrap());
        let subset = outcome.subset.as_ref().unwrap();
        assert!(rules.allows(subset), "{what}: {subset:?} breaks a rule");
        assert!(
            (found - objective(subset)).abs() <= 1e-7 * found,
            "{what}: {found} is not the objective of {subset:?}"
        );
        assert!(found <= best * (1.0 + 1e-4) && found >= best * (1.0 - 1e-7), "{what}: {found}, by enumeration {best}");
        assert!(bound <= best * (1.0 + 1e-6), "{what}: bound {bound} above the optimum {best}");
        assert!(report.trained.windows(2).all(|w| w[1].upper <= w[0].upper && w[1].bound >= w[0].bound), "{what}");
        solved += 1;
        constrained += usize::from(all.len() < 1 << p);
        priced += usize::from(settings.penalty.is_some());
        plain += usize::from(!settings.warm_start && !settings.root_cuts && !settings.core_cuts && !settings.cutoff);
    }
    let enough = solved >= 150 && constrained > 120 && priced > 80 && plain > 30;
    assert!(enough, "{solved} solved, {constrained} constrained, {priced} with a price, {plain} plain");
}

#[test]
fn no_cut_exceeds_any_value_whatever_its_beta() {
    let mut rng = Rng::new(7);
    for case in 0..24 {
        let p = 5;
        let (design, labels) = RandomProblem { n: 18, p, density: 1.0, noise: 0.2, seed: 900 + case }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let svm = SvmSettings {
            cost: [0.1, 1.0, 20.0][rng.below(3)],
            loss: [Loss::Hinge, Loss::SquaredHinge][case as usize % 2],
            bias: [Bias::Free, Bias::Penalised(2.0), Bias::None][rng.below(3)],
            tolerance: 1e-9,
            ..SvmSettings::default()
        };
        let dual = BoxDual::new(&labels, problem.weights(), &svm);
        let values: Vec<(Subset, f64)> = all_subsets(p).map(|s| (s.clone(), value(&problem, &s, &svm))).collect();
        let holds = |cut: &Cut, what: &str| {
            for (subset, v) in &values {
                let bound = cut.at(subset);
                assert!(bound <= v * (1.0 + 1e-8) + 1e-10, "case {case}, {what}: {bound} above {v} at {subset:?}");
            }
        };
        // Any numbers at all; they are made feasible.
        for _ in 0..10 {
            let beta = (0..labels.len()).map(|_| 2.0 * svm.cost * rng.normal()).collect();
            holds(&Cut::new(&design, &dual, beta), "random beta");
        }
        let mut half = AlphaHalf::new(&problem, &svm, true).unwrap();
        for _ in 0..10 {
            // A training that may go on for a few asks only.
            let clock = Clock::of_questions(rng.below(6).saturating_sub(1) as u64);
            let z: Vec<f64> = (0..p).map(|_| if rng.chance(0.3) { 0.0 } else { rng.unit() }).collect();
            let early = half.at_weights(&z, &clock);
            holds(&early.cut, "early beta");
            assert!(early.cut.at_weights(&z) <= early.solution.primal * (1.0 + 1e-12));
        }
        // A finished training gives the value itself.
        for (subset, v) in values.iter().step_by(3) {
            let done = half.at(subset, &Clock::unlimited());
            holds(&done.cut, "trained beta");
            assert!((done.cut.at(subset) - v).abs() <= 1e-8 * v, "case {case}: cut not tight at {subset:?}");
            let z: Vec<f64> = (0..p).map(|j| f64::from(subset.contains(j))).collect();
            let mixture = half.at_weights(&z, &Clock::unlimited());
            assert!((mixture.solution.primal - v).abs() <= 1e-8 * v);
        }
    }
}

/// Large enough that the first subset is not the best.
fn medium() -> (fewest::DenseDesign<'static>, Vec<f64>) {
    RandomProblem { n: 40, p: 9, density: 1.0, noise: 0.1, seed: 3 }.draw()
}

fn ended(settings: &GbdSettings, limits: Limits) -> GbdReport {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(9, 4).unwrap();
    gbd(&problem, &rules, settings, limits, &mut Silent).unwrap()
}

fn both() -> [GbdSettings; 2] {
    [GbdSettings::plain(), GbdSettings::default()]
}

#[test]
fn a_cap_on_cuts_is_a_status_and_keeps_subset_and_bound() {
    for settings in both() {
        for max_cuts in 1..4 {
            let report = ended(&GbdSettings { max_cuts, ..settings.clone() }, Limits::default());
            let outcome = report.selection.outcome;
            assert_eq!((outcome.status, outcome.counts.cuts), (Status::CallLimit, max_cuts));
            assert!(outcome.subset.unwrap().len() <= 4);
            assert!(outcome.bound.unwrap() < outcome.objective.unwrap());
        }
    }
}

#[test]
fn limits_that_are_reached_at_once_still_give_an_allowed_subset() {
    let cancelled = Cancel::default();
    cancelled.cancel();
    for settings in both() {
        for (limits, status) in [
            (Limits { time: Some(Duration::ZERO), ..Limits::default() }, Status::TimeLimit),
            (Limits { cancel: cancelled.clone(), ..Limits::default() }, Status::Cancelled),
            (Limits { oracle_calls: Some(0), ..Limits::default() }, Status::CallLimit),
        ] {
            let report = ended(&settings, limits);
            let outcome = report.selection.outcome;
            assert_eq!(outcome.status, status);
            assert_eq!(outcome.subset.unwrap().len(), 4);
            assert_eq!(report.trained.len(), 1);
            assert!(outcome.objective.unwrap().is_finite());
        }
    }
}

#[test]
fn the_cuts_are_taken_from_the_account_of_memory() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(9, 4).unwrap();
    let settings = GbdSettings { max_cuts: 10, ..GbdSettings::default() };
    let account = Memory::new(20_000);
    let limits = Limits { memory: account.clone(), ..Limits::default() };
    let mut least = u64::MAX;
    let mut observer = |_: &Event<'_>| {
        least = least.min(account.left());
        ControlFlow::Continue(())
    };
    gbd(&problem, &rules, &settings, limits.clone(), &mut observer).unwrap();
    assert!(least <= 20_000 - 150 * 9 * 10, "{least} bytes were left");
    assert_eq!(account.left(), 20_000, "all is given back");
    let taken = account.take(10_000).expect("left");
    let refused = gbd(&problem, &rules, &settings, limits, &mut Silent).unwrap_err().to_string();
    assert!(refused.contains("13500 bytes, but only 10000") && refused.contains("at most 7 cuts"), "{refused}");
    drop(taken);
}

#[test]
fn an_observer_stops_the_run_with_what_it_has() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(9, 4).unwrap();
    let mut bounds = Vec::new();
    let mut answers = 0;
    let mut observer = |event: &Event<'_>| {
        match event {
            Event::Bound { bound, .. } => bounds.push(*bound),
            Event::Answered { .. } => answers += 1,
            _ => {}
        }
        if answers >= 8 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = gbd(&problem, &rules, &GbdSettings::default(), Limits::default(), &mut observer).unwrap();
    assert_eq!(report.selection.outcome.status, Status::Cancelled);
    assert!(report.selection.outcome.counts.cuts <= 9, "eight, and one more if there was no subset yet");
    assert!(bounds.len() > 1 && bounds.windows(2).all(|w| w[1] > w[0]), "{bounds:?}");
    assert_eq!(report.selection.outcome.bound, bounds.last().copied());
}

#[test]
fn a_gap_below_the_tolerances_of_highs_ends_as_stalled() {
    for settings in both() {
        let report = ended(&settings, Limits { gap_rel: 0.0, ..Limits::default() });
        let outcome = report.selection.outcome;
        assert_eq!(outcome.status, Status::Stalled);
        assert!(outcome.objective_gap().unwrap() < 1e-5, "stalled at gap {:?}", outcome.objective_gap());
        let reached = ended(&settings, Limits::default()).selection.outcome;
        assert!((reached.objective.unwrap() - outcome.objective.unwrap()).abs() <= 1e-4 * outcome.objective.unwrap());
    }
}

/// Training data of [`medium`], judged on other samples of the same kind.
fn validation(patience: Option<u64>) -> Validation {
    let (design, labels) = RandomProblem { n: 40, p: 9, density: 1.0, noise: 0.1, seed: 4 }.draw();
    Validation { design: Arc::new(design), labels, patience }
}

#[test]
fn validation_judges_every_subset_and_may_end_the_run() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    for settings in both() {
        let judged = GbdSettings { validation: Some(validation(None)), ..settings.clone() };
        let report = ended(&judged, Limits::default());
        assert_eq!(report.selection.outcome.status, Status::Optimal);
        let data = judged.validation.as_ref().unwrap();
        for trained in &report.trained {
            // Restated: train on the subset, count the wrong signs.
            let features: Vec<usize> = trained.subset.iter().collect();
            let (y, weights, svm) = (problem.labels(), problem.weights(), &settings.svm);
            let machine = train(&design, &features, y, weights, Kernel::Linear, svm, &Clock::unlimited()).unwrap();
            let mut f = vec![machine.bias; 40];
            features.iter().zip(&machine.weights).for_each(|(&j, &w)| data.design.add_column(j, w, &mut f));
            let wrong = f.iter().zip(&data.labels).filter(|(f, y)| *f * *y < 0.0).count() as f64;
            assert!((trained.validation_error.unwrap() - wrong / 40.0).abs() <= 1.0 / 40.0 + 1e-12);
        }
        let best = &report.trained[report.best_validated.unwrap()];
        assert!(report.trained.iter().all(|t| best.validation_error <= t.validation_error));

        let hasty = GbdSettings { validation: Some(validation(Some(2))), ..settings.clone() };
        let report = ended(&hasty, Limits::default());
        assert_eq!(report.selection.outcome.status, Status::Completed);
        let errors: Vec<f64> = report.trained.iter().map(|t| t.validation_error.unwrap()).collect();
        let least = |errors: &[f64]| errors.iter().copied().fold(f64::INFINITY, f64::min);
        let (earlier, last) = errors.split_at(errors.len() - 2);
        assert!(least(last) >= least(earlier), "two without improvement end the run: {errors:?}");
        assert!(ended(&settings, Limits::default()).best_validated.is_none());
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for settings in both() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ended(&settings, Limits::default()))
        };
        let (one, two) = (on(1), on(2));
        assert_eq!(one.trained, two.trained);
        let (one, two) = (one.selection.outcome, two.selection.outcome);
        assert_eq!(
            (one.subset, one.objective, one.bound, one.counts),
            (two.subset, two.objective, two.bound, two.counts)
        );
    }
}

#[test]
fn budgets_of_any_scale_are_kept() {
    let (design, labels) = RandomProblem { n: 30, p: 7, density: 1.0, noise: 0.1, seed: 11 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let svm = SvmSettings { tolerance: 1e-8, ..SvmSettings::default() };
    // Sums that differ from the budget by less than a solver's tolerance, and costs too small
    // beside others to be seen by it.
    for (costs, budget) in [
        (vec![1.0 + 5e-8, 1.0, 1.0, 1.0 + 5e-8, 1.0, 1.0, 1.0 + 5e-8], 3.0),
        (vec![3e8, 2e8, 1e8, 0.3, 1e8, 2e8, 0.2], 4e8),
        (vec![1e-7, 2e-7, 3e-7, 1e-7, 2e-7, 1e-7, 3e-7], 5e-7),
    ] {
        let list = RuleList { budget: Some(budget), costs, ..RuleList::default() };
        let rules = Rules::new(7, list, &[]).unwrap();
        let best = allowed_subsets(&rules).iter().map(|s| value(&problem, s, &svm)).fold(f64::INFINITY, f64::min);
        for settings in both() {
            let outcome = run(&problem, &rules, &GbdSettings { svm: svm.clone(), ..settings }).selection.outcome;
            assert_eq!(outcome.status, Status::Optimal, "budget {budget}");
            assert!((outcome.objective.unwrap() - best).abs() <= 1e-4 * best, "budget {budget}");
        }
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let (design, labels) = medium();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let ask = |settings: GbdSettings, p: usize| {
        gbd(&problem, &Rules::none(p), &settings, Limits::default(), &mut Silent).unwrap_err().to_string()
    };
    let default = GbdSettings::default;
    assert!(ask(GbdSettings { max_cuts: 0, ..default() }, 9).contains("max_cuts is 0"));
    assert!(ask(GbdSettings { penalty: vec![1.0; 3].into(), ..default() }, 9).contains("9 features"));
    assert!(ask(GbdSettings { penalty: vec![-1.0; 9].into(), ..default() }, 9).contains("penalty is -1"));
    assert!(ask(default(), 8).contains("8 features, but the data have 9"));
    let with = |validation: Validation| GbdSettings { validation: Some(validation), ..default() };
    assert!(ask(with(validation(Some(0))), 9).contains("patience is 0"));
    assert!(ask(with(Validation { labels: vec![1.0; 3], ..validation(None) }), 9).contains("3 labels"));
    assert!(ask(with(Validation { labels: vec![2.0; 40], ..validation(None) }), 9).contains("label is 2"));
    let svm = SvmSettings { cost: -1.0, ..SvmSettings::default() };
    assert!(matches!(default().check(9), Ok(())));
    assert!(matches!(GbdSettings { svm, ..default() }.check(9), Err(Error::Setting { name: "cost", .. })));
}
